/* sites.h - which code sites a capture has seen, and what they are called. */
#ifndef LARDSIM_CAPTURE_SITES_H
#define LARDSIM_CAPTURE_SITES_H

#include "capture/ring.h"
#include "trace/trace.h"

struct sites;
struct sites *sites_new(void);
void sites_free(struct sites *s);
void sites_note(struct sites *s, uint64_t site); /* 0: none */
/* Asks addr2line, where there is one; a site without a name stays a number. */
void sites_name(struct sites *s, const struct ring *r, struct names *to);

#endif
