import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * A table of what orders two threads, all in one JVM: Orders racy|ordered. The first thread of a row touches its cell and
 * gives, the second looks until it sees that, and touches it, too. In the racy twin the first gives something else or
 * nothing, or touches the cell again. A row's threads have its name, so races say which rows they are of. Threads that
 * are not to be ordered meet by a LongAdder, which no capture sees.
 */
public class Orders {
    interface Act {
        void act() throws Exception;
    }

    interface Look {
        boolean look() throws Exception;
    }

    static class Cell {
        int data;
    }

    static boolean ordered;
    static Cell cell;
    static LongAdder done = new LongAdder();
    static final Look isDone = () -> done.sum() > 0;

    static void touch() {
        cell.data++;
    }

    static void await(Look seen) throws Exception {
        while (!seen.look())
            Thread.sleep(1);
    }

    static Thread thread(String name, Act act) {
        return new Thread(() -> {
            try {
                act.act();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name);
    }

    static void pair(String row, Act first, Act second) throws Exception {
        final Thread[] t = {thread(row, first), thread(row, second)};
        for (Thread x : t)
            x.start();
        for (Thread x : t)
            x.join();
    }

    /** The cell is made anew, and what `act` does is seen by no other row. */
    static void begin(String row) {
        cell = new Cell();
        done = new LongAdder();
        System.out.println(row);
    }

    /** Its racy twin touches the cell once more after it gave. */
    static void row(String row, Act give, Look seen) throws Exception {
        begin(row);
        pair(row, () -> {
            touch();
            give.act();
            if (!ordered)
                touch();
        }, () -> {
            await(seen);
            touch();
        });
    }

    /** Its racy twin gives what orders nothing, and the other one has looked in vain, or by what does not take. */
    static void row(String row, Act give, Look seen, Act nothing, Look vain) throws Exception {
        if (ordered) {
            row(row, give, seen);
            return;
        }
        begin(row);
        vain.look(); // to link a call for the first time orders threads inside the JVM
        pair(row, () -> {
            touch();
            nothing.act();
            done.increment();
        }, () -> {
            await(isDone);
            if (!vain.look())
                throw new IllegalStateException(row);
            touch();
        });
    }

    static void semaphores() throws Exception {
        final Semaphore a = new Semaphore(0), b = new Semaphore(0), c = new Semaphore(0), d = new Semaphore(0),
                e = new Semaphore(0), f = new Semaphore(0), g = new Semaphore(0), other = new Semaphore(0);
        row("Semaphore.acquire", () -> a.release(2), () -> {
            a.acquire();
            a.acquireUninterruptibly(1);
            return true;
        });
        row("Semaphore.tryAcquire", b::release, b::tryAcquire, () -> b.tryAcquire(), () -> !b.tryAcquire());
        row("Semaphore.tryAcquire of some", () -> c.release(3), () -> c.tryAcquire(3), () -> c.release(2),
                () -> !c.tryAcquire(3));
        row("Semaphore.tryAcquire in time", d::release, () -> d.tryAcquire(1, TimeUnit.MILLISECONDS), d::release,
                () -> !d.tryAcquire(2, 1, TimeUnit.MILLISECONDS));
        row("Semaphore.drainPermits", e::release, () -> e.drainPermits() == 1, other::release,
                () -> e.drainPermits() == 0);
        row("Semaphore.availablePermits", f::release, () -> f.availablePermits() == 1, other::release,
                () -> f.availablePermits() == 0);
        row("Semaphore.acquire interrupted", g::release, g::tryAcquire, g::release, () -> {
            Thread.currentThread().interrupt();
            try {
                g.acquire(2);
                return false;
            } catch (InterruptedException x) {
                return true;
            }
        });
    }

    static void latches() throws Exception {
        final CountDownLatch a = new CountDownLatch(1), b = new CountDownLatch(ordered ? 1 : 2),
                c = new CountDownLatch(1), d = new CountDownLatch(ordered ? 1 : 0);
        row("CountDownLatch.await", a::countDown, () -> {
            a.await();
            return true;
        });
        row("CountDownLatch.await in time", b::countDown, () -> b.await(1, TimeUnit.MILLISECONDS), b::countDown,
                () -> !b.await(1, TimeUnit.MILLISECONDS));
        row("CountDownLatch.getCount", c::countDown, () -> c.getCount() == 0);
        row("CountDownLatch open already", d::countDown, () -> d.await(1, TimeUnit.MILLISECONDS), d::countDown,
                () -> d.await(1, TimeUnit.MILLISECONDS));
    }

    static final VarHandle elements = MethodHandles.arrayElementVarHandle(int[].class);

    /** The index of another type than int: 10 and 11 are other variables. */
    static void indexes() throws Exception {
        final int[] a = new int[16];
        row("VarHandle, index of char", () -> elements.setVolatile(a, (char) 10, 1),
                () -> (int) elements.getVolatile(a, 10) == 1, () -> elements.setVolatile(a, (char) 11, 1),
                () -> (int) elements.getVolatile(a, (char) 10) == 0);
        row("VarHandle, index of short", () -> elements.setVolatile(a, (short) 10, 2),
                () -> (int) elements.getVolatile(a, 10) == 2, () -> elements.setVolatile(a, (short) 11, 2),
                () -> (int) elements.getVolatile(a, (short) 10) == 0);
        row("VarHandle, index of byte", () -> elements.compareAndSet(a, (byte) 12, 0, 1),
                () -> (int) elements.getVolatile(a, 12) == 1, () -> elements.compareAndSet(a, (byte) 13, 0, 1),
                () -> !elements.compareAndSet(a, (byte) 12, 1, 2));
        row("VarHandle, index of Integer", () -> elements.setVolatile(a, Integer.valueOf(14), 1),
                () -> (int) elements.getVolatile(a, 14) == 1, () -> elements.setVolatile(a, Integer.valueOf(15), 1),
                () -> (int) elements.getVolatile(a, Integer.valueOf(14)) == 0);
    }

    /** A program's own, as the JDK's documentation has it: exclusive, by its state. */
    static class Mutex extends AbstractQueuedSynchronizer {
        @Override
        protected boolean tryAcquire(int n) {
            if (!compareAndSetState(0, 1))
                return false;
            setExclusiveOwnerThread(Thread.currentThread());
            return true;
        }

        @Override
        protected boolean tryRelease(int n) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }

        @Override
        protected boolean isHeldExclusively() {
            return getState() == 1;
        }

        boolean isFree() {
            return getState() == 0;
        }

        boolean swap(int from, int to) {
            return compareAndSetState(from, to);
        }
    }

    static class Gate extends AbstractQueuedSynchronizer {
        @Override
        protected int tryAcquireShared(int n) {
            return getState() != 0 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int n) {
            setState(1);
            return true;
        }
    }

    static class LongGate extends AbstractQueuedLongSynchronizer {
        @Override
        protected long tryAcquireShared(long n) {
            return getState() >> 40 != 0 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(long n) {
            return compareAndSetState(0, 1L << 40);
        }
    }

    static void synchronisers() throws Exception {
        final Mutex a = new Mutex(), b = new Mutex(), c = new Mutex();
        final AbstractQueuedSynchronizer.ConditionObject changed = c.new ConditionObject();
        final Gate d = new Gate(), e = new Gate();
        final LongGate f = new LongGate(), g = new LongGate();
        final int[] n = new int[1];
        if (ordered)
            a.acquire(1);
        row("own synchroniser", () -> a.release(1), () -> a.tryAcquireNanos(1, 1000000));
        row("own synchroniser that fails", () -> b.swap(0, 1), () -> !b.isFree(), () -> b.swap(5, 1), b::isFree);
        row("own synchroniser's condition", () -> {
            c.acquire(1);
            n[0] = 1;
            changed.signal();
            c.release(1);
        }, () -> {
            c.acquireInterruptibly(1);
            while (n[0] == 0)
                changed.await();
            return c.release(1);
        });
        row("own synchroniser, shared", () -> d.releaseShared(1), () -> {
            d.acquireShared(1);
            return true;
        });
        row("own synchroniser, shared, in time", () -> e.releaseShared(1), () -> e.tryAcquireSharedNanos(1, 1000000),
                () -> { }, () -> !e.tryAcquireSharedNanos(1, 1000));
        row("own long synchroniser", () -> f.releaseShared(1), () -> {
            f.acquireSharedInterruptibly(1);
            return true;
        });
        row("own long synchroniser that fails", () -> g.releaseShared(1), () -> g.tryAcquireSharedNanos(1, 1000000),
                () -> { }, () -> !g.tryAcquireSharedNanos(1, 1000));
    }

    public static void main(String[] args) throws Exception {
        ordered = args[0].equals("ordered");
        isDone.look();
        semaphores();
        latches();
        indexes();
        synchronisers();
    }
}
