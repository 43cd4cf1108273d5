/* event.c - one event of the text form, from its line: thread, kind, operands, attributes. */
#include "trace/text/form.h"

#include <string.h>

#include "base/text.h"

/* The operands of a form, in their order, and how a line with them is written. */
const struct text_operands text_operands[] = {
    [FORM_ACCESS] = {"ADDRESS SIZE",
                     {{ADDRESS, AT_ADDR, "the address"}, {COUNT, AT_SIZE, "the size"}}},
    [FORM_OBJECT] = {"OBJECT", {{OBJECT, AT_ADDR, "the object"}}},
    [FORM_ROUND] = {"BARRIER ROUND",
                    {{OBJECT, AT_ADDR, "the object"}, {COUNT, AT_AUX, "the round"}}},
    [FORM_THREAD] = {"T<other thread>", {{THREAD, AT_AUX, "a thread"}}},
    [FORM_NONE] = {"", {{END, 0, NULL}}},
    [FORM_REGION] = {"ADDRESS BYTES",
                     {{ADDRESS, AT_ADDR, "the address"}, {COUNT, AT_AUX, "the number of bytes"}}},
    [FORM_ALLOC] = {"ADDRESS BYTES [ELEMENTS ELEMENT-BYTES]",
                    {{ADDRESS, AT_ADDR, "the address"},
                     {COUNT, AT_AUX, "the number of bytes"},
                     {ELEMENTS, AT_MORE, NULL}}},
    [FORM_COPY] = {"DESTINATION SOURCE BYTES",
                   {{ADDRESS, AT_ADDR, "the destination"},
                    {ADDRESS, AT_MORE, "the source"},
                    {COUNT, AT_AUX, "the number of bytes"}}},
    [FORM_KERNEL] = {"K<kernel thread>", {{KERNEL, AT_AUX, "a kernel thread"}}},
    [FORM_CLOCK] = {"T<index> VALUE",
                    {{THREAD, AT_AUX, "a thread"}, {COUNT, AT_ADDR, "the value"}}},
    [FORM_PHASE] = {"ID", {{COUNT, AT_AUX, "the phase"}}},
    [FORM_TIME] = {"NANOSECONDS", {{COUNT, AT_AUX, "the time"}}},
    [FORM_WAITED] = {"COUNT [T<thread that wrote>]",
                     {{COUNT, AT_AUX, "the count"}, {WRITER, AT_MORE, "a thread"}}},
    [FORM_BRANCHES] = {"OUTCOMES", {{OUTCOMES, AT_MORE, "the row of outcomes"}}},
    [FORM_COUNT] = {"INSTRUCTIONS", {{COUNT, AT_AUX, "the number of instructions"}}},
    [FORM_REMAP] = {"VIRTUAL PHYSICAL BYTES",
                    {{ADDRESS, AT_ADDR, "the virtual address"},
                     {ADDRESS, AT_MORE, "the physical address"},
                     {COUNT, AT_AUX, "the number of bytes"}}},
};

/* ---- operands ------------------------------------------------------------------------------- */

/* T5, K3 */
static int thread_of(struct text_reader *t, char letter, const char *text, uint64_t *to)
{
    char shown[SHOWN_MAX];

    if (text[0] != letter || text[1] < '0' || text[1] > '9')
        return text_fail(t->lines, "\"%s\" stands where a %sthread should; write %c and a number",
                         text_shown(shown, text), letter == 'K' ? "kernel " : "", letter);
    return text_number_of(t->lines, text + 1, letter == 'K' ? "the kernel thread" : "the thread",
                          MAX_THREADS - 1, to);
}

static int thread(struct text_reader *t, const struct operand *o, const char *usage, uint64_t *to)
{
    struct word w;

    if (text_bare_word(t->lines, o->what, usage, &w))
        return -1;
    return thread_of(t, o->is == KERNEL ? 'K' : 'T', w.text, to);
}

static int object(struct text_reader *t, const char *usage, uint64_t *to)
{
    struct word w;
    const int got = text_word(t->lines, &w);

    if (got < 0)
        return -1;
    if (!got)
        return text_fail(t->lines, "the object is missing; write %s", usage);
    if (w.at)
        return text_fail(t->lines, "a site stands where the object should; write %s", usage);
    if (w.quoted)
        return text_id(t, &t->objects, w.text, to);
    return text_number_of(t->lines, w.text, "the object", UINT64_MAX, to);
}

