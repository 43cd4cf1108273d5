#!/bin/sh
# crossings.sh - how often an access goes from one top-level folder into another, base/ aside: what the
# layers cost, and whether a call of each access has come in or gone. With valgrind, in a build in
# which only what is said to be inline is inlined:
#
#     ../configure CFLAGS='-g -O1 -fno-ipa-icf -fno-ipa-cp -fno-ipa-sra -fno-partial-inlining
#       -fno-optimize-sibling-calls -fno-inline-functions-called-once -fno-inline-functions
#       -fno-inline-small-functions' && make && LARDSIM=./lardsim sh ../bench/crossings.sh
#
# SOURCE=... names another execution than moldyn; PAIRS=N also lists the N most frequent calls.
# A function is in the folder of its first line, which may be one that was inlined there; where fibers
# change stacks, callgrind takes some returns for calls. Both stay the same from day to day.
set -eu
lardsim=${LARDSIM:?}
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for policy in fasttrack lardish; do
    valgrind --tool=callgrind --callgrind-out-file="$dir/calls" --compress-strings=no --compress-pos=no \
        "$lardsim" run --quiet -c radish8 --policy $policy --set trace.rules=off "${SOURCE:-workload:moldyn,size=small}" \
        >"$dir/said" 2>&1 || { cat "$dir/said" && exit 1; }
    awk -v policy=$policy -v root="$root/" -v pairs="${PAIRS:-0}" '
        function folder(path) {
            while (sub(/\/[^\/]+\/\.\.\//, "/", path)) {}
            if (index(path, root) != 1) return ""
            path = substr(path, length(root) + 1)
            return substr(path, 1, index(path, "/") - 1)
        }
        /^f[lie]=/ { here = folder(substr($0, 4)) }
        /^fn=/ { caller = substr($0, 4); from = here }
        /^cf[il]=/ { there = folder(substr($0, 5)); elsewhere = 1 }
        /^cfn=/ { callee = substr($0, 5); to = elsewhere ? there : here }
        /^calls=/ {
            n = substr($1, 7)
            elsewhere = 0
            if (callee ~ /^checker_decide/) events += n
            if (from == to || from == "" || to == "" || from == "base" || to == "base") next
            crossings += n
            pair[from "/ " caller " calls " to "/ " callee] += n
        }
        END {
            printf "%-10s %5.1f crossings an event\n", policy, crossings / events
            for (p in pair) if (pairs) printf "%10d %s\n", pair[p], p | "sort -rn | head -n " pairs
        }' "$dir/calls"
done
