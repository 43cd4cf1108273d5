/* object.c - the synchronisation objects that have a clock. They follow the memory that they live
 * in (base/sync_object.h). This table is the host's and costs nothing: in the modelled memory a
 * word of the object points to its clock. */
#include "runtime/runtime_int.h"

static void object_begin(void *arg, void *object)
{
    const struct rt_walk *w = arg;

    (void)object;
    w->r->st.objects++;
}

static void object_end(void *arg, void *object)
{
    const struct rt_walk *w = arg;
    struct rt_object *o = object;

    rt_clock_free(w->r, w->core, &o->write);
    rt_clock_free(w->r, w->core, &o->read);
    if (o->sync.kind == OBJECT_ATOMIC)
        sequences_free(o->sequences, w->r->env.budget);
    w->r->st.objects--;
}

const struct sync_ways rt_object_ways = {
    .bytes = sizeof(struct rt_object), .begin = object_begin, .end = object_end};
