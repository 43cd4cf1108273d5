#!/bin/sh
# debug.sh - can a run be watched (--debug), and is what one sees all of it, and true? Lines add up to the
# statistics; a filter lets pass what it says; watching changes no digest; a bad filter is refused. Also: does a
# core that spins while another stops the machine go on (it ended in an assertion once)? Needs LARDSIM.
set -u

# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

"$lardsim" trace synth small.lard seed=5 events=1500 threads=4 >/dev/null || exit 99

digest() { grep -o '"digest": *"[0-9a-f]*"' "$1"; }
# watch ARGUMENT...: what is seen of the run goes to lines, its statistics to o/; its digest is that of an unwatched run
watch() {
    rm -rf o
    "$lardsim" run --json "$@" >plain 2>err || fail "run $*: $(head -n 3 err)"
    "$lardsim" run --json --debug all -o o "$@" >out 2>lines || fail "run --debug all $*: $(tail -n 1 lines)"
    [ -n "$(digest plain)" ] && [ "$(digest plain)" = "$(digest out)" ] || fail "watching changes the digest of run $*"
}

# ---- all of it: messages, bytes, fills, turns and cycles are as many as are counted ------------------

add_up() { # a sentence for each sum that is not the statistic
    awk 'FILENAME == ARGV[1] { split($0, f, ","); stat[f[1]] = f[2]; next }
        {
            for (i = 1; $i ~ /=/; i++) {}
            n[$i]++
            if ($i == "message") { sub(/.*=/, "", $(i + 2)); bytes += $(i + 2) }
            if ($i == "charge") { sub(/.*=/, "", $(i + 2)); spent[$(i + 1)] += $(i + 2) }
            if ($i == "line" && $(i + 1) == "fill") fills[$(i + 2)]++
        }
        function same(what, is, of) { if (is + 0 != of + 0) print what ": " is + 0 " are seen, " of + 0 " counted" }
        END {
            same("events", n["turn"], stat["events.total"])
            same("messages", n["message"], stat["network.messages.total"] - stat["network.messages.untimed"])
            for (l = 1; l <= 3; l++) same("fills of l" l, fills["l" l], stat["l" l ".fills"])
            for (s in stat)
                if (s ~ /^machine\.spent\./) { name = s; sub(/.*\./, "", name); same(s, spent[name], stat[s]) }
            if (!stat["network.messages.untimed"]) same("bytes", bytes, stat["network.bytes.total"])
            if (simple) same("accesses", n["access"], stat["l1.accesses"])
        }' o/stats.csv simple="$1" lines >wrong
    [ ! -s wrong ] || fail "what is seen is not what is counted: $(head -n 3 wrong)"
}
for policy in none fasttrack lardish; do
    for settings in order=recorded order=timed memory.type=ddr l3.inclusion=non-inclusive; do
        watch -c radish8 -p $policy --set $settings small.lard
        add_up 1
    done
done
watch -c radish8 -p fasttrack --set core.type=pipelined --set core.store-buffer=8 --set core.misses=4 small.lard
add_up 0
watch -c radish8 -p lardish workload:philosopher
add_up 1
grep -q '^cycle=[0-9]* core=[0-9]* thread=[0-9]* event=[0-9]* access' lines || fail "in program order an access has no event"

# ---- a filter, and the same lines again -------------------------------------------------------------

