/* csv.c - CSV as RFC 4180 has it, but for line ends, which are single newlines when written; files
 * that have others are read, too. */
#include "base/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"

void csv_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

__extension__ typedef __int128 wide;

char *csv_excess(uint64_t a, uint64_t b)
{
    const wide far = a < b ? (wide)b - (wide)a : (wide)a - (wide)b;
    const wide size = (far * 1000000 + (wide)(b / 2)) / (wide)b;

    return xasprintf("%s%" PRIu64 ".%06" PRIu64, a < b && size ? "-" : "",
                     (uint64_t)(size / 1000000), (uint64_t)(size % 1000000));
}

/* ---- reading -------------------------------------------------------------------------------- */

static void row_put(struct csv_row *r, int c)
{
    r->text = xgrow(r->text, r->bytes, &r->room, 1);
    r->text[r->bytes++] = (char)c;
}

enum { CSV_END = -1 };

static int csv_take(struct csv_text *in)
{
    return in->at < in->end ? (unsigned char)*in->at++ : CSV_END;
}

/* The rest of a field that began with a quote: what ends it, or CSV_END. */
static int read_quoted(struct csv_row *r, struct csv_text *in)
{
    for (int c; (c = csv_take(in)) != CSV_END;) {
        if (c == '"' && (c = csv_take(in)) != '"')
            return c;
        row_put(r, c);
    }
    return CSV_END;
}

static int read_field(struct csv_row *r, struct csv_text *in, int c)
{
    if (c == '"')
        c = read_quoted(r, in);
    for (; c != ',' && c != '\n' && c != CSV_END; c = csv_take(in))
        if (c != '\r' && c != '\0')
            row_put(r, c);
    return c;
}

bool csv_read(struct csv_row *r, struct csv_text *in)
{
    int c = csv_take(in);

    r->n = r->bytes = 0;
    if (c == CSV_END)
        return false;
    for (;; c = csv_take(in)) {
        const size_t from = r->bytes;
        c = read_field(r, in, c);
        row_put(r, '\0');
        r->at = xgrow(r->at, r->n, &r->cap, sizeof *r->at);
        r->at[r->n++] = from;
        if (c != ',')
            return true;
    }
}

void csv_free(struct csv_row *r)
{
    free(r->text);
    free(r->at);
    *r = (struct csv_row){0};
}
