/* spec.c - reads a sweep's spec: a YAML text whose keys are `base`, `axes`, `zip`, `only`,
 * `except`, `policies`, `sources` and `seeds` (docs/sweeps.md). */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"
#include "results/read/overhead.h"
#include "results/programs/programs.h"
#include "results/experiment/sweep.h"

void settings_add(struct settings *s, char *text, unsigned line)
{
    s->at = xgrow(s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = (struct setting){text, line};
}

void settings_free(struct settings *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->at[i].text);
    free(s->at);
    *s = (struct settings){0};
}

int spec_error(const struct spec *s, unsigned line, struct err *e, const char *fmt, ...)
{
    char text[sizeof e->text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(e, LARD_CONFIG, "%s:%u: %s", s->path, line, text);
}

/* ---- axes ----------------------------------------------------------------------------------- */

static struct axis *find_axis(const struct spec *s, const char *name)
{
    for (size_t i = 0; i < s->axes; i++)
        if (strcmp(s->axis[i].name, name) == 0)
            return &s->axis[i];
    return NULL;
}

static struct axis *add_axis(struct spec *s, char *name, unsigned line)
{
    s->axis = xgrow(s->axis, s->axes, &s->axes_cap, sizeof *s->axis);
    s->axis[s->axes] = (struct axis){.name = name, .line = line, .with = s->axes};
    return &s->axis[s->axes++];
}

static struct step *add_step(struct axis *a, char *name)
{
    a->step = xgrow(a->step, a->n, &a->cap, sizeof *a->step);
    a->step[a->n] = (struct step){.name = name};
    return &a->step[a->n++];
}

static void add_value(struct axis *a, const char *value)
{
    struct step *step = add_step(a, xstrdup(value));

    settings_add(&step->set, xasprintf("%s=%s", a->name, value), a->line);
}

static int reserved(const struct spec *s, const char *name, unsigned line, struct err *e)
{
    static const char *const keys[] = {"policies", "policy", "source", "seed", "inherit"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (strcmp(name, keys[i]) == 0)
            return spec_error(s, line, e,
                              "%s can't be an axis or a setting of a sweep; policies, sources, "
                              "seeds and base.inherit are keys of the spec",
                              name);
    return 0;
}

static int list_axis(struct spec *s, const char *name, const struct yaml_entry *y, struct err *e)
{
    if (find_axis(s, name))
        return spec_error(s, y->line, e, "the axis %s is there twice; remove one", name);
    if (!y->value.n)
        return spec_error(s, y->line, e, "the axis %s has no values; give at least one", name);
    struct axis *a = add_axis(s, xstrdup(name), y->line);
    for (size_t i = 0; i < y->value.n; i++)
        add_value(a, y->value.item[i]);
    return 0;
}

/* ---- axes that are ranges ------------------------------------------------------------------- */

struct unit {
    const char *suffix;
    uint64_t times;
};
static const struct unit binary_units[] = {
    {"Gi", UINT64_C(1) << 30}, {"Mi", UINT64_C(1) << 20}, {"Ki", UINT64_C(1) << 10}, {"", 1}};
static const struct unit decimal_units[] = {
    {"G", 1000000000}, {"M", 1000000}, {"k", 1000}, {"", 1}};

/* A number in the user's own units, so that 32Ki to 128Ki does not pass 65536. */
static char *number_text(uint64_t n, const char *like)
{
    const size_t last = strlen(like);
    const struct unit *u = strchr(like, 'i') ? binary_units : decimal_units;

    if (!strchr(like, 'i') && last && strchr("kMG", like[last - 1]) == NULL)
        return xasprintf("%llu", (unsigned long long)n);
    while (u->times > 1 && (n % u->times || n < u->times))
        u++;
    return xasprintf("%llu%s", (unsigned long long)(n / u->times), u->suffix);
}

enum { MAX_STEPS = 10000 };

struct range {
    const struct yaml_entry *from, *to, *step, *times;
};

static int range_number(const struct spec *s, const struct yaml_entry *y, uint64_t *to,
                        struct err *e)
{
    if (!y || (y->value.n == 1 && !y->value.list && number_of_text(y->value.item[0], to)))
        return 0;
    return spec_error(s, y->line, e,
                      "%s: a range is made of numbers such as 42, 64Ki or 1M; names go in a list",
                      y->name);
}

static int fill_range(const struct spec *s, struct axis *a, const struct range *r, struct err *e)
{
    uint64_t from = 0, to = 0, step = 1, times = 2;

    if (range_number(s, r->from, &from, e) || range_number(s, r->to, &to, e) ||
        range_number(s, r->step, &step, e) || range_number(s, r->times, &times, e))
        return -1;
    if (from > to || !step || times < 2 || (r->times && !from))
        return spec_error(s, a->line, e,
                          "the range of %s has no end; from must not exceed to, step is 1 or more, "
                          "times 2 or more (and then from, too, 1 or more)",
                          a->name);
    const char *like = r->to->value.item[0];
    for (uint64_t v = from; v <= to;) {
        if (a->n == MAX_STEPS)
            return spec_error(s, a->line, e, "the range of %s has more than %d values", a->name,
                              MAX_STEPS);
        char *text = number_text(v, like);
        add_value(a, text);
        free(text);
        if (r->times ? v > UINT64_MAX / times : v > UINT64_MAX - step)
            break;
        v = r->times ? v * times : v + step;
    }
    return 0;
}

/* The part of a range that the end of the name says; NULL: none. */
static const struct yaml_entry **range_part(struct range *r, const char *last)
{
    if (strcmp(last, "from") == 0)
        return &r->from;
    if (strcmp(last, "to") == 0)
        return &r->to;
    if (strcmp(last, "step") == 0)
        return &r->step;
    return strcmp(last, "times") == 0 ? &r->times : NULL;
}

/* The entries from `at` on that belong to the range `name`, which they fill: how many. */
static size_t gather_range(struct range *r, const struct yaml_flat *f, size_t at, size_t prefix)
{
    const char *name = f->entry[at].name;
    size_t n = 0;

    for (; at + n < f->n; n++) {
        const char *other = f->entry[at + n].name;
        const struct yaml_entry **part =
            strncmp(name, other, prefix + 1) == 0 ? range_part(r, other + prefix + 1) : NULL;
        if (!part)
            break;
        *part = &f->entry[at + n];
    }
    return n;
}

/* ---- the section `axes` --------------------------------------------------------------------- */

/* "cache.small.l2.size: 256Ki" is a setting of the step small of the axis cache. */
static int group_setting(struct spec *s, const char *name, const struct yaml_entry *y,
                         struct err *e)
{
    const size_t axis = strcspn(name, "."), group = strcspn(name + axis + !!name[axis], ".");
    const char *const group_name = name + axis + 1, *const parameter = group_name + group + 1;

    if (!name[axis] || !name[axis + 1 + group])
        return spec_error(s, y->line, e,
                          "%s: an axis is a list ([32Ki, 64Ki]), a range ({from, to, step or "
                          "times}), or groups of settings ({small: {l2.size: 256Ki, ...}, ...})",
                          y->name);
    if (reserved(s, parameter, y->line, e))
        return -1;
    char *axis_name = xasprintf("%.*s", (int)axis, name);
    struct axis *a = find_axis(s, axis_name);
    if (a)
        free(axis_name);
    else
        a = add_axis(s, axis_name, y->line);
    if (a->n && !a->groups)
        return spec_error(s, y->line, e, "the axis %s has values already; remove one", a->name);
    a->groups = true;
    struct step *step = a->n ? &a->step[a->n - 1] : NULL;
    if (!step || strlen(step->name) != group || strncmp(step->name, group_name, group) != 0)
        step = add_step(a, xasprintf("%.*s", (int)group, group_name));
    settings_add(&step->set, xasprintf("%s=%s", parameter, y->value.item[0]), y->line);
    return 0;
}

/* Reads one axis, or one setting of an axis of groups, at f->entry[*at], which moves past it. */
static int read_axis(struct spec *s, const struct yaml_flat *f, size_t *at, struct err *e)
{
    const struct yaml_entry *y = &f->entry[*at];
    const char *name = y->name + strlen("axes."), *last = strrchr(name, '.');
    struct range r = {0};

    if (y->value.list) {
        ++*at;
        return reserved(s, name, y->line, e) || list_axis(s, name, y, e) ? -1 : 0;
    }
    if (last && range_part(&r, last + 1)) {
        *at += gather_range(&r, f, *at, (size_t)(last - y->name));
        char *of = xasprintf("%.*s", (int)(last - name), name);
        const bool twice = find_axis(s, of) != NULL;
        struct axis *a = add_axis(s, of, y->line);
        if (twice)
            return spec_error(s, y->line, e, "the axis %s is there twice; remove one", of);
        if (!r.from || !r.to || (r.step && r.times))
            return spec_error(s, y->line, e,
                              "the range of %s needs from, to, and one of step and times", of);
        return reserved(s, of, y->line, e) ? -1 : fill_range(s, a, &r, e);
    }
    ++*at;
    return group_setting(s, name, y, e);
}

/* ---- axes that move together ---------------------------------------------------------------- */

static int read_zip(struct spec *s, const struct yaml_entry *y, struct err *e)
{
    struct axis *first = NULL;

    for (size_t i = 0; i < y->value.n; i++) {
        struct axis *a = find_axis(s, y->value.item[i]);
        if (!a)
            return spec_error(s, y->line, e, "zip: there is no axis %s", y->value.item[i]);
        if (a->with != (size_t)(a - s->axis) || a == first)
            return spec_error(s, y->line, e, "zip: the axis %s is named twice; remove one",
                              a->name);
        if (!first)
            first = a;
        if (a->n != first->n)
            return spec_error(s, y->line, e,
                              "zip: %s has %zu values, and %s has %zu; axes that move together "
                              "have the same number",
                              first->name, first->n, a->name, a->n);
        if (a < first)
            return spec_error(s, y->line, e,
                              "zip: name the axes in the order in which `axes` has them");
        a->with = (size_t)(first - s->axis);
    }
    return 0;
}

/* ---- conditions ----------------------------------------------------------------------------- */

/* "a <= b and c != d", in words; operators need no blanks around them. */
static size_t word(const char **p)
{
    *p += strspn(*p, " ");
    const size_t op = strspn(*p, "<>=!");

    return op ? op : strcspn(*p, " <>=!");
}

static bool set_operator(struct term *t, const char *op, size_t n)
{
    static const struct {
        const char *text;
        int less, equal, more;
    } ops[] = {{"=", 0, 1, 0},  {"==", 0, 1, 0}, {"!=", 1, 0, 1}, {"<", 1, 0, 0},
               {"<=", 1, 1, 0}, {">", 0, 0, 1},  {">=", 0, 1, 1}};

    for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
        if (strlen(ops[i].text) == n && strncmp(ops[i].text, op, n) == 0) {
            t->less = ops[i].less;
            t->equal = ops[i].equal;
            t->more = ops[i].more;
            return true;
        }
    return false;
}

static bool known_name(const struct spec *s, const char *name)
{
    return find_axis(s, name) || strcmp(name, "policy") == 0 || strcmp(name, "source") == 0 ||
           strcmp(name, "seed") == 0;
}

/* A source may have blanks and operators in it: it goes on to the next term. */
static size_t source_word(const char **p)
{
    *p += strspn(*p, " ");
    const char *end = strstr(*p, " and ");
    size_t n = end ? (size_t)(end - *p) : strlen(*p);

    while (n && (*p)[n - 1] == ' ')
        n--;
    return n;
}

static bool read_term(struct condition *c, const char **p)
{
    struct term t = {0};
    size_t n = word(p);

    t.left = xasprintf("%.*s", (int)n, *p);
    *p += n;
    n = word(p);
    bool ok = *t.left && set_operator(&t, *p, n);
    *p += n;
    n = strcmp(t.left, "source") == 0 ? source_word(p) : word(p);
    t.right = xasprintf("%.*s", (int)n, *p);
    *p += n;
    ok = ok && *t.right;
    c->term = xgrow(c->term, c->n, &c->cap, sizeof *c->term);
    c->term[c->n++] = t;
    return ok;
}

static int read_condition(const struct spec *s, struct conditions *to, const char *text,
                          unsigned line, struct err *e)
{
    const char *p = text;
    bool more = true;

    to->at = xgrow(to->at, to->n, &to->cap, sizeof *to->at);
    struct condition *c = &to->at[to->n++];
    *c = (struct condition){.text = xstrdup(text), .line = line};
    while (more) {
        if (!read_term(c, &p))
            return spec_error(s, line, e,
                              "\"%s\" is no condition; write NAME OPERATOR VALUE, where the "
                              "operator is one of = != < <= > >=, and join several with \"and\"",
                              text);
        if (!known_name(s, c->term[c->n - 1].left))
            return spec_error(
                s, line, e,
                "\"%s\": there is no axis %s; a condition is about an axis, policy, source or seed",
                text, c->term[c->n - 1].left);
        const size_t n = word(&p);
        more = n > 0;
        if (more && (n != 3 || strncmp(p, "and", 3) != 0))
            return spec_error(s, line, e, "\"%s\": terms of a condition are joined with \"and\"",
                              text);
        p += n;
    }
    return 0;
}

static int read_conditions(const struct spec *s, struct conditions *to, const struct yaml_entry *y,
                           struct err *e)
{
    for (size_t i = 0; i < y->value.n; i++)
        if (read_condition(s, to, y->value.item[i], y->line, e))
            return -1;
    return 0;
}

/* ---- the other sections --------------------------------------------------------------------- */

static void add_all(struct settings *to, const struct yaml_entry *y)
{
    for (size_t i = 0; i < y->value.n; i++)
        settings_add(to, xstrdup(y->value.item[i]), y->line);
}

/* Lists are written as on the command line. */
static char *joined(const struct yaml_value *v)
{
    char *all = NULL;

    for (size_t i = 0; i < v->n; i++)
        xappend(&all, i ? "," : "", v->item[i]);
    return all ? all : xstrdup("");
}

static int read_base(struct spec *s, const struct yaml_entry *y, struct err *e)
{
    const char *name = y->name + strlen("base.");

    if (strcmp(name, "inherit") == 0) {
        add_all(&s->inherit, y);
        return 0;
    }
    if (reserved(s, name, y->line, e))
        return -1;
    char *value = joined(&y->value);
    settings_add(&s->base, xasprintf("%s=%s", name, value), y->line);
    free(value);
    return 0;
}

/* A key of a value, which is the same for 128Ki and 131072. */
static uint64_t value_key(const char *value)
{
    uint64_t n;

    return number_of_text(value, &n) ? digest_bytes(&n, sizeof n)
                                     : digest_bytes(value, strlen(value));
}

/* A value that is listed twice, which would be one cell of two, or count twice. NULL: there is
 * none. */
static const char *listed_twice(const struct settings *s)
{
    struct map known = {0};
    const char *twice = NULL;

    for (size_t i = 0; i < s->n && !twice; i++) {
        uint64_t *at = map_put(&known, value_key(s->at[i].text));
        twice = *at ? s->at[i].text : NULL;
        *at = 1;
    }
    map_free(&known);
    return twice;
}

/* `seeds: 5` is 1 to 5; a list is what it says. */
static int read_seeds(struct spec *s, const struct yaml_entry *y, struct err *e)
{
    uint64_t n;

    if (!y->value.n)
        return spec_error(s, y->line, e, "seeds: there are none; give at least one, or no seeds");
    for (size_t i = 0; i < y->value.n; i++)
        if (!number_of_text(y->value.item[i], &n) || (!y->value.list && (n == 0 || n > MAX_STEPS)))
            return spec_error(s, y->line, e,
                              "seeds: \"%s\" is none; give how many (1 to %d), or a list of seeds",
                              y->value.item[i], MAX_STEPS);
    if (y->value.list)
        add_all(&s->seeds, y);
    else
        for (uint64_t seed = 1; seed <= n; seed++)
            settings_add(&s->seeds, xasprintf("%llu", (unsigned long long)seed), y->line);
    const char *twice = listed_twice(&s->seeds);
    return twice ? spec_error(s, y->line, e, "seeds: %s is there twice; remove one", twice) : 0;
}

static int read_policies(struct spec *s, const struct yaml_entry *y, struct err *e)
{
    add_all(&s->policies, y);
    for (size_t i = 0; i < s->policies.n; i++) {
        const char *text = s->policies.at[i].text;
        struct err label = {0};
        if (lardsim_label_check(text, strlen(text), &label))
            return spec_error(s, y->line, e, "%s", label.text);
        for (size_t k = 0; k < i; k++)
            if (policy_is(text, s->policies.at[k].text))
                return spec_error(
                    s, y->line, e,
                    "policies: two have the label %.*s; give each its own, as in 'mine=vc'",
                    (int)policy_label(text), text);
    }
    return 0;
}

static bool in(const char *name, const char *section)
{
    const size_t n = strlen(section);

    return strncmp(name, section, n) == 0 && name[n] == '.';
}

static int unknown_key(const struct spec *s, const struct yaml_entry *y, struct err *e)
{
    static const char *const keys[] = {"base",   "axes",     "zip",     "only",
                                       "except", "policies", "sources", "seeds"};
    char *first = xasprintf("%.*s", (int)strcspn(y->name, "."), y->name);
    char *hint = did_you_mean(first, keys, ARRAY_SIZE(keys));

    spec_error(s, y->line, e,
               "%s is no key of a sweep%sthere are base, axes, zip, only, except, policies, "
               "sources and seeds; parameters of all cells go under base",
               y->name, hint);
    free(hint);
    free(first);
    return -1;
}

/* Reads the sources. A real program stands for its capture, which is made here if it is not
 * kept. */
static int read_sources(struct spec *s, const struct yaml_entry *y, struct err *e)
{
    add_all(&s->sources, y);
    for (size_t i = s->sources.n - y->value.n; i < s->sources.n; i++) {
        struct err inner = {0};
        char *path = program_source(s->sources.at[i].text, true, &inner);
        if (inner.code)
            return spec_error(s, y->line, e, "sources: %s", inner.text);
        if (!path)
            continue;
        free(s->sources.at[i].text);
        s->sources.at[i].text = path;
    }
    return 0;
}

/* Reads an entry, but for zip and conditions, which name what may stand after them. */
static int read_entry(struct spec *s, const struct yaml_flat *f, size_t *at, struct err *e)
{
    const struct yaml_entry *y = &f->entry[*at];

    if (in(y->name, "axes"))
        return read_axis(s, f, at, e);
    ++*at;
    if (in(y->name, "base"))
        return read_base(s, y, e);
    if (strcmp(y->name, "policies") == 0)
        return read_policies(s, y, e);
    if (strcmp(y->name, "seeds") == 0)
        return read_seeds(s, y, e);
    if (strcmp(y->name, "sources") == 0)
        return read_sources(s, y, e);
    const bool later = in(y->name, "zip") || !strcmp(y->name, "zip") || !strcmp(y->name, "only") ||
                       !strcmp(y->name, "except");
    return later ? 0 : unknown_key(s, y, e);
}

static int read_later(struct spec *s, const struct yaml_flat *f, struct err *e)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct yaml_entry *y = &f->entry[i];
        if (((in(y->name, "zip") || !strcmp(y->name, "zip")) && read_zip(s, y, e)) ||
            (!strcmp(y->name, "only") && read_conditions(s, &s->only, y, e)) ||
            (!strcmp(y->name, "except") && read_conditions(s, &s->except, y, e)))
            return -1;
    }
    return 0;
}

