/* ini.c - reads a device from an .ini file in DRAMSim3's form.
 *
 * It is stricter than DRAMSim3, which silently takes a default for whatever it does not find: here
 * a key that is missing, unknown, given twice, or not a number is an error. Sections of which
 * nothing is needed (power, thermal, other, hmc) are skipped, as are keys about power states. */
#include "memory/ddr/ddr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum ini_kind { INI_NUMBER, INI_NANOSECONDS, INI_WORD, INI_FLAG, INI_MAPPING, INI_SKIPPED };
enum ini_need {
    NEED_ALWAYS,
    NEED_NOT_HBM,
    NEED_HBM,
    NEED_GROUPS, /* needed only with bank groups; not used without them */
    NEED_BANKS,  /* needed only if banks are refreshed one by one */
    NEED_NOT     /* never; `missing` is its default */
};

struct ini_key {
    const char *section, *name;
    enum ini_kind kind;
    enum ini_need need;
    size_t offset; /* in struct ini_result */
    uint64_t min, max, missing;
    const char *const *words; /* INI_WORD: the value is the index */
};

static const char *const page_words[] = {"OPEN_PAGE", "CLOSE_PAGE", NULL};
static const char *const queue_words[] = {"PER_BANK", "PER_RANK", NULL};
static const char *const refresh_words[] = {"RANK_LEVEL_STAGGERED", "RANK_LEVEL_SIMULTANEOUS",
                                            "BANK_LEVEL_STAGGERED", NULL};
static const char *const flag_words[] = {"false", "true", "no", "yes", "off", "on", "0", "1", NULL};

struct ini_result { /* the fields that keys fill */
    struct ddr_device device;
    uint64_t never;        /* for flags of what is not modelled: they must be off */
    uint64_t grouped, rcd; /* bankgroup_enable; tRCD, where reads and writes share it */
};

enum { INI_CYCLES = 1000000 };
#define AT(field)          offsetof(struct ini_result, field)
#define DEV(field)         offsetof(struct ini_result, device.field)
#define CYCLES(name, need) "timing", name, INI_NUMBER, need
#define SKIP(s, name)                                                                              \
    {                                                                                              \
        s, name, INI_SKIPPED, NEED_NOT, 0, 0, 0, 0, NULL                                           \
    }
