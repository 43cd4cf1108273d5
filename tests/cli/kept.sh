#!/bin/sh
# kept.sh - is it known what captures take, do the least recently used go first when that is too much, and is nothing
# removed or replaced that somebody uses, or that lardsim did not make? Does what a killed capture has left go? By
# recipes of the test's own.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
XDG_CACHE_HOME=$dir/cache
LARDSIM_PROGRAMS=$dir/programs
export XDG_CACHE_HOME LARDSIM_PROGRAMS
unset LARDSIM_PROGRAMS_LIMIT LARDSIM_CACHE_LIMIT
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
# What another version of strip made is not taken.
echo 'not a trace' >"$kept/one-small-4/used.lard"
cp "$kept/one-small-4/used.lard" "$kept/one-small-4/used-1.lard"
run 0 programs capture -q one,lives=used
used=$(cat out)
case $used in "$kept"/one-small-4/used-[0-9]*.lard) ;; *) fail "lives=used is not beside the capture: $used" ;; esac
"$lardsim" trace verify -q "$used" 2>err || fail "lives=used is what another version of strip made: $(cat err)"
was=$(stat -c %i "$used")
run 0 programs capture -q one,lives=used
[ "$(stat -c %i "$used")" = "$was" ] || fail "lives=used is made twice"
run 0 programs forget two
{ there two || there two-small-4 || there two-small-2; } && fail "something of a program is kept that was forgotten"
there one-small-4 || fail "another program is forgotten, too"
run 2 programs forget two
says err 'nothing is kept of two'
run 0 programs forget one-small-4
there one || fail "with a capture its program is forgotten"
run 0 programs forget all
[ -z "$(ls "$kept")" ] || fail "after all is forgotten there is $(ls "$kept")"

# ---- what is not ours ----------------------------------------------------------------------------

# Copies of a capture, and folders whose names look like ours: none is removed or listed.
run 0 programs capture -q one
for name in one-small-4.keep one-small-4-keep one-backup one-small-4.abcdef two.lardsim-abcdef.old; do
    cp -r "$kept/one-small-4" "$kept/$name"
done
for name in my.project one-small-9 three two.lardsim-abcdef one-small-4.lardsim-keep; do
    mkdir "$kept/$name"
    echo mine >"$kept/$name/notes"
done
ln -s "$dir/programs" "$kept/two-small-4"
theirs="one-small-4.keep one-small-4-keep one-backup one-small-4.abcdef two.lardsim-abcdef.old my.project one-small-9 three
    two.lardsim-abcdef one-small-4.lardsim-keep two-small-4"
not_ours() { # not_ours DEED
    for name in $theirs; do
        [ "$(ls -A "$kept/$name" 2>&1)" ] && there "$name" || fail "$1: $name is removed, which is somebody's own"
    done
    [ -f "$kept/my.project/notes" ] && [ -f "$kept/one-small-4.keep/trace.lard" ] || fail "$1: somebody's files are removed"
}
run 0 programs list
for name in $theirs; do
    grep -q "^  $name " out && fail "$name is listed as a capture of lardsim's"
done
size=$(sed -n 's/^kept in .*: \([0-9.]*\) MiB.*/\1/p' out)
awk -v all="$size" -v one="$(du -s -B1 "$kept/one" "$kept/one-small-4" | awk '{ n += $1 } END { print n / 1048576 }')" \
    'BEGIN { exit all > one + 0.1 }' || fail "what is somebody's own is counted: $size MiB"
run 0 programs build -q one
not_ours "programs build"
LARDSIM_PROGRAMS_LIMIT=1 run 0 programs capture -q --again one
not_ours "a limit"
# They are in the way of what would have that name.
for spec in three two; do
    run 7 programs capture -q $spec
    says err 'lardsim did not make it; move it away'
done
run 0 programs forget all
not_ours "programs forget all"
there one-small-4 && fail "beside what is somebody's own nothing is forgotten"
for name in $theirs; do rm -r "${kept:?}/$name"; done
run 0 programs forget all

# A rest of ours goes, and what was killed before it had anything.
run 0 programs build -q one
cp -r "$kept/one" "$kept/one-small-4.lardsim-abcdef"
mkdir "$kept/one.lardsim-abcdef"
run 0 programs build -q one
{ there one-small-4.lardsim-abcdef || there one.lardsim-abcdef; } && fail "what a killed capture has left is not removed"
run 0 programs forget all

# Where the cache is a link, or another user's, nothing goes at all.
no_removing() { # no_removing WHAT: by two and one.lardsim-abcdef, which are lardsim's
    run 0 programs build -q two
    there one.lardsim-abcdef || fail "what lies in $1 is removed"
    LARDSIM_PROGRAMS_LIMIT=1 run 0 programs build -q three
    there two || fail "the limit removes what lies in $1"
    run 7 programs forget all
    says err "is a link, or another user's, and lardsim removes nothing there"
    there two || fail "what lies in $1 is forgotten"
}
run 0 programs build -q one
mv "$kept" elsewhere
mv elsewhere/one elsewhere/one.lardsim-abcdef
ln -s "$dir/elsewhere" "$kept"
no_removing "a folder to which a link leads"
rm "$kept"
mv elsewhere "$kept"
if [ "$(id -u)" = 0 ] && chown 65534 "$kept"; then
    no_removing "another user's folder"
    chown 0 "$kept"
fi
run 0 programs forget all

