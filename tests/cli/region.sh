#!/bin/sh
# region.sh - what compare says of an overhead beside the number: of the region of interest and of the
# whole run, whether a longer run would have another one, and the spread over seeds.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
stat() { sed -n "s/^$2  *\([0-9]*\) .*/\1/p" "$1/stats.txt"; }

# A set-up of 10,000 instructions, in which thread 1 already waits for the lock that thread 0 holds; then
# the region, in which it waits some 1,000 cycles more. Only these are the region's.
cat >probe.trace <<'EOF'
lardsim-text 1
T0 acq 0x100
T0 fork T1
T1 write 0x2000 8
T0 write 0x1000 8 +10000
T0 roi-begin
T0 write 0x1000 8 +1000
T0 rel 0x100
T1 acq 0x100
T0 roi-end
T1 rel 0x100
T0 join T1
EOF
run 0 run --quiet -c radish8 -o probe probe.trace
inside=$(stat probe machine.region-cycles) lock=$(stat probe roi.machine.spent.wait-lock)
whole=$(stat probe machine.spent.wait-lock)
[ "$inside" -ge 1000 ] && [ "$inside" -lt 1500 ] || fail "the region of 1,000 instructions took $inside cycles"
[ "$lock" -ge 900 ] && [ "$lock" -le "$inside" ] || fail "thread 1 waits $lock cycles in the region of $inside"
[ "$whole" -gt 10000 ] || fail "thread 1 waits $whole cycles in all, not the whole set-up"

# To look at the time in the middle moves nothing: marks of phases in the place of those of the region.
run 0 workload record xalan@valor,threads=9,accesses=20k x.lard
"$lardsim" trace cat x.lard >x.trace
sed -E 's/ roi-(begin|end)/ phase 1/' x.trace >phase.trace
[ "$(grep -c ' phase 1' phase.trace)" = 2 ] || fail "the workload marks no region"
for cores in 2 8; do
    for f in x phase; do
        run 0 run --quiet -c radish8 --set cores=$cores -p fasttrack -o $f.$cores $f.trace
        grep -E '^(machine|cores)\.' $f.$cores/stats.txt | grep -v '^machine.region' | tr -s ' ' >$f.stats
    done
    cmp -s x.stats phase.stats || fail "with $cores cores, a region changes what happens when"
    grep -q '^roi\.' phase.$cores/stats.txt && fail "a phase is a region"
done

# The page: the region first, then the whole run; what the second table says adds up.
run 0 compare -c radish8 -p fasttrack,valor --json x.trace
if command -v python3 >/dev/null 2>&1; then
    python3 - out <<'EOF' || fail "the numbers of the region do not agree with each other"
import json, sys
d = json.load(open(sys.argv[1]))
none = d["policies"][0]
for p in d["policies"]:
    keys = list(p)
    assert keys.index("region") < keys.index("cycles"), "the region is not first"
    r = p["region"]
    assert 0 < r["cycles"] < p["cycles"], (p["policy"], "the region is no part of the run")
    assert sum(p["spent"].values()) == p["cycles"] * d["machine"]["cores"], "whole"
    assert sum(r["spent"].values()) == r["cycles"] * d["machine"]["cores"], (p["policy"], r)
    assert abs(p["overhead"] + 1 - r["cycles"] / none["region"]["cycles"]) < 1e-5
    assert [c["part"] for c in p["course"]] == [0.125, 0.25, 0.5, 1]
    assert abs(p["course"][-1]["cycles-to-none"] - 1 - p["overhead"]) < 1e-5, "the end of the course"
    moved = abs(p["course"][3]["cycles-to-none"] - p["course"][2]["cycles-to-none"])
    over = p["course"][3]["cycles-to-none"] - 1
    assert p["settled"] == (moved <= 0.005 or moved <= 0.05 * abs(over)), "settled"
EOF
fi
run 0 compare -c radish8 -p fasttrack --csv x.csv x.trace
says out "measured   the region of interest, "
says out "the whole run:"
says out "the overhead after a part of the region's events:"
head -n 1 x.csv | grep -q '^policy,measured,overhead,overhead-whole,cycles,.*,region.cycles,' || fail "the CSV has no region"
run 0 compare -c radish8 -p fasttrack phase.trace
grep -q "of the region" out && fail "a region that nobody marked"
says out "the overhead after a part of the events:"

