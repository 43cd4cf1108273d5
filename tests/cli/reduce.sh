#!/bin/sh
# reduce.sh - does `lardsim trace reduce` do what its page says, and say what is wrong where it can't?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
move=$top/workloads/litmus/gc_move_race.trace

says() {
    file=$1
    shift
    for text; do
        grep -qF -- "$text" "$file" || fail "$file does not say: $text"
    done
}
refuses() { # CODE WORDS ARGUMENTS...
    code=$1 words=$2
    shift 2
    "$lardsim" trace reduce "$@" >out 2>err
    is=$?
    [ "$is" = "$code" ] || fail "trace reduce $*: exit code $is, not $code"
    says err "$words"
}
events() { grep -c '^T' "$1"; }

"$lardsim" run -q -o results "$move" || fail "no results"
id=$(sed -n '1s/.*"race": "\([0-9a-f]*\)".*/\1/p' results/races.jsonl)

# The race stays, by its sites; twice the same bytes; OUT is legal.
"$lardsim" trace reduce "$move" small.trace --keep "race $id" >out || fail "no small trace"
says out "3 of 29 events, 3 threads" "Account.depositFast:27 and Account.deposit:15"
"$lardsim" trace verify -q small.trace || fail "what is left is not legal"
"$lardsim" trace reduce -q "$move" again.trace --keep "race $id" || fail "not twice"
cmp -s small.trace again.trace || fail "twice it gives two traces"
"$lardsim" run -q -o small small.trace
says small/races.jsonl "\"race\": \"$id\""

# A difference of views, an exit code; a crash is one, too (here: of what can't be configured).
"$lardsim" trace reduce -q "$move" view.trace --keep 'differ vc naive=vc' --set policy.naive.view=naive || fail "no difference"
[ "$(events view.trace)" = 3 ] || fail "a difference takes $(events view.trace) events"
"$lardsim" trace reduce -q "$move" exit.trace --keep 'exit 66' || fail "no exit 66"
[ "$(events exit.trace)" = 2 ] || fail "a race of its own takes $(events exit.trace) events"
"$lardsim" trace reduce -q "$move" none.trace --keep 'exit 0' || fail "no exit 0"
[ "$(events none.trace)" = 0 ] || fail "nothing takes $(events none.trace) events"

# Of a trace that is read: more events than are held in memory.
"$lardsim" trace synth -q large.lard seed=1 events=600k threads=4 racy=1
"$lardsim" trace reduce large.lard large.trace --keep 'differ vc fastrcd' >out || fail "no large one"
says out "of 600"
[ "$(events large.trace)" -le 20 ] || fail "600,000 events became $(events large.trace)"

# A signal ends it, and leaves no trace; so does one that comes while a run of its own is under way.
for what in "exit 66" "differ vc fastrcd"; do
    "$lardsim" trace reduce -q large.lard stopped.trace --keep "$what" >out 2>err &
    pid=$!
    sleep 0.2
    kill -TERM "$pid" 2>/dev/null
    wait "$pid"
    is=$?
    [ "$is" = 143 ] || [ "$is" = 0 ] || fail "--keep '$what' that is stopped: exit code $is"
    [ "$is" = 0 ] || [ ! -e stopped.trace ] || fail "--keep '$what' that is stopped leaves a trace"
    rm -f stopped.trace
done

# What it refuses.
refuses 2 "--keep is missing" "$move" x.trace
for what in race "race x" "differ vc" "exit" "exit 300" "exit x" "all" "race $id $id"; do
    refuses 2 "is none of" "$move" x.trace --keep "$what"
done
refuses 2 "no race 00000000000000ff is reported" "$move" x.trace --keep 'race 00000000000000ff'
refuses 2 "report the same racy accesses" "$move" x.trace --keep 'differ vc fasttrack'
refuses 3 "no policy 'fastrack'" "$move" x.trace --keep 'differ vc fastrack'
refuses 2 "does not end with exit code 5" "$move" x.trace --keep 'exit 5'
refuses 2 "leave -p out" -p vc "$move" x.trace --keep 'differ vc eraser'
refuses 2 "which a pipe can't be" - x.trace --keep 'exit 66'
refuses 7 "small.trace" "$move" small.trace --keep 'exit 66'
printf 'lardsim-text 1\nT0 rel 0x10\n' >illegal.trace
refuses 4 "it breaks stream rules" illegal.trace x.trace --keep 'exit 66'
[ ! -e x.trace ] || fail "something that was refused has written a trace"
exit "$bad"
