#!/bin/sh
# signals.sh - does each verb that runs long end well whichever signal stops it? A table of verbs, by SIGHUP,
# SIGINT, SIGTERM and SIGXCPU: the exit code is 128 + the signal, the signal is named, and what is left is partial
# and marked, or nothing. And what the caller ignores (nohup) stays ignored. A signal is sent as soon as the process
# heeds it, so no state is too early.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
[ -r /proc/self/status ] || { echo "no /proc: nobody knows when a process heeds a signal"; exit 77; }
env --default-signal=INT true 2>/dev/null || { echo "env can't give a signal its default (coreutils 8.31)"; exit 77; }
TMPDIR=$dir/tmp
export TMPDIR
mkdir tmp

alive() { [ -e "/proc/$1/exe" ]; }
self=$(readlink -f "$lardsim")
# heeds PID BIT: it has become lardsim, and catches the signal, or has blocked it to read it.
heeds() {
    [ "$(readlink "/proc/$1/exe")" = "$self" ] || return 1
    while read -r name mask; do
        case $name in SigBlk: | SigCgt:) [ $((0x$mask & $2)) = 0 ] || return 0 ;; esac
    done <"/proc/$1/status" 2>/dev/null
    return 1
}
# wait_for PID: its exit code is $code; it has a minute.
wait_for() {
    tries=0
    while alive "$1" && [ $tries -lt 1200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    alive "$1" && kill -9 "$1"
    wait "$1" 2>/dev/null
    code=$?
}
# until_heeds PID BIT: waits for it, for ten seconds; false: it does not.
until_heeds() {
    tries=0
    until heeds "$1" "$2"; do
        { ! alive "$1" || [ $tries -gt 500 ]; } && return 1
        sleep 0.02
        tries=$((tries + 1))
    done
}
# stop NAME ARGS...: sends it as soon as it is heeded.
stop() {
    case $1 in HUP) bit=1 number=1 ;; INT) bit=2 number=2 ;; TERM) bit=0x4000 number=15 ;; XCPU) bit=0x800000 number=24 ;; esac
    signal=$1
    shift
    env --default-signal=HUP,INT,TERM,XCPU "$lardsim" "$@" >out 2>err </dev/null &
    pid=$!
    until_heeds $pid $bit || fail "$*: does not heed SIG$signal: $(tail -n 2 err)"
    kill -s "$signal" $pid 2>/dev/null
    wait_for $pid
    [ $code = $((128 + number)) ] || fail "$* with SIG$signal: exit code $code, not $((128 + number)): $(tail -n 2 err)"
    grep -q "stopped by SIG$signal" err || fail "$* with SIG$signal does not say so: $(cat err)"
}
clean() {
    find . -name '.*lardsim*' -o -name '.file*' | grep -q . && fail "$* with SIG$signal: something is left beside: $(find . -name '.*' | head -n 3)"
    find tmp -name 'lardsim*' | grep -q . && fail "$* with SIG$signal: something is left in the folder for temporary files: $(ls tmp)"
    return 0
}

long=synth:events=1G,names=off
printf 'policies: [vc]\nsources: ["%s"]\nseeds: 3\n' $long >sweep.yaml
"$lardsim" trace synth races.lard events=200k names=off || exit 99
"$lardsim" run -q -o ran races.lard || exit 99
race=$(sed -n '$s/.*"race": "\([0-9a-f]*\)".*/\1/p' ran/races.jsonl)

# ---- the table ---------------------------------------------------------------------------------------

# row LEFT FILE ARGS...: each signal stops it. LEFT partial: the folder FILE has what is known so far, and is not DONE.
# none: FILE is not there. again: it says that the same command goes on.
row() {
    left=$1 file=$2
    shift 2
    for signal in HUP INT TERM XCPU; do
        rm -rf "$file"
        stop $signal "$@"
        case $left in
        partial)
            [ -e "$file/DONE" ] && fail "$* with SIG$signal: it is DONE"
            [ -s "$file/config.yaml" ] || fail "$* with SIG$signal: what is known so far is not kept"
            [ ! -e "$file/provenance.json" ] || grep -q '"complete": false' "$file/provenance.json" || fail "$* with SIG$signal: its results are complete" ;;
        none) [ -e "$file" ] && fail "$* with SIG$signal: leaves $file, which looks whole" ;;
        again) says err 'the same command goes on' ;;
        esac
        clean "$*"
    done
}
row partial res run -q -o res $long
row partial res run -q -o res -c radish8 -p lardish $long
row partial res compare -q -o res $long
row partial res compare -q -o res -c radish8 -p goldilocks $long
row none file trace synth file events=1G
row none file trace convert $long file
row none file trace cut --count 1G $long file
row none file trace merge file $long $long
row none file trace strip $long file
row none file trace reduce --keep "race $race" races.lard file
row none file workload record xalan@lard,size=large file
row none file reproduce lard-table3 -o file
row none file why -q --svg file $long 900000000
if command -v cc >/dev/null && [ -r /sys/devices/system/cpu/cpu0/cache/index0/size ]; then
    row none file validate -q --quick --programs sor -o file
fi
row again swept sweep -q sweep.yaml -o swept -j 2
row again cells reproduce -q -j 2 --cells cells valor-table1

# ---- what the caller ignores -------------------------------------------------------------------------

for pair in HUP:0x1 INT:0x2 TERM:0x4000 XCPU:0x800000; do
    signal=${pair%:*}
    rm -rf ignored
    (trap '' "$signal" && exec "$lardsim" run -q -o ignored synth:events=2M,names=off) &
    pid=$!
    until_heeds $pid $((0x804003 & ~${pair#*:})) || fail "a run that ignores SIG$signal does not heed the others"
    kill -s "$signal" $pid || fail "what was to ignore SIG$signal has ended before it"
    wait_for $pid
    [ $code = 0 ] && [ -e ignored/DONE ] || fail "SIG$signal, which the caller ignores, stops a run: exit code $code"
done
exit $bad
