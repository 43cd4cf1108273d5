/* stats.c - the table of statistics: declarations, regions of interest, invariants. stats_out.c
 * writes it. Nothing here is on the path of a simulated event but histogram_add.
 *
 * Of a region, counts, vectors, histograms and ratios are what was added between begin and end,
 * over all regions; levels have their value at the end of the last. Subtraction can't tell the
 * least and greatest value of a histogram in a region, so there are none; its buckets bound them.
 */
#include "base/stats_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Bucket 0 is for 0, bucket b for values of b bits: [2^(b-1), 2^b). */
void histogram_add(struct histogram *h, uint64_t value)
{
    h->bucket[value ? 64 - __builtin_clzll(value) : 0]++;
    if (!h->count || value < h->min)
        h->min = value;
    if (!h->count || value > h->max)
        h->max = value;
    h->count++;
    h->sum += value;
}

/* ---- the tree of names ---------------------------------------------------------------------- */

struct stats *stats_new(void)
{
    struct stats *s = xcalloc(1, sizeof *s);

    s->root.stats = s;
    s->root.full = xstrdup("");
    s->root.name = s->root.full;
    return s;
}

static void free_tree(struct stats_group *g)
{
    while (g->child) {
        struct stats_group *child = g->child;
        g->child = child->next;
        free_tree(child);
        free(child);
    }
    free(g->full);
    free(g->entry);
}

void stats_free(struct stats *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_rules; i++) {
        free(s->rules[i].name);
        free(s->rules[i].left);
        free(s->rules[i].right);
    }
    free_tree(&s->root);
    free(s->rules);
    free(s->entries);
    free(s->base);
    free(s->roi);
    free(s);
}

struct stats_group *stats_root(struct stats *s)
{
    return &s->root;
}

/* Depth first, in order of declaration, without a stack: when a node has no sibling left, the walk
 * goes up until there is one. */
const struct stats_group *stats_next(const struct stats_group *g)
{
    if (g->child)
        return g->child;
    while (g && !g->next)
        g = g->parent;
    return g ? g->next : NULL;
}

static struct stats_group *find_child(const struct stats_group *g, const char *name, size_t n)
{
    struct stats_group *c = g->child;

    while (c && (strncmp(c->name, name, n) != 0 || c->name[n]))
        c = c->next;
    return c;
}

/* The full name of what the group has by this name: the caller's. */
static char *full_name(const struct stats_group *g, const char *name, size_t n)
{
    return xasprintf("%s%s%.*s", g->full, *g->full ? "." : "", (int)n, name);
}

static struct stats_group *add_child(struct stats_group *g, const char *name, size_t n)
{
    /* Keys of stats.json beside the groups. */
    static const char *const reserved[] = {"schema", "roi", "behaviour", "findings", NULL};
    struct stats_group *c = xcalloc(1, sizeof *c);

    c->stats = g->stats;
    c->parent = g;
    c->full = full_name(g, name, n);
    c->name = c->full + strlen(c->full) - n;
    const bool good = n > 0 && name_index(reserved, c->full) < 0;
    assert(good);
    (void)good;
    if (g->last)
        g->last->next = c;
    else
        g->child = c;
    g->last = c;
    return c;
}

static struct stats_group *child_group(struct stats_group *g, const char *name, size_t n)
{
    struct stats_group *c = find_child(g, name, n);

    if (!c)
        c = add_child(g, name, n);
    assert(!c->entry); /* a statistic's name can't begin another's */
    return c;
}

/* The group of the last segment of a name with dots; *name becomes that segment. */
static struct stats_group *descend(struct stats_group *g, const char **name)
{
    for (const char *dot; (dot = strchr(*name, '.')); *name = dot + 1)
        g = child_group(g, *name, (size_t)(dot - *name));
    return g;
}

struct stats_group *stats_group(struct stats_group *in, const char *name)
{
    struct stats_group *g = descend(in, &name);

    return child_group(g, name, strlen(name));
}

/* ---- declarations --------------------------------------------------------------------------- */

