/* index.c - index.sqlite: the table `cells`, a row each as in cells.csv, and the view `stats`, all
 * statistics of all cells by name. It is made anew by each collect, and nothing reads it back. The
 * only place that uses SQLite. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "results/experiment/collect.h"

struct cell_index {
    sqlite3 *db;                       /* owns */
    sqlite3_stmt *cell, *stat, *named; /* own */
    char *path, *temp;                 /* own */
    struct map name;                   /* digest of a statistic's name to its number */
    sqlite3_int64 names, cells;
};

static int failed(const struct cell_index *x, struct err *e)
{
    return err_set(e, LARD_OUTPUT, "%s: can't be written: %s; make room, or write somewhere else",
                   x->path, x->db ? sqlite3_errmsg(x->db) : "no memory");
}

static int execute(struct cell_index *x, const char *sql, struct err *e)
{
    return sqlite3_exec(x->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(x, e);
}

static int prepare(struct cell_index *x, const char *sql, sqlite3_stmt **to, struct err *e)
{
    return sqlite3_prepare_v2(x->db, sql, -1, to, NULL) == SQLITE_OK ? 0 : failed(x, e);
}

/* Names of columns may be anything: "l2.size" in quotes. NUMERIC takes what looks like a number as
 * one, and all else as text: a digest like 12e4 would be a number. */
static char *cells_table(const struct table *t)
{
    char *sql = xstrdup("CREATE TABLE cells (id INTEGER PRIMARY KEY");

    for (size_t i = 0; i < t->heads; i++) {
        char *column = sqlite3_mprintf(", \"%w\" %s", t->head[i].name,
                                       !t->head[i].text ? "NUMERIC"
                                       : i              ? "TEXT"
                                                        : "TEXT UNIQUE");
        if (!column)
            die("no memory for the index");
        xappend(&sql, "", column);
        sqlite3_free(column);
    }
    xappend(&sql, "", ")");
    return sql;
}

static char *cells_insert(const struct table *t)
{
    char *sql = xstrdup("INSERT INTO cells VALUES (?");

    for (size_t i = 0; i < t->heads; i++)
        xappend(&sql, "", ",?");
    xappend(&sql, "", ")");
    return sql;
}

static int make_tables(struct cell_index *x, const struct table *t, struct err *e)
{
    char *table = cells_table(t), *insert = cells_insert(t);
    const int bad =
        execute(x, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", e) ||
        execute(x, table, e) ||
        execute(x,
                "CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT UNIQUE, unit TEXT);CREATE "
                "TABLE numbers (cell INTEGER, name INTEGER, value NUMERIC, PRIMARY KEY (cell, "
                "name)) WITHOUT ROWID;CREATE VIEW stats AS SELECT cells.cell, names.name, "
                "numbers.value, names.unit FROM numbers JOIN cells ON cells.id = numbers.cell JOIN "
                "names ON names.id = numbers.name",
                e) ||
        prepare(x, insert, &x->cell, e) ||
        prepare(x, "INSERT INTO names VALUES (?,?,?)", &x->named, e) ||
        prepare(x, "INSERT INTO numbers VALUES (?,?,?)", &x->stat, e);

    free(table);
    free(insert);
    return bad ? -1 : 0;
}

struct cell_index *index_new(const struct sweep_folder *f, const struct table *t, struct err *e)
{
    struct cell_index *x = xcalloc(1, sizeof *x);

    x->path = sweep_path(f, "index.sqlite", NULL);
    x->temp = xasprintf("%s/" INDEX_PART "%ld", f->dir, (long)getpid());
    unlink(x->temp);
    const int bad =
        sqlite3_open(x->temp, &x->db) == SQLITE_OK ? make_tables(x, t, e) : failed(x, e);
    if (!bad)
        return x;
    index_abort(x);
    return NULL;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *to, int at, const char *text)
{
    if (text && *text)
        sqlite3_bind_text(to, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(to, at);
}

static int step(struct cell_index *x, sqlite3_stmt *s, struct err *e)
{
    const int code = sqlite3_step(s);

    sqlite3_reset(s);
    return code == SQLITE_DONE ? 0 : failed(x, e);
}

/* The number of a statistic, which its first cell gives it. */
static int number_of(struct cell_index *x, const struct cell_stat *s, sqlite3_int64 *to,
                     struct err *e)
{
    uint64_t *known = map_put(&x->name, digest_bytes(s->name, strlen(s->name)));
    const bool first = *known == 0;

    if (first)
        *known = (uint64_t)++x->names;
    *to = (sqlite3_int64)*known;
    if (!first)
        return 0;
    sqlite3_bind_int64(x->named, 1, *to);
    bind_text(x->named, 2, s->name);
    bind_text(x->named, 3, s->unit);
    return step(x, x->named, e);
}

static int add_stats(struct cell_index *x, const struct cell_stats *s, struct err *e)
{
    int bad = 0;

    for (size_t i = 0; i < s->n && !bad; i++) {
        sqlite3_int64 name;
        if (number_of(x, &s->at[i], &name, e))
            return -1;
        sqlite3_bind_int64(x->stat, 1, x->cells);
        sqlite3_bind_int64(x->stat, 2, name);
        bind_text(x->stat, 3, s->at[i].value);
        bad = step(x, x->stat, e);
    }
    return bad;
}

int index_row(struct cell_index *x, const struct table *t, const struct cell_stats *s,
              struct err *e)
{
    sqlite3_bind_int64(x->cell, 1, ++x->cells);
    for (size_t i = 0; i < t->heads; i++)
        bind_text(x->cell, (int)i + 2, table_at(t, table_rows(t) - 1, i)->text);
    return step(x, x->cell, e) || add_stats(x, s, e) ? -1 : 0;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void index_free(struct cell_index *x)
{
    sqlite3_finalize(x->cell);
    sqlite3_finalize(x->stat);
    sqlite3_finalize(x->named);
    sqlite3_close(x->db);
    map_free(&x->name);
    free(x->path);
    free(x->temp);
    free(x);
}

void index_abort(struct cell_index *x)
{
    if (!x)
        return;
    unlink(x->temp);
    index_free(x);
}

int index_commit(struct cell_index *x, struct err *e)
{
    const int bad = execute(x, "COMMIT", e) || (rename(x->temp, x->path) && failed(x, e)) ? -1 : 0;

    if (bad)
        unlink(x->temp);
    index_free(x);
    return bad;
}
