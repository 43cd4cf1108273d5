import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Hashtable;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

    static Form form(String name) throws Exception {
        switch (name) {
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

    static final String[] names = {"monitor", "method", "wait", "volatile", "lock", "condition", "readwrite", "latch",
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
