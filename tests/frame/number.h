/* number.h - a number that a test expects, by name: a failure says which one, and what it is. */
#ifndef LARDSIM_TESTS_NUMBER_H
#define LARDSIM_TESTS_NUMBER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static inline void number_is_at(const char *file, int line, const char *name, uint64_t is,
                                uint64_t expected)
{
    if (is != expected)
        fail_msg("%s:%d: %s is %llu, not %llu", file, line, name, (unsigned long long)is,
                 (unsigned long long)expected);
}
#define number_is(name, is, expected)                                                              \
    number_is_at(__FILE__, __LINE__, name, is, (uint64_t)(expected))

#endif
