/* sites.c - code sites, and their names by way of addr2line: a process for each module, which
 * answers as it is asked. */
#include "capture/sites.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"

struct helper { /* addr2line, of a module */
    pid_t process;
    FILE *ask, *answer; /* own; NULL: it is not there, or has ended */
    bool tried;
};

enum { RECENT_LOG = 10, RECENT = 1 << RECENT_LOG };

struct sites {
    struct map seen;
    uint64_t recent[RECENT]; /* seen not long ago, by hash: most come again soon */
    struct helper helper[RING_MODULES];
    char *line[2]; /* own; the answer: a function, a place */
    size_t room[2];
};

struct sites *sites_new(void)
{
    struct sites *s = xcalloc(1, sizeof *s);

    map_init(&s->seen, NULL);
    return s;
}

static void helper_end(struct helper *h)
{
    if (h->ask)
        fclose(h->ask);
    if (h->answer)
        fclose(h->answer);
    if (h->process > 0)
        waitpid(h->process, NULL, 0);
    *h = (struct helper){.tried = true};
}

void sites_free(struct sites *s)
{
    for (size_t i = 0; i < RING_MODULES; i++)
        helper_end(&s->helper[i]);
    map_free(&s->seen);
    free(s->line[0]);
    free(s->line[1]);
    free(s);
}

/* ---- addr2line ------------------------------------------------------------------------------ */

static void helper_run(const char *path, const int *asks, const int *answers)
{
    if (dup2(asks[0], STDIN_FILENO) < 0 || dup2(answers[1], STDOUT_FILENO) < 0)
        _exit(127);
    close(STDERR_FILENO);
    signal(SIGINT, SIG_IGN); /* the terminal's, or another's, to all: it ends with its input */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    execlp("addr2line", "addr2line", "-f", "-C", "-e", path, (char *)NULL);
    _exit(127);
}

static void helper_start(struct helper *h, const char *path)
{
    int asks[2], answers[2];

    h->tried = true;
    if (pipe2(asks, O_CLOEXEC))
        return;
    if (pipe2(answers, O_CLOEXEC)) {
        close(asks[0]);
        close(asks[1]);
        return;
    }
    h->process = fork();
    if (h->process == 0)
        helper_run(path, asks, answers);
    close(asks[0]);
    close(answers[1]);
    h->ask = fdopen(asks[1], "w");
    h->answer = fdopen(answers[0], "r");
    if (h->process < 0 || !h->ask || !h->answer)
        helper_end(h);
}

/* False: there is no answer, and won't be one. */
static bool helper_ask(struct sites *s, struct helper *h, uint64_t addr)
{
    if (!h->ask)
        return false;
    fprintf(h->ask, "%#llx\n", (unsigned long long)addr);
    if (fflush(h->ask) == 0 && getline(&s->line[0], &s->room[0], h->answer) > 0 &&
        getline(&s->line[1], &s->room[1], h->answer) > 0)
        return true;
    helper_end(h);
    return false;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "count main.c:12"; what addr2line does not know it shows as ??. NULL: it knows nothing. */
static char *site_text(char *function, char *place)
{
    const char *file = strrchr(place, '/');

    function[strcspn(function, "\n")] = '\0';
    place[strcspn(place, " (\n")] = '\0';
    file = file ? file + 1 : place;
    if (strcmp(function, "??") == 0)
        return NULL;
    return *file == '?' ? xstrdup(function) : xasprintf("%s %s", function, file);
}

static const struct ring_module *module_of(const struct ring *r, uint64_t site)
{
    const uint32_t said = atomic_load(&r->modules);

    for (uint32_t i = 0; i < said && i < RING_MODULES; i++) {
        const struct ring_module *m = &r->module[i];
        if (site > m->low && site <= m->high && *m->path == '/' && memchr(m->path, '\0', RING_PATH))
            return m;
    }
    return NULL;
}

/* A site is the address behind a call; the call is what has the line. */
void sites_name(struct sites *s, const struct ring *r, uint64_t site, struct names *to)
{
    uint64_t *recent = &s->recent[site * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_LOG)];
    const struct ring_module *m = NULL;

    if (!site || site == *recent)
        return;
    uint64_t *seen = map_put(&s->seen, site);
    if (!*seen && !(m = module_of(r, site)))
        return; /* until its module is known */
    *recent = site;
    if (*seen)
        return;
    *seen = 1;
    struct helper *h = &s->helper[m - r->module];
    if (!h->tried)
        helper_start(h, m->path);
    if (!helper_ask(s, h, site - m->base - 1))
        return;
    struct err ignored = {.code = LARD_DONE};
    char *text = site_text(s->line[0], s->line[1]);
    if (text)
        names_add(to, NAME_SITE, site, text, &ignored);
    err_clear(&ignored);
    free(text);
}
