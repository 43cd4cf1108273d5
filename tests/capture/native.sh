#!/bin/sh
# native.sh - are real programs recorded as they ran? Each form of synchronisation, racy and ordered, by each
# compiler that is here; the trace is legal, the program's output is its own, and what can go wrong is said.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE
cc=$top_builddir/capture/lardsim-cc

[ -f "$LARDSIM_NATIVE" ] || { echo "built without the runtime of captures, which is for x86-64"; exit 77; }

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
# Functions have names wherever they lie: in the program, in a library that is loaded with it, in one that it opens.
for part in loaded opened; do
    echo "int $part; void touch_$part(void); void touch_$part(void) { $part++; }" >$part.c
    $cc -O1 -shared -fPIC -o lib$part.so $part.c
done
cat >parts.c <<'C'
#include <dlfcn.h>
int own;
void touch_loaded(void);
__attribute__((noinline)) static void touch_own(void) { own++; }
int main(void)
{
    void *library = dlopen(DIR "/libopened.so", RTLD_NOW);
    void (*touch_opened)(void);
    if (!library) return 1;
    *(void **)&touch_opened = dlsym(library, "touch_opened");
    touch_own(), touch_loaded(), touch_opened();
    return 0;
}
C
$cc -O1 -DDIR="\"$dir\"" -o parts parts.c -L. -lloaded "-Wl,-rpath,$dir" && "$lardsim" capture native -q -o p.lard -- ./parts 2>err || fail "a program with libraries: $(cat err)"
[ "$("$lardsim" trace cat p.lard | grep -c '^T0 write .* 4 @')" = 3 ] || fail "a program with libraries writes 3 times, the trace has: $("$lardsim" trace cat p.lard)"
if command -v addr2line >/dev/null; then
    for name in own.parts loaded.loaded opened.opened; do
        "$lardsim" trace cat p.lard | grep -q "^name site 0x[0-9a-f]* \"touch_${name%.*} ${name#*.}.c:[0-9]" ||
            fail "touch_${name%.*} has no name: $("$lardsim" trace cat p.lard | grep '^name site')"
    done
fi
# What runs after main is recorded, too.
echo 'int n; __attribute__((destructor)) static void touch_last(void) { n++; } int main(void) { return 0; }' >last.c
$cc -O1 -o last last.c && "$lardsim" capture native -q -o p.lard --overwrite -- ./last 2>err || fail "a program with a destructor: $(cat err)"
"$lardsim" trace cat p.lard | grep -q '^T0 write .* 4 @' || fail "what a destructor writes is not in the trace"

"$lardsim" capture native -o t.lard --overwrite -- sh -c 'exit 3' >out 2>err && fail "a program that was not built for capture is captured"
grep -q 'lardsim-cc' err || fail "a program that was not built for capture: no remedy: $(cat err)"
# shellcheck disable=SC3045 # not every shell has it
if (ulimit -v 1000000) 2>/dev/null; then
    "$lardsim" capture native -q -o n.lard -- sh -c 'ulimit -v 1000000; ./forms mutex racy' >out 2>err && fail "a capture without room is none"
    grep -q 'MiB of addresses.*ulimit -v' err || fail "a program that has no room for a capture: $(cat err)"
fi
"$lardsim" capture native -o n.lard -- ./nothing 2>err && fail "a program that is not there is captured"
grep -q 'nothing can.t be started' err || fail "a program that is not there: $(cat err)"
[ -e n.lard ] && fail "a capture that failed leaves a file"

# What names no ring is left alone: the program runs as if nobody captured.
echo '#include <stdio.h>
int main(void) { char text[9]; return fgets(text, sizeof text, stdin) ? fputs(text, stdout) < 0 : 1; }' >reads.c
$cc -O1 -o reads reads.c
for wrong in '' x 0x -1 4294967296; do
    [ "$(echo text | LARDSIM_CAPTURE=$wrong ./reads 2>&1)" = text ] || fail "a ring that is \"$wrong\" stops the program, or closes what it reads"
done

