/* place.c - where the files that belong to this program lie: where a variable of the environment
 * says; in the folder where it was built, while it is run from there; else where they are
 * installed. */
#include "base/program/place.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

static const struct place {
    const char *name;
    const char *variable;  /* that says where it is; NULL: none */
    bool names_folder;     /* the variable says in which folder */
    const char *installed; /* in which folder; NULL: beside this program */
    const char *source;    /* where it lies in the sources; NULL: it is made */
    const char *built;     /* where it is made, from the folder of the build */
} places[] = {
    [PLACE_PROGRAMS] = {"programs", "LARDSIM_PROGRAMS", false, LARDSIM_PKGDATADIR,
                        "workloads/programs/recipes", NULL},
    [PLACE_VALIDATE] = {"validate", "LARDSIM_VALIDATE", false, LARDSIM_PKGDATADIR,
                        "workloads/native", NULL},
    [PLACE_NATIVE] = {"liblardsim-native.a", "LARDSIM_NATIVE", false, LARDSIM_PKGLIBDIR, NULL,
                      "capture/liblardsim-native.a"},
    [PLACE_AGENT] = {"liblardsim-java.so", "LARDSIM_JAVA", true, LARDSIM_PKGLIBDIR, NULL,
                     "capture/.libs/liblardsim-java.so"},
    [PLACE_AGENT_JAR] = {"lardsim-agent.jar", "LARDSIM_JAVA", true, LARDSIM_PKGLIBDIR, NULL,
                         "capture/lardsim-agent.jar"},
    [PLACE_CC] = {"lardsim-cc", NULL, false, NULL, NULL, "capture/lardsim-cc"},
    [PLACE_CXX] = {"lardsim-c++", NULL, false, NULL, NULL, "capture/lardsim-c++"},
};

char *place_self(void)
{
    char path[PATH_MAX + 1];
    const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

    path[n < 0 ? 0 : n] = '\0';
    return n > 0 ? xstrdup(path) : NULL;
}

/* The group is its user's own: it is his login group, and nobody else's. Debian gives each user
 * such a group, and archives of sources are often unpacked with files that this group may write. */
static bool group_is_own(gid_t group, uid_t user)
{
    const struct group *g = getgrgid(group);
    bool own = false, others = false;

    if (!g)
        return false;
    const struct passwd *owner = getpwuid(user);
    char *name = owner ? xstrdup(owner->pw_name) : NULL;
    for (char **member = g->gr_mem; name && *member; member++)
        others |= strcmp(*member, name) != 0;
    setpwent();
    for (const struct passwd *pw; (pw = getpwent());)
        if (pw->pw_gid == group)
            *(pw->pw_uid == user ? &own : &others) = true;
    endpwent();
    free(name);
    return own && !others;
}

/* Tells if a file beside the program can be trusted: nobody may be able to change it who can't
 * change the program as well. A stranger may write beside a program that lies in /tmp. */
static bool trusted(const char *path, const struct stat *self)
{
    struct stat is;

    if (stat(path, &is) || is.st_uid != self->st_uid ||
        (is.st_mode & S_IWOTH && !(self->st_mode & S_IWOTH)))
        return false;
    return !(is.st_mode & S_IWGRP) || group_is_own(is.st_gid, is.st_uid) ||
           (self->st_mode & S_IWGRP && is.st_gid == self->st_gid);
}

/* The folder of the sources, which make has noted where it built; NULL: this is no such folder. */
static char *sources_of(const char *built, const struct stat *self)
{
    char *note = xasprintf("%s/built-from", built), *line = NULL;
    size_t room = 0;
    FILE *in = trusted(note, self) ? fopen(note, "re") : NULL;

    if (in && getline(&line, &room, in) > 1)
        line[strcspn(line, "\n")] = '\0';
    if (in)
        fclose(in);
    if (line && *line != '/') {
        free(line);
        line = NULL;
    }
    free(note);
    return line;
}

/* NULL: this program is not run from where it was built, or it is not there. */
static char *where_built(const struct place *p, const char *folder, const struct stat *self)
{
    char *sources = sources_of(folder, self), *path = NULL;

    if (sources)
        path = xasprintf("%s/%s", p->source ? sources : folder, p->source ? p->source : p->built);
    free(sources);
    if (path && trusted(path, self))
        return path;
    free(path);
    return NULL;
}

static char *where_installed(const struct place *p, const char *folder)
{
    char *path = xasprintf("%s/%s", p->installed ? p->installed : folder, p->name);

    if (p->installed || !access(path, X_OK))
        return path;
    free(path);
    return xstrdup(p->name); /* the user's shell may know */
}

char *place_find(enum place_id id)
{
    const struct place *p = &places[id];
    const char *given = p->variable ? getenv(p->variable) : NULL;
    struct stat is;

    if (given && *given)
        return xasprintf("%s%s%s", given, p->names_folder ? "/" : "",
                         p->names_folder ? p->name : "");
    char *self = place_self(), *path = NULL;
    if (self && !stat(self, &is)) {
        *strrchr(self, '/') = '\0';
        path = where_built(p, self, &is);
    }
    if (!path)
        path = where_installed(p, self ? self : ".");
    free(self);
    return path;
}

int place_temporary(char **dir, const char *name)
{
    const char *in = getenv("TMPDIR");

    *dir = xasprintf("%s/%s-XXXXXX", in && *in ? in : "/tmp", name);
    return mkdtemp(*dir) ? 0 : -1;
}

int place_work(char **dir, const char *name, const char *what, struct err *e)
{
    if (!place_temporary(dir, name))
        return 0;
    err_set(e, LARD_OUTPUT, "%s: %s; %s there: give another TMPDIR", *dir, strerror(errno), what);
    free(*dir);
    *dir = NULL;
    return -1;
}
