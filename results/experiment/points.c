/* points.c - the points of a sweep: the product of its axes, sources, seeds and policies, without
 * those that a condition leaves out. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "results/experiment/sweep.h"
#include "base/program/print.h"

/* ---- conditions ----------------------------------------------------------------------------- */

static const char *value_of(const struct spec *s, const struct sweep_point *p, const char *name)
{
    if (strcmp(name, "policy") == 0)
        return s->policies.at[p->policy].text;
    if (strcmp(name, "source") == 0)
        return s->sources.at[p->source].text;
    if (strcmp(name, "seed") == 0)
        return s->seeds.n ? s->seeds.at[p->seed].text : "";
    for (size_t i = 0; i < s->axes; i++)
        if (strcmp(s->axis[i].name, name) == 0)
            return s->axis[i].step[p->step[i]].name;
    return name; /* a value */
}

/* Compares policies by their labels alone. */
static int compare_labels(const char *a, const char *b)
{
    const size_t n = policy_label(a), k = policy_label(b);
    const int by = strncmp(a, b, n < k ? n : k);

    return by ? by : (n > k) - (n < k);
}

/* Numbers are compared as such, whatever their units. */
static int compare(const char *a, const char *b)
{
    uint64_t x, y;

    if (number_of_text(a, &x) && number_of_text(b, &y))
        return (x > y) - (x < y);
    return strcmp(a, b);
}

static bool holds(const struct spec *s, const struct condition *c, const struct sweep_point *p)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct term *t = &c->term[i];
        const char *left = value_of(s, p, t->left), *right = value_of(s, p, t->right);
        const int by =
            strcmp(t->left, "policy") == 0 ? compare_labels(left, right) : compare(left, right);
        if (!(by < 0 ? t->less : by > 0 ? t->more : t->equal))
            return false;
    }
    return true;
}

static bool left_in(const struct spec *s, const struct sweep_point *p)
{
    for (size_t i = 0; i < s->only.n; i++)
        if (!holds(s, &s->only.at[i], p))
            return false;
    for (size_t i = 0; i < s->except.n; i++)
        if (holds(s, &s->except.at[i], p))
            return false;
    return true;
}

/* ---- conditions that can't be meant ---------------------------------------------------------- */

/* The n-th value that a name in a condition stands for. NULL: there are no more. */
static const char *nth_value(const struct spec *s, const char *name, size_t n)
{
    const struct settings *of = !strcmp(name, "policy")   ? &s->policies
                                : !strcmp(name, "source") ? &s->sources
                                : !strcmp(name, "seed")   ? &s->seeds
                                                          : NULL;

    if (of)
        return n < of->n ? of->at[n].text : NULL;
    for (size_t i = 0; i < s->axes; i++)
        if (!strcmp(s->axis[i].name, name))
            return n < s->axis[i].n ? s->axis[i].step[n].name : NULL;
    return n == 0 ? name : NULL; /* a value */
}

/* The first of them that is no number. NULL: all are. */
static const char *no_number(const struct spec *s, const char *name)
{
    uint64_t unused;
    const char *text = NULL;

    for (size_t i = 0; (text = nth_value(s, name, i)) && number_of_text(text, &unused); i++)
        ;
    return text;
}

static bool is_one_of(const struct spec *s, const struct term *t)
{
    const bool label = !strcmp(t->left, "policy");
    const char *text;

    for (size_t i = 0; (text = nth_value(s, t->left, i)); i++)
        if (!(label ? compare_labels(text, t->right) : compare(text, t->right)))
            return true;
    return false;
}

static char *all_values(const struct spec *s, const char *name)
{
    enum { SHOWN = 8 };
    char *all = NULL;
    const char *text;
    size_t i = 0;

    for (; i < SHOWN && (text = nth_value(s, name, i)); i++)
        xappend(&all, ", ", text);
    if (nth_value(s, name, i))
        xappend(&all, ", ", "...");
    return all ? all : xstrdup("none");
}

/* A value that the name never has is a slip of the pen; so is a text that is to be smaller. */
static int check_term(const struct spec *s, const struct condition *c, const struct term *t,
                      struct err *e)
{
    const bool same = !t->less == !t->more; /* = or != */
    const char *text = same ? NULL : no_number(s, t->left);

