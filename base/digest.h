/* digest.h - digests (XXH3, 64 bits). */
#ifndef LARDSIM_DIGEST_H
#define LARDSIM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct digest;
struct digest *digest_new(void);
void digest_add(struct digest *d, const void *p, size_t n);
void digest_copy(struct digest *to, const struct digest *from);
uint64_t digest_value(const struct digest *d); /* of all added so far */
void digest_free(struct digest *d);
uint64_t digest_end(struct digest *d); /* the value; frees d */
uint64_t digest_bytes(const void *p, size_t n);

/* The versions of libraries that are in use now, each told by the file that knows the library. */
typedef void library_fn(void *arg, const char *name, const char *version);
void digest_library(library_fn *fn, void *arg);

#endif
