/* crypt.c - enciphers an array of bytes with IDEA (Lai, Massey) and deciphers it again, each thread
 * a part of its blocks; after Java Grande's Crypt. Texts and keys lie on the heap. Keys are read by
 * all and written before the threads begin; each byte has one writer: no locks, no race. Accesses
 * are single bytes, which a granule of 8 would merge. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "IDEATest.buildTestData:13")                                                            \
    X(INIT, "IDEATest.buildTestData:20")                                                           \
    X(FORK, "IDEATest.Do:29")                                                                      \
    X(READ, "IDEARunner.cipher:38")                                                                \
    X(KEY, "IDEARunner.cipher:44")                                                                 \
    X(WRITE, "IDEARunner.cipher:57")                                                               \
    X(VERIFY, "IDEATest.validate:65")
VM_SITES(SITES)

enum { BLOCK = 8, ROUNDS = 8, KEYS = 6 * ROUNDS + 4 };
enum { PLAIN, SECRET, AGAIN, TEXTS };

struct crypt_params {
    uint64_t n;
};
struct crypt {
    const struct crypt_params *p;
    /* arrays of bytes; key: to encipher with, and to decipher with */
    struct vm_ref *text[TEXTS], *key[2];
    unsigned way;            /* index of the text and key in use */
    uint8_t *plain, *secret; /* the host's */
    uint16_t host_key[2][KEYS];
};

/* ---- the cipher (Lai, Massey) --------------------------------------------------------------- */

/* Modulo 65537, where 0 stands for 65536. */
static uint16_t times(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint64_t)(a ? a : 65536) * (b ? b : 65536) % 65537);
}
static uint16_t plus(unsigned a, unsigned b)
{
    return (uint16_t)(a + b);
}

/* a to the power of 65535, which is its inverse as 65537 is prime: 15 times square and multiply. */
static uint16_t inverse(uint16_t a)
{
    uint16_t power = a;

    for (unsigned i = 0; i < 15; i++)
        power = times(times(power, power), a);
    return power;
}

static void round_of(uint16_t x[4], const uint16_t k[6])
{
    const uint16_t a = times(x[0], k[0]), b = plus(x[1], k[1]);
    const uint16_t c = plus(x[2], k[2]), d = times(x[3], k[3]);
    const uint16_t e = times(a ^ c, k[4]), f = times(plus(b ^ d, e), k[5]), g = plus(e, f);

    x[0] = a ^ f;
    x[1] = c ^ f;
    x[2] = b ^ g;
    x[3] = d ^ g;
}
static void last_of(uint16_t x[4], const uint16_t k[4])
{
    const uint16_t b = x[1];

    x[0] = times(x[0], k[0]);
    x[1] = plus(x[2], k[1]);
    x[2] = plus(b, k[2]);
    x[3] = times(x[3], k[3]);
}

/* Makes the keys: the user's key, turned by 25 bits after each eight. */
static void make_keys(uint16_t k[KEYS], const uint16_t user[8])
{
    memcpy(k, user, 8 * sizeof *k);
    for (unsigned i = 8; i < KEYS; i++) {
        const unsigned high = i % 8 < 7 ? i - 7 : i - 15, low = i % 8 < 6 ? i - 6 : i - 14;
        k[i] = (uint16_t)(k[high] << 9 | k[low] >> 7);
    }
}

/* Keys that undo k's rounds: in reverse order, each the inverse of its operation. */
static void turn_keys(uint16_t to[KEYS], const uint16_t k[KEYS])
{
    for (unsigned i = 0; i <= ROUNDS; i++) {
        const uint16_t *from = &k[6 * (ROUNDS - i)];
        const bool inner = i > 0 && i < ROUNDS; /* rounds swap the middle words */
        to[6 * i] = inverse(from[0]);
        to[6 * i + 1] = (uint16_t)-from[inner ? 2 : 1];
        to[6 * i + 2] = (uint16_t)-from[inner ? 1 : 2];
        to[6 * i + 3] = inverse(from[3]);
        if (i < ROUNDS)
            memcpy(&to[6 * i + 4], from - 2, 2 * sizeof *to);
    }
}

static void host_cipher(const uint16_t k[KEYS], const uint8_t from[BLOCK], uint8_t to[BLOCK])
{
    uint16_t x[4];

    for (unsigned i = 0; i < 4; i++)
        x[i] = (uint16_t)(from[2 * i] << 8 | from[2 * i + 1]);
    for (unsigned i = 0; i < ROUNDS; i++)
        round_of(x, &k[6 * i]);
    last_of(x, &k[6 * ROUNDS]);
    for (unsigned i = 0; i < BLOCK; i++)
        to[i] = (uint8_t)(i % 2 ? x[i / 2] : x[i / 2] >> 8);
}

/* ---- the program ---------------------------------------------------------------------------- */

static const uint16_t *load_keys(struct vm_thread *t, struct vm_ref *key, uint16_t to[6],
                                 unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (uint16_t)vm_load_i32(t, key, first + i, AT_KEY);
    return to;
}

/* Instructions of the original's code: a multiplication modulo 65537 is 6 (multiply, divide, back,
 * correct, two masks), an addition modulo 65536 is 2; each word of a key adds 1 to its index. */
