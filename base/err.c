/* err.c - errors that travel up in a struct err, and the one way out for what can't go on. */
#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int err_set(struct err *e, enum lard_exit code, const char *fmt, ...)
{
    va_list ap;

    if (!e || e->code)
        return -1;
    e->code = (int)code;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return -1;
}

void err_clear(struct err *e)
{
    e->code = 0;
    e->text[0] = '\0';
}

void die(const char *fmt, ...)
{
    char text[1000] = "lardsim: ";
    const size_t used = sizeof "lardsim: " - 1;
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text + used, sizeof text - used - 1, fmt, ap);
    va_end(ap);
    size_t len = used + (n < 0 ? 0 : (size_t)n);
    if (len > sizeof text - 2)
        len = sizeof text - 2;
    text[len++] = '\n';
    if (write(STDERR_FILENO, text, len) < 0)
        _exit(LARD_INTERNAL);
    _exit(LARD_INTERNAL);
}
