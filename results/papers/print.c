/* print.c - what `lardsim reproduce` shows of a program under a collector: the paper's
 * counts beside ours, as text, CSV, JSON and a plot. It judges nothing. */
#include "results/papers/lard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/drawing/plot.h"

static bool planted(const struct program *p)
{
    char *source = xasprintf("workload:%s%s%s", p->name, p->settings ? "," : "",
                             p->settings ? p->settings : "");
    const bool plants = p->racy && lardsim_source_plants(source);

    free(source);
    return plants;
}

/* The variant of a program: its races may be its own, or put in. */
static const char *variant(const struct program *p)
{
    return p->captured ? "captured" : planted(p) ? "planted-races" : p->racy ? "racy" : "race-free";
}

/* The paper's row of a number in this cell; NULL: it printed none. */
static const struct printed *printed_of(const struct paper *p, const struct cell *c,
                                        const char *detector, enum tally_of of, const char *unit)
{
    if (!c->program->paper)
        return NULL;
    char *measure = xasprintf("%s.%s", tally_names[of], unit);
    const struct printed *is =
        printed_find("lard", p->table, c->program->paper, c->collector->name, detector, measure);
    free(measure);
    return is;
}

/* ---- text ----------------------------------------------------------------------------------- */

void print_head(const struct cell *c)
{
    const struct measured *m = &c->is;

    printf("\n%s, %s, %s: %" PRIu64 " events; truth: %" PRIu64 " racy accesses at %" PRIu64
           " sites\n",
           c->program->name, variant(c->program), c->collector->name, m->events,
           m->truth.n[ACCESSES], m->truth.n[SITES]);
    printf("  memory of another object used %" PRIu64 " times, a moved object %" PRIu64 " times\n",
           m->moves.uses_again, m->moves.uses_moved);
    if (planted(c->program))
        printf("  its races are planted, an input%s\n",
               c->program->paper
                   ? " of the twin: how many, and how many of them the system or a move hides"
                   : ": where they are");
    printf("  %-17s %28s   %22s\n", "", "racy accesses", "their sites");
    printf("  %-10s %-6s %9s %9s %8s   %6s %6s %8s  %-41s %s\n", "detector", "", "paper", "ours",
           "diff", "paper", "ours", "diff", "the paper says", "ours");
}

/* The difference of ours from the paper's number, in percent of that. -100.0 is of nothing at all:
 * what rounds to it but is something prints as -99.9. From a hundredfold on the factor is told. */
