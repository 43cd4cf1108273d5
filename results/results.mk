# results/ - whatever is made of runs: rooms for code, and what papers printed (results/README.md); and what
# it shares with the command line alone.
noinst_LTLIBRARIES += libresults.la
libresults_la_SOURCES = results/results.h
libresults_la_SOURCES += base/program/child.c base/program/child.h base/program/place.c base/program/place.h base/program/print.c \
	base/program/print.h base/program/stop.c base/program/stop.h
libresults_la_SOURCES += results/programs/kept.c results/programs/kept.h \
	results/programs/make.c results/programs/needs.c \
	results/programs/programs.h results/programs/recipe.c results/programs/source.c
libresults_la_SOURCES += results/job/given.c results/job/given.h results/job/progress.c \
	results/job/progress.h results/job/stopped.c results/job/stopped.h results/job/told.c results/job/told.h
libresults_la_SOURCES += results/read/estimate.c results/read/estimate.h results/read/file.c \
	results/read/overhead.c results/read/overhead.h results/read/past.c results/read/stats.c \
	results/read/sweep.c results/read/words.c
libresults_la_SOURCES += results/table/print.c results/table/table.c results/table/table.h
libresults_la_SOURCES += results/experiment/asked.c results/experiment/collect.c \
	results/experiment/collect.h results/experiment/costs.c results/experiment/costs.h \
	results/experiment/costs_files.c results/experiment/costs_json.c results/experiment/course.c \
	results/experiment/dry_run.c results/experiment/folder.c results/experiment/idle.c \
	results/experiment/index.c results/experiment/listing.c results/experiment/local.c \
	results/experiment/machines.c results/experiment/means.c results/experiment/memo.c \
	results/experiment/plan.c results/experiment/points.c results/experiment/predict.c \
	results/experiment/several.c results/experiment/shell.c results/experiment/slurm.c \
	results/experiment/spec.c results/experiment/sweep.c results/experiment/sweep.h \
	results/experiment/task.c results/experiment/work.c
libresults_la_SOURCES += results/page/diff.c results/page/explain.c results/page/figure.c \
	results/page/figures.c results/page/measures.def results/page/page.c results/page/parts.def \
	results/page/read.c results/page/report.h results/page/say.c results/page/series.c results/page/study.c
libresults_la_SOURCES += results/papers/all.c \
	results/papers/all.h results/papers/captured.c results/papers/lard_claims.c \
	results/papers/files.c results/papers/judge.c results/papers/lard.c results/papers/lard.h \
	results/papers/measure.c results/papers/page.c results/papers/pairs.c results/papers/print.c \
	results/papers/printed_rows.c results/papers/quantity.c results/papers/reproduce.c \
	results/papers/run.c results/papers/table.h results/papers/table_rows.c
libresults_la_SOURCES += results/why/answer.c results/why/asked.c results/why/draw.c results/why/page.c \
	results/why/said.c results/why/say.c results/why/why.h
libresults_la_SOURCES += results/drawing/boxes.c results/drawing/checks.c results/drawing/draw.c \
	results/drawing/drawing.h results/drawing/parts.c results/drawing/picture.c results/drawing/plot.c \
	results/drawing/plot.h results/drawing/styles.def results/drawing/svg.c results/drawing/svg.h \
	results/drawing/text.c
libresults_la_SOURCES += results/reduce/keep.c results/reduce/part.c results/reduce/reduce.h \
	results/reduce/search.c
libresults_la_SOURCES += results/validate/host.c results/validate/native.c \
	results/validate/predict.c results/validate/report.c results/validate/subject.c \
	results/validate/validate.h

