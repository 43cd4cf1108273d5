/* t_explore.c - all that a few cores can do with a few lines in tiny caches. From the specification
 * (spec.c) come all states that can be reached, each with a shortest sequence of accesses from
 * the empty machine; then each access in each state is tried on the program and held to the
 * specification: cycles, level, messages, states.
 *
 * One access at a time: waiting and contention are not explored. */
#include "base/mem.h"
#include "tests/coherence/bench.h"
#include "tests/coherence/spec.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMANDS = 3 };

struct exploration {
    const char *name;
    struct shape shape;
    size_t states;  /* that there are at least */
    size_t most;    /* no new ones after so many; 0: all */
    uint64_t never; /* what can't happen there: bits of enum seen */
};

/* ---- all states ----------------------------------------------------------------------------- */

enum { MOST_OPS = MOST_CORES * MOST_LINES * COMMANDS };

struct known {
    struct picture p;
    uint32_t from; /* the state before it */
    uint8_t op;    /* that led here from there */
    uint8_t tried; /* operations that the program was tried with: the first so many */
};
struct step { /* where the program is, for when it stops */
    bool under_way;
    uint8_t op;
    uint32_t state;
    uint64_t transitions; /* so far */
};
struct explore {
    const struct exploration *plan;
    const struct shape *shape;  /* the plan's */
    struct known *known;        /* owns; the first is the empty machine; nearer ones come first */
    uint32_t (*next)[MOST_OPS]; /* owns; the states that operations lead to, or UNKNOWN */
    size_t n, cap, cap_next;
    uint32_t *index; /* owns; by hash: 1 + place in known; 0: free */
    size_t slots;
    uint64_t seen, machines;
    struct step *step; /* shared by two processes */
    uint32_t *mark;    /* owns; by state: the search that met it last */
    uint32_t searches;
};

#define UNKNOWN UINT32_MAX /* a state */

/* An operation is a number: core, line, command. */
static unsigned op_count(const struct shape *s)
{
    return s->cores * s->lines * COMMANDS;
}
static unsigned op_core(const struct shape *s, unsigned op)
{
    return op / COMMANDS / s->lines;
}
static unsigned op_line(const struct shape *s, unsigned op)
{
    return op / COMMANDS % s->lines;
}
static enum mem_cmd op_cmd(unsigned op)
{
    return (enum mem_cmd)(op % COMMANDS);
}

static void spec_op(const struct shape *s, struct picture *p, unsigned op, struct account *a)
{
    spec_access(s, p, op_core(s, op), op_line(s, op), op_cmd(op) != MEM_LOAD, a);
}

static uint32_t *index_slot(const struct explore *x, const struct picture *p)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < sizeof *p; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211u;
    for (size_t i = h ^ h >> 32;; i++) {
        uint32_t *slot = &x->index[i & (x->slots - 1)];
        if (!*slot || !memcmp(&x->known[*slot - 1].p, p, sizeof *p))
            return slot;
    }
}

static void index_grow(struct explore *x)
{
    free(x->index);
    x->slots = x->slots ? 4 * x->slots : 1024;
    x->index = xcalloc(x->slots, sizeof *x->index);
    for (size_t i = 0; i < x->n; i++)
        *index_slot(x, &x->known[i].p) = (uint32_t)(i + 1);
}

/* The state, which becomes known if there is room. */
static uint32_t find_or_add(struct explore *x, const struct picture *p, size_t from, unsigned op)
{
    const uint32_t found = *index_slot(x, p);

    if (found || (x->plan->most && x->n >= x->plan->most))
        return found - 1;
    if (2 * x->n >= x->slots)
        index_grow(x);
    x->known = xgrow(x->known, x->n, &x->cap, sizeof *x->known);
    x->next = xgrow(x->next, x->n, &x->cap_next, sizeof *x->next);
    x->known[x->n++] = (struct known){.p = *p, .from = (uint32_t)from, .op = (uint8_t)op};
    *index_slot(x, p) = (uint32_t)x->n;
    return (uint32_t)x->n - 1;
}

