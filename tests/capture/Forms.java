import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Hashtable;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Two threads that touch one field: Forms FORM racy|ordered. Each form of synchronisation orders them, or is left out,
 * or is done wrongly. They meet outside of what is recorded, by a file's time, so that an unordered pair is one in every
 * execution.
 */
public class Forms {
    static final int LARGE = 20000;

    static class Cell {
        int data;
        volatile int flag;
        volatile Cell next;
        int word;
        long wide;
        long[] array = new long[8];
        long[] large = new long[LARGE];
    }

    /** Initialised by whoever comes first. */
    enum Side { LEFT, RIGHT }

    static class Lazy {
        static int made;
        static {
            made = 7;
            cell.data++;
        }
    }

    static Cell cell = new Cell();
    static boolean ordered;
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final Condition changed = lock.newCondition();
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    static final CountDownLatch latch = new CountDownLatch(1);
    static final Semaphore semaphore = new Semaphore(0);
    static final AtomicInteger atomic = new AtomicInteger();
    static final ArrayBlockingQueue<Cell> queue = new ArrayBlockingQueue<>(1);
    static final ConcurrentHashMap<String, Cell> map = new ConcurrentHashMap<>();
    static final Hashtable<String, Cell> table = new Hashtable<>();
    static final StampedLock stamped = new StampedLock();
    static final AtomicReference<Cell> reference = new AtomicReference<>();
    static final Set<String> set = ConcurrentHashMap.newKeySet();
    static volatile Thread sleeper;
    static boolean ready;
    static VarHandle handle;
    static int through;
    static final Cell other = new Cell();
    static final int[] words = new int[8];
    static final VarHandle word, wide, element;
    static final sun.misc.Unsafe unsafe;
    static final long wordAt;
    static {
        try {
            word = MethodHandles.lookup().findVarHandle(Cell.class, "word", int.class);
            wide = MethodHandles.lookup().findVarHandle(Cell.class, "wide", long.class);
            final var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            f.setAccessible(true);
            unsafe = (sun.misc.Unsafe) f.get(null);
            wordAt = unsafe.objectFieldOffset(Cell.class.getDeclaredField("word"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        element = MethodHandles.arrayElementVarHandle(int[].class);
    }
    static final AtomicIntegerFieldUpdater<Cell> flagOf = AtomicIntegerFieldUpdater.newUpdater(Cell.class, "flag");
    static final AtomicReferenceFieldUpdater<Cell, Cell> nextOf =
            AtomicReferenceFieldUpdater.newUpdater(Cell.class, Cell.class, "next");
    static final AtomicIntegerArray atomics = new AtomicIntegerArray(8);
    static final AtomicStampedReference<Cell> stampedCell = new AtomicStampedReference<>(null, 0);
    static final ConcurrentSkipListMap<String, Cell> skips = new ConcurrentSkipListMap<>();
    static final ConcurrentLinkedQueue<Cell> linked = new ConcurrentLinkedQueue<>();
    static final ConcurrentLinkedDeque<Cell> deque = new ConcurrentLinkedDeque<>();
    static final CopyOnWriteArrayList<Cell> copied = new CopyOnWriteArrayList<>();
    static final SynchronousQueue<Cell> meeting = new SynchronousQueue<>();
    static final LinkedTransferQueue<Cell> transfers = new LinkedTransferQueue<>();
    static final Exchanger<Cell> exchanger = new Exchanger<>();
    static final Phaser phaser = new Phaser(2);

    static void touch() {
        cell.data++;
    }

    static synchronized void touchLocked() {
        cell.data++;
    }

    static void pause() throws InterruptedException {
        Thread.sleep(30);
    }

    interface Form {
        void run(boolean first) throws Exception;
    }

    interface Act {
        void act() throws Exception;
    }

    interface Look {
        boolean look() throws Exception;
    }

    /** What was done before one gives is ordered before what the other does when it has seen that. */
    static Form handsOver(Act give, Look seen) {
        return first -> {
            if (first) {
                touch();
                give.act();
                if (!ordered)
                    touch();
                return;
            }
            while (!seen.look())
                Thread.sleep(1);
            touch();
        };
    }

    /**
     * The same; what does not give, or gives something else, orders nothing. Both were done before: to link a call for the
     * first time orders threads inside the JVM.
     */
    static Form handsOver(Act give, Act nothing, Look seen) throws Exception {
        if (!ordered) {
            nothing.act();
            seen.look();
        }
        return first -> {
            if (ordered) {
                handsOver(give, seen).run(first);
            } else if (first) {
                touch();
                nothing.act();
            } else {
                pause();
                seen.look();
                touch();
            }
        };
    }

    static Form form(String name) throws Exception {
        switch (name) {
        case "handle-object": // of another object it is another variable
            return handsOver(() -> word.setRelease(cell, 1), () -> word.setRelease(other, 1),
                    () -> (int) word.getAcquire(cell) == 1);
        case "handle-element":
            return handsOver(() -> element.setVolatile(words, 3, 1), () -> element.setVolatile(words, 4, 1),
                    () -> (int) element.getVolatile(words, 3) == 1);
        case "handle-opaque":
            return handsOver(() -> word.setVolatile(cell, 1), () -> word.setOpaque(cell, 1),
                    () -> (int) word.getVolatile(cell) == 1);
        case "handle-acquire": // orders one way only
            return handsOver(() -> wide.getAndAddRelease(cell, 1L), () -> wide.getAndAddAcquire(cell, 1L),
                    () -> (long) wide.getAcquire(cell) == 1);
        case "handle-fails":
            return handsOver(() -> wide.compareAndSet(cell, 0, 1), () -> wide.compareAndSet(cell, 5, 1),
                    () -> (long) wide.getVolatile(cell) == 1);
        case "handle-weak":
            return handsOver(() -> {
                while (!word.weakCompareAndSet(cell, 0, 1))
                    continue;
            }, () -> word.weakCompareAndSetPlain(cell, 0, 1), () -> (int) word.getVolatile(cell) == 1);
        case "handle-plain": // an access like any other
            return first -> {
                if (ordered)
                    lock.lock();
                word.set(cell, (int) word.get(cell) + 1);
                if (ordered)
                    lock.unlock();
            };
        case "handle-mixed": // a plain access beside it is not ordered by it
            return first -> {
                if (!first)
                    word.getAcquire(cell);
                else if (ordered)
                    word.setRelease(cell, 1);
                else
                    cell.word = 1;
            };
        case "updater":
            return handsOver(() -> flagOf.set(cell, 1), () -> flagOf.set(other, 1), () -> cell.flag == 1);
        case "updater-fails":
            return handsOver(() -> nextOf.compareAndSet(cell, null, other), () -> nextOf.compareAndSet(cell, other, cell),
                    () -> nextOf.get(cell) == other);
        case "unsafe":
            return handsOver(() -> unsafe.putOrderedInt(cell, wordAt, 1), () -> unsafe.putOrderedInt(other, wordAt, 1),
                    () -> unsafe.getIntVolatile(cell, wordAt) == 1);
        case "unsafe-fails":
            return handsOver(() -> unsafe.compareAndSwapInt(cell, wordAt, 0, 1),
                    () -> unsafe.compareAndSwapInt(cell, wordAt, 5, 1), () -> unsafe.getAndAddInt(cell, wordAt, 0) == 1);
        case "atomic-get":
            return handsOver(() -> atomic.lazySet(1), () -> atomic.get(), () -> atomic.get() == 1);
        case "atomic-fails":
            return handsOver(() -> atomic.compareAndSet(0, 1), () -> atomic.compareAndSet(5, 1), () -> atomic.get() == 1);
        case "atomic-element":
            return handsOver(() -> atomics.incrementAndGet(3), () -> atomics.incrementAndGet(4), () -> atomics.get(3) == 1);
        case "atomic-stamped":
            return handsOver(() -> stampedCell.set(cell, 1), () -> stampedCell.compareAndSet(other, cell, 0, 1),
                    () -> stampedCell.getStamp() == 1);
        case "map-get":
            return handsOver(() -> map.computeIfAbsent("cell", k -> cell), () -> map.get("other"),
                    () -> map.containsKey("cell"));
        case "skips":
            return handsOver(() -> skips.put("cell", cell), () -> skips.get("cell"), () -> skips.containsKey("cell"));
        case "linked":
            return handsOver(() -> linked.add(cell), () -> linked.peek(), () -> linked.poll() == cell);
        case "deque":
            return handsOver(() -> deque.addFirst(cell), () -> deque.peekLast(), () -> deque.pollLast() == cell);
        case "copied":
            return handsOver(() -> copied.add(cell), () -> copied.contains(cell), () -> !copied.isEmpty());
        case "meeting":
            return handsOver(() -> meeting.put(cell), () -> meeting.take() == cell);
        case "transfer":
            return handsOver(() -> transfers.add(cell), () -> transfers.peek(), () -> transfers.poll() == cell);
        case "exchanger":
            return handsOver(() -> exchanger.exchange(cell), () -> exchanger.exchange(other) == cell);
        case "phaser":
            return handsOver(() -> phaser.arrive(), () -> phaser.awaitAdvance(phaser.arrive()) == 1);
        case "timer":
            return first -> {
                final Timer timer = new Timer();
                if (first) {
                    touch();
                    timer.schedule(new TimerTask() {
                        @Override
                        public void run() {
                            touch();
                            latch.countDown();
                        }
                    }, 1);
                    if (!ordered)
                        touch();
                    latch.await();
                }
                timer.cancel();
            };
        case "task":
        case "async": // the pool has its threads already
            return first -> {
                if (!first)
                    return;
                final ForkJoinPool pool = new ForkJoinPool(1);
                pool.submit(() -> 0).get();
                touch();
                final Future<?> f = name.equals("task") ? pool.submit(Forms::touch) : CompletableFuture.runAsync(Forms::touch, pool);
                if (!ordered)
                    touch();
                while (!f.isDone()) // get() may run the task itself
                    Thread.sleep(1);
                f.get();
                touch();
                pool.shutdown();
            };
        case "monitor":
            return first -> {
                if (!ordered) {
                    touch();
                    return;
                }
                synchronized (monitor) {
                    touch();
                }
            };
        case "method":
            return first -> {
                if (ordered)
                    touchLocked();
                else
                    touch();
            };
        case "wait":
            return first -> {
                if (first) {
                    touch();
                    synchronized (monitor) {
                        ready = true;
                        monitor.notifyAll();
                    }
                    if (!ordered)
                        touch();
                    return;
                }
                synchronized (monitor) {
                    while (!ready)
                        monitor.wait();
                }
                touch();
            };
        case "volatile":
            return first -> {
                if (first) {
                    touch();
                    cell.flag = 1;
                    if (!ordered)
                        touch();
                    return;
                }
                while (cell.flag == 0)
                    Thread.sleep(1);
                touch();
            };
        case "lock":
            return first -> {
                if (ordered)
                    lock.lock();
                touch();
                if (ordered)
                    lock.unlock();
            };
        case "condition":
            return first -> {
                if (first) {
                    touch();
                    lock.lock();
                    ready = true;
                    changed.signalAll();
                    lock.unlock();
                    if (!ordered)
                        touch();
                    return;
                }
                lock.lock();
                while (!ready)
                    changed.await();
                lock.unlock();
                touch();
            };
        case "readwrite": // readers are not ordered
            return first -> {
                if (ordered)
                    readWrite.writeLock().lock();
                else
                    readWrite.readLock().lock();
                touch();
                if (ordered)
                    readWrite.writeLock().unlock();
                else
                    readWrite.readLock().unlock();
            };
        case "latch":
            return first -> {
                if (first) {
                    touch();
                    latch.countDown();
                    if (!ordered)
                        touch();
                    return;
                }
                latch.await();
                touch();
            };
        case "semaphore":
            return first -> {
                if (first) {
                    touch();
                    semaphore.release();
                    if (!ordered)
                        touch();
                    return;
                }
                semaphore.acquire();
                touch();
            };
        case "atomic":
            return first -> {
                if (first) {
                    touch();
                    atomic.set(1);
                    if (!ordered)
                        touch();
                    return;
                }
                while (atomic.get() == 0)
                    Thread.sleep(1);
                touch();
            };
        case "queue":
            return first -> {
                if (first) {
                    touch();
                    queue.put(cell);
                    if (!ordered)
                        touch();
                    return;
                }
                queue.take();
                touch();
            };
        case "map":
            return first -> {
                if (first) {
                    touch();
                    map.put("cell", cell);
                    if (!ordered)
                        touch();
                    return;
                }
                while (map.get("cell") == null)
                    Thread.sleep(1);
                touch();
            };
        case "table":
            return first -> {
                if (first) {
                    touch();
                    table.put("cell", cell);
                    if (!ordered)
                        touch();
                    return;
                }
                while (table.get("cell") == null)
                    Thread.sleep(1);
                touch();
            };
        case "handle":
            handle = MethodHandles.lookup().findStaticVarHandle(Forms.class, "through", int.class);
            return first -> {
                if (first) {
                    touch();
                    handle.setRelease(1);
                    if (!ordered)
                        touch();
                    return;
                }
                while ((int) handle.getAcquire() == 0)
                    Thread.sleep(1);
                touch();
            };
        case "class":
            return first -> {
                if (first) {
                    if (Lazy.made != 7)
                        throw new IllegalStateException();
                    if (!ordered)
                        touch();
                    return;
                }
                pause();
                if (Lazy.made == 7)
                    touch();
            };
        case "choice": // what the compiler keeps of a switch over an enum is written by a <clinit>
            return first -> {
                if (!first)
                    pause();
                switch (first ? Side.LEFT : Side.RIGHT) {
                case LEFT:
                    if (!ordered)
                        touch();
                    break;
                case RIGHT:
                    if (!ordered)
                        touch();
                    break;
                }
            };
        case "element":
            return first -> {
                cell.array[ordered && first ? 1 : 0]++;
            };
        case "arraycopy":
            return first -> {
                final long[] from = new long[4];
                System.arraycopy(from, 0, cell.array, ordered && first ? 4 : 0, 4);
            };
        case "range": // which is too large for one access
            return first -> {
                if (first)
                    System.arraycopy(new long[LARGE], 0, cell.large, 0, ordered ? LARGE - 1 : LARGE);
                else
                    cell.large[LARGE - 1]++;
            };
        case "stamped":
            return first -> {
                final long stamp = ordered ? stamped.writeLock() : 0;
                touch();
                if (ordered)
                    stamped.unlockWrite(stamp);
            };
        case "compute": // what the function does is published with its result
            return first -> {
                if (first) {
                    if (ordered)
                        map.compute("cell", (k, v) -> {
                            touch();
                            return cell;
                        });
                    else
                        map.put("cell", cell);
                    if (!ordered)
                        touch();
                    return;
                }
                while (map.get("cell") == null)
                    Thread.sleep(1);
                touch();
            };
        case "update":
            return first -> {
                if (first) {
                    final Cell c = reference.updateAndGet(was -> {
                        touch();
                        return cell;
                    });
                    if (!ordered)
                        touch();
                    return;
                }
                while (reference.get() == null)
                    Thread.sleep(1);
                touch();
            };
        case "set":
            return first -> {
                if (first) {
                    touch();
                    set.add("cell");
                    if (!ordered)
                        touch();
                    return;
                }
                while (!set.contains("cell"))
                    Thread.sleep(1);
                touch();
            };
        case "interrupt":
            return first -> {
                if (first) {
                    while (sleeper == null)
                        Thread.sleep(1);
                    touch();
                    sleeper.interrupt();
                    if (!ordered)
                        touch();
                    return;
                }
                sleeper = Thread.currentThread();
                try {
                    Thread.sleep(100000);
                } catch (InterruptedException e) {
                    touch();
                }
            };
        case "wait-interrupted": // the exception is made while the thread still waits
            return first -> {
                if (first) {
                    while (sleeper == null)
                        Thread.sleep(1);
                    pause();
                    touch();
                    sleeper.interrupt();
                    if (!ordered)
                        touch();
                    return;
                }
                synchronized (monitor) {
                    sleeper = Thread.currentThread();
                    try {
                        while (true)
                            monitor.wait();
                    } catch (InterruptedException e) {
                        touch();
                    }
                }
            };
        case "moved": // the race spans a collection that moves the cell; ordered: so does the order
            return first -> {
                if (first) {
                    touch();
                    if (ordered)
                        cell.flag = 1;
                    return;
                }
                pause();
                System.gc();
                if (ordered)
                    while (cell.flag == 0)
                        Thread.sleep(1);
                touch();
            };
        default:
            throw new IllegalArgumentException(name);
        }
    }

    static final String[] names = {"handle-object", "handle-element", "handle-opaque", "handle-acquire", "handle-fails",
        "handle-weak", "handle-plain", "handle-mixed", "updater", "updater-fails", "unsafe", "unsafe-fails", "atomic-get",
        "atomic-fails", "atomic-element", "atomic-stamped", "map-get", "skips", "linked", "deque", "copied", "meeting",
        "transfer", "exchanger", "phaser", "timer", "task", "async", "wait-interrupted",
        "monitor", "method", "wait", "volatile", "lock", "condition", "readwrite", "latch",
        "semaphore", "atomic", "queue", "map", "table", "handle", "class", "choice", "element", "arraycopy", "range", "stamped", "compute", "update", "set",
        "interrupt", "moved", "executor"};

    static void executor() throws Exception {
        final ExecutorService pool = Executors.newFixedThreadPool(2);
        touch();
        final var future = pool.submit(() -> {
            touch();
            ready = true;
            return 1;
        });
        if (ordered)
            future.get();
        else
            while (!ready) // a plain field; to end the pool before would order them
                Thread.sleep(1);
        touch();
        pool.shutdown();
    }

    public static void main(String[] args) throws Exception {
        if (args.length < 2) {
            for (String n : names)
                System.out.println(n);
            return;
        }
        ordered = args[1].equals("ordered");
        if (args[0].equals("executor")) {
            executor();
            return;
        }
        final Form f = form(args[0]);
        final Thread[] t = new Thread[2];
        for (int i = 0; i < 2; i++) {
            final boolean first = i == 0;
            t[i] = new Thread(() -> {
                try {
                    f.run(first);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, first ? "first" : "second");
        }
        for (Thread x : t)
            x.start();
        for (Thread x : t)
            x.join();
        touch();
        System.out.println(cell.data + " " + cell.array[0]);
    }
}
