/* slurm.c - runs the cells of a sweep as job arrays of Slurm, on machines that see the folder: a
 * batch of tasks is an array, a task an element of it. What is done is told by the folder alone;
 * Slurm is asked which tasks it still has. So neither a restart of Slurm's controller nor one of
 * this process loses anything: jobs have a name by which they are found again.
 *
 * Programs of Slurm are run with their arguments as they are, by no shell. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/print.h"
#include "base/folder.h"
#include "results/experiment/sweep.h"

/* Slurm is asked each 2 seconds at first, then ever less often. A task that it did not have twice
 * is over. A cell that was alone in a task and has no results has failed. */
static const double ASK_FIRST = 2, ASK_LAST = 30;
enum { ABSENT = 2, LOOK_MS = 500, ARRAY_DEFAULT = 1001 };

struct slurm_array { /* a batch that was handed to Slurm */
    struct batch_of_tasks tasks;
    bool submitted;
    unsigned *absent; /* owns; by task: how often in turn Slurm did not have it; ABSENT: over */
};
struct slurm {
    struct sweep *sweep;
    struct slurm_array *array; /* owns */
    size_t n, cap;
    char *name;       /* owns; jobs are called NAME-BATCH */
    bool *alone;      /* owns; by cell: has a task of its own, or must get one */
    size_t *owner;    /* owns; by cell: the array that has it now */
    size_t array_max; /* elements of an array */
    int signals;      /* a descriptor for those that stop the sweep */
    sigset_t before;  /* the mask that programs get */
    struct progress progress;
    double began, asked, complained; /* by the progress's clock */
    struct err *e;
};

/* ---- programs of Slurm ---------------------------------------------------------------------- */

static int stopped(struct slurm *r)
{
    char *more =
        xasprintf(". Its jobs stay in Slurm, and the same command follows them; `squeue --me` "
                  "shows them (%s-...), and `scancel --me --name=%s-%u` ends the latest",
                  r->name, r->name, r->n ? r->array[r->n - 1].tasks.number : 1);
    const int failed = engine_stopped(r->signals, r->sweep, more, r->e);

    free(more);
    return failed;
}

static void exec_tool(const struct slurm *r, char *const argv[], int out)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    sigprocmask(SIG_SETMASK, &r->before, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
    _exit(127);
}

