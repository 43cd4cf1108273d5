#!/bin/sh
# prove.sh - what an analysis proves of a workload (analysis=on): no race is lost to it, whatever the
# schedule; what locks, fork and join order is proved, what barriers order is not; nothing else changes.
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
fail() { echo "prove.sh: $*"; bad=1; }
stat() { awk -F, -v n="policy.$1" '$1 == n {print $2}' run/stats.csv; }

# No race is lost: those without the filter are those with it. And there are some of both, so that both
# could be wrong.
for workload in hedc,racy=on pool,racy=on raytracer,racy=on,n=8 tsp,racy=on water,racy=paper; do
    for schedule in "seed=1" "seed=2,schedule=adversarial,gc=semispace"; do
        "$lardsim" run -p vc -p believes=vc --set policy.believes.filter.safe=on --quiet -o run \
            "workload:$workload,analysis=on,$schedule" 2>err || fail "$workload: $(cat err)"
        [ "$(stat vc.races.accesses)" = "$(stat believes.races.accesses)" ] ||
            fail "$workload,$schedule has $(stat vc.races.accesses) racy accesses, and $(stat believes.races.accesses) of them are left"
        races=$((${races:-0} + $(stat vc.races.accesses))) spared=$((${spared:-0} + $(stat believes.filter.safe)))
        rm -r run
    done
done
[ "${races:-0}" -gt 100 ] && [ "${spared:-0}" -gt 10000 ] || fail "$races races, $spared accesses spared"

# Threads that meet at barriers alone share what is not proved; what has locks, or is a thread's own until
# it is joined, is proved.
share() {
    "$lardsim" run -p vc --set policy.vc.filter.safe=on --quiet -o run "workload:$1,analysis=on" 2>err || fail "$1: $(cat err)"
    echo $((100 * $(stat vc.filter.safe) / ($(stat vc.filter.safe) + $(stat vc.checked))))
    rm -r run
}
for name in sor lufact; do
    [ "$(share $name)" = 0 ] || fail "$(share $name) percent of $name are proved, which has barriers alone"
done
for name in series philosopher; do
    [ "$(share $name)" = 100 ] || fail "$(share $name) percent of $name are proved"
done

# The mark alone is new.
"$lardsim" trace cat workload:tsp >plain
"$lardsim" trace cat workload:tsp,analysis=on >marked
cmp -s plain marked && fail "nothing is marked in tsp"
sed 's/ safe//' marked | cmp -s - plain || fail "more than a mark is new in tsp"
exit $bad
