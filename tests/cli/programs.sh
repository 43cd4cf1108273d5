#!/bin/sh
# programs.sh - does a recipe become a capture, once, that any verb takes as a source; is what can't be built or
# captured refused with a reason, and never kept? By recipes of the test's own; and those that are shipped are whole.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
XDG_CACHE_HOME=$dir/cache
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export XDG_CACHE_HOME LARDSIM_NATIVE
kept=$XDG_CACHE_HOME/lardsim/programs

# ---- those that are shipped ----------------------------------------------------------------------

LARDSIM_PROGRAMS=$top/workloads/programs/recipes
export LARDSIM_PROGRAMS
run 0 programs list
[ "$(grep -c '' out)" = $(($(find "$top/workloads/programs/recipes" -name recipe.yaml | grep -c '') + 1)) ] || fail "not every recipe is listed: $(cat out)"
run 0 programs list --json
[ "$(grep -c '"medium": "' out)" = "$(grep -c '"name"' out)" ] || fail "some program has no size medium"
sed -n 's/^ *"twin": "\(.*\)",$/\1/p' out >twins
run 0 list workloads
for twin in $(cat twins); do
    grep -q "^$twin " out || fail "a recipe has the twin $twin, which is no workload"
done
for recipe in "$top"/workloads/programs/recipes/*/recipe.yaml; do
    driver=$(sed -n 's/^driver: //p' "$recipe")
    [ -n "$driver" ] || driver=$(grep -q '^sources:' "$recipe" && echo build.sh || echo Driver.java)
    [ -r "${recipe%/*}/$driver" ] || fail "$recipe: its driver $driver is not there"
done

# A thread that fails must not leave a capture of what is left of the program.
for driver in "$top"/workloads/programs/recipes/*/Driver.java; do
    grep -q 'setDefaultUncaughtExceptionHandler(.*halt(1)' "$driver" || fail "$driver: a thread that fails does not fail the program"
done

# ---- what is no program --------------------------------------------------------------------------

run 2 programs capture xallan
says err 'did you mean "xalan"?'
run 2 run program:../programs/xalan
says err 'there is no such program'
run 3 programs capture xalan,size=huge
says err 'small | medium'
run 3 programs capture xalan,seed=3
says err 'seed'
LARDSIM_PROGRAMS=$dir/nowhere run 2 programs list
says err 'LARDSIM_PROGRAMS'

LARDSIM_PROGRAMS=$dir/programs
recipe() { # recipe NAME: its lines from standard input
    mkdir -p "programs/$1"
    cat >"programs/$1/recipe.yaml"
}
recipe bad <<'END'
small: "%t"
smal: "%t"
END
run 3 programs build bad
says err 'smal'
recipe missing <<'END'
packages: [no-such-package-a, no-such-package-b]
small: "%t"
END
run 2 run program:missing
says err 'apt-get install --no-install-recommends no-such-package-a no-such-package-b'

# ---- what is missing is named at once ------------------------------------------------------------

# A machine of our own: its PATH has a shell, what dpkg-query says stands in `installed`, and java says what `java` has.
mkdir machine
ln -s "$(command -v sh)" machine/sh
cat >machine/dpkg-query <<END
#!$(command -v sh)
while [ "\$1" != -f ]; do shift; done
shift 2
for name; do
    while read -r has version; do
        if [ "\$has" = "\$name" ]; then echo "\$name ii \$version"; fi
    done <"$dir/installed"
done
exit 1
END
javas() { # VERSION [javac]: no VERSION, no java
    rm -f machine/java machine/javac
    [ -z "${1:-}" ] || printf '#!%s\necho "openjdk version \\"%s\\" 2025-04-15" >&2\n' "$(command -v sh)" "$1" >machine/java
    [ -z "${2:-}" ] || printf '#!%s\nexit 9\n' "$(command -v sh)" >machine/javac
    chmod +x machine/*
}
# lacks NAME PACKAGES [AND]: there the program lacks these, and AND is said as well; nothing else is.
lacks() {
    LARDSIM_PROGRAMS=$top/workloads/programs/recipes PATH=$dir/machine run 2 programs capture "$1"
    line=$(sed -n 's/.*`apt-get install --no-install-recommends \([^`]*\)`.*/\1/p' err)
    [ "$line" = "$2" ] || fail "$1: what is to be installed is \"$line\", not \"$2\": $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "$1: what is missing is not said in one line: $(cat err)"
    [ -z "${3:-}" ] || says err "$3"
    [ -n "${3:-}" ] || { grep -q ';' err && fail "$1: more is said to be missing: $(cat err)"; }
}
again="build it again: \`cd $top_builddir && ./config.status --recheck && make\`"
echo nothing 1 >installed
javas
LARDSIM_JAVA=$dir/nowhere
export LARDSIM_JAVA
for recipe in "$top"/workloads/programs/recipes/*/recipe.yaml; do
    name=${recipe%/*} packages=$(sed -n 's/^packages: \[\(.*\)\]$/\1/p' "$recipe" | tr -d ,)
    if ! grep -q '^sources:' "$recipe"; then
        lacks "${name##*/}" "openjdk-17-jdk-headless libasm-java $packages" "$again"
    elif grep -qs '^deb-src\|^Types:.*deb-src' /etc/apt/sources.list /etc/apt/sources.list.d/*; then
        lacks "${name##*/}" "$packages"
    else
        lacks "${name##*/}" "$packages" 'an entry of type deb-src'
    fi
