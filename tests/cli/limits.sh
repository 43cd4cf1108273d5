#!/bin/sh
# limits.sh - what lardsim does where the system gives it little: few open files, no memory while it reads its
# command line. It ends, with a documented exit code and a sentence; it neither hangs nor crashes.
# shellcheck disable=SC2034
in_memory=1 # sweeps sync each file
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
command -v timeout >/dev/null || exit 77

# ---- open files --------------------------------------------------------------------------------------

cat >a.yaml <<'END'
base: {inherit: radish8}
axes: {l2.size: [64Ki, 128Ki, 256Ki]}
policies: [none, vc, fasttrack, eraser, clean]
sources: ["synth:events=200"]
seeds: 4
END
run 0 sweep -q a.yaml -o whole -j 2
cells() { find "$1/cells" -mindepth 1 -maxdepth 1 | wc -l; }
[ "$(cells whole)" = 60 ] || fail "the spec has 60 cells, not $(cells whole)"
# few SOFT HARD JOBS DIR: the sweep's exit code is $code; 124: it hung, and SIGTERM ended it; 137: that did nothing.
few() {
    # shellcheck disable=SC3045 # dash and bash have both
    (ulimit -S -n "$1" && ulimit -H -n "$2" && exec timeout -k 5 120 "$lardsim" sweep "${5:-a.yaml}" -o "$4" -j "$3") >out 2>err
    code=$?
}
same() { diff -r -x host.json whole/cells "$1/cells" >differ 2>&1 || fail "$2: $(head -n 3 differ)"; }

few 40 40 50 hard
[ $code = 0 ] || fail "50 processes where 40 files may be open: exit code $code: $(cat err)"
says err "sweep: no more than 40 files may be open (ulimit -n), so 8 of 50 processes run at a time"
same hard "with few files cells are others"
few 40 200 50 soft
[ $code = 0 ] || fail "50 processes where 40 files may be open, and the shell could raise that: exit code $code: $(cat err)"
grep -q 'may be open' err && fail "a limit that can be raised is an obstacle: $(cat err)"
same soft "with a limit that is raised cells are others"
few 40 40 4000 more # than there are cells
[ $code = 0 ] || fail "4000 processes for 60 cells: exit code $code: $(cat err)"
printf 'policies: [none, vc, fasttrack]\nsources: ["synth:events=200"]\n' >b.yaml
few 40 40 50 three b.yaml # who waits for as many as -j says would ask for more than there may be
[ $code = 0 ] || fail "50 processes for 3 cells, where 40 files may be open: exit code $code: $(cat err)"
for n in 5 8 16; do # too few for anything, perhaps; it has to end, and to say why
    few $n $n 50 less
    case $code in
    0) [ "$(cells less)" = 60 ] || fail "with $n files: exit code 0, and $(cells less) cells" ;;
    [1-7]) [ -s err ] || fail "with $n files: exit code $code and not a word" ;;
    *) fail "with $n files: exit code $code: $(cat err)" ;;
    esac
    rm -rf less
done

# SIGTERM ends it, whatever it waits for.
cat >long.yaml <<'END'
policies: [vc, fasttrack]
sources: ["synth:events=1G,names=off"]
seeds: 20
END
(
    # shellcheck disable=SC3045
    ulimit -n 40
    exec timeout -k 20 1 "$lardsim" sweep -q long.yaml -o long -j 50
) >out 2>err
code=$?
[ $code = 124 ] || fail "a sweep with few files that is sent SIGTERM: timeout ends with $code, not 124: $(cat err)"

# ---- memory ------------------------------------------------------------------------------------------

memory=$top_builddir/tests/cli/.libs/no_memory.so
if [ -z "${LARDSIM_INSTRUMENTED:-}" ] && [ -e "$memory" ]; then
    # short ARGS...: each allocation in turn is the one that fails, until none is met.
    short() {
        n=0
        code=1
        met=1
        while [ -n "$met" ] && [ $n -lt 400 ]; do
            n=$((n + 1))
            for all in '' 1; do
                rm -f met
                MEMORY_MET=$dir/met FAIL_AT=$n FAIL_ALL=$all LD_PRELOAD=$memory "$lardsim" "$@" >out 2>err </dev/null
                code=$?
                [ -e met ] || break 2
                [ $code -le 7 ] || fail "$*, without memory from allocation $n on (all: $all): exit code $code: $(cat err)"
                [ $code = 0 ] || [ -s err ] || fail "$*, without memory at allocation $n (all: $all): exit code $code and not a word"
            done
        done
        [ $n -gt 5 ] || fail "$*: the test finds only $n allocations"
    }
    short trace info nosuch.lard
else
    echo "limits.sh: memory is not tried: a sanitizer has its own, or no_memory.so was not built"
fi
exit $bad
