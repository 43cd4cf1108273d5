#!/bin/sh
# output.sh - the results folder: whole or without DONE; it repeats itself; nothing is overwritten
# unasked; a disk that is full is an error with its own exit code, never a file that looks whole.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
trace=$top/workloads/litmus/gc_move_race.trace
run() { "$lardsim" run --quiet "$@" >out.txt 2>err.txt; }
digest() { head -n 1 "$1/DONE"; }

run -o first "$trace" || fail "a plain run exits $?: $(cat err.txt)"
for f in config.yaml stats.json stats.txt stats.csv races.jsonl host.json provenance.json DONE; do
    [ -s first/$f ] || fail "first/$f is missing or empty"
done

# An existing folder is an error, and stays as it is.
before=$(cat first/* | cksum)
run -o first "$trace"
[ $? = 7 ] || fail "an existing folder must exit 7"
[ "$before" = "$(cat first/* | cksum)" ] || fail "an existing folder was changed"
run -o first --overwrite "$trace" || fail "--overwrite: $(cat err.txt)"

# The complete configuration runs again to the same results, from another folder and another locale.
mkdir elsewhere
(cd elsewhere && LC_ALL=C.UTF-8 "$lardsim" run --quiet --config ../first/config.yaml -o again "$trace" >/dev/null) ||
    fail "config.yaml does not run"
[ "$(digest first)" = "$(digest elsewhere/again)" ] || fail "config.yaml gives another digest"
cmp -s first/stats.json elsewhere/again/stats.json || fail "stats.json differs"
cmp -s first/races.jsonl elsewhere/again/races.jsonl || fail "races.jsonl differs"
grep -v '^#' first/config.yaml | sed 's/ *#.*//' >a
grep -v '^#' elsewhere/again/config.yaml | sed 's/ *#.*//' >b
cmp -s a b || fail "the dump of the dump differs"

# A configuration that an earlier version wrote gives what it gave then. Whoever renames a key has it
# refused here: the error must name the new key. What it could not know of has a key that gives the
# earlier figures (NEWS).
run --config "$top/tests/data/config-0.1.yaml" --set policy.lardish.without=header,trace,sweep \
    -o old synth:events=3000 ||
    fail "the config.yaml of version 0.1.0: $(cat err.txt)"
grep -vxFf old/stats.csv "$top/tests/data/config-0.1.csv" >a
[ -s a ] && fail "the config.yaml of version 0.1.0 gave $(head -3 a)"
sed 's/^    repeats:/    repeat:/' "$top/tests/data/config-0.1.yaml" >renamed.yaml
run --config renamed.yaml synth:events=3000
{ [ $? = 3 ] && grep -q 'renamed.yaml.*policy.fasttrack.repeat:.*did you mean policy.fasttrack.repeats?' err.txt; } ||
    fail "a key that is not known must exit 3 and name the one that is meant: $(cat err.txt)"

# Each line of races.jsonl and each statistic that the documentation names is there.
grep -q '"races": {' first/stats.json || fail "stats.json has no races"
for key in policy race thread op address size site event earlier; do
    grep -q "\"$key\":" first/races.jsonl || fail "races.jsonl has no $key"
done

# races.max bounds lines, not counts.
run --set races.max=0 -o none "$trace" || fail "races.max=0: $(cat err.txt)"
[ -s none/races.jsonl ] && fail "races.max=0 wrote races"
grep -A12 '"races"' first/stats.json | grep '"accesses"' >a
grep -A12 '"races"' none/stats.json | grep '"accesses"' >b
cmp -s a b || fail "races.max changed the counts"

# Where nothing can be written.
run -o "$trace/x" "$trace"
[ $? = 7 ] || fail "a folder below a file must exit 7"
run -o out.txt "$trace"
[ $? = 7 ] || fail "a file as the folder must exit 7"
run -o no/such/parent "$trace"
[ $? = 7 ] || fail "a missing parent must exit 7"

# A disk that fills up: files may not grow beyond a block.
(
    trap '' XFSZ
    ulimit -f 1
    exec "$lardsim" run --quiet -o full "synth:events=20000" >/dev/null 2>err-full.txt
)
[ $? = 7 ] || fail "a full disk must exit 7"
[ -e full/DONE ] && fail "a full disk left DONE"
for f in full/.[!.]*; do
    [ -e "$f" ] && fail "a full disk left $f"
done

# Small traces that would take gigabytes: the limit on memory holds within one event, too.
{
    echo "lardsim-text 1"
    i=0
    while [ $i -lt 600 ]; do
        echo "T0 write $((i * 65536)) 65536"
        i=$((i + 1))
    done
} >wide.trace
{
    printf 'lardsim-text 1\nT0 write 0 8\n'
    n=8
    while [ $n -lt 100000000 ]; do
        echo "T0 copy $n 0 $n"
        n=$((n * 2))
    done
} >doubling.trace
printf 'lardsim-text 1\nT65535 txn-begin\nT65535 write 0 65536 txn\nT65535 txn-commit\n' >commit.trace
for small in wide doubling commit; do
    # Sanitizers reserve address space without end.
    (
        # shellcheck disable=SC3045  # dash and bash have it
        [ "${LARDSIM_INSTRUMENTED:-}" ] || ulimit -v 400000
        exec "$lardsim" run --quiet --set limits.memory=8MiB -o $small.out $small.trace >/dev/null 2>err.txt
    )
    [ $? = 5 ] || fail "$small must reach its limit: $(cat err.txt)"
    [ -s $small.out/stats.json ] || fail "$small lost its results"
done

# A run that stops at a limit, or at a broken trace, keeps what it has and is not DONE.
run --set limits.events=5 -o limited "$trace"
[ $? = 5 ] || fail "a limit must exit 5"
[ -e limited/DONE ] && fail "a limited run is DONE"
[ -s limited/stats.json ] || fail "a limited run lost its results"
{ cat "$trace"; echo "T0 nonsense"; } >broken.trace
run -o broken "$trace.no"
[ $? = 4 ] || fail "a missing trace must exit 4"
run -o broken2 broken.trace
[ $? = 4 ] || fail "a broken trace must exit 4"
[ -e broken2/DONE ] && fail "a broken trace is DONE"
[ -s broken2/stats.json ] || fail "a broken trace lost its results"
run -o first --overwrite broken.trace
[ -e first/DONE ] && fail "an overwritten folder kept its DONE"
exit $bad
