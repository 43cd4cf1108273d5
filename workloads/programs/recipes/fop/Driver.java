/* THREADS DOCUMENTS PARAGRAPHS */
import java.io.*;
import java.util.concurrent.atomic.*;
import javax.xml.transform.*;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.*;

public class Driver {
    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), documents = Integer.parseInt(a[1]), paragraphs = Integer.parseInt(a[2]);
        StringBuilder fo = new StringBuilder("<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'><fo:layout-master-set>"
            + "<fo:simple-page-master master-name='p' page-height='15cm' page-width='10cm'><fo:region-body margin='1cm'/>"
            + "</fo:simple-page-master></fo:layout-master-set><fo:page-sequence master-reference='p'><fo:flow flow-name='xsl-region-body'>");
        for (int i = 0; i < paragraphs; i++)
            fo.append("<fo:block space-after='2mm'>").append(i).append(": a line is broken where its words leave room, ")
                .append("and a page where its lines do; what is left goes on the next one.</fo:block>");
        String document = fo.append("</fo:flow></fo:page-sequence></fo:root>").toString();
        FopFactory factory = FopFactory.newInstance(new File(".").toURI());
        AtomicInteger next = new AtomicInteger(), done = new AtomicInteger();
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++)
            (team[t] = new Thread(() -> {
                try {
                    while (next.getAndIncrement() < documents) {
                        ByteArrayOutputStream pdf = new ByteArrayOutputStream();
                        Fop fop = factory.newFop("application/pdf", pdf);
                        TransformerFactory.newInstance().newTransformer()
                            .transform(new StreamSource(new StringReader(document)), new SAXResult(fop.getDefaultHandler()));
                        done.addAndGet(fop.getResults().getPageCount());
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "setter-" + t)).start();
        for (Thread t : team)
            t.join();
        System.out.println("fop: " + done + " pages");
        System.exit(0);
    }
}
