#!/bin/sh
# sweep.sh [KILLS] - lardsim sweep: its cells are what `lardsim run` gives, whatever runs beside them, is
# killed, crashes, hangs, or has no room; mistakes in a spec are told with file and line.
# shellcheck disable=SC2034
in_memory=1 # a sweep syncs each file, and this is about other things
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
kills=${1:-4}
hook=$(mktemp) || exit 99 # where programs may be, if they may not in memory
trap 'rm -rf "$dir" "$hook"' EXIT
sweep() { "$lardsim" sweep "$@" >out 2>err; }
# expect CODE WHAT ARGS...: sweep ends with CODE.
expect() {
    code=$1 what=$2
    shift 2
    sweep "$@"
    got=$?
    [ "$got" = "$code" ] || fail "$what: exit code $got, not $code: $(cat out err)"
}
says() { grep -q -- "$1" err out || fail "it does not say \"$1\", but: $(cat out err)"; }
# same A B WHAT: their cells, byte for byte; only host.json may know of the host.
same() {
    diff -r -x host.json "$1/cells" "$2/cells" >differ 2>&1 || fail "$3: $(head -n 5 differ)"
}
# as_alone RUN CELL: the cell is what that run is. The command in provenance.json is another; so is its hash in DONE.
as_alone() { diff -r -x host.json -x provenance.json -x DONE "$1" "$2" >/dev/null; }
cells() { find "$1/cells" -mindepth 1 -maxdepth 1 | wc -l; }
no_rest() { [ -z "$(ls "$1/tmp")" ] || fail "$2: there is a rest in $1/tmp: $(ls "$1/tmp")"; }

"$lardsim" trace synth a.lard events=20000 threads=6 || exit 99
cat >a.yaml <<'END'
base: {inherit: radish8, stats.interval: 5k, policy.naive.view: naive}
axes: {l2.size: [128Ki, 256Ki]}
policies: [none, fasttrack, naive=lardish]
sources: [a.lard, "synth:events=5000"]
seeds: 2
END

# ---- what cells are ----------------------------------------------------------------------------------

expect 0 "a sweep" a.yaml -o whole -j 2
[ "$(cells whole)" = 18 ] || fail "2 sizes x 3 policies x (a file and 2 seeds) are 18 cells, not $(cells whole)"
no_rest whole "a sweep"
for size in 128Ki 256Ki; do
    for policy in none fasttrack naive=lardish; do
        for source in a.lard synth:events=5000,seed=2; do
            view=
            [ $policy = none ] || [ $policy = fasttrack ] || view='--set policy.naive.view=naive'
            # shellcheck disable=SC2086 # an option and its value
            "$lardsim" run -q --preset radish8 --set stats.interval=5k $view --set l2.size=$size -p $policy -o one $source ||
                fail "run -p $policy $source fails"
            found=
            for c in whole/cells/*; do
                as_alone one "$c" && found=1
            done
            [ $found ] || fail "no cell is what lardsim run gives for $size, $policy, $source"
            rm -rf one
        done
    done
done
# A cell of a file says what the file's events are, as run and compare do.
identity=$("$lardsim" trace info a.lard | sed -n 's/^identity *//p')
"$lardsim" compare -q -p vc -p fasttrack -o compared a.lard >/dev/null || fail "compare fails"
for c in compared $(sed -n 's/^\([0-9a-f]*\),.*,a.lard,.*/whole\/cells\/\1/p' whole/plan.csv); do
    grep -q "\"identity\": \"$identity\"" "$c/provenance.json" || fail "$c does not say that the events are $identity"
done
for j in 1 4; do
    expect 0 "-j $j" a.yaml -o j$j -j $j
    same whole j$j "-j $j differs from -j 2"
done
expect 0 "a finished sweep once more" a.yaml -o whole
says "18 done, of which 18 were there"

# ---- specs -------------------------------------------------------------------------------------------

# spec CELLS WHAT: the spec that is read has so many cells.
spec() {
    cat >s.yaml
    rm -rf s
    expect 0 "$2" s.yaml -o s -j 1
    [ "$(cells s)" = "$1" ] || fail "$2: $1 cells expected, there are $(cells s): $(cut -d, -f6- s/plan.csv)"
}
spec 4 "a range that multiplies" <<'END'
base: {inherit: radish8}
axes: {cores: {from: 1, to: 8, times: 2}}
policies: [none]
sources: [synth:events=100]
END
cut -d, -f7 s/plan.csv | tr '\n' ' ' | grep -q 'cores 1 2 4 8 ' || fail "cores are not 1 2 4 8"
spec 3 "a range that adds, in its own units" <<'END'
base: {inherit: radish8}
axes: {l2.size: {from: 64Ki, to: 128Ki, step: 32Ki}}
policies: [none]
sources: [synth:events=100]
only: ["l2.size >= 65536"]
END
cut -d, -f7 s/plan.csv | tr '\n' ' ' | grep -q 'l2.size 64Ki 96Ki 128Ki ' || fail "sizes are not 64Ki 96Ki 128Ki"
spec 2 "axes that move together" <<'END'
base: {inherit: radish8}
axes: {l1.size: [16Ki, 16Ki], l2.size: [128Ki, 256Ki]}
zip: {sizes: [l1.size, l2.size]}
policies: [none]
sources: [synth:events=100]
END
spec 5 "groups, and conditions" <<'END'
base: {inherit: radish8}
axes:
  caches:
    small: {l1.size: 16Ki, l2.size: 128Ki}
    large: {l1.size: 32Ki, l2.size: 512Ki}
  cores: [2, 4]
