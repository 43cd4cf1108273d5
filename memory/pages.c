/* pages.c - first-touch pages: the n-th page that is touched gets the n-th frame of a seeded
 * permutation of all frames. So colours are random and no frame is used twice, and a page that is
 * never touched takes nothing. */
#include "memory/pages.h"

#include "base/rng.h"

static const char *const mapping_choices[] = {"identity", "first-touch", NULL};

const struct param pages_param_rows[] = {
#define PARAMS_DEF "memory/pages_params.def"
#define PARAMS_OF  struct pages_params
#include "base/param_rows.h"
};

static int power_of_two(const char *name, uint64_t v, struct err *e)
{
    if (is_power_of_2(v))
        return 0;
    return err_set(e, LARD_CONFIG, "pages.%s: %llu is no power of two; give one, as 4096", name,
                   (unsigned long long)v);
}

int pages_init(struct pages *p, const struct pages_params *params, struct stats_group *g,
               struct err *e)
{
    struct rng rng;

    *p = (struct pages){.params = *params};
    map_init(&p->frame, NULL);
    if (power_of_two("size", params->size, e) || power_of_two("memory", params->memory, e))
        return -1;
    if (params->memory / params->size < 16)
        return err_set(e, LARD_CONFIG,
                       "pages.memory: %llu bytes are fewer than 16 pages of pages.size (%llu); "
                       "raise it",
                       (unsigned long long)params->memory, (unsigned long long)params->size);
    p->shift = (unsigned)__builtin_ctzll(params->size);
    p->offset = params->size - 1;
    p->near_shift = p->shift;
    p->within = p->offset;
    p->bits = (unsigned)__builtin_ctzll(params->memory) - p->shift;
    rng_seed(&rng, params->seed);
    for (size_t i = 0; i < ARRAY_SIZE(p->keys); i++)
        p->keys[i] = rng_next(&rng);
    stats_count(g, "touched", "pages", "Pages touched.", &p->touched);
    return 0;
}

void pages_count_lines(struct pages *p, uint64_t line, const uint64_t *no_lines)
{
    const uint64_t most = PAGES_LINES * line,
                   stretch = p->params.size < most ? p->params.size : most;

    p->near_shift = (unsigned)__builtin_ctzll(stretch);
    p->within = stretch - 1;
    p->no_lines = no_lines;
}

void pages_forget_lines(struct pages *p)
{
    for (size_t i = 0; i < PAGES_NEAR; i++)
        p->near[i].lines = p->no_lines;
}

void pages_account(struct pages *p, struct budget *b)
{
    map_init(&p->frame, b);
}

void pages_free(struct pages *p)
{
    map_free(&p->frame);
}

/* A permutation of 0 .. 2^bits - 1: a Feistel network of two unequal halves, alternating. Each step
 * can be undone, so no two numbers meet; no table of frames is needed. */
static uint64_t permute(const struct pages *p, uint64_t n)
{
    const unsigned low = p->bits / 2, high = p->bits - low;
    uint64_t l = n & ((UINT64_C(1) << low) - 1), h = n >> low;

    for (size_t i = 0; i < ARRAY_SIZE(p->keys); i += 2) {
        h ^= ((l ^ p->keys[i]) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - high);
        l ^= ((h ^ p->keys[i + 1]) * UINT64_C(0xbf58476d1ce4e5b9)) >> (64 - low);
    }
    return h << low | l;
}

/* Returns the address at which the page's frame begins. */
static sim_addr frame_of(struct pages *p, uint64_t page)
{
    uint64_t *frame = map_put(&p->frame, page);

    if (!*frame) /* beyond the memory there is, frames are shared */
        *frame = permute(p, p->touched++ & ((UINT64_C(1) << p->bits) - 1)) + 1;
    return (*frame - 1) << p->shift;
}

void pages_place(struct pages *p, uint64_t stretch)
{
    const sim_addr at = stretch << p->near_shift;

    p->near[pages_slot(stretch)] = (struct pages_near){
        .stretch = stretch + 1,
        .base = paddr_of(p->params.mapping == PAGES_IDENTITY
                             ? at
                             : frame_of(p, at >> p->shift) | (at & p->offset)),
        .lines = p->no_lines,
    };
}
