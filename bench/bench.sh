#!/bin/sh
# bench.sh [renew|time] - what the rows below cost. As it is: instructions, which valgrind counts, so that busy cores
# change nothing, of small executions. They are held against instructions.txt; the rows that moved by more than 3 percent are
# named, and one that went up by so much is a failure. With `renew`, instructions.txt is written anew. With `time`: seconds
# of processor time (user plus system, all threads) and memory of large executions, the best of RUNS runs, and the
# ratios; numbers of one machine say little: compare rows of one run.
# Exit code 77: nothing is compared, as valgrind is not there, or compiler, flags or libraries are others.
#
# RAPID=DIR (a built RAPID: its classes in DIR/bin or a jar, its libraries in DIR/lib) adds to `time` that tool's engines on
# the same execution and the ratios.
set -eu
lardsim=${LARDSIM:?}
bench=${BENCH:?} # where the programs of this folder are
stored=$(cd "$(dirname "$0")" && pwd)/instructions.txt
mode=${1:-compare}
runs=${RUNS:-3}
case $mode in
time) events=${EVENTS:-5000000} pushes=2000000 rounds=5 size=medium ;;
*) events=100000 pushes=10000 rounds=1 size=small ;;
esac
cpu=0 mib=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [ "$mode" != time ]; then
    if ! command -v valgrind >/dev/null 2>&1; then
        echo "bench: valgrind is not installed, which counts instructions (apt-get install valgrind)"
        exit 77
    fi
    "$lardsim" run --quiet --policy none -o "$dir/built" synth:events=10 >/dev/null
    {
        echo "# Thousands of instructions of the rows of bench.sh. make bench-renew wrote them, with a build of"
        awk '/"(compiler|flags|xxhash|yaml|zlib|zstd)":/ {gsub(/^ *"|",?$/, ""); sub(/": "/, " "); print "# " $0}' \
            "$dir/built/provenance.json"
    } >"$dir/head"
    if [ "$mode" != renew ] && ! sed -n '/^#/p' "$stored" | cmp -s - "$dir/head"; then
        echo "bench: the builds differ:"
        sed -n '/^#/p' "$stored" | diff - "$dir/head" | sed -n 's/^[<>] #/&/p'
        echo "bench: nothing is compared, as instructions.txt is of another build (make bench-renew in this build, of the commit to compare with)"
        exit 77
    fi
fi

# best COMMAND...: sets $cpu, $elapsed, $mib.
best() {
    : >"$dir/times"
    i=0
    while [ $i -lt "$runs" ]; do
        "$bench/usage" "$@" >>"$dir/times" || return 1
        i=$((i + 1))
    done
    # shellcheck disable=SC2046  # three words
    set -- $(sort -n "$dir/times" | head -n 1)
    cpu=$1 elapsed=$2 mib=$(($3 / 1024))
}

# counted NAME COMMAND...: a line in $dir/rows, in thousands of instructions.
counted() {
    name=$1
    shift
    if ! valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" >"$dir/said" 2>&1; then
        echo "$name: failed:"
        tail -n 5 "$dir/said"
        exit 1
    fi
    sed -n 's/,//g; s/^==[0-9]*== I *refs: *//p' "$dir/said" |
        awk -v name="$name" '{printf "%-38s %9.0f\n", name, $1 / 1000}' >>"$dir/rows"
}

row() { # NAME COMMAND...
    name=$1
    shift
    if [ "$mode" != time ]; then
        counted "$name" "$@"
        return
    fi
    if ! best "$@"; then
        echo "$name: failed"
        return
    fi
    printf '%-34s %9s %9s %9s %9s\n' "$name" "$cpu" "$elapsed" "$mib" \
        "$(awk "BEGIN {printf \"%.1f\", $events / 1e6 / ($cpu > 0 ? $cpu : 0.001)}")"
}

# told NAME COMMAND...: a row of a program that says itself what it took.
told() {
    if [ "$mode" != time ]; then
        counted "$@"
        return
    fi
    name=$1
    shift
    printf "%-34s %s\n" "$name" "$("$@")"
}

# ratio OF WHAT [OF_MIB]: the last row's time, and memory, against those of another, WHAT.
ratio() {
    [ "$mode" = time ] || return 0
    awk -v cpu="$cpu" -v of="$1" -v what="$2" -v mib="$mib" -v of_mib="${3:-}" 'BEGIN {
        printf "%-34s %9.1f times the time", "", cpu / of
        if (of_mib != "") printf ", %.1f times the memory", mib / of_mib
        print " of " what
    }'
}

