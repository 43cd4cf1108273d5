/* fuzz_gem5.c - any bytes as a packet trace of gem5, alone, in two files and with a sidecar: an
 * error that names the place, or well-formed events, which survive being written and read again.
 * The first two bytes say where the sidecar ends, and the second file begins. */
#include "tests/fuzz/fuzz.h"

static void take(char *spec)
{
    struct fuzz_trace t = fuzz_open(spec);

    if (t.opened)
        fuzz_round_trip(&t, sink_text);
    fuzz_trace_free(&t);
    free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const policies[] = {"policies=fasttrack", NULL};
    const size_t head = n < 2 ? n : 2, rest = n - head;
    const size_t side_n = head == 2 ? (data[0] | (size_t)data[1] << 8) % (rest + 1) : 0;
    struct fuzz_file side = fuzz_file(data + head, side_n);
    struct fuzz_file trace = fuzz_file(data + head + side_n, rest - side_n);
    char *marked = xasprintf("gem5:sync=%s:%s", side.path, trace.path);

    take(xasprintf("gem5:%s", trace.path));
    take(xasprintf("gem5:version=21,tracked=marked:%s,%s", trace.path, side.path));
    take(xasprintf("gem5:isa=other:%s,%s", side.path, trace.path));
    take(xstrdup(marked));
    fuzz_run(marked, policies);
    free(marked);
    fuzz_file_close(&trace);
    fuzz_file_close(&side);
    return 0;
}
