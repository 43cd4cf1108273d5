# base/ - what everything stands on (base/README.md).
libcore_la_SOURCES += base/base.h base/config.c base/config_load.c base/digest.c base/err.c \
	base/exits.def base/papers.def base/fiber.c base/fiber.h base/interval.c base/json.c base/map.c base/mem.c \
	base/outfile.c base/param.c base/param.h base/param_int.h \
	base/rng.c base/shadow.c base/stats.c base/stats.h base/stats_int.h base/stats_out.c base/text.c \
	base/vclock.c base/vclock.h base/yaml.c base/yaml.h
