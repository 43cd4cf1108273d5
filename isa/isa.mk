# isa/ - the added instructions (isa/README.md).
libcore_la_SOURCES += isa/lardx86/event.c isa/lardx86/lardx86.c isa/lardx86/lardx86.def \
	isa/lardx86/lardx86.h isa/lardx86/region.c
