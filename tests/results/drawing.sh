#!/bin/sh
# drawing.sh - does each box of a machine's drawing say what the machine's settings are, in the words of people? Settings
# and sentences were written down by hand: units, plurals, what adds up, and what is left out where a setting is 0.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# sentences ARGUMENT...: the drawing says each line of the input, or has a box that begins so; "not:" is in no sentence.
sentences() {
    "$lardsim" machine --json "$@" >drawn 2>err || fail "machine $*: $(cat err)"
    while read -r sentence; do
        case $sentence in
        "{"*) grep -qF -e "$sentence" drawn || fail "machine $*: has no box $sentence" ;;
        "not: "*) grep -qF -e "${sentence#not: }" drawn && fail "machine $*: says \"${sentence#not: }\"" ;;
        *) grep -qF -e "\"$sentence\"" drawn || fail "machine $*: does not say \"$sentence\"" ;;
        esac
    done
}

# ---- cores ------------------------------------------------------------------------------------------------

sentences -c opteron64 core.width=1 core.window=99 core.shared-front-end=1 core.predictor=two-bit core.mispredict=1 core.atomic=1 tlb.entries=32 tlb.second-entries=512 \
    core.prefetch.degree=2 core.prefetch.distance=6 core.prefetch.misses=12 core.store-buffer=0 core.misses=0 <<'END'
pipelined: 1 instruction a cycle, 99 in hand
an atomic takes 1 cycle more than its line
predictor two-bit: a wrong guess takes 1 cycle
translations of 32 pages at hand, of 512 in a second level
prefetcher into the L2: 8 streams, 2 lines at a time, 6 ahead at most, 12 under way
not: share the front end
not: store buffer
not: loads beyond
not: more instructions for policies
END
sentences -c opteron64 core.shared-front-end=1 core.width=1 core.width-hundredths=5 core.predictor=none \
    core.unmodelled=1 core.prefetch.streams=0 <<'END'
pipelined: 1.05 instructions a cycle, 128 in hand
store buffer of 24
8 loads beyond the L1 at a time
1 % more instructions for policies than are counted
not: predictor
not: translations
not: prefetcher
END

# ---- memory, and what an access takes until there ----------------------------------------------------------

sentences -c radish8 memory.type=ddr memory.ddr.page=open memory.ddr.read-queue=33 memory.ddr.write-queue=44 \
    memory.ddr.command-queue=5 memory.ddr.controller-cycles=3 network.controllers=2 <<'END'
DDR model: ddr4-2400
rows stay open
queue of 33 waiting reads
queue of 44 waiting writes
queue of 5 commands of a bank
controller: 3 memory cycles more
2 controllers
END
sentences -c radish8 memory.type=ddr memory.ddr.controller-cycles=0 memory.ddr.page=config l3.latency=35 <<'END'
it comes on top of the 35 cycles until the L3 has missed
not: rows stay
not: controller
END
sentences -c radish8 l1.latency=2 l2.latency=10 l3.latency=35 coherence.remote=7 coherence.remote-cost=added \
    coherence.composition=cumulative memory.fixed.latency=120 memory.fixed.interval=1 <<'END'
2 cycles
12 cycles
47 cycles
167 cycles
another core's copy: 54 cycles
a line every 1 cycles
END
sentences -c radish8 l1.latency=2 l2.size=0 l3.latency=35 coherence.composition=cumulative memory.fixed.latency=120 \
    coherence.remote=7 coherence.remote-cost=total <<'END'
37 cycles
157 cycles
another core's copy: 7 cycles
END

# ---- L3, network, nodes -----------------------------------------------------------------------------------

sentences -c radish8 l3.size=0 l3.latency=35 l3.inclusion=non-inclusive l3.directory-size=4096 l3.directory-ways=8 \
    l3.banks=1 l3.port=2 network.topology=mesh network.router=1 network.wire=2 network.link-bytes=1024 <<'END'
directory
no L3; who answers is known after 35 cycles
1 bank, each a request every 2 cycles
the directory covers 4096 lines, 8 ways
mesh
links of 1 KiB
a hop takes 1 cycle in the router, 2 on the wire
END
sentences -c opteron64 numa.nodes=4 numa.package=1 numa.home=interleave numa.lookup=node numa.invalidate=sharers \
    l2.sibling=1 l2.inclusion=inclusive <<'END'
to another package: 45 cycles a message
a page's home is the node that its number says
a line that the own node's cores have is found by the node
a store to a shared line asks the nodes that have it
where a sibling's L1 is in the way: 1 cycle more
16 banks, each a request a cycle
{"title": "NUMA node", "times": 4,
{"title": "group of 2 cores with one L2", "times": 8,
not: "package"
not: of the package
END
sentences -c opteron64 numa.nodes=4 numa.package=4 <<'END'
to another node of the package: 40 cycles
4 bytes a cycle
not: to another package
END
sentences -c opteron64 numa.nodes=1 numa.package=1 <<'END'
not: links between nodes
not: page's home
not: NUMA node
64 banks, each a request a cycle
END

# ---- processes --------------------------------------------------------------------------------------------

sentences -c alpha-cvm cores=10 dsm.latency=999 dsm.send=1000 dsm.receive=1001 dsm.copy=2050 dsm.local=123456 \
    dsm.header=1024 dsm.word=8 dsm.home=interleave dsm.trap=1 dsm.collect=3Mi dsm.force=5k <<'END'
{"title": "host", "times": 3,
{"title": "process", "times": 4,
the last one has 2
a message takes 999 ns and its length at 135 Mbit/s, each way
its sender works 1 us, its receiver 1.001 us, both 2.050 us for each KiB
a message inside takes 123.456 us
headers of 1 KiB
at first each process has pages in turn
a page fault: 1 ns
a copy is missing, invalid, readable, or written with a twin; diffs compare 8 bytes at a time
collected at a barrier beyond 3 MiB of a process's, without one beyond 5000 bytes
END
sentences -c alpha-cvm cores=3 <<'END'
{"title": "host", "times": 1,
{"title": "process", "times": 3,
not: the last one
END
sentences -c radish8 l3.inclusion=inclusive l2.inclusion=inclusive line=32 compat=none <<'END'
inclusive: its victims are recalled from cores
inclusive of the L1
END
sentences -c alpha-cvm cores=8 <<'END'
{"title": "host", "times": 2,
{"title": "process", "times": 4,
not: the last one
END

# ---- where policies keep what they know --------------------------------------------------------------------

sentences -c radish8 -p fasttrack policy.fasttrack.metadata=inline granularity=4 <<'END'
fasttrack: metadata beside fields and in shadow arrays, in memory: they go through all caches
{"title": "what fasttrack adds to an event", "times": 1,
END
sentences -c radish8 -p fasttrack policy.fasttrack.metadata=shadow layout=ia32 <<'END'
fasttrack: metadata at a fixed place of their own in memory: they go through all caches
END
sentences -c radish8 -p fasttrack layout=ia32 <<'END'
fasttrack: metadata beside fields and in shadow arrays, in memory: they go through all caches
END
sentences -c radish8 -p slimstate layout=ia32 <<'END'
slimstate: metadata at a fixed place of their own in memory: they go through all caches
END
sentences -c radish8 -p radish <<'END'
radish: histories in lines of the caches, beside the data; what they evict is in tables of the software manager, in memory
END
sentences -c radish8 -p cvm <<'END'
cvm: metadata at a fixed place of their own in memory: they go through all caches
END
exit $bad
