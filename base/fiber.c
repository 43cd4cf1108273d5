/* fiber.c - fibers: by a switch of our own on x86-64, else by ucontext, which is portable among
 * Unix systems and costs a system call or two (signal masks) each time. Sanitizers get ucontext. */
#include "base/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_PORTABLE 1
#endif
#endif
#if defined(FIBER_ASAN) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define FIBER_PORTABLE 1
#endif
#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_PORTABLE
#include <ucontext.h>
#endif

enum { STACK = 256 * 1024 }; /* beside a page at its end that nobody may touch */

/* A stack with a page below it that faults, and where on it the fiber stopped. The host's own fiber
 * has no stack of ours. */
struct fiber {
#ifdef FIBER_PORTABLE
    ucontext_t context;
#else
    void *sp; /* of one that does not run */
#endif
    void *map; /* NULL: the host's */
    size_t map_bytes;
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

/* The bounds of a stack that was not made here are learnt when it is first left. */
static void after_switch(struct fiber *here)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(here->fake, &here->came_from->bottom, &here->came_from->size);
#else
    (void)here;
#endif
}

static void begin(struct fiber *f)
{
    after_switch(f);
    f->fn(f->arg);
    die("a fiber's function returned");
}

/* ---- two ways to switch --------------------------------------------------------------------- */

#ifdef FIBER_PORTABLE

/* makecontext passes ints only. */
static void enter(unsigned high, unsigned low)
{
    begin((struct fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare(struct fiber *f)
{
    const uint64_t self = (uint64_t)(uintptr_t)f;

    if (getcontext(&f->context))
        die("getcontext failed");
    f->context.uc_stack.ss_sp = (void *)(uintptr_t)f->bottom;
    f->context.uc_stack.ss_size = f->size;
    makecontext(&f->context, (void (*)(void))enter, 2, (unsigned)(self >> 32), (unsigned)self);
}

static void swap(struct fiber *from, struct fiber *to)
{
    if (swapcontext(&from->context, &to->context))
        die("swapcontext failed");
}

#else

/* Switches stacks. Registers that a called function must preserve are pushed on the old stack, and
 * popped from the new one. A new fiber finds itself in rbx and begin in r12. */
void lardsim_fiber_swap(void **from, void *to);
void lardsim_fiber_enter(void);
__asm__(".text\n"
        ".hidden lardsim_fiber_swap\n.globl lardsim_fiber_swap\n"
        ".type lardsim_fiber_swap,@function\n"
        "lardsim_fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size lardsim_fiber_swap, .-lardsim_fiber_swap\n"
        ".hidden lardsim_fiber_enter\n.globl lardsim_fiber_enter\n"
        ".type lardsim_fiber_enter,@function\n"
        "lardsim_fiber_enter:\n"
        "  movq %rbx, %rdi\n"
        "  callq *%r12\n"
        "  ud2\n"
        ".size lardsim_fiber_enter, .-lardsim_fiber_enter\n");

static void prepare(struct fiber *f)
{
    enum { R15, R14, R13, R12, RBX, RBP, RETURN, WORDS };
    const uintptr_t top = ((uintptr_t)f->bottom + f->size) & ~(uintptr_t)15;
    uintptr_t frame[WORDS] = {
        [R12] = (uintptr_t)begin, [RBX] = (uintptr_t)f, [RETURN] = (uintptr_t)lardsim_fiber_enter};

    f->sp = (void *)(top - sizeof frame); /* enter finds the stack aligned, as a caller must */
    memcpy(f->sp, frame, sizeof frame);
}

static void swap(struct fiber *from, struct fiber *to)
{
    lardsim_fiber_swap(&from->sp, to->sp);
}

#endif

/* ---- the interface -------------------------------------------------------------------------- */

struct fiber *fiber_new(void (*fn)(void *arg), void *arg)
{
    struct fiber *f = xcalloc(1, sizeof *f);
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);

    f->map_bytes = guard + STACK;
    f->map = mmap(NULL, f->map_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->map == MAP_FAILED || mprotect(f->map, guard, PROT_NONE))
        die("no memory for a stack of %d bytes", STACK);
    f->fn = fn;
    f->arg = arg;
    f->bottom = (char *)f->map + guard;
    f->size = STACK;
    prepare(f);
    return f;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    to->came_from = from;
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
    swap(from, to);
    after_switch(from);
}

void fiber_free(struct fiber *f)
{
    if (f && f->map) {
#ifdef FIBER_ASAN
        __asan_unpoison_memory_region(f->map, f->map_bytes); /* others will be mapped here */
#endif
        munmap(f->map, f->map_bytes);
    }
    free(f);
}
