/* mutate_random.c - small changes that a seed draws: an operator, a constant, a condition, or a
 * statement left out, wherever the source has one inside a function.
 *
 * The smallest stretch of source that a change can be switched in is a region: a condition, what is
 * returned, the value of a variable's or a member's initialiser, or a statement that is an
 * expression. Regions do not nest, so that region R becomes (MUTANT(R1) ? (one change) : (another)
 * : (R)). */
#include <ctype.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/mutants/mutate.h"

/* ---- tokens --------------------------------------------------------------------------------- */

enum token_kind { WORD, NUMBER, QUOTED, SIGN };

struct token {
    size_t at, n;
    enum token_kind kind;
    size_t other; /* of a bracket: its partner; else itself */
};

struct source {
    char *file;
    size_t room; /* the number of its folder */
    struct text text;
    struct token *token;
    size_t tokens, cap;
};

static bool is(const struct source *s, size_t i, const char *text)
{
    const struct token *t = &s->token[i];

    return i < s->tokens && t->n == strlen(text) && !memcmp(s->text.bytes + t->at, text, t->n);
}

static bool is_one_of(const struct source *s, size_t i, const char *const *texts)
{
    for (; *texts; texts++)
        if (is(s, i, *texts))
            return true;
    return false;
}

static size_t past_comment(const char *p, size_t i)
{
    const char *end = strstr(p + i + 2, "*/");

    return end ? (size_t)(end - p) + 2 : strlen(p);
}

static size_t past_directive(const char *p, size_t i)
{
    for (; p[i] && p[i] != '\n'; i++)
        if (p[i] == '\\' && p[i + 1] == '\n')
            i++;
        else if (p[i] == '/' && p[i + 1] == '*')
            i = past_comment(p, i) - 1;
    return i;
}

