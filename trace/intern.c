/* intern.c - texts to numbers. In the map a short text is its own key, so that most look-ups
 * compare no text; the key of a longer one is its digest with the top bit set, or the next free
 * number. */
#include "trace/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"

enum { SHORT = 7 };
#define LONG_KEY (UINT64_C(1) << 63)

void intern_free(struct intern *t)
{
    map_free(&t->by_key);
    free(t->numbered);
    free(t->text);
    *t = (struct intern){.letter = '\0'};
}

static bool same(const char *known, const char *text, size_t n)
{
    return strlen(known) == n && !memcmp(known, text, n);
}

/* The key that has the text, or the free one where it would go. A short text with its length in the
 * top byte, which is at most 7: the top bit is 0. */
static uint64_t key_of(const struct intern *t, const char *text, size_t n)
{
    const uint64_t *at;
    uint64_t key = 0;

    if (n <= SHORT) {
        for (size_t i = 0; i < n; i++)
            key = key << 8 | (unsigned char)text[i];
        return key | (uint64_t)n << 56;
    }
    key = digest_bytes(text, n) | LONG_KEY;
    while ((at = map_find(&t->by_key, key)) && !same(t->text[*at - 1], text, n))
        key = (key + 1) | LONG_KEY;
    return key;
}

/* A letter and a number that the array may hold. */
static bool has_place(const char *text, size_t n, uint64_t *place)
{
    char digits[SHORT + 1] = "";

    if (n < 2 || n > SHORT)
        return false;
    memcpy(digits, text + 1, n - 1);
    return intern_decimal(digits, place) == digits + n - 1 && *place < INTERN_NUMBERED_MAX;
}

/* Names like T17, x42 are most of what traces have: these are found by indexing an array. */
size_t intern_find(const struct intern *t, const char *text, size_t n)
{
    uint64_t place;

    if (*text == t->letter && has_place(text, n, &place))
        return intern_numbered(t, place);
    const uint64_t *at = map_find(&t->by_key, key_of(t, text, n));
    return at ? (size_t)*at - 1 : INTERN_NONE;
}

/* Makes room for the place, the array at least doubling. */
static void numbered_grow(struct intern *t, size_t place)
{
    size_t n = t->numbered_n ? t->numbered_n : 64;

    if (place < t->numbered_n)
        return;
    while (n <= place)
        n *= 2;
    t->numbered = xrecalloc(t->numbered, t->numbered_n, n, sizeof *t->numbered);
    t->numbered_n = n;
}

size_t intern_add(struct intern *t, const char *text)
{
    const size_t n = strlen(text), number = t->n;
    uint64_t place;

    assert(n && number < UINT32_MAX);
    if (has_place(text, n, &place) && (!t->letter || *text == t->letter)) {
        t->letter = *text;
        numbered_grow(t, place);
        assert(!t->numbered[place]);
        t->numbered[place] = (uint32_t)number + 1;
    } else {
        uint64_t *const to = map_put(&t->by_key, key_of(t, text, n));
        assert(!*to);
        *to = number + 1;
    }
    t->text = xgrow(t->text, t->n, &t->cap, sizeof *t->text);
    t->text[t->n++] = text;
    return number;
}

uint64_t intern_bytes(const struct intern *t)
{
    return t->cap * sizeof *t->text + t->numbered_n * sizeof *t->numbered + map_bytes(&t->by_key);
}
