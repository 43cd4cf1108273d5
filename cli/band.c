/* band.c - --band PERCENT of compare and reproduce: the overheads with core.unmodelled at both
 * ends. The truth about what the model leaves out lies anywhere between. */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "sim/sim.h"

static void find_core_type(void *row, const char *section, const struct param *param)
{
    if (!strcmp(section, "core") && !strcmp(param->name, "type"))
        *(struct param *)row = *param;
}

/* Reads core.type: *type is the word for it. */
static int core_type(struct config *config, const char **type, struct err *e)
{
    struct param rows[2] = {PARAM_END, PARAM_END};
    uint32_t choice = 0;

    sim_each_param(find_core_type, &rows[0]);
    rows[0].offset = 0;
    if (config_bind(config, "core", rows, &choice, e))
        return -1;
    *type = rows[0].choices[choice];
    return 0;
}

int cli_band(const struct cli *c, struct config *config, uint64_t *most, struct err *e)
{
    const char *text = cli_get(c, OPT_BAND), *type;

    *most = 0;
    if (!text)
        return 0;
    if (!number_of_text(text, most) || !*most || *most > 1000)
        return err_set(e, LARD_USAGE, "%s: --band: '%s' is no number from 1 to 1000",
                       c->verb->help->name, text);
    if (core_type(config, &type, e))
        return -1;
    if (strcmp(type, "pipelined") != 0)
        return err_set(e, LARD_USAGE,
                       "%s: --band adds instructions that only a pipelined core issues, and this "
                       "one is %s; give core.type=pipelined, or leave --band out",
                       c->verb->help->name, type);
    return 0;
}
