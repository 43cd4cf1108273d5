# policy/ - checking policies, a room a family (policy/README.md).
libcore_la_SOURCES += policy/checker.h policy/claims.c policy/claims.def policy/claims.h policy/machine.h \
	policy/policies.c policy/policies.def policy/op.h policy/policy.h policy/race.h policy/view.c policy/view.h
libcore_la_SOURCES += policy/hb/hb.c policy/hb/hb.h policy/hb/hb_int.h policy/hb/object.c
libcore_la_SOURCES += policy/cost/clocks.c policy/cost/clocks.h policy/cost/inline_heap.c policy/cost/inline_heap.h \
	policy/cost/ledger.c policy/cost/ledger.h policy/cost/metadata.c policy/cost/metadata.h policy/cost/reach_steps.def \
	policy/cost/software.c policy/cost/software.h policy/cost/space.c policy/cost/space.h policy/cost/space_stats.def policy/cost/steps.h
libcore_la_SOURCES += policy/checker/after_race.c policy/checker/after_race.h policy/checker/cells.c \
	policy/checker/cells.h policy/checker/checker.c policy/checker/checker_int.h \
	policy/checker/filter.c \
	policy/checker/filter.h policy/checker/filter_file.c policy/checker/filter_file.h \
	policy/checker/new.c policy/checker/params.def policy/checker/report.c policy/checker/report.h policy/checker/says.c
libcore_la_SOURCES += policy/none/lard_runtime.c policy/none/none.c
libcore_la_SOURCES += policy/clean/clean.c
libcore_la_SOURCES += policy/cvm/compare.c policy/cvm/cost.c policy/cvm/cvm.c policy/cvm/cvm.h \
	policy/cvm/diff.c policy/cvm/instrument.c policy/cvm/move.c policy/cvm/page.c policy/cvm/params.def policy/cvm/rerun.c policy/cvm/stats.def policy/cvm/steps.def
libcore_la_SOURCES += policy/eraser/cost.c policy/eraser/cost.h policy/eraser/eraser.c \
	policy/eraser/lockset.c policy/eraser/lockset.h policy/eraser/steps.def
libcore_la_SOURCES += policy/fasttrack/cost.c policy/fasttrack/fasttrack.c \
	policy/fasttrack/fasttrack.h policy/fasttrack/params.def policy/fasttrack/rules.h policy/fasttrack/steps.def
libcore_la_SOURCES += policy/goldilocks/check.c policy/goldilocks/cost.c \
	policy/goldilocks/goldilocks.c policy/goldilocks/goldilocks.h policy/goldilocks/list.c policy/goldilocks/params.def \
	policy/goldilocks/object.c policy/goldilocks/reach.c policy/goldilocks/set.c \
	policy/goldilocks/stats.def policy/goldilocks/steps.def policy/goldilocks/sync.c
libcore_la_SOURCES += policy/radish/access.c policy/radish/access.h policy/radish/check.c \
	policy/radish/flush.c policy/radish/in_cache.c policy/radish/line.c policy/radish/manager.c \
	policy/radish/move.c policy/radish/neighbours.c policy/radish/params.def policy/radish/queue.c policy/radish/radish.c \
	policy/radish/radish.h policy/radish/region.c policy/radish/region.h policy/radish/stats.c policy/radish/stats.def \
	policy/radish/verify.c
libcore_la_SOURCES += policy/regions/fastrcd.c policy/regions/fastrcd.h \
	policy/regions/fastrcd_cost.c policy/regions/fastrcd_params.def policy/regions/fastrcd_rules.c policy/regions/fastrcd_stats.def policy/regions/fastrcd_steps.def policy/regions/region.c \
	policy/regions/region.h policy/regions/valor.c policy/regions/valor.h policy/regions/valor_cost.c \
	policy/regions/valor_follow.c policy/regions/valor_log.c policy/regions/valor_rules.c \
	policy/regions/valor_params.def policy/regions/valor_stats.def policy/regions/valor_steps.def
libcore_la_SOURCES += policy/slimstate/array.c policy/slimstate/commit.c policy/slimstate/grow.c \
	policy/slimstate/part.c policy/slimstate/range.c policy/slimstate/range.h policy/slimstate/set.c \
	policy/slimstate/set.h policy/slimstate/slimstate.c policy/slimstate/slimstate.h \
	policy/slimstate/params.def policy/slimstate/stats.def policy/slimstate/steps.def
libcore_la_SOURCES += policy/vc/cost.c policy/vc/cost.h policy/vc/history.c policy/vc/history.h \
	policy/vc/steps.def policy/vc/vc.c
libcore_la_SOURCES += policy/tsan/steps.def policy/tsan/tsan.c