static const struct ini_key ini_keys[] = {
    {"dram_structure", "protocol", INI_WORD, NEED_ALWAYS, DEV(protocol), 0, 0, 0,
     ddr_protocol_name},
    {"dram_structure", "bankgroups", INI_NUMBER, NEED_ALWAYS, DEV(groups), 1, 64, 0, NULL},
    {"dram_structure", "banks_per_group", INI_NUMBER, NEED_ALWAYS, DEV(banks), 1, 64, 0, NULL},
    {"dram_structure", "rows", INI_NUMBER, NEED_ALWAYS, DEV(rows), 1, 1 << 24, 0, NULL},
    {"dram_structure", "columns", INI_NUMBER, NEED_ALWAYS, DEV(columns), 1, 1 << 16, 0, NULL},
    {"dram_structure", "device_width", INI_NUMBER, NEED_ALWAYS, DEV(width), 1, 1024, 0, NULL},
    {"dram_structure", "BL", INI_NUMBER, NEED_ALWAYS, DEV(bl), 2, 64, 0, NULL},
    {"dram_structure", "bankgroup_enable", INI_FLAG, NEED_NOT, AT(grouped), 0, 1, 1, flag_words},
    {"dram_structure", "hbm_dual_cmd", INI_FLAG, NEED_NOT, DEV(dual), 0, 1, 1, flag_words},
    {"timing", "tCK", INI_NANOSECONDS, NEED_ALWAYS, DEV(tck), 1000, 100000000, 0, NULL},
    {CYCLES("AL", NEED_NOT), DEV(al), 0, INI_CYCLES, 0, NULL},
    {CYCLES("CL", NEED_ALWAYS), DEV(cl), 1, INI_CYCLES, 0, NULL},
    {CYCLES("CWL", NEED_ALWAYS), DEV(cwl), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRCD", NEED_NOT_HBM), AT(rcd), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRCDRD", NEED_HBM), DEV(rcd_rd), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRCDWR", NEED_HBM), DEV(rcd_wr), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRP", NEED_ALWAYS), DEV(rp), 1, INI_CYCLES, 0, NULL},
    {CYCLES("tRAS", NEED_ALWAYS), DEV(ras), 1, INI_CYCLES, 0, NULL},
    {CYCLES("tRFC", NEED_ALWAYS), DEV(rfc), 1, INI_CYCLES, 0, NULL},
    /* DRAMSim3's DDR3 files call it REFI, which DRAMSim3 does not read: it takes 7800, and so do
     * we, or results would differ by up to a tenth. */
    {CYCLES("tREFI", NEED_NOT), DEV(refi), 1, INI_CYCLES, 7800, NULL},
    {CYCLES("tRFCb", NEED_BANKS), DEV(rfcb), 1, INI_CYCLES, 0, NULL},
    {CYCLES("tREFIb", NEED_BANKS), DEV(refib), 1, INI_CYCLES, 0, NULL},
    {CYCLES("tRREFD", NEED_NOT), DEV(rrefd), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tFAW", NEED_ALWAYS), DEV(faw), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRRD_S", NEED_ALWAYS), DEV(rrd_s), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRRD_L", NEED_GROUPS), DEV(rrd_l), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tCCD_S", NEED_ALWAYS), DEV(ccd_s), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tCCD_L", NEED_GROUPS), DEV(ccd_l), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tWTR_S", NEED_ALWAYS), DEV(wtr_s), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tWTR_L", NEED_GROUPS), DEV(wtr_l), 0, INI_CYCLES, 0, NULL},
    /* Fifteen of DRAMSim3's files, HBM2's among them, have tRTP_L or nothing in its place. DRAMSim3
     * then takes 5, and so do we. */
    {CYCLES("tRTP", NEED_NOT), DEV(rtp), 0, INI_CYCLES, 5, NULL},
    {CYCLES("tWR", NEED_ALWAYS), DEV(wr), 0, INI_CYCLES, 0, NULL},
    {CYCLES("tRTRS", NEED_NOT), DEV(rtrs), 0, INI_CYCLES, 2, NULL}, /* 2: as DRAMSim3 */
    {CYCLES("tPPD", NEED_NOT), DEV(ppd), 0, 1000, 0, NULL},
    {"system", "channel_size", INI_NUMBER, NEED_ALWAYS, DEV(channel_mib), 1, 1 << 30, 0, NULL},
    {"system", "channels", INI_NUMBER, NEED_ALWAYS, DEV(channels), 1, 64, 0, NULL},
    {"system", "bus_width", INI_NUMBER, NEED_ALWAYS, DEV(bus), 8, 4096, 0, NULL},
    {"system", "address_mapping", INI_MAPPING, NEED_ALWAYS, DEV(mapping), 0, 0, 0, NULL},
    {"system", "queue_structure", INI_WORD, NEED_ALWAYS, DEV(per_rank), 0, 0, 0, queue_words},
    {"system", "row_buf_policy", INI_WORD, NEED_ALWAYS, DEV(closed), 0, 0, 0, page_words},
    {"system", "refresh_policy", INI_WORD, NEED_NOT, DEV(refresh), 0, 0, REFRESH_RANKS,
     refresh_words},
    {"system", "cmd_queue_size", INI_NUMBER, NEED_ALWAYS, DEV(cmd_queue), 1, 1024, 0, NULL},
    {"system", "trans_queue_size", INI_NUMBER, NEED_ALWAYS, DEV(trans_queue), 1, 1024, 0, NULL},
    {"system", "unified_queue", INI_FLAG, NEED_NOT, AT(never), 0, 0, 0, flag_words},
    {"system", "enable_self_refresh", INI_FLAG, NEED_NOT, AT(never), 0, 0, 0, flag_words},
    SKIP("dram_structure", "num_dies"),
    SKIP("timing", "REFI"),
    SKIP("timing", "tRC"),
    SKIP("timing", "tRFC2"),
    SKIP("timing", "tRFC4"),
    SKIP("timing", "tRFCPB"),
    SKIP("timing", "tRPRE"),
    SKIP("timing", "tWPRE"),
    SKIP("timing", "tWR2"),
    SKIP("timing", "tRTP_S"),
    SKIP("timing", "tRTP_L"),
    SKIP("timing", "tCKE"),
    SKIP("timing", "tCKESR"),
    SKIP("timing", "tCKSRE"),
    SKIP("timing", "tXS"),
    SKIP("timing", "tXP"),
    SKIP("timing", "tCMD"),
    SKIP("timing", "tCAS"),
    SKIP("timing", "tCWD"),
    SKIP("timing", "t32AW"),
    SKIP("timing", "activation_window_depth"),
    SKIP("timing", "REFRESH_PERIOD"),
    SKIP("system", "write_buf_size"),
    SKIP("system", "sref_threshold"),
    SKIP("system", "aggressive_precharging_enabled"),
};
enum { INI_KEYS = ARRAY_SIZE(ini_keys) };
static const char *const ini_skipped[] = {"power", "thermal", "other", "hmc"};

