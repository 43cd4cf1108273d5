package lardsim;

import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import jdk.internal.misc.Unsafe;

/** The place of the variable of a VarHandle. A handle whose variables are not known is one variable by itself. */
final class Variable {
    static final Unsafe U = Unsafe.getUnsafe();
    private static final int KEPT = 256;
    private static final Variable[] kept = new Variable[KEPT];

    private final VarHandle handle;
    private final Class<?> receiver; // null: of static fields
    private final Object base; // a static field's
    private final long offset; // a field's, or that of an array's first element; -1: unknown
    private final int shift; // log2 of an element's bytes; -1: it is a field
    final Class<?> type;
    final int bytes;

    private Variable(VarHandle h) {
        handle = h;
        type = h.varType();
        receiver = h.coordinateTypes().isEmpty() ? null : h.coordinateTypes().get(0);
        bytes = Agent.bytes(type.descriptorString());
        final long field = at(h, "fieldOffset"), first = at(h, "abase"), of = at(h, "base");
        base = of < 0 ? null : U.getReference(h, of);
        shift = first < 0 ? -1 : U.getInt(h, at(h, "ashift"));
        if (field >= 0)
            offset = U.getLong(h, field);
        else
            offset = first < 0 ? -1 : U.getInt(h, first);
    }

    /** Returns the offset of a handle's own field; -1: it has none of this name. */
    private static long at(VarHandle h, String field) {
        for (Class<?> c = h.getClass(); c != VarHandle.class; c = c.getSuperclass()) {
            try {
                return U.objectFieldOffset(c, field);
            } catch (InternalError e) {
                continue; // it may be the base class's
            }
        }
        return -1;
    }

    static Variable of(VarHandle h) {
        final int at = System.identityHashCode(h) & (KEPT - 1);
        Variable v = kept[at];
        if (v == null || v.handle != h) {
            Rt.quiet(1);
            try {
                kept[at] = v = new Variable(h);
            } finally {
                Rt.quiet(-1);
            }
        }
        return v;
    }

    /** Returns the object in which the variable lies. Null: there is no such variable, and the operation throws. */
    Object base(Object o, int index) {
        if (offset < 0)
            return handle;
        if (receiver == null)
            return base;
        return receiver.isInstance(o) && (shift < 0 || (index >= 0 && index < Array.getLength(o))) ? o : null;
    }

    long offset(int index) {
        return offset < 0 ? HEADER : shift < 0 ? offset : offset + ((long) index << shift);
    }

    private static final int HEADER = 8; // an object has a monitor at its begin, which is none of its variables

    boolean known() {
        return offset >= 0;
    }
}
