#!/bin/sh
# compare.sh - lardsim compare as a user meets it: LARD's Table 3 on the litmus program that has every
# kind of difference, the list, the folder, a truth that is refused. What the numbers mean is tested in
# t_compare.c.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
trace=$top/workloads/litmus/gc_move_race.trace

# run CODE ARGS...: standard output in out, errors in err.
run() {
    want=$1
    shift
    "$lardsim" compare "$@" >out 2>err </dev/null
    code=$?
    [ $code = "$want" ] || fail "compare $*: exit code $code, not $want: $(cat err)"
}

# The numbers of a row; the first of them if fewer are wanted.
row() {
    got=$(awk -v p="$1" '$1 == p {$1 = ""; sub(/^ /, ""); print; exit}' out)
    case "$got " in "$2 "*) ;; *) fail "row $1: $got, not $2" ;; esac
}

# Without policies, LARD's Table 3: racy accesses and sites; false and missed accesses, sites, locations,
# pairs. The head of the trace says which accesses they are.
run 0 "$trace"
row lard "2 1 - - - -"
row all-memory "4 3 2 2 0 2 0 0"
row all-sync "0 0 0 0 0 0 2 1"
row no-clear "3 2 1 1 1 1 0 0"
row no-copy "0 0 0 0 0 0 2 1"
row naive "3 3 3 3 1 3 2 1"
says out "happens-before, history last (sound, precise in its own view)"
grep -q "^same racy" out && fail "views that differ are said to find the same"
says out "the truth: happens-before, history last"
[ -s err ] && fail "errors in a plain run: $(cat err)"

# The list says each, and why.
run 0 --list "$trace"
[ "$(grep -c '^false by\|^missed by' out)" = 12 ] || fail "the list has $(grep -c '^false by\|^missed by' out) differences"
says out "missed by all-sync: access at 0x2008 (account + 8): read by thread 2 (teller-2), event 19"
says out "    after write by thread 1 (teller-1), event 7, at Account.deposit:15"
says out "ordered: all-sync orders event 7 before this one (views differ in all-sync)"
says out "unchecked: lard does not check this access (the runtime system's)"
says out "forgotten: lard has no record of event 22 at this location: event 23 cleared it"
says out "forgotten: no-copy has no record of event 7 at this location: the copy at event 14, which brought it here for lard, did not for it"

# What is told late is named by the access's own event, which `why` takes.
"$lardsim" compare -q -o late -p vc -p cvm --set policy.cvm.sites=at-once synth:events=2000,racy=200 || fail "compare of cvm"
event=$(sed -n 's/.*"policy": "cvm", "verdict": "false".*"event": \([0-9]*\), "interval": [0-9]*, "noticed".*/\1/p' late/differences.jsonl | head -n 1)
"$lardsim" why -q -p cvm --json synth:events=2000,racy=200 "${event:-none}" >why.json 2>err || fail "why refuses what compare names: $(cat err)"

# Numbers of events may begin anywhere: the reasons are those of the same events.
set -- -p vc -p eraser -p cvm -p goldilocks -p valor -p fastrcd -p tsan -p clean -p slimstate --json --list
"$lardsim" trace synth -q --to text from.trace events=3000 threads=4 racy=100 seed=3 txn_share=100 2>err || fail "no trace: $(cat err)"
sed '2i first 7000000' from.trace >first.trace
for name in from first; do
    run 0 "$@" $name.trace
    grep -v '"source"\|"digest"\|"behaviour"' out | perl -pe 's/\b700(\d{4})\b/$1 + 0/ge' >$name.list
done
grep -q '"reason"' from.list && cmp -s from.list first.list ||
    fail "with another first number the list has other reasons: $(diff from.list first.list | sed -n 's/.*"reason"/"reason"/p' | head -n 2)"
grep '"reported_by": "eraser"' from.list | grep -q 'eraser noticed it after' && fail "eraser judges an access when it comes, and is said to notice one late"
set --

# JSON, with and without the list, is one object with the same counts.
run 0 --json --list "$trace"
says out '"schema": "lardsim-compare-1"'
[ "$(grep -c '"reported_by"' out)" = 12 ] || fail "the JSON list is not whole"
run 0 --json "$trace"
says out '"truth": "lard"'
"$lardsim" compare -q -o counted "$trace" || fail "no comparison of $trace"
for policy in lard all-memory all-sync no-clear no-copy naive; do
    for count in accesses sites pairs; do
        is=$(sed -n "/^ *\"$policy\": {/,/\"why\"/{s/^ *\"$count\": \([0-9]*\).*/\1/p}" out | head -n 1)
        was=$(sed -n "s/^policy\.$policy\.races\.$count,\([0-9]*\),.*/\1/p" counted/stats.csv)
        [ -n "$is" ] && [ "$is" = "$was" ] || fail "--json has ${is:-no} $count of $policy, and the statistics have $was"
    done
