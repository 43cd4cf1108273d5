/* progress.c - see progress.h. Callers tell of every batch of events; the clock is looked at after
 * so many of those that some milliseconds have passed. */
#include "results/job/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* Seconds: the first line on a terminal, from one line to the next; between two looks. */
static const double FIRST = 1, REWRITE = 0.5, LOG = 30, LOOK_MIN = 0.002, LOOK_MAX = 0.05;
enum { STRIDE_MAX = 256, COLUMNS = 80 };

/* ---- the clock ------------------------------------------------------------------------------ */

double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double due_at(const struct progress *p)
{
    if (!p->terminal)
        return p->told + LOG;
    return p->told > p->began ? p->told + REWRITE : p->began + FIRST;
}

/* The clock is looked at more often when events become slower, and the other way round. */
static void set_stride(struct progress *p, double gap)
{
    if (gap < LOOK_MIN && p->stride < STRIDE_MAX)
        p->stride *= 2;
    else if (gap > LOOK_MAX)
        p->stride = 1;
}

bool progress_due(struct progress *p)
{
    if (p->quiet || ++p->calls < p->stride)
        return false;
    const double now = p->clock();
    set_stride(p, now - p->looked);
    p->calls = 0;
    p->looked = now;
    return now >= due_at(p);
}

/* ---- the line ------------------------------------------------------------------------------- */

/* A terminal that can't clear the rest of a line gets lines as a log does. */
static bool is_terminal(void)
{
    const char *kind = getenv("TERM");

    return isatty(STDERR_FILENO) && (!kind || strcmp(kind, "dumb") != 0);
}

void progress_begin(struct progress *p, bool quiet, size_t parts)
{
    *p = (struct progress){.quiet = quiet,
                           .terminal = is_terminal(),
                           .clock = now_seconds,
                           .to = stderr,
                           .stride = 1,
                           .parts = parts};
    if (!quiet)
        p->began = p->looked = p->told = p->clock();
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", p->to);
    p->shown = false;
}

size_t terminal_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* A line that is longer than the terminal is wide could not be rewritten. */
static int columns(void)
{
    const size_t n = terminal_columns(STDERR_FILENO);

    return n > 1 ? (int)n : COLUMNS;
}

void progress_show(struct progress *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap);
    va_end(ap);
    if (p->terminal)
        fprintf(p->to, "\r%.*s\033[K", columns() - 1, text);
    else
        fprintf(p->to, "lardsim: %s\n", text);
    fflush(p->to);
    free(text);
    p->shown = p->terminal;
    p->told = p->looked;
}

const char *progress_time(char to[32], double seconds)
{
    const uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : UINT64_C(1000000000);

    if (s < 60)
        snprintf(to, 32, "%" PRIu64 " s", s);
    else if (s < 3600)
        snprintf(to, 32, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else
        snprintf(to, 32, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
    return to;
}

/* ---- its words ------------------------------------------------------------------------------ */

uint64_t resident_memory(void)
{
    unsigned long long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f)
        return 0;
    if (fscanf(f, "%llu %llu", &all, &pages) != 2)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* 12.3 M, 4.5 k, 678 */
static const char *short_count(char to[32], double n)
{
    if (n >= 1e6)
        snprintf(to, 32, "%.1f M", n / 1e6);
    else if (n >= 1e4)
        snprintf(to, 32, "%.1f k", n / 1e3);
    else
        snprintf(to, 32, "%.0f", n);
    return to;
}

/* Returns the part that is done, from 0 to 1; below 0: it is not known. If there are several parts,
 * those that have ended are known. */
static double done(const struct progress *p)
{
    if (!p->parts || (p->parts == 1 && !p->known && !p->over))
        return -1;
    const double done = ((double)p->over + p->now) / (double)p->parts;
    return done < 1 ? done : 1;
}

/* Returns how many bytes of a part's name leave room for the rest: whole settings of it, if it has
 * some. */
static int name_length(const char *name)
{
    enum { ROOM = 28 };
    size_t n = strlen(name);

    while (n > ROOM) {
        while (n > 0 && name[n - 1] != ',')
            n--;
        n = n > 1 ? n - 1 : ROOM;
    }
    return (int)n;
}

/* Composes the line. It may be cut off at its end, so the parts that matter most come first. */
static void tell(struct progress *p)
{
    const double at = done(p), gone = p->looked - p->told, since = p->looked - p->began;
    char part[64] = "", percent[16] = "", left[48] = "", text[32], rate[32], time[32];

    if (p->parts > 1)
        snprintf(part, sizeof part, "%.*s%s%zu of %zu, ", p->name ? name_length(p->name) : 0,
                 p->name ? p->name : "", p->name ? ", " : "",
                 p->over < p->parts ? p->over + 1 : p->parts, p->parts);
    if (at >= 0)
        snprintf(percent, sizeof percent, "%u %%, ",
                 (unsigned)(100 * at + 1e-6)); /* sums may be a bit less */
    if (at > 0)
        snprintf(left, sizeof left, ", %s left", progress_time(time, since * (1 - at) / at));
    progress_show(p, "%s%s%s events, %s/s, %" PRIu64 " MiB%s", part, percent,
                  short_count(text, (double)p->events),
                  short_count(rate, gone > 0 ? (double)(p->events - p->told_events) / gone : 0),
                  resident_memory() >> 20, left);
    p->told_events = p->events;
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* A part of which *was was done is at done of all. */
static void part_at(struct progress *p, double *was, uint64_t done, uint64_t all)
{
    const double is = all ? (double)(done < all ? done : all) / (double)all : 0;

    p->known |= all > 0;
    p->now += is - *was;
    *was = is;
}

static void part_over(struct progress *p, double *was)
{
    p->now -= *was;
    *was = 0;
    p->over++;
    p->known = false;
}

static void run_told(void *progress, uint64_t events)
{
    struct progress *p = progress;
    uint64_t done = 0, all = 0;

    if (!progress_due(p))
        return;
    if (lardsim_progress(p->run, &done, &all))
        all = 0;
    part_at(p, &p->run_now, done, all);
    p->events += events - p->run_events;
    p->run_events = events;
    tell(p);
}

void progress_run(struct progress *p, struct lardsim *l, const char *name)
{
    p->run = l;
    p->name = name;
    p->run_events = 0;
    if (!p->quiet)
        lardsim_on_progress(l, run_told, p);
}

void progress_run_over(struct progress *p)
{
    if (p->run)
        p->events += lardsim_events(p->run) - p->run_events;
    p->run = NULL;
    part_over(p, &p->run_now);
    progress_clear(p);
}

/* ---- a source that tells of itself ---------------------------------------------------------- */

struct told_source {
    struct progress *progress;
    uint64_t events; /* that were told */
    double now;
    bool over;
};

static int tell_reading(void *source, const struct lardsim_reading *at, struct err *e)
{
    struct told_source *s = source;

    if (!at) {
        progress_clear(s->progress);
        free(s);
        return 0;
    }
    if (e->code)
        return -1;
    s->progress->events += at->events - s->events;
    s->events = at->events;
    if (at->over && !s->over) {
        s->over = true;
        part_over(s->progress, &s->now);
    }
    if (s->over)
        return 0;
    part_at(s->progress, &s->now, at->done, at->all);
    if (progress_due(s->progress))
        tell(s->progress);
    return 0;
}

struct lardsim_source *progress_source(struct progress *p, struct lardsim_source *s)
{
    if (!s || p->quiet)
        return s;
    struct told_source *told = xcalloc(1, sizeof *told);
    told->progress = p;
    return lardsim_source_watch(s, tell_reading, told);
}