policies: [none, vc]
sources: [synth:events=100]
except: [caches = large and policy=vc, cores=4 and policy = vc and caches != large]
END
spec 3 "an axis that a policy does not know makes one cell of it" <<'END'
axes: {policy.vc.history: [last, all]}
policies: [fasttrack, vc]
sources: [synth:events=100]
END
grep -q ',fasttrack,$' s/plan.csv || fail "fasttrack's row names a history: $(cat s/plan.csv)"
spec 2 "an axis with one value that a policy does not know" <<'END'
axes: {policy.vc.history: [all]}
policies: [fasttrack, vc]
sources: [synth:events=100]
END
grep -q ',fasttrack,$' s/plan.csv || fail "fasttrack's row names the one history: $(cat s/plan.csv)"
grep -q ',vc,all$' s/plan.csv || fail "the row of vc does not name its history: $(cat s/plan.csv)"

spec 2 "a policy alone brings its baseline" <<'END'
base: {inherit: radish8}
policies: [vc]
sources: [synth:events=100]
END
[ "$(cut -d, -f2 s/plan.csv | sed 1d | uniq | wc -l)" = 1 ] || fail "a baseline is not its own: $(cat s/plan.csv)"

# What the spec leaves out is in no table, even where it is run for the overheads of others.
table() { # table ROWS WHAT: cells.csv has a row of each of these policies, and so have the others
    sweep collect s
    rows=$(sed 1d s/cells.csv | cut -d, -f4 | sort | tr '\n' ' ')
    [ "$rows" = "$1" ] || fail "$2: the table has rows of \"$rows\", not \"$1\""
    [ "$(wc -l <s/cells.jsonl)" = "$(echo "$1" | wc -w)" ] || fail "$2: cells.jsonl has other rows: $(cat s/cells.jsonl)"
    grep -qE ',vc,(region|run),[0-9]' s/cells.csv || fail "$2: the overhead of vc is missing: $(cat s/cells.csv)"
}
table "vc " "a policy alone"
grep -q '^no$' <<END_OF_ASKED || fail "plan.csv does not say which cell is a baseline alone: $(cat s/plan.csv)"
$(cut -d, -f3 s/plan.csv)
END_OF_ASKED
sweep s.yaml -o s --dry-run
says "1 of the cells with the policy none are baselines"
spec 3 "a condition that leaves out none" <<'END'
base: {inherit: radish8}
policies: [none, vc, fasttrack]
sources: [synth:events=100]
only: policy != none
END
table "fasttrack vc " "a condition that leaves out none"
sweep status s --json
says '"cells": 3'
spec 4 "a condition that leaves out none of a source" <<'END'
base: {inherit: radish8}
policies: [none, vc]
sources: [synth:events=100, synth:events=200]
except: policy = none and source = synth:events=100
END
table "none vc vc " "a condition that leaves out none of a source"

# wrong LINE WORDS: the spec that is read is refused, with its line, and nothing is made.
wrong() {
    cat >w.yaml
    rm -rf w
    expect 3 "a spec in which $2" w.yaml -o w
    grep -q "^lardsim: w.yaml:$1: .*$2" err || fail "not \"w.yaml:$1: ... $2\", but: $(cat err)"
    [ ! -e w ] || fail "$2: a folder was made"
}
wrong 2 'did you mean l2.size' <<'END'
policies: [none]
axes: {l2.sise: [1Ki]}
base: {inherit: radish8}
sources: [synth:events=100]
END
wrong 3 'l2.size' <<'END'
policies: [none]
axes:
  l2.size: [128Ki, 3]
