/* workload.c - the table of workloads, their parameters, and opening one as a source. */
#include "base/text.h"
#include "workloads/vm/vm_int.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORKLOAD(name) extern const struct workload workload_##name;
#include "workloads/workloads.def"
#undef WORKLOAD

const struct workload *const workloads[] = {
#define WORKLOAD(name) &workload_##name,
#include "workloads/workloads.def"
#undef WORKLOAD
    NULL};

const char *const workload_size_names[] = {"small", "medium", "large", "paper", NULL};

/* ---- parameters ----------------------------------------------------------------------------- */

static const char *const schedule_names[] = {"round-robin", "random", "adversarial", NULL};
static const char *const gc_names[] = {
    "marksweep", "semispace", "generational", "marksweep-concurrent", "copying-concurrent", NULL};

static const char *const spread_names[] = {"even", "geometric", "auto", NULL};
static const char *const tier_names[] = {"compiled", "interpreted", NULL};

/* The runtime's own parameters, which every program has. */
const struct param vm_param_rows[] = {
#define PARAMS_DEF "workloads/vm_params.def"
#define PARAMS_OF  struct vm_params
#include "base/param_rows.h"
};

const struct param workload_param_rows[] = {
    {"size", PARAM_CHOICE, 0, "small", 0, 0, "", workload_size_names,
     "Sets the workload's own parameters that are not given."},
    PARAM_END};

static int check_vm(const struct vm_params *p, struct err *e)
{
    const struct layout *l = &layouts[p->layout];
    const uint64_t most = l->word == 4 ? UINT64_C(1) << 32 : (uint64_t)l->align << 32;

    if (l->reference == 4 && p->heap >= most)
        return err_set(e, LARD_CONFIG,
                       "heap: references of layout %s reach less than %" PRIu64
                       " bytes; give a smaller heap, or another layout",
                       l->name, most);
    if (p->gc == VM_GENERATIONAL && p->nursery > p->heap / 2)
        return err_set(e, LARD_CONFIG,
                       "nursery: %" PRIu64 " bytes are more than half the heap of %" PRIu64
                       "; give a smaller nursery",
                       p->nursery, p->heap);
    if (p->gc == VM_GENERATIONAL && p->nursery < 4 * p->tlab)
        return err_set(e, LARD_CONFIG,
                       "nursery: it must be 4 times tlab at the least, %" PRIu64 " bytes",
                       4 * p->tlab);
    if (p->heap < 16 * p->tlab)
        return err_set(e, LARD_CONFIG,
                       "heap: it must be 16 times tlab at the least, %" PRIu64 " bytes",
                       16 * p->tlab);
    if (p->heap % VM_BLOCK_BYTES || p->nursery % VM_BLOCK_BYTES || p->tlab % 64)
        return err_set(e, LARD_CONFIG, "heap and nursery must be multiples of 16 KiB, tlab of 64");
    return 0;
}

/* ---- "NAME,key=value,..." ------------------------------------------------------------------- */

/* A message that thinks of --set, or does not know whose parameters it is about. */
static int retell(const struct err *from, const char *name, struct err *e)
{
    static const char set[] = "--set: ";
    const size_t skip = strncmp(from->text, set, sizeof set - 1) ? 0 : sizeof set - 1;

    return err_set(e, (enum lard_exit)from->code, "workload:%s: %s", name, from->text + skip);
}

static int check_name(const struct workload *w, const char *assignment, struct err *e)
{
    const struct param *const tables[] = {w->params, workload_param_rows, vm_param_rows};
    const char *names[64]; /* candidates for a slip of the pen */
    size_t n = 0;
    char *name = xasprintf("%.*s", (int)strcspn(assignment, "="), assignment);
    bool known = !strchr(assignment, '='); /* that is for config_set to say */

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        for (const struct param *p = tables[i]; p->name && n < ARRAY_SIZE(names); p++) {
            names[n++] = p->name;
            known |= !strcmp(p->name, name);
        }
    const char *nearest = nearest_name(name, names, n);
    if (!known)
        err_set(e, LARD_CONFIG, "it has no parameter %.100s; %s%s%s", name,
                nearest ? "did you mean " : "`lardsim workload describe ",
                nearest ? nearest : w->name, nearest ? "?" : "` shows all");
    free(name);
    return known ? 0 : -1;
}

/* The end of the first assignment: a comma after which there is a "=" before the next comma. Other
 * commas are a list's. */
static size_t assignment_length(const char *text)
{
    size_t n = strcspn(text, ",");

    while (text[n]) {
        const char *next = text + n + 1;
        if (next[strcspn(next, ",=")] == '=')
            return n;
        n += 1 + strcspn(next, ",");
    }
    return n;
}

static int assign_all(struct config *c, const struct workload *w, const char *text, struct err *e)
{
    int status = 0;

    while (*text && !status) {
        const size_t n = assignment_length(text);
        char *one = xasprintf("%.*s", (int)n, text);
        status = check_name(w, one, e) || config_set(c, one, e) ? -1 : 0;
        free(one);
        text += n + (text[n] == ',');
    }
    return status;
}

/* The size is found out first, from all that is given; then its assignments are made, and those
 * given after them, so that given ones win. */