    if (!text && !same)
        text = no_number(s, t->right);
    if (text)
        return spec_error(s, c->line, e,
                          "\"%s\": %s is no number, and can't be smaller or larger; write numbers "
                          "as 42, 64Ki or 1M, or compare with = or !=",
                          c->text, text);
    const bool is_value = nth_value(s, t->right, 0) == t->right;
    if (!same || !is_value || is_one_of(s, t))
        return 0;
    char *all = all_values(s, t->left);
    spec_error(s, c->line, e, "\"%s\": %s never is %s; it is one of: %s", c->text, t->left,
               t->right, all);
    free(all);
    return -1;
}

static int check_terms(const struct spec *s, const struct conditions *of, struct err *e)
{
    for (size_t i = 0; i < of->n; i++)
        for (size_t k = 0; k < of->at[i].n; k++)
            if (check_term(s, &of->at[i], &of->at[i].term[k], e))
                return -1;
    return 0;
}

/* ---- the product ---------------------------------------------------------------------------- */

static bool advance(size_t *digit, size_t n)
{
    if (++*digit < n)
        return true;
    *digit = 0;
    return false;
}

/* The last axis changes fastest; axes that move together change with their first. */
static bool next_step(const struct spec *s, struct sweep_point *p)
{
    for (size_t i = s->axes; i-- > 0;) {
        if (s->axis[i].with != i)
            continue;
        const bool more = advance(&p->step[i], s->axis[i].n);
        for (size_t k = i + 1; k < s->axes; k++)
            if (s->axis[k].with == i)
                p->step[k] = p->step[i];
        if (more)
            return true;
    }
    return false;
}

static bool next_point(const struct spec *s, struct sweep_point *p)
{
    return advance(&p->policy, s->policies.n) || advance(&p->seed, s->seeds.n ? s->seeds.n : 1) ||
           advance(&p->source, s->sources.n) || next_step(s, p);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / 2 / b ? UINT64_MAX / 2 : a * b;
}

uint64_t points_count(const struct spec *s)
{
    uint64_t n = times(times(s->policies.n, s->sources.n), s->seeds.n ? s->seeds.n : 1);

    for (size_t i = 0; i < s->axes; i++)
        n = times(n, s->axis[i].with == i ? s->axis[i].n : 1);
    return n;
}

/* Whether there is a point where it holds, or with `holding` false, where it does not. */
static bool anywhere(const struct spec *s, const struct condition *c, bool holding)
{
    struct sweep_point p = {.step = xcalloc(s->axes + 1, sizeof *p.step)};
    bool found;

    do
        found = holds(s, c, &p) == holding;
    while (!found && next_point(s, &p));
    free(p.step);
    return found;
}

int conditions_check(const struct spec *s, struct err *e)
{
    if (check_terms(s, &s->only, e) || check_terms(s, &s->except, e))
        return -1;
    for (size_t i = 0; i < s->only.n; i++)
        if (!anywhere(s, &s->only.at[i], false))
            print_note("%s:%u: only: \"%s\" holds at every point, so it leaves nothing out; remove "
                       "it, or correct it if something was to be left out",
                       s->path, s->only.at[i].line, s->only.at[i].text);
    for (size_t i = 0; i < s->except.n; i++)
        if (!anywhere(s, &s->except.at[i], true))
            return spec_error(
                s, s->except.at[i].line, e,
                "except: \"%s\" holds at no point, so it leaves nothing out; correct or remove it",
                s->except.at[i].text);
    return 0;
}

int points_each(const struct spec *s, int (*fn)(void *arg, const struct sweep_point *p), void *arg,
                struct err *e)
{
    struct sweep_point p = {.step = xcalloc(s->axes + 1, sizeof *p.step)};
    int status = 0;
    uint64_t n = 0;

    do {
        if (!left_in(s, &p))
            continue;
        status = fn(arg, &p);
        n++;
    } while (!status && next_point(s, &p));
    free(p.step);
    if (!status && !n)
        return err_set(e, LARD_CONFIG, "%s: only and except leave no point of the sweep", s->path);
    return status;
}
