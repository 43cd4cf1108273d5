/* std_form.h - what the reader and the writer of RAPID's STD text share, inside trace/ only.
 * docs/foreign-formats.md is the specification. */
#ifndef LARDSIM_STD_FORM_H
#define LARDSIM_STD_FORM_H

#include "trace/trace.h"

/* The operation for a kind; NULL: STD has none. begin and end are marks: phases named so. */
extern const char *const std_operation[EV_KINDS];
#define STD_BEGIN "begin"
#define STD_END   "end"

/* The location of an event whose site is unknown. */
#define STD_NOWHERE "-1"

/* "begin", "end", "begin(NAME)" or "end(NAME)". */
bool std_is_mark(const char *text);

/* Sites that STD numbers, from 1, have that number; the others have a name and lie from here on. */
#define STD_SITE_NAMED (UINT64_C(1) << 62)

#endif
