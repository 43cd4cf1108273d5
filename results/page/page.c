/* page.c - the report as one HTML page that asks nobody for anything: text, tables and pictures
 * stand in it without a script; the script (page.js) adds choices, filters and what is too long to
 * show at once. What names say is text everywhere (markup), and in the data for the script. */
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

/* A number as the format has it; a dash where there is none. */
static PRINTF_LIKE(2, 0) void number_cell(FILE *out, const char *fmt, double x)
{
    char text[40] = "-";

    if (!isnan(x))
        snprintf(text, sizeof text, fmt, x);
    markup(out, "<td class=\"n\">%s</td>", text);
}

/* The text is whole when the file is closed. */
void memory_file_close(FILE *f)
{
    if (fclose(f))
        die("no memory for a part of the page");
}

/* A link that has the file in it. */
static void download(FILE *out, const struct figure *f, const struct figure_form *form)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:;()/=*$! ";
    char *text = NULL;
    size_t n = 0;
    FILE *memory = xmemstream(&text, &n);

    form->write(f, memory);
    memory_file_close(memory);
    markup(out, "<a download=\"%s.%s\" href=\"data:%s;charset=utf-8,", f->name, form->ending,
           form->type);
    for (size_t i = 0; i < n; i++)
        if (text[i] && text[i] != ' ' && strchr(plain, text[i]))
            fputc(text[i], out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)text[i]);
    fprintf(out, "\">%s</a> ", form->ending);
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

static bool measured(const struct report_study *s, size_t measure)
{
    for (size_t i = 0; i < s->cells; i++)
        if (!isnan(s->cell[i].of[measure]))
            return true;
    return false;
}