# count ARGS...: sets $events, of which the next row is, to those of a run.
count() {
    [ "$mode" = time ] || return 0
    events=$("$lardsim" run --policy none "$@" | awk '{sub(/^.*: /, ""); print $1; exit}')
}

# The execution of the figures: 61 % reads, 26 % writes, 13 % lock operations.
trace() { # FILE KEY=VALUE...
    out=$1
    shift
    "$lardsim" trace synth --overwrite "$out" seed=1 events="$events" fork=roots variables=100000 locks=1000 \
        read_share=701 sync_share=130 sharing=600 discipline=1000 racy=0 barriers=0 volatiles=0 atomics=0 \
        classes=0 end_share=0 rw_share=0 nested_share=0 wait_share=0 txn_share=0 heap_share=0 \
        system_share=0 flag_share=0 unaligned=0 site_share=0 marks=off ends=off gap_max=0 "$@" >/dev/null
}

size() { # NAME FILE
    [ "$mode" = time ] || return 0
    bytes=$(wc -c <"$2")
    awk "BEGIN {printf \"%-34s %9.2f bytes an event\\n\", \"$1\", $bytes / $events}"
}

trace "$dir/t8.lard" threads=8
trace "$dir/t64.lard" threads=64
trace "$dir/one.lard" threads=8 run_max=1 sites=0
trace "$dir/bare.lard" threads=8 sites=0
"$lardsim" trace convert --overwrite "$dir/t8.lard" "$dir/t8.std" --to std --lossy 2>/dev/null || rm -f "$dir/t8.std"

if [ "$mode" = time ]; then
    printf '%s events, best of %s\n' "$events" "$runs"
    printf '%-34s %9s %9s %9s %9s\n' "" "cpu s" "elapsed" "MiB" "M ev/s"
fi
row "generate" "$lardsim" trace synth --overwrite "$dir/x.lard" seed=2 events="$events" threads=8 fork=roots \
    variables=100000 sync_share=130 barriers=0 volatiles=0 atomics=0 classes=0 txn_share=0 heap_share=0 marks=off
row "decode, runs of 1 to 10" "$bench/decode" "$dir/t8.lard"
row "decode, runs of 1" "$bench/decode" "$dir/one.lard"
told "encode, runs of 1 to 10, an event" "$bench/encode" "$dir/t8.lard" $rounds
told "encode, runs of 1, an event" "$bench/encode" "$dir/one.lard" $rounds
row "no policy" "$lardsim" run --quiet --policy none --set trace.rules=off "$dir/t8.lard"
row "stream rules" "$lardsim" run --quiet --policy none "$dir/t8.lard"
row "fasttrack, 8 threads" "$lardsim" run --quiet --policy fasttrack --set trace.rules=off "$dir/t8.lard"
row "fasttrack, 8 threads, rules" "$lardsim" run --quiet --policy fasttrack "$dir/t8.lard"
row "fasttrack, 64 threads" "$lardsim" run --quiet --policy fasttrack --set trace.rules=off "$dir/t64.lard"
row "vc, 8 threads" "$lardsim" run --quiet --policy vc --set trace.rules=off "$dir/t8.lard"
for policy in eraser fastrcd valor valor-e slimstate goldilocks; do
    row "$policy, 8 threads" "$lardsim" run --quiet --policy $policy --set trace.rules=off "$dir/t8.lard"
done
# Where its checks are not enough: 1,000 variables, and every hand-over evaluated.
trace "$dir/g.lard" threads=8 variables=1000
row "goldilocks, 1000 variables" "$lardsim" run --quiet --policy goldilocks --set trace.rules=off "$dir/g.lard"
row "goldilocks, locksets only" "$lardsim" run --quiet --policy goldilocks --set trace.rules=off \
    --set policy.goldilocks.held-lock=off --set policy.goldilocks.two-threads=off "$dir/g.lard"
# All kinds of events, many variables, few threads and many: the ratios do not grow with the events.
for threads in 8 1024; do
    "$lardsim" trace synth --overwrite "$dir/all.lard" seed=1 events="$events" threads=$threads variables=100000 >/dev/null
    row "all kinds, $threads threads, vc" "$lardsim" run --quiet --policy vc --set trace.rules=off "$dir/all.lard"
    vc=$cpu vc_mib=$mib
    row "all kinds, $threads threads, goldilocks" "$lardsim" run --quiet --policy goldilocks --set trace.rules=off \
        "$dir/all.lard"
    ratio "$vc" vc "$vc_mib"
