/* folder.c - folders of results that appear whole or not at all, each with one owner.
 *
 * The owner has a lock on the folder (flock), which ends with the process however that ends. He
 * writes to a private folder beside it, ".NAME.lardsim-xxxxxx"; when all is there, the two change
 * places (renameat2), so that nobody ever sees files of two runs. What an owner who was killed has
 * left beside it, the next one removes: the private folder is locked, too, while somebody writes.
 *
 * Where the folder can't be replaced (somebody stands in it, it is a mount point, the folder above
 * can't be written to, it has files of others), files are moved one by one: DONE goes first and
 * comes last. Where a file system has no locks on folders, as some on a network, two owners don't
 * know of each other; the later one's folder stays, and is whole. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

struct folder {
    char *shown;   /* as given, for messages */
    char *target;  /* without links; NULL until it is locked, and of a private one */
    char *private; /* where files are written meanwhile; NULL until made */
    int lock;      /* on the target; -1: none */
    int own;       /* on the private one; -1: none */
    char *was;     /* the old DONE, while files are moved one by one; NULL: there was none */
    bool made;     /* the target was made for this */
    bool overwrite;
};

#define PRIVATE  ".lardsim-"
#define OLD_DONE ".DONE"

char *path_in(const char *dir, const char *name)
{
    return xasprintf("%s%s%s", dir, *dir ? "/" : "", name);
}

/* ---- what is in a folder -------------------------------------------------------------------- */

