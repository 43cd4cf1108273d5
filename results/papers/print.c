/* print.c - what `lardsim reproduce` shows of a program under a collector: the paper's
 * counts beside ours, as text, CSV, JSON and a plot. It judges nothing. */
#include "results/papers/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/drawing/plot.h"
#include "workloads/workloads.h"

static bool planted(const struct program *p)
{
    const struct workload *w = workload_find(p->name);

    return p->racy && w && w->plants && w->plants->site;
}

/* Which program ran: its races may be its own, or put in. */
static const char *variant(const struct program *p)
{
    return p->captured ? "captured" : planted(p) ? "planted-races" : p->racy ? "racy" : "race-free";
}

/* What the paper printed for a detector in this cell. */
static uint64_t printed(const struct paper *p, const struct cell *c, const char *detector,
                        const char *of, const char *unit)
{
    if (!c->program->paper)
        return PAPER_NONE;
    char *measure = xasprintf("%s.%s", of, unit);
    const uint64_t n =
        paper_value(p->table, c->program->paper, c->collector->name, detector, measure);
    free(measure);
    return n;
}

struct shown { /* counts that a claim is about */
    unsigned bit;
    const char *of;
};
static const struct shown shown[] = {
    {SHOWS_RACES, "races"}, {SHOWS_FALSE, "false"}, {SHOWS_MISSED, "missed"}};

static const struct tally *tally_of(const struct cell *c, enum view_id v, const struct shown *s)
{
    return s->bit == SHOWS_RACES   ? &c->is.view[v].races
           : s->bit == SHOWS_FALSE ? &c->is.view[v].falses
                                   : &c->is.view[v].missed;
}

/* ---- text ----------------------------------------------------------------------------------- */

void print_head(const struct cell *c)
{
    const struct measured *m = &c->is;

    printf("\n%s, %s, %s: %" PRIu64 " events; truth: %" PRIu64 " racy accesses at %" PRIu64
           " sites\n",
           c->program->name, variant(c->program), c->collector->name, m->events, m->truth.accesses,
           m->truth.sites);
    printf("  memory of another object used %" PRIu64 " times, a moved object %" PRIu64 " times\n",
           m->uses_again, m->uses_moved);
    if (planted(c->program))
        printf("  its races are planted, an input%s\n",
               c->program->paper ? " of the twin: how many, and how many of them the system or a "
                                   "move hides"
                                 : ": where they are");
    printf("  %-17s %28s   %22s\n", "", "racy accesses", "their sites");
    printf("  %-10s %-6s %9s %9s %8s   %6s %6s %8s  %-41s %s\n", "detector", "", "paper", "ours",
           "diff", "paper", "ours", "diff", "the paper says", "ours");
}

/* By how much ours differs from the paper's, in percent of that. -100.0 is of nothing at all: what
 * rounds to it but is something prints as -99.9. From a hundredfold on the factor is told. */
static char *difference(uint64_t paper, uint64_t ours)
{
    const bool less = ours < paper;
    const uint64_t by = less ? paper - ours : ours - paper;

    if (paper == PAPER_NONE)
        return xasprintf("-");
    if (!by)
        return xasprintf("=");
    if (!paper)
        return xasprintf("+%" PRIu64, ours);
    if (by / paper >= 100)
        return xasprintf("x%" PRIu64, ours / paper);
    const uint64_t rounded = (by * 2000 / paper + 1) / 2,
                   tenths = less && ours && rounded == 1000 ? 999 : rounded;
    return xasprintf("%c%" PRIu64 ".%" PRIu64 "%%", less ? '-' : '+', tenths / 10, tenths % 10);
}

static void print_pair(uint64_t paper, uint64_t ours, int wide, const char *after)
{
    char *diff = difference(paper, ours);

    if (paper == PAPER_NONE)
        printf("%*s", wide, "-");
    else
        printf("%*" PRIu64, wide, paper);
    printf(" %*" PRIu64 " %8s%s", wide, ours, diff, after);
    free(diff);
}

void print_claim(const struct paper *p, const struct cell *c, const struct claim *claim,
                 enum verdict v)
{
    const char *detector = view_names[claim->view];
    const char *text = claim->text, *verdict = verdict_names[v];

    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        if (!(claim->shows & shown[i].bit))
            continue;
        const struct tally *t = tally_of(c, claim->view, &shown[i]);
        printf("  %-10s %-6s ", detector, shown[i].of);
        print_pair(printed(p, c, detector, shown[i].of, "accesses"), t->accesses, 9, "   ");
        print_pair(printed(p, c, detector, shown[i].of, "sites"), t->sites, 6, "");
        if (*text)
            printf("  %-41s %s", text, verdict);
        putchar('\n');
        text = ""; /* once */
    }
}

/* The two counts of a cell mostly have the same erratum: it is told once. */
static void print_erratum(const struct paper *p, const struct cell *c, const char *detector,
                          const char *of)
{
    static const char *const unit[] = {"accesses", "sites"};
    const char *told = "";

    for (size_t i = 0; i < ARRAY_SIZE(unit); i++) {
        char *measure = xasprintf("%s.%s", of, unit[i]);
        const char *text =
            paper_erratum(p->table, c->program->paper, c->collector->name, detector, measure);
        if (*text && strcmp(text, told) != 0)
            printf("  on the paper's count, %s %s: %s\n", detector, of, text);
        told = text;
        free(measure);
    }
}

