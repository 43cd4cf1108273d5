/* site.c - the sites of a run: the workload's, the runtime's, and those of the runtime's code
 * that a compiler inlines, which has a site at each place where it stands. What is inlined is what
 * the optimising compiler of Jikes RVM 3.1.1 inlines (docs/workloads.md). */
#include "workloads/vm/vm_int.h"

#include <assert.h>
#include <stdlib.h>

#define TEXT(name, text) [VM_SITE_##name] = text,
static const char *const own[VM_SITE_FIRST] = {VM_OWN_SITES(TEXT)};

/* ---- names ---------------------------------------------------------------------------------- */

void vm_name(struct vm *v, enum name_space space, uint64_t id, const char *text)
{
    struct err e = {0};
    const int failed = names_add(v->names, space, id, text, &e);

    assert(!failed);
    (void)failed;
}

static uint64_t new_site(struct vm *v, const char *text)
{
    vm_name(v, NAME_SITE, v->sites.n, text);
    return v->sites.n++;
}

uint64_t vm_site(struct vm_thread *t, const char *text)
{
    return new_site(t->vm, text);
}

void vm_sites_open(struct vm *v)
{
    for (uint64_t i = 0; i < VM_SITE_FIRST; i++)
        if (own[i])
            vm_name(v, NAME_SITE, i, own[i]);
    v->sites.n = VM_SITE_FIRST;
    for (const char *const *s = v->program.workload->sites; s && *s; s++)
        new_site(v, *s);
    map_init(&v->sites.inlined_ids, NULL);
}

void vm_sites_close(struct vm *v)
{
    free(v->sites.inlined);
    map_free(&v->sites.inlined_ids);
}

/* ---- inlined code --------------------------------------------------------------------------- */

/* "vm.lock@Worker.update:71"; a look at the yield flag belongs to the method, not to a line of it.
 */
static char *inlined_name(const struct vm *v, enum vm_site place, uint64_t site)
{
    const char *at = names_find(v->names, NAME_SITE, site);
    const char *line = place == VM_SITE_SAFEPOINT ? strrchr(at, ':') : NULL;
    const size_t n = line ? (size_t)(line - at) : strlen(at);

    return xasprintf("%s@%.*s", own[place], (int)n, at);
}

static uint32_t new_inlined(struct vm *v, enum vm_site place, uint64_t site)
{
    char *name = inlined_name(v, place, site);
    uint64_t *id = map_put(&v->sites.inlined_ids, digest_bytes(name, strlen(name)));

    if (!*id)
        *id = new_site(v, name);
    free(name);
    return (uint32_t)*id;
}

/* Returns the site of the runtime's place, inlined at the program's site; made when it is first
 * used. */
uint64_t vm_inlined(struct vm_thread *t, enum vm_site place, uint64_t site)
{
    struct vm *v = t->vm;

    if (!v->p.inlining || site < VM_SITE_FIRST)
        return place;
    while (v->sites.n_inlined <= site) {
        v->sites.inlined = xgrow(v->sites.inlined, v->sites.n_inlined, &v->sites.cap_inlined,
                                 sizeof *v->sites.inlined);
        memset(v->sites.inlined[v->sites.n_inlined++], 0, sizeof *v->sites.inlined);
    }
    uint32_t *id = &v->sites.inlined[site][place];
    if (!*id)
        *id = new_inlined(v, place, site);
    return *id;
}

/* ---- where a thread stands ------------------------------------------------------------------ */

/* The program's site of a record, also when that is the second one of an event; else 0. */
static uint64_t site_of(const struct event *rec)
{
    const bool has_site = !rec->kind || ev_info[rec->kind].class == CLASS_ACCESS;

    return has_site && !(rec->flags & EVF_SYSTEM) && rec->aux >= VM_SITE_FIRST ? rec->aux : 0;
}

void vm_note_place(struct vm_thread *t)
{
    const struct vm *v = t->vm;

    if (t == v->gc.thread)
        return;
    for (const struct event *rec = v->core.at; rec-- > v->sched.from;) {
        const uint64_t site = site_of(rec);
        if (!site)
            continue;
        t->stands = site;
        return;
    }
}
