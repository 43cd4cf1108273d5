/* outfile.c - output files that appear whole or not at all: written without a name in the same
 * folder, then fsync and a name. To replace a file they are ".NAME.xxxxxx" for a moment, then
 * renamed; where the file system knows no files without a name, from the beginning. A process that
 * is killed then leaves that behind, and nothing collects it. What is not a regular file
 * (/dev/full, a fifo, standard output) is written directly, and so is a file in a folder that
 * appears as a whole. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

struct outfile {
    FILE *stream; /* owns, unless it is standard output */
    char *shown;  /* owns: as given, for messages */
    char *target; /* owns; NULL: written directly */
    char *temp;   /* owns; NULL: has no name now */
    bool replace; /* the target, if there is one */
    char *plain;  /* owns; the name that it has from the beginning; NULL: it appears */
};

static const char *remedy(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "make room, or write somewhere else";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a folder that you may write to";
    case ENOENT:
        return "create its folder first";
    case EISDIR:
        return "give the name of a file, not of a folder";
    default:
        return "check it, or write somewhere else";
    }
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : *path ? path : "an empty file name";
}

int outfile_error(struct err *e, const char *path, int reason)
{
    if (reason == EEXIST)
        return err_set(e, LARD_OUTPUT, "%s: exists; give --overwrite to replace it", name_of(path));
    return err_set(e, LARD_OUTPUT, "%s: can't be written: %s; %s", name_of(path), strerror(reason),
                   remedy(reason));
}

static void outfile_free(struct outfile *f)
{
    free(f->shown);
    free(f->target);
    free(f->temp);
    free(f->plain);
    free(f);
}

