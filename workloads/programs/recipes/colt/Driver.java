/* THREADS ROWS: three products of square matrices. */
import cern.colt.matrix.*;
import cern.colt.matrix.linalg.*;

public class Driver {
    static double entry(int i) {
        return i * 7919 % 101 / 8.0;
    }

    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), n = Integer.parseInt(a[1]);
        SmpBlas.allocateBlas(threads, SeqBlas.seqBlas);
        DoubleMatrix2D left = DoubleFactory2D.dense.make(n, n), right = left.copy(), product = left.copy();
        for (int i = 0; i < n * n; i++) {
            left.setQuick(i / n, i % n, entry(i));
            right.setQuick(i / n, i % n, entry(i + 1));
        }
        for (int i = 0; i < 3; i++)
            SmpBlas.smpBlas.dgemm(false, false, 1, left, right, 0, product);
        System.out.println("colt: " + product.zSum());
        System.exit(0);
    }
}
