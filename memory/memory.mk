# memory/ - where misses go (memory/README.md).
libcore_la_SOURCES += memory/count.c memory/count.h memory/fixed.c memory/memories.def \
	memory/memory.c memory/memory.h memory/pages.c memory/pages.h memory/pages_params.def memory/perturb.c memory/perturb.h
libcore_la_SOURCES += memory/ddr/channel.c memory/ddr/channel.h memory/ddr/ddr.c memory/ddr/ddr.h \
	memory/ddr/device.c memory/ddr/ini.c memory/ddr/params.def memory/ddr/preset.c memory/ddr/presets.def memory/ddr/queue.c memory/ddr/refresh.c memory/ddr/stats.def \
	memory/ddr/timing.c memory/ddr/timing.h

# The only C++; a library of its own, as one of C and C++ would need a C++ compiler in any case.
libcore_la_SOURCES += memory/dramsim3/dramsim3_int.h memory/dramsim3/params.c memory/dramsim3/stats.def
dramsim3_sources = memory/dramsim3/dramsim3.c memory/dramsim3/glue.cc memory/dramsim3/open.c
if HAVE_DRAMSIM3
noinst_LTLIBRARIES += libdramsim3_adapter.la
libdramsim3_adapter_la_SOURCES = $(dramsim3_sources)
libdramsim3_adapter_la_CPPFLAGS = $(AM_CPPFLAGS) $(DRAMSIM3_CPPFLAGS)
libdramsim3_adapter_la_CXXFLAGS = $(AM_CXXFLAGS) -fno-access-control
libcore_la_LIBADD = libdramsim3_adapter.la
else
libcore_la_SOURCES += memory/dramsim3/absent.c
endif

# Builds this folder again with the memory dramsim3, against DRAMSim3's source in DRAMSIM3=DIR; its
# library is built there first.
with-dramsim3:
	@test -f '$(DRAMSIM3)/src/memory_system.h' || { \
	  echo 'give DRAMSIM3=DIR, the source of DRAMSim3 (github.com/umd-memsys/DRAMsim3)' >&2; exit 2; }
	$(MAKE) -C '$(DRAMSIM3)' libdramsim3.so
	eval "set -- $$(./config.status --config)" && $(SHELL) $(srcdir)/configure "$$@" --with-dramsim3='$(DRAMSIM3)'
	$(MAKE)
.PHONY: with-dramsim3
