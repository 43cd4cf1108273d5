/* child.h - other programs: started, heard, waited for. A signal that came for us ends them, too.
 */
#ifndef LARDSIM_CHILD_H
#define LARDSIM_CHILD_H

#include <stdbool.h>

#include "base/err.h"

/* ---- a program that talks to our user ------------------------------------------------------- */

struct child {
    const char *const *argv; /* NULL-terminated; argv[0] is looked for in PATH */
    const char *dir;         /* in which it runs; NULL: here */
    const char *out;         /* its standard output; NULL: standard error */
};
int command_run(const struct child *c, struct err *e); /* 0: it ended with 0 */

/* ---- a program that is heard ---------------------------------------------------------------- */

/* Runs a program to its end; argv[0] is looked for in PATH. *said: what it wrote to standard
 * output, and *error, to standard error; both the caller's, in any case. 0; -1: it can't be
 * started. status: as waitpid gives it. */
struct child_process {
    int status;
    char *said, *error;
};
int child_run(struct child_process *c, const char *const *argv, struct err *e);
void child_free(struct child_process *c);
bool child_failed(const struct child_process *c);
/* Returns the last line that the program wrote to standard error, or how it ended; valid as long as
 * c. */
const char *child_complaint(struct child_process *c);
/* Returns all that the command prints, however it ends; the caller's. NULL: it prints nothing. */
char *command_text(const char *const *argv);

#endif
