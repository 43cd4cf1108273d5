/* result.c - prints what a run found: for people, or as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run/run.h"
#include "results/job/told.h"
#include "results/table/table.h"
#include "workloads/measure/measure.h"
#include "trace/trace.h"

/* The four ways to count races (docs/results.md): the same race again is another access, not
 * another pair of sites. */
static const struct {
    const char *name, *title;
} counts[] = {{"accesses", "racy accesses"},
              {"sites", "sites"},
              {"locations", "locations"},
              {"pairs", "pairs of sites"}};

/* ---- for people ----------------------------------------------------------------------------- */

static void print_policies(const struct run_result *r)
{
    struct table to = {0};
    uint64_t v = 0;

    table_head(&to, (struct table_head){.name = "policy", .align = TABLE_LEFT});
    for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
        table_head(&to, (struct table_head){.name = counts[k].title});
    for (size_t i = 0; lardsim_policy(r->run, i); i++) {
        const char *label = lardsim_policy(r->run, i);
        table_text(&to, label);
        for (size_t k = 0; k < ARRAY_SIZE(counts); k++) {
            const bool known = run_stat(r->run, &v, "policy.%s.races.%s", label, counts[k].name);
            table_known(&to, known, v);
        }
    }
    table_show(&to, stdout, "%s", "");
}

static void print_name(const char *before, const char *name, const char *after)
{
    if (!name)
        return;
    fputs(before, stdout);
    print_visible(stdout, name);
    fputs(after, stdout);
}

/* A name that is a number alone is a line's, or the like: "at site 25". */
static void print_site(const char *before, const char *name, uint64_t site)
{
    const bool number = name && !name[strspn(name, "0123456789")];

    if (name) {
        print_name(before, number ? "at site " : "at ", "");
        print_visible(stdout, name);
    } else if (site) {
        printf("%sat site 0x%" PRIx64, before, site);
    }
}

void run_print_side(const struct lardsim_side *s)
{
    printf("by thread %" PRIu32, s->thread);
    print_name(" (", s->thread_name, ")");
    printf(s->region ? ", in the region from event %" PRIu64 : ", event %" PRIu64, s->event);
    if (s->interval)
        printf(", interval %" PRIu64, s->interval);
    print_site(", ", s->site_name, s->site);
    putchar('\n');
}

void run_print_object(const struct lardsim_object *o)
{
    if (o->name) {
        print_name(" (", o->name, "");
        if (o->offset)
            printf(" + %" PRIu64, o->offset);
        printf(")");
    } else if (o->allocated) {
        printf(" (byte %" PRIu64 " of %" PRIu64 " allocated by event %" PRIu64, o->offset, o->size,
               o->event);
        print_site(", ", o->site_name, o->site);
        printf(")");
    }
}

enum { COUNT_WIDTH = 9 }; /* of the count before a group */

/* "vc 3, naive 5" */
static void print_by_policy(const struct race_groups *g, const struct race_group *group)
{
    printf("%*s", COUNT_WIDTH + 2, "");
    for (size_t i = 0; lardsim_policy(g->run, i); i++)
        printf("%s%s %" PRIu64, i ? ", " : "", lardsim_policy(g->run, i), group->by_policy[i]);
    putchar('\n');
}

/* Prints two lines for a group, the racy access and the earlier one; if there are several policies,
 * a third with their counts. */
static void print_group(const struct race_groups *g, const struct race_group *group)
{
    const struct lardsim_race *race = &group->first;

    printf("%*" PRIu64 "  %s%s of %" PRIu32 " byte%s at 0x%" PRIx64, COUNT_WIDTH, group->most,
           race->system ? "system " : "", ev_info[race->is.kind].text, race->size,
           race->size == 1 ? "" : "s", race->addr);
    run_print_object(&race->object);
    putchar(' ');
    run_print_side(&race->is);
    printf("%*s", COUNT_WIDTH + 2, "");
    if (race->earlier.known) {
        printf("after the %s ", ev_info[race->earlier.kind].text);
        run_print_side(&race->earlier);
    } else {
        puts("after an access that the policy does not know");
    }
    if (lardsim_policy(g->run, 1))
        print_by_policy(g, group);
}

static void print_races(const struct run_result *r)
{
    const struct race_groups *g = r->races;
    const size_t shown = g->n < GROUPS_SHOWN ? g->n : GROUPS_SHOWN;

    if (g->n == 0)
        return;
    printf("\nracy accesses by pair of sites, the most frequent first; of each pair the first:\n");
    for (size_t i = 0; i < shown; i++)
        print_group(g, &g->group[i]);
    if (g->n > shown || g->left_out)
        printf("%*s  and %zu more%s\n", COUNT_WIDTH, "", g->n - shown,
               g->left_out ? ", and some that were not kept" : "");
}

/* Returns the folder of the results. NULL: they were not written, or not all of them. */
static const char *written_to(const struct run_result *r)
{
    return lardsim_exit_code(r->run) == LARD_OUTPUT ? NULL : r->output;
}

static bool same_again(const struct run_result *r)
{
    return r->again && repeat_same(r->again, r->run);
}

static void print_file(const char *folder, const char *name)
{
    print_visible(stdout, folder);
    printf("/%s, ", name);
}

