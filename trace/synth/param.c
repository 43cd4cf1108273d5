/* param.c - the generator's parameters: the table, "key=value,..." and what may go together.
 * docs/synth.md has recipes. */
#include "trace/synth/synth_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const char *const fork_names[] = {"roots", "flat", "tree", NULL};
static const char *const size_names[] = {"1", "2", "4", "8", "16", NULL};

#define ROW_U64(field, value, min, max, unit, help)                                                \
    {                                                                                              \
#field, PARAM_U64, offsetof(struct synth_params, field), value, min, max, unit, NULL, help \
    }
#define ROW_MILLE(field, value, help) ROW_U64(field, value, 0, 1000, "per mille", help)
#define ROW_BOOL(field, value, help)                                                               \
    {                                                                                              \
#field, PARAM_BOOL, offsetof(struct synth_params, field), value, 0, 0, "", NULL, help      \
    }

enum { MANY = 1 << 20 };

const struct param synth_param_rows[] = {
    ROW_U64(seed, "1", 0, UINT64_MAX, "",
            "Where the random numbers start: another seed, another trace."),
    ROW_U64(events, "10000", 0, UINT64_C(1) << 48, "events",
            "Events; a collection or region still open then, and what ends asks for, come on top."),
    ROW_U64(threads, "4", 1, MAX_THREADS - 1, "threads",
            "Threads of the program over the whole trace; a collector is one more."),
    {"fork", PARAM_CHOICE, offsetof(struct synth_params, fork), "flat", 0, 0, "", fork_names,
     "Who starts threads: nobody (all are roots), the first thread, or any."},
    ROW_MILLE(
        end_share, "5",
        "Turns in which a thread other than the first ends, if it holds nothing; joins follow."),
    ROW_BOOL(ends, "on", "Finish: release everything, end all threads, join them."),
    ROW_U64(run_max, "10", 1, MANY, "events",
            "Longest run of one thread; runs are uniform from 1 (an operation of several events is "
            "not cut)."),
    ROW_U64(gap_max, "20", 0, INT32_MAX, "instructions",
            "Largest gap before an event; gaps are uniform from 0."),
    ROW_U64(kernel_threads, "0", 0, MAX_THREADS, "threads",
            "Kernel threads that the threads hop between; 0: no thread events."),

    ROW_U64(variables, "64", 1, UINT64_C(1) << 30, "variables", "Shared variables."),
    ROW_U64(privates, "16", 1, MANY, "variables", "Variables that each thread has for itself."),
    ROW_U64(fields, "4", 1, 256, "variables",
            "Variables in an object; one lock protects all of them."),
    ROW_U64(stride, "8", 1, 64, "bytes",
            "Distance of variables; below the granularity several share a granule."),
    {"sizes", PARAM_SET, offsetof(struct synth_params, sizes), "4,8", 0, 0, "", size_names,
     "Sizes of accesses, each as likely; beyond the stride they reach into the next variables."},
    ROW_MILLE(unaligned, "5",
              "Accesses that start inside a variable, or behind it, within its object."),
    ROW_U64(granularity, "8", 1, 8, "bytes",
            "1, 2, 4 or 8: what the source says of itself; heap events are aligned to 8 whatever "
            "it is, renewed parts of objects to this."),

    ROW_MILLE(read_share, "700", "Accesses that read."),
    ROW_MILLE(sharing, "600", "Accesses that go to shared variables."),
    ROW_MILLE(discipline, "960",
              "Accesses to shared variables that are made as they should: under the variable's "
              "lock, or atomic."),
    ROW_MILLE(racy, "20", "Objects that no lock protects, ever."),
    ROW_MILLE(system_share, "20",
              "Accesses and heap events by the runtime, and, rounded up, its part of locks, "
              "volatiles, barriers, classes."),
    ROW_MILLE(flag_share, "20",
              "Accesses with a flag that untracks them: stack (own variables), final (shared); "
              "volatiles with data accesses."),
    ROW_U64(atomics, "4", 0, MANY, "variables",
            "Variables that are atomics, rounded up to whole objects."),
    ROW_MILLE(c11, "0",
              "Stores and read-modify-writes of atomics that go by C11's release sequences; the "
              "others merge, as all did before there was a choice."),

    ROW_MILLE(sync_share, "200", "Events that synchronise, about; discipline may ask for more."),
    ROW_U64(locks, "8", 0, MANY, "locks",
            "Locks; object i has lock i modulo their number. 0: nothing is protected."),
    ROW_MILLE(nested_share, "150",
              "Lock operations of a thread that holds some lock already which acquire: the same "
              "lock again, or another."),
    ROW_MILLE(rw_share, "150", "Acquisitions that are shared."),
    ROW_MILLE(
        wait_share, "30",
        "Synchronisations that are a wait or a notify, where the thread holds a lock for it."),
    ROW_U64(volatiles, "2", 0, MANY, "volatiles", "Volatiles."),
    ROW_U64(barriers, "1", 0, MANY, "barriers", "Barriers."),
    ROW_U64(classes, "2", 0, MANY, "classes", "Classes, initialised by their first user."),
    ROW_MILLE(txn_share, "10", "Steps outside transactions that begin one."),

    ROW_MILLE(heap_share, "20",
              "Steps that are heap operations; 0: objects stay where they are, and no heap events "
              "at all."),
    ROW_MILLE(gc_share, "50", "Heap operations that are a collection which stops the world."),
    ROW_BOOL(allocs, "on",
             "Objects are allocated before their first use; off: clears and copies only."),

    ROW_BOOL(raw, "off",
             "Locks, forks and joins of the program are lowered to ReadVC and WriteVC; no "
             "volatiles, barriers, classes, atomics, waits and transactions."),
    ROW_BOOL(marks, "on", "Regions of interest, phases, input and output."),
    ROW_U64(sites, "100", 0, INT32_MAX, "sites", "Code sites; 0: all unknown."),
    ROW_MILLE(site_share, "200", "Events other than accesses that know their site."),
    ROW_BOOL(names, "on",
             "Names for threads, phases and sites, and, where they stay, objects; of each kind the "
             "first 1000."),
    PARAM_END};

