#!/bin/sh
# same.sh PROGRAM... - builds of different compilers and levels give the same bytes: twice, in any
# folder and locale, with memory filled with rubbish, with and without a thread that reads ahead, and
# from one trace in any form. (Pull against push: tests/sim/session/t_api.c.)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
say() { echo "$*" >&2; : >"$dir/bad"; } # a variable would be lost in a pipe

# run PROGRAM FOLDER ARGS...: what may not differ, on standard output.
run() {
    run_program=$1 run_folder=$2
    shift 2
    "$run_program" run --quiet -o "$run_folder" "$@" >/dev/null || say "$run_program run $*: exit code $?"
    cat "$run_folder/stats.json" "$run_folder/races.jsonl"
    head -n 1 "$run_folder/DONE" # the others are hashes, also of what names the build
}

# results PROGRAM ARGS...: the sums of several runs and of a trace that is written, with ARGS more.
results() {
    program=$1
    shift
    for seed in 1 2 3; do
        run "$program" table3.$seed --preset lard-table3 "$@" "synth:seed=$seed,events=20000"
        run "$program" exact.$seed -p vc -p fasttrack -p eraser --set policy.vc.history=all "$@" \
            "synth:seed=$seed,events=20000,fork=tree,kernel_threads=3"
    done | cksum
    "$program" trace synth written.lard seed=9 events=50000 >/dev/null || say "$program: no trace"
    cksum <written.lard
    run "$program" read "$@" written.lard | cksum
}

# same WHAT PROGRAM ARGS...: as the first program did, in a folder of its own.
n=0
same() {
    what=$1
    shift
    n=$((n + 1))
    mkdir "$dir/$n $what" && cd "$dir/$n $what" || exit 99
    results "$@" >"$dir/sum.$n"
    cmp -s "$dir/sum.1" "$dir/sum.$n" || say "$1 differs: $what"
    cd "$dir" && rm -rf "$dir/$n $what"
}
for program in "$@" "$1"; do
    same "as it is" "$program"
    same "reading ahead" "$program" --set trace.ahead=on
done
MALLOC_PERTURB_=165 LC_ALL=C.UTF-8 same rubbish "$1"
MALLOC_PERTURB_=90 same "rubbish ahead" "$1" --set trace.ahead=on
for locale in $(locale -a 2>/dev/null | grep -vE '^(C|POSIX)' | head -n 3); do
    LC_ALL=$locale TZ=Asia/Tokyo same "locale" "$1"
done

# forms PROGRAM: one trace in STD, which can say least, then in all others, packed and through a pipe.
forms() {
    mkdir "$dir/forms" && cd "$dir/forms" || exit 99
    "$1" trace convert --to std --lossy synth:seed=4,events=20000,heap_share=0 a.std &&
        "$1" trace convert a.std a.lard && "$1" trace convert a.lard a.trace &&
        "$1" trace convert --codec raw a.trace b.lard && "$1" trace convert b.lard b.std &&
        gzip -kf a.std a.trace || say "$1: not all forms"
    cmp -s a.std b.std || say "$1: STD differs after a round trip"
    for trace in a.std a.lard a.trace b.lard a.std.gz a.trace.gz; do
        for ahead in on off; do
            run "$1" $trace.$ahead -p vc -p fasttrack --set trace.ahead=$ahead $trace >sum
            [ -f first ] || cp sum first
            cmp -s first sum || say "$1: $trace differs, reading ahead: $ahead"
        done
    done
    run "$1" pipe -p vc -p fasttrack - <a.lard >sum
    cmp -s first sum || say "$1: a.lard differs through standard input"
    cmp -s first "$dir/first" 2>/dev/null || [ ! -f "$dir/first" ] || say "$1: forms differ from another program's"
    cp first "$dir/first"
    cd "$dir" && rm -rf "$dir/forms"
}
for program in "$@"; do
    forms "$program"
done
[ ! -e "$dir/bad" ]
