# tables_lard.pl - judges LARD's Tables 2 and 3 (docs/reproduce.md): each line of the page and each member of --json is
# made once more of the counts in the CSV, the paper's numbers in results/papers/printed and the programs in
# results/papers/suites.csv. The counts of one cell are held to the statistics of a run of its program.
use strict;
use warnings;
our ($place, $line_number);

our @views = qw(lard all-memory all-sync no-clear no-copy naive);
our @tallies = qw(races false missed);
our @units = qw(accesses sites system system-sites);

# What each table claims: of which detector, in which counts, in which words, and when it holds, fails or has no case.
sub when { return $_[0] ? 'holds' : 'fails' }
our %claims = (
    2 => [['lard', ['races'], 'finds what an accurate detector finds', sub { my ($n) = @_; when(!$n->('lard', 'false') && !$n->('lard', 'missed')) }],
        ['naive', ['races'], "more, at more sites, also the system's",
            sub { my ($n) = @_; when($n->('naive', 'races') > $n->('lard', 'races') && $n->('naive', 'races', 'sites') > $n->('lard', 'races', 'sites') && $n->('naive', 'races', 'system')) }]],
    3 => [['lard', ['races'], 'no false, no missed', sub { my ($n) = @_; when(!$n->('lard', 'false') && !$n->('lard', 'missed')) }],
        ['all-memory', ['false'], 'false everywhere', sub { my ($n) = @_; when($n->('all-memory', 'false')) }],
        ['all-sync', ['missed'], 'misses where there are races',
            sub { my ($n, $c) = @_; my $all = $n->('truth', 'races'); !$all ? 'no-case' : when($n->('all-sync', 'missed') >= ($c->{hidden} ? 0.9 * $all : 1)) }],
        ['no-clear', ['false'], 'false only where memory is reused',
            sub { my ($n, $c) = @_; my $some = $n->('no-clear', 'false'); !$c->{again} ? when(!$some) : $some ? 'holds' : 'no-case' }],
        ['no-copy', ['missed'], 'misses only what races and moves',
            sub { my ($n, $c) = @_; my $some = $n->('no-copy', 'missed'); !$n->('truth', 'races') || $c->{collector} ne 'semispace' ? when(!$some) : $some ? 'holds' : 'no-case' }],
        ['naive', ['false', 'missed'], 'false everywhere, misses where races are',
            sub { my ($n) = @_; when($n->('naive', 'false') && (!$n->('truth', 'races') || $n->('naive', 'missed'))) }]]);
our @needs = (['all-memory', 'false', 'somewhere it has false races'], ['all-sync', 'missed', 'somewhere it misses races'],
    ['no-clear', 'false', 'somewhere it has false races'], ['no-copy', 'missed', 'somewhere it misses races']);
our %in_words = (holds => 'holds', fails => 'FAILS', 'no-case' => 'no case');

# ---- the counts ----------------------------------------------------------------------------------------------

