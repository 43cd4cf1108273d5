/* gem5_read.c - gem5's packet traces as events: files are merged by tick, commands become accesses,
 * requestors threads; with a sidecar the guest's marks become synchronisation. */
#include "trace/foreign/gem5_form.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

enum { BATCH_EVENTS = 1024, PAGE = 4096, COMMANDS_MAX = 64 };
enum { VERSION_FIRST = 190, VERSION_LAST = 241 };
enum { FLAG_SEGMENT = 0xf, FLAG_FETCH = 0x100, FLAG_PREFETCH = 0x1000000 }; /* src/mem/request.hh */
enum { SEGMENT_CS = 1, SEGMENT_SS = 2, SEGMENT_GS = 5 }; /* src/arch/x86/regs/segment.hh */
enum { SEQ_CST = ORDER_SEQ_CST << EVF_ORDER_SHIFT };

enum effect {
    READ,
    WRITE,
    SWAP,
    LINKED,
    CONDITIONAL,
    RMW_READ,
    RMW_WRITE,
    NOTHING,
    RESPONSE,
    INNER,
    INVALID
};

struct command {
    const char *name;
    unsigned since;
    enum effect effect;
};
static const struct command commands[] = {
#define CMD(name, since, effect) {#name, since, effect},
#include "trace/foreign/gem5_command.def"
#undef CMD
};
_Static_assert(ARRAY_SIZE(commands) <= COMMANDS_MAX, "places for all commands");

struct actor { /* a requestor */
    uint64_t id;
    const char *name; /* borrowed from a file; NULL: it has none */
    bool program;     /* its packets are the program's */
    bool is_core;     /* a core's data port */
    bool listed;      /* it has its thread */
    sim_tid tid;
    size_t core;                  /* the how manieth */
    const struct gem5_file *from; /* the file that has its packets; NULL: there were none */
    bool half;                    /* the first half of a locked access waits for the second */
    struct gem5_packet first;
    /* Only with a sidecar: */
    size_t section, mark;    /* the section that runs, and of it the next mark */
    bool waits;              /* at a barrier, or on a condition: it does nothing */
    bool in, begun, over;    /* in the library; the section has had a mark; its thread has ended */
    uint8_t block;           /* kind of the event whose block is being marked; 0: none */
    uint64_t left;           /* bytes of it that are not yet marked */
    uint64_t run, run_bytes; /* pages of it that follow each other */
};

struct gem5_stream {
    struct gem5_file *file; /* owns */
    struct gem5_packet packet;
    bool read; /* packet is the next one */
    bool over;
};

struct gem5 {
    struct source base;
    struct gem5_stream *stream; /* owns, as what follows */
    size_t streams;
    char *title; /* base.name of several files */
    struct names *names;
    struct gem5_sync *sync; /* NULL: there is no sidecar */
    struct actor *actor;
    size_t actors, actors_cap;
    struct map by_id; /* requestor to actor + 1 */
    size_t cores;
    unsigned tids; /* threads so far */
    const struct command *command[COMMANDS_MAX];
    bool marked, x86;  /* options */
    struct err failed; /* the first error; it stays */
    struct source_extent extent;
    bool over;
    uint64_t events; /* delivered */
    struct event *rec;
    size_t n, cap;
};

static int fail(struct gem5 *g, const struct gem5_stream *s, const char *what, const char *remedy)
{
    gem5_fail(s->file, s->packet.at, what, remedy);
    g->failed = s->file->failed;
    return -1;
}

/* ---- events --------------------------------------------------------------------------------- */

static int event_add(struct gem5 *g, const struct gem5_stream *s, struct event ev)
{
    const char *what;

    if (event_well_formed(&ev, &what))
        return fail(g, s, what, "the trace is damaged, or not gem5's");
    g->rec = xgrow(g->rec, g->n, &g->cap, sizeof *g->rec);
    g->rec[g->n++] = ev;
    return 0;
}

static unsigned segment(const struct gem5 *g, const struct gem5_packet *p)
{
    return g->x86 ? p->flags & FLAG_SEGMENT : 0;
}

