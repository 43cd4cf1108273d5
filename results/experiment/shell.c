/* shell.c - prints a command for each task, for whatever runs commands: xargs, GNU parallel,
 * another scheduler. The same sweep, when they are done, says what is left. */
#include <stdlib.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"
#include "base/program/print.h"

static int run_shell(struct sweep *s, struct err *e)
{
    bool *alone = xcalloc(s->plan->n + 1, sizeof *alone);
    struct batch_of_tasks b;
    int failed = 0;

    tasks_make(&b, s, alone, SIZE_MAX);
    if (b.n)
        failed = tasks_write(&b, s->folder, s->plan, e);
    char *command = b.n && !failed ? task_command(s, b.number, e) : NULL;
    for (size_t i = 0; command && i < b.n; i++)
        printf("%s %zu\n", command, i);
    if (command && !s->quiet)
        print_note("%zu commands for %zu cells; when they have run, the same sweep without "
                   "--engine says what is left",
                   b.n, sweep_count(s, CELL_MISSING));
    failed = failed || (b.n && !command);
    free(command);
    tasks_free(&b);
    free(alone);
    return failed ? -1 : 0;
}

const struct engine engine_shell = {.name = "shell",
                                    .help =
                                        "Prints a command for each task, for any other scheduler.",
                                    .run = run_shell};
