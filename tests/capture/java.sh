#!/bin/sh
# java.sh - are real Java programs recorded as they ran? Each form of synchronisation, racy and ordered, under each
# collector; every trace is legal, objects keep their histories when they move, and what can go wrong is said.
# `java.sh all` also stresses it: small heaps, many threads, many collections. `java.sh churn FOLDER` does that alone,
# with the agents of a folder.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
[ -f "$top_builddir/capture/lardsim-agent.jar" ] || { echo "built without a JDK 17 and libasm-java"; exit 77; }
java -version 2>&1 | grep -q '"17' || { echo "java is no JDK 17 here"; exit 77; }
mkdir agents classes
ln -s "$top_builddir/capture/.libs/liblardsim-java.so" "$top_builddir/capture/lardsim-agent.jar" agents
LARDSIM_JAVA=${2:-$dir/agents}
export LARDSIM_JAVA
javac -d classes "$top/tests/capture/Forms.java" "$top/tests/capture/Churn.java" "$top/tests/capture/Orders.java" 2>said || { cat said; exit 99; } # it warns of Unsafe

# captured GC CLASS ARGUMENT...: its trace is t.lard, and legal.
captured() {
    gc=$1
    shift
    "$lardsim" capture java -q -o t.lard --overwrite -- java "-XX:+Use${gc}GC" -Xmx64m -Xmn2m -cp classes "$@" >out 2>err ||
        { fail "$*, $gc: capture fails: $(tail -n 3 err)"; return; }
    [ -s err ] && fail "$*, $gc: something is said: $(head -n 3 err)"
    "$lardsim" trace verify -q t.lard 2>err || fail "$*, $gc: the trace breaks a rule: $(cat err)"
    "$lardsim" run -q -p vc --set machine=none -o res --overwrite t.lard >/dev/null 2>err ||
        fail "$*, $gc: the trace does not run: $(cat err)"
    races=$(wc -l <res/races.jsonl)
}

# churn TIMES: many objects, threads and collections. The program's output is its own, and accesses fall into objects
# that live.
churn() {
    times=$1
    while [ "$times" -gt 0 ] && [ $bad = 0 ]; do
        captured "$([ $((times % 2)) = 0 ] && echo Serial || echo Parallel)" Churn 4 $((600 * times)) "$times"
        [ "$races" = 0 ] || fail "Churn $times is race-free, and has $races races ($gc): $(head -c 600 res/races.jsonl)"
        [ "$(cat out)" = "$(java -cp classes Churn 4 $((600 * times)) "$times")" ] || fail "Churn $times prints something else: $(cat out)"
        "$lardsim" trace cat t.lard | awk -f "$top/tests/capture/inside.awk" || fail "Churn $times: accesses lie outside of objects ($gc)"
        times=$((times - 1))
    done
}
if [ "${1:-}" = churn ]; then
    churn 6
    exit $bad
fi

# A JVM takes half a second: some forms, unless all are asked for, and each has one collector in turn.
odd=no
forms='volatile lock class executor handle-object atomic-fails'
[ "${1:-}" = all ] && forms=$(java -cp classes Forms)
for form in $forms; do
    for how in racy ordered; do
        odd=$([ $odd = no ] && echo yes || echo no)
        captured "$([ $odd = yes ] && echo Serial || echo Parallel)" Forms "$form" $how
        [ $how = racy ] && [ "$races" = 0 ] && fail "$form without order has no race ($gc)"
        [ $how = ordered ] && [ "$races" != 0 ] && fail "$form that orders has $races races ($gc): $(head -c 600 res/races.jsonl)"
    done
done

# orders GC HOW: all rows of a table in one JVM. The threads of a row have its name.
orders() {
    captured "$1" Orders "$2"
    sort out >rows
    "$lardsim" trace cat t.lard | sed -n 's/^name thread \([0-9]*\) "\(.*\)"/\1 \2/p' >threads
    grep -o '"thread": [0-9]*' res/races.jsonl |
        awk 'FNR == NR {n = $1; sub(/^[0-9]* /, ""); row[n] = $0; next} {print row[$2]}' threads - | sort -u >racy
    [ -s rows ] || fail "Orders $2 has no rows ($1)"
    if [ "$2" = racy ]; then comm -23 rows racy; else cat racy; fi >wrong
    [ -s wrong ] && fail "Orders $2, $1: $([ "$2" = racy ] && echo "no race" || echo "a race") in $(tr '\n' ';' <wrong)"
}
for how in racy ordered; do
    orders "$([ $how = racy ] && echo Serial || echo Parallel)" $how
    [ "${1:-}" = all ] && orders "$([ $how = racy ] && echo Parallel || echo Serial)" $how
