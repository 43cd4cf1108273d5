#!/bin/sh
# page.sh - is every text, number, bar, line, label and link of a report's page what the results say? judge/judge.pl makes
# each page and figure once more from the results' files, with nothing of the product's, and walks all elements of
# both: of runs with and without a machine, a comparison, one of views, sweeps with several axes, seeds, and cells that
# have failed or are missing, several folders together, tables of papers, and what differs between two folders.
# shellcheck source=tests/cli/head.sh
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"
litmus=$top/workloads/litmus
program=$lardsim

# quietly ARGUMENT...: what is set up must work.
quietly() { "$program" "$@" -q >set-up.txt 2>&1 || fail "$*: $(tail -n 2 set-up.txt)"; }
# judged ARGUMENT... PAGE RESULT...: the judge finds nothing to say.
judged() {
    perl "$top/tests/results/judge/judge.pl" --program "$program" --scripts "$top/results/page" "$@" >said.txt 2>&1 ||
        fail "$(head -n 3 said.txt)"
}
# page NAME RESULT...: of them all, with its figures as files; code: what the report exits with.
code=0
page() {
    name=$1
    shift
    "$program" report -q "$@" -o "$name.html" --figures "figures-$name" >out.txt 2>err.txt
    was=$?
    [ $was = $code ] || fail "report $* exits with $was, not $code: $(tail -n 2 err.txt)"
    judged --figures "figures-$name" "$name.html" "$@"
    code=0
}
# differs NAME FOLDER FOLDER [THRESHOLD]
differs() {
    "$program" report -q --diff ${4:+--threshold "$4"} "$2" "$3" -o "$1.html" >out.txt 2>err.txt || fail "--diff $2 $3: $(tail -n 2 err.txt)"
    judged --diff ${4:+--threshold "$4"} "$1.html" "$2" "$3"
}

# ---- runs ---------------------------------------------------------------------------------------------------------

quietly run -o race "$litmus/gc_move_race.trace"
page race race
quietly run -o none -p none "$litmus/lock.trace"
page none none
# On a machine, with a region of interest: time lines of some rows, and of so many that two become one.
quietly run -c radish8 -p lardish --set stats.rows=96 -o machine workload:hedc,racy=on
page machine machine
quietly run -c radish8 -p fasttrack -p vc --set stats.interval=1k -o fine workload:hedc,racy=on
page fine fine
# Without a region; cores that no thread had; metadata that no cache has.
quietly run -c radish8 -p none --set cores=70 -o wide "$litmus/lock.trace"
page wide wide
# Names that look like markup, or like formulas, or that can't be seen.
bidi=$(printf '\342\200\256') line=$(printf '\342\200\250')
evil='<img src=x onerror=alert(1)></script><script>alert(2)</script>'
cat >"=evil's.trace" <<END
lardsim-text 1
name thread 1 "$evil"
name object 0x1000 "$evil${bidi}x$line"
T0 fork T1
T0 write 0x1000 4 @"=cmd|' /C calc'!A0$evil"
T1 write 0x1000 4 @"+1&amp;${bidi}"
END
mkdir '<b>'
quietly run -o '<b>/r' "=evil's.trace"
page evil '<b>/r'
# More pairs of sites than are shown; sides that are not known in whole.
awk 'BEGIN {
    print "lardsim-text 1\nT0 fork T1"
    for (i = 0; i < 502; i++) printf "T0 write %d 4%s\n", 4096 + 8 * i, i % 3 ? " @\"first:" i "\"" : ""
    for (i = 0; i < 502; i++) printf "T1 %s %d 4%s\n", i % 2 ? "write" : "read", 4096 + 8 * i, i % 5 ? " @\"then:" i "\"" : ""
}' >many.trace
quietly run -p vc -p slimstate -p fasttrack -o many many.trace
page many many

