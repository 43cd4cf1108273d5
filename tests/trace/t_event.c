/* t_event.c - the table of kinds, and what a record must look like by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/trace.h"

enum { ORDER_RLX = ORDER_RELAXED << EVF_ORDER_SHIFT };

static const char *fault_of(const struct event *ev)
{
    const char *what = NULL;

    if (!event_well_formed(ev, &what)) {
        assert_null(what);
        return NULL;
    }
    assert_non_null(what);
    return what;
}

static void every_kind_has_its_own_text_and_is_found_by_it(void **state)
{
    int kinds = 0;

    (void)state;
    for (int k = 0; k < EV_KINDS; k++) {
        if (!ev_info[k].text)
            continue;
        kinds++;
        assert_int_equal(ev_kind_by_text(ev_info[k].text), k);
        assert_true(strlen(ev_info[k].help) > 0);
        const struct event ev = {.kind = (uint8_t)k};
        assert_int_equal(event_is_access(&ev), ev_info[k].class == CLASS_ACCESS);
    }
    assert_true(kinds >= 34);
    assert_null(ev_info[0].text);
    assert_int_equal(ev_kind_by_text("wirte"), 0);
    assert_int_equal(ev_kind_by_text(""), 0);
    assert_int_equal(ev_kind_by_text("READ"), 0);
}

static void the_table_has_edges_forms_and_classes(void **state)
{
    (void)state;
    assert_int_equal(ev_info[EV_ACQUIRE].takes, EDGE_W | EDGE_R);
    assert_int_equal(ev_info[EV_ACQUIRE].gives, 0);
    assert_int_equal(ev_info[EV_RELEASE_SHARED].gives, EDGE_R);
    assert_int_equal(ev_info[EV_FORK].object, OBJECT_CHILD);
    assert_int_equal(ev_info[EV_COPY].form, FORM_COPY);
    assert_int_equal(ev_info[EV_RMW].class, CLASS_ACCESS);
    assert_int_equal(ev_info[EV_PHASE].class, CLASS_MARK);
}

static void orders_have_texts(void **state)
{
    (void)state;
    assert_string_equal(order_text(ORDER_RELAXED), "relaxed");
    assert_string_equal(order_text(ORDER_ACQUIRE), "acquire");
    assert_string_equal(order_text(ORDER_RELEASE), "release");
    assert_string_equal(order_text(ORDER_ACQ_REL), "acq-rel");
    assert_string_equal(order_text(ORDER_SEQ_CST), "seq-cst");
    assert_null(order_text(ORDERS));
}

#define MAX UINT64_MAX
static const struct event good[][EVENT_RECORDS] = {
    {{.kind = EV_READ, .size = 1, .addr = MAX}},
    {{.kind = EV_WRITE, .size = 65536, .addr = MAX - 65535, .aux = MAX, .gap = UINT32_MAX}},
    {{.kind = EV_WRITE, .size = 4, .tid = 65535, .flags = EVF_SYSTEM | EVF_STACK | EVF_VOLATILE}},
    {{.kind = EV_READ, .size = 4, .flags = EVF_ARRAY | EVF_FINAL | EVF_IN_TXN}},
    {{.kind = EV_WRITE, .size = 4, .flags = EVF_STATIC | EVF_SAFE}},
    {{.kind = EV_RMW, .size = 8, .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT}},
    {{.kind = EV_ACQUIRE, .addr = 0}},
    {{.kind = EV_RELEASE, .addr = MAX, .flags = EVF_SYSTEM | EVF_MORE}, {.aux = 1}},
    {{.kind = EV_BARRIER_ARRIVE, .addr = MAX, .aux = MAX}},
    {{.kind = EV_FORK, .aux = 65535}},
    {{.kind = EV_THREAD_START, .gap = 7}},
    {{.kind = EV_CLEAR, .addr = MAX, .aux = 1}},
    {{.kind = EV_CLEAR, .addr = 0, .aux = MAX}},
    {{.kind = EV_CLEAR, .addr = 1, .aux = MAX}},
    {{.kind = EV_ALLOC, .addr = 8, .aux = 8}},
    {{.kind = EV_ALLOC, .addr = 8, .aux = 8, .flags = EVF_MORE}, {.addr = 2, .size = 4}},
    {{.kind = EV_ALLOC, .addr = 8, .aux = 8, .flags = EVF_MORE}, {.size = 4}},
    {{.kind = EV_ALLOC, .addr = 8, .aux = 8, .flags = EVF_MORE}, {.aux = 4}},
    {{.kind = EV_COPY, .addr = MAX, .aux = 1, .flags = EVF_MORE}, {.addr = MAX}},
    {{.kind = EV_COPY, .addr = 8, .aux = 1, .flags = EVF_MORE}, {.addr = 0}},
    {{.kind = EV_GC_BEGIN, .flags = EVF_NURSERY}},
    {{.kind = EV_GC_END, .flags = EVF_NURSERY | EVF_SYSTEM | EVF_MORE}, {.aux = 3}},
    {{.kind = EV_THREAD, .aux = 65535}},
    {{.kind = EV_WRITEVC, .aux = 65535, .addr = (UINT64_C(1) << 46) - 1}},
    {{.kind = EV_PHASE, .aux = MAX}},
    {{.kind = EV_TIME, .aux = MAX}},
    {{.kind = EV_READ, .size = 4, .flags = EVF_DEPENDENT}},
    {{.kind = EV_RMW, .size = 8, .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT | EVF_C11}},
    {{.kind = EV_WAITED, .aux = 0}},
    {{.kind = EV_WAITED, .aux = MAX, .flags = EVF_MORE}, {.addr = 65536}},
    {{.kind = EV_WAITED, .aux = 1, .flags = EVF_MORE}, {.aux = 7}},
    {{.kind = EV_BRANCHES, .flags = EVF_MORE}, {.addr = MAX, .size = 64, .aux = 7}},
    {{.kind = EV_BRANCHES, .flags = EVF_MORE}, {.addr = 0, .size = 1}},
    {{.kind = EV_UNINSTRUMENTED, .aux = MAX}},
    {{.kind = EV_REMAP, .aux = 4096, .flags = EVF_MORE}, {.addr = 0}},
    {{.kind = EV_REMAP, .addr = 1 << 21, .aux = 1 << 21, .flags = EVF_MORE}, {.addr = 3 << 21}},
};

static void limits_are_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        if (fault_of(good[i]))
            fail_msg("record %zu (%s): %s", i, ev_info[good[i]->kind].text, fault_of(good[i]));
}

static const struct {
    const char *what;
    struct event ev[EVENT_RECORDS];
} bad[] = {
    {"kind of event is unknown", {{.kind = 0}}},
    {"kind of event is unknown", {{.kind = EV_KINDS}}},
    {"kind of event is unknown", {{.kind = 255, .flags = EVF_MORE}}},
    {"only an access", {{.kind = EV_IO, .flags = EVF_C11}}},
    {"only an atomic write", {{.kind = EV_WRITE, .size = 4, .flags = EVF_C11}}},
    {"only an atomic write",
     {{.kind = EV_READ, .size = 4, .flags = EVF_C11 | ORDER_ACQUIRE << EVF_ORDER_SHIFT}}},
    {"only gc-begin and gc-end", {{.kind = EV_CLEAR, .aux = 4, .flags = EVF_NURSERY}}},
    {"only an access can be stack", {{.kind = EV_ACQUIRE, .flags = EVF_STACK}}},
    {"only an access can be stack", {{.kind = EV_ACQUIRE, .flags = EVF_VOLATILE}}},
    {"only an access can be stack", {{.kind = EV_ACQUIRE, .flags = EVF_ARRAY}}},
    {"only an access can be stack", {{.kind = EV_ACQUIRE, .flags = EVF_FINAL}}},
    {"only an access can be stack", {{.kind = EV_CLASS_USE, .flags = EVF_STATIC}}},
    {"only an access can be stack", {{.kind = EV_IO, .flags = EVF_SAFE}}},
    {"only an access can be stack", {{.kind = EV_TXN_COMMIT, .flags = EVF_IN_TXN}}},
    {"only an access can be stack", {{.kind = EV_ACQUIRE, .flags = ORDER_RLX}}},
    {"an access has no second record",
     {{.kind = EV_READ, .size = 4, .flags = EVF_MORE}, {.aux = 1}}},
    {"memory order is none", {{.kind = EV_READ, .size = 4, .flags = ORDERS << EVF_ORDER_SHIFT}}},
    {"memory order is none", {{.kind = EV_READ, .size = 4, .flags = 7 << EVF_ORDER_SHIFT}}},
    {"an rmw needs an order", {{.kind = EV_RMW, .size = 4}}},
    {"last three bytes of a record", {{.kind = EV_IO, .zero = {0, 0, 1}}}},
    {"last three bytes of a record", {{.kind = EV_READ, .size = 4, .zero = {1, 0, 0}}}},
    {"an access of 0 bytes", {{.kind = EV_READ}}},
    {"an access of more than 65536", {{.kind = EV_READ, .size = 65537}}},
    {"the access goes beyond", {{.kind = EV_READ, .size = 2, .addr = MAX}}},
    {"only an access has a size", {{.kind = EV_ACQUIRE, .size = 1}}},
    {"only an access has a size", {{.kind = EV_ALLOC, .aux = 8, .size = 1}}},
    {"nothing in the field aux", {{.kind = EV_ACQUIRE, .aux = 1}}},
    {"nothing in the field aux", {{.kind = EV_IO, .aux = 1}}},
    {"has no address", {{.kind = EV_IO, .addr = 1}}},
    {"has no address", {{.kind = EV_FORK, .addr = 1}}},
    {"has no address", {{.kind = EV_THREAD, .addr = 1}}},
    {"has no address", {{.kind = EV_PHASE, .addr = 1}}},
    {"has no address", {{.kind = EV_TIME, .addr = 1}}},
    {"other thread's number", {{.kind = EV_JOIN, .aux = 65536}}},
    {"kernel thread's number", {{.kind = EV_THREAD, .aux = 65536}}},
    {"index of a clock's entry", {{.kind = EV_READVC, .aux = 65536}}},
    {"value of a clock's entry", {{.kind = EV_READVC, .addr = UINT64_C(1) << 46}}},
    {"heap event of 0 bytes", {{.kind = EV_CLEAR, .addr = 8}}},
    {"heap event of 0 bytes", {{.kind = EV_ALLOC, .addr = 8}}},
    {"heap event of 0 bytes", {{.kind = EV_COPY, .addr = 8, .flags = EVF_MORE}, {.addr = 16}}},
    {"the region goes beyond", {{.kind = EV_CLEAR, .addr = 2, .aux = MAX}}},
    {"the region goes beyond", {{.kind = EV_ALLOC, .addr = MAX, .aux = 2}}},
    {"the region goes beyond", {{.kind = EV_COPY, .addr = MAX, .aux = 2, .flags = EVF_MORE}}},
    {"this kind needs a second record", {{.kind = EV_REMAP, .addr = 4096, .aux = 4096}}},
    {"this kind needs a second record", {{.kind = EV_BRANCHES}}},
    {"only an access dependent", {{.kind = EV_IO, .flags = EVF_DEPENDENT}}},
    {"has no address", {{.kind = EV_UNINSTRUMENTED, .addr = 1, .aux = 1}}},
    {"a thread's number + 1", {{.kind = EV_WAITED, .aux = 1, .flags = EVF_MORE}, {.addr = 65537}}},
    {"a thread's number + 1", {{.kind = EV_WAITED, .aux = 1, .flags = EVF_MORE}, {.size = 1}}},
    {"nothing in the field aux", {{.kind = EV_BRANCHES, .aux = 1, .flags = EVF_MORE}, {.size = 1}}},
    {"1 to 64 branches", {{.kind = EV_BRANCHES, .flags = EVF_MORE}, {.size = 65}}},
    {"1 to 64 branches", {{.kind = EV_BRANCHES, .flags = EVF_MORE}, {.aux = 1}}},
    {"more outcomes than branches",
     {{.kind = EV_BRANCHES, .flags = EVF_MORE}, {.addr = 4, .size = 2}}},
    {"power of 2 of bytes", {{.kind = EV_REMAP, .aux = 2048, .flags = EVF_MORE}}},
    {"power of 2 of bytes", {{.kind = EV_REMAP, .aux = 12288, .flags = EVF_MORE}}},
    {"virtual address is a multiple",
     {{.kind = EV_REMAP, .addr = 1, .aux = 4096, .flags = EVF_MORE}}},
    {"physical address is a multiple",
     {{.kind = EV_REMAP, .aux = 8192, .flags = EVF_MORE}, {.addr = 4096}}},
    {"this kind needs a second record", {{.kind = EV_COPY, .addr = 8, .aux = 8}}},
    {"copy's source goes beyond", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.addr = MAX}}},
    {"record of this kind has no size",
     {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.size = 1}}},
    {"no kind of its own", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.kind = EV_COPY}}},
    {"no thread of its own", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.tid = 1}}},
    {"no flags of its own", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.flags = EVF_MORE}}},
    {"no gap of its own", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.gap = 1}}},
    {"bytes of a second record", {{.kind = EV_COPY, .aux = 2, .flags = EVF_MORE}, {.zero = {1}}}},
    {"says nothing", {{.kind = EV_IO, .flags = EVF_MORE}}},
    {"says nothing", {{.kind = EV_ALLOC, .aux = 8, .flags = EVF_MORE}}},
    {"holds only a site", {{.kind = EV_IO, .flags = EVF_MORE}, {.addr = 1, .aux = 1}}},
    {"holds only a site", {{.kind = EV_CLEAR, .aux = 1, .flags = EVF_MORE}, {.size = 1}}},
    {"elements take more",
     {{.kind = EV_ALLOC, .aux = 8, .flags = EVF_MORE}, {.addr = 3, .size = 3}}},
    {"elements take more",
     {{.kind = EV_ALLOC, .aux = 8, .flags = EVF_MORE}, {.addr = UINT64_C(1) << 63, .size = 2}}},
};

static void each_broken_rule_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        const char *fault = fault_of(bad[i].ev);

        if (!fault || !strstr(fault, bad[i].what))
            fail_msg("record %zu: expected \"%s\", found \"%s\"", i, bad[i].what,
                     fault ? fault : "well-formed");
    }
}

static void the_second_record_of_a_single_one_is_not_looked_at(void **state)
{
    struct event ev[2] = {{.kind = EV_IO}, {.kind = 99, .gap = 1}};

    (void)state;
    assert_null(fault_of(ev));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_own_text_and_is_found_by_it),
        cmocka_unit_test(the_table_has_edges_forms_and_classes),
        cmocka_unit_test(orders_have_texts),
        cmocka_unit_test(limits_are_well_formed),
        cmocka_unit_test(each_broken_rule_has_its_sentence),
        cmocka_unit_test(the_second_record_of_a_single_one_is_not_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
