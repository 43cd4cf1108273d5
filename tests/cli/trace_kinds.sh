#!/bin/sh
# trace_kinds.sh - do the verbs of traces heed each kind of event, and all that a trace's head says? The names behind an
# event, what merge moves, strip's work that is owed, the form of what is written, and the memory that each verb counts.
in_memory=1
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# trace NAME LINE...: a text trace
trace() {
    name=$1
    shift
    printf '%s\n' 'lardsim-text 2' "$@" >"$name"
}
# same WHAT FILE FILE: they are what was expected, and what there is
same() { cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3" | head -n 4)"; }

# ---- cat --numbers -------------------------------------------------------------------------------

# Behind an event are its thread, what it is about, and its site; an address is so far into the object that is there then.
# What a clear takes away still has its name on that line, and none afterwards; what was copied stays till then.
trace kinds.trace 'name thread 0 "main"' 'name thread 1 "other"' 'name object 0x1000 "account"' 'name object 0x5000 "lock"' 'name site 0x20 "here"' \
    'name phase 7 "the last"' 'T0 alloc 0x1000 64' 'T0 alloc 0x5000 64' 'T0 fork T1' 'T0 phase 7' 'T1 waited 3 T0' 'T1 acq 0x5000' 'T1 rel 0x5000' \
    'T1 waited 3' 'T1 read 0x1008 4 @0x20' 'T1 arrive 0x5008 1' 'T1 depart 0x5008 1' 'T1 copy 0x2000 0x1000 64' 'T1 read 0x1008 4' 'T1 read 0x2004 4' \
    'T1 clear 0x2000 64' 'T1 read 0x2004 4' 'T1 time 5' 'T1 end' 'T0 join T1'
cat >want <<'END'
0: main, account
1: main, lock
2: main, other
3: main, the last
4: other, main
5: other, lock
6: other, lock
7: other
8: other, account + 8, at here
9: other, lock + 8
10: other, lock + 8
11: other, account
12: other, account + 8
13: other, account + 4
14: other, account
15: other
16: other
17: other
18: main, other
END
run 0 trace cat --numbers kinds.trace
sed -n 's/^T.* # //p' out >have
same "trace cat --numbers says of the kinds of events" want have
# The comments begin in one column, and the trace is read back as it was.
[ "$(sed -n 's/^\(T.*\)# .*/\1/p' out | awk '{print length($0)}' | sort -u)" = 57 ] || fail "the comments do not begin in one column: $(grep '^T' out | head -n 2)"
mv out back.trace
id() { "$lardsim" trace info "$1" | sed -n 's/^identity *//p'; }
[ "$(id back.trace)" = "$(id kinds.trace)" ] || fail "with --numbers it is another trace"
# What is selected is numbered as in the whole; of nothing there is the head, and of a damaged trace all before the damage.
run 0 trace cat --numbers --first 5 --count 2 kinds.trace
[ "$(sed -n 's/^T.* # \([0-9]*\):.*/\1/p' out | tr '\n' ' ')" = '5 6 ' ] || fail "trace cat --numbers of a part: $(cat out)"
trace none.trace 'granularity 4'
for option in '' --numbers; do
    # shellcheck disable=SC2086 # none, or one
    run 0 trace cat $option none.trace
    sed '/^producer/d' out >have
    printf 'lardsim-text 2\ngranularity 4\n' | cmp -s - have || fail "trace cat $option of a trace without events: $(cat out)"
done
{ cat kinds.trace; echo T0 nonsense; } >broken.trace
run 0 trace cat kinds.trace && mv out want
run 4 trace cat broken.trace
same "trace cat of a damaged trace" want out
run 4 trace cat --numbers broken.trace
same "trace cat --numbers of a damaged trace" back.trace out
# Without numbers a comment tells those of events behind others that are left out.
trace threads.trace 'T0 io' 'T1 io' 'T0 io' 'T0 io' 'T1 io' 'T0 io'
for thread in 0 1; do
    awk -v t=T$thread 'NR == 1 || $1 == t {if (NR > 1 && before && NR - 2 != before) print "# event " NR - 2; print; if (NR > 1) before = NR - 1}' \
        threads.trace | sed "1{/lardsim/!d}" >want
    [ $thread = 0 ] || sed -i '1a first 1' want
    run 0 trace cat --thread $thread threads.trace
    sed '/^producer/d' out >have
    same "trace cat --thread $thread" want have
done

# ---- merge ---------------------------------------------------------------------------------------

