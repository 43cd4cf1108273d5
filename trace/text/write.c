/* write.c - events into the text form, ids as numbers and names as lines of their own: reading
 * the text gives the same events, and writing those the same text. */
#include "trace/text/form.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct text_sink {
    struct sink base;
    struct text_out out;
    size_t named; /* names written */
};

int text_written(struct text_out *o, struct err *e)
{
    if (LIKELY(!ferror(o->file)))
        return 0;
    if (!o->reason)
        o->reason = errno;
    const bool room = o->reason == ENOSPC || o->reason == EDQUOT || o->reason == EFBIG;
    return err_set(e, LARD_OUTPUT, "the trace can't be written: %s%s",
                   o->reason ? strerror(o->reason) : "an earlier error",
                   room ? "; make room, or write somewhere else" : "");
}

int text_flushed(struct text_out *o, struct err *e)
{
    errno = 0;
    (void)fflush(o->file); /* ferror tells a failure */
    return text_written(o, e);
}

static void write_quoted(FILE *out, const char *text)
{
    uint32_t c;

    putc('"', out);
    for (size_t n; *text; text += n) {
        n = utf8_char(text, &c); /* a name is UTF-8 */
        if (c == '"' || c == '\\')
            putc('\\', out);
        if (char_hidden(c))
            fprintf(out, "\\u{%" PRIx32 "}", c);
        else
            fwrite(text, 1, n, out);
    }
    putc('"', out);
}

/* Appends an operand, with a blank before it, at *to, which moves behind it. */
static void put_operand(char **to, const struct event *ev, const struct operand *o)
{
    const bool hex = o->is == ADDRESS || o->is == OBJECT;
    const char *letter = o->is == KERNEL ? "K" : o->is == COUNT ? "" : "T";
    const bool more = ev->flags & EVF_MORE;
    const uint64_t v = o->at == AT_MORE && !more ? 0 : operand_get(ev, o);

    if (o->is == OUTCOMES) {
        *(*to)++ = ' ';
        for (uint32_t i = 0; i < ev[1].size; i++)
            *(*to)++ = (char)('0' + (v >> i & 1));
        **to = '\0';
    } else if (o->is == ELEMENTS) {
        if (more && (v || ev[1].size))
            *to += sprintf(*to, " %" PRIu64 " %" PRIu32, v, ev[1].size);
    } else if (hex) {
        *to += sprintf(*to, " 0x%" PRIx64, v);
    } else if (o->is != WRITER || v) {
        *to += sprintf(*to, " %s%" PRIu64, letter, v - (o->is == WRITER));
    }
}

void event_shown(const struct event *ev, char to[EVENT_SHOWN_MAX])
{
    const struct ev_info *info = &ev_info[ev->kind];
    const struct operand *o = text_operands[info->form].at;

    to += sprintf(to, "T%u %s", (unsigned)ev->tid, info->text);
    for (size_t i = 0; i < OPERANDS_MAX && o[i].is != END; i++)
        put_operand(&to, ev, &o[i]);
}

static void write_attributes(FILE *out, const struct event *ev)
{
    const uint64_t site = event_site(ev);

    if (site)
        fprintf(out, " @0x%" PRIx64, site);
    if (ev->gap)
        fprintf(out, " +%" PRIu32, ev->gap);
    for (size_t i = 0; i < FLAG_WORDS; i++)
        if (ev->flags & text_flag_words[i].flag && flag_fits(&text_flag_words[i], ev))
            fprintf(out, " %s", text_flag_words[i].text);
    if (event_order(ev))
        fprintf(out, " %s", order_text(event_order(ev)));
    if (event_modifies_atomic(ev) && !(ev->flags & EVF_C11))
        fputs(" " TEXT_MERGE, out);
}

static int text_sink_event(struct sink *s, const struct event *ev, struct err *e)
{
    struct text_sink *t = (struct text_sink *)s;
    char shown[EVENT_SHOWN_MAX];

    assert(ev_info[ev->kind].text);
    errno = 0;
    event_shown(ev, shown);
    fputs(shown, t->out.file);
    write_attributes(t->out.file, ev);
    putc('\n', t->out.file);
    return text_written(&t->out, e);
}

static void write_name(FILE *out, const struct name *name)
{
    const bool address = name->space == NAME_OBJECT || name->space == NAME_SITE;

    fprintf(out, address ? "name %s 0x%" PRIx64 " " : "name %s %" PRIu64 " ",
            name_space_text[name->space], name->id);
    write_quoted(out, name->text);
    putc('\n', out);
}

static int text_sink_names(struct sink *s, const struct names *from, struct err *e)
{
    struct text_sink *t = (struct text_sink *)s;

    errno = 0;
    for (; t->named < names_count(from); t->named++)
        write_name(t->out.file, names_at(from, t->named));
    return text_written(&t->out, e);
}

static void text_sink_abort(struct sink *s)
{
    free(s);
}

static int text_sink_finish(struct sink *s, struct err *e)
{
    const int result = text_flushed(&((struct text_sink *)s)->out, e);

    text_sink_abort(s);
    return result;
}

int text_info_check(const struct sink_info *info, const char *producer, struct err *e)
{
    if (!text_producer_fits(producer))
        return err_set(e, LARD_TRACE,
                       "the producer of a trace is 1 to %d characters of printable ASCII",
                       PRODUCER_MAX);
    if (info->granularity && !text_granularity_fits(info->granularity))
        return err_set(e, LARD_TRACE, "the granularity of a trace is 1, 2, 4 or 8 bytes, not %u",
                       info->granularity);
    if (info->first > INT64_MAX)
        return err_set(e, LARD_TRACE, "the number of the first event must be below 2^63");
    return 0;
}

struct sink *sink_text(FILE *out, const struct sink_info *info, struct err *e)
{
    const char *producer = info->producer ? info->producer : "lardsim " PACKAGE_VERSION;

    if (text_info_check(info, producer, e))
        return NULL;
    struct text_sink *t = xcalloc(1, sizeof *t);
    t->base = (struct sink){.event = text_sink_event,
                            .names = text_sink_names,
                            .finish = text_sink_finish,
                            .abort = text_sink_abort};
    t->out.file = out;
    errno = 0;
    fprintf(out, "%s %d\nproducer ", TEXT_MAGIC, TEXT_VERSION);
    write_quoted(out, producer);
    putc('\n', out);
    if (info->first)
        fprintf(out, "first %" PRIu64 "\n", info->first);
    if (info->granularity)
        fprintf(out, "granularity %u\n", info->granularity);
    if (info->layout)
        fprintf(out, "layout %s\n", layouts[info->layout].name);
    if (info->gaps)
        fprintf(out, "gaps %s\n", gap_unit_names[info->gaps]);
    if (ferror(out))
        t->out.reason = errno;
    return &t->base;
}
