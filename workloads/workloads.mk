# workloads/ - built-in programs (workloads/README.md).
libcore_la_SOURCES += workloads/base_program.c workloads/makers.c workloads/private.c workloads/prove.c workloads/vm_params.def workloads/workload.c \
	workloads/workloads.def workloads/workloads.h
libcore_la_SOURCES += workloads/kernels/barnes.c workloads/kernels/barnes_plain.c \
	workloads/kernels/barnes_plain.h workloads/kernels/churn.c workloads/kernels/colt.c \
	workloads/kernels/crypt.c workloads/kernels/fft.c workloads/kernels/hedc.c \
	workloads/kernels/lufact.c workloads/kernels/moldyn.c workloads/kernels/montecarlo.c \
	workloads/kernels/multiset.c workloads/kernels/philosopher.c workloads/kernels/pool.c \
	workloads/kernels/raytracer.c \
	workloads/kernels/series.c workloads/kernels/sor.c workloads/kernels/sparse.c \
	workloads/kernels/spatial.c workloads/kernels/team.h workloads/kernels/tsp.c \
	workloads/kernels/water.c
libcore_la_SOURCES += workloads/twins/plant.c workloads/twins/rest.c \
	workloads/twins/twin.c workloads/twins/twin.h workloads/twins/params.def workloads/twins/twins.c workloads/twins/dacapo.def workloads/twins/twins.def
libcore_la_SOURCES += workloads/vm/alloc.c workloads/vm/cells.c workloads/vm/class.c \
	workloads/vm/heap.h workloads/vm/collect.c workloads/vm/copy.c workloads/vm/drive.c workloads/vm/gap.c workloads/vm/mark.c \
	workloads/vm/monitor.c workloads/vm/move.c workloads/vm/sched.c workloads/vm/site.c workloads/vm/sync.c \
	workloads/vm/txn.c workloads/vm/vm.c workloads/vm/vm.h workloads/vm/vm_int.h
libcore_la_SOURCES += workloads/measure/abstract.c workloads/measure/abstract.h workloads/measure/again.c workloads/measure/measure.c workloads/measure/measure.h \
	workloads/measure/misses.c workloads/measure/named.c workloads/measure/source.c

# Recipes of real programs (workloads/programs/README.md). They are installed as they are, each in a folder.
programs_files = $(srcdir)/workloads/programs/recipes/*/recipe.yaml $(srcdir)/workloads/programs/recipes/*/Driver.java $(srcdir)/workloads/programs/recipes/*/build.sh
EXTRA_DIST += workloads/programs/recipes workloads/programs/README.md
.PHONY: install-programs uninstall-programs
install-programs:
	for file in $(programs_files); do \
	  to="$(DESTDIR)$(pkgdatadir)/programs/`basename $$(dirname $$file)`"; \
	  $(MKDIR_P) "$$to" && $(INSTALL_DATA) $$file "$$to" || exit 1; done
uninstall-programs:
	rm -rf "$(DESTDIR)$(pkgdatadir)/programs"

# workloads/native/ - programs that `lardsim validate` compiles on its user's host (workloads/native/README.md).
validatedir = $(pkgdatadir)/validate
dist_validate_DATA = workloads/native/crypt.c workloads/native/lufact.c workloads/native/probe.c workloads/native/series.c workloads/native/sor.c \
	workloads/native/sparse.c workloads/native/team.h
EXTRA_DIST += workloads/native/README.md
