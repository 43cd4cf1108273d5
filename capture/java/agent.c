/* agent.c - inside a JVM under capture (JDK 17): where objects are born, go and die, and what the
 * instrumented code of lardsim-agent.jar tells, as records in the ring.
 *
 * An object is followed by a weak handle: when a collection has finished, still in its pause, the
 * handle has the object's new place, or none. A thread in native code is not stopped by a pause, so
 * between reading a handle and writing its record it holds a sign up, and a collection waits until
 * all signs are down. A thread that finds a collection under way takes its sign down again, and
 * waits until it is over. Neither needs a barrier: the collection makes all threads pass one
 * between its own sign and its look at theirs (membarrier).
 *
 * Given the option "alone" it records nothing, and only adds up the program's processor time, which
 * a capture's is compared with. */
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/write.h"

enum { CHUNK = 1024, CHUNKS = 4096, CLASSES = 1 << 16, JAVA_IDS = 1 << 20 };
enum { RELAXED = 1 };    /* enum ev_order of trace/trace.h: what it orders is told by itself */
enum { MADE = 1 << 30 }; /* a class's number and this: the site of what no known code allocates */
#define UNLIKELY_(x) __builtin_expect(!!(x), 0)

struct object {
    jweak handle;
    uint64_t addr, bytes;
};

struct late { /* an object that the JVM makes while the thread waits: told after the wait */
    jweak handle;
    uint64_t bytes, site;
    uint32_t class;
};

struct self {          /* a thread's */
    _Atomic bool sign; /* up: a record is being made */
    struct ring_writer to;
    uint16_t number;
    unsigned off; /* in the agent's own code: no accesses */
    unsigned
        instruments; /* of it: the calls that transform a class; their objects are the agent's */
    bool ended;
    uint64_t work;       /* bytecodes since its last event */
    uint32_t making;     /* the site of what it allocates next; 0: unknown */
    uint32_t within;     /* calls of the method that opens the window */
    struct object *born; /* owns; since the last collection */
    size_t births, cap;
    bool waits;        /* from wait-enter to wait-exit */
    struct late *late; /* owns */
    size_t lates, lates_cap;
    uint64_t used[CLASSES / 64]; /* classes that it knows to be initialised */
    struct self *next;
};

/* A place in the code, and the field that it accesses. */
struct site {
    int64_t offset; /* below 0: to be resolved when it is first executed */
    jobject base;   /* of a static field; owns */
    uint32_t class; /* the class of a static, or of an allocation: they are numbered apart */
    uint8_t bytes, kind, flags; /* flags: of struct ring_record's order */
};

struct class
{                    /* objects */
    char *signature; /* owns; NULL: no class yet */
    uint32_t number;
};

static struct ring *ring;
static FILE *names; /* lines for the reader: what threads and sites are called */
static jvmtiEnv *ti;
static _Atomic(struct self *) selves;
static _Thread_local struct self *mine __attribute__((tls_model("initial-exec")));
static _Alignas(128) _Atomic bool collecting;
static bool fences; /* there is no membarrier: each thread has its own */
static _Atomic bool on;
static struct site *sites[CHUNKS]; /* own */
static _Atomic bool initialised[CLASSES];
static _Atomic uint16_t number_of[JAVA_IDS]; /* by a thread's id in Java: number + 1 */
static jclass runtime, class_class;
static jmethodID resolve;
static jfieldID thread_id;

static struct object *living; /* owns; all that is followed but for births; the collector's */
static size_t lives, lives_cap;
static jweak *dead; /* owns; handles to be deleted: not in a pause, where JNI is forbidden */
static size_t deads, deads_cap;
static pthread_mutex_t dead_lock = PTHREAD_MUTEX_INITIALIZER;

static struct class classes[CLASSES]; /* by hash of the signature; never full */
static uint32_t class_count;
static uint8_t class_element[CLASSES]; /* by number: bytes of an array's element; 0: no array */
static bool class_orders[CLASSES];     /* by number: what the JDK synchronises with */
static pthread_mutex_t class_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t word_class[CLASSES]; /* from a header's word to a number; 0: free */
static uint32_t array_base = 16, reference_bytes = 4;

struct account { /* a thread's processor time, while it runs; by its clock, in nanoseconds */
    clockid_t clock;
    uint64_t since;
    uint64_t aside;    /* spent on instrumenting */
    uint64_t aside_at; /* when that began; 0: it is not going on */
    struct account **before, *next;
};
static struct account *accounts; /* own */
static uint64_t own, aside;      /* sums of the accounts that are closed */
static pthread_mutex_t accounts_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct account *account __attribute__((tls_model("initial-exec")));

static void *grown(void *p, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return p;
    *cap = *cap ? 2 * *cap : 4096;
    p = realloc(p, *cap * bytes);
    if (!p)
        abort();
    return p;
}

/* ---- records -------------------------------------------------------------------------------- */

