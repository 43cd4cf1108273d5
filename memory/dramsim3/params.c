/* params.c - what can be said to the memory dramsim3, so that every build explains it. */
#include "memory/dramsim3/dramsim3_int.h"
#include "memory/memory.h"

#define AT(field) offsetof(struct dramsim3_params, field)
const struct param dramsim3_rows[] = {
    {"config", PARAM_STRING, AT(config), "", 0, 0, "", NULL,
     "The device: an .ini file of DRAMSim3; its section [other] is not used."},
    {"output", PARAM_STRING, AT(output), "", 0, 0, "", NULL,
     "A folder for DRAMSim3's own statistics (dramsim3.json, dramsim3.txt); empty: none."},
    PARAM_END,
};
#undef AT
