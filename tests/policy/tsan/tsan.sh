#!/bin/sh
# tsan.sh - does a check of tsan take as many instructions on a machine as the library's code took, when it
# was run instruction by instruction (docs/policies/tsan.md)? Does compare say why tsan misses a race?
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
say() { echo "$*"; bad=1; }

trace() { printf 'lardsim-text 1\n'; printf '%s\n' "$@"; }
instructions() { # of all checks of a trace
    trace "$@" >t.trace
    "$lardsim" run -q -c radish8 -p tsan -o out --overwrite t.trace >/dev/null || say "the run failed: $*"
    awk -F, '$1 == "policy.tsan.cost.instructions" {print $2}' out/stats.csv
}
# what, what it took, then a trace without it and the event that is added. 5 percent may be off: reads and
# writes of all sizes have one table of steps.
takes() {
    what=$1 expected=$2 last=$3
    shift 3
    before=$(instructions "$@")
    after=$(instructions "$@" "$last")
    awk -v a="$before" -v b="$after" -v e="$expected" 'BEGIN {exit !(b - a >= 0.95 * e && b - a <= 1.05 * e)}' ||
        say "$what: $((after - before)) instructions, and the library's took $expected"
}
takes 'a read of a new word' 104 'T0 read 0x2000 4' 'T0 read 0x1000 4'
takes 'the same read again' 58 'T0 read 0x1000 4' 'T0 read 0x1000 4'
takes 'a write after a read' 138 'T0 write 0x1000 4' 'T0 read 0x1000 4'
takes 'the same write again' 69 'T0 write 0x1000 4' 'T0 read 0x2000 4' 'T0 read 0x1000 4' 'T0 write 0x1000 4'

# Byte 0 has had to make room; then a write of other bytes of a granule.
trace 'T0 fork T1' 'T0 write 0x1000 1' 'T0 write 0x1001 1' 'T0 write 0x1002 1' 'T0 write 0x1003 1' \
    'T0 write 0x1004 1' 'T0 write 0x1005 1' 'T0 write 0x1006 1' 'T0 write 0x1007 1' 'T1 read 0x1000 1' >t.trace
"$lardsim" compare -q -p vc -p tsan --set granularity=1 --set machine=none --list t.trace >out.txt
grep -q 'the four cells of the 8 bytes were full' out.txt || { say 'compare does not say that a cell had to make room:'; cat out.txt; }
trace 'T0 fork T1' 'T0 write 0x1000 4' 'T1 write 0x1004 4' >t.trace
"$lardsim" compare -q -p vc -p tsan --set granularity=8 --set machine=none --list t.trace >out.txt
grep -q 'others of the granule' out.txt || { say 'compare does not say that the bytes differ:'; cat out.txt; }
trace 'T0 fork T1' 'T0 write 0x1000 4' 'T1 write 0x1000 4' 'T1 write 0x1000 4' 'T0 write 0x1000 4' >t.trace
"$lardsim" compare -q -p vc -p tsan --set granularity=4 --set machine=none --list t.trace >out.txt
grep -q 'it is not checked' out.txt || { say 'compare does not say that a repeat is not checked:'; cat out.txt; }
exit $bad
