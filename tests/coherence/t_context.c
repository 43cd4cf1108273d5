/* t_context.c - an access before its turn ends the process: does the message say where in the run,
 * which line, in which state? And a calendar's, which knows its cycles alone? And does a whole run
 * know where it is: does its message have the form that docs/debugging.md shows? */
#include "tests/coherence/bench.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/calendar.h"
#include "policy/cost/ledger.h"
#include "sim/session/session.h"
#include "swmanager/swmanager.h"

static void tell(const void *run, struct whereabouts *to)
{
    (void)run;
    *to = (struct whereabouts){
        .event = 120, .cycle = 1000, .core = 2, .thread = 1, .policy = "lardish"};
}
static const struct run_context context = {tell, NULL};

/* Runs fn in a child, which an assertion has to end; its standard error goes to said. */
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

/* The parts of a policy, which know the context by way of what they are given. */
static void handler_in_a_handler(void)
{
    struct stats *stats = stats_new();
    const struct swm_env env = {
        .stats = stats_root(stats), .granule = 4, .line = 64, .context = &context};
    struct swmanager *s = swm_new(&(struct swm_params){0}, &env);

    swm_enter(s, 2, SWM_FILL, 900);
    swm_enter(s, 2, SWM_CHECK, 950);
}

static sim_cycle charges(void *ledger, unsigned core, void *what, sim_cycle now)
{
    (void)what;
    ledger_instructions(ledger, core, 1);
    return now;
}

static void charged_while_paid(void)
{
    const struct policy_env env = {.context = &context};
    struct ledger c;

    ledger_hardware(&c, &env, 1);
    struct ledger_note *n = ledger_note(&c, 2, LEDGER_CALL);
    n->call.fn = charges;
    n->call.self = &c;
    n->call.core = 2;
    ledger_pay_due(&c, 2, 2, 1000);
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

static void parts_of_a_policy_say_where(void **state)
{
    char said[2000];

    (void)state;
    dies(handler_in_a_handler, said, sizeof said);
    assert_non_null(strstr(said, "core 2 enters a handler (check) at cycle 950 in the middle of "
                                 "another (fill), which it entered at 900"));
    assert_non_null(strstr(said, where));
    dies(charged_while_paid, said, sizeof said);
    assert_non_null(strstr(said, "account 0 of core 2 is charged while it is being paid"));
    assert_non_null(strstr(said, where));
}

/* A callback of the run makes an access on the core in hand, before its turn. */
static void access_early(void *arg, const struct lardsim_race *race)
{
    struct machine *m = ((struct lardsim *)arg)->machine;

    coherence_access(m->coherence, 1, pages_physical(&m->pages, vaddr_of(race->addr)), MEM_LOAD,
                     TRAFFIC_DATA, 600);
}

/* The run that docs/debugging.md watches. */
static void race_in_a_run(void)
{
    static const char trace[] = "lardsim-text 1\nT0 write 0x1000 4\nT1 write 0x1000 4\n";
    struct lardsim *l = lardsim_new();
    int ends[2];

    if (pipe(ends) || write(ends[1], trace, strlen(trace)) < 0 || dup2(ends[0], STDIN_FILENO) < 0)
        _exit(1);
    close(ends[1]);
    lardsim_on_race(l, access_early, l);
    if (lardsim_preset(l, "radish8") || lardsim_set(l, "policies=lardish") ||
        lardsim_set(l, "policy.lardish.runtime=off") || lardsim_start(l))
        _exit(1);
    lardsim_run(l, "-");
}

static const char source[] = "coherence/coherence.c:";

/* The source's lines move: their numbers go. */
static void forget_numbers(char *text)
{
    for (char *at = text; (at = strstr(at, source)) != NULL;) {
        at += strlen(source);
        const size_t digits = strspn(at, "0123456789");
        memmove(at, at + digits, strlen(at + digits) + 1);
    }
}

static void a_run_says_where_it_is_as_the_page_shows(void **state)
{
    static char page[1 << 16], said[2000];
    const char *top = getenv("top_srcdir");
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s/docs/debugging.md", top ? top : ".");
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_in_range(fread(page, 1, sizeof page - 1, in), 1, sizeof page - 2);
    fclose(in);
    dies(race_in_a_run, said, sizeof said);
    assert_non_null(strstr(said, "at event 1, thread 1, core 1, cycle 609, policy lardish\n"));
    forget_numbers(page);
    forget_numbers(said);
    const char *message = strstr(said, source); /* before it stands the way from the build */
    assert_non_null(message);
    if (!strstr(page, message))
        fail_msg("docs/debugging.md does not show the message of a failed assertion as it is:\n%s",
                 message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_before_its_turn_says_where),
        cmocka_unit_test(a_reservation_before_its_turn_says_where),
        cmocka_unit_test(parts_of_a_policy_say_where),
        cmocka_unit_test(a_run_says_where_it_is_as_the_page_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
