#!/bin/sh
# memory.sh - do the limits on memory hold, whatever in a trace makes it grow? Each trace here makes one
# kind of state grow without end. The peak of the process, as the host counts it, must stay within the
# limit and what docs/results.md says comes on top of it. Needs LARDSIM, and top_builddir for peak.
set -u

# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
peak=$(cd "${top_builddir:-.}" && pwd)/tests/cli/peak
[ -z "${LARDSIM_INSTRUMENTED:-}" ] || exit 77 # a sanitizer's own memory is not ours

# ---- traces, each of 100,000 or so of one thing -----------------------------------------------------

# trace NAME AWK: a text trace of what the loop prints for each i
trace() {
    awk "BEGIN { print \"lardsim-text 1\"; for (i = 0; i < 100000; i++) { $2 } }" >"$1.trace"
}
object='an object with a long name, which is number %d of all that there are'
trace names "printf \"name object %d \\\"$object\\\"\\n\", i * 64, i"
trace renamed "printf \"name object 64 \\\"$object\\\"\\n\", i"
trace locks 'printf "T0 acq %d\nT0 rel %d\n", i * 4096, i * 4096'
trace held 'printf "T0 acq %d\n", i * 4096'
trace shared 'printf "T0 acq-shared %d\n", i * 4096'
trace volatiles 'printf "T0 vwrite %d\n", i * 4096'
trace waits 'printf "T0 acq %d\nT0 wait-enter %d\nT0 wait-exit %d\nT0 rel %d\n", i * 64, i * 64, i * 64, i * 64'
trace classes 'printf "T0 class-init %d\n", i * 4096'
trace addresses 'printf "T0 write %d 4\n", i * 4096'
trace bytes 'printf "T0 write %d 4\n", i * 4'
trace holes 'printf "T0 alloc %d 64\nT0 alloc %d 64\n", i * 256, i * 256 + 128'
trace arrays 'printf "T0 alloc %d 64 8 8\nT0 write %d 8 array\n", i * 128, i * 128'
trace moves 'printf "T0 alloc %d 64\nT0 acq %d\nT0 rel %d\nT0 copy %d %d 64\n", i * 128, i * 128, i * 128, i * 128 + 268435456, i * 128'
trace transaction 'printf "%sT0 write %d 4 txn\n", i ? "" : "T0 txn-begin\n", i * 4096'
trace readers 'printf "T%d read %d 4\n", i % 50, int(i / 50) * 64'
trace atomics 'printf "T%d write %d 4 release\n", i % 2, i * 4096'
trace races 'printf "T0 write %d 4\nT1 write %d 4\n", i * 64, i * 64'
trace sites 'printf "T%d write 0x100 4 @%d\n", i % 2, i + 1'
trace named_sites "printf \"T%d write 0x100 4 @\\\"$object\\\"\\n\", i % 2, i"
trace threads 'if (i < 2000) printf "T0 fork T%d\nT%d vwrite 0x100\nT%d vread 0x100\n", i + 1, i + 1, i + 1'
trace joined 'if (i < 60000) printf "T0 fork T%d\nT%d write 0x100 4\nT%d end\nT0 join T%d\n", i + 1, i + 1, i + 1, i + 1'
trace waiting 'printf "T1 write %d 4\n", i * 64'
# stays small
trace phases 'printf "T0 phase %d\n", i'
trace comments 'printf "# %d\n", i'
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "T0|w(Some.variable%d)|%d\n", i, i }' >variables.std
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "T0|acq(Lock%d)|1\nT0|rel(Lock%d)|1\n", i, i }' >locks.std
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "T0|w(V1)|a.long.place.java:%d\n", i }' >places.std
awk 'BEGIN { for (i = 0; i < 400000; i++) printf "I  %08x,4\n", i } END { print " S 1000,8" }' </dev/null >fetches
gzip -c names.trace >names.gz

# ---- what must hold ---------------------------------------------------------------------------------

limit=8192 # KiB
least=64   # KiB: whoever needs no more has not met the limit

