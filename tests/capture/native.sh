#!/bin/sh
# native.sh - are real programs recorded as they ran? Each form of synchronisation, racy and ordered, by each
# compiler that is here; the trace is legal, the program's output is its own, and what can go wrong is said.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE
cc=$top_builddir/capture/lardsim-cc

# gcc 12 and clang 14 are the compilers whose interface the runtime has; others may lack something.
compilers=
for c in gcc clang; do
    echo 'int main(void) { return 0; }' >empty.c
    CC=$c $cc -o empty empty.c 2>/dev/null && ./empty && compilers="$compilers $c"
done
[ -n "$compilers" ] || { echo "neither gcc nor clang links a program for capture here"; exit 77; }

for c in $compilers; do
    CC=$c $cc -O1 -o forms "$top/tests/capture/forms.c" 2>cc.err || fail "$c does not build forms.c: $(tail -n 1 cc.err)"
    if ldd forms | grep -q tsan; then fail "$c links its own runtime into the program"; fi
    for form in $(./forms); do
        for how in racy ordered; do
            [ "$form.$how" = realloc.ordered ] && continue # still not ordered: another byte alone
            "$lardsim" capture native -q -o t.lard --overwrite -- ./forms "$form" "$how" >out 2>err ||
                fail "$c, $form, $how: capture fails: $(cat err)"
            "$lardsim" trace verify -q t.lard 2>err || fail "$c, $form, $how: the trace breaks a rule: $(cat err)"
            "$lardsim" run -q -p vc --set machine=none -o res --overwrite t.lard >/dev/null 2>err ||
                fail "$c, $form, $how: the trace does not run: $(cat err)"
            races=$(wc -l <res/races.jsonl)
            [ "$how" = racy ] && [ "$races" = 0 ] && fail "$c: $form without order has no race"
            [ "$how" = ordered ] && [ "$races" != 0 ] && fail "$c: $form that orders has $races races"
        done
    done
done

# Names, output, exit codes.
"$lardsim" capture native -q -o t.lard --overwrite -- ./forms mutex racy >out
[ "$(cat out)" = "$(./forms mutex racy)" ] || fail "the program's output is not its own: $(cat out)"
"$lardsim" run -p vc --set machine=none t.lard >page
if command -v addr2line >/dev/null; then
    grep -q 'touch forms.c:[0-9]' page || fail "a race's side has no name: $(grep -i race page | head -n 2)"
fi
"$lardsim" capture native -o t.lard --overwrite -- sh -c 'exit 3' >out 2>err && fail "a program that was not built for capture is captured"
grep -q 'lardsim-cc' err || fail "a program that was not built for capture: no remedy: $(cat err)"
"$lardsim" capture native -o n.lard -- ./nothing 2>err && fail "a program that is not there is captured"
grep -q 'nothing can.t be started' err || fail "a program that is not there: $(cat err)"
[ -e n.lard ] && fail "a capture that failed leaves a file"

# A program that is killed has a whole trace up to there; what it starts is not captured; many threads.
cat >killed.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int shared[64];
static void *count(void *arg) { for (int i = 0; i < 20000; i++) shared[i % 64]++; return arg; }
int main(void)
{
    pthread_t t[40];
    if (fork() == 0) { count(NULL); _exit(0); }
    wait(NULL);
    for (int i = 0; i < 40; i++) pthread_create(&t[i], NULL, count, NULL);
    for (int i = 0; i < 40; i++) pthread_join(t[i], NULL);
    raise(SIGKILL);
    return 0;
}
C
$cc -O1 -o killed killed.c
"$lardsim" capture native -o k.lard -- ./killed 2>err || fail "a killed program's capture fails: $(cat err)"
grep -q 'killed by SIGKILL' err || fail "that the program was killed is not said: $(cat err)"
"$lardsim" trace verify -q k.lard 2>err || fail "the trace of a killed program breaks a rule: $(cat err)"
n=$("$lardsim" trace cat k.lard | grep -c ' write ')
[ "$n" -ge 800000 ] && [ "$n" -lt 820000 ] || fail "40 threads wrote 800,000 times, the trace has $n writes"

# A window leaves out accesses, and nothing else.
"$lardsim" capture native -q -o w.lard --from 1000 -- ./forms mutex ordered >/dev/null
"$lardsim" trace cat w.lard | grep -q ' acq ' || fail "outside of the window locks are not recorded"
"$lardsim" trace cat w.lard | grep -q ' write ' && fail "outside of the window writes are recorded"

# Where the trace can't be written any more, the program goes on.
if [ -w /dev/full ]; then
    "$lardsim" capture native -q -o /dev/full -- ./killed 2>err
    [ $? = 7 ] || fail "a full disk is no output error: $(cat err)"
fi
exit $bad
