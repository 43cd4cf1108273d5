/* twins.c - the twins by name: from the printed numbers in twins.def, for each one the parameters
 * that its sizes set, and the targets that `workload describe` holds a run to. How they are met is
 * twins/twin.c's affair. */
#include <inttypes.h>
#include <stddef.h>

#include "workloads/twins/twin.h"

/* ---- parameters ----------------------------------------------------------------------------- */

const struct param twin_rows[] = {
#define PARAMS_DEF "workloads/twins/params.def"
#define PARAMS_OF  struct twin_params
#include "base/param_rows.h"
};

static int twin_check(const void *params, const struct vm_params *vm, struct err *e)
{
    const struct twin_params *p = params;

    if (p->length & (p->length - 1))
        return err_set(e, LARD_CONFIG, "length: %" PRIu64 " is no power of two", p->length);
    if (p->live == 1 && vm->threads > 1)
        return err_set(e, LARD_CONFIG,
                       "live: with more than one thread two must live at once; give live=2");
    const uint64_t races = twin_races(p);

    if (races < p->plants)
        return err_set(e, LARD_CONFIG,
                       "races: %" PRIu64 " are too few for each of %" PRIu64
                       " plants to happen once",
                       races, p->plants);
    if (p->plants && (p->hidden > races || p->moved > p->hidden))
        return err_set(e, LARD_CONFIG,
                       "hidden, moved: at the most all races can be hidden, and all hidden "
                       "ones moved");
    return 0;
}

/* ---- plants: those of a twin are the last n ------------------------------------------------- */

#define PLANT(i)                                                                                   \
    {                                                                                              \
        "Planted.first:" #i, "Planted.second:" #i, "Two threads meet; each cell is used once."     \
    }
#define PLANTS(d)                                                                                  \
    PLANT(d##9), PLANT(d##8), PLANT(d##7), PLANT(d##6), PLANT(d##5), PLANT(d##4), PLANT(d##3),     \
        PLANT(d##2), PLANT(d##1), PLANT(d##0)
static const struct workload_plant plants[] = {
    PLANT(100), PLANTS(9), PLANTS(8), PLANTS(7), PLANTS(6), PLANTS(5),         PLANTS(4),
    PLANTS(3),  PLANTS(2), PLANTS(1), PLANT(9),  PLANT(8),  PLANT(7),          PLANT(6),
    PLANT(5),   PLANT(4),  PLANT(3),  PLANT(2),  PLANT(1),  {NULL, NULL, NULL}};
_Static_assert(sizeof plants == (TWIN_PLANTS + 1) * sizeof *plants, "each plant has its sites");

/* ---- each twin ------------------------------------------------------------------------------ */

#define TEXT(x)           TEXT_(x)
#define TEXT_(x)          #x
#define KNOB(name, value) "," #name "=" TEXT(value)
#define RANGE(trait, unit, value, most, scale, from, why)                                          \
    {                                                                                              \
        trait, unit, value, scale, from, why, most                                                 \
    }
#define AIM(trait, unit, value, scale, from, why) RANGE(trait, unit, value, 0, scale, from, why)
#define LAST_AIM                                  AIM(NULL, NULL, 0, 0, NULL, NULL)
#define SIZES(knobs)                                                                               \
    {                                                                                              \
        "accesses=1M,heap=8Mi,nursery=1Mi,tlab=2Ki" knobs,                                         \
            "accesses=10M,heap=16Mi,nursery=2Mi,tlab=2Ki" knobs,                                   \
            "accesses=100M,heap=32Mi,nursery=4Mi,tlab=4Ki" knobs                                   \
    }
#define TWIN(symbol, twin_name, key, text, knobs, pairs, targets, between)                         \
    extern const struct workload workload_##symbol;                                                \
    const struct workload workload_##symbol = {.name = twin_name,                                  \
                                               .summary = text,                                    \
                                               .source = key,                                      \
                                               .params = twin_rows,                                \
                                               .params_size = sizeof(struct twin_params),          \
                                               .length = "accesses",                               \
                                               .sizes = SIZES(knobs),                              \
                                               .sites = twin_sites,                                \
                                               .main = twin_main,                                  \
                                               .check = twin_check,                                \
                                               .racy = (pairs) > 0,                                \
                                               .aims = targets,                                    \
                                               .plants = &plants[TWIN_PLANTS - (pairs)],           \
                                               .gap = between};
#define OWN_BLOCKS "each thread makes blocks of its own first, which is more at this size"
#define PLANTED    "; planted (an input)"

/* ---- instructions between accesses ------------------------------------------------------------
 */

/* Ranges of the gap, in hundredths. Low: each access of the program is checked, and a bytecode is
 * an instruction: no program retires fewer, all included (sunflow 1.05). High: all that retired is
 * the program's, and of its reads only so many are checked that the share of writes is as the paper
 * counted; the others are of finals and strings, or redundant (Valor 5.1). */
#define DACAPO(program, bytecodes, reads, writes, instructions, bytes, first, last, getstatic,     \
               monitorenter)                                                                       \
    enum {                                                                                         \
        program##_LOW = 100 * bytecodes / (reads + writes) - 100,                                  \
        program##_MIDDLE = 0,                                                                      \
        program##_ALL = INT64_C(100) * instructions / (reads + writes),                            \
        program##_WRITES =                                                                         \
            10000 * writes /                                                                       \
            (reads + writes), /* In a million instructions. Low: a line for each 64 bytes that are \
                               * allocated, as the nursery is larger than the caches. High: all    \
                               * that missed is the program's. */                                  \
        program##_NEW_LINES = INT64_C(1000000) * bytes / 64 / instructions,                        \
        program##_FIRST = first,                                                                   \
        program##_LAST = last, /* In 10^9 accesses. */                                             \
        program##_MONITORS = INT64_C(1000000) * monitorenter / (reads + writes),                   \
    };                                                                                             \
    static const char program##_from[] =                                                           \
        "dacapobench, " #program ": from an instruction for a bytecode, to all that retired";
