#!/bin/sh
# java-objects.sh - has a trace of a Java program its objects as the JVM lays them out, and by the names that the program has
# for them? Arrays of each type, by the program and by the JVM; elements and fields that are accessed; ranges that are
# copied; threads, whose names and order are their own; classes that are initialised, and what is made in a wait. And who
# is refused by the agent is told why.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
[ -f "$top_builddir/capture/lardsim-agent.jar" ] || { echo "built without a JDK 17 and libasm-java"; exit 77; }
java -version 2>&1 | grep -q '"17' || { echo "java is no JDK 17 here"; exit 77; }
mkdir agents classes
agent=$top_builddir/capture/.libs/liblardsim-java.so
ln -s "$agent" "$top_builddir/capture/lardsim-agent.jar" agents
LARDSIM_JAVA=$dir/agents
export LARDSIM_JAVA

# The lines' numbers count: each access has a line of its own.
cat >Kinds.java <<'J'
public class Kinds {
    static Object[] kept = new Object[64];
    static class Own {
        byte b; short s; char c; int i; long l; float f; double d; boolean z; Object o; final int last;
        Own() { last = 5; }
    }
    public static void main(String[] args) throws Exception {
        byte[] b = new byte[101]; boolean[] z = new boolean[102]; char[] c = new char[103]; short[] s = new short[104];
        int[] i = new int[105]; float[] f = new float[106]; long[] l = new long[107]; double[] d = new double[108];
        Own[] o = new Own[109]; byte[][][] deep = new byte[110][][]; Own[][] two = new Own[111][];
        Own own = new Own();
        Own[] none = new Own[0];
        b[3] = 1;
        z[4] = true;
        c[5] = 2;
        s[6] = 3;
        i[7] = 4;
        f[8] = 5;
        l[9] = 6;
        d[10] = 7;
        o[11] = own;
        deep[12] = null;
        two[13] = o;
        own.b = 1;
        own.s = 2;
        own.c = 3;
        own.i = 4;
        own.l = 5;
        own.f = 6;
        own.d = 7;
        own.z = true;
        own.o = o;
        kept[0] = none;
        byte[] from = new byte[200001], to = new byte[200002];
        System.arraycopy(from, 100, to, 7, 150000);
        System.arraycopy(from, 5, to, 6, 65536); System.arraycopy(from, 5, to, 6, 65537); System.arraycopy(from, 5, to, 6, 1);
        System.arraycopy(i, 1, i, 50, 20);
        System.arraycopy(i, 1, i, 50, 0);
        Object[] copies = {b.clone(), z.clone(), c.clone(), s.clone(), i.clone(), f.clone(), l.clone(), d.clone(), o.clone(), deep.clone(), two.clone()};
        kept[1] = copies;
        Thread[] t = new Thread[3];
        for (int n = 0; n < 3; n++)
            t[n] = new Thread(null, () -> kept[2] = new Own(), "worker " + n);
        for (Thread x : t) {
            x.start();
            x.join();
        }
        t[1].setName("too late");
        Thread never = new Thread("never");
        never.setName("as before");
        never.join();
    }
}
J
javac -d classes Kinds.java || exit 99
"$lardsim" capture java -q -o t.lard -- java -cp classes Kinds >out 2>err || fail "the capture fails: $(cat err)"
"$lardsim" trace cat --numbers t.lard >text