base: {inherit: radish8}
sources: [synth:events=100]
END
wrong 1 'no key of a sweep' <<'END'
polices: [none]
sources: [synth:events=100]
END
wrong 2 'no policy' <<'END'
sources: [synth:events=100]
policies: [none, fasttrak]
END
wrong 2 'no such file, and no such preset' <<'END'
policies: [none]
base: {inherit: radish9}
sources: [synth:events=100]
END
wrong 2 'the label mine' <<'END'
sources: [synth:events=100]
policies: [mine=vc, mine=fasttrack]
END
wrong 2 'the name of another policy' <<'END'
sources: [synth:events=100]
policies: [vc, fasttrack=vc]
END
wrong 3 'there is no axis core' <<'END'
policies: [none]
sources: [synth:events=100]
only: core=3
END
wrong 3 'is no condition' <<'END'
policies: [none]
sources: [synth:events=100]
only: ["policy none"]
END
# What matches nothing is a slip of the pen, and the table would not show it.
wrong 3 'policy never is fasttrak; it is one of: none, fasttrack' <<'END'
policies: [none, fasttrack]
sources: [synth:events=100]
except: ["policy = fasttrak and seed = 2"]
seeds: 2
END
wrong 3 'seed never is 3' <<'END'
policies: [none]
sources: [synth:events=100]
only: seed != 3
seeds: 2
END
wrong 4 'caches never is smal' <<'END'
policies: [none]
sources: [synth:events=100]
axes: {caches: {small: {l1.size: 16Ki}, large: {l1.size: 32Ki}}}
only: caches = smal
base: {inherit: radish8}
END
wrong 4 '64KiB is no number' <<'END'
policies: [none]
sources: [synth:events=100]
axes: {l2.size: [64Ki, 128Ki]}
only: ["l2.size <= 64KiB"]
base: {inherit: radish8}
END
wrong 3 'vc is no number' <<'END'
policies: [vc]
sources: [synth:events=100]
only: ["policy < lardish"]
END
wrong 4 'holds at no point, so it leaves nothing out' <<'END'
policies: [none, vc]
sources: [synth:events=100]
axes: {cores: [2, 4]}
except: ["policy = none and cores = 2", "policy = vc and cores > 4"]
base: {inherit: radish8}
END
wrong 2 'the axis policy.lardish.clock-bits changes no cell' <<'END'
policies: [none, vc]
axes: {policy.lardish.clock-bits: [4, 8], cores: [2, 4]}
sources: [synth:events=100]
base: {inherit: radish8}
END
wrong 2 'the axis policy.lardish.clock-bits changes no cell' <<'END'
policies: [none, vc]
axes: {policy.lardish.clock-bits: [4], cores: [2, 4]}
sources: [synth:events=100]
base: {inherit: radish8}
END
wrong 3 'the axis l2.size changes no cell' <<'END'
policies: [none, vc]
axes:
  l2.size: [64Ki, 128Ki]
sources: [synth:events=100]
END
printf 'base: {inherit: radish8}\naxes: {cores: [2, 4]}\npolicies: [none]\nsources: [synth:events=10]\nonly: cores <= 4\n' >w.yaml
expect 0 "a condition that holds everywhere" w.yaml -o w --dry-run
says 'w.yaml:5: only: "cores <= 4" holds at every point, so it leaves nothing out'
wrong 3 'joined with' <<'END'
policies: [none]
sources: [synth:events=100]
only: ["policy = none = vc"]
END
wrong 4 'the same number' <<'END'
policies: [none]
sources: [synth:events=100]
axes: {l1.size: [16Ki, 32Ki], l2.size: [128Ki]}
zip: {both: [l1.size, l2.size]}
END
wrong 2 'has no end' <<'END'
policies: [none]
axes: {cores: {from: 8, to: 1, step: 1}}
sources: [synth:events=100]
END
wrong 2 'has a seed of its own' <<'END'
policies: [none]
sources: ["synth:events=100,seed=3"]
seeds: 2
END
wrong 2 "can't be an axis" <<'END'
policies: [none]
axes: {policies: [vc, none]}
sources: [synth:events=100]
END
wrong 2 'is there twice' <<'END'
policies: [none]
axes: {cores: [1], cores.from: 1, cores.to: 3}
sources: [synth:events=100]
END
wrong 2 'results have overhead already' <<'END'
policies: [none]
axes: {Overhead: {small: {l1.size: 16Ki}, large: {l1.size: 32Ki}}}
base: {inherit: radish8}
sources: [synth:events=100]
END
wrong 4 'differ in capitals alone' <<'END'
policies: [none]
axes:
  caches: {small: {l1.size: 16Ki}, large: {l1.size: 32Ki}}
  Caches: {small: {l2.size: 64Ki}, large: {l2.size: 256Ki}}