# Each number of each kind is the second program's: two threads, the kernel threads 0 to 3, and addresses that moved.
set -- 'T0 thread K3' 'T0 fork T1' 'T1 waited 3 T0' 'T1 read 0x10 4' 'T1 waited 4' 'T1 read 0x10 4' 'T0 remap 0x4000 0x8000 4096' 'T0 time 77' \
    'T0 branches 011' 'T0 uninstrumented 99' 'T0 rmw 0x90 4 @0x20 acq-rel' 'T0 acq 0x80 @0x21' 'T0 rel 0x80' 'T0 alloc 0x3000 16 2 8' 'T0 vwrite 0xc0' \
    'T0 vread 0xc0' 'T0 class-init 0xd0' 'T1 class-use 0xd0' 'T0 phase 7 @0x22' 'T0 txn-begin' 'T0 txn-commit' 'T0 io +5' 'T1 end' 'T0 join T1'
trace forms.trace "$@"
printf '%s\n' "$@" >want
perl -pe 's/\bT(\d+)/"T" . ($1 + 2)/ge; s/\bK(\d+)/"K" . ($1 + 4)/ge; s/0x([0-9a-f]+)/sprintf "0x%x", hex($1) + (1 << 48)/ge;
    s/phase (\d+)/"phase " . ($1 + (1 << 48))/e' want >second
cat second >>want
run 0 trace merge -q --run 99 --to text - forms.trace forms.trace
grep '^T' out >have
same "a program that is moved" want have
trace clocks.trace 'T0 writevc T5 9'
run 0 trace merge -q --to text - clocks.trace clocks.trace
[ "$(tail -n 1 out)" = 'T6 writevc T11 9' ] || fail "the thread of a clock's entry is not one of its program's: $(tail -n 1 out)"
# A turn is of 64 events, or so many as are asked for; who has no more leaves the others theirs.
{ echo lardsim-text 2; seq -f 'T0 time %g' 1 200; } >long.trace
trace short.trace 'T0 time 1'
for turn in '' 1 64 99; do
    # shellcheck disable=SC2086 # none, or one
    run 0 trace merge -q ${turn:+--run $turn} --to text - long.trace short.trace long.trace
    sed -n 's/^T\([012]\) .*/\1/p' out >have
    awk -v run="${turn:-64}" 'BEGIN {
        left[0] = left[2] = 200
        left[1] = 1
        while (left[0] + left[1] + left[2])
            for (t = 0; t < 3; t++)
                for (n = 0; n < run && left[t]; n++) {
                    print t
                    left[t]--
                }
    }' >want
    same "trace merge --run ${turn:-by default}: turns" want have
done
# One unit of gaps; a granularity and a layout that all have.
two() { # two HEAD HEAD WANTED...: what the merged trace's head says
    printf '%s\n' 'lardsim-text 2' "$1" 'T0 io' >first.trace
    printf '%s\n' 'lardsim-text 2' "$2" 'T0 io' >other.trace
    run 0 trace merge -q --to text - first.trace other.trace
    [ "$(sed -n '/^producer\|^lardsim\|^T/!p' out)" = "$3" ] || fail "of '$1' and '$2' merge makes: $(cat out)"
}
two 'granularity 4' 'granularity 4' 'granularity 4'
two 'granularity 4' 'granularity 8' ''
two '' 'granularity 8' ''
two 'granularity 8' '' ''
two 'layout ia32' 'layout ia32' 'layout ia32'
two 'layout ia32' 'layout 64-bit' ''
two '' 'layout ia32' ''
two 'gaps bytecodes' 'gaps bytecodes' 'gaps bytecodes'
trace first.trace 'gaps bytecodes' 'T0 io'
trace other.trace 'T0 io'
run 2 trace merge -q --to text - first.trace other.trace
says err 'first.trace counts its gaps in bytecodes, and other.trace in instructions; a trace has one unit'
# There are 65536 threads, and as many kernel threads: one more is refused, and who brings it is named.
trace last.trace 'T0 io'
for most in 'T65534 io' 'T0 fork T65534' 'T0 waited 1 T65534' 'T0 writevc T65534 1'; do
    trace most.trace "$most"
    run 0 trace merge -q --to text - most.trace last.trace
    [ "$(tail -n 1 out)" = 'T65535 io' ] || fail "behind '$most' the next program's thread is $(tail -n 1 out)"
    trace most.trace "$(echo "$most" | sed s/65534/65535/)"
    run 4 trace merge -q --to text - most.trace last.trace
    says err 'last.trace: with its threads there are more than 65536; merge fewer traces'
