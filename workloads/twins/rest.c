/* rest.c - what else is in a program's heap: objects and arrays that live from the beginning to the
 * end and that the region of interest does not access. They are what metadata are compared with
 * where space is measured (Valor 6.4); time hardly sees them. Fields and elements are in the same
 * proportion as in the blocks. Final fields keep them together, so nothing of that is checked. */
#include "workloads/twins/twin.h"

enum { NEXT, DATA, HEAD_FIELDS }; /* and as many more as a block has */
enum { FIELDS = 8 };
#define REST(type)                                                                                 \
    VM_TYPE("Rest", {"next", VM_REF, EVF_FINAL}, {"data", VM_REF, EVF_FINAL}, {"f0", type, 0},     \
            {"f1", type, 0}, {"f2", type, 0}, {"f3", type, 0}, {"f4", type, 0}, {"f5", type, 0})
static const struct vm_type_of rest_type[] = {REST(VM_I64), REST(VM_I32)}; /* by twin_narrow */

struct rest { /* so far */
    uint64_t bytes, places, elements, arrays, touched;
};

/* The first write of an element is what makes an array's metadata, where they are an array, too. */
static void add_array(struct vm_thread *t, struct vm_ref *node, struct vm_ref *array,
                      const struct twin_params *p, struct rest *r, uint64_t site)
{
    const struct layout *l = &layouts[vm_params(t)->layout];
    const bool is_narrow = twin_narrow(t);
    const uint32_t element = is_narrow ? 4 : 8;

    vm_new_array(t, array, is_narrow ? VM_I32 : VM_I64, p->length, site);
    vm_put_ref(t, node, DATA, array, site);
    r->arrays++;
    if (r->touched * 100 < p->touched * r->arrays) {
        twin_put(t, array, true, is_narrow, 0, 1, site);
        r->touched++;
    }
    r->elements += p->length;
    r->places += p->length;
    r->bytes +=
        (layout_elements(l, element) + p->length * element + l->align - 1) / l->align * l->align;
}

void twin_rest(struct vm_thread *t, const struct twin_params *p, uint64_t site)
{
    const struct vm_class *k = vm_class(t, &rest_type[twin_narrow(t)], NULL);
    struct vm_ref *r = vm_enter(t, 3); /* the first of the list; a new one; its array */
    struct rest is = {0};

    while (is.bytes < p->rest << 20) {
        vm_new(t, &r[1], k, site);
        if (!vm_is_null(&r[0]))
            vm_put_ref(t, &r[1], NEXT, &r[0], site);
        is.bytes += k->bytes;
        is.places += FIELDS;
        if (is.elements * 100 < p->arrays * is.places)
            add_array(t, &r[1], &r[2], p, &is, site);
        vm_assign(t, &r[0], &r[1]);
    }
    /* The first root keeps all of it until the program ends. */
    vm_set_null(&r[1]);
    vm_set_null(&r[2]);
}
