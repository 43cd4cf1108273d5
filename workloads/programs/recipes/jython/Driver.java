/* THREADS ROUNDS: each interpreter counts words in a dictionary, and computes Fibonacci numbers. */
import java.util.concurrent.atomic.*;
import org.python.core.*;
import org.python.util.PythonInterpreter;

public class Driver {
    static final String PROGRAM = "def fibonacci(n):\n    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)\n"
        + "count = {}\nfor i in range(rounds):\n    word = 'w%d' % (i % 13)\n    count[word] = count.get(word, 0) + fibonacci(i % 8)\n"
        + "result = sum(count.values())\n";

    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), rounds = Integer.parseInt(a[1]);
        PySystemState.initialize();
        AtomicLong sum = new AtomicLong();
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++)
            (team[t] = new Thread(() -> {
                try (PythonInterpreter python = new PythonInterpreter(null, new PySystemState())) {
                    python.set("rounds", new PyInteger(rounds));
                    python.exec(PROGRAM);
                    sum.addAndGet(python.get("result").asLong());
                }
            }, "interpreter-" + t)).start();
        for (Thread t : team)
            t.join();
        System.out.println("jython: " + sum);
        System.exit(0);
    }
}
