/* folder.h - folders of results: each appears whole or not at all, has one owner, and says by DONE
 * that it is whole and what its files are. */
#ifndef LARDSIM_FOLDER_H
#define LARDSIM_FOLDER_H

#include "base/err.h"
#include "base/input.h"
#include "base/outfile.h"

struct folder; /* one that is owned, in the making */

/* dir is the caller's until he commits or aborts: it is missing or empty, or, if overwrite is set,
 * lardsim wrote it. NULL: error, LARD_OUTPUT. */
struct folder *folder_claim(const char *dir, bool overwrite, struct err *e);
/* A folder that is made inside one of the caller's own. The caller puts it where it belongs, or
 * commits the folder around it: it has no lock, and committing it syncs nothing. */
struct folder *folder_private(const char *dir, struct err *e);
/* The folder's path while it is being made; a file that is to be in it is written there. */
const char *folder_path(const struct folder *f);
/* A file of that name in it; messages name it as it will be called. NULL: error. */
struct outfile *folder_file(const struct folder *f, const char *name, struct err *e);
/* Writes DONE: `digest`, and the hash of every file that is there now, host.json apart, which has
 * its own. */
int folder_seal(const struct folder *f, uint64_t digest, struct err *e);
/* Gives the new folder its name, in place of the old one. Frees f in any case; after an error the
 * old folder is as it was, if that was possible. */
int folder_commit(struct folder *f, struct err *e);
void folder_abort(struct folder *f); /* NULL is fine; what was there is as it was */

/* ---- whole folders -------------------------------------------------------------------------- */

/* Syncs a folder and all in it, once, and gives it the name `to`: in place of what is there, or, if
 * replace is not set, of nothing or an empty folder. 0 or -1: errno tells. */
int folder_put(const char *from, const char *to, bool replace);
/* Removes a folder with all that is in it; of a link the link alone. 0 or -1: errno tells. A path
 * that isn't there is no failure. */
int folder_remove(const char *path);
/* Locks an open file or folder until it is closed, however the process ends. Waits so many
 * milliseconds. False: another process has the lock. On a file system without locks everybody gets
 * it. */
bool folder_lock(int fd, unsigned ms);

/* ---- what DONE says: seal.c ----------------------------------------------------------------- */

struct seal; /* of a folder that is read: what its DONE says */
/* A folder without DONE has a seal, too, that says nothing. NULL: DONE is there, and is none, or
 * can't be read: error, LARD_TOLERANCE. */
struct seal *seal_open(const char *dir, struct err *e);
void seal_close(struct seal *s);       /* NULL is fine */
bool seal_there(const struct seal *s); /* there is a DONE */
const char *seal_dir(const struct seal *s);
int seal_none(const struct seal *s, struct err *e);      /* the error of one that is not; -1 */
bool seal_names(const struct seal *s, const char *name); /* without DONE: the file is there */

struct seal_fault {          /* of a file that is not as DONE says */
    const char *file, *what; /* "has changed", "is missing", ... */
    int reason;              /* an errno; 0: it could be read */
    bool hashed;             /* both digests are known */
    uint64_t is, was;
};
typedef void seal_fn(void *arg, const struct seal_fault *f);
/* The fault with digests or the reason: the caller's. */
char *seal_fault_text(const struct seal_fault *f);
/* Calls fn for each file that is not as DONE says; how many were looked at. */
uint64_t seal_check(const struct seal *s, seal_fn *fn, void *arg);
/* The folder has still the DONE that was opened, or one that can't be read: no other run is known
 * to have taken its place meanwhile. */
bool seal_current(const struct seal *s);
/* A file, if it is as DONE says, with a zero byte behind it: the caller's. NULL: error,
 * LARD_TOLERANCE. Of a folder without DONE that it could be read is all that is known. */
char *seal_text(const struct seal *s, const char *name, size_t *bytes, struct err *e);
/* Calls fn for each line, without its end, until it returns true. Nobody sees a line before the
 * whole file was held against DONE; memory is bounded by the longest line. */
typedef bool line_fn(void *arg, char *line, size_t bytes);
int seal_lines(const struct seal *s, const char *name, line_fn *fn, void *arg, struct err *e);
#define SEAL_REMEDY "restore it from a copy, or make the results anew"

char *path_in(const char *dir, const char *name); /* the caller's; dir "": name alone */
/* The file DONE names something in the folder `name`. */
bool folder_lists(const char *done, const char *name);
/* Ends an object of JSON with its key "hash", over all of it before; text has it so far, without
 * the end. For host.json. */
void folder_hash_json(FILE *out, const char *text, size_t bytes);
int seal_write(const char *dir, struct outfile *to, uint64_t digest, struct err *e);
#define PROVENANCE_SCHEMA "lardsim-provenance-2" /* of provenance.json */

#endif
