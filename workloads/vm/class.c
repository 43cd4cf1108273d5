/* class.c - classes and the layout of objects, roots, references in fields and elements, and
 * what a collector needs done when those are written or read. */
#include "workloads/vm/vm_int.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- classes -------------------------------------------------------------------------------- */

static struct vm_class *new_class(struct vm *v, const char *name, uint32_t fields)
{
    struct vm_class *k = xcalloc(1, sizeof *k + fields * sizeof k->slot[0]);

    k->name = name;
    k->fields = fields;
    k->id = (uint32_t)v->classes.n;
    k->element = VM_TYPES;
    v->classes.life =
        xgrow(v->classes.life, v->classes.n, &v->classes.cap_life, sizeof *v->classes.life);
    v->classes.life[v->classes.n] = (struct vm_class_life){VM_CLASS_NEW, NULL};
    v->classes.class =
        xgrow(v->classes.class, v->classes.n, &v->classes.cap, sizeof(struct vm_class *));
    v->classes.class[v->classes.n++] = k;
    v->core.classes = (const struct vm_class *const *)v->classes.class;
    return k;
}

void vm_array_class(struct vm *v, enum vm_type element)
{
    static const char *const name[VM_TYPES] = {"i8[]", "i32[]", "i64[]", "f64[]", "ref[]"};

    new_class(v, name[element], 0)->element = element;
}

/* ---- where fields lie ----------------------------------------------------------------------- */

enum { PASSES = 5 }; /* over a class's fields, to lay them out */

static unsigned pass_of(const struct layout *l, enum vm_type type, unsigned shift)
{
    if (l->fields == FIELDS_REFERENCES_FIRST)
        return type == VM_REF ? 0 : shift == 3 ? 1 : 2;
    if (l->fields == FIELDS_LARGEST_FIRST)
        return type == VM_REF ? 4 : 3 - shift;
    return 0; /* FIELDS_GIVEN */
}

/* A field goes to the first place that is free and aligned; in the order given, behind all others.
 */
static uint32_t place_field(const struct layout *l, unsigned char *used, uint32_t end,
                            uint32_t size)
{
    const uint32_t from = l->fields == FIELDS_GIVEN ? end : l->header;
    uint32_t at = (from + size - 1) / size * size;

    while (at < end && memchr(used + at, 1, size))
        at += size;
    memset(used + at, 1, size);
    return at;
}

/* Lays out the fields, and returns the end of the last one. */
static uint32_t lay_out(struct vm_class *k, const struct vm_core *c)
{
    const struct vm_field *fields = k->of->fields;
    const struct layout *l = c->layout;
    unsigned char *used = xcalloc(l->header + 16 * ((size_t)k->fields + 1), 1);
    uint32_t end = l->header;

    for (unsigned pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < k->fields; i++) {
            const unsigned shift = vm_shift(c, fields[i].type);
            if (pass_of(l, fields[i].type, shift) != pass)
                continue;
            const uint32_t at = place_field(l, used, end, 1u << shift);
            k->slot[i] = (struct vm_slot){at, (uint16_t)fields[i].flags, (uint8_t)fields[i].type};
            end = at + (1u << shift) > end ? at + (1u << shift) : end;
        }
    free(used);
    return end;
}

static uint64_t aligned(const struct vm_core *c, uint64_t bytes)
{
    return (bytes + c->layout->align - 1) / c->layout->align * c->layout->align;
}

const struct vm_class *vm_class(struct vm_thread *t, const struct vm_type_of *of, void *arg)
{
    uint32_t n = 0;

    while (of->fields[n].name)
        n++;
    struct vm_class *k = new_class(t->vm, of->name, n);
    k->of = of;
    k->arg = arg;
    k->bytes = (uint32_t)aligned(&t->vm->core, lay_out(k, &t->vm->core));
    return k;
}

uint64_t vm_array_bytes(const struct vm_core *c, enum vm_type element, uint64_t length)
{
    return aligned(c, c->elements[element] + (length << vm_shift(c, element)));
}

uint64_t vm_bytes(const struct vm *v, const struct vm_header *h)
{
    const uint32_t class = h->class & ~VM_FORWARDED;

    if (class == VM_GAP_FILL)
        return (uint64_t)h->word * v->core.layout->align;
    if (class >= VM_TYPES)
        return v->classes.class[class]->bytes;
    return vm_array_bytes(&v->core, (enum vm_type) class, h->length);
}

