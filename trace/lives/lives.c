/* lives.c - which life of memory an address is in, by words of eight bytes. */
#include "trace/lives/lives.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PLACES (UINT64_C(1) << 62) /* beyond all addresses of programs */
enum { WORD = 8, PAGE_WORDS = 512 };

struct life_page {
    uint64_t word[PAGE_WORDS]; /* the word's place in its life; 0: the word itself */
};

void life_map_init(struct life_map *l)
{
    *l = (struct life_map){.next = PLACES};
}

void life_map_free(struct life_map *l)
{
    uint64_t key, *value;

    for (size_t at = 0; map_next(&l->page, &at, &key, &value);)
        free((void *)(uintptr_t)*value);
    map_free(&l->page);
}

/* ---- words ---------------------------------------------------------------------------------- */

static uint64_t word_of(const struct life_map *l, uint64_t word)
{
    const uint64_t *page = map_find(&l->page, word / PAGE_WORDS);

    return page ? ((const struct life_page *)(uintptr_t)*page)->word[word % PAGE_WORDS] : 0;
}

static void set_word(struct life_map *l, uint64_t word, uint64_t place)
{
    uint64_t *page = map_put(&l->page, word / PAGE_WORDS);

    if (!*page)
        *page = (uintptr_t)xcalloc(1, sizeof(struct life_page));
    ((struct life_page *)(uintptr_t)*page)->word[word % PAGE_WORDS] = place;
}

/* Words that the region has a byte of: objects do not share one. */
static void begin_life(struct life_map *l, sim_addr addr, uint64_t bytes)
{
    for (uint64_t w = addr / WORD; bytes && w <= (addr + bytes - 1) / WORD; w++) {
        set_word(l, w, l->next);
        l->next += WORD;
    }
    l->next += WORD; /* so that what is beside it in memory is not beside it here */
}

static void carry(struct life_map *l, sim_addr to, sim_addr from, uint64_t bytes)
{
    const uint64_t n = (bytes + WORD - 1) / WORD;
    uint64_t *was = xmalloc((n + 1) * sizeof *was);

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t place = word_of(l, from / WORD + i);
        was[i] = place ? place : from + i * WORD;
    }
    for (uint64_t i = 0; i < n; i++)
        set_word(l, to / WORD + i, was[i]);
    free(was);
}

sim_addr life_map_place(const struct life_map *l, sim_addr addr)
{
    const uint64_t place = word_of(l, addr / WORD);

    return place ? place + addr % WORD : addr;
}

void life_map_follow(struct life_map *l, const struct event *ev)
{
    if (ev->kind == EV_ALLOC || ev->kind == EV_CLEAR)
        begin_life(l, ev->addr, ev->aux);
    else if (ev->kind == EV_COPY)
        carry(l, ev->addr, ev[1].addr, ev->aux);
}
