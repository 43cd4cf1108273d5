/* page.c - a table as it is printed, and as JSON: the paper's numbers beside ours, claims and what
 * became of them, what was put in. It measures nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/table.h"
#include "base/program/print.h"

enum { PROGRAM_WIDTH = 24, COLUMN_WIDTH = 11, HALF_WIDTH = 8, PAGE_WIDTH = 100 };

/* ---- parts of the text ---------------------------------------------------------------------- */

static void number(double x)
{
    char text[NUMBER_TEXT];

    printf(" %*s", COLUMN_WIDTH - 1, number_text(text, x));
}

/* Prints, with several seeds, half of the interval of the mean. */
static void half(const struct quantity *q, const char *text)
{
    char half[NUMBER_TEXT];
    const struct estimate s = quantity_estimate(q, text);

    if (q->results->seeds > 1)
        printf(" %*s", HALF_WIDTH - 1, number_text(half, s.half));
}

/* "inputs  each line of it" */
static void paragraph(const char *head, const char *lines)
{
    enum { HEAD = 10 };

    if (!lines || !*lines)
        return;
    for (const char *at = lines; *at;) {
        const size_t n = strcspn(at, "\n");
        char *line = xasprintf("%.*s", (int)n, at);
        printf("%-*s", HEAD, at == lines ? head : "");
        print_broken(stdout, line, HEAD, HEAD, PAGE_WIDTH);
        free(line);
        at += n + (at[n] == '\n');
    }
}

static void print_machine(const struct table_results *r)
{
    const struct reproduction *t = r->of;

    if (!r->machine)
        return;
    printf("machine   %s", r->machine);
    if (strcmp(r->machine, t->machine) != 0)
        printf(", in place of %s, which this build does not have", t->machine);
    printf("\n");
}

/* A seed that changes nothing is no second run. */
static void print_same(const struct table_results *r)
{
    char *names = NULL, *line;

    for (const struct table_program *p = r->of->program; p->name; p++) {
        if (!seeds_are_same(r, p))
            continue;
        char *name = program_text(p);
        xappend(&names, ", ", name);
        free(name);
    }
    if (!names)
        return;
    line = xasprintf("they change nothing, each being the same run, in: %s", names);
    paragraph("seeds", line);
    free(line);
    free(names);
}

