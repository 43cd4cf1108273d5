import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Churn THREADS STEPS SEED: threads come and go, objects are made, kept and dropped, and all that is shared is locked. */
public class Churn {
    static class Node {
        Node next;
        int value;
        final byte[] load;

        Node(int value, Node next, int bytes) {
            this.value = value;
            this.next = next;
            load = new byte[bytes];
        }
    }

    private final Object lock = new Object();
    private Node shared;
    private long sum;
    private int length;

    private void step(Random r, int i) {
        Node own = null;
        for (int k = 0; k < 20; k++)
            own = new Node(i + k, own, r.nextInt(200));
        synchronized (lock) {
            shared = new Node(own.value, shared, r.nextInt(50));
            if (++length > 300) {
                Node n = shared;
                for (int k = 0; k < 50; k++)
                    n = n.next;
                n.next = null;
                length = 51;
            }
            for (Node n = shared; n != null; n = n.next)
                if (n.load.length > 0)
                    n.load[0]++;
            sum += own.value;
        }
    }

    public static void main(String[] args) throws Exception {
        final int threads = Integer.parseInt(args[0]), steps = Integer.parseInt(args[1]);
        final Churn churn = new Churn();
        for (int round = 0; round < 3; round++) {
            final List<Thread> all = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                final Random r = new Random(Long.parseLong(args[2]) * 100 + round * 10 + t);
                final Thread thread = new Thread(() -> {
                    for (int i = 0; i < steps / 10; i++)
                        churn.step(r, i);
                });
                all.add(thread);
                thread.start();
            }
            for (Thread t : all)
                t.join();
        }
        System.out.println(churn.sum);
    }
}