/* Breadth first: who is found first is found on a shortest way. */
static void find_all(struct explore *x)
{
    index_grow(x);
    find_or_add(x, &(struct picture){0}, 0, 0);
    for (size_t i = 0; i < x->n; i++)
        for (unsigned op = 0; op < op_count(x->shape); op++) {
            struct picture p = x->known[i].p;
            struct account a = {0};
            spec_op(x->shape, &p, op, &a);
            x->seen |= a.seen;
            const uint32_t to = find_or_add(x, &p, i, op);
            x->next[i][op] = to;
        }
}

/* ---- the program, held to it ---------------------------------------------------------------- */

enum { STEPS = 250 /* that a machine does at most */, MOST_MET = 400 /* states, by a search */ };

struct trip { /* from the empty machine on */
    const struct shape *shape;
    struct bench b;
    struct picture p;
    struct account all;
    size_t n;
    bool classes; /* messages are compared by class at each step; else their sums are */
    uint8_t op[STEPS];
    char wrong[300]; /* "": nothing so far */
};

static void wrong(struct trip *t, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    if (!t->wrong[0])
        vsnprintf(t->wrong, sizeof t->wrong, format, ap);
    va_end(ap);
}

static void describe(const struct shape *s, char *text, size_t n)
{
    snprintf(text, n,
             "l1.size=%u l1.ways=%u l2.size=%u l2.ways=%u l2.inclusion=%s l3.size=%u l3.ways=%u "
             "l3.inclusion=%s l3.directory-size=%u l3.directory-ways=%u network.topology=%s",
             s->l1 * 64, s->l1, s->l2 * 64, s->l2 ? s->l2 : 1,
             s->exclusive ? "exclusive" : "inclusive", s->l3 * 64, s->l3,
             s->directory ? "non-inclusive" : "inclusive", s->directory,
             s->directory ? s->directory : 1, s->ring ? "ring" : "crossbar");
}

static void trip_begin(struct trip *t, const struct shape *shape, bool classes)
{
    char settings[400];

    *t = (struct trip){.shape = shape, .classes = classes};
    describe(shape, settings, sizeof settings);
    if (!bench_open(&t->b, (struct bench_options){.cores = shape->cores}, settings))
        fail_msg("%s", t->b.e.text);
}

static sim_addr address(unsigned line)
{
    return (sim_addr)(FIRST_LINE + line) << 6;
}

static void compare_private(struct trip *t, unsigned core, unsigned line)
{
    const char l1 = coherence_state(t->b.c, core, LEVEL_L1, paddr_of(address(line)));
    const char l2 = coherence_state(t->b.c, core, LEVEL_L2, paddr_of(address(line)));
    const char should1 = "ISEM"[t->p.l1[core].state[line]];
    const char should2 = "ISEM"[t->p.l2[core].state[line]];
    const bool silent = l1 == 'M' && l2 == 'E' && should2 == 'M'; /* the L1's state counts */

    if (l1 != should1)
        wrong(t, "core %u, line %c: %c in the L1, not %c", core, 'A' + (int)line, l1, should1);
    if (l2 != should2 && !silent)
        wrong(t, "core %u, line %c: %c in the L2, not %c", core, 'A' + (int)line, l2, should2);
}

/* Whatever the specification says: one writer, or readers. */
static void compare_line(struct trip *t, unsigned line)
{
    const char l3 = coherence_state(t->b.c, 0, LEVEL_L3, paddr_of(address(line)));
    const char should = "ICD"[t->p.l3.state[line]];
    unsigned writers = 0, readers = 0;

    for (unsigned core = 0; core < t->shape->cores; core++) {
        char state = coherence_state(t->b.c, core, LEVEL_L1, paddr_of(address(line)));
        if (state == 'I')
            state = coherence_state(t->b.c, core, LEVEL_L2, paddr_of(address(line)));
        writers += state == 'E' || state == 'M';
        readers += state == 'S';
        compare_private(t, core, line);
    }
    if (l3 != should)
        wrong(t, "line %c: %c in the L3, not %c", 'A' + (int)line, l3, should);
    if (writers > 1 || (writers && readers))
        wrong(t, "line %c: %u in E or M, %u in S", 'A' + (int)line, writers, readers);
}

