/* filter_file.h - places that need no checks, from a file: what a static analysis has found (Chord
 * and RccJava in Goldilocks 6, Table 1). docs/policies.md has the format. */
#ifndef LARDSIM_FILTER_FILE_H
#define LARDSIM_FILTER_FILE_H

#include "trace/trace.h"

struct filter_file;
/* -1: an error, with file and line. */
int filter_file_read(struct filter_file **to, const char *path, struct budget *budget,
                     struct err *e);
void filter_file_free(struct filter_file *f);
void filter_file_names(struct filter_file *f, const struct names *names); /* borrows; may grow */
/* The site is exempt, or all bytes of the access are. */
bool filter_file_exempts(struct filter_file *f, const struct event *ev);

#endif