base: {inherit: radish8}
sources: [synth:events=100]
END
printf 'policies: [none]\nsources: [nosuch.lard]\n' >w.yaml
expect 4 "a source that is not there" w.yaml -o w
says 'w.yaml:2: sources: nosuch.lard'
wrong 3 '128Ki and 131072, which are the same' <<'END'
policies: [none]
base: {inherit: radish8}
axes: {l2.size: [128Ki, 131072]}
sources: [synth:events=100]
END
cat >w.yaml <<'END'
policies: [none]
axes:
  l1.latency: {from: 1, to: 1000}
  l2.latency: {from: 1, to: 1000}
  l3.latency: {from: 1, to: 1000}
sources: [synth:events=100]
END
rm -rf w
expect 3 "a thousand million cells" w.yaml -o w
says 'multiply to more than 1000000 points'
[ ! -e w ] || fail "a spec that is too large: a folder was made"
printf 'policies: [none]\nsources: ["-"]\n' >w.yaml
expect 3 "standard input" w.yaml -o w
says 'w.yaml:2: sources: '
printf 'policies: [none, vc]\nsources: [synth:events=10]\nonly: ["policy = vc", "policy = none"]\n' >w.yaml
expect 3 "no point" w.yaml -o w
says 'leave no point'
expect 3 "no spec" nosuch.yaml -o w
expect 2 "no folder" a.yaml
expect 2 "no process" a.yaml -o w -j 0
expect 3 "the status of nothing" status nosuch

# ---- whose folder it is ------------------------------------------------------------------------------

# strange WHAT: the folder `strange` is refused, and stays as it is.
strange() {
    find strange | sort >before
    expect 7 "a folder with $1" a.yaml -o strange
    says "strange: it has files, and they are no sweep's"
    find strange | sort | cmp -s before - || fail "a folder with $1 is not as it was: $(find strange)"
    rm -rf strange
}
mkdir -p strange/tmp && echo precious >strange/tmp/thesis
strange "a stranger's tmp"
mkdir -p strange/failed && echo precious >strange/lock
strange "a stranger's lock"
mkdir -p elsewhere made && echo precious >elsewhere/thesis && ln -s ../elsewhere made/tmp
printf 'lardsim sweep\n' >made/lock
expect 0 "a tmp that leads elsewhere" a.yaml -o made
[ -s elsewhere/thesis ] || fail "what a link in the folder leads to was removed"
same whole made "a tmp that leads elsewhere"
rm -rf made
mkdir -p made && : >made/lock # so it is left by a kill at once
expect 0 "an empty folder" a.yaml -o made
same whole made "an empty folder"

# ---- a file that changes -----------------------------------------------------------------------------

# What a trace means counts, names included, and not its form.
rm -rf names forms && mkdir forms
for name in apple pears; do
    printf 'T0|w(%s)|1\nT1|w(%s)|2\nT1|w(%s)|7\n' $name $name other >names.std
    i=0
    for form in names.std forms/names.lard forms/names.trace; do
        [ $form = names.std ] || "$lardsim" trace convert --overwrite names.std $form || exit 99
        printf 'policies: [vc]\nsources: [%s]\n' $form >n.yaml
        expect 0 "$form with the name $name" n.yaml -o names
        [ $i = 0 ] || says "1 cells: 1 done, of which 1 were there"
        i=$((i + 1))
    done
