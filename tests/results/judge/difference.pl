# difference.pl - what differs between two results, and the page of it.
use strict;
use warnings;
our (@measures, @parts);

# {a, b, pairs, ...} of two studies.
sub difference_of {
    my ($a, $b, $threshold) = @_;
    my %d = (a => $a, b => $b, threshold => $threshold, pairs => [], only => [0, 0]);
    my %axes_b = map { $_->{name} => 1 } @{$b->{axes}};
    my %axes_a = map { $_->{name} => 1 } @{$a->{axes}};
    my $key = sub {
        my ($s, $c) = @_;
        return @{$a->{runs}} == 1 && @{$b->{runs}} == 1 ? '' : $c->{run}{name} if $s->{kind} eq 'runs';
        return join ' ', map { "$s->{axes}[$_]{name}=$c->{point}[$_]" }
            grep { $axes_a{$s->{axes}[$_]{name}} && $axes_b{$s->{axes}[$_]{name}} } 0 .. $#{$s->{axes}};
    };
    # Of a run with several policies, its first cell speaks for it.
    my $firsts = sub { my ($s) = @_; my %seen; grep { !$seen{$_->{run}{dir}}++ } @{$s->{cells}} };
    my (%partner, $met);
    for my $c ($firsts->($b)) { $partner{$key->($b, $c)} ||= $c }
    for my $c ($firsts->($a)) {
        my $other = delete $partner{$key->($a, $c)} or next;
        push @{$d{pairs}}, pair_of($c, $other, $threshold);
    }
    $met = @{$d{pairs}};
    $d{only} = [$firsts->($a) - $met, $firsts->($b) - $met];
    for my $r (@{$a->{races}}) {
        my $other = $b->{race}{$r->{key}};
        push @{$d{mets}}, [$other ? 'other counts' : 'gone', $r, $other]
            if !$other || counts_said($r) ne counts_said($other);
    }
    push @{$d{mets}}, map { ['come', undef, $_] } grep { !$a->{race}{$_->{key}} } @{$b->{races}};
    return \%d;
}

sub pair_of {
    my ($first, $second, $threshold) = @_;
    my %p = (a => $first, b => $second, settings => [], changes => []);
    my ($ra, $rb) = ($first->{run}, $second->{run});
    $p{same} = defined $ra->{behaviour} && defined $rb->{behaviour} && $ra->{behaviour} eq $rb->{behaviour};
    my ($ca, $cb) = map { +{map { @$_ } @{$_->{config}}} } $ra, $rb;
    for my $name (distinct(map { $_->[0] } @{$ra->{config}}, @{$rb->{config}})) {
        my ($from, $to) = ($ca->{$name}, $cb->{$name});
        next if defined $from && defined $to && $from eq $to;
        push @{$p{settings}}, [$name, $from, $to, verdict_of(\%p, $name, $from, $to)];
    }
    my ($sa, $sb) = map { +{map { @$_ } @{$_->{stats}}} } $ra, $rb;
    my @numbers = @{$ra->{stats}} && @{$rb->{stats}} ? map { [$_->[0], $_->[1], $sb->{$_->[0]}] } @{$ra->{stats}}
        : map { [$measures[$_][0], $first->{of}[$_], $second->{of}[$_]] } 0 .. $#measures;
    push @numbers, ['overhead', $first->{overhead}, $second->{overhead}], ['overhead-whole', $first->{whole}, $second->{whole}];
    for (@numbers) {
        my ($name, $x, $y) = @$_;
        next if grep { !defined || !/^-?[\d.]+(?:e[-+]?\d+)?$/ } $x, $y;
        $p{compared}++;
        next if $x == $y;
        my $percent = $x != 0 ? 100 * ($y - $x) / $x : 9**9**9;
        push @{$p{changes}}, [$name, $x, $y, $percent] if abs $percent > $threshold;
    }
    my $detail = sub { $_[0] =~ /^(?:roi|cores)\.|\.core\.|\.steps\./ ? 1 : 0 };
    $p{changes} = [sort { $detail->($a->[0]) <=> $detail->($b->[0]) || abs $b->[3] <=> abs $a->[3] || $a->[0] cmp $b->[0] } @{$p{changes}}];
    return \%p;
}

