/* page.c - the report as one HTML page that asks nobody for anything: text, tables and pictures
 * stand in it without a script; the script (page.js) adds choices, filters and what is too long to
 * show at once. What names say is text everywhere (markup_text), and in the data for the script. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "results/read/estimate.h"
#include "results/page/report.h"
#include "results/drawing/svg.h"
#include "sim/lardsim.h"

/* page.css and page.js, and uPlot where the build has it (cli/cli.mk). */
static const unsigned char page_css[] = {
#include "report_css.inc"
};
static const unsigned char page_js[] = {
#include "report_js.inc"
};
#ifdef HAVE_UPLOT
static const unsigned char uplot_css[] = {
#include "uplot_css.inc"
};
static const unsigned char uplot_js[] = {
#include "uplot_js.inc"
};
#endif

enum { ROWS_SHOWN = 200, RUNS_SHOWN = 50, FINDINGS_SHOWN = 40, RACES_SHOWN = 500 };

/* ---- elements -------------------------------------------------------------------------------- */

static void element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    markup_text(out, text ? text : "");
    fprintf(out, "</%s>", name);
}

static void link_to(FILE *out, const char *to, const char *text)
{
    fprintf(out, "<a href=\"#%s\">", to);
    markup_text(out, text);
    fputs("</a>", out);
}

static void number_cell(FILE *out, double x)
{
    if (isnan(x))
        fputs("<td class=\"n\">-</td>", out);
    else
        fprintf(out, "<td class=\"n\">%.10g</td>", x);
}

static void fixed_cell(FILE *out, double x)
{
    if (isnan(x))
        fputs("<td class=\"n\">-</td>", out);
    else
        fprintf(out, "<td class=\"n\">%.1f</td>", x);
}

FILE *memory_file(char **text, size_t *bytes)
{
    FILE *out = open_memstream(text, bytes);

    if (!out)
        die("no memory for a part of the page");
    return out;
}

/* A link that has the file in it. */
static void download(FILE *out, const struct figure *f, const char *kind, const char *type,
                     void (*write)(const struct figure *, FILE *))
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:;()/=*$! ";
    char *text = NULL;
    size_t n = 0;
    FILE *memory = memory_file(&text, &n);

    write(f, memory);
    if (fclose(memory))
        die("no memory for a part of the page");
    fputs("<a download=\"", out);
    markup_text(out, f->name);
    fprintf(out, ".%s\" href=\"data:%s;charset=utf-8,", kind, type);
    for (size_t i = 0; i < n; i++)
        if (text[i] && text[i] != ' ' && strchr(plain, text[i]))
            fputc(text[i], out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)text[i]);
    fprintf(out, "\">%s</a> ", kind);
    free(text);
}

/* ---- data for the script --------------------------------------------------------------------- */

/* "<" could end the script, and these two ends of lines end a text in old scripts. */
static void script_text(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strchr("<>&", *at))
            fprintf(out, "\\u%04x", (unsigned)*at);
        else if (!strncmp(at, "\xe2\x80\xa8", 3) || !strncmp(at, "\xe2\x80\xa9", 3))
            fprintf(out, "\\u20%02x", (unsigned)(unsigned char)at[2] - 0x80), at += 2;
        else
            fputc(*at, out);
    }
}

static void json_visible(struct json *j, const char *text)
{
    char *visible = text_visible(text);

    json_str(j, visible);
    free(visible);
}

static void json_double(struct json *j, double x)
{
    char text[40];

    snprintf(text, sizeof text, "%.10g", x);
    if (isfinite(x))
        json_number(j, text);
    else
        json_null(j);
}

static bool measured(const struct report_study *s, size_t measure)
{
    for (size_t i = 0; i < s->cells; i++)
        if (!isnan(s->cell[i].of[measure]))
            return true;
    return false;
}

