/* t_ddr_ini.c - device descriptions: what is read, what follows from it, and an error with place,
 * rule and remedy for whatever is wrong; rubbish never does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "memory/ddr/ddr.h"
#include "tests/frame/number.h"
#include "tests/memory/bench.h"

static const char good[] = "; comment\n"
                           "[dram_structure]\n"
                           "protocol = DDR4\n"
                           "bankgroups = 4\n"
                           "banks_per_group = 4\n"
                           "rows = 32768\n"
                           "columns = 1024\n"
                           "device_width = 8\n"
                           "BL = 8\n"
                           "\n"
                           "[timing]\n"
                           "tCK = 0.9375\n"
                           "CL = 15\n"
                           "CWL = 11 # inline\n"
                           "tRCD = 14 ; inline\n"
                           "tRP = 16\n"
                           "tRAS = 35\n"
                           "tRFC = 278\n"
                           "tREFI = 8320\n"
                           "tRRD_S = 4\n"
                           "tRRD_L = 6\n"
                           "tWTR_S = 3\n"
                           "tWTR_L = 8\n"
                           "tFAW = 23\n"
                           "tWR = 17\n"
                           "tRTP = 9\n"
                           "tCCD_S = 4\n"
                           "tCCD_L = 5\n"
                           "tRTRS = 2\n"
                           "tCKE = 6\n"
                           "[power]\n"
                           "whatever = it is\n"
                           "[system]\n"
                           "channel_size = 8192\n"
                           "channels = 2\n"
                           "bus_width = 64\n"
                           "address_mapping = rorabgbacoch\n"
                           "queue_structure = PER_BANK\n"
                           "row_buf_policy = OPEN_PAGE\n"
                           "cmd_queue_size = 8\n"
                           "trans_queue_size = 32\n";

static int read_text(struct ddr_device *d, const char *text, size_t n, struct err *e)
{
    char *copy = xmalloc(n + 1);

    memcpy(copy, text, n);
    copy[n] = '\0';
    FILE *f = fmemopen(copy, n ? n : 1, "r");
    assert_non_null(f);
    const int bad = ddr_read_ini(d, "file.ini", f, e);
    fclose(f);
    free(copy);
    return bad;
}

/* The good text with one string replaced. */
static char *with(const char *was, const char *is)
{
    const char *at = strstr(good, was);

    assert_non_null(at);
    return xasprintf("%.*s%s%s", (int)(at - good), good, is, at + strlen(was));
}

static void every_value_is_read(void **state)
{
    struct ddr_device d;
    struct err e = {0};

    (void)state;
    if (read_text(&d, good, strlen(good), &e))
        fail_msg("%s", e.text);
#define READ(field, value) number_is(#field, d.field, value)
    READ(protocol, DDR4);
    READ(groups, 4);
    READ(banks, 4);
    READ(rows, 32768);
    READ(columns, 1024);
    READ(width, 8);
    READ(bl, 8);
    READ(tck, 937500);
    READ(al, 0);
    READ(cl, 15);
    READ(cwl, 11);
    READ(rcd_rd, 14);
    READ(rcd_wr, 14);
    READ(rp, 16);
    READ(ras, 35);
    READ(rfc, 278);
    READ(refi, 8320);
    READ(rrd_s, 4);
    READ(rrd_l, 6);
    READ(wtr_s, 3);
    READ(wtr_l, 8);
    READ(faw, 23);
    READ(wr, 17);
    READ(rtp, 9);
    READ(ccd_s, 4);
    READ(ccd_l, 5);
    READ(rtrs, 2);
    READ(ppd, 0);
    READ(channel_mib, 8192);
    READ(channels, 2);
    READ(bus, 64);
    READ(per_rank, 0);
    READ(closed, 0);
    READ(refresh, REFRESH_RANKS);
    READ(cmd_queue, 8);
    READ(trans_queue, 32);
#undef READ
    assert_string_equal(d.mapping, "rorabgbacoch");
    assert_int_equal(ddr_line_bytes(&d), 64);
}

