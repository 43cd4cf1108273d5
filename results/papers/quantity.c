/* quantity.c - the small language in which results/papers/claims/ and tables/ say what is measured:
 * numbers, + - * / <, names of measures, functions of a program's numbers, and aggregates over
 * programs, which read their argument once for each. docs/reproduce.md has it whole. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/table.h"

struct quantity_reading {
    const struct quantity *q;
    const char *all, *at;
    const struct table_program *program; /* NULL: outside of an aggregate */
};
static double sum_read(struct quantity_reading *r);

static NO_RETURN void mistake(const struct quantity_reading *r, const char *what)
{
    die("reproduce: %s: at \"%.20s\" of: %s", what, r->at, r->all);
}

static void blanks(struct quantity_reading *r)
{
    r->at += strspn(r->at, " ");
}

static bool take(struct quantity_reading *r, char c)
{
    blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static void need(struct quantity_reading *r, char c)
{
    if (!take(r, c))
        mistake(r, "something is missing");
}

/* Letters, digits and - . @ =, from a letter on. */
static size_t word(const char *at)
{
    size_t n = 0;

    while (isalnum((unsigned char)at[n]) || (n && at[n] && strchr("-.@=", at[n])))
        n++;
    return n;
}

static bool is(const char *at, size_t n, const char *text)
{
    return strlen(text) == n && !strncmp(at, text, n);
}

/* ---- sets of programs ----------------------------------------------------------------------- */

static bool in_words(const char *words, const char *name, size_t n)
{
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == n && !strncmp(at, name, n))
            return true;
        at += length;
    }
    return false;
}

static bool named(const struct table_program *p, const char *name, size_t n)
{
    return is(name, n, p->name) || (p->step && is(name, n, p->step)) ||
           in_words(p->groups, name, n);
}

/* "[-xalan pjbb2005]": all but these. set: behind the bracket, or NULL: all. */
static bool in_set(const char *set, const struct table_program *p)
{
    const bool not = set && *set == '-';
    bool found = false;

    if (!set)
        return true;
    for (const char *at = set + not ; *at && *at != ']'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ]");
        found |= named(p, at, n);
        at += n;
    }
    return found != not ;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "overhead:valor@threads=64": of the row's program, with another step. The policy may be left out
 * where the paper does not say one. */
struct quantity_name {
    const char *measure, *policy, *step;
    size_t measure_n, policy_n, step_n;
};
static struct quantity_name name_read(struct quantity_reading *r)
{
    struct quantity_name n = {.measure = r->at, .measure_n = word(r->at)};

    r->at += n.measure_n;
    if (*r->at != ':')
        return n;
    n.policy = ++r->at;
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("-.", *r->at)))
        r->at++;
    n.policy_n = (size_t)(r->at - n.policy);
    if (*r->at != '@')
        return n;
    n.step = ++r->at;
    n.step_n = word(n.step);
    r->at += n.step_n;
    return n;
}

static double measured(struct quantity_reading *r, const struct quantity_name *n)
{
    const struct quantity *q = r->q;
    const bool part = q->part && is(n->measure, n->measure_n, "part");
    const struct table_measure *m =
        part ? measure_find(q->part, strlen(q->part)) : measure_find(n->measure, n->measure_n);

    if (!m || !n->policy || !r->program)
        mistake(r, "no measure of a policy in a program");
    char *policy = xasprintf("%.*s", (int)n->policy_n, n->policy);
    char *step = n->step ? xasprintf("%.*s", (int)n->step_n, n->step) : NULL;
    const double x = measure_mean(q->results, m, r->program->name, step ? step : r->program->step,
                                  policy, q->seed);
    free(step);
    free(policy);
    return x;
}

static double paper_number(struct quantity_reading *r, const struct quantity_name *n)
{
    const struct reproduction *t = r->q->results->of;
    char *measure = xasprintf("%.*s", (int)n->measure_n, n->measure);
    char *policy = xasprintf("%.*s", (int)n->policy_n, n->policy ? n->policy : "");
    const struct printed *p =
        r->program && r->program->printed
            ? printed_find(t->paper, t->number, r->program->printed, "", policy, measure)
            : NULL;

    free(measure);
    free(policy);
    return p ? strtod(p->value, NULL) : NAN;
}

/* ---- aggregates ----------------------------------------------------------------------------- */

struct quantity_values { /* of programs, one after the other: a, and b where there are two */
    double *a, *b;
    size_t n;
};

static double median(const struct quantity_values *v)
{
    double *x = xmalloc((v->n + 1) * sizeof *x);

    memcpy(x, v->a, v->n * sizeof *x);
    qsort(x, v->n, sizeof *x, by_size);
    const double m = v->n % 2 ? x[v->n / 2] : (x[v->n / 2 - 1] + x[v->n / 2]) / 2;
    free(x);
    return m;
}

static double ranks(const struct quantity_values *v)
{
    return rank_correlation(v->a, v->b, v->n);
}

static double sum(const struct quantity_values *v)
{
    double x = 0;

    for (size_t i = 0; i < v->n; i++)
        x += v->a[i];
    return x;
}
static double mean(const struct quantity_values *v)
{
    return sum(v) / (double)v->n;
}
static double geomean(const struct quantity_values *v)
{
    double x = 0;

    for (size_t i = 0; i < v->n; i++)
        x += log(v->a[i]);
    return exp(x / (double)v->n);
}
static double least(const struct quantity_values *v)
{
    double x = v->a[0];

    for (size_t i = 1; i < v->n; i++)
        x = fmin(x, v->a[i]);
    return x;
}
static double most(const struct quantity_values *v)
{
    double x = v->a[0];

    for (size_t i = 1; i < v->n; i++)
        x = fmax(x, v->a[i]);
    return x;
}

