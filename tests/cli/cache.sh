#!/bin/sh
# cache.sh - is it known what captures take, do the least recently used go first when that is too much, and is nothing
# removed that somebody uses? Does what a killed capture has left go? By recipes of the test's own.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
XDG_CACHE_HOME=$dir/cache
LARDSIM_PROGRAMS=$dir/programs
export XDG_CACHE_HOME LARDSIM_PROGRAMS
unset LARDSIM_CACHE_LIMIT
kept=$XDG_CACHE_HOME/lardsim/programs
there() { [ -d "$kept/$1" ]; }

echo 'int main(void) { return 0; }' >empty.c
"$top_builddir/capture/lardsim-cc" -o empty empty.c 2>/dev/null && ./empty || { echo "no compiler links for capture here"; exit 77; }

# A program that writes so often that its trace fills a pipe; with a second argument it waits for that file first.
recipe() { # recipe NAME ARGUMENTS
    mkdir -p "programs/$1"
    printf 'small: "%s"\nmedium: "%s"\n' "$2" "$2" >"programs/$1/recipe.yaml"
    cat >"programs/$1/build.sh" <<'END'
cat >p.c <<'C'
#include <stdlib.h>
#include <unistd.h>
static volatile int hits[1024];
int main(int argc, char **argv)
{
    while (argc > 2 && access(argv[2], F_OK))
        usleep(20000);
    for (int i = 0; i < atoi(argv[1]); i++)
        hits[i % 1024]++;
    return 0;
}
C
"$CC" -O1 -o program p.c
END
}
recipe one 20000
recipe two 20000
recipe three 20000

# ---- what is kept, and forgotten -----------------------------------------------------------------

run 0 programs list
grep -q 'kept in' out && fail "something is kept before anything was captured"
run 0 programs capture -q one
run 0 programs capture -q two
run 0 programs capture -q two,threads=2
run 0 programs list
says out "kept in $kept: "
says out 'of 4096, the limit'
grep -qE '^  one-small-4  *[0-9.]+ MiB  used 20' out || fail "a capture is listed without its size and day: $(cat out)"
run 0 programs list --json
sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' out | grep -qx '[1-9][0-9]*' || fail "the JSON has no sizes"
grep -q '"name": "two-small-2"' out || fail "the JSON has not the capture of two threads"
run 0 programs capture -q one,lives=used
[ "$(cat out)" = "$kept/one-small-4/used.lard" ] || fail "lives=used is not beside the capture: $(cat out)"
run 0 programs forget two
{ there two || there two-small-4 || there two-small-2; } && fail "something of a program is kept that was forgotten"
there one-small-4 || fail "another program is forgotten, too"
run 2 programs forget two
says err 'nothing is kept of two'
run 0 programs forget one-small-4
there one || fail "with a capture its program is forgotten"
run 0 programs forget all
[ -z "$(ls "$kept")" ] || fail "after all is forgotten there is $(ls "$kept")"

# ---- the limit -----------------------------------------------------------------------------------

LARDSIM_CACHE_LIMIT=much run 2 programs capture one
says err 'LARDSIM_CACHE_LIMIT: "much"'
there one && fail "something was built before the limit was read"
run 0 programs capture -q one
touch -d '2020-01-02' "$kept/one-small-4"
run 0 programs capture -q two
touch -d '2020-01-01' "$kept/two-small-4"
run 0 programs capture -q two # it is used: one is older now
LARDSIM_CACHE_LIMIT=$(($(du -s -B1 "$kept" | cut -f1) - 1)) run 0 programs capture three
says err "removed $kept/one-small-4"
there one-small-4 && fail "the least recently used capture is not removed"
there three-small-4 || fail "what was just captured is removed"
LARDSIM_CACHE_LIMIT=0 run 0 programs capture -q one
{ there two-small-4 && there three-small-4; } || fail "without a limit something is removed"

# Somebody reads a capture: it stays, whatever the limit, and can't be forgotten.
mkfifo pipe
"$lardsim" trace cat program:two >pipe &
reader=$!
exec 3<pipe
head -c 1 <&3 >first
[ -s first ] || fail "the test is wrong: nothing is read"
LARDSIM_CACHE_LIMIT=1 run 0 programs capture -q --again one
there two-small-4 || fail "a capture that is read is removed"
there three-small-4 && fail "a capture that nobody uses stays, above the limit"
run 7 programs forget two-small-4
says err 'another lardsim uses it'
exec 3<&-
wait $reader
run 0 programs forget two-small-4

# ---- what was left behind ------------------------------------------------------------------------

# It stays while what was started in it runs, though the one who began is dead.
recipe late "20000 $dir/go"
: >go
run 0 programs capture -q late
rm go
"$lardsim" programs capture -q --again late >late.out 2>late.err &
began=$!
tries=0
until ls -d "$kept"/late-small-4.?????? >left 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || { fail "the test is wrong: no folder is being filled"; break; }
    sleep 0.02
done
left=$(cat left)
until [ -d "$left/run" ] || [ $tries -ge 500 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
kill -9 $began
wait $began 2>/dev/null
run 0 programs capture -q one
[ -d "$left" ] || fail "a folder is removed in which something runs"
: >go
tries=0
while [ -d "$left" ] && [ $tries -lt 500 ]; do
    tries=$((tries + 1))
    sleep 0.02
    run 0 programs capture -q one
done
[ -d "$left" ] && fail "what a killed capture has left is not removed"
there late-small-4 || fail "the capture that was there is removed, too"
exit $bad
