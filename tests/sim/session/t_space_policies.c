/* t_space_policies.c - does every policy's space follow from its own count of metadata? A program
 * allocates, copies and clears at random, and collects its heap. The test marks each byte of the
 * heap by itself, and after each full collection reads what the policy says that its metadata take:
 * in software metadata.live, in hardware manager.bytes. From these alone it computes
 * docs/layout.md, "Space". A policy that counts no metadata has no space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "sim/session/session.h"

enum { HEAP = 1 << 16, OBJECTS = 128, THREADS = 3, STEPS = 1500, EVERY = 300 };
static const uint64_t base = 0x100000;

struct program {
    struct lardsim *l;
    const char *policy;
    uint64_t random;
    bool lives[HEAP];
    struct object {
        uint64_t at, bytes;
    } object[OBJECTS];
    size_t objects;
    uint64_t next; /* place */
    /* After full collections. */
    uint64_t looks, heap_most, metadata_most, most, heap_sum, metadata_sum;
    bool has_metadata;
};

static uint64_t draw(struct program *p, uint64_t below)
{
    p->random = p->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (p->random >> 33) % below;
}

static void push(struct program *p, struct lardsim_event ev)
{
    if (lardsim_event(p->l, &ev))
        fail_msg("%s: %s", p->policy, lardsim_error(p->l));
}

static void mark(struct program *p, uint64_t at, uint64_t bytes, bool lives)
{
    memset(&p->lives[at - base], lives, bytes);
}

static uint64_t place(struct program *p, uint64_t bytes)
{
    if (p->next + bytes > HEAP)
        p->next = 0;
    for (uint64_t i = 0; i < bytes; i++)
        if (p->lives[p->next + i]) {
            p->next += i + 16 - i % 16;
            return place(p, bytes);
        }
    p->next += bytes;
    return base + p->next - bytes;
}

static void allocate(struct program *p)
{
    const uint64_t bytes = 16 + 16 * draw(p, 12);

    if (p->objects == OBJECTS)
        return;
    struct object *o = &p->object[p->objects++];
    *o = (struct object){place(p, bytes), bytes};
    push(p, (struct lardsim_event){.kind = LARDSIM_ALLOC, .addr = o->at, .aux = bytes});
    mark(p, o->at, bytes, true);
}

static void clear(struct program *p, uint64_t at, uint64_t bytes)
{
    push(p, (struct lardsim_event){.kind = LARDSIM_CLEAR, .addr = at, .aux = bytes});
    mark(p, at, bytes, false);
}

/* Some objects move, some die. A nursery's collection is none that is looked at. */
static void collect(struct program *p, bool full)
{
    const uint16_t flags = full ? 0 : LARDSIM_NURSERY;

    push(p, (struct lardsim_event){.kind = LARDSIM_GC_BEGIN, .flags = flags});
    for (size_t i = p->objects; i-- > 0;) {
        struct object *o = &p->object[i];
        const uint64_t fate = draw(p, 3);
        if (fate == 0)
            continue;
        const struct object was = *o;
        if (fate == 1) {
            o->at = place(p, o->bytes);
            push(p, (struct lardsim_event){
                        .kind = LARDSIM_COPY, .addr = o->at, .addr2 = was.at, .aux = o->bytes});
            mark(p, o->at, o->bytes, true);
        } else {
            *o = p->object[--p->objects];
        }
        clear(p, was.at, was.bytes);
    }
    push(p, (struct lardsim_event){.kind = LARDSIM_GC_END, .flags = flags});
}

/* False: the policy has no such statistic. */
static bool value(const struct program *p, const char *name, uint64_t *v)
{
    char *full = xasprintf("policy.p.%s", name);
    const bool known = !lardsim_stat(p->l, full, v);

    free(full);
    return known;
}

static bool metadata(const struct program *p, bool peak, uint64_t *bytes)
{
    return value(p, peak ? "metadata.peak" : "metadata.live", bytes) ||
           value(p, peak ? "manager.bytes-peak" : "manager.bytes", bytes);
}

