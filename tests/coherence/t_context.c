/* t_context.c - an access before its turn ends the process: does the message say where in the run,
 * which line, in which state? And a calendar's, which knows its cycles alone? */
#include "tests/coherence/bench.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/calendar.h"

static void tell(const void *run, struct whereabouts *to)
{
    (void)run;
    *to = (struct whereabouts){
        .event = 120, .cycle = 1000, .core = 2, .thread = 1, .policy = "lardish"};
}
static const struct run_context context = {tell, NULL};

/* What a child writes to standard error until it ends by an assertion. */
static void dies(void (*fn)(void), char *said, size_t room)
{
    int ends[2], status;
    size_t used = 0;
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (!child) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    close(ends[1]);
    while (used + 1 < room && (n = read(ends[0], said + used, room - 1 - used)) > 0)
        used += (size_t)n;
    said[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void early_access(void)
{
    struct bench b;
    const struct bench_options o = {.cores = 4, .contention = true, .host = {.context = &context}};

    if (!bench_open(&b, o, ""))
        _exit(1);
    coherence_access(b.c, 2, paddr_of(0x1040), MEM_STORE, TRAFFIC_DATA, 1000);
    coherence_access(b.c, 2, paddr_of(0x1040), MEM_LOAD, TRAFFIC_DATA, 900);
}

static void early_reservation(void)
{
    struct calendar c;

    calendar_init(&c, &context);
    calendar_take(&c, 1000, 1000, 4);
    calendar_take(&c, 900, 900, 4);
}

static void without_context(void)
{
    struct calendar c;

    calendar_init(&c, NULL);
    calendar_take(&c, 1000, 1000, 4);
    calendar_take(&c, 900, 900, 4);
}

static const char where[] = "at event 120, thread 1, core 2, cycle 1000, policy lardish\n";

static void an_access_before_its_turn_says_where(void **state)
{
    char said[2000];

    (void)state;
    dies(early_access, said, sizeof said);
    assert_non_null(strstr(said, "coherence/coherence.c:"));
    assert_non_null(strstr(said, "an access at cycle 900 comes before its turn, as others were at "
                                 "cycle 1000; of core 2, line 0x1040, state M in its L1"));
    assert_non_null(strstr(said, where));
}

static void a_reservation_before_its_turn_says_where(void **state)
{
    char said[2000];

    (void)state;
    dies(early_reservation, said, sizeof said);
    assert_non_null(strstr(said, "a call for cycle 900 comes before its turn: calls are at cycle "
                                 "1000 by now"));
    assert_non_null(strstr(said, where));
    dies(without_context, said, sizeof said);
    assert_non_null(strstr(said, "calls are at cycle 1000 by now"));
    assert_null(strstr(said, "event"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_before_its_turn_says_where),
        cmocka_unit_test(a_reservation_before_its_turn_says_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
