#!/bin/sh
# machine.sh - a machine as a user meets it: the page it prints, its JSON, statistics by interval, the
# timeline, and what is said of combinations that make no sense. Needs LARDSIM, the program.
set -u

# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# run CODE ARGUMENT...: lardsim run, which must end with that code
run() {
    want=$1
    shift
    "$lardsim" run "$@" >out 2>err
    got=$?
    [ "$got" = "$want" ] || fail "run $*: exit code $got, not $want: $(head -n 3 err)"
}
# says FILE TEXT...: each text is in the file
says() {
    file=$1
    shift
    for text; do
        grep -qF -e "$text" "$file" || fail "no \"$text\" in $file: $(head -n 3 "$file")"
    done
}
# stat FOLDER NAME: a value of stats.csv
stat() { awk -F, -v name="$2" '$1 == name {print $2}' "$1/stats.csv"; }

"$lardsim" trace synth small.lard seed=5 events=6000 threads=4 || exit 99

# ---- intervals add up to the totals, and lie side by side -------------------------------------------

check_intervals() { # DIR [LEAST]: it has so many columns at least
    awk -F, -v folder="$1" -v least="${2:-30}" '
        FILENAME ~ /stats.csv$/ { total[$1] = $2; next }
        FNR == 1 { for (i = 3; i <= NF; i++) name[i] = $i; columns = NF; next }
        {
            if (NF != columns) { print folder ": a row with " NF " fields"; bad = 1 }
            if ($1 != end + 0) { print folder ": a row starts at " $1 ", not " end; bad = 1 }
            if ($2 < $1) { print folder ": a row ends before it starts"; bad = 1 }
            end = $2
            for (i = 3; i <= NF; i++) sum[i] += $i
            rows++
        }
        END {
            for (i = 3; i <= columns; i++)
                if (!(name[i] in total) || sum[i] != total[name[i]]) {
                    print folder ": " name[i] " adds up to " sum[i] ", not " total[name[i]]
                    bad = 1
                }
            if (end < total["machine.cycles"]) { print folder ": ends at " end; bad = 1 }
            if (rows < 1 || columns < least) { print folder ": " rows " rows, " columns " columns"; bad = 1 }
            exit bad
        }' "$1/stats.csv" "$1/intervals.csv" || fail "intervals of $1"
}
i=0
while read -r settings; do
    i=$((i + 1))
    set --
    for setting in $settings; do
        set -- "$@" --set "$setting"
    done
    run 0 --quiet -c radish8 --set stats.interval=3k "$@" -o "of$i" small.lard
    check_intervals "of$i"
done <<'END'
order=timed
order=recorded contention=auto
order=timed core.store-buffer=4 core.misses=2
order=timed memory.type=ddr
order=timed l2.size=0
order=timed cores=2 schedule.threads=round-robin schedule.quantum=2000
order=timed stats.interval=1
END
[ "$(awk 'END {print NR}' of1/intervals.csv)" -gt 4 ] || fail "one row, not several"
says of1/intervals.csv "machine.spent.wait-lock" "l2.misses" "network.bytes.total" "memory.reads"
grep -q "l2.accesses" of5/intervals.csv && fail "a column of an L2 that is not there"
# Regular: all rows but the last and those joined end at multiples.
awk -F, 'FNR > 2 && $1 % 3000 {exit 1}' of1/intervals.csv || fail "rows do not start at multiples"

# By hand: two accesses of 121 cycles each. What begins in an interval counts there.
printf 'lardsim-text 1\nT0 write 0x1000 8\nT0 write 0x2000 8\n' >two.txt
for order in timed recorded; do
    run 0 --quiet -c radish8 --set order=$order --set stats.interval=50 -o two-$order two.txt
    check_intervals two-$order
done
printf 'start,end,events.total\n0,50,1\n50,100,0\n100,150,1\n150,200,0\n200,242,0\n' >want
cut -d, -f1-3 two-timed/intervals.csv | cmp -s - want || fail "rows by hand: $(cat two-timed/intervals.csv)"
cut -d, -f1-3 two-recorded/intervals.csv | cmp -s - want || fail "rows by hand: $(cat two-recorded/intervals.csv)"

