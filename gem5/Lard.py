# Lard.py - what gem5's Python knows of the monitor and the workload. gem5 makes all parameters again
# when this file changes: some minutes.
from m5.objects.X86SeWorkload import X86EmuLinux
from m5.params import *
from m5.proxy import *
from m5.SimObject import (
    PyBindMethod,
    SimObject,
)


class LardWorkload(X86EmuLinux):
    type = "LardWorkload"
    cxx_header = "gem5/lard_workload.hh"
    cxx_class = "gem5::LardWorkload"
    cxx_exports = [PyBindMethod("roi"), PyBindMethod("finish")]

    preset = Param.String("", "lardsim's preset, as lardsim run -c takes it")
    config = Param.String("", "a file of lardsim's parameters")
    settings = VectorParam.String([], "lardsim's parameters, as NAME=VALUE")
    debug = VectorParam.String([], "what to watch, as lardsim run --debug takes it")
    feedback = Param.Bool(False, "the cores wait for what the detector adds")
    marked = Param.Bool(False, "only accesses with the mark are the program's")
    output = Param.String("lardsim", "lardsim's results, below gem5's output folder")
    record = Param.String("", "a trace of all events, below gem5's output folder")

    # Else SEWorkload.init_compatible() finds two workloads for each program for x86-64 Linux, and
    # refuses to choose.
    @classmethod
    def _is_compatible_with(cls, obj):
        return False


class LardMonitor(SimObject):
    type = "LardMonitor"
    cxx_header = "gem5/lard_monitor.hh"
    cxx_class = "gem5::LardMonitor"

    cpu_side_port = ResponsePort("to the data port of the CPU")
    mem_side_port = RequestPort("to its L1 data cache")
    workload = Param.LardWorkload("whose run it reports to")
    core = Param.Unsigned("the number of the CPU")
