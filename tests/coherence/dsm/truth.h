/* truth.h - happens-before of programs that tests of the protocol make, from its definition, with
 * vector clocks of the processes' own; and what each word's last write was. An access may be made
 * only where it races with none before it: then the last write is one, and a read must find it. */
#ifndef LARDSIM_DSM_TRUTH_H
#define LARDSIM_DSM_TRUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TRUTH_PROCESSES = 6, TRUTH_WORDS = 48 };

struct truth_word {
    uint32_t version;
    unsigned writer;
    uint32_t at;                    /* the writer's time; 0: never */
    uint32_t read[TRUTH_PROCESSES]; /* since then, by process: its time */
};
struct truth {
    uint32_t clock[TRUTH_PROCESSES][TRUTH_PROCESSES];
    struct truth_word word[TRUTH_WORDS];
    uint32_t version;
};

static inline void truth_begin(struct truth *t)
{
    for (unsigned p = 0; p < TRUTH_PROCESSES; p++)
        t->clock[p][p] = 1;
}
static inline void truth_join(uint32_t *into, const uint32_t *from)
{
    for (unsigned i = 0; i < TRUTH_PROCESSES; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}
static inline void truth_release(struct truth *t, unsigned p, uint32_t *object)
{
    truth_join(object, t->clock[p]);
    t->clock[p][p]++;
}
static inline void truth_acquire(struct truth *t, unsigned p, const uint32_t *object)
{
    truth_join(t->clock[p], object);
}
static inline bool truth_may(const struct truth *t, unsigned p, unsigned w, bool write)
{
    const struct truth_word *x = &t->word[w];

    if (x->at > t->clock[p][x->writer])
        return false;
    for (unsigned q = 0; write && q < TRUTH_PROCESSES; q++)
        if (x->read[q] > t->clock[p][q])
            return false;
    return true;
}
static inline uint32_t truth_write(struct truth *t, unsigned p, unsigned w) /* what it writes */
{
    struct truth_word *x = &t->word[w];

    x->version = ++t->version;
    x->writer = p;
    x->at = t->clock[p][p];
    memset(x->read, 0, sizeof x->read);
    return x->version;
}
static inline uint32_t truth_read(struct truth *t, unsigned p, unsigned w) /* what it reads */
{
    t->word[w].read[p] = t->clock[p][p];
    return t->word[w].version;
}

#endif