static void compare_count(struct trip *t, const char *what, uint64_t is, uint64_t should)
{
    if (is != should)
        wrong(t, "%s: %" PRIu64 " so far, not %" PRIu64, what, is, should);
}

static void compare_value(struct trip *t, const char *name, uint64_t should)
{
    uint64_t is;

    if (stats_value(t->b.stats, name, &is))
        compare_count(t, name, is, should);
    else
        wrong(t, "no statistic %s", name);
}

/* The rows of a vector stand together. */
static void compare_vector(struct trip *t, const char *csv, const char *name,
                           const uint64_t should[MSGS])
{
    const char *line = strstr(csv, name);

    for (size_t m = 0; m < MSGS; m++) {
        char label[100];
        snprintf(label, sizeof label, "%s%s,", name, msg_text[m]);
        if (!line || strncmp(line, label, strlen(label))) {
            wrong(t, "no statistic %s", label);
            return;
        }
        compare_count(t, label, strtoull(line + strlen(label), NULL, 10), should[m]);
        line = strchr(line, '\n');
        line += line != NULL;
    }
}

static void compare_classes(struct trip *t)
{
    char *csv = bench_csv(&t->b);

    compare_vector(t, csv, "network.messages.data.", t->all.messages);
    compare_vector(t, csv, "network.bytes.data.", t->all.bytes);
    free(csv);
}

static void compare_traffic(struct trip *t)
{
    uint64_t messages = 0, bytes = 0;

    for (size_t m = 0; m < MSGS; m++) {
        messages += t->all.messages[m];
        bytes += t->all.bytes[m];
    }
    compare_value(t, "network.messages.total", messages);
    compare_value(t, "network.bytes.total", bytes);
    compare_value(t, "network.hops", t->all.hops);
    compare_count(t, "reads of memory", t->b.store.reads, t->all.reads);
    compare_count(t, "writes to memory", t->b.store.writes, t->all.writes);
    if (t->all.writes && t->b.store.last_write != address(t->all.written))
        wrong(t, "not line %c was written to memory", 'A' + (int)t->all.written);
}

static void compare_result(struct trip *t, struct coh_result r, bool near)
{
    const sim_cycle cycles = r.done - t->b.now;

    if (r.level != t->all.level)
        wrong(t, "%s answers, not %s", mem_level_text[r.level], mem_level_text[t->all.level]);
    if (cycles != t->all.cycles)
        wrong(t, "%" PRIu64 " cycles, not %" PRIu64, cycles, t->all.cycles);
    if (r.left_core != (t->all.level >= LEVEL_L3) || near != (t->all.level == LEVEL_L1))
        wrong(t, "in the L1, in the core: not what was said");
}

/* One access, on the program and by the specification. False: they differ. */
static bool trip_step(struct trip *t, unsigned op)
{
    const unsigned core = op_core(t->shape, op);
    const sim_addr addr = address(op_line(t->shape, op)) + op;

    t->op[t->n++] = (uint8_t)op;
    spec_op(t->shape, &t->p, op, &t->all);
    const bool near = coherence_in_l1(t->b.c, core, paddr_of(addr), op_cmd(op));
    compare_result(
        t, coherence_access(t->b.c, core, paddr_of(addr), op_cmd(op), TRAFFIC_DATA, t->b.now),
        near);
    t->b.now += 10000;
    for (unsigned line = 0; line < t->shape->lines; line++)
        compare_line(t, line);
    compare_traffic(t);
    if (t->classes)
        compare_classes(t);
    if (t->wrong[0])
        return false;
    coherence_check(t->b.c);
    return true;
}

