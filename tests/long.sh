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

# configured NAME FLAGS...: a build of its own, made once.
configured() {
    build=$here/long/$1
    shift
    mkdir -p "$build" && cd "$build" || return 1
    [ -f Makefile ] || "$top/configure" -q "$@" || return 1
    make -s -j"$jobs"
}

programs() { make -s -j"$jobs" check TESTS= >/dev/null; }

# Both cores: the range of seeds is cut in two.
oracle() {
    configured release CFLAGS='-O2 -g' && programs || return 1
    half=$(($2 / 2))
    ./tests/t_verdict 1000000 "$half" "$1" &
    first=$!
    ./tests/t_verdict $((1000000 + half)) $(($2 - half)) "$1" || { wait "$first"; return 1; }
    wait "$first"
}

mutants() {
    configured mutants --enable-mutants CFLAGS='-O1' && programs || return 1
    "$SHELL" "$top/tests/mutants.sh"
}

sanitized() {
    configured sanitized --enable-asan --enable-ubsan --enable-werror CFLAGS='-O1 -g' && programs || return 1
    make -s check && ./tests/t_verdict 5000000 2000
}

compiler() {
    command -v clang >/dev/null || { echo "no clang here"; return 77; }
    configured clang CC=clang --enable-werror CFLAGS='-O3 -g' && programs && make -s check || return 1
    cd "$here" && configured plain --enable-werror CFLAGS='-O0 -DNDEBUG' || return 1
    "$SHELL" "$top/tests/same.sh" "$here/lardsim" "$here/long/clang/lardsim" "$here/long/plain/lardsim"
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
self oracle-vc-20000 90 oracle vc 20000
self oracle-fasttrack-20000 60 oracle fasttrack 20000
self mutants 180 mutants
self sanitized 180 sanitized
self compilers 180 compiler
self oracle-vc-100000 150 oracle vc 100000
self oracle-fasttrack-100000 150 oracle fasttrack 100000
self distcheck 150 distcheck
exit $failed