# holds MORE CODES ARGUMENT...: lardsim with these arguments ends with one of the codes, and took at
# most the limit and MORE MiB.
holds() {
    more=$1
    codes=$2
    shift 2
    "$peak" "$lardsim" "$@" >out 2>err
    code=$?
    took=$(sed -n 's/^peak //p' err)
    case " $codes " in
        *" $code "*) ;;
        *) fail "$*: exit code $code, not $codes: $(head -n 1 err)" ;;
    esac
    [ "${took:-0}" -ge $least ] || fail "$*: no peak was measured"
    [ "${took:-0}" -le $((limit + more * 1024)) ] ||
        fail "$*: took $took KiB, and the limit is $limit KiB; $more MiB may come on top"
    if [ "$code" = 5 ] && ! grep -q 'limits.memory\|--max-memory' err; then
        fail "$*: the message does not name the limit: $(head -n 1 err)"
    fi
}
memory="limits.memory=${limit}Ki"

# What stops a run with vc: all but what is bounded by itself.
for t in *.trace *.std names.gz; do
    codes=5
    case $t in
        phases* | comments*) codes=0 ;;
    esac
    holds 12 "$codes" run --quiet --set "$memory" "$t"
    holds 14 "$codes" run --quiet --set "$memory" --set trace.ahead=on "$t"
done
holds 12 0 run --quiet --set "$memory" fetches
for p in fasttrack clean slimstate eraser goldilocks fastrcd valor radish lardish; do
    for t in held waits addresses bytes arrays moves transaction readers atomics races joined; do
        case $p-$t in
            fastrcd-joined | valor-joined) continue ;; # they have no numbers for so many threads
        esac
        holds 16 "0 5" run --quiet -p $p --set "$memory" $t.trace
    done
done
# A machine, in timed order. Its caches are counted.
machine="-c radish8 --set l2.size=32Ki --set l1.size=4Ki --set l3.size=256Ki"
for t in names held holes arrays moves transaction joined waits atomics waiting named_sites; do
    # shellcheck disable=SC2086
    holds 14 "5" run --quiet $machine -p fasttrack --set "$memory" $t.trace
done
holds 12 5 run -c radish8 --set l3.size=64Mi --set "$memory" phases.trace
# Nine policies at once
for t in addresses races sites names; do
    holds 32 5 compare --quiet --set "$memory" $t.trace
done
# The verbs on traces
for t in names.trace renamed.trace named_sites.trace variables.std places.std names.gz; do
    for verb in cat verify; do
        holds 12 5 trace $verb --max-memory ${limit}Ki $t
    done
    holds 12 5 trace convert --max-memory ${limit}Ki --to binary $t -
    holds 12 5 trace cut --max-memory ${limit}Ki $t cut.lard
    [ ! -e cut.lard ] || fail "trace cut $t: a part of it was left"
done
holds 12 5 trace verify --max-memory ${limit}Ki holes.trace
holds 12 5 trace merge --max-memory ${limit}Ki merged.lard names.trace phases.trace
holds 12 5 trace strip --max-memory ${limit}Ki names.trace stripped.lard
# A window that the data ask for
if command -v zstd >zstd.path 2>&1; then
    awk 'BEGIN { print "lardsim-text 1"; for (i = 0; i < 4000000; i++) print "# a comment " i * 7919 }' |
        zstd -q -1 --long=27 >window.zst
    holds 12 5 run --quiet --set "$memory" window.zst
    holds 12 5 trace verify --max-memory ${limit}Ki window.zst
fi

# ---- what a stopped run leaves ----------------------------------------------------------------------

"$lardsim" run --quiet --set "$memory" -o stopped addresses.trace 2>err
[ $? = 5 ] || fail "a run beyond its limit must end with 5"
grep -q '"complete": false' stopped/provenance.json || fail "a stopped run says that it is complete"
grep -q '^events.total,[1-9]' stopped/stats.csv || fail "a stopped run has no results"
"$lardsim" run --quiet --set "$memory" --set trace.ahead=on -o ahead addresses.trace 2>err
cmp -s stopped/stats.json ahead/stats.json || fail "trace.ahead changes where a limit stops a run"
"$lardsim" run --quiet --set "$memory" -o stopped.names named_sites.trace 2>err
"$lardsim" run --quiet --set "$memory" --set trace.ahead=on -o ahead.names named_sites.trace 2>err
cmp -s stopped.names/stats.json ahead.names/stats.json ||
    fail "trace.ahead changes where names stop a run"
exit $bad