# What papers printed and what is judged, for `reproduce`: each line of results/papers/printed/ and of
# results/papers/claims/ as the row of a table in C.
paper_tables = $(sort $(wildcard $(top_srcdir)/results/papers/printed/*.csv))
band_tables = $(sort $(wildcard $(top_srcdir)/results/papers/claims/*.csv))
BUILT_SOURCES = paper.inc bands.inc measures.inc suites.inc tables.inc $(report_files)
results/papers/printed_rows.lo: paper.inc bands.inc
results/papers/lard_claims.lo: suites.inc
results/papers/measure.lo: measures.inc
results/papers/table_rows.lo: tables.inc
nodist_libresults_la_SOURCES = paper.inc bands.inc measures.inc suites.inc tables.inc
paper.inc: $(paper_tables) $(srcdir)/results/results.mk
	$(AM_V_GEN)cat $(paper_tables) | awk -F, '$$1 != "paper" { \
	  printf "{\"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$9 }' >$@.tmp && mv $@.tmp $@
bands.inc: $(band_tables) $(srcdir)/results/results.mk
	$(AM_V_GEN)awk -F, 'FNR > 1 { name = FILENAME; sub(".*/", "", name); sub("[.]csv$$", "", name); \
	  printf "{\"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", name, $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8 }' $(band_tables) >$@.tmp && mv $@.tmp $@

# What their quantities are made of: a kind of measure.c, and statistics.
measures.inc: $(srcdir)/results/papers/measures.csv $(srcdir)/results/results.mk
	$(AM_V_GEN)awk -F, 'function text(s) { return s == "" ? "NULL" : "\"" s "\"" } \
	  FNR > 1 { kind = toupper($$2); gsub("-", "_", kind); \
	    printf "{\"%s\", %s, %s, %s, %s},\n", $$1, kind, text($$3), text($$4), $$5 }' $(srcdir)/results/papers/measures.csv >$@.tmp && mv $@.tmp $@
# The programs of LARD's Tables 2 and 3, an array of each suite.
suites.inc: $(srcdir)/results/papers/suites.csv $(srcdir)/results/results.mk
	$(AM_V_GEN)awk -F, 'function text(s) { return s == "" ? "NULL" : "\"" s "\"" } \
	  function end() { if (suite != "") print "{NULL, NULL, false, NULL, false, false, false}};" } \
	  FNR > 1 { if ($$1 != suite) { end(); suite = $$1; print "static const struct program " suite "[] = {" } \
	    settings = $$0; sub("^[^\"]*\"", "", settings); sub("\"$$", "", settings); \
	    printf "{\"%s\", %s, %d, %s, %d, %d, %d},\n", $$2, text(settings), $$3 == "yes", text($$4), $$5 == "yes", $$6 != "", $$6 == "native" } \
	  END { end() }' $(srcdir)/results/papers/suites.csv >$@.tmp && mv $@.tmp $@
EXTRA_DIST += results/papers/measures.csv results/papers/suites.csv

# What they run and show, in the order in which `reproduce all` has them.
reproduced = valor-table1 valor-table2 valor-overhead valor-budget valor-inputs valor-scaling \
	valor-space valor-sfr valor-holdout fib-ablations slimstate-table2 slimstate-table3 \
	slimstate-scaling goldilocks-table1 goldilocks-table2 goldilocks-table3 cvm-table1 \
	cvm-fig5 cvm-fig6 cvm-table3 cvm-table4 cvm-table5 lard-overhead lard-runtime overheads
reproduced_tables = $(reproduced:%=$(top_srcdir)/results/papers/tables/%.yaml)
tables.inc: $(reproduced_tables) $(wildcard $(top_srcdir)/results/papers/tables/shared/*.yaml) \
		$(srcdir)/results/papers/tables.awk $(srcdir)/results/results.mk
	$(AM_V_GEN)awk -f $(srcdir)/results/papers/tables.awk $(reproduced_tables) >$@.tmp && mv $@.tmp $@
EXTRA_DIST += results/papers/tables.awk results/papers/tables

# What stands in a report, byte by byte.
report_files = report_css.inc report_js.inc
if HAVE_UPLOT
report_files += uplot_css.inc uplot_js.inc
uplot_css.inc: $(UPLOT_DIR)/uPlot.min.css
	$(AM_V_GEN)$(as_bytes)
uplot_js.inc: $(UPLOT_DIR)/uPlot.iife.min.js
	$(AM_V_GEN)$(as_bytes)
endif
EXTRA_DIST += results/page/page.css results/page/page.js
CLEANFILES += $(report_files)
nodist_libresults_la_SOURCES += $(report_files)
results/page/page.lo: $(report_files)
as_bytes = od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' >$@.tmp && mv $@.tmp $@
report_css.inc: $(srcdir)/results/page/page.css
	$(AM_V_GEN)$(as_bytes)
report_js.inc: $(srcdir)/results/page/page.js
	$(AM_V_GEN)$(as_bytes)
