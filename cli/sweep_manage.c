/* sweep_manage.c - lardsim sweep status and lardsim sweep clean: what the folder has, and what of
 * it no cell of the spec needs. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "base/folder.h"
#include "results/experiment/sweep.h"

/* ---- status --------------------------------------------------------------------------------- */

enum { WHY_MOST = 1200 };

/* The first line of the log: owned by the caller. */
static char *why_failed(const struct sweep_folder *f, const char *hash)
{
    char *dir = sweep_path(f, "failed", hash), *path = xasprintf("%s/log", dir);
    size_t bytes;
    char *why = file_text(path, WHY_MOST, &bytes);

    if (!why)
        why = xasprintf("its log can't be read: %s", strerror(errno));
    why[strcspn(why, "\n")] = '\0';
    free(dir);
    free(path);
    return why;
}

static void print_failed(const struct sweep_folder *f, const struct listing *l,
                         const struct csv_row *r)
{
    const char *hash = csv_at(r, LISTED_CELL);
    char *why = why_failed(f, hash);

    printf("failed %s: policy %s, source %s", hash, csv_at(r, LISTED_POLICY),
           csv_at(r, LISTED_SOURCE));
    for (size_t i = LISTED_AXES; i < r->n; i++)
        if (*csv_at(r, i))
            printf(", %s %s", csv_at(&l->head, i), csv_at(r, i));
    printf("\n    ");
    print_visible(stdout, why);
    putchar('\n');
    free(why);
}

static void print_status(const struct sweep_folder *f, const struct listing *l,
                         const enum cell_state *state, const size_t n[])
{
    printf("cells    %zu\ndone     %zu\nfailed   %zu\nmissing  %zu\n", l->n, n[CELL_DONE],
           n[CELL_FAILED], n[CELL_MISSING]);
    if (n[CELL_DAMAGED])
        printf("damaged  %zu\n", n[CELL_DAMAGED]);
    for (size_t i = 0; i < l->n; i++)
        if (state[i] == CELL_FAILED)
            print_failed(f, l, &l->row[i]);
}

static void json_failed(struct json *j, const struct sweep_folder *f, const struct listing *l,
                        const struct csv_row *r)
{
    char *why = why_failed(f, csv_at(r, LISTED_CELL));

    json_object(j);
    for (size_t i = 0; i < r->n; i++)
        json_key_str(j, csv_at(&l->head, i), csv_at(r, i));
    json_key_str(j, "why", why);
    json_end(j);
    free(why);
}

static void status_json(const struct sweep_folder *f, const struct listing *l,
                        const enum cell_state *state, const size_t n[])
{
    struct json j;

    json_page(&j, stdout, "lardsim-sweep-1");
    JSON_COUNTS(&j, {"cells", l->n}, {"done", n[CELL_DONE]}, {"missing", n[CELL_MISSING]},
                {"damaged", n[CELL_DAMAGED]});
    json_key_array(&j, "failed");
    for (size_t i = 0; i < l->n; i++)
        if (state[i] == CELL_FAILED)
            json_failed(&j, f, l, &l->row[i]);
    json_end(&j);
    json_end(&j);
}

static int run_status(const struct cli *c, struct err *e)
{
    const struct sweep_folder f = {.dir = xstrdup(c->arg[0]), .lock = -1};
    size_t n[CELL_STATES] = {0}, damaged;
    struct listing l;

    if (!listing_read(&l, f.dir, e)) {
        enum cell_state *state = sweep_states(&f, &l, &damaged);
        for (size_t i = 0; i < l.n; i++)
            n[state[i]]++;
        (cli_has(c, OPT_JSON) ? status_json : print_status)(&f, &l, state, n);
        if (damaged)
            sweep_damaged(&f, damaged, e);
        free(state);
    }
    listing_free(&l);
    free(f.dir);
    return e->code ? -1 : LARD_DONE;
}

/* ---- clean ---------------------------------------------------------------------------------- */

static size_t clean_room(const struct sweep_folder *f, const char *room, const struct map *known,
                         struct err *e)
{
    char *path = sweep_path(f, room, NULL);
    DIR *dir = opendir(path);
    size_t removed = 0;

    for (struct dirent *d; dir && !e->code && (d = readdir(dir));) {
        if (!is_hash(d->d_name) || map_find(known, strtoull(d->d_name, NULL, 16)))
            continue;
        char *cell = sweep_path(f, room, d->d_name);
        if (folder_remove(cell))
            err_set(e, LARD_OUTPUT, "%s: can't be removed", cell);
        removed++;
        free(cell);
    }
    if (dir)
        closedir(dir);
    free(path);
    return removed;
}

static void say_removed(const struct cli *c, size_t cells, size_t failed)
{
    struct json j;

    if (!cli_has(c, OPT_JSON)) {
        printf("removed: %zu cells, %zu failed ones\n", cells, failed);
        return;
    }
    json_page(&j, stdout, "lardsim-sweep-clean-1");
    JSON_COUNTS(&j, {"cells", cells}, {"failed", failed});
    json_end(&j);
}

static int run_clean(const struct cli *c, struct err *e)
{
    struct sweep_folder f = {.dir = xstrdup(c->arg[0]), .lock = -1};
    struct listing l;
    struct map known = {0};

    if (!listing_read(&l, f.dir, e)) {
        free(f.dir);
        if (!sweep_open(&f, c->arg[0], e)) {
            for (size_t i = 0; i < l.n; i++)
                *map_put(&known, strtoull(csv_at(&l.row[i], LISTED_CELL), NULL, 16)) = 1;
            const size_t cells = clean_room(&f, "cells", &known, e);
            const size_t failed = clean_room(&f, "failed", &known, e);
            say_removed(c, cells, failed);
            folder_clean_flights(&f);
            map_free(&known);
        }
    }
    listing_free(&l);
    sweep_close(&f);
    return e->code ? -1 : LARD_DONE;
}

/* ---- verbs ---------------------------------------------------------------------------------- */

const struct verb verb_sweep_status = {
    .help = &verb_help[HELP_sweep_status], .options = cli_json_option, .run = run_status};
const struct verb verb_sweep_clean = {
    .help = &verb_help[HELP_sweep_clean], .options = cli_json_option, .run = run_clean};