static void trip_end(struct trip *t, bool classes)
{
    if (classes && !t->wrong[0])
        compare_classes(t);
    if (!t->wrong[0] && stats_check(t->b.stats, &t->b.e))
        wrong(t, "%s", t->b.e.text);
    coherence_free(t->b.c);
    stats_free(t->b.stats);
    config_free(t->b.config);
}

/* ---- each operation in each state ------------------------------------------------------------ */

/* The shortest way to a state: returns its length. */
static size_t way_to(const struct explore *x, uint32_t state, uint8_t op[STEPS])
{
    size_t n = 0;

    for (uint32_t s = state; s; s = x->known[s].from)
        n++;
    for (size_t i = n; i; state = x->known[state].from)
        op[--i] = x->known[state].op;
    return n;
}

static bool trip_along(struct trip *t, const uint8_t *op, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!trip_step(t, op[i]))
            return false;
    return true;
}

static void say_way(const struct shape *s, const uint8_t *op, size_t n)
{
    static const char *const does[COMMANDS] = {"loads", "stores", "atomic"};

    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%score %u %s %c", i ? ", " : "", op_core(s, op[i]), does[op_cmd(op[i])],
                'A' + (int)op_line(s, op[i]));
    fprintf(stderr, "\n");
}

/* The first step of a trip that goes wrong on the shortest way to where it was, too: says that. */
static void explain(const struct explore *x, const struct trip *t)
{
    uint32_t state = 0;
    uint8_t way[STEPS];

    for (size_t i = 0; i < t->n && state != UNKNOWN; state = x->next[state][t->op[i++]]) {
        struct trip again;
        const size_t n = way_to(x, state, way);

        way[n] = t->op[i];
        trip_begin(&again, x->shape, true);
        trip_along(&again, way, n + 1);
        trip_end(&again, false);
        if (again.wrong[0]) {
            fprintf(stderr, "%s\nafter ", again.wrong);
            say_way(x->shape, way, again.n);
            return;
        }
    }
    fprintf(stderr, "%s\nafter ", t->wrong);
    say_way(x->shape, t->op, t->n);
}

static bool tried_all(const struct explore *x, uint32_t state)
{
    return x->known[state].tried == op_count(x->shape);
}

struct met {              /* by a search */
    uint32_t state, from; /* from: its place in the search */
    uint8_t op;
};

/* 0: too long. */
static size_t search_way(const struct met *met, size_t last, uint8_t op[STEPS])
{
    size_t n = 0;

    for (size_t i = last; i; i = met[i].from)
        n++;
    if (n > STEPS)
        return 0;
    for (size_t i = last, at = n; i; i = met[i].from)
        op[--at] = met[i].op;
    return n;
}

/* A short way from here to a state where something is untried: its length, 0 if none is near. */
static size_t search(struct explore *x, uint32_t state, uint8_t op[STEPS])
{
    struct met met[MOST_MET] = {{.state = state}};
    size_t n = 1;

    x->searches++;
    for (size_t i = 0; i < n; i++)
        for (unsigned o = 0; o < op_count(x->shape) && n < MOST_MET; o++) {
            const uint32_t next = x->next[met[i].state][o];
            if (next == UNKNOWN || x->mark[next] == x->searches)
                continue;
            x->mark[next] = x->searches;
            met[n++] = (struct met){next, (uint32_t)i, (uint8_t)o};
            if (!tried_all(x, next))
                return search_way(met, n - 1, op);
        }
    return 0;
}

/* Goes on, *state becomes where it is. */
static bool try_step(struct explore *x, struct trip *t, uint32_t *state, unsigned op)
{
    x->step->under_way = true;
    x->step->state = *state;
    x->step->op = (uint8_t)op;
    *state = x->next[*state][op];
    return trip_step(t, op);
}

