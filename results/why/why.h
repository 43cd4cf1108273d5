/* why.h - the parts of `lardsim why`: what is asked, what the policy says of it, the sentences, the
 * drawing, the page. */
#ifndef LARDSIM_V_WHY_H
#define LARDSIM_V_WHY_H

#include "results/job/given.h"
#include "results/results.h"
#include "sim/lardsim.h"

/* ---- what is asked: why/asked.c ------------------------------------------------------------- */

#define WHY_MEMORY (UINT64_C(8) << 30) /* a limit that is enough for most traces */
struct why_question {
    const char *where;         /* a results folder, or a trace */
    const char *which;         /* the number of an event, or the identity of a race */
    const char *policy;        /* NULL: the first that checks */
    const struct given *given; /* the configuration, of a trace; NULL: none */
    uint64_t memory;           /* the most that is kept, in bytes; 0: no limit */
    bool quiet;                /* no progress */
};
struct sighting { /* a race as a policy reports it */
    bool found;
    uint64_t event, earlier, id, addr;
    bool paired; /* earlier is known */
    uint32_t size;
};
struct why_asked {
    const char *dir;       /* a results folder; NULL: a trace */
    const char *order;     /* in which its events stand: "recorded", "timed", "program" */
    struct given settings; /* the run's; owns */
    char *config;          /* owns; DIR/config.yaml */
    char *source;          /* owns */
    char *spec, *label;    /* own; of the policy */
    char **other;          /* own; specs of all policies that are configured */
    size_t others;
    char *view;                /* owns; names, with commas between */
    char *granule;             /* owns */
    char *property;            /* owns */
    struct lardsim_promise is; /* with these texts */
    bool by_id;
    uint64_t id, event; /* the race's id, or the event, that was asked for */
    struct sighting race;
    struct past past; /* the run of dir; owns */
    /* dir's run executed its events in an order of its own. It is repeated, and they are kept in
     * that order for the while: in a folder, which has both of: */
    bool repeats;
    char *folder, *events;             /* own; NULL: source is read as it is */
    struct lardsim_executed *executed; /* owns; NULL: as recorded */
};
static inline const char *asked_events(const struct why_asked *a)
{
    return a->events ? a->events : a->source;
}
/* a is to be freed either way. */
int asked_find(struct why_asked *a, const struct why_question *q, struct err *e);
void asked_free(struct why_asked *a);

/* ---- what the policy says: why/said.c ------------------------------------------------------- */

struct location_said { /* the policy reports a location, or it and the truth differ there */
    uint64_t event;    /* at which it does; the first of its region; the first of the two reports */
    uint64_t position; /* that event's position, in the order that is looked at */
    uint64_t location;
    uint32_t size;
    bool region;
    char *reason; /* owns; of the difference; NULL: it reports it */
};
enum { LOCATIONS_KEPT = 16384 };
struct policy_said {
    bool asked;     /* it was run, beside the truth */
    bool reports;   /* a race at this event */
    bool true_race; /* so does the truth */
    char *reason;   /* owns; of the difference between the two; NULL: there is none */
    char *why;      /* owns; the word for it */
    /* The locations of a policy whose accesses are not compared: the first LOCATIONS_KEPT. */
    struct location_said *at; /* owns */
    size_t n, cap;
};
/* False: an exact detector says the same as the clocks, so it need not run. It runs all the same if
 * it has a view, or if the race that is asked for is not found yet. */
bool said_needed(const struct why_asked *a);
/* Runs the policy, and where it is needed the truth beside it, to the end: over the trace; or the
 * run of a->dir once more as it was, and then a has its events. by_id: finds the race in a->race
 * first. */
int said_find(struct policy_said *s, struct why_asked *a, bool quiet, struct err *e);
void said_free(struct policy_said *s);

/* ---- the answer ----------------------------------------------------------------------------- */

struct answer {
    const struct why_asked *asked;
    const struct policy_said *said;
    struct lardsim_why_both both; /* owns */
};

/* The reasons, sentence by sentence, the verdict first: why/say.c. */
struct sentences {
    char **at; /* own */
    size_t n, cap;
    char *part[8]; /* own; texts of the sentence that comes next */
    size_t parts;
};
void answer_say(const struct answer *a, struct sentences *to);
void sentences_free(struct sentences *s);
/* "rel 0x9000 (lock A)", "write account + 8": names are as the trace has them. Owned. */
char *event_text(const struct lardsim_why *w, const struct lardsim_why_line *line);
/* The same without names, which have any length and any characters. */
const char *kind_text(const struct lardsim_event *ev);
char *event_short(const struct lardsim_why_line *line);
char *thread_text(const struct lardsim_why *w, uint16_t tid); /* "thread 1 (main)" */
/* NULL: nothing is known. */
char *object_text(const struct lardsim_why *w, const struct lardsim_why_line *line);
/* Its name, or else its number; NULL: 0 is no site. */
const char *site_name(const struct lardsim_why *w, uint64_t site, char number[static 24]);

/* Finds the answer, and gives it to fn: answer.c. The working folder may be that of the run
 * afterwards. */
typedef int answer_fn(void *arg, const struct answer *a, struct err *e);
int why_answer(const struct why_question *q, answer_fn *fn, void *arg, struct err *e);

/* Threads and edges: why/draw.c. */
void answer_draw(const struct answer *a, FILE *out);
void answer_svg(const struct answer *a, FILE *out);

/* why/page.c */
void answer_text(const struct answer *a);
void answer_json(const struct answer *a);

#endif
