#!/bin/sh
# resume.sh - `lardsim reproduce all --cells DIR` that is killed and asked for again: does it go on, does what
# was done stay as it was, and is a table's page in the end the one of a run that nobody killed?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
mkdir tmp || exit 99
TMPDIR=$dir/tmp
export TMPDIR

done_cells() { find cells/cells -name DONE 2>/dev/null | wc -l; }
cells_at() { find cells/cells -name DONE -exec stat -c '%Y %i %n' {} + 2>/dev/null | sort; }

# kill_at N: goes on until so many cells are done, and is killed then.
kill_at() {
    "$lardsim" reproduce all --quick -j 2 --cells cells -q >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(done_cells)" -lt "$1" ]; do sleep 0.02; done
    kill -9 $pid 2>/dev/null || fail "it had ended before $1 cells were done: $(head -n 3 err)"
    wait $pid 2>/dev/null
}

kill_at 6
sleep 0.3 # its processes see that it is gone
cells_at >first
[ "$(wc -l <first)" -ge 6 ] || fail "$(wc -l <first) cells are done after the first kill"
kill_at $(($(wc -l <first) + 12))
sleep 0.3
cells_at >second
[ "$(wc -l <second)" -gt "$(wc -l <first)" ] || fail "the second run did not go on"
[ -z "$(comm -23 first second)" ] || fail "cells that were done ran again: $(comm -23 first second | head -n 2)"

# The first table of all, to its end; all of its cells that the two had are used.
"$lardsim" reproduce valor-table1 --quick -j 2 --cells cells >resumed 2>err </dev/null
code=$?
[ $code = 0 ] || [ $code = 6 ] || fail "after the kills: exit code $code: $(head -n 3 err)"
cells_at >third
[ -z "$(comm -23 second third)" ] || fail "the table ran cells again that all had done"
"$lardsim" reproduce valor-table1 --quick -j 2 --cells whole >alone 2>err </dev/null
cmp -s resumed alone || { fail "the page differs from that of a run that nobody killed:"; diff alone resumed | head; }

exit $bad