sub verdict_of {
    my ($p, $name, $from, $to) = @_;
    return 'changes no result' if $name =~ /^(?:races\.max|trace\.ahead|(?:stats|timeline|limits)\..*)$/;
    return 'did not matter: nothing that happened differs' if $p->{same};
    if (defined $from && defined $to) {
        for (['a', $from, $to], ['b', $to, $from]) {
            my ($which, $was, $is) = @$_;
            my ($n, $m) = (amount($was), amount($is));
            my $both = defined $n && defined $m;
            for my $f (@{$p->{$which}{run}{findings}}) {
                my ($change) = $f->{knobs} =~ /(?:^| )\Q$name\E:(\S+)/ or next;
                return "could not matter: $f->{sentence}" if $change eq 'any' || $change eq $is
                    || $both && ($change eq 'larger' && $m > $n || $change eq 'smaller' && $m < $n
                        || $change eq 'multiple' && $n && $m > $n && $m % $n == 0);
            }
        }
    }
    return 'may have mattered';
}

# ---- what it comes to ----------------------------------------------------------------------------------------

sub difference_said {
    my ($d) = @_;
    my @pairs = @{$d->{pairs}};
    my @differing = grep { !$_->{same} } @pairs;
    my @out = !@pairs ? 'nothing can be compared: no run of one is one of the other'
        : !@differing ? 'nothing that happened differs' . (@pairs > 1 ? ', in any of the runs' : ': both have the same behaviour')
        : @pairs == 1 ? 'they differ in what happened' : 'of ' . @pairs . ' runs, ' . @differing . ' differ in what happened';
    for my $p (@differing[0 .. least($#differing, 11)]) {
        push @out, map({ measure_said($p, $_) } qw(cycles races metadata-peak)), map({ overhead_said($p, @$_) } ['overhead', 'overhead'],
            ['overhead-whole', 'whole']);
    }
    push @out, '... and ' . (@differing - 12) . ' more that differ' if @differing > 12;
    my %n;
    $n{$_->[0]}++ for @{$d->{mets}};
    push @out, sprintf 'races: %d of the first are gone, %d have come, %d are as before with other counts',
        map { $n{$_} || 0 } 'gone', 'come', 'other counts' if %n;
    push @out, reasons_said(@pairs) if @differing;
    push @out, "runs without a partner: $d->{only}[0] in the first, $d->{only}[1] in the second" if $d->{only}[0] + $d->{only}[1];
    return @out;
}

sub measure_said {
    my ($p, $key) = @_;
    my ($x, $y) = map { measure($_, $key) } @$p{qw(a b)};
    return () if !defined $x || !defined $y || $x == $y;
    my $of = "$key of $p->{a}{label}: from";
    return $x != 0 ? sprintf "$of %.10g to %.10g (%+.2f %%)", $x, $y, 100 * ($y - $x) / $x : sprintf "$of 0 to %.10g", $y;
}

sub overhead_said {
    my ($p, $name, $key) = @_;
    my ($x, $y) = map { $_->{$key} } @$p{qw(a b)};
    return () if !defined $x || !defined $y || $x == $y;
    return sprintf "$name of $p->{a}{label}: from %.1f %% to %.1f %% (%+.1f points)", 100 * $x, 100 * $y, 100 * ($y - $x);
}

sub reasons_said {
    my (@pairs) = @_;
    my $differ = sub { my ($key) = @_; grep { or_empty($_->{a}{run}{$key}) ne or_empty($_->{b}{run}{$key}) } @pairs };
    my @names = map { $_->[0] } grep { $_->[3] eq 'may have mattered' && $_->[0] ne 'source' } @{$pairs[0]{settings}};
    my @out = @names ? 'parameters that may be the reason: ' . join ', ', @names : ();
    push @out, 'the builds differ; that may be a reason' if $differ->('id');
    push @out, 'the sources differ' if $differ->('source');
    push @out, 'the events differ, though the source has the same name: the file has changed, or each machine has an execution of its own'
        if !$differ->('source') && $differ->('identity');
    return @out ? @out : 'and nothing that could be the reason: the same build and configuration gave other results, or one of the '
        . 'folders was changed';
}

# ---- the page ------------------------------------------------------------------------------------------------

sub difference_page {
    my ($d, @faults) = @_;
    my ($a, $b) = map { $_->{name} } @$d{qw(a b)};
    my @pairs = @{$d->{pairs}};
    return join '', page_top("lardsim: $a and $b"), faults_said(@faults), '<section class="study"><p class="question">What changed from ',
        bold($a), ' to ', bold($b), ', and what of it matters?</p><div class="answer"><ul>', map({ element('li', $_) } difference_said($d)),
        '</ul></div>', map({ pair_element($d, $_) } @pairs[0 .. least($#pairs, 49)]),
        @pairs > 50 ? '<p>The first 50 of ' . @pairs . ' runs.</p>' : '', mets_table($d), '</section>', page_bottom();
}

sub pair_element {
    my ($d, $p) = @_;
    my ($ra, $rb) = map { $_->{run} } @$p{qw(a b)};
    my $row = sub { my ($head, $x, $y, $said) = @_; '<tr>' . element('th', $head) . element('td', defined $x ? $x : '-')
            . element('td', defined $y ? $y : '-') . element('td', $said) . '</tr>' };
    my @changes = @{$p->{changes}};
    my $n = @changes;
    return join '', '<details' . (@{$d->{pairs}} <= 4 ? ' open' : '') . '><summary>' . markup($p->{a}{label}) . ': ' . markup($ra->{dir})
        . ' and ' . markup($rb->{dir}) . ($p->{same} ? ' (nothing that happened differs)' : '') . '</summary><table><thead><tr>'
        . '<th>what</th><th>first</th><th>second</th><th>whether it mattered</th></tr></thead><tbody>',
        map({ $row->($_->[0], $ra->{$_->[1]}, $rb->{$_->[1]}, '') } grep {
            my ($x, $y) = ($ra->{$_->[1]}, $rb->{$_->[1]});
            !defined $x || !defined $y || $x ne $y
        } ['version', 'version'], ['build', 'id'], ['compiler', 'compiler'], ['source', 'source'], ['identity of the events', 'identity'],
            ['behaviour', 'behaviour'], ['made by', 'command']), map({ $row->(@$_) } @{$p->{settings}}),
        "</tbody></table><p>$n of " . ($p->{compared} || 0) . sprintf(' statistics differ by more than %.6g %%.</p>', $d->{threshold}),
        $n ? ('<div class="wide" tabindex="0"><table><thead><tr><th>statistic</th><th class="n">first</th><th class="n">second</th>'
            . '<th class="n">percent</th></tr></thead><tbody>', map({
            my ($name, $x, $y, $percent) = @$_;
            '<tr>' . element('th', $name) . number_cell('%.10g', $x) . number_cell('%.10g', $y) . '<td class="n">'
                . ($x == 0 ? 'new' : sprintf '%+.2f', $percent) . '</td></tr>'
        } @changes[0 .. least($n - 1, 99)]), '</tbody></table></div>') : '',
        $n > 100 ? '<p>The first 100; <code>lardsim compare --results --json</code> has all.</p>' : '', '</details>';
}

sub mets_table {
    my ($d) = @_;
    my @mets = @{$d->{mets} || []} or return '';
    my $count = sub { '<td>' . ($_[0] ? counts_said($_[0]) : '-') . '</td>' };
    return join '', '<h3>Races</h3><table><thead><tr><th>what became of it</th><th>race</th><th>first</th><th>second</th></tr></thead>'
        . '<tbody>', map({
        my ($what, $x, $y) = @$_;
        my $race = ($x || $y)->{line};
        "<tr><th>$what</th><td>" . both_sides($race) . '<br>' . element('code', member($race, 'race')) . '</td>' . $count->($x) . $count->($y)
            . '</tr>'
    } @mets[0 .. least($#mets, 199)]), '</tbody></table>';
}

# ---- the same for a terminal, and as JSON --------------------------------------------------------------------

sub both_known { my ($x, $y) = @_; return defined $x && defined $y && $x ne $y }

sub pair_lines {
    my ($d, $p) = @_;
    my ($ra, $rb) = map { $_->{run} } @$p{qw(a b)};
    my ($n, @changes) = (scalar @{$p->{settings}}, @{$p->{changes}});
    return ('', "$p->{a}{label}: $n parameter" . ($n == 1 ? ' differs' : 's differ') . ', and ' . @changes . ' of ' . or_zero($p->{compared})
            . sprintf(' statistics by more than %.6g %%', $d->{threshold}),
        map({ sprintf '  %-10s%s -> %s', $_->[0], $ra->{$_->[1]}, $rb->{$_->[1]} } grep { both_known($ra->{$_->[1]}, $rb->{$_->[1]}) }
            map({ [$_, $_] } qw(version)), ['build', 'id'], map({ [$_, $_] } qw(compiler source)), ['events', 'identity'],
            ['behaviour', 'behaviour']),
        map({ my ($name, $from, $to, $verdict) = @$_;
            "  $name: " . (defined $from ? $from : '-') . ' -> ' . (defined $to ? $to : '-') . " ($verdict)" } @{$p->{settings}}),
        map({ my ($name, $x, $y, $percent) = @$_;
            $x == 0 ? sprintf '  %s: 0 -> %.10g', $name, $y : sprintf '  %s: %.10g -> %.10g (%+.2f %%)', $name, $x, $y, $percent
        } @changes[0 .. least($#changes, 14)]),
        @changes > 15 ? '  ... and ' . (@changes - 15) . ' more; --json has all' : ());
}

sub met_line {
    my ($what, $x, $y) = @{$_[0]};
    my $race = ($x || $y)->{line};
    my @sides = map { my $before = $_;
        my ($op, $site) = map { member($race, "$before$_") } qw(op site);
        (defined $op ? $op : 'access') . ' by ' . (defined $site ? $site : '?') } '', 'earlier.';
    return sprintf '  %-6s  %s  %s after %s', $what eq 'other counts' ? 'counts' : $what, member($race, 'race'), @sides;
}

# What is printed, line by line.
sub difference_lines {
    my ($d) = @_;
    my @told = grep { !$_->{same} || @{$_->{settings}} || @{$_->{changes}} } @{$d->{pairs}};
    my @mets = @{$d->{mets} || []};
    return map { visible($_) } "$d->{a}{name} -> $d->{b}{name}", difference_said($d), map({ pair_lines($d, $_) } @told[0 .. least($#told, 11)]),
        @mets ? ('', 'races:') : (), map({ met_line($_) } @mets[0 .. least($#mets, 14)]),
        @mets > 15 ? '  ... and ' . (@mets - 15) . ' more; --json has all' : ();
}

sub difference_tree {
    my ($d) = @_;
    my $number = sub { $_[0] > 1e300 ? undef : sprintf '%.17g', $_[0] };
    my $counts = sub { my ($r) = @_; ['object', $r ? map { [$_, $r->{count}{$_}] } @{$r->{policies}} : ()] };
    return ['object', ['schema', 'lardsim-difference-1'], ['from', $d->{a}{name}], ['to', $d->{b}{name}],
        ['threshold', $number->($d->{threshold})], ['summary', ['array', difference_said($d)]],
        ['differing', scalar grep { !$_->{same} } @{$d->{pairs}}], ['only-from', $d->{only}[0]], ['only-to', $d->{only}[1]],
        ['runs', ['array', map {
            my $p = $_;
            ['object', ['policy', $p->{a}{label}], ['from', $p->{a}{run}{dir}], ['to', $p->{b}{run}{dir}], ['same', $p->{same} ? 'true' : 'false'],
                ['build', ['array', $p->{a}{run}{id}, $p->{b}{run}{id}]],
                ['parameters', ['array', map { my @s = @$_;
                    ['object', map { [(qw(name from to verdict))[$_], $s[$_]] } 0 .. 3] } @{$p->{settings}}]],
                ['compared', or_zero($p->{compared})], ['statistics', ['array', map { my ($name, @x) = @$_;
                    ['object', ['name', $name], map { [(qw(from to percent))[$_], $number->($x[$_])] } 0 .. 2] } @{$p->{changes}}]]]
        } @{$d->{pairs}}]],
        ['races', ['array', map {
            my ($what, $x, $y) = @$_;
            my $race = ($x || $y)->{line};
            ['object', ['race', member($race, 'race')], ['change', $what eq 'other counts' ? 'counts' : $what], ['site', member($race, 'site')],
                ['earlier-site', member($race, 'earlier.site')], ['from', $counts->($x)], ['to', $counts->($y)]]
        } @{$d->{mets} || []}]]];
}
1;