enum {
    ROUND = 4 * 6 + 4 * 2 + 6 + 2 + 6 + VM_LOOP, /* 6 exclusive or, 2 moves */
    LAST = 2 * 6 + 2 * 2 + 4,
    BYTE = 3 /* mask, shift, or; shift, convert, count */
};

/* A block as the original's loop does it: bytes in, keys loaded for each block anew, bytes out. */
static void cipher(struct vm_thread *t, struct vm_ref *key, struct vm_ref *from, struct vm_ref *to,
                   uint64_t at)
{
    uint16_t x[4] = {0}, k[6];

    for (unsigned i = 0; i < BLOCK; i++) {
        vm_compute(t, BYTE);
        x[i / 2] = (uint16_t)(x[i / 2] << 8 | vm_load_i8(t, from, at + i, AT_READ));
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        vm_compute(t, ROUND);
        round_of(x, load_keys(t, key, k, 6 * i, 6));
    }
    vm_compute(t, LAST);
    last_of(x, load_keys(t, key, k, 6 * ROUNDS, 4));
    for (unsigned i = 0; i < BLOCK; i++) {
        vm_compute(t, BYTE);
        vm_store_i8(t, to, at + i, (uint8_t)(i % 2 ? x[i / 2] : x[i / 2] >> 8), AT_WRITE);
    }
}

static void work(struct vm_thread *t, const struct member *m)
{
    struct crypt *c = m->job;
    for (uint64_t i = team_from(m, c->p->n), end = team_end(m, c->p->n); i < end; i++)
        cipher(t, c->key[c->way], c->text[c->way], c->text[c->way + 1], BLOCK * i);
}

static void init_keys(struct vm_thread *t, struct crypt *c)
{
    uint16_t user[8];

    for (unsigned i = 0; i < ARRAY_SIZE(user); i++)
        user[i] = (uint16_t)rng_next(vm_rng(t));
    make_keys(c->host_key[0], user);
    turn_keys(c->host_key[1], c->host_key[0]);
    for (unsigned way = 0; way < 2; way++) {
        c->key[way] = team_array(t, VM_I32, KEYS, AT_NEW);
        for (unsigned i = 0; i < KEYS; i++)
            vm_store_i32(t, c->key[way], i, c->host_key[way][i], AT_INIT);
    }
}

static void init(struct vm_thread *t, struct crypt *c)
{
    const uint64_t bytes = c->p->n * BLOCK;

    init_keys(t, c);
    c->plain = vm_scratch(t, bytes, 1);
    c->secret = vm_scratch(t, bytes, 1);
    for (unsigned i = 0; i < TEXTS; i++)
        c->text[i] = team_array(t, VM_I8, bytes, AT_NEW);
    for (uint64_t i = 0; i < bytes; i++) {
        c->plain[i] = (uint8_t)rng_next(vm_rng(t));
        vm_store_i8(t, c->text[PLAIN], i, c->plain[i], AT_INIT);
    }
}

/* The example that the cipher's authors give. */
static void verify_host(struct vm_thread *t)
{
    static const uint16_t user[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t plain[BLOCK] = {0, 0, 0, 1, 0, 2, 0, 3};
    static const uint8_t want[BLOCK] = {0x11, 0xfb, 0xed, 0x2b, 0x01, 0x98, 0x6d, 0xe5};
    uint16_t k[KEYS];
    uint8_t is[BLOCK];

    make_keys(k, user);
    host_cipher(k, plain, is);
    vm_check(t, memcmp(is, want, BLOCK) == 0, "crypt: the cipher is not IDEA");
}

static void verify(struct vm_thread *t, struct crypt *c)
{
    verify_host(t);
    for (uint64_t i = 0; i < c->p->n; i++)
        host_cipher(c->host_key[0], &c->plain[BLOCK * i], &c->secret[BLOCK * i]);
    for (uint64_t i = 0; i < c->p->n * BLOCK; i++) {
        const uint8_t secret = vm_load_i8(t, c->text[SECRET], i, AT_VERIFY);
        const uint8_t again = vm_load_i8(t, c->text[AGAIN], i, AT_VERIFY);
        vm_check(t, secret == c->secret[i] && again == c->plain[i],
                 "crypt: byte %u became %u and then %u, not %u and %u", (unsigned)i, secret, again,
                 c->secret[i], c->plain[i]);
    }
}

static void crypt_main(struct vm_thread *t, const void *p)
{
    static const char *const phase[] = {"encipher", "decipher"};
    struct crypt c = {.p = p};

    vm_phase(t, "init");
    init(t, &c);
    vm_system_gc(t); /* System.gc(): arrays move before the threads use them */
    vm_roi_begin(t);
    for (c.way = 0; c.way < 2; c.way++) {
        vm_phase(t, phase[c.way]);
        team_run(t, work, &c, AT_FORK);
    }
    vm_roi_end(t);
    vm_system_gc(t);
    vm_phase(t, "validate");
    verify(t, &c);
}

static const struct param crypt_rows[] = {
    ROW_U64(crypt, n, "800", 1, 10000000, "blocks",
            "Length of the text, in blocks of eight bytes."),
    PARAM_END,
};

const struct workload workload_crypt = {
    WORKLOAD_CALLED(crypt),
    .summary = "enciphers and deciphers bytes with IDEA",
    .source = "grande",
    .length = "n",
    .sizes = {"n=800", "n=25000", "n=375000"},
    .granularity = 1,
};
