import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Stress THREADS STEPS SEED [race]: what stress.c does, by the formulas of stress.h, in Java: threads come and go, meet,
 * lock and allocate while objects are collected all the time. What is checked are elements of arrays that say by their
 * lengths what they are. It has no race, but for the one that is asked for, and prints the same each time.
 */
public class Stress {
    static final int GROUP = 4, CELLS = 4096, LOCKS = 16, COUNTERS = 8, MANY = 65536, MESSAGES = 1100;
    static final int MUTEXES = 8, MTXS = 10, SPINS = 12;
    static final int ALONE = 0, RANGE = 1, LOCKED = 2, READER = 3, COUNTED = 4, HANDED = 5, CONDITION = 6, SEMAPHORE = 7, ONCE = 8,
                     BARRIER = 9, PIPE = 10, HEAP = 11, SIGNALS = 12, RAISED = 13, CHILD = 14, RACING = 15;
    static final int[] OFTEN = {ALONE, ALONE, RANGE, LOCKED, LOCKED, LOCKED, LOCKED, READER, READER, COUNTED, COUNTED, HANDED, HANDED,
                                HANDED, CONDITION, CONDITION, SEMAPHORE, ONCE, BARRIER, BARRIER, HEAP, HEAP, HEAP, SIGNALS, SIGNALS, RAISED};

    static int threads, steps;
    static long seed;
    static boolean race;
    static final byte[][] tickets = new byte[LOCKS][], drawn = new byte[COUNTERS][];
    static final int[] next = new int[LOCKS];
    static final Guard[] guards = new Guard[LOCKS];
    static final Lock[] locks = new Lock[LOCKS];
    static final StampedLock[] stamped = new StampedLock[LOCKS];
    static final AtomicInteger[] counters = new AtomicInteger[COUNTERS];
    static final AtomicLong sum = new AtomicLong();
    static final ExecutorService pool = Executors.newFixedThreadPool(3);
    static byte[] raced;

    // ---- the formulas ----

    static long draw(long x, long a, long b, long c) {
        for (int i = 0; i < 3; i++) {
            x += 0x9e3779b97f4a7c15L + (i == 0 ? a : i == 1 ? b : c);
            x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
            x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
            x ^= x >>> 31;
        }
        return x;
    }

    static int mod(long x, int n) {
        return (int)Long.remainderUnsigned(x, n);
    }

    static int stepOf(int group, int step) {
        final long h = draw(seed, 2, group, step);
        if (race && group == 0 && step >= 2 && step <= 4)
            return step == 3 ? RACING : BARRIER;
        if (mod(h, 128) < 2)
            return mod(h, 128) == 0 ? PIPE : CHILD;
        return OFTEN[mod(h >>> 8, OFTEN.length)];
    }

    static long choice(long seed, int thread, int step) {
        return draw(seed, 3, thread, step);
    }

    // ---- arrays whose elements are checked, by who makes them ----

    static long[] ownArray(int number) {
        return new long[CELLS + number];
    }

    static byte[] ticketArray(int lock) {
        return new byte[MANY + lock];
    }

    static byte[] drawnArray(int counter) {
        return new byte[MANY + counter];
    }

    static byte[] messageArray(int group) {
        return new byte[MESSAGES + group];
    }

    static byte[] raceArray() {
        return new byte[1];
    }

    // ---- locks ----

    /** A monitor whose methods are synchronized. */
    static class Guard {
        synchronized void take(int lock, boolean twice) throws InterruptedException {
            ticket(lock);
            if (twice) {
                notifyAll();
                wait(1);
                ticket(lock);
            }
        }
    }

    static void ticket(int lock) {
        final int t = next[lock]++;
        tickets[lock][t] = 1;
    }

