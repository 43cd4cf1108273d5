/* THREADS DOCUMENTS ITEMS: each document has so many items, which the stylesheet sorts and counts by key. */
import java.io.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import javax.xml.transform.*;
import javax.xml.transform.stream.*;

public class Driver {
    static final String SHEET = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        + "<xsl:key name='by' match='row' use='kind'/><xsl:template match='/'><table><xsl:for-each select='rows/row'>"
        + "<xsl:sort select='@n' data-type='number'/><tr><td><xsl:value-of select='concat(kind, \"-\", @n)'/></td>"
        + "<td><xsl:value-of select='count(key(\"by\", kind))'/></td></tr></xsl:for-each></table></xsl:template></xsl:stylesheet>";

    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), documents = Integer.parseInt(a[1]), items = Integer.parseInt(a[2]);
        Templates sheet = TransformerFactory.newInstance("org.apache.xalan.processor.TransformerFactoryImpl", null)
            .newTemplates(new StreamSource(new StringReader(SHEET)));
        StringBuilder rows = new StringBuilder("<rows>");
        for (int i = 0; i < items; i++)
            rows.append("<row n='").append(i * 31 % items).append("'><kind>k").append(i % 9).append("</kind></row>");
        String document = rows.append("</rows>").toString();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        for (int i = 0; i < documents; i++)
            queue.add(i);
        AtomicLong characters = new AtomicLong();
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++)
            (team[t] = new Thread(() -> {
                try {
                    while (queue.poll() != null) {
                        StringWriter out = new StringWriter();
                        sheet.newTransformer().transform(new StreamSource(new StringReader(document)), new StreamResult(out));
                        characters.addAndGet(out.getBuffer().length());
                    }
                } catch (TransformerException e) {
                    throw new IllegalStateException(e);
                }
            }, "worker-" + t)).start();
        for (Thread t : team)
            t.join();
        System.out.println("xalan: " + characters + " characters");
    }
}