static int check_values(const struct spec *s, const struct axis *a, struct err *e)
{
    struct map known = {0};
    int failed = 0;

    for (size_t i = 0; i < a->n && !failed; i++) {
        uint64_t *at = map_put(&known, value_key(a->step[i].name));
        if (*at)
            failed = spec_error(s, a->line, e,
                                "the axis %s has %s and %s, which are the same; remove one",
                                a->name, a->step[*at - 1].name, a->step[i].name);
        *at = i + 1;
    }
    map_free(&known);
    return failed;
}

static bool moves_alone(const struct spec *s, size_t axis)
{
    size_t n = 0;

    for (size_t i = 0; i < s->axes; i++)
        n += s->axis[i].with == s->axis[axis].with;
    return n == 1;
}

/* Axes are columns of tables beside these, and to SQLite A and a are one. */
static int check_column(const struct spec *s, const struct axis *a, struct err *e)
{
    const char *const columns[] = {overhead_measured_name,
                                   overhead_name[OVERHEAD],
                                   overhead_name[OVERHEAD_WHOLE],
                                   "id",
                                   "cell",
                                   "baseline",
                                   "asked",
                                   "source",
                                   "seed",
                                   "policy",
                                   "policies",
                                   "behaviour",
                                   "findings",
                                   "why",
                                   "state",
                                   "seconds",
                                   "memory",
                                   "disk"};

    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        if (strcasecmp(a->name, columns[i]) == 0)
            return spec_error(
                s, a->line, e,
                "the axis %s can't be called so: results have %s already; give it another name",
                a->name, columns[i]);
    for (const struct axis *o = s->axis; o < a; o++)
        if (strcasecmp(a->name, o->name) == 0)
            return spec_error(s, a->line, e,
                              "the axes %s and %s differ in capitals alone, and would be one "
                              "column; give one another name",
                              o->name, a->name);
    return 0;
}