static void look(struct program *p)
{
    uint64_t heap = 0, bytes = 0;

    for (size_t i = 0; i < HEAP; i++)
        heap += p->lives[i];
    p->has_metadata |= metadata(p, false, &bytes);
    p->looks++;
    p->heap_most = heap > p->heap_most ? heap : p->heap_most;
    p->metadata_most = bytes > p->metadata_most ? bytes : p->metadata_most;
    p->most = heap + bytes > p->most ? heap + bytes : p->most;
    p->heap_sum += heap;
    p->metadata_sum += bytes;
}

static void run(struct program *p)
{
    for (uint16_t t = 1; t < THREADS; t++)
        push(p, (struct lardsim_event){.kind = LARDSIM_FORK, .aux = t});
    for (unsigned i = 1; i <= STEPS; i++) {
        const struct object *o = p->objects ? &p->object[draw(p, p->objects)] : NULL;
        if (!o || draw(p, 8) == 0)
            allocate(p);
        else
            push(p, (struct lardsim_event){.kind = draw(p, 3) ? LARDSIM_READ : LARDSIM_WRITE,
                                           .thread = (uint16_t)draw(p, THREADS),
                                           .addr = o->at + 4 * draw(p, o->bytes / 4),
                                           .size = 4});
        if (i % EVERY == EVERY / 2)
            collect(p, false);
        if (i % EVERY)
            continue;
        collect(p, true);
        look(p);
    }
}

static void must_be(const struct program *p, const char *name, uint64_t wanted)
{
    uint64_t v;

    if (!value(p, name, &v))
        fail_msg("%s counts metadata, and has no %s", p->policy, name);
    if (v != wanted)
        fail_msg("%s: %s is %llu; by its own metadata it is %llu", p->policy, name,
                 (unsigned long long)v, (unsigned long long)wanted);
}

static uint64_t permille(uint64_t part, uint64_t of)
{
    return (part * 1000 + of / 2) / of;
}

static void held_to_the_definition(const struct program *p)
{
    must_be(p, "space.collections", p->looks);
    must_be(p, "space.heap", p->heap_most);
    must_be(p, "space.metadata", p->metadata_most);
    must_be(p, "space.total", p->most);
    must_be(p, "space.overhead", permille(p->most - p->heap_most, p->heap_most));
    must_be(p, "space.mean-heap", p->heap_sum / p->looks);
    must_be(p, "space.mean-metadata", p->metadata_sum / p->looks);
    must_be(p, "space.mean-overhead", permille(p->metadata_sum, p->heap_sum));
    if (!p->metadata_most)
        fail_msg("%s has no metadata after a collection, which tests nothing", p->policy);
}

/* True: the policy counts metadata. */
static bool holds(const char *policy)
{
    struct program *p = xcalloc(1, sizeof *p);
    char *spec = xasprintf("policies=p=%s", policy);
    uint64_t unused;

    p->l = lardsim_new();
    p->policy = policy;
    p->random = 7;
    const char *const settings[] = {spec, "machine=multicore", "order=recorded", "granularity=4"};
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
        if (lardsim_set(p->l, settings[i]))
            fail_msg("%s: %s", policy, lardsim_error(p->l));
    if (lardsim_start(p->l))
        fail_msg("%s: %s", policy, lardsim_error(p->l));
    run(p);
    if (lardsim_finish(p->l))
        fail_msg("%s: %s", policy, lardsim_error(p->l));
    const bool has = p->has_metadata;
    if (has)
        held_to_the_definition(p);
    else if (value(p, "space.total", &unused))
        fail_msg("%s has a space, and counts no metadata", policy);
    lardsim_free(p->l);
    free(spec);
    free(p);
    return has;
}

static void space_follows_from_live_bytes(void **state)
{
    size_t counted = 0, all = 0;

    (void)state;
    for (const struct policy *const *p = policies; *p; p++, all++)
        counted += holds((*p)->name);
    /* All but none, and the language runtime alone. */
    assert_int_equal(counted, all - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(space_follows_from_live_bytes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
