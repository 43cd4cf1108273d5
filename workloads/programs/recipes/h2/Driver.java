/* THREADS URL TRANSFERS: money is moved between accounts, and none may be lost. */
import java.sql.*;
import java.util.Random;

public class Driver {
    static final int ACCOUNTS = 100;

    static void transfers(Connection c, int n, Random random) throws SQLException {
        c.setAutoCommit(false);
        PreparedStatement move = c.prepareStatement("update account set money = money + ? where id = ?");
        while (n > 0) {
            int from = random.nextInt(ACCOUNTS - 1), to = from + 1 + random.nextInt(ACCOUNTS - from - 1);
            try {
                for (int side = 0; side < 2; side++) { /* the lower account first, so none waits in a ring */
                    move.setInt(1, side == 0 ? -10 : 10);
                    move.setInt(2, side == 0 ? from : to);
                    move.executeUpdate();
                }
                c.commit();
                n--;
            } catch (SQLException again) {
                c.rollback();
            }
        }
    }

    public static void main(String[] a) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> { e.printStackTrace(); Runtime.getRuntime().halt(1); });
        int threads = Integer.parseInt(a[0]), n = Integer.parseInt(a[2]);
        try (Connection c = DriverManager.getConnection(a[1], "sa", "")) {
            c.createStatement().execute("create table account(id int primary key, money int)");
            for (int i = 0; i < ACCOUNTS; i++)
                c.createStatement().execute("insert into account values(" + i + ", 1000)");
            Thread[] team = new Thread[threads];
            for (int t = 0; t < threads; t++) {
                int me = t;
                (team[t] = new Thread(() -> {
                    try (Connection own = DriverManager.getConnection(a[1], "sa", "")) {
                        transfers(own, n / threads, new Random(me));
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }, "teller-" + t)).start();
            }
            for (Thread t : team)
                t.join();
            ResultSet sum = c.createStatement().executeQuery("select sum(money) from account");
            sum.next();
            System.out.println("bank: " + sum.getLong(1));
        }
        System.exit(0);
    }
}
