#!/bin/sh
# tables.sh - is each line and number that the program prints or writes as a table what statistics and races say? A
# judge of its own making (tests/results/judge/tables.pl) computes them once more: of runs, comparisons of verdicts and of
# costs, a sweep with seeds, axes, cells that failed and cells that are missing, tables of papers, traces, workloads.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
command -v perl >/dev/null 2>&1 || { echo "no perl here"; exit 77; }
litmus=$top/workloads/litmus/gc_move_race.trace
synth=synth:events=2000,threads=6,racy=150
hedc=workload:hedc,racy=on,queries=4,gc=semispace
collected=steps=120,gc=semispace,heap=256Ki,tlab=256,system_gc=on

# judge WHAT ARGUMENT...: whether it finds anything.
judge() {
    said=$(perl "$top/tests/results/judge/tables.pl" "$@" 2>&1) || fail "$1: $said"
    [ -z "$said" ] || fail "the judge of $1 says: $said"
}
# does ARGUMENT...: what a verb prints, into out; it has to end well.
does() {
    "$lardsim" "$@" >out 2>err </dev/null || fail "$*: exit code $?: $(cat err)"
    case $1 in run | compare) [ ! -s err ] || fail "$*: it says: $(cat err)" ;; esac
}
# kept_or_not NAME ARGUMENT...: without -o the page is that in NAME.page, but for where the results are.
kept_or_not() {
    name=$1
    shift
    does "$@"
    for page in "$name.page" out; do
        sed '/^results  /d; /^next  /d; s/: `findings` in .*/: --json shows them/' "$page" >"$page.rest"
    done
    cmp -s "$name.page.rest" out.rest || fail "$*: without -o the page is another: $(diff "$name.page.rest" out.rest | head -n 4)"
    grep -q '^next  ' out || fail "$*: the page does not say how to go on: $(tail -n 2 out)"
}
# races_found ARGUMENT...: with --error-on-race the exit code is 66.
races_found() {
    "$lardsim" "$@" --error-on-race -q >out 2>err
    code=$?
    [ $code = 66 ] || fail "$* --error-on-race: exit code $code, not 66: $(cat err)"
}

# ---- runs ------------------------------------------------------------------------------------------------

# ran NAME PLANTED SOURCE ARGUMENT...: the page, --json and the statistics' forms of one run.
ran() {
    name=$1 planted=$2 source=$3
    shift 3
    case " $* " in # what a trace names is the execution's own
    *" --record "*) does run -o "$name" "$@" --overwrite "$source" && mv out page && does trace cat "$name.lard" ;;
    *) does run -o "$name" "$@" "$source" && mv out page && does trace cat "$source" ;;
    esac
    mv out "$name.text"
    judge run "$name" page "$name.text" "$planted"
    cp page "$name.page"
    does run --json --overwrite -o "$name" "$@" "$source"
    judge run-json "$name" out "$planted"
    judge statistics "$name"
}
test_runs() {
ran litmus 0 "$litmus"
ran many 0 "$synth" -p vc -p cvm -p slimstate -p naive=vc --set policy.naive.view=naive
printf '%s\n' 'lardsim-text 2' 'T0 fork T1' 'T0 write 0x1000 1' 'T1 read 0x1000 1' 'T1 write 0x1002 2' 'T0 read 0x1002 2' >small.trace
ran small 0 small.trace
printf '%s\n' 'lardsim-text 2' 'T0 write 0x1000 1' >single.trace
ran single 0 single.trace
# A race keeps the names of its time.
cat >renamed.trace <<'END_OF_TRACE'
lardsim-text 2
name thread 0 "main"
name site 0x10 "the first place"
name object 0x1000 "an account"
T0 fork T1
T0 write 0x1000 4 @0x10
name thread 1 "other"
T1 write 0x1000 4 @0x10
name site 0x10 "another place, by a name that is longer"
name object 0x1000 "another account, by a name that is longer"
T0 read 0x2000 4 @0x10
T1 read 0x1000 4 @0x10
END_OF_TRACE
ran renamed 0 renamed.trace
ran hardware 0 "$synth" -c radish8 -p lardish -p valor
ran shared 0 "$synth" -c alpha-cvm -p cvm
ran program 1 workload:hedc,racy=on,queries=4 -c radish8 -p fasttrack --set memory.type=ddr --record program.lard
kept_or_not litmus run "$litmus"
races_found run -p vc -p none "$litmus"
}

