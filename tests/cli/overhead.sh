#!/bin/sh
# overhead.sh - does every verb mean the same by an overhead? A cell of a sweep and a run of compare have the
# same configuration; the test takes cycles from their stats.json, and holds each table to what follows.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# of FOLDER PATH: of its stats.json, by the names that lead to the number.
of() {
    awk -v want="$2" '
        match($0, /^ *"[^"]*"/) {
            n = index($0, "\""); depth = (n - 1) / 2
            name[depth] = substr($0, n + 1, RLENGTH - n - 1)
            path = name[1]
            for (i = 2; i <= depth; i++) path = path "/" name[i]
            if (path == want) { gsub(/[^0-9]/, ""); print }
        }' "$1/stats.json"
}
# more WITH WITHOUT: what the first has more than the second, to a millionth.
more() { awk -v p="$1" -v n="$2" 'BEGIN {printf "%.6f", p / n - 1}'; }
# near SENTENCE A B: both are one number, to the last digit that is printed.
near() {
    awk -v a="$2" -v b="$3" 'BEGIN {d = a - b; exit !(a != "" && b != "" && d < 0.0000011 && d > -0.0000011)}' ||
        fail "$1: '$2', where the statistics give '$3'"
}
# column FILE NAME POLICY: of the row of a CSV with that policy. Fields in quotes lose their commas.
column() {
    awk -F'"' -v OFS='"' '{for (i = 2; i <= NF; i += 2) gsub(",", ";", $i)} 1' "$1" | awk -F, -v name="$2" -v policy="$3" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
        $at["policy"] == policy {print $at[name]}'
}
# key FILE NAME POLICY: of the object of that policy in compare.json, where each has a line.
key() { grep "\"policy\": \"$3\"" "$1" | grep -o "\"$2\": [^,]*" | head -n 1 | sed 's/.*: //; s/"//g'; }

# all NAME MEASURED: of the sweep NAME-s, the comparison NAME-c and its page.
all() {
    name=$1 measured=$2 base=""
    for policy in none fasttrack lardish; do
        cell=$(column "$name-s/plan.csv" cell $policy)
        with=$(of "$name-c/$policy" machine/cycles) region=$(of "$name-c/$policy" roi/machine/cycles)
        [ "$measured" = run ] && region=$with
        [ "$measured" = run ] || [ "$region" = "$(of "$name-c/$policy" machine/region-cycles)" ] ||
            fail "$name: $policy has two numbers of cycles of the region"
        [ -n "$region" ] || fail "$name: $policy has no region in stats.json"
        [ "$(of "$name-s/cells/$cell" machine/cycles)" = "$with" ] || fail "$name: the cell of $policy is not compare's run"
        [ -n "$base" ] || base=$with base_region=$region
        over=$(more "$region" "$base_region") whole=$(more "$with" "$base")
        [ $policy = none ] || [ "$measured" = run ] || [ "$over" != "$whole" ] ||
            fail "$name: the region and the run of $policy have one overhead, which tests nothing"

        for table in "$name-s/cells.csv" "$name.csv"; do
            near "$table, overhead of $policy" "$(column "$table" overhead $policy)" "$over"
            near "$table, overhead-whole of $policy" "$(column "$table" overhead-whole $policy)" "$whole"
            [ "$(column "$table" measured $policy)" = "$measured" ] || fail "$table does not say: $measured"
        done
        line=$(grep "\"policy\": \"$policy\"" "$name-s/cells.jsonl")
        near "$name: cells.jsonl, overhead of $policy" \
            "$(echo "$line" | sed 's/.*"overhead": \([^,}]*\).*/\1/')" "$over"
        near "$name: cells.jsonl, overhead-whole of $policy" \
            "$(echo "$line" | sed 's/.*"overhead-whole": \([^,}]*\).*/\1/')" "$whole"
        if command -v sqlite3 >/dev/null; then
            near "$name: index.sqlite, overhead of $policy" \
                "$(sqlite3 "$name-s/index.sqlite" "SELECT overhead FROM cells WHERE policy = '$policy'")" "$over"
            near "$name: index.sqlite, overhead-whole of $policy" "$(sqlite3 "$name-s/index.sqlite" \
                "SELECT \"overhead-whole\" FROM cells WHERE policy = '$policy'")" "$whole"
        fi
        near "$name: compare.json, overhead of $policy" "$(key "$name-c/compare.json" overhead $policy)" "$over"
        near "$name: compare.json, overhead-whole of $policy" \
            "$(key "$name-c/compare.json" overhead-whole $policy)" "$whole"
        [ "$(key "$name-c/compare.json" measured $policy)" = "$measured" ] || fail "compare.json: not $measured"

        # Pages, to a tenth of a percent.
        percent=$(awk -v p="$region" -v n="$base_region" 'BEGIN {printf "%.1f", 100 * (p / n - 1)}')
        percent_whole=$(awk -v p="$with" -v n="$base" 'BEGIN {printf "%.1f", 100 * (p / n - 1)}')
        first=$(awk -v p=$policy '$1 == "policy" {n++} n == 1 && $1 == p {print $3}' "$name.txt")
        [ "$first" = "$percent" ] || fail "$name: the first table has $first % for $policy, not $percent %"
        if [ "$measured" = region ]; then
            second=$(awk -v p=$policy '/^the whole run:/ {on = 1} on && $1 == p {print $3; exit}' "$name.txt")
            [ "$second" = "$percent_whole" ] || fail "$name: the whole run has $second % for $policy, not $percent_whole %"
        fi
        for page in "$name-s" "$name-c"; do
            grep -q "<td>$policy</td>.*<td class=\"n\">$percent</td><td class=\"n\">$percent_whole</td><td>$measured</td>" \
                "$page.html" || fail "$page.html: no row of $policy with $percent and $percent_whole"
            [ $policy = none ] || grep -q "<b>$policy</b> adds $percent %" "$page.html" ||
                fail "$page.html: $policy does not add $percent %"
            # The figures' numbers and the script's: places, then both overheads in percent.
            sed -n 's,.*id="data">\(.*\)</script>,\1,p' "$page.html" | grep -o '"cells": \[\[.*' | tr '[' '\n' |
                awk -F, -v o="$over" -v w="$whole" '
                    {for (i = 1; i < NF; i++) {
                        a = $i / 100 - o; b = $(i + 1) / 100 - w
                        if (a < 0.000001 && a > -0.000001 && b < 0.000001 && b > -0.000001) seen = 1
                    }}
                    END {exit !seen}' || fail "$page.html: the data have no cell with $over and $whole"
        done
        if [ $policy != none ] && [ "$measured" = region ]; then
            grep -q "$policy</b> adds $percent %.*in the whole run $percent_whole %" "$name-c.html" ||
                fail "$name-c.html: the whole run of $policy is not said"
        fi
    done
}

