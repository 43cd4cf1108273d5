#!/bin/sh
# trace.sh - do the verbs of traces that copy keep all that a trace says, names of each kind among it? And does each,
# where it fails, say so by its exit code and a message, leave nothing behind, and leave alone what is there?
in_memory=1
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# same WHAT FILE: out is what is expected.
same() { cmp -s "$2" out || fail "$1: $(diff "$2" out | head -n 4)"; }

cat >named.trace <<'END'
lardsim-text 2
producer "p"
granularity 1
name thread 0 "main"
name site 0x10 "here"
name object 0x1000 "account"
T0 write 0x1000 4 @0x10
name thread 1 "other"
T0 fork T1
name phase 7 "the last"
T0 phase 7
name object 0x2000 "its copy"
T1 copy 0x2000 0x1000 4
T1 read 0x2002 2
END
for verb in convert cut strip; do
    run 0 trace $verb -q --to text named.trace -
    same "trace $verb" named.trace
    run 0 trace $verb -q named.trace $verb.lard
    run 0 trace cat $verb.lard
    same "trace $verb to a binary trace" named.trace
done
run 0 trace cut -q --to text --first 2 --count 1 named.trace -
printf '%s\n' 'lardsim-text 2' 'producer "p"' 'first 2' 'granularity 1' 'name thread 0 "main"' 'name phase 7 "the last"' 'T0 phase 7' >want
grep -v '^name object\|^name site\|^name thread 1' out >rest && mv rest out
same "trace cut" want

# Turns, programs apart and together.
sed '/copy/,$d; /name object 0x2000/d' named.trace >short.trace
cat >want <<'END'
lardsim-text 2
granularity 1
name thread 0 "main"
name site 0x10 "here"
name object 0x1000 "account"
T0 write 0x1000 4 @0x10
name thread 1 "other"
T0 fork T1
name thread 2 "main"
name site 0x1000000000010 "here"
name object 0x1000000001000 "account"
T2 write 0x1000000001000 4 @0x1000000000010
name thread 3 "other"
T2 fork T3
name phase 7 "the last"
T0 phase 7
name phase 281474976710663 "the last"
T2 phase 281474976710663
END
run 0 trace merge -q --run 2 --to text - short.trace short.trace
grep -v '^producer' out >rest && mv rest out
same "trace merge" want
sed 's/0x1000000001000/0x1000/; s/@0x1000000000010/@0x10/; s/281474976710663/7/; /^name object 0x1000000001000/d; /^name site 0x1000000000010/d
    /^name phase 281474976710663/d' want | awk '!(/^name (object|site|phase)/ && seen[$0]++)' >shared
run 0 trace merge -q --run 2 --shared --to text - short.trace short.trace
grep -v '^producer' out >rest && mv rest out
same "trace merge --shared" shared
run 2 trace merge -q --run 0 - short.trace short.trace
says err '--run is at least 1'

# What there is none of is not said.
echo lardsim-text 2 >none.trace
run 0 trace info none.trace
printf '%-13s%s\n' format 'lardsim-text 2' events 0 threads 0 bytes 15 >want
sed '/^identity/,$d' out >rest && mv rest out
same "trace info of nothing" want
run 0 trace info --json none.trace
for text in '"format": "lardsim-text 2"' '"producer": null' '"events": 0' '"granularity": 0' '"layout": ' '"bytes": 15' '"threads": 0' '"identity": "' \
    '"kinds": {' '"complete": true' '"damage": null'; do
    says out "$text"
done
run 0 trace info --json named.trace
for text in '"producer": "p"' '"events": 5' '"granularity": 1' '"threads": 2' '"write": 1' '"copy": 1'; do
    says out "$text"
done
run 0 trace info named.trace
[ "$(sed -n 's/^producer *//p' out)" = p ] || fail "the producer is $(grep producer out)"
run 0 trace verify named.trace
says out '    event 3, thread 1 (other), 0x1000 (account)'
printf '%s\n' 'lardsim-text 2' 'T0 write 0x1000 4 @0x10' >plain.trace
run 0 trace verify plain.trace
[ "$(wc -l <out)" = 1 ] || fail "there is nothing to note: $(cat out)"

