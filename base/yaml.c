/* yaml.c - reads YAML by libyaml's events and flattens it; writes scalars that read back.
 *
 * Everything that could grow with a hostile text has a limit: bytes, depth, values, the length of
 * a name (names repeat their sections, so that they could grow as the square of the text). */
#include "base/yaml.h"

#include "base/input.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/param.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

/* ---- reading -------------------------------------------------------------------------------- */

struct yaml_reading {
    yaml_parser_t parser;
    yaml_event_t event; /* in hand; owns */
    struct yaml_flat *flat;
    const char *origin;
    char name[YAML_MAX_NAME + 1]; /* where we are */
    size_t name_len;
    struct map lines; /* digest of a name that the text has defined, as a value or as a section, to
                       * its line */
    struct err *e;
};

static unsigned line_in_hand(const struct yaml_reading *r)
{
    return (unsigned)r->event.start_mark.line + 1;
}

static int reject(const struct yaml_reading *r, const char *rule)
{
    return err_set(r->e, LARD_CONFIG, "%s:%u: %s", r->origin, line_in_hand(r), rule);
}

static int syntax_error(const struct yaml_reading *r)
{
    const yaml_parser_t *const p = &r->parser;

    if (p->error == YAML_MEMORY_ERROR)
        die("no memory to read %s", r->origin);
    if (p->error == YAML_READER_ERROR)
        return err_set(r->e, LARD_CONFIG,
                       "%s: byte %zu: %s; a configuration is a YAML text in UTF-8", r->origin,
                       p->problem_offset, p->problem);
    return err_set(
        r->e, LARD_CONFIG,
        "%s:%zu: not YAML: %s%s%s; indent with spaces, write name: value, and quote text "
        "that has any of : # , [ ] { } & * ! %% @ \" '",
        r->origin, p->problem_mark.line + 1, p->context ? p->context : "", p->context ? ", " : "",
        p->problem ? p->problem : "unexpected text");
}

static bool has_anchor_or_tag(const yaml_event_t *ev)
{
    if (ev->type == YAML_SCALAR_EVENT)
        return ev->data.scalar.anchor || ev->data.scalar.tag;
    if (ev->type == YAML_SEQUENCE_START_EVENT)
        return ev->data.sequence_start.anchor || ev->data.sequence_start.tag;
    if (ev->type == YAML_MAPPING_START_EVENT)
        return ev->data.mapping_start.anchor || ev->data.mapping_start.tag;
    return false;
}

static int next_event(struct yaml_reading *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        return syntax_error(r);
    if (r->event.type == YAML_ALIAS_EVENT)
        return reject(r,
                      "YAML aliases (*name) are not supported; repeat the value, or use inherit");
    if (has_anchor_or_tag(&r->event))
        return reject(r, "YAML anchors (&name) and tags (!name) are not supported; remove it, or "
                         "quote the text if it is meant as text");
    return 0;
}

/* That two of so few names have one digest is not to be expected. */
static int define_name(struct yaml_reading *r, unsigned line)
{
    uint64_t *const first = map_put(&r->lines, digest_bytes(r->name, r->name_len));

    if (*first)
        return err_set(r->e, LARD_CONFIG,
                       "%s:%u: %s is already there in line %u; a name can be given once in a file, "
                       "so remove one of the two",
                       r->origin, line, r->name, (unsigned)*first);
    *first = line;
    return 0;
}

/* Appends the scalar in hand, a key, to the name of where we are. */
static int push_name(struct yaml_reading *r)
{
    const char *const key = (const char *)r->event.data.scalar.value;
    const size_t n = r->event.data.scalar.length;

    if (strlen(key) != n || !yaml_name_ok(key))
        return reject(r, "a name must be made of letters, digits, _ and -, and dots between them");
    if (r->name_len + 1 + n > YAML_MAX_NAME)
        return reject(r, "the name with its sections is too long; at most 255 characters");
    if (r->name_len)
        r->name[r->name_len++] = '.';
    memcpy(r->name + r->name_len, key, n + 1);
    r->name_len += n;
    return 0;
}

