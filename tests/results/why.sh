#!/bin/sh
# why.sh - is every sentence of `why`, its two sides, its drawing, its picture and its windows what its --json says of
# accesses, locks, clocks, edges and moves? judge/tables_why.pl and race.pl say each once more. Of races and orders, of
# lesser views, of policies with another rule, of more threads than are drawn. From a results folder it is the same.
# shellcheck source=tests/cli/head.sh
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"
litmus=$top/workloads/litmus

# judged SOURCE EVENT OPTION...
judged() {
    "$lardsim" why "$@" >page 2>err || fail "why $*: $(cat err)"
    "$lardsim" why --json --svg picture.svg --overwrite "$@" >json 2>err || fail "why --json $*: $(cat err)"
    perl "$top/tests/results/judge/tables.pl" reasons page json >said.txt 2>&1 || fail "why $*: $(head -n 2 said.txt)"
    perl "$top/tests/results/judge/race.pl" json picture.svg >said.txt 2>&1 || fail "why --svg $*: $(head -n 2 said.txt)"
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
# An order of several edges.
printf '%s\n' 'lardsim-text 1' 'T0 acq 0x80' 'T0 write 0x10 4' 'T0 rel 0x80' 'T1 acq 0x80' 'T1 rel 0x80' 'T1 acq 0x90' 'T1 rel 0x90' \
    'T2 acq 0x90' 'T2 rel 0x90' 'T3 acq 0x90' 'T3 write 0x10 4' >edges.trace
judged edges.trace 10
[ "$(grep -c 'happens before event' page)" -ge 3 ] || fail "the order is not one of several edges: $(cat page)"
# From right to left, too.
awk 'BEGIN {
    print "lardsim-text 1\nT2 acq 0x80\nT2 write 0x10 4\nT2 rel 0x80\nT1 acq 0x80\nT1 write 0x20 4\nT1 rel 0x80"
    print "T2 acq 0x80\nT2 write 0x20 4\nT1 write 0x10 8\nT2 rel 0x80\nT3 write 0x20 4\nT3 write 0x10 4"
}' >back.trace
for event in 7 8 10 11; do
    judged back.trace $event
done
# A clock that its thread's kernel thread gives by another thread, which is drawn at the right.
printf '%s\n' 'lardsim-text 1' 'T1 thread K0' 'T2 thread K0' 'T3 thread K7' 'T1 write 0x10 4' 'T2 acq 0x80' 'T2 rel 0x80' \
    'T3 acq 0x80' 'T3 write 0x10 4' 'T3 write 0x20 4' 'T2 write 0x20 4' >turned.trace
for event in 9 7; do
    of no-thread turned.trace $event
done
grep -q "<--*'" page || fail "no edge goes from right to left: $(cat page)"
# One that goes from one kernel thread to another itself: its edges stay in its column.
printf '%s\n' 'lardsim-text 1' 'T1 thread K0' 'T1 acq 0x80' 'T1 write 0x10 4' 'T1 rel 0x80' 'T1 thread K7' 'T1 acq 0x80' 'T1 write 0x10 4' >alone.trace
of no-thread alone.trace 6

# Each race of a results folder, by its event and by its identity, has the reasons that it has in the trace; also where the
# policy does not name the other side.
alike() { # TRACE OPTION...
    trace=$1
    shift
    "$lardsim" run -q "$@" -p vc -o folder --overwrite "$trace" 2>err || fail "no results of $trace: $(cat err)"
    sed 's/.*"race": "\([0-9a-f]*\)".*"event": \([0-9]*\), "address.*/\1 \2/' folder/races.jsonl >races
    [ -s races ] || fail "$trace has no race"
    cp -R folder unpaired
    sed -i 's/"earlier": {.*}}$/"earlier": null}/' unpaired/races.jsonl
    reseal unpaired
    while read -r id event; do
        for which in $id $event; do
            "$lardsim" why "$@" "$trace" $which >page 2>err || fail "why $* $trace $which: $(cat err)"
            sed -i '/^Policy vc reports a race at event/d' page # by identity the policy runs to find it
            for folder in folder unpaired; do
                "$lardsim" why $folder $which >again 2>err || fail "why $folder $which of $trace: $(cat err)"
                cmp -s page again || fail "why $which: of the $folder of $trace it is another: $(diff page again | head -n 3)"
            done
        done
    done <races
    rm -r unpaired
}
alike "$litmus/gc_move_race.trace"
# Accesses of each size, of which only the last byte conflicts.
{
    echo lardsim-text 1
    for size in 1 2 4 8 16 32 64; do
        printf 'T%d write 0x%x 1\nT0 write 0x%x %d\n' $size $((size * 256 + size - 1)) $((size * 256)) $size
    done
} >sizes.trace
alike sizes.trace --set granularity=1
alike sizes.trace --set granularity=4
# A transaction whose accesses begin at one place, and are checked at one event: the size says which of them races.
for size in 1 2 4 8 16; do
    printf 'T1 write 0x%x 1\nT0 txn-begin\n' $((size * 256 + size - 1))
    for other in 1 2 4 8 16; do printf 'T0 write 0x%x %d txn\n' $((size * 256)) $other; done
    echo T0 txn-commit
done | sed '1i lardsim-text 1' >commits.trace
"$lardsim" run -q -p vc --set granularity=1 -o commits commits.trace || fail "no results of commits.trace"
for event in 7 15 23 31 39; do
    "$lardsim" why commits $event >out 2>err || fail "why commits $event: $(cat err)"
    says out "Event $event races with event $((event - 7))"
done

# A policy of regions, and one of locks, report a location at another event: which one, its races say.
located() { # FOLDER POLICY
    some=0
    for event in $(sed -n 's/.*"policy": "vc".*"event": \([0-9]*\), "address.*/\1/p' "$1/races.jsonl" | sort -nu | sed -n '1~3p' | head -n 6); do
        "$lardsim" why -q --json -p "$2" "$1" "$event" >json 2>err || fail "why -p $2 $1 $event: $(cat err)"
        perl "$top/tests/results/judge/tables.pl" located json "$1" "$2" >said.txt 2>&1 || fail "why -p $2 $1 $event: $(head -n 2 said.txt)"
        ! grep -q located said.txt || some=1
    done
    [ $some = 1 ] || fail "$1: $2 reports no location that vc reports elsewhere"
}
synth=synth:events=600,threads=4,racy=100,seed=3
"$lardsim" run -q -p vc -p cvm -p valor -p eraser -o recorded "$synth" 2>err || fail "no results: $(cat err)"
"$lardsim" run -q -c radish8 -p fasttrack -p vc -p cvm -p valor --set order=timed -o timed "$synth" 2>err || fail "no results in timed order: $(cat err)"
located recorded cvm
located recorded valor
located recorded eraser
located timed cvm
located timed valor
exit $bad