done
[ "$(cells names)" = 2 ] || fail "a trace with two sets of names, in three forms each, is 2 cells, not $(cells names)"
for name in apple pears; do
    grep -q "\"object\": \"$name\"" names/cells/*/races.jsonl || fail "no cell has the name $name"
done
"$lardsim" trace cat forms/names.lard >forms/late.trace # names stand before their events, one by one
printf 'policies: [vc]\nsources: [forms/late.trace]\n' >n.yaml
expect 0 "names in another order" n.yaml -o names
says "1 done, of which 1 were there"

# One execution under two names would be one row, or count twice.
twin() { # twin SOURCES ERROR
    printf 'policies: [vc]\nsources: [%s]\n' "$1" >n.yaml
    expect 3 "the sources $1" n.yaml -o twins
    grep -q "^lardsim: n.yaml:2: $2" err || fail "the sources $1: not \"$2\", but: $(cat err)"
    [ ! -e twins ] || fail "the sources $1: a folder was made"
}
cp forms/names.lard forms/copy.lard
twin "names.std, a.lard, forms/names.lard" "sources: forms/names.lard has the same events and names as names.std"
twin "forms/names.lard, forms/copy.lard" "sources: forms/copy.lard has the same events and names as forms/names.lard"
twin "synth:events=10, synth:events=10" "sources: synth:events=10 has the same events and names as synth:events=10"
printf 'policies: [vc]\nsources: [synth:events=10]\nseeds: []\n' >n.yaml
expect 3 "no seed" n.yaml -o twins
says 'n.yaml:3: seeds: there are none'
printf 'policies: [vc]\nsources: [synth:events=10]\nseeds: [1, 2, 0x1]\n' >n.yaml
expect 3 "a seed that is there twice" n.yaml -o twins
says 'n.yaml:3: seeds: 0x1 is there twice'

# Of a file that was cut off not all events are known: each is a source of its own, whatever it has.
head -c 20000 a.lard >forms/cut.lard
cp forms/cut.lard forms/cut-too.lard
printf 'policies: [vc]\nsources: [forms/cut.lard, forms/cut-too.lard]\n' >n.yaml
expect 4 "traces that were cut off" n.yaml -o cut
[ "$(find cut/failed -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || fail "two traces that were cut off are not two cells: $(cat cut/plan.csv)"

# While the sweep runs, after its events were hashed: the cell fails, and its results stand under no name.
"$lardsim" trace synth early.lard seed=1 events=20000 threads=4 || exit 99
"$lardsim" trace synth late.lard seed=2 events=20000 threads=4 || exit 99
cp early.lard moving.lard
cp late.lard next.lard
printf 'base: {inherit: radish8}\npolicies: [none, fasttrack]\nsources: ["synth:events=300000", moving.lard]\n' >m.yaml
"$lardsim" sweep m.yaml -o moving -j 1 >out 2>err &
pid=$!
while [ ! -e moving/plan.csv ] && kill -0 $pid 2>/dev/null; do :; done # planned, and on its first source
mv next.lard moving.lard
wait $pid
code=$?
[ $code = 4 ] || fail "a trace that changes while the sweep runs: exit code $code, not 4: $(cat out err)"
[ "$(cat moving/failed/*/log | grep -c 'has other events than when the sweep began')" = 2 ] ||
    fail "a trace that changes while the sweep runs: $(cat moving/failed/*/log)"
[ "$(cells moving)" = 2 ] || fail "a trace that changes while the sweep runs: not the 2 cells of the other are done"
cp early.lard moving.lard
expect 0 "the trace as it was" retry moving -q

# ---- kill, resume ------------------------------------------------------------------------------------

random() { awk -v seed="$1" -v n="$2" 'BEGIN { srand(seed); printf "%.3f\n", rand() * n }'; }
rm -rf killed
i=0
while [ $i -lt "$kills" ]; do
    i=$((i + 1))
    "$lardsim" sweep a.yaml -o killed -j 2 -q >/dev/null 2>err &
    pid=$!
    sleep "$(random $i 0.6)"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ -d killed/cells ] && [ $((i % 3)) = 0 ]; then # what is there is whole
        for c in killed/cells/*; do
            [ ! -d "$c" ] || diff -r -x host.json "$c" "whole/cells/${c##*/}" >/dev/null ||
                fail "kill $i left a cell that is not whole: $c"
        done
    fi
    [ "$(cells killed)" != 18 ] || [ $i = "$kills" ] || rm -rf killed
done 2>/dev/null
expect 0 "after $kills kills" a.yaml -o killed -j 2
same whole killed "after $kills kills"
no_rest killed "after $kills kills"

