#!/bin/sh
# strip.sh - does trace strip leave out the memory that nothing uses, and that alone? Races, locks and the work of
# threads stay, whatever the view; by hand, and of programs whose collectors move and reuse.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
strip() { "$lardsim" trace strip -q --overwrite "$@" 2>err || fail "strip $*: $(cat err)"; }

# a is used before it moves, b after it, c never, d as a lock alone. They die together, with memory between them, and
# another clear is of memory that nobody has ever used.
cat >hand.trace <<'END_TRACE'
lardsim-text 1
T0 alloc 0x1000 32 +5
T0 alloc 0x1020 32 +7
T0 alloc 0x1040 64
T0 alloc 0x1080 16
T0 write 0x1008 8
T0 fork T1
T0 acq 0x1080
T0 rel 0x1080
T0 gc-begin
T0 copy 0x2000 0x1000 32
T0 copy 0x2020 0x1020 32
T0 copy 0x2040 0x1040 64
T0 copy 0x2080 0x1080 16
T0 clear 0x1000 144
T0 gc-end
T1 write 0x2008 8
T1 read 0x2038 8
T1 end
T0 alloc 0x1000 64
T0 clear 0x2000 144
T0 clear 0x9000 16
T0 end
END_TRACE
strip hand.trace out.trace
"$lardsim" trace cat out.trace >out
cat >want <<'END_TRACE'
T0 alloc 0x1000 32 +5
T0 alloc 0x1020 32 +7
T0 alloc 0x1080 16
T0 write 0x1008 8
T0 fork T1
T0 acq 0x1080
T0 rel 0x1080
T0 gc-begin
T0 copy 0x2000 0x1000 32
T0 copy 0x2020 0x1020 32
T0 copy 0x2080 0x1080 16
T0 clear 0x1000 64
T0 clear 0x1080 16
T0 gc-end
T1 write 0x2008 8
T1 read 0x2038 8
T1 end
T0 clear 0x2000 64
T0 clear 0x2080 16
T0 end
END_TRACE
grep '^T' out >have
cmp -s have want || fail "by hand something else is left: $(diff have want | head -n 8)"
"$lardsim" trace strip --overwrite hand.trace out.trace 2>err
grep -q 'kept 3 of 5 allocations, 3 of 4 copies; 4 clears of 3' err || fail "what was kept is not said: $(cat err)"

# The work before what is left out is the thread's next event's.
printf '%s\n' 'lardsim-text 1' 'T0 alloc 0x1000 32 +5' 'T0 fork T1 +2' 'T1 alloc 0x2000 8 +9' 'T0 write 0x9000 8 +1' 'T1 end' >gap.trace
strip gap.trace out.trace
"$lardsim" trace cat out.trace | grep '^T' >have
printf '%s\n' 'T0 fork T1 +7' 'T0 write 0x9000 8 +1' 'T1 end +9' | cmp -s have - || fail "work is lost or moved: $(cat have)"

# all_of WHAT EVENT...: nothing of these may be left out: it would break a rule, or be another race
all_of() {
    what=$1
    shift
    { echo 'lardsim-text 1' && printf 'T0 %s\n' "$@" | sed 's/^T0 T1/T1/'; } >all.trace
    "$lardsim" trace verify -q all.trace 2>err || fail "the test is wrong: $what breaks a rule: $(cat err)"
    strip all.trace out.trace
    "$lardsim" trace cat out.trace | grep '^T' >have
    sed 1d all.trace | cmp -s - have || fail "$what: something is left out: $(sed 1d all.trace | diff - have)"
}
all_of 'a lock in memory that was reclaimed, and what is copied there later' 'alloc 0x1000 64' 'write 0x1000 8' 'clear 0x1000 64' \
    'acq 0x1010' 'rel 0x1010' 'alloc 0x3000 64' 'gc-begin' 'copy 0x1000 0x3000 64' 'clear 0x3000 64' 'gc-end' 'clear 0x1000 64'
all_of 'what is copied over a lock' 'alloc 0x1000 16' 'alloc 0x3000 16' 'acq 0x3000' 'rel 0x3000' 'copy 0x3000 0x1000 16'
all_of 'without allocations, what orders two writes' 'fork T1' 'write 0x1000 8' 'clear 0x1000 8' 'T1 write 0x1000 8' 'T1 end'
all_of 'without allocations, where a copy goes' 'write 0x1000 8' 'clear 0x1000 8' 'write 0x2000 8' 'gc-begin' 'copy 0x1000 0x2000 8' 'gc-end'
all_of 'before the first allocation, memory that nobody allocated' 'fork T1' 'write 0x1000 8' 'clear 0x1000 8' 'alloc 0x2000 8' \
    'write 0x2000 8' 'T1 write 0x1000 8' 'T1 end'
all_of 'the last word of all memory' 'fork T1' 'alloc 0xfffffffffffffff8 8' 'write 0xfffffffffffffff8 8' 'clear 0xfffffffffffffff8 8' \
    'T1 write 0xfffffffffffffff8 8' 'T1 end'
