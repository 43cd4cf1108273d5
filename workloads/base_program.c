/* base_program.c - what the parameters gap and interpreter mean for a workload: instructions
 * between two accesses, from what is known of the program that it is or imitates. */
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

/* Goldilocks, Table 1: interpreted by compiled time of its eleven programs, the median (tsp), least
 * (philo) and most (sor2). */
enum { MEDIAN = 156 };

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

uint64_t workload_slower(const struct workload *w)
{
    return w->interpreted ? w->interpreted : MEDIAN;
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

static int find_gap(const struct workload *w, struct vm_params *p, struct err *e)
{
    const struct workload_gap *g = workload_gap(w);

    if (!strcmp(p->gap, "low"))
        p->instructions = g->low;
    else if (!strcmp(p->gap, "mid"))
        p->instructions = workload_gap_middle(g);
    else if (!strcmp(p->gap, "high"))
        p->instructions = g->high;
    else if (!hundredths(p->gap, 100000000, &p->instructions))
        return err_set(e, LARD_CONFIG,
                       "workload:%s: gap: \"%.40s\" is none of low, mid, high, and no number of "
                       "instructions up to 1000000 with at most two decimals",
                       w->name, p->gap);
    return 0;
}

int workload_base_program(const struct workload *w, struct vm_params *p, struct err *e)
{
    if (find_gap(w, p, e))
        return -1;
    if (p->gap_spread == VM_SPREAD_AUTO)
        p->gap_spread = workload_gap(w)->geometric ? VM_GEOMETRIC : VM_EVEN;
    p->slower = workload_slower(w);
    if (strcmp(p->interpreter, "auto") &&
        (!hundredths(p->interpreter, 100000, &p->slower) || !p->slower))
        return err_set(e, LARD_CONFIG,
                       "workload:%s: interpreter: \"%.40s\" is neither auto nor a number from 0.01 "
                       "to 1000 with at most two decimals",
                       w->name, p->interpreter);
    if (p->tier == VM_COMPILED)
        p->slower = 100;
    return 0;
}
