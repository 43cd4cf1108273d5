/* listing.c - writes plan.csv, the list of the cells that the latest spec in a folder has. */
#include <stdlib.h>

#include "cli/sweep/sweep.h"

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
    for (size_t i = 0; i < LISTED_AXES; i++)
        fprintf(to, "%s%s", i ? "," : "", listed_heads[i]);
    for (size_t i = 0; i < p->spec->axes; i++) {
        fputc(',', to);
        csv_field(to, p->spec->axis[i].name);
    }
    fputc('\n', to);
    for (size_t i = 0; i < p->n; i++)
        write_cell(to, p, &p->cell[i]);
    return outfile_commit(out, e);
}
