/* config_load.c - gathers what is given: files, presets and what they inherit.
 *
 * Values are only gathered here, as texts; a mistake in one is found when its section is bound and
 * its type is known. What inherits wins over what it inherits. */
#include "base/param_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum {
    MAX_INHERIT_DEPTH = 16,
    MAX_FILES = 64 /* files and presets in one configuration, so that inheritance can't explode */
};

struct config_source { /* a file or a preset that is being read, and what inherits it */
    const struct config_source *heir; /* NULL: nothing does */
    const struct preset *preset;      /* NULL: a file */
    const char *name;                 /* path, or preset's name */
    const char *origin;               /* for messages and values: path, or "preset naive" */
    dev_t device;
    ino_t inode;
};

static const struct preset *find_preset(const struct config *c, const char *name)
{
    for (const struct preset *p = c->presets; p && p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Compares files by device and inode, so that a circle is seen through links and relative paths. */
static bool same_source(const struct config_source *a, const struct config_source *b)
{
    if (a->preset || b->preset)
        return a->preset == b->preset;
    return a->device == b->device && a->inode == b->inode;
}

/* Refuses circles and deep inheritance before s is opened. from says which line inherits it ("" at
 * the first). */
static int check_source(struct config *c, const struct config_source *s, const char *from,
                        struct err *e)
{
    unsigned depth = 1;

    for (const struct config_source *h = s->heir; h; h = h->heir, depth++)
        if (same_source(s, h))
            return err_set(e, LARD_CONFIG, "%s%s inherits itself; remove one inherit of the circle",
                           from, s->origin);
    if (depth > MAX_INHERIT_DEPTH)
        return err_set(e, LARD_CONFIG, "%s%s: inheritance is too deep; at most %d files in a row",
                       from, s->origin, MAX_INHERIT_DEPTH);
    if (c->files++ == MAX_FILES)
        return err_set(e, LARD_CONFIG,
                       "%s%s: too many files in one configuration; at most %d, each counted as "
                       "often as it is inherited",
                       from, s->origin, MAX_FILES);
    return 0;
}

static int read_source(struct config *c, const struct config_source *s, struct err *e);

static int read_preset(struct config *c, const struct preset *p, const struct config_source *heir,
                       const char *from, struct err *e)
{
    char *const origin = xasprintf("preset %s", p->name);
    const struct config_source s = {.heir = heir, .preset = p, .name = p->name, .origin = origin};
    const int status = check_source(c, &s, from, e) || read_source(c, &s, e) ? -1 : 0;

    free(origin);
    return status;
}

/* A file that isn't there is a mistyped preset as well. */
static int missing_file(const struct config *c, const char *path, const char *name,
                        const char *from, struct err *e)
{
    const char *presets[64];
    size_t n = 0;

    for (const struct preset *p = c->presets; p && p->name && n < ARRAY_SIZE(presets); p++)
        presets[n++] = p->name;
    char *meant = param_suggest(name, presets, n);
    err_set(e, LARD_CONFIG, "%s%s: no such file, and no such preset%s", from, path,
            *meant ? meant
                   : "; give the path of a YAML file or a name from `lardsim list presets`");
    free(meant);
    return -1;
}

/* name: as the user wrote it. A missing file is told here, with presets of a similar name; other
 * failures when it is read. */
static int read_path(struct config *c, const char *path, const char *name,
                     const struct config_source *heir, const char *from, struct err *e)
{
    struct config_source s = {.heir = heir, .name = path, .origin = path};
    struct stat st;

    if (!stat(path, &st)) {
        s.device = st.st_dev;
        s.inode = st.st_ino;
    } else if (errno == ENOENT) {
        return missing_file(c, path, name, from, e);
    }
    return check_source(c, &s, from, e) || read_source(c, &s, e) ? -1 : 0;
}

/* name relative to the file s: owned by the caller. */
static char *path_beside(const struct config_source *s, const char *name)
{
    const char *const slash = s->preset ? NULL : strrchr(s->name, '/');

    if (*name == '/' || !slash)
        return xstrdup(name);
    return xasprintf("%.*s/%s", (int)(slash - s->name), s->name, name);
}

static int read_inherited(struct config *c, const struct config_source *s,
                          const struct yaml_entry *entry, struct err *e)
{
    char *const from = xasprintf("%s:%u: inherit: ", s->origin, entry->line);
    int status = 0;

    for (size_t i = 0; i < entry->value.n && !status; i++) {
        const char *const name = entry->value.item[i];
        const struct preset *const p = find_preset(c, name);
        char *const path = path_beside(s, name);

        status = p ? read_preset(c, p, s, from, e) : read_path(c, path, name, s, from, e);
        free(path);
    }
    free(from);
    return status;
}

/* Reads the entries of s, those of the files that it inherits first, so that s wins. */
static int read_entries(struct config *c, const struct config_source *s, struct yaml_flat *f,
                        struct err *e)
{
    /* Two walks: inherit may stand anywhere among the entries, and what it brings is still given
     * first. */
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->entry[i].name, "inherit") == 0 && read_inherited(c, s, &f->entry[i], e))
            return -1;
    for (size_t i = 0; i < f->n; i++) {
        struct yaml_entry *const entry = &f->entry[i];

        if (strcmp(entry->name, "inherit") == 0)
            continue;
        config_give(c, entry->name, entry->value,
                    s->preset ? xstrdup(s->origin) : xasprintf("%s:%u", s->origin, entry->line),
                    !s->preset);
        /* The configuration owns both now; the list must not free them. */
        entry->name = NULL;
        entry->value = (struct yaml_value){0};
    }
    return 0;
}

static int read_source(struct config *c, const struct config_source *s, struct err *e)
{
    const char *const yaml = s->preset ? s->preset->yaml : NULL;
    struct yaml_flat flat;
    int status = yaml ? yaml_flat_text(&flat, s->origin, yaml, strlen(yaml), e)
                      : yaml_flat_file(&flat, s->name, e);

    if (!status)
        status = read_entries(c, s, &flat, e);
    yaml_flat_free(&flat);
    return status;
}

int config_load(struct config *c, const char *path, struct err *e)
{
    return read_path(c, path, path, NULL, "", e);
}

int config_preset(struct config *c, const char *name, struct err *e)
{
    const struct preset *const p = find_preset(c, name);

    return p ? read_preset(c, p, NULL, "", e) : read_path(c, name, name, NULL, "", e);
}