static const struct aggregate {
    const char *name;
    double (*of)(const struct quantity_values *v);
    bool two;
} aggregates[] = {{"mean", mean, false},  {"geomean", geomean, false}, {"median", median, false},
                  {"sum", sum, false},    {"min", least, false},       {"max", most, false},
                  {"share", mean, false}, {"rank", ranks, true}};

static const struct aggregate *aggregate_find(const char *name, size_t n)
{
    for (size_t i = 0; i < ARRAY_SIZE(aggregates); i++)
        if (is(name, n, aggregates[i].name))
            return &aggregates[i];
    return NULL;
}

/* Reads the argument once for each program; of those where it is no number nothing is kept. */
static double aggregate_read(struct quantity_reading *r, const struct aggregate *is,
                             const char *set)
{
    const struct table_program *p = r->q->results->of->program;
    const char *from = r->at, *behind = from;
    struct quantity_values v = {0};
    size_t n = 0;

    while (p[n].name)
        n++;
    v.a = xmalloc((n + 1) * sizeof *v.a);
    v.b = xmalloc((n + 1) * sizeof *v.b);
    for (size_t i = 0; i < n; i++) {
        struct quantity_reading one = {r->q, r->all, from, &p[i]};
        v.a[v.n] = sum_read(&one);
        if (is->two)
            need(&one, ';');
        v.b[v.n] = is->two ? sum_read(&one) : 0;
        behind = one.at;
        v.n += in_set(set, &p[i]) && !isnan(v.a[v.n]) && !isnan(v.b[v.n]);
    }
    const double x = v.n ? is->of(&v) : NAN;
    free(v.a);
    free(v.b);
    r->at = behind;
    need(r, ')');
    return x;
}

/* ---- expressions ---------------------------------------------------------------------------- */

static double function_read(struct quantity_reading *r, const char *name, size_t n)
{
    double a, b = NAN;

    if (is(name, n, "paper")) {
        blanks(r);
        const struct quantity_name what = name_read(r);
        need(r, ')');
        return paper_number(r, &what);
    }
    a = sum_read(r);
    const bool two = take(r, ';');
    if (two)
        b = sum_read(r);
    need(r, ')');
    if (is(name, n, "abs") && !two)
        return fabs(a);
    if (!two || (!is(name, n, "min") && !is(name, n, "max")))
        mistake(r, "no such function");
    if (isnan(a) || isnan(b))
        return NAN;
    return is(name, n, "min") ? fmin(a, b) : fmax(a, b);
}

/* "max(a; b)": of two numbers, not of all programs. From the bracket on. */
static bool has_two(const char *at)
{
    size_t deep = 0;

    for (; *at && !(deep == 1 && *at == ')'); at++) {
        deep += *at == '(';
        deep -= *at == ')';
        if (deep == 1 && *at == ';')
            return true;
    }
    return false;
}

static double name_or_call(struct quantity_reading *r)
{
    const char *name = r->at, *set = NULL;
    const size_t n = word(name);
    const struct aggregate *a = r->program ? NULL : aggregate_find(name, n);

    if (a && !a->two && has_two(name + n))
        a = NULL;
    if (!n)
        mistake(r, "no number and no name");
    if (name[n] != '(' && name[n] != '[') {
        const struct quantity_name what = name_read(r);
        return measured(r, &what);
    }
    r->at += n;
    if (a && take(r, '[')) {
        set = r->at;
        r->at += strcspn(r->at, "]");
        need(r, ']');
    }
    need(r, '(');
    return a ? aggregate_read(r, a, set) : function_read(r, name, n);
}

static double factor_read(struct quantity_reading *r)
{
    blanks(r);
    if (isdigit((unsigned char)*r->at)) {
        char *behind;
        const double x = strtod(r->at, &behind);
        r->at = behind;
        return x;
    }
    if (take(r, '(')) {
        const double x = sum_read(r);
        need(r, ')');
        return x;
    }
    return name_or_call(r);
}

static double product_read(struct quantity_reading *r)
{
    double x = factor_read(r);

    for (;;)
        if (take(r, '*'))
            x *= factor_read(r);
        else if (take(r, '/'))
            x /= factor_read(r);
        else
            return x;
}

static double terms_read(struct quantity_reading *r)
{
    double x = product_read(r);

    for (;;)
        if (take(r, '+'))
            x += product_read(r);
        else if (take(r, '-'))
            x -= product_read(r);
        else
            return x;
}

/* "a < b" is 1 or 0. */
static double sum_read(struct quantity_reading *r)
{
    const double x = terms_read(r);

    if (!take(r, '<'))
        return x;
    const double y = terms_read(r);
    return isnan(x) || isnan(y) ? NAN : x < y;
}

double quantity_of(const struct quantity *q, const char *text)
{
    struct quantity_reading r = {q, text, text, q->program};
    const double x = sum_read(&r);

    blanks(&r);
    if (*r.at)
        mistake(&r, "there is more than can be read");
    return x;
}