for n in 1 2 3 4 5; do echo "T0 write 0x100$n 1"; done | sed '1i\
lardsim-text 2' >unsited.trace
run 0 trace verify unsited.trace
cat >kept <<'END'
unsited.trace: 5 events, all rules hold
legal, but suspicious (`lardsim list notes` says why):
  no-site: 5
    event 0, thread 0, 0x1001
    event 1, thread 0, 0x1002
    event 2, thread 0, 0x1003
    and 2 more
END
same "trace verify" kept
run 0 trace verify --json unsited.trace
for text in '"source": "unsited.trace"' '"events": 5' '"holds": true' '"no-site": 5'; do
    says out "$text"
done
run 0 trace info named.trace
grep -v '^identity' out >rest && mv rest out
{
    printf '%-13s%s\n' format 'lardsim-text 2' producer p events 5 numbers '0 to 4' threads 2 granularity '1 bytes' \
        bytes "$(wc -c <named.trace) ($(awk -v n="$(wc -c <named.trace)" 'BEGIN { printf "%.2f", n / 5 }') an event)"
    head=kinds
    for kind in read write fork copy phase; do
        printf '%-13s%-12s %12d\n' "$head" $kind 1
        head=
    done
    printf '%-13s%s\n' state complete
} >kept
same "trace info" kept
# What is left out leaves its gap to the thread's next event. The form of a file goes by its name, parameters by either way.
cat >gaps.trace <<'END'
lardsim-text 2
gaps instructions
T0 alloc 0x1000 64
T0 write 0x1000 4 +2
T0 alloc 0x2000 64 +3
T0 clear 0x2000 64 +4
T0 write 0x1000 4 +5
END
run 0 trace strip -q gaps.trace kept.trace
[ "$(grep -c . kept.trace)" = 5 ] && [ "$(tail -n 1 kept.trace)" = 'T0 write 0x1000 4 +12' ] || fail "trace strip: $(head -c 200 kept.trace)"
for name in kept.txt kept.trace; do
    run 0 trace convert -q --overwrite named.trace $name
    cmp -s $name named.trace || fail "trace convert to $name: $(head -c 40 $name)"
done
run 0 trace synth -q --to text - events=50 threads=3
mv out kept
run 0 trace synth -q --to text --set events=50 --set threads=3 -
same "trace synth --set" kept
run 0 trace synth -q --to text --set events=50 - threads=3
same "trace synth both ways" kept
run 2 trace cut --count 0 named.trace o.lard

# ---- parts -------------------------------------------------------------------------------------------

# A part has the events that the options say, by their numbers; a count counts those of all threads.
run 0 trace synth -q --to text whole.trace events=120 threads=3 seed=5
grep '^T' whole.trace >events
n=$(wc -l <events)
# part FIRST COUNT THREAD: what a part of whole.trace has; THREAD "": all.
part() { awk -v first="$1" -v count="$2" -v thread="$3" 'NR - 1 >= first && NR - 1 < first + count && (thread == "" || $1 == "T" thread)' events; }
for range in '0 1' '0 7' '5 1' '17 40' "$((n - 1)) 1" '100 999'; do
    first=${range% *} count=${range#* }
    part "$first" "$count" '' >want
    run 0 trace cut -q --to text --first "$first" --count "$count" whole.trace -
    grep -q "^first $first\$" out || [ "$first" = 0 ] || fail "trace cut --first $first: the numbers begin with $(grep '^first' out)"
    grep '^T' out | cmp -s - want || fail "trace cut --first $first --count $count has other events: $(grep '^T' out | diff want - | head -n 3)"
    run 0 trace cat --first "$first" --count "$count" whole.trace
    grep '^T' out | cmp -s - want || fail "trace cat --first $first --count $count has other events: $(grep '^T' out | diff want - | head -n 3)"
    for thread in 0 2; do
        part "$first" "$count" $thread >want
        run 0 trace cat --first "$first" --count "$count" --thread $thread whole.trace
        grep '^T' out | cmp -s - want || fail "trace cat of thread $thread, from $first, $count: $(grep '^T' out | diff want - | head -n 3)"
    done
done
run 4 trace cut -q --first "$n" whole.trace o.lard
says err "no event at or after number $n"
for wrong in 65536 99999; do
    run 2 trace cat --thread $wrong whole.trace
    says err '--thread: threads are numbered from 0 to 65535'
done
for verb in cut cat; do
    out=$([ $verb = cut ] && echo o.lard)
    for option in --first --count --max-memory; do
        # shellcheck disable=SC2086 # none, or one
        run 2 trace $verb $option=many whole.trace $out
        says err "$option"
    done
done
# With its numbers each event is what it is without, and has its number and the names in it behind it.
run 0 trace cat whole.trace
cp out without
run 0 trace cat --numbers whole.trace
sed 's/ *# [0-9][^"]*$//' out | cmp -s - without || fail "trace cat --numbers has other lines: $(sed 's/ *# [0-9][^"]*$//' out | diff without - | head -n 3)"
[ "$(sed -n 's/^T.* # \([0-9]*\).*/\1/p' out | tr '\n' ' ')" = "$(seq 0 $((n - 1)) | tr '\n' ' ')" ] || fail "trace cat --numbers has other numbers"
run 0 trace cat --numbers named.trace
for line in 'T0 write 0x1000 4 @0x10 * # 0: main, account, at here' 'T0 fork T1 * # 1: main, other' 'T0 phase 7 * # 2: main, the last' \
    'T1 copy 0x2000 0x1000 4 * # 3: other, account' 'T1 read 0x2002 2 * # 4: other, its copy + 2'; do
    grep -qx "$line" out || fail "trace cat --numbers does not say: $line: $(grep '^T' out)"