done
LARDSIM_PROGRAMS=$top/workloads/programs/recipes PATH=$dir/machine run 0 programs list
grep -v '^next: ' out | grep -v 'missing: ' && fail "of these is not listed what is missing"
says out '(libcolt-free-java); missing: openjdk-17-jdk-headless, libasm-java, libcolt-free-java, a lardsim with agents of Java'
LARDSIM_PROGRAMS=$top/workloads/programs/recipes PATH=$dir/machine run 0 programs list --json
tr -d ' \n' <out | grep -qF '"packages":["libcolt-free-java"],"sources":[],"missing":["openjdk-17-jdk-headless","libasm-java","libcolt-free-java","alardsimwithagentsofJava"]' ||
    fail "JSON does not list what colt lacks"
# What is there is not asked for: a JRE alone has no javac, and a JDK beside an older java is not the first.
printf '%s\n' 'libxalan2-java 2.7.2-4' 'libjaxp1.3-java-gcj 1' >installed
javas 17.0.15
lacks xalan "openjdk-17-jdk-headless libasm-java libjaxp1.3-java" "$again"
javas 17.0.15 javac
lacks xalan "libasm-java libjaxp1.3-java" "$again"
javas 21.0.2 javac
lacks xalan "openjdk-17-jdk-headless libasm-java libjaxp1.3-java" '21.0.2" 2025-04-15, and 17 must be the first in PATH'
javas 17.0.15 javac
printf '%s\n' 'libjaxp1.3-java 1' 'libasm-java 9.4-1' >>installed
lacks xalan '' "$again"
mkdir there
touch there/liblardsim-java.so there/lardsim-agent.jar
sed -i /jaxp1.3-java.1/d installed
LARDSIM_JAVA=$dir/there lacks xalan libjaxp1.3-java
unset LARDSIM_JAVA

# ---- one that is built, captured once, and run ---------------------------------------------------

echo 'int main(void) { return 0; }' >empty.c
"$top_builddir/capture/lardsim-cc" -o empty empty.c 2>/dev/null && ./empty || { echo "no compiler links for capture here"; exit 77; }

# A make hands its CC on: the wrapper must not call itself, under whatever name and with whatever option.
printf '#!/bin/sh\nexec %s "$@"\n' "$top_builddir/capture/lardsim-cc" >mycc
chmod +x mycc
for name in "$dir/mycc" "$top_builddir/capture/lardsim-cc --gaps"; do
    CC=$name timeout 20 ./mycc -o empty empty.c 2>err && ./empty || fail "with CC=$name in the environment nothing is built: $(tail -n 1 err)"
done

