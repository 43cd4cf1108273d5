#!/bin/sh
# radish.sh - on real caches, the hardware policies say what vc says of the same execution: racy
# accesses, sites, locations, pairs, in one run that both watch, whatever is evicted when.
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
n=0 racy=0 taken=0 evicted=0

# agree POLICY VIEW SETTINGS... SOURCE
agree() {
    policy=$1 view=$2
    shift 2
    n=$((n + 1))
    rm -rf "$dir/out"
    if ! "$lardsim" run --quiet -o "$dir/out" -c radish8 --policy vc --policy "$policy" \
        --set policy.vc.view="$view" --set policy.lardish.view="$view" --set l1.size=1Ki --set l2.size=2Ki \
        --set l3.size=32Ki "$@" 2>"$dir/err"; then
        echo "$policy $*: $(cat "$dir/err")"
        bad=1
        return
    fi
    for of in vc "$policy"; do
        sed -n "s/^policy\.$of\.\(races\.[a-z]*\) *\([0-9]*\) .*/\1 \2/p" "$dir/out/stats.txt" >"$dir/$of.races"
    done
    cmp -s "$dir/vc.races" "$dir/$policy.races" || {
        echo "$policy differs from vc: $*"
        diff "$dir/vc.races" "$dir/$policy.races" | head -4
        bad=1
    }
    grep -q '^races.accesses [1-9]' "$dir/vc.races" && racy=$((racy + 1))
    grep -q "^policy.$policy.permissions.taken  *[1-9]" "$dir/out/stats.txt" && taken=$((taken + 1))
    grep -q "^policy.$policy.manager.handlers.eviction  *[1-9]" "$dir/out/stats.txt" && evicted=$((evicted + 1))
}

for seed in 1 2 3 4 5 6; do
    memory=fixed
    [ $((seed % 2)) = 1 ] || memory=ddr
    trace=synth:seed=$seed,events=3000,threads=6,variables=60,heap_share=60,txn_share=0,unaligned=0,granularity=4
    agree lardish tracked --set granularity=4 "$trace"
    agree lardish all-memory --set granularity=4 --set policy.lardish.checks=queued --set policy.lardish.queue=4 "$trace"
    agree lardish no-clear,no-copy --set granularity=4 --set policy.lardish.clock-bits=6 --set order=recorded "$trace"
    agree lardish tracked --set granularity=4 --set cores=2 --set schedule.threads=round-robin --set schedule.quantum=3000 \
        --set policy.lardish.flush=lazy "$trace"
    agree lardish tracked --set granularity=4 --set policy.lardish.in-cache-copy=on --set policy.lardish.move-history=on "$trace"
    agree lardish all-sync --set granularity=4 --set policy.lardish.in-cache-copy=on --set cores=2 \
        --set schedule.threads=round-robin --set policy.lardish.clock-bits=4 --set core.misses=4 "$trace"
    agree lardish tracked --set granularity=2 --set policy.lardish.move-history=on --set policy.lardish.checks=queued \
        --set policy.lardish.clock-bits=4 --set memory.type=ddr --set core.store-buffer=4 "$trace"
    agree radish naive --set granularity=1 --set policy.radish.clock-bits=5 --set l2.size=0 "$trace"
    agree radish naive --set granularity=4 --set l3.inclusion=non-inclusive --set l2.inclusion=exclusive "$trace"
    agree lardish tracked --set granularity=4 --set core.prefetch.streams=4 --set core.prefetch.distance=4 --set memory.type=$memory "$trace"
    agree radish-ts naive --set granularity=8 --set core.store-buffer=4 --set memory.type=ddr \
        "synth:seed=$seed,events=3000,threads=6,variables=60,granularity=8,txn_share=0"
done
# Accesses that nobody waits for, memory that answers later, threads that share cores, caches of all shapes.
# each N YES NO: in every Nth run
each() { if [ $((n % $1)) = 0 ]; then echo "$2"; else echo "$3"; fi; }
small="l1.size=512 l1.ways=2 l2.size=1Ki l2.ways=2 l3.size=8Ki l3.ways=4"
for beside in core.misses=0 core.misses=4 core.store-buffer=4 "core.store-buffer=1 core.misses=2"; do
    for memory in fixed ddr; do
        for threads in cores=8 "cores=3 schedule.threads=round-robin schedule.quantum=2000"; do
            for caches in l1.size=2Ki "$small" "$small l3.inclusion=non-inclusive l2.inclusion=exclusive" \
                "$small l3.size=6Ki l3.banks=3 network.topology=mesh coherence.composition=cumulative"; do
                set -- granularity=4 memory.type=$memory policy.lardish.clock-bits=$((4 + n % 6)) \
                    policy.lardish.in-cache-copy="$(each 2 on off)" \
                    policy.lardish.move-history="$(each 3 on off)" \
                    policy.lardish.answers="$(each 4 granules line)" \
                    policy.lardish.fill="$(each 3 status checks)" \
                    policy.lardish.checks="$(each 5 queued synchronous)" \
                    policy.lardish.flush="$(each 7 lazy eager)"
                for setting in $beside $threads $caches; do
                    set -- "$@" "$setting"
                done
                for setting; do
                    shift
                    set -- "$@" --set "$setting"
                done
                agree lardish tracked "$@" \
                    "synth:seed=$n,events=2000,threads=6,variables=60,heap_share=60,unaligned=0,granularity=4"
            done
        done
    done
done
# A copying collector says MoveHistory for each object that it moves; histories in lines of the caches go along.
moved() {
    "$lardsim" run --quiet --overwrite -o "$dir/out" -c radish8 --policy vc --policy lardish --set granularity=4 "$@" \
        --set policy.lardish.move-history=on --set policy.lardish.in-cache-copy=on workload:pool,gc=semispace,racy=on || bad=1
    for count in heap.moves heap.in-cache runtime.lardx86.movehistory; do
        grep -q "^policy.lardish.$count  *[1-9]" "$dir/out/stats.txt" || { echo "no $count: $*"; bad=1; }
    done
    [ "$(grep -c 'races.accesses  *0 ' "$dir/out/stats.txt")" -eq 0 ] || { echo "no races to tell: $*"; bad=1; }
    for of in vc lardish; do
        sed -n "s/^policy\.$of\.\(races\.[a-z]*\) *\([0-9]*\) .*/\1 \2/p" "$dir/out/stats.txt" >"$dir/$of.races"
    done
    cmp "$dir/vc.races" "$dir/lardish.races" || bad=1
}
moved --set order=timed
moved --set order=recorded
echo "$n runs, $racy with races, $taken with permissions that left with their data, $evicted with evictions to software"
[ "$racy" -ge $((n / 3)) ] || { echo "too few of them had races to tell"; bad=1; }
[ "$taken" -ge $((n * 9 / 10)) ] || { echo "too few of them lost permissions with data: are line events on?"; bad=1; }
[ "$evicted" -ge $((n / 2)) ] || { echo "too few of them stored what was evicted"; bad=1; }
exit $bad
