/* results.h - results that were written are read again: all verbs come through this door.
 *
 * A results folder is read through its seal (base/folder.h): what is not as DONE says, or can't be
 * read, is an error, and nobody gets a byte of it. A folder without DONE is of a run that stopped:
 * what it has is read as it is, and `seal_there` tells. Errors are LARD_TOLERANCE where results are
 * not as they were written, and name file, digests and remedy. */
#ifndef LARDSIM_RESULTS_H
#define LARDSIM_RESULTS_H

#include "base/folder.h"

/* ---- one file: read/file.c ------------------------------------------------------------------ */

/* -1: error: it is not as DONE says, can't be read, or is no JSON; fn may have been called then. */
int results_json(const struct seal *s, const char *name, json_fn *fn, void *arg, struct err *e);
/* Each line is an object; `end` is called after each, and returns true if that is enough. */
int results_lines(const struct seal *s, const char *name, json_fn *fn, bool (*end)(void *arg),
                  void *arg, struct err *e);
/* Holds all files of a folder against its DONE. -1: error: the first that is not as it says. */
int results_check(const struct seal *s, struct err *e);

/* ---- values by name: read/words.c ----------------------------------------------------------- */

/* The field that gets a value of JSON: the first that is not null stays. */
struct word_row {
    const char *name;
    enum { WORD_TEXT, WORD_COUNT, WORD_NUMBER } kind; /* char *, owned; uint64_t; double */
    size_t offset;
};
void words_take(const struct word_row *row, size_t n, void *to, const char *name, const char *text);
void words_free(const struct word_row *row, size_t n, void *of); /* texts, which are NULL then */

struct fact {
    char *name, *text; /* own */
};
struct facts { /* in the order of their file */
    struct fact *at;
    size_t n, cap;
};
void facts_add(void *facts, const char *name, const char *text); /* a json_fn */
const char *facts_find(const struct facts *f, const char *name); /* NULL: none */
void facts_free(struct facts *f);

/* ---- the run that wrote it: read/past.c ----------------------------------------------------- */

struct past { /* what a results folder says of its run */
    char digest[20], identity[20], configuration[20], build[80];
    bool complete, comparing;
    char *folder; /* owns; the working folder; NULL: not known */
};
/* config.yaml, too, is as DONE says. 0 or -1; to->folder is to be freed either way. */
int past_read(struct past *to, const struct seal *s, const char *dir, struct err *e);

/* ---- statistics: read/stats.c --------------------------------------------------------------- */

struct cell_stat {
    char *name, *value, *unit; /* own */
};
struct cell_stats {       /* of a cell, as its stats.csv has them */
    struct cell_stat *at; /* owns */
    size_t n, cap;
    char *behaviour, *findings; /* own; the digest, and keys with spaces between; NULL: none */
};
/* dir: of the sweep. 0 or -1; s is to be freed either way. */
int cell_stats_read(struct cell_stats *s, const char *dir, const char *hash, struct err *e);
const char *cell_stats_find(const struct cell_stats *s, const char *name); /* NULL: none */
void cell_stats_free(struct cell_stats *s);

/* ---- a sweep's folder: read/sweep.c --------------------------------------------------------- */

enum { HASH_TEXT = 17 };
bool is_hash(const char *text); /* the name of a cell's folder; the identity of a race */

/* CELL_DAMAGED: it was done, and is not as it was written any more: as good as missing. */
enum cell_state { CELL_MISSING, CELL_RUNNING, CELL_DONE, CELL_FAILED, CELL_DAMAGED, CELL_STATES };
/* Reads all files of a cell that is done. *why: what is wrong with one that is damaged. */
enum cell_state cell_state(const char *dir, const char *hash, struct err *why);
struct seal *cell_open(const char *dir, const char *hash, struct err *e); /* NULL: error */

enum { /* the first columns of plan.csv, the list of cells; the axes follow */
       LISTED_CELL,
       LISTED_BASELINE,
       LISTED_ASKED, /* "yes", "no" */
       LISTED_SOURCE,
       LISTED_SEED,
       LISTED_POLICY,
       LISTED_AXES
};
extern const char *const listed_heads[LISTED_AXES];
struct listing {
    struct csv_row head;
    struct csv_row *row; /* owns; of a cell; "" where a column says nothing of it */
    size_t n, cap;
    uint64_t digest; /* of the text */
};
/* Lines of plan.seal: the digest of plan.csv, or of the one before, while it is written. A folder
 * of an older version has none. */
#define LISTING_SEAL "%016" PRIx64 "  plan.csv\n"
bool listing_asked(const struct csv_row *row);
/* Without the seed that the sweep gave it; owned by the caller. */
char *listing_source(const struct csv_row *row);
int listing_read(struct listing *l, const char *dir, struct err *e);
/* A file of a sweep's folder could not be read, for which errno has the reason: there is no such
 * folder, or nothing has got that far in it. -1. */
int sweep_unread(const char *dir, const char *file, struct err *e);
void listing_free(struct listing *l);

#endif