done
says out '"false": {'
grep -q reported_by out && fail "a list that nobody asked for"
if command -v python3 >/dev/null 2>&1; then
    for list in "" --list; do
        run 0 --json $list "$trace"
        python3 -c 'import json, sys; json.load(sys.stdin)' <out || fail "the JSON $list is none"
    done
fi

# The folder: a run's, and the comparison.
run 0 -o first "$trace"
for f in config.yaml stats.json stats.txt stats.csv races.jsonl compare.json differences.jsonl DONE; do
    [ -s first/$f ] || fail "first/$f is missing or empty"
done
[ "$(wc -l <first/differences.jsonl)" = 12 ] || fail "differences.jsonl has not 12 lines"
for key in policy verdict of thread op site event address size system location location_name reported_by earlier why reason; do
    [ "$(grep -c "\"$key\":" first/differences.jsonl)" = 12 ] || fail "differences.jsonl lacks $key"
done
says first/compare.json '"unlisted": 0'
says first/stats.txt compare.naive.missed.accesses
says first/config.yaml "lardsim compare --config"

# It repeats itself.
run 0 --config first/config.yaml -o again "$trace"
[ "$(head -n 1 first/DONE)" = "$(head -n 1 again/DONE)" ] || fail "the digest differs the second time"
for f in stats.json compare.json differences.jsonl races.jsonl; do
    cmp -s first/$f again/$f || fail "$f differs the second time"
done
"$lardsim" run --quiet --config first/config.yaml "$trace" >out 2>err || fail "run does not take the configuration: $(cat err)"

# A run in its place leaves nothing of it.
"$lardsim" run --quiet -o again --overwrite "$trace" 2>err || fail "$(cat err)"
[ -e again/compare.json ] || [ -e again/differences.jsonl ] && fail "an overwritten folder kept the comparison"

# compare.max bounds the lines, not the counts.
run 0 --set compare.max=2 -o few "$trace"
row naive "3 3 3 3 1 3 2 1"
[ "$(wc -l <few/differences.jsonl)" = 2 ] || fail "compare.max does not bound the lines"
says few/compare.json '"unlisted": 10'

# Another truth turns false and missed round.
run 0 -p lard=vc -p naive=vc --set policy.naive.view=naive --truth naive "$trace"
row lard "2 1 2 1 0 1 3 3"
run 0 -p vc -p fasttrack -p eraser --list "$trace"
row fasttrack "2 1 0 0 0 0"
row eraser "1 1 - - 0 0 - - 0 0"
says out "happens-before, history last (sound, precise)"
says out "lockset discipline (nothing promised)"
says out "same racy accesses as vc: fasttrack"
says out "same racy places as vc: eraser"

# Files that were to be written are not left behind in parts.
mkdir empty
printf 'lardsim-text 1\nT0 nonsense\n' >broken.trace
run 4 -q -c radish8 -p lardish --csv empty/a.csv --plot empty/a.svg broken.trace
[ -z "$(ls -A empty)" ] || fail "a comparison that failed leaves $(ls -A empty)"

# A policy that judges each access and misses some: what it promises is told, and no equality.
printf 'lardsim-text 1\nT0 write 0x100 4\nT1 write 0x100 4\nT0 write 0x100 4\n' >twice.trace
run 0 -p vc -p once=vc --set policy.once.after-race=disable-variable twice.trace
row once "1 0 0 0 0 0 1 0"
says out "after-race leaves out what has raced (precise)"
grep -q "^same racy" out && fail "what misses a race is said to find the same"
run 0 -p vc -p once=vc --set policy.once.after-race=disable-variable --json twice.trace
says out "\"same\": false"

# An imported trace: every difference between the three is told, and each has a reason.
cat >trace.std <<'END'
T0|w(V1)|1
T0|w(V2)|2
T0|fork(T1)|3
T0|fork(T2)|4
T1|w(V1)|5
T1|r(V2)|6
T1|acq(L1)|7
T1|w(V3)|8
T1|rel(L1)|9
T2|r(V3)|10
T2|w(V2)|11
T2|w(V4)|12
T0|join(T2)|13
T0|r(V4)|14
T0|w(V4)|15
END
run 0 -p vc -p fasttrack -p eraser --list trace.std
row vc "2 2 - - - - - - - -"
row fasttrack "2 2 0 0 0 0 0 0 0 0"
row eraser "3 3 - - 2 2 - - 1 1"
says out "vc orders event 0 before this one; eraser: no lock was held" # V1, by the fork
says out "false by eraser: place at 0x100000018 (V4): write by thread 0"
says out "vc orders event 11 before this one"                          # V4, by the join
says out "eraser: since a second thread came, this location has only been read (Shared)" # V3
[ "$(grep -c '^false by\|^missed by' out)" = 6 ] || fail "not every difference of the imported trace is told"
grep -q '^    unknown' out && fail "a difference of the imported trace is not explained"

