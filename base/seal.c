/* seal.c - DONE, the file that says that a results folder is whole: a line with the digest of the
 * results, then a line for each file, its hash (XXH3) and its path. host.json is another in each
 * run of the same; so that DONE is not, it is left out, and host.json ends in its own hash. Files
 * of such a folder are read through its seal: nobody gets a byte that is not as DONE says. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"

enum { DIGITS = 16 };
static const char json_hash[] = ",\n  \"hash\": \"";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* DONE leaves it out: it stands beside each provenance.json. */
static bool is_host(const char *name)
{
    return !strcmp(base_name(name), "host.json");
}

/* ---- hashes of files ------------------------------------------------------------------------ */

/* Hashes a file from its current place to its end. 0 or an errno. */
static int hash_rest(int fd, uint64_t *to)
{
    unsigned char some[1 << 16];
    int64_t n = file_bytes(fd, some, sizeof some);

    if (n >= 0 && n < (int64_t)sizeof some) { /* most are no longer */
        *to = digest_bytes(some, (size_t)n);
        return 0;
    }
    struct digest *d = digest_new();
    for (; n > 0; n = file_bytes(fd, some, sizeof some))
        digest_add(d, some, (size_t)n);
    const int reason = n < 0 ? errno : 0;
    *to = digest_end(d);
    return reason;
}

/* 0 or an errno. */
static int hash_file(const char *path, uint64_t *to)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int reason = fd < 0 ? errno : hash_rest(fd, to);

    if (fd >= 0)
        close(fd);
    return reason;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int write_below(FILE *out, const char *top, const char *below, struct err *e);

static int write_entry(FILE *out, const char *top, const char *path, struct err *e)
{
    char *full = path_in(top, path);
    struct stat st;
    uint64_t hash = 0;
    int reason = lstat(full, &st) ? errno : 0, bad = 0;

    if (!reason && S_ISDIR(st.st_mode))
        bad = write_below(out, top, path, e);
    else if (!reason && strcmp(path, "DONE") != 0 && !is_host(path) &&
             !(reason = hash_file(full, &hash)))
        fprintf(out, "%016" PRIx64 "  %s\n", hash, path);
    if (reason)
        bad = err_set(e, LARD_OUTPUT, "%s: can't be read again: %s", full, strerror(reason));
    free(full);
    return bad;
}

static int write_below(FILE *out, const char *top, const char *below, struct err *e)
{
    char *dir = path_in(top, below);
    struct dirent **entry;
    const int n = scandir(dir, &entry, is_visible, by_name);
    int bad =
        n < 0 ? err_set(e, LARD_OUTPUT, "%s: can't be read again: %s", dir, strerror(errno)) : 0;

    for (int i = 0; i < n; i++) {
        char *path = path_in(below, entry[i]->d_name);
        bad = bad || write_entry(out, top, path, e) ? -1 : 0;
        free(path);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    free(dir);
    return bad;
}

int seal_write(const char *dir, struct outfile *to, uint64_t digest, struct err *e)
{
    FILE *out = outfile_stream(to);

    fprintf(out, "%016" PRIx64 "\n", digest);
    return write_below(out, dir, "", e);
}

void folder_hash_json(FILE *out, const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, out);
    fprintf(out, "%s%016" PRIx64 "\"\n}\n", json_hash, digest_bytes(text, bytes));
}

/* ---- what DONE says ------------------------------------------------------------------------- */

struct sealed_file {
    const char *name; /* borrows of the text */
    uint64_t hash;
};
struct seal {
    char *dir, *text;         /* own; text: of DONE, its lines ended; NULL: there is no DONE */
    struct sealed_file *file; /* owns */
    size_t n, cap;
    uint64_t digest; /* of the results */
};

/* 16 hexadecimal digits; what is behind them, or NULL. */
static const char *read_hash(const char *text, uint64_t *to)
{
    *to = 0;
    for (int i = 0; i < DIGITS; i++) {
        const char *digits = "0123456789abcdef", *at = text[i] ? strchr(digits, text[i]) : NULL;
        if (!at)
            return NULL;
        *to = *to << 4 | (uint64_t)(at - digits);
    }
    return text + DIGITS;
}

