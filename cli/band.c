/* band.c - --band PERCENT of compare and reproduce: the overheads with core.unmodelled at both
 * ends. The truth about what the model leaves out lies anywhere between. */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

int cli_band(const struct cli *c, const struct lardsim *l, uint64_t *most, struct err *e)
{
    const char *text = cli_get(c, OPT_BAND), *type = lardsim_given(l, "core.type");

    *most = 0;
    if (!text)
        return 0;
    if (!number_of_text(text, most) || !*most || *most > 1000)
        return err_set(e, LARD_USAGE, "%s: --band: '%s' is no number from 1 to 1000",
                       c->verb->help->name, text);
    if (!type || strcmp(type, "pipelined") != 0)
        return err_set(e, LARD_USAGE,
                       "%s: --band adds instructions that only a pipelined core issues, and this "
                       "one is %s; give core.type=pipelined, or leave --band out",
                       c->verb->help->name, type ? type : "simple");
    return 0;
}
