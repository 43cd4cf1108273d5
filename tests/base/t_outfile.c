/* t_outfile.c - output files appear whole or not at all, and failures are told. What a loss of
 * power leaves is not tested. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/outfile.h"

struct place {
    char dir[200], file[300];
};

static int place_make(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);
    const char *tmp = getenv("TMPDIR");

    snprintf(p->dir, sizeof p->dir, "%.150s/lardsim-outfile-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/out.json", p->dir);
    *state = p;
    return 0;
}

static int place_remove(void **state)
{
    struct place *p = *state;
    DIR *d = opendir(p->dir);

    for (struct dirent *entry; d && (entry = readdir(d));)
        if (unlinkat(dirfd(d), entry->d_name, 0))
            unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
    if (d)
        closedir(d);
    rmdir(p->dir);
    free(p);
    return 0;
}

static size_t entries(const struct place *p)
{
    size_t n = 0;
    DIR *d = opendir(p->dir);

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void write_old(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs("old\n", f);
    assert_int_equal(fclose(f), 0);
}

static void expect_content(const char *path, const char *expected)
{
    char buf[100] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    const size_t n = fread(buf, 1, sizeof buf - 1, f);
    buf[n] = '\0';
    fclose(f);
    assert_string_equal(buf, expected);
}

static struct outfile *open_good(const char *path)
{
    struct err e = {0};
    struct outfile *f = outfile_open(path, true, &e);

    assert_non_null(f);
    assert_int_equal(e.code, 0);
    return f;
}

static void commit_good(struct outfile *f)
{
    struct err e = {0};

    assert_int_equal(outfile_commit(f, &e), 0);
    assert_int_equal(e.code, 0);
}

static void expect_error(const struct err *e, const char *path, const char *reason)
{
    assert_int_equal(e->code, LARD_OUTPUT);
    assert_non_null(strstr(e->text, path));
    assert_non_null(strstr(e->text, reason));
}

static void a_new_file_appears_at_commit(void **state)
{
    const struct place *p = *state;
    struct outfile *f = open_good(p->file);

    fputs("new\n", outfile_stream(f));
    fflush(outfile_stream(f));
    assert_int_not_equal(access(p->file, F_OK), 0);
    commit_good(f);
    expect_content(p->file, "new\n");
    assert_int_equal(entries(p), 1);
}

static void an_old_file_stays_until_commit(void **state)
{
    const struct place *p = *state;

    write_old(p->file);
    struct outfile *f = open_good(p->file);
    fputs("new\n", outfile_stream(f));
    fflush(outfile_stream(f));
    expect_content(p->file, "old\n");
    commit_good(f);
    expect_content(p->file, "new\n");
    assert_int_equal(entries(p), 1);
}

static void abort_leaves_nothing(void **state)
{
    const struct place *p = *state;
    struct outfile *f = open_good(p->file);

    fputs("new\n", outfile_stream(f));
    outfile_abort(f);
    outfile_abort(NULL);
    assert_int_equal(entries(p), 0);
}

static void abort_keeps_the_old_file(void **state)
{
    const struct place *p = *state;

    write_old(p->file);
    struct outfile *f = open_good(p->file);
    fputs("new\n", outfile_stream(f));
    outfile_abort(f);
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

/* Runs fn in a process of its own; its status as waitpid gives it. */
static int in_a_process(void (*fn)(const struct place *p), const struct place *p)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        fn(p);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void write_and_be_killed(const struct place *p)
{
    struct err e = {0};
    struct outfile *f = outfile_open(p->file, true, &e);

    if (!f)
        _exit(1);
    fputs("new\n", outfile_stream(f));
    fflush(outfile_stream(f));
    raise(SIGKILL);
}

