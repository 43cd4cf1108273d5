#!/bin/sh
# capture.sh - does a capture say what it took, and what it has not? Its summary is held against its trace, the file of
# --measured and the clock; each window that opens or can't, each way to end; and what java is started with.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE
[ -f "$LARDSIM_NATIVE" ] || { echo "built without the runtime of captures, which is for x86-64"; exit 77; }

# Two threads, each TIMES times: an access of its own, and one under a lock. It ends with CODE.
cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int own[2][64], guarded;
static int times;
void *work(void *mine); /* --method takes it by its name */
void *work(void *mine)
{
    for (int i = 0; i < times; i++) {
        ((volatile int *)mine)[i % 64] = i;
        pthread_mutex_lock(&lock);
        guarded = i;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    times = atoi(argv[1]);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)own[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return argc > 2 ? atoi(argv[2]) : 0;
}
C
"$top_builddir/capture/lardsim-cc" -O1 -o program program.c || { echo "no compiler links a program for capture here"; exit 77; }
captured() { run 0 capture native -o t.lard --overwrite "$@"; }
silent() { ! grep -q "$1" err || fail "it is said, and is not so: $(grep "$1" err)"; }
info() { "$lardsim" trace info t.lard | sed -n "s/^$1 *\([0-9]*\).*/\1/p"; }

# ---- what it took ------------------------------------------------------------------------------------

captured --baseline --measured m.yaml -- ./program 20000 3
says err './program ended with exit code 3'
says err "t.lard: $(info events) events of $(info threads) threads"
says m.yaml "events: $(info events)"
[ "$(sed 's/:.*//' m.yaml | tr '\n' ' ')" = 'plain-process-seconds plain-own-seconds process-seconds own-seconds recorder-seconds events ' ] ||
    fail "of a native program --baseline --measured has other keys: $(cat m.yaml)"
"$lardsim" trace cat t.lard | awk '/^T/ {
    held[$1] += ($2 == "acq") - ($2 == "rel")
    if ($2 == "read" || $2 == "write") { all++; under += held[$1] > 0 }
} END { printf "%.1f %% of the accesses while a lock was held\n", 100 * under / all }' >share
says err "$(cat share)"
# Times have three digits in the file and two in the sentence.
cat m.yaml err | awk '
    function near(of, said, want, off) { if (said < want - off || said > want + off) print of " is said to be " said ", and is " want }
    # A ratio of two times, each to half a thousandth.
    function ratio(of, said, now, plain) {
        if (said < (now - 0.0005) / (plain + 0.0005) - 0.051 || (plain > 0.0005 && said > (now + 0.0005) / (plain - 0.0005) + 0.051))
            print of " is said to take " said " times as much, of " now " s and " plain " s"
    }
    /^[a-z-]*: [0-9.]*$/ { m[substr($1, 1, length($1) - 1)] = $2 }
    / s of processor time/ {
        near("the processor time", $2, m["process-seconds"], 0.0056)
        ratio("the process", $7, m["process-seconds"], m["plain-process-seconds"])
        own = substr($0, index($0, "; ") + 2)
        split(own, word, " ")
        near("that of threads", word[1], m["own-seconds"], 0.0056)
        match(own, /, [0-9.]* times/)
        ratio("the threads", substr(own, RSTART + 2, RLENGTH - 8), m["own-seconds"], m["plain-own-seconds"])
        match(own, /, [0-9]* ns an event/)
        near("an event, in ns", substr(own, RSTART + 2, RLENGTH - 14), m["own-seconds"] * 1e9 / m["events"], 0.51e6 / m["events"] + 0.51)
        said = 1
        if (/instrument/) print "nothing is instrumented here, and it is said how long that took"
    }
    END { if (!said) print "the processor time is not said" }' >wrong
[ -s wrong ] && fail "$(cat wrong)"
silent window
silent 'processes were built'
silent 'records were no events'
silent collector
captured --measured m.yaml -- ./program 1
grep -q 'plain\|instrumenting\|stopped' m.yaml && fail "what was not measured is in the file of --measured: $(cat m.yaml)"
silent 'without capture'
silent 'exit code'
# What it took itself is what the system says of it and the program together, in ticks of a hundredth of a second, without
# the program's.
times >before # a subshell has its own
captured -q --measured m.yaml -- ./program 250000
times >after
for when in before after; do tail -n 1 $when | awk '{gsub("[ms]", " "); print "took: " $1 * 60 + $2 + $3 * 60 + $4}'; done | cat - m.yaml | awk '
    { took = $1 == "took:" ? $2 - took : took; m[$1] = $2 }
    END {
        rest = took - m["process-seconds:"]
        is = m["recorder-seconds:"]
        if (is > rest + 0.05 || is < rest / 2 - 0.03) print "the recorder has taken " is " s, of " rest " that the program had not"
    }' >wrong
[ -s wrong ] && fail "$(cat wrong)"
captured -q -- ./program 1
[ -s err ] && fail "with --quiet something is said of a capture that went well: $(cat err)"
captured -- sh -c './program 1; ./program 1'
says err '2 processes were built for capture; the trace is of the first one that was started'

# ---- windows -----------------------------------------------------------------------------------------

