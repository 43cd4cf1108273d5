# runtime/ - the modelled language runtime (runtime/README.md).
libcore_la_SOURCES += runtime/clock.c runtime/collect.c runtime/heap.c runtime/params.def runtime/runtime.c \
	runtime/runtime.h runtime/runtime_int.h runtime/stats.def runtime/steps.def runtime/sync.c runtime/walk.c
