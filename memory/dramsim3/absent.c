/* absent.c - the memory dramsim3 of a build without the library: it is explained, and refused. */
#include "memory/dramsim3/dramsim3_int.h"
#include "memory/memory.h"

static void *absent_create(const struct memory_env *env, const void *params, struct err *e)
{
    (void)env;
    (void)params;
    err_set(e, LARD_CONFIG,
            "memory.type: this lardsim was built without DRAMSim3; build one with `make "
            "with-dramsim3 DRAMSIM3=DIR`, or set memory.type=ddr, which reads the same files");
    return NULL;
}

const struct memory_type memory_dramsim3 = {
    .name = "dramsim3",
    .summary = DRAMSIM3_SUMMARY,
    .params = dramsim3_rows,
    .params_size = sizeof(struct dramsim3_params),
    .create = absent_create,
};
