/* filter_file.c - reads and asks a file of places that are exempt from checks: addresses, ranges,
 * sites by number or by name. It is given, not computed: whether those places are free of races is
 * for who wrote it to know. */
#include "policy/checker/filter_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/interval.h"
#include "base/map.h"
#include "base/mem.h"

enum { LINE_MAX_BYTES = 4096 };

struct filter_file {
    struct interval *bytes; /* owns */
    struct map sites;       /* by number, to 1 + whether it is exempt */
    char **name;            /* own; of sites, sorted */
    size_t names, cap;
    const struct names *of; /* the trace's; NULL: none yet */
    struct budget *budget;
};

/* ---- reading -------------------------------------------------------------------------------- */

struct reading {
    struct filter_file *f;
    const char *path;
    unsigned line;
    struct err *e;
};

static int refuse(const struct reading *r, const char *what)
{
    return err_set(r->e, LARD_CONFIG,
                   "%s:%u: %s; a line is 'address 0x1000', 'range 0x1000 64', 'site 0x40' or 'site "
                   "\"Main.run:7\"'",
                   r->path, r->line, what);
}

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* Decimal or 0x. *s goes behind it. */
static bool number(const char **s, uint64_t *to)
{
    char *end;

    *s = skip_space(*s);
    if (**s < '0' || **s > '9')
        return false;
    errno = 0;
    *to = strtoull(*s, &end, 0);
    if (errno || !strchr(" \t\r\n", *end))
        return false;
    *s = end;
    return true;
}

static bool at_end(const char *s)
{
    s = skip_space(s);
    return *s == '\0' || *s == '#';
}

static int exempt_range(const struct reading *r, const char *s, bool one)
{
    uint64_t from, bytes = 1;

    if (!number(&s, &from) || (!one && !number(&s, &bytes)) || !at_end(s))
        return refuse(r, one ? "an address is expected" : "an address and bytes are expected");
    if (bytes == 0 || from > UINT64_MAX - (bytes - 1))
        return refuse(r, "the range is empty, or passes the last address");
    interval_add(r->f->budget, &r->f->bytes, from, from + (bytes - 1));
    return 0;
}

static int exempt_site(const struct reading *r, const char *s)
{
    struct filter_file *f = r->f;
    uint64_t site;

    s = skip_space(s);
    if (*s == '"') {
        const char *end = strchr(++s, '"');
        if (!end || end == s || !at_end(end + 1))
            return refuse(r, "a name in quotes is expected");
        f->name = budget_grow(f->budget, f->name, f->names, &f->cap, sizeof *f->name);
        budget_take(f->budget, (uint64_t)(end - s) + 1);
        f->name[f->names++] = xasprintf("%.*s", (int)(end - s), s);
        return 0;
    }
    if (!number(&s, &site) || !at_end(s))
        return refuse(r, "a site's number, or its name in quotes, is expected");
    if (site == 0)
        return refuse(r, "0 is no site");
    *map_put(&f->sites, site) = 1 + true;
    return 0;
}

/* Blank lines and comments (#) say nothing. */
static int read_line(const struct reading *r, const char *s)
{
    static const char *const words[] = {"address", "range", "site"};

    if (at_end(s))
        return 0;
    s = skip_space(s);
    const size_t n = strcspn(s, " \t\r\n");
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (n == strlen(words[i]) && !strncmp(s, words[i], n))
            return i == 2 ? exempt_site(r, s + n) : exempt_range(r, s + n, i == 0);
    return refuse(r, "it says nothing that is known");
}

static int read_lines(struct reading *r, FILE *in)
{
    char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof line, in)) {
        r->line++;
        if (!strchr(line, '\n') && !feof(in))
            return refuse(r, "the line is too long, or has a zero byte");
        if (read_line(r, line))
            return -1;
    }
    if (ferror(in))
        return err_set(r->e, LARD_CONFIG, "%s: can't be read: %s", r->path, strerror(errno));
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int filter_file_read(struct filter_file **to, const char *path, struct budget *budget,
                     struct err *e)
{
    FILE *in = fopen(path, "re");

    if (!in)
        return err_set(e, LARD_CONFIG, "filter.static: %s: %s; name a file that can be read", path,
                       strerror(errno));
    struct filter_file *f = xcalloc(1, sizeof *f);
    struct reading r = {.f = f, .path = path, .e = e};
    f->budget = budget;
    map_init(&f->sites, budget);
    const int failed = read_lines(&r, in);
    fclose(in);
    if (failed) {
        filter_file_free(f);
        return -1;
    }
    if (f->names)
        qsort(f->name, f->names, sizeof *f->name, by_text);
    *to = f;
    return 0;
}

void filter_file_free(struct filter_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->names; i++)
        free(f->name[i]);
    free(f->name);
    interval_free(f->budget, &f->bytes);
    map_free(&f->sites);
    free(f);
}

void filter_file_names(struct filter_file *f, const struct names *names)
{
    f->of = names;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* A name may come later than the first access at its site: only what is found is remembered. */
static bool site_exempt(struct filter_file *f, uint64_t site)
{
    const uint64_t *known = site ? map_find(&f->sites, site) : NULL;

    if (known || !site || !f->names || !f->of)
        return known && *known == 1 + true;
    const char *name = names_find(f->of, NAME_SITE, site);
    if (!name)
        return false;
    const bool exempt = bsearch(&name, f->name, f->names, sizeof *f->name, by_text);
    *map_put(&f->sites, site) = 1 + exempt;
    return exempt;
}

bool filter_file_exempts(struct filter_file *f, const struct event *ev)
{
    const sim_addr last = ev->addr + (ev->size - 1);
    const struct interval *bytes = interval_meeting(f->bytes, ev->addr, last);

    return site_exempt(f, event_site(ev)) ||
           (bytes && bytes->lo <= ev->addr && bytes->last >= last);
}
