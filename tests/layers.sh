#!/bin/sh
# layers.sh - a folder includes only its own headers and those of folders below it.
order="base trace isa memory cache coherence swmanager runtime policy sim workloads cli"
cd "${top_srcdir:-.}" || exit 99
bad=0
for f in */*.[ch] */*/*.[ch]; do
    own=${f%%/*}
    case " $order " in *" $own "*) ;; *) continue ;; esac
    allowed=
    for d in $order; do
        allowed="$allowed $d"
        [ "$d" = "$own" ] && break
    done
    for inc in $(sed -n 's/^#include "\([a-z0-9]*\)\/.*/\1/p' "$f"); do
        case " $allowed " in
        *" $inc "*) ;;
        *) echo "$f: includes $inc/, which is above $own/"; bad=1 ;;
        esac
    done
    # Across folders, public headers only.
    for inc in $(sed -n 's/^#include "\([a-z0-9_\/]*\.h\)"/\1/p' "$f"); do
        case $inc in
        "$own"/* | base/base.h | base/fiber.h | base/param.h | base/stats.h | base/vclock.h | base/mutant.h | trace/trace.h | \
            memory/memory.h | cache/cache.h | coherence/coherence.h | isa/lardx86/lardx86.h | \
            swmanager/swmanager.h | runtime/runtime.h | policy/policy.h | sim/lardsim.h | sim/sim.h | \
            workloads/workloads.h) ;;
        *) echo "$f: includes $inc, which is not for other folders"; bad=1 ;;
        esac
    done
done
grep -l '#include "' tests/oracle*.c tests/oracle*.h | while read -r f; do
    sed -n 's/^#include "\(.*\)"/\1/p' "$f" | while read -r inc; do
        case $inc in trace/trace.h | tests/oracle*) ;; *) echo "$f: the oracle includes $inc" ;; esac
    done
done | { ! grep .; } || bad=1
exit $bad
