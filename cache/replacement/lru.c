/* lru.c - the least recently used line goes. */
#include "cache/replacement.h"

const struct replacement replacement_lru = {
    .name = "lru",
    .hit = cache_stamp,
    .victim = cache_oldest,
    .ordered = true,
};