static struct self *self_new(void)
{
    struct self *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    ring_thread(ring, &s->number);
    s->next = atomic_load(&selves);
    while (!atomic_compare_exchange_weak(&selves, &s->next, s))
        continue;
    mine = s;
    return s;
}

static struct self *me(void)
{
    return mine ? mine : self_new();
}

static void end(struct self *s)
{
    atomic_store_explicit(&s->sign, false, memory_order_release);
}

/* Puts the thread's sign up while no collection is under way: the collection waits until it is
 * down. */
static void begin(struct self *s)
{
    const struct timespec nap = {.tv_nsec = 50000};

    for (;;) {
        atomic_store_explicit(&s->sign, true, memory_order_relaxed);
        if (UNLIKELY_(fences))
            atomic_thread_fence(memory_order_seq_cst);
        atomic_signal_fence(memory_order_seq_cst);
        if (!UNLIKELY_(atomic_load(&collecting)))
            return;
        end(s);
        while (atomic_load(&collecting))
            nanosleep(&nap, NULL);
    }
}

/* Java may give a thread another number. */
static struct ring_writer *lane_of(struct self *s)
{
    if (UNLIKELY_(!s->to.lane || s->to.thread != s->number)) {
        if (s->to.lane)
            ring_leave_lane(&s->to);
        ring_enter_lane(&s->to, ring, s->number);
    }
    return &s->to;
}

/* A record of an event, with the sign up. */
static void put(struct self *s, struct ring_record rec)
{
    struct ring_writer *to = lane_of(s);

    rec.gap = s->work;
    s->work = 0;
    if ((rec.kind == REC_READ || rec.kind == REC_WRITE) && !(rec.order & RING_ORDER))
        ring_access(to, &rec);
    else
        ring_event(to, &rec);
}

/* Returns the address at which the object lies now. A handle is a pointer to a slot; the lowest bit
 * marks the handle of a weak reference (JDK 17). */
static uint64_t place(jobject handle)
{
    return handle ? *(volatile uint64_t *)((uintptr_t)handle & ~(uintptr_t)1) : 0;
}

static bool silent(const struct self *s, enum ring_mode least)
{
    return !atomic_load_explicit(&on, memory_order_relaxed) || s->off || s->ended ||
           atomic_load_explicit(&ring->mode, memory_order_relaxed) >= least;
}

/* Makes one record about a place in an object, or about none without an object. */
static void record(struct self *s, uint8_t kind, jobject o, uint64_t offset, uint32_t bytes,
                   jint site, uint8_t flags)
{
    begin(s);
    put(s, (struct ring_record){.addr = place(o) + offset,
                                .site = (uint64_t)site,
                                .size = bytes,
                                .kind = kind,
                                .order = flags});
    end(s);
}

static struct site *site_at(jint id)
{
    return &sites[id / CHUNK][id % CHUNK];
}

/* ---- processor time -------------------------------------------------------------------------- */

