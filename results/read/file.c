/* file.c - a file of a results folder, read through the folder's seal: JSON, and JSON by line. */
#include "results/results.h"

#include <inttypes.h>
#include <stdlib.h>

int results_json(const struct seal *s, const char *name, json_fn *fn, void *arg, struct err *e)
{
    size_t bytes;
    char *text = seal_text(s, name, &bytes, e);

    if (text && json_read(text, bytes, fn, arg))
        err_set(e, LARD_TOLERANCE, "%s/%s: is no JSON; " SEAL_REMEDY, seal_dir(s), name);
    free(text);
    return e->code ? -1 : 0;
}

struct reading_lines {
    const struct seal *seal;
    const char *name;
    json_fn *fn;
    bool (*end)(void *arg);
    void *arg;
    uint64_t number;
    struct err *e;
};

static bool take_line(void *reading, char *line, size_t bytes)
{
    struct reading_lines *r = reading;

    r->number++;
    if (json_read(line, bytes, r->fn, r->arg))
        return err_set(r->e, LARD_TOLERANCE, "%s/%s:%" PRIu64 ": is no JSON; " SEAL_REMEDY,
                       seal_dir(r->seal), r->name, r->number);
    return r->end(r->arg);
}

int results_lines(const struct seal *s, const char *name, json_fn *fn, bool (*end)(void *),
                  void *arg, struct err *e)
{
    struct reading_lines r = {.seal = s, .name = name, .fn = fn, .end = end, .arg = arg, .e = e};

    return seal_lines(s, name, take_line, &r, e);
}

/* ---- the whole folder ----------------------------------------------------------------------- */

struct first_fault {
    const struct seal *seal;
    struct err *e;
};

static void take_fault(void *first, const struct seal_fault *f)
{
    const struct first_fault *to = first;
    char *text = seal_fault_text(f);

    err_set(to->e, LARD_TOLERANCE, "%s/%s: %s; " SEAL_REMEDY, seal_dir(to->seal), f->file, text);
    free(text);
}

int results_check(const struct seal *s, struct err *e)
{
    struct first_fault first = {s, e};

    if (!seal_there(s))
        return seal_none(s, e);
    seal_check(s, take_fault, &first);
    return e->code ? -1 : 0;
}
