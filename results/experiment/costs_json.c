/* costs_json.c - what policies cost on their machines, as JSON, and the configuration of all runs.
 * docs/compare.md tells what the members mean. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "results/experiment/costs.h"

static void json_machine(struct json *j, const struct cost_table *t)
{
    json_key_object(j, "machine");
    JSON_COUNTS(j, {"cores", t->row[0].whole.cost[COST_CORES]}, {"frequency", t->frequency});
    JSON_TEXTS(j, {"order", t->order}, {"contention", t->contention}, {"memory-type", t->memory});
    json_end(j);
}

static void json_cycles(struct json *j, const char *key, const char *const *name,
                        const uint64_t *cycles, size_t n)
{
    json_key_object(j, key);
    for (size_t i = 0; i < n; i++)
        json_key_u64(j, name[i], cycles[i]);
    json_end(j);
}

/* Writes the truth of the row's own execution; null if all rows have the same events. */
static void json_truth(struct json *j, const struct own_truth *o)
{
    if (!o->known) {
        json_key_null(j, "truth");
        return;
    }
    json_key_object(j, "truth");
    json_key_str(j, "of", o->by_access ? "accesses" : "places");
    JSON_COUNTS(j, {"racy", o->racy}, {"false", o->is_false}, {"missed", o->missed});
    json_end(j);
}

static void json_bytes(struct json *j, const char *key, const uint64_t *bytes)
{
    json_key(j, key);
    bytes ? json_u64(j, *bytes) : json_null(j);
}

static void json_overheads(struct json *j, const struct cost_table *t, const struct costs *r)
{
    const struct run_time time = costs_time(t, r);

    json_key_str(j, overhead_measured_name, run_time_measured(&time));
    for (size_t i = 0; i < OVERHEADS; i++) {
        char *text = overhead_text(costs_overhead(t, r, (enum overhead_of)i));
        json_key(j, overhead_name[i]);
        *text ? json_number(j, text) : json_null(j);
        free(text);
    }
}

static void json_measured(struct json *j, const struct part_costs *m, const struct costs *r)
{
    JSON_COUNTS(j, {"cycles", m->cost[COST_CYCLES]}, {"cores-used", m->cost[COST_CORES_USED]});
    json_key_object(j, "races");
    JSON_COUNTS(j, {"accesses", m->cost[COST_RACES]}, {"sites", m->cost[COST_SITES]},
                {"locations", m->cost[COST_LOCATIONS]});
    json_end(j);
    json_key_object(j, "metadata-bytes");
    json_bytes(j, "live", r->has_bytes ? &m->cost[COST_BYTES] : NULL);
    json_bytes(j, "peak", r->has_bytes ? &m->cost[COST_BYTES_PEAK] : NULL);
    json_end(j);
    if (m->cost[COST_SPACE]) {
        json_key_object(j, "space");
        JSON_COUNTS(j, {"collections", m->cost[COST_SPACE_COLLECTIONS]},
                    {"heap", m->cost[COST_SPACE_HEAP]}, {"metadata", m->cost[COST_SPACE_METADATA]},
                    {"total", m->cost[COST_SPACE]});
        json_end(j);
    }
    JSON_COUNTS(j, {"metadata-accesses", m->cost[COST_METADATA]},
                {"metadata-misses", m->cost[COST_METADATA_MISSES]},
                {"remote-misses", m->cost[COST_REMOTE]},
                {"collection-cycles", m->cost[COST_COLLECTIONS]});
    json_cycles(j, "spent", cost_spent_name, m->spent, COST_SPENTS);
    if (r->has_manager)
        json_cycles(j, "handlers", hardware_part_name, m->hardware, HARDWARE_PARTS);
}

/* A millionth is enough. */
static void json_overhead(struct json *j, double overhead)
{
    isnan(overhead) ? json_null(j) : json_fixed(j, (uint64_t)((overhead + 1) * 1e6 + 0.5), 1000000);
}

