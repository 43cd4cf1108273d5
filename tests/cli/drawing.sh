#!/bin/sh
# drawing.sh - is what `lardsim machine` draws the machine that runs? Each setting that a preset makes shows when it
# is another; what an access and a check take is what runs take; 64 cores are drawn once, within 100 columns; what
# can't be drawn is refused; names of files are text.
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"

draw() { "$lardsim" machine --ascii "$@" 2>err || fail "machine $*: $(cat err)"; }
# judged NAME ARGUMENT...: each line and element is what --json says.
judged() {
    drawn=$1
    shift
    "$lardsim" machine --json "$@" >"$drawn.json" 2>err || fail "machine --json $*: $(cat err)"
    perl "$top/tests/results/judge/machine.pl" "$drawn.json" "$drawn.txt" "$drawn.svg" >said || fail "machine $*: $(cat said)"
}
says() { grep -qF -e "$2" "$1" || fail "$1 lacks \"$2\": $(cat "$1")"; }

# ---- every machine, in text and as a picture
presets=$("$lardsim" list machines | sed 's/[.].*//' | sort -u)
for preset in $presets; do
    draw -c "$preset" -o "$preset.svg" >"$preset.txt"
    judged "$preset" -c "$preset"
    says "$preset.txt" "$preset: "
    awk -v name="$preset" 'length($0) > 100 || /[^ -~]/ {print name ": line " FNR ": " $0; bad = 1} END {exit bad}' \
        "$preset.txt" || fail "a line is too long, or not of ASCII"
    [ "$(grep -c -- '- L1 data ' "$preset.txt")" = 1 ] || fail "$preset: the L1 is not drawn once"
    grep -q '</svg>' "$preset.svg" || fail "$preset.svg is no whole picture"
    grep -q prefers-color-scheme:dark "$preset.svg" || fail "$preset.svg has no colours for dark pages"
    grep -oE '(href|src|url)[=(].*|https?://[^"]*' "$preset.svg" | grep -v http://www.w3.org/2000/svg &&
        fail "$preset.svg asks for something"
    # Text and picture say the same.
    sed -n 's/.*class="text bold">\([^<]*\)<.*/\1/p' "$preset.svg" | sed 's/×/x/' | while read -r heading; do
        grep -qF -e "- $heading " "$preset.txt" || echo "$heading"
    done >gone
    [ ! -s gone ] || fail "$preset: the text lacks what the picture has: $(cat gone)"
done
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' ./*.svg 2>err ||
        fail "a picture is no XML: $(tail -1 err)"
fi
says opteron64.txt '4 x package'
says opteron64.txt '2 x NUMA node'
says opteron64.txt '4 x group of 2 cores with one L2'
LC_ALL=C.UTF-8 "$lardsim" machine -c radish8 | grep -q '8 × core' || fail "a terminal that knows UTF-8 gets ASCII"
"$lardsim" machine -c radish8 | grep -q '8 x core' || fail "a terminal that knows ASCII alone gets UTF-8"

# ---- no setting of a machine is left out: with another value, it looks otherwise
other() { # KEY VALUE
    case $1.$2 in
    core.type.*) echo simple ;;
    *.latency.*) echo $(($2 + 1)) ;;
    core.memory-instruction.latency) echo one-plus-latency ;;
    coherence.upgrade-cost.home) echo level ;;
    numa.lookup.home) echo node ;;
    numa.invalidate.all) echo sharers ;;
    numa.home.first-touch) echo interleave ;;
    dsm.home.first) echo interleave ;;
    *.inclusion.*) ;; # several nodes, or no L3, have one way only
    l3.size.0) echo 1Mi ;;
    *.0) echo 1 ;;
    *.1) echo 2 ;;
    *Ki | *Mi) n=${2%?i} && echo "$((n * 2))${2#"$n"}" ;;
    *) echo $(($2 * 2)) ;;
    esac
}
for preset in opteron64 alpha-cvm; do
    "$lardsim" list machines $preset | sed "s/^${preset}[.]//" | while read -r key value _; do
        new=$(other "$key" "$value")
        [ "$new" ] || continue
        "$lardsim" machine --ascii -c $preset "$key=$new" >other.txt 2>err || { echo "$key=$new: $(cat err)"; continue; }
        cmp -s $preset.txt other.txt && echo "$preset: $key=$new looks like $value"
    done >gone
    [ ! -s gone ] || fail "a setting is not drawn: $(cat gone)"
