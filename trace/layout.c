/* layout.c - the table of layouts. */
#include "trace/layout.h"

#include <stddef.h>

const struct layout layouts[LAYOUTS] = {
#define LAYOUT(NAME, name, word, reference, header, array, align, lock, fields, help)              \
    {name, help, word, reference, header, array, align, lock, FIELDS_##fields},
#include "trace/layout.def"
#undef LAYOUT
};

const char *const layout_names[] = {
#define LAYOUT(NAME, name, ...) name,
#include "trace/layout.def"
#undef LAYOUT
    NULL};

uint64_t layout_first(const struct layout *l, uint64_t bytes, uint64_t n, uint32_t element)
{
    const uint64_t more = bytes - n * element, header = layout_elements(l, element);

    if (l != &layouts[LAYOUT_DEFAULT] && header <= more)
        return header;
    return more >= 16 ? more & ~UINT64_C(15) : more & ~UINT64_C(7);
}
