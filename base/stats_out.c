/* stats_out.c - the table of statistics as JSON, text and CSV, and its digest. JSON is the truth;
 * the others are lists of the same values by full name. No floating point, nothing of the locale.
 */
#include "base/stats_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/digest.h"
#include "base/mem.h"

/* ---- what the outputs share ----------------------------------------------------------------- */

struct view { /* the values to write: of the whole run, or of the region of interest */
    const uint64_t *words;
    bool roi;
};

enum { LABEL_BYTES = 48 }; /* room for two numbers */

static const char *number_text(char to[LABEL_BYTES], uint64_t v)
{
    snprintf(to, LABEL_BYTES, "%" PRIu64, v);
    return to;
}

/* A function that is told a part of a statistic: its name in that, NULL where it is all of it; its
 * value as a text, borrowed, NULL: there is none. */
typedef void part_fn(void *arg, const struct stats_entry *e, const char *part, const char *unit,
                     const char *value);

/* Tells all parts but a histogram's buckets. */
static void each_part(const struct stats_entry *e, const struct view *v, part_fn *fn, void *arg)
{
    static const char *const bounds[] = {"min", "max"};
    const uint64_t *w = v->words + e->first;
    char label[LABEL_BYTES], number[LABEL_BYTES], *ratio;

    switch (e->kind) {
    case STATS_COUNT:
    case STATS_LEVEL:
        fn(arg, e, NULL, e->unit, number_text(number, w[0]));
        break;
    case STATS_VECTOR:
        for (size_t i = 0; i < e->words; i++)
            fn(arg, e, e->labels ? e->labels[i] : number_text(label, i), e->unit,
               number_text(number, w[i]));
        break;
    case STATS_HISTOGRAM:
        fn(arg, e, "count", "count", number_text(number, w[HISTOGRAM_COUNT]));
        fn(arg, e, "sum", e->unit, number_text(number, w[HISTOGRAM_SUM]));
        for (size_t i = 0; i < ARRAY_SIZE(bounds) && !v->roi; i++) /* none of an empty one */
            fn(arg, e, bounds[i], e->unit,
               w[HISTOGRAM_COUNT] ? number_text(number, w[HISTOGRAM_MIN + i]) : NULL);
        break;
    case STATS_RATIO:
        ratio = ratio_text(w[0], w[1]);
        fn(arg, e, "value", e->unit, ratio);
        free(ratio);
        fn(arg, e, "num", "", number_text(number, w[0]));
        fn(arg, e, "den", "", number_text(number, w[1]));
        break;
    }
}

static uint64_t bucket_low(unsigned b)
{
    return b ? UINT64_C(1) << (b - 1) : 0;
}

static uint64_t bucket_high(unsigned b)
{
    return b ? UINT64_MAX >> (64 - b) : 0;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_part(void *arg, const struct stats_entry *e, const char *part, const char *unit,
                       const char *value)
{
    (void)e;
    (void)unit;
    json_key(arg, part);
    json_number(arg, value ? value : "null");
}

static void write_buckets(struct json *j, const uint64_t *w)
{
    json_key_array(j, "buckets");
    for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
        if (!w[b])
            continue;
        json_array(j);
        json_u64(j, bucket_low(b));
        json_u64(j, bucket_high(b));
        json_u64(j, w[b]);
        json_end(j);
    }
    json_end(j);
}

static void write_entry(struct json *j, const struct stats_entry *e, const struct view *v)
{
    const uint64_t *w = v->words + e->first;

    if (e->kind <= STATS_LEVEL) {
        json_u64(j, w[0]);
        return;
    }
    json_object(j);
    each_part(e, v, write_part, j);
    if (e->kind == STATS_HISTOGRAM)
        write_buckets(j, w);
    json_end(j);
}

static void write_members(struct json *j, const struct stats_group *g, const struct view *v)
{
    for (const struct stats_group *c = g->child; c; c = c->next) {
        json_key(j, c->name);
        if (c->entry) {
            write_entry(j, c->entry, v);
            continue;
        }
        json_object(j);
        write_members(j, c, v);
        json_end(j);
    }
}

void stats_json(const struct stats *s, struct json *j)
{
    uint64_t *now = stats_snapshot(s);

    json_key_str(j, "schema", "lardsim-stats-1");
    write_members(j, &s->root, &(struct view){.words = now});
    if (s->has_roi) {
        json_key_object(j, "roi");
        write_members(j, &s->root, &(struct view){.words = s->roi, .roi = true});
        json_end(j);
    }
    free(now);
}

/* ---- lists of lines: text, CSV, digest ------------------------------------------------------ */

enum list_for { FOR_TEXT, FOR_CSV, FOR_DIGEST };

