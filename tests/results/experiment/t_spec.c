/* t_spec.c - is a spec read as docs/sweeps.md says? Each mistake has its line and its sentence,
 * word for word; the points of what is well formed are those that were written down by hand; and of
 * points that a plan makes one cell each, none is there twice. Nothing is run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"

/* ---- mistakes ------------------------------------------------------------------------------- */

/* Its first two lines; so the text begins in the third. */
#define BEGINS "policies: [none]\nsources: [\"synth:events=9\"]\n"

#define SETTING                                                                                    \
    " can't be an axis or a setting of a sweep; policies, sources, seeds and base.inherit are "    \
    "keys of the spec"
#define FORMS                                                                                      \
    ": an axis is a list ([32Ki, 64Ki]), a range ({from, to, step or times}), or groups of "       \
    "settings ({small: {l2.size: 256Ki, ...}, ...})"
#define NUMBERS ": a range is made of numbers such as 42, 64Ki or 1M; names go in a list"
#define ENDS                                                                                       \
    "3: the range of cores has no end; from must not exceed to, step is 1 or more, times 2 or "    \
    "more (and then from, too, 1 or more)"
#define PARTS "3: the range of cores needs from, to, and one of step and times"
#define CONDITION                                                                                  \
    " is no condition; write NAME OPERATOR VALUE, where the operator is one of = != < <= > >=, "   \
    "and join several with \"and\""
#define ABOUT  "; a condition is about an axis, policy, source or seed"
#define JOINED ": terms of a condition are joined with \"and\""
#define SEEDS  " is none; give how many (1 to 10000), or a list of seeds"
#define NUMBER                                                                                     \
    " is no number, and can't be smaller or larger; write numbers as 42, 64Ki or 1M, or compare "  \
    "with = or !="

