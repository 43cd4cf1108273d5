/* base_program.c - what the parameters gap, interpreter and outside mean for a workload:
 * instructions between two accesses, from what is known of the program that it is or imitates. */
#include "workloads/workloads.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/* A kernel's accesses, as an optimising compiler makes them: an element's index is compared with
 * the length, and a branch taken or not. Low: the compiler has proved the bounds; high: the length
 * and the array are loaded anew, as they are spilled. The arithmetic is counted by the kernel. */
static const struct workload_gap of_kernels = {
    "compare and branch for an element's bounds; a kernel counts its arithmetic itself", 0, 200,
    400, false};

/* An instruction of compiled code is a bytecode, as at the low end of twins' gaps. Kaffe 1.1.6 runs
 * one in a loop around a switch (kaffevm/intrp/machine.c, kaffe.def): 12 instructions, and 4 (a
 * local is pushed) to 10 (an element is loaded) of its own. The jump of the switch is mispredicted
 * in 50 to 98 percent of the cases (Ertl and Gregg, PLDI 2003), which costs a Pentium 4 its
 * pipeline of 20 (Northwood) to 31 stages (Prescott), three instructions wide. That getfield looks
 * its field up by name each time is left out. */
const struct workload_gap workload_interpreter = {
    "16 to 22 instructions and a mispredicted jump in every second bytecode or in each (Kaffe "
    "1.1.6)",
    1600 + 50 * 20 * 3, 0, 2200 + 98 * 31 * 3, false};

/* The most that Goldilocks' Table 1 has for a program, interpreted to compiled, in tenths of a
 * second: sor2. All of its time is taken to be bytecodes. With a larger ratio the shares below were
 * at most 6 percent smaller. */
static const struct workload_times all_bytecodes = {6, 112};

const struct workload_gap *workload_gap(const struct workload *w)
{
    return w->gap ? w->gap : &of_kernels;
}

/* The middle of a range without a better one: geometric, as its ends differ by a factor. */
uint64_t workload_gap_middle(const struct workload_gap *g)
{
    const double low = (double)g->low + 100, high = (double)g->high + 100;

    return g->middle ? g->middle : (uint64_t)(sqrt(low * high) + 0.5) - 100;
}

/* Returns the share of the interpreted time that is no bytecodes, in hundredths of a percent.
 * Waiting, native code and the collector take the same time in both tiers. With r as the ratio of
 * bytecodes alone, their time is interpreted - (interpreted - compiled) r / (r - 1). A difference
 * below the printed digit counts as that digit. */
uint64_t workload_outside(const struct workload *w)
{
    const struct workload_times *t = &w->took, *most = &all_bytecodes;

    if (!t->interpreted)
        return 0;
    const uint64_t more = t->interpreted > t->compiled + 1 ? t->interpreted - t->compiled : 1,
                   inside = 10000 * more * most->interpreted /
                            ((most->interpreted - most->compiled) * (uint64_t)t->interpreted);
    return inside < 10000 ? 10000 - inside : 0;
}

/* "9", "6.35": in hundredths. false: no such number, or it is above most. */
static bool hundredths(const char *text, uint64_t most, uint64_t *to)
{
    const char *at = text;
    uint64_t n = 0, scale = 100;

    for (; isdigit((unsigned char)*at) && n <= most; at++)
        n = 10 * n + (uint64_t)(*at - '0') * 100;
    if (at == text)
        return false;
    if (*at == '.' && isdigit((unsigned char)at[1]))
        for (at++; isdigit((unsigned char)*at) && (scale /= 10); at++)
            n += (uint64_t)(*at - '0') * scale;
    *to = n;
    return !*at && n <= most;
}

/* "low", "mid", "high", or a number. */
static bool of_range(const char *text, const struct workload_gap *g, uint64_t most, uint64_t *to)
{
    if (!strcmp(text, "low"))
        *to = g->low;
    else if (!strcmp(text, "mid"))
        *to = workload_gap_middle(g);
    else if (!strcmp(text, "high"))
        *to = g->high;
    else
        return hundredths(text, most, to);
    return true;
}

static int find_slower(const struct workload *w, struct vm_params *p, struct err *e)
{
    enum { MOST = 100000, ALL = 10000 };
    uint64_t outside = workload_outside(w);

    if (!of_range(p->interpreter, &workload_interpreter, MOST, &p->slower) || !p->slower)
        return err_set(e, LARD_CONFIG,
                       "interpreter: \"%.40s\" is none of low, mid, high, and no number from 0.01 "
                       "to 1000 with at most two decimals",
                       p->interpreter);
    if (strcmp(p->outside, "auto") && !hundredths(p->outside, ALL - 1, &outside))
        return err_set(e, LARD_CONFIG,
                       "outside: \"%.40s\" is neither auto nor a percentage from 0 to 99.99 with "
                       "at most two decimals",
                       p->outside);
    p->slower = p->tier == VM_COMPILED ? 100 : p->slower * ALL / (ALL - outside);
    return 0;
}

int workload_base_program(const struct workload *w, struct vm_params *p, struct err *e)
{
    if (!of_range(p->gap, workload_gap(w), 100000000, &p->instructions))
        return err_set(e, LARD_CONFIG,
                       "gap: \"%.40s\" is none of low, mid, high, and no number of instructions up "
                       "to 1000000 with at most two decimals",
                       p->gap);
    if (p->gap_spread == VM_SPREAD_AUTO)
        p->gap_spread = workload_gap(w)->geometric ? VM_GEOMETRIC : VM_EVEN;
    return find_slower(w, p, e);
}
