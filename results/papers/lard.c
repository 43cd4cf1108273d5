/* lard.c - LARD's Tables 2 and 3: runs programs under a collector that moves objects and one that
 * does not, judges what the paper says of each, and of all. */
#include "results/papers/lard.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/programs/programs.h"

static void report_cell(struct lard_report *r, const struct cell *c)
{
    const enum verdict is = judge_program(c);

    if (!r->quiet)
        print_head(c);
    r->verdicts[is]++;
    if (is == FAILS && !r->quiet)
        printf("  %s: the program should %s races\n", verdict_names[is],
               c->program->racy ? "have" : "have no");
    for (const struct claim *claim = r->paper->claims; claim->text; claim++) {
        if (claim->judge)
            r->verdicts[claim->judge(c)]++;
        if (!r->quiet)
            print_claim(r->paper, c, claim);
    }
    if (!r->quiet) {
        print_system(r->paper, c);
        print_errata(r->paper, c);
    }
}

/* Claims of all programs together: an extension is needed if any program shows it. */
static void report_needs(struct lard_report *r)
{
    if (!r->paper->differences)
        return;
    if (!r->quiet)
        puts("\nover all programs: every extension is needed");
    for (size_t i = 0; i < NEEDS; i++) {
        const size_t n = cells_that_need(r->cell, r->cells, &needs[i]);
        const bool seen = !needs[i].system || any_system(r->cell, r->cells);
        const enum verdict v = !seen ? NO_CASE : n ? HOLDS : FAILS;
        r->verdicts[v]++;
        if (!r->quiet)
            printf("  %-10s %-30s in %zu of %zu  %s\n", view_names[needs[i].view], needs[i].text, n,
                   r->cells, verdict_names[v]);
    }
}

/* The source to run: a workload, or the path of a capture, which is made if need be. Owned by the
 * caller; NULL: error. */
static char *source_of(const struct lard_report *r, const struct suite *s, const struct program *p,
                       const struct collector *collector, struct err *e)
{
    if (!p->captured)
        return xasprintf("workload:%s,gc=%s%s%s%s%s", p->name, collector->name,
                         s->settings ? "," : "", s->settings ? s->settings : "",
                         p->settings ? "," : "", p->settings ? p->settings : "");
    char *program = xasprintf("program:%s%s%s", p->name,
                              p->native ? "" : ",collector=", p->native ? "" : collector->name);
    char *path = program_source(program, r->quiet, e);
    free(program);
    return path;
}

/* A program whose packages are not there is left out, and that is said. */
static int run_cell(struct lard_report *r, const struct suite *s, const struct program *p,
                    const struct collector *collector, struct err *e)
{
    struct cell c = {.program = p, .collector = collector};
    char *source = source_of(r, s, p, collector, e);

    if (!source && p->captured && e->code == LARD_USAGE) {
        print_note("left out: %s", e->text);
        err_clear(e);
        return 0;
    }
    const int status = source ? reproduce_measure(source, &c.is, &r->progress, e) : -1;

    free(source);
    if (status)
        return -1;
    r->cell = xgrow(r->cell, r->cells, &r->cap, sizeof *r->cell);
    r->cell[r->cells++] = c;
    report_cell(r, &c);
    return 0;
}

/* The next collector of a program; the first for NULL; NULL: there are no more. */
static const struct collector *next_collector(const struct suite *s, const struct program *p,
                                              const struct collector *last)
{
    if (p->native)
        return last ? NULL : &no_collector;
    if (!last)
        return s->collector;
    return last + 1 < s->collector + COLLECTORS ? last + 1 : NULL;
}

static size_t cells_of(const struct suite *s)
{
    size_t n = 0;

    for (const struct program *p = s->program; p->name; p++)
        for (const struct collector *c = NULL; (c = next_collector(s, p, c));)
            n++;
    return n;
}

int lard_run(struct lard_report *r, const struct suite *s, bool quiet, struct err *e)
{
    progress_begin(&r->progress, quiet, REPRODUCE_PARTS * cells_of(s));
    if (!r->quiet)
        printf("%s\nDRE: racy accesses; PC: their sites. false, missed: against a truth that goes "
               "by (object identity,\noffset), not by addresses, Clear or Copy.\n",
               r->paper->title);
    for (const struct program *p = s->program; p->name; p++)
        for (const struct collector *c = NULL; (c = next_collector(s, p, c));)
            if (run_cell(r, s, p, c, e))
                return -1;
    if (!r->cells)
        return err_set(
            e, LARD_USAGE,
            "%s: none of the programs is there; `lardsim programs list` says what they are made of",
            r->paper->name);
    report_needs(r);
    if (!r->quiet)
        printf("\nclaims: %u hold, %u fail, %u have no case\n", r->verdicts[HOLDS],
               r->verdicts[FAILS], r->verdicts[NO_CASE]);
    return 0;
}

void lard_free(struct lard_report *r)
{
    free(r->cell);
}

const struct paper *lard_find(const char *name)
{
    for (const struct paper *p = papers; p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}