static const struct {
    const char *text, *says;
} mistakes[] = {
    {"axes: {source: [1]}", "3: source" SETTING},
    {"base: {seed: 1}", "3: seed" SETTING},
    {"axes: {a: {b: {policy: 1}}}", "3: policy" SETTING},
    {"axes: {inherit: {from: 1, to: 2}}", "3: inherit" SETTING},
    {"base: {policies: vc}", "3: policies" SETTING},
    {"axes: {cores: [1],\n  cores.a.l1.ways: 2}",
     "4: the axis cores has values already; remove one"},
    {"axes: {cores: [1],\n  cores.from: 1, cores.to: 2}",
     "4: the axis cores is there twice; remove one"},
    {"axes: {cores.from: 1, cores.to: 2,\n  cores: [1]}",
     "4: the axis cores is there twice; remove one"},
    {"axes: {cores: []}", "3: the axis cores has no values; give at least one"},
    {"axes: {cores: 3}", "3: axes.cores" FORMS},
    {"axes: {a: {b: 3}}", "3: axes.a.b" FORMS},
    {"axes: {cores: {from: few, to: 4}}", "3: axes.cores.from" NUMBERS},
    {"axes: {cores: {from: 1, to: 4k2}}", "3: axes.cores.to" NUMBERS},
    {"axes: {cores: {from: 1, to: 4, step: x}}", "3: axes.cores.step" NUMBERS},
    {"axes: {cores: {from: 1, to: 4, times: x}}", "3: axes.cores.times" NUMBERS},
    {"axes: {cores: {from: 5, to: 4}}", ENDS},
    {"axes: {cores: {from: 1, to: 4, step: 0}}", ENDS},
    {"axes: {cores: {from: 1, to: 4, times: 1}}", ENDS},
    {"axes: {cores: {from: 0, to: 4, times: 2}}", ENDS},
    {"axes: {cores: {from: 0, to: 10000}}", "3: the range of cores has more than 10000 values"},
    {"axes: {cores: {from: 1}}", PARTS},
    {"axes: {cores: {to: 1, step: 2}}", PARTS},
    {"axes: {cores: {from: 1, to: 4, step: 1, times: 2}}", PARTS},
    {"axes: {cores: [1, 2]}\nzip: [cores, l1.ways]", "4: zip: there is no axis l1.ways"},
    {"axes: {cores: [1, 2], l1.ways: [1, 2]}\nzip: [cores, l1.ways, cores]",
     "4: zip: the axis cores is named twice; remove one"},
    {"axes: {cores: [1, 2], l1.ways: [1, 2], l2.ways: [1, 2]}\nzip: {a: [cores, l1.ways], b: "
     "[l1.ways, l2.ways]}",
     "4: zip: the axis l1.ways is named twice; remove one"},
    {"axes: {cores: [1, 2], l1.ways: [1, 2, 4]}\nzip: [cores, l1.ways]",
     "4: zip: cores has 2 values, and l1.ways has 3; axes that move together have the same number"},
    {"axes: {cores: [1, 2], l1.ways: [1, 2]}\nzip: [l1.ways, cores]",
     "4: zip: name the axes in the order in which `axes` has them"},
    {"only: policy", "3: \"policy\"" CONDITION},
    {"only: policy =", "3: \"policy =\"" CONDITION},
    {"only: \"= none\"", "3: \"= none\"" CONDITION},
    {"only: policy =! vc", "3: \"policy =! vc\"" CONDITION},
    {"only: policy = none and", "3: \"policy = none and\"" CONDITION},
    {"except: core = 3", "3: \"core = 3\": there is no axis core" ABOUT},
    {"only: policy = none or seed = 1", "3: \"policy = none or seed = 1\"" JOINED},
    {"only: policy = none anx seed = 1", "3: \"policy = none anx seed = 1\"" JOINED},
    {"only: policy = none = vc", "3: \"policy = none = vc\"" JOINED},
    {"seeds: []", "3: seeds: there are none; give at least one, or no seeds"},
    {"seeds: 0", "3: seeds: \"0\"" SEEDS},
    {"seeds: 10001", "3: seeds: \"10001\"" SEEDS},
    {"seeds: [1, x]", "3: seeds: \"x\"" SEEDS},
    {"seeds: [1, 2, 0x2]", "3: seeds: 0x2 is there twice; remove one"},
    {"polices: [vc]", "3: polices is no key of a sweep; did you mean \"policies\"? there are base, "
                      "axes, zip, only, except, "
                      "policies, sources and seeds; parameters of all cells go under base"},
    {"axes: {l2.size: [128Ki, 64Ki, 131072]}",
     "3: the axis l2.size has 128Ki and 131072, which are the same; remove one"},
    {"axes: {a: [1, 2], l2.size: [1Ki, 1024], b: [1, 2]}\nzip: [a, b]",
     "3: the axis l2.size has 1Ki and 1024, which are the same; remove one"},
    {"axes: {Cell: {a: {l1.ways: 2}, b: {l1.ways: 4}}}",
     "3: the axis Cell can't be called so: results have cell already; give it another name"},
    {"axes: {a: {x: {l1.ways: 2}}, b: {x: {l2.ways: 4}}, A: {x: {l3.ways: 4}}}",
     "3: the axes a and A differ in capitals alone, and would be one column; give one another "
     "name"},
    {"only: seed = 3\nseeds: 2", "3: \"seed = 3\": seed never is 3; it is one of: 1, 2"},
    {"only: seed = 10\nseeds: 9",
     "3: \"seed = 10\": seed never is 10; it is one of: 1, 2, 3, 4, 5, 6, 7, 8, ..."},
    {"only: seed != 9\nseeds: 8",
     "3: \"seed != 9\": seed never is 9; it is one of: 1, 2, 3, 4, 5, 6, 7, 8"},
    {"except: seed = 1", "3: \"seed = 1\": seed never is 1; it is one of: none"},
    {"only: source = synth:events=8", "3: \"source = synth:events=8\": source never is "
                                      "synth:events=8; it is one of: synth:events=9"},
    {"only: cores < many\naxes: {cores: [1, 2]}", "3: \"cores < many\": many" NUMBER},
    {"only: a > 3\naxes: {a: {x: {l1.ways: 2}, 7: {l1.ways: 4}}}", "3: \"a > 3\": x" NUMBER},
    {"except: [cores = 1 and seed = 2, cores > 2]\naxes: {cores: [1, 2]}\nseeds: 2",
     "3: except: \"cores > 2\" holds at no point, so it leaves nothing out; correct or remove it"},
};

