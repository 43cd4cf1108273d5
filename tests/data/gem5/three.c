/* three: three threads, without libc, whose accesses to one variable carry the mark (the segment CS):
 * a small trace of all cores in one file.
 *     gcc -O1 -static -nostdlib -fno-stack-protector -o three three.c */
static volatile int marked, plain, atomic, ended[3];
static char stack[2][2048] __attribute__((aligned(64)));

static int load(const volatile int *p)
{
    int v;

    __asm__ volatile(".byte 0x2e; movl (%1),%0" : "=r"(v) : "r"(p) : "memory");
    return v;
}
static void store(volatile int *p, int v)
{
    __asm__ volatile(".byte 0x2e; movl %0,(%1)" : : "r"(v), "r"(p) : "memory");
}
static void work(int me)
{
    for (int i = 0; i < 3; i++) {
        store(&marked, load(&marked) + 1);
        __atomic_fetch_add(&atomic, 1, __ATOMIC_SEQ_CST);
        plain++;
    }
    ended[me] = 1;
}
static long call(long n, long a)
{
    long r;

    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11", "memory");
    return r;
}
__attribute__((noreturn)) void child(int me)
{
    work(me);
    for (;;)
        call(60, 0);
}
/* clone(VM | FS | FILES | SIGHAND | THREAD | SYSVSEM, stack), and the child's number is kept. */
__asm__(".globl spawn\nspawn: push %rbx; mov %esi,%ebx; mov $56,%eax; mov %rdi,%rsi; mov $0x50f00,%edi; xor %edx,%edx\n"
        "xor %r10d,%r10d; xor %r8d,%r8d; syscall; test %rax,%rax; jnz 1f; xor %ebp,%ebp; mov %ebx,%edi; call child\n"
        "1: pop %rbx; ret\n");
long spawn(void *top, int me);
__attribute__((noreturn)) void begin(void)
{
    for (int i = 1; i < 3; i++)
        spawn(stack[i - 1] + sizeof stack[0], i);
    work(0);
    while (!ended[1] || !ended[2])
        __asm__ volatile("pause");
    for (;;)
        call(231, 0);
}
__asm__(".globl _start\n_start: xor %ebp,%ebp; and $-16,%rsp; call begin\n");
