# capture/ - real programs as sources of events (capture/README.md).
libcore_la_SOURCES += capture/capture.h capture/collect.c capture/ring.h capture/sites.c capture/sites.h

# What is linked into programs under capture. All its names are seen: shared libraries call them, too.
pkglib_LIBRARIES = capture/liblardsim-native.a
capture_liblardsim_native_a_SOURCES = capture/native/access.c capture/native/heap.c \
	capture/native/record.h capture/native/start.c capture/native/sync.c
capture_liblardsim_native_a_CFLAGS = $(AM_CFLAGS) -O2 -fPIC -fvisibility=default -fno-builtin \
	-Wno-missing-prototypes -Wno-pedantic

bin_SCRIPTS = capture/lardsim-cc capture/lardsim-c++
capture/lardsim-cc: capture/lardsim-cc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) capture && sed 's,@pkglibdir@,$(pkglibdir),' $(srcdir)/capture/lardsim-cc.in >$@-t && \
		chmod +x $@-t && mv $@-t $@
capture/lardsim-c++: capture/lardsim-cc
	$(AM_V_GEN)cp capture/lardsim-cc $@
CLEANFILES += capture/lardsim-cc capture/lardsim-c++
EXTRA_DIST += capture/README.md capture/lardsim-cc.in