# A program's arguments are its own, whatever they look like: those of the verb's options, an empty one, and a --.
cat >arguments.c <<'END'
#include <stdio.h>
int main(int n, char **argument)
{
    for (int i = 1; i < n; i++)
        printf("<%s>", argument[i]);
    return 0;
}
END
$cc -o arguments arguments.c
for dashes in "" --; do
    # shellcheck disable=SC2086  # none, or one
    "$lardsim" capture native -q -o a.lard --overwrite $dashes ./arguments -o "" --no-such -- --overwrite -q >out 2>err ||
        fail "a program with options${dashes:+ after --}: $(cat err)"
    [ "$(cat out)" = '<-o><><--no-such><--><--overwrite><-q>' ] || fail "a program's arguments${dashes:+ after --} are: $(cat out)"
done

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

# More threads at once than there are lanes, where the system lets a program have so many.
cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic int here;
static void *wait_here(void *arg) { here++; pthread_rwlock_rdlock(&gate); pthread_rwlock_unlock(&gate); return arg; }
int main(int argc, char **argv)
{
    static pthread_t t[8192];
    const int n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_rwlock_wrlock(&gate);
    for (int i = 0; i < n; i++) if (pthread_create(&t[i], &small, wait_here, NULL)) return 1;
    while (here < n) usleep(1000);
    pthread_rwlock_unlock(&gate);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    return 0;
}
C
$cc -O1 -o many many.c
"$lardsim" capture native -q -o m.lard -- ./many 300 2>err || fail "300 threads at once: $(cat err)"
if ./many 4200; then
    "$lardsim" capture native -q -o n.lard -- ./many 4200 2>err && fail "4,200 threads at once are captured"
    grep -q 'more than 4096 threads at once' err || fail "4,200 threads at once: $(cat err)"
fi

# A thread may have the pthread_t of one that was joined as soon as libc has joined it.
cat >again.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int over;
static int shared;
static pthread_t next;
void *until_over(void *arg);
void *until_over(void *arg) { while (!over) usleep(1000); return arg; }
static void *count(void *arg) { shared++; return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, count, NULL);
    pthread_join(t, (void **)&next);
    shared++;
    over = 1;
    return pthread_join(next, NULL);
}
C
cat >between.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
void *until_over(void *arg);
int pthread_join(pthread_t t, void **next)
{
    int (*libcs)(pthread_t, void **);
    *(void **)&libcs = dlsym(RTLD_NEXT, "pthread_join");
    const int got = libcs(t, NULL);
    if (next) pthread_create((pthread_t *)next, NULL, until_over, NULL);
    return got;
}
C
echo 'GLIBC_2.34 { pthread_join; };' >between.version
$cc -O1 -o again again.c && ${CC:-cc} -shared -fPIC -Wl,--version-script=between.version -o between.so between.c
"$lardsim" capture native -q -o j.lard -- env LD_PRELOAD=./between.so ./again 2>err || fail "a pthread_t that is used again: $(cat err)"
"$lardsim" trace verify -q j.lard 2>err || fail "a pthread_t that is used again: the trace breaks a rule: $(cat err)"
"$lardsim" run -q -p vc --set machine=none -o res --overwrite j.lard >/dev/null
[ -s res/races.jsonl ] && fail "a join is taken for that of the thread that had the pthread_t next: $(head -n 1 res/races.jsonl)"

# A thread that libc makes, for a timer's end or the like, gives back what it had, too.
cat >foreign.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
static int shared;
static void *count(void *arg) { shared++; return arg; }
int main(void)
{
    int (*libcs)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    pthread_t t;
    *(void **)&libcs = dlsym(RTLD_NEXT, "pthread_create");
    for (int i = 0; i < 5000; i++)
        if (libcs(&t, NULL, count, NULL) || pthread_join(t, NULL)) return 1;
    return shared != 5000;
}
C
$cc -O1 -o foreign foreign.c
"$lardsim" capture native -q -o f.lard -- ./foreign 2>err || fail "5,000 threads that libc makes, one after the other: $(cat err)"
"$lardsim" trace verify -q f.lard 2>err || fail "the trace of threads that libc makes breaks a rule: $(cat err)"
n=$("$lardsim" trace cat f.lard | grep -c ' end$')
[ "$n" = 5000 ] || fail "of 5,000 threads that libc makes the trace has $n ends"
cat >timer.c <<'C'
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static atomic_int ticks;
static void tick(union sigval v) { free(malloc((size_t)v.sival_int)); ticks++; }
int main(void)
{
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick, .sigev_value.sival_int = 10};
    const struct itimerspec often = {{0, 100000}, {0, 100000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &often, NULL)) return 1;
    while (ticks < 100) usleep(1000);
    return 0;
}
C
$cc -O1 -o timer timer.c
"$lardsim" capture native -o f.lard --overwrite -- ./timer 2>err || fail "a timer whose ends are threads: $(cat err)"
grep -q killed err && fail "a timer whose ends are threads: $(cat err)"
"$lardsim" trace verify -q f.lard 2>err || fail "the trace of a timer breaks a rule: $(cat err)"

