/* t_rules.c - each stream rule accepts what it should and rejects what it should, by a table of
 * minimal streams; what errors say; what may be open at the end. t_rules_state.c has random streams
 * and bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

enum { GOOD, BAD, FULL = 2 }; /* BAD: the last event breaks the rule; FULL: of rules_new */

struct stream {
    enum rule_id rule;
    int how;
    const char *name;
    const char *text; /* "thread kind operands flags; ...", operands as in trace.h's forms */
};

static const struct stream streams[] = {
    {RULE_START_FIRST, GOOD, "start, then act", "0 start; 0 io"},
    {RULE_START_FIRST, GOOD, "no start at all", "7 io"},
    {RULE_START_FIRST, GOOD, "a forked thread starts", "0 fork 1; 1 start; 1 io"},
    {RULE_START_FIRST, BAD, "act, then start", "0 io; 0 start"},
    {RULE_START_FIRST, BAD, "start twice", "0 start; 0 start"},
    {RULE_START_FIRST, BAD, "kernel thread before", "0 thread 3; 0 start"},

    {RULE_FORK_NEW, GOOD, "a new thread", "0 fork 65535; 65535 io"},
    {RULE_FORK_NEW, GOOD, "by a thread whose number is higher", "65535 fork 0"},
    {RULE_FORK_NEW, BAD, "one that has acted", "1 io; 0 fork 1"},
    {RULE_FORK_NEW, BAD, "one that was forked", "0 fork 1; 0 fork 1"},
    {RULE_FORK_NEW, BAD, "itself", "0 fork 0"},
    {RULE_FORK_NEW, BAD, "one that was joined", "0 fork 1; 0 join 1; 0 fork 1"},

    {RULE_END_LAST, GOOD, "end", "0 io; 0 end; 1 io"},
    {RULE_END_LAST, BAD, "act after end", "0 end; 0 io"},
    {RULE_END_LAST, BAD, "read after end", "0 io; 0 end; 0 read 64 8"},
    {RULE_END_LAST, BAD, "end twice", "0 end; 0 end"},
    {RULE_END_LAST, BAD, "act after join", "1 io; 0 join 1; 1 io"},
    {RULE_END_LAST, BAD, "read after join", "1 io; 0 join 1; 1 write 64 8"},
    {RULE_END_LAST, BAD, "first act after join", "0 fork 1; 0 join 1; 1 io"},
    {RULE_END_LAST, BAD, "end after join", "1 io; 0 join 1; 1 end"},

    {RULE_JOIN_KNOWN, GOOD, "one that ended", "1 end; 0 join 1"},
    {RULE_JOIN_KNOWN, GOOD, "one that did not end", "1 io; 0 join 1"},
    {RULE_JOIN_KNOWN, GOOD, "one that never acted", "0 fork 1; 0 join 1"},
    {RULE_JOIN_KNOWN, GOOD, "several times", "1 io; 0 join 1; 0 join 1; 2 join 1"},
    {RULE_JOIN_KNOWN, BAD, "an unknown one", "0 io; 0 join 1"},
    {RULE_JOIN_KNOWN, BAD, "an unknown, distant one", "0 join 65535"},
    {RULE_JOIN_KNOWN, BAD, "itself", "0 io; 0 join 0"},

    {RULE_END_CLEAN, GOOD, "all released",
     "0 acq 64; 0 acq 64; 0 rel 64; 0 rel 64; 0 acq-shared 64; 0 rel-shared 64; 0 txn-begin; 0 "
     "txn-commit; 0 end"},
    {RULE_END_CLEAN, GOOD, "released where the lock moved to",
     "0 acq 64; 1 copy 128 64 8; 0 rel 128; 0 end"},
    {RULE_END_CLEAN, GOOD, "after a wait",
     "0 acq 64; 0 wait-enter 64; 0 wait-exit 64; 0 rel 64; 0 end"},
    {RULE_END_CLEAN, BAD, "holds a lock", "0 acq 64; 0 end"},
    {RULE_END_CLEAN, BAD, "holds an outer nesting", "0 acq 64; 0 acq 64; 0 rel 64; 0 end"},
    {RULE_END_CLEAN, BAD, "holds a lock shared", "0 acq-shared 64; 0 end"},
    {RULE_END_CLEAN, BAD, "holds it after a wait",
     "0 acq 64; 0 wait-enter 64; 0 wait-exit 64; 0 end"},
    {RULE_END_CLEAN, BAD, "waits", "0 acq 64; 0 wait-enter 64; 0 end"},
    {RULE_END_CLEAN, BAD, "at a barrier", "0 arrive 64 0; 0 end"},
    {RULE_END_CLEAN, BAD, "in a transaction", "0 txn-begin; 0 end"},

    {RULE_ACQUIRE_FREE, GOOD, "one after the other", "0 acq 64; 0 rel 64; 1 acq 64; 1 rel 64"},
    {RULE_ACQUIRE_FREE, GOOD, "locks in the same granule, and other objects there",
     "0 acq 64; 1 acq 65; 2 acq 71; 3 class-init 64; 4 arrive 64 1; 1 rel 65; 2 rel 71; 0 rel 64; "
     "5 class-use 64"},
    {RULE_ACQUIRE_FREE, GOOD, "many share", "0 acq-shared 64; 1 acq-shared 64; 1 acq-shared 64"},
    {RULE_ACQUIRE_FREE, GOOD, "the only sharer upgrades",
     "0 acq-shared 64; 0 acq 64; 0 rel-shared 64; 0 rel 64"},
    {RULE_ACQUIRE_FREE, GOOD, "the owner shares",
     "0 acq 64; 0 acq-shared 64; 0 rel 64; 1 acq-shared 64; 0 rel-shared 64"},
    {RULE_ACQUIRE_FREE, GOOD, "while the owner waits", "0 acq 64; 0 wait-enter 64; 1 acq 64"},
    {RULE_ACQUIRE_FREE, GOOD, "a free lock's memory, copied and cleared",
     "0 acq 64; 0 rel 64; 0 copy 128 64 8; 1 acq 128; 2 acq 64 system"},
    {RULE_ACQUIRE_FREE, GOOD, "where a lock was before it moved, once cleared",
     "0 acq 64; 1 copy 128 64 8; 1 clear 64 8; 1 acq 64"},
    {RULE_ACQUIRE_FREE, GOOD, "the last address", "0 acq 0xffffffffffffffff; 1 acq 0"},
    {RULE_ACQUIRE_FREE, BAD, "held exclusive", "0 acq 64; 1 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "held exclusive, wants shared", "0 acq 64; 1 acq-shared 64"},
    {RULE_ACQUIRE_FREE, BAD, "held shared, wants exclusive", "0 acq-shared 64; 1 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "one of two sharers upgrades",
     "0 acq-shared 64; 1 acq-shared 64; 0 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "the runtime's locks are locks", "0 acq 64 system; 1 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "still nested", "0 acq 64; 0 acq 64; 0 rel 64; 1 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "a wait exits while another holds it",
     "0 acq 64; 0 wait-enter 64; 1 acq 64; 0 wait-exit 64"},
    {RULE_ACQUIRE_FREE, BAD, "held where it moved to", "0 acq 64; 1 copy 128 64 8; 1 acq 128"},
    {RULE_ACQUIRE_FREE, BAD, "shared where it moved to",
     "0 acq-shared 64; 1 copy 128 64 8; 1 acq 128"},
    {RULE_ACQUIRE_FREE, BAD, "where it was before it moved",
     "0 acq 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 acq 64"},
    {RULE_ACQUIRE_FREE, BAD, "a second copy of a lock that moved",
     "0 acq 64; 1 gc-begin system; 1 copy 128 64 8; 1 copy 192 64 8; 1 gc-end system; 1 acq-shared "
     "192"},

    {RULE_RELEASE_HELD, GOOD, "a collection moves a lock that is held",
     "0 acq 64; 0 acq 64; 1 gc-begin system; 1 copy 128 64 64; 1 clear 64 64; 1 gc-end system; 0 "
     "rel 128; 0 rel 128"},
    {RULE_RELEASE_HELD, GOOD, "two moves",
     "0 acq-shared 65; 1 copy 128 64 8; 1 clear 64 8; 1 copy 256 128 8; 1 clear 128 8; 0 "
     "rel-shared 257"},
    {RULE_RELEASE_HELD, GOOD, "moves up over itself",
     "0 acq 64; 1 acq 72; 2 copy 72 64 16; 2 clear 64 8; 0 rel 72; 1 rel 80"},
    {RULE_RELEASE_HELD, GOOD, "moves down over itself",
     "0 acq 72; 1 acq 80; 2 copy 64 72 16; 2 clear 80 8; 0 rel 64; 1 rel 72"},
    {RULE_RELEASE_HELD, GOOD, "a copy onto itself",
     "0 acq 64; 1 copy 64 64 8; 0 rel 64; 1 clear 64 8"},
    {RULE_RELEASE_HELD, GOOD, "the old place takes a new lock, and may be copied over",
     "0 acq 64; 1 copy 128 64 8; 1 copy 64 192 8; 1 acq 64; 1 rel 64; 0 rel 128"},
    {RULE_RELEASE_HELD, GOOD, "a lock beside the region",
     "0 acq 63; 0 acq 72; 1 clear 64 8; 0 rel 63; 0 rel 72"},
    {RULE_RELEASE_HELD, GOOD, "a free lock is cleared", "0 acq 64; 0 rel 64; 1 clear 64 8"},
    {RULE_RELEASE_HELD, BAD, "not held", "0 rel 64"},
    {RULE_RELEASE_HELD, BAD, "not held shared", "0 rel-shared 64"},
    {RULE_RELEASE_HELD, BAD, "another's", "0 acq 64; 1 rel 64"},
    {RULE_RELEASE_HELD, BAD, "another's share", "0 acq-shared 64; 1 rel-shared 64"},
    {RULE_RELEASE_HELD, BAD, "held shared", "0 acq-shared 64; 0 rel 64"},
    {RULE_RELEASE_HELD, BAD, "held exclusive", "0 acq 64; 0 rel-shared 64"},
    {RULE_RELEASE_HELD, BAD, "once too often", "0 acq 64; 0 rel 64; 0 rel 64"},
    {RULE_RELEASE_HELD, BAD, "a share once too often",
     "0 acq-shared 64; 0 acq-shared 64; 0 rel-shared 64; 0 rel-shared 64; 0 rel-shared 64"},
    {RULE_RELEASE_HELD, BAD, "where it was before it moved",
     "0 acq 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 rel 64"},
    {RULE_RELEASE_HELD, BAD, "a share where it was before it moved",
     "0 acq-shared 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 rel-shared 64"},
    {RULE_RELEASE_HELD, BAD, "cleared while held", "0 acq 71; 1 clear 64 8"},
    {RULE_RELEASE_HELD, BAD, "cleared while shared", "0 acq-shared 64; 1 clear 64 8"},
    {RULE_RELEASE_HELD, BAD, "cleared while waited on",
     "0 acq 64; 0 wait-enter 64; 1 clear 0 4096"},
    {RULE_RELEASE_HELD, BAD, "cleared where it moved to",
     "0 acq 64; 1 copy 128 64 8; 1 clear 128 8"},
    {RULE_RELEASE_HELD, BAD, "overwritten by a copy while held", "0 acq 128; 1 copy 128 64 8"},
    {RULE_RELEASE_HELD, BAD, "overwritten by an overlapping copy while held",
     "0 acq 80; 1 copy 72 64 16"},
    {RULE_RELEASE_HELD, BAD, "at the top",
     "0 acq 0xffffffffffffffff; 1 clear 0xffffffffffffffc0 64"},

    {RULE_WAIT_HELD, GOOD, "the nesting is as before",
     "0 acq 64; 0 acq 64; 0 wait-enter 64; 1 acq 64; 1 notify 64; 1 rel 64; 0 wait-exit 64; 0 rel "
     "64; 0 rel 64"},
    {RULE_WAIT_HELD, GOOD, "two wait",
     "0 acq 64; 0 wait-enter 64; 1 acq 64; 1 wait-enter 64; 0 wait-exit 64; 0 rel 64; 1 wait-exit "
     "64"},
    {RULE_WAIT_HELD, GOOD, "the lock moves meanwhile",
     "0 acq 64; 0 wait-enter 64; 1 copy 128 64 8; 1 clear 64 8; 0 wait-exit 128; 0 rel 128"},
    {RULE_WAIT_HELD, BAD, "not held", "0 wait-enter 64"},
    {RULE_WAIT_HELD, BAD, "held shared", "0 acq-shared 64; 0 wait-enter 64"},
    {RULE_WAIT_HELD, BAD, "another's", "0 acq 64; 1 wait-enter 64"},
    {RULE_WAIT_HELD, BAD, "no wait to exit", "0 acq 64; 0 wait-exit 64"},
    {RULE_WAIT_HELD, BAD, "another lock's wait", "0 acq 64; 0 wait-enter 64; 0 wait-exit 72"},
    {RULE_WAIT_HELD, BAD, "another lock's wait, one that exists",
     "1 acq 72; 1 wait-enter 72; 0 acq 64; 0 wait-enter 64; 0 wait-exit 72"},
    {RULE_WAIT_HELD, BAD, "acts while it waits", "0 acq 64; 0 wait-enter 64; 0 acq 72"},
    {RULE_WAIT_HELD, BAD, "reads while it waits", "0 acq 64; 0 wait-enter 64; 0 read 8 8"},
    {RULE_WAIT_HELD, BAD, "where the lock was before it moved",
     "0 acq 64; 0 wait-enter 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 wait-exit "
     "64"},
    {RULE_WAIT_HELD, BAD, "waits where the lock was before it moved",
     "0 acq 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 wait-enter 64"},

    {RULE_BARRIER_ROUND, GOOD, "rounds, the next before all have left",
     "0 arrive 64 0; 1 arrive 64 0; 1 depart 64 0; 1 arrive 64 1; 0 depart 64 0; 0 arrive 64 1; 0 "
     "depart 64 1; 1 depart 64 1"},
    {RULE_BARRIER_ROUND, GOOD, "moves meanwhile",
     "0 arrive 64 5; 1 copy 128 64 8; 1 clear 64 8; 0 depart 128 5; 0 arrive 128 "
     "0xffffffffffffffff"},
    {RULE_BARRIER_ROUND, GOOD, "starts over when cleared",
     "0 arrive 64 5; 0 depart 64 5; 0 clear 64 8; 0 arrive 64 5"},
    {RULE_BARRIER_ROUND, GOOD, "an idle one is copied: two barriers",
     "0 arrive 64 5; 0 depart 64 5; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 arrive "
     "64 6; 1 arrive 128 6; 1 depart 128 6; 0 depart 64 6"},
    {RULE_BARRIER_ROUND, BAD, "departs without arriving", "0 depart 64 0"},
    {RULE_BARRIER_ROUND, BAD, "departs twice", "0 arrive 64 0; 0 depart 64 0; 0 depart 64 0"},
    {RULE_BARRIER_ROUND, BAD, "departs from another round", "0 arrive 64 0; 0 depart 64 1"},
    {RULE_BARRIER_ROUND, BAD, "departs from another barrier",
     "1 arrive 72 0; 0 arrive 64 0; 0 depart 72 0"},
    {RULE_BARRIER_ROUND, BAD, "departs from the copy of an idle one",
     "0 arrive 64 5; 0 depart 64 5; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 arrive "
     "64 6; 0 depart 128 6"},
    {RULE_BARRIER_ROUND, BAD, "acts between", "0 arrive 64 0; 0 arrive 72 0"},
    {RULE_BARRIER_ROUND, BAD, "reads between", "0 arrive 64 0; 0 read 64 8"},
    {RULE_BARRIER_ROUND, BAD, "arrives after a departure",
     "0 arrive 64 0; 0 depart 64 0; 1 arrive 64 0"},
    {RULE_BARRIER_ROUND, BAD, "arrives at a round that is over",
     "0 arrive 64 5; 0 depart 64 5; 1 arrive 64 4"},
    {RULE_BARRIER_ROUND, BAD, "a late departure does not reopen rounds",
     "0 arrive 64 1; 1 arrive 64 2; 1 depart 64 2; 0 depart 64 1; 0 arrive 64 2"},
    {RULE_BARRIER_ROUND, BAD, "cleared meanwhile", "0 arrive 64 0; 1 clear 64 8"},
    {RULE_BARRIER_ROUND, BAD, "departs where it was before it moved",
     "0 arrive 64 0; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 depart 64 0"},
    {RULE_BARRIER_ROUND, BAD, "arrives where it was before it moved",
     "0 arrive 64 0; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 1 arrive 64 1"},

    {RULE_CLASS_INIT_ONCE, GOOD, "init, use, use",
     "0 class-init 64; 0 class-use 64; 1 class-use 64"},
    {RULE_CLASS_INIT_ONCE, GOOD, "again after a clear",
     "0 class-init 64; 0 clear 64 8; 0 class-init 64"},
    {RULE_CLASS_INIT_ONCE, GOOD, "is what it was where it moved to, and where it was",
     "0 class-init 64; 0 gc-begin system; 0 copy 128 64 8; 0 gc-end system; 0 class-use 128; 0 "
     "class-use 64"},
    {RULE_CLASS_INIT_ONCE, BAD, "use first", "0 class-use 64"},
    {RULE_CLASS_INIT_ONCE, BAD, "init twice", "0 class-init 64; 1 class-init 64"},
    {RULE_CLASS_INIT_ONCE, BAD, "use after a clear",
     "0 class-init 64; 0 clear 64 8; 0 class-use 64"},
    {RULE_CLASS_INIT_ONCE, BAD, "use after an empty copy over it",
     "0 class-init 64; 0 copy 64 128 8; 0 class-use 64"},

    {RULE_TXN_NEST, GOOD, "begin, access, commit, twice",
     "0 txn-begin; 0 read 64 8 txn; 0 write 64 8; 0 rmw 64 8 relaxed; 0 txn-commit; 0 txn-begin; 0 "
     "txn-commit"},
    {RULE_TXN_NEST, GOOD, "three at a time, committed in another order",
     "0 txn-begin; 1 txn-begin; 2 txn-begin; 0 txn-commit; 2 txn-commit; 1 txn-commit"},
    {RULE_TXN_NEST, BAD, "nested", "0 txn-begin; 0 txn-begin"},
    {RULE_TXN_NEST, BAD, "commit without begin", "1 txn-begin; 0 txn-commit"},
    {RULE_TXN_NEST, BAD, "access outside", "0 read 64 8 txn"},
    {RULE_TXN_NEST, BAD, "access after the commit", "0 txn-begin; 0 txn-commit; 0 read 64 8 txn"},
    {RULE_TXN_NEST, BAD, "atomic access", "0 txn-begin; 0 rmw 64 8 txn relaxed"},

    {RULE_TXN_HEAP, GOOD, "beside, and after the commit",
     "0 txn-begin; 0 read 64 8 txn; 0 read 256 8; 1 clear 56 8; 1 clear 72 8; 1 clear 256 8; 0 "
     "txn-commit; 1 clear 64 8"},
    {RULE_TXN_HEAP, GOOD, "one commits, the others stay open",
     "0 txn-begin; 1 txn-begin; 0 read 64 8 txn; 1 read 72 8 txn; 0 txn-commit; 0 clear 64 8"},
    {RULE_TXN_HEAP, BAD, "one commits, the others stay open",
     "0 txn-begin; 1 txn-begin; 0 read 64 8 txn; 1 read 72 8 txn; 0 txn-commit; 0 clear 64 16"},
    {RULE_TXN_HEAP, BAD, "two of three commit",
     "0 txn-begin; 1 txn-begin; 2 txn-begin; 1 read 64 8 txn; 0 txn-commit; 2 txn-commit; 0 clear "
     "64 8"},
    {RULE_TXN_HEAP, BAD, "clears the first byte", "0 txn-begin; 0 read 64 8 txn; 1 clear 0 65"},
    {RULE_TXN_HEAP, BAD, "clears the last byte", "0 txn-begin; 0 read 64 8 txn; 0 clear 71 8"},
    {RULE_TXN_HEAP, BAD, "copies it away", "0 txn-begin; 0 read 64 8 txn; 1 copy 128 64 8"},
    {RULE_TXN_HEAP, BAD, "copies over it", "0 txn-begin; 0 read 64 8 txn; 1 copy 64 128 8"},

    {RULE_ALLOC_FRESH, GOOD, "neighbours, and again after a clear",
     "0 alloc 64 64; 0 alloc 128 64; 0 alloc 0 64; 0 clear 64 64; 0 alloc 64 64"},
    {RULE_ALLOC_FRESH, GOOD, "huge ones",
     "0 alloc 0 0x8000000000000000; 0 alloc 0x8000000000000000 0x8000000000000000; 0 clear 0 "
     "0xffffffffffffffff; 0 alloc 0 0xffffffffffffffff"},
    {RULE_ALLOC_FRESH, BAD, "the same", "0 alloc 64 64; 0 alloc 64 64"},
    {RULE_ALLOC_FRESH, BAD, "the first byte", "0 alloc 64 64; 0 alloc 0 65"},
    {RULE_ALLOC_FRESH, BAD, "the last byte", "0 alloc 64 64; 0 alloc 127 64"},
    {RULE_ALLOC_FRESH, BAD, "inside", "0 alloc 64 64; 0 alloc 72 8"},
    {RULE_ALLOC_FRESH, BAD, "around", "0 alloc 64 8; 0 alloc 0 128"},
    {RULE_ALLOC_FRESH, BAD, "copied to", "0 copy 128 64 8; 0 alloc 128 8"},
    {RULE_ALLOC_FRESH, BAD, "the top byte",
     "0 alloc 0xffffffffffffffc0 64; 0 alloc 0xffffffffffffffff 1"},

    {RULE_HEAP_ALLOCATED, GOOD, "no allocation before: anything goes",
     "0 clear 64 8; 0 copy 128 64 8; 0 clear 0 0xffffffffffffffff"},
    {RULE_HEAP_ALLOCATED, GOOD, "a move of two neighbours at once",
     "0 alloc 64 8; 0 alloc 72 8; 0 copy 128 64 16; 0 clear 64 16; 0 copy 64 128 16; 0 clear 136 "
     "8"},
    {RULE_HEAP_ALLOCATED, BAD, "clears other memory", "0 alloc 64 8; 0 clear 72 8"},
    {RULE_HEAP_ALLOCATED, BAD, "clears twice", "0 alloc 64 8; 0 clear 64 8; 0 clear 64 8"},
    {RULE_HEAP_ALLOCATED, BAD, "clears a byte too many, below", "0 alloc 64 8; 0 clear 63 9"},
    {RULE_HEAP_ALLOCATED, BAD, "clears a byte too many, above", "0 alloc 64 8; 0 clear 64 9"},
    {RULE_HEAP_ALLOCATED, BAD, "clears over a gap", "0 alloc 64 8; 0 alloc 80 8; 0 clear 64 24"},
    {RULE_HEAP_ALLOCATED, BAD, "copies other memory", "0 alloc 64 8; 0 copy 128 72 8"},

    {RULE_COPY_EMPTY, GOOD | FULL, "accessed by the runtime, on the stack, finals, volatiles",
     "0 read 128 8 system; 0 read 128 8 stack; 0 read 128 8 final; 0 write 128 8 volatile; 0 copy "
     "128 64 8"},
    {RULE_COPY_EMPTY, GOOD | FULL, "accessed, then cleared",
     "0 write 128 8; 0 clear 128 8; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, GOOD | FULL, "accessed beside",
     "0 write 127 1; 0 write 136 1; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, GOOD | FULL, "accessed where it is also the source, up and down",
     "0 write 64 16; 0 copy 72 64 16; 0 clear 64 8; 0 copy 64 72 16"},
    {RULE_COPY_EMPTY, GOOD | FULL, "onto itself, and a source without accesses twice",
     "0 write 64 8; 0 gc-begin system; 0 copy 64 64 8; 0 gc-end system; 0 gc-begin system; 0 copy "
     "256 128 8; 0 gc-end system; 0 gc-begin system; 0 copy 256 128 8; 0 gc-end system"},
    {RULE_COPY_EMPTY, GOOD, "not a rule of traces that are not checked in full",
     "0 write 128 8; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed", "0 read 135 1; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed by an atomic", "0 rmw 128 4 relaxed; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed in a transaction",
     "0 txn-begin; 0 write 128 8 txn; 0 txn-commit; 0 copy 128 64 8"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed at the far end of a large access",
     "0 write 128 65536; 0 copy 65663 64 8"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed where it came from",
     "0 write 67 1; 0 copy 128 64 8; 0 copy 131 256 1"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed outside the source, above",
     "0 write 80 1; 0 copy 72 64 16"},
    {RULE_COPY_EMPTY, BAD | FULL, "accessed outside the source, below",
     "0 write 71 1; 0 copy 64 72 16"},
    {RULE_COPY_EMPTY, BAD | FULL, "at the top",
     "0 write 0xffffffffffffffff 1; 0 copy 0xffffffffffffffc0 0 64"},

    {RULE_MOVED_AWAY, FULL | GOOD, "at the new place", "0 copy 128 64 16; 1 write 136 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "at the old place before the copy",
     "0 write 72 8; 1 copy 128 64 16; 0 read 136 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "beside what has moved", "0 copy 128 64 16; 1 write 80 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "in a new life",
     "0 copy 128 64 16; 0 clear 64 16; 1 write 72 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "where something else has come",
     "0 copy 128 64 16; 0 clear 64 16; 0 copy 64 256 16; 1 write 72 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "the runtime looks at the old header",
     "0 copy 128 64 16; 1 read 64 8 system"},
    {RULE_MOVED_AWAY, FULL | GOOD, "a copy in a pause",
     "0 gc-begin system; 0 copy 128 64 16; 0 gc-end system; 1 read 72 8"},
    {RULE_MOVED_AWAY, FULL | GOOD, "where source and destination overlap",
     "0 copy 64 72 16; 1 read 72 8"},
    {RULE_MOVED_AWAY, FULL | BAD, "an access at the old place", "0 copy 128 64 16; 1 write 72 8"},
    {RULE_MOVED_AWAY, FULL | BAD, "an access that ends in it", "0 copy 128 64 16; 1 read 60 8"},
    {RULE_MOVED_AWAY, FULL | BAD, "what an overlapping copy leaves",
     "0 copy 64 72 16; 1 read 80 8"},
    {RULE_MOVED_AWAY, FULL | BAD, "beside a part that was cleared",
     "0 copy 128 64 16; 0 clear 64 8; 1 read 72 8"},
    {RULE_MOVED_AWAY, FULL | BAD, "a lock at the old place", "0 copy 128 64 16; 1 acq 64"},
    {RULE_MOVED_AWAY, FULL | BAD, "a volatile at the old place", "0 copy 128 64 16; 1 vread 64"},
    {RULE_MOVED_AWAY, FULL | GOOD, "moved again from the old place",
     "0 copy 128 64 16; 1 copy 256 64 16"},

    {RULE_GC_PAUSE, GOOD, "the runtime, heap events and marks",
     "0 io; 0 gc-begin; 0 acq 64 system; 0 read 64 8 system; 0 alloc 64 8; 0 copy 128 64 8; 0 "
     "clear 64 8; 0 io; 0 phase 1; 1 roi-begin; 1 roi-end; 2 gc-end; 0 read 64 8; 0 gc-begin; 0 "
     "gc-end"},
    {RULE_GC_PAUSE, BAD, "nested", "0 gc-begin; 1 gc-begin"},
    {RULE_GC_PAUSE, BAD, "end without begin", "0 gc-end"},
    {RULE_GC_PAUSE, BAD, "two ends", "0 gc-begin; 0 gc-end; 0 gc-end"},
    {RULE_GC_PAUSE, BAD, "the program reads", "1 io; 0 gc-begin; 1 read 64 8"},
    {RULE_GC_PAUSE, BAD, "the program locks", "0 gc-begin; 1 acq 64"},
    {RULE_GC_PAUSE, BAD, "a program thread starts", "0 gc-begin; 1 start"},
    {RULE_GC_PAUSE, BAD, "the program reads clocks", "0 gc-begin; 1 readvc 0 0"},

    {RULE_ROI_NEST, GOOD, "one after the other, by different threads",
     "0 roi-begin; 1 roi-end; 2 roi-begin; 0 roi-end"},
    {RULE_ROI_NEST, BAD, "nested", "0 roi-begin; 1 roi-begin"},
    {RULE_ROI_NEST, BAD, "end without begin", "0 roi-end"},

    {RULE_ONE_LEVEL, GOOD, "clocks with the system's synchronisation, starts and ends",
     "0 start; 0 acq 64 system; 0 readvc 0 1; 0 writevc 0 2; 0 rel 64 system; 0 thread 1; 0 notify "
     "64; 0 txn-begin; 0 rmw 64 8 relaxed; 0 rmw 64 8 seq-cst system; 0 txn-commit system; 0 end"},
    {RULE_ONE_LEVEL, GOOD, "clocks with atomic accesses whose order does nothing",
     "0 readvc 0 1; 0 write 64 8 relaxed; 0 read 64 8 release; 0 write 64 8 acquire"},
    {RULE_ONE_LEVEL, GOOD, "kernel threads with the program's synchronisation",
     "0 thread 1; 0 acq 64; 0 thread 2"},
    {RULE_ONE_LEVEL, BAD, "clock, then lock", "0 readvc 0 1; 0 acq 64"},
    {RULE_ONE_LEVEL, BAD, "lock, then clock", "0 acq 64; 1 writevc 1 2"},
    {RULE_ONE_LEVEL, BAD, "clock, then fork", "0 writevc 0 2; 0 fork 1"},
    {RULE_ONE_LEVEL, BAD, "clock, then join", "1 io; 0 writevc 0 2; 0 join 1"},
    {RULE_ONE_LEVEL, BAD, "clock, then commit", "0 readvc 0 1; 0 txn-begin; 0 txn-commit"},
    {RULE_ONE_LEVEL, BAD, "volatile, then clock", "0 vread 64; 0 readvc 0 0"},
    {RULE_ONE_LEVEL, BAD, "clock, then atomic read", "0 readvc 0 1; 0 read 64 8 acquire"},
    {RULE_ONE_LEVEL, BAD, "clock, then atomic write", "0 readvc 0 1; 0 write 64 8 release"},
    {RULE_ONE_LEVEL, BAD, "clock, then atomic rmw", "0 readvc 0 1; 0 rmw 64 8 release"},
    {RULE_ONE_LEVEL, BAD, "atomic read, then clock", "0 io; 0 read 64 8 seq-cst; 0 readvc 0 1"},

    {RULE_HOLD_SIDE, GOOD, "both sides, in any order of nesting",
     "0 acq 64; 0 acq 64 system; 0 acq 64; 0 rel 64; 0 rel 64; 0 rel 64 system; 0 end"},
    {RULE_HOLD_SIDE, GOOD, "both sides share, in any order of nesting",
     "0 acq-shared 64 system; 0 acq-shared 64; 0 rel-shared 64 system; 0 rel-shared 64; 1 acq 64"},
    {RULE_HOLD_SIDE, GOOD, "the program exclusive, the system shared",
     "0 acq 64; 0 acq-shared 64 system; 0 rel 64; 0 rel-shared 64 system; 0 end"},
    {RULE_HOLD_SIDE, GOOD, "another thread's side",
     "0 acq-shared 64; 1 acq-shared 64 system; 0 rel-shared 64; 1 rel-shared 64 system; 2 acq 64"},
    {RULE_HOLD_SIDE, GOOD, "one side after the other",
     "0 acq 64; 0 rel 64; 0 acq 64 system; 0 rel 64 system"},
    {RULE_HOLD_SIDE, GOOD, "waits by the system",
     "0 acq 64 system; 0 acq 64 system; 0 wait-enter 64 system; 1 acq 64; 1 rel 64; 0 wait-exit 64 "
     "system; 0 rel 64 system; 0 rel 64 system; 0 end"},
    {RULE_HOLD_SIDE, BAD, "the program's, released by the system", "0 acq 64; 0 rel 64 system"},
    {RULE_HOLD_SIDE, BAD, "the system's, released by the program", "0 acq 64 system; 0 rel 64"},
    {RULE_HOLD_SIDE, BAD, "the program's share", "0 acq-shared 64; 0 rel-shared 64 system"},
    {RULE_HOLD_SIDE, BAD, "the system's share", "0 acq-shared 64 system; 0 rel-shared 64"},
    {RULE_HOLD_SIDE, BAD, "once too often by one side",
     "0 acq 64; 0 acq 64 system; 0 rel 64; 0 rel 64"},
    {RULE_HOLD_SIDE, BAD, "a share once too often by one side",
     "0 acq-shared 64; 0 acq-shared 64 system; 0 rel-shared 64 system; 0 rel-shared 64 system"},
    {RULE_HOLD_SIDE, BAD, "where it moved to",
     "0 acq 64 system; 1 copy 128 64 8; 1 clear 64 8; 0 rel 128"},
    {RULE_HOLD_SIDE, BAD, "waits by the other side", "0 acq 64; 0 wait-enter 64 system"},
    {RULE_HOLD_SIDE, BAD, "waits while both sides hold it",
     "0 acq 64; 0 acq 64 system; 0 wait-enter 64"},
    {RULE_HOLD_SIDE, BAD, "exits the wait by the other side",
     "0 acq 64; 0 wait-enter 64; 0 wait-exit 64 system"},
    {RULE_HOLD_SIDE, BAD, "releases by the other side after a wait",
     "0 acq 64 system; 0 wait-enter 64 system; 0 wait-exit 64 system; 0 rel 64"},

    {RULE_CLOCK_SANE, GOOD, "own times grow, others' are left behind and do not fall",
     "0 writevc 0 2; 0 writevc 0 9; 1 writevc 0 7; 1 writevc 0 7; 1 writevc 0 8; 1 "
     "writevc 3 0; 65534 writevc 65534 2; 65535 writevc 65534 1"},
    {RULE_CLOCK_SANE, GOOD, "a thread that ended has left its last time behind",
     "0 writevc 0 2; 0 end; 1 writevc 0 2"},
    {RULE_CLOCK_SANE, GOOD, "the system knows of all times",
     "1 writevc 1 9 system; 0 writevc 1 8 system; 2 writevc 1 0"},
    {RULE_CLOCK_SANE, BAD, "the program knows of its own alone",
     "1 writevc 1 9 system; 0 writevc 1 8"},
    {RULE_CLOCK_SANE, BAD, "own time stands", "0 writevc 0 1"},
    {RULE_CLOCK_SANE, BAD, "own time falls", "0 writevc 0 9; 0 writevc 0 8"},
    {RULE_CLOCK_SANE, BAD, "another's is not over, at first", "0 writevc 1 1"},
    {RULE_CLOCK_SANE, BAD, "another's is not over", "1 writevc 1 9; 0 writevc 1 9"},
    {RULE_CLOCK_SANE, BAD, "another's falls",
     "1 writevc 1 10; 0 writevc 1 9; 2 writevc 1 3; 0 writevc 1 8"},
    {RULE_CLOCK_SANE, BAD, "another's falls to never",
     "1 writevc 1 2; 0 writevc 1 1; 0 writevc 1 0"},
};

/* ---- streams from text ---------------------------------------------------------------------- */

static unsigned flag_by_text(const char *word)
{
    static const struct {
        const char *text;
        unsigned flag;
    } flags[] = {{"system", EVF_SYSTEM},
                 {"stack", EVF_STACK},
                 {"volatile", EVF_VOLATILE},
                 {"final", EVF_FINAL},
                 {"txn", EVF_IN_TXN},
                 {"relaxed", ORDER_RELAXED << EVF_ORDER_SHIFT},
                 {"acquire", ORDER_ACQUIRE << EVF_ORDER_SHIFT},
                 {"release", ORDER_RELEASE << EVF_ORDER_SHIFT},
                 {"seq-cst", ORDER_SEQ_CST << EVF_ORDER_SHIFT}};

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (!strcmp(word, flags[i].text))
            return flags[i].flag;
    fail_msg("no flag: %s", word);
    return 0;
}

/* Puts the operands where the kind's form wants them. */
static void set_operands(struct event ev[2], const uint64_t *operand)
{
    switch ((enum ev_form)ev_info[ev->kind].form) {
    case FORM_ACCESS:
        ev->addr = operand[0];
        ev->size = (uint32_t)operand[1];
        break;
    case FORM_COPY:
        ev->flags |= EVF_MORE;
        ev[1].addr = operand[1];
        ev->addr = operand[0];
        ev->aux = operand[2];
        break;
    case FORM_OBJECT:
    case FORM_ROUND:
    case FORM_REGION:
    case FORM_ALLOC:
        ev->addr = operand[0];
        ev->aux = operand[1];
        break;
    case FORM_CLOCK:
        ev->aux = operand[0];
        ev->addr = operand[1];
        break;
    case FORM_THREAD:
    case FORM_KERNEL:
    case FORM_PHASE:
    case FORM_TIME:
    case FORM_WAITED:
    case FORM_COUNT:
    case FORM_BRANCHES:
    case FORM_REMAP:
    case FORM_NONE:
        ev->aux = operand[0];
        break;
    }
}

/* Cuts the first event off the text; false at its end. */
static bool parse_event(char **text, struct event ev[2])
{
    char *one = strsep(text, ";"), *rest = NULL;
    uint64_t operand[3] = {0};
    size_t n = 0;

    if (!one)
        return false;
    memset(ev, 0, 2 * sizeof *ev);
    ev->tid = (sim_tid)strtoul(strtok_r(one, " ", &rest), NULL, 0);
    ev->kind = (uint8_t)ev_kind_by_text(strtok_r(NULL, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (word[0] >= '0' && word[0] <= '9' && n < ARRAY_SIZE(operand))
            operand[n++] = strtoull(word, NULL, 0);
        else
            ev->flags = (uint16_t)(ev->flags | flag_by_text(word));
    }
    set_operands(ev, operand);
    return true;
}

/* Applies all events of the text, numbered from `number`: the last one's result. The others must be
 * accepted. */
static int apply_text(struct rules *r, const char *text, uint64_t number, struct err *e)
{
    char *copy = xstrdup(text), *rest = copy;
    const char *what = "";
    struct event ev[2];
    int broken = 0;

    while (parse_event(&rest, ev)) {
        if (event_well_formed(ev, &what))
            fail_msg("\"%s\": event %u: %s", text, (unsigned)number, what);
        if (broken)
            fail_msg("\"%s\": too early: %s", text, e->text);
        broken = rules_apply(r, ev, number++, e);
        if (!broken)
            rules_note(r);
    }
    free(copy);
    return broken;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void run_stream(const struct stream *s)
{
    struct rules *r = rules_new(s->how & FULL);
    struct err e = {0};
    const int broken = apply_text(r, s->text, 0, &e);

    if (broken != (s->how & BAD ? -1 : 0))
        fail_msg("%s: %s: %s", rule_info[s->rule].name, s->name, broken ? e.text : "accepted");
    if (broken) {
        assert_string_equal(rule_info[s->rule].name, rule_info[rules_broken(r)].name);
        assert_int_equal(e.code, LARD_TRACE);
        assert_non_null(strstr(e.text, rule_info[s->rule].name));
    }
    rules_free(r);
}

static void every_rule_accepts_and_rejects_its_streams(void **state)
{
    unsigned good[RULES] = {0}, bad[RULES] = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
        run_stream(&streams[i]);
        (streams[i].how & BAD ? bad : good)[streams[i].rule]++;
    }
    for (int i = 0; i < RULES; i++)
        if (!good[i] || !bad[i])
            fail_msg("%s has no stream that it %s", rule_info[i].name,
                     good[i] ? "rejects" : "accepts");
}

static void every_rule_has_a_name_and_a_text(void **state)
{
    (void)state;
    for (int i = 0; i < RULES; i++) {
        assert_non_null(rule_info[i].name);
        assert_non_null(rule_info[i].text);
    }
    assert_string_equal(rule_info[RULE_CLOCK_SANE].name, "clock-sane");
}

static void expect_error(struct rules *r, const char *text, uint64_t number, const char *error)
{
    struct err e = {0};

    assert_int_equal(apply_text(r, text, number, &e), -1);
    char *whole = xasprintf("%s; `lardsim explain %s` tells the rule", error,
                            rule_info[rules_broken(r)].name);
    assert_string_equal(e.text, whole);
    free(whole);
}

static void errors_name_event_thread_rule_and_what_was_seen(void **state)
{
    struct rules *r = rules_new(false);

    (void)state;
    expect_error(r, "3 rel 0x40", 17, "event 17 (T3 rel 0x40): release-held: nobody holds it");
    expect_error(r, "1 acq 0x80; 2 copy 0x80 0x40 64", UINT64_MAX - 1,
                 "event 18446744073709551615 (T2 copy 0x80 0x40 64): release-held: the lock at "
                 "0x80 is overwritten while held");
    expect_error(r, "9 read 0x10 4 txn", 20,
                 "event 20 (T9 read 0x10 4): txn-nest: T9 has no transaction open");
    expect_error(r, "9 depart 0x10 4", 21,
                 "event 21 (T9 depart 0x10 4): barrier-round: T9 has not arrived");
    expect_error(r, "9 join 4", 22,
                 "event 22 (T9 join T4): join-known: T4 has not acted and was not forked");
    expect_error(r, "8 end; 8 thread 5", 22, "event 23 (T8 thread K5): end-last: T8 has ended");
    expect_error(
        r, "7 acq 0x50; 7 acq 0x9040; 7 acq 0x41; 7 acq 0x40; 7 acq 0x5040; 7 clear 0 65536", 30,
        "event 35 (T7 clear 0x0 65536): release-held: the lock at 0x40 is cleared while held");
    expect_error(r, "9 writevc 4 2", 23,
                 "event 23 (T9 writevc T4 2): one-level: the program has synchronised above the "
                 "level of clocks before; use one level in a trace");
    expect_error(r, "7 acq 0x51; 7 rel 0x51 system", 40,
                 "event 41 (T7 rel 0x51): hold-side: T7 acquired it by a program event, and this "
                 "is one of the system");
    expect_error(r, "7 acq 0x52 system; 7 wait-enter 0x52 system; 7 wait-exit 0x52", 50,
                 "event 52 (T7 wait-exit 0x52): hold-side: T7 entered the wait by a system event, "
                 "and this is one of the program");
    expect_error(r, "6 class-use 0x60", 60,
                 "event 60 (T6 class-use 0x60): class-init-once: it is used, but was never "
                 "initialised, or cleared since");
    rules_free(r);
}

/* What ends a run says what the run could do about it; what only checks a trace has no such choice.
 */
static void in_a_run_an_error_says_how_to_do_without(void **state)
{
    static const struct {
        const char *format, *remedy;
    } of[] = {
        {NULL, "tells the rule; `--set trace.rules=off` runs it all the same"},
        {"std", "tells the rule; std is another tool's format, and may have no such rule: `--set "
                "trace.rules=off` runs the trace as it is, each event for what it says"},
    };

    (void)state;
    rules_for_run(NULL, "std"); /* a run that checks none */
    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        struct rules *r = rules_new(false);
        struct err e = {0};
        rules_for_run(r, of[i].format);
        assert_int_equal(apply_text(r, "3 rel 0x40", 17, &e), -1);
        const char *then = strstr(e.text, "tells the rule");
        assert_non_null(then);
        assert_string_equal(then, of[i].remedy);
        rules_free(r);
    }
}

/* A checker may go on after an error and report what else it finds. */
static void an_event_that_breaks_a_rule_has_no_effect(void **state)
{
    struct rules *r = rules_new(true);
    struct err e = {0};

    (void)state;
    assert_int_equal(apply_text(r, "0 acq 64; 0 write 128 8; 1 alloc 64 64; 1 acq 64", 0, &e), -1);
    assert_int_equal(apply_text(r, "1 clear 64 64", 4, &e), -1);
    assert_int_equal(apply_text(r, "1 copy 64 64 128", 5, &e), -1);
    assert_int_equal(apply_text(r, "1 copy 128 64 64", 6, &e), -1);
    assert_int_equal(rules_broken(r), RULE_COPY_EMPTY);
    assert_int_equal(apply_text(r, "1 alloc 120 16", 7, &e), -1);
    assert_int_equal(apply_text(r, "0 wait-exit 64", 8, &e), -1);
    assert_int_equal(apply_text(r, "0 end", 9, &e), -1);
    assert_non_null(strstr(e.text, "event 3 "));
    err_clear(&e);
    assert_int_equal(apply_text(r, "0 rel 64; 1 acq 64; 1 rel 64; 1 clear 64 64; 0 end", 9, &e), 0);
    rules_free(r);
}

static void a_trace_may_stop_anywhere_but_in_a_collection_or_region(void **state)
{
    struct rules *r = rules_new(false);
    struct err e = {0};

    (void)state;
    assert_int_equal(rules_finish(r, &e), 0);
    assert_int_equal(apply_text(r, "0 acq 64; 1 txn-begin; 2 arrive 8 1", 0, &e), 0);
    assert_int_equal(rules_finish(r, &e), 0);
    assert_int_equal(apply_text(r, "1 roi-begin", 3, &e), 0);
    assert_int_equal(rules_finish(r, &e), -1);
    assert_int_equal(rules_broken(r), RULE_ROI_NEST);
    assert_string_equal(e.text,
                        "end of the trace: roi-nest: the region of interest of event 3 has no end; "
                        "`lardsim explain roi-nest` tells the rule");
    err_clear(&e);
    assert_int_equal(apply_text(r, "1 roi-end; 1 gc-begin", 4, &e), 0);
    assert_int_equal(rules_finish(r, &e), -1);
    assert_int_equal(rules_broken(r), RULE_GC_PAUSE);
    rules_free(r);
    rules_free(NULL);
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* Accesses here have site 0 each, so their notes of that are not counted where others are meant. */
static const struct {
    enum note_kind kind;
    unsigned count;
    const char *name, *text;
} noted[] = {
    {NOTE_ROOT_THREAD, 0, "the first thread, and one that was forked", "3 io; 3 fork 1; 1 io"},
    {NOTE_ROOT_THREAD, 0, "a collector's thread", "0 io; 1 read 64 8 system"},
    {NOTE_ROOT_THREAD, 2, "two more roots, each once", "0 io; 1 io; 2 io; 1 io; 2 io"},
    {NOTE_ROOT_THREAD, 1, "one that the program uses later", "0 io; 1 io system; 1 io"},
    {NOTE_IDLE_THREAD, 0, "a forked thread acts", "0 fork 1; 1 io"},
    {NOTE_IDLE_THREAD, 1, "one does not", "0 fork 1"},
    {NOTE_IDLE_THREAD, 1, "one is joined and does not", "0 fork 1; 0 join 1"},
    {NOTE_STILL_WAITING, 0, "a wait ends", "0 acq 64; 0 wait-enter 64; 0 wait-exit 64; 0 rel 64"},
    {NOTE_STILL_WAITING, 1, "a wait does not", "0 acq 64; 0 wait-enter 64"},
    {NOTE_STILL_WAITING, 1, "one has left a barrier, one has not",
     "0 arrive 64 1; 1 arrive 64 1; 0 depart 64 1"},
    {NOTE_UNCOMMITTED, 0, "committed", "0 txn-begin; 0 txn-commit"},
    {NOTE_UNCOMMITTED, 1, "begun again", "0 txn-begin; 0 txn-commit; 0 txn-begin"},
    {NOTE_NEVER_RELEASED, 0, "released where it moved to",
     "0 acq 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 0 rel 128"},
    {NOTE_NEVER_RELEASED, 2, "one held, one shared", "0 acq 64; 0 acq-shared 72; 1 acq-shared 72"},
    {NOTE_NEVER_RELEASED, 1, "held where it moved to", "0 acq 64; 1 copy 128 64 8"},
    {NOTE_UNREAD_VOLATILE, 0, "read before it is written", "0 vread 64; 0 vwrite 64"},
    {NOTE_UNREAD_VOLATILE, 0, "read where it moved to",
     "0 vwrite 64; 1 gc-begin system; 1 copy 128 64 8; 1 gc-end system; 1 vread 128"},
    {NOTE_UNREAD_VOLATILE, 2, "two of three", "0 vwrite 64; 0 vwrite 72; 0 vwrite 80; 1 vread 72"},
    {NOTE_UNREAD_VOLATILE, 0, "gone", "0 vwrite 64; 0 clear 64 8"},
    {NOTE_MOVED_UNALLOCATED, 0, "allocated, and moved on",
     "0 alloc 64 8; 0 copy 128 64 8; 0 copy 256 "
     "128 8"},
    {NOTE_MOVED_UNALLOCATED, 1, "never allocated, and moved on",
     "0 copy 128 64 8; 0 copy 256 128 8"},
    {NOTE_UNALLOCATED_ACCESS, 0, "nothing is allocated", "0 read 64 8"},
    {NOTE_UNALLOCATED_ACCESS, 0, "inside, and the runtime's and the stack's outside",
     "0 alloc 64 8; 0 read 64 8; 0 read 96 8 system; 0 read 96 8 stack"},
    {NOTE_UNALLOCATED_ACCESS, 3, "outside, half outside, before",
     "0 read 64 8; 0 alloc 64 8; 0 write 72 8; 0 read 68 8"},
    {NOTE_UNALLOCATED_ACCESS, 1, "gone", "0 alloc 64 8; 0 write 64 8; 0 clear 64 8; 0 write 64 8"},
    {NOTE_NO_SITE, 2, "tracked accesses without one",
     "0 read 64 8; 0 write 64 8; 0 read 8 8 stack"},
};

static void each_note_is_taken_where_it_should_be(void **state)
{
    unsigned some[NOTE_KINDS] = {0};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(noted); i++) {
        struct rules *r = rules_new(true);
        rules_take_notes(r);
        if (apply_text(r, noted[i].text, 0, &e) || rules_finish(r, &e))
            fail_msg("\"%s\": %s", noted[i].text, e.text);
        const uint64_t n = rules_notes(r)->count[noted[i].kind];
        if (n != noted[i].count)
            fail_msg("%s, %s: %u notes, expected %u", note_info[noted[i].kind].name, noted[i].name,
                     (unsigned)n, noted[i].count);
        some[noted[i].kind] += noted[i].count;
        rules_free(r);
    }
    for (size_t k = 0; k < NOTE_KINDS; k++)
        if (!some[k])
            fail_msg("no stream has the note %s", note_info[k].name);
}

static void a_note_says_where_and_no_more_than_some_are_kept(void **state)
{
    struct rules *r = rules_new(true);
    struct err e = {0};

    (void)state;
    rules_take_notes(r);
    assert_int_equal(apply_text(r,
                                "0 alloc 64 8; 0 read 64 8; 3 write 1000 8; 0 read 2000 8; 0 read "
                                "3000 8; 0 read 4000 8",
                                7, &e),
                     0);
    assert_int_equal(rules_finish(r, &e), 0);
    const struct notes_taken *n = rules_notes(r);
    assert_int_equal(n->count[NOTE_UNALLOCATED_ACCESS], 4);
    assert_int_equal(n->first[NOTE_UNALLOCATED_ACCESS][0].number, 9);
    assert_int_equal(n->first[NOTE_UNALLOCATED_ACCESS][0].tid, 3);
    assert_int_equal(n->first[NOTE_UNALLOCATED_ACCESS][0].addr, 1000);
    assert_int_equal(n->first[NOTE_UNALLOCATED_ACCESS][NOTES_KEPT - 1].addr, 3000);
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_note_is_taken_where_it_should_be),
        cmocka_unit_test(a_note_says_where_and_no_more_than_some_are_kept),
        cmocka_unit_test(every_rule_has_a_name_and_a_text),
        cmocka_unit_test(every_rule_accepts_and_rejects_its_streams),
        cmocka_unit_test(errors_name_event_thread_rule_and_what_was_seen),
        cmocka_unit_test(in_a_run_an_error_says_how_to_do_without),
        cmocka_unit_test(an_event_that_breaks_a_rule_has_no_effect),
        cmocka_unit_test(a_trace_may_stop_anywhere_but_in_a_collection_or_region),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
