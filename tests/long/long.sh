#!/bin/sh
# long.sh LIMIT [share N] - the long suite, most telling first, until LIMIT (20m, 1h, 90s) is used up. What did
# not fit is said and counts as skipped. With a share: the core, and of what asks in depth the Nth tenth; what does not
# fit has failed then, as in ten changes of the project every part has to have run. Each part works in a build of its
# own below long/.
limit=${1:-60m}
case $limit in
*h) limit=$((${limit%h} * 3600)) ;;
*m) limit=$((${limit%m} * 60)) ;;
*s) limit=${limit%s} ;;
esac
top=${top_srcdir:?}
here=$(pwd)
began=$(date +%s)
jobs=$(nproc 2>/dev/null || echo 1)
failed=0

# The share that is wanted, and the one that the parts below belong to.
wanted='' share=core
[ "${2:-}" != share ] || { wanted=$(($3 % 10)); shift 3; set -- "$limit" "$@"; }

left() { echo $((limit - ($(date +%s) - began))); }

# unfit NAME REASON
unfit() {
    if [ -n "$wanted" ]; then
        echo "long: FAIL $1 ($2)"
        failed=1
    else
        echo "long: SKIP $1 ($2)"
    fi
}

# part NAME SECONDS COMMAND: SECONDS is what it needs at least; it is stopped when the time is over.
part() {
    name=$1 need=$2
    shift 2
    [ -z "$wanted" ] || [ $share = core ] || [ $share = "$wanted" ] || return 0
    if [ "$(left)" -lt "$need" ]; then
        unfit "$name" "$(left) s left, needs $need"
        return
    fi
    start=$(date +%s)
    mkdir -p "$here/long"
    timeout "$(left)" "$@" >"$here/long/$name.log" 2>&1
    code=$?
    # As tests/driver.sh says of make check: what was not found checked nothing.
    [ $code != 0 ] || ! grep -q "^$top/.*\.sh: \(line \)\{0,1\}[0-9]*: .*: \(command \)\{0,1\}not found\$" "$here/long/$name.log" || code=127
    case $code in
    0) echo "long: PASS $name ($(($(date +%s) - start)) s)" ;;
    77) echo "long: SKIP $name ($(tail -n 1 "$here/long/$name.log"))" ;;
    124) unfit "$name" "did not fit" ;;
    *)
        echo "long: FAIL $name"
        tail -n 15 "$here/long/$name.log"
        failed=1
        ;;
    esac
}

# configured NAME FLAGS...: a build of its own, made once; of $goal only, if there is one.
configured() {
    build=$here/long/$1
    shift
    mkdir -p "$build" && cd "$build" || return 1
    [ -f Makefile ] || "$top/configure" -q "$@" || return 1
    make -s -j"$jobs" ${goal:-all}
}

programs() { make -s -j"$jobs" check TESTS= >/dev/null; }

# released: the build at hand, if its flags are those of users; else one of its own with them.
released() {
    if grep -qx 'CFLAGS = -g -O2' "$here/Makefile" && grep -qx 'LARDSIM_INSTRUMENTED = *' "$here/Makefile"; then
        cd "$here" && make -s -j"$jobs"
    else
        configured release CFLAGS='-g -O2'
    fi && programs
}

# draw PROGRAM SEEDS [POLICY]: random cases, from a seed that make check is far from; half of them on
# each of two cores. 77: there is no such policy.
draw() {
    released || return 1
    program=$(find ./tests -type f -name "$1") half=$(($2 / 2)) all=$2
    shift 2
    "$program" 1000000 "$half" "$@" &
    first=$!
    "$program" $((1000000 + half)) $((all - half)) "$@" || { code=$?; wait "$first"; return "$code"; }
    wait "$first"
}

# mutated NAME ARGUMENTS: a copy of the source, as it would be packed, with the mutants that the arguments
# to tests/mutants/mutate name or draw, and a build of it. Its source is $top from here on.
mutated() {
    copy=long/$1/source
    mkdir -p "long/$1" && make -s distdir distdir="$copy" top_distdir="$copy" && make -s tests/mutants/mutate || return 1
    name=$1
    shift
    ./tests/mutants/mutate -o "$copy" "$@" >"long/$name/list" || return 1
    top=$here/$copy
    goal=libcore.la configured "$name/build" CFLAGS='-O1 -w' && programs
}

