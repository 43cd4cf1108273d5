package lardsim;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AnalyzerAdapter;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Instruments a class of the program: calls of Rt beside what it does. A read is told after it was made, a write
 * before, so that a volatile is told on the right side. No branch is added, so frames stay as they are.
 */
final class Code extends ClassVisitor implements Opcodes {
    private final String name;
    private final ClassLoader loader;
    private int version;

    Code(ClassVisitor to, String name, ClassLoader loader) {
        super(ASM9, to);
        this.name = name;
        this.loader = loader;
    }

    @Override
    public void visit(int v, int access, String n, String signature, String base, String[] interfaces) {
        version = v & 0xffff;
        super.visit(v, access, n, signature, base, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
            String[] exceptions) {
        final MethodVisitor to = super.visitMethod(access, method, descriptor, signature, exceptions);
        if (to == null || (access & (ACC_ABSTRACT | ACC_NATIVE)) != 0)
            return to;
        return new MethodNode(ASM9, access, method, descriptor, signature, exceptions) {
            @Override
            public void visitEnd() {
                final int work = Work.count(this, version);
                allocations(this);
                final Body body = new Body(to, access, method, work);
                body.types = new AnalyzerAdapter(ASM9, Code.this.name, access, method, descriptor, body) {};
                accept(body.types);
            }
        };
    }

    private static String allocated(AbstractInsnNode i) {
        switch (i.getOpcode()) {
        case NEW: return Type.getObjectType(((TypeInsnNode) i).desc).getDescriptor();
        case ANEWARRAY: return '[' + Type.getObjectType(((TypeInsnNode) i).desc).getDescriptor();
        case NEWARRAY: return "[" + "ZCFDBSIJ".charAt(((IntInsnNode) i).operand - T_BOOLEAN);
        case MULTIANEWARRAY: return ((MultiANewArrayInsnNode) i).desc;
        default: return null;
        }
    }

    /**
     * Before an allocation its site is told. Frames know an object that has no constructor behind it yet by the label
     * of its NEW: that gets one of its own, behind what is told.
     */
    private void allocations(MethodNode m) {
        final Map<Object, Object> moved = new HashMap<>();
        AbstractInsnNode label = null;
        int line = 0;
        for (AbstractInsnNode i : m.instructions.toArray()) {
            final String type = allocated(i);
            if (i instanceof LineNumberNode)
                line = ((LineNumberNode) i).line;
            if (i instanceof LabelNode)
                label = i;
            if (type != null) {
                m.instructions.insertBefore(i, new LdcInsnNode(Agent.makes(name + '.' + m.name, line, type)));
                m.instructions.insertBefore(i, new MethodInsnNode(INVOKESTATIC, "lardsim/Rt", "making", "(I)V", false));
            }
            if (i.getOpcode() == NEW) {
                final LabelNode own = new LabelNode();
                m.instructions.insertBefore(i, own);
                if (label != null)
                    moved.put(label, own);
            }
            if (i.getOpcode() >= 0)
                label = null;
        }
        for (AbstractInsnNode i : m.instructions) {
            if (!(i instanceof FrameNode))
                continue;
            ((FrameNode) i).local.replaceAll(o -> moved.getOrDefault(o, o));
            ((FrameNode) i).stack.replaceAll(o -> moved.getOrDefault(o, o));
        }
    }

    /** Bytes of what an instruction loads from an array or stores there; 0: it does neither. */
    static int elementBytes(int op) {
        switch (op) {
        case BALOAD: case BASTORE: return 1;
        case CALOAD: case SALOAD: case CASTORE: case SASTORE: return 2;
        case IALOAD: case FALOAD: case IASTORE: case FASTORE: return 4;
        case LALOAD: case DALOAD: case LASTORE: case DASTORE: return 8;
        case AALOAD: case AASTORE: return Rt.reference;
        default: return 0;
        }
    }

    /** Whether an access to such a field is. What a compiler made for itself is not, but for the arrays of
        switches: their elements are accesses, and the static's first use orders those. */
    static boolean recorded(int op, String owner, String field, int version) {
        return !field.startsWith("$assertionsDisabled") && !owner.startsWith("[")
                && (version >= V1_5 || op == GETFIELD || op == PUTFIELD);
    }

    private final class Body extends MethodVisitor {
        private final String method;
        private final boolean global, locked, window;
        private final int work; // the local variable of class Work
        private final Label begin = new Label(), end = new Label();
        private AnalyzerAdapter types; // knows the stack before each instruction
        private int line;

        Body(MethodVisitor to, int access, String method, int work) {
            super(ASM9, to);
            this.method = method;
            this.work = work;
            window = (name.replace('/', '.') + '.' + method).equals(Agent.window);
            global = (access & ACC_STATIC) != 0;
            locked = (access & ACC_SYNCHRONIZED) != 0 && (!global || version >= V1_5);
        }

        private void rt(String which, String type) {
            super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", which, type, false);
        }

        /** An access: its last argument is the work before it. */
        private void access(String which, String type) {
            super.visitVarInsn(ILOAD, work);
            rt(which, type);
            super.visitInsn(ICONST_0);
            super.visitVarInsn(ISTORE, work);
        }

        private void push(int n) {
            if (n >= Short.MIN_VALUE && n <= Short.MAX_VALUE)
                super.visitIntInsn(SIPUSH, n);
            else
                super.visitLdcInsn(n);
        }

        private int site() {
            return Agent.site(name + '.' + method, line, 0, 0);
        }

        /** Of the object on the stack, which is taken. */
        private void sync(int kind, int site) {
            push(kind);
            push(site);
            rt("sync", "(Ljava/lang/Object;II)V");
        }

        private void pushLock() {
            if (global)
                super.visitLdcInsn(Type.getObjectType(name));
            else
                super.visitVarInsn(ALOAD, 0);
        }

        @Override
        public void visitLineNumber(int at, Label label) {
            line = at;
            super.visitLineNumber(at, label);
        }

        // ---- synchronized methods, the one that opens the window, and the end of a class's initialisation

        @Override
        public void visitCode() {
            super.visitCode();
            if (window)
                rt("entered", "()V");
            if (locked) {
                pushLock();
                sync(Rt.ACQUIRE, site());
            }
            super.visitLabel(begin);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            if (locked || window) {
                final Label handler = new Label();
                super.visitLabel(end);
                super.visitTryCatchBlock(begin, end, handler, null);
                super.visitLabel(handler);
                super.visitFrame(F_NEW, global ? 0 : 1, global ? new Object[0] : new Object[] {name}, 1,
                        new Object[] {"java/lang/Throwable"});
                goes();
                super.visitInsn(ATHROW);
            }
            super.visitMaxs(stack, locals);
        }

        private void goes() {
            if (locked) {
                pushLock();
                sync(Rt.RELEASE, site());
            }
            if (window)
                rt("left", "()V");
        }

        private void leaves() {
            goes();
            if (method.equals("<clinit>") && version >= V1_5) {
                super.visitLdcInsn(Type.getObjectType(name));
                push(Agent.classNumber(name, loader));
                push(site());
                rt("initialised", "(Ljava/lang/Class;II)V");
            }
        }

        // ---- arrays and monitors

        private void element(int op, int bytes) {
            final boolean store = op >= IASTORE;
            if (!store) {
                super.visitInsn(DUP2);
            } else if (op == LASTORE || op == DASTORE) { // array index value2: the two below it
                super.visitInsn(DUP2_X2);
                super.visitInsn(POP2);
                super.visitInsn(DUP2_X2);
            } else {
                super.visitInsn(DUP_X2);
                super.visitInsn(POP);
                super.visitInsn(DUP2_X1);
            }
            push(Agent.site(name + '.' + method, line, store ? Rt.WRITE : Rt.READ, bytes));
            access("element", "(Ljava/lang/Object;III)V");
        }

        @Override
        public void visitInsn(int op) {
            final int bytes = elementBytes(op);
            if (op >= IRETURN && op <= RETURN) {
                leaves();
            } else if (op == MONITORENTER) {
                super.visitInsn(DUP);
                super.visitInsn(op);
                sync(Rt.ACQUIRE, site());
                return;
            } else if (op == MONITOREXIT) {
                super.visitInsn(DUP);
                sync(Rt.RELEASE, site());
            } else if (bytes > 0) {
                element(op, bytes);
            }
            super.visitInsn(op);
        }

        // ---- fields

        /** In a constructor, before the base class's was called, `this` can't be given to a method. */
        private boolean unborn(boolean write, boolean two) {
            if (!method.equals("<init>"))
                return false;
            if (types.stack == null)
                return true;
            final int at = types.stack.size() - 1 - (write ? two ? 2 : 1 : 0);
            return at < 0 || types.stack.get(at) == UNINITIALIZED_THIS;
        }

        @Override
        public void visitFieldInsn(int op, String owner, String field, String type) {
            final boolean write = op == PUTFIELD || op == PUTSTATIC, of = op == GETSTATIC || op == PUTSTATIC;
            final boolean two = type.equals("J") || type.equals("D");
            if (!recorded(op, owner, field, version)) {
                super.visitFieldInsn(op, owner, field, type);
                return;
            }
            if (!of && unborn(write, two)) {
                access("work", "(I)V");
                super.visitFieldInsn(op, owner, field, type);
                return;
            }
            final int site = Agent.fieldSite(name + '.' + method, line, owner, field, type, of, loader, write);
            if (of) {
                if (!write)
                    super.visitFieldInsn(op, owner, field, type);
                push(site);
                access("global", "(II)V");
                if (write)
                    super.visitFieldInsn(op, owner, field, type);
                return;
            }
            if (!write) { // object -> value object
                super.visitInsn(DUP);
                super.visitFieldInsn(op, owner, field, type);
                if (two) {
                    super.visitInsn(DUP2_X1);
                    super.visitInsn(POP2);
                } else {
                    super.visitInsn(SWAP);
                }
            } else if (two) { // object value2 -> object value2 object
                super.visitInsn(DUP2_X1);
                super.visitInsn(POP2);
                super.visitInsn(DUP_X2);
            } else {
                super.visitInsn(DUP2);
                super.visitInsn(POP);
            }
            push(site);
            access("field", "(Ljava/lang/Object;II)V");
            if (write)
                super.visitFieldInsn(op, owner, field, type);
        }

        // ---- calls

        private boolean throughHandle(String owner, String called) {
            if (owner.equals("java/lang/invoke/VarHandle")
                    || (owner.startsWith("java/util/concurrent/atomic/Atomic") && owner.endsWith("FieldUpdater")))
                return !called.equals("newUpdater");
            return owner.equals("sun/misc/Unsafe") && (called.startsWith("compareAnd") || called.startsWith("getAnd")
                    || called.endsWith("Volatile") || called.startsWith("putOrdered"));
        }

        @Override
        public void visitMethodInsn(int op, String owner, String called, String type, boolean itf) {
            if (op == INVOKEVIRTUAL && called.equals("wait") && type.startsWith("(") && type.endsWith(")V")
                    && (type.equals("()V") || type.equals("(J)V") || type.equals("(JI)V"))) {
                push(site());
                rt("await", "(Ljava/lang/Object;" + type.substring(1, type.length() - 2) + "I)V");
            } else if (op == INVOKESTATIC && owner.equals("java/lang/System") && called.equals("arraycopy")) {
                push(site());
                rt("arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;III)V");
            } else if (op == INVOKEVIRTUAL && owner.startsWith("[") && called.equals("clone")) {
                super.visitInsn(DUP);
                super.visitMethodInsn(op, owner, called, type, itf);
                push(site());
                rt("cloned", "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/Object;");
            } else if (throughHandle(owner, called)) {
                final int site = site();
                push(1);
                push(site);
                rt("handle", "(ZI)V");
                super.visitMethodInsn(op, owner, called, type, itf);
                push(0);
                push(site);
                rt("handle", "(ZI)V");
            } else {
                super.visitMethodInsn(op, owner, called, type, itf);
            }
        }
    }
}