static int read_text(struct spec *s, const char *text, struct err *e)
{
    return spec_read(s, "w.yaml", text, strlen(text), e);
}

static void each_mistake_has_its_line_and_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
        char *text = xasprintf("%s%s\n", BEGINS, mistakes[i].text);
        char *says = xasprintf("w.yaml:%s", mistakes[i].says);
        struct spec s;
        struct err e = {0};
        const int status = read_text(&s, text, &e);
        if (status != -1 || e.code != LARD_CONFIG || strcmp(e.text, says) != 0)
            fail_msg("%s: ends with %d, and says \"%s\", not \"%s\"", mistakes[i].text, status,
                     e.text, says);
        spec_free(&s);
        free(text);
        free(says);
    }
}

static void a_spec_that_is_not_complete_says_what_it_lacks(void **state)
{
    static const struct {
        const char *text, *says;
    } lacks[] = {
        {"policies: [vc]\n",
         "w.yaml: it names no sources; give at least one, as in `sources: [workload:sor]`"},
        {"sources: [\"synth:\"]\n",
         "w.yaml: it names no policies; give at least one, as in `policies: [none, vc]`"},
        {BEGINS "only: seed = 1\nseeds: 2\nexcept: policy = none\n",
         "w.yaml: only and except leave no point of the sweep"},
        {"sources: [\"synth:\"]\npolicies: [vc, mine=cvm, mine=none]\n",
         "w.yaml:2: policies: two have the label mine; give each its own, as in 'mine=vc'"},
        {BEGINS
         "axes: {l1.latency: {from: 1, to: 1000}, l2.latency: {from: 1, to: 1000}}\nseeds: 2\n",
         "w.yaml: its axes, sources, seeds and policies multiply to more than 1000000 points, of "
         "which conditions only "
         "choose; give less values, or move axes together with zip"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lacks); i++) {
        struct spec s;
        struct err e = {0};
        int status = read_text(&s, lacks[i].text, &e);
        if (!status)
            status = points_each(&s, NULL, NULL, &e);
        if (status != -1 || e.code != LARD_CONFIG || strcmp(e.text, lacks[i].says) != 0)
            fail_msg("%s: ends with %d, and says \"%s\", not \"%s\"", lacks[i].text, status, e.text,
                     lacks[i].says);
        spec_free(&s);
    }
}

/* ---- points --------------------------------------------------------------------------------- */

struct said {
    const struct spec *spec;
    char *text;
    size_t points, most;
};

/* A point as its steps, source, seed and policy. */
static int say_point(void *said, const struct sweep_point *p)
{
    struct said *to = said;
    const struct spec *s = to->spec;
    char *one = NULL;

    for (size_t i = 0; i < s->axes; i++)
        xappend(&one, " ", s->axis[i].step[p->step[i]].name);
    if (s->sources.n > 1)
        xappend(&one, " ", s->sources.at[p->source].text);
    if (s->seeds.n)
        xappend(&one, " ", s->seeds.at[p->seed].text);
    if (s->policies.n > 1)
        xappend(&one, " ", s->policies.at[p->policy].text);
    xappend(&to->text, "; ", one ? one : "-");
    free(one);
    return ++to->points == to->most ? -1 : 0;
}

