package lardsim;

import java.lang.invoke.VarHandle;
import java.util.function.*;

/**
 * Called by instrumented code. The class is on the boot class path, so that classes of the JDK may call it; its natives
 * are the agent's (agent.c). A site is a number that the transformer gave out.
 */
public final class Rt {
    private Rt() {}

    /** Codes of trace/event.def, which never change. */
    public static final int READ = 1, WRITE = 2, UPDATE = 3, ACQUIRE = 4, RELEASE = 5, ACQUIRE_SHARED = 6, RELEASE_SHARED = 7,
            WAIT_ENTER = 10, WAIT_EXIT = 11, VOLATILE_READ = 13, VOLATILE_WRITE = 14;

    public static native void field(Object o, int site, int work);
    public static native void element(Object array, int index, int site, int work);
    public static native void global(int site, int work);
    public static native void work(int bytecodes);
    public static native void making(int site);
    public static native void entered();
    public static native void left();
    static native void range(Object array, long from, long bytes, boolean write, int site);
    public static native void sync(Object o, int kind, int site);
    private static native void at(Object o, long offset, int kind, int bytes, boolean atomic, int site);
    public static native void initialised(Class<?> c, int number, int site);
    static native void fork(long id, int site);
    static native void join(long id, int site);

    static native void link();
    static native void sizes(int reference, int beforeElements);
    static native String method();
    static native void makes(int site, String descriptor);
    static native void named(long thread, String name);
    static native void instruments(int more);
    public static native void quiet(int more);
    static native boolean site(int id, long offset, int bytes, int kind, int classNumber, boolean isFinal);
    static native void base(int id, Object mirror);
    static native void names(String lines);
    static native void begin();

    /** Resolves a field's site when it is first executed: set by the agent. */
    static java.util.function.IntConsumer resolver;

    static void resolve(int site) {
        resolver.accept(site);
    }

    // ---- monitors

    public static void await(Object o, int site) throws InterruptedException {
        await(o, 0, 0, site);
    }

    public static void await(Object o, long ms, int site) throws InterruptedException {
        await(o, ms, 0, site);
    }

    /**
     * Takes the place of o.wait(ms, ns). The monitor is held again also when it throws. The JVM tells that the thread
     * was interrupted while it waits; that comes after the wait's end.
     */
    public static void await(Object o, long ms, int ns, int site) throws InterruptedException {
        if (!Thread.holdsLock(o)) {
            o.wait(ms, ns); // throws
            return;
        }
        boolean interrupted = false;
        sync(o, WAIT_ENTER, site);
        try {
            if (ns == 0)
                o.wait(ms);
            else
                o.wait(ms, ns);
        } catch (InterruptedException e) {
            interrupted = true;
            throw e;
        } finally {
            sync(o, WAIT_EXIT, site);
            takesIf(interrupted, Thread.currentThread());
        }
    }

    // ---- threads: calls inside java.lang.Thread

    private static final long ID = Variable.U.objectFieldOffset(Thread.class, "tid");
    private static final long STATUS = Variable.U.objectFieldOffset(Thread.class, "threadStatus");
    private static final int ENDED = 2; // JVMTI_THREAD_STATE_TERMINATED

    /** Reads the number from the object itself, as a program may override getId() and getState(). */
    private static long id(Object thread) {
        return Variable.U.getLong(thread, ID);
    }

    public static void starts(Thread t) {
        fork(id(t), 0);
    }

    /**
     * Records a join if the thread has ended: one that has not started is not alive, too. A thread whose end is not
     * recorded has not ended.
     */
    public static void joined(Object t) {
        if ((Variable.U.getIntVolatile(t, STATUS) & ENDED) != 0)
            join(id(t), 0);
    }

    public static void seen(Thread.State s, Object t) {
        if (s == Thread.State.TERMINATED)
            joined(t);
    }

    /** Takes the answer of isAlive(), of any object that has it. */
    public static boolean alive(Object o, boolean is) {
        if (!is && o instanceof Thread)
            joined(o);
        return is;
    }

    public static void renamed(Thread t) {
        named(id(t), t.getName());
    }

    // ---- operations on a variable (Operation), by object and offset, or by a handle and its first arguments

    /** Records before the operation that it gives, and that it writes. */
    public static void before(Object o, long offset, int mode, int bytes, int site) {
        if ((mode & Operation.GIVES) != 0)
            at(o, offset, VOLATILE_WRITE, 0, false, site);
        if ((mode & Operation.WRITES) != 0)
            at(o, offset, (mode & Operation.READS) != 0 ? UPDATE : WRITE, bytes, (mode & Operation.PLAIN) == 0, site);
    }

    /** Records after the operation that it takes, and that it has only read. */
    public static void after(Object o, long offset, int mode, int bytes, int site) {
        if ((mode & Operation.TAKES) != 0)
            at(o, offset, VOLATILE_READ, 0, false, site);
        if ((mode & (Operation.READS | Operation.WRITES)) == Operation.READS)
            at(o, offset, READ, bytes, (mode & Operation.PLAIN) == 0, site);
    }

    /** Takes accesses out of the mode if the variable's place is not known. */
    private static int mode(Variable v, int mode) {
        return v.known() ? mode : mode & (Operation.TAKES | Operation.GIVES);
    }

    /** Returns an element's index that comes as an object. -1: there is no such element, and the operation throws. */
    public static int index(Object o) {
        return o instanceof Integer || o instanceof Short || o instanceof Byte ? ((Number) o).intValue()
                : o instanceof Character ? (Character) o : -1;
    }

