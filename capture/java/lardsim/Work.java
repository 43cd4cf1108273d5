package lardsim;

import java.util.*;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.*;

/**
 * The work between accesses: bytecodes, counted by basic block. A new local variable of the method has those since its
 * last access, which takes them along (Code). A block's bytecodes behind its last access belong to that one, too. A
 * block without an access tells them before its first call, or before it leaves the method; else they stay in the
 * variable. So nothing is lost but what an exception cuts short, and most blocks take no call of their own.
 */
final class Work implements Opcodes {
    private final MethodNode method;
    private final int local, version;
    private final Set<LabelNode> targets = new HashSet<>();

    private int bytecodes; // in the present block, since its last access
    private IincInsnNode access; // the counting before its last access
    private AbstractInsnNode call; // its first, where no access came before

    private Work(MethodNode method, int version) {
        this.method = method;
        this.version = version;
        local = method.maxLocals;
    }

    /** Returns the number of the new local variable. */
    static int count(MethodNode method, int version) {
        final Work w = new Work(method, version);
        w.findTargets();
        for (AbstractInsnNode i : method.instructions.toArray())
            w.see(i);
        final InsnList first = new InsnList();
        w.reset(first);
        method.instructions.insert(first);
        method.maxLocals++;
        return w.local;
    }

    private void findTargets() {
        for (AbstractInsnNode i : method.instructions) {
            if (i instanceof JumpInsnNode) {
                targets.add(((JumpInsnNode) i).label);
            } else if (i instanceof TableSwitchInsnNode) {
                targets.addAll(((TableSwitchInsnNode) i).labels);
                targets.add(((TableSwitchInsnNode) i).dflt);
            } else if (i instanceof LookupSwitchInsnNode) {
                targets.addAll(((LookupSwitchInsnNode) i).labels);
                targets.add(((LookupSwitchInsnNode) i).dflt);
            }
        }
        for (TryCatchBlockNode t : method.tryCatchBlocks)
            targets.add(t.handler);
    }

    private void reset(InsnList to) {
        to.add(new InsnNode(ICONST_0));
        to.add(new VarInsnNode(ISTORE, local));
    }

    /** In frames the variable comes behind all others. */
    private void widen(FrameNode f) {
        final List<Object> has = new java.util.ArrayList<>(f.local);
        int slots = 0;
        for (Object o : has)
            slots += o == LONG || o == DOUBLE ? 2 : 1;
        for (; slots < local; slots++)
            has.add(TOP);
        has.add(INTEGER);
        f.local = has;
    }

    private boolean isAccess(AbstractInsnNode i) {
        if (i instanceof FieldInsnNode)
            return Code.recorded(i.getOpcode(), ((FieldInsnNode) i).owner, ((FieldInsnNode) i).name, version);
        return Code.elementBytes(i.getOpcode()) > 0;
    }

    private static boolean leaves(AbstractInsnNode i) {
        return (i.getOpcode() >= IRETURN && i.getOpcode() <= RETURN) || i.getOpcode() == ATHROW;
    }

    private void see(AbstractInsnNode i) {
        if (i instanceof FrameNode)
            widen((FrameNode) i);
        if (i instanceof LabelNode && targets.contains(i))
            endBlock(i);
        if (i.getOpcode() < 0)
            return;
        if (isAccess(i)) {
            access = new IincInsnNode(local, bytecodes);
            bytecodes = 0;
            method.instructions.insertBefore(i, access);
            return;
        }
        bytecodes++;
        if (access == null && call == null && (i instanceof MethodInsnNode || i.getOpcode() == INVOKEDYNAMIC
                || i.getOpcode() == MONITORENTER || i.getOpcode() == MONITOREXIT))
            call = i;
        if (leaves(i) || i instanceof JumpInsnNode || i instanceof TableSwitchInsnNode
                || i instanceof LookupSwitchInsnNode || i.getOpcode() == RET)
            endBlock(i);
    }

    /** Ends a basic block before `at`. */
    private void endBlock(AbstractInsnNode at) {
        if (access != null) {
            access.incr += bytecodes;
        } else if (bytecodes > 0) {
            final InsnList more = new InsnList();
            more.add(new IincInsnNode(local, bytecodes));
            if (call != null || leaves(at)) {
                more.add(new VarInsnNode(ILOAD, local));
                more.add(new MethodInsnNode(INVOKESTATIC, "lardsim/Rt", "work", "(I)V", false));
                reset(more);
            }
            method.instructions.insertBefore(call != null ? call : at, more);
        }
        bytecodes = 0;
        access = null;
        call = null;
    }
}
