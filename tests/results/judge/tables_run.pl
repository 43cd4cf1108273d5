# tables_run.pl - judges what `lardsim run` prints and writes (docs/results.md): its page, --json, and the forms of the
# statistics, from stats.json, races.jsonl, config.yaml and provenance.json.
use strict;
use warnings;
our ($place, $line_number, @page, %keys_of);

# ---- the forms of the statistics -----------------------------------------------------------------------------

# stats.csv has each statistic of stats.json; stats.txt the same with units, without the zeros of vectors.
sub judge_statistics {
    my ($dir) = @_;
    my $r = results($dir);
    my ($head, @rows) = do { local $place = "$dir/stats.csv"; csv_file("$dir/stats.csv") };
    $place = "$dir/stats.csv";
    same('its head', "@$head", 'name value unit');
    same('the number of its rows', scalar @rows, scalar @{ $r->{order} });
    my (%unit, %vector);
    for my $i (0 .. $#rows) {
        my $name = $r->{order}[$i];
        same('row ' . ($i + 1), "$rows[$i][0] $rows[$i][1]", "$name $r->{of}{$name}");
        $unit{$name} = $rows[$i][2];
        $vector{$1}++ if $name =~ /^(.*)\.\d+$/;
    }
    $place = "$dir/stats.txt";
    my @left = @{ $r->{order} };
    for my $line (split /\n/, file_text($place)) {
        $line =~ /^(\S+) +([-.\d]+)  # (\S.*)$/ or wrong("a line is not judged: $line");
        my ($name, $value, $unit) = ($1, $2, $3);
        while (@left && $left[0] ne $name) {
            my $out = shift @left;
            wrong("$out = $r->{of}{$out} is left out") if $r->{of}{$out} || $out =~ tr/.// < 2;
        }
        wrong("$name is no statistic, or stands at the wrong place") unless @left;
        shift @left;
        same($name, $value, length $r->{of}{$name} ? $r->{of}{$name} : '-');
        same("the unit of $name", $unit, $unit{$name}) if length($unit{$name} .= ": ") > 2 && ($unit = substr $unit, 0, length $unit{$name});
    }
    for my $out (@left) { wrong("$out is left out") if $r->{of}{$out} || $out =~ tr/.// < 2 }
}

# ---- the machine ---------------------------------------------------------------------------------------------

# What `auto` stands for: a workload is in program order, all else in timed order (docs/machine.md).
sub machine_order {
    my ($r) = @_;
    my $order = $r->{config}{order};
    return $order ne 'auto' ? $order : $r->{made}{source} =~ /^workload:(?!.*kernel_threads=[1-9])/ ? 'program' : 'timed';
}
sub machine_contention {
    my ($r) = @_;
    my $is = $r->{config}{contention};
    return $is ne 'auto' ? $is : machine_order($r) eq 'recorded' ? 'off' : 'on';
}
sub machine_text {
    my ($r) = @_;
    return plural(count($r, 'machine.cores'), 'core') . ' at ' . count($r, 'machine.frequency') . ' MHz, ' .
        machine_order($r) . ' order, contention ' . machine_contention($r) . ", memory $r->{config}{'memory.type'}";
}

our @spent = qw(executing l1 l2 l3 remote memory store-buffer misses atomic wait-lock wait-barrier wait-join
    wait-volatile wait-class wait-commit wait-heap wait-collection wait-kernel wait-window switch stopped handler idle
    page-fault service);

sub says_footprint {
    my ($r) = @_;
    my ($least, $most) = map { count($r, "footprint.by-thread.$_") } qw(min max);
    says('footprint  ' . count($r, 'footprint.lines') . ' lines of ' . count($r, 'machine.line') . ' bytes, ' .
            count($r, 'footprint.shared') . " of them shared; $least" . ($most == $least ? '' : " to $most") . ' a thread; ' .
            (count($r, 'events.kind.alloc') ? 'at most ' . count($r, 'footprint.peak-live') . ' bytes allocated'
            : 'the trace tells no allocations'));
}

# The time of the cores that had a thread.
sub says_spent {
    my ($r) = @_;
    my ($cores, $used, $cycles) = map { count($r, "machine.$_") } qw(cores cores-used cycles);
    says("cores      $used of $cores had threads; the others are left out of the shares") if $used < $cores;
    says('');
    my @ends = heads("cores' time", 'cycles', 'share');
    for my $what (@spent) {
        my $n = count($r, "machine.spent.$what") - ($what eq 'idle' ? ($cores - $used) * $cycles : 0);
        row($what, [@ends[1, 2]], [$n, percent($n, $cycles * $used)]) if $n;
    }
}

sub says_levels {
    my ($r) = @_;
    says('');
    my @ends = heads('level', 'accesses', 'misses', 'rate');
    for my $level (qw(l1 l2 l3)) {
        my ($n, $misses) = map { count($r, "$level.$_") } qw(accesses misses);
        row($level, [@ends[1 .. 3]], [$n, $misses, percent($misses, $n)]) if $n;
    }
    my $upgrades = count($r, 'coherence.upgrades');
    says("upgrades   $upgrades of these misses: stores and atomics to lines held shared; they go to the directory at once")
        if $upgrades;
}

# In MB/s, cut off: bytes a cycle times cycles a microsecond.
sub bandwidths {
    my ($r) = @_;
    my ($cycles, $frequency, $line) = map { count($r, "machine.$_") } qw(cycles frequency line);
    my @bytes = (count($r, 'network.bytes.total'), $line * (count($r, 'memory.reads') + count($r, 'memory.writes')));
    return map { $cycles ? int($_ * $frequency / $cycles) : 0 } @bytes;
}

sub says_traffic {
    my ($r) = @_;
    my $cycles = count($r, 'machine.cycles');
    my $bytes = count($r, 'network.bytes.total');
    says('', 'network    ' . count($r, 'network.messages.total') . " messages, $bytes bytes, " . fixed($bytes, $cycles, 2) .
            ' bytes a cycle; ' . count($r, 'network.queue-cycles') . ' cycles waited for links');
    if (exists $r->{of}{'dsm.messages'}) {
        my %dsm = map { $_ => count($r, "dsm.$_") } qw(messages message-bytes barrier-rounds read-faults write-faults pages-fetched diffs-made);
        says("shared     $dsm{messages} messages, $dsm{'message-bytes'} bytes between processes; $dsm{'barrier-rounds'} rounds of barriers",
            "pages      $dsm{'read-faults'} faults of loads, $dsm{'write-faults'} of stores; $dsm{'pages-fetched'} pages fetched, $dsm{'diffs-made'} diffs made");
    }
    my ($hits, $misses, $conflicts) = map { count($r, "memory.row-$_") } qw(hits misses conflicts);
    my $rows = $hits + $misses + $conflicts;
    says('memory     ' . count($r, 'memory.reads') . ' reads, ' . count($r, 'memory.writes') . ' writes' .
            ($rows ? ', row hits ' . percent($hits, $rows) : ''));
    my @used = bandwidths($r);
    my @budget = (100, 48);
    says('bandwidth  ' . join ', ', map {
            ('on chip ', 'off chip ')[$_] . fixed($used[$_], 1000, 2) . ' GB/s (' .
                ($used[$_] > 1000 * $budget[$_] ? 'over the budget of' : 'budget') . " $budget[$_])"
    } 0, 1);
}

sub says_machine {
    my ($r) = @_;
    return unless count($r, 'machine.cores');
    my ($cycles, $instructions) = map { count($r, "machine.$_") } qw(cycles instructions);
    says('machine    ' . machine_text($r));
    says("cycles     $cycles (" . fixed($cycles, count($r, 'machine.frequency'), 2) . " us), $instructions instructions, " .
            fixed($instructions, $cycles, 2) . ' a cycle');
    my $inside = count($r, 'roi.machine.cycles');
    says("region     $inside cycles of interest; its numbers are under roi in stats.json") if $inside;
    says_footprint($r);
    says_spent($r);
    says_levels($r);
    says_traffic($r);
    says('');
}

# ---- races ---------------------------------------------------------------------------------------------------

our $names; # a text trace of the source, for what things are called

# By pair of sites, the most frequent first; where neither site is known by address, too.
sub race_groups {
    my ($r) = @_;
    my (%group, @groups);
    for my $race (@{ $r->{races} }) {
        my $sited = defined $race->{site} || $race->{earlier} && defined $race->{earlier}{site};
        my $key = $race->{race} . ($sited ? '' : " $race->{address}");
        my $g = $group{$key} ||= do { push @groups, { first => $race, id => $race->{race} }; $groups[-1] };
        $g->{by}{ $race->{policy} }++;
    }
    for my $g (@groups) { ($g->{most}) = sort { $b <=> $a } values %{ $g->{by} } }
    return sort {
        $b->{most} <=> $a->{most} || at_event($a->{first}) <=> at_event($b->{first}) || $a->{id} cmp $b->{id}
    } @groups;
}
sub at_event { my ($side) = @_; return defined $side->{region} ? $side->{region} : $side->{event} }

# A name that is a number alone is a line's.
sub site_text {
    my ($site) = @_;
    return $site =~ /^(\d+|0x[0-9a-f]+)$/ ? "at site $site" : "at $site";
}
sub side_text {
    my ($side) = @_;
    my $name = $names && $names->{name}{thread}{ $side->{thread} };
    return "by thread $side->{thread}" . (defined $name ? " ($name)" : '') .
        (defined $side->{region} ? ", in the region from event $side->{region}" : ", event $side->{event}") .
        (defined $side->{interval} ? ", interval $side->{interval}" : '') .
        (defined $side->{site} ? ', ' . site_text($side->{site}) : '');
}
sub object_text {
    my ($race) = @_;
    return " ($race->{object}" . ($race->{offset} ? " + $race->{offset}" : '') . ')' if defined $race->{object};
    return '' unless defined $race->{allocated};
    my ($event) = grep { $_->{number} == $race->{allocated} } @{ $names->{events} };
    my $bytes = $event && $event->{rest} =~ /^\S+ (\d+)/ ? $1 : 'unknown';
    return " (byte $race->{offset} of $bytes allocated by event $race->{allocated}" .
        (defined $race->{allocated_at} ? ', ' . site_text($race->{allocated_at}) : '') . ')';
}

sub says_races {
    my ($r) = @_;
    my @groups = race_groups($r);
    my @labels = labels($r);
    return 0 unless @groups;
    says('', 'racy accesses by pair of sites, the most frequent first; of each pair the first:');
    for my $i (0 .. ($#groups < 9 ? $#groups : 9)) {
        my ($g, $race) = ($groups[$i], $groups[$i]{first});
        says(sprintf('%9d  %s%s of %s at %s', $g->{most}, $race->{system} eq 'true' ? 'system ' : '', $race->{op},
                plural($race->{size}, 'byte'), $race->{address}) . object_text($race) . ' ' . side_text($race));
        says(' ' x 11 . ($race->{earlier} ? "after the $race->{earlier}{op} " . side_text($race->{earlier})
                : 'after an access that the policy does not know'));
        says(' ' x 11 . join ', ', map { "$_ " . ($g->{by}{$_} || 0) } @labels) if @labels > 1;
    }
    says('           and ' . (@groups - 10) . ' more') if @groups > 10;
    return scalar @groups;
}

# ---- the page ------------------------------------------------------------------------------------------------

sub says_findings {
    my ($all, $others, $where) = @_;
    my $shown = @$all < 3 ? @$all : 3;
    for my $i (0 .. $shown - 1) {
        says('') unless $i;
        says(($i ? '          ' : 'findings  ') . $all->[$i]{sentence});
    }
    my @more = (@$all > $shown ? @$all - $shown . ' more' : (), $others ? "$others of single runs" : ());
    return unless @more;
    says('') unless $shown;
    says(($shown ? '          and ' : 'findings  ') . join(', and ', @more) . ": $where");
}

our @race_counts = ([accesses => 'racy accesses'], [sites => 'sites'], [locations => 'locations'], [pairs => 'pairs of sites']);

sub says_policies {
    my ($r) = @_;
    my (undef, @ends) = heads('policy', map { $_->[1] } @race_counts);
    for my $label (labels($r)) {
        row($label, \@ends, [map { my $n = $r->{of}{"policy.$label.races.$_->[0]"}; defined $n ? $n : '-' } @race_counts]);
    }
}

our $planted_text = 'races planted: an input of the workload, as `lardsim workload describe` shows';

# PAGE is what `run -o DIR` printed; with TRACE, the text of its source; `planted`: the workload plants races.
sub judge_run {
    my ($dir, $page, $trace, $planted) = @_;
    my $r = results($dir);
    $names = $trace ? trace_text($trace) : undef;
    page_open($page);
    says("$r->{made}{source}: " . plural($r->{made}{events}, 'event'), '');
    says_machine($r);
    says_policies($r);
    says('', $planted_text) if $planted;
    says('', "caveat   $r->{made}{caveat}") if defined $r->{made}{caveat};
    my $groups = says_races($r);
    says_findings($r->{findings}, 0, '`findings` in stats.json');
    says('', "digest   $r->{made}{digest}  behaviour $r->{made}{behaviour}", "results  $dir/stats.txt, $dir/races.jsonl, ...");
    says('next     `lardsim explain races` says what the counts mean') if $groups;
    page_end();
    same('the behaviour of stats.json', $r->{behaviour}, $r->{made}{behaviour});
}

# ---- JSON ----------------------------------------------------------------------------------------------------

# Key by key, where the number is in stats.json; a machine without such a part has no such key.
our %machine_json = (
    '' => { cores => 'machine.cores', 'cores-used' => 'machine.cores-used', frequency => 'machine.frequency',
        line => 'machine.line', cycles => 'machine.cycles', instructions => 'machine.instructions',
        'cycles-of-interest' => 'roi.machine.cycles', upgrades => 'coherence.upgrades' },
    footprint => { lines => 'footprint.lines', shared => 'footprint.shared', 'least-by-thread' => 'footprint.by-thread.min',
        'most-by-thread' => 'footprint.by-thread.max', 'peak-live' => 'footprint.peak-live', allocations => 'events.kind.alloc' },
    spent => { map { $_ => "machine.spent.$_" } @spent },
    (map { $_ => { accesses => "$_.accesses", misses => "$_.misses" } } qw(l1 l2 l3)),
    network => { messages => 'network.messages.total', bytes => 'network.bytes.total', 'queue-cycles' => 'network.queue-cycles' },
    dsm => { messages => 'dsm.messages', bytes => 'dsm.message-bytes', 'read-faults' => 'dsm.read-faults',
        'write-faults' => 'dsm.write-faults', 'pages-fetched' => 'dsm.pages-fetched', 'diffs-made' => 'dsm.diffs-made',
        'barrier-rounds' => 'dsm.barrier-rounds' },
    memory => { map { $_ => "memory.$_" } qw(reads writes row-hits row-misses row-conflicts) });

sub machine_data {
    my ($r) = @_;
    return undef unless count($r, 'machine.cores');
    my %want = (order => machine_order($r), contention => machine_contention($r), 'memory-type' => $r->{config}{'memory.type'});
    for my $group (keys %machine_json) {
        my $stat = $machine_json{$group};
        my %part = map { $_ => $r->{of}{ $stat->{$_} } } grep { exists $r->{of}{ $stat->{$_} } } keys %$stat;
        if ($group eq '') { %want = (%want, %part) }
        elsif (%part) { $want{$group} = \%part }
    }
    my @used = bandwidths($r);
    $want{'gb-per-second'} = { 'on-chip' => sprintf('%.6f', $used[0] / 1000), 'off-chip' => sprintf('%.6f', $used[1] / 1000) };
    return \%want;
}

sub group_data {
    my ($r, $g) = @_;
    my %want = %{ $g->{first} };
    delete @want{qw(policy conflicts noticed)};
    $want{earlier} = { %{ $want{earlier} } } if $want{earlier};
    for my $side (\%want, $want{earlier} || ()) { delete $side->{event} if defined $side->{region} }
    $want{accesses} = { map { $_ => $g->{by}{$_} || 0 } labels($r) };
    return \%want;
}

# FILE is what `run --json -o DIR` printed.
sub judge_run_json {
    my ($dir, $file, $planted) = @_;
    my $r = results($dir);
    $place = $file;
    my @groups = race_groups($r);
    my %policies;
    for my $label (labels($r)) {
        $policies{$label} = { map { $_->[0] => $r->{of}{"policy.$label.races.$_->[0]"} }
                grep { exists $r->{of}{"policy.$label.races.$_->[0]"} } @race_counts };
    }
    same_data('the object', json_file($file), {
            schema => 'lardsim-run-1', source => $r->{made}{source}, planted_races => $planted ? 'true' : 'false',
            (defined $r->{made}{caveat} ? (caveat => $r->{made}{caveat}) : ()),
            events => $r->{made}{events}, error => undef, exit => 0, digest => $r->{made}{digest},
            behaviour => $r->{made}{behaviour}, output => $dir, machine => machine_data($r), findings => $r->{findings},
            policies => \%policies, groups => scalar @groups,
            most_frequent => [map { group_data($r, $_) } @groups > 10 ? @groups[0 .. 9] : @groups]
    });
}
1;
