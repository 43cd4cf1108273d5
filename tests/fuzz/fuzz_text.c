/* fuzz_text.c - any bytes as a text trace: an error that names the place, or events that are
 * well-formed, survive being written and read again, and can be run, pulled or pushed. */
#include "tests/fuzz/fuzz.h"

static void take(const void *bytes, size_t n)
{
    struct fuzz_file f = fuzz_file(bytes, n);
    struct fuzz_trace t = fuzz_open(f.path);

    if (t.opened) {
        fuzz_round_trip(&t, sink_text);
        fuzz_compare(f.path);
    }
    if (t.opened && !t.err.code && !t.cut)
        fuzz_pull_and_push(f.path, &t, t.events % 2 ? "policies=vc" : "policies=fasttrack");
    fuzz_trace_free(&t);
    fuzz_file_close(&f);
}

/* Without a first line it is taken with one, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char first_line[] = "lardsim-text 1\n";
    const size_t more = sizeof first_line - 1;

    take(data, n);
    if (n >= more && !memcmp(data, first_line, more))
        return 0;
    char *with = xmalloc(n + more);
    memcpy(with, first_line, more);
    memcpy(with + more, data, n);
    take(with, n + more);
    free(with);
    return 0;
}
