/* params.c - the parameters of hosts, network and protocol; the names of what is counted. What the
 * defaults are taken from stands with the preset alpha-cvm (sim/session/machines.def). */
#include "coherence/dsm/dsm_int.h"

static const char *const home_choices[] = {"first", "interleave", NULL};

#define MOST_NS   UINT64_C(10000000) /* 10 ms: more is surely a mistake */
#define MOST_PAGE (UINT64_C(64) << 10)
#define AT(field) offsetof(struct dsm_params, field)
const struct param dsm_param_rows[] = {
    {"host", PARAM_U64, AT(host), "4", 1, DSM_PROCESSES, "processes", NULL,
     "Processes on one host, each on a processor of its own: the first so many are on the first."},
    {"latency", PARAM_U64, AT(latency), "10000", 0, MOST_NS, "ns", NULL,
     "Of the network between hosts, the message's own length aside."},
    {"bandwidth", PARAM_U64, AT(bandwidth), "135", 1, 1000000, "Mbit/s", NULL,
     "Of a host's link, each way."},
    {"local", PARAM_U64, AT(local), "10000", 0, MOST_NS, "ns", NULL,
     "Of a message between processes of one host."},
    {"send", PARAM_U64, AT(send), "80000", 0, MOST_NS, "ns", NULL,
     "What sending a message costs its sender, its bytes aside."},
    {"receive", PARAM_U64, AT(receive), "80000", 0, MOST_NS, "ns", NULL,
     "What receiving a message costs its receiver, the interruption included, its bytes aside."},
    {"copy", PARAM_U64, AT(copy), "24875", 0, MOST_NS, "ns per KiB", NULL,
     "What a message costs sender and receiver more for its bytes, each."},
    {"header", PARAM_U64, AT(header), "44", 0, 65536, "bytes", NULL, "Headers of a message."},
    {"trap", PARAM_U64, AT(trap), "72000", 0, MOST_NS, "ns", NULL,
     "From a page fault to its handler in the process, and back."},
    {"protect", PARAM_U64, AT(protect), "55000", 0, MOST_NS, "ns", NULL,
     "A change of a page's protection."},
    {"twin", PARAM_U64, AT(twin), "24875", 0, MOST_NS, "ns per KiB", NULL,
     "Copying a page to its twin."},
    {"diff", PARAM_U64, AT(diff), "36125", 0, MOST_NS, "ns per KiB", NULL,
     "Comparing a page with its twin."},
    {"diff-change", PARAM_U64, AT(diff_change), "30625", 0, MOST_NS, "ns per KiB", NULL,
     "What making a diff costs more for the bytes that have changed."},
    {"apply", PARAM_U64, AT(apply), "30625", 0, MOST_NS, "ns per KiB", NULL,
     "Applying a diff, for the bytes that have changed."},
    {"notice", PARAM_U64, AT(notice), "1000", 0, MOST_NS, "ns", NULL,
     "Taking in a write notice, a change of protection aside."},
    {"interval", PARAM_U64, AT(interval), "2000", 0, MOST_NS, "ns", NULL,
     "Taking in an interval, its notices aside."},
    {"word", PARAM_U64, AT(word), "4", 1, 64, "bytes", NULL,
     "What a diff compares at a time, a power of two."},
    {"home", PARAM_CHOICE, AT(home), "first", 0, 0, "", home_choices,
     "Who has the pages at first; first: process 0; interleave: each process in turn."},
    {"collect", PARAM_U64, AT(collect), "8Mi", 1, UINT64_MAX, "bytes", NULL,
     "Consistency data of a process beyond which the next barrier collects them all."},
    {"force", PARAM_U64, AT(force), "32Mi", 1, UINT64_MAX, "bytes", NULL,
     "Likewise, beyond which they are collected without a barrier."},
    PARAM_END,
};
#undef AT

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
    const struct {
        const char *name, *unit, *help;
        const uint64_t *field;
    } count[] = {
        {"read-faults", "faults", "Loads that found no valid copy.", &st->read_faults},
        {"write-faults", "faults", "Stores that found no copy that may be written.",
         &st->write_faults},
        {"pages-fetched", "pages", "Pages that a process had no copy of, and got.", &st->fetched},
        {"twins", "twins", "Twins made.", &st->twins},
        {"diffs-made", "diffs", "Diffs made.", &st->diffs},
        {"diffs-applied", "diffs", "Diffs applied to copies.", &st->applied},
        {"invalidations", "pages", "Copies that became invalid.", &st->invalidations},
        {"protections", "changes", "Changes of a page's protection.", &st->protects},
        {"intervals", "intervals", "Intervals that ended.", &st->intervals},
        {"notices", "notices", "Write notices made.", &st->notices},
        {"lock-acquires", "acquires", "Acquires of locks.", &st->acquires},
        {"lock-remote", "acquires", "Of these: another process had the lock last.", &st->remote},
        {"lock-forwarded", "acquires", "Of these: that process was not the lock's manager.",
         &st->forwarded},
        {"barrier-rounds", "rounds", "Rounds of barriers.", &st->rounds},
        {"collections", "collections", "Collections of consistency data.", &st->collections},
        {"collections-forced", "collections", "Of these: without a barrier.", &st->forced},
    };

    stats_echo(g, "page", "bytes", "Bytes of a page.", &d->page);
    for (size_t i = 0; i < ARRAY_SIZE(count); i++)
        stats_count(g, count[i].name, count[i].unit, count[i].help, count[i].field);
    stats_level(g, "kept-peak", "bytes", "Most consistency data that a process had at a time.",
                &st->kept_peak);
    declare_messages(d, g);
    declare_time(d, g);
}