static void a_process_that_is_killed_leaves_nothing(void **state)
{
    const struct place *p = *state;
    const int fd = open(p->dir, O_TMPFILE | O_WRONLY, 0666);

    if (fd < 0) /* this file system can't do it */
        skip();
    close(fd);
    write_old(p->file);
    const int status = in_a_process(write_and_be_killed, p);
    assert_true(WIFSIGNALED(status));
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

enum { NO_CHROOT = 77 };

/* Files without a name get one through /proc. */
static void write_without_proc(const struct place *p)
{
    struct err e = {0};

    if (chdir(p->dir) || chroot("."))
        _exit(NO_CHROOT);
    struct outfile *f = outfile_open("/out.json", true, &e);
    if (!f || entries(&(struct place){.dir = "/"}) != 2)
        _exit(1);
    fputs("new\n", outfile_stream(f));
    if (outfile_commit(f, &e))
        _exit(1);
    outfile_abort(outfile_open("/out.json", true, &e));
}

static void without_nameless_files_there_is_a_named_one(void **state)
{
    const struct place *p = *state;

    write_old(p->file);
    const int status = in_a_process(write_without_proc, p);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_CHROOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_content(p->file, "new\n");
    assert_int_equal(entries(p), 1);
}

static void an_empty_file_is_a_file(void **state)
{
    const struct place *p = *state;

    commit_good(open_good(p->file));
    expect_content(p->file, "");
}

static void the_mode_follows_the_umask(void **state)
{
    const struct place *p = *state;
    const mode_t was = umask(027);
    struct stat st;

    commit_good(open_good(p->file));
    umask(was);
    assert_int_equal(stat(p->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void two_files_of_one_name_do_not_meet(void **state)
{
    const struct place *p = *state;
    struct outfile *a = open_good(p->file), *b = open_good(p->file);

    fputs("a\n", outfile_stream(a));
    fputs("b\n", outfile_stream(b));
    commit_good(a);
    expect_content(p->file, "a\n");
    commit_good(b);
    expect_content(p->file, "b\n");
    assert_int_equal(entries(p), 1);
}

static void a_symbolic_link_stays_a_link(void **state)
{
    const struct place *p = *state;
    char name[300];
    struct stat st;

    snprintf(name, sizeof name, "%s/link", p->dir);
    write_old(p->file);
    assert_int_equal(symlink("out.json", name), 0);
    struct outfile *f = open_good(name);
    fputs("new\n", outfile_stream(f));
    commit_good(f);
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    expect_content(p->file, "new\n");
}

static void what_is_there_is_not_replaced_unasked(void **state)
{
    const struct place *p = *state;
    struct err e = {0};

    write_old(p->file);
    assert_null(outfile_open(p->file, false, &e));
    expect_error(&e, p->file, "exists; give --overwrite");
    expect_content(p->file, "old\n");
    err_clear(&e);
    assert_int_equal(outfile_check(p->file, false, &e), -1);
    expect_error(&e, p->file, "exists; give --overwrite");
    err_clear(&e);
    assert_int_equal(outfile_check(p->file, true, &e), 0);
    assert_int_equal(entries(p), 1);
}

static void write_unasked(const char *path, struct err *e)
{
    struct outfile *f = outfile_open(path, false, e);

    assert_non_null(f);
    fputs("new\n", outfile_stream(f));
    write_old(path); /* somebody else's, meanwhile */
    assert_int_equal(outfile_commit(f, e), -1);
}

static void what_appears_meanwhile_is_not_replaced_unasked(void **state)
{
    const struct place *p = *state;
    struct err e = {0};

    write_unasked(p->file, &e);
    expect_error(&e, p->file, "exists; give --overwrite");
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

static void write_unasked_without_proc(const struct place *p)
{
    struct err e = {0};

    if (chdir(p->dir) || chroot("."))
        _exit(NO_CHROOT);
    write_unasked("/out.json", &e);
    expect_error(&e, "/out.json", "exists; give --overwrite");
}

/* The same where the file has a name of its own while it is written. */
static void a_named_one_replaces_nothing_unasked(void **state)
{
    const struct place *p = *state;
    const int status = in_a_process(write_unasked_without_proc, p);

    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_CHROOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

static void a_link_that_leads_nowhere_is_in_the_way(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    char name[300];

    snprintf(name, sizeof name, "%s/link", p->dir);
    assert_int_equal(symlink("nowhere", name), 0);
    assert_null(outfile_open(name, false, &e));
    expect_error(&e, name, "exists; give --overwrite");
    assert_int_equal(entries(p), 1);
}

static void a_name_of_full_length_works(void **state)
{
    const struct place *p = *state;
    char name[500];
    const int n = snprintf(name, sizeof name, "%s/", p->dir);

    memset(name + n, 'n', 255);
    name[n + 255] = '\0';
    struct outfile *f = open_good(name);
    fputs("long\n", outfile_stream(f));
    commit_good(f);
    expect_content(name, "long\n");
}

static void a_name_without_folder_works(void **state)
{
    const struct place *p = *state;
    const int was = open(".", O_RDONLY | O_DIRECTORY);

    assert_true(was >= 0);
    assert_int_equal(chdir(p->dir), 0);
    struct outfile *f = open_good("plain");
    fputs("plain\n", outfile_stream(f));
    commit_good(f);
    expect_content("plain", "plain\n");
    assert_int_equal(fchdir(was), 0);
    close(was);
    assert_int_equal(entries(p), 1);
}

static void expect_no_open(const char *path, const char *reason)
{
    struct err e = {0};

    assert_null(outfile_open(path, true, &e));
    expect_error(&e, path, reason);
}

static void what_can_not_be_opened_is_told(void **state)
{
    const struct place *p = *state;
    char name[400];

    expect_no_open(p->dir, "Is a directory");
    snprintf(name, sizeof name, "%s/", p->dir);
    expect_no_open(name, "Is a directory");
    snprintf(name, sizeof name, "%s/none/out.json", p->dir);
    expect_no_open(name, "No such file or directory; create its folder first");
    snprintf(name, sizeof name, "%s/none/", p->dir);
    expect_no_open(name, "No such file or directory");
    write_old(p->file);
    snprintf(name, sizeof name, "%s/below", p->file);
    expect_no_open(name, "Not a directory");
    snprintf(name, sizeof name, "%s/", p->file);
    expect_no_open(name, "Not a directory");
    expect_no_open("", "an empty file name: can't be written: No such file or directory");
    assert_int_equal(entries(p), 1);
}

static void a_target_that_became_a_folder_is_told(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    struct outfile *f = open_good(p->file);

    assert_int_equal(mkdir(p->file, 0777), 0);
    assert_int_equal(outfile_commit(f, &e), -1);
    expect_error(&e, p->file, "Is a directory");
    assert_int_equal(entries(p), 1);
}

/* The device fails each write as a full disk does. */
static void a_full_device_is_told(size_t bytes)
{
    struct err e = {0};
    struct outfile *f = open_good("/dev/full");

    for (size_t i = 0; i < bytes; i++)
        fputc('x', outfile_stream(f));
    assert_int_equal(outfile_commit(f, &e), -1);
    expect_error(&e, "/dev/full", "No space left on device; make room");
}

static void a_full_device_is_told_at_commit(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    a_full_device_is_told(1);
    a_full_device_is_told(100000);
    assert_int_equal(access("/dev/full", F_OK), 0);
}

static void a_device_is_written_directly(void **state)
{
    struct outfile *f = open_good("/dev/null");
    struct stat st;

    (void)state;
    fputs("nothing\n", outfile_stream(f));
    commit_good(f);
    outfile_abort(open_good("/dev/null"));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void a_fifo_is_written_directly(void **state)
{
    const struct place *p = *state;
    char buf[10] = "";

    assert_int_equal(mkfifo(p->file, 0600), 0);
    const int fd = open(p->file, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    struct outfile *f = open_good(p->file);
    fputs("fifo\n", outfile_stream(f));
    commit_good(f);
    assert_int_equal(read(fd, buf, sizeof buf), 5);
    assert_string_equal(buf, "fifo\n");
    close(fd);
    assert_int_equal(entries(p), 1);
}

/* A limit on the size of files fails a write in the middle of a file; the error of the commit. */
static struct err overwrite_within_limit(const char *path, bool lifted_before_commit)
{
    struct rlimit was;
    struct err e = {0};

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct outfile *f = open_good(path);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, was.rlim_max});
    for (size_t i = 0; i < 100000; i++)
        fputc('x', outfile_stream(f));
    if (lifted_before_commit)
        setrlimit(RLIMIT_FSIZE, &was);
    const int result = outfile_commit(f, &e);
    setrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, -1);
    return e;
}

static void a_write_that_fails_keeps_the_old_file(void **state)
{
    const struct place *p = *state;

    write_old(p->file);
    struct err e = overwrite_within_limit(p->file, false);
    expect_error(&e, p->file, "File too large; make room");
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

static void a_write_that_failed_before_is_told(void **state)
{
    const struct place *p = *state;

    write_old(p->file);
    struct err e = overwrite_within_limit(p->file, true);
    expect_error(&e, p->file, "can't be written");
    expect_content(p->file, "old\n");
    assert_int_equal(entries(p), 1);
}

/* Standard output for the time of one call of fn. */
static void with_stdout(const char *path, void (*fn)(const char *path))
{
    fflush(stdout);
    const int was = dup(STDOUT_FILENO);
    const int fd = open(path, O_WRONLY | O_CREAT, 0666);

    assert_true(was >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    fn(path);
    dup2(was, STDOUT_FILENO);
    close(was);
    clearerr(stdout);
}

static int stdout_result;
static struct err stdout_err;

static void write_stdout(const char *path)
{
    (void)path;
    stdout_err = (struct err){0};
    struct outfile *f = outfile_open("-", false, &stdout_err);
    fputs("direct\n", outfile_stream(f));
    stdout_result = outfile_commit(f, &stdout_err);
}

static void dash_is_standard_output(void **state)
{
    const struct place *p = *state;

    with_stdout(p->file, write_stdout);
    assert_int_equal(stdout_result, 0);
    expect_content(p->file, "direct\n");
    assert_int_equal(fcntl(STDOUT_FILENO, F_GETFD) < 0, 0);
}

static void a_full_standard_output_is_told(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    with_stdout("/dev/full", write_stdout);
    assert_int_equal(stdout_result, -1);
    expect_error(&stdout_err, "standard output", "No space left on device");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_appears_at_commit),
        TEST(an_old_file_stays_until_commit),
        TEST(abort_leaves_nothing),
        TEST(abort_keeps_the_old_file),
        TEST(a_process_that_is_killed_leaves_nothing),
        TEST(without_nameless_files_there_is_a_named_one),
        TEST(an_empty_file_is_a_file),
        TEST(the_mode_follows_the_umask),
        TEST(two_files_of_one_name_do_not_meet),
        TEST(a_symbolic_link_stays_a_link),
        TEST(what_is_there_is_not_replaced_unasked),
        TEST(what_appears_meanwhile_is_not_replaced_unasked),
        TEST(a_named_one_replaces_nothing_unasked),
        TEST(a_link_that_leads_nowhere_is_in_the_way),
        TEST(a_name_of_full_length_works),
        TEST(a_name_without_folder_works),
        TEST(what_can_not_be_opened_is_told),
        TEST(a_target_that_became_a_folder_is_told),
        TEST(a_full_device_is_told_at_commit),
        TEST(a_device_is_written_directly),
        TEST(a_fifo_is_written_directly),
        TEST(a_write_that_fails_keeps_the_old_file),
        TEST(a_write_that_failed_before_is_told),
        TEST(dash_is_standard_output),
        TEST(a_full_standard_output_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
