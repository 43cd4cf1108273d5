#!/bin/sh
# sequences.sh - release sequences of C11, from a program to the verdict: does a capture say what C11 says
# (docs/events.md)? gcc's ThreadSanitizer judges the same programs, where it is here.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE

[ -f "$LARDSIM_NATIVE" ] || { echo "built without the runtime of captures, which is for x86-64"; exit 77; }
"$top_builddir/capture/lardsim-cc" -O1 -g -o captured "$top/tests/capture/sequences.c" 2>cc.err ||
    { echo "no compiler here links a program for capture"; exit 77; }
# Its shadow is where the kernel may have put something else, unless addresses are as always.
judge=
gcc -O1 -g -fsanitize=thread -o judged "$top/tests/capture/sequences.c" 2>/dev/null &&
    setarch -R ./judged >/dev/null 2>&1 && judge=yes

./captured >cases
[ "$(wc -l <cases)" -ge 8 ] || fail "the program names no cases: $(cat cases)"
while read -r name c11 tsan; do
    run 0 capture native -q -o t.lard --overwrite -- ./captured "$name"
    for policy in vc fasttrack goldilocks; do
        run 0 run -q -p $policy --set machine=none --set granularity=4 -o res --overwrite t.lard
        verdict=ordered
        [ -s res/races.jsonl ] && verdict=race
        [ $verdict = "$c11" ] || fail "$name: $policy says $verdict, and C11 says $c11"
    done
    [ -z "$judge" ] && continue
    verdict=ordered
    setarch -R ./judged "$name" </dev/null 2>&1 | grep -q 'data race' && verdict=race
    [ $verdict = "$tsan" ] || fail "$name: ThreadSanitizer says $verdict, and is expected to say $tsan"
done <cases
[ -n "$judge" ] || echo "SKIPPED in part: no program with gcc's ThreadSanitizer runs here, so nobody else judged"
exit $bad
