/* names.c - what threads, objects, sites and phases are called: a list in order of addition, and a
 * map a name space from ids to the latest name. Nothing is forgotten: texts live as long as the
 * list. */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bounds for what a trace from elsewhere may make us keep. */
enum { NAME_BYTES_MAX = 1024, NAMES_MAX = 1 << 24, NAMES_BYTES_MAX = 1 << 30 };

const char *const name_space_text[NAME_SPACES] = {
    [NAME_THREAD] = "thread",
    [NAME_OBJECT] = "object",
    [NAME_SITE] = "site",
    [NAME_PHASE] = "phase",
};

struct names {
    struct name *list; /* owns, and the texts */
    size_t n, cap;
    uint64_t text_bytes;
    struct map latest[NAME_SPACES]; /* id to place in list */
};

struct names *names_new(void)
{
    struct names *n = xcalloc(1, sizeof *n);

    for (int space = 0; space < NAME_SPACES; space++)
        map_init(&n->latest[space], NULL);
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++)
        free((void *)(uintptr_t)n->list[i].text);
    for (int space = 0; space < NAME_SPACES; space++)
        map_free(&n->latest[space]);
    free(n->list);
    free(n);
}

/* The bytes of the UTF-8 character at s: 0 when it is none (overlong and surrogates are none). */
static size_t utf8_bytes(const unsigned char *s)
{
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    size_t n;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* C0, delete, and C1 (U+0080 to U+009F): what a terminal may take for a command. */
static bool is_control(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0);
}

/* What is wrong with a name, or NULL. Names go to terminals, JSON and text traces as they are. */
static const char *text_fault(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t step;

    if (!*s)
        return "is empty";
    if (strnlen(text, NAME_BYTES_MAX + 1) > NAME_BYTES_MAX)
        return "is longer than 1024 bytes";
    for (; *s; s += step) {
        if (is_control(s))
            return "has control characters";
        step = utf8_bytes(s);
        if (!step)
            return "is not UTF-8";
    }
    return NULL;
}

/* Addresses as everywhere in hexadecimal. */
static const char *id_text(char to[24], enum name_space space, uint64_t id)
{
    const bool address = space == NAME_OBJECT || space == NAME_SITE;

    snprintf(to, 24, address ? "0x%" PRIx64 : "%" PRIu64, id);
    return to;
}

static int name_check(const struct names *n, enum name_space space, uint64_t id, const char *text,
                      struct err *e)
{
    const char *fault;
    char shown[24];

    if ((unsigned)space >= NAME_SPACES)
        return err_set(e, LARD_TRACE,
                       "names are for threads, objects, sites and phases; there is no name space "
                       "with the number %u",
                       (unsigned)space);
    if (space == NAME_THREAD && id >= MAX_THREADS)
        return err_set(e, LARD_TRACE, "thread %" PRIu64 " can't have a name; threads are below %d",
                       id, MAX_THREADS);
    fault = text_fault(text);
    if (fault)
        return err_set(e, LARD_TRACE,
                       "the name of %s %s %s; a name is 1 to 1024 bytes of UTF-8 without control "
                       "characters",
                       name_space_text[space], id_text(shown, space, id), fault);
    if (n->n >= NAMES_MAX || n->text_bytes + strlen(text) > NAMES_BYTES_MAX)
        return err_set(e, LARD_TRACE,
                       "the name of %s %s is one too many; there may be %d names with %d bytes in "
                       "all",
                       name_space_text[space], id_text(shown, space, id), NAMES_MAX,
                       NAMES_BYTES_MAX);
    return 0;
}

int names_add(struct names *n, enum name_space space, uint64_t id, const char *text, struct err *e)
{
    const char *known;

    if (name_check(n, space, id, text, e))
        return -1;
    known = names_find(n, space, id);
    if (known && !strcmp(known, text))
        return 0; /* recorders repeat themselves */
    n->list = xgrow(n->list, n->n, &n->cap, sizeof *n->list);
    n->list[n->n] = (struct name){.space = space, .id = id, .text = xstrdup(text)};
    n->text_bytes += strlen(text);
    *map_put(&n->latest[space], id) = n->n++;
    return 0;
}

const char *names_find(const struct names *n, enum name_space space, uint64_t id)
{
    const uint64_t *place = map_find(&n->latest[space], id);

    return place ? n->list[*place].text : NULL;
}

size_t names_count(const struct names *n)
{
    return n->n;
}

uint64_t names_bytes(const struct names *n)
{
    return n->text_bytes + n->n * (sizeof *n->list + 2 * sizeof(struct map_slot));
}

const struct name *names_at(const struct names *n, size_t i)
{
    return i < n->n ? &n->list[i] : NULL;
}
