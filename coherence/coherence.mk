# coherence/ - private and shared caches, the directory, the interconnect (coherence/README.md).
libcore_la_SOURCES += coherence/check.c coherence/coherence.c \
	coherence/coherence.h coherence/coherence_int.h coherence/group.c coherence/histories.c \
	coherence/home.c coherence/messages.def coherence/network.c coherence/network.h coherence/numa.c \
	coherence/params.c coherence/prefetch.c coherence/private.c coherence/shared.c coherence/stats.c
