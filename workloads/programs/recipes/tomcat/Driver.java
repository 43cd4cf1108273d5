/* THREADS REQUESTS: as many clients as the server has threads. */
import java.io.*;
import java.net.URL;
import java.nio.file.Files;
import java.util.concurrent.atomic.*;
import javax.servlet.http.*;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public class Driver {
    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), requests = Integer.parseInt(a[1]);
        AtomicInteger answered = new AtomicInteger(), wrong = new AtomicInteger();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("maxThreads", a[0]);
        Context context = tomcat.addContext("", new File(".").getAbsolutePath());
        Tomcat.addServlet(context, "echo", new HttpServlet() {
            protected void doGet(HttpServletRequest ask, HttpServletResponse answer) throws IOException {
                ask.getSession(true).setAttribute("last", ask.getParameter("n"));
                answer.getWriter().print("echo " + ask.getSession().getAttribute("last"));
            }
        });
        context.addServletMappingDecoded("/*", "echo");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++)
            (team[t] = new Thread(() -> {
                for (int i = 0; i < requests / threads; i++)
                    try (InputStream in = new URL("http://127.0.0.1:" + port + "/?n=" + i).openStream()) {
                        (new String(in.readAllBytes()).equals("echo " + i) ? answered : wrong).incrementAndGet();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
            }, "client-" + t)).start();
        for (Thread t : team)
            t.join();
        tomcat.stop();
        System.out.println("tomcat: " + answered + " answers, " + wrong + " wrong");
        System.exit(0);
    }
}