# ---- verdicts --------------------------------------------------------------------------------------------

test_verdicts() {
does trace cat "$litmus" && mv out litmus.text
does trace cat "$synth" && mv out many.text
does compare --list -o listed "$litmus"
judge compare listed out litmus.text list
does compare --json --list --overwrite -o listed "$litmus"
judge compare-json listed out list
does compare -o verdicts -p vc -p fasttrack -p eraser -p cvm -p tsan "$synth"
judge compare verdicts out many.text
does compare --json --overwrite -o verdicts -p vc -p fasttrack -p eraser -p cvm -p tsan "$synth"
judge compare-json verdicts out
races_found compare -p vc -p none "$litmus"
does compare -o plain "$litmus" && cp out plain.page
kept_or_not plain compare "$litmus"
does compare -o unasked --set compare.why=off "$litmus"
judge compare unasked out litmus.text
}

# ---- costs -----------------------------------------------------------------------------------------------

# costs NAME PLANTED SEEDS SOURCE ARGUMENT...: the page, compare.json and the CSV; each seed is run alone, too.
costs() {
    name=$1 planted=$2 seeds=$3 source=$4 alone=
    shift 4
    for seed in $(seq "$seeds"); do
        does compare -q -o "$name.$seed" "$@" "$source,seed=$seed"
        alone="$alone $name.$seed"
    done
    [ "$seeds" = 0 ] || set -- "$@" --seeds "$seeds"
    does compare --csv "$name.csv" -o "$name" "$@" "$source" && cp out "$name.page"
    # shellcheck disable=SC2086 # a list
    judge costs "$name" out "$name.csv" "$planted" $alone
}
test_costs() {
costs seeds 1 3 "$hedc" -c radish8 -p fasttrack -p lardish -p radish
costs same 0 2 synth:events=1000 -c radish8 -p slimstate --set perturb.start=0 --set perturb.memory=0
costs converge 0 0 workload:sor,n=8,steps=1 -c radish8 -p fasttrack -p radish --converge
costs band 0 0 synth:events=1k -c radish8 --set core.type=pipelined -p fasttrack -p lardish --band 100
costs collect 0 0 "workload:churn,$collected" -c radish8 -p valor
costs alone 0 0 "$litmus" -c radish8
kept_or_not alone compare -c radish8 "$litmus"
races_found compare -c radish8 -p vc "$litmus"
costs space 0 0 "$litmus" -c radish8 -p slimstate -p radish
kept_or_not space compare -c radish8 -p slimstate -p radish "$litmus"
}

# ---- a sweep ---------------------------------------------------------------------------------------------

test_sweep() {
{ echo lardsim-text 2; echo "T0 write 0x1000 8"; echo "T0 rel 0x2000"; } >broken.trace
cat >spec.yaml <<'END_OF_SPEC'
base: {inherit: radish8, stats.rows: 8}
axes:
  l2.size: [64Ki, 128Ki]
  cores: [4, 8]
  core.type: [simple]
  policy.lardish.clock-bits: [4, 14]
policies: [none, fasttrack, lardish]
except: ["policy = none and cores = 4", "cores < 8 and l2.size >= 128Ki"]
only: ["seed <= 2"]
sources: ["synth:events=500,threads=4,racy=200", "workload:sor,n=6,steps=1", "broken.trace"]
seeds: 3
END_OF_SPEC
"$lardsim" sweep spec.yaml -o sweep -q >out 2>err
# A baseline and another cell are missing.
for policy in none lardish; do
    rm -r "sweep/cells/$(sed -n "/synth.*,$policy,/s/,.*//p" sweep/plan.csv | sed -n 3p)" || fail "there is no third cell of $policy"
done
does sweep status sweep && mv out status.page
does sweep status --json sweep
judge status sweep spec.yaml status.page out
more='l1.accesses policy.*.regions policy.*.checked'
twice='--stat l1.misses --stat cores'
# shellcheck disable=SC2046,SC2086 # a list
set -- $(echo "$more" | sed 's/[^ ]* */--stat & /g')
# shellcheck disable=SC2086 # a list
does sweep collect sweep "$@" $twice && mv out collect.page && mv err collect.errors
does sweep collect --json sweep "$@"
index=
if command -v sqlite3 >/dev/null 2>&1; then
    for table in cells stats; do
        sqlite3 -csv -header sweep/index.sqlite "SELECT * FROM $table" | tr -d '\r' >$table.csv || fail "sqlite3 can't read $table"
    done
    index=cells.csv
fi
set -f
# shellcheck disable=SC2086 # a list
judge collect sweep spec.yaml collect.page collect.errors out "$index" stats.csv $more
set +f
}

