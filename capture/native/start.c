/* start.c - a program under capture finds its ring, its threads get numbers, and it says what is
 * loaded where. Without a ring the program runs as if it had not been built for capture. */
#include "capture/native/record.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

_Thread_local struct self self;
_Thread_local uint64_t lardsim_gap;
struct ring *ring;

/* ---- threads -------------------------------------------------------------------------------- */

uint16_t thread_new(void)
{
    uint16_t number;

    ring_thread(ring, &number);
    return number;
}

void thread_is(uint16_t number)
{
    self.known = ring_enter_lane(&self.to, ring, number);
}

/* A first record while the thread waits. */
static bool handler_begins(void)
{
    sigset_t was;

    signals_hold(&was);
    if (!self.known) { /* a handler may have come meanwhile */
        self.waiter = self.to;
        if (self.handler.lane)
            self.to = self.handler;
        else
            ring_enter_lane(&self.to, ring, thread_new());
        self.known = true;
        record_sync(REC_VOLATILE_READ, ADDR(&self.waiter), 0);
    }
    signals_release(&was);
    return true;
}

bool record_meet(void)
{
    if (!ring || self.quiet || atomic_load(&ring->mode) == RING_CLOSED)
        return false;
    if (self.waits)
        return handler_begins();
    sigset_t was;
    signals_hold(&was);
    if (!self.known) { /* a handler may have come meanwhile */
        thread_is(thread_new());
        thread_will_end();
    }
    signals_release(&was);
    return self.known;
}

void record_slowly(uint8_t kind, uint64_t addr, uint32_t size, uint64_t site)
{
    if (recording(RING_OUTSIDE))
        ring_access(&self.to,
                    &(struct ring_record){
                        .addr = addr, .site = site, .gap = gap_take(), .size = size, .kind = kind});
}

/* Records memory that is freed after its thread's end; else it would be given again while it is in
 * use. All threads share one number for it. Signals are held. */
static void record_freed_late(const struct ring_record *rec)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static struct ring_writer to;

    if (!ring || atomic_load(&ring->mode) == RING_CLOSED)
        return;
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        sched_yield();
    if (to.ring || ring_enter_lane(&to, ring, thread_new()))
        ring_event(&to, rec);
    atomic_flag_clear_explicit(&taken, memory_order_release);
}

void record_event(struct ring_record rec)
{
    if (UNLIKELY_(self.ended) && rec.kind == REC_CLEAR)
        record_freed_late(&rec);
    if (!recording(RING_CLOSED))
        return;
    rec.gap = gap_take();
    ring_event(&self.to, &rec);
}

/* ---- what is loaded where ------------------------------------------------------------------- */

static int note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct ring_module *m = &ring->module[*(uint32_t *)arg];

    (void)size;
    if (*(uint32_t *)arg == RING_MODULES)
        return 1;
    m->base = info->dlpi_addr;
    m->low = UINT64_MAX;
    m->high = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uint64_t low = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        m->low = low < m->low ? low : m->low;
        m->high = low + p->p_memsz > m->high ? low + p->p_memsz : m->high;
    }
    if (*info->dlpi_name)
        strncpy(m->path, info->dlpi_name, RING_PATH - 1);
    else if (*(uint32_t *)arg > 0 || readlink("/proc/self/exe", m->path, RING_PATH - 1) < 0)
        return 0;
    ++*(uint32_t *)arg;
    return 0;
}

static void modules_note(void)
{
    uint32_t n = 0;

    dl_iterate_phdr(note_module, &n);
    atomic_store(&ring->modules, n);
}

/* The function that opens the window, by the name that the program exports. */
static void method_find(void)
{
    void *at = *ring->method ? dlsym(RTLD_DEFAULT, ring->method) : NULL;
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (at && dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
        method_is(ADDR(at), ADDR(at) + symbol->st_size);
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* A child process has the memory of its parent, and would write into its ring: it gets one of its
 * own that nobody reads, for a record in whose middle a handler has made it. It has locks as they
 * were, and not the threads that would give them. */
static void in_child(void)
{
    if (ring && mmap(ring, sizeof *ring, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
        atomic_store(&ring->mode, RING_CLOSED);
    ring = NULL;
    self.known = false;
    self.waits = false;
    self.handler.lane = NULL;
    atomics_in_child();
    barriers_in_child();
}

static void at_end(void)
{
    const bool quiet = self.quiet;
    sigset_t was;

    if (!ring)
        return;
    signals_hold(&was);
    self.quiet = true;
    modules_note();
    self.quiet = quiet;
    signals_release(&was);
}

static void start(void)
{
    const char *text = getenv(RING_VARIABLE);
    struct ring *r;
    char *end;

    if (ring || !text)
        return;
    const long fd = strtol(text, &end, 10);
    if (end == text || *end || fd < 0 || fd > INT_MAX)
        return;
    r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (r == MAP_FAILED) { /* its head, then, to tell the reader why */
        struct ring *head =
            mmap(NULL, offsetof(struct ring, lane), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
        if (head != MAP_FAILED)
            atomic_store(&head->version, RING_NO_ROOM);
    }
    close((int)fd);
    unsetenv(RING_VARIABLE); /* programs that this one starts are not captured */
    if (r == MAP_FAILED)
        return;
    if (atomic_fetch_add(&r->processes, 1)) {
        munmap(r, sizeof *r);
        return;
    }
    self.quiet = true;
    ring = r;
    threads_prepare();
    thread_is(thread_new());
    modules_note();
    method_find();
    atexit(at_end);
    atomic_store(&r->version, RING_VERSION);
    self.quiet = false;
}

void __tsan_init(void)
{
    start();
}

/* Locks are taken without a ring, too. */
__attribute__((constructor(101))) static void begin(void)
{
    pthread_atfork(NULL, NULL, in_child);
    start();
}