/* Below the folder, whatever somebody wrote into DONE. */
static bool is_inside(const char *path)
{
    return *path && *path != '/' && strncmp(path, "../", 3) != 0 && !strstr(path, "/../") &&
           strcmp(path, "..") != 0;
}

static bool take_line(struct seal *s, const char *line)
{
    uint64_t hash;
    const char *gap = read_hash(line, &hash);

    if (!gap || strncmp(gap, "  ", 2) != 0 || !is_inside(gap + 2))
        return false;
    s->file = xgrow(s->file, s->n, &s->cap, sizeof *s->file);
    s->file[s->n++] = (struct sealed_file){gap + 2, hash};
    return true;
}

/* A last line without its end is one that was cut off. */
static bool take_lines(struct seal *s, size_t bytes)
{
    char *rest = s->text;

    if (strlen(s->text) != bytes)
        return false;
    char *line = strsep(&rest, "\n");
    if (!read_hash(line, &s->digest) || line[DIGITS])
        return false;
    while (rest && *rest) {
        line = strsep(&rest, "\n");
        if (!rest || !take_line(s, line))
            return false;
    }
    return true;
}

/* More than any folder of results has; a file that is longer is no DONE. */
enum { DONE_MOST = 16 << 20 };

struct seal *seal_open(const char *dir, struct err *e)
{
    struct seal *s = xcalloc(1, sizeof *s);
    char *path = path_in(dir, "DONE");
    size_t bytes = 0;

    s->dir = xstrdup(dir);
    s->text = file_text(path, DONE_MOST, &bytes);
    if (!s->text && errno != ENOENT && errno != ENOTDIR)
        err_set(e, LARD_TOLERANCE, "%s: can't be read: %s; " SEAL_REMEDY, path, strerror(errno));
    else if (s->text && !take_lines(s, bytes))
        err_set(e, LARD_TOLERANCE, "%s: is no list of hashes; it has changed; " SEAL_REMEDY, path);
    else if (s->text && !s->n)
        err_set(e, LARD_TOLERANCE,
                "%s: has no hashes, as an older version of lardsim wrote it; there is nothing to "
                "hold the files against",
                path);
    free(path);
    if (!e->code)
        return s;
    seal_close(s);
    return NULL;
}

void seal_close(struct seal *s)
{
    if (!s)
        return;
    free(s->dir);
    free(s->text);
    free(s->file);
    free(s);
}

bool seal_there(const struct seal *s)
{
    return s->text != NULL;
}

const char *seal_dir(const struct seal *s)
{
    return s->dir;
}

static const struct sealed_file *sealed_find(const struct seal *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->file[i].name, name))
            return &s->file[i];
    return NULL;
}

bool seal_names(const struct seal *s, const char *name)
{
    if (seal_there(s) && !is_host(name))
        return sealed_find(s, name) != NULL;
    char *path = path_in(s->dir, name);
    struct stat st;
    const bool there = !stat(path, &st) && S_ISREG(st.st_mode);

    free(path);
    return there;
}

/* ---- faults --------------------------------------------------------------------------------- */

static const char foreign[] = "is not in DONE, so nobody knows whose it is";

static struct seal_fault unread(const char *name, int reason)
{
    const bool gone = reason == ENOENT || reason == ENOTDIR;

    return (struct seal_fault){
        .file = name, .what = gone ? "is missing" : "can't be read", .reason = reason};
}

static struct seal_fault changed(const char *name, uint64_t is, uint64_t was)
{
    return (struct seal_fault){
        .file = name, .what = "has changed", .hashed = true, .is = is, .was = was};
}

/* "has changed: its digest is ..., and DONE has ...": owned by the caller. */
char *seal_fault_text(const struct seal_fault *f)
{
    if (f->hashed)
        return xasprintf("%s: its digest is %016" PRIx64 ", and %s has %016" PRIx64, f->what, f->is,
                         is_host(f->file) ? "its last line" : "DONE", f->was);
    return f->reason && f->reason != ENOENT && f->reason != ENOTDIR
               ? xasprintf("%s: %s", f->what, strerror(f->reason))
               : xstrdup(f->what);
}