done
# A region of interest, the first from there on.
printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' 'T0 roi-begin' 'T0 write 0x20 4' 'T1 write 0x30 4' 'T0 roi-end' 'T0 write 0x40 4' \
    'T1 roi-begin' 'T1 write 0x50 4' 'T1 roi-end' >roi.trace
for region in '0 2,5' '1 2,5' '2 7,9'; do
    run 0 trace cut -q --to text --roi --first "${region% *}" roi.trace -
    grep '^T' out >have
    sed 1d roi.trace | sed -n "${region#* }p" | cmp -s - have || fail "the first region from event ${region% *} on is: $(cat have)"
done
run 4 trace cut -q --roi --first 7 roi.trace o.lard
says err 'no region of interest at or after number 7'

# Where any program is in a region of interest, the whole is; and each number of each kind of event is moved.
printf '%s\n' 'T0 roi-begin' 'T0 write 0x20 4' 'T0 write 0x24 4' 'T0 roi-end' 'T0 write 0x40 4' | sed '1i lardsim-text 2' >short.trace
printf '%s\n' 'T0 write 0x10 4' 'T0 roi-begin' 'T0 write 0x20 4' 'T0 write 0x30 4' 'T0 roi-end' | sed '1i lardsim-text 2' >later.trace
run 0 trace merge -q --run 1 --shared --to text - short.trace later.trace
printf '%s\n' 'T0 roi-begin' 'T1 write 0x10 4' 'T0 write 0x20 4' 'T0 write 0x24 4' 'T1 write 0x20 4' 'T1 write 0x30 4' 'T0 write 0x40 4' 'T1 roi-end' >want
grep '^T' out | cmp -s - want || fail "the region of interest of two programs: $(grep '^T' out | diff want - | head -n 4)"
printf '%s\n' 'lardsim-text 2' 'T0 thread K3' 'T0 write 0x1000 4 @0x10' 'T0 fork T1 @0x11' 'T1 read 0x1000 4' 'T0 phase 7' 'T0 gc-begin' \
    'T0 copy 0x2000 0x1000 4' 'T0 clear 0x1000 4' 'T0 gc-end' 'T1 acq 0x80' 'T1 rel 0x80' 'T1 rmw 0x90 4 acq-rel' 'T1 arrive 0xa0 1' 'T1 depart 0xa0 1' \
    'T1 alloc 0x3000 16 @0x12' 'T1 end' 'T0 join T1' >forms.trace