watch -c radish8 -p lardish small.lard
mv lines all
seen() { # FILTER...: what passes is in lines
    # shellcheck disable=SC2046  # filters have no spaces
    set -- $(printf -- '--debug %s ' "$@")
    "$lardsim" run -q -c radish8 -p lardish "$@" small.lard 2>lines || fail "run $*: $(tail -n 1 lines)"
    [ -s lines ] || fail "$*: nothing passes"
}
field() { # NAME FROM TO: the lines of all whose field is in that range
    awk -v name="$1" -v from="$2" -v to="$3" '{
        for (i = 1; $i ~ /=/; i++)
            if (split($i, f, "=") && f[1] == name && f[2] + 0 >= from && f[2] + 0 <= to) { print; break }
    }' all
}
seen all
cmp -s lines all || fail "two runs show different lines"
seen event=120
field event 120 120 | cmp -s - lines || fail "event=120 lets pass others than the lines of event 120"
seen core=2
field core 2 2 | cmp -s - lines || fail "core=2 lets pass others than the lines of core 2"
seen cycles=1000-2000
field cycle 1000 2000 | cmp -s - lines || fail "cycles=1000-2000 lets pass others than these cycles"
seen event=100-130,core=1
field event 100 130 | grep ' core=1 ' | cmp -s - lines || fail "event=100-130,core=1: both must hold"
seen event=100 event=130
[ "$(sort lines)" = "$({ field event 100 100; field event 130 130; } | sort)" ] || fail "of two filters each lets pass"
at=$(awk '/ turn (read|write) / { sub(/.*address=/, ""); print $1 }' all | sort | uniq -c | sort -n | awk 'END {print $2}')
seen "address=$at"
grep -q " turn [a-z]* bytes=[0-9]* address=$at " lines || fail "address=$at: its turns do not pass"
grep " turn .* address=0x" lines | grep -v "address=$at " | awk '{sub(/.*address=/, ""); print substr($1, 1, 6)}' |
    grep -qv "$(echo "$at" | cut -c1-6)" && fail "address=$at lets turns elsewhere pass"
[ "$(grep -c " turn .* address=$at " lines)" = "$(grep -c " turn .* address=$at " all)" ] ||
    fail "address=$at does not let all its turns pass"
[ "$(wc -l <lines)" -lt "$(wc -l <all)" ] || fail "address=$at lets everything pass"
seen "line=$at"
grep -q " message request .* line=0x" lines || fail "line=$at: its messages do not pass"
[ "$(sed -n 's/.* line=\(0x[0-9a-f]*\) .*/\1/p' lines | sort -u | wc -l)" = 1 ] || fail "line=$at: several lines pass"

# ---- what was checked is the same whatever the order ------------------------------------------------

printf 'lardsim-text 1\nT0 write 0x1000 4\nT0 fork T1\nT1 read 0x1000 4\nT1 write 0x2000 4\nT0 read 0x2000 4\n' >few
checks() {
    "$lardsim" run -q -p fasttrack "$@" --debug event=2-4 few 2>&1 | sed -n 's/.*\(event=[0-9]* check.*\)/\1/p' | sort
}
checks >none
[ "$(wc -l <none)" = 3 ] || fail "three events have $(wc -l <none) checks"
for order in recorded timed; do
    checks -c radish8 --set order=$order | cmp -s - none || fail "order=$order: other checks than without a machine"
done

# ---- the page: the lines that it shows are all that its command prints, in that order ---------------

sed -n '/^```sh$/,/^```$/p' "$top/docs/debugging.md" | grep -v '^```' >commands
(PATH=$(dirname "$lardsim"):$PATH && export PATH && sh -eu commands >printed 2>&1) || fail "docs/debugging.md: a command failed"
sed -n '/^```output$/,/^```$/p' "$top/docs/debugging.md" | grep -v '^```' >shown
[ "$(wc -l <shown)" -gt 40 ] && cmp -s shown printed || fail "docs/debugging.md shows other lines than its command prints"

# ---- mistakes ---------------------------------------------------------------------------------------

for filter in event event= event=x event=3-1 colour=3 "core=1,,"; do
    "$lardsim" run -q --debug "$filter" few >out 2>err
    [ $? = 2 ] && grep -q "is no filter: give all, or event=" err || fail "--debug '$filter': $(head -n 1 err)"
done

# ---- a core that spins while another stops the machine ----------------------------------------------

"$lardsim" run -q -c radish8 --set cores=2 --set policy.lardish.clock-bits=4 --set policy.lardish.flush=lazy \
    -p lardish workload:churn,heap=524288 >out 2>err || fail "a stop meets a core that spins: $(head -n 2 err)"
exit $bad