/* A table would have one row of two steps, in which the axis seems not to matter. */
static int check_axes(const struct spec *s, struct err *e)
{
    for (size_t i = 0; i < s->axes; i++)
        if (check_column(s, &s->axis[i], e))
            return -1;
    for (size_t i = 0; i < s->axes; i++)
        if (!s->axis[i].groups && moves_alone(s, i) && check_values(s, &s->axis[i], e))
            return -1;
    return 0;
}

enum { MAX_POINTS = 1000000 };

/* Checks the number of points before any is made: each takes time and memory, even if a condition
 * leaves it out. */
static int check_size(const struct spec *s, struct err *e)
{
    if (points_count(s) <= MAX_POINTS)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "%s: its axes, sources, seeds and policies multiply to more than %d points, of "
                   "which conditions only choose; give less values, or move axes together with zip",
                   s->path, MAX_POINTS);
}

static int check_complete(const struct spec *s, struct err *e)
{
    const char *missing = !s->policies.n ? "policies" : !s->sources.n ? "sources" : NULL;

    if (!missing)
        return 0;
    return err_set(e, LARD_CONFIG, "%s: it names no %s; give at least one, as in `%s`", s->path,
                   missing, s->policies.n ? "sources: [workload:sor]" : "policies: [none, vc]");
}