mutants() {
    mutated mutants "$top" "$top"/tests/mutants/*.edits || return 1
    top_srcdir=$top "$SHELL" "$top/tests/mutants/named.sh" "$here/long/mutants/list"
}

# random_mutants NUMBER [SEED [ROOM [TESTS]]]: so many in each room, or in those of a folder, judged by the tests whose path
# fits. Each change of main that draws them draws others (tests/long/turn), and the same each time it is tried.
random_mutants() {
    name=random$(echo "${3:-}" | tr / -)
    java=$(sed -n "s/^JAVA_CPPFLAGS = //p" Makefile)
    CC="${CC:-cc} -I. $java" mutated "$name" -n "$1" -s "${2:-$(cat "$top/tests/long/turn")}" ${3:+-r "$3"} "$top" \
        "$top/tests/mutants/equivalent" || return 1
    top_srcdir=$top "$SHELL" "$top/tests/mutants/random.sh" "$here/long/$name/list" "${4:-.}"
}

# The machine on random streams and random settings; every state of the protocol with more cores and lines.
machine() {
    released || return 1
    ./tests/coherence/t_coherence_random 1000 "$1" && ./tests/sim/scheduler/t_timed_random 1000 $(($1 * 5))
}
explore() {
    released && ./tests/coherence/t_explore deep
}

# Every state of two processes that share two pages: some 770,000.
explore_dsm() {
    released && ./tests/coherence/dsm/t_dsm_explore 0
}

# Under the sanitizers: the units, but those that walk through all states, which takes them long and comes
# by nothing that the others don't; or all that make check runs.
sanitized_build() {
    configured sanitized --enable-asan --enable-ubsan --enable-werror CFLAGS='-O1 -g' && programs
}
sanitized_units() {
    # shellcheck disable=SC2016 # make expands it
    sanitized_build && make -s -j"$jobs" check TESTS='$(filter-out %_explore %_explore_shapes,$(unit_tests))'
}
sanitized() {
    sanitized_build && make -s check && ./tests/policy/verdict/t_verdict 5000000 2000
}

# compilable FLAG...: what the compiler of the next parts has to be able to do.
compilable() {
    compiler=$1
    shift
    mkdir -p "$here/long"
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n);
int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return p && n ? 0 : 0; }
'"${main:-}" >"$here/long/probe.c"
    command -v "$compiler" >/dev/null && "$compiler" "$@" "$here/long/probe.c" -o "$here/long/probe" && return
    echo "no $compiler with $* here"
    return 77
}

# same BUILD...: the same results, whatever built the program.
same() {
    command -v clang >/dev/null || { echo "no clang here"; return 77; }
    builds=$*
    for build in $builds; do
        case $build in
        clang3) set -- CC=clang --enable-werror CFLAGS='-O3 -g' ;;
        plain) set -- --enable-werror CFLAGS='-O0 -DNDEBUG' ;;
        clang0) set -- CC=clang CFLAGS=-O0 ;;
        gcc3) set -- CFLAGS=-O3 ;;
        esac
        cd "$here" && goal=lardsim configured "$build" "$@" || return 1
    done
    set -- "$here/lardsim"
    for build in $builds; do
        set -- "$@" "$here/long/$build/lardsim"
    done
    "$SHELL" "$top/tests/long/same.sh" "$@"
}

# A sweep on a real Slurm; skipped where there is none.
slurm() { "$SHELL" "$top/tests/long/slurm.sh"; }

report() { "$SHELL" "$top/tests/long/report.sh"; }

# All forms on real JVMs, and a stress; skipped where the build has no agents.
java_captures() { "$SHELL" "$top/tests/capture/java.sh" all; }
# stress SECONDS [SEED]: programs that do all at once, native ones and Java's half of the time each.
stress() {
    for what in native java; do
        "$SHELL" "$top/tests/capture/stress.sh" $(($1 / 2)) "${2:-1000000}" $what || [ $? = 77 ] || return 1
    done
}
# Wrong recorders and agents are noticed.
native_wrong() { "$SHELL" "$top/tests/capture/wrong-native.sh"; }
java_wrong() { "$SHELL" "$top/tests/capture/wrong.sh"; }

# Each recipe in a bare root of its own; skipped where none can be made.
recipes() { "$SHELL" "$top/tests/long/recipes.sh" "${XDG_CACHE_HOME:-$HOME/.cache}/lardsim-ci/debs"; }
# Programs of Debian, from recipe to table; skipped where they are not installed.
real_programs() { "$SHELL" "$top/tests/cli/programs.sh" real; }

clang_check() {
    command -v clang >/dev/null || { echo "no clang here"; return 77; }
    configured clang3 CC=clang --enable-werror CFLAGS='-O3 -g' && programs && make -s check
}

# The thread that reads ahead.
threads() {
    main='int main(void) { return 0; }' compilable "${CC:-cc}" -fsanitize=thread || return
    goal='lardsim tests/trace/t_ahead' configured threads CFLAGS='-O1 -g -fsanitize=thread' && ./tests/trace/t_ahead || return 1
    for source in synth:seed=1,events=300000 synth:seed=2,events=50000,names=on,heap_share=100; do
        ./lardsim run --quiet -p vc -p fasttrack --set trace.ahead=on "$source" >/dev/null || return 1
    done
}

# Memory that runs out at every allocation, disks that are full at every byte.
faults() {
    released && ./tests/sim/session/t_faults 1
}

# fuzz_build TARGET: long/fuzz/fuzz_TARGET
fuzz_build() {
    goal=libcore.la configured fuzz CC=clang \
        CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' || return 1
    target=$1
    set -- "$top/tests/fuzz/fuzz_$target.c"
    [ "$target" != verdict ] || set -- "$@" "$top/tests/frame/verdict.c" "$top/tests/frame/lives.c" "$top/tests/oracle/oracle.c" "$top/tests/oracle/place.c" "$top/tests/oracle/scene.c"
    packages="libzstd zlib libxxhash yaml-0.1"
    # shellcheck disable=SC2046,SC2086  # lists of flags and packages
    clang -std=c11 -D_GNU_SOURCE -DLARDSIM_LIBFUZZER -I"$top" -O1 -g -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all $(pkg-config --cflags $packages) "$@" .libs/libcore.a \
        $(pkg-config --libs $packages) -pthread -o "fuzz_$target"
}

# fuzz_run TARGET SECONDS: what it finds is kept in long/fuzz and breaks the next run, too.
fuzz_run() {
    for found in "$1"-found-*; do
        [ ! -f "$found" ] || "./fuzz_$1" "$found" || return 1
    done
    mkdir -p "corpus/$1" "seeds/$1"
    target=$1 seconds=$2
    tar -xzf "$top/tests/corpus/$target/seeds.tar.gz" -C "seeds/$target" || return 1
    set -- "corpus/$target" "seeds/$target" "$top/tests/corpus/$target"
    case $target in
    text) set -- "$@" "$top/workloads/litmus" ;;
    std) set -- "$@" "$top/tests/data/foreign" ;;
    esac
    # What decides over a change draws the same each time; who fuzzes for longer looks for something new.
    seed=0
    [ "$seconds" -gt 60 ] || seed=1
    # libFuzzer's own exit code for a find is 77.
    ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16 "./fuzz_$target" -artifact_prefix="$target-found-" \
        -seed=$seed -max_total_time="$seconds" -max_len=4096 -len_control=0 -rss_limit_mb=1500 -timeout=25 "$@" </dev/null || return 1
}

# fuzz SECONDS TARGET...: with libFuzzer, side by side, one core each.
fuzz() {
    seconds=$1
    shift
    compilable clang -fsanitize=fuzzer,address,undefined || return
    for target; do
        fuzz_build "$target" || return 1
    done
    runs=
    for target; do
        fuzz_run "$target" "$seconds" &
        runs="$runs $!"
    done
    status=0
    for run in $runs; do
        wait "$run" || status=1
    done
    return $status
}

# The way of one event, as docs/architecture.md tells it.
path() {
    goal=lardsim configured path --disable-shared LDFLAGS=-no-pie \
        CFLAGS='-O1 -fno-inline -fno-pie -finstrument-functions' || return 1
    "$SHELL" "$top/tests/house/path.sh" ./lardsim
}

# docs/adding-a-policy.md is enough: in a built tree its policy is added by the lines that it names, and is
# built, listed, run and judged.
adding() {
    copy=long/adding/source
    mkdir -p long/adding && make -s distdir distdir="$copy" top_distdir="$copy" || return 1
    top=$here/$copy
    configured adding/build CFLAGS='-O1 -w' || return 1
    (
        cd "$top" && mkdir -p policy/handover || exit 1
        awk '/^```c$/ {on = 1; next} /^```/ {on = 0} on' docs/adding-a-policy.md >policy/handover/handover.c
        echo 'POLICY(handover)' >>policy/policies.def
        echo 'libcore_la_SOURCES += policy/handover/handover.c' >>policy/policy.mk
        sed -i 's|^policy/vc: .*|&\npolicy/handover: policy policy/hb policy/cost policy/checker|' tests/house/layers.sh
        sed -i 's/^golden synth.clean.*/&\ngolden synth.handover -c radish8 --policy handover synth:seed=1,events=5000/' tests/golden/golden.sh
        sed -i 's/^| \[`clean`\].*/&\n| [`handover`](policies\/handover.md) | the last access | nothing/' docs/policies.md
        printf '# handover\n\n## Costs\n\n<!-- lardsim list steps handover -->\n<!-- end -->\n' >docs/policies/handover.md
    ) && make -s -j"$jobs" && ./lardsim list policies | grep '^handover ' && make -s docs-tables golden &&
        grep -q '^policy.handover.races: ' "$top/tests/golden/synth.handover.txt" &&
        grep '^| compare | 3 |' "$top/docs/policies/handover.md" &&
        make -s -j"$jobs" check check_PROGRAMS=tests/policy/verdict/t_verdict TESTS='tests/policy/verdict/t_verdict
            tests/house/layers.sh tests/house/headers.sh tests/house/hygiene.sh tests/house/tables.sh
            tests/cli/explain.sh tests/golden/golden.sh'
}
# What is packed builds and installs elsewhere; there the tests, too, pass.
distcheck() {
    cd "$here" && make -s distcheck
}