/* Whether the optional operand that begins like this stands next. */
static bool follows(const struct text_reader *t, const char *begin)
{
    const char *p = t->lines->at + strspn(t->lines->at, " \t");

    return *p && strchr(begin, *p);
}

/* Reads an array's elements and their size. */
static int elements(struct text_reader *t, const char *usage, struct event *second)
{
    uint64_t bytes = 0;

    if (text_number(t->lines, "the number of elements", usage, UINT64_MAX, &second->addr) ||
        text_number(t->lines, "the bytes of an element", usage, UINT32_MAX, &bytes))
        return -1;
    second->size = (uint32_t)bytes;
    return 0;
}

/* "0110", the first branch first. */
static int outcomes(struct text_reader *t, const char *usage, struct event *second)
{
    char shown[SHOWN_MAX];
    struct word w;

    if (text_bare_word(t->lines, "the row of outcomes", usage, &w))
        return -1;
    const size_t n = strlen(w.text);
    if (n != strspn(w.text, "01"))
        return text_fail(t->lines, "\"%s\" is no row of outcomes; write 0 and 1, as in 0110",
                         text_shown(shown, w.text));
    if (n > BRANCHES_MAX)
        return text_fail(t->lines, "an event has the outcomes of 1 to %d branches, not of %zu",
                         BRANCHES_MAX, n);
    for (size_t i = 0; i < n; i++)
        second->addr |= (uint64_t)(w.text[i] == '1') << i;
    second->size = (uint32_t)n;
    return 0;
}

static int operand(struct text_reader *t, const struct operand *o, const char *usage,
                   struct event *ev)
{
    const uint64_t max = o->at == AT_SIZE ? UINT32_MAX : UINT64_MAX;
    uint64_t v = 0;
    int bad = 0;

    switch ((enum operand_is)o->is) {
    case ADDRESS:
    case COUNT:
        bad = text_number(t->lines, o->what, usage, max, &v);
        break;
    case OBJECT:
        bad = object(t, usage, &v);
        break;
    case THREAD:
    case KERNEL:
        bad = thread(t, o, usage, &v);
        break;
    case WRITER: /* optional; no attribute begins with a T */
        if (!follows(t, "T"))
            return 0;
        bad = thread(t, o, usage, &v);
        v++; /* 0: unknown */
        break;
    case ELEMENTS: /* optional, as most objects are no arrays */
        return follows(t, "0123456789") ? elements(t, usage, ev + 1) : 0;
    case OUTCOMES:
        return outcomes(t, usage, ev + 1);
    case END:
        return 0;
    }
    operand_set(ev, o, v);
    return bad ? -1 : 0;
}

/* Reads the operands that the kind's form in event.def has; an error shows how the line is
 * written. */
static int operands(struct text_reader *t, struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    const struct text_operands *o = &text_operands[info->form];
    char usage[96];

    snprintf(usage, sizeof usage, "T<thread> %s %s", info->text, o->usage);
    for (size_t i = 0; i < OPERANDS_MAX && o->at[i].is != END; i++)
        if (operand(t, &o->at[i], usage, ev))
            return -1;
    return 0;
}

/* ---- attributes ----------------------------------------------------------------------------- */

struct attributes {
    const struct event *of;
    uint64_t site, gap;
    bool site_given, gap_given, merge;
    unsigned flags;
};

static int site(struct text_reader *t, const struct word *w, struct attributes *a)
{
    if (a->site_given)
        return text_twice(t->lines, "the site");
    a->site_given = true;
    if (w->quoted)
        return text_id(t, &t->sites, w->text, &a->site);
    return text_number_of(t->lines, w->text, "the site", UINT64_MAX, &a->site);
}

static int gap(struct text_reader *t, const char *text, struct attributes *a)
{
    if (a->gap_given)
        return text_twice(t->lines, "the gap");
    a->gap_given = true;
    return text_number_of(t->lines, text, "the gap", UINT32_MAX, &a->gap);
}

static int unknown_attribute(struct text_reader *t, const char *text)
{
    const char *known[FLAG_WORDS + ORDERS + 1];
    size_t n = 0;

    for (size_t i = 0; i < FLAG_WORDS; i++)
        known[n++] = text_flag_words[i].text;
    for (int o = ORDER_NONE + 1; o < ORDERS; o++)
        known[n++] = order_text((enum ev_order)o);
    known[n++] = TEXT_MERGE;
    return text_unknown(t->lines, text, known, n, "is no flag",
                        "is too much; after the operands come @SITE, +GAP, flags (system, stack, "
                        "...) and a memory order only");
}