static uint64_t clock_now(clockid_t clock)
{
    struct timespec t = {.tv_sec = 0};

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Charges this thread's time to the program from now on. */
static void account_open(void)
{
    struct account *a = calloc(1, sizeof *a);

    if (!a || account || pthread_getcpuclockid(pthread_self(), &a->clock)) {
        free(a);
        return;
    }
    a->since = clock_now(a->clock);
    pthread_mutex_lock(&accounts_lock);
    a->next = accounts;
    a->before = &accounts;
    if (accounts)
        accounts->before = &a->next;
    accounts = a;
    pthread_mutex_unlock(&accounts_lock);
    account = a;
}

/* Adds up a thread's times. The caller has accounts_lock. */
static void account_count(const struct account *a)
{
    own += clock_now(a->clock) - a->since - a->aside;
    aside += a->aside;
}

static void account_close(void)
{
    struct account *a = account;

    if (!a)
        return;
    account = NULL;
    pthread_mutex_lock(&accounts_lock);
    account_count(a);
    *a->before = a->next;
    if (a->next)
        a->next->before = a->before;
    pthread_mutex_unlock(&accounts_lock);
    free(a);
}

/* quiet(s, 1) begins the agent's own work in this thread, quiet(s, -1) ends it: in between no
 * access is recorded, and the time counts as the agent's. */
static void quiet(struct self *s, int more)
{
    const unsigned was = s->off;

    s->off += (unsigned)more;
    if (!account || (was && s->off))
        return;
    const uint64_t now = clock_now(account->clock);
    if (s->off)
        account->aside_at = now;
    else if (account->aside_at)
        account->aside += now - account->aside_at;
}

/* Writes the times at the end, when some threads still run: "C", nanoseconds of the program, and of
 * instrumenting. */
static void account_tell(int fd)
{
    char line[64];

    pthread_mutex_lock(&accounts_lock);
    for (const struct account *a = accounts; a; a = a->next)
        account_count(a);
    const int n = snprintf(line, sizeof line, "C %llu %llu\n", (unsigned long long)own,
                           (unsigned long long)aside);
    pthread_mutex_unlock(&accounts_lock);
    if (write(fd, line, (size_t)n) < 0)
        return; /* it is not known, then */
}

/* ---- what instrumented code calls: class lardsim.Rt ------------------------------------------ */

static bool resolved(JNIEnv *jni, struct self *s, struct site *at, jint id)
{
    if (!UNLIKELY_(at->offset < 0))
        return true;
    if (at->offset == -2)
        return false;
    const uint64_t work = s->work; /* not of what the agent allocates meanwhile */
    quiet(s, 1);
    (*jni)->CallStaticVoidMethod(jni, runtime, resolve, id);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    quiet(s, -1);
    s->work = work;
    return at->offset >= 0;
}

/* Records what the code at the site does to its field, in the object or the static's base. */
static void field(struct self *s, const struct site *at, jobject o, jint id)
{
    const bool access = at->kind == REC_READ || at->kind == REC_WRITE;

    if (!access || !silent(s, RING_OUTSIDE))
        record(s, at->kind, o, (uint64_t)at->offset, access ? at->bytes : 0, id,
               access ? at->flags : 0);
}

static void JNICALL rt_field(JNIEnv *jni, jclass c, jobject o, jint id, jint work)
{
    struct self *s = me();
    struct site *at = site_at(id);

    s->work += (uint32_t)work;
    if (o && !silent(s, RING_CLOSED) && resolved(jni, s, at, id))
        field(s, at, o, id);
}

static void JNICALL rt_element(JNIEnv *jni, jclass c, jobject o, jint i, jint id, jint work)
{
    struct self *s = me();
    const struct site *at = site_at(id);

    s->work += (uint32_t)work;
    if (!o || silent(s, RING_OUTSIDE))
        return;
    record(s, at->kind, o, array_base + (uint64_t)(uint32_t)i * at->bytes, at->bytes, id,
           RING_ARRAY);
}

/* The first access to a static of a class whose initialisation was seen is ordered after it. */
static void JNICALL rt_global(JNIEnv *jni, jclass c, jint id, jint work)
{
    struct self *s = me();
    struct site *at = site_at(id);

    s->work += (uint32_t)work;
    if (silent(s, RING_CLOSED) || !resolved(jni, s, at, id))
        return;
    uint64_t *used = &s->used[at->class / 64 % (CLASSES / 64)];
    const uint64_t bit = UINT64_C(1) << at->class % 64;
    if (!(*used & bit) && atomic_load(&initialised[at->class % CLASSES])) {
        *used |= bit;
        record(s, REC_CLASS_USE, at->base, 0, 0, id, 0);
    }
    field(s, at, at->base, id);
}

/* Counts bytecodes of blocks in which there is no event. */
static void JNICALL rt_work(JNIEnv *jni, jclass c, jint work)
{
    me()->work += (uint32_t)work;
}

static void JNICALL rt_making(JNIEnv *jni, jclass c, jint id)
{
    me()->making = (uint32_t)id;
}

static void JNICALL rt_entered(JNIEnv *jni, jclass c)
{
    me()->within += ring_enter(ring);
}

static void JNICALL rt_left(JNIEnv *jni, jclass c)
{
    struct self *s = me();

    if (!s->within)
        return;
    s->within--;
    ring_leave(ring);
}

static void JNICALL rt_range(JNIEnv *jni, jclass c, jobject o, jlong from, jlong bytes,
                             jboolean write, jint id)
{
    struct self *s = me();

    if (!o || bytes <= 0 || silent(s, RING_OUTSIDE))
        return;
    for (jlong some; bytes > 0; from += some, bytes -= some) {
        some = bytes < RING_BYTES ? bytes : RING_BYTES;
        record(s, write ? REC_WRITE : REC_READ, o, array_base + (uint64_t)from, (uint32_t)some, id,
               RING_ARRAY);
    }
}

static void tell_late(JNIEnv *jni, struct self *s);

/* Records a synchronisation. A thread does nothing between wait-enter and wait-exit: see Rt.await
 * for the end of a wait. */
static void JNICALL rt_sync(JNIEnv *jni, jclass c, jobject o, jint kind, jint id)
{
    struct self *s = me();

    if (o && !silent(s, RING_CLOSED) && (!s->waits || kind == REC_WAIT_EXIT)) {
        record(s, (uint8_t)kind, o, 0, 0, id, 0);
        s->waits = kind == REC_WAIT_ENTER;
        tell_late(jni, s);
    }
}

/* Records a variable that was reached by its place: without an object, memory of no object. */
static void JNICALL rt_at(JNIEnv *jni, jclass c, jobject o, jlong offset, jint kind, jint bytes,
                          jboolean atomic, jint id)
{
    struct self *s = me();

    if (!silent(s, kind <= REC_RMW ? RING_OUTSIDE : RING_CLOSED))
        record(s, (uint8_t)kind, o, (uint64_t)offset, (uint32_t)bytes, id, atomic ? RELAXED : 0);
}

static void JNICALL rt_initialised(JNIEnv *jni, jclass c, jobject mirror, jint class, jint id)
{
    struct self *s = me();

    if (silent(s, RING_CLOSED) || atomic_load(&initialised[class % CLASSES]))
        return;
    record(s, REC_CLASS_INIT, mirror, 0, 0, id, 0);
    s->used[class / 64 % (CLASSES / 64)] |= UINT64_C(1) << class % 64;
    atomic_store(&initialised[class % CLASSES], true);
}

/* Gives out a thread's number before it starts. */
static void JNICALL rt_fork(JNIEnv *jni, jclass c, jlong id, jint site)
{
    struct self *s = me();
    uint16_t n;

    if (!atomic_load(&on) || id <= 0 || id >= JAVA_IDS || atomic_load(&number_of[id]) ||
        !ring_thread(ring, &n))
        return;
    atomic_store(&number_of[id], (uint16_t)(n + 1));
    if (!s->ended && atomic_load(&ring->mode) != RING_CLOSED)
        record(s, REC_FORK, NULL, n, 0, site, 0);
}

static void JNICALL rt_join(JNIEnv *jni, jclass c, jlong id, jint site)
{
    struct self *s = me();
    const uint16_t n = id > 0 && id < JAVA_IDS ? atomic_load(&number_of[id]) : 0;

    if (n && n - 1 != s->number && !silent(s, RING_CLOSED))
        record(s, REC_JOIN, NULL, (uint64_t)n - 1, 0, site, 0);
}

static void JNICALL rt_instruments(JNIEnv *jni, jclass c, jint more)
{
    struct self *s = me();

    s->instruments += (unsigned)more;
    quiet(s, more);
}

static void JNICALL rt_quiet(JNIEnv *jni, jclass c, jint more)
{
    quiet(me(), more);
}

/* Makes a site. False: there are too many, and code may not name this one. */
static jboolean JNICALL rt_site(JNIEnv *jni, jclass c, jint id, jlong offset, jint bytes, jint kind,
                                jint class, jboolean final)
{
    if (id / CHUNK >= CHUNKS ||
        (!sites[id / CHUNK] && !(sites[id / CHUNK] = calloc(CHUNK, sizeof **sites))))
        return JNI_FALSE;
    struct site *at = site_at(id);
    at->bytes = (uint8_t)bytes;
    at->kind = (uint8_t)kind;
    at->class = (uint32_t) class;
    at->flags = final ? RING_FINAL : 0;
    at->offset = offset;
    return JNI_TRUE;
}

static void JNICALL rt_base(JNIEnv *jni, jclass c, jint id, jobject base)
{
    if (!site_at(id)->base)
        site_at(id)->base = (*jni)->NewGlobalRef(jni, base);
}

static void name(const char *fmt, ...)
{
    va_list ap;

    if (!names)
        return;
    va_start(ap, fmt);
    vfprintf(names, fmt, ap);
    va_end(ap);
    fflush(names); /* before the first record */
}

/* Hands on names of sites, lines like "S 12 Main.run:30". */
static void JNICALL rt_names(JNIEnv *jni, jclass c, jstring lines)
{
    const char *text = (*jni)->GetStringUTFChars(jni, lines, NULL);

    if (!text)
        return;
    name("%s", text);
    (*jni)->ReleaseStringUTFChars(jni, lines, text);
}

/* Returns the method that opens the window; empty: none does. */
static jstring JNICALL rt_method(JNIEnv *jni, jclass c)
{
    return (*jni)->NewStringUTF(jni, ring->method);
}

/* The agent learns how many bytes a reference has, and how many stand before an array's
 * elements. */
static void JNICALL rt_sizes(JNIEnv *jni, jclass c, jint reference, jint base)
{
    reference_bytes = (uint32_t)reference;
    array_base = (uint32_t)base;
}

static void JNICALL rt_named(JNIEnv *jni, jclass c, jlong id, jstring to)
{
    const uint16_t n = id > 0 && id < JAVA_IDS ? atomic_load(&number_of[id]) : 0;
    const char *text = n && to ? (*jni)->GetStringUTFChars(jni, to, NULL) : NULL;

    if (!text)
        return;
    name("T %u %s\n", n - 1, text);
    (*jni)->ReleaseStringUTFChars(jni, to, text);
}

/* ---- classes of objects --------------------------------------------------------------------- */

/* "[Ljava/lang/String;" as a program has it: java.lang.String[]. */
static void readable(char *to, size_t bytes, const char *signature)
{
    static const char *const primitive[] = {
        ['B'] = "byte", ['C'] = "char", ['D'] = "double", ['F'] = "float",
        ['I'] = "int",  ['J'] = "long", ['S'] = "short",  ['Z'] = "boolean"};
    const char *s = signature + strspn(signature, "[");
    size_t n;

    if (*s == 'L')
        n = (size_t)snprintf(to, bytes, "%.*s", (int)strcspn(s + 1, ";"), s + 1);
    else
        n = (size_t)snprintf(to, bytes, "%s", (unsigned char)*s <= 'Z' ? primitive[(int)*s] : "");
    for (char *at = to; *at; at++)
        *at = (char)(*at == '/' ? '.' : *at);
    for (; signature < s && n + 2 < bytes; signature++, n += 2)
        memcpy(to + n, "[]", 3);
}

static uint8_t element_bytes(const char *signature)
{
    if (*signature != '[')
        return 0;
    if (strchr("BZ", signature[1]))
        return 1;
    if (strchr("CS", signature[1]))
        return 2;
    if (strchr("JD", signature[1]))
        return 8;
    return strchr("L[", signature[1]) ? (uint8_t)reference_bytes : 4;
}

/* True for the classes of the JDK that order threads, which are instrumented (Jdk.java), and for
 * their arrays. */
static bool orders(const char *signature)
{
    static const char *const begin[] = {
        "Ljava/util/concurrent/", "Ljava/util/Hashtable",  "Ljava/util/Vector",
        "Ljava/util/Stack",       "Ljava/util/Properties", "Ljava/util/Collections$Synchronized",
        "Ljava/util/Timer"};

    signature += strspn(signature, "[");
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(signature, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

/* The number of a class of this signature, from 1; 0: there are too many. */
static uint32_t class_of(const char *signature)
{
    uint64_t hash = 1469598103934665603u;
    char text[512];

    for (const char *at = signature; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    pthread_mutex_lock(&class_lock);
    struct class *c = &classes[hash % CLASSES];
    while (c->signature && strcmp(c->signature, signature) != 0)
        c = c + 1 < classes + CLASSES ? c + 1 : classes;
    if (!c->signature && class_count < CLASSES / 2 && (c->signature = strdup(signature)) != NULL) {
        c->number = ++class_count;
        class_element[c->number] = element_bytes(signature);
        class_orders[c->number] = orders(signature);
        readable(text, sizeof text, signature);
        name("S %u new %s\n", MADE + c->number, text);
    }
    const uint32_t number = c->number;
    pthread_mutex_unlock(&class_lock);
    return number;
}

/* Returns the second word of an object, which says its class; the handle may not move meanwhile. */
static uint32_t header_word(struct self *s, jobject o)
{
    begin(s);
    const uint32_t word = *(const volatile uint32_t *)(uintptr_t)(place(o) + 8);
    end(s);
    return word;
}

static uint32_t class_of_object(struct self *s, jobject o, jclass c)
{
    const uint32_t word = header_word(s, o);
    char *signature = NULL;
    uint32_t at = (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 48) % CLASSES;

    for (unsigned tries = 0; tries < 64; tries++, at = (at + 1) % CLASSES) {
        uint64_t has = atomic_load(&word_class[at]);
        if (has && has >> 32 != word)
            continue;
        if (has)
            return (uint32_t)has;
        if ((*ti)->GetClassSignature(ti, c, &signature, NULL) || !signature)
            return 0;
        const uint32_t number = class_of(signature);
        (*ti)->Deallocate(ti, (unsigned char *)signature);
        if (number)
            atomic_compare_exchange_strong(&word_class[at], &has, (uint64_t)word << 32 | number);
        return number;
    }
    return 0;
}

/* The code at the site allocates objects of the class with this signature. */
static void JNICALL rt_makes(JNIEnv *jni, jclass c, jint id, jstring signature)
{
    const char *text = (*jni)->GetStringUTFChars(jni, signature, NULL);

    if (!text)
        return;
    site_at(id)->class = class_of(text);
    (*jni)->ReleaseStringUTFChars(jni, signature, text);
}

/* ---- objects -------------------------------------------------------------------------------- */

static void delete_some(JNIEnv *jni)
{
    jweak some[256];
    unsigned n = 0;

    if (!deads || pthread_mutex_trylock(&dead_lock))
        return;
    while (deads && n < 256)
        some[n++] = dead[--deads];
    pthread_mutex_unlock(&dead_lock);
    while (n)
        (*jni)->DeleteWeakGlobalRef(jni, some[--n]);
}

/* Class initialisation may allocate something else first: where the class is another one than the
 * code at the site allocates, the class is all that is known. */
static uint64_t site_of(struct self *s, uint32_t class)
{
    const uint32_t site = s->making;

    if (!site || s->off || site_at((jint)site)->class != class)
        return class ? MADE + class : 0;
    s->making = 0;
    return site;
}

static void tell(struct self *s, jweak handle, uint64_t bytes, uint32_t class, uint64_t site)
{
    begin(s);
    const uint64_t addr = place(handle);
    uint64_t elements = 0;
    uint32_t size = class_element[class];
    if (size) /* an array: its length stands before its elements, or what fills them up */
        elements = *(const volatile uint32_t *)(uintptr_t)(addr + (array_base > 16 ? 16 : 12));
    if (!elements || elements * size > bytes)
        elements = size = 0;
    put(s, (struct ring_record){.addr = addr,
                                .site = site,
                                .from = elements,
                                .more = bytes,
                                .size = size,
                                .kind = REC_ALLOC});
    s->born = grown(s->born, s->births, &s->cap, sizeof *s->born);
    s->born[s->births++] = (struct object){handle, addr, bytes};
    end(s);
}

/* Records objects whose allocation was put off. No other thread knows such an object. A collection
 * may have moved it: its first place is the one that it has now. */
static void tell_late(JNIEnv *jni, struct self *s)
{
    for (size_t i = 0; i < s->lates && !s->waits; i++) {
        const struct late *l = &s->late[i];
        const jobject o = (*jni)->NewLocalRef(jni, l->handle); /* it may be garbage, but not now */
        if (o)
            tell(s, l->handle, l->bytes, l->class, l->site);
        else
            (*jni)->DeleteWeakGlobalRef(jni, l->handle);
        (*jni)->DeleteLocalRef(jni, o);
    }
    s->lates = s->waits ? s->lates : 0;
}

static void follow(JNIEnv *jni, jobject o, uint64_t bytes, jclass c)
{
    struct self *s = me();

    if (s->ended || atomic_load(&ring->mode) == RING_CLOSED)
        return;
    const jweak handle = (*jni)->NewWeakGlobalRef(jni, o);
    const uint32_t class = c ? class_of_object(s, o, c) : 0;
    const uint64_t site = site_of(s, class);
    if (UNLIKELY_(s->waits)) {
        s->late = grown(s->late, s->lates, &s->lates_cap, sizeof *s->late);
        s->late[s->lates++] = (struct late){handle, bytes, site, class};
        return;
    }
    tell(s, handle, bytes, class, site);
    delete_some(jni);
}

static void JNICALL on_alloc(jvmtiEnv *e, JNIEnv *jni, jthread t, jobject o, jclass c, jlong bytes)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed))
        return;
    /* A thread that transforms a class keeps the objects it makes to itself. Exceptions are objects
     * of classes that it is the first to use, and those it puts into collections shared with other
     * threads. */
    if (mine && mine->instruments && !(*jni)->IsSameObject(jni, c, class_class) &&
        !class_orders[class_of_object(mine, o, c)])
        return;
    follow(jni, o, (uint64_t)bytes, c);
}

/* ---- collections ---------------------------------------------------------------------------- */

/* Writes a record of the collector, with no mark of time before it. */
static void collector_put(struct self *s, struct ring_record rec)
{
    ring_wide(lane_of(s), RING_NUMBERED, &rec);
}

static void JNICALL on_collect(jvmtiEnv *e)
{
    struct self *s = me();

    atomic_store(&collecting, true);
    if (!fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (struct self *t = atomic_load(&selves); t; t = t->next)
        while (t != s && atomic_load(&t->sign))
            __builtin_ia32_pause();
    if (atomic_load(&on))
        collector_put(s, (struct ring_record){.kind = REC_GC_BEGIN});
}

static void region(struct self *s, uint8_t kind, uint64_t addr, uint64_t bytes, uint64_t from)
{
    collector_put(s, (struct ring_record){.addr = addr, .from = from, .more = bytes, .kind = kind});
}

/* Runs at a collection's end: still in the pause, on the collector's thread. */
static void JNICALL on_collected(jvmtiEnv *e)
{
    struct self *s = me();
    size_t kept = 0;

    for (struct self *t = atomic_load(&selves); t; t = t->next) {
        for (size_t i = 0; i < t->births; i++) {
            living = grown(living, lives, &lives_cap, sizeof *living);
            living[lives++] = t->born[i];
        }
        t->births = 0;
    }
    pthread_mutex_lock(&dead_lock); /* its holder does not wait for the collector */
    for (size_t i = 0; i < lives; i++) {
        const uint64_t now = place(living[i].handle);
        if (!now) {
            region(s, REC_CLEAR, living[i].addr, living[i].bytes, 0);
            dead = grown(dead, deads, &deads_cap, sizeof *dead);
            dead[deads++] = living[i].handle;
            continue;
        }
        if (now != living[i].addr)
            region(s, REC_COPY, now, living[i].bytes, living[i].addr);
        living[i].addr = now;
        living[kept++] = living[i];
    }
    lives = kept;
    pthread_mutex_unlock(&dead_lock);
    if (atomic_load(&on))
        collector_put(s, (struct ring_record){.kind = REC_GC_END});
    atomic_store(&collecting, false);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void JNICALL on_start(jvmtiEnv *e, JNIEnv *jni, jthread t)
{
    jvmtiThreadInfo info = {.name = NULL};
    jlong id = 0;

    /* The first thread starts once more after its end, as another one, to end the JVM: not
     * recorded. */
    if (!atomic_load(&on) || (mine && mine->ended))
        return;
    account_open();
    struct self *s = me();
    if (thread_id)
        id = (*jni)->GetLongField(jni, t, thread_id);
    if (id > 0 && id < JAVA_IDS) {
        const uint16_t given = atomic_load(&number_of[id]);
        if (!given) {
            atomic_store(&number_of[id], (uint16_t)(s->number + 1));
        } else if (given != s->number + 1) { /* by whoever has forked it */
            s->number = (uint16_t)(given - 1);
            record(s, REC_THREAD_START, NULL, 0, 0, 0, 0);
        }
    }
    if ((*e)->GetThreadInfo(e, t, &info) == JVMTI_ERROR_NONE && info.name) {
        name("T %u %s\n", s->number, info.name);
        (*e)->Deallocate(e, (unsigned char *)info.name);
    }
}

static void JNICALL on_end(jvmtiEnv *e, JNIEnv *jni, jthread t)
{
    if (!atomic_load(&on) || !mine || mine->ended)
        return;
    record(mine, REC_THREAD_END, NULL, 0, 0, 0, 0);
    mine->ended = true;
    ring_leave_lane(&mine->to);
    account_close();
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* Objects that can be reached. What else lies in the heap is garbage, or fills the rest of a buffer
 * in which a thread goes on to allocate. */
static jint JNICALL tag(jvmtiHeapReferenceKind k, const jvmtiHeapReferenceInfo *i, jlong class,
                        jlong of, jlong bytes, jlong *to, jlong *from, jint length, void *arg)
{
    if (*to)
        return 0;
    *to = 1;
    return JVMTI_VISIT_OBJECTS;
}

/* Objects that exist already are followed, too. From now on everything is recorded. */
static void JNICALL rt_begin(JNIEnv *jni, jclass c)
{
    const jvmtiHeapCallbacks visit = {.heap_reference_callback = tag};
    const jlong wanted = 1;
    jobject *found = NULL;
    jint n = 0;

    runtime = (*jni)->NewGlobalRef(jni, c);
    class_class = (*jni)->NewGlobalRef(jni, (*jni)->GetObjectClass(jni, c));
    resolve = (*jni)->GetStaticMethodID(jni, c, "resolve", "(I)V");
    thread_id = (*jni)->GetFieldID(jni, (*jni)->FindClass(jni, "java/lang/Thread"), "tid", "J");
    struct self *s = me();
    s->off++;
    atomic_store(&number_of[1], (uint16_t)(s->number + 1)); /* the main thread, which runs this */
    atomic_store(&ring->version, RING_VERSION);
    atomic_store(&on, true);
    (*ti)->FollowReferences(ti, 0, NULL, NULL, &visit, NULL);
    (*ti)->GetObjectsWithTags(ti, 1, &wanted, &n, &found, NULL);
    for (jint i = 0; i < n; i++) {
        jlong bytes = 0;
        (*ti)->GetObjectSize(ti, found[i], &bytes);
        (*ti)->SetTag(ti, found[i], 0);
        const jclass of = (*jni)->GetObjectClass(jni, found[i]);
        follow(jni, found[i], (uint64_t)bytes, of);
        (*jni)->DeleteLocalRef(jni, of);
        (*jni)->DeleteLocalRef(jni, found[i]);
    }
    (*ti)->Deallocate(ti, (unsigned char *)found);
    s->off--;
    account_open();
}

/* The first native that is called: finding the others by their names would call classes that are
 * instrumented by then, which call them. */
JNIEXPORT void JNICALL Java_lardsim_Rt_link(JNIEnv *jni, jclass c)
{
#define OBJECT "Ljava/lang/Object;"
#define NATIVE(name, type)                                                                         \
    {                                                                                              \
        (char *)#name, (char *)type, (void *)rt_##name                                             \
    }
    const JNINativeMethod all[] = {NATIVE(field, "(" OBJECT "II)V"),
                                   NATIVE(element, "(" OBJECT "III)V"),
                                   NATIVE(global, "(II)V"),
                                   NATIVE(work, "(I)V"),
                                   NATIVE(making, "(I)V"),
                                   NATIVE(makes, "(ILjava/lang/String;)V"),
                                   NATIVE(entered, "()V"),
                                   NATIVE(left, "()V"),
                                   NATIVE(method, "()Ljava/lang/String;"),
                                   NATIVE(sizes, "(II)V"),
                                   NATIVE(named, "(JLjava/lang/String;)V"),
                                   NATIVE(range, "(" OBJECT "JJZI)V"),
                                   NATIVE(sync, "(" OBJECT "II)V"),
                                   NATIVE(at, "(" OBJECT "JIIZI)V"),
                                   NATIVE(initialised, "(Ljava/lang/Class;II)V"),
                                   NATIVE(fork, "(JI)V"),
                                   NATIVE(join, "(JI)V"),
                                   NATIVE(instruments, "(I)V"),
                                   NATIVE(quiet, "(I)V"),
                                   NATIVE(site, "(IJIIIZ)Z"),
                                   NATIVE(base, "(I" OBJECT ")V"),
                                   NATIVE(names, "(Ljava/lang/String;)V"),
                                   NATIVE(begin, "()V")};

    (*jni)->RegisterNatives(jni, c, all, sizeof all / sizeof *all);
}

static void JNICALL on_death(jvmtiEnv *e, JNIEnv *jni)
{
    atomic_store(&on, false);
    if (names)
        account_tell(fileno(names));
}

static int refuse(const char *why)
{
    fprintf(stderr, "lardsim: %s\n", why);
    return JNI_ERR;
}

/* The descriptors of the ring (-1: none), and of the lines for the reader. */
static int find_reader(int *fd, int *lines)
{
    const char *text = getenv(RING_VARIABLE);

    if (!text || sscanf(text, "%d,%d", fd, lines) != 2)
        return refuse("this agent is for `lardsim capture java`, which starts the JVM");
    unsetenv(RING_VARIABLE);
    fcntl(*lines, F_SETFD, FD_CLOEXEC);
    return JNI_OK;
}

static int find_ring(void)
{
    int fd, lines;
    struct ring *r;

    if (find_reader(&fd, &lines) != JNI_OK)
        return JNI_ERR;
    r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (r == MAP_FAILED)
        return refuse("the ring of the capture can't be mapped");
    if (atomic_fetch_add(&r->processes, 1))
        return refuse("a capture is of one JVM, and another one came first");
    ring = r;
    fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    names = fdopen(lines, "w");
    return JNI_OK;
}

static void enable(const jvmtiEvent *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
}

/* ---- without a capture ------------------------------------------------------------------------
 */

static int told; /* the descriptor of the lines for the reader */

static void JNICALL alone_main(jvmtiEnv *e, JNIEnv *jni, jthread t)
{
    atomic_store(&on, true);
    account_open();
}

static void JNICALL alone_start(jvmtiEnv *e, JNIEnv *jni, jthread t)
{
    if (atomic_load(&on))
        account_open();
}

static void JNICALL alone_end(jvmtiEnv *e, JNIEnv *jni, jthread t)
{
    account_close();
}

static void JNICALL alone_death(jvmtiEnv *e, JNIEnv *jni)
{
    account_tell(told);
}

static int load_alone(void)
{
    const jvmtiEventCallbacks calls = {.VMInit = alone_main,
                                       .ThreadStart = alone_start,
                                       .ThreadEnd = alone_end,
                                       .VMDeath = alone_death};
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_THREAD_START,
                                        JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VM_DEATH};
    int ring_fd;

    if (find_reader(&ring_fd, &told) != JNI_OK)
        return JNI_ERR;
    if ((*ti)->SetEventCallbacks(ti, &calls, sizeof calls))
        return refuse("this JVM lacks what a measurement needs");
    enable(events, sizeof events / sizeof *events);
    return JNI_OK;
}

/* ---- load -------------------------------------------------------------------------------------
 */

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    const jvmtiCapabilities wanted = {.can_generate_garbage_collection_events = 1,
                                      .can_tag_objects = 1,
                                      .can_generate_sampled_object_alloc_events = 1};
    const jvmtiEventCallbacks calls = {.GarbageCollectionStart = on_collect,
                                       .GarbageCollectionFinish = on_collected,
                                       .SampledObjectAlloc = on_alloc,
                                       .ThreadStart = on_start,
                                       .ThreadEnd = on_end,
                                       .VMDeath = on_death};
    static const jvmtiEvent events[] = {JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
                                        JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                        JVMTI_EVENT_THREAD_START,
                                        JVMTI_EVENT_THREAD_END,
                                        JVMTI_EVENT_VM_DEATH};
    char *version = NULL;

    if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return refuse("this JVM has no JVMTI 11");
    if (options && strcmp(options, "alone") == 0)
        return load_alone();
    if ((*ti)->GetSystemProperty(ti, "java.vm.specification.version", &version) ||
        strcmp(version, "17") != 0)
        return refuse("a capture needs JDK 17: how handles look is the JVM's own business, and "
                      "was tried with that");
    if (find_ring() != JNI_OK)
        return JNI_ERR;
    if ((*ti)->AddCapabilities(ti, &wanted) || (*ti)->SetEventCallbacks(ti, &calls, sizeof calls))
        return refuse("this JVM lacks what a capture needs");
    /* Sampling begins with the agent: a buffer for allocations that is open already would tell
     * nothing. */
    (*ti)->SetHeapSamplingInterval(ti, 0);
    enable(events, sizeof events / sizeof *events);
    me(); /* the main thread is thread 0 */
    return JNI_OK;
}