done
if [ -f "$dir/t8.std" ]; then
    row "fasttrack from STD text" "$lardsim" run --quiet --policy fasttrack --set trace.rules=off "$dir/t8.std"
    ours=$cpu our_mib=$mib
fi
# Arrays that are swept.
"$lardsim" workload record --overwrite crypt,size=$size "$dir/crypt.lard" >/dev/null
of_bench=$events
count "$dir/crypt.lard"
for policy in none fasttrack slimstate; do
    row "crypt, $policy" "$lardsim" run --quiet --policy $policy --set trace.rules=off "$dir/crypt.lard"
done
# Workloads, made and counted: kernels, then twins.
for name in sor crypt moldyn hedc churn multiset xalan@valor pmd@lard,gc=semispace h2@slimstate; do
    count "workload:$name,size=$size"
    row "$name" "$lardsim" run --quiet --policy none --set trace.rules=off "workload:$name,size=$size"
done
# Asked on a machine, thread by thread.
for name in xalan@valor moldyn; do
    count "workload:$name"
    row "$name, on a machine" "$lardsim" run --quiet -c radish8 --policy none --set trace.rules=off "workload:$name"
done
events=$of_bench
# On a machine of 8 cores: 8 % and 61 % of the accesses miss the L1.
trace "$dir/l1.lard" threads=8 sync_share=0 sharing=5 variables=2000 privates=4400
trace "$dir/miss.lard" threads=8 sync_share=0 sharing=20 variables=20000 privates=10300
for kind in l1 miss; do
    for how in "recorded order=recorded" "timed contention=off" "timed contention=on"; do
        row "machine, $kind, $how" "$lardsim" run --quiet -c radish8 --set trace.rules=off --set "${how#* }" \
            "$dir/$kind.lard"
    done
    none=$cpu
    for policy in fasttrack fastrcd valor slimstate goldilocks lardish; do
        row "machine, $kind, $policy" "$lardsim" run --quiet -c radish8 --policy $policy --set trace.rules=off \
            "$dir/$kind.lard"
        ratio "$none" "policy none"
    done
done
# What a push costs a host, where it hits the L1 (goal under none: 60 ns).
for how in "" "machine=multicore order=recorded" "machine=multicore order=host"; do
    for policy in none fasttrack lardish; do
        # shellcheck disable=SC2086  # several settings
        told "push, ${how#* }, $policy" "$bench/push" $pushes policies=$policy $how
    done
done
size "binary, with sites" "$dir/t8.lard"
size "binary, without sites" "$dir/bare.lard"
size "binary, without sites, runs of 1" "$dir/one.lard"

if [ "$mode" = time ] && [ -n "${RAPID:-}" ] && [ -f "$dir/t8.std" ]; then
    for engine in HBEpoch HB; do
        runs=1 row "RAPID $engine from STD text" java -Xmx8g -cp "$RAPID/bin:$RAPID/lib/*:$RAPID/lib/jgrapht/*:$RAPID/*" "$engine" -f std -p "$dir/t8.std"
        ratio "$ours" "fasttrack from STD" "$our_mib"
    done
fi

[ "$mode" != time ] || exit 0

# ---- against the stored ones --------------------------------------------------------------------------------

if [ "$mode" = renew ]; then
    cat "$dir/head" "$dir/rows" >"$stored"
    exit 0
fi
awk '
    /^#/ { next }
    { count = $NF; name = $0; sub(/ +[0-9]+$/, "", name) }
    NR == FNR { was[name] = count; all += count; next }
    {
        rows++
        sum += count
        if (!(name in was)) { print name " is new; make bench-renew"; bad = 1; next }
        percent = (count / was[name] - 1) * 100
        if (percent > 3 || percent < -3) {
            printf "%-38s %+7.1f percent: was %d, is %d thousand instructions\n", name, percent, was[name], count
            moved++
            if (percent > 0) bad = 1
        }
        delete was[name]
    }
    END {
        for (name in was) { print name " is gone; make bench-renew"; bad = 1 }
        printf "%d rows, %d moved by more than 3 percent; all together %+.1f percent\n", rows, moved, (sum / all - 1) * 100
        exit bad
    }' "$stored" "$dir/rows"