# What libc frees for a thread that has ended may be given again.
cat >late.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *ask(void *arg)
{
    void *volatile large = malloc(2000); /* where the last thread's text was */
    free(large);
    void *volatile before = malloc(500);
    char *text = strerror(12345);
    free(before);
    return text ? arg : NULL;
}
int main(void)
{
    pthread_t t;
    for (int i = 0; i < 100; i++) {
        pthread_create(&t, NULL, ask, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}
C
$cc -O1 -o late late.c
"$lardsim" capture native -q -o f.lard --overwrite -- ./late 2>err || fail "threads that use memory of libc: $(cat err)"
"$lardsim" trace verify -q f.lard 2>err || fail "what libc frees for a thread that has ended is not in the trace: $(cat err)"
# A collector stops a thread by a signal, whose handler waits, and does more than a lane holds: the thread may be
# between a number and its record.
cat >world.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
static sem_t stopped;
static _Atomic int over;
static sem_t own;
static int cells[64];
static void stop(int s)
{
    sigset_t all;
    (void)s;
    sigfillset(&all);
    sigdelset(&all, SIGUSR2);
    sem_post(&stopped);
    sigsuspend(&all);
}
static void go_on(int s) { (void)s; }
static void *work(void *arg) { while (!over) sem_post(&own); return arg; }
int main(void)
{
    alarm(100);
    struct sigaction a = {.sa_handler = stop};
    pthread_t t;
    sigfillset(&a.sa_mask);
    sigaction(SIGUSR1, &a, 0);
    a.sa_handler = go_on;
    sigaction(SIGUSR2, &a, 0);
    sem_init(&stopped, 0, 0);
    sem_init(&own, 0, 0);
    pthread_create(&t, 0, work, 0);
    for (int round = 0; round < 400; round++) {
        pthread_kill(t, SIGUSR1);
        sem_wait(&stopped);
        for (int i = 0; i < 17000; i++) cells[i % 64]++;
        pthread_kill(t, SIGUSR2);
    }
    over = 1;
    return pthread_join(t, 0);
}
C
$cc -O1 -o world world.c
"$lardsim" capture native -q -o o.lard -- ./world 2>err || fail "threads that are stopped by signals: $(cat err)"
grep -q killed err && fail "where threads are stopped by signals the capture hangs: $(cat err)"
"$lardsim" trace verify -q o.lard 2>err || fail "threads that are stopped by signals: the trace breaks a rule: $(cat err)"
n=$("$lardsim" trace cat o.lard | grep -c ' write ')
[ "$n" -ge 6800000 ] || fail "6,800,000 writes were made while a thread was stopped, the trace has $n"
"$lardsim" run -q -p vc --set machine=none -o res --overwrite o.lard >/dev/null
[ -s res/races.jsonl ] && fail "threads that are stopped by signals race: $(head -n 1 res/races.jsonl)"

# A script starts several: the first one alone is captured, and that is said.
"$lardsim" capture native -q -o one.lard -- ./forms mutex racy >out 2>err
"$lardsim" capture native -q -o two.lard -- sh -c './forms mutex racy; ./forms barrier racy; ./forms mutex racy' >out 2>err ||
    fail "a script that starts several programs: $(cat err)"
grep -q '3 processes were built for capture' err || fail "that only the first of several programs is captured is not said: $(cat err)"
names() { "$lardsim" trace cat "$1" | grep '^name site' | sed 's/.* "//' | sort; }
[ "$(names one.lard)" = "$(names two.lard)" ] || fail "the second program of a script is in the trace: $(names two.lard | tail -n 3)"

# A child has the runtime's locks as they were when it was made, and none of the threads that had them.
cat >forks.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int shared, over;
enum { ALL = 1000 };
static pthread_barrier_t alone[ALL]; /* the runtime looks for the last ones longest */
static void *count(void *arg) { while (!over) shared++; return arg; }
static void *pass(void *arg) { while (!over) pthread_barrier_wait(arg); return arg; }
int main(void)
{
    pthread_t t[4];
    int bad = 0, how;
    for (int i = 0; i < ALL; i++) pthread_barrier_init(&alone[i], 0, 1);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, count, 0);
    for (int i = 2; i < 4; i++) pthread_create(&t[i], 0, pass, &alone[ALL - i]);
    for (int i = 0; i < 300 && !bad; i++) {
        const pid_t p = fork();
        if (p == 0) { alarm(10); shared++; pthread_barrier_wait(&alone[ALL - 1]); _exit(0); }
        waitpid(p, &how, 0);
        bad = how != 0;
    }
    over = 1;
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return bad;
}
C
$cc -O1 -o forks forks.c
./forks || fail "a child hangs in an atomic, or at a barrier, that another thread was about when it was made"

# A child gives back nothing of its parent's, and comes out of a wait in which a handler made it.
cat >leaves.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static atomic_int handled, waits, fills, over;
static int in_handler, filled, forks;
static pid_t child = 1;
static void handle(int number)
{
    (void)number;
    in_handler++;
    if (forks) child = fork();
    handled++;
}
static void *fill(void *arg)
{
    filled++;
    fills = 1;
    while (!over) usleep(1000);
    return arg;
}
static void wait_for(int times)
{
    struct timespec soon;
    pthread_mutex_lock(&lock);
    waits = times;
    while (handled < times) {
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        pthread_cond_timedwait(&never, &lock, &soon);
    }
    pthread_mutex_unlock(&lock);
}
static void *wait_and_fork(void *arg)
{
    pthread_t later;
    int how;
    wait_for(1); /* now its handlers have a lane */
    const pid_t p = fork();
    if (p == 0) { alarm(10); return NULL; }
    waitpid(p, &how, 0);
    if (how) return NULL;
    pthread_create(&later, NULL, fill, NULL);
    while (!fills) usleep(1000);
    wait_for(2);
    over = forks = 1;
    pthread_join(later, NULL);
    wait_for(3);
    if (child == 0) { alarm(10); in_handler = 0; return NULL; }
    waitpid(child, &how, 0);
    return how ? NULL : arg;
}
int main(void)
{
    pthread_t t;
    void *whole;
    signal(SIGUSR1, handle);
    pthread_create(&t, NULL, wait_and_fork, &t);
    for (int i = 1; i <= 3; i++) {
        while (waits < i && pthread_tryjoin_np(t, &whole)) usleep(1000);
        if (waits < i) return 1;
        pthread_mutex_lock(&lock); /* so it waits */
        pthread_mutex_unlock(&lock);
        pthread_kill(t, SIGUSR1);
    }
    pthread_join(t, &whole);
    return whole ? 0 : 1;
}
C
$cc -O1 -o leaves leaves.c
"$lardsim" capture native -o v.lard -- ./leaves 2>err || fail "a program that forks in a handler: $(cat err)"
grep -q 'exit code' err && fail "a child that a handler made in a wait, or that had one, ends badly: $(cat err)"
"$lardsim" trace verify -q v.lard 2>err || fail "the trace of a program that forks in a handler breaks a rule: $(cat err)"
"$lardsim" trace cat v.lard | awk '$1 == "name" && $2 == "site" { of["@" $3] = $4; next } of[$NF] == "\"fill" { fills[$1] = 1 }
    of[$NF] == "\"handle" { handles[$1] = 1; all++ } END { for (t in fills) bad += t in handles; exit bad || all < 6 }' ||
    fail "a thread has what a handler of another did: a child gave back its parent's lane"

# A signal may come at any instruction of the runtime: here, each time just before it holds signals. The handler's
# events are the thread's own, or, while that waits, those of a thread of their own; all others are the thread's.
cat >interrupts.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int shared;
static volatile int often, inside;
static void handle(int number) { (void)number; shared++; }
__attribute__((no_sanitize("thread"))) long syscall(long number, ...)
{
    static long (*libcs)(long, ...);
    va_list all;
    long a[4];
    va_start(all, number);
    for (int i = 0; i < 4; i++) a[i] = va_arg(all, long);
    va_end(all);
    if (!libcs) *(void **)&libcs = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_rt_sigprocmask && a[0] == SIG_BLOCK && often && !inside) {
        inside = 1;
        raise(SIGUSR1);
        inside = 0;
    }
    return libcs(number, a[0], a[1], a[2], a[3]);
}
int main(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    const struct timespec past = {0, 0};
    pthread_mutex_lock(&lock);
    signal(SIGUSR1, handle);
    often = 1;
    for (int i = 0; i < 100; i++) pthread_cond_timedwait(&never, &lock, &past);
    often = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}
