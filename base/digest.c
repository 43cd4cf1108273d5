/* digest.c - 64-bit digests (XXH3 of libxxhash). The only file that knows the library. For telling
 * results and files apart, not against an adversary: who wants two texts with one digest can make
 * them. */
#include "base/digest.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#ifdef XXHASH_DISPATCH /* the library chooses among vector instructions of this host */
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>

/* Debian's static library has no such choice: then these are NULL. */
#pragma weak XXH3_64bits_dispatch
#pragma weak XXH3_64bits_update_dispatch

static XXH64_hash_t hash(const void *p, size_t n)
{
    return XXH3_64bits_dispatch ? XXH3_64bits_dispatch(p, n) : XXH3_64bits(p, n);
}

static void update(XXH3_state_t *state, const void *p, size_t n)
{
    if (XXH3_64bits_update_dispatch)
        XXH3_64bits_update_dispatch(state, p, n);
    else
        XXH3_64bits_update(state, p, n);
}

/* Hashes a long input once: at that xxhash chooses its code, and notes that in a global. It is done
 * before there are threads. */
__attribute__((constructor)) static void choose(void)
{
    static const unsigned char some[512];

    (void)hash(some, sizeof some);
}
#else
#define hash   XXH3_64bits
#define update XXH3_64bits_update
#endif

struct digest {
    XXH3_state_t *state; /* owns */
};

struct digest *digest_new(void)
{
    struct digest *d = xmalloc(sizeof *d);

    d->state = XXH3_createState();
    if (!d->state)
        die("no memory for a digest");
    XXH3_64bits_reset(d->state);
    return d;
}

void digest_add(struct digest *d, const void *p, size_t n)
{
    assert(p || !n);
    if (n)
        update(d->state, p, n);
}

void digest_copy(struct digest *to, const struct digest *from)
{
    XXH3_copyState(to->state, from->state);
}

uint64_t digest_value(const struct digest *d)
{
    return XXH3_64bits_digest(d->state);
}

void digest_free(struct digest *d)
{
    if (!d)
        return;
    XXH3_freeState(d->state);
    free(d);
}

uint64_t digest_end(struct digest *d)
{
    const uint64_t value = digest_value(d);

    digest_free(d);
    return value;
}

uint64_t digest_bytes(const void *p, size_t n)
{
    assert(p || !n);
    return hash(n ? p : "", n);
}

void digest_library(library_fn *fn, void *arg)
{
    const unsigned v = XXH_versionNumber();
    char text[32];

    snprintf(text, sizeof text, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
    fn(arg, "xxhash", text);
}
