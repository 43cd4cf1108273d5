#!/bin/sh
# predict.sh - does a sweep take what --dry-run says? For the specs that come with lardsim, smaller ones of
# them, the memory of cells that run alone, and of the processes that run groups, is within a factor of 2 of
# what was predicted. With the argument `whole`, the specs as they are, and processor time, too: that hangs
# on the host, and is no question for a suite that runs beside others.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
peak=$top_builddir/tests/cli/peak
[ -z "${LARDSIM_INSTRUMENTED:-}" ] || exit 77 # a sanitizer's own memory is not ours
whole=${1:-}

# near WHAT IS PREDICTED: within a factor of 2
near() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(a <= 2 * b && b <= 2 * a) }' || fail "$1: $2, predicted $3"; }
bytes() { echo "$1" | awk '{ n = $1 + 0; u = index(" KMG", substr($1, length($1) - 1, 1)); print n * 1024 ^ (u > 1 ? u - 1 : 0) }'; }
# holds NAME STEP: each STEP-th cell, alone, and the largest process of the sweep
holds() {
    "$lardsim" sweep "$1.yaml" -o "$1" --dry-run -j 1 >"$1.said" 2>err || fail "$1: $(cat err)"
    grep '  missing ' "$1.said" >"$1.cells"
    "$lardsim" sweep "$1.yaml" -o "$1" -q -j 1 >out 2>err || fail "$1: $(cat err)"
    most=$(cat "$1"/cells/*/host.json | sed -n 's/.*"max_resident_bytes": \([0-9]*\).*/\1/p' | sort -n | tail -n 1)
    near "$1: bytes of a process" "$most" "$(bytes "$(sed -n 's/^with -j 1: up to \([^ ]*\) *bytes.*/\1/p' "$1.said")")"
    awk -v step="$2" 'NR % step == 1 || step == 1 { print $1, $3, $4, $6 }' "$1.cells" >"$1.some"
    [ -s "$1.some" ] || fail "$1: no cell is predicted: $(cat "$1.said")"
    while read -r cell seconds memory policy; do
        rm -rf alone
        "$peak" "$lardsim" run -q --again "$1/cells/$cell" -o alone >out 2>err || fail "$1: $(cat err)"
        near "$1, $policy, cell $cell: bytes" $(($(sed -n 's/^peak //p' err) * 1024)) "$(bytes "$memory")"
        [ -n "$whole" ] || continue
        took=$(sed -n 's/.*"\(user\|system\)_seconds": \([0-9.]*\).*/\2/p' alone/host.json | awk '{ s += $1 } END { print s }')
        near "$1, $policy, cell $cell: seconds of a processor" "$took" "$seconds"
    done <"$1.some"
}

cat >events.yaml <<'END'
# A source that all cells share, with machines and without.
base: {inherit: radish8}
axes: {l2.size: [64Ki, 256Ki, 1Mi]}
policies: [none, fasttrack]
sources: ["synth:events=9000,threads=6,variables=2000"]
END
cat >detection.yaml <<'END'
policies: [vc, fasttrack]
sources: ["synth:events=60000,threads=8,variables=20000"]
END
for name in caches cores detector; do
    spec=$top/results/sweeps/$name.yaml
    if [ -n "$whole" ]; then
        cp "$spec" $name.yaml
    else # fewer values of each axis, and smaller inputs
        sed 's/\[64Ki, 256Ki, 1Mi\]/[64Ki, 1Mi]/; s/\[32, 64, 128\]/[64]/; s/to: 64, times: 2/to: 64, times: 8/
            s/\[4, 8, 14\]/[4, 14]/; s/\[eager, lazy\]/[lazy]/; s/n=100,steps=5/n=24,steps=2/; s/n=130,steps=5/n=32,steps=1/
            s/"workload:churn,heap=524288", "workload:churn,heap=1048576",/"workload:churn,heap=262144,steps=400"]/; /^ *"workload:churn,heap=4194304"\]/d' "$spec" >$name.yaml
    fi
    cmp -s "$spec" $name.yaml && [ -z "$whole" ] && fail "$name.yaml is not made smaller: its text has changed"
done
step=7
[ -n "$whole" ] && step=5
for name in events detection caches cores detector; do
    holds $name $step
done
exit $bad
