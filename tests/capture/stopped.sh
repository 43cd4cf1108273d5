#!/bin/sh
# stopped.sh - what is left of a capture that a signal stops? All that the program did until then, as a legal trace;
# the program ends, too, and the exit code says that it is not the whole program. And is a file of --measured that is
# there replaced only by a whole one?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE
[ -f "$LARDSIM_NATIVE" ] || { echo "built without the runtime of captures, which is for x86-64"; exit 77; }
cat >endless.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void tell(int number) { FILE *to = fopen("got", "w"); fprintf(to, "%d\n", number); fclose(to); _exit(0); }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared, plain[4][64];
static void *work(void *arg)
{
    volatile int *mine = plain[(long)arg];
    for (unsigned i = 0;; i++) {
        mine[i % 64]++;
        if (i % 8) continue;
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    if (argc > 1 && !strcmp(argv[1], "stubborn")) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); alarm(20); }
    if (argc > 1 && !strcmp(argv[1], "tells")) { signal(SIGTERM, tell); signal(SIGHUP, tell); signal(SIGXCPU, tell); }
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (;;) pause();
}
C
"$top_builddir/capture/lardsim-cc" -O1 -o endless endless.c || { echo "no compiler links a program for capture here"; exit 77; }

# stop SIGNAL CODE ARGUMENT...: sent when the program has begun.
stop() {
    signal=$1 want=$2
    shift 2
    rm -f t.lard out
    echo old >figures
    (trap - HUP INT TERM && exec "$lardsim" capture native -q --measured figures -o t.lard -- "$@") >out 2>err &
    pid=$!
    tries=0
    while [ ! -s out ] && [ $tries -lt 500 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    program=$(cat out)
    sleep 0.1
    kill -s "$signal" $pid
    wait $pid
    code=$?
    [ $code = "$want" ] || fail "$* with SIG$signal: exit code $code, not $want: $(cat err)"
    says err "stopped by SIG$signal; t.lard has what $1 did until then"
    says figures "stopped: SIG$signal"
    grep -q '^old' figures && fail "$* with SIG$signal: --measured adds to what was there"
    "$lardsim" trace verify -q t.lard 2>err || fail "$* with SIG$signal: the trace breaks a rule: $(cat err)"
    "$lardsim" run -q -o res --overwrite --set machine=none t.lard 2>err || fail "$* with SIG$signal: the trace does not run: $(cat err)"
    "$lardsim" trace info t.lard >out
    [ "$(sed -n 's/^events *\([0-9]*\).*/\1/p' out)" -gt 1000 ] || fail "$* with SIG$signal: the trace has next to nothing: $(head -n 8 out)"
}
for pair in TERM:143 HUP:129 XCPU:152; do
    stop ${pair%:*} ${pair#*:} ./endless
    kill -0 "$program" 2>/dev/null && fail "the program goes on after SIG${pair%:*}"
done
# It gets the same one, but for a limit of time, which is the recorder's alone.
for pair in TERM:143:15 HUP:129:1 XCPU:152:15; do
    code=${pair#*:}
    stop ${pair%%:*} ${code%:*} ./endless tells
    tries=0
    until [ -s got ] || [ $((tries += 1)) -gt 100 ]; do sleep 0.02; done
    [ "$(cat got)" = "${pair##*:}" ] || fail "a program that tells its signal says $(cat got) after SIG${pair%%:*}"
    rm -f got
done
stop TERM 143 ./endless stubborn
kill -9 "$program" || fail "a program that ignores SIGTERM was not left alone"

# A capture that fails.
echo old >figures
run 2 capture native -q --measured figures -o n.lard -- sh -c 'exit 3'
[ "$(cat figures)" = old ] || fail "a capture that failed empties the file of --measured"
[ -e n.lard ] && fail "a capture that failed leaves a trace"
run 2 capture native -q --measured n.lard -o n.lard -- ./endless
says err 'name the same file'
exit $bad