static int add_access(struct gem5 *g, const struct gem5_stream *s, const struct actor *a,
                      const struct gem5_packet *p, enum ev_kind kind, uint16_t flags)
{
    const unsigned where = segment(g, p);

    if (where == SEGMENT_SS)
        flags |= EVF_STACK;
    if (where != SEGMENT_CS && (a->in || g->marked))
        flags |= EVF_SYSTEM;
    return event_add(g, s,
                     (struct event){.kind = (uint8_t)kind,
                                    .tid = a->tid,
                                    .flags = flags,
                                    .addr = p->addr,
                                    .size = p->size < UINT32_MAX ? (uint32_t)p->size : UINT32_MAX,
                                    .aux = p->pc});
}

/* ---- requestors ----------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

static const char core_end[] = ".data";

/* True: a program's instructions make this requestor's packets. The names are gem5's for those
 * whose packets no instruction makes. */
static bool is_program(const char *name)
{
    static const char *const other[] = {".inst",      ".walker",    ".prefetcher",
                                        "writebacks", "functional", "interrupt"};

    for (size_t i = 0; i < ARRAY_SIZE(other); i++)
        if (ends_with(name, other[i]))
            return false;
    return true;
}

static struct actor *add_actor(struct gem5 *g, uint64_t id, const char *name)
{
    g->actor = xgrow(g->actor, g->actors, &g->actors_cap, sizeof *g->actor);
    struct actor *a = &g->actor[g->actors++];
    *a = (struct actor){.id = id,
                        .name = name,
                        .program = !name || is_program(name),
                        .is_core = name && ends_with(name, core_end)};
    *map_put(&g->by_id, id) = g->actors;
    return a;
}

/* A file's names are any bytes. */
static int other_name(const struct gem5_file *f, const struct gem5_name *n, const char *before,
                      struct err *e)
{
    char *now = text_visible(n->text), *was = text_visible(before);

    err_set(e, LARD_TRACE,
            "%s: calls requestor %" PRIu64 " %s, which is %s in a file before; name the files of "
            "one run",
            f->in->name, n->id, now, was);
    free(now);
    free(was);
    return -1;
}

/* Files of one run have the same ticks, and the same names for the same requestors. */
static int name_actors(struct gem5 *g, const struct gem5_file *f, struct err *e)
{
    if (f->ticks != g->stream[0].file->ticks)
        return err_set(e, LARD_TRACE,
                       "%s: has %" PRIu64 " ticks of a second, and %s has %" PRIu64
                       "; name the files of one run",
                       f->in->name, f->ticks, g->stream[0].file->in->name,
                       g->stream[0].file->ticks);
    for (size_t i = 0; i < f->names; i++) {
        const uint64_t *known = map_find(&g->by_id, f->name[i].id);

        if (!known)
            add_actor(g, f->name[i].id, f->name[i].text);
        else if (strcmp(g->actor[*known - 1].name, f->name[i].text) != 0)
            return other_name(f, &f->name[i], g->actor[*known - 1].name, e);
    }
    return 0;
}

static int by_id(const void *x, const void *y)
{
    const struct actor *a = x, *b = y;

    return (a->id > b->id) - (a->id < b->id);
}

/* Cores are numbered as their requestors are. */
static void number_cores(struct gem5 *g)
{
    if (g->actors)
        qsort(g->actor, g->actors, sizeof *g->actor, by_id);
    for (size_t i = 0; i < g->actors; i++) {
        *map_put(&g->by_id, g->actor[i].id) = i + 1;
        if (g->actor[i].is_core)
            g->actor[i].core = g->cores++;
    }
}

/* Gives it a thread: without a sidecar a requestor is one. */
static int list_actor(struct gem5 *g, struct actor *a, struct err *e)
{
    if (g->tids == MAX_THREADS)
        return err_set(e, LARD_TRACE, "%s: more than %d requestors; cut the trace", g->base.name,
                       MAX_THREADS);
    a->listed = true;
    a->tid = (sim_tid)g->tids++;
    if (!a->name)
        return 0;
    char *name =
        xasprintf("%.*s", (int)(strlen(a->name) - (a->is_core ? sizeof core_end - 1 : 0)), a->name);
    struct err inner = {0};
    const int bad = names_add(g->names, NAME_THREAD, a->tid, name, &inner);
    free(name);
    return bad ? err_set(e, LARD_TRACE, "%s: the name of requestor %" PRIu64 ": %s", g->base.name,
                         a->id, inner.text)
               : 0;
}

