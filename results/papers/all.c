/* all.c - every table in one folder of cells, which they share, and a page: table, claim, verdict,
 * why. */
#include "results/papers/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/lard.h"

struct all_page {
    const struct all_options *o;
    struct json json;
    unsigned verdicts[TABLE_VERDICTS];
    unsigned tables, failed; /* failed: could not be run at all */
};

enum { TABLE_WIDTH = 18, CLAIM_WIDTH = 64 };

static bool talks(const struct all_page *p)
{
    return !p->o->json && !p->o->run.quiet;
}

static void line(const struct all_page *p, const char *table, const char *claim,
                 const char *verdict, const char *why)
{
    if (!talks(p))
        return;
    printf("%-*s %s\n%-*s %-8s %s\n", TABLE_WIDTH, table, claim, TABLE_WIDTH, "", verdict, why);
}

/* ---- tables of cells ------------------------------------------------------------------------ */

static char *why_of(const struct table_results *r, const struct table_judged *j)
{
    char ours[NUMBER_TEXT], half[NUMBER_TEXT];
    char *band = band_text(j->band), *why;
    const bool several = !isnan(j->seeds.half);

    if (j->verdict == TABLE_CANNOT)
        why = xasprintf("not measured: %s", r->of->cannot ? "its page says why" : "no cell has it");
    else
        why = xasprintf("ours %s%s%s %s, paper %s, band %s", number_text(ours, j->ours),
                        several ? " +- " : "", several ? number_text(half, j->seeds.half) : "",
                        j->band->unit, *j->band->paper ? j->band->paper : "-", band);
    free(band);
    return why;
}

static void print_claims(struct all_page *p, const struct table_results *r)
{
    struct table_judged j;

    for (size_t at = 0; judge_next(r, &at, &j);) {
        char *why = why_of(r, &j);
        p->verdicts[j.verdict]++;
        line(p, r->of->name, j.band->claim, table_verdict_names[j.verdict], why);
        free(why);
    }
    fflush(stdout);
}

static int one_table(struct all_page *p, const struct reproduction *t, struct err *e)
{
    struct table_results r = {0};
    struct err inner = {0};
    const int failed = results_make(&r, t, &p->o->run, &inner);

    p->tables++;
    if (failed) {
        p->failed++;
        line(p, t->name, "its cells can't be run", table_verdict_names[TABLE_CANNOT], inner.text);
    } else {
        print_claims(p, &r);
        if (p->o->csv)
            file_csv(&r, p->o->csv);
        if (p->o->json)
            page_json(&r, &p->json);
    }
    results_free(&r);
    /* A folder that can't be written, or a signal: nothing else will do better. */
    if (failed && (inner.code == LARD_OUTPUT || inner.code > LARD_RACES)) {
        *e = inner;
        return -1;
    }
    return 0;
}

/* ---- LARD's Tables 2 and 3 ------------------------------------------------------------------ */

static void json_lard(struct all_page *p, const struct lard_report *r)
{
    struct json *j = &p->json;

    json_object(j);
    JSON_TEXTS(j, {"schema", "lardsim-lard-verdicts-1"}, {"result", r->paper->name},
               {"title", r->paper->title});
    for (size_t v = 0; v < VERDICTS; v++)
        json_key_u64(j, verdict_keys[v], r->verdicts[v]);
    json_end(j);
}

static int one_of_lard(struct all_page *p, const struct paper *paper, struct err *e)
{
    struct lard_report r = {.quiet = true, .paper = paper};

    p->tables++;
    const int failed = lard_run(&r, &suites[0], p->o->run.quiet, e);
    if (!failed) {
        char *why = xasprintf("%u claims hold, %u fail, %u have no case", r.verdicts[HOLDS],
                              r.verdicts[FAILS], r.verdicts[NO_CASE]);
        const enum table_verdict is = r.verdicts[FAILS] ? TABLE_DIFFERS : TABLE_HOLDS;
        p->verdicts[is]++;
        line(p, paper->name, "what it claims of each program and collector",
             table_verdict_names[is], why);
        free(why);
        if (p->o->json)
            json_lard(p, &r);
    }
    lard_free(&r);
    return failed;
}

/* ---- all ------------------------------------------------------------------------------------ */

static int run_tables(struct all_page *p, struct err *e)
{
    for (const struct reproduction *t = reproductions; t->name; t++)
        if (!t->asked && one_table(p, t, e))
            return -1;
    for (const struct paper *paper = papers; paper->name; paper++)
        if (one_of_lard(p, paper, e))
            return -1;
    return 0;
}

int all_run(const struct all_options *o, struct err *e)
{
    struct all_page p = {.o = o};

    if (o->json) {
        json_init(&p.json, stdout, true);
        json_array(&p.json);
    }
    const int failed = run_tables(&p, e);
    if (o->json)
        json_end(&p.json);
    if (failed)
        return -1;
    if (talks(&p))
        printf("\n%u tables; claims: %u hold, %u differ, %u cannot be judged\n", p.tables,
               p.verdicts[TABLE_HOLDS], p.verdicts[TABLE_DIFFERS], p.verdicts[TABLE_CANNOT]);
    if (p.failed)
        return err_set(e, LARD_INTERNAL, "%u table%s could not be run", p.failed,
                       p.failed == 1 ? "" : "s");
    if (p.verdicts[TABLE_DIFFERS])
        return err_set(e, LARD_TOLERANCE, "%u claims differ; the page says which",
                       p.verdicts[TABLE_DIFFERS]);
    return LARD_DONE;
}
