# tests/ - a program tests/ROOM/t_x for a question (docs/testing.md); `make check-ROOM` runs a room.
unit_tests =
unit_tests += tests/base/t_calendar tests/base/t_containers tests/base/t_csv tests/base/t_json tests/base/t_outfile tests/base/t_param \
	tests/base/t_param_dump tests/base/t_param_file tests/base/t_stats tests/base/t_text_base
unit_tests += tests/cache/t_cache tests/cache/t_cache_model
unit_tests += tests/capture/t_pause
if HAVE_CAPTURE
unit_tests += tests/capture/t_collect tests/capture/t_lanes
endif
unit_tests += tests/results/drawing/t_plot tests/results/experiment/t_costs tests/results/experiment/t_local tests/results/experiment/t_predict tests/results/experiment/t_spec tests/results/experiment/t_tasks tests/results/experiment/t_work tests/results/table/t_table
unit_tests += tests/results/job/t_progress tests/results/papers/t_all tests/results/papers/t_judge tests/results/papers/t_print tests/results/papers/t_quantity tests/results/papers/t_table3 tests/results/read/t_estimate \
	tests/results/reduce/t_reduce tests/trace/lives/t_lives tests/trace/lives/t_strip
unit_tests += tests/coherence/t_coherence tests/coherence/t_coherence_apart \
	tests/coherence/t_coherence_ce tests/coherence/t_coherence_limits \
	tests/coherence/t_coherence_random tests/coherence/t_context tests/coherence/t_explore tests/coherence/t_explore_shapes tests/coherence/t_histories \
	tests/coherence/t_groups tests/coherence/t_machines tests/coherence/t_network \
	tests/coherence/t_nodes tests/coherence/t_prefetch tests/coherence/t_routes
unit_tests += tests/gem5/t_live tests/gem5/t_map tests/gem5/t_port tests/gem5/t_replay
unit_tests += tests/coherence/dsm/t_dsm tests/coherence/dsm/t_dsm_explore tests/coherence/dsm/t_dsm_random
unit_tests += tests/isa/lardx86/t_lardx86 tests/isa/lardx86/t_lx_region \
	tests/isa/lardx86/t_lx_text
unit_tests += tests/memory/ddr/t_ddr tests/memory/ddr/t_ddr_flow tests/memory/ddr/t_ddr_ini \
	tests/memory/ddr/t_ddr_legal tests/memory/dramsim3/t_dramsim3 tests/memory/t_memory tests/memory/t_pages tests/memory/t_perturb
unit_tests += tests/oracle/t_oracle tests/oracle/t_oracle_memory tests/oracle/t_oracle_region
unit_tests += tests/policy/t_account
unit_tests += tests/policy/checker/t_after_race tests/policy/checker/t_filter
unit_tests += tests/policy/cost/t_cost tests/policy/cost/t_inline tests/policy/cost/t_layout tests/policy/cost/t_ledger \
	tests/policy/cost/t_software tests/policy/cost/t_space
unit_tests += tests/policy/verdict/t_claims tests/policy/verdict/t_verdict
unit_tests += tests/policy/cvm/t_cvm tests/policy/cvm/t_cvm_epochs tests/policy/eraser/t_eraser tests/policy/fasttrack/t_repeats \
	tests/policy/goldilocks/t_goldilocks tests/policy/goldilocks/t_goldilocks_growth \
	tests/policy/goldilocks/t_goldilocks_list \
	tests/policy/radish/t_lines tests/policy/radish/t_radish tests/policy/radish/t_radish_heap \
	tests/policy/radish/t_radish_random tests/policy/radish/t_radish_refused \
	tests/policy/radish/t_radish_region tests/policy/radish/t_radish_permission \
	tests/policy/regions/t_fastrcd tests/policy/regions/t_region_random \
	tests/policy/regions/t_region_verdict tests/policy/regions/t_valor \
	tests/policy/slimstate/t_slim_array tests/policy/slimstate/t_slim_cost tests/policy/slimstate/t_slim_set tests/policy/slimstate/t_slim_verdict \
	tests/policy/slimstate/t_slimstate tests/policy/tsan/t_tsan