static void json_axes(struct json *j, const struct report_study *s)
{
    json_key(j, "axes");
    json_array(j);
    for (size_t i = 0; i < s->axes; i++) {
        json_object(j);
        json_key(j, "name");
        json_visible(j, s->axis[i].name);
        json_key_bool(j, "numbers", s->axis[i].numbers);
        json_key(j, "values");
        json_array(j);
        for (size_t k = 0; k < s->axis[i].n; k++)
            json_visible(j, s->axis[i].value[k]);
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_heads(struct json *j, const struct report_study *s)
{
    json_key(j, "overheads");
    json_array(j);
    for (size_t i = 0; i < OVERHEADS; i++)
        json_str(j, overhead_name[i]);
    json_end(j);
    json_key(j, "measures");
    json_array(j);
    for (size_t i = 0; i < MEASURES; i++)
        if (measured(s, i)) {
            json_object(j);
            json_key_str(j, "key", report_measures[i].key);
            json_key_str(j, "unit", report_measures[i].unit);
            json_key_str(j, "text", report_measures[i].text);
            json_end(j);
        }
    json_end(j);
    json_key(j, "parts");
    json_array(j);
    for (size_t i = 0; i < PARTS; i++)
        json_str(j, report_parts[i].key);
    json_end(j);
}

/* A cell is its places on the axes, its overheads, its measures and its parts, in this order. */
static void json_cells(struct json *j, const struct report_study *s)
{
    json_key(j, "cells");
    json_array(j);
    for (size_t i = 0; i < s->cells; i++) {
        const struct report_cell *c = &s->cell[i];
        json_array(j);
        for (size_t k = 0; k < s->axes; k++)
            json_u64(j, c->place[k]);
        for (size_t k = 0; k < OVERHEADS; k++)
            json_double(j, 100 * cell_overhead(c, k));
        for (size_t k = 0; k < MEASURES; k++)
            if (measured(s, k))
                json_double(j, c->of[k]);
        for (size_t k = 0; k < PARTS; k++)
            json_double(j, round(100 * study_part(s, c, k)) / 100);
        json_end(j);
    }
    json_end(j);
}

static void data_block(FILE *out, const struct reported *r, const struct figures *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = memory_file(&text, &n);
    struct json j;

    json_init(&j, memory, false);
    json_object(&j);
    json_key(&j, "studies");
    json_array(&j);
    for (size_t i = 0; i < r->n; i++) {
        json_object(&j);
        json_key(&j, "name");
        json_visible(&j, r->study[i].name);
        json_axes(&j, &r->study[i]);
        json_heads(&j, &r->study[i]);
        json_cells(&j, &r->study[i]);
        json_end(&j);
    }
    json_end(&j);
    json_key(&j, "lines"); /* figures over time, which uPlot draws where it is there */
    json_array(&j);
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == FIGURE_COLUMNS)
            figure_json(&f->at[i], &j);
    json_end(&j);
    json_end(&j);
    if (fclose(memory))
        die("no memory for a part of the page");
    fputs("<script type=\"application/json\" id=\"data\">", out);
    script_text(out, text);
    fputs("</script>\n", out);
    free(text);
}

/* ---- top and bottom -------------------------------------------------------------------------- */

/* The switch of the page goes before what the system prefers: for pictures as for all else. */
static void write_themes(FILE *out)
{
#define STYLE(name, light, dark) fputs(":root[data-theme=light] svg ." name "{" light "}\n", out);
#include "results/drawing/styles.def"
#undef STYLE
#define STYLE(name, light, dark)                                                                   \
    if (*dark)                                                                                     \
        fputs(":root[data-theme=dark] svg ." name "{" dark "}\n", out);
#include "results/drawing/styles.def"
#undef STYLE
}

static void write_top(FILE *out, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n",
          out);
    element(out, "title", title);
    fputs("\n<style>\n", out);
    fwrite(page_css, 1, sizeof page_css, out);
    write_themes(out);
    fputs("</style>\n</head>\n<body>\n<header>\n", out);
    element(out, "h1", title);
    fputs("<button type=\"button\" id=\"theme\" hidden>Colours: as the system</button>\n</header>\n"
          "<main>\n",
          out);
}

/* lines: something is there for uPlot to draw. */
static void write_scripts(FILE *out, bool lines)
{
#ifdef HAVE_UPLOT
    if (lines) {
        fputs("<style>\n", out);
        fwrite(uplot_css, 1, sizeof uplot_css, out);
        fputs("</style>\n<script>\n/* uPlot: Copyright (c) Leon Sorokin, MIT licence */\n", out);
        fwrite(uplot_js, 1, sizeof uplot_js, out);
        fputs("</script>\n", out);
    }
#else
    (void)lines;
#endif
    fputs("<script>\n", out);
    fwrite(page_js, 1, sizeof page_js, out);
    fputs("</script>\n", out);
}

static void write_end(FILE *out)
{
    fputs("</main>\n<footer>Made by lardsim ", out);
    markup_text(out, lardsim_version());
    fputs(". This page is whole: it asks no other for anything.</footer>\n", out);
}

