#!/bin/sh
# folder.sh - is a results folder always one run's? Two writers, a slow disk, a full one, kill -9 at any
# moment: what is there is what was there before, or one whole run. Nothing that lardsim did not write
# is replaced, and `lardsim verify` says when a file has changed.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
slow=${top_builddir:-.}/tests/cli/.libs/slow_sync.so
trace=$top/workloads/litmus/gc_move_race.trace
# run CODE ARGS...: "run --quiet ARGS"
run() {
    want=$1
    shift
    "$lardsim" run --quiet "$@" >out.txt 2>err.txt </dev/null
    code=$?
    [ $code = "$want" ] || fail "run $* exits $code, not $want: $(cat err.txt)"
}
says() { grep -q -e "$1" err.txt || fail "no message has \"$1\": $(cat err.txt)"; }
whole() { "$lardsim" verify "$1" >verify.txt 2>&1 || fail "$2: $(cat verify.txt)"; }
digest() { head -n 1 "$1/DONE"; }
left() { find . -maxdepth 1 -name '.*lardsim*' | grep .; }

# An empty folder is no obstacle, whoever made it, nor a link to one; a whole one stays as it is.
mkdir empty
ln -s empty link
run 0 -o link "$trace"
whole empty "a folder that was empty"
[ -h link ] || fail "a link to a folder is no link any more"
before=$(cat empty/* | cksum)
run 7 -o empty "$trace"
says "the folder exists"
[ "$before" = "$(cat empty/* | cksum)" ] || fail "an existing folder was changed"
ln -s nowhere dangling
run 7 -o dangling "$trace"
says "leads nowhere"

# DONE tells each change, and that of the host's file.
run 0 -o first "$trace"
whole first "a folder just written"
for f in config.yaml host.json provenance.json races.jsonl stats.csv stats.json stats.txt; do
    cp -r first changed
    printf ' ' >>changed/$f
    "$lardsim" verify changed >out.txt 2>&1
    [ $? = 6 ] && grep -q "^changed/$f has changed" out.txt || fail "a change of $f is not noticed: $(cat out.txt)"
    rm changed/$f
    "$lardsim" verify --json changed >out.txt 2>&1
    [ $? = 6 ] && grep -q "\"$f\", \"fault\": \"is missing\"" out.txt || fail "nobody misses $f: $(cat out.txt)"
    rm -r changed
done
for text in '' 'nonsense' "$(digest first)" "$(digest first)
0123456789abcdef  ../first/stats.txt"; do
    cp -r first changed
    printf '%s\n' "$text" >changed/DONE
    "$lardsim" verify changed >out.txt 2>&1
    [ $? = 6 ] || fail "this passes for DONE: $text"
    rm -r changed
done
rm -r empty/DONE
"$lardsim" verify empty >out.txt 2>&1
[ $? = 6 ] || fail "a folder without DONE is whole"
"$lardsim" verify nowhere >out.txt 2>&1
{ [ $? = 6 ] && grep -q "nowhere: there is no such folder" out.txt; } ||
    fail "verify of a folder that is not there: $(cat out.txt)"
cp -r first again
run 0 -o again --overwrite "$trace"
sed '/provenance/d; /config/d' first/DONE >a
sed '/provenance/d; /config/d' again/DONE >b
cmp -s a b || fail "the hashes of one run are others in another folder"

# Only what lardsim wrote is replaced: nothing in a folder of somebody else's, and of its own no more
# than its own files.
mkdir strange
echo "mine: yes" >strange/config.yaml
run 7 -o strange --overwrite "$trace"
says "strange: has config.yaml, which lardsim did not write"
[ "$(cat strange/config.yaml)" = "mine: yes" ] || fail "somebody else's config.yaml was replaced"
cp first/stats.txt strange/
rm strange/config.yaml
run 7 -o strange --overwrite "$trace"
cp -r first mixed
mkdir mixed/sub
echo "my plot" >mixed/plot.svg
run 0 -o mixed/sub/below "$trace"
run 0 -o mixed --overwrite synth:seed=5,events=2000
whole mixed "an overwritten folder with files of others"
whole mixed/sub/below "a results folder in an overwritten one"
[ "$(cat mixed/plot.svg)" = "my plot" ] || fail "somebody else's file in a results folder was replaced"
[ "$(digest mixed)" = "$(digest first)" ] && fail "a folder with files of others was not overwritten"
cp mixed/plot.svg mixed/config.yaml
run 7 -o mixed --overwrite "$trace"

# Whoever stands in it goes on standing in it.
mkdir here
(cd here && "$lardsim" run --quiet -o . "$trace" && "$lardsim" run --quiet -o . --overwrite "$trace" && [ -e DONE ]) ||
    fail "the results are not where the run stands"
whole here "the folder where the run stands"
[ "$(find here -name '.*' | grep -c lardsim)" = 0 ] || fail "something is left in the folder where the run stands"

# A comparison of costs is one folder, whatever policies an earlier one had.
costs() { "$lardsim" compare --quiet -c radish8 "$@" synth:events=1000 >out.txt 2>err.txt || fail "compare $*: $(cat err.txt)"; }
costs -p vc -o costs
whole costs "a comparison of costs"
[ "$("$lardsim" verify costs)" = "costs: whole; 18 files are as the run wrote them" ] || fail "verify looks at: $("$lardsim" verify costs)"
costs -p eraser -o costs --overwrite
whole costs "an overwritten comparison of costs"
[ -e costs/vc ] && fail "a policy of an earlier comparison is left"
echo >costs/mine
costs -p vc -o costs --overwrite
whole costs "an overwritten comparison of costs with files of others"
[ -e costs/eraser ] && fail "a policy of an earlier comparison is left beside files of others"
[ -e costs/mine ] || fail "somebody else's file in a comparison is gone"

# A full disk leaves what was there.
cp -r first full
(
    trap '' XFSZ
    ulimit -f 1
    exec "$lardsim" run --quiet -o full --overwrite synth:events=20000 >/dev/null 2>err.txt
)
[ $? = 7 ] || fail "a full disk must exit 7"
says "full/[a-z.]*: can't be written: File too large; make room"
whole full "a folder whose disk was full when it was overwritten"
(
    trap '' XFSZ
    ulimit -f 1
    exec "$lardsim" run --quiet -o new synth:events=20000 >/dev/null 2>err.txt
)
[ -e new ] && fail "a run that can't write leaves its folder"

# A read-only folder: as another user, where there is one to be.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir readonly
    chmod 755 . readonly
    cp "$lardsim" "$trace" .
    for out in readonly readonly/below; do
        setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/lardsim" run --quiet -o $out gc_move_race.trace 2>err.txt
        [ $? = 7 ] || fail "a folder that can't be written to must exit 7"
        says "^lardsim: $out: "
    done
    # One's own in a folder that is not: the results go into it.
    mkdir above above/own
    chown 65534 above/own
    setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/lardsim" run --quiet -o above/own gc_move_race.trace 2>err.txt ||
        fail "a folder of one's own in one that is not: $(cat err.txt)"
    whole above/own "a folder of one's own in one that is not"
fi

left && fail "something is left beside the folders"

# From here on a disk that takes its time: the run waits in fsync as long as hold is there.
[ -f "$slow" ] && [ -z "${LARDSIM_INSTRUMENTED:-}" ] || exit $bad
slowly() { exec env SYNC_FILE="$dir/hold" LD_PRELOAD="$slow" SLOW_SYNC="${ms:-5}" "$lardsim" run --quiet "$@" </dev/null; }
begun() {
    tries=0
    until left >/dev/null || [ $tries = 500 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
}
# While one writes, nobody else does, and what was there is there, whole.
run 0 -o busy synth:seed=1,events=1000
old=$(digest busy)
touch hold
slowly -o busy --overwrite synth:seed=2,events=1000 2>slow.txt &
begun
run 7 -o busy --overwrite synth:seed=3,events=1000
says "another run is writing to it"
[ "$(digest busy)" = "$old" ] || fail "an unfinished run shows"
whole busy "a folder that is being overwritten"
rm hold
wait $! || fail "the owner of the folder fails: $(cat slow.txt)"
[ "$(digest busy)" = "$old" ] && fail "the owner's results are not there"
whole busy "a folder that two wanted"

# kill -9: as before, or whole; the next one finds the way free, and removes what is left.
touch hold
slowly -o killed synth:seed=2,events=1000 2>slow.txt &
begun
kill -9 $!
wait $! 2>/dev/null
rm hold
[ -e killed/DONE ] && fail "a run that was killed is done"
run 0 -o killed synth:seed=2,events=1000
whole killed "a folder after a killed run"
left && fail "what a killed run left is still there"
ms=1
for after in 0.00 0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.10 0.15; do
    old=$(digest killed)
    slowly -o killed --overwrite "synth:seed=2${after#0.},events=1000" 2>slow.txt &
    slowly -o killed --overwrite "synth:seed=1${after#0.},events=1000" 2>slow.txt &
    sleep $after
    kill -9 $! 2>/dev/null
    wait 2>/dev/null
    whole killed "a folder after kill -9 at $after s"
done
run 0 -o killed --overwrite synth:seed=4,events=1000
left && fail "what killed runs left is still there"

# Two at once, often: always one run's.
for round in 1 2 3 4; do
    for seed in 1 2 3; do
        slowly -o both --overwrite "synth:seed=$round$seed,events=1000" 2>slow.txt &
    done
    for look in 1 2 3 4 5 6; do
        [ ! -e both/DONE ] || whole both "round $round, look $look: two at once"
        sleep 0.02
    done
    wait
    whole both "after round $round: two at once"
    now=$(digest both)
    for seed in 1 2 3; do
        run 0 -o one --overwrite "synth:seed=$round$seed,events=1000"
        [ "$(digest one)" = "$now" ] && cmp -s one/races.jsonl both/races.jsonl && cmp -s one/stats.json both/stats.json && now=
    done
    [ -z "$now" ] || fail "round $round: the folder is no one's run"
done
exit $bad
