/* t_vm_layout.c - does an object lie as its layout says? Headers, where fields and elements are,
 * sizes: counted by hand from the sources that trace/layout.def cites. */
#include "tests/workloads/vm/box.h"
#include "tests/workloads/vm/spec.h"

static const struct vm_type_of mixed = VM_TYPE("Mixed", {"b", VM_I8, 0}, {"l", VM_I64, 0},
                                               {"i", VM_I32, 0}, {"r", VM_REF, 0}, {"c", VM_I8, 0});

static void program(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 2);

    (void)p;
    vm_new(t, &r[0], vm_class(t, &mixed, NULL), AT_A);
    vm_put_i8(t, &r[0], 0, 1, AT_B);
    vm_put_i64(t, &r[0], 1, 2, AT_B);
    vm_put_i32(t, &r[0], 2, 3, AT_B);
    vm_put_ref(t, &r[0], 3, &r[0], AT_B);
    vm_put_i8(t, &r[0], 4, 5, AT_B);
    for (unsigned type = 0; type < VM_TYPES; type++) {
        vm_new_array(t, &r[1], (enum vm_type)type, 3, AT_A);
        if (type == VM_REF)
            vm_store_ref(t, &r[1], 2, &r[0], AT_B);
        else if (type == VM_F64)
            vm_store_f64(t, &r[1], 2, 1.0, AT_B);
        else if (type == VM_I64)
            vm_store_i64(t, &r[1], 2, 1, AT_B);
        else if (type == VM_I32)
            vm_store_i32(t, &r[1], 2, 1, AT_B);
        else
            vm_store_i8(t, &r[1], 2, 1, AT_B);
    }
    vm_load_ref(t, &r[1], &r[1], 2, AT_B);
    vm_check(t,
             vm_same(t, &r[0], &r[1]) && vm_get_i8(t, &r[0], 4, AT_B) == 5 &&
                 vm_get_i64(t, &r[0], 1, AT_B) == 2,
             "a value is lost");
    vm_lock(t, &r[0], AT_A);
    vm_unlock(t, &r[0], AT_A);
}

/* What the program's own events say: "alloc 40", "write +24:8", "acq +8". */
static void says(enum layout_id layout, const char *expected)
{
    struct vm_params p = follow_params();
    struct follow f;
    char *got = xstrdup("");
    sim_addr object = 0;

    p.layout = layout;
    follow_program(&f, program, &p, at_names);
    for (size_t i = 0; i < f.stream.records; i += event_records(&f.stream.rec[i])) {
        const struct event *ev = &f.stream.rec[i];
        char one[64] = "";
        if (ev->flags & EVF_SYSTEM)
            continue;
        if (ev->kind == EV_ALLOC) {
            object = ev->addr;
            snprintf(one, sizeof one, "alloc %u", (unsigned)ev->aux);
        } else if (ev->kind == EV_WRITE) {
            snprintf(one, sizeof one, "+%u:%u", (unsigned)(ev->addr - object), ev->size);
        } else if (ev->kind == EV_ACQUIRE) {
            snprintf(one, sizeof one, "lock +%u", (unsigned)(ev->addr - VM_HEAP) % 64);
        }
        if (*one)
            xappend(&got, *got ? ", " : "", one);
    }
    if (strcmp(got, expected) != 0)
        fail_msg("%s: objects lie so: %s; not so: %s", layouts[layout].name, got, expected);
    free(got);
    follow_free(&f);
}

/* Fields in their order behind 16 bytes; the length is in the header. */
static void by_default_fields_lie_in_their_order(void **state)
{
    (void)state;
    says(LAYOUT_DEFAULT, "alloc 64, +16:1, +24:8, +32:4, +40:8, +48:1, "
                         "alloc 32, +18:1, alloc 32, +24:4, alloc 48, +32:8, alloc 48, +32:8, "
                         "alloc 48, +32:8, lock +8");
}

/* Jikes RVM: 8 bytes of header. The reference first, then the long, aligned to 8; the bytes go into
 * the hole of 4 before it, the int behind. Elements behind 12 bytes, those of 8 aligned. */
static void under_ia32_references_come_first_and_holes_are_filled(void **state)
{
    (void)state;
    says(LAYOUT_IA32, "alloc 32, +12:1, +16:8, +24:4, +8:4, +13:1, "
                      "alloc 16, +14:1, alloc 24, +20:4, alloc 40, +32:8, alloc 40, +32:8, "
                      "alloc 24, +20:4, lock +4");
}

/* HotSpot: 16 bytes of header. The long, the int, bytes, references last. Arrays behind 24. */
static void under_64_bit_the_largest_come_first(void **state)
{
    (void)state;
    says(LAYOUT_64, "alloc 40, +28:1, +16:8, +24:4, +32:8, +29:1, "
                    "alloc 32, +26:1, alloc 40, +32:4, alloc 48, +40:8, alloc 48, +40:8, "
                    "alloc 48, +40:8, lock +0");
}

/* 12 bytes of header: the int fills the hole before the long. References of 4 bytes. */
static void compressed_references_have_four_bytes(void **state)
{
    (void)state;
    says(LAYOUT_64C, "alloc 32, +24:1, +16:8, +12:4, +28:4, +25:1, "
                     "alloc 24, +18:1, alloc 32, +24:4, alloc 40, +32:8, alloc 40, +32:8, "
                     "alloc 32, +24:4, lock +0");
}

/* What the layout says elsewhere: a hint no larger than a reference, and what does not fit. */
static void a_source_says_its_layout(void **state)
{
    struct err e = {0};
    struct source *s = workload_open("sor,layout=ia32", &e);

    (void)state;
    assert_non_null(s);
    assert_int_equal(s->layout, LAYOUT_IA32);
    assert_int_equal(s->granularity, 4);
    source_close(s);
    s = workload_open("sor", &e);
    assert_int_equal(s->layout, LAYOUT_DEFAULT);
    assert_int_equal(s->granularity, 8);
    source_close(s);
    assert_null(workload_open("sor,layout=ia32,heap=4Gi", &e));
    assert_int_equal(e.code, LARD_CONFIG);
    assert_non_null(strstr(e.text, "layout ia32 reach less than"));
}

static void an_array_begins_where_its_layout_has_it(void **state)
{
    (void)state;
    assert_int_equal(layout_first(&layouts[LAYOUT_IA32], 24, 3, 4), 12);
    assert_int_equal(layout_first(&layouts[LAYOUT_IA32], 40, 3, 8), 16);
    assert_int_equal(layout_first(&layouts[LAYOUT_64], 48, 3, 8), 24);
    assert_int_equal(layout_first(&layouts[LAYOUT_DEFAULT], 48, 3, 8), 16);
    assert_int_equal(layout_first(&layouts[LAYOUT_IA32], 12, 3, 4), 0); /* elements alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_fields_lie_in_their_order),
        cmocka_unit_test(under_ia32_references_come_first_and_holes_are_filled),
        cmocka_unit_test(under_64_bit_the_largest_come_first),
        cmocka_unit_test(compressed_references_have_four_bytes),
        cmocka_unit_test(a_source_says_its_layout),
        cmocka_unit_test(an_array_begins_where_its_layout_has_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