static void addresses_are_laid_out_as_written(void **state)
{
    struct ddr_device d;
    struct ddr_rules r;
    struct err e = {0};

    (void)state;
    assert_int_equal(read_text(&d, good, strlen(good), &e), 0);
    ddr_rules_derive(&r, &d);
    assert_int_equal(r.ranks, 2); /* 8 GiB of 4 GiB ranks */
    const struct ddr_field field[] = {r.channel, r.column, r.bank, r.group, r.rank, r.row};
    const unsigned bits[] = {1, 7, 2, 2, 1, 15}; /* lowest first */
    unsigned shift = 6;
    for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
        assert_int_equal(field[i].shift, shift);
        assert_int_equal(field[i].mask, (1u << bits[i]) - 1);
        shift += bits[i];
    }
    assert_int_equal(1ull << shift, 2ull * 8192 << 20); /* all of the memory, once */
}

static void distances_follow_from_the_definitions(void **state)
{
    struct ddr_device d;
    struct ddr_rules r;
    struct err e = {0};

    (void)state;
    assert_int_equal(read_text(&d, good, strlen(good), &e), 0);
    ddr_rules_derive(&r, &d);
    assert_int_equal(r.burst, 4);
    assert_int_equal(r.read_done, 15 + 4);
    assert_int_equal(r.read_pre, 9);
    assert_int_equal(r.write_pre, 11 + 4 + 17);
    assert_int_equal(r.rc, 35 + 16);
    assert_int_equal(r.column_wait[0][NEAR_GROUP][0], 5);
    assert_int_equal(r.column_wait[0][NEAR_RANK][0], 4);
    assert_int_equal(r.column_wait[0][NEAR_CHANNEL][0], 4 + 2);
    for (int near = NEAR_GROUP; near <= NEAR_CHANNEL; near++)
        assert_int_equal(r.column_wait[0][near][1], 15 + 4 + 2 - 11);
    assert_int_equal(r.column_wait[1][NEAR_GROUP][0], 11 + 4 + 8);
    assert_int_equal(r.column_wait[1][NEAR_RANK][0], 11 + 4 + 3);
    assert_int_equal(r.column_wait[1][NEAR_CHANNEL][0], 11 + 4 + 2 - 15);
    assert_int_equal(r.refresh_interval, 8320 / 2);
}

static void every_preset_is_sound(void **state)
{
    (void)state;
    for (const struct ddr_preset *p = ddr_presets; p->name; p++) {
        struct err e = {0};
        if (ddr_check(&p->device, p->name, &e))
            fail_msg("%s", e.text);
        assert_int_equal(ddr_line_bytes(&p->device), 64);
        assert_non_null(p->help);
    }
}

/* ---- errors --------------------------------------------------------------------------------- */

static void expect_error(const char *text, const char *const says[3])
{
    struct ddr_device d;
    struct err e = {0};

    if (!read_text(&d, text, strlen(text), &e))
        fail_msg("read: %s", says[0]);
    assert_int_equal(e.code, LARD_CONFIG);
    assert_non_null(strstr(e.text, "file.ini"));
    for (size_t i = 0; i < 3 && says[i]; i++)
        if (!strstr(e.text, says[i]))
            fail_msg("'%s' lacks '%s'", e.text, says[i]);
}

