/* collect.c - a program runs, and its records become events. */
#include "capture/capture.h"
#include "capture/lanes.h"
#include "capture/pause.h"
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "capture/sites.h"

enum { BATCH = 4096, PAUSE_NS = 100000 };

struct capture {
    struct source base;
    struct ring *ring;   /* mapped */
    struct lanes *lanes; /* owns */
    struct captured *told;
    enum capture_kind kind;
    struct window window;
    struct timespec began;
    struct names *names; /* owns */
    struct sites *sites; /* owns */
    pid_t program;       /* 0: it has been waited for */
    uint64_t events, broken;
    bool in_pause, paused; /* paused: what a pause did is to be delivered */
    bool toggled;          /* by a signal: the window is open */
    bool stopped;          /* by a signal: the recording ends */
    uint64_t most;         /* stopped: at this event, at the latest */
    struct pause pause;
    FILE *names_file; /* owns: what the program calls its threads and sites; NULL: nothing */
    char *line;       /* owns; of it */
    size_t line_room;
    struct map given;                /* memory that was allocated, and lives: address to bytes */
    uint64_t gap[RING_THREADS + 1];  /* the gap of the thread's next event, beside its own */
    uint32_t held[RING_THREADS + 1]; /* locks, by thread */
    struct event rec[(BATCH + 1) * EVENT_RECORDS];
};

/* ---- records to events ---------------------------------------------------------------------- */