static const struct {
    const char *text, *points;
    uint64_t before; /* conditions */
} wells[] = {
    {"policies: [none]\nsources: [s]\n", "-", 1},
    {"axes: {x: {a: {l1.ways: 2}, b: {l1.ways: 4}}, cores: [1, 2]}\npolicies: [none, vc]\nsources: "
     "[s, t]\nseeds: 2\n",
     "a 1 s 1 none; a 1 s 1 vc; a 1 s 2 none; a 1 s 2 vc; a 1 t 1 none; a 1 t 1 vc; a 1 t 2 none; "
     "a 1 t 2 vc; "
     "a 2 s 1 none; a 2 s 1 vc; a 2 s 2 none; a 2 s 2 vc; a 2 t 1 none; a 2 t 1 vc; a 2 t 2 none; "
     "a 2 t 2 vc; "
     "b 1 s 1 none; b 1 s 1 vc; b 1 s 2 none; b 1 s 2 vc; b 1 t 1 none; b 1 t 1 vc; b 1 t 2 none; "
     "b 1 t 2 vc; "
     "b 2 s 1 none; b 2 s 1 vc; b 2 s 2 none; b 2 s 2 vc; b 2 t 1 none; b 2 t 1 vc; b 2 t 2 none; "
     "b 2 t 2 vc",
     32},
    /* ranges, in the units of their ends */
    {"axes: {cores: {from: 2, to: 4}}\npolicies: [none]\nsources: [s]\n", "2; 3; 4", 3},
    {"axes: {cores: {from: 2, to: 7, step: 2}}\npolicies: [none]\nsources: [s]\n", "2; 4; 6", 3},
    {"axes: {cores: {from: 1, to: 27, times: 3}}\npolicies: [none]\nsources: [s]\n", "1; 3; 9; 27",
     4},
    {"axes: {cores: {from: 4, to: 4}}\npolicies: [none]\nsources: [s]\n", "4", 1},
    {"axes: {l2.size: {from: 32Ki, to: 2Mi, times: 4}}\npolicies: [none]\nsources: [s]\n",
     "32Ki; 128Ki; 512Ki; 2Mi", 4},
    {"axes: {l2.size: {from: 1000, to: 2Ki, step: 524}}\npolicies: [none]\nsources: [s]\n",
     "1000; 1524; 2Ki", 3},
    {"axes: {x: {from: 0, to: 64Ki, step: 32Ki}}\npolicies: [none]\nsources: [s]\n",
     "0; 32Ki; 64Ki", 3},
    {"axes: {l2.size: {from: 500, to: 2k, step: 500}}\npolicies: [none]\nsources: [s]\n",
     "500; 1k; 1500; 2k", 4},
    {"axes: {x.a: {from: 0, to: 3G, step: 1G}}\npolicies: [none]\nsources: [s]\n", "0; 1G; 2G; 3G",
     4},
    {"axes: {l2.size: {from: 1024, to: 2048, step: 1024}}\npolicies: [none]\nsources: [s]\n",
     "1024; 2048", 2},
    {"axes: {x: {from: 18446744073709551614, to: 18446744073709551615}}\npolicies: "
     "[none]\nsources: [s]\n",
     "18446744073709551614; 18446744073709551615", 2},
    {"axes: {x: {from: 9223372036854775808, to: 18446744073709551615, times: 2}}\npolicies: "
     "[none]\nsources: [s]\n",
     "9223372036854775808", 1},
    /* axes that move together, with another between them */
    {"axes: {a: [1, 2], b: [5, 6], c: [7, 8]}\nzip: [a, c]\npolicies: [none]\nsources: [s]\n",
     "1 5 7; 1 6 7; 2 5 8; 2 6 8", 4},
    {"axes: {a: [1, 2], b: [5, 6], c: [7, 8], d: [3, 4]}\nzip: {x: [a, c], y: [b, d]}\npolicies: "
     "[none]\nsources: [s]\n",
     "1 5 7 3; 1 6 7 4; 2 5 8 3; 2 6 8 4", 4},
    {"axes: {a: [1, 1], b: [2, 3]}\nzip: [a, b]\npolicies: [none]\nsources: [s]\n", "1 2; 1 3", 2},
    /* conditions: all of only must hold, and none of except */
    {"axes: {a: [1, 2, 4], b: [1, 2, 4]}\nonly: a < b\npolicies: [none]\nsources: [s]\n",
     "1 2; 1 4; 2 4", 9},
    {"axes: {a: [1, 2, 4], b: [1, 2, 4]}\nonly: [a <= b, b != 2]\npolicies: [none]\nsources: [s]\n",
     "1 1; 1 4; 2 4; 4 4", 9},
    {"axes: {a: [1, 2, 4], b: [1, 2, 4]}\nexcept: [a >= b, b = 2]\npolicies: [none]\nsources: "
     "[s]\n",
     "1 4; 2 4", 9},
    {"axes: {a: [1, 2, 4], b: [1, 2, 4]}\nonly: a == b and a>1\npolicies: [none]\nsources: [s]\n",
     "2 2; 4 4", 9},
    {"axes: {a: [16Ki, 1k, 2Mi]}\nonly: a > 1000 and a < 2097152\npolicies: [none]\nsources: [s]\n",
     "16Ki", 3},
    {"policies: [none, mine=vc, mine2=vc]\nsources: [s]\nonly: policy = mine\n", "mine=vc", 3},
    {"policies: [none, mine=vc, mine2=vc]\nsources: [s]\nexcept: policy = mine\n", "none; mine2=vc",
     3},
    {"policies: [none, vc]\nsources: [\"synth:a = b\", t]\nonly: [source = synth:a = b and policy "
     "!= vc]\n",
     "synth:a = b none", 4},
    {"policies: [none]\nsources: [s]\nseeds: [7, 0x10, 9]\nonly: seed >= 9\n", "0x10; 9", 3},
    {"policies: [none]\nsources: [s]\nseeds: 3\n", "1; 2; 3", 3},
};

