/* verify.c - lardsim verify: holds a results folder to the hashes in its DONE. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/folder.h"
#include "base/mem.h"
#include "cli/cli.h"

struct faults {
    const char *dir;
    struct json *json; /* NULL: as text */
    uint64_t n;
};

/* Prints a fault. Names come from DONE, and anyone may have written that. */
static void tell(void *arg, const struct seal_fault *fault)
{
    struct faults *f = arg;

    f->n++;
    if (!f->json) {
        char *text = seal_fault_text(fault);
        print_visible(stdout, f->dir);
        fputs("/", stdout);
        print_visible(stdout, fault->file);
        printf(" %s\n", text);
        free(text);
        return;
    }
    json_object(f->json);
    json_key_str(f->json, "file", fault->file);
    json_key_str(f->json, "fault", fault->what);
    if (fault->hashed) {
        json_key_hex16(f->json, "digest", fault->is);
        json_key_hex16(f->json, "sealed", fault->was);
    }
    json_end(f->json);
}

struct verify_faults {        /* the faults of one look */
    struct seal_fault *fault; /* own their texts */
    size_t n, cap;
};

static void keep(void *arg, const struct seal_fault *fault)
{
    struct verify_faults *f = arg;

    f->fault = xgrow(f->fault, f->n, &f->cap, sizeof *f->fault);
    f->fault[f->n] = *fault;
    f->fault[f->n].file = xstrdup(fault->file);
    f->fault[f->n++].what = xstrdup(fault->what);
}

static void faults_free(struct verify_faults *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free((char *)(uintptr_t)f->fault[i].file);
        free((char *)(uintptr_t)f->fault[i].what);
    }
    free(f->fault);
}

/* Files that were looked at; -1: error. A run may take the folder's place while it is looked at:
 * then that run's is looked at. */
static int64_t check(struct faults *f, struct err *e)
{
    enum { REPLACED_MOST = 100 };

    for (int replaced = 0;; replaced++) {
        struct seal *s = seal_open(f->dir, e);
        struct verify_faults found = {.n = 0};
        int64_t files = -1;

        if (s && !seal_there(s))
            seal_none(s, e);
        else if (s)
            files = (int64_t)seal_check(s, keep, &found);
        const bool again = found.n && replaced < REPLACED_MOST && !seal_current(s);
        for (size_t i = 0; i < found.n && !again; i++)
            tell(f, &found.fault[i]);
        faults_free(&found);
        seal_close(s);
        if (!again)
            return files;
    }
}

static int judged(const struct faults *f, struct err *e)
{
    if (!f->n)
        return LARD_DONE;
    return err_set(e, LARD_TOLERANCE, "%s: %" PRIu64 " file%s not as the run wrote %s", f->dir,
                   f->n, f->n == 1 ? " is" : "s are", f->n == 1 ? "it" : "them");
}

static int as_text(struct faults *f, struct err *e)
{
    const int64_t files = check(f, e);

    if (files < 0)
        return -1;
    if (!f->n) {
        print_visible(stdout, f->dir);
        printf(": whole; %" PRId64 " files are as the run wrote them\n", files);
    }
    return judged(f, e);
}

static int as_json(struct faults *f, struct err *e)
{
    struct json j;

    f->json = &j;
    json_page(&j, stdout, "lardsim-verify-1");
    json_key_str(&j, "folder", f->dir);
    json_key_array(&j, "faults");
    const int64_t files = check(f, e);
    json_end(&j);
    json_key_u64(&j, "files", files < 0 ? 0 : (uint64_t)files);
    json_key_bool(&j, "whole", files >= 0 && !f->n);
    json_key_str(&j, "error", e->code ? e->text : NULL);
    json_end(&j);
    return files < 0 ? -1 : judged(f, e);
}

static int verify_run(const struct cli *c, struct err *e)
{
    struct faults f = {.dir = c->arg[0]};

    return cli_has(c, OPT_JSON) ? as_json(&f, e) : as_text(&f, e);
}

const struct verb verb_verify = {
    .help = &verb_help[HELP_verify], .options = cli_json_option, .run = verify_run};
