#!/bin/sh
# dsm.sh - machine=dsm from outside: what it refuses, with a reason and exit code 3; cycles, messages
# and bytes that add up, in timed and in program order; and one result whatever the host does.
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
fail() { echo "dsm.sh: $*"; bad=1; }

printf '%s\n' 'lardsim-text 1' 'T0 fork T1' 'T0 write 0x1000 8' 'T1 acq 0x10' 'T1 write 0x1008 8' \
    'T1 rel 0x10' 'T0 acq 0x10' 'T0 read 0x1008 8' 'T0 rel 0x10' 'T0 join T1' >t.txt

# refused WHY OPTION...: exit code 3, a message that says why, and no results.
refused() {
    why=$1
    shift
    "$lardsim" run -q --preset alpha-cvm -o refused "$@" t.txt >out 2>err
    [ $? = 3 ] || fail "not refused: $*"
    grep -q "$why" err || fail "$*: $(cat err)"
    [ ! -e refused ] || fail "$*: there are results"
}
refused 'cores: 65 processes.*room for 64; set cores=64' --set cores=65
refused 'pages.size: 5000 is no power of two' --set pages.size=5000
refused 'pages.size: 131072 bytes are more.*65536' --set pages.size=128Ki
refused 'pages.size: 512 bytes are less than a cache line.*raise it' --set pages.size=512 --set line=1024
refused 'dsm.word: 12 is no power of two' --set dsm.word=12
refused 'dsm.host.*0' --set dsm.host=0
refused 'order: .*set order=timed' --set order=recorded
refused 'core.type: pipelined.*set core.type=simple' --set core.type=pipelined
refused 'policy vc: all threads share its metadata.*policy.vc.charged=off' -p vc
refused 'policy radish: cores have memories of their own' -p radish
"$lardsim" run -q --preset alpha-cvm -p vc --set policy.vc.charged=off t.txt || fail "vc for nothing is refused"

# value FOLDER NAME: a statistic.
value() { awk -F, -v name="$2" '$1 == name {print $2}' "$1/stats.csv"; }
# sum FOLDER PATTERN
sum() { awk -F, -v name="$2" '$1 ~ name {s += $2} END {print s + 0}' "$1/stats.csv"; }
for order in timed program; do
    "$lardsim" run -q --preset alpha-cvm --set order=$order -o $order workload:water,threads=4 ||
        fail "$order order does not run"
    bytes=$(value $order dsm.message-bytes)
    [ "$bytes" -gt 0 ] || fail "$order: no bytes"
    [ "$(sum $order '^dsm[.]bytes[.]')" = "$bytes" ] || fail "$order: bytes by content"
    [ "$(sum $order '^dsm[.]message[.].*[.]bytes$')" = "$bytes" ] || fail "$order: bytes by kind"
    [ "$(sum $order '^dsm[.]message[.].*[.]number$')" = "$(value $order dsm.messages)" ] ||
        fail "$order: messages by kind"
    [ "$(sum $order '^dsm[.]wait[.]')" = "$(sum $order '^dsm[.]time[.]')" ] || fail "$order: time"
    [ "$(sum $order '^machine[.]spent[.]')" = $((8 * $(value $order machine.cycles))) ] ||
        fail "$order: the cores' cycles"
    [ "$(value $order machine.spent.page-fault)" = "$(value $order dsm.wait.fault)" ] ||
        fail "$order: a fault's cycles are not its core's"
done

# Threads that share a core share its memory; one process alone needs no message.
"$lardsim" run -q --preset alpha-cvm --set cores=1 -o one workload:water,threads=4 || fail "one process"
[ "$(value one dsm.messages)" = 0 ] || fail "one process sends messages"
# A cheaper network is no slower; a page that is larger is fetched less often.
"$lardsim" run -q --preset alpha-cvm --set dsm.latency=0 --set dsm.send=0 -o fast workload:water,threads=4
[ "$(value fast machine.cycles)" -lt "$(value timed machine.cycles)" ] || fail "a faster network is slower"
"$lardsim" run -q --preset alpha-cvm --set pages.size=1Ki -o small workload:water,threads=4
[ "$(value small dsm.pages-fetched)" -gt "$(value timed dsm.pages-fetched)" ] || fail "smaller pages are no more"
# Elsewhere nothing of it is there, and its parameters are known.
"$lardsim" run -q --preset radish8 --set dsm.host=2 -o multicore t.txt 2>err || fail "dsm.host on radish8"
grep -q 'dsm.host.*no effect' err || fail "dsm.host has an effect on radish8: $(cat err)"
grep -q '^dsm\|page-fault' multicore/stats.csv && fail "radish8 counts faults"
"$lardsim" explain dsm.twins | grep -q 'Twins made' || fail "explain does not know dsm.twins"
"$lardsim" explain dsm.protect >/dev/null || fail "explain does not know dsm.protect"
exit $bad