done
trace last.trace 'T0 thread K0'
trace most.trace 'T0 thread K65535'
run 4 trace merge -q --to text - most.trace last.trace
says err 'last.trace: with its threads there are more than 65536; merge fewer traces'
# What can't be moved is told with the event, the number and the bits.
trace high.trace 'first 7' 'T0 io' 'T0 write 0x3000000000000 1'
run 4 trace merge -q --to text - last.trace high.trace
says err 'high.trace: event 8: 0x3000000000000 has some of the bits 48 to 57, by which inputs are moved apart; give --shared'
# A region of interest lasts until the last has ended, whoever began; an end without a beginning is as it was.
trace roi.trace 'T0 roi-begin' 'T0 io' 'T0 roi-end' 'T0 roi-begin' 'T0 io' 'T0 roi-end'
run 0 trace merge -q --run 1 --to text - roi.trace roi.trace
[ "$(grep '^T' out | tr '\n' ' ')" = 'T0 roi-begin T0 io T1 io T1 roi-end T0 roi-begin T0 io T1 io T1 roi-end ' ] || fail "two regions of interest of two programs: $(grep '^T' out)"
trace roi.trace 'T0 roi-end' 'T0 io'
run 0 trace merge -q --run 1 --to text - roi.trace roi.trace
[ "$(grep -c roi-end out)" = 2 ] || fail "ends without a beginning: $(grep '^T' out)"

# An input that was looked at is closed: of 40 inputs no more are open than there are.
trace one.trace 'T0 io'
many=$(seq 1 40 | sed 's/.*/one.trace/')
# shellcheck disable=SC2086,SC3045 # words; dash and bash have both
(ulimit -n 60 && exec "$lardsim" trace merge -q --to text - $many) >out 2>err || fail "40 inputs where 60 files may be open: $(cat err)"
[ "$(tail -n 1 out)" = 'T39 io' ] || fail "40 inputs end with $(tail -n 1 out)"

# ---- strip ---------------------------------------------------------------------------------------

# What is owed is each thread's own, whatever its number, and does not pass what a gap can say.
trace owed.trace 'T0 alloc 0x1000 8 +3' 'T9 alloc 0x2000 8 +4' 'T300 alloc 0x3000 8 +5' 'T4 alloc 0x4000 8 +6' 'T9 write 0x9000 8' 'T4 write 0x9000 8 +1' \
    'T300 write 0x9000 8' 'T0 write 0x9000 8' 'T0 write 0x9000 8' 'T0 alloc 0x5000 8 +4294967290' 'T0 write 0x9000 8 +5' 'T0 alloc 0x6000 8 +4294967290' \
    'T0 write 0x9000 8 +6' 'T0 waited 1 T9' 'T0 read 0x9000 8 @0x10 array'
printf '%s\n' 'T9 write 0x9000 8 +4' 'T4 write 0x9000 8 +7' 'T300 write 0x9000 8 +5' 'T0 write 0x9000 8 +3' 'T0 write 0x9000 8' 'T0 write 0x9000 8 +4294967295' \
    'T0 write 0x9000 8 +4294967295' 'T0 waited 1 T9' 'T0 read 0x9000 8 @0x10 array' >want
run 0 trace strip -q --to text owed.trace -
grep '^T' out >have
same "trace strip: work that is owed" want have
run 0 trace strip --to text owed.trace -
says err '-: kept 0 of 6 allocations, 0 of 0 copies; 0 clears of 0'
run 0 trace strip -q --to text owed.trace -
[ ! -s err ] || fail "trace strip -q says: $(cat err)"

# ---- the form of what is written -----------------------------------------------------------------

# form NAME WANTED: the ending of a name says it, and only one behind a name.
form() {
    run 0 trace convert -q --overwrite short.trace "$1"
    case $(head -c 13 "$1") in lardsim-text*) is=text ;; lardsim-trace*) is=binary ;; *) is=std ;; esac
    [ $is = "$2" ] || fail "trace convert to $1 writes $is"
}
trace short.trace 'T0 write 0x10 4'
form a.txt text
form a.trace text
form a.std std
form a.lard binary
form .txt binary
form .trace binary
form .std binary
form txt binary
form a.txt.lard binary
for to in text std binary; do
    run 0 trace convert -q --overwrite --to $to short.trace b.x
    case $to in text) head='lardsim-text' ;; std) head='T0|w(' ;; binary) head='lardsim-trace' ;; esac
    [ "$(head -c ${#head} b.x)" = "$head" ] || fail "--to $to writes $(head -c 20 b.x)"
