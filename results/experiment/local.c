/* local.c - runs the cells of a sweep on this machine: processes that each take a group of cells of
 * one source, and say through a pipe how far they are. One that crashes, hangs or runs out of
 * memory takes nothing along: what its group has not done runs again, each cell alone, and one that
 * fails alone has failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/print.h"
#include "results/experiment/sweep.h"

struct worker_note { /* what a worker tells; written at once */
    uint64_t what, cell, n;
};
struct sweep_worker {
    pid_t pid; /* 0: none */
    int notes; /* the end of its pipe */
    struct group group;
    char *log; /* owns; its standard error */
    double heard;
    bool hung, large; /* was ended for that */
    bool crowded;     /* beside others */
    uint64_t memory;  /* predicted */
};
struct running {
    struct sweep *sweep;
    struct sweep_worker *worker; /* owns; sweep->jobs */
    bool *alone;                 /* owns; by cell */
    int signals;                 /* a descriptor for those that stop the sweep */
    sigset_t before;             /* the mask that workers get */
    uint64_t events;
    size_t first; /* all cells before it are done, or have failed */
    struct progress progress;
    struct err *e;
};

/* ---- in the worker -------------------------------------------------------------------------- */

struct telling {
    int to;
    uint64_t events; /* not told yet */
    double told;
};

static void send(struct telling *t, enum told what, size_t cell, uint64_t n)
{
    const struct worker_note note = {what, cell, n};

    if (write(t->to, &note, sizeof note) != (ssize_t)sizeof note)
        _exit(LARD_INTERNAL); /* nobody listens */
}

/* Events are told ten times a second, whatever else at once. */
static void worker_tells(void *telling, enum told what, size_t cell, uint64_t n)
{
    struct telling *t = telling;
    const double now = now_seconds();

    if (what == TOLD_EVENTS) {
        t->events += n;
        if (now < t->told + 0.1)
            return;
    }
    if (t->events)
        send(t, TOLD_EVENTS, cell, t->events);
    t->events = 0;
    t->told = now;
    if (what != TOLD_EVENTS)
        send(t, what, cell, n);
}

/* The ends of the others' pipes, which are open here, too: they count against the limit. */
static void leave_others(const struct running *r)
{
    for (size_t i = 0; i < r->sweep->jobs; i++)
        if (r->worker[i].pid > 0)
            close(r->worker[i].notes);
    close(r->signals);
}

/* Workers end with the process that started them: they would go on for nobody. */
static void worker_main(const struct running *r, const struct sweep_worker *w, int notes,
                        pid_t parent)
{
    struct telling t = {.to = notes};
    const struct teller teller = {worker_tells, &t};
    const int log = open(w->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    leave_others(r);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(LARD_INTERNAL);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(log >= 0 ? log : nothing, STDERR_FILENO);
    work_run(r->sweep->folder, r->sweep->plan, &w->group, &teller);
    _exit(LARD_DONE);
}

/* ---- groups --------------------------------------------------------------------------------- */

static size_t workers(const struct running *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->sweep->jobs; i++)
        n += r->worker[i].pid != 0;
    return n;
}

/* Memory of --max-memory that is not promised to a worker; without the option there is no limit. */
static uint64_t memory_left(const struct running *r)
{
    uint64_t left = r->sweep->max_memory ? r->sweep->max_memory : UINT64_MAX;

    for (size_t i = 0; i < r->sweep->jobs; i++)
        if (r->worker[i].pid)
            left = left > r->worker[i].memory ? left - r->worker[i].memory : 0;
    return left;
}

static uint64_t cell_memory(const struct sweep *s, size_t cell)
{
    return s->predicted ? s->predicted[cell].own : 0;
}

/* Tells if a cell fits beside the running ones. A cell that needs more than there is in all runs
 * when nothing else does. So does one whose process took too much before. */
static bool fits(const struct running *r, size_t cell, uint64_t more)
{
    if (!r->sweep->max_memory || !workers(r))
        return true;
    return !r->alone[cell] && more <= memory_left(r);
}

static bool joins(const struct running *r, const struct group *g, uint64_t memory, size_t cell)
{
    const struct sweep *s = r->sweep;
    const uint64_t more = memory + cell_memory(s, cell);

    if (s->state[cell] != CELL_MISSING)
        return false;
    if (!g->n)
        return fits(r, cell, more);
    return !r->alone[cell] && more <= memory_left(r) &&
           same_reading(&s->plan->cell[g->cell[0]], &s->plan->cell[cell]);
}

/* A process by itself, before it runs anything. */
enum { PROCESS_BYTES = 8 << 20 };

/* The first cell that is missing, and others of its source. False: nothing is missing that can
 * begin now. */