#include "workloads/twins/dacapo.def"
#undef DACAPO

/* The least and the most of the twins that have statistics, and the median of their middles. */
enum {
    unknown_LOW = 324,
    unknown_MIDDLE = 844,
    unknown_ALL = 6218,
    unknown_WRITES = 10000,
    unknown_NEW_LINES = 110,
    unknown_FIRST = 21630,
    unknown_LAST = 4820,
    unknown_MONITORS = 0
};
static const char unknown_from[] = "no statistics: the range of the other programs";

#define CHECKED_WRITES(reads, writes) (INT64_C(10000) * (writes) / ((reads) + (writes)))
/* writes: the share of them in what is checked; 0: all accesses are, as far as is known. */
#define GAP(symbol, base, writes)                                                                  \
    static const struct workload_gap symbol##_gap = {                                              \
        base##_from, base##_LOW, base##_MIDDLE,                                                    \
        (uint32_t)((writes) > base##_WRITES ? base##_ALL * (writes) / base##_WRITES                \
                                            : base##_ALL) -                                        \
            100,                                                                                   \
        true};

/* A kernel of ours with the same name: what `workload describe` measures of it (twins.sh). Its
 * arithmetic is counted by hand: from half of that to twice. */
#define KERNEL(program, gap)                                                                       \
    enum {                                                                                         \
        program##_LOW = (gap) / 2,                                                                 \
        program##_MIDDLE = (gap),                                                                  \
        program##_ALL = 2 * (gap) + 100,                                                           \
        program##_WRITES = 10000                                                                   \
    };                                                                                             \
    static const char program##_from[] = "the kernel " #program ": from half of its work to "      \
                                         "twice";
KERNEL(crypt, 775)
KERNEL(lufact, 360)
KERNEL(series, 6699800)
KERNEL(sor, 342)
KERNEL(sparse, 278)
KERNEL(montecarlo, 1253)
KERNEL(moldyn, 869)
KERNEL(raytracer, 376)
KERNEL(colt, 2317)

/* Bytes allocated in 1000 accesses, of dacapo.def; unknown: the median of those that Valor has. */
#define avrora_ALLOC   58
#define jython_ALLOC   3267
#define luindex_ALLOC  390
#define lusearch_ALLOC 984
#define pmd_ALLOC      2543
#define sunflow_ALLOC  259
#define xalan_ALLOC    710
#define unknown_ALLOC  710

/* Loads of static fields in 1000 reads, likewise; those of finals are in it. */
#define avrora_STATICS   6
#define jython_STATICS   110
#define luindex_STATICS  108
#define lusearch_STATICS 222
#define pmd_STATICS      39
#define sunflow_STATICS  1
#define xalan_STATICS    26
#define unknown_STATICS  39

#define MISSES(trait, base, most, why)                                                             \
    RANGE(trait, "in 1000 instructions", base##_NEW_LINES, most, 1000,                             \
          "dacapobench (dacapo.def: " #base                                                        \
          "): from a line for 64 bytes allocated, to all misses",                                  \
          why)
#define BY_CHANCE "blocks of static fields come by chance, and are few at this size"
#define NURSERY                                                                                    \
    "the whole heap had twice the least size there, and its nursery fitted the last level; here "  \
    "it has 64 MiB, as in the paper"

/* The releases that are not of a monitor entered by a block of the program's own classes, per
 * mille. The agent sees neither synchronized methods nor the classes of the JDK, so none of these
 * may be of a volatile, too. */