done
run 2 trace convert -q --to Text short.trace c.x
says err '--to: "Text" is none of binary, text, std'
for to in binary text; do
    run 2 trace convert -q --to $to --lossy short.trace c.x
    says err '--lossy is for STD'
done
for option in '--codec raw' '--level 3'; do
    for name in c.txt c.std; do
        # shellcheck disable=SC2086 # two words
        run 2 trace convert -q $option short.trace $name
        says err '--codec and --level are for binary traces'
    done
done
[ -z "$(ls c.* 2>ls.err)" ] || fail "what is refused is written: $(ls c.*)"
run 4 trace convert -q --to std kinds.trace c.std
run 0 trace convert -q --to std --lossy kinds.trace c.std
# Only a level that a codec has is taken.
for level in 1000 1001 99999999999 4294967297; do
    run 2 trace convert -q --level $level short.trace d.lard
    [ ! -e d.lard ] || fail "--level $level is taken"
done
# A file that is read twice is a regular one, whatever stands before its name; one that is missing is said to be.
mkfifo pipe
for from in pipe text:pipe -; do
    run 2 trace strip -q $from e.lard
    says err "trace strip: $from: inputs are read twice, so each has to be a regular file; write it to one first"
done
run 4 trace strip -q nosuch.trace e.lard
says err 'nosuch.trace'
grep -q 'read twice' err && fail "a file that is missing is no regular one: $(cat err)"
if [ -c /dev/full ] && [ -w /dev/full ]; then
    "$lardsim" trace convert -q --to text kinds.trace - >/dev/full 2>err && fail "a full disk is written to"
    says err 'lardsim: standard output: '
    [ "$(grep -c 'standard output: standard output' err)" = 0 ] || fail "standard output is named twice: $(cat err)"
fi
# A binary trace is none for a terminal; text is, and so is a redirected one.
if command -v script >script.path 2>&1 && script -qec true /dev/null >script.out 2>&1; then
    script -qec "'$lardsim' trace convert -q short.trace -" typescript >script.out 2>&1 </dev/null && fail "a terminal gets a binary trace"
    grep -q 'a binary trace is no use on a terminal; redirect standard output, or give --to text' typescript || fail "on a terminal: $(cat typescript)"
    script -qec "'$lardsim' trace convert -q --to text short.trace -" typescript >script.out 2>&1 </dev/null || fail "a terminal gets no text: $(cat typescript)"
fi

# ---- verify --------------------------------------------------------------------------------------

# What only the end shows is said of the file, too; a remark at the end has no number.
trace open.trace 'T0 acq 0x10' 'T0 gc-begin'
run 4 trace verify open.trace
says err 'lardsim: open.trace: end of the trace: gc-pause: the collection of event 1 has no end'
[ ! -s out ] || fail "a trace that breaks a rule has a page: $(cat out)"
run 4 trace verify --json open.trace
[ ! -s out ] || fail "a trace that breaks a rule has JSON: $(cat out)"
trace open.trace 'name object 0x10 "lock"' 'name thread 0 "main"' 'T0 acq 0x10' 'T0 txn-begin'
run 0 trace verify open.trace
cat >want <<'END'
open.trace: 2 events, all rules hold
legal, but suspicious (`lardsim list notes` says why):
  uncommitted: 1
    at the end, thread 0 (main)
  never-released: 1
    at the end, 0x10 (lock)
END
same "trace verify" want out
run 0 trace verify -q open.trace
[ ! -s out ] || fail "trace verify -q prints: $(cat out)"
run 4 trace verify nosuch.trace
says err 'nosuch.trace'
trace one.trace 'T0 io'
run 0 trace verify one.trace
[ "$(cat out)" = 'one.trace: 1 event, all rules hold' ] || fail "of one event verify says: $(cat out)"
for n in 3 4; do
    { echo lardsim-text 2; seq -f 'T0 write 0x%g000 4' 1 $n; } >sites.trace
    run 0 trace verify sites.trace
    [ "$(grep -c '^    event' out)" = 3 ] || fail "of $n remarks these are told: $(cat out)"
    grep -q '^    and' out && more=yes || more=no
    [ "$more$n" = no3 ] || [ "$more$n" = yes4 ] || fail "of $n remarks these are told: $(cat out)"