# The cells of the CSV, in order, each with what suites.csv says of its program and what the paper printed of it.
sub lard_cells {
    my ($top, $table, $suite, $file) = @_;
    my ($head, @rows) = csv_file($file);
    same("$file: its heads", join(',', @$head), 'table,program,variant,collector,detector,measure,value,paper');
    my (%printed, @cells);
    my (undef, @all) = csv_file("$top/results/papers/printed/lard-table$table.csv");
    $printed{ join ',', @$_[2 .. 5] } = $_ for @all;
    my (undef, @programs) = csv_file("$top/results/papers/suites.csv");
    for my $p (grep { $_->[0] eq $suite } @programs) {
        push @cells, map { { program => $p->[1], racy => $p->[2] eq 'yes', row => $p->[3], hidden => $p->[4] eq 'yes', settings => $p->[6], collector => $_ } } qw(marksweep semispace);
    }
    my $i = -1;
    for my $r (@rows) {
        my ($of, $program, $variant, $collector, $detector, $measure, $value, $paper) = @$r;
        same("$file: a row's table", $of, "lard-table$table");
        $i++ if $i < 0 || $program ne $cells[$i]{program} || $collector ne $cells[$i]{collector} || $variant ne $cells[$i]{variant};
        my $c = $cells[$i] or wrong("$file has a cell too many: @$r");
        $c->{variant} = $variant unless defined $c->{variant};
        same("$file: cell $i", "$program $collector", "$c->{program} $c->{collector}");
        wrong("$file: $program is $variant") unless $c->{racy} ? $variant =~ /^(racy|planted-races)$/ : $variant eq 'race-free';
        wrong("$file has twice: @$r") if exists $c->{of}{"$detector $measure"};
        $c->{of}{"$detector $measure"} = $value;
        my $is = $printed{"$c->{row},$collector,$detector,$measure"};
        same("$file: the paper's number of $program $collector $detector $measure", $paper // '', length $c->{row} && $is ? $is->[6] : '');
        $c->{paper}{"$detector $measure"} = $is if length $c->{row} && $is;
    }
    same("$file: its cells", $i + 1, scalar @cells);
    return @cells;
}
sub lard_count {
    my ($c, $view, $tally, $unit) = @_;
    my $at = "$view $tally." . ($unit || 'accesses');
    return exists $c->{of}{$at} ? $c->{of}{$at} : wrong("$c->{program}, $c->{collector}: the CSV has no $at");
}

# A race is found or missed, and what is found besides is false; of all counts the system's are a part. The CSV has the
# verdicts, too.
sub judge_lard_counts {
    my ($table, @cells) = @_;
    for my $c (@cells) {
        my $n = sub { lard_count($c, @_) };
        my $who = "$c->{program}, $c->{collector}";
        for my $v (@views) {
            same("$who, $v: its races", $n->($v, 'races'), $n->('truth', 'races') - $n->($v, 'missed') + $n->($v, 'false'));
            for my $t (@tallies) {
                wrong("$who, $v: more of the system's $t than of all") if $n->($v, $t, 'system') > $n->($v, $t) || $n->($v, $t, 'system-sites') > $n->($v, $t, 'sites');
            }
        }
        $c->{again} = $c->{of}{' uses.again'};
        $c->{verdict} = { map { $_->[0] => $_->[3]->($n, $c) } @{ $claims{$table} } };
        same("$who: the CSV's verdict on $_", $c->{of}{"$_ verdict"}, $in_words{ $c->{verdict}{$_} }) for keys %{ $c->{verdict} };
        $c->{sound} = when(($n->('truth', 'races') > 0) == $c->{racy});
    }
}

# ---- the page ------------------------------------------------------------------------------------------------

sub lard_difference {
    my ($paper, $ours) = @_;
    return '=' if $paper == $ours;
    return "+$ours" unless $paper;
    return 'x' . int($ours / $paper) if abs($ours - $paper) >= 100 * $paper;
    my $tenths = int(abs($ours - $paper) * 1000 / $paper + 0.5);
    $tenths = 999 if $ours && $ours < $paper && $tenths == 1000;
    return sprintf '%s%d.%d%%', $ours < $paper ? '-' : '+', int($tenths / 10), $tenths % 10;
}
sub lard_pair {
    my ($c, $at, $wide) = @_;
    my $is = $c->{paper}{$at};
    return sprintf "%${wide}s %${wide}s %8s", $is ? $is->[6] : '-', $c->{of}{$at}, $is ? lard_difference($is->[6], $c->{of}{$at}) : '-';
}
sub says_lard_cell {
    my ($table, $c) = @_;
    my $planted = $c->{variant} eq 'planted-races';
    my $n = sub { lard_count($c, @_) };
    says('', "$c->{program}, $c->{variant}, $c->{collector}: $c->{of}{' events'} events; truth: " . $n->('truth', 'races') . ' racy accesses at ' . $n->('truth', 'races', 'sites') . ' sites',
        "  memory of another object used $c->{again} times, a moved object $c->{of}{' uses.moved'} times");
    says('  its races are planted, an input' . (length $c->{row} ? ' of the twin: how many, and how many of them the system or a move hides' : ': where they are')) if $planted;
    says(sprintf('  %-17s %28s   %22s', '', 'racy accesses', 'their sites'),
        sprintf('  %-10s %-6s %9s %9s %8s   %6s %6s %8s  %-41s %s', 'detector', '', qw(paper ours diff paper ours diff), 'the paper says', 'ours'));
    says("  FAILS: the program should have @{[$c->{racy} ? '' : 'no ']}races") if $c->{sound} ne 'holds';
    for my $claim (@{ $claims{$table} }) {
        my ($view, $shows, $text) = @$claim;
        for my $t (@$shows) {
            says(sprintf('  %-10s %-6s ', $view, $t) . lard_pair($c, "$view $t.accesses", 9) . '   ' . lard_pair($c, "$view $t.sites", 6) .
                    ($t eq $shows->[0] ? sprintf '  %-41s %s', $text, $in_words{ $c->{verdict}{$view} } : ''));
        }
    }
    my $what = $table == 3 ? 'false' : 'races';
    my @system = map { my $v = $_->[0]; "$v " . ($table == 3 ? 'false ' : '') . $n->($v, $what, 'system') . ' at ' . $n->($v, $what, 'system-sites') } grep { $n->($_->[0], $what, 'system') } @{ $claims{$table} };
    says('  at sites of the runtime system: ' . join ', ', @system) if @system;
    for my $claim (@{ $claims{$table} }) {
        for my $t (@{ $claim->[1] }) {
            my %told;
            for my $is (grep { $_ && length $_->[8] } map { $c->{paper}{"$claim->[0] $t.$_"} } qw(accesses sites)) {
                says("  on the paper's count, $claim->[0] $t: $is->[8]") unless $told{ $is->[8] }++;
            }
        }
    }
}

# In how many cells the extension makes a difference.
sub lard_needs { my ($need, @cells) = @_; return scalar grep { lard_count($_, @$need[0, 1]) > 0 } @cells }

sub lard_verdicts {
    my ($table, @cells) = @_;
    my %n = (holds => 0, fails => 0, 'no-case' => 0);
    $n{$_}++ for map { ($_->{sound}, values %{ $_->{verdict} }) } @cells;
    $n{ when(lard_needs($_, @cells)) }++ for $table == 3 ? @needs : ();
    return \%n;
}
our %lard_title = (2 => 'LARD, Table 2: races found, each program and collector',
    3 => 'LARD, Table 3: false and missed races with single extensions left out');

# ---- JSON ----------------------------------------------------------------------------------------------------

sub judge_lard_json {
    my ($table, $suite, $file, @cells) = @_;
    my $count = sub {
        my ($c, $view, $t, $unit) = @_;
        my $is = $c->{paper}{"$view $t.$unit"};
        return { measure => "$t.$unit", paper => $is && $is->[6], ours => lard_count($c, $view, $t, $unit),
            system => lard_count($c, $view, $t, $unit eq 'sites' ? 'system-sites' : 'system'), erratum => $is && length $is->[8] ? $is->[8] : undef };
    };
    my $cell = sub {
        my ($c) = @_;
        return { program => $c->{program}, settings => length $c->{settings} ? $c->{settings} : undef, variant => $c->{variant}, collector => $c->{collector},
            row => length $c->{row} ? $c->{row} : undef, events => $c->{of}{' events'}, 'uses.again' => $c->{again}, 'uses.moved' => $c->{of}{' uses.moved'},
            truth => { (map { $_ => lard_count($c, 'truth', 'races', $_) } qw(accesses sites)), claim => $c->{racy} ? 'the program has races' : 'the program has none', verdict => $c->{sound} },
            claims => [map { my ($view, $shows, $text) = @$_;
                    { detector => $view, claim => $text, verdict => $c->{verdict}{$view}, counts => [map { my $t = $_; map { $count->($c, $view, $t, $_) } qw(accesses sites) } @$shows] } } @{ $claims{$table} }] };
    };
    $place = $file;
    same_data('the object', json_file($file), { schema => 'lardsim-reproduce-1', result => "lard-table$table", title => $lard_title{$table}, programs => $suite,
            cells => [map { $cell->($_) } @cells],
            overall => [map { my $n = lard_needs($_, @cells); { detector => $_->[0], claim => $_->[2], verdict => when($n), cells => $n } } $table == 3 ? @needs : ()],
            verdicts => lard_verdicts($table, @cells) });
}

# TOP: the source folder; the page, the CSV, and what --json printed, or "".
sub judge_lard {
    my ($top, $table, $suite, $page, $csv, $json) = @_;
    $place = $csv;
    my @cells = lard_cells($top, $table, $suite, $csv);
    judge_lard_counts($table, @cells);
    page_open($page);
    says($lard_title{$table}, 'DRE: racy accesses; PC: their sites. false, missed: against a truth that goes by (object identity,',
        'offset), not by addresses, Clear or Copy.');
    says_lard_cell($table, $_) for @cells;
    says('', 'over all programs: every extension is needed') if $table == 3;
    for my $need ($table == 3 ? @needs : ()) {
        my $n = lard_needs($need, @cells);
        says(sprintf '  %-10s %-30s in %d of %d  %s', @$need[0, 2], $n, scalar @cells, $in_words{ when($n) });
    }
    my $n = lard_verdicts($table, @cells);
    says('', "claims: $n->{holds} hold, $n->{fails} fail, $n->{'no-case'} have no case");
    page_end();
    judge_lard_json($table, $suite, $json, @cells) if length $json;
}

# DIR: results of one program under one collector, with the preset lard-table3: the CSV's counts are its statistics.
sub judge_lard_run {
    my ($dir, $csv, $program, $collector) = @_;
    my $r = results($dir);
    my %of = map { ("$_->[4] $_->[5]" => $_->[6]) } grep { $_->[1] eq $program && $_->[3] eq $collector } csv_file($csv);
    $place = $csv;
    same("$program, $collector: its events", $of{' events'}, count($r, 'events.total'));
    for my $v (@views) {
        same("$program, $collector: $_ of $v", $of{"$v races.$_"}, count($r, "policy.$v.races.$_")) for qw(accesses sites);
    }
}
1;