static struct actor *actor_of(struct gem5 *g, const struct gem5_packet *p)
{
    const uint64_t *known = map_find(&g->by_id, p->requestor);

    return known ? &g->actor[*known - 1] : add_actor(g, p->requestor, NULL);
}

/* ---- marks ---------------------------------------------------------------------------------- */

static int misfit(struct gem5 *g, const struct gem5_stream *s, const char *what)
{
    char *all = xasprintf("the sidecar %s does not fit: %s", g->sync->name, what);

    fail(g, s, all,
         "name the one that this run of the guest has written, and all files of the run");
    free(all);
    return -1;
}

static int add_sync(struct gem5 *g, const struct gem5_stream *s, const struct actor *a,
                    uint8_t kind, uint64_t addr, uint64_t number)
{
    const enum ev_form form = (enum ev_form)ev_info[kind].form;

    return event_add(g, s,
                     (struct event){.kind = kind,
                                    .tid = a->tid,
                                    .addr = form == FORM_NONE || form == FORM_THREAD ? 0 : addr,
                                    .aux = number});
}

/* A block's next page, or its first: pages that follow each other are one event. */
static int mark_page(struct gem5 *g, const struct gem5_stream *s, struct actor *a, uint64_t addr)
{
    const uint64_t to_end = PAGE - addr % PAGE;
    const uint64_t bytes = a->left < to_end ? a->left : to_end;

    if (a->run_bytes && addr != a->run + a->run_bytes) {
        if (add_sync(g, s, a, a->block, a->run, a->run_bytes))
            return -1;
        a->run_bytes = 0;
    }
    if (!a->run_bytes)
        a->run = addr;
    a->run_bytes += bytes;
    a->left -= bytes;
    if (a->left)
        return 0;
    const uint8_t kind = a->block;
    const uint64_t run_bytes = a->run_bytes;
    a->block = 0;
    a->run_bytes = 0;
    return add_sync(g, s, a, kind, a->run, run_bytes);
}

/* The next line of the core's, in the next section if this one has no more. */
static const struct gem5_mark *next_mark(const struct gem5 *g, struct actor *a)
{
    const struct gem5_sync *y = g->sync;

    while (a->section != GEM5_NO_SECTION && a->mark == y->section[a->section].marks) {
        a->section = y->section[a->section].next;
        a->mark = 0;
        a->begun = a->over = a->waits = false;
    }
    return a->section == GEM5_NO_SECTION ? NULL
                                         : &y->mark[y->section[a->section].first + a->mark++];
}

static int take_mark(struct gem5 *g, const struct gem5_stream *s, struct actor *a, uint64_t addr)
{
    if (a->block)
        return addr % PAGE ? misfit(g, s, "a block is not marked to its end")
                           : mark_page(g, s, a, addr);
    const struct gem5_mark *m = next_mark(g, a);
    if (!m)
        return misfit(g, s, "the core has more marks");
    a->begun = true;
    a->in = m->in;
    a->tid = g->sync->section[a->section].tid;
    a->over = m->kind == EV_THREAD_END;
    a->waits = m->kind == EV_BARRIER_ARRIVE || m->kind == EV_WAIT_ENTER ||
               (a->waits && m->kind != EV_BARRIER_DEPART && m->kind != EV_WAIT_EXIT);
    if (m->kind == EV_ALLOC || m->kind == EV_CLEAR) {
        a->block = m->kind;
        a->left = m->value;
        return mark_page(g, s, a, addr);
    }
    return m->kind ? add_sync(g, s, a, m->kind, addr, m->value) : 0;
}

/* ---- packets -------------------------------------------------------------------------------- */

/* The first half of a locked access, when the second is not the next that its requestor does. */
static int give_up_half(struct gem5 *g, const struct gem5_stream *s, struct actor *a)
{
    if (!a->half)
        return 0;
    a->half = false;
    return add_access(g, s, a, &a->first, EV_READ, SEQ_CST);
}

