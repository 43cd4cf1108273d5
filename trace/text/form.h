/* form.h - what the reader and the writer of the text form share, inside trace/ only: its
 * lines and words, its version, the words for flags. docs/text-format.md is the specification. */
#ifndef LARDSIM_TEXT_FORM_H
#define LARDSIM_TEXT_FORM_H

#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "trace/trace.h"

#define TEXT_MAGIC "lardsim-text"
#define TEXT_MERGE "merge" /* an atomic write or rmw that is not of C11 */
enum { TEXT_VERSION = 2, TEXT_LINE_MAX = 65536, PRODUCER_MAX = 127 };

struct flag_word {
    const char *text;
    uint16_t flag;
    const char *wrong; /* a bit of two meanings: what is wrong with the word on the other events */
    bool access;       /* and of which it is: of accesses, or of the others */
};
enum { FLAG_WORDS = 12 };
/* Whether the word can stand on the event. */
static inline bool flag_fits(const struct flag_word *w, const struct event *ev)
{
    return !w->wrong || w->access == event_is_access(ev);
}
extern const struct flag_word text_flag_words[FLAG_WORDS];

/* Checks on a header's fields, for both forms. */
bool text_producer_fits(const char *text); /* printable ASCII, not too long, not empty */
/* Checks that a sink's information on its trace is such that every format can hold it. */
int text_info_check(const struct sink_info *info, const char *producer, struct err *e);
bool text_granularity_fits(uint64_t granularity); /* 1, 2, 4 or 8 */
/* Takes what a head says of its trace: the value of producer (*producer owns its text),
 * granularity, layout or gaps. NULL, or what is wrong; of other keys nothing is. */
const char *text_header(struct source *s, char **producer, const char *key, const char *value);

/* A sink's text on its way out. */
struct text_out {
    FILE *file; /* borrows */
    int reason; /* errno of the write that failed first; 0: none, or unknown */
};
int text_written(struct text_out *o, struct err *e); /* after writing; errno was 0 before */
int text_flushed(struct text_out *o, struct err *e); /* all of it */

/* ---- lines and words: text/line.c ----------------------------------------------------------- */

/* A batch, even one without events, ends after so many fills: 1 MiB of lines. What unpacks them is
 * then looked at (input_bytes). */
enum { TEXT_FILLS = 8 };
struct lines {
    struct input *in;  /* owns */
    uint64_t number;   /* the present line's, from 1 */
    char *at;          /* the rest of the line in hand, NUL-terminated */
    struct err failed; /* the first error; it stays */
    uint64_t fills;    /* how often the buffer was filled */
    size_t start, end; /* bounds of the bytes in the buffer that were not given out */
    bool eof, ended;   /* of the input; there are no more lines */
    char buffer[2 * TEXT_LINE_MAX + 2];
};

struct lines *text_lines_new(struct input *in); /* takes ownership of in */
void text_lines_free(struct lines *l);
int text_line_next(struct lines *l); /* 1: a line, without its end; 0: no more; -1: l->failed */

/* Whether a batch may have more lines, up to so many fills. */
static inline bool text_goes_on(const struct lines *l, uint64_t fills)
{
    return !l->ended && !l->failed.code && l->fills < fills;
}

/* Sets l->failed to "file:line: ..."; always -1. */
int text_fail(struct lines *l, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Adds a name that the line has. 0, or -1 and l->failed. */
int text_name(struct lines *l, struct names *to, enum name_space space, uint64_t id,
              const char *text);

struct word {
    char *text;  /* NUL-terminated, unquoted; valid until the next line */
    bool at;     /* an @ stood before it */
    bool quoted; /* it was in quotes */
};
/* The next word of the line in hand, up to a comment. 1: a word; 0: no more; -1: l->failed. */
int text_word(struct lines *l, struct word *w);

/* Decimal, or hexadecimal after 0x. NULL, or what is wrong: "is not a number", ... */
const char *text_number_parse(const char *text, uint64_t *value);

enum { SHOWN_MAX = 48 };
/* The beginning of a word from the input, fit for a message; returns `to`. */
const char *text_shown(char to[SHOWN_MAX], const char *text);

/* These fail with a message: `what` is what should stand there, `usage` how the line is written. */
int text_bare_word(struct lines *l, const char *what, const char *usage, struct word *w);
int text_number(struct lines *l, const char *what, const char *usage, uint64_t max, uint64_t *to);
int text_number_of(struct lines *l, const char *text, const char *what, uint64_t max, uint64_t *to);
int text_line_over(struct lines *l); /* nothing may follow but a comment */
int text_twice(struct lines *l, const char *what);
/* The word `is` ("is no flag"): proposes the nearest of what is known, else says `otherwise`. */
int text_unknown(struct lines *l, const char *text, const char *const *known, size_t n,
                 const char *is, const char *otherwise);

/* ---- operands: text/event.c ----------------------------------------------------------------- */

enum operand_is { END, ADDRESS, COUNT, OBJECT, THREAD, KERNEL, WRITER, ELEMENTS, OUTCOMES };
enum { /* an operand's place in its event's records */
       AT_ADDR = offsetof(struct event, addr),
       AT_AUX = offsetof(struct event, aux),
       AT_SIZE = offsetof(struct event, size),
       AT_MORE = sizeof(struct event) + offsetof(struct event, addr),
       OPERANDS_MAX = 3
};
struct text_operands {
    const char *usage;
    struct operand {
        uint8_t is, at;
        const char *what; /* in messages */
    } at[OPERANDS_MAX];
};
extern const struct text_operands text_operands[]; /* by form */
static inline uint64_t operand_get(const struct event *ev, const struct operand *o)
{
    uint64_t v;

    if (o->at == AT_SIZE)
        return ev->size;
    memcpy(&v, (const char *)ev + o->at, sizeof v);
    return v;
}
static inline void operand_set(struct event *ev, const struct operand *o, uint64_t v)
{
    if (o->at == AT_SIZE)
        ev->size = (uint32_t)v;
    else
        memcpy((char *)ev + o->at, &v, sizeof v);
}

/* ---- events: text/event.c ------------------------------------------------------------------- */

struct id_space { /* quoted names in place of ids */
    enum name_space space;
    uint64_t next, step; /* ids for names that come without one */
    struct map first;    /* digest of a text to the first name with it, its place in names + 1 */
};

struct text_reader {
    struct lines *lines; /* owns */
    unsigned version;    /* 1 to TEXT_VERSION */
    struct names *names; /* owns */
    struct id_space objects, sites;
};

/* Returns the id for a quoted name: the first id that had it, or a new one. text/read.c */
int text_id(struct text_reader *t, struct id_space *s, const char *text, uint64_t *id);

/* The rest of a line that began with the word `actor`. -1: t->lines->failed. */
int text_event(struct text_reader *t, const char *actor, struct event ev[EVENT_RECORDS]);

#endif
