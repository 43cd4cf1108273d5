/* t_layout.c - are a policy's metadata as large as its paper has them on the layout's platform?
 * Bytes and accesses counted by hand: Valor 5.2 and 5.3 (IA32), SlimState V.B (64 bits),
 * Goldilocks 5 by its words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/policy_rig.h"

#include <cmocka.h>

enum { X = 0x40, Y = 0x44 };
#define R(t, a) EV_READ4(t, a)
#define W(t, a) EV_WRITE4(t, a)

static struct rig_places places(enum layout_id layout, unsigned each)
{
    return (struct rig_places){
        .layout = &layouts[layout], .each = each, .granule = {{X, "X"}, {Y, "Y"}}};
}

/* Bytes of metadata after a write of X and one of Y, without what is there for the thread alone. */
static uint64_t two_locations(const char *policy, enum layout_id layout)
{
    struct policy_rig r;

    policy_rig_open(&r, policy, NULL, places(layout, 0));
    RUN(&r, W(0, X));
    const uint64_t one = policy_rig_stat(&r, "metadata.live");
    RUN(&r, W(0, Y));
    const uint64_t two = policy_rig_stat(&r, "metadata.live");
    policy_rig_close(&r);
    return two - one;
}

static void a_location_has_the_bytes_of_its_paper(void **state)
{
    static const struct {
        const char *policy;
        unsigned bytes[LAYOUTS];
    } is[] = {
        {"fasttrack", {16, 16, 8 + 16 + 8 + 8, 4 + 12 + 4 + 8}},
        {"fastrcd", {8, 8, 8, 8}},
        {"valor-o", {4, 4, 4, 4}},
        {"valor-e", {8, 8, 8, 8}},
        {"clean", {4, 4, 4, 4}},
        {"slimstate", {16, 16, 8 + 16 + 8 + 8, 4 + 12 + 4 + 8}},
        /* two words; and a record: five words, owner and transaction */
        {"goldilocks", {16 + 48, 8 + 28, 16 + 48, 16 + 48}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(is); i++)
        for (unsigned layout = 0; layout < LAYOUTS; layout++)
            if (two_locations(is[i].policy, (enum layout_id)layout) != is[i].bytes[layout])
                fail_msg("%s, %s: a location takes %u bytes, and the paper has %u", is[i].policy,
                         layouts[layout].name,
                         (unsigned)two_locations(is[i].policy, (enum layout_id)layout),
                         is[i].bytes[layout]);
}

/* An entry of Valor's log is an object, an offset and the word: 12 bytes where words have 4; an
 * entry of the write set has no word. The ends of both are pointers. */
static void under_ia32_a_log_entry_has_12_bytes(void **state)
{
    struct rig_places p = places(LAYOUT_IA32, 4);
    struct policy_rig r;

    (void)state;
    p.block[0] = (struct layout_name){0, "log's end"};
    p.block[1] = (struct layout_name){4, "set's end"};
    p.block[2] = (struct layout_name){4096, "log"};
    p.block[3] = (struct layout_name){4096 + (1 << 20), "write set"};
    policy_rig_open(&r, "valor-o", NULL, p);
    RUN(&r, R(0, Y), W(0, Y));
    EVENTS_COST(&r,
                "place, load X:4, none, load log's end:4, log, store log+12:12, store log's end:4, "
                "14 in all",
                R(0, X));
    EVENTS_COST(&r,
                "place, load X:4, own, slow-path, none, version, swap, swap X:4, "
                "load set's end:4, write-set, store write set+8, store set's end:4, 23 in all",
                W(0, X));
    policy_rig_close(&r);
}

/* On 64 bits a reference leads to a location's epochs, of 4 bytes each, behind its object's header
 * and reference to a vector. */
static void on_64_bits_a_reference_leads_to_the_epochs(void **state)
{
    const struct rig_places p = {.layout = &layouts[LAYOUT_64],
                                 .each = 40,
                                 .granule = {{X, "X"}, {Y, "Y"}},
                                 .field = {{0, 8, "reference"}, {32, 4, "W"}, {36, 4, "R"}}};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, p);
    RUN(&r, R(0, Y));
    EVENTS_COST(
        &r,
        "load thread 0's epoch, place, load X's reference, load X's R:4, same-epoch, is-map, "
        "slow-path, lock, swap X's R:4, load thread 0's clock word, clock, load X's W:4, "
        "2 none, store X's R:4, 25 in all",
        R(0, X));
    policy_rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_has_the_bytes_of_its_paper),
        cmocka_unit_test(under_ia32_a_log_entry_has_12_bytes),
        cmocka_unit_test(on_64_bits_a_reference_leads_to_the_epochs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