static void points_are_those_that_were_written_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wells); i++) {
        struct spec s;
        struct err e = {0};
        struct said said = {.spec = &s};
        if (read_text(&s, wells[i].text, &e))
            fail_msg("%s: %s", wells[i].text, e.text);
        const int status = points_each(&s, say_point, &said, &e);
        if (status || strcmp(said.text, wells[i].points) != 0)
            fail_msg("%s: the points are \"%s\", not \"%s\"", wells[i].text, said.text,
                     wells[i].points);
        assert_int_equal(points_count(&s), wells[i].before);
        free(said.text);
        spec_free(&s);
    }
}

static void whoever_is_told_may_stop(void **state)
{
    struct spec s;
    struct err e = {0};
    struct said said = {.spec = &s, .most = 3};

    (void)state;
    assert_int_equal(read_text(&s, wells[1].text, &e), 0);
    assert_int_equal(points_each(&s, say_point, &said, &e), -1);
    assert_string_equal(said.text, "a 1 s 1 none; a 1 s 1 vc; a 1 s 2 none");
    assert_int_equal(e.code, 0);
    free(said.text);
    spec_free(&s);
}

/* ---- settings ------------------------------------------------------------------------------- */

static char *settings_text(const struct settings *s)
{
    char *all = NULL;

    for (size_t i = 0; i < s->n; i++) {
        char *one = xasprintf("%u %s", s->at[i].line, s->at[i].text);
        xappend(&all, "; ", one);
        free(one);
    }
    return all ? all : xstrdup("");
}

static void settings_are(const struct settings *s, const char *want)
{
    char *is = settings_text(s);

    if (strcmp(is, want) != 0)
        fail_msg("the settings are \"%s\", not \"%s\"", is, want);
    free(is);
}

