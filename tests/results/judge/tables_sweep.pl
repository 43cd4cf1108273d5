# tables_sweep.pl - judges a sweep's folder (docs/sweeps.md): which cells its spec has, what `sweep status` and `sweep
# collect` print, and cells.csv, cells.jsonl, index.sqlite, means.csv and means.jsonl from the cells themselves.
use strict;
use warnings;
our ($place, $line_number, @page);

# ---- the spec ------------------------------------------------------------------------------------------------

# 64Ki is 65536; a text that is no number stays as it is.
sub spec_number {
    my ($text) = @_;
    my %unit = ('' => 1, k => 1e3, M => 1e6, G => 1e9, Ki => 2**10, Mi => 2**20, Gi => 2**30);
    return $text =~ /^(\d+)(k|M|G|Ki|Mi|Gi)?$/ ? $1 * $unit{ $2 || '' } : undef;
}
sub spec_list { my ($text) = @_; return map { s/^["']|["']$//gr } $text =~ /("[^"]*"|[^,\[\]\s][^,\]]*?)\s*(?=[,\]])/g }

# Of a spec as the tests write it: a key a line, lists in brackets, axes in braces or a line each.
sub spec_file {
    my ($path) = @_;
    my %s = (axes => [], only => [], except => [], zip => []);
    my $under = '';
    for (split /\n/, file_text($path)) {
        s/#.*//;
        if (/^(\w+):\s*$/) { $under = $1; next }
        if (/^(policies|sources|only|except):\s*(\[.*\])/) { $s{$1} = [spec_list($2)] }
        elsif (/^seeds:\s*(\d+)/) { $s{seeds} = [1 .. $1] }
        elsif (/^zip:\s*\{\w+: (\[.*\])\}/) { $s{zip} = [spec_list($1)] }
        elsif ($under eq 'axes' && /^  (\S+): (\[.*\])/) { push @{ $s{axes} }, [$1, spec_list($2)] }
        elsif ($under eq 'sources' && /^  - "?([^"]*)"?/) { push @{ $s{sources} }, $1 }
        elsif (/\S/ && !/^base:/ && $under ne 'base') { wrong("$path: the judge does not know: $_") }
    }
    return \%s;
}

sub spec_holds {
    my ($condition, $value) = @_;
    for my $term (split / and /, $condition) {
        my ($left, $sign, $right) = $term =~ /^(\S+) (<=|>=|!=|=|<|>) (.+)$/ or wrong("no condition: $term");
        my ($x, $y) = map { exists $value->{$_} ? $value->{$_} : $_ } $left, $right;
        ($x, $y) = map { s/=.*//r } $x, $y if $left eq 'policy';
        my ($a, $b) = map { spec_number($_) } $x, $y;
        my $by = defined $a && defined $b ? $a <=> $b : $x cmp $y;
        return 0 unless { '=' => $by == 0, '!=' => $by != 0, '<' => $by < 0, '>' => $by > 0, '<=' => $by <= 0, '>=' => $by >= 0 }->{$sign};
    }
    return 1;
}

# All points: the last axis changes faster than the first, then sources, seeds, policies.
sub spec_points {
    my ($s) = @_;
    my %zip = map { $_ => 1 } @{ $s->{zip} };
    my $lead = $s->{zip}[0];
    my @points = ({ at => 0 });
    for my $axis (@{ $s->{axes} }) {
        my ($name, @values) = @$axis;
        @points = map { my $p = $_; $zip{$name} && $name ne $lead ? { %$p, $name => $values[$p->{at}] }
                : map { { %$p, $name => $values[$_], $zip{$name} ? (at => $_) : () } } 0 .. $#values } @points;
    }
    @points = map { my $p = $_; map { { %$p, source => $_ } } @{ $s->{sources} } } @points;
    @points = map { my $p = $_; map { { %$p, seed => $_ } } @{ $s->{seeds} || [''] } } @points;
    @points = map { my $p = $_; map { { %$p, policy => $_ } } @{ $s->{policies} } } @points;
    return grep {
        my $p = $_;
        !(grep { !spec_holds($_, $p) } @{ $s->{only} }) && !grep { spec_holds($_, $p) } @{ $s->{except} }
    } @points;
}

# A file has no seed, and a parameter of a policy is none of another's.
sub point_row {
    my ($s, $p) = @_;
    my $made = $p->{source} =~ /^(workload|synth):/;
    my $label = $p->{policy} =~ s/=.*//r;
    my $seeded = $made && length $p->{seed} ? $p->{source} . ($p->{source} =~ /:$/ ? '' : ',') . "seed=$p->{seed}" : $p->{source};
    return join "\t", $seeded, $made ? $p->{seed} : '', $label,
        map { my $n = $_->[0]; $n =~ /^policy\.([^.]+)\./ && $1 ne $label ? '' : $p->{$n} } @{ $s->{axes} };
}

# plan.csv has each point once, and for each point a cell without a policy.
sub judge_plan {
    my ($dir, $spec) = @_;
    my $s = spec_file($spec);
    $place = "$dir/plan.csv";
    my ($head, @rows) = csv_file($place);
    same('its head', "@$head", join ' ', qw(cell baseline asked source seed policy), map { $_->[0] } @{ $s->{axes} });
    my %seen;
    my @want = grep { !$seen{$_}++ } map { point_row($s, $_) } spec_points($s);
    my @got = map { join "\t", @$_[3 .. $#$_] } grep { $_->[2] eq 'yes' } @rows;
    same('the number of its cells', scalar @got, scalar @want);
    my %cell = map { $_->[0] => $_ } @rows;
    same('the number of its names', scalar keys %cell, scalar @rows);
    my %want = map { $_ => 1 } @want;
    for (@got) { wrong("it has a cell that the spec has not: $_") unless $want{$_} }
    my $on_machine = grep { length $_->[1] } @rows;
    for my $row (@rows) {
        my ($name, $baseline, $asked, @is) = @$row;
        wrong("the cell $name has no baseline") if $on_machine && !$cell{$baseline};
        next unless length $baseline;
        my (undef, undef, undef, @base) = @{ $cell{$baseline} };
        $is[$_] = '' for grep { $head->[$_ + 3] =~ /^policy\./ } 0 .. $#is;
        same("the baseline of $name", join(' ', @base), join ' ', @is[0, 1], 'none', @is[3 .. $#is]);
    }
    return ($head, @rows);
}

# ---- status --------------------------------------------------------------------------------------------------

sub cell_state {
    my ($dir, $name) = @_;
    return -e "$dir/cells/$name/DONE" ? 'done' : -e "$dir/failed/$name/log" ? 'failed' : 'missing';
}
sub failed_text {
    my ($dir, $name) = @_;
    return (split /\n/, file_text("$dir/failed/$name/log"))[0];
}

# PAGE, FILE: what `sweep status DIR` and `sweep status --json DIR` printed.
sub judge_status {
    my ($dir, $spec, $page, $file, $damaged) = @_;
    my ($head, @rows) = judge_plan($dir, $spec);
    my %n = map { $_ => 0 } qw(done failed missing);
    $n{ cell_state($dir, $_->[0]) }++ for @rows;
    $n{done} -= $damaged || 0;
    page_open($page);
    says('cells    ' . @rows, "done     $n{done}", "failed   $n{failed}", "missing  $n{missing}");
    says("damaged  $damaged") if $damaged;
    my @failed = grep { cell_state($dir, $_->[0]) eq 'failed' } @rows;
    for my $row (@failed) {
        says("failed $row->[0]: policy $row->[5], source $row->[3]" . join('', map { length $row->[$_] ? ", $head->[$_] $row->[$_]" : '' } 6 .. $#$row),
            '    ' . failed_text($dir, $row->[0]));
    }
    page_end();
    $place = $file;
    same_data('the object', json_file($file), { schema => 'lardsim-sweep-1', cells => scalar @rows, %n, damaged => $damaged || 0,
            failed => [map { my $row = $_; { why => failed_text($dir, $row->[0]), map { $head->[$_] => $row->[$_] } 0 .. $#$row } } @failed] });
}

# ---- collect -------------------------------------------------------------------------------------------------

our @usual = (qw(events.total machine.cycles roi.machine.cycles machine.instructions policy.*.races.accesses
    policy.*.races.sites policy.*.races.locations l1.misses l2.misses l3.misses network.bytes.total memory.reads memory.writes));

sub run_cycles {
    my ($r) = @_;
    return map { $r->{of}{"${_}machine.cycles"} } '', 'roi.';
}

# measured, overhead, overhead-whole: the region's where both runs have one.
sub cell_overheads {
    my ($r, $base) = @_;
    my ($whole, $region) = run_cycles($r);
    return ('', '', '') unless defined $whole;
    my $measured = defined $region ? 'region' : 'run';
    return ($measured, '', '') unless $base;
    my ($base_whole, $base_region) = run_cycles($base);
    my ($with, $without) = defined $region || defined $base_region ? ($region, $base_region) : ($whole, $base_whole);
    my $overhead = defined $with && $without ? fixed($with - $without, $without, 6) : '';
    return ($measured, $overhead, fixed($whole - $base_whole, $base_whole, 6));
}

# The rows of cells.csv, as they should be: all cells that were asked for and are done, in the order of the plan.
sub cells_table {
    my ($dir, $head, $rows, @more) = @_;
    my @axes = 6 .. $#$head;
    my %number = map { my $i = $_; ($i => !grep { length $_->[$i] && !defined spec_number($_->[$i]) } @$rows) } @axes;
    my @stats = (@usual, @more);
    my @want = [ 'cell', (map { $head->[$_] } @axes), qw(source seed policy measured overhead overhead-whole),
        (map { s/^policy\.\*\.//r } @stats), qw(behaviour findings) ];
    my %known;
    my $read = sub { my ($name) = @_; $known{$name} ||= cell_state($dir, $name) eq 'done' ? results("$dir/cells/$name") : 0 };
    for my $row (grep { $_->[2] eq 'yes' && cell_state($dir, $_->[0]) eq 'done' } @$rows) {
        my $r = $read->($row->[0]);
        my @values = map { my $n = s/^policy\.\*/policy.$row->[5]/r; defined $r->{of}{$n} ? $r->{of}{$n} : '' } @stats;
        push @want, [ $row->[0], (map { $number{$_} && length $row->[$_] ? spec_number($row->[$_]) : $row->[$_] } @axes), @$row[3, 4, 5],
            cell_overheads($r, length $row->[1] ? $read->($row->[1]) : 0), @values, $r->{behaviour},
            join ' ', map { $_->{key} } @{ $r->{findings} } ];
    }
    return @want;
}

sub same_rows {
    my ($path, @want) = @_;
    $place = $path;
    my @got = csv_file($path);
    same('the number of its lines', scalar @got, scalar @want);
    for my $i (0 .. $#want) {
        same('the number of fields of line ' . ($i + 1), scalar @{ $got[$i] }, scalar @{ $want[$i] });
        for my $k (0 .. $#{ $want[$i] }) {
            my ($where, $x, $y) = ('line ' . ($i + 1) . ", $want[0][$k]", $got[$i][$k], $want[$i][$k]);
            ref $y ? near($where, $x, $$y, 2e-6) : same($where, $x, $y);
        }
    }
}

# The same rows as JSON: a field that is empty is left out, and what are numbers stand as such.
sub same_lines {
    my ($path, @want) = @_;
    $place = $path;
    my $head = shift @want;
    my @lines = split /\n/, file_text($path);
    same('the number of its lines', scalar @lines, scalar @want);
    for my $i (0 .. $#want) {
        my $got = json_text($lines[$i]);
        for my $k (0 .. $#$head) {
            my $want = ref $want[$i][$k] ? ${ $want[$i][$k] } : $want[$i][$k];
            my $where = 'line ' . ($i + 1) . ", $head->[$k]";
            if (!length $want) { wrong("$where should be left out") if exists $got->{ $head->[$k] }; next }
            near($where, $got->{ $head->[$k] }, $want, 2e-6) if ref $want[$i][$k];
            same($where, $got->{ $head->[$k] }, $want) unless ref $want[$i][$k];
            my $quoted = $lines[$i] =~ /"\Q$head->[$k]\E": "/ ? 'text' : 'number';
            my $meant = $head->[$k] !~ /^(cell|source|policy|measured|behaviour|findings)$/ && $want =~ /^-?[0-9.]+$/;
            same("$where, its form", $quoted, $meant ? 'number' : 'text');
        }
        my $n = grep { length(ref $_ ? $$_ : $_) } @{ $want[$i] };
        same('the number of keys of line ' . ($i + 1), scalar keys_in($got), $n);
    }
}

# Of all seeds of a point: mean, and the ends of its interval.
sub means_table {
    my ($cells, $axes) = @_;
    my ($head, @rows) = @$cells;
    my ($source, $seed, $policy, $measured) = map { $axes + $_ } 1 .. 4;
    my @numbers = $measured + 1 .. $#$head - 2;
    my @want = [ @$head[1 .. $axes], qw(source policy seeds measured), map { ("$head->[$_]", "$head->[$_].low", "$head->[$_].high") } @numbers ];
    my (%of, @points);
    for my $row (@rows) {
        my $unseeded = $row->[$source] =~ s/,?seed=\d+$//r;
        $unseeded = $row->[$source] unless length $row->[$seed];
        my $key = join "\t", @$row[1 .. $axes], $unseeded, $row->[$policy];
        push @points, $of{$key} = { source => $unseeded, rows => [] } unless $of{$key};
        push @{ $of{$key}{rows} }, $row;
    }
    for my $p (@points) {
        my @own = @{ $p->{rows} };
        my @out = (@{ $own[0] }[1 .. $axes], $p->{source}, $own[0][$policy], scalar @own, $own[0][$measured]);
        for my $k (@numbers) {
            my @x = grep { length } map { $_->[$k] } @own;
            my $e = @x ? estimate(@x) : {};
            push @out, @x ? \sprintf('%.6f', $e->{mean}) : '';
            push @out, map { defined $e->{half} ? \sprintf('%.6f', $e->{mean} + $_ * $e->{half}) : '' } -1, 1;
        }
        push @want, \@out;
    }
    return @want;
}

# What changes nothing: all cells that differ in it alone did the same.
sub idle_axes {
    my ($dir, $head, $rows) = @_;
    my %behaviour = map { $_->[0] => results("$dir/cells/$_->[0]")->{behaviour} }
        grep { $_->[2] eq 'yes' && cell_state($dir, $_->[0]) eq 'done' } @$rows;
    my @said;
    for my $axis (4, 6 .. $#$head) {
        my (%of, $several, $differ);
        for my $row (grep { $behaviour{ $_->[0] } } @$rows) {
            my @rest = @$row;
            $rest[3] =~ s/,?seed=\d+$// if $axis == 4 && length $rest[4];
            push @{ $of{ join "\t", map { $_ == $axis ? '' : $rest[$_] } 3 .. $#rest } }, $behaviour{ $row->[0] };
        }
        for my $all (values %of) { $several += @$all > 1; $differ += grep { $_ ne $all->[0] } @$all }
        push @said, "lardsim: $head->[$axis] changes nothing: in all $several places where cells differ in it alone, they do the same"
            if $several && !$differ;
    }
    return @said;
}

# INDEX is what sqlite3 -csv says of the tables cells and stats; '' where there is no sqlite3.
sub judge_index {
    my ($cells, $rows, $dir, $index, $stats) = @_;
    my ($head, @want) = @$cells;
    # SQLite has numbers as such: a fraction may have fewer digits.
    same_rows($index, ['id', @$head], map { [$_, map { /^-?\d+\.\d+$/ ? \(my $x = $_) : $_ } @{ $want[$_ - 1] }] } 1 .. @want);
    my %want;
    for my $row (@want) {
        my $r = results("$dir/cells/$row->[0]");
        my ($h, @csv) = csv_file("$dir/cells/$row->[0]/stats.csv");
        my %unit = map { $_->[0] => $_->[2] } @csv;
        $want{"$row->[0] $_"} = [$r->{of}{$_}, $unit{$_}] for @{ $r->{order} };
    }
    $place = $stats;
    my ($titles, @got) = csv_file($stats);
    same('its columns', "@$titles", 'cell name value unit');
    same('the number of its rows', scalar @got, scalar keys %want);
    for my $row (@got) {
        my $want = $want{"$row->[0] $row->[1]"} or wrong("it has $row->[1] of the cell $row->[0], which has no such statistic");
        my $where = "$row->[1] of the cell $row->[0]";
        near($where, $row->[2], $want->[0]) if $want->[0] =~ /\./;
        same($where, $row->[2], $want->[0]) unless $want->[0] =~ /\./;
        same("the unit of $where", $row->[3], $want->[1]);
    }
}

# PAGE, ERRORS: what `sweep collect DIR` printed; FILE: with --json; INDEX, STATS: what sqlite3 has; MORE: --stat.
sub judge_collect {
    my ($dir, $spec, $page, $errors, $file, $index, $stats, @more) = @_;
    my ($head, @rows) = judge_plan($dir, $spec);
    my @cells = cells_table($dir, $head, \@rows, @more);
    my $asked = grep { $_->[2] eq 'yes' } @rows;
    same_rows("$dir/cells.csv", @cells);
    same_lines("$dir/cells.jsonl", @cells);
    my @means = means_table(\@cells, @$head - 6);
    my $several = grep { $_->[@$head - 6 + 2] > 1 } @means[1 .. $#means];
    if ($several) { same_rows("$dir/means.csv", @means); same_lines("$dir/means.jsonl", @means) }
    page_open($page);
    says("$dir/cells.csv, cells.jsonl and index.sqlite: $#cells cells");
    says("$dir/means.csv and means.jsonl: means over seeds, $#means rows") if $several;
    page_end();
    page_open($errors);
    says(idle_axes($dir, $head, \@rows));
    for my $stat (@more) {
        my ($column) = grep { $cells[0][$_] eq $stat =~ s/^policy\.\*\.//r } 0 .. $#{ $cells[0] };
        says("lardsim: warning: no cell has the statistic $stat; `lardsim list statistics` shows all")
            unless grep { length $_->[$column] } @cells[1 .. $#cells];
    }
    says("lardsim: " . ($asked - $#cells) . " of $asked cells are not done, and not in the tables") if $asked > $#cells;
    page_end();
    $place = $file;
    same_data('the object', json_file($file), { schema => 'lardsim-sweep-collect-1', cells => $#cells, missing => $asked - $#cells,
            damaged => 0, files => [map { "$dir/$_" } qw(cells.csv cells.jsonl index.sqlite), $several ? qw(means.csv means.jsonl) : ()] });
    judge_index(\@cells, \@rows, $dir, $index, $stats) if $index;
}
1;