static int take_access(struct gem5 *g, const struct gem5_stream *s, struct actor *a,
                       enum effect effect)
{
    static const struct {
        enum ev_kind kind;
        uint16_t flags;
    } made[] = {[READ] = {EV_READ, 0},
                [WRITE] = {EV_WRITE, 0},
                [SWAP] = {EV_RMW, SEQ_CST | EVF_C11},
                [LINKED] = {EV_READ, SEQ_CST},
                [CONDITIONAL] = {EV_WRITE, SEQ_CST},
                [RMW_WRITE] = {EV_WRITE, SEQ_CST}};
    const struct gem5_packet *p = &s->packet;

    if (effect == RMW_WRITE && a->half && p->addr == a->first.addr && p->size == a->first.size) {
        a->half = false;
        return add_access(g, s, a, p, EV_RMW, SEQ_CST | EVF_C11);
    }
    if (give_up_half(g, s, a))
        return -1;
    if (effect == RMW_READ) {
        a->half = true;
        a->first = *p;
        return 0;
    }
    return add_access(g, s, a, p, made[effect].kind, made[effect].flags);
}

/* Takes a packet of a trace with a sidecar: only cores act, and nothing counts before a thread's
 * first mark or after its end. */
static int take_guest(struct gem5 *g, const struct gem5_stream *s, struct actor *a,
                      enum effect effect)
{
    const struct gem5_packet *p = &s->packet;

    if (!a->is_core)
        return 0;
    if (a->core >= g->sync->cores || g->sync->of_core[a->core] == GEM5_NO_SECTION)
        return misfit(g, s, "it has no thread on this core");
    if (effect == READ && p->size == 1 && segment(g, p) == SEGMENT_GS)
        return give_up_half(g, s, a) ? -1 : take_mark(g, s, a, p->addr);
    return a->begun && !a->over && !a->waits ? take_access(g, s, a, effect) : 0;
}

static int refuse(struct gem5 *g, const struct gem5_stream *s, const struct command *c)
{
    char what[96];

    if (!c || c->effect == INVALID) {
        snprintf(what, sizeof what, "command %" PRIu64 " is none of a packet's", s->packet.command);
        return fail(g, s, what, "name the gem5 that wrote the trace: gem5:version=V:FILE");
    }
    snprintf(what, sizeof what, "the packet is a %s", c->name);
    return fail(g, s, what,
                c->effect == RESPONSE
                    ? "attach the probe to PktRequest, or name gem5's version"
                    : "caches send these: put the monitor between a core and its first cache, or "
                      "name gem5's version");
}

