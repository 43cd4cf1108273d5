/* needs.c - what a recipe needs and this machine lacks: all of it at once, with the one line that
 * installs it. By dpkg-query, so it is known on Debian and its kin alone. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/child.h"
#include "base/program/place.h"
#include "results/programs/programs.h"

static const char jdk[] = "openjdk-17-jdk-headless", asm_package[] = "libasm-java";

/* ---- packages ------------------------------------------------------------------------------- */

/* The answer of dpkg-query about these packages, and of ASM: "NAME ii VERSION", each a line. The
 * caller's.
 */
static char *asked(const struct recipe *r)
{
    enum { BEFORE = 4 };
    const char **argv = xcalloc(r->packages.n + BEFORE + 2, sizeof *argv);
    static const char *const query[BEFORE] = {"dpkg-query", "-W", "-f",
                                              "${Package} ${db:Status-Abbrev}${Version}\n"};

    memcpy(argv, query, sizeof query);
    for (size_t i = 0; i < r->packages.n; i++)
        argv[BEFORE + i] = r->packages.item[i];
    argv[BEFORE + r->packages.n] = asm_package;
    char *text = command_text(argv);
    free(argv);
    return text;
}

/* "2.7.2-4"; NULL: it is not installed. The caller's. */
static char *version_of(const char *answer, const char *package)
{
    const size_t n = strlen(package);

    for (const char *line = answer; line && *line; line += strcspn(line, "\n"), line += *line != 0)
        if (strncmp(line, package, n) == 0 && strncmp(line + n, " ii ", 4) == 0)
            return xasprintf("%.*s", (int)strcspn(line + n + 4, "\n"), line + n + 4);
    return NULL;
}

static void lack(struct recipe_needs *s, const char *package)
{
    s->package = xgrow(s->package, s->packages, &s->cap, sizeof *s->package);
    s->package[s->packages++] = package;
}

/* ---- Java ----------------------------------------------------------------------------------- */

/* The words of java about its version, then where javac is, if they are there. A JVM takes a while
 * to start, and says the same to each recipe. */
static const char *java_said(void)
{
    static const char *const argv[] = {"sh", "-c", "java -version 2>&1; command -v javac", NULL};
    static char *said;

    if (!said)
        said = command_text(argv);
    return said ? said : "";
}

static bool readable(enum place_id id)
{
    char *path = place_find(id);
    const bool is = !access(path, R_OK);

    free(path);
    return is;
}

/* The agents find ASM where Debian has it. */
static void java_needs(struct recipe_needs *s, const char *answer)
{
    const char *said = java_said();
    char *asm_version = version_of(answer, asm_package);

    if (strstr(said, " version \""))
        s->with = xasprintf("%.*s", (int)strcspn(said, "\n"), said);
    s->agents = !readable(PLACE_AGENT) || !readable(PLACE_AGENT_JAR);
    s->other_java = s->with && !strstr(s->with, "\"17");
    if (!s->with || s->other_java || !strstr(said, "/javac"))
        lack(s, jdk);
    if (!asm_version && (s->agents || access("/usr/share/java/asm.jar", R_OK)))
        lack(s, asm_package);
    free(asm_version);
}

/* ---- sources -------------------------------------------------------------------------------- */

/* An entry of apt: "deb-src ...", or "Types: deb deb-src". */
static bool lists_sources(const char *path)
{
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (in && !found && getline(&line, &room, in) > 0)
        found = !strncmp(line, "deb-src", 7) ||
                (!strncmp(line, "Types:", 6) && strstr(line, "deb-src"));
    free(line);
    if (in)
        fclose(in);
    return found;
}

static bool sources_listed(void)
{
    glob_t files;
    bool found = lists_sources("/etc/apt/sources.list");

    if (glob("/etc/apt/sources.list.d/*", 0, NULL, &files))
        return found;
    for (size_t i = 0; i < files.gl_pathc; i++)
        found |= lists_sources(files.gl_pathv[i]);
    globfree(&files);
    return found;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void needs_read(struct recipe_needs *s, const struct recipe *r)
{
    char *answer = asked(r);

    *s = (struct recipe_needs){.with = NULL};
    if (!recipe_native(r))
        java_needs(s, answer);
    for (size_t i = 0; i < r->packages.n; i++) {
        char *version = version_of(answer, r->packages.item[i]);
        if (!version) {
            lack(s, r->packages.item[i]);
        } else {
            char *text = xasprintf("%s %s", r->packages.item[i], version);
            xappend(&s->there, ", ", text);
            free(text);
        }
        free(version);
    }
    s->sources = r->sources.n && !sources_listed();
    free(answer);
}

void needs_free(struct recipe_needs *s)
{
    free(s->package);
    free(s->there);
    free(s->with);
}

/* Returns the command by which the agents are made, once their packages are there; the caller's. */
static char *rebuilding(void)
{
    char *self = place_self(), *made = NULL;

    if (self) {
        *strrchr(self, '/') = '\0';
        char *status = xasprintf("%s/config.status", self);
        if (!access(status, X_OK))
            made = xasprintf("`cd %s && ./config.status --recheck && make`", self);
        free(status);
    }
    free(self);
    return made ? made : xstrdup("configure, make and make install, where its sources are");
}

int needs_met(const struct recipe_needs *s, const struct recipe *r, struct err *e)
{
    return s->packages || s->agents ? needs_said(s, r, e) : 0;
}

static void clause(char **all, char *text) /* takes text */
{
    xappend(all, "; ", text);
    free(text);
}

int needs_said(const struct recipe_needs *s, const struct recipe *r, struct err *e)
{
    char *packages = NULL, *all = NULL;

    for (size_t i = 0; i < s->packages; i++)
        xappend(&packages, " ", s->package[i]);
    if (packages)
        clause(&all, xasprintf("packages are missing: `apt-get install --no-install-recommends %s`",
                               packages));
    if (s->other_java)
        clause(&all, xasprintf("java is %s, and 17 must be the first in PATH", s->with));
    if (s->sources)
        clause(&all, xstrdup("apt needs an entry of type deb-src in /etc/apt/sources.list.d, and "
                             "`apt-get update`"));
    if (s->agents) {
        char *build = rebuilding();
        clause(&all,
               xasprintf("lardsim was built without a JDK 17 and libasm-java; %sbuild it again: %s",
                         packages ? "then " : "", build));
        free(build);
    }
    err_set(e, LARD_USAGE, "program:%s: %s", r->name, all);
    free(packages);
    free(all);
    return -1;
}