# TYPE ELEMENTS BYTES LINE INDEX: of an array, of one of its elements, and where that is written. An array begins with 16
# bytes, and fills up 8.
cat >arrays <<'A'
byte[] 101 1 13 3
boolean[] 102 1 14 4
char[] 103 2 15 5
short[] 104 2 16 6
int[] 105 4 17 7
float[] 106 4 18 8
long[] 107 8 19 9
double[] 108 8 20 10
Kinds$Own[] 109 4 21 11
byte[][][] 110 4 22 12
Kinds$Own[][] 111 4 23 13
A
cat >judge.pl <<'P'
my (%type, %at, %own, $object, @fields, $none);
open my $arrays, '<', 'arrays' or die;
while (<$arrays>) {
    my ($name, $n, $bytes, $line, $index) = split;
    $type{"$name $n"} = [$bytes, $line, $index];
}
my @size = (1, 2, 2, 4, 8, 4, 8, 1, 4); # of Own's fields, from line 24 on
sub wrong { print "@_\n" }
while (<STDIN>) {
    if (/ alloc 0x(\w+) (\d+) (\d+) (\d+) .*, at (Kinds\.main:\d+, )?new (\S+)$/ and my $t = $type{"$6 $3"}) {
        my $kind = $5 ? 'by the program' : 'by the JVM';
        $at{$kind}{$6} = hex $1;
        wrong("$6 $kind has elements of $4 bytes") if $4 != $t->[0];
        wrong("$6 $kind has $2 bytes") if $2 != int((16 + $3 * $4 + 7) / 8) * 8;
    }
    $object = [hex $1, $2] if / alloc 0x(\w+) (\d+) @.*Kinds\.main:11, new Kinds\$Own$/;
    $none = $2 if / alloc 0x(\w+) (.*) @.*Kinds\.main:12, new Kinds\$Own\[\]$/;
    if (/^T0 write 0x(\w+) (\d+) @\w+( \+\d+)?(.*?) *#.*at Kinds\.main:(\d+)$/) {
        my ($address, $bytes, $flags, $line) = (hex $1, $2, $4, $5);
        for (keys %type) {
            my ($name) = split;
            next if $type{$_}[1] != $line;
            $own{$line}++;
            wrong("line $line writes $bytes bytes") if $bytes != $type{$_}[0];
            wrong("line $line writes at another place of $name") if $address != $at{'by the program'}{$name} + 16 + $type{$_}[2] * $bytes;
            wrong("line $line: flags are '$flags'") if $flags ne ' array';
        }
        if ($line >= 24 && $line <= 32) {
            $own{$line}++;
            wrong("line $line writes $bytes bytes") if $bytes != $size[$line - 24];
            wrong("line $line writes outside of the object") if $address < $object->[0] + 12 || $address + $bytes > $object->[0] + $object->[1];
            wrong("line $line writes in the middle of a field") if $address % $bytes;
            wrong("line $line: flags are '$flags'") if $flags ne '';
            for (@fields) {
                wrong("line $line writes another field, too") if $address < $_->[1] && $_->[0] < $address + $bytes;
            }
            push @fields, [$address, $address + $bytes];
        }
    }
    # A final field of this object, which is the first one.
    $own{last} //= $_ if / write .*Kinds\$Own\.<init>:5$/;
}
for my $line (13 .. 32) {
    wrong("line $line writes " . ($own{$line} // 0) . " times") if ($own{$line} // 0) != 1;
}
for my $kind ('by the program', 'by the JVM') {
    for (keys %type) {
        my ($name) = split;
        wrong("no $name $kind") if !$at{$kind}{$name};
    }
}
wrong("an object of 12 bytes before 42 of fields has $object->[1]") if $object->[1] != 56;
wrong("an empty array is '$none'") if $none ne '16';
wrong("a final field: $own{last}") if $own{last} !~ / 4 @\S+ \+\d+ final /;
P
perl judge.pl <text >wrong || echo "it can't be judged" >>wrong
[ -s wrong ] && fail "arrays and fields: $(tr '\n' ';' <wrong)"

# A range is told in pieces of at most 64 KiB, from its first byte to its last.
cat >ranges.pl <<'P'
my (%at, %next, %first, %sum, $wrong);
while (<STDIN>) {
    $at{$2} = hex $1 if / alloc 0x(\w+) \d+ (20000[12]) 1 /;
    next unless /^T0 (read|write) 0x(\w+) (\d+) @\S+ array *#.*at Kinds\.main:(3[4-8])$/;
    my $what = "$4 $1";
    $wrong .= "$what goes on elsewhere; " if exists $next{$what} && hex $2 != $next{$what} && $4 != 36; # which has three ranges
    $first{$what} //= hex $2;
    $next{$what} = hex($2) + $3;
    $sum{$what} .= "$3 ";
}
print $wrong;
print "$_: $sum{$_}\n" for sort keys %sum;
print "from ", join(' ', $first{'35 read'} - $at{200001}, $first{'35 write'} - $at{200002}, $first{'37 write'} - $first{'37 read'}), "\n";
P
perl ranges.pl <text >ranges
cat >want <<'W'
35 read: 65536 65536 18928 
35 write: 65536 65536 18928 
36 read: 65536 65536 1 1 
36 write: 65536 65536 1 1 
37 read: 80 
37 write: 80 
from 116 23 196
W
cmp -s want ranges || fail "ranges that are copied: $(diff want ranges)"

# A thread is forked, starts, ends and is joined, by one number, which has its last name. One that never started has none.
grep '^T[0-9]* \(fork\|start\|end\|join\)' text | sed 's/ *#.*//' >order
sed -n 's/^name thread \([0-9]*\) "\(.*\)"/\1 \2/p' text >names
for name in 'worker 0' 'too late' 'worker 2'; do
    n=$(sed -n "s/^\([0-9]*\) $name\$/\1/p" names)
    echo "T0 fork T$n:T$n start:T$n end:T0 join T$n:" | tr : '\n' | grep .
done >want
echo 'T0 end' >>want
cmp -s want order || fail "threads that are started and joined one after the other: $(diff want order)"
grep -q 'never\|as before' names && fail "a thread that never started has a name: $(cat names)"
grep -q '^0 main$' names || fail "the main thread is none of $(tr '\n' ';' <names)"

# A class is initialised once, by the thread that comes first, and its first use by each other thread comes after that.
{
    echo 'public class Statics { static void touch() {'
    awk 'BEGIN {for (i = 0; i < 130; i++) print "C" i ".n++;"}'
    echo '} public static void main(String[] args) throws Exception {
        touch(); Thread t = new Thread(() -> { touch(); touch(); }); t.start(); t.join(); } }'
    awk 'BEGIN {for (i = 0; i < 130; i++) print "class C" i " { static int n = 1; }"}'
} >Statics.java
javac -d classes Statics.java || exit 99
"$lardsim" capture java -q -o s.lard -- java -cp classes Statics >out 2>err || fail "130 classes: $(cat err)"
"$lardsim" trace cat --numbers s.lard >text
sed -n 's/^T0 class-init \(0x[0-9a-f]*\) .*, at C[0-9]*\.<clinit>:.*/\1/p' text | sort >made
sed -n 's/^T[1-9][0-9]* class-use \(0x[0-9a-f]*\) .*, at Statics.touch:.*/\1/p' text | sort >used
[ "$(sort -u made | wc -l)" = 130 ] || fail "130 classes: $(sort -u made | wc -l) are initialised"
cmp -s made used || fail "130 classes are used by another thread: $(diff made used | head -n 4 | tr '\n' ';')"
grep -q '^T0 class-use .*, at Statics' text && fail "who has initialised a class is ordered after itself"

