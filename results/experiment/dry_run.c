/* dry_run.c - lardsim sweep --dry-run: the cells of a sweep, and what they are likely to take. */
#include <stdlib.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"
#include "base/program/print.h"

/* ---- a page --------------------------------------------------------------------------------- */

static const char *const state_text[] = {[CELL_MISSING] = "missing",
                                         [CELL_RUNNING] = "running",
                                         [CELL_DONE] = "done",
                                         [CELL_FAILED] = "failed",
                                         [CELL_DAMAGED] = "damaged"};

/* Three digits are more than a prediction is worth. width: of the column; 0 in a sentence. */
static void print_size(uint64_t bytes, int width)
{
    static const char units[] = " KMGT";
    double x = (double)bytes;
    size_t u = 0;

    for (; x >= 1000 && u + 2 < sizeof units; u++)
        x /= 1024;
    if (u == 0)
        printf("%*.0f ", width, x);
    else
        printf("%*.*f%ci ", width ? width - 2 : 0, x < 10 ? 1 : 0, x, units[u]);
}

static void print_settings(const struct plan *p, const struct sweep_cell *c)
{
    for (size_t i = 0; i < p->spec->axes; i++)
        if (c->value[i]) {
            char *text = xasprintf("  %s=%s", p->spec->axis[i].name, c->value[i]);
            print_visible(stdout, text);
            free(text);
        }
    putchar('\n');
}

static void print_predicted(const struct plan *p, size_t i, const struct predicted *x,
                            enum cell_state state)
{
    const struct sweep_cell *c = &p->cell[i];

    printf("%s  %-7s ", c->hash, state_text[state]);
    if (x->known) {
        printf("%9.2f ", x->seconds);
        print_size(x->memory, 10);
        print_size(x->disk, 10);
    } else {
        printf("%9s %10s %10s ", "-", "-", "-");
    }
    printf(" %-12s ", c->policy);
    print_visible(stdout, p->source[c->source].text);
    print_settings(p, c);
}

/* Totals of the cells that are missing. */
struct total {
    struct predicted all; /* memory: the most of a cell */
    size_t missing, unknown, bases;
    uint64_t process, processes; /* bytes: of the largest process, of all at a time */
};

static bool is_missing(const struct sweep *s, size_t cell)
{
    return s->state[cell] == CELL_MISSING || s->state[cell] == CELL_DAMAGED;
}

/* Cells of a process that read one source together: one is over before the next begins where each
 * asks a program of its own, or where the source is kept whole. */
static uint64_t group_memory(const struct sweep *s, const struct predicted *x, const size_t *cell,
                             size_t n)
{
    const struct sweep_cell *c = &s->plan->cell[cell[0]];
    const struct plan_source *source = &s->plan->source[c->source];
    const bool asked = source->asked && c->machine;
    const uint64_t events = source->events ? source->events : KEPT_RECORDS;
    const bool whole = c->machine && events <= KEPT_RECORDS;
    uint64_t most = 0, sum = 0, bare = 0;

    for (size_t i = 0; i < n; i++) {
        const struct predicted *p = &x[cell[i]];
        sum += p->own;
        most = p->own > most ? p->own : most;
        bare = p->memory - p->own > bare ? p->memory - p->own : bare;
    }
    if (n == 1 || asked)
        return bare + most;
    return bare + (whole ? most : sum) +
           (c->machine ? (whole ? events : KEPT_RECORDS) * RECORD_BYTES : 0);
}

/* The next group that a process takes, as the engine makes them: the first cell that is left, and
 * others of its source. */
static size_t take_group(const struct sweep *s, bool *taken, size_t left, size_t *cell)
{
    const size_t most = group_most(s, left);
    size_t n = 0;

    for (size_t i = 0; i < s->plan->n && n < most; i++) {
        if (taken[i] || !is_missing(s, i) ||
            !same_reading(&s->plan->cell[i], &s->plan->cell[n ? cell[0] : i]))
            continue;
        taken[i] = true;
        cell[n++] = i;
    }
    return n;
}

/* Counts the memory of as many processes as there are jobs, each as large as the largest: so much
 * they may take. */
