/* pause.c - moves that were made at once, one after the other. */
#include "capture/pause.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The place at which an object waits. No program has it: it is above all addresses that 47 bits
 * reach. */
#define ASIDE UINT64_C(0x7fff000000000000)

static void record_put(struct pause *p, struct event ev)
{
    p->rec = xgrow(p->rec, p->records, &p->rec_cap, sizeof *p->rec);
    p->rec[p->records++] = ev;
    p->events += ev.kind != 0;
}

void pause_begin(struct pause *p, sim_tid tid)
{
    p->moves = p->records = p->events = 0;
    p->aside = 0;
    record_put(p, (struct event){.kind = EV_GC_BEGIN, .tid = tid});
}

void pause_free(struct pause *p)
{
    free(p->move);
    free(p->rec);
}

static void clear(struct pause *p, sim_tid tid, sim_addr addr, uint64_t bytes)
{
    struct event *last = p->records ? &p->rec[p->records - 1] : NULL;

    /* Memory that lies together gets one event, as a collector reclaims it as a whole. */
    if (last && last->kind == EV_CLEAR && last->addr + last->aux == addr)
        last->aux += bytes;
    else
        record_put(p, (struct event){.kind = EV_CLEAR, .tid = tid, .addr = addr, .aux = bytes});
}

/* Copies an object, and clears the part of its old place that the new one does not cover. */
static void carry(struct pause *p, sim_tid tid, const struct move *m)
{
    const uint64_t apart = m->to < m->from ? m->from - m->to : m->to - m->from,
                   left = apart < m->bytes ? apart : m->bytes;

    record_put(p,
               (struct event){
                   .kind = EV_COPY, .tid = tid, .flags = EVF_MORE, .addr = m->to, .aux = m->bytes});
    record_put(p, (struct event){.addr = m->from});
    clear(p, tid, m->to < m->from ? m->from + m->bytes - left : m->from, left);
}

void pause_freed(struct pause *p, sim_tid tid, sim_addr addr, uint64_t bytes)
{
    clear(p, tid, addr, bytes);
}

void pause_moved(struct pause *p, const struct move *m)
{
    p->move = xgrow(p->move, p->moves, &p->move_cap, sizeof *p->move);
    p->move[p->moves++] = *m;
}

static int by_old_place(const void *a, const void *b)
{
    const struct move *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* Returns the first move whose old place ends above addr. */
static size_t reaching(const struct move *m, size_t n, sim_addr addr)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (m[mid].from + m[mid].bytes > addr)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

enum state { WAITS, OPEN, DONE }; /* OPEN: those before it are being made */

struct step {    /* a step of the way down */
    size_t at;   /* the move */
    size_t next; /* the next old place in its way to look at */
};

/* An object whose own place is wanted by one that it waits for is put aside meanwhile. */
static void put_aside(struct pause *p, sim_tid tid, struct move *m)
{
    const struct move away = {ASIDE + p->aside, m->from, m->bytes};

    p->aside += m->bytes;
    carry(p, tid, &away);
    m->from = away.to;
}

void pause_end(struct pause *p, sim_tid tid)
{
    const size_t n = p->moves;
    struct move *const m = p->move;
    struct step *way = xcalloc(n + 1, sizeof *way);
    unsigned char *state = xcalloc(n + 1, 1);
    struct move *was = xcalloc(n + 1, sizeof *was); /* before any was put aside */

    if (n) {
        qsort(m, n, sizeof *m, by_old_place);
        memcpy(was, m, n * sizeof *m);
    }
    for (size_t first = 0; first < n; first++) {
        size_t depth = 0;
        if (state[first] == WAITS) {
            way[depth++] = (struct step){first, reaching(was, n, m[first].to)};
            state[first] = OPEN;
        }
        while (depth) {
            struct step *s = &way[depth - 1];
            const struct move *mine = &m[s->at];
            if (s->next < n && was[s->next].from < mine->to + mine->bytes) {
                const size_t j = s->next++;
                if (state[j] == WAITS) {
                    way[depth++] = (struct step){j, reaching(was, n, m[j].to)};
                    state[j] = OPEN;
                } else if (state[j] == OPEN && j != s->at && m[j].from == was[j].from) {
                    put_aside(p, tid, &m[j]);
                }
                continue;
            }
            carry(p, tid, mine);
            state[s->at] = DONE;
            depth--;
        }
    }
    record_put(p, (struct event){.kind = EV_GC_END, .tid = tid});
    free(was);
    free(state);
    free(way);
}
