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

# A lock in memory that was reclaimed, and used again without an allocation: what is copied there has no end to tell.
printf '%s\n' 'lardsim-text 1' 'T0 alloc 0x1000 64' 'T0 write 0x1000 8' 'T0 clear 0x1000 64' 'T0 acq 0x1010' 'T0 rel 0x1010' 'T0 alloc 0x3000 64' \
    'T0 gc-begin' 'T0 copy 0x1000 0x3000 64' 'T0 clear 0x3000 64' 'T0 gc-end' 'T0 clear 0x1000 64' >again.trace
strip again.trace out.trace
"$lardsim" trace verify -q out.trace 2>err || fail "what is left of reclaimed memory breaks a rule: $(cat err)"
[ "$("$lardsim" trace cat out.trace | grep -c ' clear ')" = 1 ] || fail "memory that nothing gave is cleared: $("$lardsim" trace cat out.trace)"

# What nobody uses still ends a lock where it is copied to.
cat >over.trace <<'END_TRACE'
lardsim-text 1
T0 alloc 0x1000 16
T0 alloc 0x3000 16
T0 acq 0x3000
T0 rel 0x3000
T0 copy 0x3000 0x1000 16
T0 end
END_TRACE
"$lardsim" trace verify -q over.trace || fail "the test is wrong: a copy over a lock breaks a rule"
strip over.trace out.trace
"$lardsim" trace cat out.trace | grep '^T' >have
printf '%s\n' 'T0 alloc 0x3000 16' 'T0 acq 0x3000' 'T0 rel 0x3000' 'T0 clear 0x3000 16' 'T0 end' | cmp -s have - ||
    fail "a lock outlives what is copied over it: $(cat have)"

# What no policy can tell from the whole: races, in each view.
races() { # races FILE VIEW
    "$lardsim" run -q -p vc --set machine=none --set "policy.vc.view=$2" -o res --overwrite "$1" >/dev/null 2>err || fail "$1 does not run: $(cat err)"
    wc -l <res/races.jsonl
}
for source in workload:xalan@lard,accesses=20k,gc=semispace workload:sunflow@lard,accesses=20k,gc=marksweep \
    workload:sor,heap=256Ki,gc=copying-concurrent synth:events=20k,seed=7; do
    strip "$source" s.lard
    "$lardsim" trace convert -q --overwrite "$source" w.lard 2>err || fail "$source: $(cat err)"
    "$lardsim" trace verify -q s.lard >out 2>&1 || fail "$source: what is left breaks a rule: $(head -n 3 out)"
    for view in tracked naive no-clear no-copy; do
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
