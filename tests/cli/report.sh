#!/bin/sh
# report.sh - is a report true, safe and whole? Its numbers are those of the results, counted here by other
# means; names stay text, whatever is in them; folders that are broken are named and the others shown; and what
# differs between two results is told, with what of it could matter.
# shellcheck source=tests/cli/head.sh
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"
litmus=$top/workloads/litmus
report() { "$lardsim" report "$@" >out.txt 2>err.txt; }
has() { grep -qF -- "$2" "$1" || fail "$1 does not say \"$2\""; }
hasnt() { ! grep -qF -- "$2" "$1" || fail "$1 says \"$2\""; }
stat_of() { awk -F, -v name="$2" '$1 == name {print $2}' "$1/stats.csv"; }

"$lardsim" run -q -o race "$litmus/gc_move_race.trace" >run.txt || fail "run"
"$lardsim" run -q -c radish8 -p lardish --set stats.interval=10k -o machine workload:hedc,racy=on >run.txt || fail "run"
"$lardsim" compare -q -c radish8 -p fasttrack -p lardish -o costs workload:sor,n=20,steps=2 >run.txt || fail "compare"
cat >sweep.yaml <<END
base: {inherit: radish8}
axes:
  l3.size: [1Mi, 8Mi]
  l1.size: [4Ki, 32Ki]
policies: [fasttrack]
sources: ["workload:sor,n=20,steps=2"]
END
"$lardsim" sweep sweep.yaml -o sweep -q >run.txt || fail "sweep"
"$lardsim" compare -q -p vc -p naive=vc --set policy.naive.view=naive -o views "$litmus/gc_move_race.trace" >run.txt ||
    fail "compare of views"
cat >table.json <<END
{"schema": "lardsim-table-1", "result": "valor-sfr", "title": "Regions",
 "programs": [{"program": "xalan", "step": null, "columns": [{"column": "sfr", "paper": 104, "ours": 120.5}]}],
 "claims": [{"claim": "one", "verdict": "holds", "ours": 1}, {"claim": "two", "verdict": "differs", "ours": 2}]}
END

# ---- the page: whole by itself, and its answer is the results' ----------------------------------------
for x in race machine costs views sweep table.json; do
    report $x -o $x.html || fail "report $x exits $?: $(cat err.txt)"
    [ -s err.txt ] && fail "report $x complains: $(cat err.txt)"
    [ "$(tail -n 1 $x.html)" = "</html>" ] || fail "$x.html has no end"
    sed 's,http://www.w3.org/2000/svg,,g; s,^/\*! https://github.com/leeoniya/uPlot,,' $x.html >without
    hasnt without http:
    hasnt without https:
    grep -qE '(src|href)="?[^#d"]' without && fail "$x.html has a link that leads out of it"
    [ "$(grep -o '<script' $x.html | wc -l)" = "$(grep -o '</script' $x.html | wc -l)" ] || fail "$x.html: scripts do not end"
    sed -n 's,.*id="data">\(.*\)</script>,\1,p' $x.html >data.json
    [ -s data.json ] || fail "$x.html has no data"
done
has race.html "It finds $(stat_of race policy.vc.races.accesses) racy access"
has race.html "lardsim why race $(sed -n 's/.*"race": "\([0-9a-f]*\)".*/\1/p' race/races.jsonl | head -n 1)"
has race.html "account"
# Why the first races are ones: by `lardsim why`, also where the run must be repeated for its events.
event=$(sed -n 's/.*"event": \([0-9]*\), "address.*/\1/p' race/races.jsonl | head -n 1)
has race.html "Event $event races with event 7: nothing orders the two."
event=$(sed -n 's/.*"event": \([0-9]*\), "address.*/\1/p' machine/races.jsonl | head -n 1)
has machine.html "Event $event races with event"
has machine.html 'class="machine"'
sed 's/"events": [0-9]*,/"events": 5000001,/' machine/provenance.json >p.json
cp -r machine long && cp p.json long/provenance.json && reseal long && report long -o long.html
has long.html 'Not explained here: its run has 5000001 events'
report --why 0 race -o unasked.html || fail "--why 0: $(cat err.txt)"
hasnt unasked.html 'nothing orders the two'
has race.html "Account.deposit:15"
has race.html "lardsim run --again race"
has machine.html "runs $(stat_of machine roi.machine.cycles) cycles on 5 of 8 cores"
has machine.html "Over time, where the time of the cores goes"
has views.html "false for naive"
has views.html "<b>naive</b> reports $(stat_of views compare.naive.false.accesses) false and misses $(stat_of views compare.naive.missed.accesses) true"
has table.json.html "1 of 2 claims hold, 1 differ"
for p in fasttrack lardish; do
    overhead=$(awk -v p="$(stat_of costs/$p roi.machine.cycles)" -v n="$(stat_of costs/none roi.machine.cycles)" \
        'BEGIN {printf "%.1f", 100 * (p / n - 1)}')
    has costs.html "<b>$p</b> adds $overhead %"