void print_errata(const struct paper *p, const struct cell *c)
{
    for (const struct claim *claim = p->claims; claim->text && c->program->paper; claim++)
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
            if (claim->shows & shown[i].bit)
                print_erratum(p, c, view_names[claim->view], shown[i].of);
}

static bool has_claim(const struct paper *p, enum view_id view)
{
    for (const struct claim *claim = p->claims; claim->text; claim++)
        if (claim->view == view)
            return true;
    return false;
}

void print_system(const struct paper *p, const struct cell *c)
{
    const char *before = "  at sites of the runtime system:";

    for (size_t v = 0; v < VIEWS; v++) {
        const struct tally *t = p->differences ? &c->is.view[v].falses : &c->is.view[v].races;
        if (!t->system || !has_claim(p, (enum view_id)v))
            continue;
        printf("%s %s %s%" PRIu64 " at %" PRIu64, before, view_names[v],
               p->differences ? "false " : "", t->system, t->system_sites);
        before = ",";
    }
    if (*before == ',')
        putchar('\n');
}

/* ---- CSV ------------------------------------------------------------------------------------ */

void csv_head(FILE *csv)
{
    fputs("table,program,variant,collector,detector,measure,value,paper\n", csv);
}

static void csv_row(FILE *csv, const struct paper *p, const struct cell *c, const char *detector,
                    const char *measure, const char *value, uint64_t paper)
{
    fprintf(csv, "%s,%s,%s,%s,%s,%s,%s,", p->name, c->program->name, variant(c->program),
            c->collector->name, detector, measure, value);
    if (paper != PAPER_NONE)
        fprintf(csv, "%" PRIu64, paper);
    fputc('\n', csv);
}

static void csv_number(FILE *csv, const struct paper *p, const struct cell *c, const char *detector,
                       const char *of, const char *unit, uint64_t value)
{
    char *measure = *unit ? xasprintf("%s.%s", of, unit) : xasprintf("%s", of);
    char *text = xasprintf("%" PRIu64, value);

    csv_row(csv, p, c, detector, measure, text,
            *detector ? printed(p, c, detector, of, unit) : PAPER_NONE);
    free(text);
    free(measure);
}

static void csv_tally(FILE *csv, const struct paper *p, const struct cell *c, const char *detector,
                      const char *of, const struct tally *t)
{
    csv_number(csv, p, c, detector, of, "accesses", t->accesses);
    csv_number(csv, p, c, detector, of, "sites", t->sites);
    csv_number(csv, p, c, detector, of, "system", t->system);
    csv_number(csv, p, c, detector, of, "system-sites", t->system_sites);
}

void csv_cell(FILE *csv, const struct paper *p, const struct cell *c)
{
    for (const struct claim *claim = p->claims; claim->text; claim++)
        csv_row(csv, p, c, view_names[claim->view], "verdict", verdict_names[claim->judge(c)],
                PAPER_NONE);
    csv_number(csv, p, c, "", "events", "", c->is.events);
    csv_number(csv, p, c, "", "uses.again", "", c->is.uses_again);
    csv_number(csv, p, c, "", "uses.moved", "", c->is.uses_moved);
    csv_tally(csv, p, c, "truth", "races", &c->is.truth);
    for (size_t v = 0; v < VIEWS; v++)
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
            csv_tally(csv, p, c, view_names[v], shown[i].of,
                      tally_of(c, (enum view_id)v, &shown[i]));
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_verdict(struct json *j, enum verdict v)
{
    json_key_str(j, "verdict", verdict_keys[v]);
}

static void json_count(struct json *j, const struct paper *p, const struct cell *c,
                       const char *detector, const char *of, const char *unit, uint64_t ours,
                       uint64_t system)
{
    const uint64_t paper = printed(p, c, detector, of, unit);
    char *measure = xasprintf("%s.%s", of, unit);
    const char *erratum = c->program->paper ? paper_erratum(p->table, c->program->paper,
                                                            c->collector->name, detector, measure)
                                            : "";

    json_object(j);
    json_key_str(j, "measure", measure);
    json_key(j, "paper");
    if (paper == PAPER_NONE)
        json_null(j);
    else
        json_u64(j, paper);
    json_key_u64(j, "ours", ours);
    json_key_u64(j, "system", system);
    json_key_str(j, "erratum", *erratum ? erratum : NULL);
    json_end(j);
    free(measure);
}

static void json_claim(struct json *j, const struct paper *p, const struct cell *c,
                       const struct claim *claim)
{
    const char *detector = view_names[claim->view];

    json_object(j);
    json_key_str(j, "detector", detector);
    json_key_str(j, "claim", claim->text);
    json_verdict(j, claim->judge(c));
    json_key(j, "counts");
    json_array(j);
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        if (!(claim->shows & shown[i].bit))
            continue;
        const struct tally *t = tally_of(c, claim->view, &shown[i]);
        json_count(j, p, c, detector, shown[i].of, "accesses", t->accesses, t->system);
        json_count(j, p, c, detector, shown[i].of, "sites", t->sites, t->system_sites);
    }
    json_end(j);
    json_end(j);
}