/* A new machine goes a shortest way to this state, and on from there. */
static bool try_from(struct explore *x, uint32_t state)
{
    struct trip t;
    uint8_t way[STEPS];
    size_t n = way_to(x, state, way);

    trip_begin(&t, x->shape, false);
    bool good = trip_along(&t, way, n);
    while (good && state != UNKNOWN && t.n < STEPS) {
        if (!tried_all(x, state)) {
            x->step->transitions++;
            good = try_step(x, &t, &state, x->known[state].tried++);
            continue;
        }
        n = search(x, state, way);
        if (!n || t.n + n > STEPS)
            break;
        for (size_t i = 0; good && i < n; i++)
            good = try_step(x, &t, &state, way[i]);
    }
    x->step->under_way = false;
    /* Classes are half the time of a short trip: only in each fourth. */
    trip_end(&t, x->machines++ % 4 == 0);
    if (t.wrong[0])
        explain(x, &t);
    return !t.wrong[0];
}

static bool try_all(struct explore *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        while (!tried_all(x, i))
            if (!try_from(x, i))
                return false;
    return true;
}

/* In a process of its own: assertions and coherence_check end it. */
static bool try_all_apart(struct explore *x)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the next test */
        signal(SIGBUS, SIG_DFL);
        _exit(!try_all(x));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (x->step->under_way) {
        uint8_t way[STEPS];
        const size_t n = way_to(x, x->step->state, way);
        way[n] = x->step->op;
        fprintf(stderr, "stopped in the last of these, or of others with the same effect: ");
        say_way(x->shape, way, n + 1);
    }
    return status == 0;
}

