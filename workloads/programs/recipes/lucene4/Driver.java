/* THREADS DOCUMENTS QUERIES: words come from seeds, a thread's own. */
import java.util.Random;
import java.util.concurrent.atomic.*;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.*;
import org.apache.lucene.util.Version;

public class Driver {
    interface Work { void run(int thread) throws Exception; }

    static void team(int threads, String name, Work work) throws InterruptedException {
        Thread[] team = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int me = t;
            (team[t] = new Thread(() -> {
                try {
                    work.run(me);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, name + "-" + t)).start();
        }
        for (Thread t : team)
            t.join();
    }

    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), documents = Integer.parseInt(a[1]), queries = Integer.parseInt(a[2]);
        Directory folder = new RAMDirectory();
        IndexWriter writer = new IndexWriter(folder, new IndexWriterConfig(Version.LATEST, new StandardAnalyzer()));
        team(threads, "indexer", me -> {
            Random random = new Random(me);
            for (int i = 0; i < documents / threads; i++) {
                StringBuilder text = new StringBuilder();
                for (int w = 0; w < 40; w++)
                    text.append("word").append(random.nextInt(1 + random.nextInt(500))).append(' ');
                Document d = new Document();
                d.add(new TextField("text", text.toString(), Field.Store.NO));
                writer.addDocument(d);
            }
        });
        writer.close();
        AtomicLong hits = new AtomicLong();
        try (IndexReader reader = DirectoryReader.open(folder)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            team(threads, "searcher", me -> {
                Random random = new Random(1000 + me);
                for (int i = 0; i < queries / threads; i++)
                    hits.addAndGet(searcher.search(new TermQuery(new Term("text", "word" + random.nextInt(300))), 10).totalHits);
            });
        }
        System.out.println("lucene: " + hits + " hits");
    }
}