# Bounded: at most so many rows, of one length that doubles; columns still add up, with those by core; and no
# result moves. In the two rows by hand the intervals of 50 have become those of 200.
for rows in 2 7 64; do
    for order in timed recorded; do
        run 0 --quiet -c radish8 --set order=$order --set stats.rows=$rows -o rows-$rows-$order small.lard
        check_intervals rows-$rows-$order 20
        [ "$(wc -l <rows-$rows-$order/intervals.csv)" -le $((rows + 1)) ] || fail "more than $rows rows, $order"
    done
    [ "$(wc -l <rows-$rows-timed/intervals.csv)" -ge $((rows / 3 + 1)) ] || fail "far fewer than $rows rows"
done
says rows-64-timed/intervals.csv "cores.wait-lock.0" "cores.wait-barrier.3"
cmp -s rows-64-timed/stats.json of1/stats.json || fail "stats.rows changes the statistics"
run 0 --quiet -c radish8 --set order=timed --set stats.rows=2 --set stats.interval=50 -o two-rows two.txt
printf 'start,end,events.total\n0,200,2\n200,242,0\n' >want
cut -d, -f1-3 two-rows/intervals.csv | cmp -s - want || fail "two rows by hand: $(cat two-rows/intervals.csv)"
run 3 -c radish8 --set stats.rows=8 small.lard
says err "stats.rows" "--output"
run 3 -c radish8 --set stats.rows=1 -o one-row small.lard
says err "stats.rows" "2 or more"

# Longer than the run: one row, which is the totals.
run 0 --quiet -c radish8 --set stats.interval=1G -o long small.lard
check_intervals long
[ "$(wc -l <long/intervals.csv)" -eq 2 ] || fail "a long interval is not one row"
# Off: no file, and the same results.
run 0 --quiet -c radish8 -o none small.lard
[ -e none/intervals.csv ] && fail "intervals.csv though stats.interval is 0"
[ "$(head -n 1 none/DONE)" = "$(head -n 1 long/DONE)" ] || fail "intervals change the digest"
# An older file goes.
run 0 --quiet -c radish8 -o long --overwrite small.lard
[ -e long/intervals.csv ] && fail "intervals.csv of an earlier run stayed"
# A run that stops keeps its rows.
run 5 --quiet -c radish8 --set stats.interval=500 --set limits.events=1000 -o part small.lard
check_intervals part

# ---- the timeline covers each core, without overlaps ------------------------------------------------

# Slices of a core, sorted by start: each starts where the one before ended; the sum is the run.
check_timeline() {
    sed -n 's/.*"ph":"X","pid":0,"tid":\([0-9]*\),"ts":\([0-9]*\),"dur":\([0-9]*\).*/\1 \2 \3/p' "$1" |
        sort -k1,1n -k2,2n | awk -v cycles="$2" -v cores="$3" -v from="$4" '
        $1 != core || NR == 1 { lanes++; core = $1; at = from }
        $2 != at { print "core " core ": a slice at " $2 ", not " at; bad = 1 }
        $3 < 1 { print "core " core ": an empty slice at " $2; bad = 1 }
        { at = $2 + $3; sum[core] += $3 }
        END {
            for (c in sum)
                if (sum[c] != cycles) { print "core " c ": " sum[c] " cycles, not " cycles; bad = 1 }
            if (lanes != cores) { print lanes " cores, not " cores; bad = 1 }
            exit bad
        }' || fail "timeline $1"
    if command -v python3 >/dev/null 2>&1; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))["traceEvents"][0]' "$1" || fail "$1 is no JSON"
    fi
}
i=0
while read -r settings; do
    i=$((i + 1))
    set --
    for setting in $settings; do
        set -- "$@" --set "$setting"
    done
    run 0 --quiet -c radish8 --set timeline.to=1T "$@" -t "line$i.json" -o "lines$i" small.lard
    check_timeline "line$i.json" "$(stat "lines$i" machine.cycles)" "$(stat "lines$i" machine.cores)" 0
done <<'END'
order=timed
order=recorded
order=timed core.store-buffer=4 core.misses=2
order=timed memory.type=ddr
order=timed cores=2 schedule.threads=round-robin schedule.quantum=2000
END
[ "$(head -n 1 none/DONE)" = "$(head -n 1 lines1/DONE)" ] || fail "a timeline changes the digest"
says line1.json '"name":"lardsim"' '"name":"core 7"' '"name":"executing"' '"name":"memory"' '"event":' '"addr":"0x' \
    '"complete":"yes"'