done
says radish8.txt '| none '
draw -c opteron64 core.shared-front-end=1 core.width=2 core.width-hundredths=50 core.unmodelled=7 >wide.txt
says wide.txt 'pipelined: 2.50 instructions a cycle, '
says wide.txt '7 % more instructions for policies than are counted'
draw -c radish8 memory.type=ddr >ddr.txt
says ddr.txt 'DDR model: ddr4-2400'
draw -c radish8 network.topology=mesh l2.size=0 >mesh.txt
says mesh.txt '- mesh '
grep -q -- '- L2' mesh.txt && fail "an L2 of 0 bytes is drawn"

# ---- what it says that an access takes is what one takes: a miss, then a hit
printf '%s\n' 'lardsim-text 1' 'T0 read 0x1000 4' >miss.trace
printf '%s\n' 'lardsim-text 1' 'T0 read 0x1000 4' 'T0 read 0x1000 4' >hit.trace
cycles() { "$lardsim" run -q --json -c radish8 --set order=timed "$@" | sed -n 's/^ *"cycles": \([0-9]*\),*$/\1/p' | head -1; }
takes() { sed -n "s/.*- $1 -.* \([0-9]*\) cycles* -.*/\1/p" "$2"; }
for more in l1.latency=1 coherence.composition=cumulative memory.fixed.latency=200; do
    draw -c radish8 $more >drawn
    miss=$(cycles --set $more miss.trace) hit=$(cycles --set $more hit.trace)
    [ "$miss" = $(($(takes memory drawn) + 1)) ] || fail "$more: memory takes $(takes memory drawn) cycles, and a miss $miss"
    [ $((hit - miss)) = $(($(takes 'L1 data' drawn) + 1)) ] || fail "$more: the L1 takes $(takes 'L1 data' drawn), a hit $((hit - miss))"
done

# ---- each box says its settings, whatever they are
for more in frequency=999 frequency=1000 frequency=3999 cores=1 cores=2 l1.ways=1 l2.inclusion=exclusive l3.banks=2 l3.banks=1 l3.port=3 \
    memory.fixed.interval=2 network.controllers=2 pages.size=2Mi pages.mapping=first-touch core.store-buffer=8 core.misses=4 \
    core.memory-instruction=latency coherence.remote-cost=total coherence.upgrade-cost=home l1.latency=2 l1.size=1536; do
    "$lardsim" run -q -c radish8 -p none --set $more -o boxes --overwrite miss.trace 2>err || { fail "run --set $more: $(cat err)"; continue; }
    "$lardsim" machine --json -c radish8 $more >drawn 2>err || fail "machine $more: $(cat err)"
    perl "$top/tests/results/judge/box.pl" drawn boxes/config.yaml radish8 >said 2>&1 || fail "machine $more: $(cat said)"
done
# Programs that decide the order, and an order of time, have the same checks.
draw --json -c radish8 -p fasttrack >timed.json
draw --json -c radish8 -p fasttrack order=program >drawn
cmp -s timed.json drawn || fail "order=program: other checks: $(diff timed.json drawn | head -n 4)"
says wide.txt 'pipelined'
grep -q 'share the front end' wide.txt && fail "a front end of one core is shared"

