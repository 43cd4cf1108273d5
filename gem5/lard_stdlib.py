# lard_stdlib.py - lardsim in a system of gem5's standard library:
#
#     board = SimpleBoard(..., cache_hierarchy=monitored(PrivateL1SharedL2CacheHierarchy)(...))
#     board.set_se_binary_workload(...)
#     detect(board, preset="radish8", settings=["policies=lardish"])
#
# (sys.path has to have this folder.) It needs a gem5 that was built with EXTRAS=.../gem5.
from m5.defines import buildEnv

# In a gem5 without Ruby v24.0's library finds no protocol, and refuses every core. The value plays no
# part where caches are classic.
buildEnv["PROTOCOL"] = buildEnv["PROTOCOL"] or "MI_example"


def ours(name):
    import m5.objects

    if not hasattr(m5.objects, name):
        raise SystemExit(
            "lardsim: this gem5 has no %s; build it with EXTRAS=.../gem5 (docs/gem5.md)" % name
        )
    return getattr(m5.objects, name)


def monitored(hierarchy):
    """A classic cache hierarchy with a monitor between each CPU and its L1 data cache."""

    class Monitored(hierarchy):
        def incorporate_cache(self, board):
            super().incorporate_cache(board)
            cpus = [core.get_simobject() for core in board.get_processor().get_cores()]
            self.lard = [
                ours("LardMonitor")(core=i, workload=board.workload) for i in range(len(cpus))
            ]
            for cpu, monitor in zip(cpus, self.lard):
                cpu.dcache_port.splice(monitor.cpu_side_port, monitor.mem_side_port)

    return Monitored


def detect(board, **parameters):
    """After board.set_se_binary_workload: its program runs under a LardWorkload with these
    parameters (Lard.py)."""
    board.workload = ours("LardWorkload")(**parameters)
    for core in board.get_processor().get_cores() if parameters.get("feedback") else []:
        if hasattr(core.get_simobject(), "simulate_data_stalls"):
            core.get_simobject().simulate_data_stalls = True  # else an atomic CPU waits for no data
