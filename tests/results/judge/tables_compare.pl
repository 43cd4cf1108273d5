# tables_compare.pl - judges what `lardsim compare` prints and writes without a machine (docs/compare.md): the verdict
# table, whose the accesses are, why, the list, and compare.json.
use strict;
use warnings;
our ($place, $line_number, @page, $names, $planted_text);

our @whys = qw(unchecked no-conflict ordered forgotten rule unknown);
our @verdicts = qw(false missed);

sub compare_count {
    my ($r, $label, $name) = @_;
    my $n = $r->{of}{"compare.$label.$name"};
    return defined $n ? $n : '-';
}
sub compare_truth {
    my ($r) = @_;
    return $r->{config}{'compare.truth'} || (labels($r))[0];
}
sub by_access { my ($r, $label) = @_; return exists $r->{of}{"compare.$label.false.accesses"} }

# No access, place or pair is false, and none missed.
sub finds_same {
    my ($r, $label) = @_;
    return !grep { $_ ne '-' && $_ > 0 } map { compare_count($r, $label, $_) }
        map { my $v = $_; map { "$v.$_" } by_access($r, $label) ? 'accesses' : 'places' } @verdicts;
}

# A title stands above the first of its columns, and ends where that ends.
sub heads_above {
    my ($above, $titles, @behind) = @_;
    my @above = heads(grep { length } @$above);
    my @ends = heads('policy', @$titles, @behind);
    shift @ends;
    for my $i (0 .. $#$above) {
        same("the end of the head '$above->[$i]' in line " . ($line_number - 1), shift @above, $ends[$i]) if length $above->[$i];
    }
    return @ends;
}

sub says_verdicts {
    my ($r, $properties) = @_;
    my $truth = compare_truth($r);
    my @of = qw(accesses sites places pairs);
    my @ends = heads_above(['racy', '', 'false', ('') x 3, 'missed', ('') x 3], ['accesses', 'sites', @of, @of]);
    for my $label (labels($r)) {
        row($label, \@ends, [(map { count($r, "policy.$label.races.$_") } qw(accesses sites)),
                map { my $v = $_; map { compare_count($r, $label, "$v.$_") } @of } @verdicts]);
    }
    says('', 'false: a race that the truth does not find; missed: one that only the truth finds', '');
    my ($width) = sort { $b <=> $a } map { length } labels($r), 'policy';
    my $before = 'promises';
    for my $label (labels($r)) {
        says(sprintf "%-8s  %-${width}s  %s", $before, $label, $properties->{$label});
        wrong("line $line_number: the truth is $truth") if ($properties->{$label} =~ /^the truth: / ? 1 : 0) != ($label eq $truth);
        $before = '';
    }
}

sub says_same {
    my ($r) = @_;
    my $truth = compare_truth($r);
    my @same = grep { $_ ne $truth && finds_same($r, $_) } labels($r);
    says('') if @same;
    my @by_access = grep { by_access($r, $_) } @same;
    my @by_place = grep { !by_access($r, $_) } @same;
    says("same racy accesses as $truth: " . join ', ', @by_access) if @by_access;
    says("same racy places as $truth: " . join ', ', @by_place) if @by_place;
}

sub says_owners {
    my ($r) = @_;
    my @of = map { my $v = $_; map { "$v.$_" } qw(program system) } @verdicts;
    my @labels = grep { my $l = $_; grep { $_ ne '-' && $_ > 0 } map { compare_count($r, $l, $_) } @of } labels($r);
    return unless @labels;
    says('');
    my @ends = heads_above(['false', '', 'missed', ''], [qw(program system program system)]);
    row($_->[0], \@ends, $_->[1]) for map { my $l = $_; [$l, [map { compare_count($r, $l, $_) } @of]] } @labels;
}

sub says_whys {
    my ($r) = @_;
    my (@ends, $width);
    ($width) = sort { $b <=> $a } map { length } labels($r), 'policy';
    for my $label (labels($r)) {
        for my $verdict (@verdicts) {
            for my $of (qw(accesses places pairs)) {
                my $n = compare_count($r, $label, "$verdict.$of");
                next if $n eq '-' || !$n;
                unless (@ends) {
                    says('');
                    (undef, @ends) = heads('policy', 'count', @whys);
                }
                row(sprintf("%-${width}s  %-6s %-9s", $label, $verdict, $of) =~ s/ +$//r, \@ends,
                    [$n, map { compare_count($r, $label, "$verdict.why.$of.$_") } @whys]);
            }
        }
    }
}