# sweep_kills KILLS: a sweep that is killed so often gives what an uninterrupted one gives.
sweep_kills() {
    released && LARDSIM=$(pwd)/lardsim top_srcdir=$top "$SHELL" "$top/tests/cli/sweep.sh" "$1"
}

# Each read of results fails in turn, for each verb.
read_results() {
    released && LARDSIM=$(pwd)/lardsim top_srcdir=$top top_builddir=$here "$SHELL" "$top/tests/results/read.sh" 1
}

# Sweeps take what was predicted: the specs that come with lardsim, as they are, and seconds of a processor.
predictions() {
    released && LARDSIM=$(pwd)/lardsim top_srcdir=$top top_builddir=$here "$SHELL" "$top/tests/cli/predict.sh" whole
}

# No row of the bench takes 3 percent more instructions than was stored; skipped where that build can't be made.
instructions() {
    released && make -s bench/decode bench/encode bench/push &&
        LARDSIM=$(pwd)/lardsim BENCH=$(pwd)/bench "$SHELL" "$top/bench/bench.sh"
}

# reduce TRACES: so many random traces are made small; and one of a million events, to at most a hundredth,
# within a minute, or a minute and a half on busy cores.
reduce() {
    made=$here/long/reduce
    released && LARDSIM=$(pwd)/lardsim ./tests/results/reduce/t_reduce 1000000 "$1" &&
        ./lardsim trace synth -q --overwrite "$made.lard" seed=3 events=1M threads=8 heap_share=20 racy=1 &&
        id=$(./lardsim run -q --set races.max=1 -o "$made-run" "$made.lard" --overwrite &&
            sed 's/.*"race": "\([0-9a-f]*\)".*/\1/' "$made-run/races.jsonl") &&
        timeout 90 ./lardsim trace reduce "$made.lard" "$made.trace" --overwrite --keep "race $id" &&
        [ "$(grep -c '^T' "$made.trace")" -le 10000 ]
}

