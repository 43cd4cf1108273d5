# cache/ - one set-associative array (cache/README.md).
libcore_la_SOURCES += cache/cache.c cache/cache.h