C
$cc -O1 -o interrupts interrupts.c
"$lardsim" capture native -q -o i.lard -- ./interrupts 2>err || fail "a program with many signals: $(cat err)"
"$lardsim" trace verify -q i.lard 2>err || fail "the trace of a program with many signals breaks a rule: $(cat err)"
"$lardsim" trace cat i.lard | awk '$1 == "T0" { exits += $2 == "wait-exit" } $1 == "T1" { handled += $2 == "write" }
    $1 ~ /^T[1-9]/ && $2 !~ /^v?(read|write)$/ { other++ } $2 ~ /^v/ && /@/ { other++ } END { exit !(exits == 100 && handled == 100 && !other) }' ||
    fail "of 100 waits with a signal at the end of each the thread has $("$lardsim" trace cat i.lard | grep -c '^T0 wait-exit')"

# However a handler was set, it comes after what its thread did before the wait in which it runs. `signal` of strict C
# is none of the names.
cat >handlers.c <<'C'
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static atomic_int handled;
static int shared;
static void handle(int number) { (void)number; shared++; handled = 1; }
static void *interrupt(void *arg)
{
    pthread_mutex_lock(&lock); /* so it waits */
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    while (!handled) continue;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(int argc, char **argv)
{
    void *set = argc > 1 ? dlsym(dlopen(NULL, RTLD_NOW), argv[1]) : NULL;
    pthread_t me = pthread_self(), other;
    const struct sigaction action = {.sa_handler = handle};
    if (argc == 1) signal(SIGUSR1, handle);
    else if (!set) return 1;
    else if (strstr(argv[1], "action")) ((int (*)(int, const struct sigaction *, struct sigaction *))set)(SIGUSR1, &action, NULL);
    else ((void (*(*)(int, void (*)(int)))(int))set)(SIGUSR1, handle);
    pthread_mutex_lock(&lock);
    shared++;
    pthread_create(&other, NULL, interrupt, &me);
    while (!handled) pthread_cond_wait(&done, &lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return pthread_join(other, NULL);
}
C
$cc -std=c11 -O1 -o handlers handlers.c
for name in "" signal bsd_signal ssignal sysv_signal __sysv_signal sigset sigaction __sigaction; do
    # shellcheck disable=SC2086 # none or one
    "$lardsim" capture native -q -o h.lard --overwrite -- ./handlers $name 2>err || fail "handlers by ${name:-strict signal}: $(cat err)"
    "$lardsim" run -q -p vc --set machine=none -o res --overwrite h.lard >/dev/null 2>err && [ ! -s res/races.jsonl ] ||
        fail "a handler that was set by ${name:-signal in strict C} races with its own thread: $(head -n 1 res/races.jsonl) $(cat err)"
done

# Each 4,096 events of a thread are followed by a mark of time, and time does not go back.
"$lardsim" trace cat k.lard | awk '$2 == "time" { if ($3 < last[$1]) bad = 1; last[$1] = $3; if (since[$1] != 4096) bad = 1
    since[$1] = 0; marks++; next } { since[$1]++ } END { exit bad || marks < 40 * 9 }' ||
    fail "marks of time are not where they should be: $("$lardsim" trace cat k.lard | grep -c ' time ')"
"$lardsim" trace cat t.lard | grep -q '^name thread 1 "the first"' || fail "a thread's name is not in the trace"

# The work between accesses, with --gaps: as much again for as many rounds more, whatever a round is.
cat >gaps.c <<'C'
#include <stdlib.h>
volatile unsigned seen;
__attribute__((noinline)) static unsigned mix(unsigned n, unsigned x)
{
    for (unsigned i = 0; i < n; i++)
        x = (x ^ x << 5) * 31 + i;
    return x;
}
int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (unsigned i = 1; i < 4; i++)
        seen = mix(i * n, i);
    return 0;
}
C
for c in $compilers; do
    CC=$c $cc --gaps -O1 -c -o gaps.o gaps.c 2>cc.err && CC=$c $cc --gaps -o gaps gaps.o 2>cc.err ||
        fail "$c --gaps does not build: $(head -n 3 cc.err)"
    for n in 100 100000; do
        "$lardsim" capture native -q -o g.lard --overwrite -- ./gaps $n
        gaps=$("$lardsim" trace cat g.lard | sed -n 's/.* write 0x.* +\([0-9]*\).*/\1/p' | tail -n 3 | tr '\n' ' ')
        echo "$gaps" | awk -v n=$n '{ a = $1; b = $2; d = $3 } END { exit !(a >= 4 * n && a < 12 * n && d - b - (b - a) < 9 && d - b - (b - a) > -9 && b > a) }' ||
            fail "$c: $n, $((2 * n)) and $((3 * n)) rounds are gaps of $gaps"
    done
