/* collect.c - the reading end of the ring: records become events, in order of their numbers. */
#include "capture/capture.h"
#include "capture/pause.h"
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/sites.h"

enum { BATCH = 4096, PAUSE_NS = 100000 };

struct capture {
    struct source base;
    struct ring *ring; /* mapped */
    struct captured *told;
    enum capture_kind kind;
    struct window window;
    struct timespec began;
    struct names *names; /* owns */
    struct sites *sites; /* owns */
    pid_t program;       /* 0: it has been waited for */
    uint64_t number;     /* of the record that is read next */
    uint64_t events;
    bool in_pause, paused; /* paused: what a pause did is to be delivered */
    struct pause pause;
    FILE *names_file; /* owns: what the program calls its threads and sites; NULL: nothing */
    char *line;       /* owns; of it */
    size_t line_room;
    struct map given; /* memory that was allocated, and lives: address to bytes */
    struct event rec[(BATCH + 1) * EVENT_RECORDS];
};

/* ---- records to events ---------------------------------------------------------------------- */

static bool has_second(const struct ring_record *r)
{
    switch ((enum ev_form)ev_info[r->kind].form) {
    case FORM_ROUND:
    case FORM_REGION:
    case FORM_ALLOC:
    case FORM_COPY:
        return true;
    case FORM_ACCESS:
    case FORM_OBJECT:
    case FORM_THREAD:
    case FORM_NONE:
    case FORM_KERNEL:
    case FORM_CLOCK:
    case FORM_PHASE:
        return false;
    }
    return false;
}

