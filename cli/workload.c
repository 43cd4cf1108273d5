/* workload.c - lardsim workload list. */
#include "base/mem.h"
#include "cli/cli.h"
#include "workloads/measure/measure.h"

#include <stdlib.h>
#include <string.h>

/* ---- the list ------------------------------------------------------------------------------- */

/* above: the line before it, or NULL. Twins all have the same parameters. */
static void print_own(const struct workload *w, const struct workload *above)
{
    const char *before = " (";

    /* Twins share one row table, so pointers tell. */
    if (w->params && above && w->params == above->params) {
        puts(" (as above)");
        return;
    }
    for (const struct param *p = w->params; p && p->name; p++, before = ", ")
        printf("%s%s", before, p->name);
    puts(w->params && w->params->name ? ")" : "");
}

static void print_list(void)
{
    int width = 0;

    for (size_t i = 0; workloads[i]; i++)
        if ((int)strlen(workloads[i]->name) > width)
            width = (int)strlen(workloads[i]->name);
    for (size_t i = 0; workloads[i]; i++) {
        printf("%-*s  %s", width, workloads[i]->name, workloads[i]->summary);
        print_own(workloads[i], i ? workloads[i - 1] : NULL);
    }
    const char *before = "\nall have: ";
    for (const struct param *p = workload_param_rows; p->name; p++, before = ", ")
        printf("%s%s", before, p->name);
    for (const struct param *p = vm_param_rows; p->name; p++)
        printf(", %s", p->name);
    puts("\nnext: `lardsim workload describe NAME`");
}

static void print_json(void)
{
    struct json j;

    json_init(&j, stdout, true);
    json_array(&j);
    for (size_t i = 0; workloads[i]; i++) {
        const struct workload *w = workloads[i];
        json_object(&j);
        JSON_TEXTS(&j, {"name", w->name}, {"summary", w->summary}, {"source", w->source});
        workload_sizes_json(&j, w);
        workload_params_json(&j, w);
        json_end(&j);
    }
    json_end(&j);
}

static int list_run(const struct cli *c, struct err *e)
{
    (void)e;
    if (cli_has(c, OPT_JSON))
        print_json();
    else
        print_list();
    return LARD_DONE;
}

const struct verb verb_workload_list = {
    .help = &verb_help[HELP_workload_list], .options = cli_json_option, .run = list_run};