# Nobody may choose for us which folder that is.
home=$HOME cache=$XDG_CACHE_HOME
unset HOME XDG_CACHE_HOME
run 7 programs build one
says err 'set HOME or XDG_CACHE_HOME'
run 0 programs list
grep -q 'kept in' out && fail "without a HOME there is a cache: $(cat out)"
HOME=$home XDG_CACHE_HOME=$cache
export HOME XDG_CACHE_HOME

# ---- the limit -----------------------------------------------------------------------------------

LARDSIM_PROGRAMS_LIMIT=much run 2 programs capture one
says err 'LARDSIM_PROGRAMS_LIMIT: "much"'
LARDSIM_CACHE_LIMIT=much run 2 programs capture one # as it was called once
says err 'LARDSIM_CACHE_LIMIT: "much"'
there one && fail "something was built before the limit was read"
run 0 programs capture -q one
touch -d '2020-01-02' "$kept/one-small-4"
run 0 programs capture -q two
touch -d '2020-01-01' "$kept/two-small-4"
run 0 programs capture -q two # it is used: one is older now
LARDSIM_PROGRAMS_LIMIT=$(($(du -s -B1 "$kept" | cut -f1) - 1)) run 0 programs capture three
says err "removed $kept/one-small-4"
there one-small-4 && fail "the least recently used capture is not removed"
there three-small-4 || fail "what was just captured is removed"
# What lives=used adds counts, too.
run 0 programs capture -q two,threads=2
touch -d '2020-01-02' "$kept/two-small-2"
run 0 programs list --json
bytes=$(grep -o '"bytes": [0-9]*' out | awk '{ n += $2 } END { print n + 0 }')
LARDSIM_PROGRAMS_LIMIT=$bytes run 0 programs capture three
there two-small-2 || fail "the test is wrong: there is too much already"
LARDSIM_PROGRAMS_LIMIT=$bytes run 0 programs capture three,lives=used
there two-small-2 && fail "what lives=used adds is not limited"
LARDSIM_PROGRAMS_LIMIT=0 run 0 programs capture -q one
{ there two-small-4 && there three-small-4; } || fail "without a limit something is removed"

# Somebody reads a capture: it stays, whatever the limit, and can't be forgotten.
mkfifo pipe
"$lardsim" trace cat program:two >pipe &
reader=$!
exec 3<pipe
head -c 1 <&3 >first
[ -s first ] || fail "the test is wrong: nothing is read"
LARDSIM_PROGRAMS_LIMIT=1 run 0 programs capture -q --again one
there two-small-4 || fail "a capture that is read is removed"
there three-small-4 && fail "a capture that nobody uses stays, above the limit"
run 7 programs forget two-small-4
says err 'another lardsim uses it'
was=$(stat -c %i "$kept/two-small-4")
run 7 programs capture -q --again two
says err 'another lardsim uses it'
[ "$(stat -c %i "$kept/two-small-4")" = "$was" ] || fail "a capture that is read is replaced"
exec 3<&-
wait $reader
run 0 programs capture -q --again two
[ "$(stat -c %i "$kept/two-small-4")" != "$was" ] || fail "a capture that nobody reads is not replaced"
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
until ls -d "$kept"/late-small-4.lardsim-?????? >left 2>/dev/null; do
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

# ---- two at once ---------------------------------------------------------------------------------

until_said() { # until_said FILE TEXT
    tries=0
    until grep -qsF -e "$2" "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || { fail "$1 does not say: $2"; break; }
        sleep 0.02
    done
}
# Who asks for what is made anew waits, and has the new one.
rm go
was=$(stat -c %i "$kept/late-small-4")
"$lardsim" programs capture --again late >late.out 2>late.err &
maker=$!
until_said late.err 'capturing program:late'
until ls -d "$kept"/late-small-4.lardsim-??????/run >left 2>/dev/null || [ $tries -ge 500 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
"$lardsim" trace info program:late >info.out 2>info.err &
reader=$!
until_said info.err 'waiting for another lardsim'
: >go
wait $maker || fail "a capture fails for which another waits: $(cat late.err)"
wait $reader || fail "who waits for a capture fails: $(cat info.err)"
[ "$(stat -c %i "$kept/late-small-4")" != "$was" ] || fail "what another waits for is not made"
# Where nothing is there yet, both make it, and have the same then.
rm go
run 0 programs forget late-small-4
"$lardsim" trace info program:late >info.1 2>info.err.1 &
reader1=$!
"$lardsim" trace info program:late >info.2 2>info.err.2 &
reader2=$!
until_said info.err.1 'capturing program:late'
until_said info.err.2 'capturing program:late'
: >go
wait "$reader1" && wait "$reader2" || fail "of two who capture the same one fails: $(cat info.err.1 info.err.2)"
there late-small-4 || fail "of two captures of the same none is kept"
# Both strip a capture that takes a while.
recipe long 3000000
run 0 programs capture -q long
"$lardsim" trace info program:long,lives=used >info.1 2>info.err.1 &
reader1=$!
"$lardsim" trace info program:long,lives=used >info.2 2>info.err.2 &
reader2=$!
wait "$reader1" && wait "$reader2" || fail "of two who strip the same capture one fails: $(cat info.err.1 info.err.2)"
cmp -s info.1 info.2 || fail "of two who strip the same capture each has another"
run 0 programs capture -q late
ls -d "$kept"/*.lardsim-* 2>/dev/null && fail "of two captures of the same something is left"
exit $bad
