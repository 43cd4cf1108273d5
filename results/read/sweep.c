/* sweep.c - the folder of a sweep: which of its cells are done, and plan.csv, the list of the cells
 * that the latest spec in it has, so that looking at a sweep needs neither its spec nor its
 * sources. */
#include "results/results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"

/* ---- cells ---------------------------------------------------------------------------------- */

bool is_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") == HASH_TEXT - 1 && !text[HASH_TEXT - 1];
}

static bool there(const char *dir, const char *room, const char *hash, const char *file)
{
    char *path = xasprintf("%s/%s/%s%s", dir, room, hash, file);
    const bool is = access(path, F_OK) == 0;

    free(path);
    return is;
}

struct seal *cell_open(const char *dir, const char *hash, struct err *e)
{
    char *path = xasprintf("%s/cells/%s", dir, hash);
    struct seal *s = seal_open(path, e);

    if (s && !seal_there(s)) {
        seal_none(s, e);
        seal_close(s);
        s = NULL;
    }
    free(path);
    return s;
}

/* Something is there, which somebody copied in part, or a disk has lost in part, if not all of it
 * is. */
enum cell_state cell_state(const char *dir, const char *hash, struct err *why)
{
    struct err e = {0};

    if (!there(dir, "cells", hash, ""))
        return there(dir, "failed", hash, "/log") ? CELL_FAILED : CELL_MISSING;
    struct seal *s = cell_open(dir, hash, &e);
    if (s)
        results_check(s, &e);
    seal_close(s);
    if (e.code)
        err_set(why, LARD_TOLERANCE, "%s", e.text);
    return e.code ? CELL_DAMAGED : CELL_DONE;
}

/* ---- the list ------------------------------------------------------------------------------- */

const char *const listed_heads[LISTED_AXES] = {"cell",   "baseline", "asked",
                                               "source", "seed",     "policy"};

bool listing_asked(const struct csv_row *row)
{
    return strcmp(csv_at(row, LISTED_ASKED), "no") != 0;
}

/* Returns the source as the spec has it: "workload:sor,seed=2" without the ",seed=2" that the plan
 * has added. */
char *listing_source(const struct csv_row *row)
{
    const char *source = csv_at(row, LISTED_SOURCE), *seed = csv_at(row, LISTED_SEED);
    char *added = xasprintf("seed=%s", seed);
    const size_t n = strlen(source), k = strlen(added);
    size_t kept = n;

    if (*seed && n > k && !strcmp(source + n - k, added))
        kept = n - k - (source[n - k - 1] == ',');
    free(added);
    return xasprintf("%.*s", (int)kept, source);
}

/* Hashes name folders: what is none is not taken for one. */
static bool fits(const struct csv_row *row, const struct csv_row *head)
{
    const char *baseline = csv_at(row, LISTED_BASELINE);

    return row->n == head->n && is_hash(csv_at(row, LISTED_CELL)) &&
           (!*baseline || is_hash(baseline));
}

static bool head_fits(const struct csv_row *head)
{
    for (size_t i = 0; i < LISTED_AXES; i++)
        if (strcmp(csv_at(head, i), listed_heads[i]) != 0)
            return false;
    return true;
}

static bool read_rows(struct listing *l, struct csv_text in)
{
    bool ok = csv_read(&l->head, &in) && head_fits(&l->head);

    while (ok) {
        struct csv_row row = {0};
        if (!csv_read(&row, &in)) {
            csv_free(&row);
            break;
        }
        l->row = xgrow(l->row, l->n, &l->cap, sizeof *l->row);
        l->row[l->n++] = row;
        ok = fits(&row, &l->head);
    }
    return ok;
}

enum { PLAN_MOST = 1 << 30, SEAL_MOST = 1 << 10 };

static int check_seal(const char *dir, uint64_t digest, struct err *e)
{
    char *path = xasprintf("%s/plan.seal", dir), *line = xasprintf(LISTING_SEAL, digest);
    size_t bytes;
    char *seal = file_text(path, SEAL_MOST, &bytes);

    if (!seal && errno != ENOENT)
        err_set(e, LARD_TOLERANCE,
                "%s: can't be read: %s; `lardsim sweep` with the spec writes it again", path,
                strerror(errno));
    else if (seal && !strstr(seal, line))
        err_set(e, LARD_TOLERANCE,
                "%s/plan.csv: has changed: its digest is %016" PRIx64
                ", and plan.seal has another; "
                "`lardsim sweep` with the spec writes both again",
                dir, digest);
    free(seal);
    free(line);
    free(path);
    return e->code ? -1 : 0;
}

int sweep_unread(const char *dir, const char *file, struct err *e)
{
    const int reason = errno;

    if (reason == ENOENT && access(dir, F_OK))
        return err_set(
            e, LARD_CONFIG,
            "%s: there is no such folder; give the one that `lardsim sweep SPEC -o DIR` has", dir);
    if (reason == ENOENT)
        return err_set(e, LARD_CONFIG,
                       "%s: there is no %s, so no sweep has got that far here; `lardsim sweep SPEC "
                       "-o %s` goes on, or begins one",
                       dir, file, dir);
    return err_set(e, LARD_CONFIG, "%s/%s: can't be read: %s; give a folder that you may read", dir,
                   file, strerror(reason));
}

int listing_read(struct listing *l, const char *dir, struct err *e)
{
    char *path = xasprintf("%s/plan.csv", dir);
    size_t bytes;
    char *text = file_text(path, PLAN_MOST, &bytes);

    *l = (struct listing){0};
    if (!text) {
        sweep_unread(dir, "plan.csv", e);
    } else {
        l->digest = digest_bytes(text, bytes);
        if (!check_seal(dir, l->digest, e) && !read_rows(l, (struct csv_text){text, text + bytes}))
            err_set(e, LARD_CONFIG,
                    "%s: not the list of cells that lardsim wrote; `lardsim sweep` with the spec "
                    "writes it again",
                    path);
    }
    free(text);
    free(path);
    return e->code ? -1 : 0;
}

void listing_free(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        csv_free(&l->row[i]);
    free(l->row);
    csv_free(&l->head);
}
