#!/bin/sh
# long.sh LIMIT - the long suite, most telling first, until LIMIT (20m, 1h, 90s) is used up. What did
# not fit is said and counts as skipped. Each part works in a build of its own below long/.
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

left() { echo $((limit - ($(date +%s) - began))); }

# part NAME SECONDS COMMAND: SECONDS is what it needs at least; it is stopped when the time is over.
part() {
    name=$1 need=$2
    shift 2
    if [ "$(left)" -lt "$need" ]; then
        echo "long: SKIP $name ($(left) s left, needs $need)"
        return
    fi
    start=$(date +%s)
    mkdir -p "$here/long"
    timeout "$(left)" "$@" >"$here/long/$name.log" 2>&1
    case $? in
    0) echo "long: PASS $name ($(($(date +%s) - start)) s)" ;;
    77) echo "long: SKIP $name ($(tail -n 1 "$here/long/$name.log"))" ;;
    124) echo "long: SKIP $name (did not fit)" ;;
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

# Both cores: the range of seeds is cut in two. 77: there is no such policy.
seeds() {
    half=$(($3 / 2))
    "./tests/$1" 1000000 "$half" "$2" &
    first=$!
    "./tests/$1" $((1000000 + half)) $(($3 - half)) "$2" || { code=$?; wait "$first"; return "$code"; }
    wait "$first"
}

# verdict PROGRAM POLICY SEEDS
verdict() {
    configured release CFLAGS='-O2 -g' && programs || return 1
    seeds "$1" "$2" "$3"
}

oracle() { verdict t_verdict "$1" "$2"; }

# Conflicts of regions; and that they are races, by the two oracles alone.
regions() { verdict t_region_verdict "$1" "$2"; }
region_oracles() {
    configured release CFLAGS='-O2 -g' && programs && ./tests/t_region_random 1000000 "$1"
}

# Its parameters, with a machine and without.
goldilocks() {
    configured release CFLAGS='-O2 -g' && programs || return 1
    ./tests/t_goldilocks 1000000 "$1"
}

slimstate() {
    configured release CFLAGS='-O2 -g' && programs || return 1
    ./tests/t_slimstate 1000000 "$1"
}

mutants() {
    configured mutants --enable-mutants CFLAGS='-O1' && programs || return 1
    "$SHELL" "$top/tests/mutants.sh"
}

# The machine in depth: every state of the protocol with more cores and lines, random machines.
machine() {
    configured release CFLAGS='-O2 -g' && programs || return 1
    ./tests/t_coherence_random 1000 400 && ./tests/t_timed_random 1000 2000 && ./tests/t_explore deep
}