#define NO_MONITORS(base, rfr)                                                                     \
    (1000 - (base##_MONITORS * INT64_C(1) * (rfr) > INT64_C(1000000000)                            \
                 ? 1000                                                                            \
                 : base##_MONITORS * INT64_C(1) * (rfr) / 1000000))

/* The paper does not say how often a pair raced. */
#define VALOR_KNOBS(base, total, most, n_reads, n_writes, reads_again, writes_again, rfr, pairs,   \
                    near)                                                                          \
    ",gc=generational,heap=256Mi,nursery=64Mi" KNOB(alloc, base##_ALLOC)                           \
        KNOB(statics, base##_STATICS) KNOB(threads, total) KNOB(live, most) KNOB(reads, n_reads)   \
            KNOB(writes, n_writes) KNOB(again_reads, reads_again) KNOB(again_writes, writes_again) \
                KNOB(region, rfr) KNOB(plants, pairs) KNOB(close, near)
#define VALOR(id, base, name, program, total, most, reads, writes, reads_again, writes_again, rfr, \
              pairs, near, why)                                                                    \
    static const struct workload_aim valor_##id[] = {                                              \
        AIM("threads", "threads", total, 1, "valor, Table 1, " program, NULL),                     \
        AIM("threads-live", "threads", most, 1, "valor, Table 1, " program, NULL),                 \
        AIM("read-write-ratio", "reads a write", reads, writes, "valor, Table 1, " program, NULL), \
        AIM("no-update-reads", "%", reads_again, 10, "valor, Table 1, " program ", FastTrack",     \
            NULL),                                                                                 \
        AIM("no-update-writes", "%", writes_again, 10, "valor, Table 1, " program, NULL),          \
        AIM("accesses-per-region", "accesses", rfr, 1, "valor, Table 1, " program, why),           \
        AIM("allocated-in-1000", "bytes", base##_ALLOC, 1, "dacapobench (dacapo.def: " #base ")",  \
            OWN_BLOCKS),                                                                           \
        AIM("static-reads", "in 1000 reads", base##_STATICS, 1,                                    \
            "dacapobench (dacapo.def: " #base "): getstatic, those of finals too", BY_CHANCE),     \
        RANGE("volatile-releases", "%", 0, NO_MONITORS(base, rfr), 10,                             \
              "dacapobench (dacapo.def: " #base "): to all but monitorenter", NULL),               \
        MISSES("l1-misses", base, base##_FIRST, NULL),                                             \
        MISSES("llc-misses", base, base##_LAST, NURSERY),                                          \
        AIM("race-pairs", "pairs", pairs, 1, "valor, Table 2, " program ", FastTrack" PLANTED,     \
            NULL),                                                                                 \
        LAST_AIM};                                                                                 \
    GAP(valor_##id, base, CHECKED_WRITES(reads, writes))                                           \
    TWIN(valor_##id, name "@valor", "valor", "as " program " in Valor's Tables 1 and 2",           \
         VALOR_KNOBS(base, total, most, reads, writes, reads_again, writes_again, rfr, pairs,      \
                     near),                                                                        \
         pairs, valor_##id, &valor_##id##_gap)

/* `knobs` has the properties of a program that the paper does not state: for Java Grande in words,
 * for the others as in Valor's Table 1. */
#define LARD_KNOBS(base, sites, accesses, unheard, left)                                           \
    ",heap=1Mi,nursery=256Ki,tlab=1Ki" KNOB(alloc, base##_ALLOC) KNOB(threads, 4)                  \
        KNOB(plants, sites) KNOB(races, accesses) KNOB(hidden, unheard) KNOB(moved, left)
#define LARD(id, base, name, program, knobs, sites, accesses, unheard, left)                       \
    static const struct workload_aim lard_##id[] = {                                               \
        AIM("threads", "threads", 4, 1, "lard, 5, for all programs", NULL),                        \
        AIM("race-sites", "sites", sites, 1, "lard, Table 2, " program ", MS, PC" PLANTED, NULL),  \
        AIM("racy-accesses", "accesses", accesses, 1,                                              \
            "lard, Table 2, " program ", MS, DRE" PLANTED, NULL),                                  \
        MISSES("l1-misses", base, base##_FIRST, NULL), LAST_AIM};                                  \
    GAP(lard_##id, base, 0)                                                                        \
    TWIN(lard_##id, name "@lard", "lard", "as " program " in LARD's Tables 2 and 3",               \
         LARD_KNOBS(base, sites, accesses, unheard, left) "," knobs, sites, lard_##id,             \
         &lard_##id##_gap)

#define FEW_ACCESSES                                                                               \
    "accesses to elements are few, by dacapobench or our kernel; so many locations need more of "  \
    "them"
#define SLIMSTATE(id, base, name, program, knobs, has_threads, share, shadows, shadows_of, why)    \
    static const struct workload_aim slimstate_##id[] = {                                          \
        AIM("threads", "threads", 4, 1, "slimstate, VI, for Java Grande", NULL),                   \
        AIM("array-locations", "%", share, 1, "slimstate, Table III, " program ", % of Total",     \
            FEW_ACCESSES),                                                                         \
        AIM("array-shadow-fraction", "of 1", shadows, shadows_of,                                  \
            "slimstate, Table III, " program ", Shadow Fraction", why),                            \
        LAST_AIM};                                                                                 \
    GAP(slimstate_##id, base, 0)                                                                   \
    TWIN(slimstate_##id, name "@slimstate", "slimstate",                                           \
         "as " program " in SlimState's Table III",                                                \
         ",threads=4,length=64,whole=on,keep=512" KNOB(arrays, share) "," knobs, 0,                \
         &slimstate_##id[(has_threads) ? 0 : 1], &slimstate_##id##_gap)

#include "workloads/twins/twins.def"