static char *difference(uint64_t paper, uint64_t ours)
{
    const bool less = ours < paper;
    const uint64_t by = less ? paper - ours : ours - paper;

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

static void print_pair(const struct printed *is, uint64_t ours, int wide, const char *after)
{
    char *diff = is ? difference(strtoull(is->value, NULL, 10), ours) : xstrdup("-");

    printf("%*s %*" PRIu64 " %8s%s", wide, is ? is->value : "-", wide, ours, diff, after);
    free(diff);
}

void print_claim(const struct paper *p, const struct cell *c, const struct claim *claim)
{
    const char *detector = view_names[claim->view];
    const uint64_t *n = c->is.view[claim->view][claim->of].n;

    printf("  %-10s %-6s ", detector, tally_names[claim->of]);
    print_pair(printed_of(p, c, detector, claim->of, "accesses"), n[ACCESSES], 9, "   ");
    print_pair(printed_of(p, c, detector, claim->of, "sites"), n[SITES], 6, "");
    if (claim->judge)
        printf("  %-41s %s", claim->text, verdict_names[claim->judge(c)]);
    putchar('\n');
}

/* The two counts of a cell mostly have the same erratum: it is told once. */
void print_errata(const struct paper *p, const struct cell *c)
{
    for (const struct claim *claim = p->claims; claim->text; claim++) {
        const char *detector = view_names[claim->view], *told = "";
        for (size_t unit = ACCESSES; unit <= SITES; unit++) {
            const struct printed *is = printed_of(p, c, detector, claim->of, unit_names[unit]);
            const char *text = is ? is->erratum : "";
            if (*text && strcmp(text, told) != 0)
                printf("  on the paper's count, %s %s: %s\n", detector, tally_names[claim->of],
                       text);
            told = text;
        }
    }
}

/* A view has one claim of a paper. */
void print_system(const struct paper *p, const struct cell *c)
{
    const char *before = "  at sites of the runtime system:";

    for (const struct claim *claim = p->claims; claim->text; claim++) {
        const uint64_t *n = c->is.view[claim->view][p->differences ? FALSE : RACES].n;
        if (!n[SYSTEM] || !claim->judge)
            continue;
        printf("%s %s %s%" PRIu64 " at %" PRIu64, before, view_names[claim->view],
               p->differences ? "false " : "", n[SYSTEM], n[SYSTEM_SITES]);
        before = ",";
    }
    if (*before == ',')
        putchar('\n');
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_row(FILE *csv, const struct paper *p, const struct cell *c, const char *detector,
                    const char *measure)
{
    fprintf(csv, "%s,%s,%s,%s,%s,%s,", p->name, c->program->name, variant(c->program),
            c->collector->name, detector, measure);
}

static void csv_tally(FILE *csv, const struct paper *p, const struct cell *c, const char *detector,
                      enum tally_of of, const struct tally *t)
{
    for (size_t unit = 0; unit < TALLY_UNITS; unit++) {
        const struct printed *is = printed_of(p, c, detector, of, unit_names[unit]);
        char *measure = xasprintf("%s.%s", tally_names[of], unit_names[unit]);
        csv_row(csv, p, c, detector, measure);
        fprintf(csv, "%" PRIu64 ",%s\n", t->n[unit], is ? is->value : "");
        free(measure);
    }
}

static void csv_cell(FILE *csv, const struct paper *p, const struct cell *c)
{
    const struct {
        const char *name;
        uint64_t n;
    } of_run[] = {{"events", c->is.events},
                  {"uses.again", c->is.moves.uses_again},
                  {"uses.moved", c->is.moves.uses_moved}};

    for (const struct claim *claim = p->claims; claim->text; claim++) {
        if (!claim->judge)
            continue;
        csv_row(csv, p, c, view_names[claim->view], "verdict");
        fprintf(csv, "%s,\n", verdict_names[claim->judge(c)]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(of_run); i++) {
        csv_row(csv, p, c, "", of_run[i].name);
        fprintf(csv, "%" PRIu64 ",\n", of_run[i].n);
    }
    csv_tally(csv, p, c, "truth", RACES, &c->is.truth);
    for (size_t v = 0; v < VIEWS; v++)
        for (enum tally_of of = RACES; of < TALLIES; of++)
            csv_tally(csv, p, c, view_names[v], of, &c->is.view[v][of]);
}

void lard_csv(const struct lard_report *r, FILE *out)
{
    fputs("table,program,variant,collector,detector,measure,value,paper\n", out);
    for (size_t i = 0; i < r->cells; i++)
        csv_cell(out, r->paper, &r->cell[i]);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* unit: ACCESSES or SITES; the system's of either stand two behind. */
static void json_count(struct json *j, const struct paper *p, const struct cell *c,
                       enum view_id view, enum tally_of of, enum tally_unit unit)
{
    const struct printed *is = printed_of(p, c, view_names[view], of, unit_names[unit]);
    const uint64_t *n = c->is.view[view][of].n;
    char *measure = xasprintf("%s.%s", tally_names[of], unit_names[unit]);

    json_object(j);
    json_key_str(j, "measure", measure);
    json_key(j, "paper");
    is ? json_u64(j, strtoull(is->value, NULL, 10)) : json_null(j);
    JSON_COUNTS(j, {"ours", n[unit]}, {"system", n[unit + SYSTEM]});
    json_key_str(j, "erratum", is && *is->erratum ? is->erratum : NULL);
    json_end(j);
    free(measure);
}

static void json_claim(struct json *j, const struct paper *p, const struct cell *c,
                       const struct claim *claim)
{
    json_object(j);
    JSON_TEXTS(j, {"detector", view_names[claim->view]}, {"claim", claim->text},
               {"verdict", verdict_keys[claim->judge(c)]});
    json_key_array(j, "counts");
    do {
        json_count(j, p, c, claim->view, claim->of, ACCESSES);
        json_count(j, p, c, claim->view, claim->of, SITES);
        claim++;
    } while (claim->text && !claim->judge);
    json_end(j);
    json_end(j);
}

/* Writes the truth. That a program is racy or race-free as it is meant to be is a claim, too. */
static void json_truth(struct json *j, const struct cell *c)
{
    json_key_object(j, "truth");
    JSON_COUNTS(j, {"accesses", c->is.truth.n[ACCESSES]}, {"sites", c->is.truth.n[SITES]});
    JSON_TEXTS(j, {"claim", c->program->racy ? "the program has races" : "the program has none"},
               {"verdict", verdict_keys[judge_program(c)]});
    json_end(j);
}

static void json_cell(struct json *j, const struct paper *p, const struct cell *c)
{
    json_object(j);
    JSON_TEXTS(j, {"program", c->program->name}, {"settings", c->program->settings},
               {"variant", variant(c->program)}, {"collector", c->collector->name},
               {"row", c->program->paper});
    JSON_COUNTS(j, {"events", c->is.events}, {"uses.again", c->is.moves.uses_again},
                {"uses.moved", c->is.moves.uses_moved});
    json_truth(j, c);
    json_key_array(j, "claims");
    for (const struct claim *claim = p->claims; claim->text; claim++)
        if (claim->judge)
            json_claim(j, p, c, claim);
    json_end(j);
    json_end(j);
}

static void json_needs(struct json *j, const struct cell *cell, size_t cells)
{
    for (size_t i = 0; i < NEEDS; i++) {
        const size_t n = cells_that_need(cell, cells, &needs[i]);
        json_object(j);
        JSON_TEXTS(j, {"detector", view_names[needs[i].view]}, {"claim", needs[i].text},
                   {"verdict", verdict_keys[n ? HOLDS : FAILS]});
        json_key_u64(j, "cells", n);
        json_end(j);
    }
}

void lard_json(const struct lard_report *r, const char *programs)
{
    const struct paper *p = r->paper;
    struct json j;

    json_page(&j, stdout, "lardsim-reproduce-1");
    JSON_TEXTS(&j, {"result", p->name}, {"title", p->title}, {"programs", programs});
    json_key_array(&j, "cells");
    for (size_t i = 0; i < r->cells; i++)
        json_cell(&j, p, &r->cell[i]);
    json_end(&j);
    json_key_array(&j, "overall");
    if (p->differences)
        json_needs(&j, r->cell, r->cells);
    json_end(&j);
    json_key_object(&j, "verdicts");
    for (size_t v = 0; v < VERDICTS; v++)
        json_key_u64(&j, verdict_keys[v], r->verdicts[v]);
    json_end(&j);
    json_end(&j);
}

/* ---- the plot ------------------------------------------------------------------------------- */

/* A panel for each kind of count of each claim, a row for each cell. */
void lard_plot(const struct lard_report *r, FILE *out)
{
    enum { PANELS = TALLIES * VIEWS };
    char *panel[PANELS], **row = xcalloc(r->cells + 1, sizeof *row);
    uint64_t(*count)[2] = xcalloc(r->cells * PANELS + 1, sizeof *count);
    struct plot plot = {
        .title = r->paper->title,
        .kind = {"paper", "ours (racy accesses, log scale; MS: marksweep, SS: semispace)"},
        .rows = r->cells,
        .panel = (const char *const *)panel,
        .row = (const char *const *)row,
        .count = (const uint64_t(*)[2])count};
    size_t n = 0;

    for (const struct claim *claim = r->paper->claims; claim->text; claim++)
        panel[plot.panels++] = xasprintf("%s: %s", view_names[claim->view], tally_names[claim->of]);
    for (size_t i = 0; i < r->cells; i++) {
        const struct cell *c = &r->cell[i];
        row[i] = xasprintf("%s%s, %s", c->program->name,
                           planted(c->program) ? " (planted)"
                           : c->program->racy  ? " racy"
                                               : "",
                           c->collector->moves ? "SS" : "MS");
        for (const struct claim *claim = r->paper->claims; claim->text; claim++) {
            const struct printed *is =
                printed_of(r->paper, c, view_names[claim->view], claim->of, "accesses");
            count[n][0] = is ? strtoull(is->value, NULL, 10) : PLOT_NONE;
            count[n++][1] = c->is.view[claim->view][claim->of].n[ACCESSES];
        }
    }
    plot_write(&plot, out);
    for (size_t i = 0; i < r->cells; i++)
        free(row[i]);
    for (size_t i = 0; i < plot.panels; i++)
        free(panel[i]);
    free(row);
    free(count);
}
