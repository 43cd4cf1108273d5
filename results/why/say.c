/* say.c - the answer in sentences: what orders the two accesses, or what is missing; what the
 * memory did between them; and what the policy made of it. Nothing is said that is not known. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/why/why.h"

/* ---- names ---------------------------------------------------------------------------------- */

char *thread_text(const struct lardsim_why *w, uint16_t tid)
{
    const char *name = lardsim_source_name(w->source, LARDSIM_NAME_THREAD, tid);

    return name ? xasprintf("thread %u (%s)", (unsigned)tid, name)
                : xasprintf("thread %u", (unsigned)tid);
}

char *object_text(const struct lardsim_why *w, const struct lardsim_why_line *line)
{
    const struct lardsim_object *at = &line->at;
    char number[24];

    if (at->name && at->offset)
        return xasprintf("%s + %" PRIu64, at->name, at->offset);
    if (at->name)
        return xstrdup(at->name);
    if (!at->allocated)
        return NULL;
    const char *site = site_name(w, at->site, number);
    return xasprintf("byte %" PRIu64 " of %" PRIu64 " allocated by event %" PRIu64 "%s%s",
                     at->offset, at->size, at->event, site ? ", at " : "", site ? site : "");
}

const char *site_name(const struct lardsim_why *w, uint64_t site, char number[static 24])
{
    const char *name = site ? lardsim_source_name(w->source, LARDSIM_NAME_SITE, site) : NULL;

    if (name || !site)
        return name;
    snprintf(number, 24, "0x%" PRIx64, site);
    return number;
}

static struct lardsim_kind_info kind_of(const struct lardsim_event *ev)
{
    struct lardsim_kind_info is = {.text = NULL};

    lardsim_kind_info(ev->kind, &is);
    return is;
}

const char *kind_text(const struct lardsim_event *ev)
{
    return kind_of(ev).text;
}

char *event_short(const struct lardsim_why_line *line)
{
    const struct lardsim_event *ev = &line->ev;
    const struct lardsim_kind_info is = kind_of(ev);

    if (is.alone)
        return xstrdup(is.text);
    if (is.at)
        return xasprintf("%s 0x%" PRIx64, is.text, ev->addr);
    return xasprintf(is.of_thread ? "%s T%" PRIu64 : "%s %" PRIu64, is.text, ev->aux);
}

/* "rel 0x9000 (queue)": the name of the address itself, or of what lies there. */
char *event_text(const struct lardsim_why *w, const struct lardsim_why_line *line)
{
    const struct lardsim_event *ev = &line->ev;
    const bool has_address = kind_of(ev).at;
    const char *name =
        has_address ? lardsim_source_name(w->source, LARDSIM_NAME_OBJECT, ev->addr) : NULL;
    char *text = event_short(line), *object = has_address ? object_text(w, line) : NULL, *all;

    if (ev->kind == LARDSIM_COPY)
        all = xasprintf("copy of %" PRIu64 " bytes from 0x%" PRIx64 " to 0x%" PRIx64, ev->aux,
                        ev->addr2, ev->addr);
    else if (object || name)
        all = xasprintf("%s (%s)", text, object ? object : name);
    else
        all = xstrdup(text);
    free(text);
    free(object);
    return all;
}

/* ---- sentences ------------------------------------------------------------------------------ */

static PRINTF_LIKE(2, 3) void say(struct sentences *to, const char *fmt, ...)
{
    va_list ap;

    to->at = xgrow(to->at, to->n, &to->cap, sizeof *to->at);
    va_start(ap, fmt);
    to->at[to->n++] = xvasprintf(fmt, ap);
    va_end(ap);
    while (to->parts) /* they are said */
        free(to->part[--to->parts]);
}

/* Keeps a part of the next sentence until that is said. */
static const char *part(struct sentences *to, char *text)
{
    assert(to->parts < ARRAY_SIZE(to->part));
    return to->part[to->parts++] = text;
}

/* "event 12 (rel 0x9000)" */
static const char *event_of(const struct lardsim_why *w, const struct lardsim_why_line *line,
                            struct sentences *to)
{
    const char *text = part(to, event_text(w, line));

    return part(to, xasprintf("event %" PRIu64 " (%s)", line->number, text));
}

void sentences_free(struct sentences *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->at[i]);
    free(s->at);
}

