#!/bin/sh
# calls.sh - does each call that the runtime of captures knows leave the events that it has to leave, and no others, in
# their order, with their addresses, sizes and orders? And does it do what it does without capture? calls.c says what it
# expects of each.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
LARDSIM_NATIVE=$top_builddir/capture/liblardsim-native.a
export LARDSIM_NATIVE

[ -f "$LARDSIM_NATIVE" ] || { echo "built without the runtime of captures, which is for x86-64"; exit 77; }
echo 'int main(void) { return 0; }' >empty.c
"$top_builddir/capture/lardsim-cc" -o empty empty.c 2>cc.err || { echo "no compiler here links a program for capture"; exit 77; }
${CC:-cc} -O0 -g -w -fno-builtin -c -o calls.o "$top/tests/capture/calls.c" && "$top_builddir/capture/lardsim-cc" -o calls calls.o ||
    fail "calls.c does not compile"
./calls >groups
[ "$(wc -l <groups)" -ge 14 ] || fail "the program names no groups: $(cat groups)"
while read -r group; do
    timeout 60 ./calls "$group" >alone 2>err </dev/null || fail "$group without capture: exit code $?: $(cat err)"
    timeout 60 "$lardsim" capture native -q -o t.lard --overwrite -- ./calls "$group" >expected 2>err </dev/null ||
        fail "$group: exit code $?: $(cat err)"
    grep -q 'does not hold' err && fail "$group: under capture a call says something else: $(cat err)"
    # Whoever ends with a lock breaks a rule by itself.
    [ "$group" = of-the-dead ] || "$lardsim" trace verify -q t.lard 2>err || fail "$group: the trace breaks a rule: $(cat err)"
    "$lardsim" trace cat t.lard >text
    sed -n 's/^T0 //; t end; d; :end; s/ *@[^ ]*//; p' text |
        awk -v first="$(head -n 1 expected)" -v last="$(tail -n 1 expected)" '$0 == first { on = 1 } on && !/^time /; on && $0 == last { exit }' >events
    cmp -s expected events || fail "$group: expected and recorded: $(diff expected events | head -n 6)"
    # A thread has its stack as long as it lives.
    awk '/^T[1-9]/ { n[$1]++; if (n[$1] == 1) starts[$1] = $2
        if (n[$1] == 2) stack[$1] = $2 " " $3 " " $4
        before[$1] = last[$1]; last[$1] = $2 == "clear" ? "alloc " $3 " " $4 : $2 }
        END { for (t in n) if (starts[t] != "start" || last[t] != "end" || before[t] != stack[t]) { print t; bad = 1 }; exit bad }' text >odd ||
        fail "$group: a thread does not begin and end with its stack: $(grep "^$(head -n 1 odd) " text | tr '\n' ';')"
    [ "$group" != threads ] || grep '^name thread' text >names
done <groups
cat >expected <<'END'
name thread 0 "the one"
name thread 1 "a name of 15 by"
name thread 2 "short"
name thread 3 "short"
name thread 4 "short"
END
cmp -s expected names || fail "threads have other names: $(diff expected names)"
# A program that can't be started is said once, by whoever was to start it, and what was there stays.
echo kept >absent.lard
timeout 60 "$lardsim" capture native -o absent.lard --overwrite -- ./absent >/dev/null 2>err
code=$?
[ $code = 2 ] || fail "a program that is not there: exit code $code instead of 2"
[ "$(cat err)" = "lardsim: ./absent can't be started: No such file or directory" ] || fail "a program that is not there: $(cat err)"
[ "$(cat absent.lard)" = kept ] || fail "a program that is not there: the trace of before is gone"
exit $bad