enum { FINDINGS_SHOWN = 3 };

void run_print_findings(const struct lardsim_findings *all, size_t others, const char *where)
{
    const size_t shown = all->n < FINDINGS_SHOWN ? all->n : FINDINGS_SHOWN, more = all->n - shown;

    for (size_t i = 0; i < shown; i++)
        printf("%s  %s\n", i ? "        " : "\nfindings", all->at[i].sentence);
    if (more || others)
        printf("%s ", shown ? "          and" : "\nfindings ");
    if (more)
        printf("%zu more", more);
    if (others)
        printf("%s%zu of single runs", more ? ", and " : "", others);
    if (more || others)
        printf(": %s\n", where);
}

void run_print_findings_of(const struct lardsim *l, const char *output)
{
    struct lardsim_findings all = lardsim_findings(l);

    run_print_findings(&all, 0, output ? "`findings` in stats.json" : "--json shows them");
    lardsim_findings_free(&all);
}

/* The digest stands for all statistics, so it is only printed of a run that is complete. */
static void print_where(const struct run_result *r)
{
    const char *output = written_to(r);

    if (r->output && !output)
        printf("\nincomplete: the results were not written\n");
    else if (lardsim_error(r->run))
        printf("\nincomplete: the run stopped before the end\n");
    else
        printf("\ndigest   %016" PRIx64 "  behaviour %016" PRIx64 "%s%s\n", lardsim_digest(r->run),
               lardsim_behaviour(r->run), same_again(r) ? ", the same as " : "",
               same_again(r) ? r->again->dir : "");
    if (output) {
        printf("results  ");
        print_file(output, "stats.txt");
        print_file(output, "races.jsonl");
        puts("...");
    }
    if (r->races->n && r->output)
        puts("next     `lardsim explain races` says what the counts mean");
    else if (r->races->n)
        puts("next     give -o DIR to keep every race; `lardsim explain races` says what is "
             "counted");
}

void run_result_text(const struct run_result *r)
{
    const uint64_t events = lardsim_events(r->run);

    print_visible(stdout, r->source);
    printf(": %" PRIu64 " event%s\n\n", events, events == 1 ? "" : "s");
    run_machine_text(r);
    print_policies(r);
    if (lardsim_source_plants(r->source))
        puts("\nraces " PLANTED_TEXT);
    if (sim_caveat(r->run))
        printf("\ncaveat   %s\n", sim_caveat(r->run));
    print_races(r);
    run_print_findings_of(r->run, r->output);
    print_where(r);
}

/* ---- JSON: names as in races.jsonl ---------------------------------------------------------- */

static void json_group(struct json *j, const struct race_groups *g, const struct race_group *group)
{
    const struct lardsim_race *race = &group->first;

    json_object(j);
    json_key_hex16(j, "race", group->id);
    json_key_object(j, "accesses");
    for (size_t i = 0; lardsim_policy(g->run, i); i++)
        json_key_u64(j, lardsim_policy(g->run, i), group->by_policy[i]);
    json_end(j);
    sim_side_json(j, &race->is);
    json_key(j, "address");
    json_hex(j, race->addr);
    json_key_u64(j, "size", race->size);
    lardsim_object_json(&race->object, j);
    json_key_bool(j, "system", race->system);
    sim_earlier_json(j, &race->earlier);
    json_end(j);
}

static void json_policies(struct json *j, const struct run_result *r)
{
    uint64_t v;

    json_key_object(j, "policies");
    for (size_t i = 0; lardsim_policy(r->run, i); i++) {
        const char *label = lardsim_policy(r->run, i);
        json_key_object(j, label);
        for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
            if (run_stat(r->run, &v, "policy.%s.races.%s", label, counts[k].name))
                json_key_u64(j, counts[k].name, v);
        json_end(j);
    }
    json_end(j);
}

void run_result_json(const struct run_result *r)
{
    const struct race_groups *g = r->races;
    struct lardsim_findings all = lardsim_findings(r->run);
    struct json j;

    json_page(&j, stdout, "lardsim-run-1");
    json_key_str(&j, "source", r->source);
    json_key_bool(&j, "planted_races", lardsim_source_plants(r->source));
    if (sim_caveat(r->run))
        json_key_str(&j, "caveat", sim_caveat(r->run));
    json_key_u64(&j, "events", lardsim_events(r->run));
    json_key_str(&j, "error", lardsim_error(r->run));
    json_key_u64(&j, "exit", (uint64_t)lardsim_exit_code(r->run));
    if (!lardsim_error(r->run)) {
        json_key_hex16(&j, "digest", lardsim_digest(r->run));
        json_key_hex16(&j, "behaviour", lardsim_behaviour(r->run));
    }
    if (r->again && !lardsim_error(r->run))
        json_key_bool(&j, "same_again", same_again(r));
    json_key_str(&j, "output", written_to(r));
    run_machine_json(&j, r);
    lardsim_findings_json(&all, &j);
    lardsim_findings_free(&all);
    json_policies(&j, r);
    json_key_u64(&j, "groups", g->n);
    json_key_array(&j, "most_frequent");
    for (size_t i = 0; i < g->n && i < GROUPS_SHOWN; i++)
        json_group(&j, g, &g->group[i]);
    json_end(&j);
    json_end(&j);
}
