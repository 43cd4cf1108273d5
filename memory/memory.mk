# memory/ - where misses go (memory/README.md).
libcore_la_SOURCES += memory/count.c memory/count.h memory/fixed.c memory/memories.def \
	memory/memory.c memory/memory.h memory/pages.c memory/pages.h
libcore_la_SOURCES += memory/ddr/channel.c memory/ddr/channel.h memory/ddr/ddr.c memory/ddr/ddr.h \
	memory/ddr/device.c memory/ddr/ini.c memory/ddr/preset.c memory/ddr/presets.def memory/ddr/queue.c memory/ddr/refresh.c \
	memory/ddr/timing.c memory/ddr/timing.h

# The only C++; a library of its own, as one of C and C++ would need a C++ compiler in any case.
dramsim3_sources = memory/dramsim3/dramsim3.c memory/dramsim3/dramsim3_int.h memory/dramsim3/glue.cc \
	memory/dramsim3/open.c
if HAVE_DRAMSIM3
noinst_LTLIBRARIES += libdramsim3_adapter.la
libdramsim3_adapter_la_SOURCES = $(dramsim3_sources)
libdramsim3_adapter_la_CPPFLAGS = $(AM_CPPFLAGS) $(DRAMSIM3_CPPFLAGS)
libcore_la_LIBADD = libdramsim3_adapter.la
endif