static unsigned long long number(const struct lardsim_why_line *line)
{
    return line->number;
}

/* ---- who ------------------------------------------------------------------------------------- */

/* The actor to whom the clock belongs in the view: a thread, or with no-thread the kernel thread on
 * which it runs. */
struct actor_name {
    char text[48];
};
static struct actor_name named(const struct lardsim_why *w, uint16_t tid,
                               const struct lardsim_why_line *line, bool begins)
{
    struct actor_name name;

    if (w->by_kernel && line->kernel)
        snprintf(name.text, sizeof name.text, "%s thread %" PRIu64, begins ? "Kernel" : "kernel",
                 line->kernel - 1);
    else
        snprintf(name.text, sizeof name.text, "%s %u", begins ? "Thread" : "thread", (unsigned)tid);
    return name;
}

static struct actor_name actor(const struct lardsim_why *w, const struct lardsim_why_line *line)
{
    return named(w, line->ev.thread, line, false);
}

static struct actor_name actor_first(const struct lardsim_why *w,
                                     const struct lardsim_why_line *line)
{
    return named(w, line->ev.thread, line, true);
}

/* ---- the locks ------------------------------------------------------------------------------ */

static const char *holds_text(const struct lardsim_why *w, const struct lardsim_why_side *side,
                              struct sentences *to)
{
    char *all = NULL;

    for (size_t i = 0; i < side->holds; i++) {
        const struct lardsim_why_hold *h = &side->hold[i];
        const char *name = lardsim_source_name(w->source, LARDSIM_NAME_OBJECT, h->addr);
        char *one =
            xasprintf("0x%" PRIx64 "%s%s%s%s%s since event %" PRIu64, h->addr, name ? " (" : "",
                      name ? name : "", name ? ")" : "", h->shared ? " shared" : "",
                      h->system ? " (the system's)" : "", h->since);
        xappend(&all, ", ", one);
        free(one);
    }
    return part(to, all ? all : xstrdup("no lock"));
}

static void say_locks(const struct lardsim_why *w, struct sentences *to)
{
    say(to, "At event %llu thread %u holds %s; at event %llu thread %u holds %s.",
        number(&w->earlier.line), (unsigned)w->earlier.line.ev.thread,
        holds_text(w, &w->earlier, to), number(&w->later.line), (unsigned)w->later.line.ev.thread,
        holds_text(w, &w->later, to));
}

/* ---- a race --------------------------------------------------------------------------------- */

static void say_reach(const struct lardsim_why *w, const struct lardsim_why_reach *r,
                      struct sentences *to)
{
    const struct lardsim_why_edge *e = &r->edge;
    const char *from = e->unknown
                           ? ""
                           : part(to, xasprintf(", from event %" PRIu64 " (%s, %s)", e->from.number,
                                                part(to, event_text(w, &e->from)),
                                                named(w, e->from_thread, &e->from, false).text));

    say(to, "%s learns of it at %s%s; %s%s.", named(w, r->thread, &e->to, true).text,
        event_of(w, &e->to, to), from,
        r->outs ? "what it gives last is " : "it gives nothing after that",
        r->outs ? event_of(w, &r->out, to) : "");
}

enum { REACHES_SAID = 8 };

static void say_reaches(const struct lardsim_why *w, struct sentences *to)
{
    for (size_t i = 1; i < w->reaches && i <= REACHES_SAID; i++)
        say_reach(w, &w->reach[i], to);
    if (w->reaches == 1)
        say(to, "No other thread takes that before event %llu.", number(&w->later.line));
    else if (w->reaches - 1 > REACHES_SAID)
        say(to, "So do %zu more threads.", w->reaches - 1 - REACHES_SAID);
}

static void say_given(const struct lardsim_why *w, struct sentences *to)
{
    const struct lardsim_why_reach *own = &w->reach[0];
    const struct actor_name who = actor(w, &w->earlier.line);

    if (!own->outs) {
        say(to,
            "After event %llu %s releases, forks or publishes nothing before event %llu, so "
            "nobody can know of it.",
            number(&w->earlier.line), who.text, number(&w->later.line));
        return;
    }
    if (own->outs == 1)
        say(to, "After event %llu %s gives its clock once: at %s.", number(&w->earlier.line),
            who.text, event_of(w, &own->out, to));
    else
        say(to, "After event %llu %s gives its clock %llu times: first at %s, last at %s.",
            number(&w->earlier.line), who.text, (unsigned long long)own->outs,
            event_of(w, &w->out, to), event_of(w, &own->out, to));
    say_reaches(w, to);
}