static int fail(const struct seal *s, const struct seal_fault *f, struct err *e)
{
    char *text = seal_fault_text(f);

    err_set(e, LARD_TOLERANCE, "%s/%s: %s; " SEAL_REMEDY, s->dir, f->file, text);
    free(text);
    return -1;
}

/* ---- one file, whole ------------------------------------------------------------------------ */

/* Reads the hash that host.json has of itself as its last key, and hashes its text. False: it has
 * none. */
static bool host_hashes(const char *text, uint64_t *is, uint64_t *was)
{
    const char *last = NULL;

    for (const char *at = text; (at = strstr(at, json_hash)) != NULL; at++)
        last = at;
    if (!last || !read_hash(last + sizeof json_hash - 1, was) ||
        strcmp(last + sizeof json_hash - 1 + DIGITS, "\"\n}\n") != 0)
        return false;
    *is = digest_bytes(text, (size_t)(last - text));
    return true;
}

enum { TEXT_MOST = 1 << 30 };

/* The file, if it is as its seal says: the caller's. NULL, and *f says why. */
static char *text_of(const struct seal *s, const char *name, size_t *bytes, struct seal_fault *f)
{
    const struct sealed_file *sealed = sealed_find(s, name);
    char *path = path_in(s->dir, name), *text = file_text(path, TEXT_MOST, bytes);
    uint64_t is = 0, was = 0;

    *f = (struct seal_fault){.file = NULL};
    if (!text)
        *f = unread(name, errno);
    else if (is_host(name) && !host_hashes(text, &is, &was))
        *f = (struct seal_fault){.file = name, .what = "has changed: it has no hash at its end"};
    else if (!is_host(name) && seal_there(s) && !sealed)
        *f = (struct seal_fault){.file = name, .what = foreign};
    else if (sealed)
        is = digest_bytes(text, *bytes), was = sealed->hash;
    if (!f->file && is != was)
        *f = changed(name, is, was);
    free(path);
    if (!f->file)
        return text;
    free(text);
    return NULL;
}

char *seal_text(const struct seal *s, const char *name, size_t *bytes, struct err *e)
{
    struct seal_fault f;
    char *text = text_of(s, name, bytes, &f);

    if (!text)
        fail(s, &f, e);
    return text;
}

/* ---- all files ------------------------------------------------------------------------------ */

static void check_file(const struct seal *s, const struct sealed_file *file, seal_fn *fn, void *arg)
{
    char *path = path_in(s->dir, file->name);
    uint64_t is = 0;
    const int reason = hash_file(path, &is);
    const struct seal_fault f =
        reason ? unread(file->name, reason) : changed(file->name, is, file->hash);

    if (reason || is != file->hash)
        fn(arg, &f);
    free(path);
}

/* Reads and checks a file's text, for a file whose text has further rules. */
static char *check_text(const struct seal *s, const char *name, seal_fn *fn, void *arg)
{
    struct seal_fault f;
    size_t bytes;
    char *text = text_of(s, name, &bytes, &f);

    if (!text)
        fn(arg, &f);
    return text;
}

/* The first line of DONE has no hash of its own; provenance.json has the same digest. */
static void check_provenance(const struct seal *s, const char *name, seal_fn *fn, void *arg)
{
    static const struct seal_fault other = {
        .file = "DONE",
        .what = "has changed: its first line is not the digest that provenance.json has"};
    char *text = check_text(s, name, fn, arg),
         *key = xasprintf("\n  \"digest\": \"%016" PRIx64 "\"", s->digest);

    if (text && !strchr(name, '/') && !strstr(text, key))
        fn(arg, &other);
    free(text);
    free(key);
}

/* Files are in the order of their names: of a run, stats.txt is the last, and of several runs each
 * has a folder. */
static bool is_cut(const struct seal *s)
{
    bool folders = false;

    for (size_t i = 0; i < s->n; i++)
        folders |= strchr(s->file[i].name, '/') != NULL;
    return sealed_find(s, "config.yaml") && !folders && !sealed_find(s, "stats.txt");
}