/* Returns the offset of the object's i-th reference; 0, which is in the header: it has no more. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i)
{
    const struct vm_class *k = v->classes.class[h->class & ~VM_FORWARDED];

    if (k->element == VM_REF && i < h->length)
        return v->core.elements[VM_REF] + (i << v->core.shift[VM_REF]);
    for (uint32_t f = 0; f < k->fields; f++)
        if (k->slot[f].type == VM_REF && i-- == 0)
            return k->slot[f].offset;
    return 0;
}

/* Notes which object an access is of. core is a member of struct vm, at a known offset. */
void vm_identify(struct vm_core *c, const struct event *ev, sim_addr object)
{
    const struct vm *v = (const struct vm *)((const char *)c - offsetof(struct vm, core));

    c->identity[ev - c->rec] =
        (struct vm_identity){v->heap.ids[vm_grain(&v->heap, object)], ev->addr - object};
}

/* ---- faults --------------------------------------------------------------------------------- */

static const char *site_name(const struct vm_thread *t, uint64_t site)
{
    const char *name = names_find(t->vm->names, NAME_SITE, site);

    return name ? name : "an unknown site";
}

static const char *const type_name[VM_TYPES] = {"i8", "i32", "i64", "f64", "ref"};

void vm_bad_field(struct vm_thread *t, const struct vm_ref *o, unsigned field, enum vm_type type,
                  uint64_t site)
{
    if (!o->at)
        vm_fail(t, "%s: field %u of null", site_name(t, site), field);
    const struct vm_class *k = t->vm->classes.class[vm_header(&t->vm->core, o->at)->class];
    if (field >= k->fields)
        vm_fail(t, "%s: a %s has no field %u", site_name(t, site), k->name, field);
    vm_fail(t, "%s: %s.%s is no %s", site_name(t, site), k->name, k->of->fields[field].name,
            type_name[type]);
}

void vm_bad_element(struct vm_thread *t, const struct vm_ref *o, uint64_t index, enum vm_type type,
                    uint64_t site)
{
    if (!o->at)
        vm_fail(t, "%s: element %" PRIu64 " of null", site_name(t, site), index);
    const struct vm_header *h = vm_header(&t->vm->core, o->at);
    const struct vm_class *k = t->vm->classes.class[h->class];
    if (k->element != type)
        vm_fail(t, "%s: a %s has no elements %s", site_name(t, site), k->name, type_name[type]);
    vm_fail(t, "%s: index %" PRIu64 " of %" PRIu32, site_name(t, site), index, h->length);
}

/* ---- roots ---------------------------------------------------------------------------------- */

struct vm_ref *vm_enter(struct vm_thread *t, unsigned n)
{
    struct vm_ref *first = t->roots + t->n_roots;

    if (n > VM_ROOTS - t->n_roots)
        vm_fail(t, "more than %d roots in a thread; a recursion is too deep", VM_ROOTS);
    memset(first, 0, n * sizeof *first);
    t->n_roots += n;
    return first;
}

void vm_leave(struct vm_thread *t, struct vm_ref *first)
{
    t->n_roots = (uint32_t)(first - t->roots);
}

struct vm_ref *vm_global(struct vm_thread *t)
{
    struct vm *v = t->vm;
    const size_t chunk = v->globals.n / VM_ROOTS;

    if (v->globals.n % VM_ROOTS == 0) {
        v->globals.chunk = xgrow(v->globals.chunk, chunk, &v->globals.cap, sizeof(struct vm_ref *));
        v->globals.chunk[chunk] = xcalloc(VM_ROOTS, sizeof(struct vm_ref));
    }
    return &v->globals.chunk[chunk][v->globals.n++ % VM_ROOTS];
}

/* Roots of threads lie at the bottom of their simulated stacks. */
void vm_each_root(struct vm *v, void (*fn)(struct vm *v, struct vm_ref *r, sim_addr where))
{
    const uint64_t reference = v->core.layout->reference;

    for (size_t i = 0; i < v->sched.n_threads; i++) {
        struct vm_thread *t = v->sched.thread[i];
        for (uint32_t r = 0; r < t->n_roots; r++)
            if (t->roots[r].at)
                fn(v, &t->roots[r], VM_STACKS + i * VM_STACK_BYTES + reference * r);
    }
    for (size_t i = 0; i < v->globals.n; i++) {
        struct vm_ref *r = &v->globals.chunk[i / VM_ROOTS][i % VM_ROOTS];
        if (r->at)
            fn(v, r, vm_area(VM_AREA_STATE, 4096 + reference * i));
    }
}