# ---- traces and workloads --------------------------------------------------------------------------------

# info SOURCE TEXT FORMAT BYTES: of a source whose events are in TEXT.
info() {
    does run -q --overwrite -o identified "$1"
    does trace info "$1" && mv out page
    does trace info --json "$1"
    judge info page out "$2" "$3" "$(sed -n 's/^  "identity": "\(.*\)",$/\1/p' identified/provenance.json)" "$4"
}
test_traces() {
for workload in hedc,queries=1,gc=semispace avrora@valor,accesses=2k "churn,$collected"; do
    does trace cat "workload:$workload" && mv out events
    info "workload:$workload" events generated 0
    does run -q --overwrite -o policies -p fasttrack -p slimstate --set granularity=field "workload:$workload"
    does workload describe "$workload" && mv out page
    does workload describe --json "$workload"
    judge describe "$workload" page out events policies
    does trace convert --overwrite "workload:$workload" one.lard
    info one.lard events 'lardsim-trace 2' "$(wc -c <one.lard)"
    does trace strip --overwrite one.lard stripped.lard && mv err said
    does trace cat stripped.lard
    judge strip said stripped.lard events out
done
does trace cat "$litmus" && mv out litmus.text
does trace cat --numbers "$litmus"
judge cat out litmus.text
does trace strip "$litmus" stripped.trace && mv err said
does trace cat stripped.trace
judge strip said stripped.trace litmus.text out
cat >memory.trace <<'END_OF_TRACE'
lardsim-text 2
granularity 8
T0 alloc 0x1000 32
T0 alloc 0x1020 32
T0 alloc 0x1040 16
T0 write 0x1024 4
T0 copy 0x3000 0x1000 32
T0 copy 0x4000 0x0ff0 64
T0 clear 0x4000 16
T0 alloc 0x9020 32
T0 alloc 0x9000 32
T0 write 0x9020 4
T0 read 0x3004 2
T0 clear 0x1000 96
T0 alloc 0x5000 64
T0 clear 0x5000 64
T0 copy 0x6000 0x3000 32
T0 write 0x7008 8
T0 copy 0x7000 0x8000 32
T0 clear 0x7000 32
END_OF_TRACE
does trace cat memory.trace && mv out memory.text
does trace strip memory.trace kept.trace && mv err said
does trace cat kept.trace
judge strip said kept.trace memory.text out
# What moved without an allocation is as good as used.
grep -q '^T0 clear 0x4000 16$' out || fail "trace strip: the clear of memory that nobody allocated is gone: $(grep clear out)"
does trace convert --to text litmus.text litmus.trace
info litmus.trace litmus.text 'lardsim-text 2' "$(wc -c <litmus.trace)"
for event in 20 25; do
    does why "$litmus" $event && mv out page
    does why -q --json "$litmus" $event
    judge why page out litmus.text
done
}

# ---- tables of papers ------------------------------------------------------------------------------------

# paper NAME ARGUMENT...: all that a table prints and writes; claims may fail, as programs are that short.
paper() {
    name=$1
    shift
    set -- reproduce "$name" --quick --size accesses=1k --cells "cells-$name" "$@"
    "$lardsim" "$@" -o "$name.csv" --gnuplot "$name.gp" --plot "$name.svg" >page 2>err
    [ $? = 6 ] || [ ! -s err ] || fail "$*: $(cat err)"
    "$lardsim" "$@" --json >out 2>err
    judge paper "$top" "cells-$name" page out "$name.csv" "$name.gp" "$name.svg"
}
test_papers() {
paper slimstate-table2 --seeds 2
paper lard-runtime --band 50
paper valor-budget
}

# Each part alone, or those that are named.
[ $# -gt 0 ] || set -- runs verdicts costs sweep traces papers
for part in "$@"; do
    "test_$part"
done
exit $bad
