# tables_papers.pl - judges what `lardsim reproduce` prints and writes of a paper's table (docs/reproduce.md): the page,
# --json, CSV and the script for gnuplot, from the statistics of its cells and from results/papers/printed and results/papers/claims.
use strict;
use warnings;
our ($place, $line_number, @page, %keys_of);

# ---- cells ---------------------------------------------------------------------------------------------------

our (%cell, @programs, $seeds, $unmodelled); # by source, policy, and core.unmodelled; those of the JSON

sub cells_of {
    my ($dir) = @_;
    %cell = ();
    for my $folder (glob "$dir/cells/*") {
        my ($source) = file_text("$folder/provenance.json") =~ /^  "source": "(.*)",$/m;
        my $config = config_file("$folder/config.yaml");
        my %stat = map { $_->[0] => $_->[1] } csv_file("$folder/stats.csv");
        my ($behaviour) = file_text("$folder/provenance.json") =~ /^  "behaviour": "(.*)",$/m;
        $cell{$source}{ (labels({ config => $config }))[0] }{ $config->{'core.unmodelled'} || 0 } =
            { stat => \%stat, behaviour => $behaviour };
    }
}
sub source_of {
    my ($p, $seed, $size) = @_;
    return "workload:$p->{source}" . (defined $size ? ",$size" : '') . ",seed=$seed";
}

# ---- measures ------------------------------------------------------------------------------------------------

# The sum of what the patterns name; undef where the cell has none of it.
sub stats_sum {
    my ($cell, $policy, $region, @patterns) = @_;
    my ($sum, $some) = (0, 0);
    for my $pattern (@patterns) {
        my $name = ($region ? 'roi.' : '') . $pattern =~ s/\$/$policy/r;
        my $match = join '.*', map { quotemeta } split /\*/, $name, -1;
        my @names = $name =~ /\*/ ? grep { /^$match$/ } keys %{ $cell->{stat} } : grep { exists $cell->{stat}{$_} } $name;
        for (@names) { next unless length $cell->{stat}{$_}; $sum += $cell->{stat}{$_}; $some = 1 }
    }
    return $some ? $sum : undef;
}
sub cycles_of {
    my ($own, $base) = @_;
    my @at = map { $_->{stat}{'roi.machine.cycles'} } $own, $base;
    @at = map { $_->{stat}{'machine.cycles'} } $own, $base unless grep { defined } @at;
    return (grep { !defined } @at) ? () : @at;
}

# Parts of an overhead: statistics that add up to it. COST stands for the policy's cycles.
sub cost { return map { my $at = $_; map { "policy.\$.cost.cycles.$at.$_" } split ' ', $_[1] } split ' ', $_[0] }
our %share = (instructions => [cost('check', 'instructions l1')], swaps => ['policy.$.cost.cycles.*.atomics'],
    'slow-paths' => [cost('slow', 'instructions l1')], 'local-misses' => [cost('check slow sync heap', 'local')],
    'remote-misses' => [cost('check slow sync heap', 'remote')], 'read-maps' => [cost('maps', 'instructions l1 local remote')],
    'region-ends' => [cost('sync heap', 'instructions l1')], collections => [cost('collections', 'instructions l1 local remote')],
    handler => ['machine.spent.handler'], program => [map { "machine.spent.$_" } qw(executing l1 l2 l3 remote memory)]);
our %ratio = ('no-update-reads' => [100, 'policy.$.cost.reads-same', 'policy.$.cost.reads'],
    'no-update-writes' => [100, 'policy.$.cost.writes-same', 'policy.$.cost.writes'],
    'access-instructions' => [1, 'policy.$.cost.instructions', 'policy.$.checked'],
    shadow => [1, 'policy.$.arrays.fraction.num', 'policy.$.arrays.fraction.den'], checks => [1, 'policy.$.checks']);

