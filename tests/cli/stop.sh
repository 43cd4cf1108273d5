#!/bin/sh
# stop.sh - what is left when a signal stops a command? Of a run and a comparison what is known so
# far, marked as incomplete, as at a limit; of a file nothing. The exit code is 128 + the signal.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
command -v timeout >/dev/null || exit 77
# stop CODE SIGNAL ARGS...: sent once, after half a second; what has ended by then was not stopped. KILL
# follows, so that nothing hangs.
stop() {
    want=$1 signal=$2
    shift 2
    timeout --foreground --preserve-status -k 60 -s "$signal" 0.5 "$lardsim" "$@" >out.txt 2>err.txt
    code=$?
    [ $code = "$want" ] || fail "$* with SIG$signal exits $code, not $want: $(cat err.txt)"
    grep -q "stopped by SIG$signal" err.txt || fail "$* with SIG$signal does not say so: $(cat err.txt)"
}
left() { find . -name '.*lardsim*' | grep -q . && fail "$1: something is left beside the folder"; }

for pair in 130:INT 143:TERM; do
    for how in '-p vc' '-p vc -p fasttrack' '-c radish8 -p lardish' '-c radish8 --set order=recorded'; do
        rm -rf out
        # shellcheck disable=SC2086  # words
        stop "${pair%:*}" "${pair#*:}" run --quiet -o out $how synth:events=1G,names=off
        [ -e out/DONE ] && fail "a stopped run is done ($how)"
        for f in config.yaml stats.json races.jsonl provenance.json; do
            [ -e out/$f ] || fail "a stopped run has no $f ($how)"
        done
        grep -q '"complete": false' out/provenance.json || fail "a stopped run is complete ($how)"
        grep -q "\"error\": \"synth: event [0-9]*: stopped by SIG${pair#*:}" out/provenance.json ||
            fail "a stopped run does not say why ($how)"
        left "$how"
    done
    # What was run is what a run of that many events would have been.
    events=$(sed -n 's/.*"events": \([0-9]*\),/\1/p' out/provenance.json)
    "$lardsim" run --quiet -o limited -c radish8 --set order=recorded --set "limits.events=$events" \
        synth:events=1G,names=off 2>/dev/null
    cmp -s out/stats.json limited/stats.json || fail "after $events events a stopped run has other statistics than a limited one"
    rm -rf limited
done

# The page is printed, too; what was there is replaced only by what is known.
stop 130 INT run synth:events=1G,names=off
grep -q "incomplete: the run stopped before the end" out.txt || fail "a stopped run prints no page"

# A pipe that says nothing.
mkfifo silent
sleep 20 >silent &
stop 143 TERM run --quiet -o piped silent
kill $!

stop 143 TERM compare --quiet -o truth synth:events=1G,names=off
[ -s truth/compare.json ] && [ ! -e truth/DONE ] || fail "a stopped comparison is not kept as it is"
stop 130 INT compare --quiet -o costs -c radish8 -p goldilocks synth:events=1M,names=off
[ -e costs/DONE ] && fail "a stopped comparison of costs is done"
stop 143 TERM compare --quiet -o first -c radish8 -p vc synth:events=1G,names=off
[ -e first/DONE ] && fail "a comparison of costs that was stopped in its first run is done"
for f in config.yaml compare.json none/config.yaml none/stats.json none/provenance.json; do
    [ -s first/$f ] || fail "a comparison of costs that was stopped in its first run has no $f"
done
grep -q '"exit": 143' first/compare.json || fail "a comparison of costs does not say what stopped its first run"
grep -q '"complete": false' first/none/provenance.json || fail "a stopped first run is complete"
left "a comparison of costs"

# Files: whole or not at all.
stop 143 TERM trace synth file events=1G
stop 143 TERM trace convert synth:events=1G file
stop 143 TERM trace cut --first 1 synth:events=1G file
stop 143 TERM trace merge file synth:events=1G synth:events=1G
stop 143 TERM trace strip synth:events=1G file
stop 143 TERM workload record xalan@lard,size=large file
stop 143 TERM reproduce lard-table3 -o file
[ -e file ] && fail "a stopped command leaves half a file"
left "files"

# A second one ends it at once, where the first must wait: the thread that reads ahead is in a read.
mkfifo never
{
    echo "lardsim-text 1"
    yes "T0 write 0x1000 8" | head -n 200000
    exec sleep 20
} >never &
writer=$!
"$lardsim" run --quiet --set trace.ahead=on never 2>err.txt &
reader=$!
sleep 0.5
kill -TERM $reader
sleep 0.2
kill -TERM $reader 2>/dev/null
wait $reader
code=$?
[ $code = 143 ] || fail "two signals: exit code $code, not 143"
kill $writer 2>/dev/null

# What the caller ignores stays ignored.
(trap '' INT && exec "$lardsim" run --quiet -o ignored synth:events=5M,names=off) &
sleep 0.1
kill -INT $! || fail "what was to ignore a signal has ended before it"
wait $! || fail "a signal that is ignored stops a run"
[ -e ignored/DONE ] || fail "a run that ignores a signal is not done"
exit $bad
