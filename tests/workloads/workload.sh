#!/bin/sh
# workload.sh - lardsim workload as a user meets it, and lardsim compare with a machine: a run for each
# policy and what it cost. What the numbers of a run mean is tested in machine.sh and the unit tests.
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
fail() { echo "workload.sh: $*"; bad=1; }

# run CODE ARGS...: standard output in out, errors in err.
run() {
    want=$1
    shift
    command=$*
    "$lardsim" "$@" >out 2>err </dev/null
    code=$?
    [ $code = "$want" ] || fail "$command: exit code $code, not $want: $(cat err)"
}
says() { grep -qF -e "$2" "$1" || fail "$command: $1 does not say: $2"; }
# A build with the address sanitizer says that fibers are new to it.
silent() { grep -v "ASan doesn't fully support makecontext" "$1" >rest && fail "$command: $1 is not empty: $(cat rest)"; }
is_json() {
    command -v python3 >/dev/null 2>&1 || return 0
    python3 -c 'import json, sys; json.load(sys.stdin)' <out || fail "$command: that is no JSON"
}
# The value that describe has measured.
measure() { awk -v t="$1" '/^measured/ {on = 1} on && $1 == t {print $2; exit}' out; }
equal() { [ "$2" = "$3" ] || fail "$command: $1 is $2, not $3"; }

# ---- every workload is listed, described and recorded ----------------------------------------------

run 0 workload list
says out "sor "
says out "all have: size, seed, threads"
run 0 workload list --json
is_json
says out '"name": "sor"'
run 0 list workloads
awk '{print $1}' out >names
[ "$(wc -l <names)" -ge 15 ] || fail "workloads are missing"
run 0 workload describe --json sor,n=10
is_json
says out '"planted-inputs": []'
says out '"n=250,steps=10"'

# What describe measures is what is in the trace.
run 0 workload describe sor,n=20,gc=semispace,system_gc=on
events=$(measure events) accesses=$(measure accesses) threads=$(measure threads) copies=$(measure copies)
says out "Sor."
run 0 workload record sor,n=20,gc=semispace,system_gc=on sor.lard
silent out
run 0 trace info sor.lard
equal events "$(awk '$1 == "events" {print $2}' out)" "$events"
equal threads "$(awk '$1 == "threads" {print $2}' out)" $((threads + 1)) # the collector
equal accesses "$(awk '{for (i = 1; i < NF; i++) if ($i ~ /^(read|write|rmw)$/) n += $(i + 1)} END {print n}' out)" "$accesses"
equal copies "$(awk '{for (i = 1; i < NF; i++) if ($i == "copy") n += $(i + 1)} END {print n + 0}' out)" "$copies"
[ "$copies" -gt 0 ] || fail "a moving collector moves nothing"
run 0 trace verify sor.lard

# Misses are those of a cache of 64 sets in which each thread's 8 latest lines stay, counted here by lists.
run 0 workload describe --json xalan@lard,threads=2,accesses=20k,plants=0,hidden=0,keep=90,misses=2000,old=1,heap=16Mi
is_json
misses=$(sed -n 's/.*"l1-misses": \([0-9.]*\).*/\1/p' out | head -n 1)
run 0 workload record xalan@lard,threads=2,accesses=20k,plants=0,hidden=0,keep=90,misses=2000,old=1,heap=16Mi far.lard
run 0 trace cat far.lard
awk -v told="$misses" '
    function number(hex,   i, n) {
        for (i = 3; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
        return n
    }
    function touch(thread, line,   key, i, n, was, now) {
        key = thread " " line % 64
        n = split(latest[key], was, " ")
        now = line
        for (i = 1; i <= n && was[i] != line; i++) if (i < 8) now = now " " was[i]
        if (i > n) missed += inside
        for (i++; i <= n; i++) now = now " " was[i]
        latest[key] = now
    }
    / roi-begin/ {inside = 1}
    / roi-end/ {inside = 0}
    / (read|write|rmw) 0x/ {
        first = number($3)
        for (line = int(first / 64); line <= int((first + $4 - 1) / 64); line++) touch($1, line)
    }
    inside && $1 ~ /^T/ && !/ system/ {
        work++
        if (match($0, / \+[0-9]+/)) work += substr($0, RSTART + 2, RLENGTH - 2)
    }
    END {
        here = 1000 * missed / work
        if (missed < 20 || here - told > 0.001 || told - here > 0.001) {
            print "missed here: " missed ", " here " in 1000 instructions; describe says " told
            exit 1
        }
    }' out >oracle || fail "misses of the first level: $(cat oracle)"

# Shared is what two threads access; foreign, what another one accessed last. Counted here by address: in this
# run no memory is used twice.
run 0 workload describe --json xalan@lard,accesses=8000,plants=0,hidden=0,handed=60,heap=16Mi
for trait in shared-locations shared-accesses foreign-accesses; do
    sed -n "s/.*\"$trait\": \([0-9.]*\).*/\1/p" out | head -n 1
done >told
run 0 workload record xalan@lard,accesses=8000,plants=0,hidden=0,handed=60,heap=16Mi handed.lard
run 0 trace cat handed.lard
awk '/ (read|write|rmw) 0x/ && !/ (system|stack|final)/ {
        if (!($3 in n)) locations++
        else if (last[$3] != $1) { foreign++; shared[$3] }
        last[$3] = $1; n[$3]++; all++
    }
    END {
        for (a in shared) { those++; accesses += n[a] }
        printf "%.6f\n%.6f\n%.6f\n", 100 * those / locations, 100 * accesses / all, 100 * foreign / all
    }' out >counted
