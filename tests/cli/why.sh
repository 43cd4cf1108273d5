#!/bin/sh
# why.sh - does `lardsim why` answer what a user asks? From a folder and from a trace, by event and by
# identity; in words, as SVG and as JSON; of lesser views and of policies that miss a race. And what it
# says where it can't.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
move=$top/workloads/litmus/gc_move_race.trace

says() {
    file=$1
    shift
    for text; do
        tr '\n' ' ' <"$file" | grep -qF -- "$text" || fail "$file does not say: $text"
    done
}
refuses() { # CODE WORDS ARGUMENTS...
    code=$1 words=$2
    shift 2
    "$lardsim" why "$@" >out 2>err
    is=$?
    [ "$is" = "$code" ] || fail "why $*: exit code $is, not $code"
    [ ! -s out ] || fail "why $*: it is refused, and says: $(head -n 2 out)"
    says err "$words"
}

"$lardsim" run -q -p vc -p fastrcd -o results "$move" || fail "no results"
id=$(sed -n 's/.*"race": "\([0-9a-f]*\)".*/\1/p' results/races.jsonl | head -n 1)

# By event and by identity, from the folder and from the trace.
"$lardsim" why results 20 >folder 2>err || fail "why results: $(cat err)"
"$lardsim" why "$move" 20 >trace || fail "why TRACE"
cmp -s folder trace || fail "the folder and the trace have different reasons"
# A false race has its reason in words of ours; the truth beside the policy goes by that name.
"$lardsim" why -p eraser "$top/workloads/litmus/fork_join.trace" 6 >out || fail "why of a false race"
grep -qF 'Why the two differ: the truth orders event 0 before this one; eraser: no lock' out || fail "a false race of eraser: $(grep differ out)"
says folder "Event 20 races with event 7" "thread 1 holds 0x1000 (account) since event 5" \
    "Missing: an edge from event 8 (rel 0x1000 (account), thread 1) to event 20" "moved the memory" "thread 2 (teller-2)"
"$lardsim" why results "$id" >folder || fail "why results RACE"
"$lardsim" why "$move" "$id" >trace || fail "why TRACE RACE"
says folder "Event 19 races with event 7"
says trace "Event 19 races with event 7"
"$lardsim" why "$move" 7 >out || fail "why of an ordered access"
says out "Event 1 happens before event 7" "Event 2 (fork T1, thread 0) happens before event 5"

# A lock that moves takes along what was given to it.
"$lardsim" why "$top/workloads/litmus/moved_lock.trace" 7 >out || fail "why of a moved lock"
says out "Event 2 (rel 0x1000, thread 1) happens before event 6 (acq 0x2000, thread 2)"
"$lardsim" why "$top/workloads/litmus/moved_lock.trace" 13 >out || fail "why of another lock at that address"
says out "Event 13 races with event 3" "thread 2 holds 0x1000 since event 12"

# So does each of several, whatever follows the copy.
for at in 0 8; do
    printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' 'T0 acq 0x1000' 'T0 rel 0x1000' 'T0 acq 0x1008' 'T0 rel 0x1008' 'T0 copy 0x2000 0x1000 16' \
        'T0 phase 1' "T1 acq 0x200$at" 'T1 write 0x10 4' >locks.trace
    "$lardsim" why locks.trace 8 >out || fail "why of several moved locks"
    says out "Event $((at == 0 ? 2 : 4)) (rel 0x100$at, thread 0) happens before event 7 (acq 0x200$at, thread 1)"
done

# A site has its name, or its number; one that is not known is not told.
printf '%s\n' 'lardsim-text 2' 'name site 0x7 "here"' 'T0 write 0x10 4 @0x7' 'T1 write 0x10 4 @0x8' 'T2 write 0x10 4' >sites.trace
"$lardsim" why sites.trace 1 >out || fail "why of sites"
says out "earlier      event 0, thread 0, write 0x10 4, at here" "later        event 1, thread 1, write 0x10 4, at 0x8" "0* T0 write 0x10, at here"
"$lardsim" why sites.trace 2 >out || fail "why of sites"
grep -qx 'later        event 2, thread 2, write 0x10 4' out || fail "an access without a site has one: $(cat out)"
grep -qx ' *2[*] T2 write 0x10' out || fail "an access without a site has one: $(cat out)"