static void say_clock(const struct lardsim_why *w, struct sentences *to)
{
    const struct actor_name of = actor(w, &w->earlier.line), who = actor_first(w, &w->later.line);

    if (w->had)
        say(to, "%s knows %s's time up to %llu, since %s; event %llu was at time %llu.", who.text,
            of.text, (unsigned long long)w->had, event_of(w, &w->learned, to),
            number(&w->earlier.line), (unsigned long long)w->needed);
    else
        say(to, "%s knows nothing of %s; to be ordered it would have to know its time up to %llu.",
            who.text, of.text, (unsigned long long)w->needed);
}

static void say_taken(const struct lardsim_why *w, struct sentences *to)
{
    const struct actor_name who = actor_first(w, &w->later.line);

    if (w->has_in)
        say(to, "%s takes last at %s, where nobody who knew had given.", who.text,
            event_of(w, &w->in, to));
    else
        say(to, "%s has acquired or read nothing that could tell it.", who.text);
}

static void say_missing(const struct lardsim_why *w, struct sentences *to)
{
    if (w->missing.position == w->earlier.line.position)
        say(to,
            "Missing: an edge from event %llu to event %llu. %s would have to release or "
            "publish something after the one, and %s take it before the other.",
            number(&w->missing), number(&w->later.line), actor_first(w, &w->earlier.line).text,
            actor(w, &w->later.line).text);
    else
        say(to,
            "Missing: an edge from event %llu (%s, %s) to event %llu. %s would have to take what "
            "was given there.",
            number(&w->missing), part(to, event_text(w, &w->missing)), actor(w, &w->missing).text,
            number(&w->later.line), actor_first(w, &w->later.line).text);
}

static void say_race(const struct lardsim_why *w, struct sentences *to)
{
    say_locks(w, to);
    say_given(w, to);
    say_taken(w, to);
    say_clock(w, to);
    say_missing(w, to);
    if (w->displaced)
        say(to,
            "Event %llu has written there in between: a detector that remembers the last write "
            "alone "
            "(history = last) does not compare these two.",
            (unsigned long long)w->newer);
}

/* ---- an order ------------------------------------------------------------------------------- */