static void json_axes(struct json *j, const struct report_study *s)
{
    json_key_array(j, "axes");
    for (size_t i = 0; i < s->axes; i++) {
        json_object(j);
        json_key(j, "name");
        json_visible(j, s->axis[i].name);
        json_key_bool(j, "numbers", s->axis[i].numbers);
        json_key_array(j, "values");
        for (size_t k = 0; k < s->axis[i].n; k++)
            json_visible(j, s->axis[i].value[k]);
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_heads(struct json *j, const struct report_study *s)
{
    json_key_strs(j, "overheads", overhead_name, OVERHEADS);
    json_key_array(j, "measures");
    for (size_t i = 0; i < MEASURES; i++)
        if (measured(s, i)) {
            json_object(j);
            JSON_TEXTS(j, {"key", report_measures[i].key}, {"unit", report_measures[i].unit},
                       {"text", report_measures[i].text});
            json_end(j);
        }
    json_end(j);
    json_key_array(j, "parts");
    for (size_t i = 0; i < PARTS; i++)
        json_str(j, report_parts[i].key);
    json_end(j);
}

/* A cell is its places on the axes, its overheads, its measures and its parts, in this order. */
static void json_cells(struct json *j, const struct report_study *s)
{
    json_key_array(j, "cells");
    for (size_t i = 0; i < s->cells; i++) {
        const struct report_cell *c = &s->cell[i];
        json_array(j);
        for (size_t k = 0; k < s->axes; k++)
            json_u64(j, c->place[k]);
        for (size_t k = 0; k < OVERHEADS; k++)
            json_double(j, "%.10g", 100 * cell_overhead(c, k));
        for (size_t k = 0; k < MEASURES; k++)
            if (measured(s, k))
                json_double(j, "%.10g", c->of[k]);
        for (size_t k = 0; k < PARTS; k++)
            json_double(j, "%.10g", round(100 * study_part(s, c, k)) / 100);
        json_end(j);
    }
    json_end(j);
}

static void data_block(FILE *out, const struct reported *r, const struct figures *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = xmemstream(&text, &n);
    struct json j;

    json_init(&j, memory, false);
    json_object(&j);
    json_key_array(&j, "studies");
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
    json_key_array(&j, "lines"); /* figures over time, which uPlot draws where it is there */
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == FIGURE_COLUMNS)
            figure_json(&f->at[i], &j);
    json_end(&j);
    json_end(&j);
    memory_file_close(memory);
    fputs("<script type=\"application/json\" id=\"data\">", out);
    script_text(out, text);
    fputs("</script>\n", out);
    free(text);
}

/* ---- top and bottom -------------------------------------------------------------------------- */

static void write_top(FILE *out, const char *title)
{
    markup(out,
           "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n",
           title);
    fwrite(page_css, 1, sizeof page_css, out);
    /* The switch of the page goes before what the system prefers: for pictures as for all else. */
    svg_write_styles(out, ":root[data-theme=light] svg ", false);
    svg_write_styles(out, ":root[data-theme=dark] svg ", true);
    markup(out,
           "</style>\n</head>\n<body>\n<header>\n<h1>%s</h1><button type=\"button\" id=\"theme\" "
           "hidden>Colours: as the system</button>\n</header>\n<main>\n",
           title);
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
    markup(out,
           "</main>\n<footer>Made by lardsim %s. This page is whole: it asks no other for "
           "anything.</footer>\n",
           lardsim_version());
}

static void write_faults(FILE *out, const struct report_faults *f)
{
    if (!f->n)
        return;
    fputs("<section class=\"faults\" id=\"faults\">\n<h2>What is not whole</h2>\n<ul>\n", out);
    for (size_t i = 0; i < f->n; i++)
        markup(out, "<li>%s</li>\n", f->at[i]);
    fputs("</ul>\n</section>\n", out);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void begin_picture(FILE *out, const char *label)
{
    markup(out, "<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">\n", label);
}

static void write_figure(FILE *out, const struct figure *f, size_t number)
{
    markup(out, "<figure id=\"figure-%zu\" data-name=\"%s\">\n", number, f->name);
    begin_picture(out, f->title);
    figure_svg(f, out);
    markup(out, "</div>\n<figcaption>Figure %zu. %s. <span class=\"files\">", number + 1, f->title);
    for (size_t i = 0; i < FIGURE_FORMS; i++)
        download(out, f, &figure_forms[i]);
    fputs("</span></figcaption>\n</figure>\n", out);
}

/* An SVG that another verb has drawn. */
static void write_picture(FILE *out, const char *picture, const char *label)
{
    begin_picture(out, label);
    fprintf(out, "%s</div>\n", picture);
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
        markup(out, "<tr><th>%s</th><td>", a->name);
        for (size_t k = 0; k < a->n && k < 8; k++)
            markup(out, "%s%s", k ? ", " : "", a->value[k]);
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

    number_cell(out, "%.1f", of.mean);
    number_cell(out, "%.1f", of.half);
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
            markup(out, "<td>%s</td>", first->point[k]);
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
            markup(out, "<th>%s</th>", s->axis[i].name);
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
    for (size_t i = 0; i < n; i++)
        markup(out, "<tr><td>%s</td><td>%s</td><td class=\"n\">%zu of %zu</td></tr>\n",
               said[i].finding->sentence, said[i].finding->knobs ? said[i].finding->knobs : "-",
               said[i].runs, s->runs);
    fputs("</tbody></table>\n", out);
}

/* ---- races ----------------------------------------------------------------------------------- */

static void write_side(FILE *out, const struct report_side *s)
{
    if (!s->op && !s->event && !s->site) {
        fputs("an access that the policy does not know", out);
        return;
    }
    markup(out, "%s", s->op ? s->op : "access");
    if (s->thread)
        markup(out, " by thread %s", s->thread);
    if (s->event)
        markup(out, ", event %s", s->event);
    if (s->site)
        markup(out, ", at <code>%s</code>", s->site);
}

/* Both sides of a race. */
static void write_sides(FILE *out, const struct report_race *r)
{
    write_side(out, &r->is);
    fputs("<br>after the ", out);
    write_side(out, &r->earlier);
}

static void write_object(FILE *out, const struct report_race *r)
{
    markup(out, "<code>%s</code>", r->address ? r->address : "?");
    if (r->object && r->offset && strcmp(r->offset, "0") != 0)
        markup(out, " (%s + %s)", r->object, r->offset);
    else if (r->object)
        markup(out, " (%s)", r->object);
    else if (r->allocated_at)
        markup(out, ", allocated at <code>%s</code>", r->allocated_at);
}

static void write_why(FILE *out, const struct report_race *r)
{
    for (size_t i = 0; i < r->said.n; i++)
        markup(out, "<p>%s</p>\n", r->said.at[i].text);
    if (r->picture)
        write_picture(out, r->picture, "threads and edges");
    if (r->unexplained)
        markup(out, "<p class=\"count\">Not explained here: %s</p>\n", r->unexplained);
}

/* How often each policy reports it: "vc 3, fasttrack 1". */
static void write_counts(FILE *out, const struct report_race *r)
{
    for (size_t i = 0; i < r->counts; i++)
        markup(out, "%s%s %lu", i ? ", " : "", r->count[i].policy, r->count[i].n);
}

static void write_race(FILE *out, const struct report_race *r, size_t study, size_t number)
{
    char *command = xstrdup("lardsim why");

    report_shell_word(&command, r->dir);
    report_shell_word(&command, r->id);
    fprintf(out, "<details class=\"race\" id=\"race-%zu-%zu\"%s><summary>", study, number,
            number == 0 ? " open" : "");
    write_sides(out, r);
    fputs("</summary>\n<dl><dt>where</dt><dd>", out);
    write_object(out, r);
    fputs("</dd><dt>racy accesses</dt><dd>", out);
    write_counts(out, r);
    fputs("</dd>", out);
    for (size_t i = 0; i < r->verdicts.n; i++)
        markup(out, "<dt>%s</dt><dd>%s</dd>", r->verdicts.at[i].name, r->verdicts.at[i].text);
    markup(out, "<dt>race</dt><dd><code>%s</code></dd><dt>why</dt><dd><code>%s</code></dd></dl>\n",
           r->id, command);
    write_why(out, r);
    fputs("</details>\n", out);
    free(command);
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
        markup(out, "<th>%s</th>", s->axis[i].name);
    for (size_t k = 0; k < OVERHEADS; k++)
        fprintf(out, "<th>%s, %%</th>", overhead_name[k]);
    fprintf(out, "<th>%s</th>", overhead_measured_name);
    for (size_t k = 0; k < MEASURES; k++)
        if (measured(s, k))
            fprintf(out, "<th>%s</th>", report_measures[k].key);
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < s->cells && i < ROWS_SHOWN; i++) {
        const struct report_cell *c = &s->cell[i];
        fputs("<tr>", out);
        for (size_t k = 0; k < s->axes; k++)
            markup(out, "<td>%s</td>", c->point[k]);
        for (size_t k = 0; k < OVERHEADS; k++)
            number_cell(out, "%.1f", 100 * cell_overhead(c, k));
        fprintf(out, "<td>%s</td>", run_time_measured(&s->run[c->run].cycles));
        for (size_t k = 0; k < MEASURES; k++)
            if (measured(s, k))
                number_cell(out, "%.10g", c->of[k]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (s->cells > ROWS_SHOWN)
        fprintf(out, "<p>The first %d. The choices above show what is wanted of all of them.</p>\n",
                ROWS_SHOWN);
    fputs("</details>\n", out);
}

static void write_claim(FILE *out, const struct report_claim *c, bool numbers, bool seeds)
{
    markup(out, "<tr><td>%s</td><td>%s</td>", c->text, c->verdict);
    if (numbers) {
        number_cell(out, "%.1f", c->ours);
        if (seeds)
            number_cell(out, "%.1f", (c->interval[1] - c->interval[0]) / 2);
        number_cell(out, "%.1f", c->paper);
        fputs("<td class=\"n\">", out);
        if (!isnan(c->low))
            fprintf(out, "from %.6g", c->low);
        if (!isnan(c->high))
            fprintf(out, " to %.6g", c->high);
        markup(out, "</td><td>%s</td>", c->unit);
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
    for (int holds = 0; holds < 2; holds++)
        for (size_t i = 0; i < s->claims; i++)
            if ((s->claim[i].verdict && !strcmp(s->claim[i].verdict, "holds")) == holds)
                write_claim(out, &s->claim[i], numbers, seeds);
    fputs("</tbody></table>\n", out);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void row_of(FILE *out, const char *head, const char *text)
{
    if (text)
        markup(out, "<tr><th>%s</th><td>%s</td></tr>\n", head, text);
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
        end = strchr(line, '\n'); /* which would be written out as what can't be seen */
        if (end)
            *end++ = '\0';
        markup(out, end ? "%s\n" : "%s", line);
    }
    if (!text)
        fprintf(out, "It can't be read: %s", strerror(errno));
    fputs("</pre></details>\n", out);
    free(text);
}

/* The parts of a comparison are made again together. */
static char *again(const struct report_run *run)
{
    const char *slash = strrchr(run->dir, '/');
    const bool compared = run->verb && !strcmp(run->verb, "compare"),
               part = slash && strcmp(run->dir, run->name) != 0;
    char *command = xstrdup(compared ? "lardsim compare --config" : "lardsim run --again"),
         *path =
             xasprintf("%.*s%s", compared && part ? (int)(slash - run->dir) : (int)strlen(run->dir),
                       run->dir, compared ? "/config.yaml" : "");

    report_shell_word(&command, path);
    free(path);
    return command;
}

static void write_run(FILE *out, const struct report_run *run)
{
    char *command = again(run);
    char *state = run->done ? xstrdup("whole")
                            : xasprintf("not whole%s%s", run->error ? ": " : "",
                                        run->error ? run->error : "");

    markup(out, "<details class=\"run\"><summary>%s</summary>\n<table><tbody>\n", run->name);
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
    fputs("<h3>What made it</h3>\n", out);
    if (s->dir) {
        char *command = xstrdup("lardsim sweep"), *spec = xasprintf("%s/sweep.yaml", s->dir);
        report_shell_word(&command, spec);
        xappend(&command, " ", "-o");
        xappend(&command, " ", "again");
        markup(
            out,
            "<p>The sweep is made again by <code>%s</code>; its sources must lie where they lay. "
            "It has %zu cells.</p>\n",
            command, s->cells);
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
    markup(out, "<section class=\"study\" id=\"study-%zu\">\n<h2>%s</h2>\n<p class=\"question\">",
           number, s->title ? s->title : s->name);
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
        write_provenance(out, s);
    }
    fputs("</section>\n", out);
}

static void write_contents(FILE *out, const struct reported *r)
{
    if (r->n < 2)
        return;
    fputs("<nav aria-label=\"contents\"><ul>\n", out);
    for (size_t i = 0; i < r->n; i++)
        markup(out, "<li><a href=\"#study-%zu\">%s</a></li>\n", i,
               r->study[i].title ? r->study[i].title : r->study[i].name);
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
    markup(out, "<li>%s</li>\n", line);
}

static void row_of_two(FILE *out, const char *head, const char *a, const char *b, const char *said)
{
    markup(out, "<tr><th>%s</th><td>%s</td><td>%s</td><td>%s</td></tr>\n", head, a ? a : "-",
           b ? b : "-", said);
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
        markup(out, "<tr><th>%s</th>", p->change[i].name);
        number_cell(out, "%.10g", p->change[i].a);
        number_cell(out, "%.10g", p->change[i].b);
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
    markup(out, "<details%s><summary>%s: %s and %s%s</summary>\n", d->pairs <= 4 ? " open" : "",
           p->cell_a->label, p->a->dir, p->b->dir,
           p->same ? " (nothing that happened differs)" : "");
    write_settings(out, p);
    write_changes(out, p, d->threshold);
    fputs("</details>\n", out);
}

static void write_count(FILE *out, const struct report_race *r)
{
    fputs(r ? "<td>" : "<td>-", out);
    if (r)
        write_counts(out, r);
    fputs("</td>", out);
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
        write_sides(out, r);
        markup(out, "<br><code>%s</code></td>", r->id);
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
    markup(out,
           "<section class=\"study\">\n<p class=\"question\">What changed from <b>%s</b> to "
           "<b>%s</b>, and what of it matters?</p>\n<div class=\"answer\"><ul>\n",
           d->name_a, d->name_b);
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