SHELL=${SHELL:-/bin/sh}
case ${2:-} in
"") ;;
*) shift; "$@"; exit ;; # one part by itself, in this process
esac
self() { n=$1 s=$2; shift 2; part "$n" "$s" env top_srcdir="$top" "$SHELL" "$top/tests/long/long.sh" "${limit}s" "$@"; }

# sound: the policies that promise to miss nothing, with their promises.
sound() { "${LARDSIM:?}" list policies | grep " sound, "; }

# verdicts SEEDS SECONDS [PATTERN]: random cases against the oracle, for each policy that is asked for happens-before and
# whose name fits; SECONDS is what a part needs at least. Likewise regions. models SEEDS SECONDS: what has a model of its own.
verdicts() {
    for policy in $(sound | awk -v fits="${3:-.}" '!/ of regions/ && $1 ~ fits {print $1}'); do
        self "oracle-$policy-$1" "$2" draw t_verdict "$1" "$policy"
    done
}
regions() {
    for policy in $(sound | awk '/ of regions/ {print $1}'); do
        self "regions-$policy-$1" "$2" draw t_region_verdict "$1" "$policy"
    done
}
models() {
    for question in t_region_random t_goldilocks t_slimstate t_slim_verdict t_filter t_strip t_why t_why_ran t_reasons; do
        self "$question-$1" "$2" draw $question "$1"
    done
}
[ -n "$(sound)" ] || { echo "long: FAIL there are no policies"; failed=1; }