unit_tests += tests/runtime/t_runtime tests/runtime/t_runtime_collect tests/runtime/t_runtime_level tests/runtime/t_runtime_random
unit_tests += tests/sim/compare/t_compare tests/sim/compare/t_compare_random tests/sim/compare/t_reasons \
	tests/sim/compare/t_compare_truth tests/sim/machine/t_ce_machine tests/sim/machine/t_cluster tests/sim/machine/t_footprint tests/sim/machine/t_outside \
	tests/sim/machine/t_predictor tests/sim/machine/t_tlb tests/sim/machine/t_touch tests/sim/order/t_order \
	tests/sim/order/t_order_random tests/sim/order/t_order_window tests/sim/scheduler/t_perturb_run tests/sim/scheduler/t_pipeline \
	tests/sim/scheduler/t_program tests/sim/scheduler/t_program_random tests/sim/scheduler/t_steps \
	tests/sim/scheduler/t_stop tests/sim/scheduler/t_timed tests/sim/scheduler/t_timed_cores \
	tests/sim/scheduler/t_timed_random tests/sim/scheduler/t_turns tests/sim/session/t_api \
	tests/sim/session/t_findings \
	tests/sim/session/t_faults tests/sim/session/t_host tests/sim/session/t_host_caches tests/sim/session/t_live tests/sim/session/t_space_policies tests/sim/session/t_shared \
	tests/sim/why/t_why tests/sim/why/t_why_ran
unit_tests += tests/results/t_seal
unit_tests += tests/swmanager/t_swmanager tests/swmanager/t_swmanager_random
unit_tests += tests/trace/binary/t_binary tests/trace/binary/t_block tests/trace/binary/t_column \
	tests/trace/binary/t_damage tests/trace/binary/t_summary tests/trace/foreign/t_ce \
	tests/trace/foreign/t_compressed tests/trace/foreign/t_gem5 tests/trace/foreign/t_import tests/trace/foreign/t_std \
	tests/trace/rules/t_rules tests/trace/rules/t_rules_state tests/trace/synth/t_synth \
	tests/trace/synth/t_synth_params tests/trace/t_ahead tests/trace/t_event tests/trace/t_extent tests/trace/t_names \
	tests/trace/t_open tests/trace/t_placement tests/trace/text/t_text tests/trace/text/t_text_errors
unit_tests += tests/workloads/kernels/t_kernels tests/workloads/kernels/t_kernels2 \
	tests/workloads/litmus/t_litmus tests/workloads/measure/t_again tests/workloads/measure/t_measure tests/workloads/t_private tests/workloads/t_workload tests/workloads/twins/t_twins \
	tests/workloads/twins/t_rest tests/workloads/twins/t_twin \
	tests/workloads/vm/t_vm tests/workloads/vm/t_vm_faults tests/workloads/vm/t_vm_heap \
	tests/workloads/vm/t_vm_layout tests/workloads/vm/t_gap \
	tests/workloads/vm/t_vm_monitor tests/workloads/vm/t_vm_races tests/workloads/vm/t_vm_site

# Fuzz targets: here they run what is in tests/corpus; long.sh builds them with libFuzzer.
fuzz_targets = tests/fuzz/fuzz_binary tests/fuzz/fuzz_events tests/fuzz/fuzz_gem5 tests/fuzz/fuzz_std \
	tests/fuzz/fuzz_text tests/fuzz/fuzz_verdict tests/fuzz/fuzz_yaml