static int flag(struct text_reader *t, const char *text, struct attributes *a)
{
    unsigned bit = 0;

    for (size_t i = 0; i < FLAG_WORDS; i++) {
        const struct flag_word *w = &text_flag_words[i];
        if (strcmp(text, w->text) != 0)
            continue;
        if (!flag_fits(w, a->of))
            return text_fail(t->lines, "%s", w->wrong);
        bit = w->flag;
    }
    if (bit & a->flags)
        return text_twice(t->lines, text);
    for (unsigned o = ORDER_NONE + 1; !bit && o < ORDERS; o++)
        if (!strcmp(text, order_text((enum ev_order)o)))
            bit = o << EVF_ORDER_SHIFT;
    if (!bit)
        return unknown_attribute(t, text);
    if (bit & EVF_ORDER_MASK && a->flags & EVF_ORDER_MASK)
        return text_twice(t->lines, "the memory order");
    a->flags |= bit;
    return 0;
}

/* The stores of version 1 merge, and have no word for it. */
static int merges(struct text_reader *t, struct attributes *a)
{
    if (a->merge)
        return text_twice(t->lines, TEXT_MERGE);
    if (t->version < 2)
        return text_fail(t->lines, "\"" TEXT_MERGE "\" is of version 2; in \"" TEXT_MAGIC
                                   " 1\" all atomic writes merge");
    a->merge = true;
    return 0;
}

static int attribute(struct text_reader *t, const struct word *w, struct attributes *a)
{
    if (w->at)
        return site(t, w, a);
    if (w->quoted)
        return text_fail(t->lines, "a name is too much; the name of a site is written @\"...\"");
    if (w->text[0] == '+')
        return gap(t, w->text + 1, a);
    return !strcmp(w->text, TEXT_MERGE) ? merges(t, a) : flag(t, w->text, a);
}

/* Reads attributes in any order, each once. */
static int attributes(struct text_reader *t, struct attributes *a)
{
    struct word w;
    int got;

    while ((got = text_word(t->lines, &w)) > 0)
        if (attribute(t, &w, a))
            return -1;
    return got;
}

/* ---- events --------------------------------------------------------------------------------- */

/* A word that is no kind is likely a slip of the pen: the nearest one is proposed. */
static int kind(struct text_reader *t, struct event *ev)
{
    const char *known[EV_KINDS];
    struct word w;
    size_t n = 0;

    if (text_bare_word(t->lines, "the kind of event", "T<thread> KIND ...", &w))
        return -1;
    ev->kind = (uint8_t)ev_kind_by_text(w.text);
    if (ev->kind)
        return 0;
    for (int k = 1; k < EV_KINDS; k++)
        if (ev_info[k].text)
            known[n++] = ev_info[k].text;
    return text_unknown(t->lines, w.text, known, n, "is no kind of event",
                        "is no kind of event; `lardsim list events` has them");
}

/* A site of what is no access stands in a second record, which is there only when it says
 * something. */
static void apply(const struct text_reader *t, const struct attributes *a, struct event *ev)
{
    ev->flags = (uint16_t)a->flags;
    ev->gap = (uint32_t)a->gap;
    if (event_modifies_atomic(ev) && t->version > 1 && !a->merge)
        ev->flags |= EVF_C11;
    if (event_is_access(ev)) {
        ev->aux = a->site;
        return;
    }
    ev[1].aux = a->site;
    if (event_has_second(ev->kind) || ev[1].addr || ev[1].size || ev[1].aux)
        ev->flags = (uint16_t)(ev->flags | EVF_MORE);
}

int text_event(struct text_reader *t, const char *actor, struct event ev[EVENT_RECORDS])
{
    struct attributes a = {.of = ev};
    const char *fault;
    uint64_t tid = 0;

    memset(ev, 0, EVENT_RECORDS * sizeof *ev);
    if (thread_of(t, 'T', actor, &tid))
        return -1;
    ev->tid = (sim_tid)tid;
    if (kind(t, ev) || operands(t, ev) || attributes(t, &a))
        return -1;
    apply(t, &a, ev);
    if (a.merge && !event_modifies_atomic(ev))
        return text_fail(t->lines, "only an atomic write or rmw can " TEXT_MERGE);
    return event_well_formed(ev, &fault) ? text_fail(t->lines, "%s", fault) : 0;
}
