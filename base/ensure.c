/* ensure.c - an assertion that failed says where in the run it did. */
#include "base/ensure.h"
#include "base/err.h"

#include <stdio.h>
#include <stdarg.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

PRINTF_LIKE(4, 5)
static size_t text_add(char *to, size_t used, size_t room, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    const int n = vsnprintf(to + used, room - used, fmt, ap);
    va_end(ap);
    return n < 0 || (size_t)n >= room - used ? room - 1 : used + (size_t)n;
}

static size_t add_where(char *to, size_t used, size_t room, const struct whereabouts *at)
{
    const struct {
        const char *what;
        uint64_t value;
    } number[] = {{"event", at->event},
                  {"thread", at->thread < 0 ? NOT_KNOWN : (uint64_t)at->thread},
                  {"core", at->core < 0 ? NOT_KNOWN : (uint64_t)at->core},
                  {"cycle", at->cycle}};
    const char *between = "\nlardsim: at";

    for (size_t i = 0; i < ARRAY_SIZE(number); i++)
        if (number[i].value != NOT_KNOWN) {
            used = text_add(to, used, room, "%s %s %" PRIu64, between, number[i].what,
                            number[i].value);
            between = ",";
        }
    return at->policy ? text_add(to, used, room, "%s policy %s", between, at->policy) : used;
}

/* Prints by write alone, as die does: streams may be what is broken. */
void ensure_failed(const char *file, int line, const char *rule, const struct run_context *context,
                   const char *fmt, ...)
{
    char text[2000];
    struct whereabouts at = WHERE_UNKNOWN;
    size_t used = text_add(text, 0, sizeof text, "lardsim: %s:%d: %s: ", file, line, rule);
    va_list ap;

    va_start(ap, fmt);
    const int n = vsnprintf(text + used, sizeof text - used, fmt, ap);
    va_end(ap);
    used = n < 0 ? used : used + (size_t)n < sizeof text ? used + (size_t)n : sizeof text - 1;
    if (context && context->tell)
        context->tell(context->run, &at);
    used = add_where(text, used, sizeof text, &at);
    used = text_add(text, used, sizeof text, "\n");
    if (write(STDERR_FILENO, text, used) == (ssize_t)used)
        raise(SIGABRT);
    raise(SIGABRT);
    _exit(LARD_INTERNAL);
}
