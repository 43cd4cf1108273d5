/* task.c - what engines beyond this machine share: a batch of tasks, each a list of cells in a file
 * of the folder, that some machine runs with `lardsim sweep task`; and what is shown of a sweep.
 *
 * Nothing of a spec goes through a shell: a task is told by two numbers, and the machine that runs
 * it reads the rest from the folder. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/program/place.h"
#include "base/program/stop.h"
#include "results/experiment/sweep.h"

/* ---- what is shown -------------------------------------------------------------------------- */

/* Shows the progress. The rest is taken to last as long as the cells that are done, in
 * proportion. */
void sweep_progress(struct progress *p, const struct sweep *s, uint64_t events)
{
    const size_t failed = sweep_count(s, CELL_FAILED), over = sweep_count(s, CELL_DONE) + failed;
    char left[32] = "?", so_far[32], rate[48] = "";

    if (!progress_due(p))
        return;
    const double seconds = p->looked - p->began;
    if (over > s->had)
        progress_time(left, seconds / (double)(over - s->had) * (double)(s->plan->n - over));
    if (events)
        snprintf(rate, sizeof rate, ", %.1f M events a second", (double)events / 1e6 / seconds);
    progress_show(p, "%zu of %zu cells (%zu failed, %zu under way), %s, %s left%s",
                  over - failed - s->others, s->plan->n - s->others, failed,
                  sweep_count(s, CELL_RUNNING), progress_time(so_far, seconds), left, rate);
}

/* ---- signals -------------------------------------------------------------------------------- */

int engine_listen(int *signals, sigset_t *before, struct err *e)
{
    *signals = stop_descriptor(before);
    return *signals < 0
               ? err_set(e, LARD_LIMIT, "sweep: signals can't be waited for: %s", strerror(errno))
               : 0;
}

void engine_leave(int signals, const sigset_t *before)
{
    if (signals < 0)
        return;
    close(signals);
    sigprocmask(SIG_SETMASK, before, NULL);
}

