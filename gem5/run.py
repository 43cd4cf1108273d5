# run.py - one program for x86-64 Linux, linked statically, on a simulated multicore with lardsim:
#
#     gem5.opt gem5/run.py --policy lardish --cores 4 -- program args
#
# Results: m5out/stats.txt as always, and lardsim's own in m5out/lardsim. docs/gem5.md has more.
import argparse
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lard_stdlib import (
    detect,
    monitored,
)

import m5
from m5.objects import (
    CommMonitor,
    MemTraceProbe,
)

from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.private_l1_shared_l2_cache_hierarchy import (
    PrivateL1SharedL2CacheHierarchy,
)
from gem5.components.memory.single_channel import SingleChannelDDR3_1600
from gem5.components.processors.cpu_types import CPUTypes
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA
from gem5.resources.resource import BinaryResource
from gem5.simulate.exit_event import ExitEvent
from gem5.simulate.simulator import Simulator

CPUS = {
    "timing": CPUTypes.TIMING,
    "atomic": CPUTypes.ATOMIC,
    "minor": CPUTypes.MINOR,
    "o3": CPUTypes.O3,
}


def arguments():
    ap = argparse.ArgumentParser(description="A program under lardsim, in gem5.")
    ap.add_argument("--policy", default="lardish", help="lardsim's policies, as `lardsim list policies` has them")
    ap.add_argument("--cores", type=int, default=4, help="CPUs; each has one thread of the program at a time")
    ap.add_argument("--cpu", choices=CPUS, default="timing", help="minor and o3 count only, and detect nothing")
    ap.add_argument("--clock", default="1GHz", help="of the CPUs")
    ap.add_argument("--memory", default="512MiB", help="size of the memory")
    ap.add_argument("--l1d", default="32KiB", help="size of each L1 data cache")
    ap.add_argument("--l1i", default="32KiB", help="size of each L1 instruction cache")
    ap.add_argument("--l2", default="512KiB", help="size of the L2 that all share")
    ap.add_argument("--feedback", action="store_true", help="the CPUs wait for what the detector adds")
    ap.add_argument("--tracked", choices=["program", "marked"], default="program",
                    help="which accesses are checked: the program's, or those with the mark of lard.h")
    ap.add_argument("--preset", default="", help="of lardsim's machine, as lardsim run -c")
    ap.add_argument("--config", default="", help="a file of lardsim's parameters")
    ap.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one of lardsim's parameters")
    ap.add_argument("--debug", action="append", default=[], metavar="FILTER",
                    help="print what happens to an access, as lardsim run --debug")
    ap.add_argument("--record", default="", metavar="FILE", help="keep all events as a trace, below m5out")
    ap.add_argument("--packets", action="store_true",
                    help="gem5's packets, as traces, below m5out; and LARD_SYNC for a guest that has lard_sync.c")
    ap.add_argument("--plain", action="store_true", help="without lardsim: for comparison")
    ap.add_argument("program")
    ap.add_argument("args", nargs=argparse.REMAINDER)
    o = ap.parse_args()
    if not os.access(o.program, os.X_OK):
        ap.error("%s is no program" % o.program)
    return o


def regions(board, begins):
    """m5_work_begin and m5_work_end, and on with the run."""
    while True:
        board.workload.roi(begins)
        yield False


class Packets(PrivateL1SharedL2CacheHierarchy):
    """Each CPU's packets go to a file: m5out/dcacheN.ptrc.gz (docs/foreign-formats.md)."""

    def incorporate_cache(self, board):
        super().incorporate_cache(board)
        cores = board.get_processor().get_cores()
        self.packets = [CommMonitor() for _ in cores]
        for i, (core, monitor) in enumerate(zip(cores, self.packets)):
            core.get_simobject().dcache_port.splice(monitor.cpu_side_port, monitor.mem_side_port)
            monitor.trace = MemTraceProbe(
                manager=[monitor], with_pc=True, trace_file="dcache%d.ptrc.gz" % i, trace_compress=True
            )