# What several tests use: oracles, rigs, random programs.
check_LTLIBRARIES = tests/libtests.la tests/cli/no_memory.la tests/cli/quick_clock.la tests/cli/slow_sync.la tests/results/bad_read.la
tests_cli_quick_clock_la_SOURCES = tests/cli/quick_clock.c
tests_cli_quick_clock_la_CFLAGS = $(tests_cli_slow_sync_la_CFLAGS)
tests_cli_quick_clock_la_LDFLAGS = $(tests_cli_slow_sync_la_LDFLAGS)
tests_results_bad_read_la_SOURCES = tests/results/bad_read.c
tests_results_bad_read_la_CFLAGS = $(tests_cli_slow_sync_la_CFLAGS)
tests_results_bad_read_la_LDFLAGS = $(tests_cli_slow_sync_la_LDFLAGS)
tests_cli_no_memory_la_SOURCES = tests/cli/no_memory.c
tests_cli_no_memory_la_CFLAGS = $(tests_cli_slow_sync_la_CFLAGS)
tests_cli_no_memory_la_LDFLAGS = $(tests_cli_slow_sync_la_LDFLAGS)
tests_cli_slow_sync_la_SOURCES = tests/cli/slow_sync.c
tests_cli_slow_sync_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default -Wno-missing-prototypes
tests_cli_slow_sync_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)
tests_libtests_la_SOURCES = tests/base/param_rig.c tests/base/param_rig.h tests/coherence/bench.h \
	tests/coherence/check.c tests/coherence/check.h tests/coherence/dsm/check.c tests/coherence/dsm/check.h \
	tests/coherence/spec.c tests/coherence/spec.h tests/coherence/versions.h tests/coherence/net_rig.h \
	tests/coherence/dsm/rig.h tests/coherence/dsm/truth.h tests/frame/charges.c tests/frame/charges.h tests/frame/draw.c tests/frame/draw.h \
	tests/frame/heap.h \
	tests/frame/lives.c tests/frame/lives.h tests/frame/machine_rig.h tests/frame/mutant_arg.h \
	tests/frame/number.h tests/frame/place.h tests/frame/policy_rig.h tests/frame/seeds.h tests/frame/settings.h \
	tests/frame/timed_run.h tests/frame/verdict.c tests/frame/verdict.h tests/frame/watch.h \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_event.h tests/isa/lardx86/carriers.def \
	tests/isa/lardx86/codec.c tests/isa/lardx86/codec.h tests/isa/lardx86/execute.c \
	tests/isa/lardx86/lx_each.h tests/isa/lardx86/text.c \
	tests/memory/ddr/judge.c tests/memory/ddr/judge.h tests/memory/ddr/rig.h \
	tests/memory/bench.h tests/oracle/fates.c tests/oracle/fates.h tests/oracle/oracle.c tests/oracle/oracle.h tests/oracle/hand.h \
	tests/oracle/place.c tests/oracle/place.h tests/oracle/region.c tests/oracle/region.h \
	tests/oracle/scene.c tests/oracle/scene.h tests/policy/goldilocks/rig.h \
	tests/policy/radish/fake_caches.c tests/policy/radish/fake_caches.h \
	tests/policy/radish/probe.h tests/policy/radish/verdict_hardware.c \
	tests/policy/radish/verdict_hardware.h tests/policy/regions/run.h \
	tests/policy/slimstate/gen.c tests/policy/slimstate/gen.h tests/policy/slimstate/judge.c \
	tests/policy/slimstate/judge.h tests/policy/slimstate/rules.c \
	tests/policy/slimstate/rules.h tests/policy/slimstate/shadow.c \
	tests/policy/slimstate/shadow.h tests/policy/slimstate/table.c \
	tests/policy/slimstate/table.h tests/policy/slimstate/sweep.c \
	tests/policy/slimstate/sweep.h tests/policy/slimstate/sweep_array.c \
	tests/policy/slimstate/sweep_array.h tests/runtime/rig.h tests/sim/compare/hand.h \
	tests/sim/machine/ce_stream.h tests/sim/order/run.h tests/sim/scheduler/program.h tests/swmanager/rig.h \
	tests/trace/foreign/ce_record.h tests/trace/synth/spec.h tests/trace/text/bytes.h \
	tests/trace/trace_file.h tests/trace/wild.h tests/workloads/vm/box.h \
	tests/workloads/vm/churn.h tests/workloads/vm/follow.h tests/workloads/vm/spec.h
LDADD = tests/libtests.la libresults.la libcore.la $(LIBS_OF_OTHERS) $(CMOCKA_LIBS) $(SQLITE_LIBS)
# What of gem5/ needs no gem5; these tests play lardsim, the run and gem5 themselves.
tests_gem5_t_live_SOURCES = tests/gem5/t_live.c gem5/live.c gem5/map.c
tests_gem5_t_live_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim
tests_gem5_t_live_LDADD = $(CMOCKA_LIBS)
tests_gem5_t_map_SOURCES = tests/gem5/t_map.c gem5/map.c
tests_gem5_t_map_LDADD = $(CMOCKA_LIBS)
tests_gem5_t_port_SOURCES = tests/gem5/t_port.c gem5/port.c
tests_gem5_t_port_LDADD = $(CMOCKA_LIBS)
tests_gem5_t_replay_SOURCES = tests/gem5/t_replay.c gem5/live.c gem5/map.c
tests_gem5_t_replay_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim
tests_cli_peak_SOURCES = tests/cli/peak.c
tests_cli_peak_LDADD =
tests_mutants_mutate_SOURCES = tests/mutants/mutate.c tests/mutants/mutate.h \
	tests/mutants/mutate_random.c