paste told counted | awk '{d = $1 - $2} NF != 2 || d > 1e-5 || d < -1e-5 || $1 < 1 {exit 1}' ||
    fail "sharing: describe says $(tr '\n' ' ' <told), the trace has $(tr '\n' ' ' <counted)"

# The trace of a workload, and the workload without one, have the same races and the same digest.
run 0 workload record workload:hedc,racy=on hedc.lard
run 0 run hedc.lard
digest=$(awk '$1 == "digest" {print $2}' out)
run 0 run workload:hedc,racy=on
equal digest "$(awk '$1 == "digest" {print $2}' out)" "$digest"
run 0 workload record --codec raw hedc,racy=on again.lard
run 0 trace info again.lard
identity=$(grep identity out)
run 0 trace info hedc.lard
equal identity "$(grep identity out)" "$identity"

# Planted races are called inputs.
run 0 workload describe hedc
says out "planted races (an input of the workload"
says out "Task.getRunner:71 and Task.setRunner:67"

# ... and wherever they are counted; where none are planted, none are said to be.
for verb in run "compare -p vc,fasttrack" "compare -c radish8 -p fasttrack"; do
    for source in workload:hedc,racy=on workload:philosopher,race=on workload:xalan@valor,accesses=20k; do
        # shellcheck disable=SC2086  # a list of words
        run 0 $verb $source
        says out "planted: an input of the workload"
        # shellcheck disable=SC2086
        run 0 $verb --json $source
        is_json
        grep -q '"planted[_-]races": true' out || fail "$command: JSON does not say that races are planted"
    done
    for source in workload:hedc,queries=20 workload:xalan@valor,accesses=20k,plants=0 hedc.lard; do
        # shellcheck disable=SC2086
        run 0 $verb $source
        grep -q planted out && fail "$command: no races are planted"
    done
done

# A size sets each parameter once, and those shown are in force.
for name in $(cat names); do
    "$lardsim" workload describe "$name,seed=9" >out 2>err
    awk '$1 == "size" && $2 ~ /^(small|medium|large)$/ && $3 ~ /=/ {
            n = split($3, set, ",")
            for (i = 1; i <= n; i++) { sub(/=.*/, "", set[i]); if (seen[$2, set[i]]++) bad = 1 }
        }
        /^parameters/ {on = 1}
        on && $1 == "seed" {seed = $2}
        END {exit bad || seed != 9}' out || fail "describe $name: a size sets something twice, or seed is not shown"
done
run 0 workload describe xalan@lard
says out "small   accesses=1M,heap=1Mi,"
equal heap "$(awk '$1 == "heap" {print $2}' out)" 1048576
equal threads "$(awk '$1 == "threads" {print $2; exit}' out)" 4
grep -q ' -0\.0 ' out && fail "$command: minus nothing"

# Mistakes say what to do.
run 7 workload record sor,n=10 sor.lard
says err "--overwrite"
run 0 workload record --overwrite sor,n=10 sor.lard
run 3 workload describe soor
says err "did you mean sor?"
run 3 workload record soor x.lard
run 3 workload describe sor,n=0
says err "n: "
run 3 workload record sor,nn=10 x.lard
[ -e x.lard ] && fail "a recording that failed left a file"
run 2 workload describe
run 2 workload record sor
run 2 workload list sor
run 2 workload
run 0 workload --help
says out "describe"
run 0 list manual workload
says out "describe"
says out "record"

# ---- compare with a machine ------------------------------------------------------------------------

# The cycles of the page are those of runs of their own; the overhead is their difference.
cycles() { "$lardsim" run -c radish8 -p "$1" sor.lard 2>/dev/null | awk '$1 == "cycles" {print $2; exit}'; }
whole() { awk -v p="$1" -v k="$2" '/^the whole run/ {on = 1} on && $1 == p {print $k; exit}' out; }
shown() { awk -v p="$1" -v k="$2" '$1 == p {print $k; exit}' out; }
run 0 compare -c radish8 --policies none,fasttrack,radish,lardish sor.lard
silent err
says out "property checked"
equal rows "$(grep -c ' %.*happens-before\|^none .*no checking' out)" 4
none=$(cycles none)
for policy in none fasttrack radish lardish; do
    alone=$(cycles $policy)
    equal "$policy's cycles" "$(whole $policy 2)" "$alone"
    equal "$policy's overhead" "$(whole $policy 3)" "$(awk "BEGIN {printf \"%.1f\", 100 * ($alone / $none - 1)}")"
