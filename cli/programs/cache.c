/* cache.c - the user's cache: a folder for each program that was built, and for each capture.
 *
 * A folder appears whole. Who uses one has a shared lock on it until his process ends, and who
 * makes one an exclusive lock on what it is made in: so nothing is removed that is in use, and what
 * somebody who was killed has left behind is known as such. The cache itself is locked while
 * folders are chosen. When a folder was used last is its time of modification. */
#include "cli/programs/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "cli/cli.h"

enum { LOCK_WAIT = 60 * 1000 }; /* ms: to remove a folder takes less */
static const char new_ending[] = ".XXXXXX";

char *cache_root(void)
{
    const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (given && *given == '/')
        return xasprintf("%s/lardsim/programs", given);
    return xasprintf("%s/.cache/lardsim/programs", home && *home ? home : "/tmp");
}

static int make_folders(char *path, struct err *e)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        const int bad = mkdir(path, 0777) && errno != EEXIST ? errno : 0;
        *at = '/';
        if (bad)
            return outfile_error(e, path, bad);
    }
    return 0;
}

char *cache_path(const char *name, struct err *e)
{
    char *root = cache_root(), *path = xasprintf("%s/%s", root, name);

    free(root);
    if (!make_folders(path, e))
        return path;
    free(path);
    return NULL;
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- in use --------------------------------------------------------------------------------- */

static bool is_same(int fd, const char *path)
{
    struct stat a, b;

    return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The lock ends with the process, however that ends. */
bool cache_hold(const char *path)
{
    for (int fd; (fd = open_folder(path)) >= 0; close(fd)) {
        (void)flock(fd, LOCK_SH); /* a file system without locks: nobody removes there */
        if (is_same(fd, path)) {
            (void)futimens(fd, NULL);
            return true;
        }
    }
    return false;
}

/* Whoever has it closes it. -1: somebody uses it. */
static int take(const char *path)
{
    const int fd = open_folder(path);

    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool remove_unused(const char *path)
{
    const int fd = take(path);

    if (fd < 0)
        return false;
    const bool done = !folder_remove(path);
    close(fd);
    return done;
}

/* ---- what is there -------------------------------------------------------------------------- */

static uint64_t bytes_in(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *at;
    uint64_t sum = 0;

    while (d && (at = readdir(d))) {
        struct stat is;
        char *path = xasprintf("%s/%s", dir, at->d_name);
        const bool real = strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0;
        if (real && !lstat(path, &is))
            sum += (uint64_t)is.st_blocks * 512 + (S_ISDIR(is.st_mode) ? bytes_in(path) : 0);
        free(path);
    }
    if (d)
        closedir(d);
    return sum;
}

/* What a folder is called while it is made; nothing else has a dot in its name. */
static bool is_unfinished(const char *name)
{
    return strchr(name, '.') != NULL;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec x = ((const struct cached *)a)->used,
                          y = ((const struct cached *)b)->used;

    if (x.tv_sec != y.tv_sec)
        return x.tv_sec < y.tv_sec ? -1 : 1;
    return x.tv_nsec < y.tv_nsec ? -1 : x.tv_nsec > y.tv_nsec;
}

void cache_read(struct cache_list *l)
{
    char *root = cache_root();
    DIR *d = opendir(root);
    const struct dirent *at;
    size_t cap = 0;

    *l = (struct cache_list){.n = 0};
    while (d && (at = readdir(d))) {
        char *path = xasprintf("%s/%s", root, at->d_name);
        struct stat is;
        if (at->d_name[0] != '.' && !is_unfinished(at->d_name) && !stat(path, &is) &&
            S_ISDIR(is.st_mode)) {
            l->at = xgrow(l->at, l->n, &cap, sizeof *l->at);
            l->at[l->n++] = (struct cached){xstrdup(at->d_name), bytes_in(path), is.st_mtim};
            l->bytes += l->at[l->n - 1].bytes;
        }
        free(path);
    }
    if (d)
        closedir(d);
    if (l->n)
        qsort(l->at, l->n, sizeof *l->at, by_use);
    free(root);
}

void cache_list_free(struct cache_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i].name);
    free(l->at);
}

/* ---- what goes ------------------------------------------------------------------------------ */

int cache_limit(uint64_t *to, struct err *e)
{
    const char *text = getenv("LARDSIM_CACHE_LIMIT");

    *to = UINT64_C(4) << 30;
    if (!text || !*text || cli_number(text, to))
        return 0;
    return err_set(e, LARD_USAGE,
                   "LARDSIM_CACHE_LIMIT: \"%.100s\" is no number of bytes; write it as 4Gi, or 0 "
                   "for no limit",
                   text);
}

static void remove_unfinished(const char *root)
{
    DIR *d = opendir(root);
    const struct dirent *at;

    while (d && (at = readdir(d))) {
        char *path = xasprintf("%s/%s", root, at->d_name);
        if (at->d_name[0] != '.' && is_unfinished(at->d_name))
            (void)remove_unused(path);
        free(path);
    }
    if (d)
        closedir(d);
}

void cache_tidy(void)
{
    char *root = cache_root();
    const int all = open_folder(root);

    if (all >= 0 && folder_lock(all, 0))
        remove_unfinished(root);
    if (all >= 0)
        close(all);
    free(root);
}

/* The least recently used go first. */
static void shrink(const char *root, uint64_t limit, bool quiet)
{
    struct cache_list l;

    cache_read(&l);
    for (size_t i = 0; limit && i < l.n && l.bytes > limit; i++) {
        char *path = xasprintf("%s/%s", root, l.at[i].name);
        if (remove_unused(path)) {
            l.bytes -= l.at[i].bytes;
            if (!quiet)
                cli_note("removed %s: the cache is limited by LARDSIM_CACHE_LIMIT", path);
        }
        free(path);
    }
    cache_list_free(&l);
}

int cache_forget(const struct cached *c, struct err *e)
{
    char *path = cache_path(c->name, e);
    const bool done = path && remove_unused(path);

    if (path && !done)
        err_set(e, LARD_OUTPUT, "%s: another lardsim uses it; wait for its end", path);
    free(path);
    return done ? 0 : -1;
}

/* ---- a new folder --------------------------------------------------------------------------- */

/* Locked from its first moment on: cache_tidy waits for that. What is started in it has the lock,
 * too, so that it stays while that runs. */
static int begin(const char *root, char *dir, struct err *e)
{
    const int all = open_folder(root);
    int fd = -1;

    if (all >= 0 && !folder_lock(all, LOCK_WAIT))
        err_set(e, LARD_OUTPUT, "%s: others have locked it all the time", root);
    else if (all < 0)
        outfile_error(e, root, errno);
    if (!e->code) {
        if (!mkdtemp(dir) || (fd = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
            outfile_error(e, dir, errno);
        else
            (void)flock(fd, LOCK_EX);
    }
    if (all >= 0)
        close(all);
    return fd;
}

int cache_make(const char *name, cache_fill_fn *fill, void *arg, bool quiet, struct err *e)
{
    uint64_t limit;
    char *root = cache_root(), *to = cache_path(name, e), *dir = xasprintf("%s%s", to, new_ending);
    const int fd = !to || cache_limit(&limit, e) ? -1 : begin(root, dir, e);
    int failed = fd < 0 || fill(arg, dir, e) ? -1 : 0;

    if (!failed && (chmod(dir, 0755) || folder_put(dir, to)))
        failed = outfile_error(e, to, errno);
    if (!failed) /* it is one of those that are used now */
        (void)flock(fd, LOCK_SH);
    if (!failed && !cache_hold(to))
        failed = outfile_error(e, to, errno);
    if (fd >= 0 && failed)
        (void)folder_remove(dir);
    if (fd >= 0)
        close(fd);
    if (!failed)
        shrink(root, limit, quiet);
    free(dir);
    free(to);
    free(root);
    return failed;
}
