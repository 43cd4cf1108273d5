/* box.h - for tests of the modelled runtime: two sites, and objects with a field of each kind.
 */
#ifndef LARDSIM_TESTS_VM_BOX_H
#define LARDSIM_TESTS_VM_BOX_H

#include "tests/workloads/vm/follow.h"

#define SITES(X) X(A, "T.a:1") X(B, "T.b:2")
VM_SITES(SITES)

enum { BOX_I, BOX_L, BOX_D, BOX_R, BOX_V, BOX_F };
#define BOX_FIELDS                                                                                 \
    {"i", VM_I32, 0}, {"l", VM_I64, 0}, {"d", VM_F64, 0}, {"r", VM_REF, 0},                        \
        {"v", VM_I64, EVF_VOLATILE},                                                               \
    {                                                                                              \
        "f", VM_I32, EVF_FINAL                                                                     \
    }
static const struct vm_type_of box = VM_TYPE("Box", BOX_FIELDS);

#endif
