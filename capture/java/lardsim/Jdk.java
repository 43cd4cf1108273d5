package lardsim;

import java.util.Set;
import org.objectweb.asm.*;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * Classes of the JDK that order threads. Their accesses are not recorded, and what orders is. In most that is what they
 * do to volatile fields, through VarHandles and Unsafe, and their monitors, as in a program's class (Code). Locks tell
 * who has them. Some order through fields that are not seen, after fences: each of their public methods gives first and
 * takes last. That orders more than the class promises, so it can hide a race, and never makes one.
 */
final class Jdk {
    private Jdk() {}

    private static final String J = "java/util/concurrent/", OBJECT = "(Ljava/lang/Object;)V";
    private static final String READ_LOCK = J + "locks/ReentrantReadWriteLock$ReadLock";
    private static final String SYNC = J + "locks/ReentrantReadWriteLock$Sync";
    private static final String AQS = J + "locks/AbstractQueuedSynchronizer";
    private static final String LONG_AQS = J + "locks/AbstractQueuedLongSynchronizer";
    private static final String SEMAPHORE = J + "Semaphore", LATCH = J + "CountDownLatch";
    private static final String OWNED = J + "locks/AbstractOwnableSynchronizer";
    private static final String POOL = J + "ForkJoinPool", QUEUE = POOL + "$WorkQueue", TASK = J + "ForkJoinTask";
    private static final String RANDOM = J + "ThreadLocalRandom";

    /** Classes, with those inside them, that order threads by accesses that can be seen. */
    private static final Set<String> exact = Set.of(J + "atomic/AtomicInteger", J + "atomic/AtomicLong",
            J + "atomic/AtomicBoolean", J + "atomic/AtomicReference", J + "atomic/AtomicIntegerArray",
            J + "atomic/AtomicLongArray", J + "atomic/AtomicReferenceArray", J + "atomic/AtomicStampedReference",
            J + "atomic/AtomicMarkableReference", J + "atomic/AtomicIntegerFieldUpdater",
            J + "atomic/AtomicLongFieldUpdater", J + "atomic/AtomicReferenceFieldUpdater", J + "ConcurrentHashMap",
            J + "ConcurrentLinkedQueue", J + "ConcurrentLinkedDeque", J + "CopyOnWriteArrayList", J + "FutureTask",
            J + "LinkedTransferQueue", J + "SynchronousQueue", J + "Exchanger", J + "Phaser", J + "CountedCompleter",
            J + "SubmissionPublisher", J + "ThreadPoolExecutor",
            "java/util/Hashtable", "java/util/Vector", "java/util/Stack", "java/util/Properties",
            "java/util/Collections$SynchronizedMap", "java/util/Collections$SynchronizedSortedMap",
            "java/util/Collections$SynchronizedCollection", "java/util/Collections$SynchronizedSet",
            "java/util/Collections$SynchronizedList", "java/util/Collections$SynchronizedRandomAccessList",
            "java/util/Timer", "java/util/TimerThread", "java/util/TimerTask");

    /** Classes whose public methods give and take, as the accesses by which they order can't be seen. */
    private static final Set<String> whole = Set.of(J + "ConcurrentSkipListMap", J + "CompletableFuture", TASK,
            J + "locks/StampedLock");

    /** Classes that run functions of the program: each of their methods gives, as one of them tells the result. */
    private static final Set<String> runs = Set.of(J + "CompletableFuture", TASK);

    /** Methods that only look, of the classes in `whole`. */
    private static final Set<String> looks = Set.of("get", "getOrDefault", "containsKey", "containsValue", "size",
            "isEmpty", "firstKey", "lastKey", "firstEntry", "lastEntry", "lowerKey", "lowerEntry", "floorKey",
            "floorEntry", "ceilingKey", "ceilingEntry", "higherKey", "higherEntry", "join", "getNow", "isDone",
            "isCancelled", "isCompletedExceptionally", "isCompletedNormally", "isCompletedAbnormally", "getException",
            "waitingGet", "timedGet", "awaitDone");

    private static final String INTERRUPTED = "java/lang/InterruptedException", THREAD = "java/lang/Thread";
    private static final Set<String> others = Set.of(THREAD, INTERRUPTED, OWNED, AQS, LONG_AQS,
            SEMAPHORE, LATCH, READ_LOCK, POOL, QUEUE, RANDOM);
    /** Methods of those that give at their begin; that take when they return. */
    private static final Set<String> givers = Set.of(THREAD + ".interrupt", SEMAPHORE + ".release",
            POOL + ".awaitWork", POOL + ".deregisterWorker"); // a worker that finds no more work, or ends
    private static final Set<String> takers = Set.of(THREAD + ".isInterrupted", SEMAPHORE + ".acquire",
            SEMAPHORE + ".acquireUninterruptibly", SEMAPHORE + ".tryAcquire", SEMAPHORE + ".drainPermits",
            SEMAPHORE + ".availablePermits", LATCH + ".await", LATCH + ".getCount", POOL + ".awaitTermination",
            POOL + ".isTerminated", POOL + ".awaitQuiescence", POOL + ".isQuiescent");
    /** Types of functions: a method calls those that the program gives it. */
    private static final Set<String> functions = Set.of("Ljava/util/function/Function;",
            "Ljava/util/function/BiFunction;");