static int is_real(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* Calls fn for each name in dir, in any order; stops at the first result that is not 0. -1: dir
 * can't be read. */
static int each_name(const char *dir, int (*fn)(void *arg, const char *dir, const char *name),
                     void *arg)
{
    struct dirent **entry;
    const int n = scandir(dir, &entry, is_real, NULL);
    int result = n < 0 ? -1 : 0;

    for (int i = 0; i < n; i++) {
        if (!result)
            result = fn(arg, dir, entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return result;
}

static int remove_name(void *arg, const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    const int bad = folder_remove(path);

    (void)arg;
    free(path);
    return bad;
}

int folder_remove(const char *path)
{
    if (!unlink(path) || errno == ENOENT)
        return 0;
    return (errno == EISDIR || errno == EPERM) && !each_name(path, remove_name, NULL) &&
                   !rmdir(path)
               ? 0
               : -1;
}

/* Files of results folders, and how lardsim begins those that others have, too. */
#define JSON "{\n  \"schema\": \"lardsim-"
static const struct {
    const char *name, *begins;
    bool marks; /* a folder that has it is lardsim's */
} files[] = {
    {"DONE", "", false},          {"provenance.json", JSON, true},
    {"compare.json", JSON, true}, {"config.yaml", "# The complete configuration of ", false},
    {"stats.json", JSON, false},  {"host.json", JSON, false},
    {"stats.txt", "", false},     {"stats.csv", "", false},
    {"races.jsonl", "", false},   {"differences.jsonl", "", false},
    {"intervals.csv", "", false}};

static bool begins_with(const char *path, const char *text)
{
    char begin[64] = "";
    FILE *in = *text ? fopen(path, "r") : NULL;
    const size_t n = in ? fread(begin, 1, strlen(text), in) : 0;

    if (in)
        fclose(in);
    return n == strlen(text) && !memcmp(begin, text, n);
}

enum whose { EMPTY, LARDSIMS, MIXED, STRANGERS };

struct content {
    bool any, marked, others;
    char *conflict; /* owns; a file of somebody else, where lardsim has one */
    char *other;    /* owns; one that lardsim does not have */
};

static void note(char **to, const char *name)
{
    if (!*to)
        *to = xstrdup(name);
}

static enum whose whose_is(const char *dir, char **name);

/* A folder that lies in one of lardsim's is a part of it if DONE says so, or, where there is no
 * DONE, if it looks like one. */
static bool is_part(const char *dir, const char *name)
{
    char *done = path_in(dir, "DONE"), *path = path_in(dir, name), *other = NULL;
    struct stat st;
    const bool part = access(done, F_OK) == 0 ? folder_lists(done, name)
                                              : !lstat(path, &st) && S_ISDIR(st.st_mode) &&
                                                    whose_is(path, &other) == LARDSIMS;

    free(other);
    free(path);
    free(done);
    return part;
}

static void look_at_other(struct content *c, const char *dir, const char *name)
{
    if (strncmp(name, PRIVATE, sizeof PRIVATE - 1) == 0)
        return;
    c->any = true;
    if (is_part(dir, name))
        return;
    c->others = true;
    note(&c->other, name);
}

static int look_at(void *arg, const char *dir, const char *name)
{
    struct content *c = arg;
    size_t i = 0;

    while (i < ARRAY_SIZE(files) && strcmp(files[i].name, name) != 0)
        i++;
    if (i == ARRAY_SIZE(files)) {
        look_at_other(c, dir, name);
        return 0;
    }
    char *path = path_in(dir, name);
    c->any = true;
    if (!begins_with(path, files[i].begins))
        note(&c->conflict, name);
    else
        c->marked |= files[i].marks;
    free(path);
    return 0;
}

/* Tells who has written a folder. *name is somebody else's file in it, or NULL; the caller frees
 * it. */
static enum whose whose_is(const char *dir, char **name)
{
    struct content c = {.any = false};

    each_name(dir, look_at, &c);
    const enum whose whose = !c.any                    ? EMPTY
                             : c.conflict || !c.marked ? STRANGERS
                             : c.others                ? MIXED
                                                       : LARDSIMS;
    *name = c.conflict ? c.conflict : c.other;
    if (c.conflict)
        free(c.other);
    return whose;
}

/* ---- claiming ------------------------------------------------------------------------------- */

bool folder_lock(int fd, unsigned ms)
{
    static const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};

    for (;; ms -= 20) {
        if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
            return true;
        if (ms < 20)
            return false;
        nanosleep(&moment, NULL);
    }
}

static bool is_same(int fd, const char *path)
{
    struct stat a, b;

    return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int make_target(struct folder *f, struct err *e)
{
    struct stat st;

    f->made = mkdir(f->shown, 0777) == 0;
    if (f->made)
        return 0;
    if (errno != EEXIST)
        return err_set(e, LARD_OUTPUT,
                       "%s: can't make the results folder: %s; choose another with -o", f->shown,
                       strerror(errno));
    if (stat(f->shown, &st))
        return err_set(e, LARD_OUTPUT,
                       "%s: is a symbolic link that leads nowhere; choose another with -o",
                       f->shown);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, LARD_OUTPUT, "%s: exists and is no folder; choose another with -o",
                       f->shown);
    return 0;
}

/* 1: it was replaced before it was locked. */
static int lock_target(struct folder *f, struct err *e)
{
    f->lock = open(f->shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock < 0)
        return errno == ENOENT
                   ? 1
                   : err_set(e, LARD_OUTPUT, "%s: can't be read: %s; choose another with -o",
                             f->shown, strerror(errno));
    if (!folder_lock(f->lock, 0)) {
        f->made = false; /* somebody else has it now */
        return err_set(e, LARD_OUTPUT,
                       "%s: another run is writing to it; wait for its end, or choose another with "
                       "-o",
                       f->shown);
    }
    if (is_same(f->lock, f->shown))
        return 0;
    close(f->lock);
    f->lock = -1;
    return 1;
}

static int take_target(struct folder *f, struct err *e)
{
    for (int tries = 0; tries < 100; tries++) {
        const int result = make_target(f, e) ? -1 : lock_target(f, e);
        if (result < 0)
            return -1;
        if (result == 0) {
            f->target = realpath(f->shown, NULL);
            return f->target ? 0 : outfile_error(e, f->shown, errno);
        }
    }
    return err_set(e, LARD_OUTPUT,
                   "%s: others make and remove it all the time; choose another with -o", f->shown);
}

static int check_content(const struct folder *f, struct err *e)
{
    char *name;
    const enum whose whose = whose_is(f->target, &name);

    if (whose != EMPTY && !f->overwrite)
        err_set(e, LARD_OUTPUT,
                "%s: the folder exists; choose another with -o, or give --overwrite", f->shown);
    else if (whose == STRANGERS)
        err_set(e, LARD_OUTPUT,
                "%s: has %s, which lardsim did not write; --overwrite replaces results of lardsim "
                "alone; choose another with -o",
                f->shown, name ? name : "files");
    free(name);
    return e->code ? -1 : 0;
}

/* ---- the private folder --------------------------------------------------------------------- */

static size_t above(const char *target)
{
    return (size_t)(strrchr(target, '/') + 1 - target);
}

/* ".../.NAME.lardsim-" or ".../NAME/.lardsim-". */
static char *private_prefix(const struct folder *f, bool inside)
{
    const size_t n = above(f->target);

    return inside ? xasprintf("%s/" PRIVATE, f->target)
                  : xasprintf("%.*s.%.200s" PRIVATE, (int)n, f->target, f->target + n);
}

/* Removes a private folder whose owner has ended: nobody holds its lock any more. */
static int remove_left(void *prefix, const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    const char *start = strrchr(prefix, '/') + 1;
    const int fd = strncmp(name, start, strlen(start))
                       ? -1
                       : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
        folder_remove(path);
    if (fd >= 0)
        close(fd);
    free(path);
    return 0;
}

static void remove_all_left(const char *prefix)
{
    char *dir = xasprintf("%.*s", (int)above(prefix), prefix);

    each_name(dir, remove_left, (void *)(uintptr_t)prefix);
    free(dir);
}

static int make_private(struct folder *f, const char *prefix)
{
    const unsigned start = (unsigned)getpid();
    struct stat st;

    for (unsigned i = 0; i < 10000 && !f->private; i++) {
        char *path = xasprintf("%s%06x", prefix, (start * 4096 + i) & 0xffffff);
        if (mkdir(path, 0777) == 0) {
            f->private = path;
            break;
        }
        const int reason = errno;
        free(path);
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
    if (!f->private)
        return -1;
    /* The new folder takes the place of the old one with its rights, as far as that can be. */
    if (!f->made && fstat(f->lock, &st) == 0 && chmod(f->private, st.st_mode & 07777))
        errno = 0;
    f->own = open(f->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return f->own < 0 || !folder_lock(f->own, 0) ? -1 : 0;
}

/* Tells if the working directory is the target or lies in it: replacing the target would take it
 * away from under the process. */
static bool stands_in(const char *target)
{
    char *here = getcwd(NULL, 0);
    const size_t n = strlen(target);
    const bool in = here && strncmp(here, target, n) == 0 && (here[n] == '/' || !here[n]);

    free(here);
    return in;
}

static int open_private(struct folder *f, struct err *e)
{
    bool inside = stands_in(f->target);

    for (;; inside = true) {
        char *prefix = private_prefix(f, inside);
        remove_all_left(prefix);
        const int bad = make_private(f, prefix), reason = errno;
        free(prefix);
        if (!bad)
            return 0;
        if (inside || f->private)
            return outfile_error(e, f->shown, reason);
    }
}

static void folder_free(struct folder *f)
{
    if (f->own >= 0)
        close(f->own);
    if (f->lock >= 0)
        close(f->lock);
    free(f->shown);
    free(f->target);
    free(f->private);
    free(f->was);
    free(f);
}

void folder_abort(struct folder *f)
{
    if (!f)
        return;
    if (f->private)
        folder_remove(f->private);
    if (f->made && f->target)
        rmdir(f->target); /* unless somebody has put something there */
    folder_free(f);
}

struct folder *folder_claim(const char *dir, bool overwrite, struct err *e)
{
    struct folder *f = xcalloc(1, sizeof *f);

    *f = (struct folder){.shown = xstrdup(dir), .lock = -1, .own = -1, .overwrite = overwrite};
    if (!take_target(f, e) && !check_content(f, e) && !open_private(f, e))
        return f;
    folder_abort(f);
    return NULL;
}

struct folder *folder_private(const char *dir, struct err *e)
{
    if (mkdir(dir, 0777)) {
        outfile_error(e, dir, errno);
        return NULL;
    }
    struct folder *f = xcalloc(1, sizeof *f);
    *f = (struct folder){.shown = xstrdup(dir), .private = xstrdup(dir), .lock = -1, .own = -1};
    return f;
}

/* ---- what is written to it ------------------------------------------------------------------ */

const char *folder_path(const struct folder *f)
{
    return f->private;
}

struct outfile *folder_file(const struct folder *f, const char *name, struct err *e)
{
    char *path = path_in(f->private, name), *shown = path_in(f->shown, name);
    struct outfile *file = outfile_open_in(path, shown, e);

    free(path);
    free(shown);
    return file;
}

int folder_seal(const struct folder *f, uint64_t digest, struct err *e)
{
    struct outfile *done = folder_file(f, "DONE", e);

    if (!done)
        return -1;
    if (!seal_write(f->private, done, digest, e))
        return outfile_commit(done, e);
    outfile_abort(done);
    return -1;
}

/* ---- putting it there ----------------------------------------------------------------------- */

static void sync_above(const char *path)
{
    char *dir = xasprintf("%.*s", (int)above(path), path);

    outfile_sync_folder(dir);
    free(dir);
}

static int sync_path(const char *path, int flags)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
    const int bad = fd < 0 || outfile_sync(fd) ? -1 : 0, reason = errno;

    if (fd >= 0)
        close(fd);
    errno = reason;
    return bad;
}

/* The system is told of all files before it is waited for the first one. */
static int begin_sync(void *arg, const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    (void)arg;
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (fd >= 0)
        close(fd);
    free(path);
    return 0;
}

static int sync_tree(const char *path);

static int sync_name(void *arg, const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    struct stat st;
    int bad = lstat(path, &st);

    (void)arg;
    if (!bad && S_ISDIR(st.st_mode))
        bad = sync_tree(path);
    else if (!bad && S_ISREG(st.st_mode))
        bad = sync_path(path, 0);
    free(path);
    return bad;
}

static int sync_tree(const char *path)
{
    return each_name(path, begin_sync, NULL) || each_name(path, sync_name, NULL) ||
                   sync_path(path, O_DIRECTORY)
               ? -1
               : 0;
}

int folder_put(const char *from, const char *to, bool replace)
{
    if (sync_tree(from) ||
        (rename(from, to) && (!replace || folder_remove(to) || rename(from, to))))
        return -1;
    sync_above(to);
    return 0;
}

static bool can_not(int reason)
{
    return reason == EINVAL || reason == ENOSYS || reason == ENOTSUP;
}

/* A file system without an exchange: for a moment there is no folder of that name. */
static int replace_in_two(const struct folder *f, const char *aside)
{
    if (rename(f->target, aside))
        return -1;
    if (!rename(f->private, f->target))
        return rename(aside, f->private);
    const int reason = errno;
    if (rename(aside, f->target))
        return -1;
    errno = reason;
    return -1;
}

/* The private folder's name is the old folder's then. */
static int exchange(const struct folder *f)
{
    char *aside = xasprintf("%s.old", f->private);
    int result = renameat2(AT_FDCWD, f->private, AT_FDCWD, f->target, RENAME_EXCHANGE);

    if (result && can_not(errno))
        result = replace_in_two(f, aside);
    free(aside);
    return result;
}

static int rename_new(const char *from, const char *to)
{
    const int result = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

    if (!result || !can_not(errno))
        return result;
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Removes a file of the old results if lardsim wrote it. Their DONE is gone by now; f->was knows
 * what it listed. */
static int remove_old(void *arg, const char *dir, const char *name)
{
    const struct folder *f = arg;
    bool old = f->was ? folder_lists(f->was, name) : is_part(dir, name);

    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        old |= !strcmp(files[i].name, name);
    return old ? remove_name(NULL, dir, name) : 0;
}

/* From here on the folder is not whole. */
static int take_done(struct folder *f)
{
    char *done = path_in(f->target, "DONE");
    const bool whole = access(done, F_OK) == 0;
    int bad = 0;

    if (whole) {
        f->was = xasprintf("%s/%s", f->private, OLD_DONE);
        bad = rename(done, f->was) || outfile_sync(f->lock);
    }
    free(done);
    return bad;
}

static int move_file(const struct folder *f, const char *name)
{
    char *from = path_in(f->private, name), *to = path_in(f->target, name);
    const int result = rename_new(from, to), reason = errno;

    free(from);
    free(to);
    errno = reason;
    return result;
}

static int move_name(void *arg, const char *dir, const char *name)
{
    (void)dir;
    return strcmp(name, "DONE") && strcmp(name, OLD_DONE) ? move_file(arg, name) : 0;
}

static int put_files(struct folder *f, bool replace)
{
    char *done = path_in(f->private, "DONE");
    const bool whole = access(done, F_OK) == 0;

    free(done);
    if (replace && (take_done(f) || each_name(f->target, remove_old, f)))
        return -1;
    if (each_name(f->private, move_name, f) || outfile_sync(f->lock))
        return -1;
    return whole && (move_file(f, "DONE") || outfile_sync(f->lock)) ? -1 : 0;
}

static bool is_inside(const struct folder *f)
{
    return !strncmp(f->private, f->target, strlen(f->target)) &&
           f->private[strlen(f->target)] == '/';
}

/* Others may have put files there since it was claimed. */
static int content_put(struct folder *f)
{
    char *name;
    const enum whose whose = whose_is(f->target, &name);
    const bool old = whose == LARDSIMS || whose == MIXED;

    free(name);
    if (whose == STRANGERS || (old && !f->overwrite)) {
        errno = EEXIST;
        return -1;
    }
    if (!is_inside(f) && whose != MIXED) {
        /* The old one, now under the private name, can wait for the next owner to be removed. */
        if (!(old ? exchange(f) : rename(f->private, f->target))) {
            sync_above(f->target);
            return 0;
        }
        if (errno != EBUSY && errno != EACCES && errno != EPERM && errno != ENOTEMPTY &&
            errno != EEXIST)
            return -1;
    }
    return put_files(f, old);
}

int folder_commit(struct folder *f, struct err *e)
{
    if (!f->target) {
        folder_free(f);
        return 0;
    }
    if (sync_tree(f->private) || content_put(f)) {
        outfile_error(e, f->shown, errno);
        folder_abort(f);
        return -1;
    }
    folder_remove(f->private); /* if it is still there, it has what is old */
    folder_free(f);
    return 0;
}
