#!/bin/sh
# seeds.sh - seeds as a user meets them: another seed is another run, the tables have the mean of several
# and its 95 percent interval, computed again here from the single runs, and what changes nothing is said.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
machine='-c radish8'
small=workload:philosopher

# The mean of three numbers and the ends of its interval: t(2) = 4.3027.
cat >interval.awk <<'AWK'
{ x[NR] = $1; sum += $1 }
END {
    mean = sum / NR
    for (i = 1; i <= NR; i++) squares += (x[i] - mean) ^ 2
    half = 4.3027 * sqrt(squares / (NR - 1) / NR)
    printf "%.6f %.6f %.6f\n", mean, mean - half, mean + half
}
AWK
# near WHAT "A B C" "A B C": they differ by rounding alone.
near() {
    echo "$2 $3" | awk '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d > 0.00001 || d < -0.00001) exit 1 }
        exit NF != 6 }' || fail "$1: $2, not $3"
}

# ---- run ---------------------------------------------------------------------------------------------

for seed in 1 2 7; do
    run 0 run -q $machine -p fasttrack -o run.$seed $small,seed=$seed
    run 0 run -q $machine -p none -o none.$seed $small,seed=$seed
    sed -n 's/^machine.cycles,\([0-9]*\),.*/\1/p' run.$seed/stats.csv
done >cycles
[ "$(sort -u cycles | wc -l)" = 3 ] || fail "seeds 1, 2, 7 of philosopher take $(tr '\n' ' ' <cycles)cycles"
# All policies start the threads at the same time; the seed of a workload is no seed of a replay.
for seed in 1 2 7; do
    for what in starts start-cycles; do
        a=$(grep "^perturb.$what," run.$seed/stats.csv) b=$(grep "^perturb.$what," none.$seed/stats.csv)
        [ -n "$a" ] && [ "$a" = "$b" ] || fail "seed $seed: fasttrack has $a, none has $b"
    done
done
run 0 run -q $machine --set order=timed -o timed $small
grep -q '^perturb' timed/stats.csv && fail "a replay is perturbed, and nobody asked for it"
says timed/stats.json '"key": "not-perturbed"'

# ---- compare -----------------------------------------------------------------------------------------

run 0 compare $machine -p fasttrack --seeds 3 --json --csv three.csv -q $small
run 0 compare $machine -p fasttrack --seeds 3 --json $small
cp out three.json
for seed in 1 2 3; do
    run 0 compare $machine -p fasttrack --json $small,seed=$seed
    sed -n 's/.*"policy": "fasttrack".*"overhead": \([0-9.]*\).*/\1/p' out
done >overheads
mean=$(awk -f interval.awk overheads)
[ "$(sort -u overheads | wc -l)" = 3 ] || fail "three seeds have the same overhead: $(tr '\n' ' ' <overheads)"
near "compare --csv" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $1 == "fasttrack" { print $at["seeds.overhead.mean"], $at["seeds.overhead.low"], $at["seeds.overhead.high"] }' three.csv)" "$mean"
near "compare --json" "$(tr -d '\n' <three.json | sed 's/.*"seeds-mean": .*"fasttrack": { *"mean": \([0-9.]*\), *"low": \([0-9.]*\), *"high": \([0-9.]*\).*/\1 \2 \3/' |
    awk '{ print $1 - 1, $2 - 1, $3 - 1 }')" "$mean"
says three.json '"seeds-change-nothing": false'
run 0 compare $machine -p fasttrack --seeds 3 $small
row=$(sed -n '/^the overhead with 3 seeds/,$p' out | grep '^fasttrack')
wanted=$(echo "$mean" | awk '{ printf "fasttrack %.1f %% %.1f %%", 100 * $1, 100 * ($3 - $1) }')
case "$(echo "$row" | tr -s ' ')" in "$wanted "*) ;; *) fail "the page says $row, not $wanted" ;; esac
run 0 compare $machine -p fasttrack --seeds 2 --set perturb.start=0 --set perturb.memory=0 $small
says out "the seeds change nothing"

# ---- sweep -------------------------------------------------------------------------------------------

cat >s.yaml <<END
base: {inherit: radish8}
axes: {l3.size: [8Mi, 16Mi], memory.fixed.latency: [120, 200]}
policies: [fasttrack]
sources: [$small, "synth:events=2000"]
seeds: 3
END
run 0 sweep s.yaml -o one -j 1
says err "l3.size changes nothing: in all "
grep -q "seed changes nothing\|latency changes" err && fail "what changes something is said to change nothing: $(cat err)"
run 0 sweep s.yaml -o two -j 3 --json
tr -d ' \n' <out | grep -q '"change-nothing":\["l3.size"\]' || fail "JSON of a sweep: $(cat out)"
diff -r -x host.json one/cells two/cells >differ 2>&1 || fail "-j 1 and -j 3 differ: $(head -n 3 differ)"
run 0 sweep collect one
says err "l3.size changes nothing: in all "
says out "means over seeds, 8 rows"
sed 's/"\([^",]*\)[^"]*"/\1/' one/cells.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["l3.size"] == 8388608 && $at["memory.fixed.latency"] == 200 && $at["source"] == "workload:philosopher" { print $at["overhead"] }' >rows
[ "$(sort -u rows | wc -l)" = 3 ] || fail "three seeds of a point have the overheads $(tr '\n' ' ' <rows)"
near "means.csv" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["l3.size"] == 8388608 && $at["memory.fixed.latency"] == 200 && $at["source"] == "workload:philosopher" {
        print $at["overhead"], $at["overhead.low"], $at["overhead.high"] }' one/means.csv)" "$(awk -f interval.awk rows)"
[ "$(wc -l <one/means.jsonl)" = 8 ] || fail "means.jsonl has $(wc -l <one/means.jsonl) rows, not 8"
run 0 report one -o one.html
sed 's/<[^>]*>/ /g' one.html | tr -s ' ' >page
says page "seed 1, 2, 3 mattered"
says page "Over the seeds"
# Of the same point as above, in percent.
tr -d '\n' <one.html | sed 's/<tr>/\n/g; s/<[^>]*>/ /g' | tr -s ' ' |
    grep '^ workload:philosopher fasttrack 8Mi 200 3 ' >row
[ "$(cut -d ' ' -f 7,8 row)" = "$(awk -f interval.awk rows | awk '{ printf "%.1f %.1f", 100 * $1, 100 * ($3 - $1) }')" ] ||
    fail "the report has $(cat row), and the mean and ends are $(awk -f interval.awk rows)"
# Without delays the seed of a workload is said to change nothing; of one seed there are no means.
sed 's/^base.*/base: {inherit: radish8, perturb.start: 0, perturb.memory: 0}/; s/, "synth.*/]/; s/^axes.*//' s.yaml >idle.yaml
run 0 sweep idle.yaml -o one
says err "seed changes nothing: in all 2 places"
sed '/^seeds/d' idle.yaml >single.yaml
run 0 sweep single.yaml -o one
run 0 sweep collect one
[ ! -e one/means.csv ] || fail "of one seed there are means: $(cat one/means.csv)"

exit $bad