# A policy that costs the same for each access is settled; one whose cost is all in the end is not.
awk 'BEGIN {
    print "lardsim-text 1"
    for (i = 0; i < 2000; i++) print "T0 write 0x1000 8 +20"
}' >even.trace
awk 'BEGIN {
    print "lardsim-text 1"
    for (i = 0; i < 1000; i++) print "T0 write 0x1000 8 stack +20"
    for (i = 0; i < 1000; i++) printf "T0 write 0x%x 8 +20\n", 65536 + 64 * i
}' >late.trace
run 0 compare -c radish8 -p fasttrack even.trace
grep -q '^fasttrack.* settled$' out || fail "an even run is not settled: $(grep '^fasttrack' out | tail -n 1)"
run 0 compare -c radish8 -p fasttrack late.trace
grep -q '^fasttrack.*  not settled' out || fail "costs that come late are settled: $(grep '^fasttrack' out | tail -n 1)"

# Longer runs, until twice the length changes nothing; the table is of the last.
run 0 compare -c radish8 -p fasttrack --converge -o longer workload:sor,steps=5,n=20
says out "workload:sor,steps="
grep -q 'as steps doubles: settled' out || fail "sor does not settle: $(grep doubles out)"
last=$(awk '/steps doubles/ {in_it = 1} in_it && NF == 3 {v = $1} /^findings/ {in_it = 0} END {print v}' out)
says out "workload:sor,steps=$last,n=20:"
run 0 verify longer
says longer/compare.json '"converged": true'
run 2 compare -c radish8 -p fasttrack --converge x.trace
says err "x.trace is the record of one run"
run 2 compare -c radish8 -p fasttrack --converge workload:tsp
says err "workload:tsp"
run 2 compare -p vc -p fasttrack --converge workload:sor
says err "give a machine"

# Seeds: so many runs, the first the one in the table.
run 0 compare -c radish8 -p fasttrack --seeds 3 synth:seed=5,events=2k
says out "with 3 seeds, from 5 on"
run 0 compare -c radish8 -p fasttrack --seeds 3 --json synth:seed=5,events=2k
[ "$(grep -c '"seed":' out)" = 3 ] || fail "three seeds give $(grep -c '"seed":' out) rows"
second=$(grep -o '"fasttrack": [0-9.]*' out | sed -n '2s/.* //p')
"$lardsim" compare -c radish8 -p fasttrack --json synth:seed=6,events=2k >six
ratio() { grep '"policy": "fasttrack"' "$1" | grep -o '"overhead": [0-9.-]*' | awk '{printf "%.6f", $2 + 1}'; }
six=$(ratio six)
[ "$six" = "$second" ] || fail "the second seed gives $second, and alone it gives $six"
for n in 0 1001 x -1; do
    run 2 compare -c radish8 -p fasttrack --seeds=$n workload:sor
    says err "no number from 1 to 1000"
done
run 2 compare -c radish8 -p fasttrack --seeds 2 x.trace
says err "x.trace is the record of one run"

# The band: the two ends are what runs with core.unmodelled give.
set -- -c radish8 --set core.type=pipelined -p fasttrack synth:seed=5,events=2k
run 0 compare "$@" --band 100
says out "core.unmodelled from 0 to 100 percent"
run 0 compare "$@" --band 100 --json
ends_alone=""
ends=$(sed -n '/"band"/,$p' out | grep -o '"fasttrack": [0-9.]*' | sed 's/.* //' | tr '\n' ' ')
for most in 0 100; do
    "$lardsim" compare "$@" --set core.unmodelled=$most --json >alone
    ends_alone="$ends_alone$(ratio alone) "
done
[ "$ends" = "$ends_alone" ] || fail "the ends of the band are $ends, and alone $ends_alone"
[ "${ends%% *}" != "$(echo "$ends" | cut -d ' ' -f 2)" ] || fail "both ends of the band are $ends"
for n in 0 1001 x; do
    run 2 compare "$@" --band=$n
    says err "no number from 1 to 1000"
done
for n in 1 1000; do
    run 0 compare -q "$@" --band=$n
done
run 2 compare -c radish8 -p fasttrack --band 100 synth:seed=5,events=2k
says err "core.type=pipelined"
run 2 compare -p fasttrack --band 100 synth:seed=5,events=2k
says err "give a machine"
exit $bad
