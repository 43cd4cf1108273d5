/* mutate.c - breaks rules on purpose, in a copy of the source.
 *
 *     mutate [-o DIR] SOURCE EDITS...
 *
 * EDITS (tests/mutants/) say which mutants there are, and are applied all at once: each
 * MUTANT(NAME) in what they put is true when that rule is to be broken (tests/mutants/switch.h).
 * What comes of the edited files is written to DIR, which holds a copy of SOURCE; without DIR it is
 * only seen whether every edit finds its place. For each mutant a line is printed: its name, the
 * test that must notice it, and what that test then says, with tabs between them.
 *
 *     mutate [-o DIR] -n NUMBER [-s SEED] [-r ROOM] SOURCE EDITS...
 *
 * The mutants are small changes (mutate_random.c), drawn by the seed: so many in each folder of the
 * product, or of ROOM, a path. Not those that are EDITS, which are changes that nobody can notice.
 * Printed are name, place, and the line before and after; the name of one that would have been
 * drawn and is among EDITS is "equivalent".
 *
 * EDITS look like this:
 *
 *     # a comment
 *     test PROGRAM ARGUMENTS... says SIGN        must notice the mutants that follow
 *     mutant NAME Which rule is broken.
 *     edit FILE
 *      a line that stays
 *     -a line that goes
 *     +a line that comes
 *
 * Lines that stay and go stand together in FILE once, no more and no less. An edit belongs to the
 * mutants that it names, or to those above it; it may belong to several, and they to several edits,
 * which must not overlap. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/mutants/mutate.h"

struct mutate all;

void wrong(const char *in, size_t at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "%s:%zu: ", in, at);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    all.wrong++;
}

static struct text path_read(const char *path)
{
    struct text t = {0};
    FILE *f = fopen(path, "r");
    size_t room = 0;

    if (!f || getdelim(&t.bytes, &room, EOF, f) < 0) {
        fprintf(stderr, "mutate: %s can't be read\n", path);
        exit(2);
    }
    fclose(f);
    return t;
}

struct text text_read(const char *file)
{
    char *path = xasprintf("%s/%s", all.source, file);
    const struct text t = path_read(path);

    free(path);
    return t;
}

static struct text cut(struct text t)
{
    for (char *at = t.bytes; at && *at;) {
        char *end = strchr(at, '\n');
        t.line = xgrow(t.line, t.lines, &t.cap, sizeof *t.line);
        t.line[t.lines++] = at;
        if (end)
            *end++ = '\0';
        at = end;
    }
    return t;
}

static FILE *file_create(const char *file)
{
    char *path = xasprintf("%s/%s", all.dir, file);
    FILE *out = fopen(path, "w");

    if (!out) {
        fprintf(stderr, "mutate: %s can't be written; it must be a copy of the source\n", path);
        exit(2);
    }
    free(path);
    return out;
}

FILE *create(const char *file)
{
    FILE *out = file_create(file);

    fputs("#include \"tests/mutants/switch.c\"\n", out);
    return out;
}

void finish(FILE *out)
{
    if (fclose(out)) {
        perror("mutate");
        exit(2);
    }
}

void mutant_add(struct mutant m)
{
    all.mutant = xgrow(all.mutant, all.mutants, &all.mutant_cap, sizeof m);
    all.mutant[all.mutants++] = m;
}

/* ---- the edits ------------------------------------------------------------------------------ */

/* Cuts the first word off: returns what follows it. */
static char *after_word(char *line)
{
    char *end = strchr(line, ' ');

    if (!end)
        return line + strlen(line);
    *end = '\0';
    return end + 1;
}

static struct mutant *mutant_find(const char *name, size_t n)
{
    for (size_t i = 0; i < all.mutants; i++)
        if (strlen(all.mutant[i].name) == n && !memcmp(all.mutant[i].name, name, n))
            return &all.mutant[i];
    return NULL;
}

