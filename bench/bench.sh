#!/bin/sh
# bench.sh - speed and memory, as seconds of processor time (user plus system, all threads), the best
# of RUNS runs. Never a test: numbers of one machine say little; compare rows of one run.
#
# RAPID=DIR (a built RAPID: its classes in DIR/bin or a jar, its libraries in DIR/lib) adds that tool's engines on the
# same execution and the ratios.
set -eu
lardsim=${LARDSIM:?}
bench=${BENCH:?} # where the programs of this folder are
events=${EVENTS:-5000000}
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

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

row() { # NAME COMMAND...
    name=$1
    shift
    if ! best "$@"; then
        echo "$name: failed"
        return
    fi
    printf '%-34s %9s %9s %9s %9s\n' "$name" "$cpu" "$elapsed" "$mib" \
        "$(awk "BEGIN {printf \"%.1f\", $events / 1e6 / ($cpu > 0 ? $cpu : 0.001)}")"
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
    bytes=$(wc -c <"$2")
    awk "BEGIN {printf \"%-34s %9.2f bytes an event\\n\", \"$1\", $bytes / $events}"
}

trace "$dir/t8.lard" threads=8
trace "$dir/t64.lard" threads=64
trace "$dir/one.lard" threads=8 run_max=1 sites=0
trace "$dir/bare.lard" threads=8 sites=0
"$lardsim" trace convert --overwrite "$dir/t8.lard" "$dir/t8.std" --to std --lossy 2>/dev/null || rm -f "$dir/t8.std"

printf '%s events, best of %s\n' "$events" "$runs"
printf '%-34s %9s %9s %9s %9s\n' "" "cpu s" "elapsed" "MiB" "M ev/s"
row "generate" "$lardsim" trace synth --overwrite "$dir/x.lard" seed=2 events="$events" threads=8 fork=roots \
    variables=100000 sync_share=130 barriers=0 volatiles=0 atomics=0 classes=0 txn_share=0 heap_share=0 marks=off
row "decode, runs of 1 to 10" "$bench/decode" "$dir/t8.lard"
row "decode, runs of 1" "$bench/decode" "$dir/one.lard"
printf '%-34s %s\n' "encode, runs of 1 to 10, an event" "$("$bench/encode" "$dir/t8.lard")" \
    "encode, runs of 1, an event" "$("$bench/encode" "$dir/one.lard")"
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
    awk "BEGIN {printf \"%-34s %9.1f times the time, %.1f times the memory of vc\n\", \"\", $cpu / $vc, $mib / $vc_mib}"
done
if [ -f "$dir/t8.std" ]; then
    row "fasttrack from STD text" "$lardsim" run --quiet --policy fasttrack --set trace.rules=off "$dir/t8.std"
    ours=$cpu our_mib=$mib
fi
# Arrays that are swept.
"$lardsim" workload record --overwrite crypt,size=medium "$dir/crypt.lard" >/dev/null
of_bench=$events
events=$("$lardsim" trace info "$dir/crypt.lard" | awk '$1 == "events" {print $2; exit}')
for policy in none fasttrack slimstate; do
    row "crypt, $policy" "$lardsim" run --quiet --policy $policy --set trace.rules=off "$dir/crypt.lard"
done
# Workloads, made and counted: kernels, then twins.
for name in sor crypt moldyn hedc churn multiset xalan@valor pmd@lard,gc=semispace h2@slimstate; do
    events=$("$lardsim" run --policy none workload:$name,size=medium | awk '{sub(/^.*: /, ""); print $1; exit}')
    row "$name" "$lardsim" run --quiet --policy none --set trace.rules=off "workload:$name,size=medium"
done
# Asked on a machine, thread by thread.
for name in xalan@valor moldyn; do
    events=$("$lardsim" run --policy none "workload:$name" | awk '{sub(/^.*: /, ""); print $1; exit}')
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
        awk "BEGIN {printf \"%-34s %9.1f times the time of policy none\n\", \"\", $cpu / $none}"
    done
done
# What a push costs a host, where it hits the L1 (goal under none: 60 ns).
for how in "" "machine=multicore order=recorded" "machine=multicore order=host"; do
    for policy in none fasttrack lardish; do
        # shellcheck disable=SC2086  # several settings
        printf '%-34s %9s ns\n' "push, ${how#* }, $policy" "$("$BENCH/push" policies=$policy $how)"
    done
done
size "binary, with sites" "$dir/t8.lard"
size "binary, without sites" "$dir/bare.lard"
size "binary, without sites, runs of 1" "$dir/one.lard"

if [ -n "${RAPID:-}" ] && [ -f "$dir/t8.std" ]; then
    for engine in HBEpoch HB; do
        runs=1 row "RAPID $engine from STD text" java -Xmx8g -cp "$RAPID/bin:$RAPID/lib/*:$RAPID/lib/jgrapht/*:$RAPID/*" "$engine" -f std -p "$dir/t8.std"
        awk "BEGIN {printf \"%-34s %9.1f times the time, %.1f times the memory of fasttrack from STD\\n\", \"\", $cpu / $ours, $mib / $our_mib}"
    done
fi
