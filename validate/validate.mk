# validate/ - programs that `lardsim validate` compiles on its user's host (validate/README.md).
validatedir = $(pkgdatadir)/validate
dist_validate_DATA = validate/crypt.c validate/lufact.c validate/probe.c validate/series.c validate/sor.c \
	validate/sparse.c validate/team.h
EXTRA_DIST += validate/README.md
