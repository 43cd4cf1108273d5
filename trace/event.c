/* event.c - the table of kinds, made from event.def, and what a record must look like by itself.
 * What a stream of events must obey is elsewhere, in the stream rules. */
#include "trace/trace.h"

#include <string.h>

#define W EDGE_W
#define R EDGE_R
#define EV(NAME, code, text, class, object, takes, gives, form, help)                              \
    [EV_##NAME] = {text, help, CLASS_##class, OBJECT_##object, takes, gives, FORM_##form},
const struct ev_info ev_info[EV_KINDS] = {
#include "trace/event.def"
};
#undef EV
#undef R
#undef W

const char *const count_text[COUNTED - COUNT_FIRST] = {
    [COUNT_C11 - COUNT_FIRST] = "atomic writes of C11",
    [COUNT_DEPENDENT - COUNT_FIRST] = "accesses with a loaded address",
    [COUNT_REREADS - COUNT_FIRST] = "reads of waiting loops",
    [COUNT_OUTCOMES - COUNT_FIRST] = "outcomes of branches",
    [COUNT_UNINSTRUMENTED - COUNT_FIRST] = "instructions not instrumented",
};

int ev_kind_by_text(const char *text)
{
    for (int k = 1; k < EV_KINDS; k++)
        if (ev_info[k].text && !strcmp(ev_info[k].text, text))
            return k;
    return 0;
}

const char *order_text(enum ev_order o)
{
    static const char *const text[ORDERS] = {
        [ORDER_NONE] = "none",       [ORDER_RELAXED] = "relaxed", [ORDER_ACQUIRE] = "acquire",
        [ORDER_RELEASE] = "release", [ORDER_ACQ_REL] = "acq-rel", [ORDER_SEQ_CST] = "seq-cst",
    };

    return (unsigned)o < ORDERS ? text[o] : NULL;
}

/* ---- well-formed: each function returns what is wrong, or NULL ------------------------------ */

/* A raw clock's value stays below what an epoch has room for (EPOCH_TIME_BITS). */
enum { ACCESS_BYTES_MAX = 65536, CLOCK_BITS = 46, PAGE_BYTES_MIN = 4096 };
enum {
    ACCESS_FLAGS = EVF_STACK | EVF_VOLATILE | EVF_ARRAY | EVF_FINAL | EVF_IN_TXN | EVF_ORDER_MASK |
                   EVF_PRIVATE | EVF_PROVED | EVF_STATIC | EVF_SAFE | EVF_C11
};
_Static_assert((int)EVF_NURSERY == EVF_DEPENDENT, "flags_fault tells them apart by the kind");

/* Bytes up to the last address are fine: then addr + bytes would be 0. */
static bool wraps(sim_addr addr, uint64_t bytes) /* bytes > 0 */
{
    return addr > UINT64_MAX - (bytes - 1);
}

static bool zero_bytes(const struct event *ev)
{
    return !(ev->zero[0] | ev->zero[1] | ev->zero[2]);
}

static const char *flags_fault(const struct event *ev)
{
    const unsigned flags = ev->flags;

    if (!event_is_access(ev) && flags & EVF_NURSERY && ev->kind != EV_GC_BEGIN &&
        ev->kind != EV_GC_END)
        return "only gc-begin and gc-end can be nursery, only an access dependent";
    if (!event_is_access(ev))
        return flags & ACCESS_FLAGS
                   ? "only an access can be stack, volatile, array, final, static, "
                     "txn, private, proved, safe or c11, or have a memory order"
                   : NULL;
    if (flags & EVF_PROVED && !(flags & EVF_PRIVATE))
        return "only a private access can be proved to be one";
    if (flags & EVF_MORE)
        return "an access has no second record";
    if (event_order(ev) >= ORDERS)
        return "the memory order is none of those there are";
    if (flags & EVF_C11 && !event_modifies_atomic(ev))
        return "only an atomic write or rmw can be c11";
    if (ev->kind == EV_RMW && event_order(ev) == ORDER_NONE)
        return "an rmw needs an order: relaxed, acquire, release, acq-rel or seq-cst";
    return NULL;
}

static const char *access_fault(const struct event *ev)
{
    if (ev->size == 0)
        return "an access of 0 bytes; it has 1 to 65536";
    if (ev->size > ACCESS_BYTES_MAX)
        return "an access of more than 65536 bytes; it has 1 to 65536";
    return wraps(ev->addr, ev->size) ? "the access goes beyond the last address" : NULL;
}

static const char *region_fault(const struct event *ev)
{
    if (ev->aux == 0)
        return "a heap event of 0 bytes; it has at least 1";
    return wraps(ev->addr, ev->aux) ? "the region goes beyond the last address" : NULL;
}

static const char *clock_fault(const struct event *ev)
{
    if (ev->aux >= MAX_THREADS)
        return "the index of a clock's entry is a thread, below 65536";
    return ev->addr >> CLOCK_BITS ? "the value of a clock's entry must be below 2^46" : NULL;
}

static const char *thread_fault(const struct event *ev)
{
    return ev->aux >= MAX_THREADS ? "the other thread's number must be below 65536" : NULL;
}

/* Small enough pages for any machine, and a range that does not wrap. */
static const char *remap_fault(const struct event *ev)
{
    if (ev->aux < PAGE_BYTES_MIN || ev->aux & (ev->aux - 1))
        return "a page has a power of 2 of bytes, from 4096 on";
    return ev->addr & (ev->aux - 1) ? "a page's virtual address is a multiple of its bytes" : NULL;
}

static const char *kernel_fault(const struct event *ev)
{
    return ev->aux >= MAX_THREADS ? "the kernel thread's number must be below 65536" : NULL;
}

/* Each form's use of the two fields, and what else must be true of them. */
enum address { ADDR_NONE, ADDR_IS, ADDR_NUMBER };
static const struct {
    enum address addr;
    bool aux;
    const char *(*fault)(const struct event *ev); /* NULL: nothing else */
} forms[] = {
    [FORM_ACCESS] = {ADDR_IS, true, NULL},
    [FORM_OBJECT] = {ADDR_IS, false, NULL},
    [FORM_ROUND] = {ADDR_IS, true, NULL},
    [FORM_THREAD] = {ADDR_NONE, true, thread_fault},
    [FORM_NONE] = {ADDR_NONE, false, NULL},
    [FORM_REGION] = {ADDR_IS, true, region_fault},
    [FORM_ALLOC] = {ADDR_IS, true, region_fault},
    [FORM_COPY] = {ADDR_IS, true, region_fault},
    [FORM_KERNEL] = {ADDR_NONE, true, kernel_fault},
    [FORM_CLOCK] = {ADDR_NUMBER, true, clock_fault},
    [FORM_PHASE] = {ADDR_NONE, true, NULL},
    [FORM_TIME] = {ADDR_NONE, true, NULL},
    [FORM_WAITED] = {ADDR_NONE, true, NULL},
    [FORM_BRANCHES] = {ADDR_NONE, false, NULL},
    [FORM_COUNT] = {ADDR_NONE, true, NULL},
    [FORM_REMAP] = {ADDR_IS, true, remap_fault},
};

const char *const gap_unit_names[GAP_UNITS + 1] = {"instructions", "bytecodes", NULL};

/* Fields without a meaning must be 0, so that there is one way to write an event, and identities
 * can be compared. */
static const char *operands_fault(const struct event *ev)
{
    if (event_is_access(ev)) /* most events: nothing is looked up */
        return access_fault(ev);
    const uint8_t form = ev_info[ev->kind].form;
    const char *fault = forms[form].fault ? forms[form].fault(ev) : NULL;

    if (fault)
        return fault;
    if (!forms[form].addr && ev->addr)
        return "this kind has no address; the field must be 0";
    return !forms[form].aux && ev->aux ? "this kind has nothing in the field aux; it must be 0"
                                       : NULL;
}

bool event_has_address(const struct event *ev)
{
    return forms[ev_info[ev->kind].form].addr == ADDR_IS;
}

static const char *first_fault(const struct event *ev)
{
    if (!zero_bytes(ev))
        return "the last three bytes of a record must be 0";
    if (!event_is_access(ev) && ev->size)
        return "only an access has a size in its first record";
    return operands_fault(ev);
}

static const char *branches_fault(const struct event *second)
{
    if (second->size < 1 || second->size > BRANCHES_MAX)
        return "it has the outcomes of 1 to 64 branches";
    if (second->size < BRANCHES_MAX && second->addr >> second->size)
        return "there are more outcomes than branches";
    return NULL;
}

/* Checks the second record of a kind that always has one. */
static const char *second_always_fault(const struct event *ev, const struct event *second)
{
    if (ev->kind == EV_BRANCHES)
        return branches_fault(second);
    if (second->size)
        return "the second record of this kind has no size";
    if (ev->kind == EV_COPY && wraps(second->addr, ev->aux))
        return "the copy's source goes beyond the last address";
    if (ev->kind == EV_REMAP && second->addr & (ev->aux - 1))
        return "a page's physical address is a multiple of its bytes";
    return NULL;
}

/* Checks the operands in a second record: a copy's source; an alloc's elements and their bytes; and
 * so on. A site of any of them is in aux; an access has its site in the first record. */
static const char *second_operands_fault(const struct event *ev, const struct event *second)
{
    if (event_has_second(ev->kind))
        return second_always_fault(ev, second);
    if (!second->addr && !second->size && !second->aux)
        return "the second record says nothing; leave it out";
    if (ev->kind == EV_WAITED)
        return second->size || second->addr > MAX_THREADS
                   ? "the second record holds a site, and a thread's number + 1"
                   : NULL;
    if (ev->kind != EV_ALLOC)
        return second->addr || second->size ? "the second record of this kind holds only a site"
                                            : NULL;
    if (second->size && second->addr > ev->aux / second->size)
        return "the array's elements take more bytes than are allocated";
    return NULL;
}

static const char *second_fault(const struct event *ev)
{
    const struct event *second = ev + 1;

    if (!(ev->flags & EVF_MORE))
        return event_has_second(ev->kind) ? "this kind needs a second record" : NULL;
    if (second->kind)
        return "a second record has no kind of its own; it must be 0";
    if (second->tid)
        return "a second record has no thread of its own; it must be 0";
    if (second->flags)
        return "a second record has no flags of its own; they must be 0";
    if (second->gap)
        return "a second record has no gap of its own; it must be 0";
    if (!zero_bytes(second))
        return "the last three bytes of a second record must be 0";
    return second_operands_fault(ev, second);
}

int event_well_formed(const struct event *ev, const char **what)
{
    const bool known = ev->kind < EV_KINDS && ev_info[ev->kind].text;
    const char *fault = known ? flags_fault(ev) : "the kind of event is unknown";

    if (!fault)
        fault = first_fault(ev);
    if (!fault)
        fault = second_fault(ev);
    if (!fault)
        return 0;
    *what = fault;
    return -1;
}
