/* THREADS PICTURES SHAPES: circles that overlap, on a gradient. */
import java.io.*;
import java.util.concurrent.atomic.*;
import org.apache.batik.transcoder.*;
import org.apache.batik.transcoder.image.PNGTranscoder;

public class Driver {
    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), pictures = Integer.parseInt(a[1]), shapes = Integer.parseInt(a[2]);
        StringBuilder svg = new StringBuilder("<svg xmlns='http://www.w3.org/2000/svg' width='96' height='96'><defs>"
            + "<linearGradient id='g'><stop offset='0' stop-color='navy'/><stop offset='1' stop-color='gold'/></linearGradient></defs>");
        for (int i = 0; i < shapes; i++)
            svg.append("<circle cx='").append(i * 29 % 96).append("' cy='").append(i * 41 % 96).append("' r='")
                .append(6 + i % 9).append("' fill='url(#g)' opacity='0.6'/>");
        String picture = svg.append("</svg>").toString();
        AtomicLong bytes = new AtomicLong();
        AtomicInteger next = new AtomicInteger();
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++)
            (team[t] = new Thread(() -> {
                try {
                    while (next.getAndIncrement() < pictures) {
                        ByteArrayOutputStream png = new ByteArrayOutputStream();
                        new PNGTranscoder().transcode(new TranscoderInput(new StringReader(picture)), new TranscoderOutput(png));
                        bytes.addAndGet(png.size());
                    }
                } catch (TranscoderException e) {
                    throw new IllegalStateException(e);
                }
            }, "painter-" + t)).start();
        for (Thread t : team)
            t.join();
        System.out.println("batik: " + bytes + " bytes");
        System.exit(0);
    }
}
