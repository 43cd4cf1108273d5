# cli/ - the program, one file a verb (cli/README.md), and what is made from its tables.
bin_PROGRAMS = lardsim
lardsim_SOURCES = base/stamp.c
lardsim_SOURCES += cli/abstract.c cli/abstract.h cli/args.c cli/band.c cli/cli.h cli/completion.c \
	cli/concepts.def cli/heads.def cli/explain.c cli/list.c cli/lives.c cli/lives.h cli/main.c cli/manual.c cli/overhead.c cli/overhead.h cli/place.c cli/place.h cli/plot.c cli/plot.h \
	cli/progress.c cli/progress.h cli/estimate.c cli/estimate.h cli/stop.c cli/stop.h cli/styles.def cli/svg.c cli/svg.h cli/tables.c cli/verbs.def cli/verify.c
lardsim_SOURCES += cli/capture/capture.c cli/capture/capture.h cli/capture/java.c cli/capture/native.c
lardsim_SOURCES += cli/programs/cache.c cli/programs/cache.h cli/programs/command.c cli/programs/describe.c cli/programs/make.c cli/programs/needs.c cli/programs/programs.h \
	cli/programs/recipe.c cli/programs/source.c cli/programs/verb.c
lardsim_SOURCES += cli/compare/asked.c cli/compare/compare.c cli/compare/compare.h \
	cli/compare/costs.c cli/compare/course.c cli/compare/files.c cli/compare/machine.c cli/compare/page.c \
	cli/compare/several.c
lardsim_SOURCES += cli/report/diff.c cli/report/explain.c cli/report/figure.c cli/report/figures.c cli/report/measures.def cli/report/page.c \
	cli/report/parts.def cli/report/read.c cli/report/report.h cli/report/say.c cli/report/series.c \
	cli/report/study.c cli/report/verb.c
lardsim_SOURCES += cli/reproduce/all.c cli/reproduce/all.h cli/reproduce/captured.c cli/reproduce/claims.c cli/reproduce/claims.h \
	cli/reproduce/files.c cli/reproduce/judge.c cli/reproduce/lard.c cli/reproduce/lard.h \
	cli/reproduce/measure.c cli/reproduce/page.c cli/reproduce/pairs.c \
	cli/reproduce/print.c cli/reproduce/print.h \
	cli/reproduce/printed.c cli/reproduce/quantity.c cli/reproduce/reproduce.c \
	cli/reproduce/reproduce.h cli/reproduce/run.c cli/reproduce/table.h cli/reproduce/tables.c \
	cli/reproduce/verb.c
lardsim_SOURCES += cli/machine/boxes.c cli/machine/checks.c cli/machine/machine.h \
	cli/machine/parts.c cli/machine/picture.c cli/machine/text.c cli/machine/verb.c
lardsim_SOURCES += cli/reduce/keep.c cli/reduce/part.c cli/reduce/reduce.h cli/reduce/search.c \
	cli/reduce/verb.c
lardsim_SOURCES += cli/run/machine.c cli/run/races.c cli/run/repeat.c cli/run/result.c \
	cli/run/run.c cli/run/run.h
lardsim_SOURCES += cli/sweep/collect.c cli/sweep/collect.h cli/sweep/dry_run.c \
	cli/sweep/folder.c cli/sweep/idle.c cli/sweep/index.c \
	cli/sweep/listing.c cli/sweep/local.c cli/sweep/manage.c cli/sweep/means.c cli/sweep/memo.c cli/sweep/plan.c \
	cli/sweep/points.c cli/sweep/predict.c cli/sweep/shell.c cli/sweep/slurm.c cli/sweep/spec.c \
	cli/sweep/sweep.h cli/sweep/task.c cli/sweep/verb.c cli/sweep/work.c
lardsim_SOURCES += cli/trace/cat.c cli/trace/convert.c cli/trace/cut.c cli/trace/info.c \
	cli/trace/merge.c cli/trace/strip.c cli/trace/synth.c cli/trace/trace.c cli/trace/trace.h cli/trace/used.c cli/trace/used.h \
	cli/trace/verify.c
lardsim_SOURCES += cli/validate/child.c cli/validate/host.c cli/validate/native.c cli/validate/predict.c \
	cli/validate/report.c cli/validate/subject.c cli/validate/validate.h cli/validate/verb.c
lardsim_SOURCES += cli/workload/again.c cli/workload/describe.c cli/workload/measure.c \
	cli/workload/misses.c \
	cli/workload/record.c cli/workload/source.c cli/workload/workload.c cli/workload/workload.h
lardsim_SOURCES += cli/why/asked.c cli/why/draw.c cli/why/page.c cli/why/said.c cli/why/say.c cli/why/verb.c \
	cli/why/why.h
lardsim_LDFLAGS = $(LARDSIM_LDFLAGS)
lardsim_LDADD = libresults.la libcore.la $(LIBS_OF_OTHERS) $(SQLITE_LIBS)

