# study.pl - what folders say together: cells, axes, baselines, overheads, races. By docs/report.md.
use strict;
use warnings;
our (@measures, @parts);

# ---- cells ---------------------------------------------------------------------------------------------------

sub cell_of {
    my ($run, $in, $label) = @_;
    my $where = defined $run->{roi} ? 'region' : 'run';
    my %c = (run => $run, label => $label);
    for my $kind (['of', $#measures], ['part', $#parts]) {
        my ($key, $last) = @$kind;
        for my $k (0 .. $last) {
            ($c{$key}[$k]) = grep { defined } map { $in->{$_}{$where}{$key}[$k] } '', $label;
        }
    }
    # What the region's time lacks is idle, so that parts are all of it.
    my ($cycles, $cores, $used) = map { measure(\%c, $_) } qw(cycles cores cores-used);
    my $all = sum_known(@{$c{part}});
    $c{part}[$#parts] = most(0, or_zero($c{part}[$#parts]) + $cycles * $used - or_zero($all))
        if defined $cycles && defined $used && defined $cores;
    return \%c;
}

my %measure_at;

sub measure {
    my ($c, $key) = @_;
    %measure_at = map { $measures[$_][0] => $_ } 0 .. $#measures unless %measure_at;
    return $c->{of}[$measure_at{$key}];
}

sub run_add {
    my ($s, $dir, $name, $only, $kept) = @_;
    my $run = run_of($dir, $name, $kept) or return undef;
    my ($in, @labels) = numbers_of($run);
    push @{$s->{runs}}, $run;
    push @{$s->{faults}}, "$dir: has no DONE, so it is not whole: "
        . (defined $run->{error} ? $run->{error} : 'the run stopped, or still runs') . '. What there is of it is shown'
        unless $run->{done};
    push @{$s->{cells}}, map { cell_of($run, $in, $_) } defined $only ? $only : @labels ? @labels : 'none';
    return $run;
}

# ---- races ---------------------------------------------------------------------------------------------------

sub races_add {
    my ($s, $dir, $label) = @_;
    for my $line (split /\n/, or_empty(file_bytes("$dir/races.jsonl"))) {
        my $race = json_text($line);
        my $policy = member($race, 'policy');
        next if defined $label && $policy ne $label;
        my $sites = defined member($race, 'site') || defined member($race, 'earlier.site');
        my $key = member($race, 'race') . ' ' . ($sites ? '' : or_empty(member($race, 'address')));
        my $known = $s->{race}{$key};
        push @{$s->{races}}, $known = $s->{race}{$key} = {line => $race, dir => $dir, key => $key, policies => [],
                whole => -e "$dir/DONE"}
            unless $known;
        push @{$known->{policies}}, $policy unless $known->{count}{$policy}++;
    }
    for my $line (split /\n/, or_empty(file_bytes("$dir/differences.jsonl"))) {
        my $d = json_text($line);
        next unless member($d, 'of') eq 'access';
        for my $race (@{$s->{races}}) {
            next unless $race->{dir} eq $dir && or_empty(member($race->{line}, 'event')) eq member($d, 'event');
            my $verdict = member($d, 'verdict') . ' for ' . member($d, 'policy');
            push @{$race->{verdicts}}, [$verdict, or_empty(member($d, 'reason'))]
                unless grep { $_->[0] eq $verdict } @{$race->{verdicts}};
        }
    }
}

sub or_empty { return defined $_[0] ? $_[0] : '' }

# ---- folders -------------------------------------------------------------------------------------------------

# [studies], [faults] of what the paths hold.
sub studies_of {
    my (@studies, @faults);
    my $runs = sub {
        my ($dir) = @_;
        my ($s) = grep { $_->{kind} eq 'runs' } @studies;
        if ($s) {
            $s->{name} .= ", $dir";
        } else {
            push @studies, $s = {kind => 'runs', name => $dir, faults => \@faults};
        }
        return $s;
    };
    for my $dir (@_) {
        if (!-e $dir) {
            push @faults, "$dir: No such file or directory";
        } elsif (!-d $dir) {
            push @studies, map { {%$_, faults => \@faults} } tables_of($dir);
        } elsif (-e "$dir/plan.csv") {
            push @studies, my $s = {kind => 'sweep', name => $dir, dir => $dir, faults => \@faults};
            read_sweep($s);
        } else {
            read_results($runs->($dir), $dir);
        }
    }
    for my $s (grep { $_->{kind} ne 'table' } @studies) {
        my @builds = distinct(map { or_empty($_->{id}) } @{$s->{runs}});
        push @faults, "$s->{name}: has results of " . @builds . ' builds (' . join(', ', @builds[0 .. least($#builds, 3)])
            . (@builds > 4 ? ', ...' : '') . "); what differs between them may be the builds' doing" if @builds > 1;
        complete($s);
    }
    return (\@studies, \@faults);
}

sub read_results {
    my ($s, $dir) = @_;
    my $compared = json_file("$dir/compare.json");
    if ($compared && member($compared, 'schema') =~ /^lardsim-costs-/) {
        for my $label (map { member($_, 'policy') } items(member($compared, 'policies'))) {
            run_add($s, "$dir/$label", $label, $label, 1) or die "judge: $dir/$label holds no run\n";
            races_add($s, "$dir/$label", $label);
            $s->{config} ||= "$dir/$label/config.yaml" if $label ne 'none';
        }
    } else {
        run_add($s, $dir, $dir, undef, 1) or die "judge: $dir holds no run\n";
        races_add($s, $dir, undef);
        $s->{config} ||= "$dir/config.yaml";
    }
}

sub read_sweep {
    my ($s) = @_;
    my $dir = $s->{dir};
    my ($head, @rows) = csv_rows(file_bytes("$dir/plan.csv"));
    my %at = map { $head->[$_] => $_ } 0 .. $#$head;
    my (%cell, %told, $failed, $missing);
    $s->{axes} = [map { {name => $_} } qw(source seed policy), @$head[6 .. $#$head]];
    ($failed, $missing) = (0, 0);
    for my $row (@rows) {
        my ($hash, $source, $seed, $policy) = @$row[@at{qw(cell source seed policy)}];
        if (!-d "$dir/cells/$hash") {
            -e "$dir/failed/$hash/log" ? $failed++ : $missing++;
            next;
        }
        my $run = run_add($s, "$dir/cells/$hash", $hash, $policy, !$s->{runs}) or die "judge: $hash holds no run\n";
        races_add($s, "$dir/cells/$hash", $policy) unless $told{"$source $policy"}++;
        $s->{config} ||= "$dir/cells/$hash/config.yaml";
        my $c = $cell{$hash} = $s->{cells}[-1];
        $c->{baseline_hash} = $row->[$at{baseline}];
        (my $text = $source) =~ s/,?seed=\Q$seed\E$// if $seed ne '';
        $c->{point} = [defined $text ? $text : $source, $seed, $policy, @$row[6 .. $#$head]];
    }
    $_->{baseline} = $cell{$_->{baseline_hash}} for @{$s->{cells}};
    push @{$s->{faults}}, "$dir: of " . @rows . " cells $failed have failed and $missing are missing; the others are "
        . 'shown. `lardsim sweep status` says why' if $failed + $missing;
}

# ---- axes ----------------------------------------------------------------------------------------------------

sub distinct {
    my %seen;
    return grep { !$seen{$_}++ } @_;
}

# The value of a cell on an axis of runs; '': the axis says nothing of it.
sub setting {
    my ($c, $name) = @_;
    return $c->{label} if $name eq 'policy';
    return $c->{run}{dir} if $name eq 'folder';
    return or_empty($c->{run}{source}) if $name eq 'source';
    return '' if $name =~ /^policy\.([^.]*)\./ && $1 ne $c->{label};
    $c->{run}{by_name} ||= {map { $_->[0] => $_->[1] } @{$c->{run}{config}}};
    return or_empty($c->{run}{by_name}{$name});
}

sub axes_of_runs {
    my ($s) = @_;
    my @cells = @{$s->{cells}};
    my $differs = sub { my ($name) = @_; distinct(grep { $_ ne '' } map { setting($_, $name) } @cells) > 1 };
    my @names = ('policy', grep { $differs->($_) } 'source', grep {
        !/^(?:policies|source|races\.max|trace\.ahead|(?:compare|stats|limits|timeline|policy\.none|policy\.truth)\..*)$/
    } distinct(map { $_->[0] } map { @{$_->{config}} } @{$s->{runs}}));
    my @places = map { my $c = $_; join "\0", map { setting($c, $_) } @names } @cells;
    push @names, 'folder' if distinct(@places) < @places;
    $s->{axes} = [map { {name => $_} } @names];
    for my $c (@cells) { $c->{point} = [map { setting($c, $_) } @names] }
}

sub complete {
    my ($s) = @_;
    $s->{$_} ||= [] for qw(runs cells races);
    axes_of_runs($s) if $s->{kind} eq 'runs';
    my @axes = @{$s->{axes}};
    for my $i (0 .. $#axes) {
        my @values = distinct(grep { $_ ne '' } map { $_->{point}[$i] } @{$s->{cells}});
        $axes[$i]{numbers} = @values && !grep { !defined amount($_) } @values;
        @values = sort { amount($a) <=> amount($b) } @values if $axes[$i]{numbers};
        $axes[$i]{values} = \@values;
        my %at = map { $values[$_] => $_ } 0 .. $#values;
        for (@{$s->{cells}}) { $_->{place}[$i] = $_->{point}[$i] eq '' ? @values : $at{$_->{point}[$i]} }
    }
    find_baselines($s) if $s->{kind} eq 'runs';
    for my $c (@{$s->{cells}}) {
        my $base = $c->{baseline} or next;
        my ($with, $without) = map { $_->{run} } $c, $base;
        $c->{whole} = excess($with->{cycles}, $without->{cycles});
        $c->{overhead} = defined $with->{roi} || defined $without->{roi} ? excess($with->{roi}, $without->{roi}) : $c->{whole};
        $s->{has_overheads} = 1 if defined $c->{overhead} && $c->{label} ne 'none';
    }
    $s->{has_region} = grep { defined $_->{roi} } @{$s->{runs}};
    $s->{has_whole} = grep { defined $_->{cycles} && !defined $_->{roi} } @{$s->{runs}};
    judge_axis($s, $_) for 0 .. $#axes;
}

sub excess {
    my ($with, $without) = @_;
    return defined $with && $without ? $with / $without - 1 : undef;
}

# Cells that are alike but for an axis, or but for what is about policies.
sub place_but {
    my ($s, $c, $but) = @_;
    return join ' ', map { $but->($_, $s->{axes}[$_]{name}) ? '' : $c->{place}[$_] } 0 .. $#{$s->{axes}};
}

sub find_baselines {
    my ($s) = @_;
    my %none;
    my $key = sub { place_but($s, $_[0], sub { $_[1] =~ /^policy/ }) };
    for (grep { $_->{label} eq 'none' } @{$s->{cells}}) { $none{$key->($_)} = $_ }
    $_->{baseline} = $none{$key->($_)} for @{$s->{cells}};
}

sub alike_but {
    my ($s, $axis, @cells) = @_;
    my (%group, @order);
    for my $c (@cells) {
        my $key = place_but($s, $c, sub { $_[0] == $axis });
        push @order, $key unless $group{$key};
        push @{$group{$key}}, $c;
    }
    return map { $group{$_} } @order;
}

sub judge_axis {
    my ($s, $i) = @_;
    my $a = $s->{axes}[$i];
    @$a{qw(groups same cycles why_of)} = (0, 0, 0, 0);
    for my $g (grep { @$_ > 1 } alike_but($s, $i, grep { $_->{point}[$i] ne '' } @{$s->{cells}})) {
        $a->{groups}++;
        my @what = distinct(map { or_empty($_->{run}{behaviour}) } @$g);
        $a->{same}++ if @what == 1 && $what[0] ne '';
        my @cycles = map { measure($_, 'cycles') } @$g;
        my ($low, $high) = (least(@cycles), most(@cycles));
        $a->{cycles} = most($a->{cycles}, $high / $low) if $low;
        my @over = map { $_->{overhead} } @$g;
        $a->{points} = most($a->{points}, 100 * (most(@over) - least(@over))) if defined most(@over);
    }
    for my $run (@{$s->{runs}}) {
        my ($f) = grep { $_->{knobs} =~ /(?:^| )\Q$a->{name}\E:/ && defined $_->{sentence} } @{$run->{findings}} or next;
        $a->{why} = $f->{sentence} unless $a->{why_of}++;
    }
}

sub axis_named {
    my ($s, $name) = @_;
    my ($i) = grep { $s->{axes}[$_]{name} eq $name } 0 .. $#{$s->{axes}};
    return $i;
}

sub policies { my ($s) = @_; return @{$s->{axes}[axis_named($s, 'policy')]{values}} }
sub of_policy { my ($s, $label) = @_; return grep { $_->{label} eq $label } @{$s->{cells}} }

# A part of the overhead, or without a baseline of the cores' time, in percent.
sub part_percent {
    my ($s, $c, $p) = @_;
    my ($cycles, $used) = map { measure($c, $_) } qw(cycles cores-used);
    return undef unless defined $cycles && $used;
    return 100 * or_zero($c->{part}[$p]) / ($used * $cycles) unless $s->{has_overheads};
    my $base = $c->{baseline} or return undef;
    return 100 * (or_zero($c->{part}[$p]) / $used - or_zero($base->{part}[$p]) / measure($base, 'cores-used'))
        / measure($base, 'cycles');
}

# ---- tables of papers ----------------------------------------------------------------------------------------

sub tables_of {
    my ($path) = @_;
    my $read = json_file($path);
    my @tables = grep { defined member($_, 'schema') && member($_, 'schema') =~ /^lardsim-(?:table|reproduce)-1$/ }
        every_object($read);
    return map { table_of($_) } @tables;
}

sub every_object {
    my ($value) = @_;
    return () unless ref $value;
    return map { every_object($_) } items($value) if $value->[0] eq 'array';
    return ($value, map { every_object($_->[1]) } items($value));
}

sub table_of {
    my ($t) = @_;
    my %s = (kind => 'table', name => member($t, 'result'), title => member($t, 'title'), claims => [], rows => []);
    my $claim = sub {
        my ($c, $text) = @_;
        push @{$s{claims}}, {text => $text, map { $_ => member($c, $_) }
                qw(unit verdict paper ours low high interval-low interval-high)};
    };
    my $row = sub { my ($program, $column, $of) = @_;
        push @{$s{rows}}, {program => $program, column => $column, map { $_ => member($of, $_) } qw(paper ours)} };
    for my $p (items(member($t, 'programs'))) {
        next unless ref $p;
        my $name = join ' ', grep { defined } map { member($p, $_) } qw(program step);
        $row->($name, member($_, 'column'), $_) for items(member($p, 'columns'));
    }
    $claim->($_, member($_, 'claim')) for items(member($t, 'claims'));
    for my $c (items(member($t, 'cells'))) {
        my $name = join ' ', grep { defined } map { member($c, $_) } qw(program variant collector);
        my $truth = member($c, 'truth');
        $claim->($truth, "$name, truth: " . member($truth, 'claim')) if $truth && defined member($truth, 'claim');
        for my $d (items(member($c, 'claims'))) {
            my $detector = member($d, 'detector');
            $claim->($d, "$name, $detector: " . member($d, 'claim'));
            $row->($name, "$detector " . member($_, 'measure'), $_) for items(member($d, 'counts'));
        }
    }
    return \%s;
}
1;
