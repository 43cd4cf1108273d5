#!/bin/sh
# tables.sh - lardsim reproduce of tables on machines: are their numbers those of the cells, do parts
# add up, do cells stay, is a claim judged by its band, and do all outputs say the same?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
mkdir tmp || exit 99
TMPDIR=$dir/tmp # others may run lardsim meanwhile
export TMPDIR

# ---- the data ----------------------------------------------------------------------------------------

for file in "$top"/results/papers/claims/*.csv; do
    name=$(basename "$file" .csv)
    awk -F, -v name="$name" '
        FNR == 1 { if ($0 != "claim,quantity,paper,low,high,unit,section,band") print name ": head"; next }
        NF != 8 { print name ":" FNR ": " NF " columns" }
        $4 == "" && $5 == "" { print name ":" FNR ": no band" }
        $8 == "" { print name ":" FNR ": nothing says where the band is from" }
        $4 != "" && $5 != "" && $4 + 0 > $5 + 0 { print name ":" FNR ": low above high" }
        { n++ } END { if (!n) print name ": no claim" }' "$file"
    "$lardsim" reproduce nonsense 2>&1 | grep -qw -- "$name" || echo "$name: nothing reproduces it"
    grep -qF "\`$name\`" "$top/docs/reproduce.md" || echo "$name: docs/reproduce.md does not name it"
done >wrong
[ -s wrong ] && fail "bands: $(cat wrong)"

for file in "$top"/results/papers/tables/*.yaml; do
    name=$(basename "$file" .yaml)
    "$lardsim" reproduce nonsense 2>&1 | grep -qw -- "$name" || echo "$name: results.mk does not list it"
done >wrong
[ -s wrong ] && fail "tables: $(cat wrong)"

# A mistake in a table ends the build with its place and the rule: mistake LINE WHAT TEXT.
mkdir shared
printf 'policies: [vc]\nseeds: 2\n' >shared/part.yaml
mistake() {
    printf "$3" >table.yaml
    awk -f "$top/results/papers/tables.awk" ./table.yaml >rows 2>said && fail "a table with $2 is read"
    grep -q "^[./a-z]*:$1: " said || fail "a table with $2: $(cat said)"
}
mistake 2 "an unknown key" 'title: "t"\ncolour: red\n'
mistake 1 "no value" 'title:\n'
mistake 2 "a text without quotes" 'programs:\n  - sor\n'
mistake 2 "a quote in a text" 'programs:\n  - "s"or"\n'
mistake 1 "a line of no key" '  - "sor"\n'
mistake 0 "a part that is not there" 'inherit: [nothing]\n'
mistake 0 "no title" 'inherit: [part]\n'
mistake 0 "a row that is too long" 'inherit: [part]\ntitle: "t"\ncolumns:\n  - "a | b | c | d"\n'
printf 'inherit: [part]\ntitle: "t"\nseeds: 3\ncolumns:\n  - "a | b"\n' >table.yaml
awk -f "$top/results/papers/tables.awk" ./table.yaml >rows || fail "a table is not read"
says rows '.seeds = 3'
says rows '.policies = "vc"'
says rows '{"a", "b", NULL, }'

# ---- a table, and its cells --------------------------------------------------------------------------

small="--size accesses=2k --seeds 2 -j 2"
run 6 reproduce valor-budget $small --cells cells -q -o budget.csv --plot budget.svg --gnuplot budget.gp
[ -s out ] && fail "--quiet prints"
find cells/cells -name stats.csv | sort >before
xargs stat -c '%Y %n' <before >when
[ "$(wc -l <before)" = $((13 * 5 * 2)) ] || fail "$(wc -l <before) cells, not 13 programs, 5 policies, 2 seeds"
run 6 reproduce valor-budget $small --cells cells
cp out budget.txt
xargs stat -c '%Y %n' <before | cmp -s - when || fail "cells that were there ran again"
run 6 reproduce valor-overhead $small --cells cells
[ "$(find cells/cells -name stats.csv | wc -l)" = "$(wc -l <before)" ] || fail "tables do not share cells"

# One number, from its cells: the mean of two seeds, and the ends of its 95 percent interval, t(1) = 12.7062.
# A line of it: cell, baseline, source (quoted, as it has commas), seed, policy.
cell() { grep -F "$2," cells/plan.csv | grep ",$3,$1" | cut -d, -f1; }
cycles() { awk -F, '$1 == "roi.machine.cycles" {r = $2} $1 == "machine.cycles" {c = $2}
    END {print r ? r : c}' "cells/cells/$1/stats.csv"; }
for seed in 1 2; do
    echo "$(cycles "$(cell fasttrack pmd@valor $seed)") $(cycles "$(cell none pmd@valor $seed)")"
done | awk '{ x[NR] = 100 * ($1 / $2 - 1) }
    END { d = 12.7062 * (x[1] - x[2]) / 2; if (d < 0) d = -d; m = (x[1] + x[2]) / 2
          printf "%.5f,2,%.5f,%.5f\n", m, m - d, m + d }' >want
awk -F, '$2 == "pmd" && $3 == "fasttrack" { printf "%.5f,%d,%.5f,%.5f\n", $4, $8, $9, $10 }' budget.csv | cmp -s - want ||
    fail "pmd under fasttrack: $(grep pmd,fasttrack budget.csv), not $(cat want)"

# Parts add up to what they are parts of. Behind each stands how far two seeds can be trusted.
awk '/^part, in points/ { parts = 1; next }
    parts && /^all / { for (i = 0; i < 4; i++) { d = sum[i] - $(NF - 2 * i - 1); if (d > 0.5 || d < -0.5) print "column " i ": " sum[i] ", not " $(NF - 2 * i - 1) } found = 1 }
    parts && /^$/ { parts = 0 }
    parts { for (i = 0; i < 4; i++) sum[i] += $(NF - 2 * i - 1) }
    END { if (!found) print "no line of all parts" }' budget.txt >wrong
[ -s wrong ] && fail "parts: $(cat wrong)"

# ---- claims are judged by their bands ----------------------------------------------------------------

run 6 reproduce valor-budget $small --cells cells --json
cp out budget.json
if command -v python3 >/dev/null 2>&1; then
    python3 - budget.json budget.csv "$top/results/papers/claims/valor-budget.csv" <<'END' >wrong 2>&1 || fail "JSON: $(cat wrong)"
import csv, json, sys
j = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
bands = {b["claim"]: b for b in csv.DictReader(open(sys.argv[3]))}
assert j["schema"] == "lardsim-table-1" and j["result"] == "valor-budget" and j["cells"] == 130, "head"
assert len(j["claims"]) == len(bands)
told = {(r["program"], r["what"]): r for r in rows}
for c in j["claims"]:
    b = bands[c["claim"]]
    low, high = float(b["low"] or "-inf"), float(b["high"] or "inf")
    assert (c["verdict"] == "holds") == (low <= c["ours"] <= high), c
    assert c["least"] <= c["ours"] + 1e-6 and c["ours"] <= c["most"] + 1e-6 or c["verdict"] == "cannot", c
    assert told["", c["claim"]]["verdict"] == c["verdict"]
for p in j["programs"]:
    for k in p["columns"]:
        assert abs(float(told[p["program"], k["column"]]["ours"]) - k["ours"]) < 1e-5, (p, k)
END
fi
says budget.txt "paper 80, band 60 to 100"
says budget.txt "mean, clean"
says budget.txt "an ablation, and unsound"
[ "$(grep -c '^<rect.*class="bar' budget.svg)" = $((13 * 4)) ] || fail "the plot: $(grep -c '^<rect.*class="bar' budget.svg) bars"
says budget.gp '"pmd" '
if command -v gnuplot >/dev/null 2>&1; then
    gnuplot -e 'set terminal svg; set output "gp.svg"' budget.gp 2>gp.err || fail "gnuplot: $(cat gp.err)"
fi

# ---- a band ------------------------------------------------------------------------------------------

# Both ends are what a comparison with that much of core.unmodelled gives.
run 6 reproduce goldilocks-table3 --size ops=1 -j 2 --band 50 --json
tr -d '\n' <out | grep -o '"step": "threads=5",.*"step": "threads=10"' >band
for most in 0 50; do
    "$lardsim" compare -c pentium4 --set granularity=field --set order=program --set schedule.quantum=280000000 \
        --set core.unmodelled=$most -p goldilocks --json \
        workload:multiset,ops=30,outside=97.78,layout=ia32,tier=interpreted,threads=5,ops=1,seed=1 >alone 2>/dev/null
    grep '"policy": "goldilocks"' alone | grep -o '"overhead": [0-9.-]*' | awk '{printf "%.6f\n", $2 + 1}'
done >ends
awk -v ours="$(sed 's/.*"ours": \([0-9.]*\).*/\1/' band)" -v most="$(sed 's/.*"unmodelled": \([0-9.]*\).*/\1/' band)" '
    { end[NR] = $1 } function off(a, b) { return a - b > 0.00001 || b - a > 0.00001 }
    END { exit off(end[1], ours) || off(end[2], most) || most - ours < 0.0005 }' ends ||
    fail "a band: $(cat band), and alone $(cat ends)"
