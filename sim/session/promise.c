/* promise.c - what an instance is asked for before it runs, or instead: its settings, and what a
 * policy promises with them. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>

int session_asked(struct lardsim *l)
{
    if (l->err.code || l->state != STATE_NEW)
        return l->err.code ? -1 : 0;
    l->state = STATE_ASKED;
    return config_bind(l->config, "", run_param_rows, &l->params, &l->err);
}

char *lardsim_setting(struct lardsim *l, const char *name)
{
    return session_asked(l) ? NULL : config_value(l->config, name);
}

void lardsim_each_setting(const struct lardsim *l,
                          void (*fn)(void *arg, const char *name, const char *text), void *arg)
{
    config_each(l->config, fn, arg);
}

/* A view that has no name of its own is the views of its bits. */
static void name_view(unsigned bits, char *to, size_t room)
{
    size_t n = 0;

    for (const struct view_info *v = view_info; v->name; v++)
        if (v->bits == bits) {
            snprintf(to, room, "%s", v->name);
            return;
        }
    for (const struct view_info *v = view_info; v->name; v++)
        if (!(v->bits & (v->bits - 1)) && bits & v->bits)
            n += (size_t)snprintf(to + n, room - n, "%s%s", n ? "," : "", v->name);
}

static void tell(struct lardsim *l, const struct checker *c, struct lardsim_promise *to)
{
    enum { EXACT = CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER };
    const struct promise promise = checker_promise(c);
    const unsigned claims = promise.claims;
    const void *self;
    const struct policy *p = checker_policy(c, &self);

    free(l->property);
    l->property = xstrdup(promise.property ? promise.property : "");
    name_view(checker_view(c), l->view, sizeof l->view);
    *to = (struct lardsim_promise){
        .policy = p->name,
        .property = l->property,
        .view = l->view,
        .by_access = (claims & (CLAIM_EAGER | CLAIM_REGION)) == CLAIM_EAGER,
        .exact = (claims & (EXACT | CLAIM_REGION)) == EXACT && promise.conflicts == CONFLICT_ALL,
        .regions = claims & CLAIM_REGION,
        .hardware = claims & CLAIM_HARDWARE,
        .charges = p->charges || p->hardware,
        .by_process = p->by_process,
        .inlines = p->inlines,
    };
}

int lardsim_promise(struct lardsim *l, const char *spec, struct lardsim_promise *to)
{
    const size_t n = strcspn(spec, "=");

    if (session_asked(l))
        return -1;
    for (size_t i = 0; i < l->checkers; i++)
        if (strlen(checker_label(l->checker[i])) == n &&
            !strncmp(checker_label(l->checker[i]), spec, n)) {
            tell(l, l->checker[i], to);
            return 0;
        }
    struct stats *stats = stats_new();
    const struct checker_env env = {
        .config = l->config, .stats = stats, .number = &l->number, .granule = 8, .err = &l->err};
    struct checker *c = checker_new(spec, &env, &l->err);
    if (c)
        tell(l, c, to);
    checker_free(c);
    stats_free(stats);
    return c ? 0 : -1;
}

int lardsim_label_check(const char *spec, size_t n, struct err *e)
{
    return checker_label_check(spec, n, e);
}
