/* report.c - what was measured beside what was predicted: the page, and the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "results/read/estimate.h"
#include "results/validate/validate.h"
#include "sim/lardsim.h"

enum { WITHIN = 30, WIDE = 20 }; /* percent: the aim; a spread that is warned of */

/* Predicted by measured, less 1. */
static double outcome_error(const struct pairing *o)
{
    return o->predicted.slowdown / o->measured.slowdown.median - 1;
}

static bool is_wide(const struct pairing *o)
{
    const struct sampled *s = &o->measured.slowdown;

    return (s->most - s->least) * 100 > WIDE * s->median;
}

struct summary summary_of(const struct pairing *o, size_t n)
{
    double *measured = xcalloc(n + 1, sizeof *measured),
           *predicted = xcalloc(n + 1, sizeof *predicted);
    struct summary s = {.rank = 0};

    for (size_t i = 0; i < n; i++) {
        measured[i] = o[i].measured.slowdown.median;
        predicted[i] = o[i].predicted.slowdown;
        s.within += fabs(outcome_error(&o[i])) * 100 <= WITHIN;
    }
    const double rank = n > 2 ? rank_correlation(measured, predicted, n) : NAN;
    s.rank = isnan(rank) ? 0 : rank;
    free(measured);
    free(predicted);
    return s;
}

/* ---- the page ------------------------------------------------------------------------------- */

void report_page(FILE *out, const struct host_facts *h, const struct pairing *o, size_t n)
{
    const struct summary s = summary_of(o, n);
    size_t wide = 0;

    fprintf(out, "%s, %u processors, a cycle of %.3f ns\n\n", *h->model ? h->model : "this host",
            h->cores, h->value[HOST_CYCLE].least);
    fprintf(out, "%-10s %7s %12s %12s %10s %19s %10s %8s\n", "program", "threads", "plain us",
            "tsan us", "measured", "least to most", "predicted", "error");
    for (size_t i = 0; i < n; i++) {
        const struct timing *m = &o[i].measured;
        fprintf(out, "%-10s %7u %12.1f %12.1f %9.2fx %8.2fx to %6.2fx %9.2fx %+7.0f%%%s\n",
                o[i].name, o[i].threads, m->time[BUILD_PLAIN].median / 1000,
                m->time[BUILD_TSAN].median / 1000, m->slowdown.median, m->slowdown.least,
                m->slowdown.most, o[i].predicted.slowdown, 100 * outcome_error(&o[i]),
                is_wide(&o[i]) ? " *" : "");
        wide += is_wide(&o[i]);
    }
    fprintf(out, "\n%zu of %zu within %d percent", s.within, n, WITHIN);
    if (n > 2)
        fprintf(out, "; rank correlation %.2f", s.rank);
    fprintf(out, "\n");
    if (wide)
        fprintf(out,
                "* measurements differ by more than %d percent: repeat them on a host that does "
                "nothing else\n",
                WIDE);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void put_spread(struct json *j, const char *key, const struct sampled *s)
{
    json_key_object(j, key);
    json_key_double(j, "median", "%.6g", s->median);
    json_key_double(j, "least", "%.6g", s->least);
    json_key_double(j, "most", "%.6g", s->most);
    json_end(j);
}

static void put_host(struct json *j, const struct tools *t, const struct host_facts *h)
{
    json_object(j);
    json_key_str(j, "model", h->model);
    json_key_u64(j, "processors", h->cores);
    JSON_TEXTS(j, {"compiler", t->version}, {"runtime", t->generation});
    json_key_array(j, "caches");
    for (unsigned i = 0; i < CACHE_LEVELS; i++) {
        if (!h->cache[i].size)
            continue;
        json_object(j);
        JSON_COUNTS(j, {"level", i + 1}, {"bytes", h->cache[i].size}, {"ways", h->cache[i].ways},
                    {"line", h->cache[i].line}, {"shared_by", h->cache[i].cores});
        json_end(j);
    }
    json_end(j);
    json_key_object(j, "measured");
    for (unsigned i = 0; i < HOST_VALUES; i++)
        if (h->value[i].median > 0)
            put_spread(j, host_value_name[i], &h->value[i]);
    json_end(j);
    json_end(j);
}

static void put_machine(struct json *j, const struct host_facts *h)
{
    struct host_setting set[HOST_SETTINGS];
    const size_t n = host_settings(h, 1, set);

    json_array(j);
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(set[i].text, "cores=", 6))
            continue; /* the threads of each program */
        json_object(j);
        JSON_TEXTS(j, {"set", set[i].text}, {"basis", set[i].basis}, {"source", set[i].source});
        json_end(j);
    }
    json_end(j);
}

static void put_outcome(struct json *j, const struct pairing *o)
{
    static const char *const time[2] = {"plain", "tsan"};

    json_object(j);
    json_key_str(j, "program", o->name);
    JSON_COUNTS(j, {"threads", o->threads}, {"runs", o->measured.runs});
    json_key_object(j, "nanoseconds");
    for (unsigned b = 0; b < 2; b++)
        put_spread(j, time[b], &o->measured.time[b]);
    json_end(j);
    put_spread(j, "measured", &o->measured.slowdown);
    json_key_double(j, "predicted", "%.6g", o->predicted.slowdown);
    json_key_double(j, "error", "%.6g", outcome_error(o));
    json_key_bool(j, "wide", is_wide(o));
    JSON_COUNTS(j, {"events", o->predicted.events}, {"races", o->predicted.races});
    json_key_object(j, "cycles");
    json_key_double(j, "none", "%.6g", o->predicted.plain);
    json_key_double(j, "tsan", "%.6g", o->predicted.tsan);
    json_end(j);
    json_end(j);
}

void report_json(FILE *out, const struct tools *t, const struct host_facts *h,
                 const struct pairing *o, size_t n)
{
    const struct summary s = summary_of(o, n);
    struct json j;

    json_page(&j, out, "lardsim-validate-1");
    json_key_str(&j, "lardsim", lardsim_version());
    json_key(&j, "host");
    put_host(&j, t, h);
    json_key(&j, "machine");
    put_machine(&j, h);
    json_key_array(&j, "programs");
    for (size_t i = 0; i < n; i++)
        put_outcome(&j, &o[i]);
    json_end(&j);
    json_key_object(&j, "summary");
    JSON_COUNTS(&j, {"programs", n}, {"within_30_percent", s.within});
    json_key_double(&j, "rank_correlation", "%.6g", n > 2 ? s.rank : NAN);
    json_end(&j);
    json_end(&j);
}

/* Prints the host as a configuration file. */
void report_machine(FILE *out, const struct host_facts *h, unsigned threads)
{
    struct host_setting set[HOST_SETTINGS];
    const size_t n = host_settings(h, threads, set);

    fprintf(out, "# %s\nmachine: multicore\n", *h->model ? h->model : "this host");
    for (size_t i = 0; i < n; i++) {
        const char *equal = strchr(set[i].text, '=');
        fprintf(out, "%.*s: %-10s # %s: %s\n", (int)(equal - set[i].text), set[i].text, equal + 1,
                set[i].basis, set[i].source);
    }
}