done
"$lardsim" trace cat t.lard | grep -q ' +[0-9]' && fail "a program built without --gaps has gaps"

# A window leaves out accesses, and nothing else.
"$lardsim" capture native -q -o w.lard --from 1000 -- ./forms mutex ordered >/dev/null 2>err
"$lardsim" trace cat w.lard | grep -q ' acq ' || fail "outside of the window locks are not recorded"
"$lardsim" trace cat w.lard | grep -q ' write ' && fail "outside of the window writes are recorded"

grep -q 'window never opened.*--from' err || fail "a window that never opens: $(cat err)"
cat >window.c <<'C'
#include <pthread.h>
int in, out;
void step(int by);
__attribute__((noinline)) void step(int by) { in += by; if (by > 1) step(by - 1); }
int main(void) { pthread_t t; for (int i = 0; i < 5; i++) { out++; step(3); } return pthread_create(&t, 0, 0, 0); }
C
sed -i 's/pthread_t t; //; s/return .*/return 0; }/' window.c
$cc -O0 -o window window.c
writes() { "$lardsim" trace cat "$1" | grep -c ' write '; }
"$lardsim" capture native -q -o w.lard --overwrite --method step -- ./window 2>err || fail "--method: $(cat err)"
[ "$(writes w.lard)" = 15 ] || fail "15 writes are inside of the method, the trace has $(writes w.lard)"
"$lardsim" capture native -q -o w.lard --overwrite --method step --warm-up 6 -- ./window 2>err || fail "--warm-up: $(cat err)"
[ "$(writes w.lard)" = 9 ] || fail "9 writes are in the method after 6 calls, the trace has $(writes w.lard)"
"$lardsim" capture native -q -o w.lard --overwrite --method nothing -- ./window 2>err
grep -q 'window never opened.*method' err || fail "a method that is not there: $(cat err)"
for wrong in "--method step --from 1" "--on-signal --method step" "--warm-up 3" "--from x"; do
    # shellcheck disable=SC2086 # words
    "$lardsim" capture native -q -o x.lard $wrong -- ./window 2>err && fail "$wrong is taken"