# opened YES|NO OPTION...: plain accesses are in the trace, or there are none, and it is said.
opened() {
    opens=$1
    shift
    captured "$@" -- ./program 9
    accesses=$("$lardsim" trace cat t.lard | grep -c '^T[12] write')
    if [ "$opens" = yes ]; then
        [ "$accesses" = 36 ] || fail "$*: the trace has $accesses accesses of the threads, not 36"
        silent 'window never opened'
    else
        [ "$accesses" = 0 ] || fail "$*: the window never opens, and the trace has $accesses accesses of the threads"
        says err ' 0.0 % of the accesses while a lock was held'
    fi
}
run 0 capture native -q -o new.lard --from 0 -- ./program 1
opened yes --from 0
opened yes --from 0 --for 1000
opened yes --for 1000
opened yes --method work
opened no --from 999.5
says err 'the window never opened: the trace has no plain accesses; see --from'
opened no --method nothing
says err 'the window never opened, as the method was not called often enough: the trace has no plain accesses; see --method'
opened no --method work --warm-up 99
opened no --method "$(printf %01023d 0)"
opened no --on-signal
says err 'the window never opened: the trace has no plain accesses; see --on-signal'
# refused TEXT OPTION...
refused() {
    text=$1
    shift
    run 2 capture native -o no.lard "$@" -- ./program 1
    says err "$text"
    [ -e no.lard ] && fail "$*: it is refused, and there is a trace"
}
for number in -1 -0.5 nan inf 1e999 1x x; do
    refused "\"$number\" is no number of seconds" --from $number
    refused "\"$number\" is no number of seconds" --for $number
done
bounds='a window has one kind of bounds: --from and --for, or --method, or --on-signal'
refused "$bounds" --from 1 --method work
refused "$bounds" --for 1 --method work
refused "$bounds" --for 1 --on-signal
refused "$bounds" --method work --on-signal
refused "$bounds" --from 1 --for 1 --method work --on-signal
refused '--warm-up counts calls: of --method NAME, which is missing' --warm-up 3
refused '--method: a name has 1 to 1023 characters' --method "$(printf %01024d 0)"
run 2 capture native -- ./program 1
says err 'where to write the trace is missing: -o FILE, before the program'
echo there >there.lard
run 7 capture native -o there.lard -- ./program 1
[ "$(cat there.lard)" = there ] || fail "a file that is there is replaced without --overwrite"

# What fails leaves nothing, in parts neither.
mkdir empty
run 2 capture native -o empty/t.lard --measured empty/m.yaml -- sh -c 'exit 3'
[ -z "$(ls -A empty)" ] || fail "a capture that failed leaves $(ls -A empty)"

# ---- java --------------------------------------------------------------------------------------------

# A java that writes what it is started with, and starts nothing. The agents are there, or not.
mkdir agents
touch agents/liblardsim-java.so agents/lardsim-agent.jar
printf '#!/bin/sh\nprintf "<%%s>" "$@" >>%s/started; echo >>%s/started\n' "$dir" "$dir" >java
chmod +x java
LARDSIM_JAVA=$dir/agents
export LARDSIM_JAVA
# started COLLECTOR ARGUMENT...: with agents and without, and the program's arguments are its own.
started() {
    collector=$1
    shift
    rm -f started
    run 2 capture java -o j.lard --baseline -- "$@"
    says err 'the agent did not start'
    shift
    {
        printf '<%s>' "-agentpath:$dir/agents/liblardsim-java.so=alone" "-XX:+Use${collector}GC" "$@"
        echo
        printf '<%s>' "-agentpath:$dir/agents/liblardsim-java.so" "-javaagent:$dir/agents/lardsim-agent.jar" "-XX:+Use${collector}GC" \
            -XX:-DontCompileHugeMethods --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED "$@"
        echo
    } >want
    cmp -s want started || fail "java $*: it is started with $(cat started)"
}
started Serial ./java Main -XX:+UseG1GC ''
started Serial "$dir/java" -XX:+UseSerialGC -jar a.jar
started Parallel ./java -Xmx9m -XX:+UseParallelGC Main
started Serial ./java -XX:+UseGC Main # too short to name one
# An option's value that is the next argument is no end of the options.
for option in -cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --limit-modules --enable-native-access \
    --add-exports --add-opens --add-reads --patch-module --source; do
    started Parallel ./java $option value -XX:+UseParallelGC Main
    run 2 capture java -o j.lard -- ./java $option value -XX:+UseG1GC Main
    says err '-XX:+UseG1GC: when this collector frees objects is not known'
done
started Serial ./java -cp value Main -XX:+UseParallelGC
started Serial ./java -jar a.jar -XX:+UseParallelGC
for collector in Z G1 X; do
    run 2 capture java -o j.lard -- ./java -Xmx9m -XX:+Use${collector}GC Main
    says err "-XX:+Use${collector}GC: when this collector frees objects is not known"
    says err 'take -XX:+UseSerialGC or -XX:+UseParallelGC'
done
for name in ./program ./javac java/program sh; do
    run 2 capture java -o j.lard -- $name Main
    says err "$name is not java: the JVM has to be started as"
done
for file in liblardsim-java.so lardsim-agent.jar; do
    mv agents/$file kept
    run 2 capture java -o j.lard -- ./java Main
    says err "agents/$file is not there"
    mv kept agents/$file
done
[ -e j.lard ] && fail "a capture that failed leaves a trace"
exit $bad