    private static String outermost(String name) {
        final int at = name.indexOf('$');
        return at < 0 ? name : name.substring(0, at);
    }

    static boolean isExact(String name) {
        return exact.contains(name) || exact.contains(outermost(name));
    }

    static boolean knows(String name) {
        return isExact(name) || whole.contains(name) || others.contains(name);
    }

    static Iterable<String> names() {
        final java.util.ArrayList<String> all = new java.util.ArrayList<>(others);
        all.addAll(whole);
        all.addAll(exact);
        return all;
    }

    static ClassVisitor visitor(ClassVisitor to, String name) {
        return new ClassVisitor(Opcodes.ASM9, to) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
                    String[] exceptions) {
                final MethodVisitor m = super.visitMethod(access, method, descriptor, signature, exceptions);
                final int none = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;
                if (m == null || (access & none) != 0)
                    return m;
                if (name.equals(RANDOM) && method.equals("localInit"))
                    return quiet(m, access, method, descriptor);
                if (name.equals(INTERRUPTED) ? method.equals("<init>") : method.equals("interrupted"))
                    return interrupt(m, access, method, descriptor);
                if ((access & Opcodes.ACC_STATIC) != 0 || method.equals("<init>"))
                    return m;
                return advice(name, m, access, method, descriptor);
            }
        };
    }

    /** Adds calls at the begin and the end of a method; "" is none. They take the object. */
    private static MethodVisitor advice(String name, MethodVisitor m, int access, String method, String descriptor) {
        final boolean open = (access & Opcodes.ACC_PUBLIC) != 0;
        if (givers.contains(name + '.' + method))
            return around(m, access, method, descriptor, "gives", "", OBJECT);
        if (takers.contains(name + '.' + method))
            return then(m, access, method, descriptor, "takes");
        if (name.equals(THREAD)) {
            if (method.equals("start") && descriptor.equals("()V"))
                return around(m, access, method, descriptor, "starts", "", "(Ljava/lang/Thread;)V");
            if (method.equals("join") && descriptor.equals("(J)V"))
                return then(m, access, method, descriptor, "joined");
            if (method.equals("getState"))
                return then(m, access, method, descriptor, "seen");
            if (method.equals("setName"))
                return around(m, access, method, descriptor, "", "renamed", "(Ljava/lang/Thread;)V");
        }
        if (name.equals(OWNED) && method.equals("setExclusiveOwnerThread"))
            return owner(m, access, method, descriptor);
        if (name.equals(AQS) || name.equals(LONG_AQS))
            return state(name, m, access, method, descriptor);
        if (name.equals(LATCH) && method.equals("countDown"))
            return countDown(m, access, method, descriptor);
        if (name.equals(READ_LOCK))
            return readLock(m, access, method, descriptor);
        if (name.equals(QUEUE) && (method.equals("push") || method.equals("lockedPush")))
            return pushed(m, access, method, descriptor);
        if (others.contains(name))
            return m;
        if (name.equals(TASK) && method.equals("awaitDone")) // also for others than its own methods
            return around(m, access, method, descriptor, "", "takes", OBJECT);
        if (looks.contains(method))
            return open ? around(m, access, method, descriptor, "", "takes", OBJECT) : m;
        if (runs.contains(name)) // their results come out of the middle of a method, through another one
            return around(m, access, method, descriptor, method.equals("doExec") ? "takesAndGives" : "gives",
                    open ? "takes" : "", OBJECT);
        return open ? around(m, access, method, descriptor, "gives", "takes", OBJECT) : m;
    }

    /** That this thread was interrupted is seen: by what a method returns, or as an exception is made. */
    private static MethodVisitor interrupt(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodExit(int opcode) {
                if (opcode == ATHROW)
                    return;
                if (opcode == IRETURN)
                    dup();
                else
                    push(true);
                super.visitMethodInsn(INVOKESTATIC, "java/lang/Thread", "currentThread", "()Ljava/lang/Thread;", false);
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "takesIf", "(ZLjava/lang/Object;)V", false);
            }
        };
    }

    /** A thread's first random number comes with a count of the JDK's own, by which it orders nothing. */
    private static MethodVisitor quiet(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            private void call(int more) {
                push(more);
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "quiet", "(I)V", false);
            }

            @Override
            protected void onMethodEnter() {
                call(1);
            }

            @Override
            protected void onMethodExit(int opcode) {
                call(-1);
            }
        };
    }

    private static MethodVisitor around(MethodVisitor m, int access, String method, String descriptor, String begin,
            String end, String type) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            private void call(String which) {
                if (which.isEmpty())
                    return;
                loadThis();
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "lardsim/Rt", which, type, false);
            }

            @Override
            protected void onMethodEnter() {
                call(begin);
                final Type[] arguments = Type.getArgumentTypes(descriptor);
                for (int i = 0; i < arguments.length; i++) {
                    final String f = arguments[i].getDescriptor();
                    if (!functions.contains(f) || !begin.equals("gives") || end.isEmpty())
                        continue;
                    loadThis();
                    loadArg(i);
                    super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "publishing", "(Ljava/lang/Object;" + f + ')' + f,
                            false);
                    storeArg(i);
                }
            }

            @Override
            protected void onMethodExit(int opcode) {
                call(end);
            }
        };
    }

    /**
     * Adds a call at a method's return. It takes the object, and the returned value if that says whether, or is a
     * thread's state.
     */
    private static MethodVisitor then(MethodVisitor m, int access, String method, String descriptor, String which) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodExit(int opcode) {
                final Type type = Type.getReturnType(descriptor);
                final boolean whether = type == Type.BOOLEAN_TYPE, with = whether || opcode == ARETURN;
                if (opcode == ATHROW)
                    return;
                if (with)
                    dup();
                loadThis();
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", whether ? which + "If" : which,
                        '(' + (with ? type.getDescriptor() : "") + "Ljava/lang/Object;)V", false);
            }
        };
    }

    /** A latch that is open already is given nothing. */
    private static MethodVisitor countDown(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodEnter() {
                loadThis();
                super.visitFieldInsn(GETFIELD, LATCH, "sync", "L" + LATCH + "$Sync;");
                super.visitMethodInsn(INVOKEVIRTUAL, LATCH + "$Sync", "getCount", "()I", false);
                loadThis();
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "givesIf", "(ILjava/lang/Object;)V", false);
            }
        };
    }

    /** The state of a program's own synchroniser is a volatile. A compare-and-set that would fail is not made. */
    private static MethodVisitor state(String name, MethodVisitor m, int access, String method, String descriptor) {
        final boolean get = method.equals("getState"), swap = method.equals("compareAndSetState");
        if (!get && !swap && !method.equals("setState"))
            return m;
        final Type type = name.equals(AQS) ? Type.INT_TYPE : Type.LONG_TYPE;
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodEnter() {
                if (get)
                    return;
                loadThis();
                if (!swap) {
                    super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "setsState", OBJECT, false);
                    return;
                }
                loadThis();
                super.visitFieldInsn(GETFIELD, name, "state", type.getDescriptor());
                cast(type, Type.LONG_TYPE);
                loadArg(0);
                cast(type, Type.LONG_TYPE);
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "stateMisses", "(Ljava/lang/Object;JJ)Z", false);
                final Label go = new Label();
                super.visitJumpInsn(IFEQ, go);
                super.visitInsn(ICONST_0);
                super.visitInsn(IRETURN);
                super.visitLabel(go);
                final Object value = type == Type.INT_TYPE ? INTEGER : LONG;
                super.visitFrame(F_NEW, 3, new Object[] {name, value, value}, 0, new Object[0]);
                super.visitInsn(NOP); // another frame may follow
            }

            @Override
            protected void onMethodExit(int opcode) {
                if (opcode == ATHROW || !(get || swap))
                    return;
                loadThis();
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "getsState", OBJECT, false);
            }
        };
    }

    /** A task that is given to a pool comes after what its giver did. */
    private static MethodVisitor pushed(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodEnter() {
                loadArg(0);
                super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", "gives", OBJECT, false);
            }
        };
    }

    /** Called with the thread when it has got the lock, with null before it gives it up. */
    private static MethodVisitor owner(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            @Override
            protected void onMethodEnter() {
                loadThis();
                loadThis();
                super.visitFieldInsn(Opcodes.GETFIELD, OWNED, "exclusiveOwnerThread", "Ljava/lang/Thread;");
                loadArg(0);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "lardsim/Rt", "owner",
                        "(Ljava/lang/Object;Ljava/lang/Thread;Ljava/lang/Thread;)V", false);
            }
        };
    }

    /** The lock is its `sync`, which is the writers' lock, too. */
    private static MethodVisitor readLock(MethodVisitor m, int access, String method, String descriptor) {
        return new AdviceAdapter(Opcodes.ASM9, m, access, method, descriptor) {
            private void loadSync() {
                loadThis();
                super.visitFieldInsn(Opcodes.GETFIELD, READ_LOCK, "sync", "L" + SYNC + ";");
            }

            @Override
            protected void onMethodEnter() {
                if (!method.equals("unlock"))
                    return;
                loadSync();
                super.visitMethodInsn(INVOKEVIRTUAL, SYNC, "getReadHoldCount", "()I", false);
                loadSync();
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "lardsim/Rt", "readDoneIf", "(ILjava/lang/Object;)V", false);
            }

            @Override
            protected void onMethodExit(int opcode) {
                if (opcode == ATHROW)
                    return;
                if (method.equals("tryLock")) {
                    dup();
                    loadSync();
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, "lardsim/Rt", "readsIf", "(ZLjava/lang/Object;)V",
                            false);
                } else if (method.startsWith("lock")) {
                    loadSync();
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, "lardsim/Rt", "reads", OBJECT, false);
                }
            }
        };
    }
}
