/* draw.c - see draw.h. What a seed draws stays the same: tests/mutants/ counts on it. */
#include "tests/frame/draw.h"

#include <inttypes.h>
#include <string.h>

/* ---- random parameters ---------------------------------------------------------------------- */

uint64_t draw_between(struct rng *r, uint64_t low, uint64_t high)
{
    return low + rng_below(r, high - low + 1);
}

uint64_t draw_share(struct rng *r, uint64_t most)
{
    return rng_below(r, 3) ? draw_between(r, 0, most) : 0;
}

static void draw_program(struct rng *r, struct synth_params *p)
{
    p->events = draw_between(r, 60, 400);
    p->threads = draw_between(r, 2, 6);
    p->fork = (uint32_t)rng_below(r, 3);
    p->end_share = draw_share(r, 60);
    p->ends = rng_below(r, 2);
    p->run_max = draw_between(r, 1, 8);
    p->gap_max = 0;
    p->kernel_threads = draw_share(r, 4);
    p->names = false;
    p->marks = rng_below(r, 4) == 0;
    p->raw = rng_below(r, 8) == 0;
    p->sites = draw_between(r, 0, 20);
    p->site_share = draw_share(r, 1000);
}

static void draw_memory(struct rng *r, struct synth_params *p)
{
    static const uint64_t stride[] = {1, 2, 4, 8, 16};

    p->variables = draw_between(r, 1, 12);
    p->privates = draw_between(r, 1, 3);
    p->fields = draw_between(r, 1, 4);
    p->stride = stride[rng_below(r, ARRAY_SIZE(stride))];
    p->sizes = (uint32_t)draw_between(r, 1, 31);
    p->unaligned = draw_share(r, 500);
    p->granularity = UINT64_C(1) << rng_below(r, 4);
    p->read_share = draw_between(r, 200, 800);
    p->sharing = draw_between(r, 500, 1000);
    p->discipline = draw_between(r, 0, 1000);
    p->racy = draw_share(r, 300);
    p->system_share = draw_share(r, 500);
    p->flag_share = draw_share(r, 200);
    p->heap_share = draw_share(r, 300);
    p->gc_share = draw_share(r, 300);
    p->allocs = rng_below(r, 2);
}

static void draw_sync(struct rng *r, struct synth_params *p)
{
    p->atomics = draw_share(r, 4);
    p->locks = draw_between(r, 0, 4);
    p->volatiles = draw_share(r, 2);
    p->barriers = draw_share(r, 2);
    p->classes = draw_share(r, 3);
    p->sync_share = draw_between(r, 50, 700);
    p->rw_share = draw_share(r, 800);
    p->nested_share = draw_share(r, 700);
    p->wait_share = draw_share(r, 300);
    p->txn_share = draw_share(r, 300);
}

struct synth_params draw_params(struct rng *r, uint64_t seed)
{
    struct synth_params p;
    struct err e = {0};

    if (synth_parse(&p, "", &e))
        die("%s", e.text);
    p.seed = seed;
    draw_program(r, &p);
    draw_memory(r, &p);
    draw_sync(r, &p);
    p.c11 = seed % 3 * 500; /* nothing is drawn for it, so that older seeds draw what they did */
    return p;
}

struct synth_params draw_regions(struct rng *r, uint64_t seed)
{
    struct synth_params p = draw_params(r, seed);

    if (rng_below(r, 2))
        return p;
    p.sync_share = draw_between(r, 0, 60);
    p.variables = draw_between(r, 1, 40);
    p.discipline = draw_between(r, 0, 500);
    p.read_share = draw_between(r, 500, 990);
    p.run_max = draw_between(r, 1, 30);
    p.atomics = rng_below(r, 2) ? 0 : p.atomics;
    return p;
}

struct synth_params draw_atomics(struct rng *r, uint64_t seed)
{
    struct synth_params p = draw_params(r, seed);

    p.raw = false;
    p.fields = 1;
    p.atomics = draw_between(r, 1, 4);
    p.variables = p.atomics + draw_between(r, 1, 3);
    p.sizes = rng_below(r, 4) ? 4 : p.sizes; /* 4 bytes */
    p.unaligned = 0;
    p.discipline = draw_between(r, 600, 1000);
    p.sharing = 1000;
    p.locks = rng_below(r, 2);
    p.volatiles = p.barriers = 0;
    p.sync_share = draw_between(r, 0, 60);
    p.txn_share = draw_share(r, 30);
    p.c11 = rng_below(r, 2) ? 1000 : draw_between(r, 0, 999);
    return p;
}

struct synth_params draw_arrays(struct rng *r, uint64_t seed)
{
    struct synth_params p = draw_params(r, seed);

