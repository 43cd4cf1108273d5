/* past.c - what a results folder says of the run that wrote it: provenance.json, and of host.json
 * where it ran, so that it can be repeated. */
#include "results/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct reading_past {
    struct past *to;
    bool known; /* its schema */
};

static void past_take(void *reading, const char *name, const char *text)
{
    struct reading_past *r = reading;
    struct past *to = r->to;
    const struct {
        const char *name;
        char *to;
        size_t room;
    } texts[] = {{"digest", to->digest, sizeof to->digest},
                 {"identity", to->identity, sizeof to->identity},
                 {"configuration", to->configuration, sizeof to->configuration},
                 {"build.id", to->build, sizeof to->build}};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (!strcmp(name, texts[i].name))
            snprintf(texts[i].to, texts[i].room, "%s", text);
    if (!strcmp(name, "schema"))
        r->known = !strcmp(text, PROVENANCE_SCHEMA);
    else if (!strcmp(name, "complete"))
        to->complete = !strcmp(text, "true");
    else if (!strcmp(name, "verb"))
        to->comparing = !strcmp(text, "compare");
}

static void take_folder(void *past, const char *name, const char *text)
{
    struct past *to = past;

    if (!strcmp(name, "working_folder") && !to->folder)
        to->folder = xstrdup(text);
}

/* A run that stopped has no DONE, and says so; one that is complete has lost it. */
static int check_whole(const struct past *p, const struct seal *s, struct err *e)
{
    size_t bytes;

    if (!seal_there(s))
        return p->complete ? seal_none(s, e) : 0;
    char *config = seal_text(s, "config.yaml", &bytes, e);
    free(config);
    return config ? 0 : -1;
}

int past_read(struct past *to, const struct seal *s, const char *dir, struct err *e)
{
    struct reading_past r = {.to = to};

    *to = (struct past){0};
    if (access(dir, F_OK))
        return err_set(e, LARD_CONFIG,
                       "%s: there is no such folder; give one that `lardsim run -o` wrote", dir);
    if (!seal_there(s) && !seal_names(s, "provenance.json"))
        return err_set(
            e, LARD_CONFIG,
            "%s: no results folder that can be repeated: it has no provenance.json; wait "
            "for the run if it lasts, or give a folder that `lardsim run -o` wrote",
            dir);
    if (results_json(s, "provenance.json", past_take, &r, e))
        return -1;
    if (!r.known)
        return err_set(e, LARD_CONFIG,
                       "%s: no results folder that can be repeated: another version of lardsim "
                       "wrote it; lardsim run -o writes one",
                       dir);
    if (check_whole(to, s, e))
        return -1;
    /* The folder in which it ran is only a help: relative paths lead on from there. */
    return seal_names(s, "host.json") ? results_json(s, "host.json", take_folder, to, e) : 0;
}