says line5.json '"name":"switch"'
# By name the slices are the statistics.
for name in memory l3 remote wait-lock idle; do
    sum=$(sed -n "s/.*\"name\":\"$name\",\"ph\":\"X\".*\"dur\":\([0-9]*\).*/\1/p" line1.json | awk '{s += $1} END {print s + 0}')
    [ "$sum" = "$(stat lines1 machine.spent.$name)" ] || fail "slices $name are $sum cycles"
done
sum=$(sed -n 's/.*"name":"executing","ph":"X".*"dur":\([0-9]*\).*"l1_cycles":\([0-9]*\).*/\1 \2/p' line1.json |
    awk '{s += $1; l += $2} END {print s - l, l}')
[ "$sum" = "$(stat lines1 machine.spent.executing) $(stat lines1 machine.spent.l1)" ] || fail "executing and l1 are $sum"
# A window: clipped, and full.
run 0 --quiet -c radish8 --set timeline.from=5000 --set timeline.to=9000 -t window.json small.lard
check_timeline window.json 4000 8 5000
run 0 --quiet -c radish8 --set timeline.from=1 --set timeline.to=20 -t early.json small.lard
check_timeline early.json 19 8 1
# Too many slices: cut, and said.
run 0 -c radish8 --set timeline.max=20 -t cut.json small.lard
says err "timeline.max" "cut.json"
says cut.json '"complete":"no"' "cut here"
[ "$(grep -c '"ph":"X"' cut.json)" -eq 20 ] || fail "not 20 slices"
# A run that stops leaves a whole file; a configuration that is wrong leaves none.
run 5 --quiet -c radish8 --set limits.events=500 --set timeline.to=1T -t stopped.json -o stopped small.lard
check_timeline stopped.json "$(stat stopped machine.cycles)" 8 0
run 3 -c radish8 --set nosuch=1 -t wrong.json small.lard
[ -e wrong.json ] && fail "a wrong configuration left a timeline"
(
    trap '' XFSZ
    ulimit -f 1
    exec "$lardsim" run --quiet -c radish8 -t full.json small.lard >out 2>/dev/null
)
[ $? = 7 ] || fail "a full disk must exit 7"
[ -e full.json ] && fail "a full disk left a timeline"

# ---- the page and its JSON --------------------------------------------------------------------------

run 0 -c radish8 small.lard
says out "8 cores at 1600 MHz, timed order, contention on, memory fixed" "instructions, " "cores' time" "wait-lock" \
    "level" "l3" "network" "bytes a cycle" "reads, " "GB/s (budget 100)" "GB/s (budget 48)"
run 0 -c radish8 --set memory.type=ddr --set order=recorded --set memory.type=fixed small.lard
says out "recorded order, contention off"
run 0 -c radish8 --set memory.type=ddr small.lard
says out "memory ddr" "row hits"
run 0 -c radish8 --json small.lard
says out '"machine": {' '"order": "timed"' '"memory-type": "fixed"' '"cycles": ' '"wait-lock": ' '"queue-cycles": ' \
    '"on-chip": '
# Whose order is it, if nobody says? A workload is asked, all else is replayed; so too in a comparison.
while read -r order source setting; do
    run 0 -c radish8 ${setting:+--set "$setting"} --json "$source"
    says out "\"order\": \"$order\""
    "$lardsim" compare -c radish8 ${setting:+--set "$setting"} -p fasttrack --json "$source" >out 2>err ||
        fail "no comparison of $source: $(cat err)"
    says out "\"order\": \"$order\""
    truths=$(grep -c '"truth": {' out)
    [ "$truths" -gt 0 ] && asked=program || asked=$order
    [ "$asked" = "$order" ] || fail "$source: a replay has a truth of its own"
    [ "$order" != program ] || [ "$truths" -gt 0 ] || fail "$source: an execution of its own has no truth"
done <<'END'
program workload:hedc
timed workload:hedc order=timed
recorded workload:hedc order=recorded
timed workload:hedc,kernel_threads=2
timed synth:events=500
timed small.lard
END
# The shares are of the time of cores that had threads: two threads on eight cores are not idle for most of it.
printf '%s\n' 'lardsim-text 1' 'T0 fork T1' 'T0 write 0x1000 8 @"A:1"' 'T1 write 0x2000 8 @"B:2"' 'T0 write 0x3000 8' \
    'T1 end' 'T0 join T1' >two.txt