def simulate(o):
    hierarchy = Packets if o.packets else PrivateL1SharedL2CacheHierarchy
    if not o.plain:
        hierarchy = monitored(hierarchy)
    board = SimpleBoard(
        clk_freq=o.clock,
        processor=SimpleProcessor(cpu_type=CPUS[o.cpu], isa=ISA.X86, num_cores=o.cores),
        memory=SingleChannelDDR3_1600(size=o.memory),
        cache_hierarchy=hierarchy(l1d_size=o.l1d, l1i_size=o.l1i, l2_size=o.l2),
    )
    board.set_se_binary_workload(
        BinaryResource(local_path=o.program),
        arguments=o.args,
        env_list=["LARD_SYNC=%s" % os.path.join(os.path.abspath(m5.options.outdir), "sync.txt")] if o.packets else [],
        exit_on_work_items=not o.plain,
    )
    if not o.plain:
        detect(
            board,
            preset=o.preset,
            config=o.config,
            settings=["policies=" + o.policy] + o.set,
            debug=o.debug,
            feedback=o.feedback,
            marked=o.tracked == "marked",
            record=o.record,
        )
    simulator = Simulator(
        board=board,
        on_exit_event={} if o.plain else {
            ExitEvent.WORKBEGIN: regions(board, True),
            ExitEvent.WORKEND: regions(board, False),
        },
    )
    simulator.run()
    print("%s at tick %d" % (simulator.get_last_exit_event_cause(), simulator.get_current_tick()))
    return board


def lines(program, places):
    """Where in the source these places of the program are, if it was compiled with -g. A place is
    `function+offset (address)`."""
    address = {p: p.rpartition("(")[2].rstrip(")") for p in places if p}
    if not address or not shutil.which("addr2line"):
        return {}
    run = subprocess.run(
        ["addr2line", "-s", "-e", program, *address.values()], capture_output=True, text=True
    )
    at = (line.split(" ")[0] for line in run.stdout.splitlines())
    return {place: line for place, line in zip(address, at) if "?" not in line}


def side(what, source):
    place = what["site"]
    where = "%s, %s" % (source[place], place) if place in source else place or "an unknown place"
    return "%s at %s, by thread %s" % (what["op"] or "access", where, what["thread"])


def report_races(folder, program):
    """Each pair of places once."""
    with open(os.path.join(folder, "races.jsonl")) as file:
        found = [json.loads(line) for line in file]
    pairs = {}
    for race in found:
        pairs.setdefault((race["policy"], race["race"]), []).append(race)
    firsts = [races[0] for races in pairs.values()]
    source = lines(program, {s["site"] for race in firsts for s in (race, race["earlier"])})
    for (policy, _), races in pairs.items():
        first = races[0]
        print("%s: %s" % (policy, side(first, source)))
        print("    races with the %s" % side(first["earlier"], source))
        print("    on %s; so often: %d" % (first["object"] or first["address"], len(races)))
    print("lardsim: %d racy accesses, by %d pairs of places" % (len(found), len(pairs)))


def report_caveat(folder):
    """What one must know before one believes that there is no race."""
    with open(os.path.join(folder, "provenance.json")) as file:
        caveat = json.load(file).get("caveat")
    if caveat:
        print("lardsim: %s" % caveat)


def report_cores(folder, waited):
    """What the detector cost each core."""
    with open(os.path.join(folder, "stats.json")) as file:
        cores = json.load(file)["cores"]
    for core, own in cores["executing"].items():
        added = cores["handler"][core] + cores["stopped"][core]
        if own:
            print("core %s: %d cycles, and %d for the detector (%.1f %%)%s"
                  % (core, own, added, 100 * added / own, ", for which it waited" if waited else ""))


o = arguments()
board = simulate(o)
if not o.plain:
    board.workload.finish()
    folder = os.path.join(m5.options.outdir, "lardsim")
    report_races(folder, o.program)
    report_caveat(folder)
    report_cores(folder, o.feedback)
    print("lardsim: results in %s" % folder)
