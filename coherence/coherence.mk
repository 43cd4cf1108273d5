# coherence/ - private and shared caches, the directory, the interconnect (coherence/README.md).
libcore_la_SOURCES += coherence/coherence.c \
	coherence/coherence.h coherence/coherence_int.h coherence/group.c coherence/histories.c \
	coherence/home.c coherence/messages.def coherence/network.c coherence/network.h coherence/numa.c \
	coherence/params.c coherence/prefetch.c coherence/private.c coherence/shared.c coherence/stats.c \
	coherence/watch.c
# coherence/dsm/ - software distributed shared memory.
libcore_la_SOURCES += coherence/dsm/collect.c coherence/dsm/contents.def coherence/dsm/diff.c \
	coherence/dsm/dsm.c coherence/dsm/dsm.h coherence/dsm/dsm_int.h coherence/dsm/interval.c \
	coherence/dsm/message.c coherence/dsm/messages.def coherence/dsm/params.c coherence/dsm/parts.def \
	coherence/dsm/sync.c