# What a signal stops goes on; what the caller ignores, as nohup and a shell's background do, stops nothing.
# `timeout` sends it to a program that ignores nothing.
sed 's/events=5000/events=250000/; s/^seeds: 2/seeds: 1/' a.yaml >long.yaml
(
    trap '' INT TERM
    "$lardsim" sweep long.yaml -o ignored -j 2 -q >out 2>err &
    sleep 0.5
    kill -s INT $!
    kill -s TERM $!
    wait $!
) || fail "signals that its caller ignores stop a sweep: $(cat err)"
for pair in 130:INT 143:TERM; do
    code=${pair%:*} signal=${pair#*:}
    rm -rf stopped
    timeout --foreground --preserve-status -k 60 -s "$signal" 0.5 "$lardsim" sweep long.yaml -o stopped -j 2 -q >out 2>err
    got=$?
    [ $got = "$code" ] || fail "SIG$signal: exit code $got, not $code: $(cat err)"
    says "the same command goes on"
    expect 0 "after SIG$signal" long.yaml -o stopped
    same ignored stopped "after SIG$signal"
done

# ---- what goes wrong beside a cell -------------------------------------------------------------------

if ${CC:-cc} -shared -fPIC -o "$hook" "$top/tests/cli/sweep_hook.c" -ldl 2>err; then
    victim=$(sed -n 's/^\([0-9a-f]*\),.*,fasttrack,128Ki$/\1/p' whole/plan.csv | head -n 1)
    for does in crash hang memory; do
        HOOK_CELL=$victim HOOK_DOES=$does LD_PRELOAD=$hook "$lardsim" sweep a.yaml -o $does --timeout 1 -j 2 >out 2>err
        code=$?
        [ $code = 1 ] || fail "$does: exit code $code: $(cat out err)"
        [ "$(cells $does)" = 17 ] || fail "$does: the other 17 cells are not done, but $(cells $does)"
        [ -s $does/failed/"$victim"/log ] || fail "$does: the cell has no log"
        no_rest $does "$does"
        "$lardsim" sweep status $does >out
        grep -q "failed $victim: policy fasttrack" out || fail "$does: status says $(cat out)"
        expect 1 "$does: resumed, what failed stays so" a.yaml -o $does
        (mkdir -p elsewhere && cd elsewhere && "$lardsim" sweep retry ../$does -q) || fail "$does: retry fails"
        same whole $does "$does, and retried"
    done
    grep -q 'signal 6' crash/failed/*/log 2>/dev/null && fail "retry has left the log"

    HOOK_CELL=$victim HOOK_DOES=eat LD_PRELOAD=$hook "$lardsim" sweep a.yaml -o eats --max-memory 100M -j 2 >out 2>err
    [ "$(cells eats)" = 17 ] || fail "memory is eaten: the other 17 cells are not done, but $(cells eats)"
    grep -q 'more memory than --max-memory' eats/failed/*/log || fail "memory is eaten: $(cat eats/failed/*/log out err)"

    # Slow disks: a second owner waits in vain, and the first one's cells are whole.
    HOOK_SLOW=20 LD_PRELOAD=$hook "$lardsim" sweep a.yaml -o slow -j 2 -q &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e slow/plan.csv ] || sleep 0.2; done
    expect 7 "a second owner" a.yaml -o slow
    says "another process runs this sweep"
    expect 7 "cleaning what another owns" clean slow
    kill -9 $pid
    wait $pid 2>/dev/null
    expect 0 "after a kill on a slow disk" a.yaml -o slow
    same whole slow "a slow disk"
else
    echo "sweep.sh: no compiler for the hook, which is skipped: $(cat err)"
fi

# ---- sources that end badly, limits ------------------------------------------------------------------

# What a cell alone would say and leave is said and left, whatever runs beside it.
{
    "$lardsim" trace cat a.lard
    echo 'T0 rel 0x12345678'
} >broken.trace
cat >b.yaml <<'END'
axes: {policy.vc.history: [last, all]}
policies: [vc, fasttrack]
sources: [broken.trace]
END
"$lardsim" run -q -p vc broken.trace 2>said
code=$?
expect $code "a source that breaks a rule" b.yaml -o broken
[ "$(find broken/failed -name log | wc -l)" = 3 ] || fail "a source that breaks a rule: not all 3 cells have failed"
for log in broken/failed/*/log; do
    [ "lardsim: $(head -n 1 "$log")" = "$(cat said)" ] || fail "the log of a broken rule is \"$(cat "$log")\", not \"$(cat said)\""
done
for c in whole/cells/*; do
    "$lardsim" verify "$c" >said 2>&1 || fail "$c is not what its DONE says: $(cat said)"
done
"$lardsim" run -q --again "$c" >said 2>&1 || fail "$c can't be had again: $(cat said)"
"$lardsim" sweep collect whole >said 2>&1 || fail "collect: $(cat said)"
head -n 1 whole/cells.csv | grep -q ',behaviour,findings$' || fail "a sweep's table has no findings"
grep ",none," whole/cells.csv | grep -q '[ ,]l3-never-evicted' || fail "no cell of a small trace says that the L3 never evicted"
# However long stats.json is, what it says is in the table; a cell whose file is damaged is named.
cp -r whole large
for c in large/cells/*; do
    awk 'NR == 1 { printf "{\"long\": [0"; for (i = 0; i < 400000; i++) printf ", 123"; print "],"; next } { print }' \
        "$c/stats.json" >large.json
    mv large.json "$c/stats.json"
    # Its seal is made anew: the program says which digest the file has now.
    was=$(sed -n 's/  stats.json$//p' "$c/DONE")
    now=$("$lardsim" verify "$c" 2>&1 | sed -n 's/.*stats.json has changed: its digest is \([0-9a-f]*\),.*/\1/p')
    sed "s/^$was  stats.json$/$now  stats.json/" "$c/DONE" >sealed && mv sealed "$c/DONE"
done
expect 0 "collect of long results" collect large
cmp -s whole/cells.csv large/cells.csv || fail "of long results the table says something else: $(diff whole/cells.csv large/cells.csv | head -n 4)"
head -c 1500000 "$c/stats.json" >short && mv short "$c/stats.json"
expect 6 "collect of a damaged cell" collect large
says "$c/stats.json: has changed: its digest is "
rm -rf large