static uint32_t gap_of(struct capture *c, uint16_t thread, uint64_t own)
{
    const uint64_t gap = c->gap[thread] + own;

    c->gap[thread] = 0;
    return gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

/* Returns how many records the event has. */
static size_t event_of(struct capture *c, struct event *to, uint16_t thread,
                       const struct ring_record *r)
{
    const struct ev_info *info = &ev_info[r->kind];

    to[0] = (struct event){.kind = r->kind,
                           .tid = thread,
                           .addr = r->addr,
                           .aux = r->more,
                           .gap = gap_of(c, thread, r->gap)};
    if (info->form == FORM_ACCESS) {
        to->size = r->size;
        to->aux = r->site;
        to->flags = (uint16_t)((r->order & RING_ORDER) << EVF_ORDER_SHIFT |
                               (r->order & RING_ARRAY ? EVF_ARRAY : 0) |
                               (r->order & RING_FINAL ? EVF_FINAL : 0));
        /* The atomics of a native program are C11's. Those of Java are not: what its volatiles
         * order is told by events of their own. */
        if (c->kind == CAPTURE_NATIVE && event_modifies_atomic(to))
            to->flags |= EVF_C11;
        return 1;
    }
    if (info->form == FORM_THREAD || info->form == FORM_TIME) {
        to->aux = r->addr;
        to->addr = 0;
    }
    to[1] = (struct event){.aux = r->site, .addr = r->from, .size = r->size};
    if (!r->site && !r->from && r->kind != EV_COPY)
        return 1;
    to->flags |= EVF_MORE;
    return 2;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static double seconds_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

static void program_ended(struct capture *c, int how)
{
    struct rusage used;

    if (!c->program || wait4(c->program, &c->told->status, how, &used) != c->program)
        return;
    c->program = 0;
    c->told->spent.process = seconds_of(&used);
    if (c->kind == CAPTURE_NATIVE)
        c->told->spent.own = c->told->spent.process;
}

static double seconds_since(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

static bool in_window(struct capture *c)
{
    const struct window *w = &c->window;
    const double t = seconds_since(&c->began);
    struct signalfd_siginfo signal;

    while (w->toggle >= 0 && read(w->toggle, &signal, sizeof signal) == (ssize_t)sizeof signal)
        c->toggled = !c->toggled;
    return t >= w->from && (w->length <= 0 || t < w->from + w->length) &&
           (w->toggle < 0 || c->toggled);
}

/* The window bears on accesses that come from now on. A method's calls open it by themselves. */
static void window_judge(struct capture *c)
{
    if (c->window.method) {
        c->told->opened = atomic_load(&c->ring->entered) > c->window.warm_up;
        return;
    }
    const bool in = in_window(c);
    c->told->opened |= in;
    if (atomic_load(&c->ring->mode) != RING_CLOSED)
        atomic_store_explicit(&c->ring->mode, in ? RING_ALL : RING_OUTSIDE, memory_order_relaxed);
}

/* ---- the source ----------------------------------------------------------------------------- */

static int refused(const struct capture *c, struct err *e)
{
    if (atomic_load(&c->ring->threads) > RING_THREADS)
        return err_set(e, LARD_TRACE,
                       "%s has made more than %d threads, the most that a capture tells apart; "
                       "what it did before can't be kept",
                       c->base.name, RING_THREADS);
    if (atomic_load(&c->ring->lanes) > RING_LANES)
        return err_set(e, LARD_TRACE,
                       "%s has more than %d threads at once, the most that a capture has room for; "
                       "what it did before can't be kept",
                       c->base.name, RING_LANES);
    const uint32_t version = atomic_load(&c->ring->version);

    if (version == RING_NO_ROOM)
        return err_set(e, LARD_LIMIT,
                       "%s can't have the %zu MiB of addresses that a capture takes: raise its "
                       "limit (ulimit -v)",
                       c->base.name, sizeof *c->ring >> 20);
    if (version && version != RING_VERSION)
        return err_set(e, LARD_USAGE,
                       "%s has the runtime of another lardsim (%u, this one reads %d): build it "
                       "anew with this one's lardsim-cc",
                       c->base.name, version, RING_VERSION);
    if (version == 0 && !c->program)
        return c->kind == CAPTURE_JAVA
                   ? err_set(e, LARD_USAGE, "%s: the agent did not start; the message is above",
                             c->base.name)
                   : err_set(e, LARD_USAGE,
                             "%s was not built for capture, or starts a program that was: compile "
                             "and link it with lardsim-cc (or lardsim-c++) in place of cc",
                             c->base.name);
    return 0;
}

/* Memory that was given before the program could say so is freed like any other: its allocation is
 * put before the end of its life, where nothing has looked at it. */
static void given_before(struct capture *c, size_t *n, struct event *to)
{
    if (to->kind == EV_ALLOC)
        *map_put(&c->given, to->addr) = to->aux;
    if (to->kind != EV_CLEAR || map_remove(&c->given, to->addr))
        return;
    to[2] = to[1];
    to[1] = to[0];
    to[0] =
        (struct event){.kind = EV_ALLOC, .tid = to[1].tid, .addr = to[1].addr, .aux = to[1].aux};
    c->events++;
    ++*n;
}

/* Counts the accesses, and those made with a lock held, for the summary after the capture. */
static void tell(struct capture *c, const struct event *ev)
{
    uint32_t *held = &c->held[ev->tid];

    if (event_is_access(ev)) {
        c->told->accesses++;
        c->told->locked += *held != 0;
    } else if (ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED ||
               ev->kind == EV_WAIT_EXIT) {
        ++*held;
    } else if (*held && (ev->kind == EV_RELEASE || ev->kind == EV_RELEASE_SHARED ||
                         ev->kind == EV_WAIT_ENTER)) {
        --*held;
    }
}

/* Gathers the collector's work in its pause. True: that is all for this record. */
static bool in_pause(struct capture *c, const struct event *ev)
{
    if (ev->kind == EV_GC_BEGIN) {
        pause_begin(&c->pause, ev->tid);
        c->in_pause = true;
    } else if (!c->in_pause) {
        return false;
    } else if (ev->kind == EV_CLEAR) {
        if (map_remove(&c->given, ev->addr))
            pause_freed(&c->pause, ev->tid, ev->addr, ev->aux);
    } else if (ev->kind == EV_COPY) {
        pause_moved(&c->pause, &(struct move){ev->addr, ev[1].addr, ev->aux});
    } else if (ev->kind == EV_GC_END) {
        for (size_t i = 0; i < c->pause.moves; i++)
            map_remove(&c->given, c->pause.move[i].from);
        for (size_t i = 0; i < c->pause.moves; i++)
            *map_put(&c->given, c->pause.move[i].to) = c->pause.move[i].bytes;
        pause_end(&c->pause, ev->tid);
        c->in_pause = false;
        c->paused = true;
    } else {
        c->told->within++;
        return false;
    }
    return true;
}

/* True: the record is none of an event. */
static bool is_aside(struct capture *c, uint16_t thread, const struct ring_record *r)
{
    struct err ignored = {.code = LARD_DONE};
    char name[17] = "";

    if (r->kind == RING_GAP)
        c->gap[thread] += r->addr;
    if (r->kind == RING_NAMED) {
        memcpy(name, &r->addr, 8);
        memcpy(name + 8, &r->from, 8);
        names_add(c->names, NAME_THREAD, r->size, name, &ignored);
        err_clear(&ignored);
    }
    return r->kind == RING_GAP || r->kind == RING_NAMED;
}

/* Turns a record into an event, at the n-th place. */
static void take_record(struct capture *c, size_t *n, uint16_t thread, const struct ring_record *r)
{
    struct event *to = &c->rec[*n];
    const char *what;

    if (is_aside(c, thread, r))
        return;
    const bool known = r->kind < EV_KINDS && ev_info[r->kind].text;
    const size_t records = known ? event_of(c, to, thread, r) : 0;
    if (!known || event_well_formed(to, &what)) { /* the program wrote into the ring */
        c->broken++;
        return;
    }
    tell(c, to);
    if (in_pause(c, to))
        return;
    if (to->kind == EV_ALLOC && map_find(&c->given, to->addr))
        return; /* it was told twice, when the capture began */
    if (!c->names_file)
        sites_name(c->sites, c->ring, r->site, c->names);
    given_before(c, n, to);
    *n += records;
    c->events++;
}

static void take_small(struct capture *c, size_t *n, const struct lanes_next *next)
{
    const uint64_t low = (UINT64_C(1) << RING_BITS) - 1;
    const size_t before = *n;
    uint64_t gap = c->gap[next->thread];

    c->gap[next->thread] = 0;
    for (size_t i = 0; i < next->small; i++) {
        const uint64_t first = next->slot[i].first,
                       last = atomic_load_explicit(&next->slot[i].last, memory_order_relaxed);
        const uint8_t kind = (uint8_t)(last >> RING_KIND_SHIFT);
        const unsigned flags = last >> RING_FLAG_SHIFT & 3;
        if (kind != EV_READ && kind != EV_WRITE) {
            c->broken++;
            continue;
        }
        gap += first >> RING_BITS;
        c->rec[(*n)++] = (struct event){
            .addr = first & low,
            .aux = last & low,
            .size = UINT32_C(1) << (last >> RING_SIZE_SHIFT & 7),
            .gap = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX,
            .tid = next->thread,
            .flags = (uint16_t)((flags & 1 ? EVF_ARRAY : 0) | (flags & 2 ? EVF_FINAL : 0)),
            .kind = kind};
        gap = 0;
        if (!c->names_file)
            sites_name(c->sites, c->ring, last & low, c->names);
    }
    const size_t made = *n - before;
    c->events += made;
    c->told->accesses += made;
    c->told->locked += c->held[next->thread] ? made : 0;
    c->told->within += c->in_pause ? made : 0;
}

/* The events of one step; false: there are none yet. */
static bool take_next(struct capture *c, size_t *n)
{
    struct lanes_next next;

    if (!lanes_next(c->lanes, BATCH - *n, &next))
        return false;
    if (next.small)
        take_small(c, n, &next);
    else
        take_record(c, n, next.thread, &next.record);
    return true;
}

/* "C NANOSECONDS NANOSECONDS" of an agent: what the program's own threads have spent, and what
 * instrumenting has. */
static bool is_spent(struct spent *to, const char *line)
{
    unsigned long long own, aside;

    if (sscanf(line, "C %llu %llu", &own, &aside) != 2)
        return false;
    to->own = (double)own * 1e-9;
    to->instrumenting = (double)aside * 1e-9;
    return true;
}

/* Reads the lines of names: "T 3 main", "S 12 Main.run:30", "X Main: reason" of a class that was
 * left as it is, and "C" (account_tell in capture/java/agent.c). A site's line is there before its
 * first record is. */
static void read_names(struct capture *c)
{
    unsigned long long id;
    ssize_t n;
    int at;

    clearerr(c->names_file);
    while ((n = getline(&c->line, &c->line_room, c->names_file)) > 0) {
        struct err ignored = {.code = LARD_DONE};
        char *const line = c->line;
        if (line[n - 1] != '\n') { /* the rest is still to come */
            fseek(c->names_file, (long)-n, SEEK_CUR);
            return;
        }
        line[n - 1] = '\0';
        if (*line == 'X' && c->told->left++ == 0)
            snprintf(c->told->left_first, sizeof c->told->left_first, "%s", line + 2);
        else if (is_spent(&c->told->spent, line))
            continue;
        else if (sscanf(line + 1, " %llu %n", &id, &at) == 1 && line[1 + at])
            names_add(c->names, *line == 'T' ? NAME_THREAD : NAME_SITE, id, line + 1 + at,
                      &ignored);
        err_clear(&ignored);
    }
}

/* A signal ends the recording with what is in the lanes when it comes. The program may go on for as
 * long as it likes: what its threads do meanwhile fills lanes again, so there is a bound. Wherever
 * the merge of the lanes ends, what it gave until then is a beginning of what the program did. */
static bool stopping(struct capture *c)
{
    const int signal = c->window.stop ? *c->window.stop : 0;

    if (signal && !c->stopped) {
        c->stopped = true;
        c->most = c->events + (uint64_t)atomic_load(&c->ring->lanes) * RING_SLOTS;
        if (c->program) /* a limit of processor time is this process's alone */
            kill(c->program, signal == SIGXCPU ? SIGTERM : signal);
    }
    return c->stopped;
}

static int capture_next(struct source *s, struct batch *b, struct err *e)
{
    struct capture *c = (struct capture *)s;
    const struct timespec nap = {.tv_nsec = PAUSE_NS};
    size_t n = 0;

    b->first = c->events;
    if (c->paused) {
        c->paused = false;
        b->rec = c->pause.rec;
        b->records = c->pause.records;
        c->events += c->pause.events;
        return 0;
    }
    b->rec = c->rec;
    while (!stopping(c) || c->events < c->most) {
        while (n < BATCH && !c->paused && take_next(c, &n))
            continue;
        if (!n && c->paused)
            return capture_next(s, b, e);
        if (n || !c->program)
            break;
        program_ended(c, WNOHANG);
        if (refused(c, e))
            return -1;
        if (!c->program) { /* once more: its last records may have come since */
            lanes_ended(c->lanes);
            continue;
        }
        if (stopping(c))
            break;
        window_judge(c);
        nanosleep(&nap, NULL);
    }
    window_judge(c);
    c->told->events = c->events;
    c->told->lost = lanes_lost(c->lanes);
    c->told->broken = c->broken + lanes_broken(c->lanes);
    c->told->threads = atomic_load(&c->ring->threads);
    c->told->processes = atomic_load(&c->ring->processes);
    b->records = n;
    if (c->names_file)
        read_names(c);
    return 0;
}

/* Takes the lock by which the program knows that there is a reader, as long as this thread lives.
 */
static void reader_comes(struct ring *r)
{
    pthread_mutexattr_t how;

    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&r->reader, &how);
    pthread_mutexattr_destroy(&how);
    pthread_mutex_lock(&r->reader);
}

/* A program that was told to end has a moment for it; one that does not is left alone. */
static void program_left(struct capture *c)
{
    const struct timespec nap = {.tv_nsec = 10000000};

    for (unsigned i = 0; i < 100 && c->program; i++) {
        program_ended(c, WNOHANG);
        if (c->program)
            nanosleep(&nap, NULL);
    }
}

/* A program that goes on without its reader goes on unrecorded: the ring is closed first, so that
 * its threads do not wait for room. */
static void capture_close(struct source *s)
{
    struct capture *c = (struct capture *)s;

    if (c->ring) {
        atomic_store(&c->ring->mode, RING_CLOSED);
        pthread_mutex_unlock(&c->ring->reader);
        munmap(c->ring, sizeof *c->ring);
    }
    if (c->stopped)
        program_left(c);
    else
        program_ended(c, 0);
    lanes_free(c->lanes);
    map_free(&c->given);
    pause_free(&c->pause);
    if (c->names_file)
        fclose(c->names_file);
    free(c->line);
    sites_free(c->sites);
    names_free(c->names);
    free(c);
}

/* ---- start ---------------------------------------------------------------------------------- */

static struct ring *ring_make(int *fd, struct err *e)
{
    struct ring *r = MAP_FAILED;

    *fd = memfd_create("lardsim-capture", 0);
    if (*fd >= 0 && ftruncate(*fd, sizeof *r) == 0)
        r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (r != MAP_FAILED)
        return r;
    err_set(e, LARD_LIMIT, "%zu MiB of shared memory for a capture can't be had: %s",
            sizeof *r >> 20, strerror(errno));
    if (*fd >= 0)
        close(*fd);
    return NULL;
}

/* A file that the agents of a JVM write lines to, and where it is read from, at a place of its own;
 * *to: the caller's, -1 and NULL if it can't be had. */
static FILE *lines_make(int *to)
{
    FILE *f = NULL;

    *to = memfd_create("lardsim-names", 0);
    if (*to >= 0) {
        char *path = xasprintf("/proc/self/fd/%d", *to);
        f = fopen(path, "re");
        free(path);
    }
    return f;
}

/* Runs in the child. A failure is told through the pipe, which a program that starts closes. */
static bool ready_for_ring(int fd, int names)
{
    char text[32];

    if (names < 0)
        snprintf(text, sizeof text, "%d", fd);
    else
        snprintf(text, sizeof text, "%d,%d", fd, names);
    return setenv(RING_VARIABLE, text, 1) == 0;
}

static bool ready_alone(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
}

static void start(char *const *argv, int fd, int names, int told)
{
    sigset_t none;

    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if ((fd >= 0 || ready_alone()) && ((fd < 0 && names < 0) || ready_for_ring(fd, names)))
        execvp(argv[0], argv);
    const int why = errno;
    _exit(write(told, &why, sizeof why) < 0 ? 126 : 127);
}

/* fd: of the ring; names: of what the agents of a JVM say; -1: without. */
static pid_t start_program(char *const *argv, int fd, int names, struct err *e)
{
    int told[2], why;

    if (pipe2(told, O_CLOEXEC))
        return err_set(e, LARD_LIMIT, "%s can't be started: %s", argv[0], strerror(errno));
    pid_t child = fork();
    if (child == 0)
        start(argv, fd, names, told[1]);
    close(told[1]);
    if (child < 0)
        why = errno;
    else if (read(told[0], &why, sizeof why) == (ssize_t)sizeof why)
        waitpid(child, NULL, 0);
    else
        why = 0;
    close(told[0]);
    return why ? err_set(e, LARD_USAGE, "%s can't be started: %s", argv[0], strerror(why)) : child;
}

struct source *capture_start(enum capture_kind kind, char *const *argv, const struct window *w,
                             struct captured *to, struct err *e)
{
    int fd, names = -1;
    struct ring *ring = ring_make(&fd, e);

    if (!ring)
        return NULL;
    struct capture *c = xcalloc(1, sizeof *c);
    *to = (struct captured){.events = 0};
    c->ring = ring;
    reader_comes(ring);
    c->lanes = lanes_new(ring);
    c->kind = kind;
    if (kind == CAPTURE_JAVA)
        c->names_file = lines_make(&names);
    c->told = to;
    c->window = *w;
    map_init(&c->given, NULL);
    c->names = names_new();
    c->sites = sites_new();
    clock_gettime(CLOCK_MONOTONIC, &c->began);
    ring->began = (uint64_t)c->began.tv_sec * 1000000000 + (uint64_t)c->began.tv_nsec;
    if (w->method) {
        snprintf(ring->method, sizeof ring->method, "%s", w->method);
        ring->warm_up = w->warm_up;
        atomic_store(&ring->mode, RING_OUTSIDE);
    }
    window_judge(c);
    const pid_t program = start_program(argv, fd, names, e);
    close(fd);
    if (names >= 0)
        close(names);
    c->program = program > 0 ? program : 0;
    c->base = (struct source){.next = capture_next,
                              .close = capture_close,
                              .names = c->names,
                              .name = argv[0],
                              .granularity = 1};
    if (kind == CAPTURE_JAVA) {
        c->base.layout = LAYOUT_64C;
        c->base.gaps = GAPS_BYTECODES;
    }
    if (program < 0) {
        source_close(&c->base);
        return NULL;
    }
    return &c->base;
}

int capture_plain(enum capture_kind kind, char *const *argv, struct spent *to, struct err *e)
{
    int lines = -1, status;
    FILE *f = kind == CAPTURE_JAVA ? lines_make(&lines) : NULL;
    const pid_t program = start_program(argv, -1, lines, e);
    char line[128];
    struct rusage used;
    bool ended = program > 0 && wait4(program, &status, 0, &used) == program;

    if (program > 0 && !ended) {
        err_set(e, LARD_INTERNAL, "%s can't be waited for: %s", argv[0], strerror(errno));
        kill(program, SIGTERM);
        while (wait4(program, &status, 0, &used) < 0 && errno == EINTR)
            continue;
    }

    *to = (struct spent){.process = ended ? seconds_of(&used) : 0};
    if (kind == CAPTURE_NATIVE)
        to->own = to->process;
    while (f && fgets(line, sizeof line, f))
        is_spent(to, line);
    if (f)
        fclose(f);
    if (lines >= 0)
        close(lines);
    return ended ? 0 : -1;
}
