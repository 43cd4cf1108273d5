# words.pl - the question that a study asks and its answer, from the numbers of its cells: which detector costs least
# and most, what most of that is, what each finds, which axes mattered.
use strict;
use warnings;
our (@measures, @parts);

sub bold { return '<b>' . markup($_[0]) . '</b>' }
sub percent { return defined $_[0] ? sprintf '%.1f', 100 * $_[0] : 'nan' }

sub overhead_mean { my ($s, $p, $key) = @_; return mean_known(map { $_->{$key} } of_policy($s, $p)) }

sub question {
    my ($s) = @_;
    return 'Does what the paper claims hold here?' if $s->{kind} eq 'table';
    my $timed = grep { measure($_, 'cycles') } @{$s->{cells}};
    my $at = axis_named($s, 'source');
    my @sources = defined $at ? @{$s->{axes}[$at]{values}} : ();
    my ($first) = map { $_->{source} } @{$s->{runs}};
    my $source = @sources > 1 ? @sources . ' sources' : bold(@sources ? $sources[0] : defined $first ? $first : 'an unknown source');
    my @moved = map { bold($_->{name}) } grep { @{$_->{values}} > 1 && $_->{name} !~ /^(?:policy|source)$/ } @{$s->{axes}};
    return ($s->{has_overheads} ? 'What does each detector cost in ' : $timed ? 'How long does it take, and which accesses race, in '
            : 'Which accesses race in ') . $source . (@moved ? ', and what do these change: ' . join(', ', @moved) : '') . '?';
}

sub answer {
    my ($s) = @_;
    return claims_said($s) if $s->{kind} eq 'table';
    my @said = $s->{has_overheads} ? overheads_said($s) : (grep { measure($_, 'cycles') } @{$s->{cells}}) ? machine_said($s) : '';
    return join '', @said, races_said($s), wrong_said($s), $s->{has_overheads} ? policies_said($s) : '';
}

sub detectors { return grep { $_ ne 'none' } policies($_[0]) }

sub overheads_said {
    my ($s) = @_;
    my @known = grep { defined $_->[1] } map { [$_, overhead_mean($s, $_, 'overhead')] } detectors($s);
    my ($cheap) = sort { $a->[1] <=> $b->[1] } @known;
    my ($dear) = sort { $b->[1] <=> $a->[1] } @known;
    return '' unless $cheap;
    my $than = percent($cheap->[1]) . ' % more cycles than the machine without a detector';
    return bold($cheap->[0]) . ($cheap == $dear ? " costs $than" : " costs least, $than; " . bold($dear->[0]) . ' costs most, '
            . percent($dear->[1]) . ' %')
        . (!$s->{has_region} ? ', in the whole run, as no region of interest is marked.'
            : $s->{has_whole} ? ', in the region of interest, or in the whole run where none is marked.' : ', in the region of interest.');
}

sub policies_said {
    my ($s) = @_;
    my @out;
    for my $p (detectors($s)) {
        my @over = grep { defined } map { $_->{overhead} } of_policy($s, $p);
        next unless @over;
        my @sum = map { my $i = $_; or_zero(sum_known(map { part_percent($s, $_, $i) } of_policy($s, $p))) } 0 .. $#parts;
        my ($most) = sort { $sum[$b] <=> $sum[$a] || $a <=> $b } 0 .. $#parts;
        my ($mean, $all) = (mean_known(@over), sum_known(@sum));
        push @out, '<li>' . bold($p) . ' adds ' . percent($mean) . ' %'
            . (@over > 1 ? ' in the mean of ' . @over . ' runs, from ' . percent(least(@over)) . ' to ' . percent(most(@over)) . ' %' : '')
            . ($all > 0 && $sum[$most] > 0 && $mean > 0.001 ? sprintf '; %.0f %% of that is %s', 100 * $sum[$most] / $all, $parts[$most][0] : '')
            . ($s->{has_region} ? '; in the whole run ' . percent(overhead_mean($s, $p, 'whole')) . ' %' : '') . ".</li>\n";
    }
    return "<ul>\n" . join('', @out) . "</ul>\n";
}

sub machine_said {
    my ($s) = @_;
    my @out;
    for my $c (@{$s->{cells}} <= 8 ? grep { measure($_, 'cycles') } @{$s->{cells}} : ()) {
        my ($cycles, $used, $cores) = map { measure($c, $_) } qw(cycles cores-used cores);
        push @out, bold($c->{label}) . sprintf ' runs %.0f cycles on %.0f of %.0f cores, of which the detector takes %.1f %% of their time. ',
            $cycles, $used, $cores, 100 * or_zero($c->{part}[0]) / ($cycles * $used);
    }
    return join '', @out, 'Without a run of <code>--policy none</code> there is no overhead to tell.';
}

sub races_said {
    my ($s) = @_;
    my @found = grep { defined } map { measure($_, 'races') } grep { $_->{label} ne 'none' } @{$s->{cells}};
    return '' unless @found;
    my $pairs = @{$s->{races}};
    return ' ' . (@found == 1 ? 'It finds' : 'All find') . sprintf(' %.0f racy access%s', $found[0], $found[0] == 1 ? '' : 'es')
        . ($pairs ? " at $pairs pair" . plural($pairs) . ' of sites' : '') . '.' if distinct(map { $_ + 0 } @found) == 1;
    return ' Racy accesses, in the mean: ' . join(', ', map { bold($_->[0]) . sprintf ' %.6g', $_->[1] }
            grep { defined $_->[1] } map { [$_, mean_of($s, $_, 'races')] } detectors($s)) . '.';
}

sub wrong_said {
    my ($s) = @_;
    return join '', map {
        my ($false, $missed) = map { $_ } measure($_, 'false'), measure($_, 'missed');
        $false || $missed ? ' ' . bold($_->{label}) . sprintf ' reports %.0f false and misses %.0f true racy accesses.', $false, $missed : ()
    } @{$s->{cells}};
}

sub claims_said {
    my ($s) = @_;
    my @verdicts = map { or_empty($_->{verdict}) } @{$s->{claims}};
    my ($holds, $fails) = (scalar(grep { $_ eq 'holds' } @verdicts), scalar grep { /^(?:differs|fails)$/i } @verdicts);
    my $other = @verdicts - $holds - $fails;
    return "$holds of " . @verdicts . " claims hold, $fails differ" . ($other ? ", and of $other nothing here could tell" : '') . '.';
}

sub axis_said {
    my ($a) = @_;
    my $so = sub { $a->{why_of} ? $_[0] . markup($a->{why}) . " (so in $a->{why_of} run" . plural($a->{why_of}) . ')' : '' };
    return "no two runs are alike but for it: it can't be judged alone" unless $a->{groups};
    return 'did not matter: where all else is alike, nothing that happened differs' . $so->(', as ') if $a->{same} == $a->{groups};
    my @far = (($a->{cycles} ? sprintf 'cycles differ by a factor of up to %.3f', $a->{cycles} : ()),
        (defined $a->{points} ? sprintf 'overheads by up to %.1f points', $a->{points} : ()));
    return ($a->{cycles} < 1.01 && or_zero($a->{points}) < 1 ? 'hardly mattered' : 'mattered') . (@far ? ': ' . join ', and ', @far : '')
        . ($a->{same} ? "; in $a->{same} of $a->{groups} places nothing that happened differs" : '')
        . $so->($a->{same} ? ': ' : '; in some runs it could not: ');
}
1;
