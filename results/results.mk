# results/ - whatever is made of runs: rooms for code, and what papers printed (results/README.md).
noinst_LTLIBRARIES += libresults.la
libresults_la_SOURCES = results/results.h results/read/file.c results/read/past.c results/read/stats.c results/read/sweep.c