# make NAME SOURCE: both, of one configuration, with pages of both.
make_both() {
    printf 'base: {inherit: radish8%s}\npolicies: [none, fasttrack, lardish]\nsources: ["%s"]\n' \
        "${recorded:+, order: recorded}" "$2" >"$1.yaml"
    run 0 sweep "$1.yaml" -o "$1-s" -q
    run 0 sweep collect "$1-s"
    run 0 compare -c radish8 ${recorded:+--set $recorded} -p fasttrack,lardish -o "$1-c" --csv "$1.csv" --plot "$1.svg" "$2"
    mv out "$1.txt"
    run 0 report "$1-s" -o "$1-s.html" --figures "$1-figures"
    run 0 report "$1-c" -o "$1-c.html"
}

# In program order, with a serial set-up before the region.
make_both sor workload:sor,n=20,steps=2
all sor region
# In timed order, where cores are in the middle of events as the region begins and ends.
make_both synth synth:events=3000,threads=6
all synth region
# In recorded order the clocks of cores are apart there.
recorded=order=recorded
make_both order workload:sor,n=20,steps=2
all order region
recorded=""
# Without a region both are of the whole run, and that is said.
"$lardsim" trace synth -q marked.trace events=2000 threads=4 && sed -E 's/ roi-(begin|end)/ phase 1/' marked.trace >plain.trace
make_both plain plain.trace
all plain run
says plain.txt "measured   the whole run, as no region of interest is marked"
says plain-s.html "in the whole run, as no region of interest is marked"
says plain-c.html "in the whole run, as no region of interest is marked"

# What differs between two comparisons, and between two sweeps, is told of both.
run 0 report -q --diff sor-c order-c -o diff.html
run 0 compare --results sor-c order-c
cp out diff.txt
for policy in fasttrack lardish; do
    for which in overhead overhead-whole; do
        from=$(column sor.csv $which $policy) to=$(column order.csv $which $policy)
        said=$(awk -v a="$from" -v b="$to" 'BEGIN {printf "from %.1f %% to %.1f %%", 100 * a, 100 * b}')
        for file in diff.txt diff.html; do
            says $file "$which of $policy: $said"
        done
    done
done
exit $bad
