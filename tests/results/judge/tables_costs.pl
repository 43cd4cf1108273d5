# tables_costs.pl - judges what `lardsim compare` prints and writes of policies on a machine (docs/compare.md, "What
# policies cost"): the page, compare.json, --csv, seeds, lengths, the band.
use strict;
use warnings;
our ($place, $line_number, @page, @spent, $planted_text);

our @costs = qw(cycles races.accesses races.sites races.locations metadata.live metadata.peak metadata.accesses
    metadata.misses remote.misses collection.cycles);
our @handlers = qw(fills evictions storms checks regions flushes roll-overs runtime histories);

# ---- out of the statistics of a run --------------------------------------------------------------------------

sub sum_of { my ($r, @names) = @_; my $sum = 0; $sum += count($r, $_) for @names; return $sum }

# By what the handlers did. Evictions that handlers of evictions brought on stand apart.
sub handlers_of {
    my ($r, $part, $label, $handler) = @_;
    my $n = sub { sum_of($r, map { "${part}policy.$label.$_" } @_) };
    my %h = (fills => $n->('manager.cycles.fill'), checks => $n->('manager.cycles.check'),
        regions => $n->(map { "manager.cycles.$_" } qw(clear copy move)), flushes => $n->('manager.cycles.flush'),
        'roll-overs' => $n->('manager.cycles.roll-over'), runtime => $n->('runtime-cycles'), storms => $n->('storm-cycles'),
        evictions => $n->('manager.cycles.eviction'));
    my $known = 0;
    $known += $h{$_} for grep { $_ ne 'storms' } keys %h;
    $h{evictions} -= $h{storms} < $h{evictions} ? $h{storms} : $h{evictions};
    $h{histories} = $handler > $known ? $handler - $known : 0;
    return \%h;
}

# What a run or its region cost: PART is '' or 'roi.'.
sub part_of {
    my ($r, $part, $label) = @_;
    my $n = sub { sum_of($r, map { "$part$_" } @_) };
    my $line = count($r, 'machine.line');
    my $own = "policy.$label";
    my %m = (cycles => $n->('machine.cycles'), 'remote.misses' => $n->('coherence.from-remote'),
        'collection.cycles' => $n->("$own.cost.collections"),
        'metadata.misses' => $n->(map { "l1.metadata.$_-misses" } qw(load store atomic)),
        'metadata.accesses' => $n->(map { my $of = $_; map { "l1.metadata.$of-$_" } qw(misses hits upgrades) } qw(load store atomic)),
        map { ("races.$_" => $n->("$own.races.$_")) } qw(accesses sites locations));
    my @bytes = map { "$own.$_" } qw(metadata.live lines.live manager.bytes);
    if (grep { exists $r->{of}{$_} } @bytes) {
        $m{'metadata.live'} = $n->("$own.metadata.live", "$own.manager.bytes") + $line * $n->("$own.lines.live");
        $m{'metadata.peak'} = $n->("$own.metadata.peak", "$own.manager.bytes-peak") + $line * $n->("$own.lines.peak");
    }
    $m{chip} = $line * $n->("$own.lines.peak");
    $m{$_} = $n->("$own.space.$_") for qw(collections heap metadata total);
    $m{spent}{$_} = $n->("machine.spent.$_") for @spent;
    if ($part) { # what is missing of the cores' time is idle
        my $all = $m{cycles} * count($r, 'machine.cores');
        $all -= $_ for values %{ $m{spent} };
        $m{spent}{idle} += $all > 0 ? $all : 0;
    }
    $m{handlers} = handlers_of($r, $part, $label, $m{spent}{handler}) if exists $r->{of}{"$own.manager.cycles.fill"};
    return \%m;
}

sub costs {
    my ($dir) = @_;
    my $json = json_file("$dir/compare.json");
    my @rows;
    for my $label (map { $_->{policy} } @{ $json->{policies} }) {
        my $r = results("$dir/$label");
        push @rows, { label => $label, run => $r, whole => part_of($r, '', $label),
            (exists $r->{of}{'roi.machine.cycles'} ? (region => part_of($r, 'roi.', $label)) : ()) };
        $rows[-1]{judged} = $rows[-1]{region} || $rows[-1]{whole};
    }
    return { dir => $dir, json => $json, rows => \@rows, none => $rows[0], region => $rows[0]{region} };
}

