import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock.WriteLock;
import java.util.stream.IntStream;

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
    static Thread first, second;
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
        Orders.first = thread(row, first);
        Orders.second = thread(row, second);
        Orders.first.start();
        Orders.second.start();
        Orders.first.join();
        Orders.second.join();
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

    /** Its racy twin gives what orders nothing, or nothing orders (no `give`), and the other one has looked in vain, or by what does not take. */
    static void row(String row, Act give, Look seen, Act nothing, Look vain) throws Exception {
        if (ordered) {
            if (give != null)
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

    /** What a lock or a monitor guards: set by who gives, under it. */
    static class Guarded {
        int set;
    }

    static Act sets(Lock l, Guarded g) {
        return () -> {
            l.lock();
            g.set = 1;
            l.unlock();
        };
    }

    static Look sees(Lock l, Look got, Guarded g) {
        return () -> {
            if (!got.look())
                return false;
            final boolean is = g.set == 1;
            l.unlock();
            return is;
        };
    }

    static void locked(String row, Lock give, Lock l, Look got, Lock other) throws Exception {
        final Guarded g = new Guarded(), h = new Guarded();
        row(row, sets(give, g), sees(l, got, g), sets(other, h), () -> !sees(l, got, g).look());
    }

    static void locks() throws Exception {
        final ReentrantLock a = new ReentrantLock(), b = new ReentrantLock(true), other = new ReentrantLock();
        locked("ReentrantLock.tryLock", a, a, a::tryLock, other);
        locked("ReentrantLock.tryLock in time", b, b, () -> b.tryLock(1, TimeUnit.SECONDS), other);
        locked("ReentrantLock.lockInterruptibly", a, a, () -> {
            a.lockInterruptibly();
            a.lock();
            a.unlock();
            return true;
        }, other);
        final ReentrantReadWriteLock c = new ReentrantReadWriteLock();
        final Lock r = c.readLock(), w = c.writeLock();
        locked("WriteLock.tryLock", w, w, w::tryLock, other);
        locked("WriteLock.tryLock in time", w, w, () -> w.tryLock(1, TimeUnit.SECONDS), other);
        locked("ReadLock.lock", w, r, () -> {
            r.lock();
            r.lock();
            r.unlock();
            return true;
        }, other);
        locked("ReadLock.tryLock", w, r, r::tryLock, other);
        locked("ReadLock.tryLock in time", w, r, () -> r.tryLock(1, TimeUnit.SECONDS), other);
        locked("WriteLock, made a ReadLock", w, r, () -> {
            w.lock();
            r.lock();
            w.unlock();
            return true;
        }, other);
        final Act reads = () -> {
            r.lock();
            r.unlock();
            done.increment();
        };
        row("WriteLock behind readers", reads, () -> {
            await(isDone);
            w.lock();
            w.unlock();
            return true;
        }, reads, () -> {
            r.lock(); // readers do not order each other
            r.unlock();
            return true;
        });
        final ReentrantLock held = new ReentrantLock();
        final Thread holder = thread("holder", () -> {
            held.lock();
            await(() -> stop.sum() > 0);
            held.unlock();
        });
        holder.start();
        await(held::isLocked);
        row("a lock that is not got", null, null, () -> { }, () -> !held.tryLock(1, TimeUnit.MICROSECONDS) && !held.tryLock());
        stop.increment();
        holder.join();
        stop.reset();
        row("a lock that is not held", null, null, () -> { }, () -> {
            try {
                r.unlock();
                return false;
            } catch (IllegalMonitorStateException x) {
                return true;
            }
        });
    }

    static final LongAdder stop = new LongAdder();

    static void waiting(String row, Lock l, Condition c, Act await) throws Exception {
        final Guarded g = new Guarded();
        row(row, () -> {
            l.lock();
            g.set = 1;
            c.signal();
            l.unlock();
        }, () -> {
            l.lock();
            while (g.set == 0)
                await.act();
            l.unlock();
            return true;
        });
    }

    static void conditions() throws Exception {
        final ReentrantLock l = new ReentrantLock();
        final Condition c = l.newCondition();
        waiting("Condition.await", l, c, c::await);
        waiting("Condition.await in time", l, c, () -> c.await(1, TimeUnit.MILLISECONDS));
        waiting("Condition.awaitNanos", l, c, () -> c.awaitNanos(1000000));
        waiting("Condition.awaitUntil", l, c, () -> c.awaitUntil(new Date(System.currentTimeMillis() + 1)));
        waiting("Condition.awaitUninterruptibly", l, c, c::awaitUninterruptibly);
        final WriteLock w = new ReentrantReadWriteLock().writeLock();
        final Condition written = w.newCondition();
        waiting("Condition of a WriteLock", w, written, () -> written.await(1, TimeUnit.SECONDS));
        final Object monitor = new Object();
        for (int i = 0; i < 3; i++) {
            final Guarded g = new Guarded();
            final int how = i;
            row("Object.wait " + (i == 0 ? "without end" : i == 1 ? "of ms" : "of ns"), () -> {
                synchronized (monitor) {
                    g.set = 1;
                    monitor.notify();
                }
            }, () -> {
                synchronized (monitor) {
                    while (g.set == 0) {
                        if (how == 0)
                            monitor.wait();
                        else if (how == 1)
                            monitor.wait(1);
                        else
                            monitor.wait(0, 1000);
                    }
                    return true;
                }
            });
        }
        final Own own = new Own();
        row("Object.wait of super", own::set, own::isSet);
        row("Object.wait that nobody ends", null, null, () -> { }, () -> {
            synchronized (monitor) {
                monitor.wait(1);
                return true;
            }
        });
    }

    static class Own {
        int set;

        synchronized void set() {
            set = 1;
            super.notify();
        }

        synchronized boolean isSet() throws Exception {
            while (set == 0)
                super.wait(1000);
            return true;
        }
    }

    static void barriers() throws Exception {
        final CyclicBarrier a = new CyclicBarrier(2), b = new CyclicBarrier(2, () -> cell.data++);
        row("CyclicBarrier.await", a::await, () -> a.await(1, TimeUnit.HOURS) >= 0);
        row("CyclicBarrier with an action", b::await, () -> b.await() >= 0);
        final Phaser c = new Phaser(2), d = new Phaser(1), e = new Phaser(1), f = new Phaser(1);
        row("Phaser.arriveAndAwaitAdvance", c::arriveAndAwaitAdvance, () -> c.arriveAndAwaitAdvance() == 1);
        row("Phaser.getPhase", d::arrive, () -> d.getPhase() == 1);
        row("Phaser.arriveAndDeregister", e::arriveAndDeregister, e::isTerminated);
        row("Phaser.awaitAdvance in time", f::arrive, () -> f.awaitAdvanceInterruptibly(0, 1, TimeUnit.HOURS) == 1);
        final Exchanger<Cell> g = new Exchanger<>();
        final Cell given = new Cell();
        row("Exchanger.exchange in time", () -> g.exchange(given), () -> g.exchange(given, 1, TimeUnit.HOURS) == given);
    }

    /** A thread whose class hides what the capture asks it: its number and state. */
    static class Hidden extends Thread {
        Hidden(Runnable r) {
            super(r);
        }

        @Override
        public long getId() {
            return 1;
        }

        @Override
        public Thread.State getState() {
            return Thread.State.NEW;
        }
    }

    static Runnable touching() {
        return () -> {
            touch();
            done.increment();
        };
    }

    static void ended(String row, Thread t, Look has) throws Exception {
        row(row, t::start, () -> done.sum() > 0 && has.look());
    }

    static void threads() throws Exception {
        final Thread a = new Thread(touching()), b = new Thread(touching()), c = new Thread(touching()),
                d = new Hidden(touching()), e = new Thread(() -> {
                    touch();
                    done.increment();
                    while (stop.sum() == 0)
                        Thread.yield();
                });
        ended("Thread.isAlive", a, () -> !a.isAlive());
        ended("Thread.getState", b, () -> b.getState() == Thread.State.TERMINATED);
        ended("Thread.join in time", c, () -> {
            c.join(1, 1);
            c.join(100000);
            return true;
        });
        ended("Thread.isAlive of another class", d, () -> !d.isAlive());
        row("a thread that lives", null, null, () -> {
            e.start();
            await(isDone);
        }, () -> {
            e.join(1);
            return e.getState() != Thread.State.TERMINATED && !new Thread().isAlive() && (done.sum() == 0 || e.isAlive());
        });
        stop.increment();
        e.join();
        stop.reset();
        row("Thread.isInterrupted", () -> second.interrupt(), () -> {
            while (!Thread.currentThread().isInterrupted())
                Thread.onSpinWait();
            return true;
        }, () -> first.interrupt(), () -> !Thread.currentThread().isInterrupted());
        row("Thread.interrupted", () -> second.interrupt(), () -> {
            while (!Thread.interrupted())
                Thread.onSpinWait();
            return true;
        }, () -> first.interrupt(),
                () -> !Thread.interrupted());
        row("LockSupport.unpark", null, null, () -> LockSupport.unpark(second), () -> {
            LockSupport.parkNanos(1000);
            return true;
        });
        row("ThreadLocalRandom", null, null, () -> ThreadLocalRandom.current().nextInt(),
                () -> ThreadLocalRandom.current().nextInt() < 1 || true);
        final ThreadLocal<Cell> local = ThreadLocal.withInitial(Cell::new);
        row("ThreadLocal", null, null, () -> local.get().data++, () -> local.get().data++ >= 0);
    }

    static class Item implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed to) {
            return 0;
        }
    }

    static void queues() throws Exception {
        for (int i = 0; i < 6; i++) {
            final BlockingQueue<Item> q = i == 0 ? new ArrayBlockingQueue<>(2) : i == 1 ? new LinkedBlockingQueue<>()
                    : i == 2 ? new LinkedBlockingDeque<>() : i == 3 ? new PriorityBlockingQueue<>()
                    : i == 4 ? new DelayQueue<>() : new LinkedTransferQueue<>();
            final String name = q.getClass().getSimpleName();
            final Item item = new Item();
            row(name + ".poll", () -> q.offer(item), () -> q.poll() == item, () -> q.offer(item), () -> true);
            q.clear();
            row(name + ".poll in time", () -> q.offer(item, 1, TimeUnit.HOURS),
                    () -> q.poll(1, TimeUnit.MILLISECONDS) == item);
            row(name + ".drainTo", () -> q.put(item), () -> q.drainTo(new ArrayList<>()) == 1);
            row(name + ".peek", () -> q.add(item), () -> q.peek() == item);
            q.clear();
            row(name + ".iterator", () -> q.add(item), () -> q.iterator().hasNext());
            q.clear();
            row(name + ".remove", () -> q.add(item), () -> q.remove(item));
            row(name + ".size", () -> q.add(item), () -> q.size() == 1);
            q.clear();
            row(name + ".contains", () -> q.add(item), () -> q.contains(item));
            row(name + ".take", () -> q.take(), q::isEmpty);
        }
        final ArrayBlockingQueue<Item> full = new ArrayBlockingQueue<>(1);
        full.add(new Item());
        row("ArrayBlockingQueue with room again", full::poll, () -> full.offer(new Item()));
        final SynchronousQueue<Item> s = new SynchronousQueue<>();
        row("SynchronousQueue.offer in time", () -> s.offer(new Item(), 1, TimeUnit.HOURS),
                () -> s.poll(1, TimeUnit.HOURS) != null);
        row("SynchronousQueue.offer", () -> s.poll(1, TimeUnit.HOURS), () -> s.offer(new Item()));
        final LinkedTransferQueue<Item> t = new LinkedTransferQueue<>();
        row("LinkedTransferQueue.transfer", () -> t.transfer(new Item()), () -> t.take() != null);
        row("LinkedTransferQueue.tryTransfer", () -> t.tryTransfer(new Item(), 1, TimeUnit.HOURS), () -> t.poll() != null);
    }

    static final Callable<Integer> task = () -> {
        touch();
        return 1;
    };

    static void tasks() throws Exception {
        final FutureTask<Integer> a = new FutureTask<>(task), b = new FutureTask<>(task), c = new FutureTask<>(task),
                d = new FutureTask<>(task);
        row("FutureTask.get", a::run, () -> a.get() == 1);
        row("FutureTask.get in time", b::run, () -> b.get(1, TimeUnit.HOURS) == 1);
        row("FutureTask.isDone", c::run, c::isDone);
        row("FutureTask.isCancelled", () -> d.cancel(false), d::isCancelled);
        final CompletableFuture<Integer> e = new CompletableFuture<>(), f = new CompletableFuture<>(),
                g = new CompletableFuture<>();
        row("CompletableFuture.join", () -> e.complete(1), () -> e.join() == 1);
        row("CompletableFuture.isDone", () -> f.completeExceptionally(new Exception()), f::isDone);
        row("CompletableFuture.thenAccept", () -> g.complete(1), () -> {
            g.thenApply(x -> x + 1).thenAccept(x -> cell.data += x).get(1, TimeUnit.HOURS);
            return true;
        });
    }

    static void pools() throws Exception {
        final ThreadPoolExecutor a = new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(9)),
                b = new ThreadPoolExecutor(2, 2, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>()),
                c = new ThreadPoolExecutor(0, 9, 1, TimeUnit.MILLISECONDS, new SynchronousQueue<>());
        row("ThreadPoolExecutor.isTerminated", () -> {
            a.execute(Orders::touch);
            a.execute(Orders::touch);
            a.shutdown();
        }, a::isTerminated);
        row("ThreadPoolExecutor.awaitTermination", () -> {
            b.submit(task);
            b.submit(() -> 1).get();
            b.shutdown();
        }, () -> b.awaitTermination(1, TimeUnit.MILLISECONDS));
        final ExecutorCompletionService<Integer> results = new ExecutorCompletionService<>(c);
        row("ExecutorCompletionService.take", () -> results.submit(task), () -> results.take().isDone());
        row("ThreadPoolExecutor.getCompletedTaskCount", () -> c.execute(Orders::touch), () -> c.getCompletedTaskCount() == 2);
        row("ThreadPoolExecutor.invokeAll", () -> c.invokeAll(List.of(task)), () -> c.getCompletedTaskCount() == 3);
        c.shutdown();
        final ScheduledThreadPoolExecutor d = new ScheduledThreadPoolExecutor(2);
        final Semaphore arrived = new Semaphore(0);
        final Callable<Integer> arrives = () -> {
            touch();
            arrived.release();
            return 1;
        };
        row("ScheduledThreadPoolExecutor.schedule", () -> d.schedule(arrives, 1, TimeUnit.MILLISECONDS), arrived::tryAcquire);
        final CountDownLatch times = new CountDownLatch(9);
        row("ScheduledThreadPoolExecutor.scheduleAtFixedRate", () -> d.scheduleAtFixedRate(() -> {
            if (times.getCount() > 0)
                touch();
            times.countDown();
        }, 0, 1, TimeUnit.MILLISECONDS), () -> times.await(1, TimeUnit.MILLISECONDS));
        d.shutdownNow();
        final ForkJoinPool e = new ForkJoinPool(2), f = new ForkJoinPool(2);
        row("ForkJoinPool.awaitTermination", () -> {
            e.submit(task);
            e.shutdown();
        }, () -> e.awaitTermination(1, TimeUnit.MILLISECONDS));
        final Sum sum = new Sum(null, 0, 64);
        row("ForkJoinPool.awaitQuiescence", () -> f.execute(touching()),
                () -> done.sum() > 0 && f.awaitQuiescence(1, TimeUnit.HOURS));
        row("ForkJoinPool.invoke", () -> {
            f.invoke(ForkJoinTask.adapt(task));
            arrived.release();
        }, arrived::tryAcquire);
        final int[] parts = new int[2];
        row("ForkJoinTask.invokeAll", () -> {
            f.submit(() -> {
                ForkJoinTask.invokeAll(ForkJoinTask.adapt(() -> parts[0]++), ForkJoinTask.adapt(() -> parts[1]++));
                cell.data += parts[0] + parts[1];
            }).join();
            arrived.release();
        }, arrived::tryAcquire);
        row("CountedCompleter", () -> f.execute(sum), () -> {
            sum.join();
            return sum.sum == 64 * 63 / 2;
        });
        row("a stream in parallel", () -> {
            final int[] all = IntStream.range(0, 1000).parallel().collect(() -> new int[1], (x, i) -> x[0] += i,
                    (x, y) -> x[0] += y[0]);
            cell.data += all[0];
            arrived.release();
        }, arrived::tryAcquire);
        final SubmissionPublisher<Cell> g = new SubmissionPublisher<>(f, 4);
        g.consume(x -> {
            x.data++;
            arrived.release();
        });
        row("SubmissionPublisher.submit", () -> g.submit(cell), arrived::tryAcquire);
        f.shutdown();
    }

    static class Sum extends CountedCompleter<Void> {
        final int from, to;
        int sum;
        Sum left, right;

        Sum(Sum of, int from, int to) {
            super(of);
            this.from = from;
            this.to = to;
        }

        @Override
        public void compute() {
            if (to - from == 1) {
                sum = from;
            } else {
                left = new Sum(this, from, (from + to) / 2);
                right = new Sum(this, (from + to) / 2, to);
                setPendingCount(2);
                left.fork();
                right.fork();
            }
            tryComplete();
        }

        @Override
        public void onCompletion(CountedCompleter<?> by) {
            if (left != null)
                sum = left.sum + right.sum;
        }
    }

    public static void main(String[] args) throws Exception {
        ordered = args[0].equals("ordered");
        isDone.look();
        semaphores();
        latches();
        indexes();
        synchronisers();
        locks();
        conditions();
        barriers();
        threads();
        queues();
        tasks();
        pools();
    }
}
