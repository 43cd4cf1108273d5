#!/bin/sh
# run.sh - does lardsim run do what its options ask, and say what there is? What it refuses before it runs, which files it
# writes or leaves alone, its exit codes; the races by pair of sites, in their order, with the names that they had; and
# what --again takes over, or takes from its folder alone.
in_memory=1
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
silent() { ! grep -qF -e "$2" "$1" || fail "$1 says, and should not: $2"; }

printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4 @0x1' >one.trace
printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4 @0x1' 'T1 write 0x10 4 @0x2' >race.trace

# ---- what is refused, before anything runs -----------------------------------------------------------

for file in timeline record; do
    run 2 run --$file - race.trace
    says err "run: --$file needs a file; standard output has the result"
    echo there >there
    run 7 run -c radish8 --$file there workload:philosopher
    [ "$(cat there)" = there ] || fail "--$file replaces a file without --overwrite"
    silent out cycles
done
run 2 run --overwrite race.trace
says err 'run: --overwrite needs --output, --timeline or --record'
run 0 run -q --overwrite -o new race.trace
[ -s new/DONE ] || fail "--overwrite -o of a folder that is not there writes none"
run 0 run -q -c radish8 --overwrite --timeline there race.trace
[ "$(head -c 5 there)" != there ] || fail "--overwrite --timeline leaves the file that was there"
run 0 run -q -c radish8 --overwrite --record there workload:philosopher
run 0 trace verify -q there
run 2 run
says err 'run: operands are missing: SOURCE'
echo 'source: ""' >empty.yaml
run 2 run --config empty.yaml
says err 'run: operands are missing: SOURCE'
echo 'source: race.trace' >source.yaml
run 0 run --config source.yaml
says out 'race.trace: 2 events'
run 0 run --config source.yaml one.trace
says out 'one.trace: 1 event'
silent out '1 events'
run 3 run --set no.such=1 race.trace
silent out event

# ---- exit codes, and what is shown then --------------------------------------------------------------

run 0 run race.trace
says out 'next     give -o DIR to keep every race'
run 66 run --error-on-race race.trace
says err 'race.trace: races were found, and --error-on-race was given'
says out digest
run 66 run -q --error-on-race race.trace
[ ! -s out ] || fail "--quiet prints $(head -n 1 out)"
run 0 run --error-on-race one.trace
silent out next
silent out 'racy accesses by pair'
run 0 run -q --json race.trace
says out '"groups": 1'
run 5 run --set limits.events=1 race.trace
says out 'incomplete: the run stopped before the end'
silent out digest
run 5 run --json --set limits.events=1 race.trace
says out '"exit": 5'
says out '"error": "'
silent out '"digest"'
run 0 run --json race.trace
says out '"exit": 0'
says out '"error": null'
says out '"output": null'
run 0 run -o res race.trace
says out 'results  res/stats.txt, res/races.jsonl, ...'
says out 'next     `lardsim explain races`'
silent out 'give -o DIR'

# ---- races by pair of sites --------------------------------------------------------------------------

# Pair I of thirteen races I times, but the pairs 6 and 7 as often as each other; the last one has no sites, and another
# address each time. The page shows ten, the most frequent first.
awk 'BEGIN {
    print "lardsim-text 2\ngranularity 4"
    for (i = 1; i <= 13; i++) {
        printf "T0 write 0x%x 4 @0x%x\n", 4096 * i, 100 + i
        for (k = 0; k < (i == 7 ? 6 : i); k++) printf "T%d write 0x%x 4 @0x%x\n", 1 + k % 2, 4096 * i, 200 + i
    }
    print "T0 write 0x100 4\nT1 write 0x100 4\nT0 write 0x200 4\nT1 write 0x200 4"
}' >many.trace
run 0 run --set policy.vc.history=last many.trace
sed -n 's/^ *\([0-9]*\)  write of 4 bytes at 0x\([0-9a-f]*\) by .*/\1 \2/p' out >shown
run 0 run -q -o many --set policy.vc.history=last many.trace
# Of each group its size, the first event and the address, by the races of the folder.
perl -e '
    my (%first, %n);
    my $lines = do { local $/; open my $in, "<", "many/races.jsonl"; <$in> };
    for (split /\n/, $lines) {
        my ($event, $address) = /"event": (\d+), "address": "0x([0-9a-f]+)"/ or next;
        my ($id) = /"race": "([0-9a-f]+)"/;
        my @sites = /"site": ("[^"]*"|null)/g;
        my $key = join("", @sites) =~ /^(?:null)+$/ ? "$id $address" : $id;
        $first{$key} ||= [$event, $address];
        $n{$key}++;
    }
    my @in_order = sort { $n{$b} <=> $n{$a} || $first{$a}[0] <=> $first{$b}[0] } keys %n;
    print "$n{$_} $first{$_}[1]\n" for @in_order[0 .. 9];
    print "more ", @in_order - 10, "\n";
