/* figure.c - a picture of values by row and series: as an SVG, and what it is made of as CSV, as a
 * script for gnuplot with its data, and as JSON. It knows nothing of races. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/page/report.h"
#include "results/drawing/svg.h"

const struct figure_form figure_forms[FIGURE_FORMS] = {{"svg", "image/svg+xml", figure_svg},
                                                       {"csv", "text/csv", figure_csv},
                                                       {"gnuplot", "text/plain", figure_gnuplot}};

/* ---- the values ------------------------------------------------------------------------------ */

struct figure *figure_add(struct figures *f, enum figure_kind kind, char *name, char *title,
                          const char *unit, size_t rows, size_t series)
{
    f->at = xgrow(f->at, f->n, &f->cap, sizeof *f->at);
    struct figure *g = &f->at[f->n++];
    *g = (struct figure){.kind = kind,
                         .name = name,
                         .title = title,
                         .unit = unit,
                         .row = xcalloc(rows + 1, sizeof *g->row),
                         .series = xcalloc(series + 1, sizeof *g->series),
                         .look = xcalloc(series + 1, sizeof *g->look),
                         .rows = rows,
                         .all_series = series,
                         .value = xcalloc(rows * series + 1, sizeof *g->value)};
    for (size_t i = 0; i < rows * series; i++)
        g->value[i] = NAN;
    for (size_t i = 0; i < series; i++)
        g->look[i] = (unsigned)i;
    return g;
}

void figures_free(struct figures *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct figure *f = &all->at[i];
        for (size_t k = 0; k < f->rows; k++)
            free(f->row[k]);
        for (size_t k = 0; k < f->all_series; k++)
            free(f->series[k]);
        void *const own[] = {f->row, f->series, f->look, f->name, f->title, f->value};
        for (size_t k = 0; k < ARRAY_SIZE(own); k++)
            free(own[k]);
    }
    free(all->at);
    *all = (struct figures){0};
}

/* ---- the scale ------------------------------------------------------------------------------- */

struct scale {
    double low, high, step;
};

/* Steps of 1, 2 or 5 times a power of ten, at most six of them; what is below 0 has no more room
 * than it takes. */
static struct scale scale_of(double low, double high)
{
    struct scale s = {fmin(0, low), fmax(0, high), 1};

    if (!(s.high - s.low > 0))
        s.high = s.low + 1;
    const double rough = (s.high - s.low) / 6, power = pow(10, floor(log10(rough))),
                 times = rough / power;
    s.step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    s.high = ceil(s.high / s.step - 1e-9) * s.step;
    return s;
}

static struct scale figure_scale(const struct figure *f)
{
    double low = 0, high = 0;

    for (size_t r = 0; r < f->rows; r++) {
        double up = 0, down = 0;
        for (size_t s = 0; s < f->all_series; s++) {
            const double x = *figure_at(f, r, s);
            if (isnan(x))
                continue;
            if (f->kind == FIGURE_BARS) {
                high = fmax(high, x);
                low = fmin(low, x);
            } else {
                up += fmax(0, x);
                down += fmin(0, x);
            }
        }
        high = fmax(high, up);
        low = fmin(low, down);
    }
    return scale_of(low, high);
}

/* ---- the picture ----------------------------------------------------------------------------- */

enum {
    WIDTH = 760,
    LEFT = 200,
    PLOT = 480,
    TOP = 40,
    LEGEND = 18,
    FOOT = 40,
    BAR = 12,
    STACKED = 18,
    BETWEEN = 8,
    HIGH = 200,
    LETTER = 8, /* about so wide is one */
    LABEL_MOST = 24
};

