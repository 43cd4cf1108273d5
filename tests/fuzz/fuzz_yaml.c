/* fuzz_yaml.c - any bytes as a configuration: an error that names the line, or an instance whose
 * complete configuration loads again to the same values. */
#include "tests/fuzz/fuzz.h"
#include "sim/session/session.h"

/* Loads, makes everything that is configured, and gives the configuration in full. NULL: error. */
static char *take(const char *file)
{
    struct lardsim *l = lardsim_new();
    char *dump = NULL;
    size_t n;

    lardsim_load(l, file);
    lardsim_start(l);
    lardsim_finish(l);
    const int code = lardsim_exit_code(l);
    MUST(code == LARD_DONE || code == LARD_CONFIG);
    if (code == LARD_DONE) {
        FILE *out = open_memstream(&dump, &n);
        config_dump(l->config, out);
        fputc('\n', out); /* what separates the two */
        config_canonical(l->config, out);
        fclose(out);
    } else {
        MUST(*lardsim_error(l)); /* what it shows of the text main cleans (text_visible) */
    }
    lardsim_free(l);
    return dump;
}

/* The dump of a dump says the same, but for the comments on where values come from. */
static void take_again(const char *dump)
{
    const char *canonical = strstr(dump, "\n\n");
    struct fuzz_file f = fuzz_file(dump, (size_t)(canonical + 1 - dump));
    char *again = take(f.path);

    MUST(again);
    MUST(!strcmp(strstr(again, "\n\n"), canonical));
    free(again);
    fuzz_file_close(&f);
}

/* As one assignment, too. */
static void assign(const uint8_t *data, size_t n)
{
    struct lardsim *l = lardsim_new();
    char *text = xmalloc(n + 1);

    memcpy(text, data, n);
    text[n] = '\0';
    if (!lardsim_set(l, text))
        lardsim_start(l);
    lardsim_finish(l);
    lardsim_free(l);
    free(text);
}

static char dir[] = "/tmp/lardsim-fuzz-XXXXXX", path[sizeof dir + 7];

static void remove_config(void)
{
    unlink(path);
    rmdir(dir);
}

/* In a folder of its own, so that there is little to inherit but the presets and itself. */
static const char *config_path(void)
{
    if (!*path) {
        MUST(mkdtemp(dir));
        snprintf(path, sizeof path, "%s/c.yaml", dir);
        atexit(remove_config);
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    FILE *out = fopen(config_path(), "wb");

    MUST(out && fwrite(data, 1, n, out) == n && !fclose(out));
    char *dump = take(config_path());
    if (dump)
        take_again(dump);
    assign(data, n);
    free(dump);
    return 0;
}
