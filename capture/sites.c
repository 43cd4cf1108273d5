/* sites.c - code sites, and their names by way of addr2line. */
#include "capture/sites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct sites {
    struct map seen; /* site to 1 + its place in `site` */
    uint64_t *site;  /* owns; in order of appearance */
    size_t n, cap;
    uint64_t last;
};

struct sites *sites_new(void)
{
    struct sites *s = xcalloc(1, sizeof *s);

    map_init(&s->seen, NULL);
    return s;
}

void sites_free(struct sites *s)
{
    map_free(&s->seen);
    free(s->site);
    free(s);
}

void sites_note(struct sites *s, uint64_t site)
{
    if (!site || site == s->last)
        return;
    s->last = site;
    uint64_t *at = map_put(&s->seen, site);
    if (*at)
        return;
    s->site = xgrow(s->site, s->n, &s->cap, sizeof *s->site);
    s->site[s->n++] = site;
    *at = s->n;
}

/* ---- addr2line ------------------------------------------------------------------------------ */

/* A process of addr2line for a module, which reads addresses from a file; -1: there is none. */
static pid_t ask(const char *path, FILE *questions, FILE **answers)
{
    int ends[2];
    pid_t child;

    if (pipe(ends))
        return -1;
    child = fork();
    if (child == 0) {
        if (dup2(fileno(questions), STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
            _exit(127);
        close(ends[0]);
        close(ends[1]);
        close(STDERR_FILENO);
        execlp("addr2line", "addr2line", "-f", "-C", "-e", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *answers = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (!*answers)
        close(ends[0]);
    return child;
}

/* "count main.c:12"; what addr2line does not know it shows as ??. */
static char *site_text(char *function, char *place)
{
    const char *file = strrchr(place, '/');

    function[strcspn(function, "\n")] = '\0';
    place[strcspn(place, "\n(")] = '\0';
    file = file ? file + 1 : place;
    if (strcmp(function, "??") == 0)
        return NULL;
    if (*file == '?')
        return xstrdup(function);
    char *text = xasprintf("%s %s", function, file);
    text[strcspn(text, "\n")] = '\0';
    for (size_t n = strlen(text); n && text[n - 1] == ' ';)
        text[--n] = '\0';
    return text;
}

static bool in_module(const struct ring_module *m, uint64_t site)
{
    return site > m->low && site <= m->high;
}

/* A site is the address behind a call; the call is what has the line. */
static void name_module(struct sites *s, const struct ring_module *m, struct names *to)
{
    FILE *questions = tmpfile(), *answers = NULL;
    size_t asked = 0, bytes[2] = {0, 0};
    char *line[2] = {NULL, NULL};
    pid_t child;

    for (size_t i = 0; questions && i < s->n; i++)
        if (in_module(m, s->site[i])) {
            fprintf(questions, "%#llx\n", (unsigned long long)(s->site[i] - m->base - 1));
            asked++;
        }
    if (!asked || fflush(questions) || lseek(fileno(questions), 0, SEEK_SET) < 0) {
        if (questions)
            fclose(questions);
        return;
    }
    child = ask(m->path, questions, &answers);
    for (size_t i = 0; answers && i < s->n; i++) {
        if (!in_module(m, s->site[i]))
            continue;
        if (getline(&line[0], &bytes[0], answers) < 0 || getline(&line[1], &bytes[1], answers) < 0)
            break;
        char *text = site_text(line[0], line[1]);
        struct err ignored = {.code = LARD_DONE};
        if (text)
            names_add(to, NAME_SITE, s->site[i], text, &ignored);
        err_clear(&ignored);
        free(text);
    }
    free(line[0]);
    free(line[1]);
    if (answers)
        fclose(answers);
    fclose(questions);
    if (child > 0)
        waitpid(child, NULL, 0);
}

void sites_name(struct sites *s, const struct ring *r, struct names *to)
{
    const uint32_t said = atomic_load(&r->modules);

    for (uint32_t i = 0; i < said && i < RING_MODULES; i++)
        if (memchr(r->module[i].path, '\0', RING_PATH) && *r->module[i].path == '/')
            name_module(s, &r->module[i], to);
}