# Machines whose boxes stand several times one below the other: nodes in packages, processes on hosts.
quietly run -c opteron64 -p fasttrack -o numa workload:sor,n=20,steps=2
page numa numa
quietly run -c alpha-cvm -p cvm -o dsm workload:sor,n=20,steps=2
page dsm dsm

# ---- comparisons --------------------------------------------------------------------------------------------------

quietly compare -c radish8 -p fasttrack -p lardish --set stats.rows=40 -o costs workload:sor,n=20,steps=2
page costs costs
quietly compare -c radish8 -p fasttrack -o region workload:hedc,racy=on
page region region
# Two that cost the same, which is nothing.
quietly compare -c radish8 -p vc -p fasttrack --set policy.vc.charged=off --set policy.fasttrack.charged=off -o free workload:sor,n=20,steps=2
page free free
quietly compare -p vc -p naive=vc --set policy.naive.view=naive -o views "$litmus/gc_move_race.trace"
page views views
cp -r views unreasoned && sed -i 's/"reason": "[^"]*"/"reason": null/' unreasoned/differences.jsonl && reseal unreasoned
page unreasoned unreasoned

# ---- what is not whole, and several together ---------------------------------------------------------------------

cp -r race half && rm half/DONE
code=6
page half half
cp -r race built && sed -i 's/"id": "/"id": "00/' built/provenance.json && reseal built
code=6
page several race machine costs half built nowhere region
quietly run -c radish8 -p lardish --set l3.size=16Mi -o larger workload:hedc,racy=on
quietly run -c radish8 -p lardish --set l1.size=4Ki --set cores=4 -o smaller workload:hedc,racy=on
page alike machine larger smaller

# ---- sweeps -------------------------------------------------------------------------------------------------------

printf 'lardsim-text 1\nT0 rel 0x1000\n' >broken.trace
cat >sweep.yaml <<END
# a sweep of several kinds of axes
base: {inherit: radish8}
axes:
  l3.size: [1Mi, 8Mi]
  l1.size: [4Ki, 32Ki]
  policy.lardish.after-race: [continue, disable-variable]