static void count_processes(struct total *t, const struct sweep *s, const struct predicted *x)
{
    bool *taken = xcalloc(s->plan->n + 1, sizeof *taken);
    size_t cell[GROUP_MOST], groups = 0;

    for (size_t left = t->missing, n; left && (n = take_group(s, taken, left, cell)); left -= n) {
        const uint64_t memory = group_memory(s, x, cell, n);
        t->process = memory > t->process ? memory : t->process;
        groups++;
    }
    t->processes = t->process * (groups < s->jobs ? groups : s->jobs);
    free(taken);
}

static struct total total_of(const struct sweep *s, const struct predicted *x)
{
    struct total t = {.missing = 0};

    for (size_t i = 0; i < s->plan->n; i++) {
        t.bases += !s->plan->cell[i].asked;
        if (!is_missing(s, i))
            continue;
        t.missing++;
        t.unknown += !x[i].known;
        if (!x[i].known)
            continue;
        t.all.seconds += x[i].seconds;
        t.all.disk += x[i].disk;
        t.all.memory = x[i].memory > t.all.memory ? x[i].memory : t.all.memory;
    }
    count_processes(&t, s, x);
    return t;
}

void predicted_print(const struct sweep *s, const struct predicted *x)
{
    const struct plan *p = s->plan;
    const struct total t = total_of(s, x);

    printf("%-16s  %-7s %9s %10s %10s  %-12s %s\n", "cell", "state", "seconds", "memory", "disk",
           "policy", "source");
    for (size_t i = 0; i < p->n; i++)
        print_predicted(p, i, &x[i], s->state[i]);
    if (t.bases)
        printf("\n%zu of the cells with the policy none are baselines that the spec leaves out: "
               "overheads need them, and the tables do not show them\n",
               t.bases);
    printf("\n%zu cells, %zu missing: about %.0f s of one processor, up to ", p->n, t.missing,
           t.all.seconds);
    print_size(t.all.memory, 0);
    printf("bytes of memory a cell alone; ");
    print_size(t.all.disk, 0);
    printf("bytes of disk\nwith -j %zu: up to ", s->jobs);
    print_size(t.process, 0);
    printf("bytes of memory a process, of up to %d cells; ", GROUP_MOST);
    print_size(t.processes, 0);
    puts("bytes of all");
    if (t.unknown)
        printf("of %zu cells it is not known how long their source is; they are not counted\n",
               t.unknown);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_predicted(struct json *j, const struct predicted *x)
{
    json_key_fixed(j, "seconds", (uint64_t)(x->seconds * 1e6), 1000000);
    JSON_COUNTS(j, {"memory", x->memory}, {"disk", x->disk});
}

/* Writes one cell. Predictions are left out if nobody knows how long the source is. */
static void json_cell(struct json *j, const struct plan *p, size_t i, const struct predicted *x,
                      enum cell_state state)
{
    const struct sweep_cell *c = &p->cell[i];

    json_object(j);
    json_key_str(j, "cell", c->hash);
    json_key_str(j, "baseline", c->baseline == NO_CELL ? NULL : p->cell[c->baseline].hash);
    json_key_bool(j, "asked", c->asked);
    JSON_TEXTS(j, {"source", p->source[c->source].text}, {"seed", c->seed}, {"policy", c->policy});
    for (size_t k = 0; k < p->spec->axes; k++)
        json_key_str(j, p->spec->axis[k].name, c->value[k]);
    json_key_str(j, "state", state_text[state]);
    if (x->known)
        json_predicted(j, x);
    json_end(j);
}

void predicted_json(const struct sweep *s, const struct predicted *x)
{
    const struct total t = total_of(s, x);
    struct json j;

    json_page(&j, stdout, "lardsim-sweep-plan-1");
    JSON_COUNTS(&j, {"cells", s->plan->n}, {"missing", t.missing}, {"unknown", t.unknown});
    json_predicted(&j, &t.all);
    JSON_COUNTS(&j, {"jobs", s->jobs}, {"process_memory", t.process}, {"all_memory", t.processes});
    json_key_array(&j, "cell");
    for (size_t i = 0; i < s->plan->n; i++)
        json_cell(&j, s->plan, i, &x[i], s->state[i]);
    json_end(&j);
    json_end(&j);
}