static void test_each_access_in_each_state_is_as_specified(void **arg)
{
    const struct exploration *plan = *arg;
    struct explore x = {.plan = plan, .shape = &plan->shape};

    find_all(&x);
    x.mark = xcalloc(x.n, sizeof *x.mark);
    x.step = mmap(NULL, sizeof *x.step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(x.step != MAP_FAILED);
    const bool good = try_all_apart(&x);
    print_message("%zu states, %" PRIu64 " transitions\n", x.n, x.step->transitions);
    assert_true(good);
    assert_true(x.n >= plan->states && x.step->transitions == x.n * op_count(x.shape));
    assert_int_equal(x.seen, ((UINT64_C(1) << SEEN) - 1) & ~plan->never);
    munmap(x.step, sizeof *x.step);
    free(x.known);
    free(x.next);
    free(x.mark);
    free(x.index);
}

#define BIT(what)      (UINT64_C(1) << (what))
#define L3_INCLUSIVE   (BIT(SHARER_FORWARDS) | BIT(SHARERS_GO_ONE_FORWARDS))
#define NO_LONE_SHARER (L3_INCLUSIVE | BIT(SHARERS_GO)) /* of two cores */
#define NO_L2_HITS     (BIT(L2_HIT) | BIT(L2_UPGRADE))
#define NO_L2          (NO_L2_HITS | BIT(VICTIM_IN_L1))
#define NO_PUTS        (BIT(VICTIM_S) | BIT(VICTIM_E) | BIT(VICTIM_M) | BIT(VICTIM_IN_L1))
#define NO_L3_VICTIMS  (BIT(L3_VICTIM_CLEAN) | BIT(L3_VICTIM_DIRTY))
#define NO_RECALLS                                                                                 \
    (BIT(RECALL_NONE) | BIT(RECALL_S) | BIT(RECALL_E) | BIT(RECALL_M) | BIT(RECALL_ALL))

#define PLAN(name, cores, lines, l1, l2, l3, directory, exclusive, ring, states, most, never)      \
    {                                                                                              \
        name, {cores, lines, l1, l2, l3, directory, exclusive, ring}, states, most, never          \
    }
static const struct exploration check[] = {
    PLAN("no L2", 3, 2, 1, 0, 2, 0, false, false, 523, 0,
         L3_INCLUSIVE | NO_L2 | NO_RECALLS | NO_L3_VICTIMS),
    PLAN("no L2, 3 lines, ring", 3, 3, 1, 0, 2, 0, false, true, 1516, 0,
         L3_INCLUSIVE | NO_L2 | BIT(RECALL_ALL)),
    PLAN("inclusive L2", 3, 2, 1, 2, 2, 0, false, false, 2085, 0,
         L3_INCLUSIVE | NO_PUTS | NO_RECALLS | NO_L3_VICTIMS),
    PLAN("inclusive L2, 3 lines", 2, 3, 1, 2, 2, 0, false, false, 1129, 0,
         NO_LONE_SHARER | NO_PUTS | BIT(L3_ANSWERS) | BIT(RECALL_NONE)),
    PLAN("inclusive L2 of one line", 3, 3, 1, 1, 2, 0, false, false, 1516, 0,
         L3_INCLUSIVE | NO_L2_HITS | BIT(RECALL_ALL)),
    PLAN("inclusive L2 no larger than the L1", 2, 3, 2, 2, 3, 0, false, false, 500, 500,
         NO_LONE_SHARER | NO_L2_HITS | NO_RECALLS | NO_L3_VICTIMS),
    PLAN("inclusive L2, larger L3", 2, 3, 1, 2, 3, 0, false, false, 500, 500,
         NO_LONE_SHARER | NO_RECALLS | NO_L3_VICTIMS | BIT(VICTIM_IN_L1)),
    PLAN("exclusive L2", 3, 2, 1, 1, 2, 0, true, false, 2085, 0,
         L3_INCLUSIVE | NO_PUTS | NO_RECALLS | NO_L3_VICTIMS),
    PLAN("exclusive L2, 3 lines, ring", 2, 3, 1, 1, 2, 0, true, true, 1129, 0,
         NO_LONE_SHARER | NO_PUTS | BIT(L3_ANSWERS) | BIT(RECALL_NONE)),
    PLAN("exclusive L2, larger L3", 2, 3, 1, 1, 3, 0, true, false, 500, 500,
         NO_LONE_SHARER | NO_RECALLS | NO_L3_VICTIMS | BIT(VICTIM_IN_L1)),
    PLAN("own directory, no L2, ring", 3, 3, 1, 0, 1, 2, false, true, 2314, 0,
         NO_L2 | BIT(RECALL_NONE) | BIT(RECALL_ALL)),
    PLAN("own directory, inclusive L2", 3, 2, 1, 2, 1, 2, false, false, 1649, 0,
         NO_PUTS | NO_RECALLS | BIT(L3_VICTIM_CLEAN)),
    PLAN("own directory, inclusive L2, 3 lines", 2, 3, 1, 2, 1, 2, false, false, 1657, 0,
         NO_LONE_SHARER | NO_PUTS | BIT(RECALL_NONE) | BIT(L3_VICTIM_CLEAN)),
    PLAN("own directory, inclusive L2 of one line", 2, 3, 1, 1, 1, 2, false, false, 565, 0,
         NO_L2_HITS | BIT(RECALL_NONE) | BIT(RECALL_ALL)),
    PLAN("own directory, exclusive L2", 3, 2, 1, 1, 1, 2, true, false, 1649, 0,
         NO_PUTS | NO_RECALLS | BIT(L3_VICTIM_CLEAN)),
    PLAN("own directory, exclusive L2, 3 lines", 2, 3, 1, 1, 1, 2, true, false, 1657, 0,
         NO_LONE_SHARER | NO_PUTS | BIT(RECALL_NONE) | BIT(L3_VICTIM_CLEAN)),
    PLAN("larger directory, exclusive L2", 2, 3, 1, 1, 1, 3, true, false, 500, 500,
         NO_LONE_SHARER | NO_RECALLS | BIT(VICTIM_IN_L1)),
};
static const struct exploration deep[] = {
    PLAN("no L2, L1 of 2 lines, ring", 3, 3, 2, 0, 2, 0, false, true, 3556, 0,
         L3_INCLUSIVE | NO_L2 | BIT(VICTIM_S) | BIT(VICTIM_E) | BIT(VICTIM_M) | BIT(RECALL_NONE)),
    PLAN("no L2, 4 lines", 3, 4, 1, 0, 3, 0, false, false, 45237, 0,
         L3_INCLUSIVE | NO_L2 | BIT(RECALL_ALL)),
    PLAN("no L2, 4 cores, ring", 4, 3, 1, 0, 2, 0, false, true, 4351, 0,
         L3_INCLUSIVE | NO_L2 | BIT(RECALL_ALL)),
    PLAN("inclusive L2, 3 lines", 3, 3, 1, 2, 2, 0, false, false, 7840, 0,
         L3_INCLUSIVE | NO_PUTS | BIT(RECALL_NONE)),
    PLAN("inclusive L2, 4 lines, ring", 3, 4, 1, 2, 2, 0, false, true, 15645, 0,
         L3_INCLUSIVE | NO_PUTS | BIT(RECALL_NONE)),
    PLAN("inclusive L2, larger L3", 2, 3, 1, 2, 3, 0, false, false, 26965, 0,
         L3_INCLUSIVE | NO_RECALLS | NO_L3_VICTIMS | BIT(VICTIM_IN_L1)),
    PLAN("inclusive L2 no larger than the L1", 2, 3, 2, 2, 3, 0, false, false, 37165, 0,
         L3_INCLUSIVE | NO_L2_HITS | NO_RECALLS | NO_L3_VICTIMS),
    PLAN("exclusive L2, 3 lines", 3, 3, 1, 1, 2, 0, true, false, 7840, 0,
         L3_INCLUSIVE | NO_PUTS | BIT(RECALL_NONE)),
    PLAN("exclusive L2, larger L3", 2, 3, 1, 1, 3, 0, true, false, 26965, 0,
         L3_INCLUSIVE | NO_RECALLS | NO_L3_VICTIMS | BIT(VICTIM_IN_L1)),
    PLAN("own directory, no L2, 4 cores, ring", 4, 3, 1, 0, 1, 2, false, true, 6967, 0,
         NO_L2 | BIT(RECALL_NONE) | BIT(RECALL_ALL)),
    PLAN("own directory, inclusive L2, 3 lines", 3, 3, 1, 2, 1, 2, false, false, 10036, 0,
         NO_PUTS | BIT(RECALL_NONE) | BIT(L3_VICTIM_CLEAN)),
    PLAN("larger directory, inclusive L2", 2, 3, 1, 2, 1, 3, false, false, 16357, 0,
         NO_RECALLS | BIT(VICTIM_IN_L1)),
    PLAN("own directory, exclusive L2, 3 lines", 3, 3, 1, 1, 1, 2, true, false, 10036, 0,
         NO_PUTS | BIT(RECALL_NONE) | BIT(L3_VICTIM_CLEAN)),
    PLAN("larger directory, exclusive L2", 2, 3, 1, 1, 1, 3, true, false, 16357, 0,
         NO_RECALLS | BIT(VICTIM_IN_L1)),
};

#define TESTS(plans, tests)                                                                        \
    struct CMUnitTest tests[ARRAY_SIZE(plans)];                                                    \
    for (size_t i = 0; i < ARRAY_SIZE(plans); i++)                                                 \
        tests[i] = (struct CMUnitTest)                                                             \
        {                                                                                          \
            plans[i].name, test_each_access_in_each_state_is_as_specified, NULL, NULL,             \
                (void *)(uintptr_t)&plans[i]                                                       \
        }

/* t_explore [deep] */
int main(int argc, char **argv)
{
    TESTS(check, check_tests);
    TESTS(deep, deep_tests);

    if (argc == 2 && !strcmp(argv[1], "deep"))
        return cmocka_run_group_tests(deep_tests, NULL, NULL);
    return cmocka_run_group_tests(check_tests, NULL, NULL);
}
