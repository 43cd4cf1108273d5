/* settings.h - a text that grows by formats: settings that a random test draws. */
#ifndef LARDSIM_TESTS_SETTINGS_H
#define LARDSIM_TESTS_SETTINGS_H

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"
#include "base/err.h"

enum { TEXT = 3000 };

struct text {
    char at[TEXT];
    size_t n;
};

static void add(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->at + t->n, TEXT - t->n, fmt, ap);
    va_end(ap);
    if (t->n >= TEXT)
        die("the settings are too long");
}

#endif