' >want
grep -v more want | cmp -s - shown || fail "pairs of sites are shown in another order: $(grep -v more want | diff - shown | head -n 4)"
run 0 run --set policy.vc.history=last many.trace
says out "  and $(sed -n 's/^more //p' want) more"
run 0 run --json --set policy.vc.history=last many.trace
[ "$(grep -c '"race":' out)" = 10 ] || fail "--json has $(grep -c '"race":' out) pairs, not the 10 most frequent"
says out "\"groups\": $((10 + $(sed -n 's/^more //p' want)))"
# A race keeps the names that were true when it was found.
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'name object 0x10 "account"' 'name site 0x2 "here"' 'name thread 1 "teller"' 'T0 write 0x10 4 @0x1' \
    'T1 write 0x10 4 @0x2' 'name object 0x10 "something else entirely"' 'name site 0x2 "elsewhere"' 'name thread 1 "another"' 'T2 write 0x90 4' >names.trace
run 0 run names.trace
says out 'write of 4 bytes at 0x10 (account) by thread 1 (teller), event 1, at here'
silent out else
# Of several policies each has its count; of one alone there is no more to say.
printf '%s\n' 'lardsim-text 2' 'T0 write 0x10 4 @0x1' 'T1 read 0x10 4 @0x2' 'T1 read 0x10 4 @0x2' >twice.trace
run 0 run -p all=vc -p once=vc --set policy.once.after-race=disable-variable twice.trace
says out '           all 2, once 1'
run 0 run -p all=vc twice.trace
silent out '           all'

# Three findings are shown, and how many more there are.
run 0 run --json -c radish8 -p lardish synth:events=200,threads=2
findings=$(sed -n '/"findings": \[/,/\]/p' out | grep -c '"key":')
run 0 run -c radish8 -p lardish synth:events=200,threads=2
[ "$findings" -gt 3 ] || fail "the test is wrong: there are $findings findings"
sed -n '/^findings/,/^$/p' out >shown
[ "$(wc -l <shown)" = 5 ] || fail "not three findings are shown, and a line of the others: $(cat shown)"
says shown "          and $((findings - 3)) more: --json shows them"
run 0 run -c radish8 -p lardish -o found synth:events=200,threads=2
says out "          and $((findings - 3)) more: \`findings\` in stats.json"

# ---- again -------------------------------------------------------------------------------------------

for words in '--config source.yaml' '--preset radish8' '--set granularity=4' '-p vc' 'race.trace'; do
    # shellcheck disable=SC2086 # words
    run 2 run --again res $words
    says err 'run: --again takes the source and every parameter from its folder'
done
run 0 run -c radish8 -o machine workload:philosopher
mkdir below
(
    cd below || exit 1
    "$lardsim" run --again ../machine --timeline t.json --record t.lard -o here >out 2>err
) || fail "run --again from elsewhere, with files: $(cat below/err)"
for file in t.json t.lard here/DONE; do
    [ -s below/$file ] || fail "run --again writes $file somewhere else, or not at all: $(find . -name "${file%/*}")"
done
says below/out 'the same as ../machine'
# Intervals are for a folder: with none they are left out.
run 0 run -q -c radish8 --set stats.interval=500 --set stats.rows=4 -o intervals synth:events=500
run 0 run --again intervals
says out 'the same as intervals'
run 0 run -q --again intervals -o again
cmp -s intervals/intervals.csv again/intervals.csv || fail "run --again into a folder has other intervals"
exit $bad
