/* decode.c - reads a source to its end and does nothing with it: the speed of reading alone. */
#include <stdio.h>

#include "trace/trace.h"

int main(int argc, char **argv)
{
    struct err e = {0};
    struct source *s = argc == 2 ? source_open(argv[1], &e) : NULL;
    struct batch b;
    uint64_t records = 0;

    if (!s) {
        fprintf(stderr, "decode: %s\n", e.code ? e.text : "usage: decode TRACE");
        return 2;
    }
    while (!source_next(s, &b, &e) && b.records)
        records += b.records;
    source_close(s);
    if (e.code)
        fprintf(stderr, "decode: %s\n", e.text);
    printf("%llu records\n", (unsigned long long)records);
    return e.code;
}
