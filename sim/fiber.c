/* fiber.c - fibers by ucontext: portable among Unix systems. A switch costs a system call or two
 * (signal masks), which is little beside what the misses cost that wait in a fiber. */
#include "sim/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK = 256 * 1024 }; /* beside a page at its end that nobody may touch */

struct fiber {
    ucontext_t context;
    void *map; /* NULL: the host's */
    size_t map_bytes, guard;
    void (*fn)(void *arg);
    void *arg;
    struct fiber *came_from; /* who switched here last */
    void *fake;              /* the address sanitizer's */
    const void *bottom;
    size_t size;
};

struct fiber *fiber_host(void)
{
    return xcalloc(1, sizeof(struct fiber));
}

static void before_switch(struct fiber *from, struct fiber *to)
{
    to->came_from = from;
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
}

/* The bounds of a stack that was not made here are learnt when it is first left. */
static void after_switch(struct fiber *here)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(here->fake, &here->came_from->bottom, &here->came_from->size);
#else
    (void)here;
#endif
}

/* makecontext passes ints only. */
static void enter(unsigned high, unsigned low)
{
    struct fiber *f = (struct fiber *)(uintptr_t)((uint64_t)high << 32 | low);

    after_switch(f);
    f->fn(f->arg);
    die("a fiber's function returned");
}

struct fiber *fiber_new(void (*fn)(void *arg), void *arg)
{
    struct fiber *f = xcalloc(1, sizeof *f);

    f->guard = (size_t)sysconf(_SC_PAGESIZE);
    f->map_bytes = f->guard + STACK;
    f->map = mmap(NULL, f->map_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->map == MAP_FAILED || mprotect(f->map, f->guard, PROT_NONE))
        die("no memory for a stack of %d bytes", STACK);
    f->fn = fn;
    f->arg = arg;
    f->bottom = (char *)f->map + f->guard;
    f->size = STACK;
    if (getcontext(&f->context))
        die("getcontext failed");
    f->context.uc_stack.ss_sp = (char *)f->map + f->guard;
    f->context.uc_stack.ss_size = STACK;
    const uint64_t self = (uint64_t)(uintptr_t)f;
    makecontext(&f->context, (void (*)(void))enter, 2, (unsigned)(self >> 32), (unsigned)self);
    return f;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    before_switch(from, to);
    if (swapcontext(&from->context, &to->context))
        die("swapcontext failed");
    after_switch(from);
}

void fiber_free(struct fiber *f)
{
    if (f && f->map)
        munmap(f->map, f->map_bytes);
    free(f);
}
