#!/bin/sh
# stress.sh [SECONDS [SEED [native|java]]] - are long and crowded programs recorded as they ran? One seed after the
# other, until the time is over. Each trace is legal, has exactly what the formulas of its seed ask for, and the races
# that were planted; the program's output is its own. The seed that fails is said, and its trace kept.
in_memory=1
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
seconds=${1:-6} seed=${2:-1} only=${3:-}
began=$(date +%s)
# The race that is planted has this address in stress.c, or this site in Stress.java.
planted='"address": "0x200200001200"\|"site": "Stress.Worker.racing'
runs=0 events=0 threads=0 collections=0 marks=0
LARDSIM_NATIVE=${LARDSIM_NATIVE:-$top_builddir/capture/liblardsim-native.a}
export LARDSIM_NATIVE

# failed SENTENCE: of this seed. Its trace and what was said stay behind.
failed() {
    kept=${KEPT:-$top_builddir}/stress-$what-$seed
    rm -rf "$kept"
    mkdir -p "$kept"
    for file in t.lard err out said; do
        [ ! -f $file ] || cp $file "$kept"
    done
    fail "$what, seed $seed ($*); once more: sh tests/capture/stress.sh 1 $seed $what; its trace is in $kept"
}

# A mark of time may stand where a thread waits, which the rules forbid: the rest of the trace is judged.
without_marks() {
    grep -q 'time [0-9]*).*\(wait-held\|barrier-round\)' err || return
    marks=$((marks + 1))
    "$lardsim" trace cat t.lard | grep -v '^T[0-9]* time ' >t.text
    "$lardsim" trace convert -q t.text t.lard --overwrite 2>err && "$lardsim" trace verify -q t.lard >/dev/null 2>err
}

# sized THREADS STEPS PROGRAM...: the seed's $arguments, at most so many threads and steps of all of them; and the
# program by itself: what it prints.
sized() {
    count=$((40 + seed * 7919 % $1))
    arguments="$count $((10 + $2 / count)) $seed"
    racing=
    [ $((seed % 5)) != 0 ] || racing=race
    arguments="$arguments $racing"
    shift 2
    # shellcheck disable=SC2086 # words
    timeout 60 "$@" $arguments >plain 2>err || { failed "without capture it ends with $?: $(tail -n 1 err)"; return 1; }
}

# The trace t.lard of the program whose output is in out, and was to be as in plain.
judged() {
    cmp -s out plain || { failed "the program prints something else"; return; }
    [ -s err ] && { failed "something is said: $(head -n 1 err)"; return; }
    "$lardsim" trace verify -q t.lard >/dev/null 2>err || without_marks ||
        { failed "the trace breaks a rule: $(cat err)"; return; }
    # shellcheck disable=SC2086 # words
    "$lardsim" trace cat t.lard 2>err | ./stress_check $what $arguments >said 2>&1 || { failed "$(tail -n 1 said)"; return; }
    "$lardsim" run -q -p vc --set machine=none -o res --overwrite t.lard >/dev/null 2>err ||
        { failed "the trace does not run: $(cat err)"; return; }
    if [ "$racing" ]; then
        grep -q "$planted" res/races.jsonl || failed "the planted race is missed"
    fi
    grep -v "$planted" res/races.jsonl >err && failed "a race that is none: $(head -c 300 err)"
    runs=$((runs + 1))
    events=$((events + $(sed -n 's/^\([0-9]*\) lines.*/\1/p' said)))
    threads=$((threads + $(sed -n 's/.* lines, \([0-9]*\) threads.*/\1/p' said)))
    collections=$((collections + $(sed -n 's/.* \([0-9]*\) collections$/\1/p' said)))
}

# How each seed's program is built. Names of functions are needed, so -g, which lardsim-cc gives.
in_native() {
    case $((seed / 2 % 5)) in
    0) set -- gcc -O1 ;;
    1) set -- clang -O2 ;;
    2) set -- gcc -O2 ;;
    3) set -- clang -O0 ;;
    4) set -- gcc --gaps -O1 ;;
    esac
    set -- "$@" "-DINTERRUPT=${INTERRUPT:-2}"
    program=stress$(echo "$*" | tr -d ' ')
    if [ ! -x "$program" ]; then
        CC=$1
        shift
        command -v "$CC" >/dev/null || return
        CC=$CC "$top_builddir/capture/lardsim-cc" "$@" -c -o stress.o "$top/tests/capture/stress.c" 2>err &&
            CC=$CC "$top_builddir/capture/lardsim-cc" "$@" -o "$program" stress.o 2>>err ||
            { failed "$CC $* does not build it: $(head -n 1 err)"; return; }
    fi
    sized 400 6000 "./$program" || return
    # shellcheck disable=SC2086 # words
    timeout 120 "$lardsim" capture native -q -o t.lard --overwrite -- "./$program" $arguments >out 2>err ||
        { failed "the capture ends with $?: $(tail -n 1 err)"; return; }
    judged
}

# Small heaps, so that there are collections all the time.
in_java() {
    set -- "$jvm" "-XX:+Use$([ $((seed / 2 % 2)) = 0 ] && echo Serial || echo Parallel)GC" -Xmx64m "-Xmn$((1 + seed % 3))m" -cp classes Stress
    sized 200 1000 "$@" || return
    # shellcheck disable=SC2086 # words
    timeout 120 "$lardsim" capture java -q -o t.lard --overwrite -- "$@" $arguments >out 2>err ||
        { failed "the capture ends with $?: $(tail -n 1 err)"; return; }
    judged
}

both="" jvm=$(command -v java)
echo 'int main(void) { return 0; }' >empty.c
for c in gcc clang; do
    if CC=$c "$top_builddir/capture/lardsim-cc" -o empty empty.c 2>/dev/null && ./empty; then both=native; fi
done
if [ -f "$top_builddir/capture/lardsim-agent.jar" ] && "$jvm" -version 2>&1 | grep -q '"17'; then
    both="$both java"
    mkdir agents classes
    ln -s "$top_builddir/capture/.libs/liblardsim-java.so" "$top_builddir/capture/lardsim-agent.jar" agents
    LARDSIM_JAVA=${LARDSIM_JAVA:-$dir/agents}
    export LARDSIM_JAVA
    javac -d classes "$top/tests/capture/Stress.java" || exit 99
fi
[ -n "$both" ] || { echo "nothing is captured here: no compiler links a program for it, and there are no agents"; exit 77; }
case " $both " in
*" $only "* | *[a-z]*" $only"*) ;;
*) echo "no captures of ${only:-anything} here"; exit 77 ;;
esac
${CC:-cc} -std=c11 -O2 -o stress_check "$top/tests/capture/stress_check.c" || exit 99
while [ $bad = 0 ]; do
    for what in ${only:-$both}; do
        [ $bad = 1 ] || "in_$what"
    done
    seed=$((seed + 1))
    [ $(($(date +%s) - began)) -lt "$seconds" ] || break
done
echo "stress.sh: $runs programs up to seed $((seed - 1)), $events events, $threads threads, $collections collections, $marks with marks of time in waits"
exit $bad