static void settings_have_the_line_that_they_stand_in(void **state)
{
    struct spec s;
    struct err e = {0};

    (void)state;
    if (read_text(&s,
                  "base:\n  inherit: radish8\n  stats.interval: 5k\n  granularity: 8\n"
                  "axes:\n  caches:\n    small: {l1.size: 16Ki, l2.size: 64Ki}\n    large:\n      "
                  "l1.size: 32Ki\n"
                  "      l2.size: 256Ki\n  cores: [2, 4]\npolicies:\n  - none\n  - mine=vc\n"
                  "sources: [a.lard,\n  b.lard]\n",
                  &e))
        fail_msg("%s", e.text);
    settings_are(&s.inherit, "2 radish8");
    settings_are(&s.base, "3 stats.interval=5k; 4 granularity=8");
    assert_int_equal(s.axes, 2);
    assert_string_equal(s.axis[0].name, "caches");
    assert_true(s.axis[0].groups && !s.axis[1].groups);
    assert_string_equal(s.axis[0].step[1].name, "large");
    settings_are(&s.axis[0].step[0].set, "7 l1.size=16Ki; 7 l2.size=64Ki");
    settings_are(&s.axis[0].step[1].set, "9 l1.size=32Ki; 10 l2.size=256Ki");
    settings_are(&s.axis[1].step[0].set, "11 cores=2");
    settings_are(&s.axis[1].step[1].set, "11 cores=4");
    assert_int_equal(policy_label("mine=vc"), 4);
    assert_int_equal(policy_label("none"), 4);
    spec_free(&s);
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void plan_text(struct plan *p, struct spec *s, const char *text, const char *build)
{
    struct memo memo;
    struct progress progress;
    struct err e = {0};

    memo_load(&memo, "nosuch");
    progress_begin(&progress, true, 0);
    if (read_text(s, text, &e) || plan_make(p, s, build, &memo, &progress, &e))
        fail_msg("%s: %s", text, e.text);
    memo_free(&memo);
}

/* A cell as policy, seed, values, the number of its baseline, and what it is. */
static char *cells_text(const struct plan *p)
{
    char *all = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct sweep_cell *c = &p->cell[i];
        char *one = xasprintf("%s %s", c->policy, c->seed ? c->seed : "-");
        for (size_t k = 0; k < p->spec->axes; k++)
            xappend(&one, " ", c->value[k] ? c->value[k] : "-");
        char *is = c->baseline == NO_CELL ? xstrdup("alone") : xasprintf("%zu", c->baseline);
        xappend(&one, " ", is);
        if (!c->asked)
            xappend(&one, " ", "unasked");
        xappend(&all, "; ", one);
        free(one);
        free(is);
    }
    return all;
}

static const struct {
    const char *text, *cells;
} plans[] = {
    /* without a machine nothing has a baseline; a parameter of a policy is none of another's */
    {"axes: {policy.vc.history: [last, all]}\npolicies: [fasttrack, vc]\nsources: "
     "[\"synth:events=9\"]\n",
     "fasttrack - - alone; vc - last alone; vc - all alone"},
    /* on a machine each point has one, made where the spec has it not, behind the first that needs
       it */
    {"base: {inherit: radish8}\naxes: {cores: [2, 4]}\npolicies: [vc, fasttrack]\nsources: "
     "[\"synth:events=9\"]\n",
     "vc - 2 1; none - 2 1 unasked; fasttrack - 2 1; vc - 4 4; none - 4 4 unasked; fasttrack - 4 "
     "4"},
    {"base: {inherit: radish8}\npolicies: [none, mine=vc]\nsources: [\"synth:events=9\"]\nseeds: "
     "[3, 5]\n",
     "none 3 0; mine 3 0; none 5 2; mine 5 2"},
    /* baselines of steps that are a policy's own are one */
    {"base: {inherit: radish8}\naxes: {policy.lardish.clock-bits: [4, 8]}\npolicies: "
     "[lardish]\nsources: "
     "[\"synth:events=9\"]\n",
     "lardish - 4 1; none - - 1 unasked; lardish - 8 1"},
    /* one value alone is the axis's name in the row of the policy that knows it, whichever stands
       first */
    {"axes: {policy.vc.history: [all]}\npolicies: [vc, fasttrack]\nsources: [\"synth:events=9\"]\n",
     "vc - all alone; fasttrack - - alone"},
    /* with another policy's view: a run of vc does not know it */
    {"base: {policy.naive.view: naive}\npolicies: [vc, naive=vc]\nsources: [\"synth:events=9\"]\n",
     "vc - alone; naive - alone"},
    /* a group that sets for one policy what is so already, and for all a machine */
    {"axes: {x: {none: {machine: none}, m: {machine: multicore}}}\npolicies: [vc]\nsources: "
     "[\"synth:events=9\"]\n",
     "vc - none alone; vc - m 2; none - m 2 unasked"},
};