/* "seeds", "lengths": each run's cycles to those of none, by policy. */
static void json_runs(struct json *j, const struct cost_table *t, const char *key,
                      const struct cost_runs *s, const char *value)
{
    json_key_array(j, key);
    for (size_t k = 0; k < s->n; k++) {
        json_object(j);
        json_key_u64(j, value, s->run[k].value);
        json_key_object(j, "cycles-to-none");
        for (size_t i = 0; i < t->n; i++) {
            json_key(j, t->row[i].label);
            json_overhead(j, s->run[k].overhead[i]);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

/* Writes estimates by policy, as cycles to those of none. */
static void json_estimates(struct json *j, const struct cost_table *t)
{
    json_key_object(j, "seeds-mean");
    for (size_t i = 0; i < t->n; i++) {
        const struct estimate s = cost_estimate_of(&t->seeds, i);
        json_key_object(j, t->row[i].label);
        json_key_double(j, "mean", "%.6f", 1 + s.mean);
        json_key_double(j, "low", "%.6f", 1 + s.mean - s.half);
        json_key_double(j, "high", "%.6f", 1 + s.mean + s.half);
        json_end(j);
    }
    json_end(j);
    json_key_bool(j, "seeds-change-nothing", cost_runs_same(&t->seeds, t->n));
}

static void json_course(struct json *j, const struct costs *r, const struct costs *none)
{
    double overhead[COURSE_PARTS];
    const bool known = course_overheads(r, none, overhead);

    json_key_array(j, "course");
    for (size_t k = 0; known && k < COURSE_PARTS; k++) {
        json_object(j);
        json_key_fixed(j, "part", (uint64_t)(course_part[k] * 1000), 1000);
        json_key(j, "cycles-to-none");
        json_overhead(j, overhead[k]);
        json_end(j);
    }
    json_end(j);
    if (known)
        json_key_bool(j, "settled", course_settled(overhead));
}

static void json_row(struct json *j, const struct cost_table *t, const struct costs *r)
{
    json_object(j);
    JSON_TEXTS(j, {"policy", r->label}, {"property", r->property});
    json_key_u64(j, "events", r->events);
    json_overheads(j, t, r);
    json_truth(j, &r->truth);
    if (t->region) {
        json_key_object(j, "region");
        json_measured(j, &r->region, r);
        json_end(j);
    } else {
        json_key_null(j, "region");
    }
    json_measured(j, &r->whole, r);
    json_course(j, r, &t->row[0]);
    lardsim_findings_json(&r->findings, j);
    json_key_hex16(j, "digest", r->digest);
    json_key_hex16(j, "behaviour", r->behaviour);
    json_end(j);
}

static void json_settings(struct json *j, const struct cost_table *t)
{
    json_key_object(j, "configuration");
    for (size_t i = 0; i < t->settings; i++)
        json_key_str(j, t->setting[i].name, t->setting[i].text);
    json_end(j);
}

/* A text in JSON is one in YAML. */
void cost_table_config(FILE *out, const struct cost_table *t)
{
    struct json j;

    fputs("# The complete configuration of these runs; `lardsim compare --config config.yaml` "
          "repeats them.\n",
          out);
    for (size_t i = 0; i < t->settings; i++) {
        json_init(&j, out, false);
        fprintf(out, "%s: ", t->setting[i].name);
        json_str(&j, t->setting[i].text);
        fputc('\n', out);
    }
}

void cost_table_json(FILE *out, const struct cost_table *t)
{
    struct json j;

    json_page(&j, out, "lardsim-costs-2");
    json_key_str(&j, "source", t->source);
    json_key_bool(&j, "planted-races", lardsim_source_plants(t->source));
    json_key_u64(&j, "events", t->row[0].events);
    json_key_str(&j, "error", t->error->code ? t->error->text : NULL);
    json_key_u64(&j, "exit", (uint64_t)t->error->code);
    json_key_str(&j, "output", t->output);
    json_machine(&j, t);
    json_settings(&j, t);
    json_key_array(&j, "policies");
    for (size_t i = 0; i < t->n; i++)
        json_row(&j, t, &t->row[i]);
    json_end(&j);
    if (t->lengths.n) {
        json_key_str(&j, "length", t->length);
        json_key_bool(&j, "converged", cost_runs_settled(&t->lengths, t->n));
        json_runs(&j, t, "lengths", &t->lengths, t->length);
    }
    if (t->seeds.n) {
        json_runs(&j, t, "seeds", &t->seeds, "seed");
        json_estimates(&j, t);
    }
    if (t->band.n)
        json_runs(&j, t, "band", &t->band, "unmodelled");
    json_end(&j);
}