for order in timed recorded; do
    run 0 -c radish8 --set order=$order -p vc -o two --overwrite two.txt
    says out "cores      2 of 8 had threads; the others are left out of the shares"
    [ "$(stat two machine.cores-used)" = 2 ] || fail "$order: $(stat two machine.cores-used) cores are used, not 2"
    [ "$(stat two machine.cores-unused)" = 6 ] || fail "$order: $(stat two machine.cores-unused) cores are not used, not 6"
    sum=$(sed -n "/^cores' time/,/^\$/s/.* \([0-9.]*\) %\$/\1/p" out | awk '{n += $1} END {print (n > 99.4 && n < 100.6)}')
    [ "$sum" = 1 ] || fail "$order: the shares are not 100 % in all: $(sed -n "/^cores' time/,/^\$/p" out)"
done
# Each thread has its line and the two share none; a word of the thread that forks is no access. 100 bytes live at most.
says out "footprint  3 lines of 64 bytes, 0 of them shared; 1 to 2 a thread; the trace tells no allocations"
printf '%s\n' 'lardsim-text 1' 'T0 alloc 0x1000 60' 'T0 write 0x1000 8' 'T0 alloc 0x2000 40' 'T0 clear 0x1000 60' \
    'T0 alloc 0x3000 30' 'T0 read 0x303c 8' >heap.txt
run 0 -c radish8 heap.txt
says out "footprint  3 lines of 64 bytes, 0 of them shared; 3 a thread; at most 100 bytes allocated"
run 0 -c radish8 --set cores=2 two.txt
grep -q '^cores  ' out && fail "a line says that all cores had threads"
"$lardsim" compare -c radish8 -p vc two.txt >out 2>err || fail "no comparison: $(cat err)"
says out "the overhead, by what the time of the 2 cores that had threads (6 had none) went to:"
awk '$1 == "vc" && !all {all = $3} $1 == "vc" {sum = 0; for (i = 2; i <= NF; i++) if ($(i + 1) == "%") sum += $i}
    END {exit !(all > 0 && sum > all - 0.5 && sum < all + 0.5)}' out || fail "parts that are not the overhead: $(cat out)"
# What could not matter is said where it is so, in short on the page and whole in stats.json.
run 0 -c radish8 -o found --overwrite small.lard
says out "findings  " "the L3 never evicted a line: a multiple of its size changes nothing" \
    'more: `findings` in stats.json' "  behaviour "
says found/stats.json '"key": "l3-never-evicted"' '"l3.size": "multiple"' '"behaviour": "'
says found/provenance.json '"behaviour": "'
run 0 -c radish8 --set l3.size=128Ki --set l2.size=32Ki --set l1.size=8Ki -o found --overwrite workload:sor,n=200
[ "$(stat found l3.evictions-clean)" -gt 0 ] || fail "nothing is evicted from an L3 of 128 KiB"
grep -q "l3-never-evicted" found/stats.json && fail "an L3 that evicts is said never to"
"$lardsim" compare -c radish8 -p vc --json small.lard >out 2>err || fail "no comparison: $(cat err)"
[ "$(grep -c '"key": "l3-never-evicted"' out)" = 2 ] || fail "compare --json has not the findings of both runs"
run 5 -c radish8 --set limits.events=100 -o found --overwrite small.lard
says found/stats.json '"findings": []'
# What misses a level and does not come to the next one is an upgrade, and said to be.
for setting in order=timed l2.inclusion=exclusive l2.size=0 core.misses=8 l3.inclusion=non-inclusive order=recorded; do
    run 0 -c radish8 -p fasttrack --set "$setting" -o levels --overwrite small.lard
    l2=$(stat levels l2.accesses)
    past=$(($(stat levels l1.misses) + $(stat levels l2.misses) - $(stat levels l3.accesses) - l2))
    [ "${l2:-0}" -gt 0 ] || past=$(($(stat levels l1.misses) - $(stat levels l3.accesses)))
    [ "$past" -gt 0 ] || fail "$setting: no upgrade"
    [ "$past" = "$(stat levels coherence.upgrades)" ] || fail "$setting: $past misses come to no level below"
    says out "upgrades   $past of these misses"
done
if command -v python3 >/dev/null 2>&1; then
    run 0 -c radish8 --json -o json small.lard
    python3 - out json/stats.json <<'END' || fail "--json differs from stats.json"
