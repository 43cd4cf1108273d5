/* object.c - what happens-before keeps of a synchronisation object (base/sync_object.h): a lock's
 * clock hangs on its object (LARD 4.3.2). */
#include "policy/hb/hb_int.h"

static void object_begin(void *arg, void *object)
{
    struct hb *hb = arg;
    struct hb_object *o = object;

    o->id = ++hb->ids;
}

static void object_end(void *arg, void *object)
{
    const struct hb *hb = arg;
    struct hb_object *o = object;

    vclock_free(&o->write, hb->budget);
    vclock_free(&o->read, hb->budget);
    if (o->sync.kind == OBJECT_ATOMIC)
        sequences_free(o->sequences, hb->budget);
}

static void object_copy(void *arg, void *to, const void *from)
{
    const struct hb *hb = arg;
    const struct hb_object *o = from;
    struct hb_object *copy = to;

    copy->id = o->id;
    if (o->sync.kind == OBJECT_ATOMIC)
        copy->sequences = sequences_copy(o->sequences, hb->budget);
    else
        copy->inside = o->inside;
    copy->write_of = o->write_of;
    vclock_copy(&copy->write, &o->write, hb->budget);
    vclock_copy(&copy->read, &o->read, hb->budget);
}

const struct sync_ways hb_object_ways = {sizeof(struct hb_object), object_begin, object_end,
                                         object_copy};

void hb_clear(struct hb *hb, sim_addr addr, uint64_t bytes)
{
    sync_objects_clear(&hb->objects, addr, bytes, hb);
}

void hb_copy(struct hb *hb, sim_addr to, sim_addr from, uint64_t bytes)
{
    sync_objects_move(&hb->objects, to, from, bytes, hb);
}

uint64_t hb_lock_id(const struct hb *hb, sim_addr addr)
{
    const struct hb_object *o = sync_object_find(&hb->objects, OBJECT_LOCK, addr, 0);

    return o ? o->id : 0;
}

uint32_t hb_lock_depth(const struct hb *hb, sim_addr addr, sim_tid tid, bool shared)
{
    const struct hb_object *o = sync_object_find(&hb->objects, OBJECT_LOCK, addr, 0);
    const struct sync_hold *h = o ? sync_hold_of(&o->sync, tid, shared) : NULL;

    return h ? h->depth : 0;
}