static size_t length(const char *p, enum token_kind *kind)
{
    static const char *const signs[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^=", NULL};
    size_t n = 1;

    if (isalpha((unsigned char)*p) || *p == '_' || isdigit((unsigned char)*p)) {
        *kind = isdigit((unsigned char)*p) ? NUMBER : WORD;
        while (isalnum((unsigned char)p[n]) || p[n] == '_' || (*kind == NUMBER && p[n] == '.'))
            n++;
        return n;
    }
    *kind = QUOTED;
    if (*p == '"' || *p == '\'') {
        while (p[n] && p[n] != *p)
            n += p[n] == '\\' ? 2 : 1;
        return n + 1;
    }
    *kind = SIGN;
    for (size_t i = 0; signs[i]; i++)
        if (!strncmp(p, signs[i], strlen(signs[i])))
            return strlen(signs[i]);
    return 1;
}

static void pair_brackets(struct source *s)
{
    size_t *open = xcalloc(s->tokens + 1, sizeof *open), n = 0;

    for (size_t i = 0; i < s->tokens; i++) {
        s->token[i].other = i;
        if (is(s, i, "(") || is(s, i, "[") || is(s, i, "{")) {
            open[n++] = i;
        } else if (n && (is(s, i, ")") || is(s, i, "]") || is(s, i, "}"))) {
            s->token[i].other = open[--n];
            s->token[open[n]].other = i;
        }
    }
    free(open);
}

static void tokenize(struct source *s)
{
    const char *p = s->text.bytes;
    bool fresh = true; /* nothing but blanks before it on its line */

    for (size_t i = 0; p[i];) {
        if (isspace((unsigned char)p[i])) {
            fresh |= p[i++] == '\n';
        } else if (p[i] == '/' && p[i + 1] == '*') {
            i = past_comment(p, i);
        } else if (p[i] == '#' && fresh) {
            i = past_directive(p, i);
        } else {
            struct token t = {.at = i};
            t.n = length(p + i, &t.kind);
            s->token = xgrow(s->token, s->tokens, &s->cap, sizeof t);
            s->token[s->tokens++] = t;
            i += t.n;
            fresh = false;
        }
    }
    pair_brackets(s);
}

/* ---- what can be changed -------------------------------------------------------------------- */

enum region_kind { CONDITION, VALUE, STATEMENT };

struct change {
    size_t source;       /* its number */
    size_t from, to;     /* the region's bytes */
    enum region_kind in; /* what the region is */
    size_t at, n;        /* the bytes that change, on one line */
    const char *put;     /* what comes for them */
};

struct room {
    const char *folder;
    size_t name, drawn; /* the bytes of its name */
};

static struct {
    struct room *room;
    size_t rooms, room_cap;
    struct source *source;
    size_t sources, source_cap;
    struct change *change;
    size_t changes, change_cap;
} found;

struct region {
    size_t first, end; /* tokens */
    enum region_kind kind;
};

static void offer(const struct source *s, const struct region *r, size_t at, size_t n,
                  const char *put)
{
    const struct token *last = &s->token[r->end - 1];
    const struct change c = {.source = (size_t)(s - found.source),
                             .from = s->token[r->first].at,
                             .to = last->at + last->n,
                             .in = r->kind,
                             .at = at,
                             .n = n,
                             .put = put};

    found.change = xgrow(found.change, found.changes, &found.change_cap, sizeof c);
    found.change[found.changes++] = c;
}

/* (type), and not the arguments of a call, nor an expression between parentheses: those have more
 * in them than words. */
static bool is_cast(const struct source *s, size_t close)
{
    const size_t open = s->token[close].other;

    if (open && s->token[open - 1].kind == WORD && !is(s, open - 1, "return"))
        return false;
    for (size_t i = open + 1; i < close; i++)
        if (s->token[i].kind != WORD && !is(s, i, "*"))
            return false;
    return true;
}

/* A value stands before token i, and one behind it: an operator there has two sides. */
static bool has_two_sides(const struct source *s, size_t i)
{
    static const char *const no_value[] = {"return", "sizeof", "case", NULL};
    const struct token *before = &s->token[i - 1];

    if (is(s, i + 1, ")") || is(s, i + 1, ","))
        return false;
    if (is(s, i - 1, ")"))
        return !is_cast(s, i - 1);
    return before->kind == NUMBER || is(s, i - 1, "]") ||
           (before->kind == WORD && !is_one_of(s, i - 1, no_value));
}

/* -1 says that something failed, and any number below 0 says the same: it is not made -2. */
static void offer_number(const struct source *s, const struct region *r, size_t i)
{
    const struct token *t = &s->token[i];
    const char *text = s->text.bytes + t->at;
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    const int suffix = (int)(text + t->n - end);

    if (strspn(end, "uUlL") < (size_t)suffix)
        return; /* 0x1f, 1.5 */
    if (n != 1 || !is(s, i - 1, "-") || has_two_sides(s, i - 1))
        offer(s, r, t->at, t->n, xasprintf("%llu%.*s", n + 1, suffix, end));
    if (n)
        offer(s, r, t->at, t->n, xasprintf("%llu%.*s", n - 1, suffix, end));
}

static void offer_token(const struct source *s, const struct region *r, size_t i)
{
    static const struct {
        const char *is, *put[2];
        bool two_sides; /* it is something else with one */
    } swap[] = {
        {"<", {"<=", ">="}, false},       {"<=", {"<", ">"}, false},
        {">", {">=", "<="}, false},       {">=", {">", "<"}, false},
        {"==", {"!=", NULL}, false},      {"!=", {"==", NULL}, false},
        {"&&", {"||", NULL}, false},      {"||", {"&&", NULL}, false},
        {"+", {"-", NULL}, true},         {"-", {"+", NULL}, true},
        {"*", {"+", NULL}, true},         {"/", {"*", NULL}, false},
        {"%", {"/", NULL}, false},        {"&", {"|", NULL}, true},
        {"|", {"&", NULL}, false},        {"^", {"|", NULL}, false},
        {"<<", {">>", NULL}, false},      {">>", {"<<", NULL}, false},
        {"!", {"", NULL}, false},         {"~", {"", NULL}, false},
        {"++", {"--", NULL}, false},      {"--", {"++", NULL}, false},
        {"+=", {"-=", NULL}, false},      {"-=", {"+=", NULL}, false},
        {"|=", {"&=", NULL}, false},      {"&=", {"|=", NULL}, false},
        {"true", {"false", NULL}, false}, {"false", {"true", NULL}, false},
    };
    const struct token *t = &s->token[i];

    if (t->kind == NUMBER)
        offer_number(s, r, i);
    for (size_t k = 0; k < ARRAY_SIZE(swap); k++)
        if (is(s, i, swap[k].is) && (!swap[k].two_sides || has_two_sides(s, i)))
            for (size_t p = 0; p < 2 && swap[k].put[p]; p++)
                offer(s, r, t->at, t->n, swap[k].put[p]);
}

static bool ends_in(const struct source *s, size_t i, const char *end)
{
    const struct token *t = &s->token[i];
    const size_t n = strlen(end);

    return t->kind == WORD && t->n >= n && !memcmp(s->text.bytes + t->at + t->n - n, end, n);
}

static void region(const struct source *s, size_t first, size_t end, enum region_kind kind)
{
    const struct region r = {first, end, kind};

    if (first >= end)
        return;
    const size_t from = s->token[first].at, to = s->token[end - 1].at + s->token[end - 1].n;
    /* That too little memory is taken, or none given back, the sanitizers alone would notice. */
    for (size_t i = first; i < end; i++)
        if (is(s, i, "{") || is(s, i, "}") || ends_in(s, i, "alloc"))
            return;
    if (memmem(s->text.bytes + from, to - from, "\n#", 2))
        return;
    for (size_t i = first; i < end; i++)
        offer_token(s, &r, i);
    if (memchr(s->text.bytes + from, '\n', to - from))
        return; /* a change is shown as one line */
    if (kind == CONDITION) {
        offer(s, &r, from, to - from, "true");
        offer(s, &r, from, to - from, "false");
        offer(s, &r, from, to - from, xasprintf("!(%.*s)", (int)(to - from), s->text.bytes + from));
    }
    if (kind == STATEMENT && !ends_in(s, first, "free"))
        offer(s, &r, from, to - from, "(void)0");
}

/* ---- where: statements ---------------------------------------------------------------------- */

/* From token i on, the first at this depth that is one of these; or `end`. */
static size_t find(const struct source *s, size_t i, size_t end, const char *const *texts)
{
    while (i < end && !is_one_of(s, i, texts))
        i = (s->token[i].other > i ? s->token[i].other : i) + 1;
    return i < end ? i : end;
}

static const char *const comma[] = {",", NULL};
static const char *const colon[] = {":", NULL};
static const char *const semicolon[] = {";", NULL};
static const char *const equals[] = {"=", NULL};

/* Values in braces, wherever they are in what is given. */
static void values(const struct source *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!is(s, i, "{"))
            continue;
        const size_t close = s->token[i].other;
        for (size_t next, at = i + 1; at < close; at = next + 1) {
            next = find(s, at, close, comma);
            const size_t sets = find(s, at, next, equals);
            const size_t value = sets < next ? sets + 1 : at;
            values(s, value, next);
            region(s, value, next, VALUE);
        }
        i = close;
    }
}