import json, sys
m, s = (json.load(open(name)) for name in sys.argv[1:])
m = m["machine"]
assert m["cores"] == 8 and m["cycles"] == s["machine"]["cycles"]
assert m["spent"] == s["machine"]["spent"] and sum(m["spent"].values()) == 8 * m["cycles"]
assert m["l1"]["misses"] == s["l1"]["misses"] and m["memory"]["reads"] == s["memory"]["reads"]
assert m["gb-per-second"]["on-chip"] == m["network"]["bytes"] * 1600 // m["cycles"] / 1000
END
fi
run 0 --json small.lard
says out '"machine": null'
run 0 small.lard
grep -q "cores at" out && fail "a machine where there is none"

# ---- what makes no sense ----------------------------------------------------------------------------

run 3 -c radish8 --set stats.interval=1k small.lard
says err "stats.interval" "--output"
run 0 --set stats.interval=1k -o detect small.lard
says err "stats.interval" "had no effect"
[ -e detect/intervals.csv ] && fail "intervals without a machine"
run 3 -t x.json small.lard
says err "x.json" "machine=multicore"
run 0 -c radish8 --set timeline.to=5 small.lard
says err "timeline.to" "had no effect"
run 3 -c radish8 --set timeline.from=5 --set timeline.to=5 -t x.json small.lard
says err "timeline.to" "timeline.from"
run 2 -c radish8 -t - small.lard
says err "--timeline"
run 7 -c radish8 -t nosuch/x.json small.lard
says err "nosuch/x.json"
echo mine >x.json
run 7 -c radish8 -t x.json small.lard
says err "x.json" "--overwrite"
[ "$(cat x.json)" = mine ] || fail "a file was replaced unasked"
run 0 --quiet -c radish8 -t x.json --overwrite small.lard
says x.json "traceEvents"
run 2 -c radish8 --overwrite small.lard
says err "--overwrite" "--timeline"
run 3 -c nosuch small.lard
says err "nosuch" "lardsim list presets"
run 3 -c radsh8 small.lard
says err "did you mean radish8"
run 3 -c radish8 --set order=recorded --set contention=on small.lard
says err "contention: on" "order=timed"
run 3 -c radish8 --set order=recorded --set core.misses=2 small.lard
says err "core.misses"
run 3 --set order=timed small.lard
says err "machine=multicore"
run 3 -c radish8 --set cores=2 --set schedule.threads=pinned small.lard
says err "thread" "schedule.threads=pinned" "schedule.threads=round-robin"

# Threads that need more cores than there are: refused before the page, and before the folder.
pinned() {
    code=$1
    shift
    run "$code" -c radish8 --set cores=2 --set schedule.threads=pinned "$@"
}
cat >three.trace <<'EOF'
lardsim-text 1
name thread 2 "late"
T0 fork T1
T0 fork T2
T1 write 0x10 4
T2 write 0x20 4
EOF
pinned 3 -o three.out three.trace
says err "event 3: thread 2 (late)" "schedule.threads=pinned" "2 cores" "more cores"
grep -q . out && fail "a run that was refused has a page"
[ -e three.out/stats.json ] && fail "a run that was refused has results"
"$lardsim" trace convert three.trace three.lard
for more in granularity=trace granularity=4 trace.ahead=on; do
    pinned 3 --set "$more" -o three.out three.lard
    says err "three.lard: by its footer" "3 threads" "schedule.threads=pinned" "2 cores"
    grep -q . out && fail "a run that was refused has a page"
    [ -e three.out/stats.json ] && fail "a run that was refused has results"
done
pinned 0 --set cores=3 three.lard
run 0 -c radish8 --set cores=2 three.lard

# compat = ce decides how L2 and L3 replace. What is written is what holds; another value is refused,
# but not the default that a config.yaml of earlier versions repeats.
run 0 --quiet -c ce8 -o ce small.lard
for cache in l2 l3; do
    sed -n "/^$cache:/,/replacement/p" ce/config.yaml >$cache.txt
    says $cache.txt "replacement: fifo # compat: ce"
    for value in lru plru; do
        run 3 -c ce8 --set $cache.replacement=$value small.lard
        says err "--set: $cache.replacement: \"$value\" contradicts compat: ce" "fifo" "do without"
    done
    run 0 --quiet -c ce8 --set $cache.replacement=fifo small.lard
    run 0 --quiet -c radish8 --set $cache.replacement=plru small.lard
    printf 'inherit: ce8\n%s:\n  replacement: lru\n' $cache >hand.yaml
    run 3 --config hand.yaml small.lard
    says err "hand.yaml:3: $cache.replacement"