static void a_wrong_line_is_named(void **state)
{
    static const struct {
        const char *was, *is, *says[3];
    } each[] = {
        {"DDR4", "DDR9", {":3:", "DDR9", "LPDDR4"}},
        {"DDR4", "HMC", {":3:", "HMC"}},
        {"DDR4", "GDDR5", {":3:", "GDDR5"}},
        {"rows = 32768", "rows = 33000", {"rows = 33000", "power of two"}},
        {"rows = 32768", "rows = 0", {":6:", "rows", "from 1"}},
        {"rows = 32768", "rows = -1", {":6:", "rows", "whole number"}},
        {"rows = 32768", "rows = 99999999999999999999999", {":6:", "rows"}},
        {"CL = 15", "CL = 15.5", {":13:", "CL", "whole number"}},
        {"CL = 15", "CL = x", {":13:", "CL", "'x'"}},
        {"CL = 15", "CL = 0x10", {":13:", "CL"}},
        {"CL = 15", "CL", {":13:", "key = value"}},
        {"CL = 15", "CL = 15\nCL = 15", {":14:", "CL", "twice"}},
        {"CL = 15", "CLL = 15", {":13:", "CLL", "[timing]"}},
        {"tFAW = 23", "tFA = 23", {":24:", "tFA", "tFAW"}},
        {"CL = 15", " CL = 15", {":13:", "blank"}},
        {"tCK = 0.9375", "tCK = 0.93750001", {":12:", "tCK", "6 decimals"}},
        {"tCK = 0.9375", "tCK = 0", {":12:", "tCK"}},
        {"tCK = 0.9375", "tCK = 1e-9", {":12:", "tCK"}},
        {"tCK = 0.9375", "tCK = .", {":12:", "tCK"}},
        {"tCK = 0.9375", "tCK = 5000", {":12:", "tCK"}},
        {"rorabgbacoch", "rorabgbacochro", {":37:", "address_mapping", "rochrababgco"}},
        {"rorabgbacoch", "rorabgbacoco", {"address_mapping", "once"}},
        {"rorabgbacoch", "rorabgbacoxx", {"address_mapping", "once"}},
        {"PER_BANK", "PER_CHIP", {":38:", "PER_CHIP", "PER_RANK"}},
        {"OPEN_PAGE", "OPEN", {":39:", "OPEN", "CLOSE_PAGE"}},
        {"[system]", "[sistem]", {":33:", "sistem", "system"}},
        {"[system]", "[system", {":33:", "[name]"}},
        {"; comment", "x = 1", {":1:", "[section]"}},
        {"trans_queue_size = 32",
         "unified_queue = True",
         {":41:", "unified_queue", "not modelled"}},
        {"trans_queue_size = 32", "enable_self_refresh = yes", {":41:", "not modelled"}},
        {"trans_queue_size = 32", "refresh_policy = NEVER", {":41:", "BANK_LEVEL_STAGGERED"}},
        {"trans_queue_size = 32", "trans_queue_size = 0", {":41:", "trans_queue_size"}},
        {"channel_size = 8192", "channel_size = 2048", {"channel_size", "4096", "enlarge"}},
        {"channel_size = 8192", "channel_size = 12288", {"channel_size", "3 ranks"}},
        {"channel_size = 8192", "channel_size = 65536", {"16 ranks", "64"}},
        {"tREFI = 8320", "tREFI = 500", {"tREFI", "500", "twice"}},
        {"tREFI = 8320", "AL = 15\ntREFI = 8320", {"AL = 15", "tRCD"}},
        {"bus_width = 64", "bus_width = 48", {"bus_width = 48", "power of two"}},
        {"bus_width = 64", "bus_width = 8\nx = 1", {":37:", "'x'"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        char *text = with(each[i].was, each[i].is);
        expect_error(text, each[i].says);
        free(text);
    }
}

/* A key's least and most are good, one beyond is not. Good: no error, or one of another place than
 * its line, as devices with one value that far out may not work. */
static void each_key_has_its_bounds(void **state)
{
    static const char in[] = "must be a whole number from", cycles[] = "must be nanoseconds from";
    static const struct {
        const char *was, *key, *below, *least, *most, *above;
    } each[] = {
        {"bankgroups = 4", "bankgroups", "0", "1", "64", "65"},
        {"banks_per_group = 4", "banks_per_group", "0", "1", "64", "65"},
        {"rows = 32768", "rows", "0", "1", "16777216", "16777217"},
        {"columns = 1024", "columns", "0", "1", "65536", "65537"},
        {"device_width = 8", "device_width", "0", "1", "1024", "1025"},
        {"BL = 8", "BL", "1", "2", "64", "65"},
        {"tCK = 0.9375", "tCK", "0.000999", "0.001", "100", "100.000001"},
        {"CL = 15", "CL", "0", "1", "1000000", "1000001"},
        {"CWL = 11", "CWL", "-1", "0", "1000000", "1000001"},
        {"tRP = 16", "tRP", "0", "1", "1000000", "1000001"},
        {"tRFC = 278", "tRFC", "0", "1", "1000000", "1000001"},
        {"tREFI = 8320", "tREFI", "0", "1", "1000000", "1000001"},
        {"channels = 2", "channels", "0", "1", "64", "65"},
        {"bus_width = 64", "bus_width", "7", "8", "4096", "4097"},
        {"cmd_queue_size = 8", "cmd_queue_size", "0", "1", "1024", "1025"},
        {"trans_queue_size = 32", "trans_queue_size", "0", "1", "1024", "1025"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        const char *const value[] = {each[i].below, each[i].least, each[i].most, each[i].above};
        for (size_t k = 0; k < ARRAY_SIZE(value); k++) {
            struct ddr_device d;
            struct err e = {0};
            char *is = xasprintf("%s = %s", each[i].key, value[k]), *text = with(each[i].was, is);
            const bool bad = read_text(&d, text, strlen(text), &e),
                       of_it = bad && (strstr(e.text, in) || strstr(e.text, cycles));
            if (of_it != (k == 0 || k == 3))
                fail_msg("%s: %s", is, of_it ? "refused, and in its bounds" : "not refused");
            err_clear(&e);
            free(text);
            free(is);
        }
    }
}

static bool is_read(const char *was, const char *is)
{
    struct ddr_device d;
    struct err e = {0};
    char *text = with(was, is);
    const bool read = !read_text(&d, text, strlen(text), &e);

    err_clear(&e);
    free(text);
    return read;
}

/* By docs/machine.md a refresh, and closing rows for it, take half of the time at most. In this
 * device what a bank still needs is 14 + 14 + tRAS + 0 + 11 + 8 + 17 + 9 cycles, a precharge is 16,
 * and a command goes each cycle: with tRAS 35 a rank of 16 banks is closed in 140. There are two.
 */
static void a_refresh_may_take_half_of_the_time_and_no_cycle_more(void **state)
{
    enum { RANK = 2 * 140 + 278, BANK = 73 + 35 + 16 + 1 + 20 };
    /* tREFIb is 20, for each of 32 banks: 640 cycles to a bank's next. */
    static const char banks[] = "tREFI = 8320\ntRFCb = 20\ntREFIb = 20\n"
                                "[system]\nrefresh_policy = BANK_LEVEL_STAGGERED\n[timing]";
    char least[32], less[32], ras[32];

    (void)state;
    snprintf(least, sizeof least, "tREFI = %d", 2 * RANK);
    snprintf(less, sizeof less, "tREFI = %d", 2 * RANK - 2);
    assert_true(is_read("tREFI = 8320", least));
    assert_false(is_read("tREFI = 8320", less));
    for (int over = 0; over < 2; over++) {
        struct ddr_device d;
        struct err e = {0};
        snprintf(ras, sizeof ras, "tRAS = %d", 35 + 320 - BANK + over);
        char *one = with("tREFI = 8320", banks), *at = strstr(one, "tRAS = 35");
        char *text = xasprintf("%.*s%s%s", (int)(at - one), one, ras, at + 9);
        if (read_text(&d, text, strlen(text), &e) != -over)
            fail_msg("%s: %s", ras, over ? "not refused" : e.text);
        err_clear(&e);
        free(text);
        free(one);
    }
}

static void a_name_is_proposed_from_its_own_section(void **state)
{
    struct ddr_device d;
    struct err e = {0};
    char *text = with("bus_width = 64", "bus_width = 64\ntFA = 23");

    (void)state;
    assert_int_equal(read_text(&d, text, strlen(text), &e), -1);
    assert_non_null(strstr(e.text, "[system] has no key 'tFA'"));
    if (strstr(e.text, "did you mean"))
        fail_msg("'%s' proposes what [system] does not have", e.text);
    err_clear(&e);
    free(text);
}

/* Take away each line of the three sections in turn. */
static void a_missing_key_is_named(void **state)
{
    static const char *const optional[] = {"tRTRS", "tREFI", "tRTP", "tCKE"};
    unsigned missing = 0;
    bool skipped = false;

    (void)state;
    for (const char *line = good; *line; line = strchr(line, '\n') + 1) {
        const size_t length = strcspn(line, "\n"), name = strcspn(line, " \n");
        skipped = *line == '[' ? !strncmp(line, "[power]", 7) : skipped;
        if (!memchr(line, '=', length) || skipped)
            continue;
        struct ddr_device d;
        struct err e = {0};
        char *text = xasprintf("%.*s%s", (int)(line - good), good, line + length);
        char *key = xasprintf("%.*s", (int)name, line);
        bool may = false;
        for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
            may |= !strcmp(optional[i], key);
        assert_int_equal(read_text(&d, text, strlen(text), &e), may ? 0 : -1);
        if (!may && (!strstr(e.text, key) || !strstr(e.text, "lacks")))
            fail_msg("without %s: %s", key, e.text);
        missing += !may;
        free(text);
        free(key);
    }
    assert_int_equal(missing, 30);
}

static void an_empty_value_is_a_missing_one(void **state)
{
    static const char *const says[3] = {"lacks tRFC"};
    char *text = with("tRFC = 278", "tRFC =");

    (void)state;
    expect_error(text, says);
    free(text);
}

static void bank_refresh_and_hbm_need_their_own_keys(void **state)
{
    static const char *const banks[3] = {"lacks tRFCb"}, *const hbm[3] = {"lacks tRCDRD"};
    char *text = with("[system]\n", "[system]\nrefresh_policy = BANK_LEVEL_STAGGERED\n");

    (void)state;
    expect_error(text, banks);
    free(text);
    text = with("protocol = DDR4", "protocol = HBM2");
    expect_error(text, hbm);
    free(text);
}

static void long_lines_and_zero_bytes_are_refused(void **state)
{
    struct ddr_device d;
    struct err e = {0};
    char line[9000];

    (void)state;
    memset(line, 'x', sizeof line);
    assert_int_equal(read_text(&d, line, sizeof line, &e), -1);
    assert_non_null(strstr(e.text, "file.ini:1:"));
    err_clear(&e);
    assert_int_equal(read_text(&d, "[timing]\nCL\0 = 3\n", 17, &e), -1);
    assert_int_equal(e.code, LARD_CONFIG);
    err_clear(&e);
    assert_int_equal(read_text(&d, "", 0, &e), -1);
    assert_int_equal(e.code, LARD_CONFIG);
}

static void a_line_may_be_as_long_as_the_refusal_says(void **state)
{
    enum { MOST = 4094 };
    struct ddr_device d;
    struct err e = {0};
    char comment[MOST + 2];

    (void)state;
    memset(comment, '#', sizeof comment);
    assert_int_equal(read_text(&d, comment, MOST + 1, &e), -1);
    assert_non_null(strstr(e.text, "longer than 4094 characters"));
    err_clear(&e);
    comment[MOST] = '\n';
    assert_int_equal(read_text(&d, comment, MOST + 1, &e), -1); /* as nothing else is there */
    assert_null(strstr(e.text, "longer"));
    err_clear(&e);
}

static void carriage_returns_and_a_missing_last_newline_do_not_matter(void **state)
{
    struct ddr_device d, d2;
    struct err e = {0};
    char *text = xmalloc(2 * sizeof good);
    size_t n = 0;

    (void)state;
    for (const char *s = good; *s; s++) {
        if (*s == '\n')
            text[n++] = '\r';
        text[n++] = *s;
    }
    assert_int_equal(read_text(&d, good, strlen(good) - 1, &e), 0);
    assert_int_equal(read_text(&d2, text, n, &e), 0);
    assert_memory_equal(&d, &d2, sizeof d);
    free(text);
}

/* Bytes changed, lines dropped and doubled: an error, or a device that keeps its promises. */
static void rubbish_does_no_harm(void **state)
{
    struct rng r;
    unsigned read = 0;

    (void)state;
    rng_seed(&r, 11);
    for (unsigned i = 0; i < 4000; i++) {
        char text[sizeof good];
        struct ddr_device d;
        struct err e = {0};
        memcpy(text, good, sizeof good);
        for (uint64_t k = rng_below(&r, 6); k > 0; k--)
            text[rng_below(&r, sizeof good - 1)] =
                rng_chance(&r, 2, 3) ? (char)('0' + rng_below(&r, 10)) : (char)rng_below(&r, 256);
        if (read_text(&d, text, sizeof good - 1 - rng_below(&r, 3), &e)) {
            assert_int_equal(e.code, LARD_CONFIG);
            assert_true(e.text[0]);
            continue;
        }
        struct ddr_rules rules;
        ddr_rules_derive(&rules, &d);
        assert_in_range(rules.ranks * rules.rank_banks, 1, DDR_MAX_BANKS);
        assert_true(rules.refresh_interval > 0);
        read++;
    }
    assert_true(read > 100);
}

/* ---- the memory's parameter ----------------------------------------------------------------- */

static void expect_refused(const char *setting, unsigned line, uint64_t mhz, const char *says)
{
    const char *const settings[] = {setting, NULL};
    const struct memory_env env = {.mhz = mhz, .line = line, .contention = true};
    struct bench b;
    struct err e = {0};

    assert_int_equal(bench_try(&b, "ddr", env, settings, &e), -1);
    assert_int_equal(e.code, LARD_CONFIG);
    if (!strstr(e.text, says))
        fail_msg("'%s' lacks '%s'", e.text, says);
    bench_free(&b);
}

static void a_bad_setting_is_refused(void **state)
{
    (void)state;
    expect_refused("memory.ddr.config=ddr4-2401", 64, 4000, "'ddr4-2400'");
    expect_refused("memory.ddr.config=/does/not/exist.ini", 64, 4000, "/does/not/exist.ini");
    expect_refused("memory.ddr.config=/", 64, 4000, "/");
    expect_refused("memory.ddr.config=ddr4-2400", 128, 4000, "64 bytes a burst");
    expect_refused("memory.ddr.config=ddr4-2400", 64, 0, "MHz");
    expect_refused("memory.ddr.write-low=40", 64, 4000, "write-low");
    expect_refused("memory.ddr.write-high=40", 64, 4000, "write-high");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_read),
        cmocka_unit_test(addresses_are_laid_out_as_written),
        cmocka_unit_test(distances_follow_from_the_definitions),
        cmocka_unit_test(every_preset_is_sound),
        cmocka_unit_test(a_wrong_line_is_named),
        cmocka_unit_test(each_key_has_its_bounds),
        cmocka_unit_test(a_refresh_may_take_half_of_the_time_and_no_cycle_more),
        cmocka_unit_test(a_name_is_proposed_from_its_own_section),
        cmocka_unit_test(a_missing_key_is_named),
        cmocka_unit_test(an_empty_value_is_a_missing_one),
        cmocka_unit_test(bank_refresh_and_hbm_need_their_own_keys),
        cmocka_unit_test(long_lines_and_zero_bytes_are_refused),
        cmocka_unit_test(a_line_may_be_as_long_as_the_refusal_says),
        cmocka_unit_test(carriage_returns_and_a_missing_last_newline_do_not_matter),
        cmocka_unit_test(rubbish_does_no_harm),
        cmocka_unit_test(a_bad_setting_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
