/* captured.c - a table of overheads whose programs are captures of real ones (docs/programs.md). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/programs/programs.h"
#include "results/papers/lard.h"

/* The program's own memory: what is about the rest of the virtual machine's has no counterpart in
 * the run without a detector, as the work there was not captured. */
static const char settings[] = "lives=used";

/* A description of the inputs; owned by the caller. */
static char *inputs_of(const struct program_run *a)
{
    return xasprintf(
        "captures of real programs, %llu threads, size %s, collector %s, by %s (docs/programs.md)",
        (unsigned long long)a->threads, program_sizes[a->size],
        a->collector == COLLECTOR_PARALLEL ? "parallel" : "serial",
        a->lives == LIVES_USED ? "lives=used: their own memory alone"
                               : "lives=all: also the memory that nothing uses");
}

/* A program whose packages are not there is left out, and that is said. */
static int add(struct reproduction *t, struct table_program *to, size_t *n, const struct program *p,
               const struct run_options *o, struct err *e)
{
    char *source = xasprintf("program:%s,%s%s%s", p->name, settings, o->size ? "," : "",
                             o->size ? o->size : "");
    struct program_run a;
    char *path = program_run_read(&a, source, e) ? NULL : program_capture(&a, false, o->quiet, e);

    if (path && !t->inputs)
        t->inputs = inputs_of(&a);
    program_run_free(&a);
    free(source);
    if (path) {
        to[(*n)++] = (struct table_program){.name = p->name, .source = path};
        return 0;
    }
    if (e->code != LARD_USAGE)
        return -1;
    print_note("left out: %s", e->text);
    err_clear(e);
    return 0;
}

int captured_table(struct reproduction *to, const struct reproduction *t,
                   const struct run_options *o, struct err *e)
{
    const struct program *from = suites[SUITE_REAL].program;
    size_t n = 0, have = 0;

    while (from[n].name)
        n++;
    struct table_program *list = xcalloc(n + 1, sizeof *list);
    *to = *t;
    to->program = list;
    to->captured = true;
    to->names_pairs = false;
    to->inputs = NULL;
    for (size_t i = 0; i < n; i++)
        if (add(to, list, &have, &from[i], o, e))
            return -1;
    return have ? 0
                : err_set(e, LARD_USAGE,
                          "%s: none of the programs is there; `lardsim programs list` says what "
                          "they are made of",
                          t->name);
}

void captured_free(struct reproduction *t)
{
    for (const struct table_program *p = t->program; t->captured && p->name; p++)
        free((char *)p->source);
    if (t->captured) {
        free((struct table_program *)t->program);
        free((char *)t->inputs);
    }
}
