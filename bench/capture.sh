#!/bin/sh
# capture.sh [COMMAND...] - what a capture costs: the program's own threads, the process that compresses, the file. Never
# a test. Nanoseconds are of processor time; figures of a busy machine are too high, so each is the best of RUNS runs.
# With a COMMAND (java ARGUMENTS, or a program that lardsim-cc has built) its ratio is a row, too.
set -eu
lardsim=${LARDSIM:?}
bench=${BENCH:?}   # where the program usage is
build=${BUILD:?}   # where capture/ was built
source=${SOURCE:?} # this folder
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
LARDSIM_NATIVE=$build/capture/liblardsim-native.a
export LARDSIM_NATIVE

# least COMMAND...: the least of its runs, each the largest number that it prints.
least() {
    i=0
    while [ $i -lt "$runs" ]; do
        "$@" | sort -gr | head -n 1
        i=$((i + 1))
    done | sort -g | head -n 1
}
own() { "$@" 2>&1 >/dev/null | sed -n 's/ ns$//p'; }

# capture KIND COMMAND...: sets what lardsim says (program, events), and what all of it used.
capture() {
    kind=$1
    shift
    # shellcheck disable=SC2046  # three words
    set -- $("$bench/usage" "$lardsim" capture "$kind" -o "$dir/x.lard" --overwrite --baseline -- "$@" 2>"$dir/said")
    used=$1 mib=$(($3 / 1024))
    events=$(sed -n 's/.*: \([0-9]*\) events of .*/\1/p' "$dir/said")
    program=$(sed -n 's/^lardsim: \([0-9.]*\) s of processor time.*/\1/p' "$dir/said")
    times=$(sed -n 's/.*, \([0-9.]*\) times as much.*/\1/p' "$dir/said")
    bytes=$(wc -c <"$dir/x.lard")
}
rest() {
    awk "BEGIN { printf \"%-56s %8.1f\\n%-56s %8.2f\\n%-56s %8d\\n\", \"  lardsim, ns an event\", ($used - $program * (1 + 1 / $times)) * 1e9 / $events,
        \"  bytes an event\", $bytes / $events, \"  MiB of lardsim or the program\", $mib }"
}

"$build/capture/lardsim-cc" -O2 -o "$dir/hot" "$source/hot.c"
# shellcheck disable=SC2086 # words
${CC:-cc} -O2 -o "$dir/plain" "$source/hot.c" -lpthread
for cells in 32 131072; do
    for n in 1 2; do
        how="$n thread(s), $cells cells"
        printf '%-56s %8s\n' "native, $how, alone: ns an access" "$(least own "$dir/plain" $n 5000000 $cells)" \
            "native, $how, built for capture" "$(least own "$dir/hot" $n 5000000 $cells)" \
            "native, $how, captured" \
            "$(least own "$lardsim" capture native -q -o "$dir/x.lard" --overwrite -- "$dir/hot" $n 5000000 $cells)"
    done
    capture native "$dir/hot" 2 5000000 $cells
    rest
done
[ $# = 0 ] && exit
case $1 in
*java) kind=java ;;
*) kind=native ;;
esac
capture $kind "$@"
printf '%-56s %8s\n' "$kind, times its plain run" "$times" "  M events" "$((events / 1000000))"
rest
