/* host.c - the machine that this is: its caches from the kernel, the rest from the probe, and the
 * settings of the simulated machine that stands for it. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/mem.h"
#include "results/validate/validate.h"

const char *const host_value_name[HOST_VALUES] = {[HOST_CYCLE] = "cycle",
                                                  [HOST_WIDTH] = "width",
                                                  [HOST_L1] = "l1",
                                                  [HOST_L2] = "l2",
                                                  [HOST_L3] = "l3",
                                                  [HOST_MEMORY] = "memory",
                                                  [HOST_MISSES] = "misses",
                                                  [HOST_WINDOW] = "window",
                                                  [HOST_ATOMIC] = "atomic",
                                                  [HOST_TRANSFER] = "transfer",
                                                  [HOST_MISPREDICT] = "mispredict",
                                                  [HOST_TRANSLATIONS] = "translations",
                                                  [HOST_SECOND_TRANSLATIONS] =
                                                      "second-translations",
                                                  [HOST_SECOND_TRANSLATION] = "second-translation",
                                                  [HOST_WALK] = "walk",
                                                  [HOST_PAGE] = "page"};

/* ---- caches: sysfs -------------------------------------------------------------------------- */

static bool read_line(const char *folder, const char *name, char *to, size_t room)
{
    char *path = path_in(folder, name);
    size_t bytes;
    char *text = file_text(path, room - 1, &bytes);

    snprintf(to, room, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    free(text);
    free(path);
    return *to;
}

/* Reads a size like "48K", "1024K" or "32M". */
static bool bytes_of(const char *text, uint64_t *to)
{
    char *end;

    errno = 0;
    *to = strtoull(text, &end, 10);
    if (end == text || errno || *to > UINT64_C(1) << 40)
        return false;
    if (*end == 'K')
        *to <<= 10;
    else if (*end == 'M')
        *to <<= 20;
    else if (*end)
        return false;
    return end[*end != '\0'] == '\0';
}

/* Counts the numbers in a list like "0-3,8"; 0: it is no list. */
static unsigned count_of(const char *list)
{
    unsigned n = 0;

    while (*list) {
        char *end;
        const unsigned long from = strtoul(list, &end, 10);
        unsigned long to = from;
        if (end == list)
            return 0;
        if (*end == '-') {
            list = end + 1;
            to = strtoul(list, &end, 10);
            if (end == list || to < from)
                return 0;
        }
        if (to > 100000 || (*end && *end != ','))
            return 0;
        n += (unsigned)(to - from + 1);
        list = *end ? end + 1 : end;
    }
    return n;
}

static int read_cache(struct host_facts *h, const char *folder, struct err *e)
{
    char level[16], type[32], size[32], ways[32], line[32], cores[256];
    uint64_t n;

    if (!read_line(folder, "level", level, sizeof level) ||
        !read_line(folder, "type", type, sizeof type) || !strcmp(type, "Instruction"))
        return 0;
    if (strlen(level) != 1 || *level < '1' || *level > '0' + CACHE_LEVELS)
        return 0;
    struct host_cache *c = &h->cache[*level - '1'];
    if (!read_line(folder, "size", size, sizeof size) || !bytes_of(size, &c->size) || !c->size)
        return err_set(e, LARD_CONFIG, "%s/size: \"%s\" is no size of a cache", folder, size);
    if (!read_line(folder, "coherency_line_size", line, sizeof line) || !bytes_of(line, &c->line) ||
        c->line < 16 || c->line > 1024 || c->line & (c->line - 1))
        return err_set(e, LARD_CONFIG, "%s/coherency_line_size: \"%s\" is no size of a line",
                       folder, line);
    /* Virtual machines may not say it, or say 0. */
    c->ways =
        read_line(folder, "ways_of_associativity", ways, sizeof ways) && bytes_of(ways, &n) && n
            ? n
            : 8;
    read_line(folder, "shared_cpu_list", cores, sizeof cores);
    c->cores = count_of(cores) ? count_of(cores) : 1;
    return 0;
}

static void read_model(struct host_facts *h)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];

    while (f && !*h->model && fgets(line, sizeof line, f)) {
        const char *colon = strstr(line, ": ");
        if (strncmp(line, "model name", 10) || !colon)
            continue;
        snprintf(h->model, sizeof h->model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (f)
        fclose(f);
}

int host_caches(struct host_facts *h, const char *sysfs, struct err *e)
{
    char online[256];
    int failed = 0;

    *h = (struct host_facts){.cores = 0};
    if (!read_line(sysfs, "online", online, sizeof online) || !(h->cores = count_of(online)))
        return err_set(
            e, LARD_CONFIG,
            "%s/online does not say which processors there are; name a folder like " HOST_SYSFS
            " with --sysfs",
            sysfs);
    for (unsigned i = 0; i < 8 && !failed; i++) {
        char *folder = xasprintf("%s/cpu0/cache/index%u", sysfs, i);
        failed = read_cache(h, folder, e);
        free(folder);
    }
    if (failed)
        return -1;
    if (!h->cache[0].size)
        return err_set(
            e, LARD_CONFIG,
            "%s/cpu0/cache has no data cache of level 1: the kernel does not tell the caches of "
            "this machine; write them into a folder like it, and name that with --sysfs",
            sysfs);
    if (!strcmp(sysfs, HOST_SYSFS))
        read_model(h);
    return 0;
}

/* ---- what was measured ---------------------------------------------------------------------- */

static int take_line(struct host_facts *h, const char *line, const char *name, struct err *e)
{
    char what[32];
    struct sampled s;

    if (sscanf(line, "%31s %lf %lf %lf", what, &s.median, &s.least, &s.most) != 4 ||
        !(s.least > 0 && s.least <= s.median && s.median <= s.most && s.most < 1e9))
        return err_set(e, LARD_CONFIG,
                       "%s: \"%s\" is no name with median, least and most of a measurement", name,
                       line);
    for (unsigned i = 0; i < HOST_VALUES; i++)
        if (!strcmp(what, host_value_name[i])) {
            h->value[i] = s;
            return 0;
        }
    return err_set(e, LARD_CONFIG, "%s: \"%s\" is nothing that is measured", name, what);
}

int host_values(struct host_facts *h, const char *lines, const char *name, struct err *e)
{
    char *text = xstrdup(lines), *rest = text, *line;
    int failed = 0;

    while (!failed && (line = strsep(&rest, "\n")))
        failed = *line ? take_line(h, line, name, e) : 0;
    free(text);
    for (unsigned i = 0; !failed && i < HOST_TRANSFER; i++)
        if (!(h->value[i].median > 0) &&
            !((i == HOST_L2 || i == HOST_L3) && !h->cache[i - HOST_L1].size))
            failed =
                err_set(e, LARD_CONFIG, "%s: there is no line of %s", name, host_value_name[i]);
    return failed ? -1 : 0;
}

/* ---- the machine that stands for it --------------------------------------------------------- */

struct host_list {
    struct host_setting *at;
    size_t n;
};

static void say(struct host_list *l, const char *setting, const char *basis, const char *source)
{
    struct host_setting *s = &l->at[l->n++];

    snprintf(s->text, sizeof s->text, "%s", setting);
    s->basis = basis;
    s->source = source;
}

static void put(struct host_list *l, const char *key, uint64_t value, const char *basis,
                const char *source)
{
    char *text = xasprintf("%s=%llu", key, (unsigned long long)value);

    say(l, text, basis, source);
    free(text);
}

static uint64_t within(double x, uint64_t least, uint64_t most)
{
    return x < (double)least ? least : x > (double)most ? most : (uint64_t)llround(x);
}

/* The least of several runs: what disturbs them only adds. */
static uint64_t cycles(const struct host_facts *h, enum host_value v, uint64_t least)
{
    return within(h->value[v].least / h->value[HOST_CYCLE].least, least, 100000);
}

/* Sets are a power of two here; sizes that are not lose ways. */
static void put_cache(struct host_list *l, const struct host_facts *h, unsigned level,
                      uint64_t size)
{
    static const char *const key[CACHE_LEVELS][3] = {{"l1.size", "l1.ways", "l1.latency"},
                                                     {"l2.size", "l2.ways", "l2.latency"},
                                                     {"l3.size", "l3.ways", "l3.latency"}};
    const struct host_cache *c = &h->cache[level];
    uint64_t sets = 1;

    while (sets * 2 * c->line * c->ways <= size)
        sets *= 2;
    const uint64_t ways = size / (sets * c->line);
    put(l, key[level][0], sets * c->line * ways, "sysfs", "cpu0/cache");
    put(l, key[level][1], ways, "sysfs", "cpu0/cache");
    put(l, key[level][2], cycles(h, (enum host_value)(HOST_L1 + level), 1), "measured",
        level < 2 ? "pointers, in half of it" : "pointers, in an eighth of it");
}

/* A line that is passed on is upgraded by the one core and then loaded by the other, which polls:
 * l1 + remote, then l3 + remote (docs/machine.md). */
static uint64_t remote(const struct host_facts *h, uint64_t others)
{
    if (!(h->value[HOST_TRANSFER].median > 0))
        return 0;
    const uint64_t all = cycles(h, HOST_TRANSFER, 1);

    return all > others ? (all - others) / 2 : 0;
}

static void put_width(struct host_list *l, double width)
{
    enum { PARTS = 100 };
    const uint64_t parts = within(width * PARTS, PARTS, 16 * PARTS);

    put(l, "core.width", parts / PARTS, "measured", "a function like a check");
    put(l, "core.width-hundredths", parts % PARTS, "measured", "likewise");
}

static void put_branches(struct host_list *l, const struct host_facts *h)
{
    if (!(h->value[HOST_MISPREDICT].median > 0))
        return;
    say(l, "core.predictor=tage", "assumed", "a published kind; nobody says what this one is");
    put(l, "core.mispredict",
        within(h->value[HOST_MISPREDICT].least / h->value[HOST_CYCLE].least, 0, 1000), "measured",
        "branches by a coin, less those that are always the same");
}

static void put_translations(struct host_list *l, const struct host_facts *h)
{
    const struct sampled *v = h->value;

    for (unsigned i = HOST_TRANSLATIONS; i <= HOST_PAGE; i++)
        if (!(v[i].median > 0))
            return;
    put(l, "tlb.entries", within(v[HOST_TRANSLATIONS].median, 4, 65536) & ~UINT64_C(3), "measured",
        "pages at random");
    say(l, "tlb.ways=4", "assumed", "no source");
    put(l, "tlb.second-entries",
        within(v[HOST_SECOND_TRANSLATIONS].median, 8, 65536) & ~UINT64_C(7), "measured",
        "pages at random");
    say(l, "tlb.second-ways=8", "assumed", "no source");
    put(l, "tlb.second-latency", cycles(h, HOST_SECOND_TRANSLATION, 0), "measured", "256 pages");
    put(l, "tlb.walk", cycles(h, HOST_WALK, 0), "measured", "8192 pages");
    const uint64_t page = within(v[HOST_PAGE].median, 4096, UINT64_C(1) << 30);
    put(l, "tlb.page", page, "measured", "the kernel's pages");
    put(l, "pages.size", page, "measured", "likewise");
}

size_t host_settings(const struct host_facts *h, unsigned threads,
                     struct host_setting to[HOST_SETTINGS])
{
    struct host_list l = {to, 0};
    const struct sampled *v = h->value;
    const uint64_t l1 = cycles(h, HOST_L1, 1), memory = cycles(h, HOST_MEMORY, 1);
    const unsigned last = h->cache[2].size ? HOST_L3 : h->cache[1].size ? HOST_L2 : HOST_L1;
    const uint64_t home = cycles(h, (enum host_value)last, 1);

    put(&l, "cores", threads, "given", "one for each thread");
    put(&l, "frequency", within(1000 / v[HOST_CYCLE].least, 1, 100000), "measured",
        "additions that wait for each other");
    put(&l, "line", h->cache[0].line, "sysfs", "cpu0/cache");
    say(&l, "order=timed", "model", "a trace that was captured");
    say(&l, "core.type=pipelined", "model", "docs/machine.md, The pipelined core");
    put_width(&l, v[HOST_WIDTH].median);
    put(&l, "core.window", within(v[HOST_WINDOW].median, 16, 1024), "measured",
        "between two misses that overlap");
    put(&l, "core.misses", within(v[HOST_MISSES].median, 1, 64), "measured", "misses at a time");
    put(&l, "core.store-buffer", 56, "assumed", "Skylake's, as recalled");
    put(&l, "core.atomic", cycles(h, HOST_ATOMIC, 1) > l1 ? cycles(h, HOST_ATOMIC, 1) - l1 : 0,
        "measured", "an addition to the own line, less an L1 hit");
    put_branches(&l, h);
    put_translations(&l, h);
    if (h->cache[1].size) { /* that is where lines go that are fetched ahead */
        say(&l, "core.prefetch.streams=32", "assumed", "Sandy Bridge's: docs/machine.md");
        say(&l, "core.prefetch.degree=2", "assumed", "likewise");
        say(&l, "core.prefetch.distance=20", "assumed", "likewise");
    }
    put_cache(&l, h, 0, h->cache[0].size);
    if (h->cache[1].size)
        put_cache(&l, h, 1, h->cache[1].size);
    else
        say(&l, "l2.size=0", "sysfs", "there is none");
    if (h->cache[2].size)
        put_cache(&l, h, 2, h->cache[2].size);
    else
        say(&l, "l3.size=0", "sysfs", "there is none");
    say(&l, "l3.inclusion=non-inclusive", "assumed", "as most of today's");
    put(&l, "coherence.remote", remote(h, l1 + home), "measured",
        "a line's way to another core: an upgrade and a load");
    put(&l, "memory.fixed.latency", memory > home ? memory : home + 1, "measured",
        "pointers, in four times the last cache");
    return l.n;
}