done
cat >toggled.c <<'C'
#include <signal.h>
#include <unistd.h>
int in, out;
int main(void)
{
    for (int i = 0; i < 10; i++) { out++; usleep(1000); }
    kill(getppid(), SIGUSR2);
    for (int i = 0; i < 100; i++) { in++; usleep(1000); }
    kill(getppid(), SIGUSR2);
    usleep(100000);
    for (int i = 0; i < 10; i++) { out++; usleep(1000); }
    return 0;
}
C
$cc -O0 -o toggled toggled.c
"$lardsim" capture native -q -o w.lard --overwrite --on-signal -- ./toggled 2>err || fail "--on-signal: $(cat err)"
n=$(writes w.lard)
[ "$n" -gt 10 ] && [ "$n" -le 100 ] || fail "at most 100 writes lie between the signals, the trace has $n"

# What a program writes over the records is left out, and said.
cat >broken.c <<'C'
#include "capture/write.h"
#include <stdio.h>
int main(void)
{
    char line[256];
    unsigned long at = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (__builtin_strstr(line, "memfd:lardsim-capture") && sscanf(line, "%lx", &at) == 1)
            break;
    if (!at)
        return 1;
    struct ring *r = (struct ring *)at;
    struct ring_writer w;
    ring_enter_lane(&w, r, 0);
    ring_event(&w, &(struct ring_record){.kind = 99});
    ring_event(&w, &(struct ring_record){.kind = REC_READ, .size = 0});
    return 0;
}
C
$cc -O1 -I"$top" -D_GNU_SOURCE -o broken broken.c && "$lardsim" capture native -q -o b.lard -- ./broken 2>err
grep -q '2 records were no events' err || fail "records that are no events are not counted: $(cat err)"

