/* view.c - what a policy looks at (LARD 5.2): each bit leaves out one of LARD's extensions, to show
 * what that is good for. */
#include "policy/view.h"

#include "trace/trace.h"

const struct view_info view_info[] = {
    {"tracked",
     "Tracked accesses, program synchronisation, clears and copies: LARD as it is meant.", 0},
    {"all-memory", "All accesses of program and system, but the stack's.", VIEW_ALL_MEMORY},
    {"all-sync", "System synchronisation, too.", VIEW_ALL_SYNC},
    {"no-clear", "Clears of histories are ignored.", VIEW_NO_CLEAR},
    {"no-copy", "Copies of histories are ignored.", VIEW_NO_COPY},
    {"no-thread", "The kernel thread is taken for the thread.", VIEW_NO_THREAD},
    {"naive", "all-memory, all-sync, no-clear and no-copy.",
     VIEW_ALL_MEMORY | VIEW_ALL_SYNC | VIEW_NO_CLEAR | VIEW_NO_COPY},
    {NULL, NULL, 0},
};

unsigned view_bits(uint32_t set)
{
    unsigned bits = 0;

    for (unsigned i = 0; view_info[i].name; i++)
        if (set >> i & 1)
            bits |= view_info[i].bits;
    return bits;
}

unsigned view_skips(unsigned view)
{
    if (view & VIEW_ALL_MEMORY)
        return EVF_STACK;
    return EVF_STACK | EVF_SYSTEM | EVF_FINAL | EVF_VOLATILE; /* not event_tracked */
}
