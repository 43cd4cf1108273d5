/* gem5_sync.c - the sidecar of a packet trace: what the guest says that it did at its marks. It is
 * read whole, as threads stand in it one after the other. */
#include "base/mem.h"
#include "trace/foreign/gem5_form.h"
#include "trace/text/form.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "lardsim-gem5-sync"
enum { SIDECAR_VERSION = 1, MARKS_MAX = 1 << 26, CORES_MAX = 1 << 16 };

static const char thread_usage[] = "thread N core C [NAME]";
static const char mark_usage[] = "in [EVENT], or out [EVENT]";

/* A mark can be any event that has nothing but an object and a number. Returns the name of that
 * number. */
static const char *number_of(enum ev_kind kind)
{
    static const char *const what[FORM_REMAP + 1] = {[FORM_ROUND] = "the round",
                                                     [FORM_THREAD] = "the thread's number",
                                                     [FORM_REGION] = "the bytes",
                                                     [FORM_ALLOC] = "the bytes"};

    return what[ev_info[kind].form];
}

static bool can_mark(int kind)
{
    if (!kind || kind == EV_TXN_BEGIN || kind == EV_TXN_COMMIT || kind == EV_GC_BEGIN ||
        kind == EV_GC_END)
        return false;
    return ev_info[kind].form == FORM_OBJECT || ev_info[kind].form == FORM_NONE ||
           number_of((enum ev_kind)kind);
}

static int read_mark(struct gem5_sync *y, struct lines *l, bool in)
{
    struct gem5_mark m = {.in = in};
    char shown[SHOWN_MAX];
    struct word w;
    const int got = text_word(l, &w);

    if (got < 0)
        return -1;
    if (!y->sections)
        return text_fail(l, "a mark is of no thread; write \"%s\" before it", thread_usage);
    if (y->marks == MARKS_MAX)
        return text_fail(l, "there are more than %d marks; cut the run", MARKS_MAX);
    if (got) {
        m.kind = (uint8_t)ev_kind_by_text(w.text);
        if (!can_mark(m.kind))
            return text_fail(l, "\"%s\" is no event of a mark; docs/foreign-formats.md has them",
                             text_shown(shown, w.text));
        const char *what = number_of((enum ev_kind)m.kind);
        if (what && text_number(l, what, mark_usage,
                                ev_info[m.kind].form == FORM_THREAD ? MAX_THREADS - 1 : UINT64_MAX,
                                &m.value))
            return -1;
        if (what && !m.value && (m.kind == EV_ALLOC || m.kind == EV_CLEAR))
            return text_fail(l, "a block of no bytes needs no event; leave it out");
    }
    y->mark = xgrow(y->mark, y->marks, &y->marks_cap, sizeof *y->mark);
    y->mark[y->marks++] = m;
    y->section[y->sections - 1].marks++;
    return text_line_over(l);
}

/* "thread 1 core 2 worker" */
static int read_thread(struct gem5_sync *y, struct lines *l)
{
    uint64_t tid, core;
    struct word w;

    if (text_number(l, "the thread's number", thread_usage, MAX_THREADS - 1, &tid) ||
        text_bare_word(l, "\"core\"", thread_usage, &w))
        return -1;
    if (strcmp(w.text, "core") != 0)
        return text_fail(l, "\"core\" should stand behind the number: %s", thread_usage);
    if (text_number(l, "the core's number", thread_usage, CORES_MAX - 1, &core))
        return -1;
    if (names_find(y->threads, NAME_THREAD, tid))
        return text_twice(l, "the thread");
    const int got = text_word(l, &w);
    if (got < 0)
        return -1;
    char *name = got ? xstrdup(w.text) : xasprintf("thread-%u", (unsigned)tid);
    const int bad = text_name(l, y->threads, NAME_THREAD, tid, name);
    free(name);
    if (bad)
        return -1;
    y->section = xgrow(y->section, y->sections, &y->sections_cap, sizeof *y->section);
    y->section[y->sections++] =
        (struct gem5_section){.tid = (sim_tid)tid, .core = (uint32_t)core, .first = y->marks};
    if (core >= y->cores)
        y->cores = (uint32_t)core + 1;
    return text_line_over(l);
}

static int read_line(struct gem5_sync *y, struct lines *l, bool *headed)
{
    char shown[SHOWN_MAX];
    struct word w;
    const int got = text_word(l, &w);
    uint64_t version;

    if (got <= 0)
        return got;
    if (!*headed) {
        if (strcmp(w.text, MAGIC) != 0)
            return text_fail(l, "a sidecar begins with \"" MAGIC " %d\"", SIDECAR_VERSION);
        if (text_number(l, "the version", MAGIC " 1", UINT64_MAX, &version))
            return -1;
        if (version != SIDECAR_VERSION)
            return text_fail(l, "version %llu is not known; this lardsim reads version %d",
                             (unsigned long long)version, SIDECAR_VERSION);
        *headed = true;
        return text_line_over(l);
    }
    if (!strcmp(w.text, "thread"))
        return read_thread(y, l);
    if (!strcmp(w.text, "in") || !strcmp(w.text, "out"))
        return read_mark(y, l, *w.text == 'i');
    return text_fail(l, "\"%s\" begins no line; write \"%s\", \"%s\"", text_shown(shown, w.text),
                     thread_usage, mark_usage);
}

/* Links the sections of a core, in the order of the file. */
static void link_sections(struct gem5_sync *y)
{
    y->of_core = xrealloc(NULL, y->cores ? y->cores : 1, sizeof *y->of_core);
    for (size_t i = 0; i < y->cores; i++)
        y->of_core[i] = GEM5_NO_SECTION;
    for (size_t i = y->sections; i-- > 0;) {
        y->section[i].next = y->of_core[y->section[i].core];
        y->of_core[y->section[i].core] = i;
    }
}

static int read_lines(struct gem5_sync *y, struct lines *l)
{
    bool headed = false;
    int got;

    while ((got = text_line_next(l)) > 0)
        if (read_line(y, l, &headed))
            return -1;
    if (got < 0)
        return -1;
    return headed ? 0 : text_fail(l, "a sidecar begins with \"" MAGIC " %d\"", SIDECAR_VERSION);
}

struct gem5_sync *gem5_sync_read(const char *path, struct err *e)
{
    struct input *in = input_open(path, e);

    if (!in)
        return NULL;
    struct lines *l = text_lines_new(in);
    struct gem5_sync *y = xcalloc(1, sizeof *y);
    y->name = xstrdup(in->name);
    y->threads = names_new();
    const int bad = read_lines(y, l);
    if (bad)
        err_pass(e, &l->failed);
    text_lines_free(l);
    link_sections(y);
    if (!bad)
        return y;
    gem5_sync_free(y);
    return NULL;
}

void gem5_sync_free(struct gem5_sync *y)
{
    if (!y)
        return;
    names_free(y->threads);
    free(y->section);
    free(y->of_core);
    free(y->mark);
    free(y->name);
    free(y);
}
