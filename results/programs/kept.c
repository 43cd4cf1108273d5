/* kept.c - what is kept: a folder for each program that was built, and for each capture.
 *
 * A folder appears whole. Who uses one has a shared lock on it until his process ends. Who makes
 * one has an exclusive lock on what it is made in, and on what it is to replace; who removes one
 * has that, too. So nothing goes that is in use, and what somebody who was killed has left behind
 * is known as such. The root is locked while folders are chosen. When a folder was used
 * last is its time of modification.
 *
 * A folder is lardsim's if provenance.yaml in it says of what program it is, and it has a name that
 * lardsim gives to folders of that program. All else in the root is somebody's own: it is neither
 * counted nor removed. */
#include "results/programs/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/programs/programs.h"
#include "base/program/stop.h"

enum { LOCK_WAIT = 60 * 1000, SHORT_WAIT = 1000 }; /* ms: to remove a folder, to look at one */
static const char provenance_name[] = "provenance.yaml";
/* The ending of a folder's name while it is made or removed: six letters take the place of the
 * X. */
#define ENDING ".lardsim-"
static const char new_ending[] = ENDING "XXXXXX";

char *kept_root(void)
{
    const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (given && *given == '/')
        return xasprintf("%s/lardsim/programs", given);
    return home && *home == '/' ? xasprintf("%s/.cache/lardsim/programs", home) : NULL;
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

char *kept_path(const char *name, struct err *e)
{
    char *root = kept_root(), *path = root ? xasprintf("%s/%s", root, name) : NULL;

    free(root);
    if (!path)
        err_set(e, LARD_OUTPUT,
                "there is no place for what is built and captured: set HOME or XDG_CACHE_HOME, a "
                "path from the root on");
    else if (!make_folders(path, e))
        return path;
    free(path);
    return NULL;
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- whose it is ---------------------------------------------------------------------------- */

/* True for a folder of the user's own. A link may lead elsewhere, and another user can change his
 * folder at any time. */
static bool is_own_folder(const char *path)
{
    struct stat is;

    return !lstat(path, &is) && S_ISDIR(is.st_mode) && is.st_uid == geteuid();
}

/* Returns the text of provenance.yaml, the caller's; NULL: there is none. */
static char *provenance_in(const char *dir)
{
    char *path = xasprintf("%s/%s", dir, provenance_name), *text = NULL;
    FILE *in = fopen(path, "re");
    size_t room = 0;

    if (in && getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    free(path);
    return text;
}

/* "-small-4", "-small-4-parallel": what follows the program in the name of a capture. */
static bool is_capture_of_it(const char *rest)
{
    for (size_t i = 0; i < PROGRAM_SIZES; i++) {
        const size_t n = strlen(program_sizes[i]);
        if (*rest != '-' || strncmp(rest + 1, program_sizes[i], n) != 0 || rest[n + 1] != '-')
            continue;
        const size_t digits = strspn(rest + n + 2, "0123456789");
        const char *behind = rest + n + 2 + digits;
        return digits && (!*behind || !strcmp(behind, "-parallel"));
    }
    return false;
}

/* Returns the program to which the folder belongs, if it is lardsim's and called `name`; the
 * caller's. NULL: it is not. */
static char *program_of(const char *dir, const char *name)
{
    static const char key[] = "program: ";
    char *text = is_own_folder(dir) ? provenance_in(dir) : NULL, *program = NULL;

    if (text && !strncmp(text, key, sizeof key - 1)) {
        const char *from = text + sizeof key - 1;
        const size_t n = strcspn(from, "\n");
        if (n && !strncmp(name, from, n) && (!name[n] || is_capture_of_it(name + n)))
            program = xasprintf("%.*s", (int)n, from);
    }
    free(text);
    return program;
}

static bool is_ours(const char *dir, const char *name)
{
    char *program = program_of(dir, name);
    const bool ours = program != NULL;

    free(program);
    return ours;
}

static const char *name_in(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* ---- in use --------------------------------------------------------------------------------- */

static bool is_same(int fd, const char *path)
{
    struct stat a, b;

    return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Takes a shared lock on a folder, and waits for it. False: a signal came. On a file system without
 * locks there is none, and nobody removes folders there. */
static bool share(int fd, const char *path, bool *quiet)
{
    if (!flock(fd, LOCK_SH | LOCK_NB) || errno != EWOULDBLOCK)
        return true;
    if (!*quiet)
        print_note("waiting for another lardsim, which makes or removes %s", path);
    *quiet = true;
    return !flock(fd, LOCK_SH) || errno != EINTR;
}

int kept_hold(const char *path, bool quiet)
{
    for (int fd; (fd = open_folder(path)) >= 0; close(fd)) {
        if (!share(fd, path, &quiet)) {
            close(fd);
            return -1;
        }
        if (is_same(fd, path)) {
            (void)futimens(fd, NULL);
            return fd;
        }
    }
    return -1;
}

bool kept_made_of(const char *path, const char *provenance, bool quiet)
{
    const int fd = kept_hold(path, quiet);
    char *text = fd < 0 ? NULL : provenance_in(path);
    const bool same = text && !strcmp(text, provenance);

    if (fd >= 0 && !same)
        close(fd);
    free(text);
    return same;
}

/* Opens and locks the folder; the caller closes it. Below 0: the reason, an errno negated;
 * -EWOULDBLOCK: somebody uses it. */
static int folder_take(const char *path)
{
    const int fd = open_folder(path);

    if (fd < 0)
        return -errno;
    const int reason = flock(fd, LOCK_EX | LOCK_NB) ? errno : is_same(fd, path) ? 0 : EWOULDBLOCK;
    if (!reason)
        return fd;
    close(fd);
    return -reason;
}

/* ---- what is removed ------------------------------------------------------------------------ */

/* Removes a folder. The file that says whose it is goes last, so that a folder left by a process
 * that was killed is still known as lardsim's. Here and below: 0 or an errno. */
static int remove_made(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *at;
    char *last = xasprintf("%s/%s", path, provenance_name);
    int bad = d ? 0 : errno;

    while (d && !bad && (at = readdir(d))) {
        char *inner = xasprintf("%s/%s", path, at->d_name);
        if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0 &&
            strcmp(at->d_name, provenance_name) != 0 && folder_remove(inner))
            bad = errno;
        free(inner);
    }
    if (!bad && (folder_remove(last) || rmdir(path)))
        bad = errno;
    if (d)
        closedir(d);
    free(last);
    return bad;
}

/* Locks the root: while it is open nobody else chooses folders. Below 0: the reason, an errno
 * negated; -EWOULDBLOCK: others do all the time. */
static int lock_all(const char *root)
{
    const int all = open_folder(root);

    if (all < 0)
        return -errno;
    if (folder_lock(all, LOCK_WAIT))
        return all;
    close(all);
    return -EWOULDBLOCK;
}

/* Renames a folder that we have locked, so that nobody takes its remains for a whole one. *to: the
 * new path, the caller's. */
static int set_aside(const char *root, const char *path, char **to)
{
    char *aside = xasprintf("%s%s", path, new_ending);
    const int all = lock_all(root);
    int bad = all < 0 ? -all : mkdtemp(aside) ? 0 : errno;

    if (!bad && rename(path, aside)) {
        bad = errno;
        rmdir(aside);
    }
    if (all >= 0)
        close(all);
    *to = bad ? NULL : aside;
    if (bad)
        free(aside);
    return bad;
}

/* EWOULDBLOCK: somebody uses it. */
static int remove_unused(const char *root, const char *path)
{
    char *aside = NULL;
    const int fd = folder_take(path);

    if (fd < 0)
        return -fd;
    /* ENOENT: it has gone, and somebody's own is there. */
    int bad = is_ours(path, name_in(path)) ? set_aside(root, path, &aside) : ENOENT;
    if (!bad)
        bad = remove_made(aside);
    close(fd);
    free(aside);
    return bad;
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

static int by_use(const void *a, const void *b)
{
    const struct timespec x = ((const struct kept_folder *)a)->used,
                          y = ((const struct kept_folder *)b)->used;

    if (x.tv_sec != y.tv_sec)
        return x.tv_sec < y.tv_sec ? -1 : 1;
    return x.tv_nsec < y.tv_nsec ? -1 : x.tv_nsec > y.tv_nsec;
}

void kept_read(struct kept_list *l)
{
    char *root = kept_root();
    DIR *d = root ? opendir(root) : NULL;
    const struct dirent *at;
    size_t cap = 0;

    *l = (struct kept_list){.n = 0};
    while (d && (at = readdir(d))) {
        char *path = xasprintf("%s/%s", root, at->d_name), *program = program_of(path, at->d_name);
        struct stat is;
        if (program && !stat(path, &is)) {
            l->at = xgrow(l->at, l->n, &cap, sizeof *l->at);
            l->at[l->n++] =
                (struct kept_folder){xstrdup(at->d_name), program, bytes_in(path), is.st_mtim};
            l->bytes += l->at[l->n - 1].bytes;
            program = NULL;
        }
        free(program);
        free(path);
    }
    if (d)
        closedir(d);
    if (l->n)
        qsort(l->at, l->n, sizeof *l->at, by_use);
    free(root);
}

void kept_list_free(struct kept_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->at[i].name);
        free(l->at[i].program);
    }
    free(l->at);
}

/* ---- what goes ------------------------------------------------------------------------------ */

int kept_limit(uint64_t *to, struct err *e)
{
    const char *name = "LARDSIM_PROGRAMS_LIMIT", *text = getenv(name);

    if (!text)
        text = getenv(name = "LARDSIM_CACHE_LIMIT"); /* as it was called once */
    *to = UINT64_C(4) << 30;
    if (!text || !*text || number_of_text(text, to))
        return 0;
    return err_set(e, LARD_USAGE,
                   "%s: \"%.100s\" is no number of bytes; write it as 4Gi, or 0 for no limit", name,
                   text);
}

/* Returns the name that an unfinished folder was to have, or had; the caller's. NULL: it is no such
 * folder. */
static char *unfinished_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const size_t n = strlen(name), ending = sizeof new_ending - 1, mark = sizeof ENDING - 1;
    const char *from = n > ending ? name + n - ending : NULL;

    return from && !strncmp(from, ENDING, mark) && strspn(from + mark, letters) == ending - mark
               ? xasprintf("%.*s", (int)(n - ending), name)
               : NULL;
}

/* Removes an unfinished folder. An empty one was left by a process that was killed before it could
 * say whose it is. */
static void remove_unfinished(const char *path, const char *name)
{
    const int fd = folder_take(path);

    if (fd >= 0 && is_ours(path, name))
        (void)remove_made(path);
    else if (fd >= 0 && is_own_folder(path))
        (void)rmdir(path);
    if (fd >= 0)
        close(fd);
}

static void remove_all_unfinished(const char *root)
{
    DIR *d = opendir(root);
    const struct dirent *at;

    while (d && (at = readdir(d))) {
        char *path = xasprintf("%s/%s", root, at->d_name), *name = unfinished_name(at->d_name);
        if (name)
            remove_unfinished(path, name);
        free(name);
        free(path);
    }
    if (d)
        closedir(d);
}

void kept_tidy(void)
{
    char *root = kept_root();
    const int all = root && is_own_folder(root) ? open_folder(root) : -1;

    if (all >= 0 && folder_lock(all, 0))
        remove_all_unfinished(root);
    if (all >= 0)
        close(all);
    free(root);
}

int kept_shrink(bool quiet, struct err *e)
{
    char *root = kept_root();
    struct kept_list l;
    uint64_t limit;

    if (kept_limit(&limit, e)) {
        free(root);
        return -1;
    }
    kept_read(&l);
    for (size_t i = 0; limit && i < l.n && l.bytes > limit && is_own_folder(root); i++) {
        char *path = xasprintf("%s/%s", root, l.at[i].name);
        if (!remove_unused(root, path)) {
            l.bytes -= l.at[i].bytes;
            if (!quiet)
                print_note("removed %s: what is kept is limited by LARDSIM_PROGRAMS_LIMIT", path);
        }
        free(path);
    }
    kept_list_free(&l);
    free(root);
    return 0;
}

static int check_root(const char *root, struct err *e)
{
    return is_own_folder(root) ? 0
                               : err_set(e, LARD_OUTPUT,
                                         "%s: is a link, or another user's, and lardsim removes "
                                         "nothing there; have a folder of your own in its place",
                                         root);
}

static int in_use(const char *path, struct err *e)
{
    return err_set(e, LARD_OUTPUT, "%s: another lardsim uses it; wait for its end", path);
}

int kept_forget(const struct kept_folder *c, struct err *e)
{
    char *root = kept_root(), *path = kept_path(c->name, e);
    int failed = !path || check_root(root, e) ? -1 : 0;
    const int bad = failed ? 0 : remove_unused(root, path);

    if (bad)
        failed = bad == EWOULDBLOCK ? in_use(path, e) : outfile_error(e, path, bad);
    free(path);
    free(root);
    return failed;
}

/* ---- a new folder --------------------------------------------------------------------------- */

struct kept_making {
    char *root, *to, *dir; /* own; dir is what becomes `to` */
    int own, old;          /* locks: on dir, on what is at `to`; -1: none */
};

/* Locks the folder that is there already, until it is replaced: others wait before they use it. */
static int take_old(struct kept_making *m, unsigned ms, struct err *e)
{
    struct stat is;

    while (!lstat(m->to, &is)) {
        if (check_root(m->root, e))
            return -1;
        m->old = open_folder(m->to);
        if (m->old >= 0 && !folder_lock(m->old, ms))
            return in_use(m->to, e);
        if (!is_ours(m->to, name_in(m->to))) {
            if (lstat(m->to, &is)) /* it has just gone */
                continue;
            return err_set(e, LARD_OUTPUT,
                           "%s: is there, and lardsim did not make it; move it away", m->to);
        }
        if (m->old >= 0 && is_same(m->old, m->to))
            return 0;
        if (m->old >= 0)
            close(m->old);
        m->old = -1;
    }
    return 0;
}

static int write_provenance(const char *dir, const char *provenance, struct err *e)
{
    char *path = xasprintf("%s/%s", dir, provenance_name);
    FILE *out = fopen(path, "we");
    const bool bad = !out || fputs(provenance, out) < 0;
    const int failed = (out && fclose(out)) || bad ? outfile_error(e, path, errno) : 0;

    free(path);
    return failed;
}

/* Locked from its first moment on: kept_tidy waits for that. What is started in it has the lock,
 * too, so that it stays while that runs. */
static int begin(struct kept_making *m, const char *provenance, struct err *e)
{
    const int all = lock_all(m->root);

    if (all < 0)
        return all == -EWOULDBLOCK
                   ? err_set(e, LARD_OUTPUT, "%s: others have locked it all the time", m->root)
                   : outfile_error(e, m->root, -all);
    if (!mkdtemp(m->dir) || (m->own = open(m->dir, O_RDONLY | O_DIRECTORY)) < 0)
        outfile_error(e, m->dir, errno);
    else
        (void)flock(m->own, LOCK_EX);
    close(all);
    return m->own < 0 ? -1 : write_provenance(m->dir, provenance, e);
}

/* Puts the new folder in the old one's place. */
static int folder_replace(struct kept_making *m)
{
    char *aside = NULL;
    int bad = m->old >= 0 ? set_aside(m->root, m->to, &aside) : 0;

    if (!bad && (chmod(m->dir, 0755) || folder_put(m->dir, m->to, false)))
        bad = errno;
    if (aside && bad)
        (void)rename(aside, m->to);
    else if (aside)
        (void)remove_made(aside);
    free(aside);
    if (bad)
        return bad;
    (void)flock(m->own, LOCK_SH); /* it is one of those that are used now */
    return kept_hold(m->to, true) < 0 ? errno : 0;
}

/* Puts the new folder in its place. Others may meanwhile have put one there. 1: it is the same, and
 * held. */
static int finish(struct kept_making *m, const char *provenance, const struct kept_fill *f,
                  struct err *e)
{
    for (;;) {
        if (m->old < 0 && !f->again && kept_made_of(m->to, provenance, f->quiet))
            return 1;
        if (m->old < 0 && take_old(m, LOCK_WAIT, e))
            return -1;
        const int bad = folder_replace(m);
        if (!bad)
            return 0;
        if (m->old >= 0 || (bad != ENOTEMPTY && bad != EEXIST))
            return outfile_error(e, m->to, bad);
    }
}

static void making_free(struct kept_making *m)
{
    if (m->own >= 0)
        close(m->own);
    if (m->old >= 0)
        close(m->old);
    free(m->root);
    free(m->to);
    free(m->dir);
}

int kept_make(const char *name, const char *provenance, const struct kept_fill *f, struct err *e)
{
    struct kept_making m = {kept_root(), kept_path(name, e), NULL, -1, -1};
    uint64_t limit;

    if (m.to)
        m.dir = xasprintf("%s%s", m.to, new_ending);
    int failed = !m.to || stop_asked(e) || kept_limit(&limit, e) || take_old(&m, SHORT_WAIT, e) ||
                         begin(&m, provenance, e) || f->fill(f->arg, m.dir, e)
                     ? -1
                     : finish(&m, provenance, f, e);
    if (m.own >= 0 && failed)
        (void)remove_made(m.dir);
    making_free(&m);
    return failed < 0 ? -1 : kept_shrink(f->quiet, e);
}