/* That the program is as racy as it is to be is a claim, too: of the truth. */
static void json_truth(struct json *j, const struct cell *c)
{
    json_key(j, "truth");
    json_object(j);
    json_key_u64(j, "accesses", c->is.truth.accesses);
    json_key_u64(j, "sites", c->is.truth.sites);
    json_key_str(j, "claim", c->program->racy ? "the program has races" : "the program has none");
    json_verdict(j, judge_program(c));
    json_end(j);
}

static void json_cell(struct json *j, const struct paper *p, const struct cell *c)
{
    json_object(j);
    json_key_str(j, "program", c->program->name);
    json_key_str(j, "settings", c->program->settings);
    json_key_str(j, "variant", variant(c->program));
    json_key_str(j, "collector", c->collector->name);
    json_key_str(j, "row", c->program->paper);
    json_key_u64(j, "events", c->is.events);
    json_key_u64(j, "uses.again", c->is.uses_again);
    json_key_u64(j, "uses.moved", c->is.uses_moved);
    json_truth(j, c);
    json_key(j, "claims");
    json_array(j);
    for (const struct claim *claim = p->claims; claim->text; claim++)
        json_claim(j, p, c, claim);
    json_end(j);
    json_end(j);
}

static void json_needs(struct json *j, const struct cell *cell, size_t cells)
{
    for (size_t i = 0; i < NEEDS; i++) {
        const size_t n = cells_that_need(cell, cells, &needs[i]);
        json_object(j);
        json_key_str(j, "detector", view_names[needs[i].view]);
        json_key_str(j, "claim", needs[i].text);
        json_verdict(j, n ? HOLDS : FAILS);
        json_key_u64(j, "cells", n);
        json_end(j);
    }
}

void json_cells(const struct paper *p, const char *programs, const struct cell *cell, size_t cells,
                const unsigned verdicts[VERDICTS])
{
    struct json j;

    json_init(&j, stdout, true);
    json_object(&j);
    json_key_str(&j, "schema", "lardsim-reproduce-1");
    json_key_str(&j, "result", p->name);
    json_key_str(&j, "title", p->title);
    json_key_str(&j, "programs", programs);
    json_key(&j, "cells");
    json_array(&j);
    for (size_t i = 0; i < cells; i++)
        json_cell(&j, p, &cell[i]);
    json_end(&j);
    json_key(&j, "overall");
    json_array(&j);
    if (p->differences)
        json_needs(&j, cell, cells);
    json_end(&j);
    json_key(&j, "verdicts");
    json_object(&j);
    for (size_t v = 0; v < VERDICTS; v++)
        json_key_u64(&j, verdict_keys[v], verdicts[v]);
    json_end(&j);
    json_end(&j);
}

/* ---- the plot ------------------------------------------------------------------------------- */

/* At most two counts for each view: false and missed ones. */
struct panels { /* a panel for each kind of count of each claim */
    enum view_id view[2 * VIEWS];
    const struct shown *of[2 * VIEWS];
    char *title[2 * VIEWS]; /* owns */
    size_t n;
};

static void panels_of(struct panels *to, const struct paper *p)
{
    to->n = 0;
    for (const struct claim *claim = p->claims; claim->text; claim++)
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
            if (claim->shows & shown[i].bit) {
                to->view[to->n] = claim->view;
                to->of[to->n] = &shown[i];
                to->title[to->n++] = xasprintf("%s: %s", view_names[claim->view], shown[i].of);
            }
}

void plot_cells(FILE *out, const struct paper *p, const struct cell *cells, size_t n)
{
    struct panels panels;
    char **row = xcalloc(n, sizeof *row);

    panels_of(&panels, p);
    uint64_t(*count)[2] = xcalloc(n * panels.n, sizeof *count);
    for (size_t r = 0; r < n; r++) {
        const struct cell *c = &cells[r];
        row[r] = xasprintf("%s%s, %s", c->program->name,
                           planted(c->program) ? " (planted)"
                           : c->program->racy  ? " racy"
                                               : "",
                           c->collector->moves ? "SS" : "MS");
        for (size_t i = 0; i < panels.n; i++) {
            count[r * panels.n + i][0] =
                printed(p, c, view_names[panels.view[i]], panels.of[i]->of, "accesses");
            count[r * panels.n + i][1] = tally_of(c, panels.view[i], panels.of[i])->accesses;
        }
    }
    const struct plot plot = {
        .title = p->title,
        .kind = {"paper", "ours (racy accesses, log scale; MS: marksweep, SS: semispace)"},
        .panels = panels.n,
        .rows = n,
        .panel = (const char *const *)panels.title,
        .row = row,
        .count = (const uint64_t(*)[2])count};
    plot_write(&plot, out);
    for (size_t i = 0; i < n; i++)
        free(row[i]);
    for (size_t i = 0; i < panels.n; i++)
        free(panels.title[i]);
    free(row);
    free(count);
}
