# coherence/ - private and shared caches, the directory, the interconnect (coherence/README.md).
libcore_la_SOURCES += coherence/coherence.c \
	coherence/coherence.h coherence/coherence_int.h coherence/group.c coherence/histories.c coherence/histories_stats.def \
	coherence/home.c coherence/messages.def coherence/network.c coherence/network.h coherence/network_stats.def coherence/numa.c coherence/numa_stats.def \
	coherence/params.c coherence/params.def coherence/prefetch.c coherence/prefetch_stats.def coherence/private.c coherence/protocol_stats.def coherence/shared.c coherence/stats.c \
	coherence/watch.c
# coherence/dsm/ - software distributed shared memory.
libcore_la_SOURCES += coherence/dsm/collect.c coherence/dsm/contents.def coherence/dsm/diff.c \
	coherence/dsm/dsm.c coherence/dsm/dsm.h coherence/dsm/dsm_int.h coherence/dsm/interval.c \
	coherence/dsm/message.c coherence/dsm/messages.def coherence/dsm/params.c coherence/dsm/params.def coherence/dsm/parts.def coherence/dsm/stats.def \
	coherence/dsm/sync.c