cat >l.yaml <<'END'
base: {limits.events: 9000}
axes: {policy.vc.history: [last, all]}
policies: [vc, fasttrack]
sources: [a.lard]
END
expect 5 "a limit" l.yaml -o limited
"$lardsim" run -q -p fasttrack --set limits.events=9000 -o alone a.lard 2>said
found=
for c in limited/failed/*; do
    rm -f "$c/log"
    as_alone alone "$c" && found=1
done
[ $found ] || fail "at a limit no cell leaves the partial results that lardsim run leaves"

# ---- no room -----------------------------------------------------------------------------------------

for blocks in 0 1 4 16 40; do
    rm -rf full
    code=$( (
        trap '' XFSZ
        ulimit -f $blocks
        "$lardsim" sweep a.yaml -o full -q >/dev/null 2>&1
        echo $?
    ) | cat)
    [ "$code" = 7 ] || [ "$code" = 0 ] || fail "a file of at most $blocks blocks: exit code $code"
    [ "$code" != 7 ] || [ ! -d full/failed ] || [ -z "$(ls full/failed)" ] || fail "$blocks blocks: cells have failed for it"
    expect 0 "room after $blocks blocks" a.yaml -o full
    same whole full "room after $blocks blocks"
    no_rest full "$blocks blocks"
done
expect 7 "a folder in a file" a.yaml -o a.lard/x
# A folder that may not be written; root may, so another user tries.
mkdir locked && chmod 555 locked && cp -r whole readonly && chmod -R a-w,a+rX readonly
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups --"
chmod 755 .
# shellcheck disable=SC2086 # a command and its options
if $as "$lardsim" --version >/dev/null 2>&1 && ! $as touch locked/x 2>/dev/null; then
    for to in locked/x readonly; do
        find $to 2>/dev/null | sort >before
        $as "$lardsim" sweep a.yaml -o $to >out 2>err
        code=$?
        [ $code = 7 ] || fail "a folder that may not be written: exit code $code: $(cat err)"
        find $to 2>/dev/null | sort | cmp -s - before || fail "a folder that may not be written is not as it was"
    done
    $as "$lardsim" sweep status readonly >out 2>err || fail "the status of a folder that may be read alone: $(cat err)"
    says 'done     18'
else
    echo "sweep.sh: no user here for whom a folder is read-only; skipped"
fi
chmod -R u+w readonly locked

# ---- builds, cleaning --------------------------------------------------------------------------------

cp -r whole other
echo another >other/build
expect 7 "results of another build" a.yaml -o other
says "results are of build another"
expect 0 "results of another build, wanted" a.yaml -o other --accept-build
grep -q '^another$' other/build || fail "the folder's build has changed"
printf 'policies: [vc]\nsources: ["synth:events=50"]\n' >small.yaml
expect 0 "another spec in the folder" small.yaml -o whole
[ "$(cells whole)" = 19 ] || fail "another spec in the folder has removed cells"
: >whole/.index.sqlite.12345 # as a collector that was killed leaves it
expect 0 "clean" clean whole
says "removed: 18 cells"
[ ! -e whole/.index.sqlite.12345 ] || fail "clean leaves what a killed collector has left"
[ "$(cells whole)" = 1 ] || fail "clean leaves $(cells whole) cells"

# ---- tables ------------------------------------------------------------------------------------------

expect 0 "collect" collect j1 --stat policy.*.races.pairs
[ "$(cat j1/cells.csv j1/cells.jsonl | wc -l)" = 37 ] || fail "not a row for each of 18 cells, and a head"
"$lardsim" compare -q --preset radish8 --set stats.interval=0 --set l2.size=128Ki -p fasttrack --json a.lard >c.json
cycles=$(grep '"policy": "fasttrack"' c.json | grep -o '"cycles": [0-9]*' | tail -n 1 | tr -dc 0-9)
grep ',131072,a.lard,,fasttrack,' j1/cells.csv | grep -q ",$cycles," || fail "fasttrack's cycles are not those of compare, $cycles"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { cycles[$at["l2.size"] $at["source"] $at["seed"] $at["policy"]] = $at["roi.machine.cycles"]
      over[$at["l2.size"] $at["source"] $at["seed"] $at["policy"]] = $at["overhead"] }
    END { c = cycles["131072a.lardfasttrack"] / cycles["131072a.lardnone"] - 1 - over["131072a.lardfasttrack"]
      exit !(c < 0.000002 && c > -0.000002 && over["131072a.lardnone"] == 0) }' j1/cells.csv ||
    fail "the overhead is not cycles / the baseline's cycles - 1"
cp j1/cells.csv before.csv
rm j1/cells.jsonl j1/index.sqlite
expect 0 "collect once more" collect j1 --stat policy.*.races.pairs
cmp -s before.csv j1/cells.csv || fail "collect gives other bytes"
cp j1/index.sqlite index.before && mv j1/cells.jsonl lines.before && mkdir j1/cells.jsonl
expect 7 "collect where a file can't be written" collect j1 --stat l2.hits
cmp -s index.before j1/index.sqlite || fail "index.sqlite is renewed where cells.jsonl can't be"
cmp -s before.csv j1/cells.csv || fail "cells.csv is renewed where cells.jsonl can't be"
rmdir j1/cells.jsonl
expect 0 "collect with a statistic twice" collect j1 --stat l2.misses --stat L2.hits --stat l2.hits --stat l2.size
head -n 1 j1/cells.csv | tr , '\n' | sort | uniq -di | grep . && fail "a table has two columns of one name"
expect 0 "collect with a statistic that is none" collect j1 --stat nosuch
says "no cell has the statistic nosuch"
if command -v sqlite3 >/dev/null; then
    n=$(sqlite3 j1/index.sqlite "SELECT value FROM stats JOIN cells USING (cell) WHERE name = 'machine.cycles'
        AND policy = 'fasttrack' AND source = 'a.lard' AND \"l2.size\" = 131072")
    [ "$n" = "$cycles" ] || fail "index.sqlite has $n cycles, not $cycles"
    cp j1/index.sqlite digits.sqlite
    n=$(sqlite3 digits.sqlite "UPDATE cells SET behaviour = '000000000012e345', policy = '007', source = '1e3';
        SELECT DISTINCT behaviour || ',' || policy || ',' || source || ',' || typeof(\"l2.size\") FROM cells")
    [ "$n" = 000000000012e345,007,1e3,integer ] || fail "index.sqlite keeps digests and names as \"$n\""
fi
expect 0 "a dry run" a.yaml -o dry --dry-run
says "18 cells, 18 missing"
[ ! -e dry ] || fail "a dry run makes a folder"

# ---- JSON --------------------------------------------------------------------------------------------

# json SCHEMA PYTHON ARGS...: what is printed is an object j of that schema, of which that holds.
json() {
    schema=$1 holds=$2
    shift 2
    expect 0 "$*" "$@" --json
    grep -q "^  \"schema\": \"$schema\"" out || fail "$*: not of the schema $schema: $(head -n 3 out)"
    command -v python3 >/dev/null || return
    python3 -c "import json, sys
j = json.load(sys.stdin)
sys.exit(not ($holds))" <out 2>err || fail "$*: not $holds: $(head -c 600 out) $(tail -n 1 err)"
}
json lardsim-sweep-plan-1 "j['cells'] == j['missing'] == len(j['cell']) == 18 and j['seconds'] > 0 and
    all(c['state'] == 'missing' and c['asked'] and c['memory'] > 0 and c['l2.size'] in ('128Ki', '256Ki') for c in j['cell'])" \
    a.yaml -o dry --dry-run
json lardsim-sweep-plan-1 "j['missing'] == 0 and {c['state'] for c in j['cell']} == {'done'}" a.yaml -o j1 --dry-run
json lardsim-sweep-run-1 "j['cells'] == j['done'] == j['there'] == 18 and j['failed'] == 0" a.yaml -o j1
json lardsim-sweep-run-1 "j['done'] == 18" retry j1 -q
json lardsim-sweep-1 "j['done'] == 18 and j['failed'] == [] and j['missing'] == 0" status j1
json lardsim-sweep-collect-1 "j['cells'] == 18 and j['missing'] == 0 and len(j['files']) == 5" collect j1
json lardsim-sweep-clean-1 "j == {'schema': 'lardsim-sweep-clean-1', 'cells': 0, 'failed': 0}" clean j1
expect 2 "commands as JSON" a.yaml -o far --engine shell --json

# ---- names of any kind -------------------------------------------------------------------------------

odd=$(printf 'a b\n"c\047 \377$x')
mkdir "$odd" "$odd/$odd" && cp a.lard "$odd/$odd"
printf 'policies: [vc, fasttrack]\nsources: [a.lard]\n' >"$odd/$odd/s.yaml"
top_of=$PWD
cd "$odd" || exit 99
"$lardsim" sweep "$odd/s.yaml" -o "$odd/out" -q 2>err || fail "a name with a line break: $(cat err)"
rm -rf "$odd/out/cells/"*
cd "$top_of" || exit 99
expect 0 "retry under a name with a line break" retry "$odd/$odd/out"
says "2 done, of which 0 were there"
expect 0 "status under a name with a line break" status "$odd/$odd/out"
expect 0 "collect under a name with a line break" collect "$odd/$odd/out"
[ "$(grep -c ',vc,\|,fasttrack,' "$odd/$odd/out/cells.csv")" = 2 ] || fail "a name with a line break spoils the table: $(cat "$odd/$odd/out/cells.csv")"
exit $bad
