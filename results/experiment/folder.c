/* folder.c - the folder of a sweep: cells/ has what is done, failed/ what failed, tmp/ what is in
 * flight. A cell is written in tmp/ and renamed when it is whole, so that what is in cells/ counts,
 * however the process ends. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "base/yaml.h"
#include "results/experiment/sweep.h"

static const char *const rooms[] = {"cells", "failed", "tmp"};

char *sweep_path(const struct sweep_folder *f, const char *room, const char *hash)
{
    return hash ? xasprintf("%s/%s/%s", f->dir, room, hash) : xasprintf("%s/%s", f->dir, room);
}

char *folder_flight(const struct sweep_folder *f, const char *hash)
{
    return sweep_path(f, f->flight ? f->flight : "tmp", hash);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int cannot(const char *path, struct err *e)
{
    return err_set(e, LARD_OUTPUT, "%s: can't be written: %s; make room, or choose another folder",
                   path, strerror(errno));
}

static int move(const struct sweep_folder *f, const char *hash, const char *room, struct err *e)
{
    char *from = folder_flight(f, hash), *to = sweep_path(f, room, hash);
    /* over that of an earlier try */
    const int failed = folder_put(from, to, true) ? cannot(to, e) : 0;

    free(from);
    free(to);
    return failed;
}

int sweep_done(const struct sweep_folder *f, const char *hash, struct err *e)
{
    return move(f, hash, "cells", e);
}

/* ---- files of the folder's own -------------------------------------------------------------- */

char *sweep_read(const struct sweep_folder *f, const char *name, size_t *bytes, struct err *e)
{
    char *path = sweep_path(f, name, NULL);
    char *text = file_text(path, YAML_MAX_BYTES + 1, bytes);

    if (!text)
        sweep_unread(f->dir, name, e);
    free(path);
    return text;
}

struct outfile *sweep_file(const struct sweep_folder *f, const char *name, struct err *e)
{
    char *path = sweep_path(f, name, NULL);
    struct outfile *out = outfile_open(path, true, e);

    free(path);
    return out;
}

int sweep_write(const struct sweep_folder *f, const char *name, const char *text, size_t bytes,
                struct err *e)
{
    struct outfile *out = sweep_file(f, name, e);

    if (!out)
        return -1;
    fwrite(text, 1, bytes, outfile_stream(out));
    return outfile_commit(out, e);
}

/* ---- what failed ---------------------------------------------------------------------------- */

enum { LOG_MOST = 1 << 20 };

static void copy_text(FILE *to, const char *path)
{
    size_t bytes;
    char *text = path ? file_text(path, LOG_MOST, &bytes) : NULL;

    if (text)
        fwrite(text, 1, bytes, to);
    free(text);
}

int sweep_failed(const struct sweep_folder *f, const char *hash, const char *text, const char *more,
                 struct err *e)
{
    char *dir = folder_flight(f, hash), *path = xasprintf("%s/log", dir);
    struct outfile *log = NULL;
    int failed = 0;

    if (mkdir(dir, 0777) && errno != EEXIST)
        failed = cannot(dir, e);
    else
        log = outfile_open(path, true, e);
    if (log) {
        fprintf(outfile_stream(log), "%s\n", text);
        copy_text(outfile_stream(log), more);
        failed = outfile_commit(log, e) || move(f, hash, "failed", e);
    }
    free(dir);
    free(path);
    return failed || !log ? -1 : 0;
}

/* ---- whose folder it is --------------------------------------------------------------------- */

/* The lock file begins with it: a folder called tmp is emptied, so it must not be a stranger's. */
static const char mark[] = "lardsim sweep\n";

static bool begins_with(const struct sweep_folder *f, const char *name, const char *text)
{
    char *path = sweep_path(f, name, NULL);
    size_t bytes;
    char *some = file_text(path, strlen(text), &bytes);
    const bool is = some && !strcmp(some, text);

    free(some);
    free(path);
    return is;
}

/* Tells if the folder is empty but for the lock: a process that was killed before it wrote the mark
 * leaves no more. */
