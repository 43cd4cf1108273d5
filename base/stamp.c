/* stamp.c - what is known of this build when it is made: build.inc has what base/stamp.sh found.
 * The only file that is compiled anew at each commit. */
#include "base/build.h"
#include "build.inc"

#if defined(__clang__)
#define COMPILER __VERSION__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER ""
#endif

const struct build_stamp build_stamp = {
    .commit = BUILD_COMMIT, .compiler = COMPILER, .flags = BUILD_FLAGS};