static void say_order(const struct lardsim_why *w, struct sentences *to)
{
    for (size_t i = 0; i < w->chains; i++) {
        const struct lardsim_why_edge *e = &w->chain[i];
        if (e->unknown)
            say(to, "%s learns of it at %s.", named(w, e->to_thread, &e->to, true).text,
                event_of(w, &e->to, to));
        else
            say(to, "Event %llu (%s, %s) happens before event %llu (%s, %s).", number(&e->from),
                part(to, event_text(w, &e->from)), named(w, e->from_thread, &e->from, false).text,
                number(&e->to), part(to, event_text(w, &e->to)),
                named(w, e->to_thread, &e->to, false).text);
    }
    say_locks(w, to);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void say_move(const struct lardsim_why *w, const struct lardsim_why_move *m,
                     const char *note, struct sentences *to)
{
    say(to, "Event %llu (%s) %s.", number(&m->line), part(to, event_text(w, &m->line)), note);
}

static bool between(const struct lardsim_why *w, const struct lardsim_why_move *m)
{
    return m->line.position < w->later.line.position &&
           (w->verdict == LARDSIM_WHY_ALONE || !w->earlier.line.ev.kind ||
            m->line.position > w->earlier.line.position);
}

static void say_moves(const struct lardsim_why *w, struct sentences *to)
{
    for (size_t i = 0; i < w->moves; i++)
        if (between(w, &w->move[i]) && !w->move[i].ignored)
            say_move(w, &w->move[i],
                     w->move[i].copy ? "moved the memory there, with its history"
                                     : "ended the life of what lay there before",
                     to);
}

/* ---- views ---------------------------------------------------------------------------------- */

static void say_unchecked(const struct lardsim_why *w, const char *view, struct sentences *to)
{
    if (w->later.unchecked)
        say(to, "The view %s does not check event %llu.", view, number(&w->later.line));
    if (w->earlier.line.ev.kind && w->earlier.unchecked)
        say(to, "The view %s does not check event %llu.", view, number(&w->earlier.line));
}

/* Says which events between the two the view ignored. with: the answer of the view that saw
 * them. */
static void say_ignored(const struct lardsim_why *with, const char *view, struct sentences *to)
{
    const char *end = ": that makes the race";

    for (size_t i = 0; i < with->moves; i++) {
        if (!with->move[i].ignored || !between(with, &with->move[i]))
            continue;
        say_move(with, &with->move[i],
                 part(to, xasprintf("%s, which the view %s ignores%s",
                                    with->move[i].copy ? "moved another object there"
                                                       : "ended the life of what lay there",
                                    view, end)),
                 to);
        end = "";
    }
}

static void say_false(const struct answer *a, struct sentences *to)
{
    const struct lardsim_why *t = a->both.truth;

    say(to, "In the view tracked this is no race: the view %s makes it one.", a->asked->view);
    say_unchecked(t, "tracked", to);
    say_ignored(a->both.why, a->asked->view, to);
    if (t->verdict == LARDSIM_WHY_IS_ORDERED) {
        say(to, "In the view tracked the two are ordered:");
        say_order(t, to);
    }
}

static void say_missed(const struct answer *a, struct sentences *to)
{
    const struct lardsim_why *w = a->both.why, *t = a->both.truth;

    say(to, "In the view tracked event %llu races with event %llu; the view %s hides that.",
        number(&t->later.line), number(&t->earlier.line), a->asked->view);
    say_unchecked(w, a->asked->view, to);
    if (w->verdict == LARDSIM_WHY_IS_ORDERED) {
        say(to, "In the view %s the two are ordered:", a->asked->view);
        say_order(w, to);
        return;
    }
    for (size_t i = 0; i < t->moves; i++)
        if (between(t, &t->move[i]) && t->move[i].copy && w->no_copy)
            say_move(
                t, &t->move[i],
                "moved the memory; this view ignores that, and so has no record of the earlier "
                "access at the new place",
                to);
}

/* ---- the policy ----------------------------------------------------------------------------- */

/* Explains a difference by the rule of regions: a region ends with an event that gives. */
static void say_region(const struct answer *a, struct sentences *to)
{
    const struct lardsim_why *w = a->both.why;

    if (!w->earlier.line.ev.kind)
        return;
    if (!w->has_out) {
        say(to,
            "The region of event %llu is still going on at event %llu; why %s does not report it "
            "here, what it keeps does not say. It may report it at another event.",
            number(&w->earlier.line), number(&w->later.line), a->asked->label);
        return;
    }
    say(to,
        "%s is about regions that go on at the same time (%s): that of event %llu ended with %s, "
        "before event %llu.",
        a->asked->label, a->asked->property, number(&w->earlier.line), event_of(w, &w->out, to),
        number(&w->later.line));
}

/* Returns the report on the location that is nearest to this access, where accesses are not
 * compared. A report by the policy says more than a difference between the two. */
static const struct location_said *said_of_location(const struct policy_said *s,
                                                    const struct lardsim_why *w)
{
    const uint64_t mask = ~(uint64_t)(w->granule ? w->granule - 1 : 0);
    const uint64_t first = w->later.line.ev.addr & mask;
    const struct location_said *found = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const struct location_said *at = &s->at[i];
        const bool here = at->location < w->later.line.ev.addr + w->later.line.ev.size &&
                          first < at->location + at->size;
        if (here && at->position <= w->later.line.position &&
            (!found || (found->reason && !at->reason) ||
             (!found->reason == !at->reason && at->position > found->position)))
            found = at;
    }
    return found;
}

/* The policy is silent, and compare has no reason for this event. */
static void say_silent(const struct answer *a, struct sentences *to)
{
    const struct location_said *at = said_of_location(a->said, a->both.why);

    if (at && !at->reason)
        say(to, "It reports this location%s %llu, and does not judge each access.",
            at->region ? ", in a region that begins with event" : " at event",
            (unsigned long long)at->event);
    else if (a->asked->is.regions)
        say_region(a, to);
    else if (at && !a->said->reason)
        say(to, "At event %llu, the first race at this location: %s.",
            (unsigned long long)at->event, at->reason);
    else if (!a->said->reason)
        say(to,
            "It promises: %s. What it keeps does not say by which rule it left this event out; "
            "it may report the location at another event.",
            a->asked->property);
}

