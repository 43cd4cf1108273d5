#!/bin/sh
# wrong.sh - would a wrong agent be noticed? Each is the agent with one rule broken, built here, and java.sh's stress
# has to fail with it. One that takes another JDK than 17 for its own refuses this one.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
[ -f "$top_builddir/capture/lardsim-agent.jar" ] || { echo "built without a JDK 17 and libasm-java"; exit 77; }
java -version 2>&1 | grep -q '"17' || { echo "java is no JDK 17 here"; exit 77; }
flags=$(sed -n 's/^JAVA_CPPFLAGS = //p' "$top_builddir/Makefile")

# wrong NAME SED-COMMAND...: the agent in the folder NAME.
wrong() {
    name=$1
    mkdir "$name"
    shift
    sed "$@" "$top/capture/java/agent.c" >"$name/agent.c"
    cmp -s "$top/capture/java/agent.c" "$name/agent.c" && fail "$name: nothing was changed"
    ln -s "$top_builddir/capture/lardsim-agent.jar" "$name"
    # shellcheck disable=SC2086 # lists of words
    ${CC:-cc} -std=gnu11 -O2 -fPIC -shared -D_GNU_SOURCE -I"$top" $flags -o "$name/liblardsim-java.so" "$name/agent.c" ||
        fail "$name: does not build"
}
noticed() {
    if sh "$top/tests/capture/java.sh" churn "$dir/$1" >said 2>&1; then
        fail "$1: the stress notices nothing"
    else
        echo "$1: $(head -n 1 said | cut -c 1-150)"
    fi
}

# The collector does not wait for those who are making a record, nor they for it. They take their time, so that it
# shows in each execution.
wrong no-handshake -e 's/struct ring_writer \*to = lane_of(s);/& static unsigned n; if (++n % 256 == 0) usleep(100);/' -e 's/while (t != s && atomic_load(&t->sign))/while (0)/' \
    -e 's/if (!UNLIKELY_(atomic_load(&collecting)))/if (1)/'
noticed no-handshake
# Moves come one by one, not as what happened at once.
wrong one-by-one -e 's/collector_put(s, (struct ring_record){.kind = REC_GC_.*/;/'
noticed one-by-one
# What was freed in a collection is told in the next one.
wrong frees-late -e 's/if (!now) {/if (!now \&\& !(living[i].bytes >> 63)) { living[i].bytes |= UINT64_C(1) << 63; living[kept++] = living[i]; continue; } if (!now) { living[i].bytes \&= ~(UINT64_C(1) << 63);/'
noticed frees-late
wrong moves-lost -e 's/region(s, REC_COPY, now, living\[i\]\.bytes, living\[i\]\.addr);/;/'
noticed moves-lost

# An agent with room for few sites: classes that need more are left as they are, and that is said.
wrong few-sites -e 's/CHUNKS = 4096/CHUNKS = 1/'
javac -d . "$top/tests/capture/Orders.java" || exit 99
LARDSIM_JAVA=$dir/few-sites "$lardsim" capture java -q -o f.lard -- java -cp . Orders ordered >out 2>err || fail "too many sites: $(tail -n 3 err)"
grep -q 'could not be instrumented.*there are more than 1023 accesses' err || fail "too many sites: $(cat err)"
"$lardsim" trace verify -q f.lard 2>err || fail "too many sites: $(cat err)"

wrong jdk18 -e 's/strcmp(version, "17")/strcmp(version, "18")/'
LARDSIM_JAVA=$dir/jdk18 "$lardsim" capture java -q -o n.lard -- java -version 2>err && fail "another JDK is taken"
grep -q 'needs JDK 17' err || fail "another JDK is refused without a reason: $(cat err)"
grep -q 'the agent did not start' err || fail "another JDK: $(cat err)"
exit $bad
