/* outfile.h - files that appear whole or not at all. */
#ifndef LARDSIM_OUTFILE_H
#define LARDSIM_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct err;

/* Writes beside the target, then fsync and rename. "-" is standard output, written directly. A file
 * that is there is an error, at once or when it has appeared meanwhile, unless it may be replaced;
 * devices and pipes are written to. */
struct outfile;
struct outfile *outfile_open(const char *path, bool replace, struct err *e); /* NULL: LARD_OUTPUT */
/* A file in a folder that appears as a whole, and is synced then: it is under its name at once, and
 * not synced. */
struct outfile *outfile_open_in(const char *path, const char *shown, struct err *e);
/* Whether outfile_open would find something in its way now: 0, or -1 and *e. */
int outfile_check(const char *path, bool replace, struct err *e);
FILE *outfile_stream(struct outfile *f); /* borrowed; write errors are found at commit */
int outfile_commit(struct outfile *f, struct err *e); /* frees f in any case */
void outfile_abort(struct outfile *f);                /* NULL is fine; nothing remains */
/* Syncs an open file or folder; a folder, so that a rename in it lasts. 0 or an errno. Not all file
 * systems can do it; what can't is not a failure. */
int outfile_sync(int fd);
int outfile_sync_folder(const char *folder);
/* Says that path can't be written, why (an errno), and what to do. Always returns -1. */
int outfile_error(struct err *e, const char *path, int reason);

#endif