static int packet_take(struct gem5 *g, const struct gem5_stream *s)
{
    const struct gem5_packet *p = &s->packet;
    const struct command *c = p->command < COMMANDS_MAX ? g->command[p->command] : NULL;

    if (!c || c->effect > NOTHING)
        return refuse(g, s, c);
    struct actor *a = actor_of(g, p);
    if (a->from && a->from != s->file)
        return fail(g, s, "the requestor has packets in another file, too",
                    "name each file once, and not the probe of all with those of single cores");
    a->from = s->file;
    if (c->effect == NOTHING || p->flags & (FLAG_FETCH | FLAG_PREFETCH) || !a->program)
        return 0;
    if (g->sync)
        return take_guest(g, s, a, c->effect);
    return !a->listed && list_actor(g, a, &g->failed) ? -1 : take_access(g, s, a, c->effect);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The stream with the earliest packet, the first of several; NULL: there are no more, or an error.
 */
static struct gem5_stream *next_stream(struct gem5 *g)
{
    struct gem5_stream *first = NULL;

    for (struct gem5_stream *s = g->stream; s < g->stream + g->streams; s++) {
        if (!s->read && !s->over) {
            const int got = gem5_packet_next(s->file, &s->packet);
            s->read = got > 0;
            s->over = got <= 0;
            if (got < 0) {
                g->failed = s->file->failed;
                return NULL;
            }
        }
        if (s->read && (!first || s->packet.tick < first->packet.tick))
            first = s;
    }
    return first;
}

/* Refuses packets and marks that are still open at the end. */
static int finish(struct gem5 *g)
{
    const struct gem5_stream *const last = &g->stream[g->streams - 1];

    for (size_t i = 0; i < g->actors; i++) {
        struct actor *const a = &g->actor[i];

        if (give_up_half(g, last, a))
            return -1;
        if (g->sync && a->is_core && a->core < g->sync->cores && (a->block || next_mark(g, a)))
            return misfit(g, last, "the trace ends before its marks do");
    }
    return 0;
}

static void collect(struct gem5 *g)
{
    while (g->n < BATCH_EVENTS && !g->over) {
        struct gem5_stream *s = next_stream(g);

        if (s) {
            s->read = false;
            g->over = packet_take(g, s) != 0;
        } else {
            g->over = true;
            if (!g->failed.code)
                (void)finish(g);
        }
    }
}

/* ---- options -------------------------------------------------------------------------------- */

/* "22.1.0.0" is 221. False: it is none, or not known. */
static bool version_of(const char *text, unsigned *to)
{
    char *end;
    const unsigned long major = strtoul(text, &end, 10);
    unsigned long minor = 0;

    if (end == text || major > 99 || (*end && *end != '.'))
        return false;
    if (*end == '.') {
        const char *digits = end + 1;
        minor = strtoul(digits, &end, 10);
        if (end == digits || minor > 9 || end[strspn(end, ".0123456789")])
            return false;
    }
    *to = (unsigned)(major * 10 + minor);
    return *to >= VERSION_FIRST && *to <= VERSION_LAST;
}

static int take_option(struct gem5 *g, const char *option, unsigned *version, struct err *e)
{
    if (!strcmp(option, "tracked=marked") || !strcmp(option, "tracked=all")) {
        g->marked = !strcmp(option, "tracked=marked");
    } else if (!strcmp(option, "isa=x86") || !strcmp(option, "isa=other")) {
        g->x86 = !strcmp(option, "isa=x86");
    } else if (!strncmp(option, "sync=", 5) && !g->sync) {
        g->sync = gem5_sync_read(option + 5, e);
        return g->sync ? 0 : -1;
    } else if (!strncmp(option, "version=", 8)) {
        if (!version_of(option + 8, version))
            return err_set(e, LARD_USAGE,
                           "%s: \"%s\": the commands of gem5 19.0 to 24.1 are known; give one of "
                           "these versions",
                           g->base.name, option);
    } else {
        return err_set(e, LARD_USAGE,
                       "%s: \"%s\" is no option of gem5's traces, or given twice; give sync=FILE, "
                       "tracked=all or marked, version=V, isa=x86 or other",
                       g->base.name, option);
    }
    return 0;
}

static int take_options(struct gem5 *g, char *options, struct err *e)
{
    unsigned version = VERSION_LAST;
    char *rest = NULL;

    g->x86 = true;
    for (char *o = options ? strtok_r(options, ",", &rest) : NULL; o;
         o = strtok_r(NULL, ",", &rest))
        if (take_option(g, o, &version, e))
            return -1;
    for (size_t i = 0, n = 0; i < ARRAY_SIZE(commands); i++)
        if (commands[i].since <= version)
            g->command[n++] = &commands[i];
    if (!g->sync || g->x86)
        return 0;
    return err_set(e, LARD_USAGE,
                   "%s: marks of a sidecar are X86's; leave out isa=other, or sync=", g->base.name);
}

/* ---- the source ----------------------------------------------------------------------------- */

static uint64_t kept(const struct gem5 *g)
{
    const struct gem5_sync *const y = g->sync;
    uint64_t bytes =
        names_bytes(g->names) + map_bytes(&g->by_id) + g->actors_cap * sizeof *g->actor;

    for (size_t i = 0; i < g->streams; i++)
        bytes += g->stream[i].file->cap + input_bytes(g->stream[i].file->in);
    if (y)
        bytes += names_bytes(y->threads) + y->marks_cap * sizeof *y->mark +
                 y->sections_cap * sizeof *y->section;
    return bytes;
}

static void note_extent(struct gem5 *g)
{
    bool known = true;

    g->extent = (struct source_extent){0, 0};
    for (size_t i = 0; i < g->streams; i++) {
        const struct source_extent *x = &g->stream[i].file->in->extent;

        g->extent.done += x->done;
        g->extent.all += x->all;
        known &= x->all != 0;
    }
    if (!known)
        g->extent.all = 0;
}

static int gem5_next(struct source *base, struct batch *b, struct err *e)
{
    struct gem5 *g = (struct gem5 *)base;

    g->n = 0;
    collect(g);
    if (!g->n && g->failed.code)
        return err_pass(e, &g->failed);
    *b = (struct batch){.rec = g->rec, .records = g->n, .first = g->events, .kept = kept(g)};
    g->events += g->n;
    note_extent(g);
    return 0;
}

static void gem5_close(struct source *base)
{
    struct gem5 *g = (struct gem5 *)base;

    for (size_t i = 0; i < g->streams; i++)
        gem5_file_close(g->stream[i].file);
    free(g->stream);
    gem5_sync_free(g->sync);
    names_free(g->names);
    map_free(&g->by_id);
    free(g->actor);
    free(g->title);
    free(g->rec);
    free(g);
}

static int open_stream(struct gem5 *g, struct input *in, struct err *e)
{
    struct gem5_file *f = in ? gem5_file_open(in, e) : NULL;

    if (!f)
        return -1;
    g->stream[g->streams++].file = f;
    return name_actors(g, f, e);
}

/* in is the first stream's by now, also where that failed. */
static int open_rest(struct gem5 *g, char *const *more, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (open_stream(g, input_open(more[i], e), e))
            return -1;
    number_cores(g);
    return 0;
}

static int begin_threads(struct gem5 *g, struct err *e)
{
    const struct gem5_sync *const y = g->sync;

    for (size_t i = 0; !y && i < g->actors; i++)
        if (g->actor[i].is_core && list_actor(g, &g->actor[i], e))
            return -1;
    if (!y)
        return 0;
    if (y->cores > g->cores)
        return err_set(e, LARD_TRACE,
                       "%s: names core %" PRIu32 ", and the trace has %zu cores; name the sidecar "
                       "of its run",
                       y->name, y->cores - 1, g->cores);
    for (size_t i = 0; i < g->actors; i++)
        if (g->actor[i].is_core && g->actor[i].core < y->cores)
            g->actor[i].section = y->of_core[g->actor[i].core];
    for (size_t i = 0; i < names_count(y->threads); i++)
        if (names_refer(g->names, names_at(y->threads, i), e))
            return -1;
    return 0;
}

static struct source *gem5_open(struct input *in, struct err *e)
{
    struct gem5 *g = xcalloc(1, sizeof *g);
    const size_t more = in->n_more;

    g->names = names_new();
    g->stream = xcalloc(more + 1, sizeof *g->stream);
    g->title = more ? xasprintf("%s and %zu more", in->name, more) : xstrdup(in->name);
    g->base = (struct source){.next = gem5_next,
                              .close = gem5_close,
                              .names = g->names,
                              .name = g->title,
                              .format = "gem5",
                              .extent = &g->extent};
    if (take_options(g, in->options, e)) {
        input_free(in);
    } else if (!open_stream(g, in, e) && !open_rest(g, in->more, more, e) && !begin_threads(g, e)) {
        g->base.producer = g->sync ? "gem5's packets: addresses are physical"
                                   : "gem5's packets: addresses are physical, no synchronisation";
        g->base.caveat =
            g->sync ? "gem5's packets: physical addresses stand for virtual ones"
                    : "gem5's packets: physical addresses stand for virtual ones, and no "
                      "synchronisation is known, so that only counts of accesses mean something";
        return &g->base;
    }
    gem5_close(&g->base);
    return NULL;
}

static bool gem5_bid(const struct input *in)
{
    return in->head_n >= sizeof GEM5_MAGIC - 1 &&
           !memcmp(in->head, GEM5_MAGIC, sizeof GEM5_MAGIC - 1);
}

const struct trace_format trace_format_gem5 = {
    .name = "gem5",
    .help = "gem5's packet traces (MemTraceProbe): gem5:FILE,FILE... Options: sync=FILE, "
            "tracked=marked, version=V, isa=other.",
    .bid = gem5_bid,
    .open = gem5_open,
    .options = true,
    .several = true,
};