static void declaration(const struct source *s, size_t first, size_t end)
{
    for (size_t next; first < end; first = next + 1) {
        next = find(s, first, end, comma);
        region(s, find(s, first, next, equals) + 1, next, VALUE);
    }
}

/* Else it is a declaration: a type and a name. */
static bool is_expression(const struct source *s, size_t i)
{
    static const char *const begins[] = {"*", "(", "++", "--", NULL};
    static const char *const follows[] = {"(",  "[",  "->", ".",  "++", "--", "=",   "+=",  "-=",
                                          "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};

    return is_one_of(s, i, begins) || (s->token[i].kind == WORD && is_one_of(s, i + 1, follows));
}

static void simple(const struct source *s, size_t first, size_t end)
{
    static const char *const skipped[] = {"static",        "enum",           "typedef", "assert",
                                          "static_assert", "_Static_assert", "extern",  "goto",
                                          "break",         "continue",       NULL};

    if (first >= end || is_one_of(s, first, skipped) ||
        (is(s, first, "(") && is(s, first + 1, "void")))
        return;
    values(s, first, end);
    if (is(s, first, "return"))
        region(s, first + 1, end, VALUE);
    else if (is_expression(s, first))
        region(s, first, end, STATEMENT);
    else
        declaration(s, first, end);
}

/* What stands between the braces of a function. */
static void block(const struct source *s, size_t i, size_t end)
{
    static const char *const asks[] = {"if", "while", NULL};
    static const char *const labels[] = {"case", "default", NULL};
    static const char *const leads[] = {"else", "do", "{", "}", ";", NULL};

    while (i < end) {
        const size_t close = i + 1 < end ? s->token[i + 1].other : i;
        if (is_one_of(s, i, asks)) {
            region(s, i + 2, close, CONDITION);
            i = close + 1;
        } else if (is(s, i, "for")) {
            const size_t begin = find(s, i + 2, close, semicolon),
                         go = find(s, begin + 1, close, semicolon);
            simple(s, i + 2, begin);
            region(s, begin + 1, go, CONDITION);
            simple(s, go + 1, close);
            i = close + 1;
        } else if (is(s, i, "switch")) {
            i = close + 1;
        } else if (is_one_of(s, i, labels)) {
            i = find(s, i, end, colon) + 1;
        } else if (is_one_of(s, i, leads)) {
            i++;
        } else {
            const size_t over = find(s, i, end, semicolon);
            simple(s, i, over);
            i = over + 1;
        }
    }
}

static void functions(const struct source *s)
{
    for (size_t i = 1; i < s->tokens; i++) {
        if (!is(s, i, "{"))
            continue;
        if (is(s, i - 1, ")"))
            block(s, i + 1, s->token[i].other);
        i = s->token[i].other;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->file, ((const struct source *)b)->file);
}

/* The folder's files are the product's, and are compiled with the switch: not what is no product,
 * not what not all machines build, what users' compilers build where it lies, and what only checks
 * the rest for the tests. */
static bool is_in_a_room(const char *file)
{
    static const char *const left_alone[] = {".",
                                             "bench/",
                                             "build",
                                             "docs/",
                                             "gem5/guest/",
                                             "long/",
                                             "memory/dramsim3/",
                                             "policy/radish/verify.c",
                                             "tests/",
                                             "workloads/native/"};

    for (size_t i = 0; i < ARRAY_SIZE(left_alone); i++)
        if (!strncmp(file, left_alone[i], strlen(left_alone[i])))
            return false;
    return strchr(file, '/');
}

/* The room is a folder, one above it, or a file of it. */
static bool is_asked_for(const char *file)
{
    const size_t n = all.room ? strlen(all.room) : 0;

    return !n || (!strncmp(file, all.room, n) && (file[n] == '/' || !file[n]));
}

static int visit(const char *path, const struct stat *st, int flag, struct FTW *where)
{
    const char *dot = strrchr(path, '.'), *file = path + strlen(all.source) + 1;

    (void)st;
    (void)where;
    if (flag != FTW_F || !dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0) ||
        !is_in_a_room(file) || !is_asked_for(file))
        return 0;
    found.source = xgrow(found.source, found.sources, &found.source_cap, sizeof *found.source);
    found.source[found.sources++] = (struct source){.file = xstrdup(file)};
    return 0;
}

