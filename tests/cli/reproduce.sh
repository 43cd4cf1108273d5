#!/bin/sh
# reproduce.sh - the printed numbers of LARD's tables agree with each other, and lardsim reproduce judges
# what the paper claims. That its truth is one is tested in t_table3.c.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
run() { # run CODE ARGS...: standard output in out, errors in err
    want=$1
    shift
    "$lardsim" reproduce "$@" >out 2>err </dev/null
    code=$?
    [ $code = "$want" ] || fail "reproduce $*: exit code $code, not $want: $(cat err)"
}

# ---- what is printed (results/README.md) ---------------------------------------------------------

# LARD - missed + false = Naive in every row, as corrected by the errata; an erratum is one only if the
# number as printed breaks that. With -v errata=0 they are not applied.
cat >identity.awk <<'END_AWK'
FNR == 1 { if ($0 != "paper,table,program,collector,detector,measure,value,unit,erratum") print "head of " FILENAME; next }
NF != 9 { print FILENAME ":" FNR ": " NF " columns" }
$7 !~ /^[0-9]+$/ { print FILENAME ":" FNR ": no number" }
seen[$1, $2, $3, $4, $5, $6]++ { print FILENAME ":" FNR ": again" }
{
    v[$2, $3, $4, $5, $6] = $7
    if ($2 == 2 && errata && match($9, /gives [0-9]+/))
        v[$2, $3, $4, $5, $6] = substr($9, RSTART + 6, RLENGTH - 6)
    if ($4 != "") row[$3 SUBSEP $4] = 1
}
END {
    for (r in row) {
        n++
        is = v[2, r, "naive", "races.accesses"]
        gives = v[3, r, "lard", "races.accesses"] - v[3, r, "naive", "missed.accesses"] + v[3, r, "naive", "false.accesses"]
        name = r; sub(SUBSEP, " ", name)
        if (is != gives) print name ": " is ", not " gives
        for (i = split("races.accesses races.sites", m, " "); i > 0; i--)
            if (v[2, r, "lard", m[i]] != v[3, r, "lard", m[i]]) print name ": " m[i] " of LARD differ in the tables"
        f = v[3, r, "naive", "false.sites"]; s = v[2, r, "naive", "races.sites"]
        if (s < f || s > f + v[2, r, "lard", "races.sites"]) print name ": sites of Naive"
    }
    if (n != 14) print n " rows, not 14"
}
END_AWK
identity() { awk -F, -v errata="$1" -f identity.awk "$top"/results/papers/printed/lard-table2.csv "$top"/results/papers/printed/lard-table3.csv; }
[ -z "$(identity 1)" ] || fail "the printed tables: $(identity 1)"
[ "$(identity 0)" = "lusearch marksweep: 2823974, not 41760642" ] || fail "errata: $(identity 0)"

# ---- ours ----------------------------------------------------------------------------------------

# truth - missed + false = races, of every detector in every run.
cat >sums.awk <<'END_AWK'
NR == 1 { if ($0 != "table,program,variant,collector,detector,measure,value,paper") print "head"; next }
NF != 8 { print NR ": " NF " columns" }
{ v[$2, $3, $4, $5, $6] = $7; if ($5 != "") row[$2 SUBSEP $3 SUBSEP $4] = 1; if ($6 == "false.accesses") view[$5] = 1 }
END {
    for (r in row) {
        n++
        for (d in view) {
            if (v[r, "truth", "races.accesses"] - v[r, d, "missed.accesses"] + v[r, d, "false.accesses"] != v[r, d, "races.accesses"])
                print r " " d ": sums"
            if (v[r, d, "false.system"] > v[r, d, "false.accesses"] || v[r, d, "missed.system"] != 0) print r " " d ": system"
            views++
        }
    }
    if (n != runs || views != runs * 6) print n " runs, " views " rows"
}
END_AWK
sums() { # sums RUNS FILE
    awk -F, -v runs="$1" -f sums.awk "$2" >wrong
    [ -s wrong ] && fail "the CSV $2: $(cat wrong)"
}

# judge ARGUMENT...: whether tests/results/judge/tables_lard.pl finds a line or a number that is not what the counts say.
judge() {
    command -v perl >/dev/null 2>&1 || return 0
    said=$(perl "$top/tests/results/judge/tables.pl" "$@" 2>&1) || fail "the judge of $1 says: $said"
}

# plotted TABLE CSV SVG: whether each dot stands where the counts say.
plotted() {
    command -v perl >/dev/null 2>&1 || return 0
    said=$(perl "$top/tests/results/judge/plot.pl" "$@" 2>&1) || fail "the judge of the plot says: $said"
}

