/* listing.c - plan.csv, the list of the cells that the latest spec in a folder has: what each is,
 * so that looking at a sweep needs neither its spec nor its sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep.h"

static const char *const heads[] = {"cell", "baseline", "asked", "source", "seed", "policy"};

static void write_cell(FILE *out, const struct plan *p, const struct sweep_cell *c)
{
    fprintf(out, "%s,%s,%s,", c->hash, c->baseline == NO_CELL ? "" : p->cell[c->baseline].hash,
            c->asked ? "yes" : "no");
    csv_field(out, p->source[c->source].text);
    fprintf(out, ",%s,", c->seed ? c->seed : "");
    csv_field(out, c->policy);
    for (size_t i = 0; i < p->spec->axes; i++) {
        fputc(',', out);
        csv_field(out, c->value[i] ? c->value[i] : "");
    }
    fputc('\n', out);
}

int listing_write(const struct sweep_folder *f, const struct plan *p, struct err *e)
{
    char *path = sweep_path(f, "plan.csv", NULL);
    struct outfile *out = outfile_open(path, true, e);

    free(path);
    if (!out)
        return -1;
    FILE *to = outfile_stream(out);
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        fprintf(to, "%s%s", i ? "," : "", heads[i]);
    for (size_t i = 0; i < p->spec->axes; i++) {
        fputc(',', to);
        csv_field(to, p->spec->axis[i].name);
    }
    fputc('\n', to);
    for (size_t i = 0; i < p->n; i++)
        write_cell(to, p, &p->cell[i]);
    return outfile_commit(out, e);
}

/* ---- reading -------------------------------------------------------------------------------- */

bool is_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") == HASH_TEXT - 1 && !text[HASH_TEXT - 1];
}

bool listing_asked(const struct csv_row *row)
{
    return strcmp(csv_at(row, LISTED_ASKED), "no") != 0;
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
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        if (strcmp(csv_at(head, i), heads[i]) != 0)
            return false;
    return true;
}

static bool read_rows(struct listing *l, FILE *in)
{
    bool ok = csv_read(&l->head, in) && head_fits(&l->head);

    while (ok) {
        struct csv_row row = {0};
        if (!csv_read(&row, in)) {
            csv_free(&row);
            break;
        }
        l->row = xgrow(l->row, l->n, &l->cap, sizeof *l->row);
        l->row[l->n++] = row;
        ok = fits(&row, &l->head);
    }
    return ok;
}

int listing_read(struct listing *l, const struct sweep_folder *f, struct err *e)
{
    char *path = sweep_path(f, "plan.csv", NULL);
    FILE *in = fopen(path, "re");
    int failed = 0;

    *l = (struct listing){0};
    if (!in)
        failed = err_set(e, LARD_CONFIG,
                         "%s: %s; give a folder in which `lardsim sweep SPEC -o DIR` has begun",
                         path, strerror(errno));
    else if (!read_rows(l, in))
        failed = err_set(e, LARD_CONFIG,
                         "%s: not the list of cells that lardsim wrote; `lardsim sweep` with the "
                         "spec writes it again",
                         path);
    if (in)
        fclose(in);
    free(path);
    return failed;
}

void listing_free(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        csv_free(&l->row[i]);
    free(l->row);
    csv_free(&l->head);
}
