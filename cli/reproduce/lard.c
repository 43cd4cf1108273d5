/* lard.c - LARD's Tables 2 and 3: runs programs under a collector that moves objects and one that
 * does not, judges what the paper says of each, and of all. */
#include "cli/reproduce/lard.h"

#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/print.h"

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
        const enum verdict v = claim->judge(c);
        r->verdicts[v]++;
        if (!r->quiet)
            print_claim(r->paper, c, claim, v);
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
        const enum verdict v = n ? HOLDS : FAILS;
        r->verdicts[v]++;
        if (!r->quiet)
            printf("  %-10s %-30s in %zu of %zu  %s\n", view_names[needs[i].view], needs[i].text, n,
                   r->cells, verdict_names[v]);
    }
}

static int run_cell(struct lard_report *r, const struct suite *s, const struct program *p,
                    const struct collector *collector, struct err *e)
{
    struct cell c = {.program = p, .collector = collector};
    char *spec = xasprintf("%s,gc=%s%s%s%s%s", p->name, collector->name, s->settings ? "," : "",
                           s->settings ? s->settings : "", p->settings ? "," : "",
                           p->settings ? p->settings : "");
    const int status = reproduce_measure(spec, &c.is, &r->progress, e);

    free(spec);
    if (status)
        return -1;
    r->cell = xgrow(r->cell, r->cells, &r->cap, sizeof *r->cell);
    r->cell[r->cells++] = c;
    report_cell(r, &c);
    return 0;
}

static size_t cells_of(const struct suite *s)
{
    size_t n = 0;

    while (s->program[n].name)
        n++;
    return n * COLLECTORS;
}

int lard_run(struct lard_report *r, const struct suite *s, bool quiet, struct err *e)
{
    progress_begin(&r->progress, quiet, REPRODUCE_PARTS * cells_of(s));
    if (!r->quiet)
        printf("%s\nDRE: racy accesses; PC: their sites. false, missed: against a truth that goes "
               "by (object identity,\noffset), not by addresses, Clear or Copy.\n",
               r->paper->title);
    for (const struct program *p = s->program; p->name; p++)
        for (size_t k = 0; k < COLLECTORS; k++)
            if (run_cell(r, s, p, &collectors[k], e))
                return -1;
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

void lard_csv(const struct lard_report *r, FILE *out)
{
    csv_head(out);
    for (size_t i = 0; i < r->cells; i++)
        csv_cell(out, r->paper, &r->cell[i]);
}

void lard_plot(const struct lard_report *r, FILE *out)
{
    plot_cells(out, r->paper, r->cell, r->cells);
}

void lard_json(const struct lard_report *r, const char *programs)
{
    json_cells(r->paper, programs, r->cell, r->cells, r->verdicts);
}
