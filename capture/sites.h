/* sites.h - what code sites of a native program are called. */
#ifndef LARDSIM_CAPTURE_SITES_H
#define LARDSIM_CAPTURE_SITES_H

#include "capture/ring.h"
#include "trace/trace.h"

struct sites;
struct sites *sites_new(void);
void sites_free(struct sites *s);
/* Names a site the first time. It asks addr2line, where there is one; a site without a name stays a
 * number. site 0: none. */
void sites_name(struct sites *s, const struct ring *r, uint64_t site, struct names *to);

#endif
