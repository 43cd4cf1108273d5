/* run.c - the cells of a table: a sweep that is written from its rows, run where cells are missing,
 * and read from the folder. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/table.h"
#include "sim/lardsim.h"

/* The machine that stands in for one that this build does not have. */
static const char fallback[] = "radish8";

const char *machine_of(const struct reproduction *t)
{
    if (!t->machine)
        return NULL;
    return lardsim_is_preset(t->machine) ? t->machine : fallback;
}

/* ---- the spec ------------------------------------------------------------------------------- */

static char *spec_of(const struct table_results *r)
{
    const struct reproduction *t = r->of;
    const char *size = t->captured ? NULL : r->size; /* of a capture the path stands for all */
    char *text = NULL;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);

    fprintf(out, "# lardsim reproduce %s\nbase:\n  limits.memory: 8Gi\n%s%s\n%s", t->name,
            r->machine ? "  inherit: " : "", r->machine ? r->machine : "",
            t->settings ? t->settings : "");
    if (r->unmodelled)
        fprintf(out, "  core.unmodelled: %" PRIu64 "\n", r->unmodelled);
    if (t->axis)
        fprintf(out, "axes:\n  %s\n", t->axis);
    fprintf(out, "policies: [%s]\nsources:\n", t->policies);
    for (const struct table_program *p = t->program; p->name; p++)
        fprintf(out, "  - \"%s%s%s%s\"\n", t->captured ? "" : "workload:", p->source,
                size ? "," : "", size ? size : "");
    fprintf(out, "seeds: %zu\n", r->seeds);
    if (fclose(out))
        die("no memory for the spec of a table");
    return text;
}

/* ---- what came out -------------------------------------------------------------------------- */

/* Samples outlive the plan. */
static const char *label_kept(struct table_results *r, const char *label)
{
    size_t n = 0;

    for (; r->label && r->label[n]; n++)
        if (!strcmp(r->label[n], label))
            return r->label[n];
    r->label = xrealloc(r->label, n + 2, sizeof *r->label);
    r->label[n] = xstrdup(label);
    r->label[n + 1] = NULL;
    return r->label[n];
}

static uint64_t hash_of(const struct cell_stats *s)
{
    struct digest *d = digest_new();

    for (size_t i = 0; i < s->n; i++) {
        digest_add(d, s->at[i].name, strlen(s->at[i].name) + 1);
        digest_add(d, s->at[i].value, strlen(s->at[i].value) + 1);
    }
    const uint64_t hash = digest_value(d);
    digest_free(d);
    return hash;
}

/* No table asks for the statistics of each core or thread, which are most of a cell of many
 * cores. */
static void forget_unwanted(struct cell_stats *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        const char *name = s->at[i].name;
        if (strncmp(name, "cores.", 6) != 0 && strncmp(name, "roi.cores.", 10) != 0) {
            s->at[kept++] = s->at[i];
            continue;
        }
        free(s->at[i].name);
        free(s->at[i].value);
        free(s->at[i].unit);
    }
    s->n = kept;
}

/* *hash: of all of them, or NULL. */
static int read_stats(struct cell_stats *to, uint64_t *hash, const struct sweep *s, size_t cell,
                      struct err *e)
{
    *to = (struct cell_stats){0};
    if (cell == NO_CELL)
        return 0;
    if (cell_stats_read(to, s->folder->dir, s->plan->cell[cell].hash, e))
        return -1;
    if (hash)
        *hash = hash_of(to);
    forget_unwanted(to);
    return 0;
}

static int add_sample(struct table_results *r, const struct sweep *s, size_t cell, struct err *e)
{
    const struct sweep_cell *c = &s->plan->cell[cell];
    const bool based = c->baseline != NO_CELL;

    if (s->state[cell] != CELL_DONE || (based && s->state[c->baseline] != CELL_DONE)) {
        r->failed++;
        return 0;
    }
    char *step =
        s->plan->spec->axes ? xasprintf("%s=%s", s->plan->spec->axis[0].name, c->value[0]) : NULL;
    r->sample = xgrow(r->sample, r->n, &r->cap, sizeof *r->sample);
    struct table_sample *to = &r->sample[r->n++];
    *to = (struct table_sample){.program = &r->of->program[c->given],
                                .policy = label_kept(r, c->policy),
                                .step = step ? label_kept(r, step) : r->of->program[c->given].step,
                                .seed = c->seed ? (size_t)strtoull(c->seed, NULL, 10) - 1 : 0,
                                .machine = c->machine};
    free(step);
    if (r->of->names_pairs && pairs_read(&to->raced, s, c->hash, e))
        return -1;
    return read_stats(&to->own, &to->behaviour, s, cell, e) ||
                   read_stats(&to->base, NULL, s, c->baseline, e)
               ? -1
               : 0;
}

static int read_cells(void *results, const struct sweep *s, struct err *e)
{
    struct table_results *r = results;

    r->cells = s->plan->n;
    for (size_t i = 0; i < s->plan->n; i++)
        if (strcmp(s->plan->cell[i].policy, "none") != 0 && add_sample(r, s, i, e))
            return -1;
    return 0;
}

static int make(struct table_results *r, const struct reproduction *t, const struct run_options *o,
                uint64_t unmodelled, struct err *e)
{
    *r = (struct table_results){.of = t, .machine = machine_of(t), .unmodelled = unmodelled};
    r->size = o->size ? o->size : t->captured ? NULL : o->quick && t->quick ? t->quick : t->size;
    r->seeds = t->captured ? 1 : o->seeds ? (size_t)o->seeds : o->quick || !t->seeds ? 1 : t->seeds;
    char *text = spec_of(r);
    const struct sweep_inside inside = {.name = t->name,
                                        .text = text,
                                        .dir = o->dir,
                                        .jobs = (size_t)o->jobs,
                                        .quiet = o->quiet,
                                        .then = read_cells,
                                        .arg = r};
    const int failed = sweep_inside(&inside, e);

    free(text);
    return failed;
}

int results_make(struct table_results *r, const struct reproduction *t, const struct run_options *o,
                 struct err *e)
{
    if (make(r, t, o, 0, e))
        return -1;
    if (!o->band)
        return 0;
    r->band = xcalloc(1, sizeof *r->band);
    return make(r->band, t, o, o->band, e);
}

void results_free(struct table_results *r)
{
    if (r->band)
        results_free(r->band);
    free(r->band);
    for (size_t i = 0; i < r->n; i++) {
        cell_stats_free(&r->sample[i].own);
        cell_stats_free(&r->sample[i].base);
        pairs_free(&r->sample[i].raced);
    }
    free(r->sample);
    for (size_t i = 0; r->label && r->label[i]; i++)
        free(r->label[i]);
    free(r->label);
}
