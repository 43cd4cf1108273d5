/* THREADS PIXELS: the scene of Sunflow's own benchmark, a square of so many pixels. It writes its
 * picture to a folder that has to be there. */
import java.io.*;
import org.sunflow.Benchmark;

public class Driver {
    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), pixels = Integer.parseInt(a[1]);
        PrintStream out = System.out;
        System.setOut(System.err); /* its messages have times in them */
        new File("resources").mkdir();
        Benchmark scene = new Benchmark(pixels, false, false, true, threads, false);
        scene.kernelBegin();
        scene.kernelMain();
        out.println("sunflow: " + pixels + " pixels square");
        System.exit(0);
    }
}