/* Each entry has a fixed place in a snapshot, so nothing can be declared once there is one. */
static struct stats_entry *declare(struct stats_group *g, enum stats_kind kind, const char *name,
                                   const char *unit, const char *help, const uint64_t *field,
                                   size_t words)
{
    struct stats *s = g->stats;
    struct stats_group *in = descend(g, &name);
    struct stats_entry *e = xcalloc(1, sizeof *e);

    assert(!s->base); /* what is declared now has no place in the snapshot that was taken */
    assert(!find_child(in, name, strlen(name)));
    assert(unit && help && *help);
    struct stats_group *leaf = add_child(in, name, strlen(name));
    leaf->entry = e;
    *e = (struct stats_entry){.kind = kind,
                              .name = leaf->full,
                              .unit = unit,
                              .help = help,
                              .field = field,
                              .words = words,
                              .first = s->words};
    s->words += words;
    s->entries = xgrow(s->entries, s->n, &s->cap, sizeof(struct stats_entry *));
    s->entries[s->n++] = e;
    return e;
}

void stats_count(struct stats_group *g, const char *name, const char *unit, const char *help,
                 const uint64_t *field)
{
    declare(g, STATS_COUNT, name, unit, help, field, 1);
}

void stats_distinct(struct stats_group *g, const char *name, const char *unit, const char *help,
                    const uint64_t *field, const uint64_t *inside)
{
    declare(g, STATS_COUNT, name, unit, help, field, 1)->inside = inside;
}

void stats_level(struct stats_group *g, const char *name, const char *unit, const char *help,
                 const uint64_t *field)
{
    declare(g, STATS_LEVEL, name, unit, help, field, 1)->keeps[0] = true;
}

void stats_echo(struct stats_group *g, const char *name, const char *unit, const char *help,
                const uint64_t *field)
{
    struct stats_entry *e = declare(g, STATS_LEVEL, name, unit, help, field, 1);

    e->keeps[0] = e->echo = true;
}

void stats_vector(struct stats_group *g, const char *name, const char *unit, const char *help,
                  const uint64_t *field, size_t n, const char *const *labels)
{
    declare(g, STATS_VECTOR, name, unit, help, field, n)->labels = labels;
}

void stats_histogram(struct stats_group *g, const char *name, const char *unit, const char *help,
                     const struct histogram *h)
{
    stats_histogram_distinct(g, name, unit, help, h, NULL);
}

void stats_histogram_distinct(struct stats_group *g, const char *name, const char *unit,
                              const char *help, const struct histogram *h,
                              const struct histogram *inside)
{
    const uint64_t *field = (const void *)h;

    declare(g, STATS_HISTOGRAM, name, unit, help, field, HISTOGRAM_WORDS)->inside =
        (const void *)inside;
}

void stats_ratio(struct stats_group *g, const char *name, const char *help, const uint64_t *num,
                 const uint64_t *den)
{
    declare(g, STATS_RATIO, name, "ratio", help, num, 2)->den = den;
}

/* The count or level in this field, or NULL. */
static const struct stats_entry *find_field(const struct stats *s, const uint64_t *field)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->entries[i]->field == field && s->entries[i]->kind <= STATS_LEVEL)
            return s->entries[i];
    return NULL;
}

/* A word of the entry, as it is now. */
static const uint64_t *word_at(const struct stats_entry *e, size_t word)
{
    return e->kind == STATS_RATIO && word ? e->den : e->field + word;
}

/* Finds which of the entry's words a name is about, from the entry's own name on. A vector's
 * element is named by its label, or else by its index; a ratio and a histogram have no value of
 * their own. */
static bool word_find(const struct stats_entry *e, const char *rest, size_t *word)
{
    static const char *const halves[] = {"num", "den"}, *const parts[] = {"count", "sum", "min",
                                                                          "max"};
    const size_t from = e->kind == STATS_HISTOGRAM ? HISTOGRAM_COUNT : 0;
    const char *const *labels = e->kind == STATS_RATIO       ? halves
                                : e->kind == STATS_HISTOGRAM ? parts
                                                             : e->labels;
    char index[24];

    *word = 0;
    if (e->kind <= STATS_LEVEL)
        return !*rest;
    for (*word = from; *rest == '.' && *word < e->words; ++*word) {
        snprintf(index, sizeof index, "%zu", *word);
        if (!strcmp(rest + 1, labels ? labels[*word - from] : index))
            return true;
    }
    return false;
}