recipe tally <<'END'
about: Counts, and forgets the lock
small: "%t 10 %d/input"
medium: "%t 1000 %d/input"
END
cat >programs/tally/build.sh <<END
echo built >>$dir/builds
echo 7 >input
cat >tally.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int hits, times;
static void *work(void *arg) { for (int i = 0; i < times; i++) hits++; return arg; }
int main(int argc, char **argv)
{
    pthread_t t[8];
    int n = atoi(argv[1]), seven = 0;
    FILE *in = fopen(argv[3], "r");
    times = atoi(argv[2]);
    if (argc != 4 || !in || fscanf(in, "%d", &seven) != 1 || !fopen("left-behind", "w"))
        return 1;
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", seven);
    return 0;
}
END_C
"\$CC" -O1 -o program tally.c -lpthread
END
run 0 run -q -p vc --set machine=none -o first program:tally,threads=3
[ "$(wc -l <first/races.jsonl)" -gt 0 ] || fail "the races of the program are not found"
[ "$(cat "$kept/tally-small-3/output")" = 7 ] || fail "what the program printed is not kept"
[ -e "$kept/tally-small-3/run" ] && fail "what the program wrote beside is kept"
says "$kept/tally-small-3/provenance.yaml" 'command:'
grep -q '^plain-process-seconds: [0-9]' "$kept/tally-small-3/measured.yaml" || fail "what it took is not kept"
run 0 programs describe --measured tally,threads=3
grep -qE '^bytes +[0-9.]+ +bytes an event' out || fail "what capturing took is not told: $(cat out)"
# Its bytes and its events are those of the whole trace, also where a part of it is asked for.
cp out whole
run 0 programs describe --measured tally,threads=3,lives=used
[ "$(stat -c %s "$kept"/tally-small-3/used-*.lard)" != "$(stat -c %s "$kept/tally-small-3/trace.lard")" ] ||
    fail "the test is wrong: all memory of tally is used"
[ "$(grep '^bytes' out)" = "$(grep '^bytes' whole)" ] ||
    fail "bytes of lives=used are told for the events of all: $(grep '^bytes' out)"
# The program alone may have been slower, by chance.
cp "$kept/tally-small-3/measured.yaml" measured.yaml
printf '%s: %s\n' events 1000000000 own-seconds 2 plain-own-seconds 5 >"$kept/tally-small-3/measured.yaml"
run 0 programs describe --measured tally,threads=3
grep -qE '^own-threads-ns +-3 +ns' out || fail "what is below 0 is told as $(grep '^own-threads-ns' out)"
printf '%s: %s\n' events 1000000 process-seconds 6 plain-process-seconds 4 own-seconds 5 plain-own-seconds 2 instrumenting-seconds 1.25 \
    recorder-seconds 0.5 >"$kept/tally-small-3/measured.yaml"
run 0 programs describe --measured tally,threads=3
for line in 'own-threads 2.50 times' 'process 1.50 times' 'own-threads-ns 3000 ns an event' 'instrumenting 1.25 s' 'recorder-ns 500 ns an event'; do
    tr -s ' ' <out | grep -q "^$line" || fail "of 6 s and 4, 5 s and 2, 1.25 and 0.5 s for a million events it is told: $(cat out)"