done
sed 's/fifo # compat: ce/lru # default/' ce/config.yaml >old.yaml
cmp -s ce/config.yaml old.yaml && fail "the old config.yaml is the new one"
run 0 --quiet --config old.yaml -o ce-old small.lard
cmp -s ce/stats.json ce-old/stats.json || fail "an old config.yaml of a ce run gives other results"
[ "$(grep -c 'replacement: fifo # compat: ce' ce-old/config.yaml)" = 2 ] ||
    fail "the lru of an old config.yaml is still written"
sed 's/fifo # compat: ce/srrip # --set/' ce/config.yaml >odd.yaml
run 3 --config odd.yaml small.lard
says err "odd.yaml:" "l2.replacement" "srrip"

run 3 -c radish8 --set line=48 small.lard
says err "line: 48"
run 3 -c radish8 --set l1.size=33000 small.lard
says err "l1"
run 3 -c radish8 --set l9.size=1 small.lard
says err "l9.size"
# ---- a trace that does not say how many instructions lie between accesses ---------------------------

# 6 accesses of the program, 1 of the system; which of them have a gap is the argument.
gapless() {
    printf 'lardsim-text 1\n'
    for i in 1 2 3 4 5 6; do echo "T0 write 0x1000 8 $([ "$i" = "$1" ] && echo +1)"; done
    echo "T0 write 0x2000 8 system"
}
gapless 0 >silent.trace
gapless 3 >speaks.trace
instructions() { awk -F, '$1 == "machine.instructions" {print $2}' "$1/stats.csv"; }
for gap in 0 10; do
    for trace in silent speaks; do
        "$lardsim" run -c radish8 --set core.unknown-gap=$gap -o $trace.$gap --json $trace.trace >$trace.$gap.json 2>err ||
            fail "$trace, core.unknown-gap=$gap: $(cat err)"
    done
done
grep -q 'instructions between accesses unknown: overheads are upper bounds' silent.0.json || fail "JSON does not say that gaps are unknown"
"$lardsim" run -c radish8 silent.trace | grep -q 'overheads are upper bounds' || fail "the page does not say that gaps are unknown"
grep -q 'rest on core.unknown-gap' silent.10.json || fail "an assumed gap is not said to be one"
grep -q 'between accesses unknown' speaks.0.json && fail "gaps that are known are called unknown"
[ $(($(instructions silent.10) - $(instructions silent.0))) = 60 ] || fail "6 accesses with 10 instructions before each are not 60 more"
[ $(($(instructions speaks.10) - $(instructions speaks.0))) = 20 ] || fail "from the first event with a gap on, gaps are the trace's"
same() { grep -h '"identity"' "$1"/*.json; }
[ "$(same silent.0)" = "$(same silent.10)" ] || fail "an assumed gap makes another trace of it"

# ---- a trace that counts bytecodes ------------------------------------------------------------------

{ printf 'lardsim-text 1\ngaps bytecodes\n'; for i in 1 2 3 4 5 6; do echo "T0 write 0x1000 8 +$i"; done; } >bytecodes.trace
sed '/^gaps/d' bytecodes.trace >plain.trace
for percent in 100 150 5000; do
    for trace in bytecodes plain; do
        "$lardsim" run -q -c radish8 --set core.bytecode=$percent -o $trace.$percent $trace.trace >/dev/null 2>err ||
            fail "$trace, core.bytecode=$percent: $(cat err)"
    done
    # 21 bytecodes
    [ $(($(instructions bytecodes.$percent) - $(instructions plain.100))) = $((21 * percent / 100 - 21)) ] ||
        fail "with core.bytecode=$percent 21 bytecodes are no $((21 * percent / 100)) instructions"
    [ "$(instructions plain.$percent)" = "$(instructions plain.100)" ] || fail "core.bytecode bears on a trace that counts instructions"
done
[ "$(same bytecodes.100)" = "$(same bytecodes.5000)" ] || fail "core.bytecode makes another trace of it"
"$lardsim" trace convert -q bytecodes.trace b.lard && "$lardsim" trace convert -q --to text b.lard b.trace &&
    [ "$("$lardsim" trace info b.lard | grep '^gaps')" = "gaps         bytecodes" ] ||
    fail "the unit of gaps is lost on the way"
"$lardsim" trace merge -q m.lard bytecodes.trace plain.trace 2>err && fail "traces with two units of gaps are merged"
grep -q 'plain.trace in instructions' err || fail "two units of gaps: $(cat err)"

exit $bad
