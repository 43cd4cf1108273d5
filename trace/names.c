/* names.c - what threads, objects, sites and phases are called: a list in order of addition, and a
 * map a name space from ids to the latest name. Nothing is forgotten: texts live as long as the
 * list, and never move. */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

/* Bounds for what a trace from elsewhere may make us keep. */
enum { NAME_BYTES_MAX = 1024, NAMES_MAX = 1 << 24, NAMES_BYTES_MAX = 1 << 30 };

const char *const name_space_text[NAME_SPACES + 1] = {
    [NAME_THREAD] = "thread",
    [NAME_OBJECT] = "object",
    [NAME_SITE] = "site",
    [NAME_PHASE] = "phase",
};

/* Texts stand one behind the other in blocks, each half as large again as all before it, up to
 * TEXT_MOST. */
enum { TEXT_LEAST = 1 << 12, TEXT_MOST = 1 << 17 };
struct text_block {
    struct text_block *before;
    char text[];
};

struct names {
    struct name *list; /* owns */
    size_t n, cap;
    uint64_t text_bytes;
    struct map latest[NAME_SPACES]; /* id to place in list */
    struct budget tables;           /* list and maps */
    struct text_block *texts;       /* owns; the latest */
    char *free_text;                /* in it */
    size_t free_bytes;
    uint64_t blocks; /* bytes of all */
};

struct names *names_new(void)
{
    struct names *n = xcalloc(1, sizeof *n);

    for (int space = 0; space < NAME_SPACES; space++)
        map_init(&n->latest[space], &n->tables);
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    for (struct text_block *t = n->texts, *before; t; t = before) {
        before = t->before;
        free(t);
    }
    for (int space = 0; space < NAME_SPACES; space++)
        map_free(&n->latest[space]);
    free(n->list);
    free(n);
}

/* Returns the fault of a name, or NULL. */
static const char *text_fault(const char *text)
{
    size_t step;
    uint32_t c;

    if (!*text)
        return "is empty";
    if (strnlen(text, NAME_BYTES_MAX + 1) > NAME_BYTES_MAX)
        return "is longer than 1024 bytes";
    for (; *text; text += step) {
        step = utf8_char(text, &c);
        /* C0, delete, and C1 (U+0080 to U+009F): what a terminal may take for a command. */
        if (step && (c < 0x20 || (c >= 0x7f && c < 0xa0)))
            return "has control characters";
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
    char shown[24];

    if ((unsigned)space >= NAME_SPACES)
        return err_set(e, LARD_TRACE,
                       "names are for threads, objects, sites and phases; there is no name space "
                       "with the number %u",
                       (unsigned)space);
    if (space == NAME_THREAD && id >= MAX_THREADS)
        return err_set(e, LARD_TRACE, "thread %" PRIu64 " can't have a name; threads are below %d",
                       id, MAX_THREADS);
    const char *fault = text_fault(text);
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

static const char *keep_text(struct names *n, const char *text)
{
    const size_t bytes = strlen(text) + 1;

    if (bytes > n->free_bytes) {
        const size_t half = n->blocks / 2, more = half < TEXT_LEAST ? TEXT_LEAST : half;
        const size_t room = more < TEXT_MOST ? more : TEXT_MOST;
        struct text_block *t = xmalloc(room);
        t->before = n->texts;
        n->texts = t;
        n->free_text = t->text;
        n->free_bytes = room - sizeof *t;
        n->blocks += heap_bytes(room);
    }
    char *const to = memcpy(n->free_text, text, bytes);
    n->free_text += bytes;
    n->free_bytes -= bytes;
    return to;
}

static void name_put(struct names *n, const struct name *name)
{
    n->list = budget_grow(&n->tables, n->list, n->n, &n->cap, sizeof *n->list);
    n->list[n->n] = *name;
    n->text_bytes += strlen(name->text);
    *map_put(&n->latest[name->space], name->id) = n->n++;
}

int names_refer(struct names *n, const struct name *of, struct err *e)
{
    if (name_check(n, of->space, of->id, of->text, e))
        return -1;
    const char *known = names_find(n, of->space, of->id);
    if (!known || strcmp(known, of->text) != 0) /* recorders repeat themselves */
        name_put(n, of);
    return 0;
}

int names_add(struct names *n, enum name_space space, uint64_t id, const char *text, struct err *e)
{
    const struct name name = {.space = space, .id = id, .text = text};
    const size_t was = n->n;

    if (names_refer(n, &name, e))
        return -1;
    if (n->n > was)
        n->list[was].text = keep_text(n, text);
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

/* Hashes the names of one thing, one after the other. */
static uint64_t hash_more(uint64_t before, const struct name *name)
{
    const uint64_t head[] = {before, name->space, name->id};
    char text[sizeof head + NAME_BYTES_MAX];
    const size_t bytes = strlen(name->text);

    memcpy(text, head, sizeof head);
    memcpy(text + sizeof head, name->text, bytes);
    return digest_bytes(text, sizeof head + bytes);
}

uint64_t names_hash(const struct names *n)
{
    struct map of[NAME_SPACES] = {{.slots = NULL}};
    uint64_t sum = 0;

    for (size_t i = 0; n && i < n->n; i++) {
        uint64_t *hash = map_put(&of[n->list[i].space], n->list[i].id);
        sum -= *hash;
        *hash = hash_more(*hash, &n->list[i]);
        sum += *hash;
    }
    for (int space = 0; space < NAME_SPACES; space++)
        map_free(&of[space]);
    return sum;
}

uint64_t names_bytes(const struct names *n)
{
    return n->blocks + 2 * n->tables.live;
}

const struct name *names_at(const struct names *n, size_t i)
{
    return i < n->n ? &n->list[i] : NULL;
}