run 0 trace verify -q forms.trace
grep '^T' forms.trace >first
# Two threads and the kernel threads 0 to 3 are the first program's.
perl -pe 's/\bT(\d+)/"T" . ($1 + 2)/ge; s/\bK(\d+)/"K" . ($1 + 4)/ge; s/0x([0-9a-f]+)/sprintf "0x%x", hex($1) + (1 << 48)/ge;
    s/phase (\d+)/"phase " . ($1 + (1 << 48))/e' first >second
run 0 trace merge -q --run 99 --to text - forms.trace forms.trace
grep '^T' out | sed 's/ merge$//' >have
cat first second | cmp -s - have || fail "a program that is moved: $(cat first second | diff - have | head -n 4)"
# What reaches into the bits that keep programs apart can't be moved: its last byte counts, and a copy's source.
for event in 'write 0xffffffffffff 1' 'alloc 0xfffffffffff0 16' 'copy 0x1000 0xfffffffffff0 16' 'phase 281474976710655'; do
    printf '%s\n' 'lardsim-text 2' "T0 $event" >fits.trace
    run 0 trace merge -q --overwrite --to text fits.out fits.trace named.trace
done
for event in 'write 0x1000000000000 1' 'write 0xfffffffffffe 4' 'alloc 0xfffffffffff0 17' 'copy 0x1000 0xfffffffffff0 32' 'copy 0xfffffffffff0 0x1000 32' \
    'write 0x10 4 @0x1000000000000' 'phase 281474976710656'; do
    printf '%s\n' 'lardsim-text 2' "T0 $event" >fits.trace
    "$lardsim" trace merge -q --overwrite --to text fits.out fits.trace named.trace >out 2>err && fail "$event is moved, and does not fit"
    run 0 trace merge -q --overwrite --shared --to text fits.out fits.trace named.trace
done
# A collection is not interrupted.
run 0 trace merge -q --run 1 --shared --to text - forms.trace forms.trace
[ "$(grep '^T' out | sed -n '/T0 gc-begin/,/T0 gc-end/p' | grep -c '^T2')" = 0 ] || fail "another program runs in a collection: $(grep '^T' out)"

# What is cut off is said, by the exit code too, and what is whole to its end can be kept.
run 0 trace synth -q tail.lard events=3000
for bytes in 1 9 40; do
    head -c $(($(wc -c <tail.lard) - bytes)) tail.lard >off.lard
    run 4 trace info off.lard
    says err 'trace cut --salvage off.lard OUT'
    run 4 trace info - <off.lard
done

# Failures.
{ cat named.trace; echo T0 nonsense; } >broken.trace
for words in cat 'cat --numbers' info verify; do
    # shellcheck disable=SC2086 # words
    run 4 trace $words broken.trace
    says err 'broken.trace:15: "nonsense" is no kind of event'
done
# fails CODE TEXT OUT WORDS...: no file comes of it, and one that is there stays as it is.
fails() {
    code=$1 text=$2 left=$3
    shift 3
    run "$code" trace "$@"
    says err "$text"
    [ ! -e "$left" ] || [ "$(cat "$left")" = there ] || fail "trace $*: $left is $(head -c 20 "$left")"
}
for to in o.lard o.trace; do
    for verb in convert cut strip; do
        fails 4 'broken.trace:15' $to $verb -q broken.trace $to
        fails 7 none/o.lard none/o.lard $verb -q named.trace none/o.lard
    done
    fails 4 'broken.trace:15' $to merge -q $to named.trace broken.trace
done
fails 7 none/o.lard none/o.lard merge -q none/o.lard named.trace named.trace
fails 7 none/o.lard none/o.lard synth -q none/o.lard
fails 2 'OUT is missing before events=9' o.lard synth events=9
echo there >there.lard
for words in 'convert named.trace there.lard' 'cut named.trace there.lard' 'strip named.trace there.lard' \
    'merge there.lard named.trace named.trace' 'synth there.lard'; do
    # shellcheck disable=SC2086 # words
    fails 7 there.lard there.lard $words
    # shellcheck disable=SC2086 # words
    run 0 trace ${words%% *} -q --overwrite ${words#* }
    [ "$(head -c 5 there.lard)" != there ] || fail "trace $words with --overwrite replaces nothing"
    echo there >there.lard
done
exit $bad
