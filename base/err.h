/* err.h - errors that travel up, and the one way out.
 *
 * Three kinds of error have three mechanisms. The user's: a function returns -1 and has filled a
 * struct err; nothing is printed. Ours: assert. No memory: xmalloc (mem.h) and friends end the
 * process. */
#ifndef LARDSIM_ERR_H
#define LARDSIM_ERR_H

#include <stdint.h>

#include "base/base.h"

enum lard_exit { /* the documented exit codes */
#define EXIT(NAME, code, text) LARD_##NAME = code,
#include "base/exits.def"
#undef EXIT
};

struct err {
    int code;        /* an enum lard_exit; 0: no error */
    char text[1000]; /* one sentence or two: file, place, rule, remedy; no final newline */
};

/* Keeps the first error: a second call on a set err changes nothing. Always returns -1. */
int err_set(struct err *e, enum lard_exit code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with the code and text of another error. */
int err_pass(struct err *e, const struct err *from);
void err_clear(struct err *e);
/* A signal has ended a run at this event. Always returns -1. */
int err_stopped(struct err *e, uint64_t event, int signal);

/* Writes to standard error and ends the process with LARD_INTERNAL. For no memory, and for
 * states that can't be. */
void die(const char *fmt, ...) PRINTF_LIKE(1, 2) NO_RETURN;

#endif
