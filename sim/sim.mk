# sim/ - a run, from configuration to results (sim/README.md).
libcore_la_SOURCES += sim/lardsim.h sim/sim.h
libcore_la_SOURCES += sim/compare/compare.c sim/compare/fate.c sim/compare/compare.h sim/compare/order.c \
	sim/compare/verdict.c sim/compare/write.c
libcore_la_SOURCES += sim/machine/cluster.c sim/machine/cluster.h sim/machine/footprint.c sim/machine/footprint.h \
	sim/machine/interval.c sim/machine/interval.h sim/machine/machine.c sim/machine/core_params.def sim/machine/params.def sim/machine/tlb_params.def \
	sim/machine/machine.h sim/machine/outside.c sim/machine/outside.h sim/machine/policies.c \
	sim/machine/predictor.c sim/machine/predictor.h sim/machine/seen.c \
	sim/machine/timeline.c sim/machine/timeline.h sim/machine/tlb.c sim/machine/tlb.h
libcore_la_SOURCES += sim/order/memory.c sim/order/object.c sim/order/order.c sim/order/order.h \
	sim/order/order_int.h sim/order/search.c sim/order/sync.c sim/order/wait.c
libcore_la_SOURCES += sim/scheduler/buffers.c sim/scheduler/event_queue.c sim/scheduler/host.c sim/scheduler/host.h \
	sim/scheduler/new.c sim/scheduler/params.def sim/scheduler/pipeline.c sim/scheduler/stats.def \
	sim/scheduler/recorded.c sim/scheduler/scheduler.h sim/scheduler/steps.c \
	sim/scheduler/program.c sim/scheduler/stop.c sim/scheduler/threads.c sim/scheduler/timed.c sim/scheduler/timed.h
libcore_la_SOURCES += sim/session/compared.c sim/session/course.c sim/session/findings.c \
	sim/session/findings.def sim/session/gaps.c sim/session/host.c sim/session/keep.c sim/session/machines.def \
	sim/session/on_machine.c \
	sim/session/output.c sim/session/params.c sim/session/params.def sim/session/promise.c sim/session/provenance.c sim/session/push.c sim/session/ready.c \
	sim/session/run.c sim/session/session.c sim/session/session.h sim/session/shared.c sim/session/source.c sim/session/watched.c
libcore_la_SOURCES += sim/watch/watch.c sim/watch/watch.h
libcore_la_SOURCES += sim/why/both.c sim/why/executed.c sim/why/flow.c sim/why/late.c sim/why/read.c sim/why/why.c sim/why/why_int.h
