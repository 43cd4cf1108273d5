# bench/ - speed and memory (bench/bench.sh says of what). RAPID=DIR adds that tool's engines and the ratios.
EXTRA_PROGRAMS = bench/usage bench/decode bench/memories bench/push
bench_usage_LDADD =
bench_decode_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench_push_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench_memories_LDADD = libcore.la $(LIBS_OF_OTHERS)
bench: lardsim$(EXEEXT) bench/usage$(EXEEXT) bench/decode$(EXEEXT) bench/push$(EXEEXT)
	@LARDSIM='$(abs_top_builddir)/lardsim$(EXEEXT)' BENCH='$(abs_top_builddir)/bench' RAPID='$(RAPID)' \
	  $(SHELL) $(top_srcdir)/bench/bench.sh

# The memories ddr and dramsim3 side by side, for devices DRAMSIM3_INI="FILE..."; TRACE=FILE adds a
# recorded stream.
bench-memory: bench/memories$(EXEEXT)
	@trace='$(TRACE)'; bench/memories$(EXEEXT) $${trace:+-t "$$trace"} $(DRAMSIM3_INI)

EXTRA_DIST += bench/bench.sh bench/crossings.sh
.PHONY: bench bench-memory