done

# A race that spans a collection: the object has moved, and both sides have names.
for gc in Serial Parallel; do
    captured $gc Forms moved racy
    "$lardsim" trace cat t.lard | grep -q ' copy ' || fail "$gc: nothing has moved"
    [ "$races" != 0 ] || fail "$gc: the race that spans a move is missed"
    "$lardsim" run -p vc --set machine=none t.lard | grep -q 'Forms.touch:[0-9]' || fail "$gc: a side has no name"
    "$lardsim" run -q -p vc --set policy.vc.view=no-copy --set machine=none -o res --overwrite t.lard >/dev/null
done

churn "$([ "${1:-}" = all ] && echo 20 || echo 2)"

# Bytecodes between accesses, counted by hand: a round of the loop has 11, the last look at its end 3, and the value
# that is stored 1.
cat >Gaps.java <<'J'
public class Gaps {
    static int seen;
    public static void main(String[] args) {
        seen = 1;
        int x = 0;
        for (int i = 0; i < 1000; i++)
            x = x * 31 + i;
        seen = x;
        x = 0;
        for (int i = 0; i < 30000; i++)
            x = x * 31 + i;
        seen = x;
        new Gaps();
        int[][] all = new int[7][5];
        Thread.currentThread().setName("renamed");
    }
}
J
javac -d classes Gaps.java
captured Serial Gaps
"$lardsim" trace cat --numbers t.lard >text
sed -n 's/.* write .* +\([0-9]*\) .*Gaps.main.*/\1/p' text | tail -n 2 | tr '\n' ' ' >gaps
# The bytecodes of a block behind its last access belong to that: 4 and 12.
[ "$(cat gaps)" = "$((11 * 1000 + 3 + 1 + 4)) $((11 * 30000 + 3 + 1 + 12)) " ] || fail "bytecodes between accesses: $(cat gaps)"
"$lardsim" trace info t.lard | grep -q '^gaps  *bytecodes' || fail "the preamble does not name the unit of gaps"
"$lardsim" trace info t.lard | grep -q '^layout  *64-bit-compressed' || fail "the preamble does not name the layout"
grep -q ' alloc .*Gaps.main:[0-9]*, new Gaps' text || fail "an object has no site and class"
grep -q ' alloc 0x[0-9a-f]* 48 7 4 .*Gaps.main:[0-9]*, new int\[\]\[\]' text || fail "an array's elements are not in its allocation"
grep -q '^name thread 0 "renamed"' text || fail "a thread that is renamed keeps its name"
for percent in 100 300; do
    "$lardsim" run -q -p none -c radish8 --set core.bytecode=$percent -o res.$percent t.lard >/dev/null || fail "core.bytecode=$percent"
done

# What the agent makes to instrument a class is its own: nobody else sees it.
grep -q ' alloc .*Gaps.main' text && grep ' alloc .*org.objectweb.asm.tree' text && fail "objects of the agent are in the trace"

