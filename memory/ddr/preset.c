/* preset.c - the devices of presets.def, each a column of that table. */
#include "memory/ddr/ddr.h"

const struct ddr_preset ddr_presets[] = {
    {"ddr4-2400",
     "DDR4-2400 17-17-17, 8 Gb x8 chips, one channel of two ranks, 16 GiB.",
     {
#define PRESET(field, the, ...) .field = the,
#include "memory/ddr/presets.def"
#undef PRESET
     }},
    {"ddr4-3200",
     "DDR4-3200 22-22-22, 8 Gb x8 chips, one channel of two ranks, 16 GiB.",
     {
#define PRESET(field, a, the, ...) .field = the,
#include "memory/ddr/presets.def"
#undef PRESET
     }},
    {"ddr3-1600",
     "DDR3-1600 11-11-11, 4 Gb x8 chips, one channel of two ranks, 8 GiB.",
     {
#define PRESET(field, a, b, the, ...) .field = the,
#include "memory/ddr/presets.def"
#undef PRESET
     }},
    {"lpddr4-2400",
     "LPDDR4-2400, 8 Gb x16 chips, two channels of 32 bits with two ranks each, 8 GiB.",
     {
#define PRESET(field, a, b, c, the, ...) .field = the,
#include "memory/ddr/presets.def"
#undef PRESET
     }},
    {"hbm2",
     "HBM2 at 2 Gb/s, one stack of eight 128-bit channels, 8 GiB.",
     {
#define PRESET(field, a, b, c, d, the) .field = the,
#include "memory/ddr/presets.def"
#undef PRESET
     }},
    {.name = NULL},
};
