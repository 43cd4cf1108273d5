/* steps.h - a policy's steps by name, STEP_NAME, and as the charges that it declares. The file that
 * includes this says first which table they stand in, and what the charges are called:
 *
 *     #define STEPS_DEF "policy/vc/steps.def"
 *     #define STEPS_CHARGES vc_charges
 *     #include "policy/cost/steps.h"
 */
#ifdef STEPS_DEF

enum step {
#define STEP(NAME, name, instructions, needs, text) STEP_##NAME,
#include STEPS_DEF
#undef STEP
    STEPS
};

static const struct cost_step steps[] = {
#define STEP(NAME, name, instructions, needs, text) {name, instructions, text, STEP_NEEDS_##needs},
#include STEPS_DEF
#undef STEP
};
const struct policy_charges STEPS_CHARGES = {steps, STEPS};

#endif
