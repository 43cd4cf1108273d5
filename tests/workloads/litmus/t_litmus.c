/* t_litmus.c - every program in workloads/litmus gets the verdict that its first line states, in
 * every view, from the oracle; and from every policy, however it is set, what it promises of that.
 * docs/litmus.md defines that line. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/frame/verdict.h"

#include <cmocka.h>

enum { PROGRAMS_MAX = 500, LINE_MAX_BYTES = 1000, GRANULE_HINT = 4 };

struct clause { /* of an expect line */
    const struct verdict_view *view;
    struct oracle_options is; /* but for the view */
    bool plain;               /* no options */
    bool refused;
    bool *racy; /* owns */
    bool counts;
    uint64_t locations;
};

struct program {
    char name[300];
    struct stream stream;
    char expect[LINE_MAX_BYTES];
};

static const struct verdict_view *view_named(const char *name, size_t n)
{
    for (const struct verdict_view *v = verdict_view; v->name; v++)
        if (strlen(v->name) == n && !strncmp(v->name, name, n))
            return v;
    return NULL;
}

static void option(const struct program *p, struct clause *c, const char *text, size_t n)
{
    static const char granularity[] = "granularity=", history[] = "history=all";

    c->plain = false;
    if (n == sizeof history - 1 && !strncmp(text, history, n))
        c->is.history_all = true;
    else if (n > sizeof granularity - 1 && !strncmp(text, granularity, sizeof granularity - 1))
        c->is.granule = (unsigned)strtoul(text + sizeof granularity - 1, NULL, 10); /* field: 0 */
    else
        fail_msg("%s: unknown option %.*s", p->name, (int)n, text);
}

/* VIEW/OPTION/OPTION */
static void subject(const struct program *p, struct clause *c, const char *word)
{
    size_t n = strcspn(word, "/");

    c->view = view_named(word, n);
    if (!c->view)
        fail_msg("%s: unknown view in %s", p->name, word);
    while (word[n]) {
        word += n + 1;
        n = strcspn(word, "/");
        option(p, c, word, n);
    }
}

static void outcome(const struct program *p, struct clause *c, char *rest)
{
    char *save, *word = strtok_r(rest, " ", &save);

    c->refused = word && !strcmp(word, "refused");
    if (!word)
        fail_msg("%s: a clause says nothing", p->name);
    for (; word; word = strtok_r(NULL, " ", &save)) {
        if (!strcmp(word, "on")) {
            word = strtok_r(NULL, " ", &save);
            c->counts = true;
            c->locations = word ? strtoul(word, NULL, 10) : 0;
        } else if (word[0] >= '0' && word[0] <= '9') {
            const size_t e = strtoul(word, NULL, 10);
            assert_true(e < p->stream.events);
            c->racy[e] = true;
        } else if (strcmp(word, "none") != 0 && strcmp(word, "refused") != 0)
            fail_msg("%s: unknown word %s", p->name, word);
    }
}

static struct clause clause_of(const struct program *p, char *text)
{
    struct clause c = {.is = {.granule = GRANULE_HINT}, .plain = true};
    char *end;

    c.racy = calloc(p->stream.events + 1, sizeof *c.racy);
    text += strspn(text, " ");
    end = text + strcspn(text, " ");
    if (*end)
        *end++ = '\0';
    subject(p, &c, text);
    outcome(p, &c, end);
    return c;
}

static void check_oracle(const struct program *p, const struct clause *c)
{
    bool *racy = calloc(p->stream.events + 1, sizeof *racy);
    const char *view = c->view->name;
    struct oracle_options is = c->is;
    uint64_t locations = 0;

    is.view = c->view->bits;
    const bool judged = verdict_of_oracle(&p->stream, &is, racy, &locations);
    if (judged == c->refused)
        fail_msg("%s, %s: %s", p->name, view, judged ? "not refused" : "refused");
    for (size_t e = 0; judged && e < p->stream.events; e++)
        if (racy[e] != c->racy[e])
            fail_msg("%s, %s: event %zu is %s", p->name, view, e, racy[e] ? "racy" : "not racy");
    if (judged && c->counts && locations != c->locations)
        fail_msg("%s, %s: %u racy locations", p->name, view, (unsigned)locations);
    free(racy);
}

/* What the line says has been the oracle's verdict; of that, what the policy promises. */
static void check_policy(const struct program *p, const struct clause *c, const char *policy)
{
    struct verdict_case is = {.policy = policy, .view = c->view, .granule = c->is.granule};
    char why[300], text[200];

    for (size_t i = 0; verdict_setting(policy, i, is.setting); i++) {
        if (!verdict_takes(&is) || !verdict_differs(&p->stream, &is, why, sizeof why))
            continue;
        verdict_case_text(&is, text, sizeof text);
        fail_msg("%s, %s: %s", p->name, text, why);
    }
}

