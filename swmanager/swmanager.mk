# swmanager/ - the software under a hardware detector (swmanager/README.md).
libcore_la_SOURCES += swmanager/cell.c swmanager/reasons.def swmanager/region.c \
	swmanager/steps.def swmanager/stats.def swmanager/swmanager.c swmanager/swmanager.h swmanager/swmanager_int.h \
	swmanager/walk.c