static int add_item(struct yaml_reading *r, struct yaml_value *v, size_t *cap)
{
    const char *const text = (const char *)r->event.data.scalar.value;

    if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !*text)
        return err_set(r->e, LARD_CONFIG,
                       "%s:%u: %s has no value; give one, write \"\" for an empty text, or remove "
                       "the line",
                       r->origin, line_in_hand(r), r->name);
    if (strlen(text) != r->event.data.scalar.length)
        return reject(r, "a value can't hold a NUL character; remove it");
    v->item = xgrow(v->item, v->n, cap, sizeof *v->item);
    v->item[v->n++] = xstrdup(text);
    return 0;
}

/* Reads a value: from the first event of a scalar or a list to its last. */
static int read_items(struct yaml_reading *r, struct yaml_value *v)
{
    size_t cap = 0;

    v->list = r->event.type == YAML_SEQUENCE_START_EVENT;
    if (!v->list)
        return add_item(r, v, &cap);
    for (;;) {
        if (next_event(r))
            return -1;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            return 0;
        if (r->event.type != YAML_SCALAR_EVENT)
            return reject(r, "a list holds single values only, neither lists nor maps; quote the "
                             "text if it is meant as text");
        if (add_item(r, v, &cap))
            return -1;
    }
}

static int add_entry(struct yaml_reading *r, unsigned line)
{
    struct yaml_flat *const f = r->flat;

    if (f->n == YAML_MAX_VALUES)
        return reject(r, "too many values in one file; at most 10000");
    f->entry = xgrow(f->entry, f->n, &f->cap, sizeof *f->entry);
    struct yaml_entry *entry = &f->entry[f->n++];
    *entry = (struct yaml_entry){.name = xstrdup(r->name), .line = line};
    return read_items(r, &entry->value);
}

/* The map that has just begun, to its end. Recursion ends at YAML_MAX_DEPTH. */
static int read_map(struct yaml_reading *r, unsigned depth)
{
    const size_t outer = r->name_len;

    if (depth > YAML_MAX_DEPTH)
        return reject(r, "maps are nested too deeply; at most 16");
    for (;;) {
        if (next_event(r))
            return -1;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return 0;
        if (r->event.type != YAML_SCALAR_EVENT)
            return reject(r, "a name must be text, neither a list nor a map");
        unsigned line = line_in_hand(r);
        if (push_name(r) || define_name(r, line) || next_event(r) ||
            (r->event.type == YAML_MAPPING_START_EVENT ? read_map(r, depth + 1)
                                                       : add_entry(r, line)))
            return -1;
        r->name_len = outer;
        r->name[outer] = '\0';
    }
}

static int read_root(struct yaml_reading *r)
{
    const yaml_event_t *const ev = &r->event;

    if (ev->type == YAML_MAPPING_START_EVENT)
        return read_map(r, 1);
    if (ev->type == YAML_SCALAR_EVENT && !ev->data.scalar.length)
        return 0;
    return reject(r, "a configuration is a map; write name: value");
}

static int read_stream(struct yaml_reading *r)
{
    if (next_event(r) || next_event(r)) /* the start of the stream, of the document */
        return -1;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (next_event(r) || read_root(r) || next_event(r) || next_event(r))
        return -1;
    if (r->event.type != YAML_STREAM_END_EVENT)
        return reject(r, "a second YAML document begins here; a file holds one configuration");
    return 0;
}

int yaml_flat_text(struct yaml_flat *f, const char *origin, const char *text, size_t bytes,
                   struct err *e)
{
    struct yaml_reading r = {.flat = f, .origin = origin, .e = e};

    *f = (struct yaml_flat){0};
    if (bytes > YAML_MAX_BYTES)
        return err_set(e, LARD_CONFIG, "%s: larger than 1 MiB; is this a configuration?", origin);
    if (!yaml_parser_initialize(&r.parser))
        die("no memory to read %s", origin);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    int status = read_stream(&r);
    map_free(&r.lines);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return status;
}

