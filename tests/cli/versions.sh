#!/bin/sh
# versions.sh - are traces of old versions of the format read for ever, and mean what they meant? Is a version that
# is not known refused? tests/data/traces has them as the program of that version wrote them.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
old=$top/tests/data/traces/version-1

# What the program of version 1 said of it: its identity, and what vc found, with all atomics merging.
of_trace() { run 0 trace info "$1" && sed -n 's/^identity *//p' out; }
of_run() { run 0 run -p vc -p goldilocks --set machine=none "$1" && awk '($1 == "vc" || $1 == "goldilocks") && NF == 5 {$1 = $1; print}' out; }
for form in lard trace; do
    [ "$(of_trace $old.$form)" = e8d3d5b0759b74b2 ] || fail "version 1, $form: the identity is not what it was: $(of_trace $old.$form)"
    [ "$(of_run $old.$form)" = "$(printf 'vc 58 42 17 58\ngoldilocks 58 42 17 58')" ] ||
        fail "version 1, $form: verdicts are not what they were: $(of_run $old.$form)"
    run 0 trace verify -q $old.$form
    # Written anew they are of the newest version, and say the same.
    for to in lard trace; do
        run 0 trace convert -q --overwrite $old.$form new.$to
        run 0 trace info new.$to
        grep -Eq '^format +lardsim-(trace|text) 2$' out || fail "what is written is not of version 2: $(head -n 1 out)"
        [ "$(of_trace new.$to)" = e8d3d5b0759b74b2 ] || fail "version 1, $form: as $to of version 2 it has other events"
        [ "$(of_run new.$to)" = "$(of_run $old.$form)" ] || fail "version 1, $form: as $to of version 2 it has other races"
    done
done
run 0 trace info $old.lard
grep -q '^format *lardsim-trace 1$' out || fail "version 1 is not said: $(head -n 1 out)"

# The same lines are C11's in version 2, where the second store replaces what the first one gave.
lines='T1 write 0x1000 4
T1 write 0x2000 4 release
T2 write 0x2000 4 release
T3 read 0x2000 4 acquire
T3 read 0x1000 4'
for version in 1 2; do
    printf 'lardsim-text %s\n%s\n' $version "$lines" >atomics.trace
    run 0 run -q -p vc --set machine=none -o res --overwrite atomics.trace
    [ "$(wc -l <res/races.jsonl)" -eq $((version - 1)) ] || fail "version $version: $(wc -l <res/races.jsonl) races"
    grep -c 'in which a release store adds' res/provenance.json >said # a user who means C11 is told
    [ "$(cat said)" = $((2 - version)) ] || fail "version $version: what its release stores mean is said $(cat said) times"
done

# A version to come.
printf 'lardsim-text 3\nT0 io\n' >next.trace
run 4 run next.trace
says err 'version "3" is unknown; this lardsim reads versions 1 to 2'
sed '1s/.*/lardsim-trace 3/' $old.lard >next.lard
run 4 trace info next.lard
says err 'is a trace of version 3, this program knows versions 1 to 2: use a newer lardsim'
exit $bad