    static void inLock(long choice) throws InterruptedException {
        final int n = mod(choice, LOCKS);
        final boolean twice = (n < 2 || (n >= MUTEXES && n < MTXS)) && (choice >>> 8 & 3) == 0;
        if (n < MUTEXES) {
            synchronized (tickets[n]) {
                ticket(n);
                if (twice) {
                    tickets[n].notify();
                    tickets[n].wait(1);
                    ticket(n);
                } else if (n >= 4) {
                    synchronized (tickets[n]) { // once more
                        next[n] += 0;
                    }
                }
            }
        } else if (n < MTXS) {
            guards[n].take(n, twice);
        } else if (n < 14) {
            if ((choice >>> 16 & 3) == 0)
                while (!locks[n].tryLock())
                    Thread.yield();
            else
                locks[n].lock();
            try {
                ticket(n);
            } finally {
                locks[n].unlock();
            }
        } else {
            final long stamp = stamped[n].writeLock();
            ticket(n);
            stamped[n].unlockWrite(stamp);
        }
    }

    static final ReentrantReadWriteLock[] readWrite = new ReentrantReadWriteLock[LOCKS];

    static int asReader(long choice) {
        final int n = SPINS + mod(choice, LOCKS - SPINS);
        if (n < 14) {
            readWrite[n].readLock().lock();
            try {
                return tickets[n][next[n]];
            } finally {
                readWrite[n].readLock().unlock();
            }
        }
        final long stamp = stamped[n].readLock();
        try {
            return tickets[n][next[n]];
        } finally {
            stamped[n].unlockRead(stamp);
        }
    }

    static void count(long choice) {
        final int n = mod(choice, COUNTERS);
        final AtomicInteger c = counters[n];
        int t;
        if (n < 3)
            t = c.getAndIncrement();
        else if (n < 5)
            t = c.addAndGet(1) - 1;
        else if (n < 7)
            t = c.getAndUpdate(x -> x + 1);
        else
            do {
                t = c.get();
            } while (!c.compareAndSet(t, t + 1));
        drawn[n][t] = 1;
    }

    // ---- memory ----

    static class Block {
        int first;
        Object load;
        byte last;
    }

    static void block_put(Block b, int v) {
        b.first = v;
    }

    static int block_get(Block b) {
        return b.first;
    }

    /** Loaded again and again by loaders that are dropped. */
    public static class Loaded implements Runnable {
        static int times = 1;
        int made;

        public Loaded() {
        }

        @Override
        public void run() {
            made += times++;
        }
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(Stress.class.getClassLoader());
        }