struct ini { /* a file being read */
    const char *path;
    unsigned line; /* its number, for messages */
    char section[32];
    bool skip; /* this section */
    bool given[INI_KEYS];
    struct ini_result to;
    struct err *e;
};

/* ---- a value -------------------------------------------------------------------------------- */

static int bad_value(const struct ini *in, const struct ini_key *k, const char *value,
                     const char *rule)
{
    return err_set(in->e, LARD_CONFIG, "%s:%u: %s = '%s': %s", in->path, in->line, k->name, value,
                   rule);
}

/* Decimal digits up to a limit; false: other characters, none, or more than that. */
static bool read_digits(const char **s, uint64_t limit, uint64_t *v)
{
    const char *from = *s;

    for (*v = 0; **s >= '0' && **s <= '9'; ++*s) {
        *v = *v * 10 + (uint64_t)(**s - '0');
        if (*v > limit)
            return false;
    }
    return *s > from;
}

static int read_number(struct ini *in, const struct ini_key *k, const char *value, uint64_t *to)
{
    const char *s = value;
    char rule[100];

    if (read_digits(&s, k->max, to) && !*s && *to >= k->min)
        return 0;
    snprintf(rule, sizeof rule, "must be a whole number from %llu to %llu",
             (unsigned long long)k->min, (unsigned long long)k->max);
    return bad_value(in, k, value, rule);
}

/* "0.83" to femtoseconds: at most six decimals. */
static int read_nanoseconds(struct ini *in, const struct ini_key *k, const char *value,
                            uint64_t *to)
{
    const char *s = value;
    uint64_t whole = 0, part = 0;
    bool good = read_digits(&s, 1000, &whole);

    if (good && *s == '.') {
        const char *from = ++s;
        good = read_digits(&s, 999999, &part) && s - from <= 6;
        for (ptrdiff_t n = s - from; good && n < 6; n++)
            part *= 10;
    }
    *to = whole * 1000000 + part;
    if (good && !*s && *to >= k->min && *to <= k->max)
        return 0;
    return bad_value(
        in, k, value,
        "must be nanoseconds from 0.001 to 100 with at most 6 decimals, such as 0.833");
}

static int read_word(struct ini *in, const struct ini_key *k, const char *value, uint64_t *to)
{
    char rule[200] = "must be";
    size_t n = strlen(rule);

    for (uint64_t i = 0; k->words[i]; i++) {
        if (!strcasecmp(k->words[i], value)) {
            *to = i;
            return 0;
        }
        n += (size_t)snprintf(rule + n, sizeof rule - n, "%s %s", i ? "," : "", k->words[i]);
    }
    return bad_value(in, k, value, rule);
}

/* Puts a value into its field. */
static int read_value(struct ini *in, const struct ini_key *k, const char *value)
{
    char *field = (char *)&in->to + k->offset;
    uint64_t v = 0;
    int bad = 0;

    switch (k->kind) {
    case INI_SKIPPED:
        return 0;
    case INI_MAPPING:
        if (strlen(value) != 12)
            return bad_value(in, k, value,
                             "must be six of ch, ra, bg, ba, ro, co, such as rochrababgco");
        memcpy(field, value, 13);
        return 0;
    case INI_NUMBER:
        bad = read_number(in, k, value, &v);
        break;
    case INI_NANOSECONDS:
        bad = read_nanoseconds(in, k, value, &v);
        break;
    case INI_WORD:
        bad = read_word(in, k, value, &v);
        break;
    case INI_FLAG:
        bad = read_word(in, k, value, &v);
        v %= 2;
        if (!bad && v > k->max)
            return bad_value(in, k, value, "this is not modelled; must be false");
        break;
    }
    if (!bad)
        memcpy(field, &v, sizeof v);
    return bad;
}

/* ---- lines ---------------------------------------------------------------------------------- */

char *ddr_trim(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        n--;
    s[n] = '\0';
    return s;
}

static int unknown_key(const struct ini *in, const char *name)
{
    const char *names[INI_KEYS];
    size_t n = 0;

    for (size_t i = 0; i < INI_KEYS; i++)
        if (!strcasecmp(ini_keys[i].section, in->section))
            names[n++] = ini_keys[i].name;
    const char *near = nearest_name(name, names, n);
    return err_set(in->e, LARD_CONFIG, "%s:%u: [%s] has no key '%s'%s%s%s; correct or remove it",
                   in->path, in->line, in->section, name, near ? " (did you mean '" : "",
                   near ? near : "", near ? "'?)" : "");
}