# The program's own threads: what they say of themselves, also that which still runs at the end, is not more than what
# was measured, and that no more than what the process took. Without a capture the same.
cat >Spent.java <<'J'
import java.lang.management.ManagementFactory;
public class Spent {
    static final java.lang.management.ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    static volatile long idle;
    static synchronized void burn() {
        final long from = clock.getCurrentThreadCpuTime();
        while (clock.getCurrentThreadCpuTime() < from + 100000000)
            continue;
        System.out.println(clock.getCurrentThreadCpuTime() - from);
    }
    public static void main(String[] args) throws Exception {
        final Thread[] t = {new Thread(Spent::burn), new Thread(() -> { burn(); idle = 1; while (true) java.util.concurrent.locks.LockSupport.park(); })};
        t[1].setDaemon(true);
        for (Thread x : t)
            x.start();
        burn();
        t[0].join();
        while (idle == 0)
            Thread.sleep(1);
    }
}
J
javac -d classes Spent.java
"$lardsim" capture java -o p.lard --baseline --measured m.yaml -- java -cp classes Spent >out 2>err || fail "--measured: $(cat err)"
awk 'FNR == NR {said += $1 / 1e9; next} {is[$1] = $2}
    END {exit !(is["own-seconds:"] + is["instrumenting-seconds:"] + 0.002 >= said && is["own-seconds:"] <= is["process-seconds:"] &&
        is["plain-own-seconds:"] >= 0.3 && is["plain-own-seconds:"] <= is["plain-process-seconds:"])}' out m.yaml ||
    fail "the program's own threads took another time than they say: $(cat out m.yaml)"
grep -q 'own threads, [0-9.]* times as much as without capture, .* to instrument its classes' err || fail "the program's own threads: $(cat err)"

# Threads that end in any order: of each the time is counted once, and nothing that is not theirs.
cat >Turns.java <<'J'
import java.lang.management.ManagementFactory;
public class Turns {
    static final java.lang.management.ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    static final int[] order = {3, 0, 5, 1, 4, 2};
    static volatile int begun, ended;
    static long burn() {
        final long from = clock.getCurrentThreadCpuTime();
        while (clock.getCurrentThreadCpuTime() < from + 100000000)
            continue;
        return clock.getCurrentThreadCpuTime();
    }
    static synchronized void begin() { begun++; }
    public static void main(String[] args) throws Exception {
        final long from = clock.getCurrentThreadCpuTime();
        long all = 0;
        final long[] spent = new long[6];
        final Thread[] t = new Thread[6];
        for (int i = 0; i < 6; i++) {
            final int k = i;
            t[i] = new Thread(() -> {
                begin();
                while (begun < 6 || order[ended] != k)
                    java.util.concurrent.locks.LockSupport.parkNanos(100000);
                spent[k] = burn();
            });
            t[i].start();
        }
        for (int k : order) {
            t[k].join();
            all += spent[k];
            if (ended < 5)
                ended++;
        }
        System.out.println(all + burn() - from);
    }
}
J
javac -d classes Turns.java
"$lardsim" capture java -o p.lard --overwrite --baseline --measured m.yaml -- java -cp classes Turns >out 2>err || fail "threads that end in turns: $(cat err)"
awk 'FNR == NR {said = $1 / 1e9; next} {is[$1] = $2}
    END {exit !(is["own-seconds:"] + 0.002 >= said && is["own-seconds:"] <= said + 0.2 && is["instrumenting-seconds:"] > 0 &&
        is["plain-own-seconds:"] >= 0.7 && is["plain-own-seconds:"] <= is["plain-process-seconds:"])}' out m.yaml ||
    fail "threads that end in turns took another time than they say: $(cat out m.yaml)"

# A window is a method's calls.
"$lardsim" capture java -q -o w.lard --method Forms.touch -- java -cp classes Forms lock ordered >/dev/null 2>err || fail "--method: $(cat err)"
"$lardsim" trace cat --numbers w.lard | grep ' write ' | grep -v 'Forms.touch' && fail "outside of the method writes are recorded"
[ "$("$lardsim" trace cat w.lard | grep -c ' write ')" = 3 ] || fail "the method writes 3 times"
"$lardsim" capture java -q -o w.lard --overwrite --method Forms.nothing -- java -cp classes Forms lock ordered >/dev/null 2>err
grep -q 'never opened' err || fail "a method that is not there: $(cat err)"

"$lardsim" capture java -q -o n.lard -- java -XX:+UseG1GC -cp classes Forms lock racy 2>err && fail "G1 is taken"
grep -q 'UseSerialGC' err || fail "G1 is refused without a remedy: $(cat err)"
# A collector that is named behind the class path is the only one.
"$lardsim" capture java -q -o n.lard -- java -cp classes -XX:+UseParallelGC Forms lock ordered >out 2>err ||
    fail "a collector behind the class path: $(cat out err)"