# As text with six digits: `overhead` is of the region where there is one.
sub overhead_text {
    my ($c, $row, $of) = @_;
    my ($with, $without) = map { $_->{$of}{cycles} } $row, $c->{none};
    return fixed($with - $without, $without, 6);
}

# ---- the page: the table -------------------------------------------------------------------------------------

sub bytes_text {
    my ($n) = @_;
    return '-' unless defined $n;
    my @units = ('', qw(Ki Mi Gi Ti));
    while ($n >= 10240 && @units > 1) { $n /= 1024; shift @units }
    return ($units[0] ? sprintf '%.0f', $n : $n) . $units[0];
}
sub more { my ($c, $row, $of) = @_; return percent($row->{$of}{cycles} - $c->{none}{$of}{cycles}, $c->{none}{$of}{cycles}) }

sub says_costs {
    my ($c) = @_;
    my @ends = heads_above(['', '', 'racy', '', '', 'metadata', '', 'remote'],
        [qw(cycles overhead accesses sites locations live peak misses)], 'property checked');
    for my $row (@{ $c->{rows} }) {
        my $m = $row->{judged};
        my ($json) = grep { $_->{policy} eq $row->{label} } @{ $c->{json}{policies} };
        row($row->{label}, \@ends, [$m->{cycles}, more($c, $row, 'judged'), (map { $m->{"races.$_"} } qw(accesses sites locations)),
                bytes_text($m->{'metadata.live'}), bytes_text($m->{'metadata.peak'}), $m->{'remote.misses'}], $json->{property});
    }
}

# What vc found in the same execution.
sub truth_of {
    my ($row) = @_;
    my $r = $row->{run};
    return undef unless -e "$r->{dir}/compare.json";
    my $truth = compare_truth($r);
    my $of = by_access($r, $row->{label}) ? 'accesses' : 'places';
    return { of => $of, racy => count($r, "policy.$truth.races." . ($of eq 'places' ? 'locations' : $of)),
        map { $_ => count($r, "compare.$row->{label}.$_.$of") } @main::verdicts };
}
sub says_truths {
    my ($c) = @_;
    my @known = grep { truth_of($_) } @{ $c->{rows} };
    return unless @known;
    says('', 'races of each execution, and what its policy made of them (vc watches each, and takes no time):');
    my (undef, @ends) = heads(qw(policy racy false missed of));
    pop @ends;
    for my $row (@known) {
        my $t = truth_of($row);
        row($row->{label}, \@ends, [@$t{qw(racy false missed)}], $t->{of});
    }
}

# ---- the page: where the time went ---------------------------------------------------------------------------

our %where = (handler => 'handler', executing => 'executing', (map { $_ => 'caches' } qw(l1 l2 l3)), remote => 'remote',
    memory => 'memory', idle => 'idle');
our @wheres = qw(handler executing caches remote memory waiting idle);

sub cores_used {
    my ($c, $row) = @_;
    my ($a, $b) = map { count($_->{run}, 'machine.cores-used') } $c->{none}, $row;
    return $a > $b ? $a : $b;
}

# The cycles of so many cores by where they went; those of the others are idle.
sub time_of {
    my ($row, $cores) = @_;
    my $m = $row->{judged};
    my %time = map { $_ => 0 } @wheres;
    $time{ $where{$_} || 'waiting' } += $m->{spent}{$_} for @spent;
    $time{idle} -= (count($row->{run}, 'machine.cores') - $cores) * $m->{cycles};
    return \%time;
}