static bool of_edit(const char *line)
{
    return *line == ' ' || *line == '-' || *line == '+';
}

static size_t edit_read(const char *in, const struct text *t, size_t i)
{
    struct edit e = {.in = in, .at = i + 1, .file = t->line[i] + strlen("edit ")};

    for (e.line = &t->line[++i]; i < t->lines; i++)
        if (!of_edit(t->line[i]) && (*t->line[i] || i + 1 == t->lines || !of_edit(t->line[i + 1])))
            break;
    e.lines = (size_t)(&t->line[i] - e.line);
    for (size_t k = 0; k < e.lines; k++)
        e.removed += *e.line[k] != '+';
    if (!e.removed)
        wrong(in, e.at, "an edit of %s that does not say where", e.file);
    all.edit = xgrow(all.edit, all.edits, &all.edit_cap, sizeof e);
    all.edit[all.edits++] = e;
    return i;
}

static void edits_read(const char *in)
{
    all.text = xgrow(all.text, all.texts, &all.text_cap, sizeof *all.text);
    const struct text t = all.text[all.texts++] = cut(path_read(in));
    const char *test = NULL, *sign = NULL;

    for (size_t i = 0; i < t.lines;) {
        char *line = t.line[i];
        if (!strncmp(line, "edit ", 5)) {
            i = edit_read(in, &t, i);
            continue;
        }
        char *says = strstr(line, " says ");
        if (!strncmp(line, "test ", 5) && says) {
            *says = '\0';
            test = line + 5;
            sign = says + strlen(" says ");
        } else if (!strncmp(line, "mutant ", 7) && test) {
            char *name = line + 7, *what = after_word(name);
            if (mutant_find(name, strlen(name)))
                wrong(in, i + 1, "there are two mutants %s", name);
            mutant_add((struct mutant){name, what, test, sign, in, i + 1, false});
        } else if (*line && *line != '#') {
            wrong(in, i + 1,
                  "neither a test (test PROGRAM says SIGN), nor a mutant with one, nor an edit: %s",
                  line);
        }
        i++;
    }
}

/* Whom an edit names must exist, and everybody must be named. */
static void check_names(void)
{
    static const char use[] = "MUTANT(";

    for (size_t i = 0; i < all.edits; i++)
        for (size_t k = 0; k < all.edit[i].lines; k++)
            for (const char *at = all.edit[i].line[k]; (at = strstr(at, use));) {
                const size_t n = strcspn(at += strlen(use), ")");
                struct mutant *m = mutant_find(at, n);
                if (m)
                    m->used = true;
                else
                    wrong(all.edit[i].in, all.edit[i].at + k + 1, "there is no mutant %.*s", (int)n,
                          at);
            }
    for (size_t i = 0; i < all.mutants; i++)
        if (!all.mutant[i].used)
            wrong(all.mutant[i].in, all.mutant[i].at, "no edit names the mutant %s",
                  all.mutant[i].name);
}

/* ---- the source ----------------------------------------------------------------------------- */

static bool stands_at(const struct edit *e, const struct text *t, size_t at)
{
    for (size_t k = 0; k < e->lines; k++) {
        const char *is = e->line[k];
        if (*is == '+')
            continue;
        if (at == t->lines || strcmp(*is ? is + 1 : is, t->line[at++]) != 0)
            return false;
    }
    return true;
}

/* The mutant whose edit this is, for messages: the last one above it. */
static const char *mutant_above(const struct edit *e)
{
    const char *name = "nobody";

    for (size_t i = 0; i < all.mutants; i++)
        if (!strcmp(all.mutant[i].in, e->in) && all.mutant[i].at < e->at)
            name = all.mutant[i].name;
    return name;
}