    p.raw = false;
    p.fields = draw_between(r, 2, 40);
    p.variables = p.fields * draw_between(r, 2, 8);
    p.stride = rng_below(r, 2) ? 4 : 8;
    p.sizes = (uint32_t)p.stride; /* of that many bytes */
    p.unaligned = 0;
    p.sharing = draw_between(r, 800, 1000);
    p.run_max = draw_between(r, 5, 40);
    p.atomics = 0;
    p.sync_share = draw_between(r, 0, 100);
    p.discipline = draw_between(r, 0, 500);
    p.heap_share = draw_between(r, 1, 50);
    p.allocs = true;
    return p;
}

struct synth_params draw_barriers(struct rng *r, uint64_t seed)
{
    struct synth_params p = draw_params(r, seed);

    p.raw = false;
    p.variables = draw_between(r, 10, 60);
    p.sharing = 1000;
    p.read_share = draw_between(r, 700, 980);
    p.sync_share = draw_between(r, 30, 200);
    p.barriers = draw_between(r, 1, 3);
    p.locks = draw_between(r, 0, 1);
    p.volatiles = p.classes = p.atomics = 0;
    return p;
}

static void print_names(const struct param *row, uint32_t value)
{
    const char *comma = "";

    for (uint32_t i = 0; row->choices[i]; i++)
        if (row->type == PARAM_SET ? value >> i & 1 : value == i) {
            printf("%s%s", comma, row->choices[i]);
            comma = ",";
        }
}

void draw_print(const struct synth_params *p)
{
    const char *before = "synth:";

    for (const struct param *row = synth_param_rows; row->name; row++, before = ",") {
        const void *field = (const char *)p + row->offset;
        printf("%s%s=", before, row->name);
        if (row->type == PARAM_U64)
            printf("%" PRIu64, *(const uint64_t *)field);
        else if (row->type == PARAM_BOOL)
            printf("%s", *(const bool *)field ? "on" : "off");
        else
            print_names(row, *(const uint32_t *)field);
    }
    printf("\n");
}

/* ---- streams -------------------------------------------------------------------------------- */

void draw_stream(struct stream *s, const struct synth_params *p)
{
    struct err e = {0};
    struct source *from = synth_open(p, &e);

    if (!from || stream_read(s, from, &e))
        die("%s", e.text);
    source_close(from);
}

bool stream_lawful(const struct stream *s, bool full)
{
    struct rules *r = rules_new(full);
    struct err e = {0};
    uint64_t number = 0;
    bool good = true;

    for (size_t i = 0; good && i < s->records; i += event_records(&s->rec[i]))
        good = rules_apply(r, &s->rec[i], number++, &e) == 0;
    rules_free(r);
    return good;
}

struct stream stream_without(const struct stream *s, size_t first, size_t count)
{
    struct stream less = {NULL, 0, 0, 0};
    size_t e = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]), e++)
        if (e < first || e - first >= count)
            stream_add(&less, &s->rec[i]);
    return less;
}

/* One event the runtime's instead of the program's, or the other way round. Not one half of passing
 * a barrier: whoever arrives for the program leaves for the program. */
static struct stream with_other_owner(const struct stream *s, size_t event)
{
    struct stream other = {NULL, 0, 0, 0};

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        const uint8_t kind = s->rec[i].kind;
        stream_add(&other, &s->rec[i]);
        if (other.events == event + 1 && kind != EV_BARRIER_ARRIVE && kind != EV_BARRIER_DEPART)
            other.rec[other.records - event_records(&s->rec[i])].flags ^= EVF_SYSTEM;
    }
    return other;
}

void draw_changes(struct rng *r, struct stream *s, bool full)
{
    for (uint64_t changes = draw_share(r, 12); changes > 0 && s->events; changes--) {
        const size_t event = rng_below(r, s->events);
        struct stream next = rng_below(r, 2) ? stream_without(s, event, 1 + rng_below(r, 4))
                                             : with_other_owner(s, event);
        struct stream drop = next;
        if (stream_lawful(&next, full)) {
            drop = *s;
            *s = next;
        }
        stream_free(&drop);
    }
}

void stream_minimise(struct stream *s, bool full,
                     bool (*differs)(const struct stream *s, const void *arg), const void *arg)
{
    bool shrunk = true;

    for (size_t piece = s->events / 2; piece > 0; piece = shrunk ? piece : piece / 2) {
        shrunk = false;
        for (size_t first = 0; first < s->events;) {
            struct stream less = stream_without(s, first, piece);
            if (stream_lawful(&less, full) && differs(&less, arg)) {
                stream_free(s);
                *s = less;
                shrunk = true;
            } else {
                stream_free(&less);
                first += piece;
            }
        }
    }
}