        Class<?> again(String name) throws Exception {
            try (InputStream in = Stress.class.getResourceAsStream(name + ".class")) {
                final byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    // ---- threads ----

    static class Group {
        final CyclicBarrier barrier = new CyclicBarrier(GROUP);
        final Object changed = new Object();
        final ConcurrentHashMap<Integer, Integer> once = new ConcurrentHashMap<>();
        final Semaphore[] heard = new Semaphore[GROUP];
        final Semaphore[] piped = new Semaphore[GROUP];
        final CountDownLatch done = new CountDownLatch(1);
        final Block[] given = new Block[GROUP];
        final Worker[] workers = new Worker[GROUP];
        final byte[] messages;
        volatile int flag;
        int turn;

        Group(int number) {
            messages = messageArray(number);
            for (int r = 0; r < GROUP; r++) {
                heard[r] = new Semaphore(0);
                piped[r] = new Semaphore(0);
            }
        }
    }

    static class Worker extends Thread {
        final int number, role;
        Group group;
        long[] own;
        long k;
        int seen;

        Worker(int number) {
            this.number = number;
            role = number % GROUP;
        }

        void cells(int n) {
            while (n-- > 0) {
                final long h = draw(seed, 1, number, k++);
                final int kind = (int)(h & 15), at = mod(h >>> 8, CELLS);
                if (kind < 7 || kind == 13)
                    seen += (int)own[at];
                else if (kind < 13 || kind == 14)
                    own[at] = h >>> 20;
                else
                    own[at] += h >>> 20;
            }
        }

        void meet() throws Exception {
            group.barrier.await();
        }

        void storm(long choice) throws Exception {
            final Block[] kept = new Block[8];
            final List<WeakReference<Block>> weak = new ArrayList<>();
            final int n = 1 + mod(choice, 60);
            for (int i = 0; i < n; i++) {
                final long h = draw(choice, 6, i, 0);
                final Block b = new Block();
                final int bytes = 1 + mod(h >>> 8, 1 << 1 + mod(h >>> 32, 16));
                b.load = (h & 3) == 0 ? new byte[bytes] : (h & 3) == 1 ? new long[bytes / 8] : (h & 3) == 2 ? new Object[bytes / 8] : kept[(i + 3) % 8];
                block_put(b, i);
                block_put(b, i + 1);
                weak.add(new WeakReference<>(b));
                if ((h >>> 7 & 1) != 0) {
                    if (block_get(b) != i + 1)
                        throw new IllegalStateException("a block");
                    b.load = null;
                    block_put(b, i);
                }
                kept[i % 8] = b;
            }
            for (WeakReference<Block> w : weak)
                if (w.get() == null)
                    seen++;
            final Block mine = new Block();
            block_put(mine, 1);
            block_put(mine, 2);
            group.given[role] = mine;
            meet();
            if (block_get(group.given[(role + 1) % GROUP]) != 2)
                throw new IllegalStateException("a block that was given");
            meet();
        }

        void condition(int s) throws Exception {
            if (role == 0)
                group.messages[s * GROUP] = 1;
            synchronized (group.changed) {
                if (role == 0) {
                    group.turn = s + 1;
                    group.changed.notifyAll();
                }
                while (group.turn < s + 1)
                    group.changed.wait();
            }
            if (role != 0)
                seen += group.messages[s * GROUP];
        }

        /** Whoever is first waits for the other by what orders nothing, or the barrier's lock would order them. */
        void racing() throws InterruptedException {
            raced[0] = 1;
            System.setProperty("stress.raced" + role, "yes");
            while (System.getProperty("stress.raced" + (1 - role)) == null)
                Thread.sleep(1);
        }

        void step(int s) throws Exception {
            final int g = number / GROUP, kind = stepOf(g, s), message = s * GROUP;
            final long chosen = choice(seed, number, s);
            cells(mod(draw(seed, 4, number, s), kind == ALONE ? 2000 : 40));
            switch (kind) {
            case RANGE: {
                final int n = (100 + mod(chosen, 900)) / 8;
                System.arraycopy(own, mod(chosen >>> 10, 8192) / 8, own, 2048 + mod(chosen >>> 24, 8192) / 8, n);
                break;
            }
            case LOCKED:
            case READER:
            case COUNTED:
                for (int i = 0; i < 1 + mod(chosen, 32); i++) {
                    final long c = choice(chosen, number, i);
                    if (kind == LOCKED)
                        inLock(c);
                    else if (kind == READER)
                        seen += asReader(c);
                    else
                        count(c);
                }
                break;
            case HANDED:
                if (role == 0) {
                    group.messages[message] = 1;
                    group.flag = s + 1;
                } else {
                    while (group.flag < s + 1)
                        Thread.yield();
                    seen += group.messages[message];
                }
                break;
            case CONDITION: condition(s); break;
            case SEMAPHORE:
                if (role == 0) {
                    group.messages[message] = 1;
                    for (int r = 1; r < GROUP; r++)
                        group.heard[r].release();
                } else {
                    group.heard[role].acquire();
                    seen += group.messages[message];
                }
                break;
            case ONCE:
                group.once.computeIfAbsent(s, key -> {
                    group.messages[message] = 1;
                    return key;
                });
                seen += group.messages[message];
                break;
            case BARRIER:
                group.messages[message + role] = 1;
                meet();
                for (int r = 0; r < GROUP; r++)
                    seen += group.messages[message + r];
                break;
            case PIPE:
                if (role == 0)
                    group.piped[0].acquire();
                else
                    Thread.sleep(1 + mod(chosen, 50));
                if (role == 1)
                    group.piped[0].release();
                break;
            case HEAP: storm(chosen); break;
            case SIGNALS: {
                final int[] scratch = new int[100];
                final Future<Integer> task = pool.submit(() -> ++scratch[mod(chosen, 100)]);
                seen += task.get() + scratch[mod(chosen, 100)];
                break;
            }
            case RAISED: {
                final long[] fresh = ownArray(number); // the old one dies
                System.arraycopy(own, 0, fresh, 0, CELLS);
                own = fresh;
                if (role == 0)
                    System.gc();
                cells(5);
                break;
            }
            case CHILD: ((Runnable)new Loader().again("Stress$Loaded").getDeclaredConstructor().newInstance()).run(); break;
            case RACING:
                if (role < 2)
                    racing();
                break;
            default: break;
            }
        }

        void work() throws Exception {
            own = ownArray(number);
            cells(2);
            if (role != 0)
                seen += group.messages[steps * GROUP];
            group.workers[role] = this;
            meet();
            for (int s = 0; s < steps; s++)
                step(s);
            meet();
            if (role != 0)
                group.messages[(steps + 1) * GROUP + role] = 1;
        }

        @Override
        public void run() {
            try {
                if (role == 0)
                    lead();
                else
                    led();
                if (role != 3)
                    cells(3);
                sum.addAndGet(Arrays.hashCode(own) * (long)(number + 1));
                if (role == 3)
                    group.done.countDown();
            } catch (Throwable t) {
                t.printStackTrace();
                System.exit(1);
            }
        }

        void led() throws Exception {
            work();
            if (role == 2)
                try {
                    synchronized (this) {
                        while (number % 8 == 2)
                            wait();
                    }
                    for (;;)
                        Thread.sleep(1000000);
                } catch (InterruptedException e) {
                    cells(4);
                }
        }

        void lead() throws Exception {
            group = new Group(number / GROUP);
            group.messages[steps * GROUP] = 1;
            final Worker[] all = new Worker[GROUP];
            for (int r = 1; r < GROUP; r++) {
                all[r] = new Worker(number + r);
                all[r].group = group;
                all[r].start();
            }
            work();
            all[2].interrupt();
            all[1].join();
            all[2].join();
            group.done.await();
            for (int r = 1; r < GROUP; r++)
                seen += group.messages[(steps + 1) * GROUP + r];
        }
    }

    /** One that waits all the time holds up nobody. */
    static class Sleeper extends Worker {
        final Semaphore over = new Semaphore(0);

        Sleeper(int number) {
            super(number);
        }

        @Override
        public void run() {
            own = ownArray(number);
            cells(1000);
            over.acquireUninterruptibly();
            cells(1000);
        }
    }

    public static void main(String[] args) throws Exception {
        threads = Integer.parseInt(args[0]) / GROUP * GROUP;
        steps = Integer.parseInt(args[1]);
        seed = Long.parseLong(args[2]);
        race = args.length > 3;
        raced = raceArray();
        for (int n = 0; n < LOCKS; n++) {
            tickets[n] = ticketArray(n);
            guards[n] = new Guard();
            stamped[n] = new StampedLock();
            readWrite[n] = new ReentrantReadWriteLock();
            locks[n] = n < SPINS ? new ReentrantLock() : readWrite[n].writeLock();
        }
        for (int n = 0; n < COUNTERS; n++) {
            drawn[n] = drawnArray(n);
            counters[n] = new AtomicInteger();
        }
        final Sleeper sleeper = new Sleeper(threads);
        sleeper.start();
        final Thread collector = new Thread(() -> {
            try {
                for (;;) {
                    System.gc();
                    Thread.sleep(20);
                }
            } catch (InterruptedException e) {
                // is over
            }
        });
        collector.start();
        final int groups = threads / GROUP, most = 1 + mod(seed, 16);
        final Worker[] leaders = new Worker[groups];
        for (int g = 0; g < groups + most; g++) {
            if (g >= most)
                leaders[g - most].join();
            if (g < groups) {
                leaders[g] = new Worker(g * GROUP);
                leaders[g].start();
            }
        }
        sleeper.over.release();
        sleeper.join();
        collector.interrupt();
        collector.join();
        pool.shutdown();
        for (int n = 0; n < LOCKS; n++)
            sum.addAndGet(next[n] * (long)(n + 7));
        System.out.println(sum);
    }
}