static char *folder_of(const char *target)
{
    const char *slash = strrchr(target, '/');

    return slash ? xasprintf("%.*s", (int)(slash + 1 - target), target) : xstrdup(".");
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* How the kernel names an open file: it takes that as the source of a link. */
static char *open_file_path(int fd)
{
    return xasprintf("/proc/self/fd/%d", fd);
}

/* Gives the open file fd, which has no name, one; or creates a file, when fd is -1. linkat never
 * replaces, so that a name which somebody else has taken meanwhile is safe. */
static int link_or_create(int fd, const char *name)
{
    if (fd < 0)
        return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    char *path = open_file_path(fd);
    const int result = linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    const int reason = errno;
    free(path);
    errno = reason;
    return result;
}

/* Sets f->temp: a name that nothing had. A file descriptor or 0, or -1: errno tells. */
static int name_temp(struct outfile *f, int fd)
{
    const char *slash = strrchr(f->target, '/');
    const int folder = slash ? (int)(slash + 1 - f->target) : 0;
    const unsigned start = (unsigned)getpid();

    for (unsigned attempt = 0; attempt < 10000; attempt++) {
        /* The name is cut so that the temporary one is not too long for the file system. */
        f->temp = xasprintf("%.*s.%.200s.%06x", folder, f->target, f->target + folder,
                            (start * 4096 + attempt) & 0xffffff);
        const int result = link_or_create(fd, f->temp);
        if (result >= 0)
            return result;
        const int reason = errno;
        free(f->temp);
        f->temp = NULL;
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
    return -1;
}

/* Names the file without a name: as the target, if nothing is called so, or else f->temp. */
static int give_name(struct outfile *f)
{
    const int fd = fileno(f->stream);

    if (link_or_create(fd, f->target) == 0)
        return 0;
    return errno == EEXIST && f->replace ? name_temp(f, fd) : -1;
}

/* The file's name becomes the target. What may not be replaced is not, even if it appears just now:
 * a link is never made over anything. */
static int take_target(struct outfile *f)
{
    if (f->replace)
        return rename(f->temp, f->target);
    if (!link(f->temp, f->target)) {
        unlink(f->temp);
        return 0;
    }
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS)
        return -1;
    /* A file system without links: the name may be taken between the two. */
    if (access(f->target, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(f->temp, f->target);
}

/* -1: the file system, or the system, can't do it. O_TMPFILE: nothing to clean up, however the
 * process ends. */
static int open_nameless(const struct outfile *f)
{
    char *folder = folder_of(f->target);
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

    free(folder);
    if (fd < 0)
        return -1;
    char *path = open_file_path(fd);
    const bool there = access(path, F_OK) == 0; /* /proc is mounted */
    free(path);
    if (there)
        return fd;
    close(fd);
    return -1;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* A file, or a symbolic link that leads nowhere. */
static bool is_in_the_way(const char *path)
{
    struct stat st;

    return stat(path, &st) ? !lstat(path, &st) : S_ISREG(st.st_mode);
}

int outfile_check(const char *path, bool replace, struct err *e)
{
    if (replace || !strcmp(path, "-") || !is_in_the_way(path))
        return 0;
    return outfile_error(e, path, EEXIST);
}

/* A file descriptor, or -1: errno tells, and nothing under any name is touched. A symbolic link
 * stays one: what it names is replaced. */
static int open_output(struct outfile *f, const char *path)
{
    struct stat st;
    const bool there = stat(path, &st) == 0;

    if (!there && (errno != ENOENT || !*path))
        return -1;
    if (!f->replace && is_in_the_way(path)) {
        errno = EEXIST;
        return -1;
    }
    if (there && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (there && !S_ISREG(st.st_mode))
        return open(path, O_WRONLY | O_CLOEXEC);
    f->target = there ? realpath(path, NULL) : xstrdup(path);
    if (!f->target)
        return -1;
    const int fd = open_nameless(f);
    return fd >= 0 ? fd : name_temp(f, -1);
}

struct outfile *outfile_open(const char *path, bool replace, struct err *e)
{
    struct outfile *f = xcalloc(1, sizeof *f);

    f->shown = xstrdup(path);
    f->replace = replace;
    if (strcmp(path, "-") == 0) {
        f->stream = stdout;
        return f;
    }
    const int fd = open_output(f, path);
    if (fd >= 0) {
        f->stream = fdopen(fd, "w");
        if (!f->stream)
            die("no memory for a stream");
        return f;
    }
    outfile_error(e, path, errno);
    outfile_free(f);
    return NULL;
}

struct outfile *outfile_open_in(const char *path, const char *shown, struct err *e)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0) {
        outfile_error(e, shown, errno);
        return NULL;
    }
    struct outfile *f = xcalloc(1, sizeof *f);
    f->shown = xstrdup(shown);
    f->plain = xstrdup(path);
    f->stream = fdopen(fd, "w");
    if (!f->stream)
        die("no memory for a stream");
    return f;
}

FILE *outfile_stream(struct outfile *f)
{
    return f->stream;
}

/* ---- committing ----------------------------------------------------------------------------- */

/* 0, or the errno of a write that failed, now or before. */
static int flush(FILE *stream)
{
    const bool failed = ferror(stream);

    if (fflush(stream))
        return errno;
    return failed || ferror(stream) ? EIO : 0;
}

int outfile_sync(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

/* A folder that may be written but not read can't be synced. */
int outfile_sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int reason = 0;

    if (fd >= 0) {
        reason = outfile_sync(fd);
        close(fd);
    }
    return reason;
}

static void remove_part(const struct outfile *f)
{
    if (f->temp)
        unlink(f->temp);
    if (f->plain)
        unlink(f->plain);
}

/* All that comes before the rename; the stream is closed in any case. 0 or an errno. */
static int complete(struct outfile *f)
{
    int reason = flush(f->stream);

    if (f->stream == stdout)
        return reason;
    if (!reason && f->target)
        reason = outfile_sync(fileno(f->stream));
    if (!reason && f->target && !f->temp && give_name(f) < 0)
        reason = errno;
    if (fclose(f->stream) && !reason)
        reason = errno;
    return reason;
}

/* The folder's name is made before the file gets its own: if there is no memory for it, no file
 * must have appeared. */
int outfile_commit(struct outfile *f, struct err *e)
{
    char *folder = f->target ? folder_of(f->target) : NULL;
    int reason = complete(f);

    if (!reason && f->temp && take_target(f))
        reason = errno;
    if (reason)
        remove_part(f);
    if (!reason && folder)
        reason = outfile_sync_folder(folder);
    const int result = reason ? outfile_error(e, f->shown, reason) : 0;
    free(folder);
    outfile_free(f);
    return result;
}

void outfile_abort(struct outfile *f)
{
    if (!f)
        return;
    if (f->stream != stdout)
        fclose(f->stream);
    remove_part(f);
    outfile_free(f);
}