sub measure {
    my ($name, $policy, $own, $base) = @_;
    my ($with, $without) = $base ? cycles_of($own, $base) : ();
    if ($ratio{$name}) {
        my ($times, @of) = @{ $ratio{$name} };
        my ($over, $under) = map { stats_sum($own, $policy, 0, $_) } @of;
        $under = 1 if @of < 2;
        return defined $over && $under ? $times * $over / $under : undef;
    }
    return undef unless defined $without;
    my $region = exists $own->{stat}{'roi.machine.cycles'};
    my $cores = $base->{stat}{'machine.cores-used'};
    my $overhead = 100 * ($with / $without - 1);
    return $overhead if $name eq 'overhead';
    return 100 * ($own->{stat}{'machine.cycles'} / $base->{stat}{'machine.cycles'} - 1) if $name eq 'overhead-whole';
    return 100 * $own->{stat}{'machine.instructions'} / $base->{stat}{'machine.instructions'} if $name eq 'more-instructions';
    return stats_sum($base, $policy, $region, 'machine.cycles') * $cores / stats_sum($own, $policy, $region, 'policy.$.accesses')
        if $name eq 'base-access';
    my @of = @{ $share{$name} || ($name eq 'waiting' ? [map { @{ $share{$_} } } qw(handler program)] : wrong("the judge knows no measure $name")) };
    my ($more, $less) = map { stats_sum($_, $policy, $region, @of) } $own, $base;
    return undef unless defined $more;
    my $share = 100 * ($more - ($less || 0)) / ($without * $cores);
    return $name eq 'waiting' ? $overhead - $share : $share;
}

# ---- quantities ----------------------------------------------------------------------------------------------

our ($size, $part, $seed_of, $extra); # what a quantity is asked of: `extra` is core.unmodelled
our %measured_of; # by measure, policy and cells: quantities ask for the same again and again

sub mean_of { my (@x) = grep { defined } @_; my $sum = 0; $sum += $_ for @x; return @x ? $sum / @x : undef }