# A thread that is killed between a number and its record: what others did after it is read, and one record is lost.
sed '/ring_event/d; s/^    return 0;/    ring_reserve(\&w, 1);\n    atomic_fetch_add(\&r->clock, 1);\n    for (int i = 0; i < 1000; i++) cells[i % 64] = i;\n&/
    s/^int main/volatile int cells[64];\n&/' broken.c >unfilled.c
$cc -O1 -I"$top" -D_GNU_SOURCE -o unfilled unfilled.c && "$lardsim" capture native -o u.lard -- ./unfilled 2>err
[ "$(writes u.lard)" -ge 1000 ] || fail "a record that never comes: 1000 writes come after it, the trace has $(writes u.lard)"
grep -q 'some were begun and no more' err || fail "a record that never comes is not counted: $(cat err)"

# How much slower, and what was in locks.
"$lardsim" capture native -o l.lard --baseline --measured m.yaml -- ./forms mutex ordered >out 2>err.said
for key in plain-process plain-own process own recorder; do
    grep -q "^$key-seconds: [0-9.]*$" m.yaml || fail "--measured has no $key-seconds: $(cat m.yaml)"
done
[ "$(sed -n 's/^process-seconds//p' m.yaml)" = "$(sed -n 's/^own-seconds//p' m.yaml)" ] || fail "a native program's threads are its own: $(cat m.yaml)"
"$lardsim" capture native -q -o unmeasured.lard --measured none/m.yaml -- ./forms mutex ordered >out.m 2>err && fail "what can't be written is no error"
grep -q 'none/m.yaml' err || fail "--measured that can't be written: $(cat err)"
[ -e unmeasured.lard ] && fail "what can't be measured is captured"
grep -q 'own threads, [0-9.]* times as much as without capture, [0-9]* ns an event' err.said || fail "the program's own threads are not said: $(cat err.said)"
grep -q '[1-9][0-9.]* % of the accesses while a lock was held' err.said ||
    fail "what the capture may have changed is not said: $(cat err.said)"
[ "$(cat out)" = "$(./forms mutex ordered)" ] || fail "the plain run prints, too: $(cat out)"

# Where the trace can't be written any more, or nobody reads it, the program goes on. What was written to a pipe or
# standard output until then can be salvaged.
cat >whole.c <<'C'
#include <stdio.h>
#include <unistd.h>
int cells[64];
int main(void)
{
    for (int i = 0; i < 100; i++) { for (int k = 0; k < 5000; k++) cells[k * 7 % 64] += k; usleep(2000); }
    puts("whole");
    fprintf(stderr, "whole\n");
    return 0;
}
C
$cc -O1 -o whole whole.c
if [ -w /dev/full ]; then
    "$lardsim" capture native -q -o /dev/full -- ./whole >out 2>err
    [ $? = 7 ] || fail "a full disk is no output error: $(cat err)"
    [ "$(cat out)" = whole ] || fail "a full disk stops the program: $(cat err)"
fi
: >part.lard
"$lardsim" capture native -q -o - -- ./whole 2>err >part.lard &
pid=$! n=0
until [ "$(wc -c <part.lard)" -gt 3000 ] || [ $((n += 1)) -gt 100 ]; do sleep 0.02; done
kill -9 $pid
wait $pid 2>/dev/null
until grep -q whole err || [ $((n += 1)) -gt 300 ]; do sleep 0.02; done
grep -q whole err || fail "lardsim is killed, and the program with it: $(cat err)"
"$lardsim" trace cut -q --salvage part.lard s.lard 2>err && "$lardsim" trace verify -q s.lard || fail "what was written can't be salvaged: $(cat err)"
[ "$("$lardsim" trace cat s.lard | grep -c ' write ')" -gt 10000 ] || fail "what was written is lost"
# Also where another one is between, which lives on.
: >part.lard
"$lardsim" capture native -q -o - -- sh -c './whole; true' 2>err >part.lard &
pid=$! n=0
until [ "$(wc -c <part.lard)" -gt 3000 ] || [ $((n += 1)) -gt 100 ]; do sleep 0.02; done
kill -9 $pid
until grep -q whole err || [ $((n += 1)) -gt 600 ]; do sleep 0.02; done
grep -q whole err || fail "lardsim is killed, and a script's program with it: $(cat err)"
wait $pid 2>/dev/null
exit $bad