/* Returns how many records the event has. */
static size_t event_of(struct event *to, const struct ring_record *r,
                       const struct ring_record *second)
{
    const struct ev_info *info = &ev_info[r->kind];

    to[0] = (struct event){.kind = r->kind, .tid = r->thread, .addr = r->addr, .size = r->size};
    if (info->form == FORM_ACCESS) {
        to->aux = r->site;
        to->flags = (uint16_t)((r->order & RING_ORDER) << EVF_ORDER_SHIFT |
                               (r->order & RING_ARRAY ? EVF_ARRAY : 0) |
                               (r->order & RING_FINAL ? EVF_FINAL : 0));
        return 1;
    }
    if (info->form == FORM_THREAD) {
        to->aux = r->addr;
        to->addr = 0;
    }
    to[1] = (struct event){.aux = r->site};
    if (second)
        to->aux = second->site;
    if (r->kind == EV_COPY)
        to[1].addr = second->addr;
    if (!r->site && r->kind != EV_COPY)
        return 1;
    to->flags |= EVF_MORE;
    return 2;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void program_ended(struct capture *c)
{
    if (c->program && waitpid(c->program, &c->told->status, WNOHANG) == c->program)
        c->program = 0;
}

static double seconds_since(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* The window bears on accesses that come from now on. */
static void window_judge(struct capture *c)
{
    const double t = seconds_since(&c->began);
    const bool in =
        t >= c->window.from && (c->window.length <= 0 || t < c->window.from + c->window.length);

    if (atomic_load(&c->ring->mode) == RING_CLOSED)
        return;
    atomic_store_explicit(&c->ring->mode, in ? RING_ALL : RING_OUTSIDE, memory_order_relaxed);
}

/* The next record, or NULL where there is none yet. A number whose thread was killed before it
 * wrote its record is passed over. */
static const struct ring_record *record_next(struct capture *c)
{
    for (;; c->number++, c->told->lost++) {
        const struct ring_record *r = ring_at(c->ring, c->number);
        if (atomic_load_explicit(&r->number, memory_order_acquire) == c->number + 1)
            return r;
        if (c->program || c->number >= atomic_load(&c->ring->next))
            return NULL;
    }
}

/* ---- the source ----------------------------------------------------------------------------- */

static int refused(const struct capture *c, struct err *e)
{
    if (atomic_load(&c->ring->threads) > RING_THREADS)
        return err_set(e, LARD_TRACE,
                       "%s has made more than %d threads, the most that a capture "
                       "tells apart; what it did before can't be kept",
                       c->base.name, RING_THREADS);
    if (atomic_load(&c->ring->version) == 0 && !c->program)
        return c->kind == CAPTURE_JAVA
                   ? err_set(e, LARD_USAGE, "%s: the agent did not start; the message is above",
                             c->base.name)
                   : err_set(
                         e, LARD_USAGE,
                         "%s was not built for capture, or starts a program that was: compile and "
                         "link it with lardsim-cc (or lardsim-c++) in place of cc",
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

/* In a collector's pause what it did is gathered. True: that is all for this record. */
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
        return false;
    }
    return true;
}

/* A record, and the second one if it has two: both are written, or the thread is about to. */
static bool event_next(struct capture *c, size_t *n)
{
    const struct ring_record *r = record_next(c), *second = NULL;
    struct ring_record first;

    if (!r)
        return false;
    first = (struct ring_record){.addr = r->addr,
                                 .site = r->site,
                                 .size = r->size,
                                 .thread = r->thread,
                                 .kind = r->kind,
                                 .order = r->order};
    if (!ev_info[first.kind < EV_KINDS ? first.kind : 0].text) {
        c->number++;
        return true;
    }
    if (has_second(&first)) {
        second = ring_at(c->ring, c->number + 1);
        if (atomic_load_explicit(&second->number, memory_order_acquire) != c->number + 2) {
            if (c->program)
                return false;
            c->number++; /* killed between the two */
            return true;
        }
    }
    struct event *to = &c->rec[*n];
    const size_t records = event_of(to, &first, second);
    const char *what;
    c->number += second ? 2 : 1;
    if (event_well_formed(to, &what)) /* the program wrote into the ring */
        return true;
    if (in_pause(c, to))
        return !c->paused;
    if (to->kind == EV_ALLOC && map_find(&c->given, to->addr))
        return true; /* it was told twice, when the capture began */
    if (!c->names_file)
        sites_name(c->sites, c->ring, first.site, c->names);
    given_before(c, n, to);
    *n += records;
    c->events++;
    return true;
}

static void give_back(struct capture *c)
{
    atomic_store_explicit(&c->ring->taken, c->number, memory_order_release);
}

/* "T 3 main", "S 12 Main.run:30", and "X Main: reason" of a class that was left as it is. A site's
 * line is there before its first record is. */
static void read_names(struct capture *c)
{
    unsigned long long id;
    int at;

    clearerr(c->names_file);
    while (getline(&c->line, &c->line_room, c->names_file) > 0) {
        struct err ignored = {.code = LARD_DONE};
        char *const line = c->line;
        line[strcspn(line, "\n")] = '\0';
        if (*line == 'X' && c->told->left++ == 0)
            snprintf(c->told->left_first, sizeof c->told->left_first, "%s", line + 2);
        else if (sscanf(line + 1, " %llu %n", &id, &at) == 1 && line[1 + at])
            names_add(c->names, *line == 'T' ? NAME_THREAD : NAME_SITE, id, line + 1 + at,
                      &ignored);
        err_clear(&ignored);
    }
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
    for (;;) {
        while (n < BATCH && event_next(c, &n))
            continue;
        give_back(c);
        if (!n && c->paused)
            return capture_next(s, b, e);
        if (n)
            break;
        const bool was = !c->program;
        program_ended(c);
        if (refused(c, e))
            return -1;
        if (was && !c->program)
            break;
        window_judge(c);
        if (c->program)
            nanosleep(&nap, NULL);
    }
    window_judge(c);
    c->told->events = c->events;
    c->told->threads = atomic_load(&c->ring->threads);
    b->records = n;
    if (c->names_file)
        read_names(c);
    return 0;
}

/* What goes on without a reader goes on alone. */
static void capture_close(struct source *s)
{
    struct capture *c = (struct capture *)s;

    if (c->ring) {
        atomic_store(&c->ring->mode, RING_CLOSED);
        munmap(c->ring, sizeof *c->ring);
    }
    if (c->program)
        waitpid(c->program, &c->told->status, 0);
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
        r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
    if (r != MAP_FAILED)
        return r;
    err_set(e, LARD_LIMIT, "%zu MiB of shared memory for a capture can't be had: %s",
            sizeof *r >> 20, strerror(errno));
    if (*fd >= 0)
        close(*fd);
    return NULL;
}

/* In the child. What fails is told through the pipe, which a program that starts closes. */
static void start(char *const *argv, int fd, int names, int told)
{
    char text[32];

    if (names < 0)
        snprintf(text, sizeof text, "%d", fd);
    else
        snprintf(text, sizeof text, "%d,%d", fd, names);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    if (setenv(RING_VARIABLE, text, 1) == 0)
        execvp(argv[0], argv);
    const int why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

static pid_t start_program(char *const *argv, int fd, int names, struct err *e)
{
    int told[2], why;
    pid_t child;

    if (pipe2(told, O_CLOEXEC))
        return err_set(e, LARD_LIMIT, "%s can't be started: %s", argv[0], strerror(errno));
    child = fork();
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
    if (why)
        return err_set(e, LARD_USAGE, "%s can't be started: %s", argv[0], strerror(why));
    return child;
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
    c->kind = kind;
    if (kind == CAPTURE_JAVA && (names = memfd_create("lardsim-names", 0)) >= 0) {
        /* Opened anew, as it is read at a place of its own while the program writes. */
        char *path = xasprintf("/proc/self/fd/%d", names);
        c->names_file = fopen(path, "re");
        free(path);
    }
    c->told = to;
    c->window = *w;
    map_init(&c->given, NULL);
    c->names = names_new();
    c->sites = sites_new();
    clock_gettime(CLOCK_MONOTONIC, &c->began);
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
    if (program < 0) {
        source_close(&c->base);
        return NULL;
    }
    return &c->base;
}
