/* gap.c - the instructions between two accesses of the program, as a table that each thread goes
 * round in, from a place of its own. Its sum is exact, whatever the mean. By default they are
 * geometric: an instruction is an access with the same chance wherever it stands. So accesses come
 * in bursts, as the loads and stores of a basic block do, with few long pauses between. */
#include "workloads/vm/vm_int.h"

/* Each entry gets its share of what is left of the sum. */
static void fill_even(uint32_t gap[VM_GAPS], uint64_t total)
{
    for (uint64_t i = 0; i < VM_GAPS; i++) {
        gap[i] = (uint32_t)(total / (VM_GAPS - i));
        total -= gap[i];
    }
}

/* The quantiles, ascending: by multiplication alone, which is the same on every host. What the
 * last ones lack for the sum goes to them in turn. */
static void fill_geometric(uint32_t gap[VM_GAPS], uint64_t total)
{
    const double mean = (double)total / VM_GAPS, stays = mean / (1 + mean);
    double beyond = stays; /* the chance of more than k */
    uint64_t sum = 0;
    uint32_t k = 0;

    for (uint64_t i = 0; i < VM_GAPS; i++) {
        while (1 - beyond < ((double)i + 0.5) / VM_GAPS) {
            beyond *= stays;
            k++;
        }
        gap[i] = k;
        sum += k;
    }
    for (uint64_t i = VM_GAPS; sum < total; sum++)
        gap[i = i ? i - 1 : VM_GAPS - 1]++;
    for (uint64_t i = VM_GAPS - 1; sum > total; sum--)
        gap[i--]--;
}

/* Shuffles the gaps by a seed that is always the same. */
static void shuffle(uint32_t gap[VM_GAPS])
{
    struct rng r;

    rng_seed(&r, VM_GAPS);
    for (uint32_t i = VM_GAPS; i > 1; i--) {
        const uint32_t other = (uint32_t)rng_below(&r, i), was = gap[i - 1];
        gap[i - 1] = gap[other];
        gap[other] = was;
    }
}

void vm_gaps_open(struct vm *v)
{
    const uint64_t one = 100, all = (v->p.instructions + one) * v->p.slower / 100;
    const uint64_t total = all > one ? (all - one) * VM_GAPS / 100 : 0;

    if (v->p.gap_spread == VM_GEOMETRIC) {
        fill_geometric(v->core.more, total);
        shuffle(v->core.more);
    } else {
        fill_even(v->core.more, total);
    }
    for (size_t i = 0; i < VM_GAPS; i++)
        v->core.more[i] -= VM_GAP; /* if this is less than none, so are all that follow */
}
