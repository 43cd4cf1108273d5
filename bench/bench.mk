# bench/ - what rows of work cost: instructions against a stored table, seconds and memory (bench/bench.sh says of what).
EXTRA_PROGRAMS = bench/usage bench/decode bench/encode bench/memories bench/push
bench_usage_LDADD =
bench_decode_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench_encode_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench_push_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench_memories_LDADD = $(bare_driver) libcore.la $(LIBS_OF_OTHERS)
EXTRA_DIST += bench/bare.cc bench/bare.h
EXTRA_LTLIBRARIES = bench/libbare.la
bench_libbare_la_SOURCES = $(bare_sources)
bench_libbare_la_CPPFLAGS = $(AM_CPPFLAGS) $(DRAMSIM3_CPPFLAGS)
if HAVE_DRAMSIM3
bare_driver = bench/libbare.la
bare_sources = bench/bare.cc bench/bare.h
endif
bench bench-renew bench-time: lardsim$(EXEEXT) bench/usage$(EXEEXT) bench/decode$(EXEEXT) bench/encode$(EXEEXT) bench/push$(EXEEXT)
	@LARDSIM='$(abs_top_builddir)/lardsim$(EXEEXT)' BENCH='$(abs_top_builddir)/bench' RAPID='$(RAPID)' \
	  $(SHELL) $(top_srcdir)/bench/bench.sh $(filter renew time,$(@:bench-%=%))

# The memories ddr and dramsim3, and that library by itself, side by side, for devices DRAMSIM3_INI="FILE..."; TRACE=FILE adds a
# recorded stream.
bench-memory: bench/memories$(EXEEXT)
	@trace='$(TRACE)'; bench/memories$(EXEEXT) $${trace:+-t "$$trace"} $(DRAMSIM3_INI)

# What captures cost; PROGRAM="java ARGUMENTS" adds a row of its own.
bench-capture: lardsim$(EXEEXT) bench/usage$(EXEEXT) all
	@LARDSIM='$(abs_top_builddir)/lardsim$(EXEEXT)' BENCH='$(abs_top_builddir)/bench' BUILD='$(abs_top_builddir)' \
	  SOURCE='$(abs_srcdir)/bench' CC='$(CC)' $(SHELL) $(top_srcdir)/bench/capture.sh $(PROGRAM)

EXTRA_DIST += bench/bench.sh bench/instructions.txt bench/capture.sh bench/crossings.sh bench/hot.c
.PHONY: bench bench-renew bench-time bench-capture bench-memory
