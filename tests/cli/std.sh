#!/bin/sh
# std.sh - traces of RAPID's format that our stream rules refuse: a fork of a thread that has acted, and of one that
# was forked before. Does the error say what to do, and do runs without rules find what RAPID finds?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
policies='vc fasttrack goldilocks'

# lines FILE LINE...: a trace
lines() {
    file=$1
    shift
    printf '%s\n' "$@" >"$file"
}
# races FILE COUNT: refused with the remedy; by that each policy finds so many
races() {
    for verb in run compare; do
        # shellcheck disable=SC2046,SC2086 # words
        run 4 $verb $(printf -- '-p %s ' $policies) "$1"
        says err 'fork-new'
        says err 'std is another tool'
        says err '`--set trace.rules=off` runs the trace as it is'
    done
    for policy in $policies; do
        run 0 run -q -p "$policy" --set machine=none --set trace.rules=off -o res --overwrite "$1"
        [ "$(wc -l <res/races.jsonl)" = "$2" ] || fail "$1: $policy finds $(wc -l <res/races.jsonl) races, and RAPID $2"
    done
}

# RAPID's fork joins the parent's clock into the child's, whenever it comes.
lines late.std 'T0|w(x)|1' 'T1|w(y)|2' 'T0|fork(T1)|3' 'T1|r(x)|4'
races late.std 0
lines early.std 'T1|w(y)|1' 'T0|fork(T1)|2' 'T0|w(x)|3' 'T1|r(x)|4'
races early.std 1
lines twice.std 'T0|fork(T1)|1' 'T0|w(x)|2' 'T0|fork(T1)|3' 'T1|r(x)|4' 'T1|w(z)|5' 'T0|w(z)|6'
races twice.std 1

# A trace of our own says so in fewer words; what verifies the rules has no need to go on.
lines late.trace 'lardsim-text 2' 'T1 write 8 4' 'T0 fork T1'
run 4 run -p vc late.trace
says err '`--set trace.rules=off` runs it all the same'
run 4 trace verify late.std
grep -q 'trace.rules' err && fail "trace verify speaks of runs: $(cat err)"
lines open.trace 'lardsim-text 2' 'T0 roi-begin'
run 4 run -p vc open.trace
says err 'has no end; `lardsim explain roi-nest` tells the rule; `--set trace.rules=off` runs it all the same'
exit $bad
