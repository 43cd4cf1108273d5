/* bytes.h - for tests: a trace of text from memory. */
#ifndef LARDSIM_TESTS_TEXT_BYTES_H
#define LARDSIM_TESTS_TEXT_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

#define HEAD "lardsim-text 2\n"

static inline struct source *open_bytes(const char *bytes, size_t n, struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);

    in->name = xstrdup("t.txt");
    in->file = fmemopen((void *)(uintptr_t)bytes, n, "r");
    assert_non_null(in->file);
    in->head_n = fread(in->head, 1, sizeof in->head, in->file);
    return trace_format_text.open(in, e);
}

#endif
