# gem5/ - the live front end: gem5 compiles it (EXTRAS), and guests include it. Here it is only packed,
# installed and tested.
gem5dir = $(pkgdatadir)/gem5
dist_gem5_DATA = gem5/README.md gem5/SConscript gem5/Lard.py gem5/lard_monitor.cc gem5/lard_monitor.hh \
	gem5/lard_stdlib.py gem5/lard_workload.cc gem5/lard_workload.hh gem5/live.c gem5/live.h \
	gem5/map.c gem5/map.h gem5/port.c gem5/port.h gem5/run.py
gem5guestdir = $(pkgdatadir)/gem5/guest
dist_gem5guest_DATA = gem5/guest/lard.h gem5/guest/lard_pthread.c gem5/guest/lard_pthread.wrap gem5/guest/lard_sync.c \
	gem5/guest/counter.c gem5/guest/figure1.c gem5/guest/objects.c gem5/guest/series.c gem5/guest/sor.c \
	gem5/guest/team.h