/* Classes of series; further ones begin again. */
static const char *const looks[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"};

static const char *look_of(const struct figure *f, size_t series)
{
    return looks[f->look[series] % ARRAY_SIZE(looks)];
}

/* Long names are cut, and begin with what tells them apart; the tips have all of them. */
static char *label_of(const char *text)
{
    static const char workload[] = "workload:";
    char *visible = text_visible(
        text + (strncmp(text, workload, sizeof workload - 1) ? 0 : sizeof workload - 1));
    size_t at = 0, n = 0;
    uint32_t c;

    while (visible[at] && n < LABEL_MOST) {
        const size_t bytes = utf8_char(visible + at, &c);
        at += bytes ? bytes : 1;
        n++;
    }
    char *label = xasprintf("%.*s%s", (int)at, visible, visible[at] ? "..." : "");
    free(visible);
    return label;
}

/* Draws the legend to out, which is NULL where nothing is to be drawn yet: how many lines it takes.
 */
static unsigned draw_legend(const struct figure *f, FILE *out)
{
    unsigned x = 10, line = 0;

    if (f->kind == FIGURE_HEAT || f->all_series < 2)
        return 0;
    for (size_t i = 0; i < f->all_series; i++) {
        const unsigned width = 24 + LETTER * (unsigned)strlen(f->series[i]);
        if (x + width > WIDTH && x > 10) {
            x = 10;
            line++;
        }
        if (out) {
            svg_rect(out, x, TOP + line * LEGEND - 9, 10, 10, look_of(f, i));
            svg_text(out, x + 14, TOP + line * LEGEND, "text", f->series[i]);
        }
        x += width;
    }
    return line + 1;
}

struct figure_number {
    char text[32];
};
static struct figure_number number_of(double x)
{
    struct figure_number n;

    if (fabs(x) >= 1e6)
        snprintf(n.text, sizeof n.text, "%.3g", x);
    else
        snprintf(n.text, sizeof n.text, "%.6g", round(x * 100) / 100);
    return n;
}

static unsigned x_of(const struct scale *s, double x)
{
    return LEFT + (unsigned)lround(PLOT * (x - s->low) / (s->high - s->low));
}

static void draw_axis(const struct figure *f, const struct scale *s, unsigned top, unsigned bottom,
                      FILE *out)
{
    const int first = (int)ceil(s->low / s->step - 1e-9), last = (int)lround(s->high / s->step);

    svg_rect(out, LEFT, top, PLOT, bottom - top, "panel");
    for (int i = first; i <= last; i++) {
        const double at = i * s->step;
        svg_line(out, x_of(s, at), top, x_of(s, at), bottom, "grid");
        svg_text(out, x_of(s, at), bottom + 14, "faint small middle", number_of(at).text);
    }
    svg_text(out, LEFT + PLOT / 2, bottom + 30, "faint small middle", f->unit);
}

static void draw_bar(const struct figure *f, const struct scale *s, double from, double to,
                     size_t row, size_t series, unsigned y, FILE *out)
{
    const unsigned a = x_of(s, fmin(from, to)), b = x_of(s, fmax(from, to));
    const bool several = f->all_series > 1;
    char *tip =
        xasprintf("%s%s%s: %s", f->row[row], several ? ", " : "", several ? f->series[series] : "",
                  number_of(*figure_at(f, row, series)).text);

    svg_bar(out, a, y, b - a, f->kind == FIGURE_BARS ? BAR - 1 : STACKED - 2, look_of(f, series),
            100, tip);
    free(tip);
}

/* Writes the number behind the end of the drawn bar. */
static void draw_number(const struct scale *s, double end, double value, unsigned y, FILE *out)
{
    svg_text(out, x_of(s, fmax(0, end)) + 4, y, "faint small", number_of(value).text);
}

static unsigned row_height(const struct figure *f)
{
    return BETWEEN + (f->kind == FIGURE_STACK ? STACKED : BAR * (unsigned)f->all_series);
}

static void draw_row(const struct figure *f, const struct scale *s, size_t row, unsigned y,
                     FILE *out)
{
    double up = 0, down = 0, sum = 0;
    char *label = label_of(f->row[row]);

    svg_text(out, LEFT - 8, y + row_height(f) / 2, "text end", label);
    free(label);
    for (size_t i = 0; i < f->all_series; i++) {
        const double x = *figure_at(f, row, i);
        if (isnan(x))
            continue;
        if (f->kind == FIGURE_BARS) {
            draw_bar(f, s, 0, x, row, i, y + BAR * (unsigned)i, out);
            draw_number(s, x, x, y + BAR * (unsigned)i + 9, out);
            continue;
        }
        double *from = x < 0 ? &down : &up;
        draw_bar(f, s, *from, *from + x, row, i, y, out);
        *from += x;
        sum += x;
    }
    if (f->kind == FIGURE_STACK)
        draw_number(s, up, sum, y + 13, out);
}

static unsigned begin(const struct figure *f, unsigned inside, FILE *out)
{
    /* Above columns stands their unit. */
    const unsigned top =
        TOP + draw_legend(f, NULL) * LEGEND + (f->kind == FIGURE_COLUMNS ? LEGEND / 2 : 0);

    svg_begin(out, WIDTH, top + inside + FOOT, f->title);
    svg_text(out, 10, 20, "text title", f->title);
    (void)draw_legend(f, out);
    return top;
}

static void draw_rows(const struct figure *f, FILE *out)
{
    const unsigned inside = (unsigned)f->rows * row_height(f), top = begin(f, inside, out);
    const struct scale s = figure_scale(f);

    draw_axis(f, &s, top, top + inside, out);
    for (size_t i = 0; i < f->rows; i++)
        draw_row(f, &s, i, top + BETWEEN / 2 + (unsigned)i * row_height(f), out);
    svg_line(out, x_of(&s, 0), top, x_of(&s, 0), top + inside, "axis");
}

/* ---- over time ------------------------------------------------------------------------------- */

static const char across[] = "cycles"; /* that columns run over */

static unsigned column_at(const struct figure *f, size_t row)
{
    return LEFT + (unsigned)(PLOT * row / f->rows);
}

static void draw_across(const struct figure *f, unsigned bottom, FILE *out)
{
    for (size_t i = 0; i < 5; i++) {
        const size_t row = (f->rows - 1) * i / 4;
        svg_text(out, column_at(f, row), bottom + 14, "faint small middle", f->row[row]);
    }
    svg_text(out, LEFT + PLOT / 2, bottom + 30, "faint small middle", across);
}

/* Draws what stands in one column. Takes the tip. */
static void draw_column(const struct figure *f, size_t row, unsigned top, unsigned height,
                        const char *look, unsigned how_full, char *tip, FILE *out)
{
    svg_bar(out, column_at(f, row), top, column_at(f, row + 1) - column_at(f, row), height, look,
            how_full, tip);
    free(tip);
}

static unsigned y_of(const struct scale *s, double y)
{
    return (unsigned)lround(HIGH * (y - s->low) / (s->high - s->low));
}

static void draw_columns(const struct figure *f, FILE *out)
{
    const unsigned top = begin(f, HIGH, out);
    const struct scale s = figure_scale(f);

    svg_rect(out, LEFT, top, PLOT, HIGH, "panel");
    for (double at = s.low; at <= s.high + s.step / 2; at += s.step) {
        const unsigned y = top + HIGH - y_of(&s, at);
        svg_line(out, LEFT, y, LEFT + PLOT, y, "grid");
        svg_text(out, LEFT - 6, y + 4, "faint small end", number_of(at).text);
    }
    svg_text(out, LEFT - 6, top - 6, "faint small end", f->unit);
    for (size_t r = 0; r < f->rows; r++) {
        double sum = 0;
        for (size_t i = 0; i < f->all_series; i++) {
            const double x = *figure_at(f, r, i);
            if (!(x > 0))
                continue;
            const unsigned y = y_of(&s, sum + x);
            draw_column(f, r, top + HIGH - y, y - y_of(&s, sum), look_of(f, i), 100,
                        xasprintf("%s %s, %s: %.1f", across, f->row[r], f->series[i], x), out);
            sum += x;
        }
    }
    draw_across(f, top + HIGH, out);
}

/* A line for each series; how full a field is, is how much of 100 it has. */
static void draw_heat(const struct figure *f, FILE *out)
{
    const unsigned inside = STACKED * (unsigned)f->all_series, top = begin(f, inside, out);

    svg_rect(out, LEFT, top, PLOT, inside, "panel");
    for (size_t i = 0; i < f->all_series; i++) {
        const unsigned y = top + STACKED * (unsigned)i;
        svg_text(out, LEFT - 6, y + 13, "text end", f->series[i]);
        for (size_t r = 0; r < f->rows; r++) {
            const double x = *figure_at(f, r, i);
            if (x >= 0.5)
                draw_column(
                    f, r, y + 1, STACKED - 2, "s0", (unsigned)fmin(100, x),
                    xasprintf("%s, %s %s: %.0f %s", f->series[i], across, f->row[r], x, f->unit),
                    out);
        }
    }
    draw_across(f, top + inside, out);
}

void figure_svg(const struct figure *f, FILE *out)
{
    if (f->kind == FIGURE_COLUMNS)
        draw_columns(f, out);
    else if (f->kind == FIGURE_HEAT)
        draw_heat(f, out);
    else
        draw_rows(f, out);
    svg_end(out);
}

/* ---- the same as data ------------------------------------------------------------------------ */

/* A spreadsheet takes what begins so for a formula; behind a quote it is text. */
static void csv_safe(FILE *out, const char *text)
{
    char *visible = text_visible(text), *guarded = NULL;

    if (*visible && strchr("=+-@", *visible))
        guarded = xasprintf("'%s", visible);
    csv_field(out, guarded ? guarded : visible);
    free(guarded);
    free(visible);
}

void figure_csv(const struct figure *f, FILE *out)
{
    fputs("row", out);
    for (size_t i = 0; i < f->all_series; i++) {
        fputc(',', out);
        csv_safe(out, f->series[i]);
    }
    fputc('\n', out);
    for (size_t r = 0; r < f->rows; r++) {
        csv_safe(out, f->row[r]);
        for (size_t i = 0; i < f->all_series; i++) {
            const double x = *figure_at(f, r, i);
            fputc(',', out);
            if (!isnan(x))
                fprintf(out, "%.10g", x);
        }
        fputc('\n', out);
    }
}

/* Writes text for gnuplot. Nothing has a meaning between single quotes but they themselves; data
 * has neither quotes, nor what gnuplot would run. */
static void gnuplot_text(FILE *out, const char *text)
{
    char *visible = text_visible(text);

    for (const char *at = visible; *at; at++)
        fputc(strchr("'\"`\\", *at) ? ' ' : *at, out);
    free(visible);
}

static void gnuplot_data(const struct figure *f, FILE *out)
{
    fputs("$data << END\n", out);
    for (size_t r = 0; r < f->rows; r++) {
        if (f->kind != FIGURE_HEAT) { /* a matrix has numbers alone */
            fputc('"', out);
            gnuplot_text(out, f->row[r]);
            fputc('"', out);
        }
        for (size_t i = 0; i < f->all_series; i++) {
            const double x = *figure_at(f, r, i);
            if (isnan(x))
                fputs(" NaN", out);
            else
                fprintf(out, " %.10g", x);
        }
        fputc('\n', out);
    }
    fputs("END\n", out);
}

/* The colour of a series on a light page: what styles.def fills it with. */
static const char *colour_of(const struct figure *f, size_t series)
{
    size_t i = 0;

    while (strcmp(svg_styles[i].name, look_of(f, series)) != 0)
        i++;
    return svg_styles[i].light + strlen("fill:");
}

static void gnuplot_heat(const struct figure *f, FILE *out)
{
    fprintf(out,
            "set xlabel 'stretches of time'\nset cblabel '%s'\nset cbrange [0:100]\n"
            "set palette defined (0 '#ffffff', 100 '%s')\nset ytics (",
            f->unit, colour_of(f, 0));
    for (size_t i = 0; i < f->all_series; i++) {
        fputs(i ? ", '" : "'", out);
        gnuplot_text(out, f->series[i]);
        fprintf(out, "' %zu", i);
    }
    fputs(")\nplot $data matrix using 2:1:3 with image notitle\n", out);
}

static void gnuplot_bars(const struct figure *f, FILE *out)
{
    fputs("set ylabel '", out);
    gnuplot_text(out, f->unit);
    fprintf(out,
            "' noenhanced\nset grid ytics\nset key outside right noenhanced\n"
            "set style data histograms\nset style histogram %s\nset style fill solid 1 noborder\n"
            "set boxwidth %s\nset xtics rotate by -45 noenhanced\n",
            f->kind == FIGURE_BARS ? "clustered" : "rowstacked",
            f->kind == FIGURE_COLUMNS ? "1" : "0.8");
    if (f->kind == FIGURE_COLUMNS)
        fprintf(out, "set xlabel '%s'\n", across);
    fputs("plot \\\n", out);
    for (size_t i = 0; i < f->all_series; i++) {
        if (f->kind == FIGURE_COLUMNS) /* a label for every eighth part */
            fprintf(out, "  $data using %zu:xtic(int($0) %% %zu == 0 ? strcol(1) : '')", i + 2,
                    f->rows / 8 + 1);
        else
            fprintf(out, "  $data using %zu:xtic(1)", i + 2);
        fprintf(out, " linecolor rgb '%s' title '", colour_of(f, i));
        gnuplot_text(out, f->series[i]);
        fputs(i + 1 < f->all_series ? "', \\\n" : "'\n", out);
    }
}

void figure_gnuplot(const struct figure *f, FILE *out)
{
    fputs("# gnuplot -p FILE\n", out);
    gnuplot_data(f, out);
    fputs("set title '", out);
    gnuplot_text(out, f->title);
    fputs("' noenhanced\n", out);
    (f->kind == FIGURE_HEAT ? gnuplot_heat : gnuplot_bars)(f, out);
}

void figure_json(const struct figure *f, struct json *j)
{
    json_object(j);
    JSON_TEXTS(j, {"kind", "columns"}, {"name", f->name}, {"title", f->title}, {"unit", f->unit},
               {"across", across});
    json_key_strs(j, "series", (const char *const *)f->series, f->all_series);
    json_key_array(j, "looks");
    for (size_t i = 0; i < f->all_series; i++)
        json_u64(j, f->look[i]);
    json_end(j);
    json_key_array(j, "rows");
    for (size_t r = 0; r < f->rows; r++) {
        json_array(j);
        json_str(j, f->row[r]);
        for (size_t i = 0; i < f->all_series; i++)
            json_double(j, "%.6g", *figure_at(f, r, i));
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
