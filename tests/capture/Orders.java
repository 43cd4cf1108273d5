import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * A table of what orders two threads, all in one JVM: Orders racy|ordered. The first thread of a row touches its cell and
 * gives, the second looks until it sees that, and touches it, too. In the racy twin the first gives something else or
 * nothing, or touches the cell again. A row's threads have its name, so races say which rows they are of. Threads that
 * are not to be ordered meet by a LongAdder, which no capture sees.
 */
public class Orders {
    interface Act {
        void act() throws Exception;
    }

    interface Look {
        boolean look() throws Exception;
    }

    static class Cell {
        int data;
    }

    static boolean ordered;
    static Cell cell;
    static LongAdder done = new LongAdder();
    static final Look isDone = () -> done.sum() > 0;

    static void touch() {
        cell.data++;
    }

    static void await(Look seen) throws Exception {
        while (!seen.look())
            Thread.sleep(1);
    }

    static Thread thread(String name, Act act) {
        return new Thread(() -> {
            try {
                act.act();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name);
    }

    static void pair(String row, Act first, Act second) throws Exception {
        final Thread[] t = {thread(row, first), thread(row, second)};
        for (Thread x : t)
            x.start();
        for (Thread x : t)
            x.join();
    }

    /** The cell is made anew, and what `act` does is seen by no other row. */
    static void begin(String row) {
        cell = new Cell();
        done = new LongAdder();
        System.out.println(row);
    }

    /** Its racy twin touches the cell once more after it gave. */
    static void row(String row, Act give, Look seen) throws Exception {
        begin(row);
        pair(row, () -> {
            touch();
            give.act();
            if (!ordered)
                touch();
        }, () -> {
            await(seen);
            touch();
        });
    }

    /** Its racy twin gives what orders nothing, and the other one has looked in vain, or by what does not take. */
    static void row(String row, Act give, Look seen, Act nothing, Look vain) throws Exception {
        if (ordered) {
            row(row, give, seen);
            return;
        }
        begin(row);
        vain.look(); // to link a call for the first time orders threads inside the JVM
        pair(row, () -> {
            touch();
            nothing.act();
            done.increment();
        }, () -> {
            await(isDone);
            if (!vain.look())
                throw new IllegalStateException(row);
            touch();
        });
    }

    static final VarHandle elements = MethodHandles.arrayElementVarHandle(int[].class);

    /** The index of another type than int: 10 and 11 are other variables. */
    static void indexes() throws Exception {
        final int[] a = new int[16];
        row("VarHandle, index of char", () -> elements.setVolatile(a, (char) 10, 1),
                () -> (int) elements.getVolatile(a, 10) == 1, () -> elements.setVolatile(a, (char) 11, 1),
                () -> (int) elements.getVolatile(a, (char) 10) == 0);
        row("VarHandle, index of short", () -> elements.setVolatile(a, (short) 10, 2),
                () -> (int) elements.getVolatile(a, 10) == 2, () -> elements.setVolatile(a, (short) 11, 2),
                () -> (int) elements.getVolatile(a, (short) 10) == 0);
        row("VarHandle, index of byte", () -> elements.compareAndSet(a, (byte) 12, 0, 1),
                () -> (int) elements.getVolatile(a, 12) == 1, () -> elements.compareAndSet(a, (byte) 13, 0, 1),
                () -> !elements.compareAndSet(a, (byte) 12, 1, 2));
        row("VarHandle, index of Integer", () -> elements.setVolatile(a, Integer.valueOf(14), 1),
                () -> (int) elements.getVolatile(a, 14) == 1, () -> elements.setVolatile(a, Integer.valueOf(15), 1),
                () -> (int) elements.getVolatile(a, Integer.valueOf(14)) == 0);
    }

    public static void main(String[] args) throws Exception {
        ordered = args[0].equals("ordered");
        isDone.look();
        indexes();
    }
}