nodist_man_MANS += lardsim.1 lardsim-run.1 lardsim-trace.1 lardsim-compare.1 lardsim-workload.1 \
	lardsim-capture.1 lardsim-programs.1 \
	lardsim-sweep.1 lardsim-report.1 lardsim-reproduce.1 lardsim-verify.1 lardsim-why.1 lardsim-list.1 lardsim-explain.1 \
	lardsim-machine.1 lardsim-validate.1
lardsim.1: lardsim$(EXEEXT)
	$(AM_V_GEN)./lardsim$(EXEEXT) list manual >$@-t && mv $@-t $@
lardsim-%.1: lardsim$(EXEEXT)
	$(AM_V_GEN)./lardsim$(EXEEXT) list manual $* >$@-t && mv $@-t $@

completiondir = $(datadir)/bash-completion/completions
nodist_completion_DATA = completion/lardsim
completion/lardsim: lardsim$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completion && ./lardsim$(EXEEXT) list completion >$@-t && mv $@-t $@

# What papers printed and what is judged, for `reproduce`: each line of results/paper/ and of
# results/bands/ as the row of a table in C.
paper_tables = $(top_srcdir)/results/paper/cvm-table1.csv $(top_srcdir)/results/paper/cvm-table3.csv \
	$(top_srcdir)/results/paper/cvm-table4.csv $(top_srcdir)/results/paper/cvm-table5.csv \
	$(top_srcdir)/results/paper/goldilocks-table1.csv \
	$(top_srcdir)/results/paper/goldilocks-table2.csv \
	$(top_srcdir)/results/paper/goldilocks-table3.csv $(top_srcdir)/results/paper/lard-table2.csv \
	$(top_srcdir)/results/paper/lard-table3.csv $(top_srcdir)/results/paper/slimstate-table2.csv \
	$(top_srcdir)/results/paper/slimstate-table3.csv $(top_srcdir)/results/paper/valor-table1.csv \
	$(top_srcdir)/results/paper/valor-table2.csv
band_tables = $(top_srcdir)/results/bands/cvm-fig5.csv $(top_srcdir)/results/bands/cvm-fig6.csv \
	$(top_srcdir)/results/bands/cvm-table1.csv $(top_srcdir)/results/bands/cvm-table3.csv \
	$(top_srcdir)/results/bands/cvm-table4.csv \
	$(top_srcdir)/results/bands/cvm-table5.csv $(top_srcdir)/results/bands/fib-ablations.csv \
	$(top_srcdir)/results/bands/goldilocks-table1.csv \
	$(top_srcdir)/results/bands/goldilocks-table2.csv \
	$(top_srcdir)/results/bands/goldilocks-table3.csv $(top_srcdir)/results/bands/lard-overhead.csv \
	$(top_srcdir)/results/bands/lard-runtime.csv $(top_srcdir)/results/bands/slimstate-scaling.csv \
	$(top_srcdir)/results/bands/slimstate-table2.csv \
	$(top_srcdir)/results/bands/slimstate-table3.csv $(top_srcdir)/results/bands/valor-budget.csv \
	$(top_srcdir)/results/bands/valor-holdout.csv $(top_srcdir)/results/bands/valor-inputs.csv \
	$(top_srcdir)/results/bands/valor-overhead.csv \
	$(top_srcdir)/results/bands/valor-scaling.csv $(top_srcdir)/results/bands/valor-sfr.csv \
	$(top_srcdir)/results/bands/valor-space.csv $(top_srcdir)/results/bands/valor-table1.csv \
	$(top_srcdir)/results/bands/valor-table2.csv
BUILT_SOURCES = paper.inc bands.inc $(report_files)
cli/reproduce/printed.$(OBJEXT): paper.inc bands.inc
nodist_lardsim_SOURCES = paper.inc bands.inc
paper.inc: $(paper_tables) $(srcdir)/cli/cli.mk
	$(AM_V_GEN)cat $(paper_tables) | awk -F, '$$1 != "paper" { \
	  printf "{\"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$9 }' >$@.tmp && mv $@.tmp $@
bands.inc: $(band_tables) $(srcdir)/cli/cli.mk
	$(AM_V_GEN)awk -F, 'FNR > 1 { name = FILENAME; sub(".*/", "", name); sub("[.]csv$$", "", name); \
	  printf "{\"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", name, $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8 }' $(band_tables) >$@.tmp && mv $@.tmp $@

# What stands in a report, byte by byte.
report_files = report_css.inc report_js.inc
if HAVE_UPLOT
report_files += uplot_css.inc uplot_js.inc
uplot_css.inc: $(UPLOT_DIR)/uPlot.min.css
	$(AM_V_GEN)$(as_bytes)
uplot_js.inc: $(UPLOT_DIR)/uPlot.iife.min.js
	$(AM_V_GEN)$(as_bytes)
endif
EXTRA_DIST += cli/report/page.css cli/report/page.js
CLEANFILES += $(report_files)
nodist_lardsim_SOURCES += $(report_files)
cli/report/page.$(OBJEXT): $(report_files)
as_bytes = od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' >$@.tmp && mv $@.tmp $@
report_css.inc: $(srcdir)/cli/report/page.css
	$(AM_V_GEN)$(as_bytes)
report_js.inc: $(srcdir)/cli/report/page.js
	$(AM_V_GEN)$(as_bytes)
