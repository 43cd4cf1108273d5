# trace/ - the event, its sources and forms (trace/README.md).
libcore_la_SOURCES += trace/ahead.c trace/event.c trace/event.def trace/input.c trace/intern.c \
	trace/intern.h trace/layout.c trace/layout.def trace/layout.h trace/names.c trace/open.c trace/placement.c trace/trace.h trace/walk.c
libcore_la_SOURCES += trace/binary/binary.c trace/binary/binary.h trace/binary/block.c \
	trace/binary/block.h trace/binary/block_encode.c trace/binary/block_form.h trace/bytes.c trace/bytes.h \
	trace/binary/codec.c trace/binary/codec.h trace/binary/column.c trace/binary/column.h \
	trace/binary/column_encode.c trace/binary/column_encode.h trace/binary/column_form.h \
	trace/binary/column_region.c trace/binary/read.c trace/binary/summary.c trace/binary/write.c
libcore_la_SOURCES += trace/foreign/ce_read.c trace/foreign/gem5_command.def trace/foreign/gem5_form.h \
	trace/foreign/gem5_packet.c trace/foreign/gem5_read.c trace/foreign/gem5_sync.c \
	trace/foreign/import.c trace/foreign/std_form.h \
	trace/foreign/std_read.c trace/foreign/std_write.c
libcore_la_SOURCES += trace/rules/heap.c trace/rules/notes.c trace/rules/notes.def trace/rules/rules.c trace/rules/rules.def \
	trace/rules/rules_int.h trace/rules/sync.c
libcore_la_SOURCES += trace/synth/access.c trace/synth/emit.c trace/synth/heap.c \
	trace/synth/lock.c trace/synth/param.c trace/synth/params.def trace/synth/raw.c trace/synth/sync.c trace/synth/synth.c \
	trace/synth/synth_int.h trace/synth/thread.c
libcore_la_SOURCES += trace/text/event.c trace/text/form.h trace/text/line.c trace/text/read.c \
	trace/text/write.c
libcore_la_SOURCES += trace/lives/lives.c trace/lives/lives.h trace/lives/used.c trace/lives/used.h