/* key = value. Names are compared without case, as DRAMSim3's reader (INIReader) does. */
static int read_pair(struct ini *in, const char *name, const char *value)
{
    for (size_t i = 0; i < INI_KEYS; i++) {
        const struct ini_key *k = &ini_keys[i];
        if (strcasecmp(k->section, in->section) != 0 || strcasecmp(k->name, name) != 0)
            continue;
        if (in->given[i])
            return bad_value(in, k, value, "is given twice; remove one");
        in->given[i] = k->kind == INI_SKIPPED || *value; /* an empty one is missing */
        return in->given[i] ? read_value(in, k, value) : 0;
    }
    return unknown_key(in, name);
}

static int read_section(struct ini *in, char *line)
{
    char *end = strchr(line, ']');
    bool known = false;

    if (!end || strlen(line) >= sizeof in->section)
        return err_set(in->e, LARD_CONFIG, "%s:%u: a section is written [name]; correct it",
                       in->path, in->line);
    *end = '\0';
    snprintf(in->section, sizeof in->section, "%s", ddr_trim(line + 1));
    in->skip = false;
    for (size_t i = 0; i < ARRAY_SIZE(ini_skipped); i++)
        in->skip |= !strcasecmp(ini_skipped[i], in->section);
    for (size_t i = 0; i < INI_KEYS; i++)
        known |= !strcasecmp(ini_keys[i].section, in->section);
    if (known || in->skip)
        return 0;
    return err_set(
        in->e, LARD_CONFIG,
        "%s:%u: unknown section [%s]; those needed are dram_structure, timing and system", in->path,
        in->line, in->section);
}

static int read_line(struct ini *in, char *line)
{
    const bool indented = *line == ' ' || *line == '\t';

    line[strcspn(line, ";#")] = '\0';
    line = ddr_trim(line);
    if (!*line)
        return 0;
    if (*line == '[')
        return read_section(in, line);
    if (in->skip)
        return 0;
    char *equals = strpbrk(line, "=:");
    if (!in->section[0] || !equals)
        return err_set(in->e, LARD_CONFIG, "%s:%u: expected [section] or key = value; correct it",
                       in->path, in->line);
    if (indented)
        return err_set(in->e, LARD_CONFIG,
                       "%s:%u: begins with a blank, which makes it a continuation of the line "
                       "before; remove the blank",
                       in->path, in->line);
    *equals = '\0';
    return read_pair(in, ddr_trim(line), ddr_trim(equals + 1));
}

static int read_lines(struct ini *in, FILE *f)
{
    char line[4096];

    while (fgets(line, sizeof line, f)) {
        const size_t n = strlen(line);
        in->line++;
        if ((!n || line[n - 1] != '\n') && !feof(f))
            return err_set(in->e, LARD_CONFIG,
                           "%s:%u: longer than %zu characters, or has a zero byte; shorten it",
                           in->path, in->line, sizeof line - 2);
        line[strcspn(line, "\n")] = '\0';
        if (read_line(in, line))
            return -1;
    }
    if (ferror(f))
        return err_set(in->e, LARD_CONFIG, "%s: can't be read: %s", in->path, strerror(errno));
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* A device is of no use without this key. */
static bool needed(const struct ini *in, const struct ini_key *k)
{
    const bool hbm = ddr_is_hbm(&in->to.device);
    const bool needs[] = {[NEED_ALWAYS] = true,
                          [NEED_NOT_HBM] = !hbm,
                          [NEED_HBM] = hbm,
                          [NEED_GROUPS] = in->to.device.groups > 1,
                          [NEED_BANKS] = in->to.device.refresh == REFRESH_BANKS,
                          [NEED_NOT] = false};

    return needs[k->need];
}

/* Defaults where they are allowed, errors where they are not. */
static int fill_missing(struct ini *in)
{
    for (size_t i = 0; i < INI_KEYS; i++) {
        const struct ini_key *k = &ini_keys[i];
        if (in->given[i])
            continue;
        if (needed(in, k))
            return err_set(in->e, LARD_CONFIG, "%s: [%s] lacks %s; add the line '%s = ...'",
                           in->path, k->section, k->name, k->name);
        if (k->need == NEED_NOT && k->kind != INI_SKIPPED)
            memcpy((char *)&in->to + k->offset, &k->missing, sizeof k->missing);
    }
    return 0;
}

int ddr_read_ini(struct ddr_device *d, const char *path, FILE *f, struct err *e)
{
    struct ini in = {.path = path, .e = e};

    if (read_lines(&in, f) || fill_missing(&in))
        return -1;
    *d = in.to.device;
    if (!in.to.grouped) {
        d->banks *= d->groups;
        d->groups = 1;
    }
    if (!ddr_is_hbm(d))
        d->rcd_rd = d->rcd_wr = in.to.rcd;
    return ddr_check(d, path, e);
}