/* ---- text ----------------------------------------------------------------------------------- */

enum { NAMES_MAX = 64 };

static int check_name(const char *name, struct err *e)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    for (const struct param *row = synth_param_rows; row->name; row++) {
        if (!strcmp(row->name, name))
            return 0;
        if (n < NAMES_MAX)
            names[n++] = row->name;
    }
    const char *nearest = nearest_name(name, names, n);
    return err_set(e, LARD_CONFIG, "synth: unknown parameter %.100s; %s%s%s", name,
                   nearest ? "did you mean " : "`lardsim list synth` shows all there are",
                   nearest ? nearest : "", nearest ? "?" : "");
}

/* The message of a configuration, which thinks of --set, is about the generator. */
static int as_synth(const struct err *from, struct err *e)
{
    static const char set[] = "--set: ";
    const size_t skip = strncmp(from->text, set, sizeof set - 1) ? 0 : sizeof set - 1;

    return err_set(e, (enum lard_exit)from->code, "synth: %s", from->text + skip);
}

static int assign(struct config *c, char *assignment, struct err *e)
{
    char *const equals = strchr(assignment, '=');
    struct err inner = {0};

    if (!equals)
        return err_set(e, LARD_CONFIG, "synth: \"%.100s\" has no \"=\"; write key=value,key=value",
                       assignment);
    *equals = '\0';
    const int unknown = check_name(assignment, e);
    *equals = '=';
    if (unknown)
        return -1;
    return config_set(c, assignment, &inner) ? as_synth(&inner, e) : 0;
}

/* The end of the first assignment: a comma after which there is a "=" before the next comma. So
 * that a list of values may have commas: "sizes=1,2,seed=3". */
static char *assignment_end(char *text)
{
    for (;;) {
        char *const comma = text + strcspn(text, ",");
        if (!*comma || comma[1 + strcspn(comma + 1, ",=")] == '=')
            return comma;
        text = comma + 1;
    }
}

static int assign_all(struct config *c, char *text, struct err *e)
{
    while (*text) {
        char *const end = assignment_end(text), *const next = *end ? end + 1 : end;
        *end = '\0';
        if (assign(c, text, e))
            return -1;
        text = next;
    }
    return 0;
}

int synth_parse(struct synth_params *p, const char *assignments, struct err *e)
{
    struct config *c = config_new(NULL);
    char *text = xstrdup(assignments);
    struct err inner = {0};

    *p = (struct synth_params){0};
    int status = assign_all(c, text, e);
    if (!status && config_bind(c, "", synth_param_rows, p, &inner))
        status = as_synth(&inner, e);
    free(text);
    config_free(c);
    return status;
}

/* ---- what may go together ------------------------------------------------------------------- */

int synth_check(const struct synth_params *p, struct err *e)
{
    const uint64_t clocks_max = 1 << 24, objects_max = 1 << 22;

    if (!p->sizes)
        return err_set(e, LARD_CONFIG,
                       "synth: sizes: none of its choices; `lardsim list synth` shows them");
    if (p->granularity & (p->granularity - 1))
        return err_set(e, LARD_CONFIG, "synth: granularity: give 1, 2, 4 or 8");
    if (p->raw && p->threads * (p->threads + p->locks) > clocks_max)
        return err_set(e, LARD_CONFIG,
                       "synth: raw=on: too many clocks, as threads * (threads + "
                       "locks) exceeds 16 Mi; use fewer threads or locks");
    if (p->heap_share && p->variables / p->fields >= objects_max)
        return err_set(e, LARD_CONFIG,
                       "synth: heap_share: more than 4 Mi objects can't move; use "
                       "fewer variables, more fields, or heap_share=0");
    return 0;
}