static void write_faults(FILE *out, const struct report_faults *f)
{
    if (!f->n)
        return;
    fputs("<section class=\"faults\" id=\"faults\">\n<h2>What is not whole</h2>\n<ul>\n", out);
    for (size_t i = 0; i < f->n; i++) {
        element(out, "li", f->at[i]);
        fputc('\n', out);
    }
    fputs("</ul>\n</section>\n", out);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void write_figure(FILE *out, const struct figure *f, size_t number)
{
    fprintf(out, "<figure id=\"figure-%zu\" data-name=\"", number);
    markup_text(out, f->name);
    fputs("\">\n<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
    markup_text(out, f->title);
    fputs("\">\n", out);
    figure_svg(f, out);
    fputs("</div>\n<figcaption>Figure ", out);
    fprintf(out, "%zu. ", number + 1);
    markup_text(out, f->title);
    fputs(". <span class=\"files\">", out);
    download(out, f, "svg", "image/svg+xml", figure_svg);
    download(out, f, "csv", "text/csv", figure_csv);
    download(out, f, "gnuplot", "text/plain", figure_gnuplot);
    fputs("</span></figcaption>\n</figure>\n", out);
}

/* An SVG that another verb has drawn. */
static void write_picture(FILE *out, const char *picture, const char *label)
{
    fputs("<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
    markup_text(out, label);
    fprintf(out, "\">\n%s</div>\n", picture);
}

static void write_machine(FILE *out, const struct report_study *s)
{
    if (!s->machine)
        return;
    fprintf(out, "<details class=\"machine\"><summary>The machine%s</summary>\n",
            s->kind == STUDY_SWEEP || s->axes > 1 ? " of the first run" : "");
    write_picture(out, s->machine, "the machine");
    fputs("</details>\n", out);
}

/* ---- what mattered --------------------------------------------------------------------------- */

static void write_axes(FILE *out, const struct report_study *s)
{
    size_t shown = 0;

    for (size_t i = 0; i < s->axes; i++)
        shown += s->axis[i].n > 1 && strcmp(s->axis[i].name, "policy") != 0;
    if (!shown)
        return;
    fputs("<h3>Which axes mattered</h3>\n<table "
          "class=\"axes\"><thead><tr><th>axis</th><th>values</th><th>what it "
          "did</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < s->axes; i++) {
        const struct report_axis *a = &s->axis[i];
        if (a->n < 2)
            continue;
        fputs("<tr>", out);
        element(out, "th", a->name);
        fputs("<td>", out);
        for (size_t k = 0; k < a->n && k < 8; k++) {
            fputs(k ? ", " : "", out);
            markup_text(out, a->value[k]);
        }
        if (a->n > 8)
            fprintf(out, ", ... (%zu)", a->n);
        fputs("</td><td>", out);
        say_axis(out, a);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

/* ---- several seeds ----------------------------------------------------------------------------
 */

/* The mean over the cells of one group that have a number: "231.4 +- 3.2". */
static void mean_cells(FILE *out, const double *x, size_t n)
{
    const struct estimate of = estimate_of(x, n);

    fixed_cell(out, of.mean);
    fixed_cell(out, of.half);
}

static void seeds_row(FILE *out, const struct report_study *s, size_t seed, const size_t *group,
                      size_t which)
{
    double *overhead = xcalloc(s->cells, sizeof *overhead),
           *cycles = xcalloc(s->cells, sizeof *cycles);
    const struct report_cell *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        if (group[i] != which)
            continue;
        first = first ? first : &s->cell[i];
        overhead[n] = 100 * cell_overhead(&s->cell[i], OVERHEAD);
        cycles[n++] = cell_measure(&s->cell[i], M_CYCLES);
    }
    fputs("<tr>", out);
    for (size_t k = 0; k < s->axes; k++)
        if (k != seed)
            element(out, "td", first->point[k]);
    fprintf(out, "<td class=\"n\">%zu</td>", n);
    mean_cells(out, overhead, n);
    mean_cells(out, cycles, n);
    fputs("</tr>\n", out);
    free(overhead);
    free(cycles);
}

/* A sweep with several seeds: what each point gives, and how far that can be trusted. */
static void write_seeds(FILE *out, const struct report_study *s)
{
    const size_t seed = study_axis(s, "seed");

    if (seed == SIZE_MAX || s->axis[seed].n < 2)
        return;
    size_t *group = xcalloc(s->cells, sizeof *group);
    const size_t groups = study_alike(s, seed, group);
    fputs("<h3>Over the seeds</h3>\n<p>The mean of each point over its seeds, and half of its 95 "
          "percent interval, by Student's t.</p>\n<div class=\"wide\" tabindex=\"0\"><table "
          "class=\"seeds\"><thead><tr>",
          out);
    for (size_t i = 0; i < s->axes; i++)
        if (i != seed)
            element(out, "th", s->axis[i].name);
    fputs("<th>seeds</th><th>overhead, %</th><th>&plusmn;</th><th>cycles</th><th>&plusmn;</th></tr>"
          "</thead><tbody>\n",
          out);
    for (size_t i = 0; i < groups && i < ROWS_SHOWN; i++)
        seeds_row(out, s, seed, group, i);
    fputs("</tbody></table></div>\n", out);
    if (groups > ROWS_SHOWN)
        fprintf(out, "<p>The first %d of %zu; means.csv has all.</p>\n", ROWS_SHOWN, groups);
    free(group);
}

struct said {
    const struct report_finding *finding;
    size_t runs;
};

static void write_finding_rows(FILE *out, const struct report_study *s, const struct said *said,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs("<tr><td>", out);
        markup_text(out, said[i].finding->sentence ? said[i].finding->sentence : "");
        fputs("</td><td>", out);
        markup_text(out, said[i].finding->knobs ? said[i].finding->knobs : "-");
        fprintf(out, "</td><td class=\"n\">%zu of %zu</td></tr>\n", said[i].runs, s->runs);
    }
}

static void write_findings(FILE *out, const struct report_study *s)
{
    struct said said[FINDINGS_SHOWN];
    size_t n = 0;

    for (size_t i = 0; i < s->runs; i++)
        for (size_t k = 0; k < s->run[i].findings; k++) {
            size_t at = 0;
            while (at < n && strcmp(said[at].finding->key, s->run[i].finding[k].key) != 0)
                at++;
            if (at < n)
                said[at].runs++;
            else if (n < FINDINGS_SHOWN)
                said[n++] = (struct said){&s->run[i].finding[k], 1};
        }
    if (!n)
        return;
    fputs("<h3>What could not matter</h3>\n<p>Each run says which of its parameters could not have "
          "mattered. The change is the one that would have changed nothing.</p>\n"
          "<table><thead><tr><th>why</th><th>parameters</th><th>runs</th></tr></thead><tbody>\n",
          out);
    write_finding_rows(out, s, said, n);
    fputs("</tbody></table>\n", out);
}

/* ---- races ----------------------------------------------------------------------------------- */

static void write_side(FILE *out, const struct report_side *s)
{
    if (!s->op && !s->event && !s->site) {
        fputs("an access that the policy does not know", out);
        return;
    }
    markup_text(out, s->op ? s->op : "access");
    if (s->thread) {
        fputs(" by thread ", out);
        markup_text(out, s->thread);
    }
    if (s->event) {
        fputs(", event ", out);
        markup_text(out, s->event);
    }
    if (s->site) {
        fputs(", at <code>", out);
        markup_text(out, s->site);
        fputs("</code>", out);
    }
}

static void write_object(FILE *out, const struct report_race *r)
{
    fputs("<code>", out);
    markup_text(out, r->address ? r->address : "?");
    fputs("</code>", out);
    if (r->object) {
        fputs(" (", out);
        markup_text(out, r->object);
        if (r->offset && strcmp(r->offset, "0") != 0) {
            fputs(" + ", out);
            markup_text(out, r->offset);
        }
        fputs(")", out);
    } else if (r->allocated_at) {
        fputs(", allocated at <code>", out);
        markup_text(out, r->allocated_at);
        fputs("</code>", out);
    }
}

static void write_why(FILE *out, const struct report_race *r)
{
    for (size_t i = 0; i < r->said.n; i++) {
        element(out, "p", r->said.at[i].text);
        fputc('\n', out);
    }
    if (r->picture)
        write_picture(out, r->picture, "threads and edges");
    if (r->unexplained) {
        fputs("<p class=\"count\">Not explained here: ", out);
        markup_text(out, r->unexplained);
        fputs("</p>\n", out);
    }
}

static void write_race(FILE *out, const struct report_race *r, size_t study, size_t number)
{
    fprintf(out, "<details class=\"race\" id=\"race-%zu-%zu\"%s><summary>", study, number,
            number == 0 ? " open" : "");
    write_side(out, &r->is);
    fputs("<br>after the ", out);
    write_side(out, &r->earlier);
    fputs("</summary>\n<dl><dt>where</dt><dd>", out);
    write_object(out, r);
    fputs("</dd><dt>racy accesses</dt><dd>", out);
    for (size_t i = 0; i < r->counts; i++) {
        fputs(i ? ", " : "", out);
        markup_text(out, r->count[i].policy);
        fprintf(out, " %" PRIu64, r->count[i].n);
    }
    fputs("</dd>", out);
    for (size_t i = 0; i < r->verdicts.n; i++) {
        fputs("<dt>", out);
        markup_text(out, r->verdicts.at[i].name);
        fputs("</dt><dd>", out);
        markup_text(out, r->verdicts.at[i].text);
        fputs("</dd>", out);
    }
    fputs("<dt>race</dt><dd><code>", out);
    markup_text(out, r->id);
    fputs("</code></dd><dt>why</dt><dd><code>", out);
    char *command = xstrdup("lardsim why");
    report_shell_word(&command, r->dir);
    report_shell_word(&command, r->id);
    markup_text(out, command);
    free(command);
    fputs("</code></dd></dl>\n", out);
    write_why(out, r);
    fputs("</details>\n", out);
}

static void write_races(FILE *out, const struct report_study *s, size_t study)
{
    if (!s->races)
        return;
    fprintf(out,
            "<h3>Races, by pair of sites</h3>\n<p>%zu pair%s. Of each the first racy access and "
            "the earlier one.%s</p>\n<div class=\"races\">\n",
            s->races, s->races == 1 ? "" : "s",
            s->kind == STUDY_SWEEP ? " Of a sweep: of the first cell of each source and policy."
                                   : "");
    for (size_t i = 0; i < s->races && i < RACES_SHOWN; i++)
        write_race(out, &s->race[i], study, i);
    fputs("</div>\n", out);
    if (s->races > RACES_SHOWN || s->races_left_out)
        fprintf(out, "<p>The first %d are shown; races.jsonl has all.</p>\n", RACES_SHOWN);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void write_cells(FILE *out, const struct report_study *s)
{
    fprintf(out,
            "<details%s><summary>All numbers: %zu cell%s</summary>\n<div class=\"wide\" "
            "tabindex=\"0\"><table class=\"cells\"><thead><tr>",
            s->cells <= 12 ? " open" : "", s->cells, s->cells == 1 ? "" : "s");
    for (size_t i = 0; i < s->axes; i++)
        element(out, "th", s->axis[i].name);
    for (size_t k = 0; k < OVERHEADS; k++)
        fprintf(out, "<th>%s, %%</th>", overhead_name[k]);
    fprintf(out, "<th>%s</th>", overhead_measured_name);
    for (size_t k = 0; k < MEASURES; k++)
        if (measured(s, k))
            element(out, "th", report_measures[k].key);
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < s->cells && i < ROWS_SHOWN; i++) {
        const struct report_cell *c = &s->cell[i];
        fputs("<tr>", out);
        for (size_t k = 0; k < s->axes; k++)
            element(out, "td", c->point[k]);
        for (size_t k = 0; k < OVERHEADS; k++)
            fixed_cell(out, 100 * cell_overhead(c, k));
        element(out, "td", run_time_measured(&s->run[c->run].cycles));
        for (size_t k = 0; k < MEASURES; k++)
            if (measured(s, k))
                number_cell(out, c->of[k]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (s->cells > ROWS_SHOWN)
        fprintf(out, "<p>The first %d. The choices above show what is wanted of all of them.</p>\n",
                ROWS_SHOWN);
    fputs("</details>\n", out);
}

static bool holds(const struct report_claim *c)
{
    return c->verdict && !strcmp(c->verdict, "holds");
}

static void write_claim(FILE *out, const struct report_claim *c, bool numbers, bool seeds)
{
    fputs("<tr>", out);
    element(out, "td", c->text);
    element(out, "td", c->verdict);
    if (numbers) {
        fixed_cell(out, c->ours);
        if (seeds)
            fixed_cell(out, (c->interval[1] - c->interval[0]) / 2);
        fixed_cell(out, c->paper);
        fputs("<td class=\"n\">", out);
        if (!isnan(c->low))
            fprintf(out, "from %.6g", c->low);
        if (!isnan(c->high))
            fprintf(out, " to %.6g", c->high);
        fputs("</td>", out);
        element(out, "td", c->unit);
    }
    fputs("</tr>\n", out);
}

/* Claims that do not hold come first. */
static void write_claims(FILE *out, const struct report_study *s)
{
    bool numbers = false, seeds = false;

    for (size_t i = 0; i < s->claims; i++) {
        numbers |= !isnan(s->claim[i].ours);
        seeds |= !isnan(s->claim[i].interval[0]);
    }
    fputs("<h3>Claims</h3>\n<table><thead><tr><th>claim</th><th>verdict</th>", out);
    if (numbers)
        fprintf(out,
                "<th class=\"n\">ours</th>%s<th class=\"n\">the paper</th><th class=\"n\">band</th>"
                "<th>unit</th>",
                seeds ? "<th class=\"n\">&plusmn;</th>" : "");
    fputs("</tr></thead><tbody>\n", out);
    for (int good = 0; good < 2; good++)
        for (size_t i = 0; i < s->claims; i++)
            if (holds(&s->claim[i]) == good)
                write_claim(out, &s->claim[i], numbers, seeds);
    fputs("</tbody></table>\n", out);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void row_of(FILE *out, const char *head, const char *text)
{
    if (!text)
        return;
    fputs("<tr>", out);
    element(out, "th", head);
    element(out, "td", text);
    fputs("</tr>\n", out);
}

static void write_config(FILE *out, const struct report_run *run)
{
    if (!run->config.n)
        return;
    fprintf(out, "<details><summary>%zu parameters</summary><table><tbody>\n", run->config.n);
    for (size_t i = 0; i < run->config.n; i++)
        row_of(out, run->config.at[i].name, run->config.at[i].text);
    fputs("</tbody></table></details>\n", out);
}

/* Prints the sweep's spec, line by line. */
static void write_spec(FILE *out, const char *path)
{
    enum { BYTES_MOST = 1 << 16 };
    size_t bytes;
    char *text = file_text(path, BYTES_MOST, &bytes);

    fputs("<details><summary>The spec</summary><pre>", out);
    for (char *line = text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        markup_text(out, line); /* in which the end of a line would be written out */
        fputs(end ? "\n" : "", out);
    }
    if (!text)
        fprintf(out, "It can't be read: %s", strerror(errno));
    fputs("</pre></details>\n", out);
    free(text);
}

/* The parts of a comparison are made again together. */
static char *again(const struct report_run *run)
{
    const bool compared = run->verb && !strcmp(run->verb, "compare");
    char *command = xstrdup(compared ? "lardsim compare --config" : "lardsim run --again"),
         *path = NULL;

    if (compared) {
        const char *slash = strrchr(run->dir, '/');
        const bool part = slash && strcmp(run->dir, run->name) != 0;
        path = xasprintf("%.*s/config.yaml", part ? (int)(slash - run->dir) : (int)strlen(run->dir),
                         run->dir);
    }
    report_shell_word(&command, path ? path : run->dir);
    free(path);
    return command;
}

static void write_run(FILE *out, const struct report_run *run)
{
    char *command = again(run);
    char *state = run->done ? xstrdup("whole")
                            : xasprintf("not whole%s%s", run->error ? ": " : "",
                                        run->error ? run->error : "");

    fputs("<details class=\"run\"><summary>", out);
    markup_text(out, run->name);
    fputs("</summary>\n<table><tbody>\n", out);
    const char *const rows[][2] = {{"made again by", command},
                                   {"was made by", run->command},
                                   {"folder", run->dir},
                                   {"state", state},
                                   {"source", run->source},
                                   {"caveat", run->caveat},
                                   {"identity of the events", run->identity},
                                   {"configuration", run->configuration},
                                   {"version", run->version},
                                   {"build", run->build},
                                   {"commit", run->commit},
                                   {"compiler", run->compiler},
                                   {"digest", run->digest},
                                   {"behaviour", run->behaviour},
                                   {"on", run->host},
                                   {"in", run->working},
                                   {"started", run->started},
                                   {"seconds", run->seconds}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        row_of(out, rows[i][0], rows[i][1]);
    fputs("</tbody></table>\n", out);
    write_config(out, run);
    fputs("</details>\n", out);
    free(state);
    free(command);
}

static void write_provenance(FILE *out, const struct report_study *s)
{
    if (s->kind == STUDY_TABLE)
        return;
    fputs("<h3>What made it</h3>\n", out);
    if (s->dir) {
        char *command = xstrdup("lardsim sweep"), *spec = xasprintf("%s/sweep.yaml", s->dir);
        report_shell_word(&command, spec);
        xappend(&command, " ", "-o");
        xappend(&command, " ", "again");
        fputs("<p>The sweep is made again by ", out);
        element(out, "code", command);
        fprintf(out, "; its sources must lie where they lay. It has %zu cells.</p>\n", s->cells);
        write_spec(out, spec);
        free(spec);
        free(command);
    }
    for (size_t i = 0; i < s->runs && i < RUNS_SHOWN; i++)
        write_run(out, &s->run[i]);
    if (s->runs > RUNS_SHOWN)
        fprintf(out, "<p>... and %zu more runs, each in its folder.</p>\n", s->runs - RUNS_SHOWN);
}

/* A run on a machine has a time line if it was asked for one. */
static void write_untimed(FILE *out, const struct report_study *s)
{
    for (size_t i = 0; i < s->runs; i++)
        if (s->run[i].time)
            return;
    if (s->kind != STUDY_RUNS || !s->cells || isnan(s->cell[0].of[M_CYCLES]))
        return;
    fputs("<p class=\"count\">There is no time line: no run was made with <code>--set "
          "stats.rows=256</code>.</p>\n",
          out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void write_study(FILE *out, const struct report_study *s, size_t number,
                        const struct figures *f, size_t from, size_t to)
{
    fprintf(out, "<section class=\"study\" id=\"study-%zu\">\n", number);
    element(out, "h2", s->title ? s->title : s->name);
    fputs("\n<p class=\"question\">", out);
    say_question(out, s);
    fputs("</p>\n<div class=\"answer\">", out);
    say_answer(out, s);
    fputs("</div>\n", out);
    if (s->kind == STUDY_TABLE)
        write_claims(out, s);
    for (size_t i = from; i < to; i++)
        write_figure(out, &f->at[i], i);
    if (s->kind != STUDY_TABLE) {
        write_untimed(out, s);
        write_machine(out, s);
        fprintf(out, "<div class=\"explore\" data-study=\"%zu\"></div>\n", number);
        write_axes(out, s);
        write_seeds(out, s);
        write_findings(out, s);
        write_races(out, s, number);
        write_cells(out, s);
    }
    write_provenance(out, s);
    fputs("</section>\n", out);
}

static void write_contents(FILE *out, const struct reported *r)
{
    if (r->n < 2)
        return;
    fputs("<nav aria-label=\"contents\"><ul>\n", out);
    for (size_t i = 0; i < r->n; i++) {
        char *to = xasprintf("study-%zu", i);
        fputs("<li>", out);
        link_to(out, to, r->study[i].title ? r->study[i].title : r->study[i].name);
        fputs("</li>\n", out);
        free(to);
    }
    fputs("</ul></nav>\n", out);
}

/* Time lines, and axes of so many numbers that they are looked at closer as lines. */
static bool has_lines(const struct reported *r, const struct figures *f)
{
    enum { LINE_LEAST = 8 }; /* as in page.js */

    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == FIGURE_COLUMNS)
            return true;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->study[i].axes; k++)
            if (r->study[i].axis[k].numbers && r->study[i].axis[k].n >= LINE_LEAST)
                return true;
    return false;
}

void page_write(FILE *out, const struct reported *r, const struct figures *f, const size_t *first)
{
    char *title = NULL;

    for (size_t i = 0; i < r->n && i < 3; i++)
        xappend(&title, ", ", r->study[i].name);
    char *whole = xasprintf("lardsim: %s", title ? title : "");
    write_top(out, whole);
    write_faults(out, &r->faults);
    write_contents(out, r);
    for (size_t i = 0; i < r->n; i++)
        write_study(out, &r->study[i], i, f, first[i], first[i + 1]);
    write_end(out);
    data_block(out, r, f);
    write_scripts(out, has_lines(r, f));
    fputs("</body>\n</html>\n", out);
    free(whole);
    free(title);
}

/* ---- differences ----------------------------------------------------------------------------- */

enum { PAIRS_SHOWN = 50, CHANGES_SHOWN = 100, RACES_MET = 200 };

static void line_item(void *out, const char *line)
{
    element(out, "li", line);
    fputc('\n', out);
}

static void row_of_two(FILE *out, const char *head, const char *a, const char *b, const char *said)
{
    fputs("<tr>", out);
    element(out, "th", head);
    element(out, "td", a ? a : "-");
    element(out, "td", b ? b : "-");
    element(out, "td", said);
    fputs("</tr>\n", out);
}

static void write_settings(FILE *out, const struct report_pair *p)
{
    const struct report_run *a = p->a, *b = p->b;
    const char *const rows[][3] = {{"version", a->version, b->version},
                                   {"build", a->build, b->build},
                                   {"compiler", a->compiler, b->compiler},
                                   {"source", a->source, b->source},
                                   {"identity of the events", a->identity, b->identity},
                                   {"behaviour", a->behaviour, b->behaviour},
                                   {"made by", a->command, b->command}};

    fputs("<table><thead><tr><th>what</th><th>first</th><th>second</th><th>whether it mattered</th>"
          "</tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (!rows[i][1] || !rows[i][2] || strcmp(rows[i][1], rows[i][2]) != 0)
            row_of_two(out, rows[i][0], rows[i][1], rows[i][2], "");
    for (size_t i = 0; i < p->settings; i++)
        row_of_two(out, p->setting[i].name, p->setting[i].a, p->setting[i].b,
                   p->setting[i].verdict);
    fputs("</tbody></table>\n", out);
}

static void write_changes(FILE *out, const struct report_pair *p, double threshold)
{
    fprintf(out, "<p>%zu of %zu statistics differ by more than %.6g %%.</p>\n", p->changes,
            p->compared, threshold);
    if (!p->changes)
        return;
    fputs("<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>statistic</th><th "
          "class=\"n\">first</th>"
          "<th class=\"n\">second</th><th class=\"n\">percent</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < p->changes && i < CHANGES_SHOWN; i++) {
        fputs("<tr>", out);
        element(out, "th", p->change[i].name);
        number_cell(out, p->change[i].a);
        number_cell(out, p->change[i].b);
        if (isinf(p->change[i].percent))
            fputs("<td class=\"n\">new</td></tr>\n", out);
        else
            fprintf(out, "<td class=\"n\">%+.2f</td></tr>\n", p->change[i].percent);
    }
    fputs("</tbody></table></div>\n", out);
    if (p->changes > CHANGES_SHOWN)
        fprintf(out,
                "<p>The first %d; <code>lardsim compare --results --json</code> has all.</p>\n",
                CHANGES_SHOWN);
}

static void write_pair(FILE *out, const struct report_difference *d, const struct report_pair *p)
{
    fprintf(out, "<details%s><summary>", d->pairs <= 4 ? " open" : "");
    markup_text(out, p->cell_a->label);
    fputs(": ", out);
    markup_text(out, p->a->dir);
    fputs(" and ", out);
    markup_text(out, p->b->dir);
    fputs(p->same ? " (nothing that happened differs)" : "", out);
    fputs("</summary>\n", out);
    write_settings(out, p);
    write_changes(out, p, d->threshold);
    fputs("</details>\n", out);
}

static void write_count(FILE *out, const struct report_race *r)
{
    fputs("<td>", out);
    for (size_t i = 0; r && i < r->counts; i++) {
        fputs(i ? ", " : "", out);
        markup_text(out, r->count[i].policy);
        fprintf(out, " %" PRIu64, r->count[i].n);
    }
    fputs(r ? "</td>" : "-</td>", out);
}

static void write_mets(FILE *out, const struct report_difference *d)
{
    if (!d->mets)
        return;
    fputs("<h3>Races</h3>\n<table><thead><tr><th>what became of it</th><th>race</th><th>first</th>"
          "<th>second</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < d->mets && i < RACES_MET; i++) {
        const struct report_met *m = &d->met[i];
        const struct report_race *r = m->a ? m->a : m->b;
        fprintf(out, "<tr><th>%s</th><td>", !m->b ? "gone" : !m->a ? "come" : "other counts");
        write_side(out, &r->is);
        fputs("<br>after the ", out);
        write_side(out, &r->earlier);
        fputs("<br><code>", out);
        markup_text(out, r->id);
        fputs("</code></td>", out);
        write_count(out, m->a);
        write_count(out, m->b);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

void page_differences(FILE *out, const struct report_faults *faults,
                      const struct report_difference *d)
{
    char *title = xasprintf("lardsim: %s and %s", d->name_a, d->name_b);

    write_top(out, title);
    write_faults(out, faults);
    fputs("<section class=\"study\">\n<p class=\"question\">What changed from ", out);
    element(out, "b", d->name_a);
    fputs(" to ", out);
    element(out, "b", d->name_b);
    fputs(", and what of it matters?</p>\n<div class=\"answer\"><ul>\n", out);
    difference_say(d, line_item, out);
    fputs("</ul></div>\n", out);
    for (size_t i = 0; i < d->pairs && i < PAIRS_SHOWN; i++)
        write_pair(out, d, &d->pair[i]);
    if (d->pairs > PAIRS_SHOWN)
        fprintf(out, "<p>The first %d of %zu runs.</p>\n", PAIRS_SHOWN, d->pairs);
    write_mets(out, d);
    fputs("</section>\n", out);
    write_end(out);
    fputs("<script type=\"application/json\" id=\"data\">{\"studies\":[],\"lines\":[]}</script>\n",
          out);
    write_scripts(out, false);
    fputs("</body>\n</html>\n", out);
    free(title);
}