/* The event that was asked about; that of the other side may come later, where it was noticed late.
 */
static unsigned long long asked_number(const struct answer *a)
{
    const struct lardsim_why *w = a->both.why;
    const uint64_t event = a->asked->race.found ? a->asked->race.event : a->asked->event;

    return w->earlier.line.ev.kind && w->earlier.line.number == event ? event
                                                                      : number(&w->later.line);
}

static void say_policy(const struct answer *a, struct sentences *to)
{
    const struct why_asked *p = a->asked;
    const struct policy_said *s = a->said;
    const bool races = (a->both.truth ? a->both.truth : a->both.why)->verdict == LARDSIM_WHY_RACES;
    const unsigned long long event = asked_number(a);

    if (!s->asked)
        return;
    if (s->reports) {
        say(to, "Policy %s reports a race at event %llu%s.", p->label, event,
            s->true_race || races ? "" : ", and happens-before has none there");
        if (s->true_race && !races)
            say(to, "Event %llu races with another access, too: exact happens-before reports that.",
                event);
    } else if (races) {
        say(to, "Policy %s names no race at event %llu%s%s.", p->label, event,
            s->reason ? ": " : "", s->reason ? s->reason : "");
        say_silent(a, to);
    } else {
        say(to, "Policy %s names no race at event %llu.", p->label, event);
    }
    if (s->reports && s->reason)
        say(to, "Why the two differ: %s.", s->reason);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The earlier access that somebody else names, where this view has none. */
static unsigned long long named_earlier(const struct answer *a)
{
    const struct lardsim_why *t = a->both.truth;

    return t && t->earlier.line.ev.kind ? number(&t->earlier.line)
                                        : (unsigned long long)a->asked->race.earlier;
}

static void say_verdict(const struct answer *a, struct sentences *to)
{
    const struct lardsim_why *w = a->both.why;
    const unsigned long long later = number(&w->later.line), earlier = number(&w->earlier.line);

    switch (w->verdict) {
    case LARDSIM_WHY_RACES:
        say(to, "Event %llu races with event %llu: nothing orders the two.", later, earlier);
        break;
    case LARDSIM_WHY_OUTSIDE:
        say(to, "Nothing orders event %llu and event %llu, but the view %s does not check both.",
            earlier, later, a->asked->view);
        break;
    case LARDSIM_WHY_IS_ORDERED:
        say(to, "Event %llu happens before event %llu: they do not race.", earlier, later);
        break;
    case LARDSIM_WHY_ALONE:
        say(to,
            "Event %llu does not race: no other thread has made a conflicting access to this "
            "memory "
            "since its life began.",
            later);
        break;
    case LARDSIM_WHY_APART:
        say(to,
            "Event %llu does not race with event %llu: they conflict nowhere, or belong to "
            "different "
            "lives of the memory.",
            later, named_earlier(a));
        break;
    }
    if (w->view && w->verdict != LARDSIM_WHY_OUTSIDE)
        say(to, "That is so in the view %s.", a->asked->view);
}

void answer_say(const struct answer *a, struct sentences *to)
{
    const struct lardsim_why *w = a->both.why;

    say_verdict(a, to);
    if (w->earlier.line.ev.kind && w->earlier.line.number > w->later.line.number)
        say(to,
            "In that run, in %s order, event %llu ran before event %llu; numbers are those of the "
            "recording.",
            a->asked->order, number(&w->earlier.line), number(&w->later.line));
    if (w->verdict == LARDSIM_WHY_RACES || w->verdict == LARDSIM_WHY_OUTSIDE)
        say_race(w, to);
    else if (w->verdict == LARDSIM_WHY_IS_ORDERED)
        say_order(w, to);
    say_moves(w, to);
    if (w->verdict == LARDSIM_WHY_OUTSIDE)
        say_unchecked(w, a->asked->view, to);
    if (a->both.truth && w->verdict == LARDSIM_WHY_RACES &&
        a->both.truth->verdict != LARDSIM_WHY_RACES)
        say_false(a, to);
    else if (a->both.truth && w->verdict != LARDSIM_WHY_RACES &&
             a->both.truth->verdict == LARDSIM_WHY_RACES)
        say_missed(a, to);
    say_policy(a, to);
}