int engine_stopped(int signals, const struct sweep *s, const char *more, struct err *e)
{
    struct signalfd_siginfo info;

    if (read(signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return err_set(e, (enum lard_exit)(128 + info.ssi_signo),
                   "sweep: stopped by SIG%s; %zu of %zu cells are done%s",
                   sigabbrev_np((int)info.ssi_signo), sweep_count(s, CELL_DONE), s->plan->n, more);
}

/* ---- making tasks --------------------------------------------------------------------------- */

enum { TASK_CELLS = 1000 };

static struct group *add_task(struct batch_of_tasks *b)
{
    b->task = xgrow(b->task, b->n, &b->cap, sizeof *b->task);
    b->task[b->n] = (struct group){0};
    return &b->task[b->n++];
}

void tasks_make(struct batch_of_tasks *b, const struct sweep *s, const bool *alone, size_t most)
{
    struct group *open = NULL; /* the task that takes more */
    double has = 0;

    *b = (struct batch_of_tasks){0};
    for (size_t i = 0; i < s->plan->n; i++) {
        if (s->state[i] != CELL_MISSING)
            continue;
        const bool fits = open && !alone[i] && open->n < TASK_CELLS &&
                          has + s->predicted[i].seconds <= (double)s->elsewhere.seconds;
        if (!fits && b->n == most)
            break; /* the rest waits for the next batch */
        if (!fits) {
            open = add_task(b);
            has = 0;
        }
        group_add(open, i);
        has += s->predicted[i].seconds;
        if (alone[i])
            open = NULL;
    }
}

void tasks_free(struct batch_of_tasks *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->task[i].cell);
    free(b->task);
    *b = (struct batch_of_tasks){0};
}

/* ---- their file ----------------------------------------------------------------------------- */

unsigned tasks_last(const struct sweep_folder *f)
{
    char *path = sweep_path(f, "tasks", NULL), *end;
    DIR *dir = opendir(path);
    unsigned long last = 0;

    for (struct dirent *d; dir && (d = readdir(dir));) {
        const unsigned long n = strtoul(d->d_name, &end, 10);
        if (!*end && n > last && n < UINT_MAX)
            last = n;
    }
    if (dir)
        closedir(dir);
    free(path);
    return (unsigned)last;
}

static char *tasks_name(unsigned number)
{
    return xasprintf("tasks/%u", number);
}

int tasks_write(struct batch_of_tasks *b, const struct sweep_folder *f, const struct plan *p,
                struct err *e)
{
    char *room = sweep_path(f, "tasks", NULL);

    (void)mkdir(room, 0777); /* that it is not there is told by what follows */
    free(room);
    b->number = tasks_last(f) + 1;
    char *name = tasks_name(b->number);
    struct outfile *out = sweep_file(f, name, e);
    free(name);
    for (size_t i = 0; out && i < b->n; i++)
        for (size_t k = 0; k < b->task[i].n; k++)
            fprintf(outfile_stream(out), "%s%c", p->cell[b->task[i].cell[k]].hash,
                    k + 1 < b->task[i].n ? ' ' : '\n');
    return out ? outfile_commit(out, e) : -1;
}

static void take_line(struct batch_of_tasks *b, const struct plan *p, char *line)
{
    struct group *g = add_task(b);

    for (char *word; (word = strsep(&line, " "));) {
        const uint64_t *at = is_hash(word) ? map_find(&p->index, strtoull(word, NULL, 16)) : NULL;
        if (at)
            group_add(g, *at - 1);
    }
}

int tasks_read(struct batch_of_tasks *b, unsigned number, const struct sweep_folder *f,
               const struct plan *p, struct err *e)
{
    char *name = tasks_name(number), *rest, *line;
    size_t bytes;
    char *text = sweep_read(f, name, &bytes, e);

    *b = (struct batch_of_tasks){.number = number};
    free(name);
    for (rest = text; rest && *rest && (line = strsep(&rest, "\n"));)
        take_line(b, p, line);
    free(text);
    return text ? 0 : -1;
}

/* ---- for a shell ---------------------------------------------------------------------------- */

/* Between single quotes nothing means anything to a shell but a single quote. */
char *shell_quoted(const char *text)
{
    char *to = xstrdup("'");

    for (; *text; text++) {
        const char one[] = {*text, '\0'};
        xappend(&to, "", *text == '\'' ? "'\\''" : one);
    }
    xappend(&to, "", "'");
    return to;
}

/* A line of a script is read as a line by many, quotes or not. */
static int check_path(const char *path, struct err *e)
{
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if (*p < ' ' || *p == 0x7f)
            return err_set(e, LARD_USAGE,
                           "%s: has a control character in its path, which is not given to other "
                           "programs; rename it, or run the sweep with --engine local",
                           path);
    return 0;
}

static char *own_program(struct err *e)
{
    char *path = place_self();

    if (path && access(path, X_OK) == 0)
        return path;
    err_set(e, LARD_INTERNAL, "sweep: where lardsim is can't be found: %s", strerror(errno));
    free(path);
    return NULL;
}

/* Numbers alone. */
static char *task_options(const struct sweep *s)
{
    char memory[48] = "";

    if (s->max_memory)
        snprintf(memory, sizeof memory, " --max-memory %" PRIu64, s->max_memory);
    return xasprintf("-j %zu --timeout %" PRIu64 "%s%s", s->jobs, s->timeout,
                     s->elsewhere.accept_build ? " --accept-build" : "", memory);
}

char *task_command(const struct sweep *s, unsigned batch, struct err *e)
{
    char *dir = realpath(s->folder->dir, NULL), *program = own_program(e), *command = NULL;

    if (!dir)
        err_set(e, LARD_OUTPUT, "%s: %s", s->folder->dir, strerror(errno));
    if (dir && program && !check_path(dir, e) && !check_path(program, e)) {
        char *options = task_options(s), *quoted_dir = shell_quoted(dir);
        char *quoted = shell_quoted(program);
        command = xasprintf("%s sweep task %s %s %u", quoted, options, quoted_dir, batch);
        free(options);
        free(quoted);
        free(quoted_dir);
    }
    free(dir);
    free(program);
    return command;
}