policies: [fasttrack, lardish]
sources: ["workload:sor,n=20,steps=2", "$litmus/lock.trace"]
seeds: 3
END
quietly sweep sweep.yaml -o sweep
page sweep sweep
sed '/after-race/d; /seeds/d; s/"work.*,/broken.trace,/' sweep.yaml >partial.yaml
"$program" sweep partial.yaml -o partial -q >set-up.txt 2>&1
[ $? = 4 ] || fail "a sweep with a source that breaks a rule: $(cat set-up.txt)"
gone=
for cell in partial/cells/*; do gone=$cell; done
rm -r "$gone"
code=6
page partial partial
# So many cells and values that not all are shown.
cat >large.yaml <<END
base: {inherit: radish8}
axes: {l1.size: [1Ki, 2Ki, 4Ki, 8Ki, 16Ki, 32Ki, 64Ki, 128Ki, 256Ki], l1.latency: [1, 2, 3, 4], l1.ways: [4, 8], line: [32, 64]}
policies: [fasttrack, radish]
sources: ["$litmus/lock.trace"]
END
quietly sweep large.yaml -o large
page large large

# ---- tables of papers ---------------------------------------------------------------------------------------------

cat >table.json <<'END'
[{"schema": "lardsim-table-1", "result": "valor-sfr", "title": "Regions & <releases>",
  "programs": [{"program": "xalan", "step": null, "columns": [{"column": "sfr", "paper": 104, "ours": 120.5},
                                                             {"column": "rfr", "paper": null, "ours": 9.25}]},
               {"program": "pmd", "step": "threads=4", "columns": [{"column": "sfr", "paper": 2000000, "ours": null},
                                                                  {"column": "rfr", "paper": -3, "ours": 0}]}],
  "claims": [{"claim": "one", "unit": "%", "section": "6.6", "verdict": "holds", "paper": 99, "ours": 104.24, "low": 60, "high": 150},
             {"claim": "two", "unit": "times", "section": "6.6", "verdict": "differs", "paper": 1.5, "ours": 2.25, "low": null,
              "high": 2, "interval-low": 2, "interval-high": 2.5},
             {"claim": "three", "verdict": "unknown", "paper": null, "ours": null, "low": 1, "high": null}]},
 {"schema": "lardsim-reproduce-1", "result": "lard-table2", "title": "LARD, Table 2", "programs": "twins",
  "cells": [{"program": "grande", "variant": "race-free", "collector": null, "truth": {"accesses": 0, "claim": "none", "verdict": "holds"},
             "claims": [{"detector": "lard", "claim": "finds it", "verdict": "FAILS",
                         "counts": [{"measure": "races.accesses", "paper": 0, "ours": 3}, {"measure": "races.sites", "paper": 0, "ours": 0}]},
                        {"detector": "naive", "claim": "more", "verdict": "holds",
                         "counts": [{"measure": "races.accesses", "paper": 28211, "ours": 66}]}]}]}]
END
page table table.json
page both table.json race

# ---- what differs -------------------------------------------------------------------------------------------------

differs same machine larger
differs other larger smaller 0
quietly run -c radish8 -p lardish --set l1.size=4Ki --set cores=4 --set l2.size=128Ki -o less workload:hedc,racy=on
differs less machine less
differs costs-region costs region 5
differs kinds race machine 0
# Of two builds; with another behaviour of the same build and configuration, which somebody has forged.
cp -r smaller rebuilt && sed -i 's/"id": "/"id": "00/' rebuilt/provenance.json && reseal rebuilt
differs builds machine rebuilt
cp -r machine forged && sed -i 's/"behaviour": "/"behaviour": "0/' forged/stats.json forged/provenance.json && reseal forged
differs forged machine forged
sed 's/8Mi/16Mi/; s/axes:/&\n  l2.ways: [8]/; s/seeds: 3/seeds: 2/; /latency/d' sweep.yaml >sweep2.yaml
quietly sweep sweep2.yaml -o sweep2
differs sweeps sweep sweep2
sed 's/1Ki, 2Ki/512, 2Ki/; s/policies: .*/policies: [fasttrack, vc]/' large.yaml >large2.yaml
cat >a.trace <<END
lardsim-text 1
T0 fork T1
T0 write 0x1000 4 @"stays:1"
T0 write 0x2000 4 @"goes:1"
T0 write 0x5000 4 @"more:1"
T1 write 0x1000 4 @"stays:2"
T1 write 0x2000 4 @"goes:2"
T1 write 0x5000 4 @"more:2"
END
{ sed 's/goes/comes/; s/0x1000/0x3000/' a.trace && echo 'T1 write 0x5004 4 @"more:2"'; } >b.trace
quietly run -o a a.trace
quietly run -o b b.trace
differs races a b
sed -i '$d' a.trace && quietly run -o a-again a.trace
differs events a a-again
# refused CODE TEXT ARGUMENT...: what can't be compared is said.
refused() {
    want=$1 text=$2
    shift 2
    "$program" report -q --diff "$@" -o refused.html >out.txt 2>err.txt
    was=$?
    if [ $was != "$want" ] || [ -e refused.html ]; then fail "report --diff $* exits with $was, not $want: $(cat err.txt)"; fi
    says err.txt "$text"
    [ $# != 2 ] || "$program" compare --results "$@" >out.txt 2>err.txt
    was=$?
    [ $# != 2 ] || [ $was = "$want" ] || fail "compare --results $* exits with $was, not $want: $(cat err.txt)"
    says err.txt "$text"
}
refused 2 'sweep and race are of two kinds: a sweep, and none' sweep race
refused 2 'what differs is told of two results folders' table.json race
refused 2 'what differs is told of two results folders' race table.json
refused 3 'nowhere: No such file or directory' race nowhere
refused 2 'report: --diff is of two folders, and there are 1' race
exit $bad