struct line {
    char *name;  /* owns */
    char *value; /* owns; NULL: there is none */
    bool echo;
    const char *unit, *help;
};
struct list {
    struct line *line; /* owns */
    size_t n, cap;
    enum list_for purpose;
    const char *prefix; /* of names: "", or "roi." */
};

/* For people the zeros of a vector are left out. */
static void add_part(void *arg, const struct stats_entry *e, const char *part, const char *unit,
                     const char *value)
{
    struct list *l = arg;

    if (l->purpose == FOR_TEXT && e->kind == STATS_VECTOR && !strcmp(value, "0"))
        return;
    l->line = xgrow(l->line, l->n, &l->cap, sizeof *l->line);
    l->line[l->n++] = (struct line){
        .name = xasprintf("%s%s%s%s", l->prefix, e->name, part ? "." : "", part ? part : ""),
        .value = value ? xstrdup(value) : NULL,
        .unit = unit,
        .help = e->help,
        .echo = e->echo,
    };
}

static void add_buckets(struct list *l, const struct stats_entry *e, const uint64_t *w)
{
    char label[LABEL_BYTES], number[LABEL_BYTES];

    for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
        if (!w[b])
            continue;
        snprintf(label, sizeof label, "%" PRIu64 "-%" PRIu64, bucket_low(b), bucket_high(b));
        add_part(l, e, label, "count", number_text(number, w[b]));
    }
}

/* The digest leaves ratios out: their parts are in it. */
static void add_entries(struct list *l, const struct stats *s, const struct view *v)
{
    l->prefix = v->roi ? "roi." : "";
    for (const struct stats_group *g = &s->root; g; g = stats_next(g)) {
        const struct stats_entry *e = g->entry;
        if (!e || (e->kind == STATS_RATIO && l->purpose == FOR_DIGEST))
            continue;
        each_part(e, v, add_part, l);
        if (e->kind == STATS_HISTOGRAM)
            add_buckets(l, e, v->words + e->first);
    }
}

static struct list list_make(const struct stats *s, enum list_for purpose)
{
    struct list l = {.purpose = purpose};
    uint64_t *now = stats_snapshot(s);

    add_entries(&l, s, &(struct view){.words = now});
    if (s->has_roi)
        add_entries(&l, s, &(struct view){.words = s->roi, .roi = true});
    free(now);
    return l;
}

static void list_free(struct list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->line[i].name);
        free(l->line[i].value);
    }
    free(l->line);
}

static void widen(int *width, const char *text)
{
    const int n = (int)strlen(text);

    if (n > *width)
        *width = n;
}

void stats_text(const struct stats *s, FILE *out)
{
    struct list l = list_make(s, FOR_TEXT);
    int names = 0, values = 1;

    for (size_t i = 0; i < l.n; i++) {
        widen(&names, l.line[i].name);
        widen(&values, l.line[i].value ? l.line[i].value : "");
    }
    for (size_t i = 0; i < l.n; i++) {
        const struct line *k = &l.line[i];
        fprintf(out, "%-*s  %*s  # %s%s%s\n", names, k->name, values, k->value ? k->value : "-",
                k->unit, *k->unit ? ": " : "", k->help);
    }
    list_free(&l);
}

void stats_csv(const struct stats *s, FILE *out)
{
    struct list l = list_make(s, FOR_CSV);

    fputs("name,value,unit\n", out);
    for (size_t i = 0; i < l.n; i++) {
        csv_field(out, l.line[i].name);
        fprintf(out, ",%s,", l.line[i].value ? l.line[i].value : "");
        csv_field(out, l.line[i].unit);
        fputc('\n', out);
    }
    list_free(&l);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->name, ((const struct line *)b)->name);
}

static void digest_text(struct digest *d, const char *text)
{
    digest_add(d, text, strlen(text));
}

static void digest_line(struct digest *d, const struct line *k)
{
    digest_text(d, k->name);
    digest_text(d, "=");
    digest_text(d, k->value ? k->value : "");
    digest_text(d, "\n");
}

struct stats_digests stats_digests(const struct stats *s)
{
    struct list l = list_make(s, FOR_DIGEST);
    struct digest *all = digest_new(), *behaviour = digest_new();

    if (l.n)
        qsort(l.line, l.n, sizeof *l.line, by_name);
    for (size_t i = 0; i < l.n; i++) {
        const struct line *k = &l.line[i];
        digest_line(all, k);
        /* Something happened, and the configuration alone does not say it. */
        if (!k->echo && k->value && strcmp(k->value, "0") != 0)
            digest_line(behaviour, k);
    }
    list_free(&l);
    return (struct stats_digests){digest_end(all), digest_end(behaviour)};
}