# ---- the core: within 20 minutes on two cores, each question once -------------------------------------
verdicts 8000 30
regions 2500 30
models 2500 30
self machine-60 30 machine 60
self faults 40 faults
self mutants 120 mutants
self sanitized-units 240 sanitized_units
self threads 60 threads
self sweep-kills-30 60 sweep_kills 30
self read-results 60 read_results
self reduce-200 40 reduce 200
self path 60 path
self fuzz-25-events-verdict 60 fuzz 25 events verdict
self fuzz-25-binary-text 60 fuzz 25 binary text
self fuzz-25-std-yaml 60 fuzz 25 std yaml
self fuzz-25-gem5 60 fuzz 25 gem5
self same 90 same clang3 plain
self stress-60 90 stress 60
self slurm 100 slurm
self report 30 report

# ---- in depth: ten shares, each under 25 minutes -------------------------------------------------------
share=1
self sanitized 300 sanitized
share=2
self explore 120 explore
self explore-dsm 150 explore_dsm
self native-wrong 90 native_wrong
self java-wrong 60 java_wrong
self adding 90 adding
self instructions 120 instructions
share=3
self stress-600 660 stress 600 2000000
self java 90 java_captures
self programs 30 real_programs
share=4
self random-mutants 600 random_mutants 3
share=5
verdicts 60000 100 '^(vc|fasttrack|clean|goldilocks|slimstate|cvm)$'
share=6
verdicts 30000 100 '^(radish|radish-ts|lardish)$'
self machine-1000 100 machine 1000
share=7
regions 30000 100
models 30000 100
share=8
self clang 300 clang_check
self same-more 150 same clang0 gcc3
self predictions 200 predictions
share=9
self distcheck 300 distcheck
self recipes 600 recipes
share=0
# Five minutes each, or what is left in equal shares.
shares=4
for pair in "events verdict" "binary text" "std yaml" gem5; do
    seconds=$(($(left) / shares - 20))
    [ $seconds -le 300 ] || seconds=300
    # shellcheck disable=SC2086 # two targets
    self "fuzz-long-$(echo "$pair" | tr ' ' -)" $((90 * shares)) fuzz $seconds $pair
    shares=$((shares - 1))
done
exit $failed