rm n.lard
# What can go wrong. The JVM that ends at once is told as what it is, and leaves no file.
PATH=$dir/none "$lardsim" capture java -q -o n.lard -- java -version 2>err && fail "a JVM that is not there is started"
grep -q "java can't be started" err || fail "no java: $(cat err)"
mkdir broken other
printf '#!/bin/sh\necho "Unrecognized option: ${1%%%%=*}" >&2\nexit 1\n' >other/java
chmod +x other/java
PATH=$dir/other:$PATH "$lardsim" capture java -q -o n.lard -- java -cp classes Forms >out 2>err && fail "a JVM that takes no agent is no error"
grep -q 'the agent did not start' err || fail "a JVM that takes no agent: $(cat err)"
ln -s "$top_builddir/capture/.libs/liblardsim-java.so" broken
echo no jar >broken/lardsim-agent.jar
LARDSIM_JAVA=$dir/broken "$lardsim" capture java -q -o n.lard -- java -cp classes Forms >out 2>err && fail "an agent that the JVM refuses is no error"
grep -q 'the agent did not start' err || fail "an agent that the JVM refuses: $(cat err)"

# A method that grows over 64 KB: its class is left as it is, and said; the program runs.
{
    echo 'public class Large { static int[] a = new int[9000]; public static void main(String[] s) {'
    awk 'BEGIN { for (i = 0; i < 6000; i++) print "a[" i "] = " i ";" }'
    echo 'System.out.println(a[77]); } }'
} >Large.java
javac -d classes Large.java
"$lardsim" capture java -q -o n.lard -- java -cp classes Large >out 2>err || fail "a class that can't be instrumented ends the capture: $(cat err)"
[ "$(cat out)" = 77 ] || fail "a class that can't be instrumented does something else"
grep -q '1 class could not be instrumented, and was left as it is; first .*Large' err || fail "a class that can't be instrumented is not named: $(cat err)"
rm n.lard

# A JVM that is killed leaves a trace that is whole up to there.
cat >Endless.java <<'J'
public class Endless {
    public static void main(String[] args) throws Exception {
        System.out.println("it has begun");
        Churn.main(args);
    }
}
J
javac -cp classes -d classes Endless.java
"$lardsim" capture java -o k.lard -- java -Xmx64m -Xmn2m -cp classes Endless 4 100000 1 >out 2>err &
pid=$! child=
n=0
until [ -n "$child" ] && [ -s out ] || [ $((n += 1)) -gt 300 ]; do
    sleep 0.1
    child=$(pgrep -P $pid -x java)
done
sleep 0.3
kill -9 "$child"
wait $pid || fail "a JVM that is killed makes the capture fail: $(cat err)"
grep -q 'killed by SIGKILL' err || fail "that the JVM was killed is not said: $(cat err)"
"$lardsim" trace cut -q --salvage k.lard s.lard 2>err || fail "the trace of a killed JVM can't be salvaged: $(cat err)"
"$lardsim" trace verify -q s.lard 2>err || fail "the trace of a killed JVM breaks a rule: $(cat err)"

# Options behind `java` are the JVM's, as --help says; those of the verb's names, too.
"$lardsim" capture java -q -o x.lard java -Xmx32m -cp classes Forms lock racy >out 2>err || fail "java -Xmx32m without a --: $(cat err)"
"$lardsim" trace verify -q x.lard 2>err || fail "java -Xmx32m without a --: the trace breaks a rule: $(cat err)"
"$lardsim" capture java -q java -version -o n.lard 2>err && fail "an option behind \`java\` is taken for the verb's"
grep -q -e '-o FILE, before the program' err || fail "an option that stands behind \`java\`: no remedy: $(cat err)"

"$lardsim" capture java -q -o n.lard -- ls 2>err && fail "ls is taken for java"
LARDSIM_JAVA=$dir "$lardsim" capture java -q -o n.lard -- java -version 2>err && fail "agents that are not there are found"
grep -q 'libasm-java' err || fail "agents that are not there: $(cat err)"
[ -e n.lard ] && fail "a capture that failed leaves a file"
exit $bad
