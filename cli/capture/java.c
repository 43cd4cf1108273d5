/* java.c - lardsim capture java: runs a Java program, and writes its execution as a trace. */
#include "base/mem.h"
#include "cli/capture/capture.h"
#include "base/program/place.h"
#include "cli/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True: an option of the java launcher whose value is the next argument. */
static bool has_value(const char *option)
{
    const char *with = "-cp\0-classpath\0--class-path\0-p\0--module-path\0--upgrade-module-path\0"
                       "--add-modules\0--limit-modules\0--enable-native-access\0--add-exports\0"
                       "--add-opens\0--add-reads\0--patch-module\0--source\0";

    while (*with && strcmp(option, with) != 0)
        with += strlen(with) + 1;
    return *with;
}

/* Collectors whose moves and frees were shown right. */
static int collector_of(const struct cli *c, const char **option, struct err *e)
{
    static const char *const fit[] = {"-XX:+UseSerialGC", "-XX:+UseParallelGC"};

    *option = fit[0];
    for (size_t i = 1; i < c->args && c->arg[i][0] == '-'; i++) {
        const char *a = c->arg[i];
        const size_t n = strlen(a);
        if (strcmp(a, fit[0]) == 0 || strcmp(a, fit[1]) == 0)
            *option = a;
        else if (has_value(a))
            i++;
        else if (strncmp(a, "-XX:+Use", 8) == 0 && n > 10 && strcmp(a + n - 2, "GC") == 0)
            return err_set(e, LARD_USAGE,
                           "%s: when this collector frees objects is not known to be told in time; "
                           "take %s or %s",
                           a, fit[0], fit[1]);
    }
    return 0;
}

static int agent(char **to, const char *before, enum place_id id, struct err *e)
{
    char *path = place_find(id);

    if (access(path, R_OK))
        return err_set(e, LARD_USAGE,
                       "%s is not there: this lardsim was built without a JDK 17 and libasm-java, "
                       "or is not installed; LARDSIM_JAVA names the folder",
                       path);
    *to = xasprintf("%s%s", before, path);
    free(path);
    return 0;
}

static int java_run(const struct cli *c, struct err *e)
{
    const char *name = strrchr(c->arg[0], '/'), *collector;
    char *native, *java, *alone_agent;

    if (strcmp(name ? name + 1 : c->arg[0], "java") != 0)
        return err_set(e, LARD_USAGE,
                       "%s is not java: the JVM has to be started as `java ARGUMENTS`", c->arg[0]);
    if (collector_of(c, &collector, e) || agent(&native, "-agentpath:", PLACE_AGENT, e) ||
        agent(&java, "-javaagent:", PLACE_AGENT_JAR, e))
        return -1;
    /* Methods that instrumentation makes large are compiled, too. */
    const char *const inserted[] = {native,
                                    java,
                                    collector,
                                    "-XX:-DontCompileHugeMethods",
                                    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                                    "--add-opens=java.base/java.lang=ALL-UNNAMED"};
    char **argv = capture_arguments(c, inserted, ARRAY_SIZE(inserted));
    alone_agent = xasprintf("%s=alone", native);
    char **alone = capture_arguments(c, (const char *const[]){alone_agent, collector}, 2);
    const int code = capture_run(c, CAPTURE_JAVA, argv, alone, e);
    free(argv);
    free(alone);
    free(alone_agent);
    free(native);
    free(java);
    return code;
}

static const struct argp_option options[] = {ROWS_CAPTURE, ROW_END};

const struct verb verb_capture_java = {
    .help = &verb_help[HELP_capture_java], .options = options, .command = true, .run = java_run};