# Lesser views: the instruction that they ignore makes the race, or hides it.
naive() { "$lardsim" why -p "$1=vc" --set "policy.$1.view=$1" "$move" "$2" >out || fail "why in the view $1"; }
naive no-clear 25
says out "Event 23 (clear 0x1000" "which the view no-clear ignores: that makes the race"
naive all-memory 4
says out "The view tracked does not check event 4"
naive no-copy 20
says out "Event 20 does not race with event 7" "the view no-copy hides that" "Event 14 (copy of 16 bytes from 0x1000 to 0x2000)"
naive all-sync 20
says out "the view all-sync hides that" "(arrive 0x10000000000 (gc handshake), thread 1) happens before event"

# Who acts goes by the view's identity: with no-thread by kernel threads, of which one runs threads 1 and 2.
printf 'lardsim-text 1\nT1 thread K0\nT2 thread K0\nT3 thread K7\nT1 write 0x10 4\nT2 write 0x18 4\nT3 write 0x10 4\n' >kernel.trace
"$lardsim" why -p k=vc --set policy.k.view=no-thread kernel.trace 5 >out || fail "why in the view no-thread"
says out "Kernel thread 7 knows nothing of kernel thread 0" "After event 3 kernel thread 0 releases"
"$lardsim" why kernel.trace 5 >out || fail "why of threads on kernel threads"
says out "Thread 3 knows nothing of thread 1"

# A lock of the runtime system is held, too, though it orders nothing in this view.
printf 'lardsim-text 1\nT1 acq 0x90 system\nT1 write 0x10 4\nT2 write 0x10 4\n' >system.trace
"$lardsim" why system.trace 2 >out || fail "why under a lock of the system"
says out "At event 1 thread 1 holds 0x90 (the system's) since event 0; at event 2 thread 2 holds no lock"

# A policy with another rule.
"$lardsim" why -p fastrcd results 20 >out || fail "why of fastrcd"
says out "Policy fastrcd names no race at event 20" "that of event 7 ended with event 8"
"$lardsim" why -p eraser "$move" 20 >out || fail "why of eraser"
says out "Policy eraser names no race at event 20" "It reports this location at event 19"
"$lardsim" why -p cvm "$move" 20 >out || fail "why of cvm"
says out "Policy cvm names no race at event 20" "It reports this location, in a region that begins with event 19"
# One that promises less than it is asked for, and gives no reason for this event.
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'T0 write 0x10 4' 'T1 write 0x10 4' 'T1 read 0x10 4' >own.trace
"$lardsim" why -p clean own.trace 2 >out || fail "why of clean"
says out "Policy clean names no race at event 2. It promises: happens-before" "What it keeps does not say by which rule it left this event out"
# Where it reports the location nowhere, the first difference there has the reason; also of an access to a part of it, or
# to it and what lies before. Elsewhere it has none.
printf 'lardsim-text 1\ngranularity 4\nT0 write 0x10 4\nT1 read 0x10 4\nT2 read 0x10 4\nT1 read 0x12 2\nT3 read 0xe 4\n' >reads.trace
printf 'T0 write 0x14 4\nT1 read 0x14 4\nT0 write 0x8 4\nT1 read 0x8 4\n' >>reads.trace
for event in 2 3 4; do
    "$lardsim" why -p eraser reads.trace $event >out || fail "why of eraser, event $event of reads.trace"
    says out "Policy eraser names no race at event $event. At event 1, the first race at this location: eraser: since a second thread came"
done
for event in 1 6 8; do
    "$lardsim" why -p eraser reads.trace $event >out || fail "why of eraser, event $event of reads.trace"
    says out "Policy eraser names no race at event $event: eraser: since a second thread came"
    grep -q "the first race at this location" out && fail "event $event is the first race at its location, and another is named: $(cat out)"
done

# A folder of several policies, each with settings of its own.
"$lardsim" run -q -p naive=vc -p slow=eraser --set policy.naive.view=naive --set policy.slow.view=all-memory -o several "$move"
"$lardsim" why several 25 >out || fail "why of one of several policies"
says out "Event 23 (clear 0x1000" "Policy naive reports a race at event 25"
"$lardsim" why -p slow several 20 >out || fail "why of another one"
says out "Policy slow"

