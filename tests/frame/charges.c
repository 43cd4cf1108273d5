/* charges.c - see charges.h. It knows no software: steps and places are names. */
#include "tests/frame/charges.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- what is asked -------------------------------------------------------------------------- */

void charges_step(struct charges *c, const char *name, unsigned instructions)
{
    c->step = xgrow(c->step, c->steps, &c->step_cap, sizeof *c->step);
    c->step[c->steps++] = (struct charge_step){.name = name, .instructions = instructions};
}

void charges_free(struct charges *c)
{
    free(c->list);
    free(c->step);
    *c = (struct charges){0};
}

void charges_forget(struct charges *c)
{
    c->n = 0;
    for (size_t i = 0; i < c->steps; i++) {
        struct charge_step *s = &c->step[i];
        s->counted = c->counted ? c->counted(c->arg, s->name) : UINT64_MAX;
        s->expected = 0;
    }
}

/* The one that is not complete yet: what was asked for last are its instructions. */
static struct charge *open_charge(struct charges *c, unsigned core)
{
    if (c->n && !*c->list[c->n - 1].what && c->list[c->n - 1].core == core)
        return &c->list[c->n - 1];
    c->list = xgrow(c->list, c->n, &c->cap, sizeof *c->list);
    c->list[c->n] = (struct charge){.core = core};
    return &c->list[c->n++];
}

void charges_instructions(struct charges *c, unsigned core, uint64_t n)
{
    open_charge(c, core)->instructions += n;
}

void charges_other(struct charges *c, unsigned core, const char *what)
{
    struct charge *one = open_charge(c, core);

    snprintf(one->what, sizeof one->what, "%s", what);
}

void charges_access(struct charges *c, unsigned core, enum mem_cmd cmd, const char *place,
                    unsigned bytes)
{
    static const char *const how[] = {
        [MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "swap"};
    char size[16] = "", what[sizeof c->list->what];

    if (bytes != 8)
        snprintf(size, sizeof size, ":%u", bytes);
    snprintf(what, sizeof what, "%s %s%s", how[cmd], place, size);
    charges_other(c, core, what);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void write_charge(FILE *f, const struct charge *one, unsigned *core)
{
    if (one->core != *core)
        fprintf(f, "core %u, ", one->core);
    *core = one->core;
    fprintf(f, "%llu instructions", (unsigned long long)one->instructions);
    if (*one->what)
        fprintf(f, " to %s", one->what);
}

char *charges_text(const struct charges *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    unsigned core = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (i)
            fputs(", ", f);
        write_charge(f, &c->list[i], &core);
    }
    fclose(f);
    return text;
}

/* ---- what is expected ----------------------------------------------------------------------- */

static struct charge_step *find_step(struct charges *c, const char *name)
{
    for (size_t i = 0; i < c->steps; i++)
        if (!strcmp(c->step[i].name, name))
            return &c->step[i];
    return NULL;
}

static bool begins(const char *text, const char *with, const char **rest)
{
    const size_t n = strlen(with);

    *rest = text + n;
    return !strncmp(text, with, n);
}

static bool is_access(const char *item)
{
    const char *rest;

    return begins(item, "load ", &rest) || begins(item, "store ", &rest) ||
           begins(item, "swap ", &rest);
}

/* One word of an expectation, added to what is wanted. */
static void want_item(struct charges *want, struct charges *c, const char *item, unsigned *core)
{
    char *name;
    const char *rest;
    const unsigned long long times = strtoull(item, &name, 10);
    const bool counted = name != item && *name == ' ';
    struct charge_step *s = find_step(c, counted ? name + 1 : item);

    if (s) {
        s->expected += counted ? times : 1;
        if (!c->free)
            charges_instructions(want, *core, (counted ? times : 1) * s->instructions);
    } else if (counted && !strcmp(name, " in all")) {
        want->total = times;
    } else if (counted && begins(name, " instruction", &rest)) {
        charges_instructions(want, *core, times);
    } else if (begins(item, "core ", &rest)) {
        *core = (unsigned)strtoul(rest, NULL, 10);
    } else if (begins(item, "further ", &rest)) {
        charges_other(want, *core, rest);
    } else if (is_access(item) || strchr(item, ' ')) {
        charges_instructions(want, *core, !c->free);
        charges_other(want, *core, item);
    } else {
        die("charges: there is no step %s", item);
    }
}

static struct charges wanted(struct charges *c, const char *expected)
{
    struct charges want = {0};
    char *text = xstrdup(expected), *save = NULL;
    unsigned core = 0;

    for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save))
        want_item(&want, c, item + strspn(item, " "), &core);
    free(text);
    return want;
}

/* ---- the comparison ------------------------------------------------------------------------- */

static bool same_charge(const struct charge *a, const struct charge *b)
{
    return a->core == b->core && a->instructions == b->instructions && !strcmp(a->what, b->what);
}

/* The first that differs, in a sentence. */
static void write_first(FILE *f, const struct charges *want, const struct charges *is)
{
    size_t i = 0;
    unsigned core;

    while (i < want->n && i < is->n && same_charge(&want->list[i], &is->list[i]))
        i++;
    fputs(i ? "after " : "at the beginning ", f);
    if (i)
        write_charge(f, &want->list[i - 1], &(unsigned){want->list[i - 1].core});
    fputs(i ? " it expects " : "it expects ", f);
    core = i ? want->list[i - 1].core : 0;
    if (i < want->n)
        write_charge(f, &want->list[i], &core);
    else
        fputs("nothing more", f);
    fputs(" but is asked for ", f);
    core = i ? want->list[i - 1].core : 0;
    if (i < is->n)
        write_charge(f, &is->list[i], &core);
    else
        fputs("nothing more", f);
}

static bool same_counts(const struct charges *c, const char **name, uint64_t *more,
                        uint64_t *expected)
{
    for (size_t i = 0; i < c->steps; i++) {
        const struct charge_step *s = &c->step[i];
        if (s->counted == UINT64_MAX)
            continue;
        *name = s->name;
        *more = c->counted(c->arg, s->name) - s->counted;
        *expected = s->expected;
        if (*more != *expected)
            return false;
    }
    return true;
}

char *charges_differ(struct charges *c, const char *expected)
{
    struct charges want = wanted(c, expected);
    bool same = want.n == c->n;
    char *text = NULL;
    const char *step;
    uint64_t more, most, total = 0;

    for (size_t i = 0; i < c->n; i++)
        total += c->list[i].instructions;
    for (size_t i = 0; same && i < c->n; i++)
        same = same_charge(&want.list[i], &c->list[i]);
    if (!same) {
        char *all = charges_text(c);
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        write_first(f, &want, c);
        fprintf(f, "\nexpected: %s\nasked:    %s", expected, all);
        fclose(f);
        free(all);
    } else if (want.total && want.total != total) {
        text = xasprintf("the table's steps make %llu instructions in all of: %s",
                         (unsigned long long)total, expected);
    } else if (!same_counts(c, &step, &more, &most)) {
        text = xasprintf("step %s is counted %llu times and expected %llu times in: %s", step,
                         (unsigned long long)more, (unsigned long long)most, expected);
    }
    charges_free(&want);
    charges_forget(c);
    return text;
}