static size_t room_number(const char *file)
{
    const struct room of = {.folder = file, .name = (size_t)(strrchr(file, '/') - file)};

    for (size_t i = 0; i < found.rooms; i++)
        if (found.room[i].name == of.name && !memcmp(found.room[i].folder, file, of.name))
            return i;
    found.room = xgrow(found.room, found.rooms, &found.room_cap, sizeof of);
    found.room[found.rooms] = of;
    return found.rooms++;
}

static void find_changes(void)
{
    nftw(all.source, visit, 16, FTW_PHYS);
    qsort(found.source, found.sources, sizeof *found.source, by_name);
    for (size_t i = 0; i < found.sources; i++) {
        found.source[i].room = room_number(found.source[i].file);
        found.source[i].text = text_read(found.source[i].file);
        tokenize(&found.source[i]);
        functions(&found.source[i]);
    }
}

/* ---- which ---------------------------------------------------------------------------------- */

struct line {
    const char *at;
    size_t n, number, column;
};

static struct line line_of(const struct change *c)
{
    const char *p = found.source[c->source].text.bytes;
    struct line l = {.at = p, .number = 1};

    for (size_t i = 0; i < c->at; i++)
        if (p[i] == '\n') {
            l.at = p + i + 1;
            l.number++;
        }
    l.n = strcspn(l.at, "\n");
    l.column = (size_t)(p + c->at - l.at);
    return l;
}

static char *line_before(const struct change *c)
{
    const struct line l = line_of(c);

    return xasprintf("%.*s", (int)l.n, l.at);
}

static char *line_after(const struct change *c)
{
    const struct line l = line_of(c);

    return xasprintf("%.*s%s%.*s", (int)l.column, l.at, c->put, (int)(l.n - l.column - c->n),
                     l.at + l.column + c->n);
}

static bool is_edit(const struct edit *e, const char *before, const char *after)
{
    return e->lines == 2 && e->line[0][0] == '-' && e->line[1][0] == '+' &&
           !strcmp(e->line[0] + 1, before) && !strcmp(e->line[1] + 1, after);
}

