/* check.h - what tests ask of the shared memory, and what must hold of it between calls. */
#ifndef LARDSIM_DSM_CHECK_H
#define LARDSIM_DSM_CHECK_H

#include "coherence/dsm/dsm.h"

enum dsm_state dsm_state(const struct dsm *d, unsigned process, struct vaddr addr);
/* Returns or sets the word of 4 bytes at the address, in a DSM with contents. The process has the
 * page, and may write it. */
uint32_t dsm_load(const struct dsm *d, unsigned process, struct vaddr addr);
void dsm_store(struct dsm *d, unsigned process, struct vaddr addr, uint32_t value);
uint64_t dsm_page_room(const struct dsm *d); /* a page's, on the host, without its copies */
void dsm_check(const struct dsm *d);         /* asserts: walks everything */

#endif
