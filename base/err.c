/* err.c - errors that travel up in a struct err, and the one way out for what can't go on. */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is the byte inside a character of UTF-8, such that a cut before it would tear that? */
static bool is_inside(const char *at)
{
    return ((unsigned char)*at & 0xc0) == 0x80;
}

/* A text that is too long keeps its beginning and its end: what it is about stands before a long
 * name, reason and remedy after it. */
static void keep_ends(char *to, size_t cap, const char *text)
{
    static const char gap[] = " ... ";
    const size_t n = strlen(text), most = cap - sizeof gap; /* sizeof: the NUL, too */
    size_t head = most * 2 / 5, tail = most - head;

    if (n < cap) {
        memcpy(to, text, n + 1);
        return;
    }
    /* A character of UTF-8 has at most three bytes behind its first. */
    for (int i = 0; i < 3 && is_inside(text + head); i++)
        head--;
    for (int i = 0; i < 3 && is_inside(text + n - tail); i++)
        tail--;
    memcpy(to, text, head);
    memcpy(to + head, gap, sizeof gap - 1);
    memcpy(to + head + sizeof gap - 1, text + n - tail, tail + 1);
}

/* The first error is the cause; what fails after it mostly follows from it. */
int err_set(struct err *e, enum lard_exit code, const char *fmt, ...)
{
    va_list ap;
    char *text;

    if (!e || e->code)
        return -1; /* the message is about what failed first */
    e->code = (int)code;
    va_start(ap, fmt);
    const int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    keep_ends(e->text, sizeof e->text, n < 0 ? fmt : text);
    if (n >= 0)
        free(text);
    return -1;
}

int err_pass(struct err *e, const struct err *from)
{
    return err_set(e, (enum lard_exit)from->code, "%s", from->text);
}

int err_stopped(struct err *e, uint64_t event, int signal)
{
    const char *name = sigabbrev_np(signal);

    return err_set(e, (enum lard_exit)(128 + signal),
                   "event %llu: stopped by SIG%s; the results up to here hold",
                   (unsigned long long)event, name ? name : "NAL");
}

void err_clear(struct err *e)
{
    e->code = 0;
    e->text[0] = '\0';
}

/* Prints by write alone: streams may be what is broken, or may be locked. */
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