    public static void before(VarHandle h, Object o, int index, int mode, int site) {
        final Variable v = h == null ? null : Variable.of(h);
        final Object base = v == null ? null : v.base(o, index);
        if (base != null)
            before(base, v.offset(index), mode(v, mode), v.bytes, site);
    }

    public static void after(VarHandle h, Object o, int index, int mode, int site) {
        final Variable v = Variable.of(h);
        final Object base = v.base(o, index);
        if (base != null)
            after(base, v.offset(index), mode(v, mode), v.bytes, site);
    }

    /**
     * Says whether a compare-and-set fails, as the present value is not the expected one. Then it is not done: it has
     * failed here, and has only read. One that fails later has given, too.
     */
    public static boolean misses(Object o, long offset, int expected) {
        return o != null && Variable.U.getIntVolatile(o, offset) != expected;
    }

    public static boolean misses(Object o, long offset, long expected) {
        return o != null && Variable.U.getLongVolatile(o, offset) != expected;
    }

    public static boolean misses(Object o, long offset, Object expected) {
        return o != null && Variable.U.getReferenceVolatile(o, offset) != expected;
    }

    public static boolean misses(VarHandle h, Object o, int index, Object expected) {
        final Variable v = h == null ? null : Variable.of(h);
        final Object base = v == null || !v.known() || v.type.isPrimitive() ? null : v.base(o, index);
        return base != null && misses(base, v.offset(index), expected);
    }

    public static boolean misses(VarHandle h, Object o, int index, long expected) {
        final Variable v = h == null ? null : Variable.of(h);
        final Object base = v == null || !v.known() ? null : v.base(o, index);
        if (base == null)
            return false;
        return v.type == int.class ? misses(base, v.offset(index), (int) expected)
                : v.type == long.class && misses(base, v.offset(index), expected);
    }

    // ---- calls inside java.util.concurrent

    /** Wraps a function that the program gives to a map or an atomic: its effects are published with its result. */
    public static Function<Object, Object> publishing(Object by, Function<Object, Object> f) {
        return f == null ? null : new Function<Object, Object>() {
            @Override
            public Object apply(Object a) {
                takes(by);
                final Object got = f.apply(a);
                gives(by);
                return got;
            }
        };
    }

    public static BiFunction<Object, Object, Object> publishing(Object by, BiFunction<Object, Object, Object> f) {
        return f == null ? null : new BiFunction<Object, Object, Object>() {
            @Override
            public Object apply(Object a, Object b) {
                takes(by);
                final Object got = f.apply(a, b);
                gives(by);
                return got;
            }
        };
    }

    /**
     * Records that a lock has a new owner. Nobody may have had it before, as with a pool's worker, whose lock begins
     * so. A program's own lock may change hands.
     */
    public static void owner(Object lock, Thread was, Thread now) {
        if ((now != null || was != null) && !isOfProgram(lock))
            sync(lock, now != null ? ACQUIRE : RELEASE, 0);
    }

    public static void gives(Object o) {
        sync(o, VOLATILE_WRITE, 0);
    }

    public static void takes(Object o) {
        sync(o, VOLATILE_READ, 0);
    }

    /** Begins a task that another thread has made. */
    public static void takesAndGives(Object o) {
        takes(o);
        gives(o);
    }

    public static void takesIf(boolean got, Object o) {
        if (got)
            takes(o);
    }

    public static void givesIf(int left, Object o) {
        if (left > 0)
            gives(o);
    }

    /** False for the JDK's own synchronisers, which are recorded as locks and the like. */
    private static boolean isOfProgram(Object synchroniser) {
        return synchroniser.getClass().getClassLoader() != null;
    }

    public static void getsState(Object synchroniser) {
        if (isOfProgram(synchroniser))
            takes(synchroniser);
    }

    public static void setsState(Object synchroniser) {
        if (isOfProgram(synchroniser))
            gives(synchroniser);
    }

    /** Says whether a compare-and-set of the synchroniser's state fails, as misses() does. */
    public static boolean stateMisses(Object synchroniser, long is, long expected) {
        if (!isOfProgram(synchroniser))
            return false;
        if (is == expected)
            gives(synchroniser);
        return is != expected;
    }

    public static void reads(Object sync) {
        sync(sync, ACQUIRE_SHARED, 0);
    }

    public static void readsIf(boolean got, Object sync) {
        if (got)
            reads(sync);
    }

    /** Records the release of a reader's lock; without one the unlock throws. */
    public static void readDoneIf(int holds, Object sync) {
        if (holds > 0)
            sync(sync, RELEASE_SHARED, 0);
    }

    // ---- bulk accesses

    private static int bytes(Object array) {
        if (array instanceof byte[] || array instanceof boolean[])
            return 1;
        if (array instanceof char[] || array instanceof short[])
            return 2;
        if (array instanceof long[] || array instanceof double[])
            return 8;
        return array instanceof Object[] ? reference : 4;
    }

    static int reference = 4;

    public static void arraycopy(Object from, int at, Object to, int toAt, int n, int site) {
        System.arraycopy(from, at, to, toAt, n); // throws where nothing is copied
        final int bytes = bytes(from);
        range(from, (long) at * bytes, (long) n * bytes, false, site);
        range(to, (long) toAt * bytes, (long) n * bytes, true, site);
    }

    /** Records that all of an array was read, as it was cloned. */
    public static Object cloned(Object was, Object now, int site) {
        final int bytes = bytes(was);
        range(was, 0, (long) java.lang.reflect.Array.getLength(was) * bytes, false, site);
        return now;
    }
}
