/* import.c - traces of one thread that tell accesses only: Valgrind's lackey, and Dinero's din and
 * xdin. Instruction fetches become gaps and sites of the accesses after them. Where a line makes
 * two events (lackey's M), the numbers of events are not those of lines. */
#include "trace/text/form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { BATCH_EVENTS = 1024, LINE_EVENTS = 2, DIN_BYTES = 4 };

/* A reader of all three formats, which differ in how a line is parsed. */
struct import {
    struct source base;
    struct lines *lines; /* owns, as names */
    struct names *names; /* there are none */
    int (*line)(struct import *m, char *at);
    uint64_t site, gap; /* for the next access: the latest instruction; how many there were */
    uint64_t events;    /* so far */
    size_t in_hand;     /* events in rec */
    struct event rec[BATCH_EVENTS];
};

/* ---- what lines make ------------------------------------------------------------------------ */

/* An instruction is no event: it is counted, and is the site of the accesses that follow. */
static int fetch(struct import *m, uint64_t addr)
{
    m->site = addr;
    m->gap++;
    return 0;
}

static int access_of(struct import *m, enum ev_kind kind, uint64_t addr, uint64_t size)
{
    struct event ev = {.kind = (uint8_t)kind, .addr = addr, .aux = m->site};
    const char *what;

    ev.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    ev.gap = m->gap < UINT32_MAX ? (uint32_t)m->gap : UINT32_MAX;
    if (event_well_formed(&ev, &what))
        return text_fail(m->lines, "%s", what);
    assert(m->in_hand < BATCH_EVENTS);
    m->rec[m->in_hand++] = ev;
    m->gap = 0;
    return 0;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static char *blanks_after(char *p)
{
    return p + strspn(p, " \t");
}

/* The number at *at, which is moved behind it. False: there is none, or it has over 64 bits. */
static bool number(char **at, unsigned base, uint64_t *to)
{
    char *p = *at;
    unsigned digit;

    *to = 0;
    for (; (digit = hex_digit(*p)) < base; p++) {
        if (*to > (UINT64_MAX - digit) / base)
            return false;
        *to = *to * base + digit;
    }
    if (p == *at)
        return false;
    *at = p;
    return true;
}

/* Dinero's: hexadecimal, 0x before it or not, and a blank or nothing behind it. */
static bool field(char **at, uint64_t *to)
{
    char *p = blanks_after(*at);

    if (*p == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    if (!number(&p, 16, to) || (*p && *p != ' ' && *p != '\t'))
        return false;
    *at = p;
    return true;
}

/* ---- lackey --------------------------------------------------------------------------------- */

/* "==12== ..." and "--12-- ..." are Valgrind's own. */
static bool valgrind_says(const char *at)
{
    const char c = at[0];

    if ((c != '=' && c != '-') || at[1] != c)
        return false;
    size_t digits = strspn(at + 2, "0123456789");
    return digits && at[2 + digits] == c && at[3 + digits] == c;
}

/* "I  04016900,3" or " L 1ffeffe7e0,8": an instruction, or L, S, M and what it touches. */
static bool lackey_parse(char *at, char *what, uint64_t *addr, uint64_t *size)
{
    const char *const kinds = *at == ' ' ? "LSM" : "I";

    at += *at == ' ';
    if (!*at || !strchr(kinds, *at) || at[1] != ' ')
        return false;
    *what = *at;
    at = blanks_after(at + 1);
    return number(&at, 16, addr) && *at++ == ',' && number(&at, 10, size) && !*at;
}

static int lackey_line(struct import *m, char *at)
{
    uint64_t addr, size;
    char what;

    if (valgrind_says(at))
        return 0;
    if (!lackey_parse(at, &what, &addr, &size))
        return text_fail(m->lines,
                         "the line is not one of lackey's, as in \"I  04016900,3\" or \" S "
                         "1ffeffe7e0,8\"; keep the program's own output out of it with "
                         "valgrind --log-file=FILE");
    switch (what) {
    case 'I':
        return fetch(m, addr);
    case 'L':
        return access_of(m, EV_READ, addr, size);
    case 'S':
        return access_of(m, EV_WRITE, addr, size);
    default:
        return access_of(m, EV_READ, addr, size) ? -1 : access_of(m, EV_WRITE, addr, size);
    }
}

static bool lackey_bid(const struct input *in)
{
    char head[sizeof in->head + 1], what, *line = head, *end;
    uint64_t addr, size;

    memcpy(head, in->head, in->head_n);
    head[in->head_n] = '\0';
    if (valgrind_says(head))
        return strstr(head, " Lackey, ") != NULL;
    end = strpbrk(line, "\r\n");
    if (end)
        *end = '\0';
    return lackey_parse(line, &what, &addr, &size);
}

/* ---- Dinero --------------------------------------------------------------------------------- */

static int dinero_access(struct import *m, char what, uint64_t addr, uint64_t size)
{
    switch (what) {
    case 'r':
    case 'm': /* "miscellaneous, like a read" */
        return access_of(m, EV_READ, addr, size);
    case 'w':
        return access_of(m, EV_WRITE, addr, size);
    case 'i':
        return fetch(m, addr);
    default: /* operations on caches touch no memory */
        return 0;
    }
}

/* "0 7fff0010", what follows is a comment. As in Dinero IV an access is of an aligned word. */
static int din_line(struct import *m, char *at)
{
    static const char labels[] = "rwimcv";
    uint64_t label, addr;

    if (!field(&at, &label) || label >= sizeof labels - 1 || !field(&at, &addr))
        return text_fail(m->lines,
                         "a line of din is a label and an address, as in \"0 7fff0010\": 0 reads, "
                         "1 writes, 2 fetches an instruction, 3 to 5 are rare");
    if (labels[label] == 'i')
        return fetch(m, addr);
    return dinero_access(m, labels[label], addr & ~(uint64_t)(DIN_BYTES - 1), DIN_BYTES);
}

/* "r 7fff0010 8", what follows is a comment. */
static int xdin_line(struct import *m, char *at)
{
    uint64_t addr, size;

    at = blanks_after(at);
    const char what = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    const bool known = what && strchr("rwimcv", what) && (at[1] == ' ' || at[1] == '\t');
    at += known;
    if (!known || !field(&at, &addr) || !field(&at, &size))
        return text_fail(m->lines,
                         "a line of xdin is a letter, an address and a size, as in \"r 7fff0010 "
                         "8\"; letters are r, w, i, m, c and v, numbers hexadecimal");
    return dinero_access(m, what, addr, size);
}

/* ---- the source ----------------------------------------------------------------------------- */

static void collect(struct import *m)
{
    const uint64_t fills = m->lines->fills + TEXT_FILLS;

    while (m->in_hand + LINE_EVENTS <= BATCH_EVENTS && text_goes_on(m->lines, fills))
        if (text_line_next(m->lines) > 0 && *m->lines->at)
            (void)m->line(m, m->lines->at);
}

static int import_next(struct source *s, struct batch *b, struct err *e)
{
    struct import *m = (struct import *)s;

    collect(m);
    if (!m->in_hand && m->lines->failed.code)
        return err_pass(e, &m->lines->failed);
    *b = (struct batch){.rec = m->rec, .records = m->in_hand, .first = m->events};
    b->kept = input_bytes(m->lines->in);
    b->more = !b->records && !m->lines->ended;
    m->events += m->in_hand;
    m->in_hand = 0;
    return 0;
}

static void import_close(struct source *s)
{
    struct import *m = (struct import *)s;

    names_free(m->names);
    text_lines_free(m->lines);
    free(m);
}

static struct source *import_open(struct input *in, const char *format,
                                  int (*line)(struct import *m, char *at))
{
    struct import *m = xcalloc(1, sizeof *m);

    m->lines = text_lines_new(in);
    m->names = names_new();
    m->line = line;
    m->base = input_source(in, format, import_next, import_close, m->names);
    return &m->base;
}

static struct source *lackey_open(struct input *in, struct err *e)
{
    (void)e;
    return import_open(in, "lackey", lackey_line);
}

static struct source *din_open(struct input *in, struct err *e)
{
    (void)e;
    return import_open(in, "din", din_line);
}

static struct source *xdin_open(struct input *in, struct err *e)
{
    (void)e;
    return import_open(in, "xdin", xdin_line);
}

const struct trace_format trace_format_lackey = {
    .name = "lackey",
    .help = "What valgrind --tool=lackey --trace-mem=yes writes; one thread.",
    .bid = lackey_bid,
    .open = lackey_open,
};

const struct trace_format trace_format_din = {
    .name = "din",
    .help = "Dinero's traces without sizes; one thread. Told by name only: din:FILE.",
    .open = din_open,
};

const struct trace_format trace_format_xdin = {
    .name = "xdin",
    .help = "Dinero IV's traces with sizes; one thread. Told by name only: xdin:FILE.",
    .open = xdin_open,
};
