/* listing.c - writes plan.csv, the list of the cells that the latest spec in a folder has. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "results/experiment/sweep.h"

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

static char *text_of(const struct plan *p, size_t *bytes)
{
    char *text = NULL;
    FILE *to = xmemstream(&text, bytes);

    for (size_t i = 0; i < LISTED_AXES; i++)
        fprintf(to, "%s%s", i ? "," : "", listed_heads[i]);
    for (size_t i = 0; i < p->spec->axes; i++) {
        fputc(',', to);
        csv_field(to, p->spec->axis[i].name);
    }
    fputc('\n', to);
    for (size_t i = 0; i < p->n; i++)
        write_cell(to, p, &p->cell[i]);
    if (fclose(to))
        die("no memory for the list of cells");
    return text;
}

/* The digest of the list that is there, if it is whole, and then that of the one that comes:
 * whenever the process is killed, the list is one of the two. */
static int write_seal(const struct sweep_folder *f, const char *text, size_t bytes, struct err *e)
{
    struct listing old;
    struct err none = {0};
    const bool had = !listing_read(&old, f->dir, &none);
    const uint64_t is = digest_bytes(text, bytes);
    char *seal =
        had ? xasprintf(LISTING_SEAL LISTING_SEAL, old.digest, is) : xasprintf(LISTING_SEAL, is);
    const int failed = sweep_write(f, "plan.seal", seal, strlen(seal), e);

    listing_free(&old);
    free(seal);
    return failed;
}

int listing_write(const struct sweep_folder *f, const struct plan *p, struct err *e)
{
    size_t bytes;
    char *text = text_of(p, &bytes);
    const int failed =
        write_seal(f, text, bytes, e) || sweep_write(f, "plan.csv", text, bytes, e) ? -1 : 0;

    free(text);
    return failed;
}