done
has costs.html "lardsim compare --config costs/config.yaml"
has costs.html "the L3 never evicted a line"
# The L3's size could not matter in the sweep, the L1's did: what is said follows from the cells.
row() { grep -A 1 "^<tr><th>$1</th>" sweep.html | head -n 1; }
row l3.size | grep -q 'did not matter: .*the L3 never evicted a line' || fail "the size of the L3: $(row l3.size)"
row l1.size | grep -q 'mattered: cycles differ' || fail "the size of the L1: $(row l1.size)"

# The parts of a bar add up to the overhead.
report costs -o again.html --figures figures || fail "--figures: $(cat err.txt)"
ls figures/overhead.svg figures/overhead.csv figures/overhead.gnuplot >/dev/null || fail "a figure has not three files"
awk -F, -v p="$(stat_of costs/lardish roi.machine.cycles)" -v n="$(stat_of costs/none roi.machine.cycles)" '
    $1 == "lardish" {for (i = 2; i <= NF; i++) sum += $i; sum -= 100 * (p / n - 1); seen = 1}
    END {exit !(seen && sum < 0.001 && sum > -0.001)}' figures/overhead.csv || fail "the parts do not add up to the overhead"

# Scripts for gnuplot run, where it is.
report machine -o drawn.html --figures drawn || fail "--figures: $(cat err.txt)"
if command -v gnuplot >/dev/null 2>&1; then
    for script in figures/*.gnuplot drawn/*.gnuplot; do
        { echo "set terminal svg; set output 'drawn.svg'"; cat "$script"; } | gnuplot >gnuplot.txt 2>&1 ||
            fail "$script: $(head -n 3 gnuplot.txt)"
    done
fi

# Nothing is overwritten unasked.
report race -o race.html
[ $? = 7 ] || fail "a page that exists must exit 7"
report race -o race.html --overwrite || fail "--overwrite: $(cat err.txt)"

# ---- names are text ---------------------------------------------------------------------------------------
bidi=$(printf '\342\200\256') line=$(printf '\342\200\250')
evil='<img src=x onerror=alert(1)></script><script>alert(2)</script>'
cat >evil.trace <<END
lardsim-text 1
name thread 1 "$evil"
name object 0x1000 "$evil${bidi}x$line"
T0 fork T1
T0 write 0x1000 4 @"=cmd|' /C calc'!A0$evil"
T1 write 0x1000 4 @"+1&amp;${bidi}"
END
mkdir "$evil" 2>/dev/null || mkdir -p "$evil"
"$lardsim" run -q -o "$evil/r" evil.trace >run.txt 2>err.txt || fail "the evil trace: $(cat err.txt)"
report "$evil/r" -o evil.html --figures evil || fail "hostile names: $(cat err.txt)"
cp "$litmus/lock.trace" "=1+1.trace"
cp "$litmus/gc_move_race.trace" "<b>x.trace"
cat >evil.yaml <<END
base: {inherit: radish8}
axes: {l1.size: [4Ki, 8Ki, 16Ki, 32Ki]}
policies: [lardish, vc]
sources: ["=1+1.trace", "<b>x.trace"]
END
"$lardsim" sweep evil.yaml -o evilsweep -q >run.txt 2>err.txt || fail "the evil sweep: $(cat err.txt)"
report evilsweep -o evilsweep.html --figures evils || fail "hostile axes: $(cat err.txt)"
for page in evil.html evilsweep.html; do
    hasnt $page '<img'
    hasnt $page "$bidi"
    hasnt $page "$line"
    [ "$(grep -o '<script' $page | wc -l)" = 2 ] || fail "$page: a name became a script"
    [ "$(grep -o '</script' $page | wc -l)" = 2 ] || fail "$page: a name ended a script"
done
has evil.html '&lt;img src=x'
hasnt evilsweep.html '<b>x'
grep -rq '^=' evils/*.csv && fail "a CSV has a formula: $(grep -r '^=' evils/*.csv | head -n 1)"
grep -q "^'=1+1" evils/by-*.csv || fail "the value that looks like a formula is not there as text"

# ---- what is not whole ----------------------------------------------------------------------------------------
mkdir empty
cp -r race half && rm half/DONE
cp -r race changed && sed -i 's/"accesses": 2/"accesses": 3/' changed/stats.json
cp -r race other && sed -i 's/lardsim-stats-1/lardsim-stats-9/' other/stats.json && reseal other
cp -r race built && sed -i 's/"id": "/"id": "00/' built/provenance.json && reseal built
cp -r race cut && head -c 100 race/stats.json >cut/stats.json
cp -r machine notime && echo nonsense >notime/intervals.csv
echo '{"schema": "lardsim-other-1"}' >foreign.json
report race half changed other built cut notime empty foreign.json nowhere -o faults.html
[ $? = 6 ] || fail "results that are not whole must exit 6: $(cat err.txt)"
for what in 'half: has no DONE' 'changed/stats.json: has changed' 'lardsim-stats-9' 'of 2 builds' 'cut/stats.json: has changed' \
    'notime/intervals.csv' 'empty: holds no results' 'foreign.json: has another schema' 'nowhere: No such file'; do
    has faults.html "$what"
    has err.txt "$what"
done
has faults.html 'class="run"><summary>race</summary>'
report other empty -o none.html
[ $? = 3 ] || fail "nothing to show must exit 3"
[ -e none.html ] && fail "nothing to show wrote a page"
cp -r sweep partial && rm -r "partial/cells/$(sed -n '2s/,.*//p' partial/plan.csv)"
report partial -o partial.html
[ $? = 6 ] || fail "a sweep with a missing cell must exit 6"
has partial.html 'have failed and 1 are missing'