static void print_top(const struct table_results *r)
{
    const struct reproduction *t = r->of;

    printf("%s\n", t->title);
    if (*t->paper)
        printf("paper     %s, %s\n", t->paper, t->section);
    print_machine(r);
    printf("runs      %zu cells, %s%s%zu seed%s", r->cells, r->size ? r->size : "",
           r->size ? ", " : "", r->seeds, r->seeds == 1 ? "" : "s");
    if (r->failed)
        printf("; %zu failed: lardsim sweep status says why, if the cells are kept", r->failed);
    printf("\n");
    print_same(r);
    if (r->band)
        printf("band      core.unmodelled from 0 to %" PRIu64
               " percent, for what the model leaves out\n",
               r->band->unmodelled);
    paragraph("inputs", t->inputs);
    paragraph("frozen", t->frozen);
    paragraph("cannot", t->cannot);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void print_heads(const struct table_column *c, bool seeds)
{
    const int more = seeds ? HALF_WIDTH : 0;

    printf("\n%-*s", PROGRAM_WIDTH, "program");
    for (const struct table_column *at = c; at->head; at++)
        printf(" %*s", (at->paper ? 2 : 1) * COLUMN_WIDTH - 1 + more, at->head);
    printf("\n");
    bool some = seeds;
    for (const struct table_column *at = c; at->head; at++)
        some |= at->paper != NULL;
    if (!some)
        return;
    printf("%-*s", PROGRAM_WIDTH, "");
    for (const struct table_column *at = c; at->head; at++) {
        if (at->paper)
            printf(" %*s", COLUMN_WIDTH - 1, "paper");
        printf(" %*s", COLUMN_WIDTH - 1, at->paper || seeds ? "ours" : "");
        if (seeds)
            printf(" %*s", HALF_WIDTH - 1, "+-");
    }
    printf("\n");
}

char *program_text(const struct table_program *p)
{
    return p->step ? xasprintf("%s %s", p->name, p->step) : xstrdup(p->name);
}

static void print_program(const struct table_results *r, const struct table_program *p)
{
    const struct quantity q = {.results = r, .program = p, .seed = SIZE_MAX};
    char *name = program_text(p);

    printf("%-*s", PROGRAM_WIDTH, name);
    for (const struct table_column *c = r->of->column; c->head; c++) {
        if (c->paper)
            number(quantity_of(&q, c->paper));
        number(quantity_of(&q, c->quantity));
        half(&q, c->quantity);
    }
    printf("\n");
    free(name);
}

/* $ of it stands for a column's quantity: for the paper's, where it has them, and ours. */
static double summarized(const struct quantity *q, const char *text, const char *quantity)
{
    char *whole = quantity_for(text, quantity);
    const double x = quantity_of(q, whole);

    free(whole);
    return x;
}

static void print_summary(const struct table_results *r, const struct table_line *l)
{
    const struct quantity q = {.results = r, .seed = SIZE_MAX};

    printf("%-*s", PROGRAM_WIDTH, r->unmodelled ? "  with core.unmodelled" : l->text);
    for (const struct table_column *c = r->of->column; c->head; c++) {
        if (c->paper && r->unmodelled)
            printf(" %*s", COLUMN_WIDTH - 1, "");
        else if (c->paper)
            number(summarized(&q, l->quantity, c->paper));
        number(summarized(&q, l->quantity, c->quantity));
        char *whole = quantity_for(l->quantity, c->quantity);
        half(&q, whole);
        free(whole);
    }
    printf("\n");
    if (r->band)
        print_summary(r->band, l);
}

/* How far the first summary of each column moves with the seed. */
static void print_estimate(const struct table_results *r, bool most)
{
    struct quantity q = {.results = r};
    char text[NUMBER_TEXT];

    printf("%-*s", PROGRAM_WIDTH, most ? "most of a seed" : "least of a seed");
    for (const struct table_column *c = r->of->column; c->head; c++) {
        double x = NAN;
        for (q.seed = 0; q.seed < r->seeds; q.seed++) {
            const double one = summarized(&q, r->of->summary->quantity, c->quantity);
            x = most ? fmax(x, one) : fmin(x, one);
        }
        if (c->paper)
            printf(" %*s", COLUMN_WIDTH - 1, "");
        printf(" %*s%*s", COLUMN_WIDTH - 1, number_text(text, x), HALF_WIDTH, "");
    }
    printf("\n");
}

static void print_programs(const struct table_results *r)
{
    const struct reproduction *t = r->of;

    if (!t->column)
        return;
    print_heads(t->column, r->seeds > 1);
    for (const struct table_program *p = t->program; p->name; p++)
        print_program(r, p);
    for (const struct table_line *l = t->summary; l && l->text; l++)
        print_summary(r, l);
    if (t->summary && r->seeds > 1) {
        print_estimate(r, false);
        print_estimate(r, true);
    }
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void print_parts(const struct table_results *r)
{
    const struct reproduction *t = r->of;

    if (!t->part)
        return;
    printf("\n%-*s", PROGRAM_WIDTH, "part, in points");
    for (const struct table_line *of = t->of; of->text; of++)
        printf(" %*s", 2 * COLUMN_WIDTH - 1 + (r->seeds > 1 ? HALF_WIDTH : 0), of->text);
    printf("\n");
    for (const struct table_line *p = t->part; p->text; p++) {
        const struct quantity q = {.results = r, .seed = SIZE_MAX, .part = p->quantity};
        printf("%-*s", PROGRAM_WIDTH, p->text);
        for (const struct table_line *of = t->of; of->text; of++) {
            printf("%*s", COLUMN_WIDTH, "");
            number(quantity_of(&q, of->quantity));
            half(&q, of->quantity);
        }
        printf("\n");
    }
}

/* ---- claims --------------------------------------------------------------------------------- */

static void print_judged(const struct table_results *r, const struct table_judged *j)
{
    const struct band *b = j->band;
    char ours[NUMBER_TEXT], half[NUMBER_TEXT], least[NUMBER_TEXT], most[NUMBER_TEXT],
        *band = band_text(b);

    printf("  %s (%s)\n", b->claim, b->section);
    printf("    paper %s, band %s (%s), ours %s", *b->paper ? b->paper : "-", band, b->why,
           number_text(ours, j->ours));
    if (!isnan(j->seeds.half) && j->verdict != TABLE_CANNOT)
        printf(" +- %s (seeds: %s to %s)", number_text(half, j->seeds.half),
               number_text(least, j->seeds.least), number_text(most, j->seeds.most));
    if (r->band) {
        const struct quantity q = {.results = r->band, .seed = SIZE_MAX};
        printf(" (with core.unmodelled: %s)",
               number_text(most, quantity_of(&q, j->band->quantity)));
    }
    printf(" %s: %s\n", b->unit, table_verdict_names[j->verdict]);
    free(band);
}

static void print_reasons(const struct table_results *r)
{
    const struct quantity q = {.results = r, .seed = SIZE_MAX};
    char text[NUMBER_TEXT];

    if (!r->of->reason)
        return;
    printf("\nwhy ours differs: statistics\n");
    for (const struct table_line *l = r->of->reason; l->text; l++)
        printf("  %-76s %s\n", l->text,
               l->quantity ? number_text(text, quantity_of(&q, l->quantity)) : "");
}

void page_print(const struct table_results *r)
{
    unsigned verdicts[TABLE_VERDICTS] = {0};
    struct table_judged j;

    print_top(r);
    print_programs(r);
    print_parts(r);
    printf("\nclaims\n");
    for (size_t at = 0; judge_next(r, &at, &j);) {
        print_judged(r, &j);
        verdicts[j.verdict]++;
    }
    print_reasons(r);
    printf("\nclaims: %u hold, %u differ, %u cannot be judged\n", verdicts[TABLE_HOLDS],
           verdicts[TABLE_DIFFERS], verdicts[TABLE_CANNOT]);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Writes a printed number; "" is none. */
static void json_key_printed(struct json *j, const char *key, const char *text)
{
    json_key_double(j, key, "%.6f", *text ? strtod(text, NULL) : NAN);
}

/* Writes the quantity at the band's other end, if there is a band. program: NULL: of all. */
static void json_band(struct json *j, const struct table_results *r, const struct table_program *p,
                      const char *quantity)
{
    const struct quantity q = {.results = r->band, .program = p, .seed = SIZE_MAX};

    if (r->band)
        json_key_double(j, "unmodelled", "%.6f", quantity_of(&q, quantity));
}

/* The ends of the 95 percent interval of the mean over seeds. */
static void json_interval(struct json *j, const struct estimate *s)
{
    if (!isnan(s->half)) {
        json_key_double(j, "interval-low", "%.6f", s->mean - s->half);
        json_key_double(j, "interval-high", "%.6f", s->mean + s->half);
    }
}

static void json_program(struct json *j, const struct table_results *r,
                         const struct table_program *p)
{
    const struct quantity q = {.results = r, .program = p, .seed = SIZE_MAX};

    json_object(j);
    JSON_TEXTS(j, {"program", p->name}, {"step", p->step}, {"printed", p->printed},
               {"source", p->source});
    json_key_bool(j, "seeds-change-nothing", seeds_are_same(r, p));
    json_key_array(j, "columns");
    for (const struct table_column *c = r->of->column; c && c->head; c++) {
        json_object(j);
        JSON_TEXTS(j, {"column", c->head}, {"quantity", c->quantity});
        json_key_double(j, "paper", "%.6f", c->paper ? quantity_of(&q, c->paper) : NAN);
        json_key_double(j, "ours", "%.6f", quantity_of(&q, c->quantity));
        const struct estimate s = quantity_estimate(&q, c->quantity);
        json_interval(j, &s);
        json_band(j, r, p, c->quantity);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void json_parts(struct json *j, const struct table_results *r)
{
    for (const struct table_line *p = r->of->part; p && p->text; p++) {
        const struct quantity q = {.results = r, .seed = SIZE_MAX, .part = p->quantity};
        json_object(j);
        json_key_str(j, "part", p->quantity);
        json_key_object(j, "of");
        for (const struct table_line *of = r->of->of; of->text; of++)
            json_key_double(j, of->text, "%.6f", quantity_of(&q, of->quantity));
        json_end(j);
        json_end(j);
    }
}

static void json_judged(struct json *j, const struct table_results *r,
                        const struct table_judged *is)
{
    const struct band *b = is->band;

    json_object(j);
    JSON_TEXTS(j, {"claim", b->claim}, {"quantity", b->quantity}, {"unit", b->unit},
               {"section", b->section});
    json_key_printed(j, "paper", b->paper);
    json_key_printed(j, "low", b->low);
    json_key_printed(j, "high", b->high);
    json_key_str(j, "band", b->why);
    json_key_double(j, "ours", "%.6f", is->ours);
    json_band(j, r, NULL, b->quantity);
    json_interval(j, &is->seeds);
    json_key_double(j, "least", "%.6f", is->seeds.n ? is->seeds.least : is->ours);
    json_key_double(j, "most", "%.6f", is->seeds.n ? is->seeds.most : is->ours);
    json_key_str(j, "verdict", table_verdict_names[is->verdict]);
    json_end(j);
}

void page_json(const struct table_results *r, struct json *j)
{
    const struct reproduction *t = r->of;
    struct table_judged is;

    json_object(j);
    JSON_TEXTS(j, {"schema", "lardsim-table-1"}, {"result", t->name}, {"title", t->title},
               {"paper", t->paper}, {"section", t->section}, {"machine", r->machine},
               {"machine-meant", t->machine}, {"size", r->size});
    JSON_COUNTS(j, {"seeds", r->seeds}, {"cells", r->cells}, {"cells-failed", r->failed});
    if (r->band)
        json_key_u64(j, "band", r->band->unmodelled);
    JSON_TEXTS(j, {"inputs", t->inputs}, {"frozen", t->frozen}, {"cannot", t->cannot});
    json_key_array(j, "programs");
    for (const struct table_program *p = t->program; p->name; p++)
        json_program(j, r, p);
    json_end(j);
    json_key_array(j, "parts");
    json_parts(j, r);
    json_end(j);
    json_key_array(j, "claims");
    for (size_t at = 0; judge_next(r, &at, &is);)
        json_judged(j, r, &is);
    json_end(j);
    json_end(j);
}