done
grep -q "no time was charged" out && fail "a policy is said to cost nothing: $(cat out)"
# Where the time went adds up to the overhead, but for rounding.
awk '/^the overhead, by/ {on = 1; next}
     /^$/ {if (on) exit n != 3; next}
     !on && $4 == "%" {over[$1] = $3}
     on && $1 in over {n++; s = 0; for (i = 2; i < NF - 1; i += 2) s += $i; d = s - over[$1]; if (d > 0.5 || d < -0.5) exit 1}
     ' out || fail "the parts of the overhead do not add up: $(cat out)"

# Every policy in software costs something, and tells its metadata; none has none.
run 0 compare -c radish8 --policies none,fasttrack,vc,eraser sor.lard
for policy in fasttrack vc eraser; do
    [ "$(shown $policy 3 | cut -d. -f1)" -gt 0 ] || fail "$policy costs $(shown $policy 3) %"
    case $(shown $policy 8) in *[0-9]*) ;; *) fail "$policy's metadata: $(shown $policy 8)" ;; esac
done
equal "none's metadata" "$(shown none 8)" -
printf 'lardsim-text 1\nT0 fork T1\nT1 read 0x1000 4 stack\n' >idle.trace
run 0 compare -c radish8 --policies none,eraser idle.trace
says out "no time was charged by: eraser"

# How much of an overhead is work for collections: in cycles of none, as the statistics have it.
{
    printf 'lardsim-text 1\ngranularity 4\n'
    for at in 0 1 2 3 4 5 6 7; do printf 'T0 write 0x%d000 256\n' $at; done
    for _ in 1 2 3 4; do printf 'T0 gc-begin\nT0 gc-end\n'; done
} >collects.trace
run 0 compare -c radish8 --policies none,fasttrack,fastrcd,eraser -o collects collects.trace
part=$(grep -o '"collections": [0-9]*' collects/fasttrack/stats.json | awk 'NR == 1 {print $2}')
[ "$part" -gt 0 ] || fail "fasttrack's work at collections took $part cycles"
says out "work for collections: fasttrack $(awk "BEGIN {printf \"%.1f\", 100 * $part / $(shown none 2)}") %, fastrcd "
says out "(short runs collect far more often than real programs)"
run 0 compare -c radish8 --policies none,fasttrack,eraser sor.lard
grep -q "for collections" out && fail "collections are said to cost much: $(cat out)"

# None comes first, once, also when it isn't asked for; labels and their parameters work.
run 0 compare -c radish8 -p lardish -p naive=vc --set policy.naive.view=naive sor.lard
silent err
says out "view naive"
equal "the first policy" "$(awk '$1 == "policy" {getline; print $1; exit}' out)" none
run 0 compare -c radish8 -p lardish --set policy.radish.view=naive sor.lard
says err "policy.radish.view (--set) had no effect"
equal warnings "$(grep -c warning err)" 1

# JSON, the folder.
run 0 compare -c radish8 -p lardish --json -o costs sor.lard
is_json
says out '"schema": "lardsim-costs-2"'
says out '"overhead": 0.000000, "overhead-whole": 0.000000'
says out '"metadata-bytes": {"live": null'
cmp -s out costs/compare.json || fail "compare.json is not what --json prints"
for f in none lardish; do
    [ -e costs/$f/DONE ] || fail "costs/$f is not done"
done
run 7 compare -c radish8 -p lardish -o costs sor.lard
says err "--overwrite"
run 0 compare -c radish8 -p lardish -o costs --overwrite --quiet sor.lard
silent out

# Without a machine, and with a truth, verdicts are compared as ever.
run 0 compare -p vc,fasttrack sor.lard
says out "missed"
run 0 compare --policies vc,fasttrack sor.lard
says out "missed"
run 0 compare -c radish8 -p vc,lardish --truth vc sor.lard
says out "missed"

# A source that can't be read twice, and other mistakes, before anything runs.
run 2 compare -c radish8 -p lardish -
says err "save it to a file"
run 2 compare -c radish8 -p lardish std:-
mkfifo pipe
run 2 compare -c radish8 -p lardish pipe
says err "pipe"
run 3 compare -c radish8 -p lardis sor.lard
says err "lardish"
silent out
run 3 compare -c radish8 -p a=vc,a=lardish sor.lard
says err "label"
run 4 compare -c radish8 -p lardish -o none-such nosuch.lard
run 5 compare -c radish8 -p lardish --set limits.events=100 sor.lard
says err "none: "
run 66 compare -c radish8 -p lardish --error-on-race hedc.lard
exit $bad
