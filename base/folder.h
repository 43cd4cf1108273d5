/* folder.h - folders of results: each appears whole or not at all, has one owner, and says by DONE
 * that it is whole and what its files are. */
#ifndef LARDSIM_FOLDER_H
#define LARDSIM_FOLDER_H

#include "base/base.h"

struct folder; /* one that is owned, in the making */

/* dir is the caller's until he commits or aborts: it is missing or empty, or, if overwrite is set,
 * lardsim wrote it. NULL: error, LARD_OUTPUT. */
struct folder *folder_claim(const char *dir, bool overwrite, struct err *e);
/* One that is made in a folder of the caller's own, who puts it where it belongs or commits what it
 * is in: it has no lock, and committing it syncs nothing. */
struct folder *folder_private(const char *dir, struct err *e);
/* Where whatever is to be in the folder is made meanwhile. */
const char *folder_path(const struct folder *f);
/* A file of that name in it; messages name it as it will be called. NULL: error. */
struct outfile *folder_file(const struct folder *f, const char *name, struct err *e);
/* Writes DONE: `digest`, and the hash of every file that is there now, host.json apart, which has
 * its own. */
int folder_seal(const struct folder *f, uint64_t digest, struct err *e);
/* What was made becomes the folder, in place of what was there. Frees f in any case; after an error
 * what was there is as it was, where that could be. */
int folder_commit(struct folder *f, struct err *e);
void folder_abort(struct folder *f); /* NULL is fine; what was there is as it was */

/* ---- whole folders -------------------------------------------------------------------------- */

/* Syncs a folder and all in it, once, and gives it the name `to`: in place of what is there, or, if
 * replace is not set, of nothing or an empty folder. 0 or -1: errno tells. */
int folder_put(const char *from, const char *to, bool replace);
/* With all that is in it; of a link the link. 0 or -1: errno tells. What isn't there is no failure.
 */
int folder_remove(const char *path);
/* Of an open file or folder, until it is closed, however the process ends. Waits so many
 * milliseconds. False: another has it. Where a file system has no locks, everybody has it. */
bool folder_lock(int fd, unsigned ms);

/* ---- what DONE says: seal.c ----------------------------------------------------------------- */

/* Called for each file that is not as DONE says: "has changed", "is missing", ... */
typedef void folder_fault(void *arg, const char *file, const char *what);
/* Files that were looked at, or -1: error, LARD_TOLERANCE: no DONE, or none that can be read. */
int64_t folder_verify(const char *dir, folder_fault *fn, void *arg, struct err *e);
/* The file DONE names something in the folder `name`. */
bool folder_lists(const char *done, const char *name);
/* Ends an object of JSON with its key "hash", over all of it before; text has it so far, without
 * the end. For host.json. */
void folder_hash_json(FILE *out, const char *text, size_t bytes);
int seal_write(const char *dir, struct outfile *to, uint64_t digest, struct err *e);

#endif