done

# ---- info ----------------------------------------------------------------------------------------

# Of a binary trace that is cut off the headers are told, and that they are no more; of a whole one all.
run 0 trace synth -q synth.lard events=70k
run 0 trace info synth.lard
"$lardsim" trace cat synth.lard | grep '^T' | awk '{n[$2]++} END {for (k in n) printf "%s %d\n", k, n[k]}' | sort >want
sed -n '/^kinds/,/^state/{s/^kinds/     /;/^state/!p}' out | awk '{print $1, $2}' | sort >have
same "trace info: kinds" want have
for text in 'events       70' 'blocks       3' 'granularity  8 bytes' 'state        complete' 'producer     lardsim synth'; do says out "$text"; done
grep -q '^layout\|^gaps' out && fail "what is by default is told: $(grep '^layout\|^gaps' out)"
"$lardsim" trace cat synth.lard | awk '/^T/ {seen[$1] = 1; if ($2 == "fork") seen[$3] = 1} END {for (t in seen) n++; print n}' >want
sed -n 's/^threads *//p' out >have
same "trace info: threads" want have
head -c $(($(wc -c <synth.lard) * 19 / 20)) synth.lard >off.lard
run 4 trace info off.lard
says out 'events       65536 by the headers of the blocks; what is in them was not read'
says out 'numbers      0 to 65535'
says out 'state        damaged'
grep -q '^threads\|^identity\|^kinds' out && fail "what was not read is told: $(cat out)"
run 4 trace info --json off.lard
says out '"complete": false'
says out '"damage": "block '
grep -q '"threads"\|"identity"\|"kinds"' out && fail "what was not read is told: $(cat out)"
trace head.trace 'first 9' 'gaps bytecodes' 'layout ia32' 'T0 branches 0111' 'T0 uninstrumented 5'
run 0 trace info head.trace
for text in 'numbers      9 to 10' 'layout       ia32' 'gaps         bytecodes'; do says out "$text"; done
run 0 trace info --json head.trace
for text in '"first": 9' '"layout": "ia32"' '"gaps": "bytecodes"'; do says out "$text"; done

# ---- memory --------------------------------------------------------------------------------------

# What a verb keeps beside the trace's own names counts as they do: half as much again is too little for twice as many.
awk 'BEGIN {print "lardsim-text 2"; for (i = 0; i < 4000; i++) printf "name object %d \"an object with a long name, one of many, %d\"\nT0 write %d 4\n",
    i * 64 + 64, i, i * 64 + 64}' >names.trace
low=64 high=8192
while [ $((high - low)) -gt 16 ]; do
    middle=$(((low + high) / 2))
    if "$lardsim" trace convert -q --to text --max-memory ${middle}Ki names.trace - >out 2>err; then high=$middle; else low=$middle; fi
done
[ $high -lt 4096 ] || fail "4000 names take $high KiB"
run 0 trace cat --max-memory $((high * 3))Ki names.trace
run 5 trace cat --max-memory $((high * 5 / 4))Ki names.trace
says err 'names.trace: event '
grep -q 'max-memory' err || fail "what to do about the limit is not said: $(cat err)"
trace one.trace 'T0 io'
run 0 trace merge -q --to text --max-memory $((high * 3))Ki - one.trace names.trace
run 5 trace merge -q --to text --max-memory $((high * 5 / 4))Ki - one.trace names.trace
says err 'names.trace: event '
# So does what is kept of objects, for their names, and of locks, for the rules.
awk 'BEGIN {print "lardsim-text 2"; for (i = 1; i <= 20000; i++) printf "T0 alloc %d 16\n", i * 64}' >many.trace
sed 's/alloc \([0-9]*\) 16/acq \1/' many.trace >locks.trace
run 0 trace cat --max-memory 1Mi many.trace
for words in 'cat --numbers --max-memory 1Mi many.trace' 'verify --max-memory 1Mi locks.trace'; do
    # shellcheck disable=SC2086 # words
    run 5 trace $words
    sed -n "s/^lardsim: ${words##* }: event \([0-9]*\): what has to be kept takes \([0-9]*\) bytes, and the limit is 1048576; raise it with --max-memory\$/\1 \2/p" \
        err | awk '$1 > 0 && $1 < 20000 && $2 > 1048576 {n++} END {exit n != 1}' || fail "trace $words: $(cat err)"
done
exit $bad
