#!/bin/sh
# layers.sh - a room includes only what stands beside it here, and of other folders only what is
# public. The graph is the architecture: read from the top, each room knows those above it alone.
#
# A line is "ROOM: rooms whose headers it may include". Unsaid: its own, base/, and the headers at the
# head of its own folder, which are that folder's door. What stands at the head of a folder (policy/,
# not policy/vc/) may include all rooms of the folder, as it lists them.
graph='
base:
base/program:
trace:
trace/text: trace
trace/binary: trace trace/text
trace/foreign: trace trace/text
trace/rules: trace
trace/lives: trace
trace/synth: trace
memory:
memory/ddr: memory
memory/dramsim3: memory memory/ddr
cache:
cache/replacement: cache
coherence: memory cache
coherence/dsm:
isa/lardx86: trace
swmanager: memory coherence
runtime: trace isa/lardx86 memory
policy: trace memory coherence
policy/hb: trace policy
policy/cost: trace memory policy policy/hb runtime
policy/checker: trace policy policy/hb policy/cost
policy/none: policy policy/hb policy/cost runtime
policy/vc: trace policy policy/cost policy/checker
policy/fasttrack: policy policy/cost policy/checker
policy/clean: policy policy/checker
policy/tsan: policy policy/hb policy/cost
policy/cvm: policy policy/hb policy/cost
policy/eraser: policy policy/cost policy/checker
policy/goldilocks: policy policy/cost policy/checker
policy/slimstate: policy policy/checker policy/fasttrack
policy/regions: policy policy/hb policy/cost policy/checker
policy/radish: policy policy/hb policy/cost swmanager runtime
sim/order: trace
sim/machine: trace memory cache coherence coherence/dsm policy policy/cost sim/order
sim/scheduler: sim/machine sim/order
sim: trace policy
sim/compare: sim policy
sim/why: sim trace policy
sim/watch:
sim/session: sim trace policy policy/cost sim/order sim/machine sim/scheduler sim/compare sim/watch
workloads/vm: trace workloads
workloads/kernels: workloads workloads/vm
workloads/twins: workloads workloads/vm
workloads: trace workloads/vm
workloads/measure: workloads trace trace/lives cache sim
workloads/native:
capture: trace
capture/native: capture trace
capture/java: capture trace
gem5/guest:
gem5: gem5/guest
results:
results/read: results
results/job: base/program sim
results/table: base/program
results/programs: base/program sim
results/drawing: base/program results/job sim
results/experiment: base/program results results/read results/job results/table results/drawing sim results/programs
results/why: base/program results results/read results/job results/drawing sim
results/page: base/program results results/read results/experiment results/drawing results/why sim
results/papers: base/program results results/read results/job results/table results/drawing results/experiment sim results/programs
results/reduce: base/program results/job sim
results/validate: base/program results results/job results/read sim results/programs
cli: base/program trace isa/lardx86 policy sim workloads workloads/measure results results/job results/read results/table results/programs results/drawing results/experiment results/why results/page results/papers results/reduce results/validate
cli/trace: cli trace trace/lives results/job sim
cli/capture: cli cli/trace base/program capture trace
cli/run: cli results results/job results/table trace sim workloads workloads/measure
'
# What other top-level folders may include; tables (.def) too.
public='base/addr.h base/base.h base/budget.h base/build.h base/calendar.h base/csv.h base/digest.h base/ensure.h base/err.h base/fiber.h base/folder.h base/heap.h base/input.h base/interval.h
base/json.h base/map.h base/mem.h base/outfile.h base/param.h base/param_rows.h base/rng.h base/sequences.h base/shadow.h base/stats.h base/stats_declare.h base/stats_fields.h base/sync_object.h base/text.h base/vclock.h base/yaml.h
base/program/child.h base/program/place.h base/program/print.h base/program/stop.h
trace/trace.h trace/lives/lives.h trace/lives/used.h memory/memory.h memory/pages.h memory/perturb.h cache/cache.h coherence/coherence.h coherence/dsm/dsm.h
isa/lardx86/lardx86.h swmanager/swmanager.h runtime/runtime.h policy/policy.h policy/checker.h policy/machine.h policy/view.h policy/cost/inline_heap.h policy/cost/space.h
sim/lardsim.h sim/sim.h workloads/workloads.h workloads/measure/measure.h capture/capture.h
results/results.h results/job/given.h results/job/progress.h results/job/stopped.h results/job/told.h results/read/estimate.h results/programs/kept.h results/programs/programs.h results/read/overhead.h results/table/table.h
results/experiment/collect.h results/experiment/costs.h results/experiment/sweep.h results/drawing/drawing.h results/why/why.h results/drawing/plot.h results/page/report.h results/drawing/svg.h
results/papers/all.h results/papers/lard.h results/papers/table.h results/reduce/reduce.h results/validate/validate.h'

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