# A thread that waits does nothing, and what the JVM makes for it meanwhile is born after the wait.
cat >Waits.java <<'J'
public class Waits {
    static final Object lock = new Object();
    static boolean waits;
    static Object kept;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> {
            synchronized (lock) {
                waits = true;
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    kept = e;
                }
            }
        }, "waits");
        t.start();
        boolean is = false;
        while (!is)
            synchronized (lock) { is = waits; }
        t.interrupt();
        t.join();
        for (java.io.File f : new java.io.File("/proc/self/fd").listFiles())
            try {
                System.out.println(java.nio.file.Files.readSymbolicLink(f.toPath()));
            } catch (java.io.IOException e) {
                continue; // it was of the listing itself
            }
    }
}
J
javac -d classes Waits.java || exit 99
"$lardsim" capture java -q -o w.lard -- java -cp classes Waits >out 2>err || fail "a wait that is interrupted: $(cat err)"
grep -q 'memfd:lardsim-capture' out && fail "the program has a descriptor of the ring: $(cat out)"
grep -q 'memfd:lardsim-names' out || fail "the program lists no descriptors: $(cat out)"
"$lardsim" trace cat --numbers w.lard >text
n=$(sed -n 's/^name thread \([0-9]*\) "waits"/\1/p' text)
grep "^T$n " text | awk '$2 == "wait-enter" {on = 1} on && / wait-e| rel |new java.lang.InterruptedException$/ {print $2} on && / rel / {exit}' >order
[ "$(tr '\n' ' ' <order)" = 'wait-enter wait-exit alloc rel ' ] || fail "a wait that is interrupted: $(tr '\n' ' ' <order)"
grep "^T$n " text | grep -A 1 ' wait-enter ' | grep -q ' wait-exit ' || fail "a thread does something while it waits"

# The agent by itself has nobody to tell; it is of one JVM.
for how in "" =alone; do
    java "-agentpath:$agent$how" -cp classes Kinds >out 2>&1 && fail "an agent '$how' without a capture lets the program run"
    grep -q 'this agent is for `lardsim capture java`' out || fail "an agent '$how' without a capture: $(cat out)"
done
real=$(command -v java)
mkdir two
printf '#!/bin/sh\n%s "$@"\n%s "$@"\n' "$real" "$real" >two/java
chmod +x two/java
"$lardsim" capture java -o two.lard -- two/java -cp classes Kinds >out 2>err || fail "a script that starts two JVMs: $(cat err)"
grep -q 'another one came first' err || fail "of two JVMs the second is captured, too: $(cat err)"
"$lardsim" trace verify -q two.lard 2>err || fail "two JVMs: the trace breaks a rule: $(cat err)"
exit $bad
