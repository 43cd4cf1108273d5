# policy/ - checking policies, a room a family (policy/README.md).
libcore_la_SOURCES += policy/checker.h policy/inline_heap.h policy/frame/inline_heap.c policy/claims.c policy/claims.def policy/claims.h \
	policy/machine.h policy/policies.c policy/policies.def policy/policy.h policy/race.h policy/view.h
libcore_la_SOURCES += policy/clean/clean.c
libcore_la_SOURCES += policy/cvm/compare.c policy/cvm/cost.c policy/cvm/cvm.c policy/cvm/cvm.h \
	policy/cvm/diff.c policy/cvm/instrument.c policy/cvm/move.c policy/cvm/page.c policy/cvm/rerun.c policy/cvm/steps.def
libcore_la_SOURCES += policy/eraser/cost.c policy/eraser/cost.h policy/eraser/eraser.c \
	policy/eraser/lockset.c policy/eraser/lockset.h policy/eraser/steps.def
libcore_la_SOURCES += policy/fasttrack/cost.c policy/fasttrack/fasttrack.c \
	policy/fasttrack/fasttrack.h policy/fasttrack/rules.h policy/fasttrack/steps.def
libcore_la_SOURCES += policy/frame/after_race.c policy/frame/after_race.h policy/frame/cells.c \
	policy/frame/cells.h policy/frame/checker.c policy/frame/checker_int.h \
	policy/frame/checker_new.c policy/frame/checker_says.c policy/frame/clock_cost.c \
	policy/frame/clock_cost.h policy/frame/extent.c policy/frame/extent.h \
	policy/frame/filter.c policy/frame/filter.h policy/frame/filter_file.c \
	policy/frame/filter_file.h policy/frame/hb.c policy/frame/hb.h policy/frame/hb_int.h \
	policy/frame/hb_object.c policy/frame/lard_runtime.c policy/frame/ledger.c \
	policy/frame/ledger.h policy/frame/metadata.c policy/frame/metadata.h policy/frame/none.c \
	policy/frame/report.c policy/frame/report.h policy/frame/software.c policy/frame/software.h policy/frame/space.c policy/space.h policy/frame/steps.h policy/frame/view.c
libcore_la_SOURCES += policy/goldilocks/check.c policy/goldilocks/cost.c \
	policy/goldilocks/goldilocks.c policy/goldilocks/goldilocks.h policy/goldilocks/list.c \
	policy/goldilocks/object.c policy/goldilocks/reach.c policy/goldilocks/set.c \
	policy/goldilocks/steps.def policy/goldilocks/sync.c
libcore_la_SOURCES += policy/radish/access.c policy/radish/access.h policy/radish/check.c \
	policy/radish/flush.c policy/radish/in_cache.c policy/radish/line.c policy/radish/manager.c \
	policy/radish/move.c policy/radish/neighbours.c policy/radish/queue.c policy/radish/radish.c \
	policy/radish/radish.h policy/radish/region.c policy/radish/region.h policy/radish/stats.c \
	policy/radish/verify.c
libcore_la_SOURCES += policy/regions/fastrcd.c policy/regions/fastrcd.h \
	policy/regions/fastrcd_cost.c policy/regions/fastrcd_rules.c policy/regions/fastrcd_steps.def policy/regions/region.c \
	policy/regions/region.h policy/regions/valor.c policy/regions/valor.h policy/regions/valor_cost.c \
	policy/regions/valor_follow.c policy/regions/valor_log.c policy/regions/valor_rules.c \
	policy/regions/valor_steps.def
libcore_la_SOURCES += policy/slimstate/array.c policy/slimstate/commit.c policy/slimstate/grow.c \
	policy/slimstate/part.c policy/slimstate/range.c policy/slimstate/range.h policy/slimstate/set.c \
	policy/slimstate/set.h policy/slimstate/slimstate.c policy/slimstate/slimstate.h \
	policy/slimstate/steps.def
libcore_la_SOURCES += policy/vc/cost.c policy/vc/cost.h policy/vc/history.c policy/vc/history.h \
	policy/vc/steps.def policy/vc/vc.c
libcore_la_SOURCES += policy/tsan/steps.def policy/tsan/tsan.c