scripts =
scripts += tests/capture/calls.sh
scripts += tests/capture/java.sh
scripts += tests/capture/native.sh
scripts += tests/capture/java-objects.sh
scripts += tests/capture/sequences.sh
scripts += tests/capture/stopped.sh
scripts += tests/capture/stress.sh
scripts += tests/cli/again.sh
scripts += tests/cli/budget.sh
scripts += tests/cli/build.sh
scripts += tests/cli/capture.sh
scripts += tests/cli/kept.sh
scripts += tests/cli/cli.sh
scripts += tests/cli/compare.sh
scripts += tests/cli/compare_page.sh
scripts += tests/cli/drawing.sh
scripts += tests/cli/debug.sh
scripts += tests/cli/dsm.sh
scripts += tests/cli/engines.sh
scripts += tests/cli/explain.sh
scripts += tests/cli/faults.sh
scripts += tests/cli/folder.sh
scripts += tests/cli/library.sh
scripts += tests/cli/limits.sh
scripts += tests/cli/machine.sh
scripts += tests/cli/machines.sh
scripts += tests/cli/memory.sh
scripts += tests/cli/output.sh
scripts += tests/cli/pages.sh
scripts += tests/cli/overhead.sh
scripts += tests/cli/place.sh
scripts += tests/cli/predict.sh
scripts += tests/cli/programs.sh
scripts += tests/cli/progress.sh
scripts += tests/cli/radish.sh
scripts += tests/cli/reduce.sh
scripts += tests/cli/region.sh
scripts += tests/cli/report.sh
scripts += tests/cli/reproduce.sh
scripts += tests/cli/resume.sh
scripts += tests/cli/run.sh
scripts += tests/cli/said.sh
scripts += tests/cli/seeds.sh
scripts += tests/cli/signals.sh
scripts += tests/cli/std.sh
scripts += tests/cli/stop.sh
scripts += tests/cli/strip.sh
scripts += tests/cli/sweep.sh
scripts += tests/cli/tables.sh
scripts += tests/cli/trace.sh
scripts += tests/cli/trace_kinds.sh
scripts += tests/cli/validate.sh
scripts += tests/cli/versions.sh
scripts += tests/cli/why.sh
scripts += tests/fuzz/corpus.sh
scripts += tests/gem5/gem5.sh
scripts += tests/gem5/guest.sh
scripts += tests/golden/golden.sh
scripts += tests/house/addresses.sh
scripts += tests/house/docs.sh
scripts += tests/house/headers.sh
scripts += tests/house/hygiene.sh
scripts += tests/house/layers.sh
scripts += tests/house/lines.sh
scripts += tests/house/manual.sh
scripts += tests/house/outside.sh
scripts += tests/house/path.sh
scripts += tests/house/prose.sh
scripts += tests/house/quickstart.sh
scripts += tests/house/tables.sh
scripts += tests/house/tags.sh
scripts += tests/house/words.sh
scripts += tests/memory/dramsim3/clocks.sh
scripts += tests/mutants/anchors.sh
scripts += tests/policy/cvm/cvm.sh
scripts += tests/policy/tsan/tsan.sh
scripts += tests/results/drawing.sh
scripts += tests/results/page.sh
scripts += tests/results/read.sh
scripts += tests/results/tables.sh
scripts += tests/results/why.sh
scripts += tests/workloads/litmus/litmus.sh
scripts += tests/workloads/prove.sh
scripts += tests/workloads/twins/twins.sh
scripts += tests/workloads/workload.sh

if HAVE_CMOCKA
check_PROGRAMS = $(unit_tests) $(fuzz_targets) tests/mutants/mutate tests/cli/peak
TESTS = $(unit_tests) $(scripts)
else
check_PROGRAMS = $(fuzz_targets) tests/mutants/mutate tests/cli/peak
TESTS = $(scripts)
endif
AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	LARDSIM='$(abs_top_builddir)/lardsim$(EXEEXT)' LARDSIM_INSTRUMENTED='@LARDSIM_INSTRUMENTED@' \
	CC='$(CC)' CXX='$(CXX)'; \
	export top_srcdir top_builddir LARDSIM LARDSIM_INSTRUMENTED CC CXX;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
SH_LOG_DRIVER = $(SHELL) $(top_srcdir)/tests/driver.sh $(SHELL) $(top_srcdir)/build-aux/test-driver