# Drawings and data.
"$lardsim" why -q --svg race.svg results 20 || fail "no SVG"
says race.svg '<svg xmlns="http://www.w3.org/2000/svg"' 'class="edge missing"' "thread 1 (teller-1)"
"$lardsim" why -q --svg race.svg results 20 2>err && fail "an SVG was replaced without --overwrite"
"$lardsim" why --json results 20 >out || fail "no JSON"
says out '"verdict": "races"' '"missing_from": {' '"needed": 1'
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; json.load(open("out"))' || fail "--json is no JSON"
fi
# Names are hostile: in the SVG they are no markup, on the page no control characters.
printf 'lardsim-text 1\nname thread 0 "<script>&"\nT0 write 0x10 4 @"<b>"\nT1 write 0x10 4\n' >hostile.trace
"$lardsim" why -q --svg hostile.svg hostile.trace 1 || fail "no SVG of hostile names"
grep -q '<script>' hostile.svg && fail "a name is markup in an SVG"
says hostile.svg '&lt;script&gt;&amp;'

# What it refuses, and what it says then.
refuses 2 "there is no event 99: the last one is 28" "$move" 99
refuses 2 "is no access" "$move" 5
refuses 2 "neither an event's number nor the identity" "$move" x
refuses 2 "has reported no race 00000000000000ff" results 00000000000000ff
refuses 2 "reports no race 00000000000000ff" "$move" 00000000000000ff
refuses 2 "has the label 'none'" -p none results 20
refuses 2 "leave --config" --set granularity=4 results 20
mkdir empty
refuses 3 "no results folder" empty 20
printf 'lardsim-text 1\nT0 txn-begin\nT0 write 0x10 4 txn\n' >open.trace
refuses 4 "never commits" open.trace 1
# A commit races if any of its accesses does, also where the trace alone is asked; an access by its own number, for itself.
printf 'lardsim-text 1\nT0 write 0x2000 4\nT1 txn-begin\nT1 write 0x4000 4 txn\nT1 write 0x2000 4 txn\nT1 txn-commit\n' >second.trace
"$lardsim" why second.trace 4 >out 2>err || fail "why of a commit: $(cat err)"
says out "Event 4 races with event 0"
"$lardsim" why second.trace 2 >out 2>err || fail "why of an access in a transaction: $(cat err)"
says out "Event 4 does not race" # where it takes effect
printf 'lardsim-text 1\nT0 write 0x10 4\nT1 write 0x10 4\n' >two.trace
"$lardsim" run -q -o two two.trace || fail "no results of two.trace"
printf 'lardsim-text 1\nT0 write 0x10 4\nT1 write 0x10 8\n' >two.trace
refuses 2 "has other events now" two 1
rm two.trace
"$lardsim" why two 1 >out 2>err && fail "a source that is gone was read"
says err "can't be read any more"

# Of a commit that a lesser view has race, the view tracked is asked about that access, and not about another of it.
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'T0 thread K0' 'T1 thread K1' 'T0 write 0x10 4' 'T0 acq 0x80' 'T0 rel 0x80' 'T1 acq 0x80' 'T1 rel 0x80' \
    'T1 thread K2' 'T1 txn-begin' 'T1 write 0x20 4 txn' 'T1 write 0x10 4 txn' 'T1 write 0x30 4 txn' 'T1 txn-commit' >commit.trace
"$lardsim" why -p k=vc --set policy.k.view=no-thread commit.trace 12 >out || fail "why of a commit in the view no-thread"
says out "Event 12 races with event 2" "In the view tracked the two are ordered: Event 4 (rel 0x80, thread 0) happens before event 5 (acq 0x80, thread 1)."
# The earlier commit has two accesses there, and the first is not checked.
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'T0 txn-begin' 'T0 read 0x10 4 system txn' 'T0 write 0x10 4 txn' 'T0 txn-commit' 'T1 write 0x10 4' >both.trace
"$lardsim" why -p k=vc --set policy.k.view=no-copy both.trace 4 >out || fail "why of a race with a commit"
says out "Event 4 races with event 3"
grep -q "no race\|not check" out && fail "a commit that made an access that is checked is said to be unchecked: $(cat out)"

# Of several that race it is the latest, whoever made it; one that races comes before one that is ordered, however late.
for two in 'T1 T0' 'T0 T1'; do
    printf '%s\n' 'lardsim-text 2' "${two% *} write 0x10 4" "${two#* } write 0x10 4" 'T2 read 0x10 4' >latest.trace
    "$lardsim" why latest.trace 2 >out || fail "why of a race with two"
    says out "Event 2 races with event 1"
    printf '%s\n' 'lardsim-text 2' "${two% *} write 0x10 4" "${two#* } write 0x10 4" "${two#* } fork T2" 'T2 read 0x10 4' >latest.trace
    "$lardsim" why latest.trace 3 >out || fail "why of a race with one of two"
    says out "Event 3 races with event 0"
