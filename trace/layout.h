/* layout.h - how a program's objects lie in memory, and the words that a detector of that platform
 * keeps of them: docs/machine.md, "Layouts". A trace says its own (struct source); one that says
 * nothing has the default. */
#ifndef LARDSIM_LAYOUT_H
#define LARDSIM_LAYOUT_H

#include <stdint.h>

enum layout_id {
#define LAYOUT(NAME, ...) LAYOUT_##NAME,
#include "trace/layout.def"
#undef LAYOUT
    LAYOUTS
};
enum layout_fields {                          /* the order in which a class's fields lie */
                     FIELDS_GIVEN,            /* as they are declared */
                     FIELDS_REFERENCES_FIRST, /* references, those of 8 bytes, the others; holes are
                                                 filled */
                     FIELDS_LARGEST_FIRST     /* by size, references last; holes are filled */
};
struct layout {
    const char *name, *help;
    uint8_t word, reference, header, array, align, lock;
    uint8_t fields; /* enum layout_fields */
};
extern const struct layout layouts[LAYOUTS];
extern const char *const layout_names[]; /* NULL-terminated, by enum layout_id */

/* Returns the offset of an array's elements: behind its header, aligned to their size. */
static inline uint32_t layout_elements(const struct layout *l, uint32_t element)
{
    return (l->array + element - 1) / element * element;
}
/* The same of an array of so many bytes in all: an alloc event does not say it. Of no particular
 * layout, or where the layout's header leaves too little, what is more than the elements take is a
 * header of whole words and padding. */
uint64_t layout_first(const struct layout *l, uint64_t bytes, uint64_t n, uint32_t element);

#endif
