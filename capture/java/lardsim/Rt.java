package lardsim;

import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * What instrumented code calls. It is on the boot class path, so that classes of the JDK may call it; its natives are
 * the agent's (agent.c). A site is a number that the transformer gave out.
 */
public final class Rt {
    private Rt() {}

    /** Codes of trace/event.def, which never change. */
    public static final int READ = 1, WRITE = 2, ACQUIRE = 4, RELEASE = 5, ACQUIRE_SHARED = 6, RELEASE_SHARED = 7,
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
    public static native void handle(boolean gives, int site);
    public static native void initialised(Class<?> c, int number, int site);
    static native void fork(long id, int site);
    static native void join(long id, int site);

    static native void link();
    static native void sizes(int reference, int beforeElements);
    static native String method();
    static native void makes(int site, String descriptor);
    static native void named(long thread, String name);
    static native void quiet(int more);
    static native void site(int id, long offset, int bytes, int kind, int classNumber, boolean isFinal);
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

    /** In place of o.wait(ms, ns): also when it throws, the monitor is held again. */
    public static void await(Object o, long ms, int ns, int site) throws InterruptedException {
        if (!Thread.holdsLock(o)) {
            o.wait(ms, ns); // throws
            return;
        }
        sync(o, WAIT_ENTER, site);
        try {
            if (ns == 0)
                o.wait(ms);
            else
                o.wait(ms, ns);
        } finally {
            sync(o, WAIT_EXIT, site);
        }
    }

    // ---- threads: calls inside java.lang.Thread

    public static void starts(Thread t) {
        fork(t.getId(), 0);
    }

    public static void joined(Thread t) {
        if (!t.isAlive())
            join(t.getId(), 0);
    }

    public static void renamed(Thread t) {
        named(t.getId(), t.getName());
    }

    /** Whoever sees an interrupt comes after it. */
    public static void interruptedIf(boolean was, Thread t) {
        if (was)
            takes(t);
    }

    // ---- calls inside java.util.concurrent

    /** Functions that the program gives to a map or an atomic: what they do is published with what they return. */
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

    public static UnaryOperator<Object> publishing(Object by, UnaryOperator<Object> f) {
        final Function<Object, Object> one = publishing(by, (Function<Object, Object>) f);
        return f == null ? null : new UnaryOperator<Object>() {
            @Override
            public Object apply(Object a) {
                return one.apply(a);
            }
        };
    }

    public static BinaryOperator<Object> publishing(Object by, BinaryOperator<Object> f) {
        final BiFunction<Object, Object, Object> two = publishing(by, (BiFunction<Object, Object, Object>) f);
        return f == null ? null : new BinaryOperator<Object>() {
            @Override
            public Object apply(Object a, Object b) {
                return two.apply(a, b);
            }
        };
    }

    /** A lock that nobody has may be given up, too: a pool's worker begins so. */
    public static void owner(Object lock, Thread was, Thread now) {
        if (now != null || was != null)
            sync(lock, now != null ? ACQUIRE : RELEASE, 0);
    }

    public static void gives(Object o) {
        sync(o, VOLATILE_WRITE, 0);
    }

    public static void takes(Object o) {
        sync(o, VOLATILE_READ, 0);
    }

    /** A task that another thread has made begins. */
    public static void takesAndGives(Object o) {
        takes(o);
        gives(o);
    }

    /** Shared modes of a synchroniser; what readers' locks do is told by their own methods. */
    public static void givesShared(Object o) {
        if (!o.getClass().getName().startsWith("java.util.concurrent.locks.ReentrantReadWriteLock"))
            gives(o);
    }

    public static void takesShared(Object o) {
        if (!o.getClass().getName().startsWith("java.util.concurrent.locks.ReentrantReadWriteLock"))
            takes(o);
    }

    public static void reads(Object sync) {
        sync(sync, ACQUIRE_SHARED, 0);
    }

    public static void readsIf(boolean got, Object sync) {
        if (got)
            reads(sync);
    }

    public static void readDone(Object sync) {
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

    /** Of an array that was cloned: all of it was read. */
    public static Object cloned(Object was, Object now, int site) {
        final int bytes = bytes(was);
        range(was, 0, (long) java.lang.reflect.Array.getLength(was) * bytes, false, site);
        return now;
    }
}
