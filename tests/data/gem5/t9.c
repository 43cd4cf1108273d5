/* t9: two threads, without libc, that mark what they do for a sidecar (t9.sync): small traces.
 *     gcc -O1 -static -nostdlib -fno-stack-protector -o t9 t9.c */
static volatile int racy, lockv, guarded, done;
static char stk[4096] __attribute__((aligned(64)));

static void mark(const volatile void *p)
{
    char c;

    __asm__ volatile("movb %%gs:(%1),%0" : "=q"(c) : "r"(p) : "memory");
}
static long sc(long n, long a)
{
    long r;

    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11", "memory");
    return r;
}
static void work(void)
{
    for (int i = 0; i < 2; i++) {
        racy++;
        mark(&lockv); /* in */
        while (__atomic_exchange_n(&lockv, 1, __ATOMIC_ACQUIRE))
            while (lockv)
                __asm__ volatile("pause");
        mark(&lockv); /* out acq */
        guarded++;
        mark(&lockv); /* in rel */
        __atomic_store_n(&lockv, 0, __ATOMIC_RELEASE);
        mark(&lockv); /* out */
    }
}
__attribute__((noreturn)) void child(void)
{
    mark(&lockv); /* out start */
    work();
    mark(&lockv); /* in end */
    done = 1;
    for (;;)
        sc(60, 0);
}
__asm__(".globl spawn\nspawn: mov $56,%eax; mov %rdi,%rsi; mov $0x50f00,%edi; xor %edx,%edx; xor %r10d,%r10d\n"
        "xor %r8d,%r8d; syscall; test %rax,%rax; jnz 1f; xor %ebp,%ebp; call child\n1: ret\n");
long spawn(void *sp);
__attribute__((noreturn)) void cmain(void)
{
    mark(&lockv); /* out */
    mark(&lockv); /* in fork 1 */
    spawn(stk + sizeof stk);
    mark(&lockv); /* out */
    work();
    mark(&lockv); /* in */
    while (!done)
        __asm__ volatile("pause");
    mark(&lockv); /* out join 1 */
    guarded++;
    mark(&lockv); /* in end */
    for (;;)
        sc(231, 0);
}
__asm__(".globl _start\n_start: xor %ebp,%ebp; and $-16,%rsp; call cmain\n");