done

# A thread that has ended gives nothing when it is joined.
printf '%s\n' 'lardsim-text 2' 'T0 fork T1' 'T1 write 0x10 4' 'T1 end' 'T0 join T1' 'T2 write 0x10 4' >ended.trace
"$lardsim" why ended.trace 4 >out || fail "why of a thread that has ended"
says out "After event 1 thread 1 gives its clock once: at event 2 (end). Thread 0 learns of it at event 3 (join T1), from event 2 (end, thread 1)"
# One that has not gives with the join what it did last.
printf '%s\n' 'lardsim-text 2' 'T0 fork T1' 'T1 write 0x10 4' 'T0 join T1' 'T2 write 0x10 4' 'T0 write 0x10 4' >joined.trace
"$lardsim" why joined.trace 3 >out || fail "why of a thread that is joined without an end"
says out "After event 1 thread 1 gives its clock once: at event 2 (join T1). Thread 0 learns of it at event 2 (join T1), from event 1 (write 0x10, thread 1)"
sed -i '/^T2/d' joined.trace
"$lardsim" why joined.trace 3 >out || fail "why of a thread that is joined without an end"
says out "Event 1 (write 0x10, thread 1) happens before event 2 (join T1, thread 0)."
# A relaxed store of another thread ends the sequence that a release heads; the next one's is its own.
printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' 'T0 write 0x80 4 release' 'T1 write 0x80 4 relaxed' 'T0 write 0x80 4 release' \
    'T0 write 0x80 4 relaxed' 'T2 read 0x80 4 acquire' 'T2 read 0x10 4' >sequence.trace
"$lardsim" why sequence.trace 6 >out || fail "why of release sequences"
says out "Event 3 (write 0x80, thread 0) happens before event 5 (read 0x80, thread 2)."
# A write in between that does not race, as an access that is not checked does not write for a detector.
newer="has written there in between: a detector that remembers the last write alone (history = last) does not compare these two"
for flag in '' ' system'; do
    printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' "T1 write 0x10 4$flag" 'T1 acq 0x80' 'T1 rel 0x80' 'T2 acq 0x80' 'T2 read 0x10 4' >newer.trace
    "$lardsim" why newer.trace 5 >out || fail "why of a race that is older"
    says out "Event 5 races with event 0"
    if [ "$flag" ]; then grep -q "in between" out && fail "an access that is not checked is said to displace another"; else says out "Event 1 $newer"; fi
done
# Locks that are held, whichever of them was let go.
for gone in 1 2 3; do
    printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' 'T1 acq 0x81' 'T1 acq 0x82' 'T1 acq 0x83' "T1 rel 0x8$gone" 'T1 write 0x10 4' >held.trace
    "$lardsim" why held.trace 5 >out || fail "why of an access under locks"
    says out "at event 5 thread 1 holds $(for i in 1 2 3; do [ $i = $gone ] || echo "0x8$i since event $i"; done | tr '\n' ',' | sed 's/,$//; s/,/, /')."
done

# What its thread took last: not again what it holds, nor what orders nothing in the view.
for more in 'T2 acq 0x80' 'T2 acq 0x90 system' 'T2 read 0x20 4 relaxed' 'T2 rel 0x80' 'T1 acq 0x90' 'T2 write 0x20 4 release'; do
    printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4' 'T1 acq 0x80' 'T1 rel 0x80' 'T2 acq 0x80' "$more" 'T2 read 0x10 4' 'T2 acq 0xa0' >taken.trace
    "$lardsim" why taken.trace 5 >out || fail "why of what a thread took"
    says out "Thread 2 takes last at event 3 (acq 0x80), where nobody who knew had given."
done
for more in 'acq 0x90' 'acq-shared 0x90' 'vread 0x90' 'read 0x20 4 acquire'; do
    sed "s/^T2 acq 0xa0/T2 end/; 6s/.*/T2 $more/" taken.trace >other.trace
    "$lardsim" why other.trace 5 >out || fail "why of what a thread took"
    says out "Thread 2 takes last at event 4 ($(echo "$more" | cut -d ' ' -f 1,2)), where nobody who knew had given."
done

