#!/bin/sh
# same.sh PROGRAM... - builds of different compilers and levels give the same bytes, twice, in any
# folder and locale, with memory filled with rubbish.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
n=0
results() { # PROGRAM NAME
    for seed in 1 2 3; do
        "$1" run --quiet --preset lard-table3 -o "$2.$seed" "synth:seed=$seed,events=20000" >/dev/null || bad=1
    done
    cat "$2".*/stats.json "$2".*/races.jsonl "$2".*/DONE | cksum
    "$1" trace synth --overwrite "$2.bin" seed=9 events=50000 >/dev/null || bad=1
    cksum <"$2.bin"
}
cd "$dir" || exit 99
for program in "$@" "$1"; do
    n=$((n + 1))
    mkdir -p "folder $n" && cd "folder $n" || exit 99
    results "$program" r >../sum.$n
    cd ..
    cmp -s sum.1 sum.$n || { echo "$program (run $n) differs"; bad=1; }
done
mkdir rubbish && cd rubbish || exit 99
MALLOC_PERTURB_=165 LC_ALL=C.UTF-8 results "$1" r >../sum.x
cd ..
cmp -s sum.1 sum.x || { echo "$1 differs with MALLOC_PERTURB_"; bad=1; }
exit $bad
