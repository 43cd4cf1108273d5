package lardsim;

import java.util.*;
import org.objectweb.asm.*;
import org.objectweb.asm.commons.AnalyzerAdapter;
import org.objectweb.asm.tree.*;

/**
 * Instruments a class of the program: calls of Rt beside what it does. A read is told after it was made, a write
 * before, so that a volatile is told on the right side. No branch is added, so frames stay as they are.
 */
final class Code extends ClassVisitor implements Opcodes {
    private final String name;
    private final ClassLoader loader;
    private final boolean jdk; // a class of the JDK: only its order is told, no accesses and no allocations
    private int version;

    Code(ClassVisitor to, String name, ClassLoader loader, boolean jdk) {
        super(ASM9, to);
        this.name = name;
        this.loader = loader;
        this.jdk = jdk;
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
                final int work = jdk ? 0 : Work.count(this, version);
                if (!jdk)
                    allocations(this);
                final Body body = new Body(to, access, method, work, maxLocals);
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

    /** Returns the bytes that an instruction loads from an array or stores there; 0: it does neither. */
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

    /**
     * Says whether an access to the field is recorded. Fields that a compiler has added are not, but for the arrays of
     * switches: their elements are accesses, and the static's first use orders those.
     */
    static boolean recorded(int op, String owner, String field, int version) {
        return !field.startsWith("$assertionsDisabled") && !owner.startsWith("[")
                && (version >= V1_5 || op == GETFIELD || op == PUTFIELD);
    }

    private final class Body extends MethodVisitor {
        private final String method;
        private final boolean global, locked, window;
        private final int work; // the local variable of class Work
        private final int spare; // local variables from here on are free
        private final Label begin = new Label(), end = new Label();
        private AnalyzerAdapter types; // knows the stack before each instruction
        private int line;

        Body(MethodVisitor to, int access, String method, int work, int spare) {
            super(ASM9, to);
            this.method = method;
            this.work = work;
            this.spare = spare;
            window = (name.replace('/', '.') + '.' + method).equals(Agent.window);
            global = (access & ACC_STATIC) != 0;
            locked = (access & ACC_SYNCHRONIZED) != 0 && (!global || version >= V1_5);
        }

        private void rt(String which, String type) {
            super.visitMethodInsn(INVOKESTATIC, "lardsim/Rt", which, type, false);
        }

        /** Calls Rt for an access; the last argument is the work before it. */
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

        /** Records a synchronisation of the object on the stack, which is taken off. */
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
            if (!jdk && method.equals("<clinit>") && version >= V1_5) {
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
            } else if (bytes > 0 && !jdk) {
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
            final boolean plain = jdk ? of || !Agent.isVolatile(owner, field) : !recorded(op, owner, field, version);
            if (plain || (!of && unborn(write, two))) {
                if (!plain && !jdk)
                    access("work", "(I)V");
                super.visitFieldInsn(op, owner, field, type);
                return;
            }
            final int site = Agent.fieldSite(name + '.' + method, line, owner, field, type, of, loader, write);
            if (!write) {
                if (!of)
                    super.visitInsn(DUP);
                super.visitFieldInsn(op, owner, field, type);
            }
            if (!of && two) { // object value2 -> value2 object; of a write: -> object value2 object
                super.visitInsn(DUP2_X1);
                super.visitInsn(POP2);
                if (write)
                    super.visitInsn(DUP_X2);
            } else if (!of && write) { // object value -> object value object
                super.visitInsn(DUP2);
                super.visitInsn(POP);
            } else if (!of) {
                super.visitInsn(SWAP);
            }
            push(site);
            if (of) {
                access("global", "(II)V");
            } else if (jdk) {
                super.visitInsn(ICONST_0);
                rt("field", "(Ljava/lang/Object;II)V");
            } else {
                access("field", "(Ljava/lang/Object;II)V");
            }
            if (write)
                super.visitFieldInsn(op, owner, field, type);
        }

        // ---- calls

        private void load(Type t, int local) {
            super.visitVarInsn(t.getOpcode(ILOAD), local);
        }

        /**
         * Pushes the arguments that name the variable: the handle, the object and the index, or the object and the
         * offset.
         */
        private String pushVariable(Operation o, int first) {
            if (!o.handle) {
                super.visitVarInsn(ALOAD, first + 1);
                super.visitVarInsn(LLOAD, first + 2);
                return "(Ljava/lang/Object;J";
            }
            final int n = o.coordinates();
            final boolean object = n > 0 && n <= 2 && o.arguments[0].getSort() >= Type.ARRAY;
            super.visitVarInsn(ALOAD, first);
            if (object)
                super.visitVarInsn(ALOAD, first + 1);
            else
                super.visitInsn(ACONST_NULL);
            if (n == 2 && o.arguments[1].getSort() >= Type.ARRAY) {
                super.visitVarInsn(ALOAD, first + 2);
                rt("index", "(Ljava/lang/Object;)I");
            } else if (n == 2 && o.arguments[1].getSort() >= Type.CHAR && o.arguments[1].getSort() <= Type.INT) {
                super.visitVarInsn(ILOAD, first + 2);
            } else {
                super.visitInsn(n == 2 ? ICONST_M1 : ICONST_0);
            }
            return "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;I";
        }

        private void tell(String which, Operation o, int mode, int first, int site) {
            String type = pushVariable(o, first);
            push(jdk ? mode & (Operation.TAKES | Operation.GIVES) : mode);
            if (!o.handle) {
                push(o.bytes);
                type += 'I';
            }
            push(site);
            rt(which, type + "II)V");
        }

        /** Returns local variables as a frame has them, from a list that has those of two slots twice. */
        private List<Object> once(List<Object> slots) {
            final List<Object> to = new ArrayList<>();
            for (int i = 0; i < slots.size(); i++) {
                to.add(slots.get(i));
                if (slots.get(i) == LONG || slots.get(i) == DOUBLE)
                    i++;
            }
            return to;
        }

        private Object inFrame(Type t) {
            switch (t.getSort()) {
            case Type.LONG: return LONG;
            case Type.FLOAT: return FLOAT;
            case Type.DOUBLE: return DOUBLE;
            case Type.ARRAY: case Type.OBJECT: return t.getInternalName();
            default: return INTEGER;
            }
        }

        /**
         * Writes the frame below the operation's arguments; done: its result lies there, else they are in local
         * variables.
         */
        private void frame(Operation o, String owner, boolean done) {
            int below = types.stack.size() - 1;
            for (Type t : o.arguments)
                below -= t.getSize();
            final List<Object> stack = once(types.stack.subList(0, below)), local = once(types.locals);
            if (done) {
                stack.add(INTEGER);
            } else {
                for (int i = types.locals.size(); i < spare; i++)
                    local.add(TOP);
                local.add(owner);
                for (Type t : o.arguments)
                    local.add(inFrame(t));
            }
            super.visitFrame(F_NEW, local.size(), local.toArray(), stack.size(), stack.toArray());
        }

        /**
         * Replaces an operation on a variable. Its arguments wait in new local variables. A compare-and-set that fails
         * at a first look is not made.
         */
        private void operation(Operation o, int op, String owner, String called, String type) {
            final int site = site(), first = spare;
            final Label go = new Label(), end = new Label();
            final int last = o.arguments.length - 1;
            final int[] at = new int[last + 1];
            int next = first + 1;
            for (int i = 0; i <= last; i++) {
                at[i] = next;
                next += o.arguments[i].getSize();
            }
            for (int i = last; i >= 0; i--)
                super.visitVarInsn(o.arguments[i].getOpcode(ISTORE), at[i]);
            super.visitVarInsn(ASTORE, first);
            final boolean looks = o.compares && (o.mode & Operation.GIVES) != 0 && version >= V1_7
                    && types.locals != null && o.expected() != null;
            if (looks) {
                final Type t = o.expected();
                final String variable = pushVariable(o, first);
                load(t, at[last - 1]);
                if (o.handle && t.getSort() < Type.ARRAY && t != Type.LONG_TYPE)
                    super.visitInsn(I2L);
                rt("misses", variable + (t.getSort() >= Type.ARRAY ? "Ljava/lang/Object;"
                        : o.handle ? "J" : t.getDescriptor()) + ")Z");
                super.visitJumpInsn(IFEQ, go);
                tell("after", o, o.mode & ~(Operation.WRITES | Operation.GIVES), first, site);
                super.visitInsn(ICONST_0);
                super.visitJumpInsn(GOTO, end);
                super.visitLabel(go);
                frame(o, owner, false);
            }
            if ((o.mode & (Operation.WRITES | Operation.GIVES)) != 0)
                tell("before", o, o.mode, first, site);
            super.visitVarInsn(ALOAD, first);
            for (int i = 0; i <= last; i++)
                load(o.arguments[i], at[i]);
            super.visitMethodInsn(op, owner, called, type, false);
            if ((o.mode & Operation.TAKES) != 0 || (o.mode & Operation.WRITES) == 0)
                tell("after", o, o.mode, first, site);
            if (looks) {
                super.visitLabel(end);
                frame(o, owner, true);
                super.visitInsn(NOP); // another frame may follow
            }
        }

        @Override
        public void visitMethodInsn(int op, String owner, String called, String type, boolean itf) {
            final Operation operation = Operation.of(owner, called, type);
            if (op != INVOKESTATIC && called.equals("wait") && type.startsWith("(") && type.endsWith(")V")
                    && (type.equals("()V") || type.equals("(J)V") || type.equals("(JI)V"))) {
                push(site());
                rt("await", "(Ljava/lang/Object;" + type.substring(1, type.length() - 2) + "I)V");
            } else if (!jdk && op != INVOKESTATIC && called.equals("isAlive") && type.equals("()Z")) {
                super.visitInsn(DUP);
                super.visitMethodInsn(op, owner, called, type, itf);
                rt("alive", "(Ljava/lang/Object;Z)Z");
            } else if (!jdk && op == INVOKESTATIC && owner.equals("java/lang/System") && called.equals("arraycopy")) {
                push(site());
                rt("arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;III)V");
            } else if (!jdk && op == INVOKEVIRTUAL && owner.startsWith("[") && called.equals("clone")) {
                super.visitInsn(DUP);
                super.visitMethodInsn(op, owner, called, type, itf);
                push(site());
                rt("cloned", "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/Object;");
            } else if (operation != null && (!jdk || (operation.mode & (Operation.TAKES | Operation.GIVES)) != 0)) {
                operation(operation, op, owner, called, type);
            } else {
                super.visitMethodInsn(op, owner, called, type, itf);
            }
        }
    }
}
