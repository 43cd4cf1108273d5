/* fifo.c - the line that was filled first goes, however often it was hit. */
#include "cache/replacement.h"

const struct replacement replacement_fifo = {
    .name = "fifo",
    .fill = cache_stamp,
    .victim = cache_oldest,
    .ordered = true,
};