static void check_all(const struct program *p, const struct clause *c)
{
    check_oracle(p, c);
    for (size_t i = 0; policies[i]; i++)
        if (!(policies[i]->promise.claims & CLAIM_HARDWARE)) /* may refuse what has no runtime */
            check_policy(p, c, policies[i]->name);
}

/* A view that the line does not name has the verdict of tracked. */
static void check_views(const struct program *p, const struct clause *tracked, unsigned named)
{
    for (unsigned v = 0; verdict_view[v].name; v++) {
        struct clause c = *tracked;
        c.view = &verdict_view[v];
        c.counts = false;
        if (!(named >> v & 1))
            check_all(p, &c);
    }
}

static void check_program(struct program *p)
{
    struct clause tracked = {.racy = NULL};
    unsigned named = 0;
    char *save, *text = strtok_r(p->expect, ";", &save);

    for (bool first = true; text; text = strtok_r(NULL, ";", &save), first = false) {
        struct clause c = clause_of(p, text);
        check_all(p, &c);
        if (c.plain)
            named |= 1u << (c.view - verdict_view);
        if (first) {
            assert_true(c.plain && c.view->bits == 0); /* tracked comes first */
            tracked = c;
        } else
            free(c.racy);
    }
    check_views(p, &tracked, named);
    free(tracked.racy);
}

/* "breaks RULE at EVENT": what the first line says of a program that is not to be run. */
static void check_broken(const struct program *p)
{
    struct rules *r = rules_new(true);
    struct err e = {0};
    char said[128], rule[64] = "";
    uint64_t number = 0;

    for (size_t i = 0; i < p->stream.records && !e.code; number++) {
        rules_apply(r, &p->stream.rec[i], number, &e);
        i += event_records(&p->stream.rec[i]);
    }
    if (e.code)
        snprintf(rule, sizeof rule, "%s", rule_info[rules_broken(r)].name);
    snprintf(said, sizeof said, "breaks %s at %llu", rule, (unsigned long long)number - 1);
    if (strcmp(said, p->expect) != 0)
        fail_msg("%s: it %s, expected that it %s", p->name, e.code ? said : "breaks no rule",
                 p->expect);
    rules_free(r);
}

static void check_rules(const struct program *p)
{
    struct rules *r = rules_new(true);
    struct err e = {0};
    uint64_t number = 0;

    for (size_t i = 0; i < p->stream.records; i += event_records(&p->stream.rec[i]))
        if (rules_apply(r, &p->stream.rec[i], number++, &e))
            fail_msg("%s: %s", p->name, e.text);
    if (rules_finish(r, &e))
        fail_msg("%s: %s", p->name, e.text);
    rules_free(r);
}

static void load(struct program *p, const char *path)
{
    static const char prefix[] = "# expect: ";
    FILE *f = fopen(path, "r");
    struct err e = {0};
    struct source *from;

    assert_non_null(f);
    assert_non_null(fgets(p->expect, sizeof p->expect, f));
    fclose(f);
    p->expect[strcspn(p->expect, "\n")] = '\0';
    if (strncmp(p->expect, prefix, sizeof prefix - 1) != 0)
        fail_msg("%s: the first line states no verdict", path);
    memmove(p->expect, p->expect + sizeof prefix - 1, strlen(p->expect) - sizeof prefix + 2);
    from = source_open(path, &e);
    if (!from || from->granularity != GRANULE_HINT || stream_read(&p->stream, from, &e))
        fail_msg("%s: %s", path, e.text);
    source_close(from);
}

static void a_litmus_program(void **state)
{
    struct program p = {.stream = {0}};
    const char *path = *state;

    snprintf(p.name, sizeof p.name, "%s", strrchr(path, '/') + 1);
    load(&p, path);
    if (!strncmp(p.expect, "breaks ", strlen("breaks "))) {
        check_broken(&p);
    } else {
        check_rules(&p);
        check_program(&p);
    }
    stream_free(&p.stream);
}

static size_t list(char **paths)
{
    const char *top = getenv("top_srcdir");
    char *dir = xasprintf("%s/workloads/litmus", top ? top : ".");
    struct dirent **entry;
    const int n = scandir(dir, &entry, NULL, alphasort);
    size_t found = 0;

    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(entry[i]->d_name, '.');
        if (dot && !strcmp(dot, ".trace") && found < PROGRAMS_MAX)
            paths[found++] = xasprintf("%s/%s", dir, entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    free(dir);
    return found;
}

int main(void)
{
    char *path[PROGRAMS_MAX];
    struct CMUnitTest tests[PROGRAMS_MAX];
    const size_t n = list(path);

    for (size_t i = 0; i < n; i++)
        tests[i] =
            (struct CMUnitTest){strrchr(path[i], '/') + 1, a_litmus_program, NULL, NULL, path[i]};
    if (n < 2) {
        fputs("no litmus programs; set top_srcdir\n", stderr);
        return 1;
    }
    const int failed = _cmocka_run_group_tests("litmus", tests, n, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        free(path[i]);
    return failed;
}