uint64_t seal_check(const struct seal *s, seal_fn *fn, void *arg)
{
    static const struct seal_fault cut = {.file = "DONE", .what = "has lost lines"};
    uint64_t files = 0;

    if (is_cut(s))
        fn(arg, &cut);
    for (size_t i = 0; i < s->n; i++) {
        const char *name = s->file[i].name;
        files++;
        if (strcmp(base_name(name), "provenance.json") != 0) {
            check_file(s, &s->file[i], fn, arg);
            continue;
        }
        check_provenance(s, name, fn, arg);
        char *host = xasprintf("%.*shost.json", (int)(base_name(name) - name), name);
        free(check_text(s, host, fn, arg));
        files++;
        free(host);
    }
    return files;
}

bool seal_current(const struct seal *s)
{
    struct seal *now = seal_open(s->dir, &(struct err){.code = LARD_DONE});
    bool same = !now || (now->n == s->n && now->digest == s->digest && !now->text == !s->text);

    for (size_t i = 0; now && same && i < s->n; i++)
        same = now->file[i].hash == s->file[i].hash && !strcmp(now->file[i].name, s->file[i].name);
    seal_close(now);
    return same;
}

int seal_none(const struct seal *s, struct err *e)
{
    if (access(s->dir, F_OK))
        return err_set(e, LARD_TOLERANCE, "%s: there is no such folder", s->dir);
    return err_set(
        e, LARD_TOLERANCE,
        "%s: there is no DONE, so it is not whole: the run stopped, or still runs, or this is "
        "no results folder",
        s->dir);
}

/* ---- one file, line by line ----------------------------------------------------------------- */

/* A line is not longer than any that lardsim writes: names of an access come to no more. */
enum { LINE_MOST = 16 << 20 };

/* Hands over the lines until somebody has enough. The file has been held against its seal; what is
 * read now is, too: it may change meanwhile. */
static int each_line(const struct seal *s, const char *name, FILE *in, line_fn *fn, void *arg,
                     struct err *e)
{
    const struct sealed_file *sealed = sealed_find(s, name);
    struct digest *digest = digest_new();
    char *line = NULL;
    size_t room = 0;
    bool enough = false;

    errno = 0;
    for (ssize_t n; !enough && !e->code && (n = getline(&line, &room, in)) > 0;) {
        digest_add(digest, line, (size_t)n);
        n -= line[n - 1] == '\n';
        line[n] = '\0';
        if (n > LINE_MOST)
            err_set(e, LARD_TOLERANCE, "%s/%s: has a line of more than 16 MiB; " SEAL_REMEDY,
                    s->dir, name);
        else
            enough = fn(arg, line, (size_t)n);
    }
    const struct seal_fault f = ferror(in) ? unread(name, errno)
                                : sealed   ? changed(name, digest_value(digest), sealed->hash)
                                           : (struct seal_fault){.file = NULL};
    if (!enough && (f.reason || f.is != f.was))
        fail(s, &f, e);
    digest_free(digest);
    free(line);
    return e->code ? -1 : 0;
}

int seal_lines(const struct seal *s, const char *name, line_fn *fn, void *arg, struct err *e)
{
    char *path = path_in(s->dir, name);
    FILE *in = fopen(path, "re");
    const struct sealed_file *sealed = sealed_find(s, name);
    uint64_t is = 0;
    int reason = in ? 0 : errno;

    if (!reason && sealed) /* before anybody sees a line */
        reason = hash_rest(fileno(in), &is);
    if (!reason && sealed && fseek(in, 0, SEEK_SET))
        reason = errno;
    const struct seal_fault f = reason   ? unread(name, reason)
                                : sealed ? changed(name, is, sealed->hash)
                                         : (struct seal_fault){.file = name, .what = foreign};
    if (reason || (sealed ? is != sealed->hash : seal_there(s)))
        fail(s, &f, e);
    else
        each_line(s, name, in, fn, arg, e);
    if (in)
        fclose(in);
    free(path);
    return e->code ? -1 : 0;
}

bool folder_lists(const char *done, const char *name)
{
    char *prefix = xasprintf("  %s/", name);
    size_t n;
    char *text = file_text(done, DONE_MOST, &n);
    const bool lists = text && strstr(text, prefix);

    free(prefix);
    free(text);
    return lists;
}
