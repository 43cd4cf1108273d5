# capture/ - real programs as sources of events (capture/README.md).
libcore_la_SOURCES += capture/capture.h capture/collect.c capture/lanes.c capture/lanes.h capture/pause.c capture/pause.h capture/ring.h capture/sites.c capture/sites.h

# What is linked into programs under capture. All its names are seen: shared libraries call them, too.
if HAVE_CAPTURE
pkglib_LIBRARIES = capture/liblardsim-native.a
capture_liblardsim_native_a_SOURCES = capture/native/access.c capture/native/heap.c \
	capture/native/record.h capture/native/start.c capture/native/sync.c capture/write.h
capture_liblardsim_native_a_CFLAGS = $(AM_CFLAGS) -O2 -fPIC -fvisibility=default -fno-builtin \
	-Wno-missing-prototypes -Wno-pedantic

bin_SCRIPTS = capture/lardsim-cc capture/lardsim-c++
capture/lardsim-cc: capture/lardsim-cc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) capture && sed 's,@pkglibdir@,$(pkglibdir),' $(srcdir)/capture/lardsim-cc.in >$@-t && \
		chmod +x $@-t && mv $@-t $@
capture/lardsim-c++: capture/lardsim-cc
	$(AM_V_GEN)cp capture/lardsim-cc $@
gapsdir = $(pkglibdir)/gaps
gaps_SCRIPTS = capture/gaps/as
capture/gaps/as: capture/lardsim-as.in Makefile
	$(AM_V_GEN)$(MKDIR_P) capture/gaps && cp $(srcdir)/capture/lardsim-as.in $@-t && chmod +x $@-t && mv $@-t $@
CLEANFILES += capture/lardsim-cc capture/lardsim-c++ capture/gaps/as
endif
EXTRA_DIST += capture/README.md capture/lardsim-cc.in capture/lardsim-as.in

# What a JVM under capture loads: where a JDK and Debian's libasm-java are. The JVM's calls have arguments that not
# every function needs.
EXTRA_DIST += capture/java/agent.c capture/java/lardsim/Agent.java capture/java/lardsim/Code.java \
	capture/java/lardsim/Jdk.java capture/java/lardsim/Operation.java capture/java/lardsim/Rt.java \
	capture/java/lardsim/Variable.java capture/java/lardsim/Work.java
if HAVE_JAVA
pkglib_LTLIBRARIES = capture/liblardsim-java.la
capture_liblardsim_java_la_SOURCES = capture/java/agent.c capture/ring.h capture/write.h
capture_liblardsim_java_la_CPPFLAGS = $(AM_CPPFLAGS) $(JAVA_CPPFLAGS)
capture_liblardsim_java_la_CFLAGS = $(AM_CFLAGS) -O2 -fvisibility=default -Wno-missing-prototypes -Wno-pedantic \
	-Wno-unused-parameter
capture_liblardsim_java_la_LDFLAGS = -module -avoid-version -shared
agentdir = $(pkglibdir)
agent_DATA = capture/lardsim-agent.jar
java_sources = $(srcdir)/capture/java/lardsim/Agent.java $(srcdir)/capture/java/lardsim/Code.java \
	$(srcdir)/capture/java/lardsim/Jdk.java $(srcdir)/capture/java/lardsim/Operation.java $(srcdir)/capture/java/lardsim/Rt.java \
	$(srcdir)/capture/java/lardsim/Variable.java $(srcdir)/capture/java/lardsim/Work.java
capture/lardsim-agent.jar: $(java_sources) Makefile
	$(AM_V_GEN)rm -rf capture/classes && $(MKDIR_P) capture/classes && \
	$(JAVAC) -Xlint:-options -nowarn --add-exports java.base/jdk.internal.misc=ALL-UNNAMED -cp '$(ASM_JARS)' \
		-d capture/classes $(java_sources) && \
	{ echo 'Premain-Class: lardsim.Agent'; echo 'Can-Retransform-Classes: true'; \
	  echo "Boot-Class-Path: lardsim-agent.jar `echo '$(ASM_JARS)' | tr : ' '`"; } >capture/manifest && \
	$(JAR) cfm $@-t capture/manifest -C capture/classes lardsim && \
	rm -rf capture/classes capture/manifest && mv $@-t $@
CLEANFILES += capture/lardsim-agent.jar
endif