done
cp measured.yaml "$kept/tally-small-3/measured.yaml"
was=$(stat -c %i "$kept/tally-small-3/trace.lard")
run 0 run -q -p vc --set machine=none -o second program:tally,threads=3
[ "$(stat -c %i "$kept/tally-small-3/trace.lard")" = "$was" ] || fail "a program is captured twice"
cmp -s first/stats.json second/stats.json || fail "one capture has two results"
run 0 programs capture tally,threads=2
[ "$(cat out)" = "$kept/tally-small-2/trace.lard" ] || fail "capture says the trace is $(cat out)"
[ "$(wc -l <builds)" = 1 ] || fail "a program is built $(wc -l <builds) times for two captures"
printf 'sources: ["program:tally,threads=3"]\npolicies: [vc]\nbase: {machine: none}\n' >sweep.yaml
run 0 sweep -q sweep.yaml -o swept
run 0 programs describe tally,threads=3
says out 'accesses-per-region'
run 0 programs describe --markdown tally,threads=3
says out '| tally,threads=3 |'
# A column of the page is an object of the JSON.
run 0 programs describe tally,threads=3 tally,threads=2
cp out page
run 0 programs describe --json tally,threads=3 tally,threads=2
[ "$(head -n 1 out)" = '[' ] && [ "$(grep -c '"name": "tally,threads=[32]"' out)" = 2 ] || fail "--json of two programs: $(head -c 200 out)"
sed 1d page | while read -r trait three two _; do
    [ "$(sed -n "s/.*\"$trait\": \"\([^\"]*\)\".*/\1/p" out | tr '\n' ' ')" = "$three $two " ] || echo "$trait: $three and $two on the page, and $(grep "\"$trait\"" out)"
done >wrong
[ -s wrong ] && fail "--json has other figures: $(head -n 2 wrong)"

# Another driver is another program; --again is asked for.
echo '# more' >>programs/tally/build.sh
run 0 programs capture -q tally,threads=3
[ "$(wc -l <builds)" = 2 ] || fail "a driver that has changed is not built"
[ "$(stat -c %i "$kept/tally-small-3/trace.lard")" != "$was" ] || fail "a program that has changed is not captured again"
was=$(stat -c %i "$kept/tally-small-3/trace.lard")
run 0 programs capture -q --again tally,threads=3
[ "$(stat -c %i "$kept/tally-small-3/trace.lard")" != "$was" ] || fail "--again captures nothing"
# Its packages have gone, and the capture stays.
sed -i '1i packages: [no-such-package]' programs/tally/recipe.yaml
run 0 programs capture -q tally,threads=3
run 2 programs capture -q --again tally,threads=3
says err 'no-such-package'

# ---- tables of overheads -------------------------------------------------------------------------

# A program of the list that is one of ours, by its own memory; the others are not there, which is said.
cp -r programs/tally programs/squashfs
sed -i '/^packages/d' programs/squashfs/recipe.yaml
run 0 reproduce overheads --programs real -j 2 --size threads=2
says out 'machine   radish8'
input() { # input TEXT: the table says so, in one line or two
    tr '\n' ' ' <out | tr -s ' ' | grep -qF -e "$1" || fail "the table does not say what was run: $1: $(grep -A 1 '^inputs' out)"
}
input '2 threads, size small, collector serial, by lives=used: their own memory alone'
grep -qE '^squashfs  *[0-9.]+ ' out || fail "the program is not in the table of overheads: $(cat out)"
[ "$(grep -cE '^(xalan|h2) ' out)" = 0 ] || fail "a program that is not there is in the table"
says err 'left out: program:xalan'
[ -n "$(ls "$kept"/squashfs-small-2/used-*.lard)" ] || fail "overheads are not of the memory that is used, or not of the given threads"
run 6 reproduce lard-overhead --programs real -j 2 --size lives=all,threads=3
input '3 threads, size small, collector serial, by lives=all: also the memory that nothing uses'
run 6 reproduce lard-overhead --programs real -j 2 --json --size lives=all,threads=3,size=medium,collector=parallel
input '3 threads, size medium, collector parallel, by lives=all: '
[ -f "$kept/squashfs-small-3/trace.lard" ] || fail "--size is not heeded"
ls "$kept"/squashfs-small-3/used* 2>/dev/null && fail "lives=all is not heeded"
run 2 reproduce overheads
says err 'give --programs real'
run 2 reproduce overheads --programs real --seeds 3
says err 'leave --seeds out'