all_of 'lives that have one word' 'alloc 0x1000 4' 'alloc 0x1004 4' 'write 0x1004 4' 'clear 0x1000 4' 'clear 0x1004 4'
all_of 'what was touched before it was allocated' 'fork T1' 'alloc 0x2000 8' 'write 0x2000 8' 'write 0x1000 8' 'alloc 0x1000 8' \
    'clear 0x1000 8' 'T1 write 0x1000 8' 'T1 end'

# A thread that does nothing but allocate: whoever joins it finds it, as one that was forked is found without an event.
joined() { # joined FORK-OR-WORK WANTED
    printf '%s\n' 'lardsim-text 1' "$1" 'T1 alloc 0x1000 8 +3' 'T0 join T1' 'T0 write 0x2000 8' >join.trace
    strip join.trace out.trace
    "$lardsim" trace verify -q out.trace 2>err || fail "after '$1' and T1's unused allocation, T1 can't be joined: $(cat err)"
    "$lardsim" trace cat out.trace | grep '^T' >have
    printf "%b" "$2" 'T0 join T1\nT0 write 0x2000 8\n' | cmp -s - have || fail "after '$1' and T1's unused allocation: $(cat have)"
}
joined 'T0 fork T1' 'T0 fork T1\n'
joined 'T0 write 0x3000 8' 'T0 write 0x3000 8\nT1 io +3\n'
all_of 'where a copy of what nobody allocated has been' 'copy 0x2000 0x1000 48' 'clear 0x1000 32' 'write 0x1008 8'

# What nobody uses still ends the allocation of what it is copied to.
printf '%s\n' 'lardsim-text 1' 'T0 alloc 0x1000 8' 'T0 alloc 0x3000 16' 'T0 write 0x3000 8' 'T0 copy 0x3008 0x1000 8' >over.trace
strip over.trace out.trace
"$lardsim" trace cat out.trace | grep '^T' >have
printf '%s\n' 'T0 alloc 0x3000 16' 'T0 write 0x3000 8' 'T0 clear 0x3008 8' | cmp -s have - || fail "an allocation outlives what is copied over it: $(cat have)"

# A life takes no more for its bytes, and what is kept has a limit.
printf '%s\n' 'lardsim-text 1' 'T0 alloc 0x10000 0x200000000000' 'T0 alloc 0x400000010000 0x200000000000' 'T0 write 0x10000 8' >huge.trace
"$lardsim" trace strip -q --overwrite --max-memory 1Mi huge.trace out.trace 2>err || fail "a life of 32 TiB takes more than 1 MiB: $(cat err)"
[ "$("$lardsim" trace cat out.trace | grep -c ' alloc ')" = 1 ] || fail "of two huge lives not one is left: $("$lardsim" trace cat out.trace)"
awk 'BEGIN {print "lardsim-text 1"; for (i = 0; i < 20000; i++) printf "T0 alloc %.0f 16\n", 65536 + 32 * i}' >many.trace
"$lardsim" trace strip -q --overwrite --max-memory 1Mi many.trace out.trace 2>err
status=$?
[ $status = 5 ] || fail "20000 lives in 1 MiB: the exit code is $status: $(cat err)"
grep -q 'many.trace: event .*--max-memory' err || fail "the limit, where, and what to do is not said: $(cat err)"

# What no policy can tell from the whole: races, in each view that heeds both clears and copies, or neither.
races() { # races FILE VIEW
    "$lardsim" run -q -p vc --set machine=none --set "policy.vc.view=$2" -o res --overwrite "$1" >/dev/null 2>err || fail "$1 does not run: $(cat err)"
    wc -l <res/races.jsonl
}
for source in workload:xalan@lard,accesses=20k,gc=semispace workload:sunflow@lard,accesses=20k,gc=marksweep \
    workload:sor,heap=256Ki,gc=copying-concurrent synth:events=20k,seed=7; do
    strip "$source" s.lard
    "$lardsim" trace convert -q --overwrite "$source" w.lard 2>err || fail "$source: $(cat err)"
    "$lardsim" trace verify -q s.lard >out 2>&1 || fail "$source: what is left breaks a rule: $(head -n 3 out)"
    for view in tracked naive no-clear,no-copy all-memory,all-sync; do
        whole=$(races w.lard $view)
        [ "$(races s.lard $view)" = "$whole" ] || fail "$source, $view: $(races s.lard $view) races are left of $whole"
    done
    strip s.lard again.lard
    [ "$("$lardsim" trace info s.lard | sed -n 's/^identity *//p')" = "$("$lardsim" trace info again.lard | sed -n 's/^identity *//p')" ] ||
        fail "$source: stripped twice it is another trace"
done
"$lardsim" trace strip - x.lard 2>err <w.lard && fail "standard input is read twice"
grep -q 'read twice' err || fail "why standard input is refused is not said: $(cat err)"
exit $bad