run 2 reproduce cvm-fig5 --band 50
says err "core.type=pipelined"
run 2 reproduce all --quick --band 50
says err "of one table"
run 2 reproduce goldilocks-table3 --band 0
says err "no number from 1 to 1000"

# ---- races of all trials ------------------------------------------------------------------------------

# A pair that two trials find is one. Counted again from the cells, by names, for a program with 96.
run 0 reproduce valor-table2 --size accesses=2k --seeds 2 -j 2 --cells trials -q -o trials.csv
for cell in $(awk -F, '/workload:pmd@valor/ && $NF == "valor" {print $1}' trials/plan.csv); do
    sed -n 's/.*"site": "\([^"]*\)".*"earlier": {.*"site": "\([^"]*\)".*/\1 \2/p' "trials/cells/$cell/races.jsonl"
done | awk '{print ($1 < $2 ? $1 " " $2 : $2 " " $1)}' | sort -u >pairs
[ -s pairs ] || fail "pmd has no races"
grep -q "^valor-table2,pmd,\"ever, valor\",$(wc -l <pairs)\.0*," trials.csv ||
    fail "$(wc -l <pairs) pairs of pmd raced ever, not: $(grep 'pmd,"ever, valor"' trials.csv)"

# ---- what can't be asked for -------------------------------------------------------------------------

run 2 reproduce nonsense
says err "there are all, "
run 2 reproduce all
says err "give --cells DIR"
run 2 reproduce lard-table3 --cells cells
says err "has no --cells"
run 2 reproduce valor-budget --programs kernels
run 2 reproduce valor-budget --json -o -
run 3 reproduce valor-budget --size accesses=many -q
says err "accesses"
[ -z "$(find "$TMPDIR" -name 'lardsim-cells-*')" ] ||
    fail "a folder of cells is left"

exit $bad