# check-radish: the tests in tests/policy/radish/; check-policy: those of all its rooms.
check-%: all
	@tests='$(strip $(foreach t,$(unit_tests) $(scripts),$(if $(findstring /$*/,/$(t)),$(t))))'; \
	[ -n "$$tests" ] || { echo "tests/ has no room $*; check-verdict judges each policy by what it promises" >&2; \
	  exit 1; }; \
	programs="$$(echo "$$tests" | tr ' ' '\n' | grep -v '[.]sh$$' | tr '\n' ' ')"; \
	$(MAKE) check TESTS="$$tests" check_PROGRAMS="$$programs"

check-local: shellcheck
shellcheck:
	@if command -v shellcheck >/dev/null 2>&1; then \
	  cd $(top_srcdir) && shellcheck -x -S warning quickstart $(scripts) tests/cli/head.sh tests/driver.sh \
	    tests/long/*.sh tests/mutants/*.sh tests/golden/*.sh tests/house/*.sh bench/*.sh && \
	  { [ ! -f .ci/run ] || shellcheck -S warning .ci/run; }; \
	else echo "shellcheck is not installed: scripts not checked"; fi

# What takes longer: random traces in depth, sanitizers, mutants, other compilers.
# LIMIT is how long it may take; what does not fit is said. SHARE=N: the core and the Nth tenth of the rest, which must fit.
LIMIT = 60m
check-long: all
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/long/long.sh $(LIMIT) $(SHARE:%=share %)

# The lines that are changed (BASE=COMMIT: since when; ALL=yes: all), laid out as .clang-format says. lint only says what is not so,
# and asks what the tree promises of its source: scripts, layers, headers, names, words, lines of code.
format:
	@$(AM_TESTS_ENVIRONMENT) BASE='$(BASE)' ALL='$(ALL)' $(SHELL) $(top_srcdir)/tests/house/format.sh
lint:
	@for tool in shellcheck clang-format; do command -v $$tool >/dev/null 2>&1 || missing="$$missing $$tool"; done; \
	[ -z "$$missing" ] || { echo "lint needs$$missing: apt-get install$$missing" >&2; exit 1; }
	@$(MAKE) -s shellcheck
	@$(AM_TESTS_ENVIRONMENT) BASE='$(BASE)' ALL='$(ALL)' $(SHELL) $(top_srcdir)/tests/house/format.sh --check || bad=1; \
	for question in addresses headers hygiene layers lines tags words; do \
	  $(SHELL) $(top_srcdir)/tests/house/$$question.sh || bad=1; done; exit $${bad:-0}

golden: lardsim$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/golden/golden.sh --renew

# Which statistics and races are others than those of the commit before? BASE=COMMIT or BASE=PROGRAM is another one to compare with;
# ALL=yes compares all that a reader sees.
moved: lardsim$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) BASE='$(BASE)' ALL='$(ALL)' $(SHELL) $(top_srcdir)/tests/golden/moved.sh

# By name: what is built in that folder must not be packed.
mutant_files = tests/mutants/capture.edits tests/mutants/compare.edits tests/mutants/coherence.edits tests/mutants/cvm.edits tests/mutants/dsm.edits \
	tests/mutants/equivalent tests/mutants/filter.edits \
	tests/mutants/goldilocks.edits tests/mutants/machine.edits tests/mutants/named.sh tests/mutants/order.edits \
	tests/mutants/radish.edits tests/mutants/random.sh tests/mutants/regions.edits \
	tests/mutants/slimstate.edits tests/mutants/switch.c tests/mutants/switch.h tests/mutants/vc.edits tests/mutants/why.edits
EXTRA_DIST += tests/capture/Churn.java tests/capture/calls.c tests/capture/Forms.java tests/capture/forms.c tests/capture/sequences.c tests/capture/inside.awk tests/capture/Orders.java tests/capture/Stress.java tests/capture/stress.c tests/capture/stress.h \
	tests/capture/stress_check.c tests/capture/wrong-native.sh tests/capture/wrong.sh tests/cli/sweep_hook.c $(scripts) \
	tests/cli/head.sh tests/driver.sh tests/house/format.sh tests/house/words.awk tests/house/called.c tests/data tests/corpus tests/results/judge tests/golden tests/long $(mutant_files)

docs-tables: lardsim$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/house/tables.sh --renew

.PHONY: check-long docs-tables golden moved format lint shellcheck
