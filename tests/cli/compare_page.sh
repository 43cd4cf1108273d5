#!/bin/sh
# compare_page.sh - does the page of compare say what its JSON and its statistics have, each number in its table, and each
# sentence when there is reason for it? docs/compare.md defines them; this works them out once more.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
cat >page.pl <<'END'
# page.pl JSON PAGE: a line for each thing that the page should say, and does not
use strict;
use warnings;
my ($json, $page) = map { local $/; open my $f, '<', $_ or die "$_\n"; <$f> } @ARGV;
sub value {
    if ($json =~ /\G\s*\{/gc) {
        my %h;
        until ($json =~ /\G\s*\}/gc) {
            $json =~ /\G[\s,]*"((?:[^"\\]|\\.)*)"\s*:/gc or die 'no key';
            my $key = $1;
            $h{$key} = value();
        }
        return \%h;
    }
    if ($json =~ /\G\s*\[/gc) {
        my @a;
        until ($json =~ /\G[\s,]*\]/gc) { $json =~ /\G\s*,/gc; push @a, value() }
        return \@a;
    }
    return $1 if $json =~ /\G\s*"((?:[^"\\]|\\.)*)"/gc;
    $json =~ /\G\s*([^\s,\]}]+)/gc or die 'no value';
    return $1 eq 'null' ? undef : $1;
}
my $all = value();
my @row = @{$all->{policies}};
my @on = @row[1 .. $#row];
my $region = $row[0]{measured} eq 'region';
sub part { $region ? $_[0]{region} : $_[0] } # what the overhead is of
sub percent { sprintf '%.1f %%', 100 * $_[0] / $_[1] }
sub bytes {
    my ($n, @unit) = ($_[0], '', 'Ki', 'Mi', 'Gi', 'Ti');
    while ($n >= 10240 && @unit > 1) { $n /= 1024; shift @unit }
    return sprintf '%.0f%s', $n, $unit[0];
}
my @line = split /\n/, $page;
sub expect { grep { $_ eq $_[0] } @line or print "no line: $_[0]\n" }
sub silent { print "$_[1]: $_\n" for grep { /$_[0]/ } @line }
# The rows of the table below the first head that fits: each has these fields, and its columns end where the others' do.
sub table {
    my ($head, $numbers, @want) = @_;
    my ($at) = grep { $line[$_] =~ /$head/ } 0 .. $#line;
    if (!@want) { print "a table of nothing: $head\n" if defined $at; return }
    if (!defined $at) { print "no table with the head $head\n"; return }
    my %end;
    for my $i (0 .. $#want) {
        my $is = $line[$at + 1 + $i];
        my $same = join(' ', split ' ', $is);
        print "$head: '$same', not '$want[$i]'\n" if $same ne $want[$i];
        my $n = 0;
        while ($is =~ /(\S+(?: %)?)/g) { $end{$n++}{$n == 1 ? $-[1] : $+[1]} = 1; last if $n > $numbers }
    }
    print "$head: more rows: $line[$at + 1 + @want]\n" if ($line[$at + 1 + @want] // '') ne '';
    print "$head: column $_ is not straight\n" for grep { keys %{$end{$_}} > 1 } sort keys %end;
}

my $none = $row[0];
my $before = part($none)->{cycles};
my $cores = $all->{machine}{cores};
expect("$all->{source}: $none->{events} event" . ($none->{events} == 1 ? '' : 's') . ', for each policy on a machine of its own');
my $m = $all->{machine};
expect("machine    $cores core" . ($cores == 1 ? '' : 's') . " at $m->{frequency} MHz, $m->{order} order, contention $m->{contention}, memory $m->{'memory-type'}");
if ($region) {
    expect('measured   the region of interest, ' . percent($before, $none->{cycles}) . ' of the cycles of none; the whole run stands below');
} else {
    expect('measured   the whole run, as no region of interest is marked');
}
silent('^overhead   of', 'there is no overhead, and yet') if !@on;
expect($m->{order} eq 'program' ? 'overhead   of the same program: each machine has an execution of its own, which follows its time'
    : 'overhead   of the same events, and the same order of synchronisation') if @on;
sub races { my $r = $_[0]{races}; ($r->{accesses}, $r->{sites}, $r->{locations}) }
table('^policy +cycles +overhead +accesses', 8, map {
    my $p = part($_);
    my $b = $p->{'metadata-bytes'};
    join ' ', $_->{policy}, $p->{cycles}, percent($p->{cycles} - $before, $before), races($p),
        (map { defined $b->{$_} ? bytes($b->{$_}) : '-' } 'live', 'peak'), $p->{'remote-misses'}, $_->{property};
} @row);
table('^policy +racy +false +missed +of', 3, map { my $t = $_->{truth}; "$_->{policy} $t->{racy} $t->{false} $t->{missed} $t->{of}" } grep { $_->{truth} } @on);

# Where the time went: of the cores that had threads, in one of the two runs.
sub used { my ($a, $b) = ($none->{'cores-used'}, $_[0]{'cores-used'}); $a > $b ? $a : $b }
my %where = (handler => 'handler', executing => 'executing', l1 => 'caches', l2 => 'caches', l3 => 'caches', remote => 'remote', memory => 'memory', idle => 'idle');
sub spent {
    my ($p, $used) = @_;
    my %sum;
    $sum{$where{$_} // 'waiting'} += $p->{spent}{$_} for keys %{$p->{spent}};
    $sum{idle} -= ($cores - $used) * $p->{cycles};
    return %sum;
}
table('^policy +handler +executing', 9, map {
    my ($row, $used) = ($_, used($_));
    my (%with, %without) = ();
    %with = spent(part($row), $used);
    %without = spent(part($none), $used);
    join ' ', $row->{policy}, (map { my $x = percent($with{$_} - $without{$_}, $before * $used); $x eq '-0.0 %' ? '0.0 %' : $x }
        qw(handler executing caches remote memory waiting idle)), part($row)->{'metadata-accesses'}, part($row)->{'metadata-misses'};
} @on);
my $most = 0;
for (@on) { $most = used($_) if used($_) > $most }
expect('the overhead, by what the time of ' . ($most == $cores ? 'all cores' : "the $most cores that had threads (" . ($cores - $most) . ' had none)') . ' went to:') if @on;
table('^policy +fills', 9, map {
    my $row = $_;
    join ' ', $row->{policy}, map { percent(part($row)->{handlers}{$_}, $before * used($row)) } qw(fills evictions storms checks regions flushes roll-overs runtime histories);
} grep { part($_)->{handlers} } @on);

# Sentences that have a reason, or are not there.
sub sentence {
    my ($begin, $end, @what) = @_;
    @what ? expect($begin . join(', ', @what) . $end) : silent('^' . quotemeta $begin, 'without reason');
}
sentence("of it the collecting thread's work for collections: ", ' (short runs collect far more often than real programs)', map {
    my ($p, $part) = (part($_), part($_)->{'collection-cycles'});
    $part > 0 && $part * 10 >= $p->{cycles} - $before ? "$_->{policy} " . percent($part, $before) : ();
} @on);
my @space = grep { $_->{space} && $_->{space}{collections} && $_->{space}{heap} } @on;
sentence('space beside the heap after full collections: ', '', map { "$_->{policy} " . percent($_->{space}{total} - $_->{space}{heap}, $_->{space}{heap}) } @space);
print "no space of the hardware's caches\n" if (grep { $_->{handlers} } @space) && !grep { /^beside it at most so much of the caches, for lines of histories: \S+ [0-9]+(Ki|Mi)?(, |$)/ } @line;
sentence('no time was charged by: ', ' (nothing that it charges for happened)', map { $_->{spent}{handler} || $_->{'metadata-accesses'} ? () : $_->{policy} } @on);
if ($region) {
    table('^policy +cycles +overhead-whole +races', 3, map { join ' ', $_->{policy}, $_->{cycles}, percent($_->{cycles} - $none->{cycles}, $none->{cycles}), $_->{races}{accesses} } @row);
} else {
    silent('^the whole run:', 'there is no region, and yet');
}
my @course = grep { $_->{course} && @{$_->{course}} } @on;
table('^policy +1/8', 4, map {
    my $row = $_;
    join ' ', $row->{policy}, (map { percent($_->{'cycles-to-none'} - 1, 1) } @{$row->{course}}), $row->{settled} eq 'true' ? 'settled' : 'not settled: a longer run has another';
} @course);
expect('the overhead after a part of the ' . ($region ? "region's " : '') . 'events:') if @course;
sub ends { # a table of several runs: the overheads in each
    my $runs = shift;
    return map { my $p = $_->{policy}; [map { $_->{$p} // $_->{overhead}{$p} // die 'no overhead' } @$runs] } @on;
}
silent('^the overhead with|^the overhead as|core.unmodelled from', 'nobody asked for');
# What is true of all runs is told, and the rest counted.
my %in;
for my $p (@row) { $in{$_}++ for map { $_->{sentence} } @{$p->{findings}} }
my @common = grep { $in{$_} == @row } map { $_->{sentence} } @{$row[0]{findings}};
my $single = 0;
for my $p (@row) { $single += grep { $in{$_->{sentence}} != @row } @{$p->{findings}} }
if (@common) {
    my ($first) = grep { /^findings  / } @line;
    print "the first finding is: $first\n" if ($first // '') ne "findings  $common[0]";
    my $more = @common - grep { my $c = $_; grep { $_ eq "findings  $c" || $_ eq "          $c" } @line } @common;
    my $rest = join ', and ', ($more ? "$more more" : ()), ($single ? "$single of single runs" : ());
    print "the findings that are not told are not: $rest\n" if $rest && !grep { index($_, $rest) >= 0 } @line;
}
expect('races      planted: an input of the workload, as `lardsim workload describe` shows') if $all->{'planted-races'} eq 'true';
silent('^races      planted', 'nothing is planted, and yet') if $all->{'planted-races'} ne 'true';
expect(@on ? 'next     -o DIR keeps the results of each run, --truth LABEL shows who is wrong'
    : 'next     -p NAME, given once or more, shows what a policy costs (`lardsim list policies`)');
END

# page WHAT ARGUMENT...: of a comparison
page() {
    what=$1
    shift
    run 0 compare "$@"
    cp out page
    run 0 compare --json "$@"
    perl page.pl out page >differ 2>&1 || fail "$what: no JSON: $(head -n 2 differ)"
    [ ! -s differ ] || fail "$what: $(head -n 3 differ)"
}
page 'hardware and software' -c radish8 -p vc -p fasttrack -p a-long-label=lardish workload:xalan@lard,collections=1,accesses=10k
page 'as many threads as cores' -c radish8 --set cores=2 -p vc -p radish workload:sor,n=20,steps=2
page 'no policy' -c radish8 workload:sor,n=10
page 'recorded order' -c radish8 --set order=recorded -p fasttrack -p eraser synth:events=2k,seed=3
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'T0 io +9' >one.trace
page 'one event on one core' -c radish8 --set cores=1 -p fasttrack one.trace
awk 'BEGIN {print "lardsim-text 2\ngranularity 8"; for (i = 0; i < 3000; i++) printf "T0 write %d 8 +%d\n", 4096 + i % 700 * 64, i % 7}' >plain.trace
page 'one thread without a region' -c radish8 -p fasttrack -p none-at-all=none -p vc plain.trace
# ---- without a machine: the counts of verdicts ---------------------------------------------------

# The tables have what the statistics of the results say, - where there is no such statistic; the columns of labels are as
# wide in each.
cat >verdicts.pl <<'END'
# verdicts.pl STATS PAGE LABEL...
use strict;
use warnings;
my ($stats, $page, @label) = @ARGV;
my (%stat, %end);
open my $f, '<', $stats or die;
while (<$f>) { $stat{$1} = $2 if /^([^,]*),([0-9]+),/ }
open $f, '<', $page or die;
my @line = map { s/\n//r } <$f>;
sub shown { my $v = $stat{$_[0]}; defined $v ? $v : '-' }
sub table {
    my ($head, @want) = @_;
    my ($at) = grep { $line[$_] =~ /$head/ } 0 .. $#line;
    if (!defined $at) { print "no table with the head $head\n" if @want; return }
    print "a table of nothing: $head\n" if !@want;
    for my $i (0 .. $#want) {
        my $is = $line[$at + 1 + $i] // '';
        print "$head: '$is', not '$want[$i]'\n" if join(' ', split ' ', $is) ne $want[$i];
        print "$head: '$is' is not as wide as its head\n" if length $is != length $line[$at];
    }
    print "$head: more rows\n" if @want && ($line[$at + 1 + @want] // '') ne '';
}
table('^policy +accesses', map { my $l = $_; join ' ', $l, shown("policy.$l.races.accesses"), shown("policy.$l.races.sites"),
    map { my $v = $_; map { shown("compare.$l.$v.$_") } qw(accesses sites places pairs) } qw(false missed) } @label);
table('^policy +program', map { my $l = $_; my @n = map { "compare.$l.$_" } qw(false.program false.system missed.program missed.system);
    (grep { $stat{$_} } @n) ? join ' ', $l, map { shown($_) } @n : () } @label);
table('^policy +count', map { my $l = $_; map { my $v = $_; map { my $of = $_; $stat{"compare.$l.$v.$of"} ? join ' ', $l, $v, $of, shown("compare.$l.$v.$of"),
    map { shown("compare.$l.$v.why.$of.$_") } qw(unchecked no-conflict ordered forgotten rule unknown) : () } qw(accesses places pairs) } qw(false missed) } @label);
END
# verdicts WHAT SOURCE LABELS ARGUMENT...
verdicts() {
    what=$1 source=$2 labels=$3
    shift 3
    run 0 compare --overwrite -o kept "$@" "$source"
    # shellcheck disable=SC2086 # words
    perl verdicts.pl kept/stats.csv out $labels >differ 2>&1
    [ ! -s differ ] || fail "$what: $(head -n 3 differ)"
}
gc=$top/workloads/litmus/gc_move_race.trace
verdicts 'views' "$gc" 'lard all-memory all-sync no-clear no-copy naive'
verdicts 'a long label behind others' synth:events=3000,threads=4,racy=50 'vc a-long-label cvm' -p vc -p a-long-label=eraser -p cvm
verdicts 'two long labels' "$gc" 'the-first-of-them b the-longest-of-all-of-them' -p the-first-of-them=vc -p b=vc -p the-longest-of-all-of-them=vc \
    --set policy.b.view=naive --set policy.the-longest-of-all-of-them.view=all-memory
[ "$(tail -n 1 out)" = 'results  kept/compare.json, kept/differences.jsonl, ...' ] || fail "where results are is not said: $(tail -n 1 out)"
run 0 compare -p vc -p fasttrack "$gc"
[ "$(tail -n 1 out)" = 'next     --list prints each difference, -o DIR keeps them' ] || fail "what to do next is not said: $(tail -n 1 out)"
run 0 compare --list -p vc -p fasttrack "$gc"
grep -q '^next ' out && fail "who has the list is told to ask for it"
verdicts 'no difference' "$gc" 'vc fasttrack' -p vc -p fasttrack
printf '%s\n' 'lardsim-text 2' 'granularity 4' 'T0 io' >one.trace
verdicts 'one event' one.trace 'vc eraser' -p vc -p eraser
[ "$(head -n 1 out)" = 'one.trace: 1 event' ] || fail "of one event the page says: $(head -n 1 out)"
exit $bad
