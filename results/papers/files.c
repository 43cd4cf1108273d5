/* files.c - a table as CSV, as an SVG of bars, and as a script for gnuplot that has its data. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "results/papers/table.h"
#include "results/drawing/svg.h"

static void csv_value(FILE *out, double x)
{
    if (isnan(x) || isinf(x))
        fputc(',', out);
    else
        fprintf(out, ",%.6f", x);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Ends the line: how many seeds, and the ends of the 95 percent interval of their mean; nothing
 * where there is one. */
static void csv_seeds(const struct estimate *s, FILE *out)
{
    if (s->n)
        fprintf(out, ",%zu", s->n);
    else
        fputc(',', out);
    csv_value(out, s->mean - s->half);
    csv_value(out, s->mean + s->half);
    fputc('\n', out);
}

static void csv_column(const struct table_results *r, const struct table_program *p,
                       const struct table_column *c, FILE *out)
{
    struct quantity q = {.results = r, .program = p, .seed = SIZE_MAX};
    char *name = program_text(p);

    fprintf(out, "%s,%s,", r->of->name, name);
    csv_field(out, c->head);
    csv_value(out, quantity_of(&q, c->quantity));
    csv_value(out, c->paper ? quantity_of(&q, c->paper) : NAN);
    const struct estimate s = quantity_estimate(&q, c->quantity);
    fputs(",,", out);
    csv_seeds(&s, out);
    if (r->band) {
        q.results = r->band;
        fprintf(out, "%s,%s,\"%s, core.unmodelled=%" PRIu64 "\"", r->of->name, name, c->head,
                r->band->unmodelled);
        csv_value(out, quantity_of(&q, c->quantity));
        const struct estimate other = quantity_estimate(&q, c->quantity);
        fputs(",,,", out);
        csv_seeds(&other, out);
    }
    free(name);
}

static void csv_judged(const struct table_judged *j, FILE *out)
{
    const struct band *b = j->band;

    fprintf(out, "%s,,", b->table);
    csv_field(out, b->claim);
    csv_value(out, j->ours);
    fprintf(out, ",%s,%s,", b->paper, b->unit);
    csv_field(out, table_verdict_names[j->verdict]);
    csv_seeds(&j->seeds, out);
}

void file_csv(const struct table_results *r, FILE *out)
{
    struct table_judged j;

    fputs("table,program,what,ours,paper,unit,verdict,seeds,low,high\n", out);
    for (const struct table_program *p = r->of->program; p->name; p++)
        for (const struct table_column *c = r->of->column; c && c->head; c++)
            csv_column(r, p, c, out);
    for (size_t at = 0; judge_next(r, &at, &j);)
        csv_judged(&j, out);
}

/* ---- SVG ------------------------------------------------------------------------------------ */

enum { ROW = 26, LABEL = 190, BARS = 420, TOP = 60, BAR = 10 };

struct bars {                   /* of a column */
    double *ours, *paper, most; /* own the arrays */
};

static struct bars bars_of(const struct table_results *r, const struct table_column *c, size_t rows)
{
    struct bars b = {xcalloc(rows + 1, sizeof(double)), xcalloc(rows + 1, sizeof(double)), 0};

    for (size_t i = 0; i < rows; i++) {
        const struct quantity q = {.results = r, .program = &r->of->program[i], .seed = SIZE_MAX};
        b.ours[i] = quantity_of(&q, c->quantity);
        b.paper[i] = c->paper ? quantity_of(&q, c->paper) : NAN;
        b.most = fmax(b.most, fmax(isfinite(b.ours[i]) ? b.ours[i] : 0,
                                   isfinite(b.paper[i]) ? b.paper[i] : 0));
    }
    return b;
}

static void bar(FILE *out, const struct bars *b, double x, unsigned y, bool ours)
{
    char text[NUMBER_TEXT];
    const double width = b->most > 0 && x > 0 ? x / b->most * BARS : 0;

    if (!isfinite(x))
        return;
    fprintf(out,
            "<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" class=\"%s\"><title>%s "
            "%s</title></rect>\n",
            LABEL, y, width, BAR, ours ? "bar" : "bar-other", ours ? "ours" : "paper",
            number_text(text, x));
}

/* Returns where the next panel begins. */
static unsigned panel(const struct table_results *r, const struct table_column *c, size_t rows,
                      unsigned y, FILE *out)
{
    const struct bars b = bars_of(r, c, rows);

    svg_text(out, 10, y + 14, "text bold", c->head);
    y += ROW;
    for (size_t i = 0; i < rows; i++, y += ROW) {
        char *name = program_text(&r->of->program[i]);
        svg_text(out, 10, y + 14, "text", name);
        bar(out, &b, b.paper[i], y, false);
        bar(out, &b, b.ours[i], y + BAR, true);
        free(name);
    }
    free(b.ours);
    free(b.paper);
    return y;
}

void file_plot(const struct table_results *r, FILE *out)
{
    size_t rows = 0, columns = 0;
    unsigned y = TOP;

    while (r->of->program[rows].name)
        rows++;
    while (r->of->column && r->of->column[columns].head)
        columns++;
    svg_begin(out, LABEL + BARS + 20, (unsigned)(TOP + columns * (rows + 1) * ROW + 10),
              r->of->title);
    svg_text(out, 10, 20, "text title", r->of->title);
    svg_text(out, 10, 40, "text", "hollow: the paper, where it prints a number; full: ours");
    for (size_t i = 0; i < columns; i++)
        y = panel(r, &r->of->column[i], rows, y, out);
    svg_end(out);
}

/* ---- gnuplot -------------------------------------------------------------------------------- */

static void gnuplot_value(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, " %.6f", x);
    else
        fputs(" NaN", out);
}

static void gnuplot_data(const struct table_results *r, FILE *out)
{
    fputs("$data << END\n", out);
    for (const struct table_program *p = r->of->program; p->name; p++) {
        const struct quantity q = {.results = r, .program = p, .seed = SIZE_MAX};
        char *name = program_text(p);
        fprintf(out, "\"%s\"", name);
        for (const struct table_column *c = r->of->column; c && c->head; c++) {
            gnuplot_value(out, quantity_of(&q, c->quantity));
            gnuplot_value(out, c->paper ? quantity_of(&q, c->paper) : NAN);
        }
        fputc('\n', out);
        free(name);
    }
    fputs("END\n", out);
}

void file_gnuplot(const struct table_results *r, FILE *out)
{
    unsigned column = 2;

    fprintf(out, "# %s: %s\n# gnuplot -p FILE\n", r->of->name, r->of->title);
    gnuplot_data(r, out);
    fprintf(out,
            "set title \"%s\"\nset style data histograms\nset style fill solid 0.5\n"
            "set xtics rotate by -45\nset grid ytics\nplot \\\n",
            r->of->title);
    for (const struct table_column *c = r->of->column; c && c->head; c++, column += 2) {
        fprintf(out, "  $data using %u:xtic(1) title \"%s, ours\"", column, c->head);
        if (c->paper)
            fprintf(out, ", \\\n  $data using %u title \"%s, paper\" fs empty", column + 1,
                    c->head);
        fputs(c[1].head ? ", \\\n" : "\n", out);
    }
}
