/* params.c - the parameters of hosts, network and protocol; the names of what is counted. What the
 * defaults are taken from stands with the preset alpha-cvm (sim/session/machines.def). */
#include "coherence/dsm/dsm_int.h"

static const char *const home_choices[] = {"first", "interleave", NULL};

#define MOST_NS   UINT64_C(10000000) /* 10 ms: more is surely a mistake */
#define MOST_PAGE (UINT64_C(64) << 10)
const struct param dsm_param_rows[] = {
#define PARAMS_DEF "coherence/dsm/params.def"
#define PARAMS_OF  struct dsm_params
#include "base/param_rows.h"
};

struct count_text {
    const char *name, *help;
};
static const struct count_text messages[DSM_MSGS] = {
#define MESSAGE(NAME, text, help) {text, help},
#include "coherence/dsm/messages.def"
#undef MESSAGE
};
static const struct count_text contents[DSM_CONTENTS] = {
#define CONTENT(NAME, text, help) {text, help},
#include "coherence/dsm/contents.def"
#undef CONTENT
};
static const struct count_text parts[DSM_PARTS] = {
#define PART(NAME, text, help) {text, help},
#include "coherence/dsm/parts.def"
#undef PART
};
static const struct count_text waits[DSM_WAITS] = {
    [DSM_WAIT_FAULT] = {"fault", "Cycles of page faults."},
    [DSM_WAIT_LOCK] = {"lock", "Cycles of acquires and releases of locks, from when the lock is "
                               "free."},
    [DSM_WAIT_BARRIER] = {"barrier", "Cycles of barriers, from when the last process has arrived."},
    [DSM_WAIT_OTHER] = {"other", "Cycles of other synchronisation."},
};

int dsm_params_read(struct dsm *d, const struct dsm_env *env, struct err *e)
{
    struct dsm_params *p = &d->params;

    if (config_bind(env->config, "dsm", dsm_param_rows, p, e))
        return -1;
    if (env->processes > DSM_PROCESSES)
        return err_set(e, LARD_CONFIG,
                       "cores: %u processes, and a version vector has room for %u; set cores=%u, "
                       "or fewer",
                       env->processes, DSM_PROCESSES, DSM_PROCESSES);
    if (env->page > MOST_PAGE)
        return err_set(e, LARD_CONFIG,
                       "pages.size: %llu bytes are more than a page of shared memory may have "
                       "(%llu); lower it",
                       (unsigned long long)env->page, (unsigned long long)MOST_PAGE);
    if (p->word & (p->word - 1))
        return err_set(e, LARD_CONFIG, "dsm.word: %llu is no power of two; give one, as 4",
                       (unsigned long long)p->word);
    d->mhz = env->frequency;
    d->page = env->page;
    d->shift = (unsigned)__builtin_ctzll(env->page);
    d->words = env->page / p->word;
    d->time = (struct dsm_times){
        .latency = ns_cycles(d, p->latency),
        .local = ns_cycles(d, p->local),
        .send = ns_cycles(d, p->send),
        .receive = ns_cycles(d, p->receive),
        .trap = ns_cycles(d, p->trap),
        .protect = ns_cycles(d, p->protect),
        .notice = ns_cycles(d, p->notice),
        .interval = ns_cycles(d, p->interval),
        .twin = ns_cycles(d, p->twin * d->page / 1024),
        .diff = ns_cycles(d, p->diff * d->page / 1024),
    };
    return 0;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* A count for each text, in a group of its own. */
static void declare_each(struct stats_group *g, const char *name, const char *unit,
                         const struct count_text *text, size_t n, const uint64_t *field)
{
    for (size_t i = 0; i < n; i++)
        stats_count(stats_group(g, name), text[i].name, unit, text[i].help, &field[i]);
}

static void declare_messages(struct dsm *d, struct stats_group *g)
{
    struct dsm_stats *st = &d->st;

    stats_count(g, "messages", "messages", "Messages between processes.", &st->messages);
    stats_count(g, "message-bytes", "bytes", "Their bytes.", &st->bytes);
    stats_count(g, "messages-local", "messages", "Of these: between processes of one host.",
                &st->local);
    for (unsigned i = 0; i < DSM_MSGS; i++) {
        struct stats_group *by = stats_group(stats_group(g, "message"), messages[i].name);
        stats_count(by, "number", "messages", messages[i].help, &st->message[i]);
        stats_count(by, "bytes", "bytes", messages[i].help, &st->message_bytes[i]);
    }
    declare_each(g, "bytes", "bytes", contents, DSM_CONTENTS, st->content);
    stats_sum(g, "messages", "Messages by kind are all.", st->message, DSM_MSGS, &st->messages);
    stats_sum(g, "bytes-by-kind", "Bytes by kind of message are all.", st->message_bytes, DSM_MSGS,
              &st->bytes);
    stats_sum(g, "bytes-by-content", "Bytes by content are all.", st->content, DSM_CONTENTS,
              &st->bytes);
}

static void declare_time(struct dsm *d, struct stats_group *g)
{
    struct dsm_stats *st = &d->st;

    declare_each(g, "wait", "cycles", waits, DSM_WAITS, st->wait);
    declare_each(g, "time", "cycles", parts, DSM_PARTS, st->part_all);
    for (unsigned w = 0; w < DSM_WAITS; w++) {
        struct stats_group *of = stats_group(g, "time-of");
        declare_each(of, waits[w].name, "cycles", parts, DSM_PARTS, st->part[w]);
        stats_sum(stats_group(of, waits[w].name), "time", "The parts of what was waited for.",
                  st->part[w], DSM_PARTS, &st->wait[w]);
    }
    stats_count(g, "served", "cycles", "Cycles that processes worked for others.", &st->served);
    stats_count(g, "served-waiting", "cycles",
                "Of these: while they waited themselves, so that it cost them nothing.",
                &st->hidden);
}

void dsm_declare(struct dsm *d, struct stats_group *g)
{
    struct dsm_stats *st = &d->st;

    stats_echo(g, "page", "bytes", "Bytes of a page.", &d->page);
#define STATS_DEF "coherence/dsm/stats.def"
#include "base/stats_declare.h"
    declare_messages(d, g);
    declare_time(d, g);
}
