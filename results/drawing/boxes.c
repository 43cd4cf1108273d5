/* boxes.c - boxes in boxes, what is said of them, and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "base/text.h"
#include "results/drawing/drawing.h"

void box_add(struct box *in, struct box *b)
{
    in->inside = xgrow(in->inside, in->n, &in->cap, sizeof *in->inside);
    in->inside[in->n++] = b;
}

/* Formats text in which nothing is hidden: a file's name may be in it. */
static char *visible(const char *fmt, va_list ap)
{
    char *text = xvasprintf(fmt, ap);
    char *shown = text_visible(text);

    free(text);
    return shown;
}

struct box *box_new(struct box *in, uint64_t times, const char *fmt, ...)
{
    struct box *b = xcalloc(1, sizeof *b);
    va_list ap;

    va_start(ap, fmt);
    b->title = visible(fmt, ap);
    va_end(ap);
    b->times = times;
    if (in)
        box_add(in, b);
    return b;
}

void box_say(struct box *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    b->line = xgrow(b->line, b->lines, &b->line_cap, sizeof *b->line);
    b->line[b->lines++] = visible(fmt, ap);
    va_end(ap);
}

void box_takes(struct box *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    b->takes = visible(fmt, ap);
    va_end(ap);
}

static void box_free(struct box *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->lines; i++)
        free(b->line[i]);
    for (size_t i = 0; i < b->n; i++)
        box_free(b->inside[i]);
    free(b->line);
    free(b->inside);
    free(b->title);
    free(b->takes);
    free(b);
}

void drawing_free(struct machine_drawing *d)
{
    box_free(d->box);
    for (size_t i = 0; i < d->specs; i++)
        free(d->spec[i]);
    free(d->spec);
    free(d->takes_time);
    free(d->metadata);
}

/* ---- text ----------------------------------------------------------------------------------- */

char *box_heading(const struct box *b, const char *times)
{
    return b->times > 1 ? xasprintf("%llu %s %s", (unsigned long long)b->times, times, b->title)
                        : xstrdup(b->title);
}

char *drawing_line(const char **rest, size_t columns)
{
    const size_t n = print_fitting(*rest, columns);
    char *line = xasprintf("%.*s", (int)n, *rest);

    *rest += n + ((*rest)[n] != '\0');
    return line;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void box_json(struct json *j, const struct box *b)
{
    json_object(j);
    json_key_str(j, "title", b->title);
    json_key_u64(j, "times", b->times);
    if (b->takes)
        json_key_str(j, "takes", b->takes);
    if (b->holds) {
        json_key_bool(j, "data", b->holds & HOLDS_DATA);
        json_key_bool(j, "metadata", b->holds & HOLDS_METADATA);
    }
    json_key_strs(j, "says", (const char *const *)b->line, b->lines);
    json_key_array(j, "inside");
    for (size_t i = 0; i < b->n; i++)
        box_json(j, b->inside[i]);
    json_end(j);
    json_end(j);
}

void drawing_json(const struct machine_drawing *d, FILE *out)
{
    struct json j;

    json_page(&j, out, "lardsim-machine-1");
    json_key_str(&j, "metadata", d->metadata);
    json_key(&j, "machine");
    box_json(&j, d->box);
    json_end(&j);
}
