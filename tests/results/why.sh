#!/bin/sh
# why.sh - is every sentence of `why`, its two sides, its drawing and its windows what its --json says of accesses, locks,
# clocks, edges and moves? judge/tables_why.pl says each once more. Of races and orders, of lesser views, of policies
# with another rule, of more threads than are drawn.
# shellcheck source=tests/cli/head.sh
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"
litmus=$top/workloads/litmus

# judged SOURCE EVENT OPTION...
judged() {
    "$lardsim" why "$@" >page 2>err || fail "why $*: $(cat err)"
    "$lardsim" why --json "$@" >json 2>err || fail "why --json $*: $(cat err)"
    perl "$top/tests/results/judge/tables.pl" reasons page json >said.txt 2>&1 || fail "why $*: $(head -n 2 said.txt)"
}
# of VIEW SOURCE EVENT
of() { judged -p "lesser=vc" --set "policy.lesser.view=$1" "$2" "$3"; }

for event in 1 4 7 19 20 25; do
    judged "$litmus/gc_move_race.trace" $event
done
for view in naive no-clear no-copy all-sync all-memory; do
    for event in 4 20 25; do
        of $view "$litmus/gc_move_race.trace" $event
    done
done
judged "$litmus/moved_lock.trace" 7
judged "$litmus/moved_lock.trace" 13
judged "$litmus/atomic_counter.trace" 2
of naive "$litmus/location_lives.trace" 4
for policy in fastrcd eraser cvm; do
    judged -p $policy "$litmus/gc_move_race.trace" 20
done

# By kernel threads; under a lock of the system, and one that is shared; with a transaction.
printf 'lardsim-text 1\nT1 thread K0\nT2 thread K0\nT3 thread K7\nT1 write 0x10 4\nT2 write 0x18 4\nT3 write 0x10 4\n' >kernel.trace
of no-thread kernel.trace 5
judged kernel.trace 5
printf 'lardsim-text 1\nT1 acq 0x90 system\nT1 acq-shared 0xa0\nT1 write 0x10 4\nT2 write 0x10 4\n' >system.trace
judged system.trace 3
printf 'lardsim-text 1\nT0 txn-begin\nT0 write 0x10 4 txn\nT0 txn-commit\nT1 read 0x10 4 @"there"\n' >commit.trace
judged commit.trace 3

# A clock that goes from thread to thread, and to more than are drawn; then accesses beside it and behind it.
awk 'BEGIN {
    print "lardsim-text 1\nname thread 3 \"third\"\nT0 acq 0x1000\nT0 write 0x10 4\nT0 rel 0x1000"
    for (i = 1; i < 12; i++) printf "T%d acq 0x1000\nT%d rel 0x1000\n", i, i
    print "T0 acq 0x2000\nT0 rel 0x2000\nT20 acq 0x3000\nT20 rel 0x3000"
    print "T20 write 0x10 4\nT11 write 0x10 4\nT4 read 0x10 4\nT20 read 0x10 2"
}' >chain.trace
for event in 29 30 31 32; do
    judged chain.trace $event
done
# From right to left, too.
awk 'BEGIN {
    print "lardsim-text 1\nT2 acq 0x80\nT2 write 0x10 4\nT2 rel 0x80\nT1 acq 0x80\nT1 write 0x20 4\nT1 rel 0x80"
    print "T2 acq 0x80\nT2 write 0x20 4\nT1 write 0x10 8\nT2 rel 0x80\nT3 write 0x20 4\nT3 write 0x10 4"
}' >back.trace
for event in 7 8 10 11; do
    judged back.trace $event
done
exit $bad
