#!/bin/sh
# budget.sh - where a software policy's time goes: do its parts add up to what its cores spent on it, is
# none of it another core's with one thread, does what is not tracked cost nothing? Needs LARDSIM, the
# program.
set -u

# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# run FOLDER ARGUMENT...: on the machine radish8
run() {
    folder=$1
    shift
    "$lardsim" run --quiet -c radish8 -o "$folder" "$@" || fail "run $*: exit code $?"
}
# cycles FOLDER PATTERN: the sum of the policy's cycles whose names end so
cycles() {
    awk -F, -v end="$2" '$1 ~ "^policy[.][^.]*[.]cost[.]cycles[.]" end "$" {n += $2} END {print n + 0}' \
        "$1/stats.csv"
}
stat() { awk -F, -v name="$2" '$1 == name {print $2}' "$1/stats.csv"; }
# some WHAT N: that there is something to tell
some() { [ "$2" -gt 0 ] || fail "$1: nothing, so this shows nothing"; }

policies='fasttrack fastrcd valor valor-e slimstate goldilocks eraser clean vc'

# ---- every cycle of a policy's has one part ----------------------------------------------------------

many=synth:seed=3,events=8000,threads=4
for p in $policies; do
    run "$p.many" -p "$p" "$many"
    sum=$(cycles "$p.many" '.*')
    spent=$(stat "$p.many" machine.spent.handler)
    some "$p: cycles" "$sum"
    [ "$sum" = "$spent" ] || fail "$p: its parts are $sum cycles, and its cores spent $spent on it"
    some "$p: remote cycles with 4 threads" "$(cycles "$p.many" '.*[.]remote')"
done

# ---- with one thread no other core has anything ------------------------------------------------------

# A collector would be a thread of its own.
for p in $policies; do
    run "$p.one" -p "$p" synth:seed=3,events=8000,threads=1,gc_share=0
    some "$p: cycles with 1 thread" "$(cycles "$p.one" '.*')"
    for what in cycles accesses; do
        n=$(cycles "$p.one" '.*[.]remote')
        [ "$what" = cycles ] || n=$(stat "$p.one" "policy.$p.cost.remote")
        [ "$n" = 0 ] || fail "$p: with one thread $n remote $what"
    done
done

# ---- readers that are not tracked --------------------------------------------------------------------

run writers -p fastrcd --set policy.fastrcd.readers=off "$many"
some "fastrcd: cycles of read maps" "$(cycles fastrcd.many 'maps[.].*')"
n=$(cycles writers 'maps[.].*')
[ "$n" = 0 ] || fail "fastrcd without readers: $n cycles for maps of readers"
less=$(stat writers policy.fastrcd.cost.atomics)
more=$(stat fastrcd.many policy.fastrcd.cost.atomics)
[ "$less" -lt "$more" ] || fail "fastrcd without readers locks as often as with them: $less, $more"

# ---- accesses that change no metadata ----------------------------------------------------------------

for p in fasttrack fastrcd valor; do
    all=$(($(stat $p.many policy.$p.cost.reads) + $(stat $p.many policy.$p.cost.writes)))
    same=$(($(stat $p.many policy.$p.cost.reads-same) + $(stat $p.many policy.$p.cost.writes-same)))
    slow=$(stat $p.many policy.$p.cost.steps.slow-path)
    some "$p: slow paths" "$slow"
    [ "$same" -gt 0 ] || fail "$p: no access changes no metadata"
    # an atomic access takes the slow path, and is neither
    [ $((all - same)) -le "$slow" ] ||
        fail "$p: $all accesses, $same change nothing, and only $slow slow paths"
done
[ "$(stat valor.many policy.valor.cost.reads-same)" = "$(stat valor.many policy.valor.cost.reads)" ] ||
    fail "valor: reads that change metadata"

exit $bad
