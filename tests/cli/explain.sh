#!/bin/sh
# explain.sh - nothing that lardsim prints is without an explanation: every name in its tables, every
# group of statistics, every claim, every head of a column or line on its pages, every word of the
# glossary.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# explained WHAT: each line of standard input is a name that explain knows. One call for many names;
# name by name only where one is not known.
explained() {
    sort -u | sed '/^$/d' >names
    if [ ! -s names ]; then
        fail "$1: nothing to explain"
        : >unexplained
    fi
    tr '\n' '\0' <names | xargs -0 -n 500 "$lardsim" explain >told 2>err && return
    while read -r name; do
        "$lardsim" explain "$name" >told 2>err || fail "$1: nothing explains \"$name\""
    done <names
    [ $bad = 0 ] || : >unexplained # for who waits outside: a pipe ends in a shell of its own
}

# Names in the tables, as JSON: a name may have spaces.
for table in $("$lardsim" list | awk '$1 != "manual" && $1 != "completion" {print $1}'); do
    "$lardsim" list --json "$table" | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | explained "$table"
done

# Groups of statistics: all that a dot ends.
"$lardsim" list statistics | awk '{
    n = split($1, part, ".")
    group = part[1]
    for (i = 2; i <= n; i++) {
        print group
        group = group "." part[i]
    }
}' | explained "groups of statistics"

"$lardsim" list --json policies | sed -n 's/.*"claims": "\([^"]*\)".*/\1/p' | sed 's/, /\n/g' |
    grep -v '^nothing$' | explained claims

# heads LINE...: the heads in these lines of out: words with two spaces or more between them.
heads() {
    for line; do
        sed -n "${line}p" out | grep -v ':$' | sed 's/^ *//; s/   */\n/g'
    done
}
# The line that begins with this.
line() { grep -n "^$1" out | head -n 1 | cut -d: -f1; }
# The words that lines begin with, up to a first gap.
keys() { sed -n 's/^\([a-z][^ ]*\( [^ ][^ ]*\)*\)  .*/\1/p' "$@"; }

printf '%s\n' 'lardsim-text 1' 'T0 fork T1' 'T0 write 0x1000 8 @"A:1"' 'T1 write 0x1000 8 @"B:2"' \
    'T0 join T1' >race.txt
"$lardsim" run --quiet -c radish8 -o results race.txt || fail "no run"
"$lardsim" run -c radish8 -p vc race.txt >out 2>err || fail "no run: $(cat err)"
keys out | grep -v '^vc$' | explained "run, lines"
heads "$(line "cores' time")" "$(line level)" "$(line policy)" | explained "run, columns"

gc=$top/workloads/litmus/gc_move_race.trace
"$lardsim" compare "$gc" >out 2>err || fail "no comparison: $(cat err)"
for at in $(grep -n '^policy' out | cut -d: -f1); do
    heads "$((at - 1))" "$at"
done | explained "compare, columns"
[ "$(grep -c '^policy' out)" = 3 ] || fail "compare has not its three tables"

"$lardsim" compare -c radish8 -p vc,lardish workload:sor,n=10 >out 2>err || fail "no costs: $(cat err)"
for at in $(grep -n '^policy' out | cut -d: -f1); do
    heads "$((at - 1))" "$at"
done | explained "compare on a machine, columns"
keys out | grep -v -e '^vc$' -e '^lardish$' -e '^none$' | explained "compare on a machine, lines"

"$lardsim" reproduce valor-budget --quick --size accesses=1k >out 2>err
[ $? = 6 ] || fail "no table of a paper: $(cat err)"
{
    sed -n '2,/^$/s/^\([a-z]*\)  .*/\1/p' out
    sed -n 's/^\(mean, clean\|geometric mean, clean\|part, in points\|the program, slower\) .*/\1/p' out
    sed -n 's/.*: \(holds\|differs\|cannot\)$/\1/p' out
} | explained "reproduce, lines"

"$lardsim" workload describe pmd@lard,accesses=2000 >out 2>err || fail "no workload: $(cat err)"
keys out | grep -v : | explained "workload describe, lines"
sed -n '/^measured/,/^$/p; /^targets/,$p' out | sed -n 's/^  \([a-z][^ ]*\)  .*/\1/p' |
    explained "workload describe, measured"
heads "$(($(line targets) + 1))" | explained "workload describe, columns"

"$lardsim" trace synth --quiet x.lard seed=1 events=500 2>/dev/null || "$lardsim" trace synth x.lard seed=1 events=500
"$lardsim" trace info x.lard >out || fail "no trace"
keys out | explained "trace info, lines"

"$lardsim" reproduce lard-table3 2>err | head -n 12 >out
heads "$(($(grep -n '^  detector' out | cut -d: -f1) - 1))" "$(grep -n '^  detector' out | cut -d: -f1)" |
    explained "reproduce, columns"

# The glossary: the words in bold.
grep '^| \*\*' "$top/docs/glossary.md" | cut -d'|' -f2 | grep -o '\*\*[^*]*\*\*' | tr -d '*' |
    explained glossary

# A concept is told whole, in lines that stand below its name.
"$lardsim" explain --json races | sed -n 's/.*"more": "\(.*\)"[,}]*$/\1/p' | sed 's/\\n/ /g; s/\\"/"/g' | tr -s ' ' >said
[ "$(wc -w <said)" -gt 50 ] || fail "the JSON of the concept races has not what there is to say: $(cat said)"
"$lardsim" explain races >told
tr -s ' \n' ' ' <told | grep -qF "$(head -n 1 said)" || fail "explain races leaves out what its JSON says: $(diff told said | head -n 4)"
grep -v '^  [^ ]\|^$\|^races: \|^      *[^ ]' told >outside && fail "explain races has lines that do not stand below a name: $(head -n 2 outside)"

# A row of a list is a line; on a terminal that is too narrow the help goes on below.
if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "stty cols 80; exec '$lardsim' list exits" /dev/null </dev/null | tr -d '\r' >narrow
    awk 'length > 80 {exit 1}' narrow || fail "list exits is wider than the terminal: $(awk 'length > 80' narrow | head -n 1)"
    "$lardsim" list exits | tr -s ' \n' ' ' >wide
    tr -s ' \n' ' ' <narrow | cmp -s wide - || fail "list exits says other words on a terminal"
fi
[ ! -f unexplained ] || bad=1
exit $bad
