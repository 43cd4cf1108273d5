/* t_pause.c - does what a collector did at once come out as events that can follow each other, with
 * each object's history where the object is? The oracle moves all objects at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "capture/pause.h"
#include "tests/frame/mutant_arg.h"

/* A heap of so many words of 8 bytes; what an object's word holds is told apart by a number. */
enum { WORDS = 64, WORD = 8, ASIDE_WORDS = 4 * WORDS, BASE = 0x1000 };

struct heap {
    uint64_t word[WORDS], aside[ASIDE_WORDS]; /* 0: clear */
};

static uint64_t *word_at(struct heap *h, sim_addr addr)
{
    const uint64_t far = UINT64_C(0x7fff000000000000);

    if (addr >= far)
        return &h->aside[(addr - far) / WORD];
    return &h->word[(addr - BASE) / WORD];
}

/* As docs/events.md says: a snapshot, and the destination is cleared before it is put there. What
 * is copied to must have been clear, outside of the source itself. */
static void play(struct heap *h, const struct event *ev)
{
    const uint64_t n = ev->aux / WORD;
    uint64_t taken[WORDS];

    if (ev->kind == EV_COPY)
        for (uint64_t i = 0; i < n; i++)
            taken[i] = *word_at(h, ev[1].addr + i * WORD);
    for (uint64_t i = 0; (ev->kind == EV_CLEAR || ev->kind == EV_COPY) && i < n; i++) {
        const sim_addr at = ev->addr + i * WORD;
        if (ev->kind == EV_COPY && *word_at(h, at) &&
            !(at >= ev[1].addr && at < ev[1].addr + ev->aux))
            fail_msg("a copy goes over word %u, which is in use", (unsigned)((at - BASE) / WORD));
        *word_at(h, at) = ev->kind == EV_COPY ? taken[i] : 0;
    }
}

static void one(struct rng *r, struct pause *p)
{
    struct heap now, want;
    uint64_t mark = 1;
    unsigned order[WORDS], objects = 0, at[WORDS], words[WORDS], to = 0;

    memset(&now, 0, sizeof now);
    memset(&want, 0, sizeof want);
    /* Objects lie one behind the other, with gaps. */
    for (unsigned w = 0; w < WORDS;) {
        const unsigned n = 1 + (unsigned)rng_below(r, 4);
        if (w + n > WORDS)
            break;
        if (rng_chance(r, 3, 4)) {
            at[objects] = w;
            words[objects++] = n;
            for (unsigned i = 0; i < n; i++)
                now.word[w + i] = mark++;
        }
        w += n;
    }
    for (unsigned i = 0; i < objects; i++)
        order[i] = i;
    for (unsigned i = objects; i > 1; i--) {
        const unsigned j = (unsigned)rng_below(r, i), keep = order[i - 1];
        order[i - 1] = order[j];
        order[j] = keep;
    }
    /* Survivors are packed in any order; at times in that in which they lay, as a compaction does.
     */
    const bool slides = rng_chance(r, 1, 2);
    pause_begin(p, 3);
    for (unsigned i = 0; i < objects; i++) {
        const unsigned o = slides ? i : order[i];
        const sim_addr from = BASE + (sim_addr)at[o] * WORD;
        if (rng_chance(r, 1, 4)) {
            pause_freed(p, 3, from, (uint64_t)words[o] * WORD);
            continue;
        }
        memcpy(&want.word[to], &now.word[at[o]], words[o] * sizeof *want.word);
        if (to != at[o])
            pause_moved(
                p, &(struct move){BASE + (sim_addr)to * WORD, from, (uint64_t)words[o] * WORD});
        to += words[o];
    }
    pause_end(p, 3);
    size_t events = 0;
    for (size_t i = 0; i < p->records; i += event_records(&p->rec[i]), events++) {
        const char *what;
        if (event_well_formed(&p->rec[i], &what))
            fail_msg("an event that is none: %s", what);
        assert_int_equal(p->rec[i].tid, 3);
        play(&now, &p->rec[i]);
    }
    assert_int_equal(events, p->events);
    assert_int_equal(p->rec[0].kind, EV_GC_BEGIN);
    assert_int_equal(p->rec[p->records - 1].kind, EV_GC_END);
    if (memcmp(now.word, want.word, sizeof now.word))
        fail_msg("histories are not where their objects went");
    for (size_t i = 0; i < ASIDE_WORDS; i++)
        if (now.aside[i])
            fail_msg("a place aside is still in use after the pause");
}

static void histories_go_where_objects_went(void **state)
{
    struct pause p = {.move = NULL};
    struct rng r;

    (void)state;
    rng_seed(&r, 17);
    for (unsigned i = 0; i < 20000; i++)
        one(&r, &p);
    pause_free(&p);
}

static void two_that_change_places_need_a_third(void **state)
{
    struct pause p = {.move = NULL};
    struct heap h = {.word = {1, 2}};

    (void)state;
    pause_begin(&p, 0);
    pause_moved(&p, &(struct move){BASE, BASE + WORD, WORD});
    pause_moved(&p, &(struct move){BASE + WORD, BASE, WORD});
    pause_end(&p, 0);
    for (size_t i = 0; i < p.records; i += event_records(&p.rec[i]))
        play(&h, &p.rec[i]);
    assert_int_equal(h.word[0], 2);
    assert_int_equal(h.word[1], 1);
    pause_free(&p);
}

static void many_in_a_row_take_no_stack(void **state)
{
    struct pause p = {.move = NULL};
    const size_t n = 300000;

    (void)state;
    pause_begin(&p, 0);
    for (size_t i = 0; i < n; i++) /* each goes where the next one lay */
        pause_moved(&p, &(struct move){BASE + (i + 1) * WORD, BASE + i * WORD, WORD});
    pause_end(&p, 0);
    assert_int_equal(p.events, 2 + 2 * n);
    assert_int_equal(p.rec[1].addr, BASE + n * WORD);
    pause_free(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_go_where_objects_went),
        cmocka_unit_test(two_that_change_places_need_a_third),
        cmocka_unit_test(many_in_a_row_take_no_stack),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