static void locate(struct edit *e, const struct text *t)
{
    size_t times = 0;

    for (size_t at = 0; at < t->lines; at++)
        if (stands_at(e, t, at)) {
            e->place = at;
            times++;
        }
    if (times == 1)
        return;
    wrong(e->in, e->at,
          "mutant %s looks for this in %s and finds it %zu times, not once; %s:", mutant_above(e),
          e->file, times,
          times ? "say more of what stands before or after"
                : "whoever changed it changes the edit, too");
    for (size_t k = 0; k < e->lines; k++)
        if (*e->line[k] != '+')
            fprintf(stderr, "    %s\n", *e->line[k] ? e->line[k] + 1 : "");
}

static int by_place(const void *a, const void *b)
{
    const struct edit *const *x = a, *const *y = b;

    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

static void write_edited(FILE *out, const struct text *t, struct edit *const *edit, size_t edits)
{
    size_t at = 0;

    for (size_t i = 0; i < edits; i++) {
        const struct edit *e = edit[i];
        while (at < e->place)
            fprintf(out, "%s\n", t->line[at++]);
        for (size_t k = 0; k < e->lines; k++)
            if (*e->line[k] != '-')
                fprintf(out, "%s\n", *e->line[k] ? e->line[k] + 1 : "");
        at += e->removed;
    }
    while (at < t->lines)
        fprintf(out, "%s\n", t->line[at++]);
}

/* All edits of one file, the first of which is number i. */
static void edit_file(size_t i)
{
    const char *file = all.edit[i].file;
    const struct text t = cut(text_read(file));
    struct edit **edit = xcalloc(all.edits, sizeof(struct edit *));
    size_t edits = 0;

    for (; i < all.edits; i++)
        if (!strcmp(all.edit[i].file, file)) {
            edit[edits++] = &all.edit[i];
            locate(&all.edit[i], &t);
        }
    qsort(edit, edits, sizeof(struct edit *), by_place);
    for (size_t k = 1; k < edits; k++)
        if (edit[k]->place < edit[k - 1]->place + edit[k - 1]->removed)
            wrong(edit[k]->in, edit[k]->at, "overlaps the edit of %s at %s:%zu: make them one",
                  file, edit[k - 1]->in, edit[k - 1]->at);
    if (all.dir && !all.wrong) {
        FILE *out = create(file);
        write_edited(out, &t, edit, edits);
        finish(out);
    }
    free(edit);
    free(t.line);
    free(t.bytes);
}

static void edit_files(void)
{
    for (size_t i = 0; i < all.edits; i++) {
        size_t first = 0;
        while (strcmp(all.edit[first].file, all.edit[i].file) != 0)
            first++;
        if (first == i)
            edit_file(i);
    }
}

static void apply_edits(void)
{
    check_names();
    edit_files();
    for (size_t i = 0; i < all.mutants && !all.wrong; i++)
        printf("%s\t%s\t%s\n", all.mutant[i].name, all.mutant[i].test, all.mutant[i].sign);
}

/* What the switch needs. */
static void write_switch(void)
{
    FILE *out = file_create("tests/mutants/list.def");

    for (size_t i = 0; i < all.mutants; i++)
        fprintf(out, "MUTANT_ROW(%s)\n", all.mutant[i].name);
    finish(out);
}

int main(int argc, char **argv)
{
    const char *number = NULL, *seed = "1";
    int option;

    while ((option = getopt(argc, argv, "n:o:r:s:")) != -1)
        *(option == 'n'   ? &number
          : option == 'o' ? &all.dir
          : option == 'r' ? &all.room
                          : &seed) = optarg;
    if (argc - optind < 2) {
        fputs("usage: mutate [-o DIR] [-n NUMBER [-s SEED] [-r ROOM]] SOURCE EDITS...\n", stderr);
        return 2;
    }
    all.source = argv[optind];
    for (int i = optind + 1; i < argc; i++)
        edits_read(argv[i]);
    if (number)
        draw_mutants(strtoull(number, NULL, 10), strtoull(seed, NULL, 10));
    else
        apply_edits();
    if (all.dir && !all.wrong)
        write_switch();
    return all.wrong != 0;
}
