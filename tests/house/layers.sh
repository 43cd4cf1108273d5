#!/bin/sh
# layers.sh - a room includes only what stands beside it here, and of other folders only what is
# public. The graph is the architecture: read from the top, each room knows those above it alone.
#
# A line is "ROOM: rooms whose headers it may include". Unsaid: its own, base/, and the headers at the
# head of its own folder, which are that folder's door. What stands at the head of a folder (policy/,
# not policy/vc/) may include all rooms of the folder, as it lists them.
graph='
base:
trace:
trace/text: trace
trace/binary: trace trace/text
trace/foreign: trace trace/text
trace/rules: trace
trace/synth: trace
memory:
memory/ddr: memory
memory/dramsim3: memory memory/ddr
cache:
coherence: memory cache
dsm:
isa/lardx86: trace
swmanager: memory coherence
runtime: trace isa/lardx86 memory
policy: trace memory coherence
policy/frame: trace policy runtime
policy/vc: trace policy policy/frame
policy/fasttrack: policy policy/frame
policy/clean: policy policy/frame
policy/tsan: policy policy/frame
policy/cvm: policy policy/frame
policy/eraser: policy policy/frame
policy/goldilocks: policy policy/frame
policy/slimstate: policy policy/frame policy/fasttrack
policy/regions: policy policy/frame
policy/radish: policy policy/frame swmanager runtime
sim/order: trace
sim/machine: trace memory cache dsm policy sim/order
sim/scheduler: sim/machine sim/order
sim: trace policy
sim/compare: sim policy
sim/why: sim trace policy
sim/session: sim trace policy sim/order sim/machine sim/scheduler sim/compare
workloads/vm: trace workloads
workloads/kernels: workloads workloads/vm
workloads/twins: workloads workloads/vm
workloads: trace workloads/vm
capture: trace
capture/native: capture trace
capture/java: capture trace
gem5/guest:
gem5: gem5/guest
results:
results/read: results
cli: trace isa/lardx86 policy results sim workloads
cli/trace: cli trace
cli/capture: cli cli/trace capture trace
cli/workload: cli cli/trace trace cache sim workloads
cli/programs: cli cli/trace cli/workload workloads
cli/run: cli cli/workload results trace sim
cli/reduce: cli cli/run cli/trace trace policy sim
cli/why: cli cli/run cli/trace results trace policy sim
cli/machine: cli cli/run policy sim
cli/sweep: cli cli/programs results trace policy sim
cli/report: cli cli/machine cli/sweep cli/why results sim
cli/compare: cli cli/report cli/run cli/workload trace policy sim
cli/reproduce: cli cli/sweep cli/programs cli/workload sim workloads
cli/validate: cli cli/programs sim
validate:
'
# What other top-level folders may include; tables (.def) too.
public='base/base.h base/build.h base/calendar.h base/fiber.h base/folder.h base/input.h base/param.h base/sequences.h base/stats.h base/vclock.h base/yaml.h trace/trace.h
memory/memory.h memory/pages.h memory/perturb.h cache/cache.h coherence/coherence.h dsm/dsm.h isa/lardx86/lardx86.h swmanager/swmanager.h
runtime/runtime.h policy/policy.h policy/checker.h policy/machine.h policy/view.h policy/inline_heap.h policy/space.h sim/lardsim.h sim/sim.h sim/why.h workloads/workloads.h capture/capture.h results/results.h'

cd "${top_srcdir:-.}" || exit 99
bad=0
say() { echo "$*"; bad=1; }

includes() { sed -n 's/^#include "\([a-z0-9_\/]*\.h\)"/\1/p' "$1"; }

# The graph has no cycle: who stands on a room stands below it here. The head of a folder and its
# rooms are one door from outside, and know each other.
above=' '
for room in $(echo "$graph" | sed -n 's/:.*//p'); do
    for on in $(echo "$graph" | sed -n "s|^$room:||p"); do
        case $above in
        *" $on "*) continue ;;
        esac
        [ "$on" = "${room%%/*}" ] || say "layers.sh: $room/ stands on $on/, which is not above it in the list"
    done
    above="$above$room "
done

for room in $(echo "$graph" | sed -n 's/:.*//p'); do
    folder=${room%%/*}
    allowed=" base $room $(echo "$graph" | sed -n "s|^$room:||p") "
    if [ "$folder" = "$room" ]; then
        allowed="$allowed $(echo "$graph" | sed -n "s|^\($folder/[a-z0-9]*\):.*|\1|p" | tr '\n' ' ') "
    else
        allowed="$allowed $folder "
    fi
    for f in "$room"/*.[ch]; do
        [ "$room" = gem5/guest ] && continue # programs of users, compiled where they lie
        for inc in $(includes "$f"); do
            case $allowed in
            *" ${inc%/*} "*) ;;
            *) say "$f: includes $inc, but $room/ does not stand on ${inc%/*}/" ;;
            esac
            [ "${inc%%/*}" = "$folder" ] && continue
            case " $(echo $public) " in
            *" $inc "*) ;;
            *) say "$f: includes $inc, which is not for other folders" ;;
            esac
        done
    done
done
for f in */*.[ch] */*/*.[ch]; do
    case $f in tests/* | bench/* | docs/* | build* | */build*) continue ;; esac
    echo "$graph" | grep -q "^${f%/*}:" || say "$f: ${f%/*}/ is no room; give it a line in tests/house/layers.sh"
done
for f in tests/oracle/*.[ch]; do
    case $f in */t_*) continue ;; esac
    for inc in $(includes "$f"); do
        case $inc in trace/trace.h | tests/oracle/*) ;; *) say "$f: the oracle includes $inc" ;; esac
    done
done
exit $bad
