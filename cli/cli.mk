# cli/ - the program, one file a verb (cli/README.md), and what is made from its tables.
bin_PROGRAMS = lardsim
lardsim_SOURCES = base/stamp.c
lardsim_SOURCES += cli/args.c cli/band.c cli/cli.h cli/compare.c cli/compare.h cli/compare_costs.c \
	cli/completion.c cli/explain.c cli/list.c \
	cli/machine.c cli/main.c cli/manual.c cli/programs.c cli/programs_describe.c cli/reduce.c cli/report.c \
	cli/reproduce.c cli/sweep.c cli/sweep_collect.c cli/sweep_manage.c cli/tables.c cli/validate.c \
	cli/verbs.c cli/verbs.def cli/verify.c cli/why.c cli/workload.c cli/workload_describe.c cli/workload_record.c
lardsim_SOURCES += cli/capture/capture.c cli/capture/capture.h cli/capture/java.c cli/capture/native.c
lardsim_SOURCES += cli/run/figures.def cli/run/machine.c cli/run/races.c cli/run/repeat.c cli/run/result.c cli/run/run.c \
	cli/run/run.h
lardsim_SOURCES += cli/trace/cat.c cli/trace/convert.c cli/trace/cut.c cli/trace/info.c cli/trace/merge.c \
	cli/trace/strip.c cli/trace/synth.c cli/trace/trace.c cli/trace/trace.h cli/trace/verify.c
# What is said of verbs, words and heads of columns, as rows of C.
help_texts = verbs.inc concepts.inc heads.inc
nodist_lardsim_SOURCES = $(help_texts)
BUILT_SOURCES += $(help_texts)
CLEANFILES += $(help_texts)
EXTRA_DIST += cli/help
cli/verbs.$(OBJEXT): verbs.inc
cli/tables.$(OBJEXT): concepts.inc heads.inc
%.inc: $(srcdir)/cli/help/%.txt $(srcdir)/cli/help/help.awk
	$(AM_V_GEN)awk -v form=$* -f $(srcdir)/cli/help/help.awk $< >$@.tmp && mv $@.tmp $@
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

