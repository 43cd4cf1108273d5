/* spec.h - for tests: what a generated stream is asked for as a user writes it, drawn by a seed. */
#ifndef LARDSIM_TESTS_SYNTH_SPEC_H
#define LARDSIM_TESTS_SYNTH_SPEC_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/synth/synth_int.h"

/* A value for each parameter: per mille ones are often 0 or 1000, numbers small, fewer events than
 * `events`. Owned by the caller. */
static inline char *synth_spec_draw(struct rng *rng, uint64_t events)
{
    char *spec = xstrdup("");

    for (const struct param *row = synth_param_rows; row->name; row++) {
        uint64_t value = row->max == 1000 ? rng_below(rng, 1501) : rng_below(rng, 12);
        const char *text = rng_chance(rng, 1, 2) ? "on" : "off", *choice = "";
        if (row->max == 1000 && value > 1000)
            value = value > 1400 ? 1000 : value > 1200 ? 0 : value - 1000;
        if (!strcmp(row->name, "events"))
            value = rng_below(rng, events);
        if (!strcmp(row->name, "granularity"))
            value = UINT64_C(1) << rng_below(rng, 4);
        if (row->type == PARAM_U64 && value < row->min)
            value = row->min;
        if (!strcmp(row->name, "raw") && rng_chance(rng, 1, 2))
            text = "off";
        for (uint64_t n = 1; row->choices && row->choices[n - 1]; n++)
            if (rng_below(rng, n) == 0)
                choice = row->choices[n - 1];
        char *longer = row->type == PARAM_U64
                           ? xasprintf("%s%s=%llu,", spec, row->name, (unsigned long long)value)
                           : xasprintf("%s%s=%s,", spec, row->name, row->choices ? choice : text);
        free(spec);
        spec = longer;
    }
    spec[strlen(spec) - 1] = '\0';
    return spec;
}

#endif
