/* verbs.c - what --help and the manual say of each verb: cli/help/verbs.txt. */
#include "cli/cli.h"

const struct verb_help verb_help[] = {
#include "verbs.inc"
};