static bool is_empty(const struct sweep_folder *f)
{
    DIR *dir = opendir(f->dir);
    bool empty = true;

    for (struct dirent *d; dir && empty && (d = readdir(dir));)
        empty = !strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || !strcmp(d->d_name, "lock");
    if (dir)
        closedir(dir);
    return empty;
}

static int check_ours(const struct sweep_folder *f, struct err *e)
{
    if (is_empty(f) || begins_with(f, "lock", mark) || begins_with(f, "plan.csv", "cell,baseline,"))
        return 0;
    return err_set(
        e, LARD_OUTPUT,
        "%s: it has files, and they are no sweep's; give another folder, or an empty one", f->dir);
}

/* ---- one owner ------------------------------------------------------------------------------ */

static int make_rooms(const struct sweep_folder *f, struct err *e)
{
    int failed = 0;

    for (size_t i = 0; i < ARRAY_SIZE(rooms) && !failed; i++) {
        char *path = sweep_path(f, rooms[i], NULL);
        if (mkdir(path, 0777) && errno != EEXIST)
            failed = cannot(path, e);
        free(path);
    }
    return failed;
}

/* The processes of an owner that was killed may need a moment to end. */
enum { LOCK_MS = 1000 };

static int take_lock(struct sweep_folder *f, struct err *e)
{
    char *path = sweep_path(f, "lock", NULL);
    int failed = 0;

    f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (f->lock < 0)
        failed = cannot(path, e);
    else if (!folder_lock(f->lock, LOCK_MS))
        failed =
            err_set(e, LARD_OUTPUT,
                    "%s: another process runs this sweep; wait for it, or stop it first", f->dir);
    else if (pwrite(f->lock, mark, sizeof mark - 1, 0) != (ssize_t)sizeof mark - 1)
        failed = cannot(path, e);
    free(path);
    return failed;
}

int sweep_open(struct sweep_folder *f, const char *dir, struct err *e)
{
    *f = (struct sweep_folder){.dir = xstrdup(dir), .lock = -1};
    if (mkdir(f->dir, 0777) && errno != EEXIST)
        return cannot(f->dir, e);
    return check_ours(f, e) || take_lock(f, e) || make_rooms(f, e) || sweep_clean(f, e) ? -1 : 0;
}

void sweep_close(struct sweep_folder *f)
{
    if (f->lock >= 0)
        close(f->lock);
    free(f->dir);
}

/* All that is in the room: what a link leads to is not ours. */
int sweep_clean(const struct sweep_folder *f, struct err *e)
{
    char *path = sweep_path(f, "tmp", NULL);
    const int failed = folder_remove(path) || mkdir(path, 0777) ? cannot(path, e) : 0;

    free(path);
    return failed;
}

void folder_clean_flights(const struct sweep_folder *f)
{
    DIR *dir = opendir(f->dir);

    for (struct dirent *d; dir && (d = readdir(dir));)
        if (!strncmp(d->d_name, FLIGHT, sizeof FLIGHT - 1) ||
            !strncmp(d->d_name, INDEX_PART, sizeof INDEX_PART - 1)) {
            char *path = sweep_path(f, d->d_name, NULL);
            (void)folder_remove(path);
            free(path);
        }
    if (dir)
        closedir(dir);
}

/* ---- the state of its cells ----------------------------------------------------------------- */

enum cell_state *sweep_states(const struct sweep_folder *f, const struct listing *l,
                              size_t *damaged)
{
    enum cell_state *state = xcalloc(l->n + 1, sizeof *state);

    *damaged = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct err why = {0};
        state[i] = cell_state(f->dir, csv_at(&l->row[i], LISTED_CELL), &why);
        if (state[i] != CELL_DAMAGED)
            continue;
        (*damaged)++;
        print_note("%s", why.text);
    }
    return state;
}

int sweep_damaged(const struct sweep_folder *f, size_t cells, struct err *e)
{
    return err_set(e, LARD_TOLERANCE,
                   "%s: %zu cell%s not as it was written, and count%s as missing; `lardsim sweep "
                   "retry %s` makes %s again",
                   f->dir, cells, cells == 1 ? " is" : "s are each", cells == 1 ? "s" : "", f->dir,
                   cells == 1 ? "it" : "them");
}