/* The entry that a name without "roi." belongs to, and which of its words; NULL: none. */
static const struct stats_entry *find_entry(const struct stats *s, const char *name, size_t *word)
{
    const struct stats_group *g = &s->root;
    const char *at = name;

    while (g && !g->entry) {
        const size_t n = strcspn(at, ".");
        g = find_child(g, at, n);
        at += n + (at[n] == '.');
    }
    return g && word_find(g->entry, name + strlen(g->entry->name), word) ? g->entry : NULL;
}

static bool keeps(const struct stats_entry *e, size_t word)
{
    return word < ARRAY_SIZE(e->keeps) && e->keeps[word];
}

/* A value of the open region. */
static uint64_t in_region(const struct stats *s, const struct stats_entry *e, size_t word)
{
    const uint64_t now = *word_at(e, word);

    if (e->inside)
        return e->inside[word];
    return keeps(e, word) ? now : s->roi[e->first + word] + (now - s->base[e->first + word]);
}

bool stats_value_now(const struct stats *s, const char *name, enum stats_when now, uint64_t *value)
{
    const bool roi = strncmp(name, "roi.", 4) == 0, closed = roi && !s->inside;
    size_t word;
    const struct stats_entry *e = find_entry(s, roi ? name + 4 : name, &word);

    if (!e || (closed ? !s->has_roi : e->late > now))
        return false;
    *value = !roi ? *word_at(e, word) : closed ? s->roi[e->first + word] : in_region(s, e, word);
    return true;
}

bool stats_value(const struct stats *s, const char *name, uint64_t *value)
{
    return stats_value_now(s, name, STATS_AT_END, value);
}

const uint64_t *stats_field(const struct stats *s, const char *name)
{
    size_t word;
    const struct stats_entry *e = find_entry(s, name, &word);

    return e ? word_at(e, word) : NULL;
}

void stats_each(const struct stats *s,
                void (*fn)(void *arg, const char *name, const char *unit, const char *help),
                void *arg)
{
    for (size_t i = 0; i < s->n; i++)
        fn(arg, s->entries[i]->name, s->entries[i]->unit, s->entries[i]->help);
}

void stats_late(struct stats_group *g, const char *name, enum stats_when when)
{
    char *const full = full_name(g, name, strlen(name));
    const size_t n = strlen(full);

    for (size_t i = 0; i < g->stats->n; i++) {
        struct stats_entry *e = g->stats->entries[i];
        if (!strncmp(e->name, full, n) && (!e->name[n] || e->name[n] == '.'))
            e->late = (uint8_t)when;
    }
    free(full);
}

/* ---- snapshots and regions of interest ------------------------------------------------------ */

uint64_t *stats_snapshot(const struct stats *s)
{
    uint64_t *const words = xcalloc(s->words, sizeof *words), *to = words;

    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->entries[i]->words; k++)
            *to++ = *word_at(s->entries[i], k);
    return words;
}

static bool in_level(const struct stats *s, const uint64_t *field)
{
    const struct stats_entry *e = find_field(s, field);

    return e && e->kind == STATS_LEVEL;
}

/* Lays out what regions add up to before the first; declared statistics stay as they are then. */
static void freeze(struct stats *s)
{
    s->roi = xcalloc(s->words, sizeof *s->roi);
    for (size_t i = 0; i < s->n; i++) {
        struct stats_entry *e = s->entries[i];
        /* Whether a ratio's part is a level is known only now, when all are declared. */
        if (e->kind == STATS_RATIO) {
            e->keeps[0] = in_level(s, e->field);
            e->keeps[1] = in_level(s, e->den);
        }
    }
}

void stats_roi_begin(struct stats *s)
{
    assert(!s->inside);
    if (!s->roi)
        freeze(s);
    free(s->base);
    s->base = stats_snapshot(s);
    s->inside = true;
}