static bool is_excused(const struct change *c)
{
    char *before = line_before(c), *after = line_after(c);
    bool excused = false;

    for (size_t i = 0; i < all.edits; i++)
        if (!strcmp(all.edit[i].file, found.source[c->source].file) &&
            is_edit(&all.edit[i], before, after)) {
            excused = true;
        }
    free(before);
    free(after);
    return excused;
}

static void write_region(FILE *out, const struct change *c, const size_t *number, size_t n)
{
    const char *p = found.source[c->source].text.bytes;
    const char *as = c->in == STATEMENT ? "(void)" : "";

    fputc('(', out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "MUTANT(R%zu) ? %s(%.*s%s%.*s) : ", number[i], as, (int)(c[i].at - c[i].from),
                p + c[i].from, c[i].put, (int)(c[i].to - c[i].at - c[i].n), p + c[i].at + c[i].n);
    fprintf(out, "%s(%.*s))", as, (int)(c->to - c->from), p + c->from);
}

/* The changes are those of one file, in the order of their regions. */
static void write_changed(FILE *out, const struct change *c, const size_t *number, size_t n)
{
    const char *p = found.source[c->source].text.bytes;
    size_t at = 0;

    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && c[i + same].from == c[i].from;)
            same++;
        fprintf(out, "%.*s", (int)(c[i].from - at), p + at);
        write_region(out, c + i, number + i, same);
        at = c[i].to;
    }
    fputs(p + at, out);
}

/* Whether the compiler takes it. */
static bool compiles(const struct change *c)
{
    const char *cc = getenv("CC");
    char *command =
        xasprintf("%s -std=c11 -D_GNU_SOURCE -I'%s' -w -fsyntax-only -x c - 2>/dev/null",
                  cc && *cc ? cc : "cc", all.source);
    FILE *to = popen(command, "w");
    const size_t number = 0;

    free(command);
    if (!to)
        return false;
    fputs("static int mutant;\n#define MUTANT(name) mutant\n", to);
    write_changed(to, c, &number, 1);
    return pclose(to) == 0;
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void change_print(const char *name, const struct change *c)
{
    char *before = line_before(c), *after = line_after(c);

    printf("%s\t%s:%zu\t%s\t%s\n", name, found.source[c->source].file, line_of(c).number, before,
           after);
    free(before);
    free(after);
}

/* One that is excused is not drawn, but said: its room has had it. */
static bool is_drawn(const struct change *c, size_t n)
{
    struct room *room = &found.room[found.source[c->source].room];

    if (room->drawn == n)
        return false;
    if (is_excused(c)) {
        change_print("equivalent", c);
        return false;
    }
    if (!compiles(c))
        return false;
    room->drawn++;
    return true;
}

/* The first of the changes become those that are drawn, n in each room: returns how many. */
static size_t draw(size_t n, uint64_t seed)
{
    struct rng r;
    size_t drawn = 0, end = found.changes;

    rng_seed(&r, seed);
    while (drawn < end) {
        struct change *c = &found.change[drawn + rng_below(&r, end - drawn)];
        struct change *to = &found.change[is_drawn(c, n) ? drawn++ : --end];
        const struct change one = *c;
        *c = *to;
        *to = one;
    }
    qsort(found.change, drawn, sizeof *found.change, by_place);
    return drawn;
}

/* An excuse of a line that is no more would excuse the next one that looks like it. */
static void check_excuses(void)
{
    for (size_t i = 0; i < all.edits; i++) {
        const struct edit *e = &all.edit[i];
        const struct text t = text_read(e->file);
        char *line = xasprintf("\n%s\n", e->line[0] + 1);
        if (!strstr(t.bytes, line))
            wrong(e->in, e->at, "%s has no such line (any more):%s", e->file, line);
        free(line);
        free(t.bytes);
    }
}

void draw_mutants(size_t n, uint64_t seed)
{
    check_excuses();
    if (all.wrong || !n)
        return;
    find_changes();
    n = draw(n, seed);

    size_t *number = xcalloc(n, sizeof *number);
    for (size_t i = 0; i < n; i++) {
        number[i] = i + 1;
        mutant_add((struct mutant){.name = xasprintf("R%zu", i + 1)});
        change_print(all.mutant[i].name, &found.change[i]);
    }
    for (size_t i = 0, same; all.dir && i < n; i += same) {
        for (same = 1; i + same < n && found.change[i + same].source == found.change[i].source;)
            same++;
        FILE *out = create(found.source[found.change[i].source].file);
        write_changed(out, &found.change[i], &number[i], same);
        finish(out);
    }
    free(number);
}