sanitized() {
    configured sanitized --enable-asan --enable-ubsan --enable-werror CFLAGS='-O1 -g' && programs || return 1
    make -s check && ./tests/t_verdict 5000000 2000
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

compilers() {
    command -v clang >/dev/null || { echo "no clang here"; return 77; }
    configured clang CC=clang --enable-werror CFLAGS='-O3 -g' && programs && make -s check || return 1
    cd "$here" && configured plain --enable-werror CFLAGS='-O0 -DNDEBUG' || return 1
    cd "$here" && configured clang0 CC=clang CFLAGS='-O0' || return 1
    cd "$here" && configured gcc3 CFLAGS='-O3' || return 1
    set -- "$here/lardsim"
    for build in clang plain clang0 gcc3; do
        set -- "$@" "$here/long/$build/lardsim"
    done
    "$SHELL" "$top/tests/same.sh" "$@"
}

# The thread that reads ahead.
threads() {
    main='int main(void) { return 0; }' compilable "${CC:-cc}" -fsanitize=thread || return
    configured threads CFLAGS='-O1 -g -fsanitize=thread' && programs && ./tests/t_ahead || return 1
    for source in synth:seed=1,events=300000 synth:seed=2,events=50000,names=on,heap_share=100; do
        ./lardsim run --quiet -p vc -p fasttrack --set trace.ahead=on "$source" >/dev/null || return 1
    done
}

# Memory that runs out at every allocation, disks that are full at every byte.
faults() {
    configured release CFLAGS='-O2 -g' && programs && ./tests/t_faults 1
}

# fuzz_build TARGET: long/fuzz/fuzz_TARGET
fuzz_build() {
    goal=libcore.la configured fuzz CC=clang \
        CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' || return 1
    target=$1
    set -- "$top/tests/fuzz_$target.c"
    [ "$target" != verdict ] || set -- "$@" "$top/tests/verdict.c" "$top/tests/oracle.c" "$top/tests/oracle_place.c"
    packages="libzstd zlib libxxhash yaml-0.1"
    # shellcheck disable=SC2046,SC2086  # lists of flags and packages
    clang -std=c11 -D_GNU_SOURCE -DLARDSIM_LIBFUZZER -I"$top" -O1 -g -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all $(pkg-config --cflags $packages) "$@" .libs/libcore.a \
        $(pkg-config --libs $packages) -pthread -o "fuzz_$target"
}

# fuzz TARGET SECONDS: with libFuzzer; what it finds is kept in long/fuzz and breaks the next run, too.
fuzz() {
    compilable clang -fsanitize=fuzzer,address,undefined || return
    fuzz_build "$1" || return 1
    for found in "$1"-found-*; do
        [ ! -f "$found" ] || "./fuzz_$1" "$found" || return 1
    done
    mkdir -p "corpus/$1"
    target=$1 seconds=$2
    set -- "corpus/$target" "$top/tests/corpus/$target"
    case $target in
    text) set -- "$@" "$top/workloads/litmus" ;;
    std) set -- "$@" "$top/tests/data/foreign" ;;
    esac
    # libFuzzer's own exit code for a find is 77.
    ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16 "./fuzz_$target" -artifact_prefix="$target-found-" \
        -max_total_time="$seconds" -max_len=4096 -len_control=0 -rss_limit_mb=1500 -timeout=25 "$@" </dev/null || return 1
}

distcheck() {
    cd "$here" && make -s distcheck
}

SHELL=${SHELL:-/bin/sh}
case ${2:-} in
"") ;;
*) shift; "$@"; exit ;; # one part by itself, in this process
esac
self() { n=$1 s=$2; shift 2; part "$n" "$s" env top_srcdir="$top" "$SHELL" "$top/tests/long.sh" "${limit}s" "$@"; }
targets="events verdict binary text std yaml"
self oracle-vc-20000 90 oracle vc 20000
self oracle-fasttrack-20000 60 oracle fasttrack 20000
self slimstate-20000 90 slimstate 20000
self oracle-lardish-20000 120 oracle lardish 20000
self oracle-radish-20000 120 oracle radish 20000
self oracle-goldilocks-20000 60 oracle goldilocks 20000
self goldilocks-20000 60 goldilocks 20000
self mutants 180 mutants
self machine 300 machine
for target in $targets; do
    self "fuzz-$target-60" 150 fuzz "$target" 60
done
self sanitized 180 sanitized
self threads 90 threads
self faults 90 faults
self compilers 240 compilers
self oracle-vc-100000 150 oracle vc 100000
self oracle-fasttrack-100000 150 oracle fasttrack 100000
self oracle-lardish-100000 300 oracle lardish 100000
self oracle-radish-100000 300 oracle radish 100000
self oracle-radish-ts-20000 60 oracle radish-ts 20000
self oracle-goldilocks-100000 150 oracle goldilocks 100000
for policy in fastrcd valor-e valor-o; do
    self "regions-$policy-100000" 240 regions "$policy" 100000
done
self regions-races-100000 90 region_oracles 100000
self arrays-slimstate-100000 400 verdict t_slim_verdict slimstate 100000
self distcheck 150 distcheck

# Ten minutes each, or what is left in equal shares.
shares=6
for target in $targets; do
    seconds=$(($(left) / shares - 10))
    [ $seconds -le 600 ] || seconds=600
    self "fuzz-$target-long" $((90 * shares)) fuzz "$target" $seconds
    shares=$((shares - 1))
done
exit $failed