sub says_list {
    my (@differences) = @_;
    for my $d (@differences) {
        my $at = $d->{of} eq 'access' ? $d->{address} : $d->{location};
        says("$d->{verdict} by $d->{policy}: $d->{of} at $at" . object_text($d) . ': ' .
                ($d->{system} eq 'true' ? 'system ' : '') . "$d->{op} " . side_text($d),
            '    after ' . ($d->{earlier} ? "$d->{earlier}{op} " . side_text($d->{earlier})
                : "an access that $d->{reported_by} does not name"),
            "    $d->{why}: $d->{reason}");
    }
}

# Counts that the list has, too: accesses of each policy, and why.
sub recount {
    my ($r, @differences) = @_;
    my %n;
    for my $d (@differences) {
        my $of = $d->{of} eq 'access' ? 'accesses' : "$d->{of}s";
        $n{"$d->{policy}.$d->{verdict}.$of"}++ if $of eq 'accesses';
        $n{"$d->{policy}.$d->{verdict}.why.accesses.$d->{why}"}++ if $of eq 'accesses';
    }
    for my $label (labels($r)) {
        next unless by_access($r, $label);
        for my $v (@verdicts) {
            for my $name ("$v.accesses", map { "$v.why.accesses.$_" } @whys) {
                same("what differences.jsonl has of $label, $name", $n{"$label.$name"} || 0, compare_count($r, $label, $name));
            }
        }
    }
}

sub verdict_data {
    my ($r, $label, $v) = @_;
    my %want;
    for my $name (qw(accesses sites program system places pairs)) {
        my $n = compare_count($r, $label, "$v.$name");
        $want{$name} = $n if $n ne '-';
    }
    for my $of (qw(accesses places pairs)) {
        my %why = map { $_ => compare_count($r, $label, "$v.why.$of.$_") } @whys;
        $want{why}{$of} = \%why unless grep { $_ eq '-' } values %why;
    }
    return \%want;
}

sub compare_data {
    my ($r, $label) = @_;
    my %want = (property => anything(), map { $_ => count($r, "policy.$label.races.$_") } qw(accesses sites pairs));
    return \%want if $label eq compare_truth($r);
    delete $want{accesses} unless exists $r->{of}{"policy.$label.races.accesses"};
    return { %want, same => finds_same($r, $label) ? 'true' : 'false', map { $_ => verdict_data($r, $label, $_) } @verdicts };
}

# PAGE is what `compare -o DIR` printed, with --list where LIST says so.
sub judge_compare {
    my ($dir, $page, $trace, $list) = @_;
    my $r = results($dir);
    my @differences = json_lines("$dir/differences.jsonl");
    $names = trace_text($trace);
    $place = "$dir/compare.json";
    my $json = json_file($place);
    same_data('the policies', $json->{policies}, { map { $_ => compare_data($r, $_) } labels($r) });
    same('truth', $json->{truth}, compare_truth($r));
    same('listed', $json->{listed}, scalar @differences);
    recount($r, @differences) unless $json->{unlisted};
    page_open($page);
    if ($list) { says_list(@differences); says('') if @differences }
    says("$r->{made}{source}: " . plural($r->{made}{events}, 'event'), '');
    says("caveat   $r->{made}{caveat}", '') if defined $r->{made}{caveat};
    says_verdicts($r, { map { $_ => $json->{policies}{$_}{property} } labels($r) });
    says_same($r);
    says_owners($r);
    says_whys($r);
    says_findings($r->{findings}, 0, '`findings` in stats.json');
    says('', "digest   $r->{made}{digest}  behaviour $r->{made}{behaviour}",
        "results  $dir/compare.json, $dir/differences.jsonl, ...");
    page_end();
}

# FILE is what `compare --json --list -o DIR` printed.
sub judge_compare_json {
    my ($dir, $file, $list) = @_;
    my $r = results($dir);
    my $kept = json_file("$dir/compare.json");
    my @differences = json_lines("$dir/differences.jsonl");
    $place = $file;
    same_data('the object', json_file($file), {
            schema => 'lardsim-compare-1', source => $r->{made}{source}, 'planted-races' => 'false',
            ($list ? (list => \@differences) : ()), (defined $r->{made}{caveat} ? (caveat => $r->{made}{caveat}) : ()),
            events => $r->{made}{events}, error => undef, exit => 0, digest => $r->{made}{digest},
            behaviour => $r->{made}{behaviour}, output => $dir, findings => $r->{findings}, truth => compare_truth($r),
            policies => { map { $_ => compare_data($r, $_) } labels($r) }, listed => scalar @differences, unlisted => 0
    });
}
1;