# What is refused says what to do.
run 3 -p eraser -p vc "$trace"
says err "vc for one"
run 3 -p vc -p eraser --truth erasr "$trace"
says err "vc, eraser"
run 3 -p vc "$trace"
says err "two or more"
run 2 --overwrite "$trace"
run 4 no-such.trace
run 5 --set limits.events=8 -o stopped "$trace"
says out incomplete
[ -s stopped/compare.json ] || fail "a limited run lost its comparison"
[ -e stopped/DONE ] && fail "a limited run is DONE"
run 66 --error-on-race "$trace"
run 0 --quiet "$trace"
[ -s out ] && fail "--quiet prints"

# The manual and the completion have it.
"$lardsim" list manual compare | grep -q 'differences.jsonl' || fail "no manual page"
"$lardsim" list completion | grep -q -- --truth || fail "no completion"
run 7 -c radish8 -p vc -o no/such/folder "$trace"
says err "no/such/folder: can't make the results folder: No such file or directory; choose another with -o"
# With a machine and no policy there is nothing to compare; the page says what to give.
run 0 -c radish8 "$trace"
says out "next     -p NAME, given once or more"
run 0 -c radish8 -p vc "$trace"
says out "next     -o DIR keeps"
"$lardsim" explain compare.max >out 2>&1 || fail "compare.max is not explained"

# The table as a file has a row a policy, with the page's numbers; a plot; neither replaces a file unasked.
rm -rf c.csv c.svg
run 0 -q -c radish8 -p vc --csv c.csv --plot c.svg "$trace"
[ "$(cut -d, -f1 c.csv | tr '\n' ' ')" = "policy none vc " ] || fail "--csv: rows are $(cut -d, -f1 c.csv | tr '\n' ' ')"
run 0 -c radish8 -p vc --json "$trace"
grep -q "\"cycles\": $(sed -n 's/^vc,run,[0-9.]*,[0-9.]*,\([0-9]*\),.*/\1/p' c.csv)," out || fail "--csv: other cycles than --json"
grep -q '</svg>' c.svg || fail "--plot: no SVG"
run 7 -q -c radish8 -p vc --csv c.csv "$trace"
says err "c.csv: exists; give --overwrite to replace it"
run 0 -q -p vc -p naive=vc --set policy.naive.view=naive --csv c.csv --plot c.svg --overwrite "$trace"
grep -q '^naive,' c.csv || fail "--csv without a machine: $(cat c.csv)"
run 2 -p vc --csv - "$trace"
# Space beside the heap is told of every policy that counts metadata, hardware included, and of no other.
run 0 -c radish8 --policies vc,lardish,tsan,lard-runtime -o space workload:xalan@lard,collections=1,accesses=10k
for policy in vc lardish tsan; do
    want=$(awk -F, -v p="policy.$policy.space." '$1 == p "total" {t = $2} $1 == p "heap" {h = $2}
        END {printf "%s %.1f %%", substr(p, 8, length(p) - 14), 100 * (t - h) / h}' space/$policy/stats.csv)
    grep -q "^space beside the heap .*$want" out || fail "the page has no space of $want: $(grep '^space' out)"
done
grep -q '^space beside the heap.*lard-runtime' out && fail "a policy without metadata has a space"
grep -q '^beside it .* of the caches, for lines of histories: lardish [0-9]' out || fail "lines on chip are not told apart"
# A label that is another policy's name would pass for that policy, in every verb and in a file.
for verb in "run" "compare -p none" "compare -c radish8" "machine"; do
    set -- $verb
    for spec in fasttrack=vc vc,FastTrack=vc; do
        at=$trace
        [ "$1" = machine ] && at=""
        "$lardsim" "$@" -p $spec $at >out 2>err </dev/null
        [ $? = 2 ] || fail "$verb -p $spec is taken: $(head -n 1 out)"
        says err "has the name of another policy as its label"
    done
done
"$lardsim" why -p fasttrack=vc "$trace" 1 >out 2>err </dev/null
[ $? = 2 ] || fail "why -p fasttrack=vc is taken: $(head -n 1 out)"
printf 'policies: [vc, fasttrack=vc]\n' >label.yaml
"$lardsim" run --config label.yaml "$trace" >out 2>err </dev/null
[ $? = 3 ] || fail "a file's fasttrack=vc is taken"
"$lardsim" run -q -p vc=vc -p mine=vc "$trace" >out 2>err || fail "a policy's own name is no label: $(cat err)"
exit $bad
