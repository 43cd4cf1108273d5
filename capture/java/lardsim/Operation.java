package lardsim;

import org.objectweb.asm.Type;

/** An operation of VarHandle or Unsafe on one variable, which its first arguments name, and the order that it makes. */
final class Operation {
    /** Bits of a mode. READS and WRITES: the operation is an access, and an atomic one if it is not PLAIN. */
    static final int TAKES = 1, GIVES = 2, READS = 4, WRITES = 8, PLAIN = 16;

    private static final String UNSAFE = "(Ljava/lang/Object;J";

    final boolean handle; // a method of VarHandle; else of Unsafe
    final int mode;
    final int bytes; // those that Unsafe accesses; a handle knows its own
    final Type[] arguments;
    final int values; // how many of the last arguments are values
    final boolean compares; // returns whether it wrote

    private Operation(boolean handle, String name, int mode, String type) {
        this.handle = handle;
        this.mode = mode;
        arguments = Type.getArgumentTypes(type);
        values = name.contains("ompareAnd") ? 2 : (mode & WRITES) != 0 ? 1 : 0;
        compares = values == 2 && type.endsWith(")Z") && !name.contains("Exchange");
        bytes = handle ? 0 : bytes(arguments.length > 2 ? arguments[2] : Type.getReturnType(type));
    }

    /** Returns null if the method is no operation on a variable. */
    static Operation of(String owner, String name, String type) {
        final boolean handle = owner.equals("java/lang/invoke/VarHandle");
        if (!handle && !(owner.endsWith("/misc/Unsafe") && type.startsWith(UNSAFE)))
            return null;
        final int mode = mode(name);
        if (mode == 0 || (!handle && (mode & PLAIN) != 0))
            return null;
        final Operation o = new Operation(handle, name, mode, type);
        return handle && o.arguments.length < o.values ? null : o;
    }

    private static int order(String name, int whole) {
        return name.endsWith("Plain") || name.endsWith("Opaque") ? 0
                : name.endsWith("Acquire") ? TAKES : name.endsWith("Release") ? GIVES : whole;
    }

    private static int mode(String name) {
        if (name.startsWith("compareAnd") || name.startsWith("weakCompareAnd") || name.startsWith("getAnd"))
            return READS | WRITES | order(name, TAKES | GIVES);
        if (name.startsWith("putOrdered"))
            return WRITES | GIVES;
        final boolean reads = name.startsWith("get"), ordered = name.endsWith("Volatile") || name.endsWith("Opaque")
                || name.endsWith("Acquire") || name.endsWith("Release");
        if (!ordered)
            return name.equals("get") ? READS | PLAIN : name.equals("set") ? WRITES | PLAIN : 0;
        if (reads)
            return READS | order(name, TAKES);
        return name.startsWith("set") || name.startsWith("put") ? WRITES | order(name, GIVES) : 0;
    }

    private static int bytes(Type t) {
        return Agent.bytes(t.getDescriptor());
    }

    /** Counts the arguments that name the variable: a handle's object, and an element's index. */
    int coordinates() {
        return arguments.length - values;
    }

    /**
     * Returns the type of the expected value, the last argument but one. Null: a failure can't be foreseen by it, as it
     * is neither an integer nor an object.
     */
    Type expected() {
        final Type t = arguments[arguments.length - 2];
        return t.getSort() == Type.FLOAT || t.getSort() == Type.DOUBLE ? null
                : handle || t.getSort() == Type.INT || t.getSort() == Type.LONG || t.getSort() >= Type.ARRAY ? t : null;
    }
}