static bool next_group(const struct running *r, struct sweep_worker *w)
{
    const struct sweep *s = r->sweep;
    const size_t most = group_most(s, sweep_count(s, CELL_MISSING));
    bool alone = false;

    w->group.n = 0;
    w->memory = PROCESS_BYTES;
    for (size_t i = r->first; i < s->plan->n && w->group.n < most && !alone; i++)
        if (joins(r, &w->group, w->memory, i)) {
            group_add(&w->group, i);
            w->memory += cell_memory(s, i);
            alone = r->alone[i];
        }
    return w->group.n > 0;
}

/* ---- starting ------------------------------------------------------------------------------- */

static int start_worker(struct running *r, struct sweep_worker *w)
{
    const pid_t parent = getpid();
    int ends[2];

    char *flight = folder_flight(r->sweep->folder, NULL);
    w->log = xasprintf("%s/worker-%zu.log", flight, (size_t)(w - r->worker));
    free(flight);
    unlink(w->log);
    if (pipe2(ends, O_CLOEXEC))
        return err_set(r->e, LARD_LIMIT, "sweep: no pipe for a process: %s; give a smaller -j",
                       strerror(errno));
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        worker_main(r, w, ends[1], parent);
    }
    close(ends[1]);
    w->notes = ends[0];
    w->heard = now_seconds();
    w->hung = w->large = w->crowded = false;
    if (w->pid < 0) {
        w->pid = 0;
        close(ends[0]);
        return err_set(r->e, LARD_INTERNAL, "sweep: no process: %s", strerror(errno));
    }
    for (size_t i = 0; i < w->group.n; i++)
        r->sweep->state[w->group.cell[i]] = CELL_RUNNING;
    return 0;
}

/* Tells if a cell runs once more, by itself: with --max-memory it has all of it. */
static bool runs_alone(const struct running *r)
{
    for (size_t i = 0; i < r->sweep->jobs; i++)
        if (r->worker[i].pid && r->worker[i].group.n == 1 && r->alone[r->worker[i].group.cell[0]])
            return true;
    return false;
}

static int start_workers(struct running *r)
{
    while (r->first < r->sweep->plan->n && r->sweep->state[r->first] >= CELL_DONE)
        r->first++;
    for (size_t i = 0; i < r->sweep->jobs; i++) {
        struct sweep_worker *w = &r->worker[i];
        if (w->pid)
            continue;
        if (workers(r) && r->sweep->max_memory && runs_alone(r))
            return 0;
        if (next_group(r, w) && start_worker(r, w))
            return -1;
    }
    return 0;
}

/* ---- what workers tell ---------------------------------------------------------------------- */

/* False: it tells no more. */
static bool read_note(struct running *r, struct sweep_worker *w)
{
    struct sweep *s = r->sweep;
    struct worker_note n;

    if (read(w->notes, &n, sizeof n) != (ssize_t)sizeof n)
        return false;
    w->heard = now_seconds();
    if (n.what == TOLD_EVENTS)
        r->events += n.n;
    else if (n.what == TOLD_DONE)
        s->state[n.cell] = CELL_DONE;
    else if (n.what == TOLD_FAILED) {
        s->state[n.cell] = CELL_FAILED;
        s->code[n.cell] = (int)n.n;
    } else if (n.what == TOLD_NO_ROOM)
        err_set(r->e, LARD_OUTPUT,
                "%s: results can't be written, so the sweep stops; make room, and the same command "
                "goes on",
                s->folder->dir);
    return true;
}

