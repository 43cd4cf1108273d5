/* t_plot.c - does each dot of a plot stand where its count says, on a scale of log10(count + 1)
 * that all panels share, and is text in a picture text? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "results/drawing/plot.h"
#include "results/drawing/svg.h"

/* ---- a plot --------------------------------------------------------------------------------- */

enum { PANELS = 2, ROWS = 4 };

static char *plot_text(const uint64_t (*count)[2], size_t rows)
{
    static const char *const panels[] = {"races", "misses & \"more\""};
    static char *labels[] = {(char *)(uintptr_t) "sor", (char *)(uintptr_t) "a<b",
                             (char *)(uintptr_t) "tsp", (char *)(uintptr_t) "none"};
    const struct plot p = {.title = "a title",
                           .kind = {"paper", "ours"},
                           .panels = PANELS,
                           .rows = rows,
                           .panel = panels,
                           .row = (void *)labels,
                           .count = count};
    char *text;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);

    plot_write(&p, out);
    fclose(out);
    return text;
}

static void has(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("the plot lacks %s:\n%s", line, text);
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* The place of a logarithm in a panel: 8 pixels from its edges, which are 170 apart. */
static double place(size_t panel, double log, unsigned decades)
{
    return 190 + 188.0 * (double)panel + 8 + log * 154 / decades;
}

/* A dot of the count within a pixel of where it should be, at this height. */
static void dot_stands(const char *text, size_t panel, size_t row, size_t kind, uint64_t count,
                       unsigned decades)
{
    const double x = place(panel, log10((double)count + 1), decades);

    for (int by = -1; by <= 1; by++) {
        char *dot = xasprintf(
            "<circle cx=\"%d\" cy=\"%zu\" r=\"%d\" class=\"%s\"><title>%llu</title></circle>\n",
            (int)x + by, 80 + 20 * row, kind ? 3 : 5, kind ? "full" : "hollow",
            (unsigned long long)count);
        const bool found = strstr(text, dot) != NULL;
        free(dot);
        if (found)
            return;
    }
    fail_msg("row %zu, panel %zu: no dot of %llu stands at %.0f:\n%s", row, panel,
             (unsigned long long)count, x, text);
}

/* Logarithms are good to a thousandth, a quarter of a pixel. */
static void line_stands(const char *text, double x)
{
    size_t n = 0;

    for (int whole = (int)(x - 0.25); whole <= (int)(x + 0.25); whole++) {
        char *line = xasprintf("<line x1=\"%d\" y1=\"70\" x2=\"%d\" y2=\"150\" class=\"grid\"/>\n",
                               whole, whole);
        n += times(text, line);
        free(line);
    }
    if (n != 1)
        fail_msg("%zu lines stand at %.2f:\n%s", n, x, text);
}

static const uint64_t some[ROWS * PANELS][2] = {{0, 1},          {9, 99},    {PLOT_NONE, 99999},
                                                {2, 3},          {500, 777}, {1048575, 1048577},
                                                {31, PLOT_NONE}, {999998, 0}};

/* The largest has 7 digits: 7 decades, of which every second has a label, and the last. */
static void dots_stand_where_their_counts_say(void **state)
{
    char *text = plot_text(some, ROWS);

    (void)state;
    for (size_t i = 0; i < ROWS * PANELS; i++)
        for (size_t k = 0; k < 2; k++)
            if (some[i][k] != PLOT_NONE)
                dot_stands(text, i % PANELS, i / PANELS, k, some[i][k], 7);
    assert_int_equal(times(text, "<circle"), 14 + 2); /* and the legend */
    has(text, "width=\"566\" height=\"184\" viewBox=\"0 0 566 184\"");
    has(text, "<title>a title</title>");
    has(text, "<text x=\"10\" y=\"22\" class=\"text title\">a title</text>");
    has(text, "<circle cx=\"16\" cy=\"40\" r=\"5\" class=\"hollow\"/>\n<text x=\"26\" y=\"44\" "
              "class=\"text\">paper</text>");
    has(text, "<circle cx=\"86\" cy=\"40\" r=\"3\" class=\"full\"/>\n<text x=\"96\" y=\"44\" "
              "class=\"text\">ours</text>");
    has(text, "<text x=\"190\" y=\"60\" class=\"text bold\">races</text>");
    has(text, "<text x=\"378\" y=\"60\" class=\"text bold\">misses &amp; &quot;more&quot;</text>");
    has(text, "<rect x=\"190\" y=\"70\" width=\"170\" height=\"80\" class=\"panel\"/>");
    has(text, "<rect x=\"378\" y=\"70\" width=\"170\" height=\"80\" class=\"panel\"/>");
    has(text, "<text x=\"182\" y=\"84\" class=\"text end\">sor</text>");
    has(text, "<text x=\"182\" y=\"104\" class=\"text end\">a&lt;b</text>");
    has(text, "<text x=\"182\" y=\"144\" class=\"text end\">none</text>");
    assert_int_equal(times(text, "class=\"grid\""), 2 * 8);
    for (unsigned d = 0; d <= 7; d++) {
        const bool labelled = d % 2 == 0 || d == 7;
        char *label = d ? xasprintf(">10^%u</text>", d) : xstrdup(">0</text>");
        line_stands(text, place(0, d, 7));
        assert_int_equal(times(text, label), labelled ? 2 : 0);
        free(label);
    }
    has(text, "<text x=\"198\" y=\"164\" class=\"text small middle\">0</text>");
    free(text);
}

/* Four decades have all their labels, and nothing at all has one decade. */
static void a_scale_has_room_for_the_largest(void **state)
{
    static const struct {
        uint64_t most;
        unsigned decades;
    } cases[] = {{0, 1},    {8, 1},     {10, 2},     {97, 2},      {102, 3},
                 {9900, 4}, {10500, 5}, {990000, 6}, {1050000, 7}, {UINT64_MAX - 1, 20}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const uint64_t count[PANELS][2] = {{PLOT_NONE, 0}, {0, cases[i].most}};
        char *text = plot_text(count, 1), *last = xasprintf(">10^%u</text>", cases[i].decades);
        if (times(text, "class=\"grid\"") != 2 * (cases[i].decades + 1) || times(text, last) != 2)
            fail_msg("%llu: the scale has no %u decades:\n%s", (unsigned long long)cases[i].most,
                     cases[i].decades, text);
        if (cases[i].decades <= 4)
            assert_int_equal(times(text, ">10^"), 2 * cases[i].decades);
        dot_stands(text, 1, 0, 1, cases[i].most, cases[i].decades);
        free(text);
        free(last);
    }
}

/* ---- text and bars -------------------------------------------------------------------------- */

static void text_in_a_picture_is_text(void **state)
{
    char *text;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);
    const char *volatile none = NULL;

    (void)state;
    markup(out, "<i title=\"%s\">%s</i> %d %u %zu %lu %.2f %g 100%% %s|", "a\"b", "<&>\033", -3, 4U,
           (size_t)5, 6UL, 0.125, 0.5, none);
    svg_bar(out, 1, 2, 3, 4, "bar", 99, "tip <1>");
    svg_bar(out, 1, 2, 3, 4, "bar", 100, "tip");
    svg_rect(out, 5, 6, 7, 8, "data");
    svg_line(out, 1, 2, 3, 4, "grid");
    svg_circle(out, 1, 2, 3, "full", NULL);
    fclose(out);
    assert_string_equal(
        text,
        "<i title=\"a&quot;b\">&lt;&amp;&gt;\\u{1b}</i> -3 4 5 6 0.12 0.5 100% |"
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" class=\"bar\" fill-opacity=\"99%\">"
        "<title>tip &lt;1&gt;</title></rect>\n"
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" class=\"bar\"><title>tip</title></rect>\n"
        "<rect x=\"5\" y=\"6\" width=\"7\" height=\"8\" class=\"data\"/>\n"
        "<line x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\" class=\"grid\"/>\n"
        "<circle cx=\"1\" cy=\"2\" r=\"3\" class=\"full\"/>\n");
    free(text);
}

/* Each class has a rule on a light page, and one on a dark page where it looks otherwise there. */
static void each_class_has_its_colours(void **state)
{
    (void)state;
    for (int dark = 0; dark < 2; dark++) {
        char *text;
        size_t bytes, rules = 0;
        FILE *out = xmemstream(&text, &bytes);
        svg_write_styles(out, "#p ", dark);
        fclose(out);
        for (const struct svg_style *s = svg_styles; s->name; s++) {
            const char *look = dark ? s->dark : s->light;
            char *rule = xasprintf("#p .%s{%s}\n", s->name, look);
            assert_int_equal(strstr(text, rule) != NULL, *look != '\0');
            rules += *look != '\0';
            free(rule);
        }
        assert_int_equal(times(text, "\n"), rules);
        assert_true(rules > 3);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dots_stand_where_their_counts_say),
        cmocka_unit_test(a_scale_has_room_for_the_largest),
        cmocka_unit_test(text_in_a_picture_is_text),
        cmocka_unit_test(each_class_has_its_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