# ---- what it says that a check takes is what one takes: the run with the event less that without
printf '%s\n' 'lardsim-text 1' 'granularity 4' 'T0 fork T1' 'T0 acq 0x20000' 'T0 write 0x10000 4' >first.trace
{ cat first.trace; echo 'T0 write 0x10000 4'; } >second.trace
of() { "$lardsim" run -q -c "$2" -p "$3" --set order=timed -o results --overwrite "$1" && sed -n "s/^$4,//p" results/stats.csv | sed 's/,.*//'; }
for machine in radish8 opteron64; do
    for policy in fasttrack lardish; do
        [ $machine-$policy = opteron64-lardish ] && continue # which has no place for histories
        draw -c $machine -p $policy >drawn
        first=$(of first.trace $machine $policy machine.spent.handler)
        second=$(of second.trace $machine $policy machine.spent.handler)
        says drawn "the same write again: $((second - first)) cycle"
        says drawn "what $policy adds to an event"
    done
done
first=$(of first.trace radish8 fasttrack policy.fasttrack.cost.instructions)
second=$(of second.trace radish8 fasttrack policy.fasttrack.cost.instructions)
draw -c radish8 -p fasttrack >drawn
says drawn ", $((second - first)) instructions, "
sed -n '/- what fasttrack adds/,/+-.*-+/s/.*| \([^:|]*\): [0-9]* cycles*, .*/\1/p' drawn >whats
cat >wanted <<END
the first write, metadata in no cache
the same write again
a read of it
the same read again
the first write to its neighbour
the release of a lock
its acquire by another core
a read of what the other core wrote
a write to it
END
cmp -s whats wanted || fail "what a check is measured with: $(cat whats)"

# ---- where what is kept lies
draw -c radish8 -p fasttrack -p watch=vc policy.watch.charged=off -o kept.svg >kept.txt
judged kept -c radish8 -p fasttrack -p watch=vc policy.watch.charged=off
says kept.txt 'watch: it watches, and takes no time'
says kept.txt 'has data, and what is kept for: fasttrack'
grep -q 'class="metadata"' kept.svg || fail "the picture shows no metadata"
grep -q 'class="metadata"' radish8.svg && fail "the picture shows metadata, and nobody keeps any"
draw -c radish8 -p lardish >kept.txt
says kept.txt 'histories in lines of the caches'
draw -c alpha-cvm -p cvm -o kept.svg --overwrite >kept.txt
judged kept -c alpha-cvm -p cvm
says kept.txt "bitmaps and notices in each process's memory"

# ---- refused
refused() { # CODE TEXT ARGUMENT...
    code=$1 text=$2
    shift 2
    "$lardsim" machine "$@" >out 2>err
    is=$?
    [ $is = "$code" ] || fail "machine $*: exit code $is, not $code"
    grep -qF -e "$text" err || fail "machine $*: says \"$(cat err)\", not \"$text\""
    [ ! -s out ] || fail "machine $*: refused, and prints"
}
refused 3 'give a preset, as -c radish8'
refused 3 'did you mean' -c radish8 l1.siez=4
refused 3 'both in hardware' -c radish8 -p lardish -p radish
refused 3 'numa.nodes' -c opteron64 numa.nodes=3
echo mine >mine.svg
refused 7 'give --overwrite' -c radish8 -o mine.svg
[ "$(cat mine.svg)" = mine ] || fail "a file was replaced unasked"
refused 7 'create its folder first' -c radish8 -o nosuch/machine.svg
draw -c radish8 -o - | head -1 | grep -q '^<svg' || fail "-o -: no picture alone"
draw -c radish8 --json >drawn
says drawn '"schema": "lardsim-machine-1"'

# ---- names are text
odd=$(printf 'a<b>&"\033[31m.yaml')
echo 'inherit: radish8' >"$odd"
draw -c "$odd" -o odd.svg >odd.txt
says odd.txt 'a<b>&"\u{1b}[31m.yaml'
says odd.svg 'a&lt;b&gt;&amp;&quot;\u{1b}[31m.yaml'
exit $bad