int spec_read(struct spec *s, const char *path, const char *text, size_t bytes, struct err *e)
{
    struct yaml_flat f;

    *s = (struct spec){.path = xstrdup(path)};
    int failed = yaml_flat_text(&f, path, text, bytes, e);
    for (size_t i = 0; i < f.n && !failed;)
        failed = read_entry(s, &f, &i, e);
    failed = failed || read_later(s, &f, e) || check_complete(s, e) || check_size(s, e) ||
             check_axes(s, e) || conditions_check(s, e);
    yaml_flat_free(&f);
    return failed ? -1 : 0;
}

static void conditions_free(struct conditions *c)
{
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->at[i].n; k++) {
            free(c->at[i].term[k].left);
            free(c->at[i].term[k].right);
        }
        free(c->at[i].term);
        free(c->at[i].text);
    }
    free(c->at);
}

void spec_free(struct spec *s)
{
    for (size_t i = 0; i < s->axes; i++) {
        for (size_t k = 0; k < s->axis[i].n; k++) {
            free(s->axis[i].step[k].name);
            settings_free(&s->axis[i].step[k].set);
        }
        free(s->axis[i].step);
        free(s->axis[i].name);
    }
    free(s->axis);
    conditions_free(&s->only);
    conditions_free(&s->except);
    settings_free(&s->inherit);
    settings_free(&s->base);
    settings_free(&s->policies);
    settings_free(&s->sources);
    settings_free(&s->seeds);
    free(s->path);
}