static int gather(struct config *c, const struct workload *w, const char *given, struct err *e)
{
    struct config *first = config_new(NULL);
    uint32_t size = 0;
    const bool failed =
        assign_all(first, w, given, e) || config_bind(first, "", workload_param_rows, &size, e);

    config_free(first);
    if (failed || (w->sizes[size] && assign_all(c, w, w->sizes[size], e)))
        return -1;
    return assign_all(c, w, given, e);
}

static int bind(struct config *c, const struct workload *w, struct vm_params *p, void *own,
                struct err *e)
{
    uint32_t size;

    if (config_bind(c, "", workload_param_rows, &size, e) ||
        config_bind(c, "", vm_param_rows, p, e) || config_bind(c, "", w->params, own, e))
        return -1;
    return config_check_names(c, e);
}

/* Sets all of p and own. The messages name the workload. */
static int configure(struct config *c, const struct workload *w, const char *given,
                     struct vm_params *p, void *own, struct err *e)
{
    struct err inner = {0};

    int failed = gather(c, w, given, &inner) || bind(c, w, p, own, &inner) || check_vm(p, &inner) ||
                 workload_base_program(w, p, &inner);
    if (!failed && p->private_data && !w->with.none)
        failed = err_set(&inner, LARD_CONFIG,
                         "private: how many accesses it makes to private data is not known; leave "
                         "it off, or take barnes, fft, sor, spatial or water");
    if (!failed && w->check)
        failed = w->check(own, p, &inner);
    return failed ? retell(&inner, w->name, e) : 0;
}

static struct source *open_with(const struct workload *w, const char *given, struct err *e);

/* Runs the workload once by itself, to prove which of its sites are free of races. */
static int prove(struct vm_proved *to, const struct workload *w, const char *given, struct err *e)
{
    char *plain = xasprintf("%s%sanalysis=off,private=off", given, *given ? "," : "");
    struct source *s = open_with(w, plain, e);
    const int failed = s ? workload_prove(s, to, e) : -1;

    source_close(s);
    free(plain);
    return failed;
}

static struct source *open_with(const struct workload *w, const char *given, struct err *e)
{
    struct config *c = config_new(NULL);
    void *own = xcalloc(1, w->params_size);
    struct vm_params p = {0};
    struct vm_proved proved = {NULL, 0};

    if (configure(c, w, given, &p, own, e) || (p.analysis && prove(&proved, w, given, e))) {
        free(own);
        config_free(c);
        return NULL;
    }
    struct vm *v = vm_open(w, &p, own, c, e); /* takes own and c in any case */
    if (!v) {
        free(proved.site);
        return NULL;
    }
    v->core.proved = proved;
    v->source.seed = p.seed;
    v->source.seeded = true;
    return p.private_data ? private_open(&v->source, &w->with) : &v->source;
}

/* As open_with, but returns the settings in force, a line a parameter. The caller owns it. */
static char *settings_with(const struct workload *w, const char *given, struct err *e)
{
    struct config *c = config_new(NULL);
    void *own = xcalloc(1, w->params_size);
    struct vm_params p = {0};
    char *text = NULL;
    size_t n;

    if (!configure(c, w, given, &p, own, e)) {
        FILE *out = xmemstream(&text, &n);
        config_canonical(c, out);
        fclose(out);
    }
    free(own);
    config_free(c);
    return text;
}

/* ---- by name -------------------------------------------------------------------------------- */

const struct workload *workload_find(const char *name)
{
    for (const struct workload *const *w = workloads; *w; w++)
        if (!strcmp((*w)->name, name))
            return *w;
    return NULL;
}

/* The first twin of a program that is named without a paper; NULL: there is none. */
static const char *twin_of(const char *name)
{
    const size_t n = strlen(name);

    for (const struct workload *const *w = workloads; *w && n; w++)
        if (!strncmp((*w)->name, name, n) && (*w)->name[n] == '@')
            return (*w)->name;
    return NULL;
}

/* "xalan" alone is ambiguous, as its twins are named by paper: the message names one of them. */
static int unknown(const char *name, struct err *e)
{
    const char *names[256];
    size_t n = 0;

    for (const struct workload *const *w = workloads; *w && n < ARRAY_SIZE(names); w++)
        names[n++] = (*w)->name;
    const char *nearest = twin_of(name);
    if (!nearest)
        nearest = nearest_name(name, names, n);
    return err_set(e, LARD_CONFIG, "workload:%.100s: no such workload; %s%s%s", name,
                   nearest ? "did you mean " : "`lardsim workload list` shows all there are",
                   nearest ? nearest : "", nearest ? "?" : "");
}

const struct workload *workload_named(const char *rest, struct err *e)
{
    char *name = xasprintf("%.*s", (int)strcspn(rest, ","), rest);
    const struct workload *w = workload_find(name);

    if (!w)
        unknown(name, e);
    free(name);
    return w;
}

/* Returns what comes after the name. */
static const char *given_of(const char *rest)
{
    const char *comma = strchr(rest, ',');

    return comma ? comma + 1 : "";
}

struct source *workload_open(const char *rest, struct err *e)
{
    const struct workload *w = workload_named(rest, e);

    return w ? open_with(w, given_of(rest), e) : NULL;
}

char *workload_settings(const char *rest, struct err *e)
{
    const struct workload *w = workload_named(rest, e);

    return w ? settings_with(w, given_of(rest), e) : NULL;
}