sub measured {
    my ($p, $name, $policy, $step) = @_;
    $name = $part if $name eq 'part' && defined $part;
    my ($of) = !defined $step ? $p : grep { $_->{program} eq $p->{program} && $_->{step} eq $step } @programs;
    return mean_of(map { $_->[0] } map {
            my $all = $cell{ source_of($of, $_, $size) } || {};
            my ($own, $base) = map { $_->{$extra} } $all->{$policy} || {}, $all->{none} || {};
            $own ? $measured_of{ join " ", $name, $policy, $own, $base // "" } ||= [measure($name, $policy, $own, $base)] : [undef]
    } defined $seed_of ? $seed_of : 1 .. $seeds);
}

sub in_set {
    my ($set, $p) = @_;
    return 1 unless defined $set;
    my $not = $set =~ s/^-//;
    my @is = ($p->{program}, defined $p->{step} ? ($p->{step}, $p->{step} =~ s/.*=//r) : ());
    my $in = grep { my $w = $_; grep { $_ eq $w } @is } split ' ', $set;
    return $not ? !$in : $in;
}

our %aggregate = (
    mean => sub { mean_of(@_) }, sum => sub { my $s = 0; $s += $_ for @_; $s }, share => sub { mean_of(@_) },
    geomean => sub { my $s = 0; $s += log for @_; exp($s / @_) }, min => sub { (sort { $a <=> $b } @_)[0] },
    max => sub { (sort { $b <=> $a } @_)[0] },
    median => sub { my @x = sort { $a <=> $b } @_; ($x[$#x / 2] + $x[@x / 2]) / 2 });

# A quantity as text, of a program or of none.
sub quantity { my ($text, $p) = @_; my $x = q_less(\$text, $p); wrong("a quantity that the judge can't read: $text") unless $text =~ /\G *\z/; return $x }
sub q_less {
    my ($t, $p) = @_;
    my $x = q_sum($t, $p);
    return $x unless $$t =~ /\G *< */gc;
    my $y = q_sum($t, $p);
    return defined $x && defined $y ? $x < $y ? 1 : 0 : undef;
}
sub q_sum {
    my ($t, $p) = @_;
    my $x = q_product($t, $p);
    while ($$t =~ /\G *([-+]) */gc) { my $sign = $1; my $y = q_product($t, $p); $x = defined $x && defined $y ? $sign eq '-' ? $x - $y : $x + $y : undef }
    return $x;
}
sub q_product {
    my ($t, $p) = @_;
    my $x = q_factor($t, $p);
    while ($$t =~ m{\G *([*/]) *}gc) { my $sign = $1; my $y = q_factor($t, $p); $x = !defined $x || !defined $y || $sign eq '/' && !$y ? undef : $sign eq '*' ? $x * $y : $x / $y }
    return $x;
}
sub q_factor {
    my ($t, $p) = @_;
    return $1 if $$t =~ /\G *(\d[\d.]*)/gc;
    if ($$t =~ /\G *\( */gc) { my $x = q_less($t, $p); $$t =~ /\G *\)/gc or wrong("no bracket: $$t"); return $x }
    if (!$p && $$t =~ /\G *(mean|geomean|median|sum|min|max|share)(?:\[([^\]]*)\])?\( */gc) {
        my ($of, $set, $from, @x) = ($aggregate{$1}, $2, pos $$t);
        for my $one (@programs) { pos $$t = $from; my $x = q_less($t, $one); push @x, $x if in_set($set, $one) && defined $x }
        $$t =~ /\G *\)/gc or wrong("no bracket: $$t");
        return @x ? $of->(@x) : undef;
    }
    if ($$t =~ /\G *(abs|min|max)\( */gc) {
        my $of = $1;
        my @x = q_less($t, $p);
        push @x, q_less($t, $p) if $$t =~ /\G *; */gc;
        $$t =~ /\G *\)/gc or wrong("no bracket: $$t");
        return undef if grep { !defined } @x;
        return $of eq 'abs' ? abs $x[0] : $aggregate{$of}->(@x);
    }
    return measured($p, $1, $2, $3) if $p && $$t =~ /\G *([a-z][-a-z0-9]*):([-.a-zA-Z0-9]+)(?:@([-.@=a-zA-Z0-9]+))?/gc;
    wrong("a quantity that the judge can't read: $$t");
}

# Over seeds, each alone. undef of one.
sub over_seeds {
    my ($text, $p) = @_;
    return undef if $seeds < 2 || $text =~ /ever:/;
    my @x = grep { defined } map { local $seed_of = $_; quantity($text, $p) } 1 .. $seeds;
    return @x ? estimate(@x) : undef;
}
sub at_other_end { my ($text, $p) = @_; local $extra = $unmodelled; return quantity($text, $p) }

# ---- data ----------------------------------------------------------------------------------------------------

sub six { my ($x) = @_; return defined $x ? sub { near($_[0], $_[1], sprintf('%.6f', $x), 3e-6) } : undef }

# The ends of the interval, and the other end of the band.
sub ends_data {
    my ($text, $p) = @_;
    my $e = over_seeds($text, $p);
    return (($e && defined $e->{half} ? ('interval-low' => six($e->{mean} - $e->{half}), 'interval-high' => six($e->{mean} + $e->{half})) : ()),
        defined $unmodelled ? (unmodelled => six(at_other_end($text, $p))) : ());
}

# The paper's own numbers of a program, as results/papers/printed has them.
sub printed_numbers {
    my ($top, $json, $p) = @_;
    my %number;
    for my $path (glob "$top/results/papers/printed/$json->{paper}-*.csv") {
        my (undef, @rows) = csv_file($path);
        $number{ sprintf '%.6f', $_->[6] } = 1 for grep { $_->[2] eq ($p->{printed} // '') && $_->[6] =~ /^[-0-9.]+$/ } @rows;
    }
    return \%number;
}

sub seeds_same {
    my ($p) = @_;
    my ($several, $differ) = (0, 0);
    my %of;
    for my $seed (1 .. $seeds) {
        my $all = $cell{ source_of($p, $seed, $size) } || {};
        push @{ $of{$_} }, $all->{$_}{0}{behaviour} for grep { $all->{$_}{0} && ($_ ne 'none' || !defined $all->{$_}{0}{stat}{'machine.cycles'}) } keys %$all;
    }
    for my $all (values %of) { $several = 1 if @$all > 1; $differ = 1 if grep { $_ ne $all->[0] } @$all }
    return $several && !$differ;
}

sub program_data {
    my ($top, $json, $p) = @_;
    my $paper = printed_numbers($top, $json, $p);
    return { (map { $_ => anything() } qw(program step printed source)), 'seeds-change-nothing' => seeds_same($p) ? 'true' : 'false',
        columns => [map {
                my $c = $_;
                { column => anything(), quantity => anything(), ours => six(quantity($c->{quantity}, $p)), ends_data($c->{quantity}, $p),
                    paper => sub { wrong("$_[0] is $_[1], which results/papers/printed does not print of $p->{printed}") if defined $_[1] && !$paper->{ $_[1] } } }
        } @{ $p->{columns} }] };
}

sub verdict {
    my ($low, $high, $x) = @_;
    return !defined $x ? 'cannot' : length $low && $x < $low - 1e-9 || length $high && $x > $high + 1e-9 ? 'differs' : 'holds';
}

# Claims come from results/papers/claims, one after the other.
sub claims_of {
    my ($top, $json) = @_;
    my (undef, @rows) = csv_file("$top/results/papers/claims/$json->{result}.csv");
    my @claims;
    for my $row (@rows) {
        my %c;
        @c{qw(claim quantity paper low high unit section band)} = @$row;
        $c{ours} = quantity($c{quantity});
        $c{over} = over_seeds($c{quantity});
        $c{verdict} = verdict(@c{qw(low high ours)});
        push @claims, \%c;
    }
    return @claims;
}
sub claim_data {
    my ($c) = @_;
    my %want = map { $_ => $c->{$_} } qw(claim quantity unit section band verdict);
    $want{$_} = length $c->{$_} ? sprintf '%.6f', $c->{$_} : undef for qw(paper low high);
    return { %want, ours => six($c->{ours}), ends_data($c->{quantity}), map { $_ => six($c->{over} ? $c->{over}{$_} : $c->{ours}) } qw(least most) };
}

# What the parts of an overhead are parts of.
our %part_of = ('FastRCD, no readers' => 'mean(part:writers)', 'its readers' => 'mean(part:fastrcd) - mean(part:writers)',
    'FastRCD - Valor' => 'mean(part:fastrcd) - mean(part:valor)', 'FastTrack - FastRCD' => 'mean(part:fasttrack) - mean(part:fastrcd)');
sub part_number { my ($of, $name) = @_; local $part = $name; return quantity($part_of{$of} || wrong("the judge knows no parts of $of")) }

sub judge_table_json {
    my ($top, $json, $claims) = @_;
    my $cells = @programs * $seeds;
    same_data('the object', $json, { (map { $_ => anything() } grep { exists $json->{$_} } qw(title section machine machine-meant size inputs frozen cannot band)),
            schema => 'lardsim-table-1', result => anything(), paper => anything(), seeds => $seeds,
            cells => anything(), 'cells-failed' => 0, programs => [map { program_data($top, $json, $_) } @programs],
            parts => [map { my $p = $_; { part => anything(), of => { map { $_ => six(part_number($_, $p->{part})) } keys_in($p->{of}) } } } @{ $json->{parts} }],
            claims => [map { claim_data($_) } @$claims] });
}

# ---- the page ------------------------------------------------------------------------------------------------

sub number_text {
    my ($x) = @_;
    return '-' unless defined $x;
    my $size = abs $x;
    return sprintf $size >= 1000 ? '%.0f' : $size >= 100 ? '%.1f' : $size >= 10 ? '%.2f' : '%.3f', $x;
}
sub program_name { my ($p) = @_; return $p->{program} . (defined $p->{step} ? " $p->{step}" : '') }

sub says_top {
    my ($json) = @_;
    says($json->{title}, length $json->{paper} ? "paper     $json->{paper}, $json->{section}" : ());
    says("machine   $json->{machine}" . ($json->{machine} eq $json->{'machine-meant'} ? ''
            : ", in place of $json->{'machine-meant'}, which this build does not have")) if defined $json->{machine};
    says("runs      $json->{cells} cells, " . (defined $size ? "$size, " : '') . plural($seeds, 'seed'));
    my @same = map { program_name($_) } grep { seeds_same($_) } @programs;
    says_wrapped('seeds', 'they change nothing, each being the same run, in: ' . join ', ', @same) if @same;
    says("band      core.unmodelled from 0 to $unmodelled percent, for what the model leaves out") if defined $unmodelled;
    says_wrapped($_, $json->{$_}) for grep { defined $json->{$_} && length $json->{$_} } qw(inputs frozen cannot);
}

# Words of a paragraph, whatever their lines: at most a hundred characters each, set in by ten.
sub says_wrapped {
    my ($head, $text) = @_;
    my @want = split ' ', $text;
    while (@want) {
        my $line = page_line();
        same("line $line_number, its head", substr($line, 0, 10), sprintf '%-10s', $head);
        wrong("line $line_number is longer than 100 characters") if length $line > 100;
        same("line $line_number", substr($line, 10), join ' ', splice @want, 0, scalar(my @words = split ' ', substr $line, 10));
        $head = '';
    }
}

# A cell for each number: the paper's, ours, half of the interval.
sub says_numbers {
    my ($label, $ends, @numbers) = @_;
    my (@ends, @cells);
    for my $i (0 .. $#numbers) { next unless defined $numbers[$i]; push @ends, $ends->[$i]; push @cells, $numbers[$i] }
    my $blank = $page[$line_number] =~ s/ +$//r;
    $page[$line_number] = $blank; # where nothing stands in the last columns
    row($label, \@ends, \@cells);
}
sub half_text { my ($text, $p) = @_; my $e = over_seeds($text, $p); return number_text($e && $e->{half}) }

our @summaries = (['mean', 'mean'], ['geometric mean', 'geomean'], ['mean, clean', 'mean[-pjbb2005 xalan]'],
    ['geometric mean, clean', 'geomean[-pjbb2005 xalan]']);
sub excess { my ($of, $q) = @_; return $of =~ /^geo/ && $q =~ /^overhead/ ? "100 * ($of(1 + $q / 100) - 1)" : "$of($q)" }

sub says_programs {
    my ($json) = @_;
    my @columns = @{ $programs[0]{columns} };
    my @paper = map { my $i = $_; scalar grep { defined $_->{columns}[$i]{paper} } @programs } 0 .. $#columns;
    my $more = $seeds > 1;
    says('');
    my (undef, @ends) = heads('program', map { $_->{column} } @columns);
    if ($more || grep { $_ } @paper) {
        @ends = heads(map { (($paper[$_] ? 'paper' : ()), 'ours', ($more ? '+-' : ())) } 0 .. $#columns);
    }
    my $line = sub {
        my ($label, $cells) = @_;
        says_numbers($label, \@ends, map { (($paper[$_] ? $cells->($_, 'paper') : ()), $cells->($_, 'ours'), ($more ? $cells->($_, 'half') : ())) } 0 .. $#columns);
    };
    for my $p (@programs) {
        $line->(program_name($p), sub {
                my ($i, $what) = @_;
                my $q = $columns[$i]{quantity};
                return number_text($p->{columns}[$i]{paper}) if $what eq 'paper';
                return $what eq 'ours' ? number_text(quantity($q, $p)) : half_text($q, $p);
            });
    }
    for my $s (@summaries) {
        my ($text, $of) = @$s;
        next unless page_peek() =~ /^\Q$text\E  /;
        my $paper = sub { my ($i) = @_; my ($name, $set) = $of =~ /^(\w+)(?:\[(.*)\])?/; my @x = grep { defined } map { $_->{columns}[$i]{paper} } grep { in_set($set, $_) } @programs; return number_text(@x ? $aggregate{$name}->(@x) : undef) };
        $line->($text, sub { my ($i, $what) = @_; my $q = excess($of, $columns[$i]{quantity}); return $what eq 'paper' ? $paper->($i) : $what eq 'ours' ? number_text(quantity($q)) : half_text($q) });
        next unless defined $unmodelled;
        $line->('  with core.unmodelled', sub { my ($i, $what) = @_; local $extra = $unmodelled; my $q = excess($of, $columns[$i]{quantity}); return $what eq 'paper' ? undef : $what eq 'ours' ? number_text(quantity($q)) : half_text($q) });
    }
    return unless $more;
    for my $most (0, 1) {
        $line->($most ? 'most of a seed' : 'least of a seed', sub {
                my ($i, $what) = @_;
                my $e = over_seeds("mean($columns[$i]{quantity})");
                return $what eq 'ours' ? number_text($e && $e->{ $most ? 'most' : 'least' }) : undef;
            });
    }
}

our %part_text = (instructions => 'instructions in line', swaps => 'compare-and-swaps', 'slow-paths' => 'slow paths', 'local-misses' => 'misses, local',
    'remote-misses' => 'misses, remote', 'read-maps' => 'read maps', 'region-ends' => 'ends of regions', collections => 'collections',
    program => 'the program, slower', waiting => 'waiting', overhead => 'all');

sub says_parts {
    my ($json) = @_;
    my @parts = @{ $json->{parts} };
    return unless @parts;
    my @of = keys_in($parts[0]{of});
    says('');
    my (undef, @ends) = heads('part, in points', @of);
    for my $p (@parts) {
        row($part_text{ $p->{part} }, \@ends, [map { number_text(part_number($_, $p->{part})) } @of]);
    }
}

sub band_of {
    my ($low, $high) = @{ $_[0] }{qw(low high)};
    return length $low && length $high ? $low eq $high ? $low : "$low to $high" : length $low ? "at least $low" : "at most $high";
}
sub says_claims {
    my (@claims) = @_;
    says('', 'claims');
    for my $c (@claims) {
        my $e = $c->{over};
        says("  $c->{claim} ($c->{section})",
            '    paper ' . (length $c->{paper} ? $c->{paper} : '-') . ', band ' . band_of($c) . " ($c->{band}), ours " . number_text($c->{ours}) .
                ($e && defined $e->{half} && $c->{verdict} ne 'cannot' ? ' +- ' . number_text($e->{half}) . ' (seeds: ' . number_text($e->{least}) . ' to ' . number_text($e->{most}) . ')' : '') .
                (defined $unmodelled ? ' (with core.unmodelled: ' . number_text(at_other_end($c->{quantity})) . ')' : '') . " $c->{unit}: $c->{verdict}");
    }
}

# Lines of statistics that say why ours differs, each with what its words name.
our %reason = (
    "instructions that the machine executes, in percent of those without" => 'mean(more-instructions:runtime)',
    "the runtime's own instructions and accesses, points" => 'mean(handler:runtime)',
    "the program's accesses take longer, points" => 'mean(program:runtime)', 'waiting for others, points' => 'mean(waiting:runtime)',
    'FastTrack: reads without update, percent' => 'mean(no-update-reads:fasttrack)',
    'an access without a detector, cycles: less in longer runs, as caches are warm' => 'mean(base-access:valor)',
    'FastTrack: instructions for an access' => 'mean(access-instructions:fasttrack)', 'FastRCD: instructions for an access' => 'mean(access-instructions:fastrcd)',
    'Valor: instructions for an access' => 'mean(access-instructions:valor)', 'FastTrack: remote misses, points of its overhead' => 'mean(remote-misses:fasttrack)',
    'FastRCD: remote misses, points' => 'mean(remote-misses:fastrcd)', 'Valor: remote misses, points' => 'mean(remote-misses:valor)',
    'Valor: ends of regions (logs that are validated), points' => 'mean(region-ends:valor)',
    'FastTrack: the whole run, with its serial set-up, percent' => 'mean(overhead-whole:fasttrack)',
    'FastRCD: the whole run, percent' => 'mean(overhead-whole:fastrcd)', 'Valor: the whole run, percent' => 'mean(overhead-whole:valor)',
    'partitions as sets, mean' => 'mean(shadow:partitions)', 'both as sets, mean' => 'mean(shadow:both)');
our %prose = map { $_ => 1 } 'no twin has volatiles; clocks and their words bring on no collection',
    'twins have arrays that are swept to their end, and scattered ones; programs have more patterns';

sub says_reasons {
    my ($json) = @_;
    return if page_peek() ne '' || $page[ $line_number + 1 ] !~ /^why ours differs/;
    says('', 'why ours differs: statistics');
    my $column;
    while (page_peek() ne '') {
        my ($text, $number) = page_peek() =~ /^  ( *\S.*?) *(?: (-|-?[\d.]+))?$/;
        my $want;
        if ($prose{$text}) { $want = '' }
        elsif ($text =~ /^  the paper's/) {
            my @x = defined $column ? grep { defined } map { $_->{columns}[$column]{paper} } @programs : ();
            $want = number_text(mean_of(@x));
        } else {
            my $q = $reason{$text} or wrong('line ' . ($line_number + 1) . " is not judged: " . page_peek());
            ($column) = grep { $q eq "mean($programs[0]{columns}[$_]{quantity})" } 0 .. $#{ $programs[0]{columns} };
            $want = number_text(quantity($q));
        }
        says(sprintf '  %-76s %s', $text, $want);
    }
}

# ---- files ---------------------------------------------------------------------------------------------------

sub fraction { my ($x) = @_; return defined $x ? sprintf '%.6f', $x : '' }
sub seeds_csv {
    my ($e) = @_;
    return ('', '', '') unless $e;
    return ($e->{n}, map { fraction($e->{mean} + $_ * $e->{half}) } -1, 1);
}
sub judge_table_csv {
    my ($json, $file, @claims) = @_;
    my @want = [qw(table program what ours paper unit verdict seeds low high)];
    for my $p (@programs) {
        for my $c (@{ $p->{columns} }) {
            push @want, [$json->{result}, program_name($p), $c->{column}, fraction(quantity($c->{quantity}, $p)), fraction($c->{paper}), '', '', seeds_csv(over_seeds($c->{quantity}, $p))];
            next unless defined $unmodelled;
            local $extra = $unmodelled;
            push @want, [$json->{result}, program_name($p), "$c->{column}, core.unmodelled=$unmodelled", fraction(quantity($c->{quantity}, $p)), '', '', '', seeds_csv(over_seeds($c->{quantity}, $p))];
        }
    }
    push @want, [$json->{result}, '', $_->{claim}, fraction($_->{ours}), $_->{paper}, $_->{unit}, $_->{verdict}, seeds_csv($_->{over})] for @claims;
    same_rows($file, map { [map { /^-?\d+\.\d{6}$/ ? \(my $x = $_) : $_ } @$_] } @want);
}

sub judge_gnuplot {
    my ($json, $file) = @_;
    my @columns = @{ $programs[0]{columns} };
    page_open($file);
    says("# $json->{result}: $json->{title}", '# gnuplot -p FILE', '$data << END');
    for my $p (@programs) {
        my ($name, @got) = page_line() =~ /^("[^"]*"|\S+)|(\S+)/g ? split / (?=[-N\d])/, $page[ $line_number - 1 ] : ();
        same("line $line_number, its program", $name, '"' . program_name($p) . '"');
        my @want = map { (quantity($_->{quantity}, $p), $_->{paper}) } @{ $p->{columns} };
        same("line $line_number, its numbers", scalar @got, scalar @want);
        for my $i (0 .. $#want) {
            defined $want[$i] ? near("line $line_number, number $i", $got[$i], fraction($want[$i])) : same("line $line_number, number $i", $got[$i], 'NaN');
        }
    }
    says('END', "set title \"$json->{title}\"", 'set style data histograms', 'set style fill solid 0.5', 'set xtics rotate by -45', 'set grid ytics', 'plot \\');
    my @bars;
    for my $i (0 .. $#columns) {
        my $at = 2 + 2 * $i;
        push @bars, "  \$data using $at:xtic(1) title \"$columns[$i]{column}, ours\"";
        push @bars, '  $data using ' . ($at + 1) . " title \"$columns[$i]{column}, paper\" fs empty" if grep { defined $_->{columns}[$i]{paper} } @programs;
    }
    says($_ < $#bars ? "$bars[$_], \\" : $bars[$_]) for 0 .. $#bars;
    page_end();
}

# The picture of bars: for each column a panel, in which the longest bar is 420 wide. Names of tables need no escapes.
sub judge_bars {
    my ($json, $svg) = @_;
    my @columns = @{ $programs[0]{columns} };
    page_open($svg);
    page_line() until page_peek() =~ /class="back"/ || $line_number > 100;
    my ($y, $height) = (60, 70 + 26 * @columns * (@programs + 1));
    says(qq(<rect class="back" width="630" height="$height"/>), qq(<text x="10" y="20" class="text title">$json->{title}</text>),
        '<text x="10" y="40" class="text">hollow: the paper, where it prints a number; full: ours</text>');
    for my $i (0 .. $#columns) {
        my @ours = map { quantity($columns[$i]{quantity}, $_) } @programs;
        my @paper = map { $_->{columns}[$i]{paper} } @programs;
        my ($most) = sort { $b <=> $a } 0, grep { defined } @ours, @paper;
        says('<text x="10" y="' . ($y + 14) . qq(" class="text bold">$columns[$i]{column}</text>));
        for my $k (0 .. $#programs) {
            $y += 26;
            says('<text x="10" y="' . ($y + 14) . '" class="text">' . program_name($programs[$k]) . '</text>');
            for (['paper', 'bar-other', $y, $paper[$k]], ['ours', 'bar', $y + 10, $ours[$k]]) {
                my ($whose, $look, $at, $x) = @$_;
                next unless defined $x;
                my ($head, $width, $tail) = page_line() =~ /^(.* width=")([\d.]+)(".*)$/ or wrong("line $line_number is no bar");
                same("line $line_number", "$head$tail", qq(<rect x="190" y="$at" width="" height="10" class="$look"><title>$whose ) . number_text($x) . '</title></rect>');
                near("line $line_number, its width", $width, $most > 0 && $x > 0 ? 420 * $x / $most : 0, 0.051);
            }
        }
        $y += 26;
    }
    says('</svg>');
    page_end();
}

# TOP: the source folder; DIR: --cells; the others: what was printed, printed with --json, and written.
sub judge_paper {
    my ($top, $dir, $page, $file, $csv, $gnuplot, $svg) = @_;
    my $json = json_file($file);
    cells_of($dir);
    @programs = @{ $json->{programs} };
    ($seeds, $size, $unmodelled, $extra) = ($json->{seeds}, $json->{size}, $json->{band}, 0);
    my @claims = claims_of($top, $json);
    $place = $file;
    judge_table_json($top, $json, \@claims);
    judge_table_csv($json, $csv, @claims);
    judge_gnuplot($json, $gnuplot);
    judge_bars($json, $svg);
    page_open($page);
    says_top($json);
    says_programs($json);
    says_parts($json);
    says_claims(@claims);
    says_reasons($json);
    my %n = map { $_ => 0 } qw(holds differs cannot);
    $n{ $_->{verdict} }++ for @claims;
    says('', "claims: $n{holds} hold, $n{differs} differ, $n{cannot} cannot be judged");
    page_end();
}
1;
