/* parts.c - what a configuration says of its machine, as boxes: from the core to the memory, or
 * from processes to their network. It reads the settings as they have become, and decides nothing:
 * what adds up is added up as docs/machine.md and docs/dsm.md say. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "results/drawing/drawing.h"
#include "results/results.h"

/* ---- settings ------------------------------------------------------------------------------- */

/* "": this machine has no such setting. */
static const char *word(const struct facts *s, const char *name)
{
    const char *text = facts_find(s, name);

    return text ? text : "";
}

static bool is(const struct facts *s, const char *name, const char *text)
{
    return !strcmp(word(s, name), text);
}

static uint64_t number(const struct facts *s, const char *name)
{
    uint64_t n = 0;

    return number_of_text(word(s, name), &n) ? n : 0;
}

/* ---- numbers for people --------------------------------------------------------------------- */

struct quantity_text {
    char text[32];
};

static struct quantity_text scaled(uint64_t n, const char *unit, uint64_t step,
                                   const char *const *prefix)
{
    struct quantity_text q;
    size_t i = 0;

    while (prefix[i + 1] && n >= step && n % step == 0) {
        n /= step;
        i++;
    }
    snprintf(q.text, sizeof q.text, "%" PRIu64 " %s%s", n, prefix[i], unit);
    return q;
}

static struct quantity_text bytes(uint64_t n)
{
    static const char *const prefix[] = {"", "Ki", "Mi", "Gi", "Ti", NULL};

    return scaled(n, n < 1024 || n % 1024 ? "bytes" : "B", 1024, prefix);
}

static struct quantity_text hertz(uint64_t mhz)
{
    struct quantity_text q;

    if (mhz < 1000)
        snprintf(q.text, sizeof q.text, "%" PRIu64 " MHz", mhz);
    else
        snprintf(q.text, sizeof q.text, "%" PRIu64 ".%02" PRIu64 " GHz", mhz / 1000,
                 mhz % 1000 / 10);
    return q;
}

/* 72 us, 24.875 us */
static struct quantity_text time_of(uint64_t ns)
{
    struct quantity_text q;