sub says_wheres {
    my ($c) = @_;
    my @rows = @{ $c->{rows} };
    return if @rows < 2;
    my $cores = count($c->{none}{run}, 'machine.cores');
    my ($used) = sort { $b <=> $a } map { cores_used($c, $_) } @rows[1 .. $#rows];
    says('', 'the overhead, by what the time of ' .
            ($used == $cores ? 'all cores' : "the $used cores that had threads (" . ($cores - $used) . ' had none)') . ' went to:');
    my @ends = heads_above([('') x 7, 'metadata', ''], [@wheres, 'accesses', 'misses']);
    for my $row (@rows[1 .. $#rows]) {
        my $n = cores_used($c, $row);
        my ($with, $without) = map { time_of($_, $n) } $row, $c->{none};
        my $whole = $c->{none}{judged}{cycles} * $n;
        row($row->{label}, \@ends, [(map { percent($with->{$_} - $without->{$_}, $whole) } @wheres),
                map { $row->{judged}{"metadata.$_"} } qw(accesses misses)]);
    }
}

sub says_handlers {
    my ($c) = @_;
    my @rows = grep { $_->{judged}{handlers} && $_ != $c->{none} } @{ $c->{rows} };
    return unless @rows;
    says('', 'the handlers of hardware, by what they did:');
    my (undef, @ends) = heads('policy', @handlers);
    for my $row (@rows) {
        my $whole = $c->{none}{judged}{cycles} * cores_used($c, $row);
        row($row->{label}, \@ends, [map { percent($row->{judged}{handlers}{$_}, $whole) } @handlers]);
    }
}

# ---- the page: single lines ----------------------------------------------------------------------------------

sub says_single {
    my ($c) = @_;
    my (undef, @rows) = @{ $c->{rows} };
    my $before = $c->{none}{judged}{cycles};
    my @collect = grep {
        my $part = $_->{judged}{'collection.cycles'};
        $part > 0 && 10 * $part >= $_->{judged}{cycles} - $before
    } @rows;
    says('', "of it the collecting thread's work for collections: " . join(', ', map {
                "$_->{label} " . percent($_->{judged}{'collection.cycles'}, $before)
    } @collect) . ' (short runs collect far more often than real programs)') if @collect;
    my @space = grep { $_->{whole}{collections} && $_->{whole}{heap} } @rows;
    says('', 'space beside the heap after full collections: ' . join ', ', map {
            "$_->{label} " . percent($_->{whole}{total} - $_->{whole}{heap}, $_->{whole}{heap})
    } @space) if @space;
    my @chip = grep { @space && $_->{whole}{handlers} && $_->{whole}{total} } @rows;
    says('beside it at most so much of the caches, for lines of histories: ' .
            join ', ', map { "$_->{label} " . bytes_text($_->{whole}{chip}) } @chip) if @chip;
    my @free = grep { !$_->{whole}{spent}{handler} && !$_->{whole}{'metadata.accesses'} } @rows;
    says('', 'no time was charged by: ' . join(', ', map { $_->{label} } @free) . ' (nothing that it charges for happened)')
        if @free;
}

sub says_whole {
    my ($c) = @_;
    return unless $c->{region};
    says('', 'the whole run:');
    my (undef, @ends) = heads(qw(policy cycles overhead-whole races));
    row($_->{label}, \@ends, [$_->{whole}{cycles}, more($c, $_, 'whole'), $_->{whole}{'races.accesses'}]) for @{ $c->{rows} };
}

# ---- the page: several runs ----------------------------------------------------------------------------------

# Settled: moved by at most half a point, or a twentieth of the overhead. Of ratios with six digits.
sub settled { my ($before, $now) = @_; my $by = abs($now - $before); return $by <= 0.005 || $by <= abs($now - 1) / 20 }

# Percent of a ratio of cycles to those of none, which has six digits: the last may be rounded either way.
sub says_ratios {
    my ($label, $ends, $ratios, $tail) = @_;
    my $got = $page[$line_number];
    my @cells = map { percent($_ - 1, 1) } @$ratios;
    for my $i (0 .. $#cells) {
        my $exact = ($ratios->[$i] - 1) * 1000;
        next if abs(abs($exact - int $exact) - 0.5) > 0.002;
        my $is = substr($got, $ends->[$i] - 9, 9) =~ s/^ +//r;
        $cells[$i] = $is if grep { percent($exact / 1000 + $_, 1) eq $is } -2e-6, 2e-6;
    }
    row($label, $ends, \@cells, $tail);
}

sub json_row { my ($c, $label) = @_; return (grep { $_->{policy} eq $label } @{ $c->{json}{policies} })[0] }

sub says_course {
    my ($c) = @_;
    my (undef, @rows) = @{ $c->{rows} };
    return unless @rows && @{ json_row($c, $rows[0]{label})->{course} };
    says('', 'the overhead after a part of the ' . ($c->{region} ? "region's " : '') . 'events:');
    my (undef, @ends) = heads('policy', '1/8', '1/4', '1/2', 'all');
    for my $row (@rows) {
        my @course = map { $_->{'cycles-to-none'} } @{ json_row($c, $row->{label})->{course} };
        says_ratios($row->{label}, \@ends, \@course,
            settled(@course[2, 3]) ? 'settled' : 'not settled: a longer run has another');
    }
}

sub says_lengths {
    my ($c) = @_;
    my @runs = @{ $c->{json}{lengths} || [] };
    return unless @runs;
    my $name = $c->{json}{length};
    my (undef, @labels) = map { $_->{label} } @{ $c->{rows} };
    my $settled = @runs > 1 && !grep { my $l = $_; !settled(map { $_->{'cycles-to-none'}{$l} } @runs[-2, -1]) } @labels;
    same('converged', $c->{json}{converged}, $settled ? 'true' : 'false');
    says('', "the overhead as $name doubles" . ($settled ? ': settled' : ': not settled, a longer run has another'));
    my ($end, @ends) = heads($name, @labels);
    for my $i (0 .. $#runs) {
        same("the length of run $i", $runs[$i]{$name}, $runs[0]{$name} * 2**$i);
        my $gap = $end - length $runs[$i]{$name};
        says_ratios(' ' x $gap . $runs[$i]{$name}, \@ends, [map { $runs[$i]{'cycles-to-none'}{$_} } @labels]);
    }
}

sub says_seeds {
    my ($c) = @_;
    my @runs = @{ $c->{json}{seeds} || [] };
    return unless @runs;
    says('', "the overhead with " . @runs . " seeds, from $runs[0]{seed} on; +-: the 95 percent interval of the mean:");
    my (undef, @ends) = heads('policy', 'mean', '+-', 'least', 'most');
    my (undef, @rows) = @{ $c->{rows} };
    for my $row (@rows) {
        my $e = estimate(map { $_->{'cycles-to-none'}{ $row->{label} } } @runs);
        says_ratios($row->{label}, \@ends, [$e->{mean}, 1 + $e->{half}, $e->{least}, $e->{most}]);
    }
    says('(the seeds change nothing: each policy did the same with all of them)') if $c->{json}{'seeds-change-nothing'} eq 'true';
}

sub says_band {
    my ($c) = @_;
    my @runs = @{ $c->{json}{band} || [] };
    return unless @runs;
    same('the least of the band', $runs[0]{unmodelled}, 0);
    says('', "the overhead with core.unmodelled from 0 to $runs[1]{unmodelled} percent, for what the model leaves out:");
    my (undef, @ends) = heads('policy', 'least', 'most');
    my (undef, @rows) = @{ $c->{rows} };
    says_ratios($_->[0], \@ends, $_->[1]) for map { my $l = $_->{label}; [$l, [map { $_->{'cycles-to-none'}{$l} } @runs]] } @rows;
}

# What all runs found is said; what some found is counted.
sub says_common {
    my ($c) = @_;
    my @found = map { $_->{run}{findings} } @{ $c->{rows} };
    my %runs;
    for my $all (@found) { $runs{ $_->{sentence} }++ for @$all }
    my $others = grep { $runs{ $_->{sentence} } < @found } map { @$_ } @found;
    says_findings([grep { $runs{ $_->{sentence} } == @found } @{ $found[0] }], $others, '`findings` in compare.json');
}

sub says_measured {
    my ($c) = @_;
    says($c->{region} ? 'measured   the region of interest, ' . percent($c->{region}{cycles}, $c->{none}{whole}{cycles}) .
            ' of the cycles of none; the whole run stands below'
        : 'measured   the whole run, as no region of interest is marked', '');
    return if @{ $c->{rows} } < 2;
    says(machine_order($c->{none}{run}) eq 'program'
        ? 'overhead   of the same program: each machine has an execution of its own, which follows its time'
        : 'overhead   of the same events, and the same order of synchronisation', '');
}

# ---- JSON ----------------------------------------------------------------------------------------------------

sub part_data {
    my ($row, $m) = @_;
    return (cycles => $m->{cycles}, 'cores-used' => count($row->{run}, 'machine.cores-used'),
        races => { map { $_ => $m->{"races.$_"} } qw(accesses sites locations) },
        'metadata-bytes' => { live => $m->{'metadata.live'}, peak => $m->{'metadata.peak'} },
        ($m->{total} ? (space => { map { $_ => $m->{$_} } qw(collections heap metadata total) }) : ()),
        'metadata-accesses' => $m->{'metadata.accesses'}, 'metadata-misses' => $m->{'metadata.misses'},
        'remote-misses' => $m->{'remote.misses'}, 'collection-cycles' => $m->{'collection.cycles'}, spent => $m->{spent},
        ($m->{handlers} ? (handlers => $m->{handlers}) : ()));
}

sub course_data {
    my ($c, $row) = @_;
    my $json = json_row($c, $row->{label});
    my @parts = @{ $json->{course} };
    return (course => []) unless @parts;
    my $all = sprintf '%.6f', 1 + overhead_text($c, $row, 'judged');
    my @want = map { { part => $_, 'cycles-to-none' => $row == $c->{none} ? '1.000000' : anything() } } qw(0.125000 0.250000 0.500000 1.000000);
    $want[3]{'cycles-to-none'} = sub { near($_[0], $_[1], $all) };
    return (course => \@want, settled => settled(map { $_->{'cycles-to-none'} } @parts[2, 3]) ? 'true' : 'false');
}

sub row_data {
    my ($c, $row) = @_;
    my $made = $row->{run}{made};
    return { policy => $row->{label}, property => anything(), events => $made->{events}, measured => $c->{region} ? 'region' : 'run',
        overhead => overhead_text($c, $row, 'judged'), 'overhead-whole' => overhead_text($c, $row, 'whole'),
        truth => truth_of($row), region => $c->{region} ? { part_data($row, $row->{region}) } : undef,
        part_data($row, $row->{whole}), course_data($c, $row), findings => $row->{run}{findings},
        digest => $made->{digest}, behaviour => $made->{behaviour} };
}

# Each run of a list has a number for each policy; where its folder is given, the number that follows from it.
sub runs_data {
    my ($c, $key, $folders) = @_;
    my @want;
    for my $i (0 .. $#{ $c->{json}{ $key eq 'unmodelled' ? 'band' : "${key}s" } }) {
        my $own = $folders->[$i] && costs($folders->[$i]);
        push @want, { $key => anything(), 'cycles-to-none' => { map {
                    my $label = $_->{label};
                    my ($row) = $own ? grep { $_->{label} eq $label } @{ $own->{rows} } : ();
                    ($label => !$own ? anything() : do {
                            my $ratio = 1 + overhead_text($own, $row, 'judged');
                            sub { near($_[0], $_[1], sprintf '%.6f', $ratio) }
                        })
        } @{ $c->{rows} } } };
    }
    return \@want;
}

sub seeds_data {
    my ($c, @folders) = @_;
    return () unless $c->{json}{seeds};
    my %mean;
    for my $label (map { $_->{label} } @{ $c->{rows} }) {
        my $e = estimate(map { $_->{'cycles-to-none'}{$label} } @{ $c->{json}{seeds} });
        my %want = (mean => $e->{mean}, low => $e->{mean} - $e->{half}, high => $e->{mean} + $e->{half});
        $mean{$label} = { map { my $x = sprintf '%.6f', $want{$_}; ($_ => sub { near($_[0], $_[1], $x, 8e-6) }) } keys %want };
    }
    my @own = map { costs($_) } @folders;
    my $same = @own == @{ $c->{json}{seeds} } && !grep { my $o = $_;
        grep { $o->{rows}[$_]{run}{made}{behaviour} ne $c->{rows}[$_]{run}{made}{behaviour} } 0 .. $#{ $c->{rows} } } @own;
    return (seeds => runs_data($c, 'seed', \@folders), 'seeds-mean' => \%mean,
        'seeds-change-nothing' => @own ? $same ? 'true' : 'false' : anything());
}

# What all runs were configured with, in one list.
sub configuration_data {
    my ($c) = @_;
    my %want;
    for my $row (@{ $c->{rows} }) {
        my $config = $row->{run}{config};
        for my $name (keys %$config) { $want{$name} = $config->{$name} =~ tr/[]"//dr =~ s/, /,/gr unless exists $want{$name} }
    }
    return \%want;
}
sub judge_configuration {
    my ($c) = @_;
    my $want = configuration_data($c);
    $place = "$c->{dir}/config.yaml";
    my $kept = config_file($place);
    my $said = $c->{json}{configuration};
    for my $name (keys_in($said)) { same($name, defined $kept->{$name} ? $kept->{$name} : '', $said->{$name}) }
    for my $name (grep { $_ ne 'policies' } keys %$want) {
        wrong("$name is left out") unless exists $said->{$name};
        same($name, $said->{$name} =~ s/, /,/gr, $want->{$name}) unless $name =~ /^policy\.truth|^compare|^source$/;
    }
    my (undef, @labels) = map { $_->{label} } @{ $c->{rows} };
    same('policies', $said->{policies} =~ s/=[^,]*//gr, join(',', @labels) || 'none');
}

sub judge_costs_json {
    my ($c, $planted, @folders) = @_;
    my $run = $c->{none}{run};
    $place = "$c->{dir}/compare.json";
    same_data('the object', $c->{json}, {
            schema => 'lardsim-costs-2', source => $run->{made}{source}, 'planted-races' => $planted ? 'true' : 'false',
            events => $run->{made}{events}, error => undef, exit => 0, output => $c->{dir},
            machine => { cores => count($run, 'machine.cores'), frequency => count($run, 'machine.frequency'), order => machine_order($run),
                contention => machine_contention($run), 'memory-type' => $run->{config}{'memory.type'} },
            configuration => anything(), policies => [map { row_data($c, $_) } @{ $c->{rows} }],
            ($c->{json}{lengths} ? (length => anything(), converged => anything(), lengths => anything()) : ()),
            seeds_data($c, @folders), ($c->{json}{band} ? (band => runs_data($c, 'unmodelled', [])) : ())
    });
    judge_configuration($c);
}

# ---- CSV -----------------------------------------------------------------------------------------------------

sub part_csv {
    my ($m) = @_;
    return ((map { defined $m->{$_} ? $m->{$_} : '' } @costs), map { $m->{spent}{$_} } @spent);
}
sub judge_costs_csv {
    my ($c, $file) = @_;
    my @seeds = @{ $c->{json}{seeds} || [] };
    my @columns = (@costs, map { "spent.$_" } @spent);
    my ($head, @rows) = csv_file($file);
    $place = $file;
    same('its head', "@$head", join ' ', qw(policy measured overhead overhead-whole), @columns,
        ($c->{region} ? map { "region.$_" } @columns : ()), @seeds ? ('seeds', map { "seeds.overhead.$_" } qw(mean low high)) : ());
    same('the number of its rows', scalar @rows, scalar @{ $c->{rows} });
    for my $row (@{ $c->{rows} }) {
        my @got = @{ shift @rows };
        my @want = ($row->{label}, $c->{region} ? 'region' : 'run', map { overhead_text($c, $row, $_) } qw(judged whole));
        push @want, part_csv($row->{whole}), $c->{region} ? part_csv($row->{region}) : ();
        push @want, scalar @seeds if @seeds;
        same("$row->{label}, $head->[$_]", $got[$_], $want[$_]) for 0 .. $#want;
        same('the width of a row', scalar @got, @want + (@seeds ? 3 : 0));
        next unless @seeds;
        my $e = estimate(map { $_->{'cycles-to-none'}{ $row->{label} } } @seeds);
        my @mean = map { sprintf '%.6f', $_ - 1 } $e->{mean}, $e->{mean} - $e->{half}, $e->{mean} + $e->{half};
        near("$row->{label}, $head->[@want + $_]", $got[@want + $_], $mean[$_], 8e-6) for 0 .. 2;
    }
}

# PAGE, CSV: what `compare -o DIR --csv CSV` printed and wrote; FOLDERS: the same of each seed alone.
sub judge_costs {
    my ($dir, $page, $csv, $planted, @folders) = @_;
    my $c = costs($dir);
    my $run = $c->{none}{run};
    judge_costs_json($c, $planted, @folders);
    judge_costs_csv($c, $csv);
    page_open($page);
    says("$run->{made}{source}: " . plural($run->{made}{events}, 'event') . ', for each policy on a machine of its own', '',
        'machine    ' . machine_text($run), '');
    says($planted_text =~ s/races /races      /r, '') if $planted;
    says_measured($c);
    says_costs($c);
    says_truths($c);
    says_wheres($c);
    says_handlers($c);
    says_single($c);
    says_whole($c);
    says_course($c);
    says_lengths($c);
    says_seeds($c);
    says_band($c);
    says_common($c);
    says('', "results  $dir/compare.json, and a folder for each policy");
    page_end();
}
1;