static char *how_it_ended(const struct sweep_worker *w, int status, uint64_t timeout)
{
    if (w->large)
        return xstrdup("the process took more memory than --max-memory, and was ended");
    if (w->hung)
        return xasprintf("the process made no progress for %llu seconds, and was ended",
                         (unsigned long long)timeout);
    if (WIFSIGNALED(status))
        return xasprintf("the process was ended by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    return xasprintf("the process ended with exit code %d", WEXITSTATUS(status));
}

/* Settles the group of a worker that has ended: cells that it has left run again, alone; a cell
 * that was alone has failed. */
static int settle(struct running *r, struct sweep_worker *w, int status)
{
    struct sweep *s = r->sweep;
    int failed = 0;

    for (size_t i = 0; i < w->group.n; i++) {
        const size_t cell = w->group.cell[i];
        if (s->state[cell] != CELL_RUNNING)
            continue;
        s->state[cell] = CELL_MISSING;
        if (w->group.n > 1 || (w->crowded && !r->alone[cell])) {
            r->alone[cell] = true;
            continue;
        }
        char *how = how_it_ended(w, status, s->timeout);
        failed = sweep_failed(s->folder, s->plan->cell[cell].hash, how, w->log, r->e);
        s->state[cell] = CELL_FAILED;
        s->code[cell] = LARD_INTERNAL;
        free(how);
    }
    return failed;
}

static void forget_worker(struct sweep_worker *w)
{
    close(w->notes);
    unlink(w->log);
    free(w->log);
    w->log = NULL;
    w->pid = 0;
}

/* ---- the end of a worker, and of all -------------------------------------------------------- */

static int end_worker(struct running *r, struct sweep_worker *w)
{
    int status = 0;

    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    const int failed = r->e->code ? 0 : settle(r, w, status);
    forget_worker(w);
    return failed;
}

static void stop_workers(struct running *r)
{
    for (size_t i = 0; i < r->sweep->jobs; i++)
        if (r->worker[i].pid)
            kill(r->worker[i].pid, SIGKILL);
    for (size_t i = 0; i < r->sweep->jobs; i++)
        if (r->worker[i].pid) {
            while (waitpid(r->worker[i].pid, NULL, 0) < 0 && errno == EINTR)
                continue;
            forget_worker(&r->worker[i]);
        }
}

static void end_hung(struct running *r)
{
    for (size_t i = 0; i < r->sweep->jobs; i++) {
        struct sweep_worker *w = &r->worker[i];
        if (w->pid && r->sweep->timeout && now_seconds() - w->heard > (double)r->sweep->timeout) {
            w->hung = true;
            kill(w->pid, SIGKILL);
        }
    }
}

/* More than there is to take: the largest goes, and its cells run again by themselves. */
static void end_large(struct running *r)
{
    struct sweep_worker *largest = NULL;
    uint64_t all = 0, most = 0;

    for (size_t i = 0; i < r->sweep->jobs && r->sweep->max_memory; i++) {
        struct sweep_worker *w = &r->worker[i];
        const uint64_t bytes = w->pid ? process_memory((long)w->pid) : 0;
        all += bytes;
        if (bytes > most) {
            most = bytes;
            largest = w;
        }
    }
    if (largest && all > r->sweep->max_memory && !largest->large) {
        largest->large = true;
        largest->crowded = workers(r) > 1;
        kill(largest->pid, SIGKILL);
    }
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* Waits until a worker tells something, but not for long. */
static int wait_and_hear(struct running *r)
{
    const size_t n = r->sweep->jobs;
    struct pollfd *fd = xcalloc(n + 1, sizeof *fd);
    int failed = 0;

    for (size_t i = 0; i < n; i++)
        fd[i] = (struct pollfd){.fd = r->worker[i].pid ? r->worker[i].notes : -1, .events = POLLIN};
    fd[n] = (struct pollfd){.fd = r->signals, .events = POLLIN};
    const int heard = poll(fd, n + 1, 200);
    if (heard < 0 && errno != EINTR)
        failed = err_set(r->e, LARD_LIMIT, "sweep: its %zu processes can't be waited for: %s", n,
                         strerror(errno));
    if (heard > 0) {
        if (fd[n].revents)
            failed = engine_stopped(r->signals, r->sweep, ", and the same command goes on", r->e);
        for (size_t i = 0; i < n && !failed; i++)
            if (fd[i].revents && !read_note(r, &r->worker[i]))
                failed = end_worker(r, &r->worker[i]);
    }
    free(fd);
    return failed || r->e->code ? -1 : 0;
}

/* Each process takes an open file here, its pipe; what else lardsim opens at a time is less than
 * this. The limit that the shell gives is often lower than the one that there is. */
enum { OTHER_FILES = 32 };

static void fit_jobs(struct sweep *s)
{
    const size_t missing = sweep_count(s, CELL_MISSING), asked = s->jobs;
    struct rlimit files;

    if (s->jobs > missing) /* no more can run */
        s->jobs = missing ? missing : 1;
    const rlim_t need = s->jobs + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need)
        return;
    const rlim_t had = files.rlim_cur;
    files.rlim_cur = need < files.rlim_max ? need : files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files))
        files.rlim_cur = had;
    if (files.rlim_cur >= need)
        return;
    s->jobs = files.rlim_cur > OTHER_FILES + 1 ? files.rlim_cur - OTHER_FILES : 1;
    print_note("sweep: no more than %llu files may be open (ulimit -n), so %zu of %zu processes "
               "run at a time",
               (unsigned long long)files.rlim_cur, s->jobs, asked);
}

static void end(struct running *r)
{
    stop_workers(r);
    progress_clear(&r->progress);
    for (size_t i = 0; i < r->sweep->jobs; i++)
        free(r->worker[i].group.cell);
    engine_leave(r->signals, &r->before);
    free(r->worker);
    free(r->alone);
}

static int run_local(struct sweep *s, struct err *e)
{
    fit_jobs(s);
    struct running r = {.sweep = s,
                        .worker = xcalloc(s->jobs, sizeof *r.worker),
                        .alone = xcalloc(s->plan->n + 1, sizeof *r.alone),
                        .e = e};
    int failed;

    progress_begin(&r.progress, s->quiet, 0);
    for (failed = engine_listen(&r.signals, &r.before, e) || start_workers(&r);
         !failed && workers(&r) > 0;) {
        failed = wait_and_hear(&r);
        end_hung(&r);
        end_large(&r);
        sweep_progress(&r.progress, s, r.events);
        failed = failed || start_workers(&r);
    }
    end(&r);
    return failed ? -1 : 0;
}

const struct engine engine_local = {
    .name = "local", .help = "Processes on this machine.", .run = run_local, .follows = true};
