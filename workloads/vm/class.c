/* class.c - classes and the layout of objects, roots, references in fields and elements, and
 * what a collector needs done when those are written or read. */
#include "workloads/vm/vm_int.h"

#include <inttypes.h>

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

/* Lays the fields out in their order, each aligned to its size, as small runtimes do. */
const struct vm_class *vm_class(struct vm_thread *t, const struct vm_type_of *of, void *arg)
{
    uint32_t n = 0, at = VM_HEADER;

    while (of->fields[n].name)
        n++;
    struct vm_class *k = new_class(t->vm, of->name, n);
    k->of = of;
    k->arg = arg;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t size = 1u << vm_shift(of->fields[i].type);
        at = (at + size - 1) / size * size;
        k->slot[i] =
            (struct vm_slot){at, (uint16_t)of->fields[i].flags, (uint8_t)of->fields[i].type};
        at += size;
    }
    k->bytes = (at + VM_ALIGN - 1) / VM_ALIGN * VM_ALIGN;
    return k;
}

uint64_t vm_bytes(const struct vm *v, const struct vm_header *h)
{
    const uint32_t class = h->class & ~VM_FORWARDED;

    if (class == VM_GAP_FILL)
        return (uint64_t)h->length * VM_ALIGN;
    if (class >= VM_TYPES)
        return v->classes.class[class]->bytes;
    const uint64_t bytes = VM_HEADER + ((uint64_t)h->length << vm_shift((enum vm_type) class));
    return (bytes + VM_ALIGN - 1) / VM_ALIGN * VM_ALIGN;
}

/* Where the object's i-th reference is; 0, which is in the header: it has no more. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i)
{
    const struct vm_class *k = v->classes.class[h->class & ~VM_FORWARDED];

    if (k->element == VM_REF && i < h->length)
        return VM_HEADER + 8 * i;
    for (uint32_t f = 0; f < k->fields; f++)
        if (k->slot[f].type == VM_REF && i-- == 0)
            return k->slot[f].offset;
    return 0;
}

/* core is a member of struct vm, at a known offset. */
void vm_identify(struct vm_core *c, const struct event *ev, sim_addr object)
{
    const struct vm *v = (const struct vm *)((const char *)c - offsetof(struct vm, core));

    c->identity[ev - c->rec] =
        (struct vm_identity){v->heap.ids[(object - VM_HEAP) / VM_ALIGN], ev->addr - object};
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
    for (size_t i = 0; i < v->sched.n_threads; i++) {
        struct vm_thread *t = v->sched.thread[i];
        for (uint32_t r = 0; r < t->n_roots; r++)
            if (t->roots[r].at)
                fn(v, &t->roots[r], VM_STACKS + i * VM_STACK_BYTES + 8 * (uint64_t)r);
    }
    for (size_t i = 0; i < v->globals.n; i++) {
        struct vm_ref *r = &v->globals.chunk[i / VM_ROOTS][i % VM_ROOTS];
        if (r->at)
            fn(v, r, vm_area(VM_AREA_STATE, 4096 + 8 * i));
    }
}

/* The read barrier of concurrent copying: the old header tells where the object is now. */
const struct vm_header *vm_resolve(struct vm_thread *t, struct vm_ref *o)
{
    vm_system(t, EV_READ, o->at, VM_HEADER, VM_SITE_FORWARD);
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

/* Reading: what has moved is found where it is now. */
static void read_ref(struct vm_thread *t, struct vm_ref *to, const unsigned char *from)
{
    sim_addr at;

    memcpy(&at, from, sizeof at);
    if (UNLIKELY(t->vm->gc.barrier & VM_FORWARD) && vm_forwarded(&t->vm->core, at) != at) {
        vm_system(t, EV_READ, at, VM_HEADER, VM_SITE_FORWARD);
        at = vm_forwarded(&t->vm->core, at);
    }
    to->at = at;
}

/* A collector that does not see this write otherwise is told. Its table is complete at once; the
 * accesses for it follow. */
static void tell(struct vm_thread *t, sim_addr entry)
{
    struct vm *v = t->vm;

    vm_addresses_add(&v->gc.log, entry);
    vm_system(t, EV_READ, vm_area(VM_AREA_STATE, 192), 8, VM_SITE_BARRIER);
    vm_system(t, EV_WRITE, vm_area(VM_AREA_REMEMBERED, 8 * v->gc.log.n), 8, VM_SITE_BARRIER);
}

/* The write barriers: snapshot-at-the-beginning (what is overwritten), and generational (old
 * objects that refer to the nursery). */
static void write_ref(struct vm_thread *t, sim_addr slot, unsigned char *to, sim_addr value)
{
    struct vm *v = t->vm;
    sim_addr was;

    memcpy(&was, to, sizeof was);
    memcpy(to, &value, sizeof value);
    if (v->gc.barrier & VM_SNAPSHOT && was)
        tell(t, was);
    if (v->gc.barrier & VM_REMEMBER && slot >= v->heap.active.end && value &&
        value < v->heap.active.end)
        tell(t, slot);
}

static sim_addr slot_of(const struct vm_thread *t, const unsigned char *value)
{
    return (sim_addr)((uintptr_t)value - t->vm->core.bias);
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
    unsigned char *to = vm_field(t, o, field, VM_REF, EV_WRITE, site);

    write_ref(t, slot_of(t, to), to, value ? value->at : 0);
}

void vm_store_ref(struct vm_thread *t, struct vm_ref *array, uint64_t index,
                  const struct vm_ref *value, uint64_t site)
{
    unsigned char *to = vm_element(t, array, index, VM_REF, EV_WRITE, site);

    write_ref(t, slot_of(t, to), to, value ? value->at : 0);
}
