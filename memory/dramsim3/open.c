/* open.c - opens DRAMSim3 with a device file that it can't misunderstand.
 *
 * DRAMSim3 takes a default for what it does not find or understand, ends the process for a word
 * that it does not know, and reads some lines otherwise than ddr/ini.c does: a comment that begins
 * with '#', a leading zero (octal), words in small letters. So it is given a copy of what ddr/ini.c
 * has accepted, in the one form in which both read the same. [other] is not the user's: it could
 * make DRAMSim3 write elsewhere, write to standard output, or divide by zero. */
#include "base/mem.h"
#include "memory/ddr/ddr.h"
#include "memory/dramsim3/dramsim3_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the copy ------------------------------------------------------------------------------- */

enum { LONGEST = 160 }; /* DRAMSim3 cuts lines at 200 */

/* Copies a parameter in the one form that both readers understand alike: words in capitals, no
 * leading zeros. */
static void copy_pair(const char *name, char *value, FILE *to)
{
    static const char *const words[] = {"protocol", "queue_structure", "row_buf_policy",
                                        "refresh_policy"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        for (char *s = value; !strcasecmp(name, words[i]) && *s; s++)
            *s = (char)toupper((unsigned char)*s);
    while (value[0] == '0' && isdigit((unsigned char)value[1]))
        value++;
    if (*value && strlen(name) + strlen(value) < LONGEST)
        fprintf(to, "%s = %s\n", name, value);
}

/* Returns whether the section's parameters are copied. */
static bool copy_section(char *line, FILE *to)
{
    line[strcspn(line, "]")] = '\0';
    line = ddr_trim(line + 1);
    if (!strcasecmp(line, "other"))
        return false;
    fprintf(to, "[%s]\n", line);
    return true;
}

/* A parameter that the file lacks is missing in the copy, too: ddr/ini.c has the library's
 * defaults. */
static void copy_ini(FILE *from, FILE *to)
{
    char text[512];
    bool wanted = false;

    while (fgets(text, sizeof text, from)) {
        text[strcspn(text, ";#\n")] = '\0';
        char *line = ddr_trim(text), *equals = strpbrk(line, "=:");
        if (*line == '[') {
            wanted = copy_section(line, to);
        } else if (wanted && equals) {
            *equals = '\0';
            copy_pair(ddr_trim(line), ddr_trim(equals + 1), to);
        }
    }
    fputs("[other]\noutput_prefix = dramsim3\noutput_level = 1\nepoch_period = 2147483647\n", to);
}

/* ---- what must hold ---------------------------------------------------------------------------
 */

/* Refuses a device that ddr/ini.c accepts, but by which DRAMSim3 would divide by zero, or count in
 * too few bits. */
static int check_device(const struct ddr_device *d, const char *path, unsigned line, struct err *e)
{
    const uint64_t row = d->columns * d->width / 8, bank = row * (d->rows / 1024) / 1024;

    if (ddr_line_bytes(d) != line)
        return err_set(e, LARD_CONFIG,
                       "memory.dramsim3.config: %s moves %llu bytes a burst (bus_width / 8 x BL), "
                       "a cache line has %u; take another device or line size",
                       path, (unsigned long long)ddr_line_bytes(d), line);
    if (!bank || bank >> 20)
        return err_set(e, LARD_CONFIG,
                       "memory.dramsim3.config: %s: a bank of %llu rows of %llu bytes a device; "
                       "DRAMSim3 counts in MiB below 2^20; change rows or columns",
                       path, (unsigned long long)d->rows, (unsigned long long)row);
    return 0;
}

static int check_output(const char *folder, struct err *e)
{
    struct stat s;

    if (stat(folder, &s))
        return err_set(e, LARD_OUTPUT, "memory.dramsim3.output: %s: %s; make that folder", folder,
                       strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return err_set(e, LARD_OUTPUT, "memory.dramsim3.output: %s is not a folder; name one",
                       folder);
    if (access(folder, W_OK | X_OK))
        return err_set(e, LARD_OUTPUT,
                       "memory.dramsim3.output: %s: %s; name a folder that can be written", folder,
                       strerror(errno));
    return 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

static struct dram3 *open_copy(const struct dram3_setup *s, FILE *from, const char *folder,
                               const char *ini, struct err *e)
{
    FILE *to = fopen(ini, "w");

    if (to)
        copy_ini(from, to);
    if (!to || fclose(to)) {
        err_set(e, LARD_OUTPUT, "memory.dramsim3: %s: %s; make room there", ini, strerror(errno));
        return NULL;
    }
    struct dram3 *library = dram3_open(ini, *s->output ? s->output : folder, s->answer, s->arg);
    if (library && dram3_line(library) == s->line)
        return library;
    dram3_close(library);
    err_set(
        e, LARD_CONFIG,
        "memory.dramsim3.config: %s: DRAMSim3 does not take it, or was built with other options "
        "than its own (THERMAL, CMD_TRACE); try memory.type=ddr",
        s->config);
    return NULL;
}

/* DRAMSim3 reads the copy at once, and writes nothing later unless it is asked for its statistics,
 * so the folder need not stay. */
static struct dram3 *open_in_folder(const struct dram3_setup *s, FILE *from, struct err *e)
{
    char folder[] = "/tmp/lardsim-dramsim3-XXXXXX";

    if (!mkdtemp(folder)) {
        err_set(e, LARD_OUTPUT, "memory.dramsim3: %s: %s; make room there", folder,
                strerror(errno));
        return NULL;
    }
    char *ini = xasprintf("%s/device.ini", folder);
    struct dram3 *library = open_copy(s, from, folder, ini, e);
    unlink(ini);
    rmdir(folder);
    free(ini);
    return library;
}

static struct dram3 *open_file(const struct dram3_setup *s, struct ddr_device *d, FILE *f,
                               struct err *e)
{
    if (ddr_read_ini(d, s->config, f, e) || check_device(d, s->config, s->line, e) ||
        (*s->output && check_output(s->output, e)))
        return NULL;
    if (!fseek(f, 0, SEEK_SET))
        return open_in_folder(s, f, e);
    err_set(e, LARD_CONFIG, "memory.dramsim3.config: %s can't be read twice; name a plain file",
            s->config);
    return NULL;
}

struct dram3 *dram3_make(const struct dram3_setup *s, struct ddr_device *device, struct err *e)
{
    if (!*s->config) {
        err_set(e, LARD_CONFIG,
                "memory.dramsim3.config: is not given; write the path of an .ini file");
        return NULL;
    }
    FILE *f = fopen(s->config, "r");
    if (!f) {
        err_set(e, LARD_CONFIG,
                "memory.dramsim3.config: %s: %s; write the path of an .ini file of DRAMSim3",
                s->config, strerror(errno));
        return NULL;
    }
    struct dram3 *library = open_file(s, device, f, e);
    fclose(f);
    return library;
}
