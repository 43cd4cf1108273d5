/* intern.h - texts to numbers, dense in order of appearance, inside trace/ only. Texts are
 * borrowed; they stand in the names of a trace. */
#ifndef LARDSIM_INTERN_H
#define LARDSIM_INTERN_H

#include "base/map.h"

/* Most traces call their variables V1, V2, ...: such texts are found in an array, all others in a
 * map. (Measured with 100,000 variables at random: 2 against 16 ns.) */
struct intern {        /* all zero is empty */
    const char **text; /* owns the array, borrows the texts */
    size_t n, cap;
    char letter;        /* the letter of those in the array; NUL: not known yet */
    uint32_t *numbered; /* owns; by what follows the letter: the text's number + 1, 0 for none */
    size_t numbered_n;
    struct map by_key; /* the others: to the text's number + 1 */
};

#define INTERN_NONE SIZE_MAX
enum { INTERN_NUMBERED_MAX = 1 << 20 };

void intern_free(struct intern *t); /* leaves it empty */
/* n bytes at `text`, at least one, which need not be followed by a NUL. */
size_t intern_find(const struct intern *t, const char *text, size_t n);
uint64_t intern_bytes(const struct intern *t);         /* on the host */
size_t intern_add(struct intern *t, const char *text); /* must not be there; its number */

/* The number of the text that is t->letter and then `place` in decimals; < INTERN_NUMBERED_MAX. */
static inline size_t intern_numbered(const struct intern *t, uint64_t place)
{
    return place < t->numbered_n ? (size_t)t->numbered[place] - 1 : INTERN_NONE;
}

/* The decimal number of 1 to 18 digits at p, written as one writes it: where it ends, or NULL. It
 * must be followed by something else. */
static inline const char *intern_decimal(const char *p, uint64_t *to)
{
    const char *const from = p;
    uint64_t v = 0;
    unsigned digit;

    for (; (digit = (unsigned)*p - '0') <= 9; p++)
        v = v * 10 + digit;
    const size_t n = (size_t)(p - from);
    *to = v;
    return n == 0 || n > 18 || (n > 1 && *from == '0') ? NULL : p;
}

#endif