# The twins: every claim of Table 3 holds. What fails of Table 2 is known (docs/reproduce.md).
run 0 lard-table3 -o table3.csv --plot table3.svg
says out "claims: 86 hold, 0 fail, 16 have no case"
[ "$(grep -c '^  lard .*no missed *holds$' out)" = 14 ] || fail "lard is not exact everywhere"
says out "lard       races        703       703        =       34     34        =  no false, no missed"
[ "$(grep -c 'its races are planted, an input of the twin' out)" = 8 ] || fail "planted races are not called so"
sums 14 table3.csv
judge lard "$top" 3 twins out table3.csv ""
plotted 3 table3.csv table3.svg
"$lardsim" run -q --preset lard-table3 --set races.max=0 -o one "workload:pmd@lard,gc=semispace,collections=4,alloc=0"
judge lard-run one table3.csv pmd@lard semispace
cp table3.csv before.csv
run 0 lard-table3 --quiet -o table3.csv --overwrite
[ -s out ] && fail "--quiet prints"
cmp -s table3.csv before.csv || fail "lard-table3 differs the second time"
# Each of 7 counts of 14 runs, the paper's and ours, and the legend's two.
[ "$(grep -c '^<circle' table3.svg)" = $((7 * 14 * 2 + 2)) ] || fail "the plot: $(grep -c '^<circle' table3.svg) points"
says table3.svg '<title>41760642</title>'
says table3.csv ',xalan@lard,planted-races,marksweep,all-sync,missed.accesses,699,699'
says table3.csv ',lusearch@lard,race-free,marksweep,'
says table3.svg 'xalan@lard (planted), SS'
# Each printed number is in it, but those whose program or detector is not run.
awk -F, -v table=lard-table3 'FNR == NR { has += $8 ~ /^[0-9]/; next } $2 == 3 { all++ } END { exit has != all }' \
    table3.csv "$top/results/papers/printed/lard-table3.csv" || fail "the CSV has not all that is printed"
run 6 lard-table2 -o table2.csv --plot table2.svg
cp out table2.page
says out "claims: 34 hold, 8 fail, 0 have no case"
[ "$(grep -c 'accurate detector finds *holds$' out)" = 14 ] || fail "lard does not find all races"
says out "on the paper's count, naive races: printed: the no-clear figure of Table 3"
[ "$(grep -c "on the paper's count" out)" = 1 ] || fail "errata that are none"
grep -q 'all-memory' out && fail "detectors that the table does not have"
grep -q ' $' out && fail "blanks at the end of a line"
# Where naive reports more than lard (docs/reproduce.md).
for of in accesses:pmd,xalan sites:avrora; do
    awk -F, -v m="races.${of%%:*}" '$3 == "planted-races" && $6 == m { v[$2, $4, $5] = $7; p[$2] }
        END { for (n in p) if (v[n, "marksweep", "naive"] > v[n, "marksweep", "lard"] && v[n, "semispace", "naive"] > v[n, "semispace", "lard"]) print n }' \
        table2.csv | sed 's/@.*//' | sort | tr '\n' ',' >where
    [ "$(cat where)" = "${of#*:}," ] || fail "naive has more ${of%%:*} in $(cat where)"
done

# The JSON has what the text and the CSV have, and nothing else is on standard output.
run 6 lard-table2 -q --json -o json.csv
cp out table2.json
cmp -s json.csv table2.csv || fail "with --json the CSV differs"
[ -s err ] && [ "$(wc -l <err)" = 1 ] || fail "--json: standard error: $(cat err)"
run 2 lard-table2 --json -o -
says err "standard output has the JSON"
judge lard "$top" 2 twins table2.page table2.csv table2.json
plotted 2 table2.csv table2.svg

# Our own programs: what claims fail is known; the others may not.
run 6 lard-table3 --programs kernels -o kernels.csv --plot kernels.svg
says err "2 claims fail"
says out "claims: 169 hold, 2 fail, 29 have no case"
[ "$(grep -c 'its races are planted, an input' out)" = 12 ] || fail "planted races are not called so"
[ "$(awk -F, '$3 == "planted-races" {print $2, $4}' kernels.csv | sort -u | wc -l)" = 12 ] || fail "the CSV does not say what is planted"
for view in lard all-memory no-clear no-copy; do
    grep -q "^  $view .*FAILS" out && fail "a claim on $view fails"
done
[ "$(grep -c '^  lard .*no missed *holds$' out)" = 28 ] || fail "lard is not exact everywhere"
sums 28 kernels.csv
plotted 3 kernels.csv kernels.svg
cp out kernels.page
run 6 lard-table3 --programs kernels -q --json
judge lard "$top" 3 kernels kernels.page kernels.csv out
run 6 lard-table2 --programs kernels
[ "$(grep -c 'accurate detector finds *holds$' out)" = 28 ] || fail "lard does not find all races"
says out "claims: 82 hold, 2 fail, 0 have no case"
run 2 lard-table3 --programs others
says err "kernels"

# What can't be written is told before anything runs.
run 7 lard-table3 -o nosuch/table3.csv
[ -s out ] && fail "programs ran for a file that can't be written"
run 7 lard-table3 -o new.csv --plot nosuch/table3.svg
[ -e new.csv ] && fail "a CSV of nothing"
run 7 lard-table3 -o table3.csv
says err "--overwrite"
cmp -s table3.csv before.csv || fail "a file was replaced"
run 2 lard-table4
says err "lard-table3"
run 2
exit $bad
