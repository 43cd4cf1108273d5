#!/bin/sh
# said.sh - is it said where a number would be right, but of something that nobody means: an inclusive L3 smaller than
# what it must include, a trace that does not state its granularity, a warm-up behind the last event?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
silent() { grep -qF -e "$2" "$1" && fail "$1 says, and should not: $2"; }

# ---- an inclusive L3 ---------------------------------------------------------------------------------
# radish8: eight L2s of 256 KiB, 4096 lines each.

synth=synth:events=5k,names=off
l3() { run 0 run -o res --overwrite -c radish8 -p lardish "$@" $synth; }
small='the inclusive L3 has room for 16384 lines, and must include those of the L1s (4096) and the L2s (32768)'
l3 --set l3.size=1Mi
says out "$small"
says res/stats.json '"key": "l3-too-small"'
l3 --set l3.size=2Mi # as large as all L2s
silent out 'the inclusive L3 has room'
silent res/stats.json l3-too-small
l3 --set l3.size=2Mi --set l2.inclusion=exclusive # the L1s come on top
says out 'the inclusive L3 has room for 32768 lines'
l3 --set l3.size=1Mi --set l2.size=0 # the L1s alone
silent out 'the inclusive L3 has room'
l3 --set l3.size=1Mi --set l3.inclusion=non-inclusive
silent res/stats.json l3-too-small
run 0 compare -c radish8 -p lardish --set l3.size=1Mi $synth
says out "$small"
cat >l3.yaml <<'END'
base: {inherit: radish8}
axes: {l3.size: [1Mi, 8Mi]}
policies: [lardish]
sources: ["synth:events=5k,names=off"]
END
run 0 sweep -q l3.yaml -o sizes
run 0 sweep collect sizes
[ "$(grep -c l3-too-small sizes/cells.csv)" = 1 ] || fail "of two sizes of the L3 one is too small; cells.csv has $(grep -c l3-too-small sizes/cells.csv)"

# ---- granularity -------------------------------------------------------------------------------------

trace() { printf "lardsim-text 1\n$1T0 write 0x100 4\nT1 write 0x102 1\n" >"$2"; }
trace '' none.trace
trace 'granularity 4\n' four.trace
caveat='the trace does not state its granularity, so locations are single bytes'
for verb in run compare; do
    run 0 $verb -o res --overwrite none.trace
    says out "$caveat"
    says res/provenance.json "$caveat"
    run 0 $verb -o res --overwrite four.trace
    silent out "$caveat"
    run 0 $verb --set granularity=4 none.trace
    silent out "$caveat"
done
run 0 trace convert none.trace none.lard # a form changes nothing of what is not known
run 0 run none.lard
says out "$caveat"

# ---- warm-up -----------------------------------------------------------------------------------------

printf 'lardsim-text 1\ngranularity 4\n' >four.trace
i=0
while [ $i -lt 4 ]; do
    echo "T0 write $((i * 64)) 4"
    i=$((i + 1))
done >>four.trace
for n in 4 5 1M; do
    rm -rf res
    run 3 run -o res -c radish8 --set "warm-up=$n" four.trace
    says err "and there are 4 events: no region of interest begins after them"
    [ -e res ] && fail "warm-up=$n of 4 events: results of nothing are written"
done
run 3 compare -c radish8 -p vc --set warm-up=4 four.trace
run 0 run -q -c radish8 --set warm-up=3 four.trace
run 5 run -q -c radish8 --set warm-up=4 --set limits.events=2 four.trace # another reason why nothing is measured
exit $bad