    if (ns < 1000)
        snprintf(q.text, sizeof q.text, "%" PRIu64 " ns", ns);
    else if (ns % 1000)
        snprintf(q.text, sizeof q.text, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
    else
        snprintf(q.text, sizeof q.text, "%" PRIu64 " us", ns / 1000);
    return q;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* "1 cycle", "12 cycles": as the setting says. */
static struct quantity_text cycles_of(const struct facts *s, const char *name)
{
    struct quantity_text q;

    snprintf(q.text, sizeof q.text, "%s cycle%s", word(s, name), plural(number(s, name)));
    return q;
}

static void box_takes_cycles(struct box *b, uint64_t cycles)
{
    box_takes(b, "%" PRIu64 " cycle%s", cycles, plural(cycles));
}

/* Sentences, each about a setting, and only if that is no 0. */
struct setting_said {
    const char *name, *text;
};
static void say_settings(struct box *b, const struct facts *s, const struct setting_said *said,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (number(s, said[i].name))
            box_say(b, said[i].text, word(s, said[i].name));
}

/* ---- what it takes -------------------------------------------------------------------------- */

static bool cumulative(const struct facts *s)
{
    return is(s, "coherence.composition", "cumulative");
}

static uint64_t private_cycles(const struct facts *s)
{
    const uint64_t l1 = number(s, "l1.latency");

    if (!number(s, "l2.size"))
        return l1;
    return number(s, "l2.latency") + (cumulative(s) ? l1 : 0);
}

static uint64_t l3_cycles(const struct facts *s)
{
    return number(s, "l3.latency") + (cumulative(s) ? private_cycles(s) : 0);
}

static uint64_t remote_cycles(const struct facts *s)
{
    const uint64_t remote = number(s, "coherence.remote");

    return is(s, "coherence.remote-cost", "total") ? remote : l3_cycles(s) + remote;
}

/* ---- cores and their caches ----------------------------------------------------------------- */

struct builder {
    const struct facts *s;
    unsigned holds; /* the data that every cache and memory has */
};

static struct box *cache(const struct builder *b, struct box *in, uint64_t times, const char *name,
                         const char *section)
{
    struct box *to = box_new(in, times, "%s", name);
    char *size = xasprintf("%s.size", section), *ways = xasprintf("%s.ways", section);
    char *replacement = xasprintf("%s.replacement", section);
    const uint64_t n = number(b->s, ways);

    to->holds = b->holds;
    if (n == 1)
        box_say(to, "%s, direct-mapped", bytes(number(b->s, size)).text);
    else
        box_say(to, "%s, %" PRIu64 " ways, %s", bytes(number(b->s, size)).text, n,
                word(b->s, replacement));
    free(size);
    free(ways);
    free(replacement);
    return to;
}

static void say_buffers(const struct facts *s, struct box *core)
{
    static const struct setting_said said[] = {{"core.store-buffer", "store buffer of %s"},
                                               {"core.misses", "%s loads beyond the L1 at a time"}};

    say_settings(core, s, said, ARRAY_SIZE(said));
}

static void say_core(const struct facts *s, struct box *core)
{
    const uint64_t front = number(s, "core.shared-front-end");

    if (is(s, "core.type", "pipelined")) {
        const uint64_t part = number(s, "core.width-hundredths");
        char fraction[8] = "";
        if (part)
            snprintf(fraction, sizeof fraction, ".%02u", (unsigned)(part % 100));
        box_say(core, "pipelined: %s%s instruction%s a cycle, %s in hand", word(s, "core.width"),
                fraction, part ? "s" : plural(number(s, "core.width")), word(s, "core.window"));
        if (front > 1)
            box_say(core, "%" PRIu64 " cores share the front end that gives them", front);
        say_buffers(s, core);
        box_say(core, "an atomic takes %s more than its line", cycles_of(s, "core.atomic").text);
        if (!is(s, "core.predictor", "none"))
            box_say(core, "predictor %s: a wrong guess takes %s", word(s, "core.predictor"),
                    cycles_of(s, "core.mispredict").text);
        if (number(s, "tlb.entries"))
            box_say(core, "translations of %s pages at hand, of %s in a second level",
                    word(s, "tlb.entries"), word(s, "tlb.second-entries"));
        if (number(s, "core.unmodelled"))
            box_say(core, "%s %% more instructions for policies than are counted",
                    word(s, "core.unmodelled"));
    } else {
        box_say(core, "in order, an instruction a cycle");
        box_say(core, is(s, "core.memory-instruction", "latency")
                          ? "a memory instruction takes its access"
                          : "a memory instruction takes a cycle and its access");
        say_buffers(s, core);
    }
    if (number(s, "core.prefetch.streams"))
        box_say(
            core,
            "prefetcher into the L2: %s streams, %s line%s at a time, %s ahead at most, %s under "
            "way",
            word(s, "core.prefetch.streams"), word(s, "core.prefetch.degree"),
            plural(number(s, "core.prefetch.degree")), word(s, "core.prefetch.distance"),
            word(s, "core.prefetch.misses"));
}

static void draw_l2(const struct builder *b, struct box *in)
{
    const struct facts *s = b->s;

    if (!number(s, "l2.size"))
        return;
    struct box *l2 = cache(b, in, 1, "L2", "l2");
    box_takes_cycles(l2, private_cycles(s));
    box_say(l2, is(s, "l2.inclusion", "exclusive") ? "exclusive: what the L1 threw out"
                                                   : "inclusive of the L1");
    if (number(s, "l2.shared-by") > 1)
        box_say(l2, "where a sibling's L1 is in the way: %s more", cycles_of(s, "l2.sibling").text);
}

static void draw_core(const struct builder *b, struct box *in, uint64_t times)
{
    struct box *core = box_new(in, times, "core");

    say_core(b->s, core);
    box_takes_cycles(cache(b, core, 1, "L1 data", "l1"), number(b->s, "l1.latency"));
    if (number(b->s, "l2.shared-by") <= 1)
        draw_l2(b, core);
}

/* n cores: alone, or in groups that share an L2. */
static void draw_cores(const struct builder *b, struct box *in, uint64_t n)
{
    const uint64_t share = number(b->s, "l2.shared-by");

    if (share <= 1) {
        draw_core(b, in, n);
        return;
    }
    struct box *group = box_new(in, n / share, "group of %" PRIu64 " cores with one L2", share);
    draw_core(b, group, share);
    draw_l2(b, group);
}

/* ---- between cores and memory --------------------------------------------------------------- */

static void draw_network(const struct facts *s, struct box *in)
{
    struct box *network = box_new(in, 1, "%s", word(s, "network.topology"));

    box_say(network, "links of %s", bytes(number(s, "network.link-bytes")).text);
    if (!is(s, "network.topology", "crossbar"))
        box_say(network, "a hop takes %s in the router, %s on the wire",
                cycles_of(s, "network.router").text, word(s, "network.wire"));
}

static void draw_l3(const struct builder *b, struct box *in, uint64_t cores)
{
    const struct facts *s = b->s;
    const uint64_t size = number(s, "l3.size"), given = number(s, "l3.banks");
    const uint64_t banks = given ? given : cores, lines = number(s, "l3.directory-size");
    const bool inclusive = is(s, "l3.inclusion", "inclusive");
    struct box *l3 = size ? cache(b, in, 1, "L3 and directory", "l3") : box_new(in, 1, "directory");

    if (size)
        box_takes_cycles(l3, l3_cycles(s));
    else
        box_say(l3, "no L3; who answers is known after %" PRIu64 " cycles", l3_cycles(s));
    if (number(s, "l3.port") == 1)
        box_say(l3, "%" PRIu64 " bank%s, each a request a cycle", banks, plural(banks));
    else
        box_say(l3, "%" PRIu64 " bank%s, each a request every %s cycles", banks, plural(banks),
                word(s, "l3.port"));
    if (inclusive)
        box_say(l3, "inclusive: its victims are recalled from cores");
    else if (lines)
        box_say(l3, "%sthe directory covers %" PRIu64 " lines, %s ways",
                size ? "non-inclusive: what cores threw out; " : "", lines,
                word(s, "l3.directory-ways"));
    else
        box_say(l3, "%sthe directory covers twice the private caches, %s ways",
                size ? "non-inclusive: what cores threw out; " : "", word(s, "l3.directory-ways"));
    box_say(l3, "another core's copy: %" PRIu64 " cycles", remote_cycles(s));
    box_say(l3, "a store to a line held shared: %s",
            is(s, "coherence.upgrade-cost", "home") ? "as long as another core's copy"
                                                    : "its level and the way to the others");
}

static void say_ddr(const struct facts *s, struct box *memory)
{
    static const struct setting_said said[] = {
        {"memory.ddr.read-queue", "queue of %s waiting reads"},
        {"memory.ddr.write-queue", "queue of %s waiting writes"},
        {"memory.ddr.command-queue", "queue of %s commands of a bank"},
        {"memory.ddr.controller-cycles", "controller: %s memory cycles more"}};

    box_say(memory, "DDR model: %s", word(s, "memory.ddr.config"));
    if (!is(s, "memory.ddr.page", "config"))
        box_say(memory, "rows stay %s", word(s, "memory.ddr.page"));
    say_settings(memory, s, said, ARRAY_SIZE(said));
    box_say(memory, "it comes on top of the %" PRIu64 " cycles until the L3 has missed",
            l3_cycles(s));
}

static struct box *draw_memory(const struct builder *b, struct box *in, const char *title)
{
    const struct facts *s = b->s;
    struct box *memory = box_new(in, 1, "%s", title);

    memory->holds = b->holds;
    if (is(s, "memory.type", "fixed")) {
        box_takes_cycles(memory,
                         number(s, "memory.fixed.latency") + (cumulative(s) ? l3_cycles(s) : 0));
        box_say(memory, "of fixed latency");
        if (number(s, "memory.fixed.interval"))
            box_say(memory, "a line every %s cycles", word(s, "memory.fixed.interval"));
    } else if (is(s, "memory.type", "ddr")) {
        say_ddr(s, memory);
    } else {
        box_say(memory, "%s: %s", word(s, "memory.type"), word(s, "memory.dramsim3.config"));
    }
    if (number(s, "network.controllers") > 1)
        box_say(memory, "%s controllers", word(s, "network.controllers"));
    box_say(memory, "pages of %s, frames %s", bytes(number(s, "pages.size")).text,
            is(s, "pages.mapping", "identity") ? "where addresses say" : "at first touch");
    return memory;
}

/* ---- one memory, or several nodes ------------------------------------------------------------ */

static void draw_node(const struct builder *b, struct box *in, uint64_t cores)
{
    draw_cores(b, in, cores);
    draw_network(b->s, in);
    draw_l3(b, in, cores);
    struct box *memory = draw_memory(b, in, "memory");
    if (number(b->s, "numa.nodes") > 1)
        box_say(memory, "a page's home is the node that %s",
                is(b->s, "numa.home", "interleave") ? "its number says" : "misses it first");
}

static void draw_links(const struct facts *s, struct box *in)
{
    const bool packages = number(s, "numa.package") < number(s, "numa.nodes");
    struct box *links = box_new(in, 1, "links between nodes");

    if (packages)
        box_say(links, "to another package: %s cycles a message", word(s, "numa.hop"));
    if (number(s, "numa.package") > 1)
        box_say(links, "to another node of the package: %s cycles", word(s, "numa.package-hop"));
    box_say(links, "%s a cycle", bytes(number(s, "numa.link-bytes")).text);
    box_say(links, "a line that the own node's cores have is found by %s",
            is(s, "numa.lookup", "home") ? "its home" : "the node");
    box_say(links, "a store to a shared line asks %s",
            is(s, "numa.invalidate", "all") ? "all nodes" : "the nodes that have it");
}

static void draw_multicore(const struct builder *b, struct box *all)
{
    const struct facts *s = b->s;
    const uint64_t cores = number(s, "cores"), nodes = number(s, "numa.nodes");
    const uint64_t package = number(s, "numa.package");

    if (nodes == 1) {
        draw_node(b, all, cores);
        return;
    }
    struct box *around = package > 1 ? box_new(all, nodes / package, "package") : all;
    draw_node(b, box_new(around, package > 1 ? package : nodes, "NUMA node"), cores / nodes);
    draw_links(s, all);
}

/* ---- processes with memories of their own ---------------------------------------------------- */

static void draw_messages(const struct facts *s, struct box *in)
{
    struct box *network = box_new(in, 1, "network between hosts");

    box_say(network, "a message takes %s and its length at %s Mbit/s, each way",
            time_of(number(s, "dsm.latency")).text, word(s, "dsm.bandwidth"));
    box_say(network, "its sender works %s, its receiver %s, both %s for each KiB",
            time_of(number(s, "dsm.send")).text, time_of(number(s, "dsm.receive")).text,
            time_of(number(s, "dsm.copy")).text);
    box_say(network, "headers of %s", bytes(number(s, "dsm.header")).text);
}

static void draw_pages(const struct facts *s, struct box *in)
{
    struct box *pages = box_new(in, 1, "shared pages of %s", bytes(number(s, "pages.size")).text);
    static const struct {
        const char *name, *what;
    } cost[] = {{"dsm.trap", "a page fault"},
                {"dsm.protect", "a change of protection"},
                {"dsm.twin", "a twin, for each KiB"},
                {"dsm.diff", "a diff, for each KiB of the page"},
                {"dsm.diff-change", "a diff, more for each KiB that has changed"},
                {"dsm.apply", "applying a diff, for each KiB that has changed"},
                {"dsm.interval", "taking in an interval"},
                {"dsm.notice", "taking in a write notice"}};

    box_say(pages,
            "a copy is missing, invalid, readable, or written with a twin; diffs compare %s "
            "bytes at a time",
            word(s, "dsm.word"));
    box_say(pages, "at first %s",
            is(s, "dsm.home", "first") ? "process 0 has all pages"
                                       : "each process has pages in turn");
    for (size_t i = 0; i < ARRAY_SIZE(cost); i++)
        box_say(pages, "%s: %s", cost[i].what, time_of(number(s, cost[i].name)).text);
    box_say(pages, "collected at a barrier beyond %s of a process's, without one beyond %s",
            bytes(number(s, "dsm.collect")).text, bytes(number(s, "dsm.force")).text);
}

static void draw_dsm(const struct builder *b, struct box *all)
{
    const struct facts *s = b->s;
    const uint64_t cores = number(s, "cores"), each = number(s, "dsm.host");
    const uint64_t hosts = (cores + each - 1) / each, a_host = cores < each ? cores : each;
    struct box *host = box_new(all, hosts, "host");
    struct box *process = box_new(host, a_host, "process");

    if (cores % each && hosts > 1)
        box_say(host, "the last one has %" PRIu64, cores % each);
    box_say(host, "a message inside takes %s", time_of(number(s, "dsm.local")).text);
    draw_core(b, process, 1);
    draw_memory(b, process, "memory of its own");
    if (number(s, "l3.size"))
        draw_l3(b, all, cores);
    draw_messages(s, all);
    draw_pages(s, all);
}

/* ---- what policies keep ---------------------------------------------------------------------- */

static const char *place_of(const struct facts *s, const struct lardsim_promise *p,
                            const char *label)
{
    char *metadata = xasprintf("policy.%s.metadata", label);
    const bool beside = is(s, metadata, "inline") ||
                        (is(s, metadata, "auto") && p->inlines && is(s, "layout", "ia32"));

    free(metadata);
    if (p->hardware)
        return "histories in lines of the caches, beside the data; what they evict is in tables of "
               "the software manager, in memory";
    if (p->by_process && is(s, "machine", "dsm"))
        return "bitmaps and notices in each process's memory; they go along in messages";
    return beside ? "metadata beside fields and in shadow arrays, in memory: they go through all "
                    "caches"
                  : "metadata at a fixed place of their own in memory: they go through all caches";
}

/* Whether it keeps anything that a machine has. */
static bool keeps(const struct facts *s, const struct lardsim_promise *p, const char *label)
{
    char *charged = xasprintf("policy.%s.charged", label);
    const bool off = is(s, charged, "off");

    free(charged);
    return !off && p->charges;
}

static void draw_policy(const struct facts *s, struct machine_drawing *d, struct box *to,
                        const char *spec, const struct lardsim_promise *p)
{
    char *label = xasprintf("%.*s", (int)policy_label(spec), spec);
    const bool kept = keeps(s, p, label);

    if (kept) {
        xappend(&d->metadata, ", ", label);
        box_say(to, "%s: %s", label, place_of(s, p, label));
    } else if (strcmp(p->policy, "none")) {
        box_say(to, "%s: it watches, and takes no time", label);
    }
    d->spec = xrealloc(d->spec, d->specs + 1, sizeof *d->spec);
    d->takes_time = xrealloc(d->takes_time, d->specs + 1, sizeof *d->takes_time);
    d->spec[d->specs] = xstrdup(spec);
    d->takes_time[d->specs++] = kept;
    free(label);
}

/* Draws the place in which each policy keeps its metadata; fills d->metadata and d->spec, too. */
static struct box *draw_policies(const struct facts *s, struct machine_drawing *d,
                                 struct lardsim *l)
{
    struct box *to = box_new(NULL, 1, "detectors");
    struct lardsim_promise p;

    to->aside = true;
    for (const char *at = word(s, "policies"); *at; at += strspn(at, ", ")) {
        const size_t n = strcspn(at, ",");
        char *spec = xasprintf("%.*s", (int)n, at);
        if (!lardsim_promise(l, spec, &p))
            draw_policy(s, d, to, spec, &p);
        free(spec);
        at += n;
    }
    if (!to->lines)
        box_say(to, "none");
    return to;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void parts_draw(struct machine_drawing *d, struct lardsim *l)
{
    struct facts s = {0};

    lardsim_each_setting(l, facts_add, &s);
    const bool dsm = is(&s, "machine", "dsm");
    const uint64_t cores = number(&s, "cores");
    d->box =
        box_new(NULL, 1, "%s: %" PRIu64 " %s of %s", d->name ? d->name : word(&s, "machine"), cores,
                dsm          ? "processes"
                : cores == 1 ? "core"
                             : "cores",
                hertz(number(&s, "frequency")).text);
    box_say(d->box, "%s order; contention %s; lines of %s%s", lardsim_machine_is(l, "order"),
            lardsim_machine_is(l, "contention"), bytes(number(&s, "line")).text,
            is(&s, "compat", "ce") ? "; charges of the CE simulator" : "");
    box_say(d->box, "cycles are those of an access in all, by who answers, on an idle machine");
    struct box *detectors = draw_policies(&s, d, l);
    const struct builder b = {&s, HOLDS_DATA | (d->metadata ? HOLDS_METADATA : 0)};
    if (dsm)
        draw_dsm(&b, d->box);
    else
        draw_multicore(&b, d->box);
    box_add(d->box, detectors);
    facts_free(&s);
}