# What clears and copies cost is the median of each program's difference: here that is none of the medians'.
steps() { # steps NAME ACCESSES STEP BLOCKS
    mkdir -p "three/$1"
    echo "small: \"$2 $3 $4\"" >"three/$1/recipe.yaml"
    cat >"three/$1/build.sh" <<'END'
cat >p.c <<'C'
#include <stdlib.h>
static int fixed[1 << 16];
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++)
        fixed[i * atoi(argv[2]) % (1 << 16)]++;
    for (int i = 0; i < atoi(argv[3]); i++) {
        volatile int *block = malloc(64);
        *block = i;
        free((void *)block);
    }
    return argc != 4;
}
C
"$CC" -O1 -o program p.c
END
}
steps squashfs 2000 1 20
steps pbzip2 2000 1 200
steps xalan 2000 16 40
LARDSIM_PROGRAMS=$dir/three run 0 reproduce overheads --programs real -j 2
awk 'function median(a, b, c) { return a + b + c - (a > b ? (a > c ? a : c) : b > c ? b : c) - (a < b ? (a < c ? a : c) : b < c ? b : c) }
    /^program .* lardish +checks$/ { table = 1 }
    table && /^(squashfs|pbzip2|xalan) / { n++; with[n] = $(NF - 1); without[n] = $NF }
    /what clears and copies cost/ { told = $NF }
    END {
        each = median(with[1] - without[1], with[2] - without[2], with[3] - without[3])
        of_all = median(with[1], with[2], with[3]) - median(without[1], without[2], without[3])
        if (n != 3) print "the test is wrong: the table has " n + 0 " programs"
        else if (each - of_all < 5 && of_all - each < 5) print "the test is wrong: both medians are " each
        else if (told - each > 0.5 || each - told > 0.5) print told ", not " each
    }' out >wrong
[ -s wrong ] && fail "what clears and copies cost, median: $(cat wrong)"

# ---- what can't be kept --------------------------------------------------------------------------

recipe other <<'END'
small: "%t"
END
printf '%s\n' "cat >p.c <<'C'" '#include <stdio.h>' '#include <unistd.h>' 'int main(void) { printf("%d\n", getpid()); return 0; }' C \
    '"$CC" -o program p.c' >programs/other/build.sh
run 4 run program:other
says err 'its output under capture is another'
recipe fails <<'END'
small: "%t"
END
printf '%s\n' 'echo "int main(void) { return 3; }" >p.c' '"$CC" -o program p.c' >programs/fails/build.sh
run 4 run program:fails
says err 'exit code 3'
recipe unbuilt <<'END'
small: "%t"
END
echo 'exit 5' >programs/unbuilt/build.sh
run 4 run program:unbuilt
says err 'exit code 5'
for name in other fails unbuilt; do
    ls -d "$kept/$name"-* "$kept/$name".* 2>/dev/null && fail "something of $name is kept"
done
XDG_CACHE_HOME=/proc run 7 run program:other
[ "${1:-}" = real ] || exit $bad

# ---- real ones, where they are installed: colt and xalan -----------------------------------------

LARDSIM_PROGRAMS=$dir/real
LARDSIM_JAVA=$dir/agents
export LARDSIM_JAVA
mkdir real agents
for name in colt xalan; do cp -r "$top/workloads/programs/recipes/$name" real; done
ln -s "$top_builddir/capture/.libs/liblardsim-java.so" "$top_builddir/capture/lardsim-agent.jar" agents
[ -f "$top_builddir/capture/lardsim-agent.jar" ] || { echo "built without a JDK 17 and libasm-java"; [ $bad = 0 ] && exit 77; exit 1; }
for collector in serial parallel; do
    run 0 programs capture -q "colt,collector=$collector"
    "$lardsim" trace verify -q "$(cat out)" 2>err || fail "colt, $collector: the trace breaks a rule: $(cat err)"
done
# What LARD is to find is what the lives of memory say, whatever the collector moved.
"$lardsim" reproduce lard-table3 --programs real -o real.csv >out 2>err
code=$?
# 6: too few programs for every claim.
[ $code = 0 ] || [ $code = 6 ] || fail "table 3 on real programs: $(tail -n 1 err)"
grep -q ',captured,serial,lard,races' real.csv || fail "no real program is in table 3: $(head -n 3 real.csv)"
[ "$(grep -cE ',lard,(false|missed).accesses,[1-9]' real.csv)" = 0 ] || fail "lard is not exact on real programs"
exit $bad
