# dsm/ - software distributed shared memory (dsm/README.md).
libcore_la_SOURCES += dsm/collect.c dsm/contents.def dsm/diff.c dsm/dsm.c dsm/dsm.h dsm/dsm_int.h \
	dsm/interval.c dsm/message.c dsm/messages.def dsm/params.c dsm/parts.def dsm/sync.c