int yaml_flat_file(struct yaml_flat *f, const char *path, struct err *e)
{
    size_t n;
    char *text = file_text(path, YAML_MAX_BYTES + 1, &n);

    *f = (struct yaml_flat){0};
    if (!text)
        return err_set(e, LARD_CONFIG, "%s: %s; a configuration must be a file that can be read",
                       path, strerror(errno));
    const int status = yaml_flat_text(f, path, text, n, e);
    free(text);
    return status;
}

void yaml_value_free(struct yaml_value *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->item[i]);
    free(v->item);
    *v = (struct yaml_value){.list = true};
}

void yaml_flat_free(struct yaml_flat *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->entry[i].name);
        yaml_value_free(&f->entry[i].value);
    }
    free(f->entry);
    *f = (struct yaml_flat){0};
}

/* ---- names and texts ------------------------------------------------------------------------ */

static bool is_ascii_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool yaml_name_ok(const char *name)
{
    size_t segment = 0;

    for (; *name; name++) {
        if (*name == '.' && !segment)
            return false;
        if (*name != '.' && *name != '_' && *name != '-' && !is_ascii_alnum(*name))
            return false;
        segment = *name == '.' ? 0 : segment + 1;
    }
    return segment > 0;
}

enum { NOT_UTF8 = UINT32_MAX >> 1 };

/* The code point at *s, which moves past it (past one byte where it isn't UTF-8). */
static uint32_t next_code(const char **s)
{
    uint32_t code;
    const size_t n = utf8_char(*s, &code);

    *s += n ? n : 1;
    return n ? code : NOT_UTF8;
}

bool yaml_text_ok(const char *text)
{
    while (*text)
        if (next_code(&text) == NOT_UTF8)
            return false;
    return true;
}

/* May stand as it is in a quoted scalar and in a comment: neither control nor line break. */
static bool is_printable(uint32_t code)
{
    if (code < 0xa0)
        return code >= 0x20 && code < 0x7f;
    return code != NOT_UTF8 && code != 0x2028 && code != 0x2029 && code != 0xfeff &&
           (code & 0xfffe) != 0xfffe;
}

static bool needs_quotes(const char *s)
{
    static const char *const meant_otherwise[] = {"true", "false", "yes", "no", "on",
                                                  "off",  "null",  "y",   "n"};

    for (size_t i = 0; i < ARRAY_SIZE(meant_otherwise); i++)
        if (!strcasecmp(s, meant_otherwise[i]))
            return true;
    if (!is_ascii_alnum(*s) ? *s != '/' && *s != '_' : *s <= '9')
        return true;
    for (; *s; s++)
        if (!is_ascii_alnum(*s) && !strchr("_/.-", *s))
            return true;
    return false;
}

void yaml_write_scalar(FILE *out, const char *text)
{
    if (!needs_quotes(text)) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    while (*text) {
        const char *const from = text;
        const uint32_t code = next_code(&text);

        if (code == '"' || code == '\\')
            fprintf(out, "\\%c", (int)code);
        else if (code == '\n')
            fputs("\\n", out);
        else if (is_printable(code))
            fwrite(from, 1, (size_t)(text - from), out);
        else
            fprintf(out, "\\U%08x", (unsigned)(code == NOT_UTF8 ? 0xfffd : code));
    }
    fputc('"', out);
}

void yaml_write_comment(FILE *out, const char *text)
{
    while (*text) {
        const char *const from = text;

        if (is_printable(next_code(&text)))
            fwrite(from, 1, (size_t)(text - from), out);
        else
            fputc('?', out);
    }
}

/* ---- the library ---------------------------------------------------------------------------- */

void config_library(library_fn *fn, void *arg)
{
    fn(arg, "yaml", yaml_get_version_string());
}
