/* crypt.c - enciphers bytes with IDEA (Lai, Massey) and deciphers them again; after Java Grande's
 * Crypt. Each thread has a part of the blocks; accesses are single bytes. */
#include <string.h>

#include <team.h>

enum { N = 24000, BLOCK = 8, ROUNDS = 8, KEYS = 6 * ROUNDS + 4 };
static uint8_t *plain, *secret, *again;
static int *key[2];

static int times(int a, int b) /* modulo 65537, where 0 stands for 65536 */
{
    return (int)((int64_t)(a ? a : 65536) * (b ? b : 65536) % 65537 & 0xffff);
}

static int inverse(int a)
{
    int power = a;

    for (int i = 0; i < 15; i++)
        power = times(times(power, power), a);
    return power;
}

static void setup(void)
{
    plain = team_get(N, 1);
    secret = team_get(N, 1);
    again = team_get(N, 1);
    key[0] = team_get(KEYS, sizeof *key[0]);
    key[1] = team_get(KEYS, sizeof *key[1]);
    for (int i = 0; i < N; i++)
        plain[i] = (uint8_t)(team_random() * 256);
    for (int i = 0; i < KEYS; i++)
        key[0][i] = i < 8 ? (int)(team_random() * 65536)
                          : (key[0][i % 8 < 7 ? i - 7 : i - 15] << 9 |
                             key[0][i % 8 < 6 ? i - 6 : i - 14] >> 7) &
                                0xffff;
    for (int i = 0; i <= ROUNDS; i++) {
        const int *from = &key[0][6 * (ROUNDS - i)];
        const int inner = i > 0 && i < ROUNDS;
        key[1][6 * i] = inverse(from[0]);
        key[1][6 * i + 1] = -from[inner ? 2 : 1] & 0xffff;
        key[1][6 * i + 2] = -from[inner ? 1 : 2] & 0xffff;
        key[1][6 * i + 3] = inverse(from[3]);
        if (i < ROUNDS) {
            key[1][6 * i + 4] = from[-2];
            key[1][6 * i + 5] = from[-1];
        }
    }
}

static void cipher(const int *k, const uint8_t *from, uint8_t *to)
{
    int x[4];

    for (int i = 0; i < 4; i++)
        x[i] = from[2 * i] << 8 | from[2 * i + 1];
    for (int i = 0; i < ROUNDS; i++, k += 6) {
        const int a = times(x[0], k[0]), b = (x[1] + k[1]) & 0xffff;
        const int c = (x[2] + k[2]) & 0xffff, d = times(x[3], k[3]);
        const int e = times(a ^ c, k[4]), f = times(((b ^ d) + e) & 0xffff, k[5]);
        const int g = (e + f) & 0xffff;
        x[0] = a ^ f;
        x[1] = c ^ f;
        x[2] = b ^ g;
        x[3] = d ^ g;
    }
    const int middle = x[1];
    x[0] = times(x[0], k[0]);
    x[1] = (x[2] + k[1]) & 0xffff;
    x[2] = (middle + k[2]) & 0xffff;
    x[3] = times(x[3], k[3]);
    for (int i = 0; i < 4; i++) {
        to[2 * i] = (uint8_t)(x[i] >> 8);
        to[2 * i + 1] = (uint8_t)x[i];
    }
}

static void work(unsigned member, unsigned members)
{
    const size_t from = team_part(N / BLOCK, member, members) * BLOCK;
    const size_t end = team_part(N / BLOCK, member + 1, members) * BLOCK;

    for (size_t i = from; i < end; i += BLOCK)
        cipher(key[0], plain + i, secret + i);
    team_wait();
    for (size_t i = from; i < end; i += BLOCK)
        cipher(key[1], secret + i, again + i);
}

static double result(void)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += secret[i];
    return memcmp(plain, again, N) ? -1 : sum;
}