/* Copies a command's output to `to`, until the command ends or the sweep is stopped. */
static int hear(struct slurm *r, int from, FILE *to)
{
    struct pollfd fd[] = {{.fd = from, .events = POLLIN}, {.fd = r->signals, .events = POLLIN}};
    char some[4096];

    for (;;) {
        if (poll(fd, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return err_set(r->e, LARD_LIMIT, "sweep: a command can't be waited for: %s",
                           strerror(errno));
        }
        if (fd[1].revents && stopped(r))
            return -1;
        const ssize_t n = fd[0].revents ? read(from, some, sizeof some) : 1;
        if (n <= 0)
            return 0;
        if (fd[0].revents)
            fwrite(some, 1, (size_t)n, to);
    }
}

/* Runs a command. Returns its exit code, and its output, which the caller owns. -1: *r->e says
 * why. */
static int tool(struct slurm *r, char *const argv[], char **printed)
{
    int ends[2], status = 0;
    size_t bytes;

    *printed = NULL;
    if (pipe2(ends, O_CLOEXEC))
        return err_set(r->e, LARD_INTERNAL, "sweep: no pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        exec_tool(r, argv, ends[1]);
    close(ends[1]);
    FILE *to = xmemstream(printed, &bytes);
    const int failed = pid < 0
                           ? err_set(r->e, LARD_INTERNAL, "sweep: no process: %s", strerror(errno))
                           : hear(r, ends[0], to);
    close(ends[0]);
    fclose(to);
    if (failed && pid > 0)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return failed ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

static char *one_line(char *text)
{
    for (char *p = text; (p = strchr(p, '\n'));)
        *p = p[1] ? ' ' : '\0';
    return text;
}

/* ---- is Slurm there ------------------------------------------------------------------------- */

/* Told at once, then each 30 seconds: the controller may be on its way back. */
static void complain(struct slurm *r, const char *printed)
{
    const double now = r->progress.clock();

    if (r->complained > 0 && (r->sweep->quiet || now < r->complained + 30))
        return;
    r->complained = now;
    progress_clear(&r->progress);
    print_note("sweep: Slurm does not answer (%s); its jobs go on, and the sweep waits for it",
               printed);
}

static bool controller_is_up(struct slurm *r)
{
    char *const argv[] = {(char *)(uintptr_t) "scontrol", (char *)(uintptr_t) "ping", NULL};
    char *printed;
    const int code = tool(r, argv, &printed);
    const bool up = code == 0 && strstr(printed, " is UP");

    free(printed);
    return up;
}

/* How many elements an array may have, which its administrator sets. */
static int ask_array_max(struct slurm *r)
{
    char *const argv[] = {(char *)(uintptr_t) "scontrol", (char *)(uintptr_t) "show",
                          (char *)(uintptr_t) "config", NULL};
    char *printed;
    const int code = tool(r, argv, &printed);
    const char *at = code == 0 ? strstr(printed, "MaxArraySize") : NULL;

    if (code == 127)
        err_set(r->e, LARD_USAGE,
                "sweep: Slurm's programs (sbatch, squeue, scontrol) are not found; install them, "
                "or give --engine local or shell");
    r->array_max = ARRAY_DEFAULT;
    if (at && (at = strchr(at, '=')))
        r->array_max = strtoull(at + 1, NULL, 10);
    if (r->array_max < 2)
        r->array_max = 2;
    free(printed);
    return r->e->code ? -1 : 0;
}

/* ---- submitting ----------------------------------------------------------------------------- */

static bool made_of(const char *text, const char *chars)
{
    return *text && text[strspn(text, chars)] == '\0' && *text != '-';
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

static int check_options(const struct elsewhere *o, struct err *e)
{
    const struct {
        const char *option, *value, *chars, *example;
    } all[] = {{"partition", o->partition, LETTERS DIGITS "_.,-", "batch or batch,long"},
               {"account", o->account, LETTERS DIGITS "_.-", "project7"},
               {"time", o->time, DIGITS ":-", "90 (minutes), 1:30:00 or 2-12:00"},
               {"memory", o->memory, DIGITS "KMGT", "4G"}};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (all[i].value && !made_of(all[i].value, all[i].chars))
            return err_set(e, LARD_USAGE,
                           "--%s: \"%s\" is nothing that Slurm takes there; write it as %s",
                           all[i].option, all[i].value, all[i].example);
    return 0;
}

/* Writes the script of an array. Slurm keeps a copy of this file for it. */
static int write_script(struct slurm *r, unsigned batch, char **path)
{
    const struct sweep_folder *f = r->sweep->folder;
    char *command = task_command(r->sweep, batch, r->e), *dir = realpath(f->dir, NULL);

    *path = NULL;
    if (command && dir) {
        char *log = xasprintf("%s/tasks/%u-", dir, batch), *quoted = shell_quoted(log);
        char *name = xasprintf("tasks/%u.sh", batch);
        char *text = xasprintf("#!/bin/sh\n"
                               "# An element of a job array of lardsim sweep --engine slurm.\n"
                               "exec >>%s\"$SLURM_ARRAY_TASK_ID\".log 2>&1 </dev/null\n"
                               "exec %s \"$SLURM_ARRAY_TASK_ID\"\n",
                               quoted, command);
        if (!sweep_write(f, name, text, strlen(text), r->e))
            *path = xasprintf("%s/%s", dir, name);
        free(log);
        free(quoted);
        free(name);
        free(text);
    }
    free(command);
    free(dir);
    return *path ? 0 : -1;
}

struct arguments {
    char *at[20]; /* own */
    size_t n;
};

static void argue(struct arguments *a, char *text)
{
    a->at[a->n++] = text;
}

static void argue_if(struct arguments *a, const char *option, const char *value)
{
    if (value)
        argue(a, xasprintf("%s=%s", option, value));
}

static struct arguments sbatch_arguments(const struct slurm *r, const struct slurm_array *a,
                                         const char *script)
{
    const struct elsewhere *o = &r->sweep->elsewhere;
    static const char *const always[] = {"sbatch",    "--parsable",         "--requeue",
                                         "--chdir=/", "--output=/dev/null", "--ntasks=1"};
    struct arguments to = {.n = 0};

    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        argue(&to, xstrdup(always[i]));
    argue(&to, xasprintf("--job-name=%s-%u", r->name, a->tasks.number));
    argue(&to, xasprintf("--array=0-%zu", a->tasks.n - 1));
    argue(&to, xasprintf("--cpus-per-task=%zu", r->sweep->jobs));
    argue_if(&to, "--partition", o->partition);
    argue_if(&to, "--account", o->account);
    argue_if(&to, "--time", o->time);
    argue_if(&to, "--mem", o->memory);
    argue(&to, xstrdup(script));
    return to;
}

/* Submits a batch. While the controller is away the batch waits to be submitted when it is back;
 * the batch's name then tells if it was submitted after all. */
static int submit(struct slurm *r, struct slurm_array *a)
{
    char *script, *printed;

    if (write_script(r, a->tasks.number, &script))
        return -1;
    struct arguments args = sbatch_arguments(r, a, script);
    const int code = tool(r, args.at, &printed);
    if (code == 0)
        a->submitted = true;
    else if (code > 0 && controller_is_up(r))
        err_set(r->e, LARD_CONFIG, "sweep: sbatch refuses the jobs: %.600s", one_line(printed));
    else if (code > 0)
        complain(r, one_line(printed));
    free(printed);
    free(script);
    for (size_t i = 0; i < args.n; i++)
        free(args.at[i]);
    return r->e->code ? -1 : 0;
}

static struct slurm_array *add_array(struct slurm *r, struct batch_of_tasks tasks)
{
    r->array = xgrow(r->array, r->n, &r->cap, sizeof *r->array);
    struct slurm_array *a = &r->array[r->n++];
    *a = (struct slurm_array){.tasks = tasks, .absent = xcalloc(tasks.n + 1, sizeof *a->absent)};
    return a;
}

/* Marks the array's missing cells as under way. */
static void own(struct slurm *r, const struct slurm_array *a)
{
    for (size_t i = 0; i < a->tasks.n; i++)
        for (size_t k = 0; k < a->tasks.task[i].n; k++) {
            const size_t cell = a->tasks.task[i].cell[k];
            if (r->sweep->state[cell] == CELL_DONE || r->sweep->state[cell] == CELL_FAILED)
                continue;
            r->sweep->state[cell] = CELL_RUNNING;
            r->owner[cell] = (size_t)(a - r->array);
        }
}

/* All that is missing, as arrays. */
static int submit_missing(struct slurm *r)
{
    while (sweep_count(r->sweep, CELL_MISSING)) {
        struct batch_of_tasks tasks;
        tasks_make(&tasks, r->sweep, r->alone, r->array_max - 1);
        if (tasks_write(&tasks, r->sweep->folder, r->sweep->plan, r->e)) {
            tasks_free(&tasks);
            return -1;
        }
        struct slurm_array *a = add_array(r, tasks);
        own(r, a);
        if (submit(r, a))
            return -1;
    }
    return 0;
}

/* ---- what Slurm has ------------------------------------------------------------------------- */

/* "lardsim-0123456789abcdef-3 17": the array is there, and its element, which is not absent. */
static void take_job(struct slurm *r, const char *line)
{
    const size_t n = strlen(r->name);
    char *end;

    if (strncmp(line, r->name, n) != 0 || line[n] != '-')
        return;
    const unsigned long batch = strtoul(line + n + 1, &end, 10);
    const unsigned long task = *end == ' ' ? strtoul(end + 1, &end, 10) : SIZE_MAX;
    for (size_t i = 0; i < r->n; i++)
        if (r->array[i].tasks.number == batch && task < r->array[i].tasks.n) {
            r->array[i].absent[task] = 0;
            r->array[i].submitted = true;
        }
}

/* Asks Slurm about all batches, also those of an earlier process. 1; 0: Slurm does not answer; -1:
 * stopped. */
static int ask(struct slurm *r)
{
    char *names = NULL, *printed;

    for (size_t i = 0; i < r->n; i++) {
        char *one = xasprintf("%s-%u", r->name, r->array[i].tasks.number);
        xappend(&names, ",", one);
        free(one);
    }
    char *option = xasprintf("--name=%s", names ? names : r->name);
    char *const argv[] = {(char *)(uintptr_t) "squeue",         (char *)(uintptr_t) "--noheader",
                          (char *)(uintptr_t) "--array",        option,
                          (char *)(uintptr_t) "--format=%j %K", NULL};
    const int code = tool(r, argv, &printed);
    if (code == 0) {
        for (size_t i = 0; i < r->n; i++) /* all are absent once more */
            for (size_t k = 0; k < r->array[i].tasks.n; k++)
                r->array[i].absent[k]++;
        for (char *rest = printed, *line; rest && (line = strsep(&rest, "\n"));)
            take_job(r, line);
    } else if (code > 0) {
        complain(r, one_line(printed));
    }
    free(option);
    free(names);
    free(printed);
    return code < 0 ? -1 : code == 0;
}

/* ---- what the folder has -------------------------------------------------------------------- */

/* Asked anew: a network file system may remember what was not there. */
static void refresh(const struct sweep_folder *f, const char *room)
{
    char *path = sweep_path(f, room, NULL);
    DIR *dir = opendir(path);

    if (dir)
        closedir(dir);
    free(path);
}

static void look(struct sweep *s)
{
    refresh(s->folder, "cells");
    refresh(s->folder, "failed");
    for (size_t i = 0; i < s->plan->n; i++) {
        const char *hash = s->plan->cell[i].hash;
        if (s->state[i] != CELL_MISSING && s->state[i] != CELL_RUNNING)
            continue;
        struct err why = {0}; /* what is damaged may not have come here yet, all of it */
        const enum cell_state is = cell_state(s->folder->dir, hash, &why);
        if (is == CELL_DONE || is == CELL_FAILED)
            s->state[i] = is;
    }
}

/* ---- tasks that are over -------------------------------------------------------------------- */

static int fail_cell(struct slurm *r, size_t cell, unsigned batch, size_t task)
{
    static const char how[] = "its task in Slurm ended without results, twice: by a limit of time "
                              "or memory, by scancel, or with its machine";
    const struct sweep_folder *f = r->sweep->folder;
    char *log = xasprintf("%s/tasks/%u-%zu.log", f->dir, batch, task);
    const int failed = sweep_failed(f, r->sweep->plan->cell[cell].hash, how, log, r->e);

    free(log);
    r->sweep->state[cell] = CELL_FAILED;
    r->sweep->code[cell] = LARD_INTERNAL;
    return failed;
}

/* Settles a task that has ended: cells that it has left run again, alone; a cell that was alone has
 * failed. */
static int settle(struct slurm *r, const struct slurm_array *a, size_t task)
{
    const struct group *g = &a->tasks.task[task];

    for (size_t i = 0; i < g->n; i++) {
        const size_t cell = g->cell[i];
        if (r->sweep->state[cell] != CELL_RUNNING || r->owner[cell] != (size_t)(a - r->array))
            continue;
        if (r->alone[cell] && a->submitted) {
            if (fail_cell(r, cell, a->tasks.number, task))
                return -1;
            continue;
        }
        r->alone[cell] = a->submitted;
        r->sweep->state[cell] = CELL_MISSING;
    }
    return 0;
}

static int settle_all(struct slurm *r)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->array[i].tasks.n; k++)
            if (r->array[i].absent[k] == ABSENT && settle(r, &r->array[i], k))
                return -1;
    return 0;
}

/* ---- an earlier process --------------------------------------------------------------------- */

/* Batches whose jobs may still be there. Until Slurm says that they are not, their cells run. */
static void find_earlier(struct slurm *r)
{
    const unsigned last = tasks_last(r->sweep->folder);

    for (unsigned b = 1; b <= last; b++) {
        struct batch_of_tasks tasks;
        struct err gone = {0};
        if (tasks_read(&tasks, b, r->sweep->folder, r->sweep->plan, &gone))
            continue;
        own(r, add_array(r, tasks));
    }
}

/* ---- the loop ------------------------------------------------------------------------------- */

static double ask_again_after(const struct slurm *r, double now)
{
    const double gap = (now - r->began) / 20;

    return gap < ASK_FIRST ? ASK_FIRST : gap > ASK_LAST ? ASK_LAST : gap;
}

static int wait_a_moment(struct slurm *r)
{
    struct pollfd fd = {.fd = r->signals, .events = POLLIN};

    const int heard = poll(&fd, 1, LOOK_MS);

    if (heard < 0 && errno != EINTR)
        return err_set(r->e, LARD_LIMIT, "sweep: Slurm can't be waited for: %s", strerror(errno));
    return heard > 0 ? stopped(r) : 0;
}

/* The folder is looked at after Slurm was asked: a task that is over has put there what it has. */
static int step(struct slurm *r)
{
    const double now = r->progress.clock();

    if (r->n && now >= r->asked + ask_again_after(r, now)) {
        const int answer = ask(r);
        if (answer < 0)
            return -1;
        r->asked = now;
        look(r->sweep);
        if (answer && settle_all(r))
            return -1;
    }
    look(r->sweep);
    if (submit_missing(r))
        return -1;
    sweep_progress(&r->progress, r->sweep, 0);
    return wait_a_moment(r);
}

static int begin(struct slurm *r)
{
    char *dir = realpath(r->sweep->folder->dir, NULL);
    const char *text = dir ? dir : r->sweep->folder->dir;

    progress_begin(&r->progress, r->sweep->quiet, 1);
    r->began = r->progress.clock();
    r->name = xasprintf("lardsim-%016" PRIx64, digest_bytes(text, strlen(text)));
    free(dir);
    return engine_listen(&r->signals, &r->before, r->e);
}

static void end(struct slurm *r)
{
    progress_clear(&r->progress);
    for (size_t i = 0; i < r->n; i++) {
        tasks_free(&r->array[i].tasks);
        free(r->array[i].absent);
    }
    engine_leave(r->signals, &r->before);
    free(r->array);
    free(r->alone);
    free(r->owner);
    free(r->name);
}

/* Removes the tasks of a sweep that went well: its results are kept, and nothing else. */
static void tidy(const struct sweep *s)
{
    char *tasks = sweep_path(s->folder, "tasks", NULL);

    if (sweep_count(s, CELL_DONE) == s->plan->n) {
        folder_remove(tasks);
        folder_clean_flights(s->folder);
    }
    free(tasks);
}

static int run_slurm(struct sweep *s, struct err *e)
{
    struct slurm r = {.sweep = s,
                      .alone = xcalloc(s->plan->n + 1, sizeof *r.alone),
                      .owner = xcalloc(s->plan->n + 1, sizeof *r.owner),
                      .e = e};

    int failed = begin(&r) || check_options(&s->elsewhere, e) ? -1 : 0;
    if (!failed && sweep_count(s, CELL_MISSING)) {
        failed = ask_array_max(&r);
        find_earlier(&r);
    }
    while (!failed && sweep_count(s, CELL_MISSING) + sweep_count(s, CELL_RUNNING) > 0)
        failed = step(&r);
    end(&r);
    if (!failed)
        tidy(s);
    return failed ? -1 : 0;
}

const struct engine engine_slurm = {.name = "slurm",
                                    .help = "Job arrays of Slurm, on machines that see the folder.",
                                    .run = run_slurm,
                                    .follows = true};
