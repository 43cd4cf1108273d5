/* seal.c - DONE, the file that says that a results folder is whole: a line with the digest of the
 * results, then a line for each file, its hash (XXH3) and its path. host.json is another in each
 * run of the same; so that DONE is not, it is left out, and host.json ends in its own hash. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 16 };
static const char json_hash[] = ",\n  \"hash\": \"";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static char *path_in(const char *dir, const char *name)
{
    return xasprintf("%s%s%s", dir, *dir ? "/" : "", name);
}

/* ---- files and their hashes ----------------------------------------------------------------- */

/* 0 or an errno. *text is the caller's. */
static int read_all(const char *path, char **text, size_t *n)
{
    FILE *in = fopen(path, "r");
    size_t cap = 0;

    *text = NULL;
    *n = 0;
    if (!in)
        return errno;
    do {
        if (cap - *n < 1 + (1 << 16))
            *text = xrealloc(*text, cap = 2 * cap + (1 << 17), 1);
        *n += fread(*text + *n, 1, cap - *n - 1, in);
    } while (!feof(in) && !ferror(in));
    (*text)[*n] = '\0';
    const int reason = ferror(in) ? EIO : 0;
    fclose(in);
    return reason;
}

/* 0 or an errno. */
static int hash_file(const char *path, uint64_t *to)
{
    unsigned char some[1 << 16];
    struct digest *d;
    FILE *in = fopen(path, "r");

    if (!in)
        return errno;
    d = digest_new();
    for (size_t n; (n = fread(some, 1, sizeof some, in)) > 0;)
        digest_add(d, some, n);
    const int reason = ferror(in) ? EIO : 0;
    *to = digest_value(d);
    digest_free(d);
    fclose(in);
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

static bool is_sealed(const char *path)
{
    return strcmp(path, "DONE") != 0 && strcmp(base_name(path), "host.json") != 0;
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
    else if (!reason && is_sealed(path) && !(reason = hash_file(full, &hash)))
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

/* ---- verifying ------------------------------------------------------------------------------ */

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

static void verify_file(const char *dir, const char *file, uint64_t hash, folder_fault *fn,
                        void *arg)
{
    char *path = path_in(dir, file);
    uint64_t now = 0;
    const int reason = hash_file(path, &now);

    if (reason)
        fn(arg, file, reason == ENOENT ? "is missing" : "can't be read");
    else if (now != hash)
        fn(arg, file, "has changed");
    free(path);
}

static const char *last_of(const char *text, const char *part)
{
    const char *last = NULL;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        last = at;
    return last;
}

static void verify_host(const char *dir, const char *file, folder_fault *fn, void *arg)
{
    char *path = path_in(dir, file), *text;
    uint64_t hash;
    size_t n;
    const int reason = read_all(path, &text, &n);
    const char *last = reason ? NULL : last_of(text, json_hash);

    if (reason)
        fn(arg, file, reason == ENOENT ? "is missing" : "can't be read");
    else if (!last || !read_hash(last + sizeof json_hash - 1, &hash) ||
             strcmp(last + sizeof json_hash - 1 + DIGITS, "\"\n}\n") != 0 ||
             hash != digest_bytes(text, (size_t)(last - text)))
        fn(arg, file, "has changed");
    free(text);
    free(path);
}

/* Beside each provenance.json there is a host.json. */
static bool has_host(const char *file)
{
    return !strcmp(base_name(file), "provenance.json");
}

/* Files looked at; -1: it is no line of DONE. */
static int verify_line(const char *dir, const char *line, folder_fault *fn, void *arg)
{
    uint64_t hash;
    const char *gap = read_hash(line, &hash), *file = gap ? gap + 2 : NULL;

    if (!gap || strncmp(gap, "  ", 2) != 0 || !is_inside(file))
        return -1;
    verify_file(dir, file, hash, fn, arg);
    if (!has_host(file))
        return 1;
    char *host = xasprintf("%.*shost.json", (int)(base_name(file) - file), file);
    verify_host(dir, host, fn, arg);
    free(host);
    return 2;
}

static int64_t verify_lines(const char *dir, char *text, folder_fault *fn, void *arg)
{
    int64_t files = 0;
    uint64_t digest;
    char *rest = text, *line = strsep(&rest, "\n");

    if (!read_hash(line, &digest) || line[DIGITS])
        return -1;
    while ((line = strsep(&rest, "\n")) && (*line || rest)) {
        const int n = verify_line(dir, line, fn, arg);
        if (n < 0)
            return -1;
        files += n;
    }
    return files;
}

int64_t folder_verify(const char *dir, folder_fault *fn, void *arg, struct err *e)
{
    char *path = path_in(dir, "DONE"), *text;
    size_t n;
    const int reason = read_all(path, &text, &n);
    const int64_t files = reason ? -1 : verify_lines(dir, text, fn, arg);

    if (reason == ENOENT && access(dir, F_OK))
        err_set(e, LARD_TOLERANCE, "%s: there is no such folder", dir);
    else if (reason == ENOENT)
        err_set(
            e, LARD_TOLERANCE,
            "%s: there is no DONE, so it is not whole: the run stopped, or still runs, or this is "
            "no results folder",
            dir);
    else if (reason)
        err_set(e, LARD_TOLERANCE, "%s: can't be read: %s", path, strerror(reason));
    else if (files < 0)
        err_set(e, LARD_TOLERANCE, "%s: is no list of hashes; it has changed", path);
    else if (files == 0)
        err_set(e, LARD_TOLERANCE,
                "%s: has no hashes, as an older version of lardsim wrote it; there is nothing to "
                "hold the files against",
                path);
    free(text);
    free(path);
    return e->code ? -1 : files;
}

bool folder_lists(const char *done, const char *name)
{
    char *text, *prefix = xasprintf("  %s/", name);
    size_t n;
    const bool lists = !read_all(done, &text, &n) && strstr(text, prefix);

    free(prefix);
    free(text);
    return lists;
}
