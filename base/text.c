/* text.c - which name was meant: the nearest by edit distance. Letters are ASCII, whatever the
 * locale; this is for names of parameters, policies and verbs, not for prose. */
#include "base/base.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 128 }; /* longer names are nobody's typing error */

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fold(a[i]) != fold(b[i]))
            return false;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and exchanges of neighbours that make b of a (optimal string
 * alignment); both are at most NAME_MAX_LENGTH long. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][NAME_MAX_LENGTH + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(last[j], row[j - 1]) + 1;
            row[j] = least(row[j], last[j - 1] + !same(a + i - 1, b + j - 1, 1));
            if (i > 1 && j > 1 && same(a + i - 1, b + j - 2, 1) && same(a + i - 2, b + j - 1, 1))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[nb];
}

/* "history" of "policy.vc.history" */
static bool ends_dotted(const char *candidate, size_t nc, const char *name, size_t n)
{
    return n && nc > n && candidate[nc - n - 1] == '.' && same(candidate + nc - n, name, n);
}

/* 0: but for case the same; 1: its last segments; then by edits; SIZE_MAX: too far. */
static size_t distance(const char *name, size_t n, const char *candidate)
{
    const size_t nc = strlen(candidate);
    const size_t longer = n > nc ? n : nc;

    if (ends_dotted(candidate, nc, name, n))
        return 1;
    if (longer > NAME_MAX_LENGTH || longer - least(n, nc) > longer / 3)
        return SIZE_MAX;
    const size_t d = edits(name, n, candidate, nc);
    return d > longer / 3 ? SIZE_MAX : d ? d + 1 : 0;
}

const char *nearest_name(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    const size_t length = strlen(name);

    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(name, length, names[i]);
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}
