/* source.c - "program:NAME,..." as a source: the path of its capture stands for it. */
#include <string.h>

#include "results/programs/programs.h"

char *program_source(const char *source, bool quiet, struct err *e)
{
    static const char prefix[] = "program:";
    struct program_run a;

    if (strncmp(source, prefix, sizeof prefix - 1) != 0)
        return NULL;
    char *path = program_run_read(&a, source, e) ? NULL : program_capture(&a, false, quiet, e);
    program_run_free(&a);
    return path;
}
