# base/ - what everything stands on (base/README.md).
libcore_la_SOURCES += base/addr.h base/base.h base/budget.c base/budget.h base/build.c \
	base/build.h base/calendar.c base/calendar.h base/config.c base/config_load.c base/csv.c \
	base/csv.h base/digest.c base/digest.h base/ensure.c base/ensure.h base/err.c base/err.h base/exits.def base/fiber.c \
	base/fiber.h base/folder.c base/folder.h base/heap.h base/input.c base/input.h base/interval.c \
	base/interval.h base/json.c base/json.h base/json_read.c base/map.c base/map.h base/mem.c \
	base/mem.h base/outfile.c base/outfile.h base/papers.def base/param.c base/param.h base/param_rows.h \
	base/param_int.h base/rng.c base/rng.h base/seal.c base/sequences.c base/sequences.h \
	base/shadow.c base/shadow.h base/sync_object.c base/sync_object.h base/stats.c base/stats.h base/stats_declare.h base/stats_fields.h base/stats_int.h base/stats_out.c \
	base/text.c base/text.h base/vclock.c base/vclock.h base/yaml.c base/yaml.h

# Which build this is. Looked up at each make; written, and base/stamp.c compiled, when it is another.
# Tests do without: they would all be linked again at each commit.
EXTRA_DIST += base/stamp.sh
CLEANFILES += build.inc
base/stamp.$(OBJEXT) base/liblardsim_la-stamp.lo: build.inc
build.inc: always
	@$(SHELL) $(srcdir)/base/stamp.sh $(srcdir) $(CPPFLAGS) $(LARDSIM_CFLAGS) $(CFLAGS) >$@.tmp; \
	if cmp -s $@.tmp $@; then rm -f $@.tmp; else mv $@.tmp $@; fi
.PHONY: always
always:
dist-hook:
	$(SHELL) $(srcdir)/base/stamp.sh $(srcdir) >$(distdir)/build-aux/commit
