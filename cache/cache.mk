# cache/ - one set-associative array (cache/README.md).
libcore_la_SOURCES += cache/cache.c cache/cache.h cache/replacement.h cache/replacements.def
libcore_la_SOURCES += cache/replacement/fifo.c cache/replacement/lru.c cache/replacement/plru.c \
	cache/replacement/random.c cache/replacement/srrip.c