/* The read barrier of concurrent copying: the old header tells where the object is now. */
const struct vm_header *vm_resolve(struct vm_thread *t, struct vm_ref *o)
{
    vm_system(t, EV_READ, o->at, t->vm->core.layout->header, VM_SITE_FORWARD);
    o->at = vm_forwarded(&t->vm->core, o->at);
    return vm_header(&t->vm->core, o->at);
}

/* A copy of a reference between roots is no access of the program's. */
void vm_assign(struct vm_thread *t, struct vm_ref *to, const struct vm_ref *from)
{
    to->at = vm_forwarded(&t->vm->core, from->at);
}

bool vm_same(struct vm_thread *t, const struct vm_ref *a, const struct vm_ref *b)
{
    return vm_forwarded(&t->vm->core, a->at) == vm_forwarded(&t->vm->core, b->at);
}

uint32_t vm_length(struct vm_thread *t, struct vm_ref *array)
{
    if (!array->at)
        vm_fail(t, "length of null");
    return vm_header(&t->vm->core, vm_forwarded(&t->vm->core, array->at))->length;
}

const struct vm_class *vm_class_of(struct vm_thread *t, struct vm_ref *o)
{
    if (!o->at)
        vm_fail(t, "class of null");
    return t->vm->classes.class[vm_header(&t->vm->core, vm_forwarded(&t->vm->core, o->at))->class];
}

/* ---- references in objects ------------------------------------------------------------------ */

static sim_addr slot_of(const struct vm_thread *t, const unsigned char *value)
{
    return (sim_addr)((uintptr_t)value - t->vm->core.bias);
}

/* Reads a reference; an object that has moved is found at its new place. */
static void read_ref(struct vm_thread *t, struct vm_ref *to, const unsigned char *from)
{
    const struct vm_core *c = &t->vm->core;
    sim_addr at = vm_load_slot(c, slot_of(t, from));

    if (UNLIKELY(t->vm->gc.barrier & VM_FORWARD) && vm_forwarded(c, at) != at) {
        vm_system(t, EV_READ, at, c->layout->header, VM_SITE_FORWARD);
        at = vm_forwarded(c, at);
    }
    to->at = at;
}

/* Tells a write to a collector that does not see it otherwise. Its table is complete at once; the
 * accesses for it follow. */
static void tell(struct vm_thread *t, sim_addr entry)
{
    struct vm *v = t->vm;
    const uint32_t word = v->core.layout->word;

    vm_addresses_add(&v->gc.log, entry);
    vm_system(t, EV_READ, vm_area(VM_AREA_STATE, 192), word, VM_SITE_BARRIER);
    vm_system(t, EV_WRITE, vm_area(VM_AREA_REMEMBERED, word * v->gc.log.n), word, VM_SITE_BARRIER);
}

/* The write barriers: snapshot-at-the-beginning (what is overwritten), and generational (old
 * objects that refer to the nursery). The value is where it is now: it may have moved while the
 * access was made. */
static void write_ref(struct vm_thread *t, const unsigned char *to, const struct vm_ref *value)
{
    struct vm *v = t->vm;
    const sim_addr slot = slot_of(t, to), was = vm_load_slot(&v->core, slot),
                   is = value ? value->at : 0;

    vm_store_slot(&v->core, slot, is);
    if (v->gc.barrier & VM_SNAPSHOT && was)
        tell(t, was);
    if (v->gc.barrier & VM_REMEMBER && slot >= v->heap.active.end && is && is < v->heap.active.end)
        tell(t, slot);
}

void vm_get_ref(struct vm_thread *t, struct vm_ref *to, struct vm_ref *o, unsigned field,
                uint64_t site)
{
    read_ref(t, to, vm_field(t, o, field, VM_REF, EV_READ, site));
}

void vm_load_ref(struct vm_thread *t, struct vm_ref *to, struct vm_ref *array, uint64_t index,
                 uint64_t site)
{
    read_ref(t, to, vm_element(t, array, index, VM_REF, EV_READ, site));
}

void vm_put_ref(struct vm_thread *t, struct vm_ref *o, unsigned field, const struct vm_ref *value,
                uint64_t site)
{
    write_ref(t, vm_field(t, o, field, VM_REF, EV_WRITE, site), value);
}

void vm_store_ref(struct vm_thread *t, struct vm_ref *array, uint64_t index,
                  const struct vm_ref *value, uint64_t site)
{
    write_ref(t, vm_element(t, array, index, VM_REF, EV_WRITE, site), value);
}