# ---- what differs -------------------------------------------------------------------------------------------------
"$lardsim" run -q -c radish8 -p lardish --set l3.size=16Mi -o larger workload:hedc,racy=on >run.txt || fail "run"
"$lardsim" run -q -c radish8 -p lardish --set l1.size=4Ki -o smaller workload:hedc,racy=on >run.txt || fail "run"
differ() { "$lardsim" compare --results "$@" >out.txt 2>err.txt || fail "compare --results $*: $(cat err.txt)"; }
differ machine larger
has out.txt 'nothing that happened differs'
grep -q 'l3.size: 8388608 -> 16777216 (did not matter' out.txt || fail "the larger L3: $(cat out.txt)"
differ larger smaller
has out.txt "cycles of lardish: from $(stat_of larger roi.machine.cycles) to $(stat_of smaller roi.machine.cycles)"
grep -q 'l1.size: 32768 -> 4096 (may have mattered' out.txt || fail "the smaller L1: $(cat out.txt)"
has out.txt 'parameters that may be the reason: l1.size'
# The threshold: of all statistics that differ, those by more.
differ --json --threshold 0 larger smaller
all=$(tr '{' '\n' <out.txt | grep -c '"percent":')
by_hand=$(awk -F, 'NR == FNR {v[$1] = $2; next} FNR > 1 && $1 in v && v[$1] != $2 {n++} END {print n}' larger/stats.csv smaller/stats.csv)
# stats.csv has the buckets of histograms, too
buckets=$(awk -F, 'NR == FNR {v[$1] = $2; next} FNR > 1 && $1 in v && v[$1] != $2 && $1 ~ /[.][0-9]+-[0-9]+$/ {n++} END {print n + 0}' larger/stats.csv smaller/stats.csv)
[ "$all" = $((by_hand - buckets)) ] || fail "$all statistics differ, by hand $((by_hand - buckets))"
differ --json --threshold 50 larger smaller
[ "$(tr '{' '\n' <out.txt | grep -c '"percent":')" -lt "$all" ] || fail "--threshold leaves nothing out"
# Races by identity: one goes, one comes, one stays.
cat >a.trace <<END
lardsim-text 1
T0 fork T1
T0 write 0x1000 4 @"stays:1"
T0 write 0x2000 4 @"goes:1"
T1 write 0x1000 4 @"stays:2"
T1 write 0x2000 4 @"goes:2"
END
sed 's/goes/comes/; s/0x1000/0x3000/' a.trace >b.trace
"$lardsim" run -q -o gone a.trace >run.txt && mv a.trace moved.trace
report gone -o gone.html || fail "a report without its source: $(cat err.txt)"
has gone.html 'Not explained here: gone: the source of that run'
mv moved.trace a.trace
"$lardsim" run -q -o a a.trace >run.txt && "$lardsim" run -q -o b b.trace >run.txt || fail "run"
differ a b
has out.txt 'races: 1 of the first are gone, 1 have come, 0 are as before'
grep -q 'gone .*goes:2' out.txt && grep -q 'come .*comes:2' out.txt || fail "races by identity: $(cat out.txt)"
report --diff a b -o diff.html || fail "--diff: $(cat err.txt)"
has diff.html 'races: 1 of the first are gone, 1 have come'
has diff.html 'What changed from'
differ costs costs
has out.txt 'nothing that happened differs, in any of the runs'
differ sweep sweep
has out.txt 'nothing that happened differs'
"$lardsim" compare --results race >out.txt 2>err.txt
[ $? = 2 ] || fail "--results of one folder must exit 2"
"$lardsim" compare --results race sweep >out.txt 2>err.txt
[ $? = 2 ] || fail "a run and a sweep can't be held against each other"
report --diff --threshold x a b -o x.html
[ $? = 2 ] || fail "a threshold that is no number must exit 2"
[ -e x.html ] && fail "a wrong command line wrote a page"
exit $bad