static void cells_are_those_of_the_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
        struct spec s;
        struct plan p;
        plan_text(&p, &s, plans[i].text, "build");
        char *is = cells_text(&p);
        if (strcmp(is, plans[i].cells) != 0)
            fail_msg("%s: the cells are \"%s\", not \"%s\"", plans[i].text, is, plans[i].cells);
        for (size_t k = 0; k < p.n; k++)
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(p.cell[j].hash, p.cell[k].hash);
        free(is);
        plan_free(&p);
        spec_free(&s);
    }
}

/* A seed is one more setting, and the first of a source that has none. */
static void seeds_are_settings_of_their_source(void **state)
{
    static const char *const texts[] = {"synth:seed=3", "synth:seed=5", "workload:sor,n=4,seed=3",
                                        "workload:sor,n=4,seed=5"};
    struct spec s;
    struct plan p;

    (void)state;
    plan_text(&p, &s,
              "policies: [none]\nsources: [\"synth:\", \"workload:sor,n=4\"]\nseeds: [3, 5]\n",
              "build");
    assert_int_equal(p.sources, ARRAY_SIZE(texts));
    for (size_t i = 0; i < p.sources; i++)
        assert_string_equal(p.source[i].text, texts[i]);
    plan_free(&p);
    spec_free(&s);
}

/* The first cell of a plan, by its name. */
static void first_hash(char to[HASH_TEXT], const char *text, const char *build)
{
    struct spec s;
    struct plan p;

    plan_text(&p, &s, text, build);
    snprintf(to, HASH_TEXT, "%s", p.cell[0].hash);
    plan_free(&p);
    spec_free(&s);
}

#define ONE "policies: [vc]\nsources: [\"workload:sor,n=4,steps=1\"]\n"

/* Whatever decides results has a part in the name, and nothing else has. */
static void a_cells_name_says_all_that_decides_its_results(void **state)
{
    static const struct {
        const char *text, *build;
        bool same;
    } others[] = {
        {ONE, "build", true},
        {"sources: [\"workload:sor,n=4,steps=1\"]\npolicies: [vc, none]\nseeds: 2\naxes: {cores: "
         "[4]}\nbase: {inherit: "
         "radish8}\nonly: policy = vc\n",
         "build", false},
        {"base: {policy.vc.history: last}\n" ONE, "build", true}, /* as it is without */
        {"base: {policy.vc.history: all}\n" ONE, "build", false},
        {ONE, "another", false},
        {"policies: [vc]\nsources: [\"workload:sor,n=4,steps=2\"]\n", "build", false},
        {"policies: [mine=vc]\nsources: [\"workload:sor,n=4,steps=1\"]\n", "build", false},
        {"policies: [fasttrack]\nsources: [\"workload:sor,n=4,steps=1\"]\n", "build", false},
        {ONE "seeds: [2]\n", "build", false},
    };
    char name[HASH_TEXT], other[HASH_TEXT];

    (void)state;
    first_hash(name, ONE, "build");
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        first_hash(other, others[i].text, others[i].build);
        if (!strcmp(name, other) != others[i].same)
            fail_msg("%s, %s: its name is %s, that of the first %s", others[i].text,
                     others[i].build, other, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_line_and_its_sentence),
        cmocka_unit_test(a_spec_that_is_not_complete_says_what_it_lacks),
        cmocka_unit_test(points_are_those_that_were_written_down),
        cmocka_unit_test(whoever_is_told_may_stop),
        cmocka_unit_test(settings_have_the_line_that_they_stand_in),
        cmocka_unit_test(cells_are_those_of_the_points),
        cmocka_unit_test(seeds_are_settings_of_their_source),
        cmocka_unit_test(a_cells_name_says_all_that_decides_its_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