# A part of the memory has begun another life: each byte before it and behind it has the old one.
for at in 0x0f 0x10 0x13 0x14 0x17 0x18 0x1f 0x20; do
    printf '%s\n' 'lardsim-text 2' 'granularity 1' "T0 write $at 1" 'T0 clear 0x14 4' 'T1 read 0x10 16' >part.trace
    "$lardsim" why part.trace 2 >out || fail "why of memory that was cleared in part"
    case $at in
    0x10 | 0x13 | 0x18 | 0x1f) says out "Event 2 races with event 0" ;;
    *) says out "Event 2 does not race" ;;
    esac
done

# A run in program order is repeated: its events came out of the machine.
"$lardsim" run -q -c radish8 -p vc -o program workload:hedc,racy=on,queries=4 2>err || fail "no results of a workload: $(cat err)"
id=$(sed -n '1s/.*"race": "\([0-9a-f]*\)".*/\1/p' program/races.jsonl)
[ "$id" ] || fail "the workload has no race"
event=$(sed -n '1s/.*"event": \([0-9]*\), "address.*/\1/p' program/races.jsonl)
TMPDIR=$dir "$lardsim" why program "$id" >out 2>err || fail "why of a run in program order: $(cat err)"
says out "Event $event races with event"
[ -z "$(ls -d lardsim-why-* 2>/dev/null)" ] || fail "the events of a run that was repeated are still there"

# So is one in timed order: what it reported is not denied, whichever side was recorded first; on the page, too.
"$lardsim" run -q -c radish8 -p vc -p eraser -p naive=vc --set policy.naive.view=naive -o timed \
    synth:events=600,threads=4,racy=100,seed=3 2>err || fail "no results in timed order: $(cat err)"
turned=0
for policy in vc eraser naive; do
    grep "\"policy\": \"$policy\"" timed/races.jsonl | sed -n '1~2p' >some
    while read -r line; do
        event=$(printf '%s\n' "$line" | sed 's/.*"event": \([0-9]*\), "address.*/\1/')
        "$lardsim" why -q --json -p $policy timed "$event" >out 2>err || fail "why of event $event: $(cat err)"
        [ $policy = vc ] && says out '"verdict": "races"' '"order": "timed"'
        [ $policy = vc ] || says out "Policy $policy reports a race at event $event"
        grep -q "In that run, in timed order, event" out && turned=1
        # What vc reports of that run, happens-before has.
        grep "\"policy\": \"vc\"" timed/races.jsonl | grep -q "\"event\": $event, \"address" && grep -q "happens-before has none there" out &&
            fail "$policy's race at event $event is said to be none, and vc reports it: $(grep "has none there" out)"
    done <some
done
# A run that had intervals has none when it is repeated: they go to a folder.
for set in stats.interval=100 stats.rows=4; do
    "$lardsim" run -q -c radish8 -p vc --set $set -o rows --overwrite synth:events=600,threads=4,racy=100,seed=3 --set order=timed 2>err || fail "no results with $set: $(cat err)"
    event=$(sed -n '1s/.*"event": \([0-9]*\), "address.*/\1/p' rows/races.jsonl)
    "$lardsim" why -q --json rows "$event" >out 2>err || fail "why of a run with $set: $(cat err)"
    says out '"verdict": "races"'
done
for place in none reads.trace; do
    TMPDIR=$dir/$place "$lardsim" why timed "$event" >out 2>err
    is=$?
    [ $is = 7 ] || fail "the events of a run can't be kept in $place: exit code $is, not 7: $(cat err)"
    says err "/$place/lardsim-why-" "the events of the run go there: give another TMPDIR"
done
# Standard output is for one of the two.
printf '%s\n' 'lardsim-text 2' 'T0 write 16 4' 'T1 write 16 4' >pair.trace
"$lardsim" why --json --svg - pair.trace 1 >out 2>err
[ $? = 2 ] && [ ! -s out ] || fail "a picture and JSON both go to standard output: $(head -c 100 out)"
grep -q 'why: --json and --svg - both write to standard output' err || fail "of a picture and JSON on standard output it says: $(cat err)"
[ $turned = 1 ] || fail "no race has its earlier side later in recorded order"
"$lardsim" report -q -o timed.html timed 2>err || fail "no page: $(cat err)"
says timed.html "races with event"
grep -q "does not race" timed.html && fail "the page denies a race that the run reported"
exit "$bad"