/* Regions add up: what this one added goes to what the earlier ones have. Levels are set. */
void stats_roi_end(struct stats *s)
{
    assert(s->inside);
    uint64_t *now = stats_snapshot(s);

    for (size_t i = 0; i < s->n; i++) {
        const struct stats_entry *e = s->entries[i];
        for (size_t k = 0; k < e->words; k++) {
            const size_t w = e->first + k;
            /* Counts only grow, so the difference is not negative; a level is taken as it stands at
             * the end. */
            s->roi[w] = keeps(e, k) ? now[w] : s->roi[w] + (now[w] - s->base[w]);
        }
        /* Distinct things can't be told apart by subtraction: who counts them counts again inside
         * regions. */
        if (e->inside)
            memcpy(s->roi + e->first, e->inside, e->words * sizeof *s->roi);
    }
    free(now);
    s->inside = false;
    s->has_roi = true;
}

void stats_roi_forget(struct stats *s)
{
    assert(!s->inside);
    if (s->roi)
        memset(s->roi, 0, s->words * sizeof *s->roi);
    s->has_roi = false;
}

/* ---- invariants ----------------------------------------------------------------------------- */

/* The caller's list is usually on its stack; the fields that it points to stay. */
static const uint64_t **copy_list(const uint64_t *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    const uint64_t **copy = xmalloc((n + 1) * sizeof *copy);
    return memcpy(copy, list, (n + 1) * sizeof *copy);
}

void stats_invariant(struct stats_group *g, const char *name, const char *help,
                     const uint64_t *const *left, enum stats_relation op,
                     const uint64_t *const *right)
{
    struct stats *s = g->stats;

    s->rules = xgrow(s->rules, s->n_rules, &s->cap_rules, sizeof *s->rules);
    s->rules[s->n_rules++] = (struct stats_rule){
        .name = full_name(g, name, strlen(name)),
        .help = help,
        .left = copy_list(left),
        .op = op,
        .right = copy_list(right),
    };
}

void stats_sum(struct stats_group *g, const char *name, const char *help, const uint64_t *part,
               size_t n, const uint64_t *total)
{
    const uint64_t **parts = xcalloc(n + 1, sizeof(const uint64_t *));

    for (size_t i = 0; i < n; i++)
        parts[i] = part + i;
    stats_invariant(g, name, help, parts, STATS_EQ, STATS_SUM(total));
    free(parts);
}

__extension__ typedef unsigned __int128 wide; /* sums of many counts */

static wide sum(const uint64_t *const *list)
{
    wide total = 0;

    for (; *list; list++)
        total += **list;
    return total;
}

static void print_sum(FILE *out, const struct stats *s, const uint64_t *const *list)
{
    if (!*list)
        fputs("0", out);
    for (const char *plus = ""; *list; list++, plus = " + ") {
        const struct stats_entry *e = find_field(s, *list);
        fprintf(out, "%s%" PRIu64, plus, **list);
        if (e)
            fprintf(out, " (%s)", e->name);
    }
}

/* Shows each term with its value and name: "3 (l1.misses) + 4 = 8 (l1.fills)". */
static int rule_error(const struct stats *s, const struct stats_rule *r, struct err *e)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = xmemstream(&text, &bytes);

    print_sum(out, s, r->left);
    fputs(r->op == STATS_EQ ? " = " : " <= ", out);
    print_sum(out, s, r->right);
    if (fclose(out))
        die("no memory for a message");
    err_set(
        e, LARD_INTERNAL,
        "invariant %s does not hold: %s is false. (%s) This is a fault of the simulator; please "
        "report it with the configuration and the trace.",
        r->name, text, r->help);
    free(text);
    return -1;
}

int stats_check(const struct stats *s, struct err *e)
{
    for (const struct stats_rule *r = s->rules; r < s->rules + s->n_rules; r++) {
        const wide left = sum(r->left), right = sum(r->right);
        if (left > right || (left < right && r->op == STATS_EQ))
            return rule_error(s, r, e);
    }
    return 0;
}
