# tables_read.pl - what the judge of tables reads: JSON, CSV, YAML as lardsim writes it, text traces, and pages. It
# shares no code with the product. Numbers stay text, so that nothing is rounded by reading it.
use strict;
use warnings;
no warnings 'portable'; # addresses have 64 bits

our $place = 'the judge'; # what is being read, for the sentence of a failure

sub wrong { print "$place: @_\n"; exit 1 }

# Says what stands there, and what should.
sub same {
    my ($where, $got, $want) = @_;
    $_ = defined $_ ? $_ : 'nothing' for $got, $want;
    wrong("$where says '$got', and should say '$want'") if $got ne $want;
}

sub file_text {
    my ($path) = @_;
    open my $in, '<', $path or wrong("$path can't be read: $!");
    local $/;
    my $text = <$in>;
    return defined $text ? $text : '';
}

# ---- JSON: an object is a hash, and its keys in order are in %keys_of ----------------------------------------

our %keys_of;

sub json_string {
    my ($text) = @_;
    my %short = (n => "\n", t => "\t", r => "\r", b => "\b", f => "\f");
    $text =~ s{\\(u([0-9a-f]{4})|.)}{defined $2 ? chr(hex $2) : exists $short{$1} ? $short{$1} : $1}gei;
    return $text;
}

sub json_object {
    my ($in) = @_;
    my (%o, @keys);
    until ($$in =~ /\G\s*\}/gc) {
        $$in =~ /\G\s*,?\s*"((?:[^"\\]|\\.)*)":\s*/gc or wrong('JSON without a key: ' . substr $$in, pos $$in, 40);
        my $key = json_string($1);
        wrong("the key $key stands twice") if exists $o{$key};
        push @keys, $key;
        $o{$key} = json_value($in);
    }
    $keys_of{ \%o } = \@keys;
    $o{''} = \@keys;
    return \%o;
}

sub json_array {
    my ($in) = @_;
    my @a;
    push @a, json_value($in) until $$in =~ /\G\s*,?\s*\]/gc;
    return \@a;
}

sub json_value {
    my ($in) = @_;
    $$in =~ /\G[\s,]*/gc;
    return json_object($in) if $$in =~ /\G\{/gc;
    return json_array($in) if $$in =~ /\G\[/gc;
    return json_string($1) if $$in =~ /\G"((?:[^"\\]|\\.)*)"/gc;
    return $1 eq 'null' ? undef : $1 if $$in =~ /\G([-+.0-9a-zA-Z]+)/gc;
    wrong('JSON that can not be read: ' . substr $$in, pos $$in || 0, 40);
}

sub json_text {
    my ($text) = @_;
    my $value = json_value(\$text);
    wrong('more than one value of JSON') unless $text =~ /\G\s*\z/gc;
    return $value;
}
sub json_file { return json_text(file_text($_[0])) }
sub json_lines { return map { json_text($_) } split /\n/, file_text($_[0]) }
sub keys_in { return @{ $_[0]{''} } }

# Holds what was read against what should stand there: each key of both, each value. A wanted sub judges for itself.
sub same_data {
    my ($where, $got, $want) = @_;
    return $want->($where, $got) if ref $want eq 'CODE';
    if (ref $want eq 'HASH') {
        wrong("$where is no object") unless ref $got eq 'HASH';
        for my $key (sort keys %$want) {
            next if $key eq '';
            wrong("$where lacks $key") unless exists $got->{$key};
            same_data("$where.$key", $got->{$key}, $want->{$key});
        }
        for my $key (keys_in($got)) {
            wrong("$where.$key is not judged") unless exists $want->{$key};
        }
    } elsif (ref $want eq 'ARRAY') {
        wrong("$where is no list") unless ref $got eq 'ARRAY';
        same("the length of $where", scalar @$got, scalar @$want);
        same_data("$where\[$_]", $got->[$_], $want->[$_]) for 0 .. $#$want;
    } else {
        same($where, $got, $want);
    }
}
sub anything { return sub { } }

# ---- other files ---------------------------------------------------------------------------------------------

# Rows of a CSV file, each a list.
sub csv_file {
    my ($path) = @_;
    my @rows;
    my @lines = split /^/m, file_text($path);
    while (@lines) {
        my $text = shift @lines;
        if ($text !~ /"/) { # most are plain
            chomp $text or wrong("$path: row " . @rows . ' does not end');
            push @rows, length $text ? [split /,/, $text, -1] : [''];
            next;
        }
        $text .= shift @lines while @lines && $text =~ tr/"// % 2; # a field may have ends of lines
        my @row;
        do {
            if ($text =~ /\G"((?:[^"]|"")*)"/gc) { push @row, $1 =~ s/""/"/gr }
            else { $text =~ /\G([^,\n]*)/gc; push @row, $1 }
        } while $text =~ /\G,/gc;
        $text =~ /\G\n/gc or wrong("$path: row " . @rows . ' does not end');
        push @rows, \@row;
    }
    return @rows;
}

# Every parameter of a config.yaml, by its whole name.
sub config_file {
    my ($path) = @_;
    my (%config, @above);
    for (split /\n/, file_text($path)) {
        next if /^\s*(#|$)/;
        /^( *)([^:]+):(?: (.*))?$/ or wrong("$path: a line that can not be read: $_");
        my ($depth, $key, $value) = (length($1) / 2, $2, $3);
        $value =~ s/\s+#.*// if defined $value;
        $value =~ s/^"(.*)"$/json_string($1)/e if defined $value;
        $#above = $depth - 1;
        push @above, $key;
        $config{ join '.', @above } = $value if defined $value && length $value;
    }
    return \%config;
}

# All statistics of a folder by name, and their order; those of the region begin with "roi.".
sub stats_file {
    my ($path) = @_;
    my (%stat, @order);
    my $walk;
    $walk = sub {
        my ($at, $name) = @_;
        for my $key (keys_in($at)) {
            my $full = length $name ? "$name.$key" : $key;
            if (ref $at->{$key} eq 'HASH') { $walk->($at->{$key}, $full) }
            elsif (!ref $at->{$key}) { $stat{$full} = defined $at->{$key} ? $at->{$key} : ''; push @order, $full }
            else { for (@{ $at->{$key} }) { my $bucket = "$name." . "$_->[0]-$_->[1]"; $stat{$bucket} = $_->[2]; push @order, $bucket } }
        }
    };
    my $all = json_file($path);
    my %top = map { $_ => 1 } qw(schema behaviour findings digest);
    for my $key (grep { !$top{$_} } keys_in($all)) {
        $walk->({ $key => $all->{$key}, '' => [$key] }, '');
    }
    return { of => \%stat, order => \@order, findings => $all->{findings}, behaviour => $all->{behaviour} };
}

# A results folder of one run.
our %results_read;
sub results {
    my ($dir) = @_;
    return $results_read{$dir} ||= {
        dir => $dir, %{ stats_file("$dir/stats.json") },
        config => config_file("$dir/config.yaml"),
        made => json_file("$dir/provenance.json"),
        races => [json_lines("$dir/races.jsonl")]
    };
}
sub count { my ($r, $name) = @_; return exists $r->{of}{$name} ? $r->{of}{$name} : 0 }

# The labels of the policies, in their order.
sub labels { return map { s/=.*//r } split /,\s*/, $_[0]{config}{policies} =~ tr/[]"//dr }

# A text trace: its head, its names, and its events, each with its number.
sub trace_text {
    my ($path) = @_;
    my %t = (first => 0, granularity => 0, events => []);
    my $number;
    for (split /\n/, file_text($path)) {
        if (/^lardsim-text/) { next }
        if (my @n = /^name (\S+) (\S+) "(.*)"/) { $t{name}{ $n[0] }{ $n[1] =~ /^0x/ ? hex $n[1] : $n[1] } = $n[2]; next }
        if (/^(producer|first|granularity|gaps|layout) (.*)/) { $t{$1} = $2; next }
        if (/^# event (\d+)/) { $number = $1; next }
        /^T(\d+) (\S+)\s*(.*)/ or wrong("$path: a line of a trace that can not be read: $_");
        $number = $t{first} unless defined $number;
        push @{ $t{events} }, { number => $number++, thread => $1, kind => $2, rest => $3, line => $_ };
    }
    $t{producer} =~ s/^"|"$//g if defined $t{producer};
    return \%t;
}

# ---- pages ---------------------------------------------------------------------------------------------------

our (@page, $line_number);

sub page_open {
    ($place) = @_;
    @page = split /\n/, file_text($place), -1;
    wrong('the last line does not end') if pop @page ne '';
    $line_number = 0;
}
sub page_peek { return $line_number < @page ? $page[$line_number] : '' }
sub page_line {
    wrong('it ends too soon') if $line_number >= @page;
    return $page[ $line_number++ ];
}
sub says {
    for my $want (@_) { my $got = page_line(); same("line $line_number", $got, $want) }
}
sub page_end { wrong("line " . ($line_number + 1) . " is not judged: $page[$line_number]") if $line_number < @page }

# The heads of a table, each at the end of its column. The first begins the line; numbers end where heads end.
sub heads {
    my (@want) = @_;
    my ($line, $rest, @ends) = (page_line(), '');
    my $at = 0;
    for my $head (@want) {
        wrong("line $line_number has no head '$head' where it should: $line")
            unless substr($line, $at) =~ /^(\s*)\Q$head\E(?=\s|$)/ && ($at == 0 || length $1);
        $at += length($1) + length $head;
        push @ends, $at;
    }
    wrong("line $line_number has more heads than are judged: $line") if substr($line, $at) =~ /\S/;
    return @ends;
}

# The line of a table: its label at the left, each cell at its column's end, and what stands behind them.
sub row {
    my ($label, $ends, $cells, $tail) = @_;
    my $want = $label;
    for my $i (0 .. $#$cells) {
        my $gap = $ends->[$i] - length($want) - length $cells->[$i];
        wrong('line ' . ($line_number + 1) . ": there is no room for '$cells->[$i]' in: $page[$line_number]") if $gap < 1;
        $want .= ' ' x $gap . $cells->[$i];
    }
    says($want . (defined $tail ? "  $tail" : ''));
}

# ---- numbers -------------------------------------------------------------------------------------------------

# part / whole with so many digits, half a unit being rounded away from zero.
sub fixed {
    my ($part, $whole, $digits) = @_;
    my $scale = 10**$digits;
    my $x = $part * $scale / $whole;
    my $size = int(abs($x) + 0.5);
    return ($x < 0 && $size ? '-' : '') . ($digits ? sprintf "%d.%0${digits}d", int($size / $scale), $size % $scale : $size);
}
sub percent { my ($part, $whole) = @_; return $whole ? fixed(100 * $part, $whole, 1) . ' %' : '-' }

sub plural { my ($n, $word) = @_; return "$n $word" . ($n == 1 ? '' : 's') }

# The interval of a mean: Student's t, 95 percent, both sides, by bisection of its distribution (Simpson's rule).
sub student {
    my ($degrees) = @_;
    my $density = sub { (1 + $_[0]**2 / $degrees)**(-($degrees + 1) / 2) };
    my $area = sub {
        my ($to) = @_;
        my ($n, $sum) = (2000, 0);
        $sum += ($_ == 0 || $_ == $n ? 1 : $_ % 2 ? 4 : 2) * $density->($to * $_ / $n) for 0 .. $n;
        return $sum * $to / $n / 3;
    };
    my $norm = sqrt($degrees) * ($degrees % 2 ? 2 * atan2(1, 1) : 1); # half of all there is, by its recursion
    for (my $k = 2 - $degrees % 2; $k < $degrees; $k += 2) { $norm *= $k / ($k + 1) }
    my ($low, $high) = (1, 13);
    for (1 .. 30) {
        my $mid = ($low + $high) / 2;
        if ($area->($mid) < 0.95 * $norm) { $low = $mid } else { $high = $mid }
    }
    return sprintf '%.4f', $low;
}

# Mean, half of its interval (undefined of one), least and most of numbers.
sub estimate {
    my (@x) = @_;
    my ($sum, $squares) = (0, 0);
    $sum += $_ for @x;
    my $mean = $sum / @x;
    $squares += ($_ - $mean)**2 for @x;
    my ($least, $most) = (sort { $a <=> $b } @x)[0, -1];
    our %student;
    my $half = @x > 1 ? ($student{ $#x } ||= student($#x)) * sqrt($squares / $#x / @x) : undef;
    return { mean => $mean, half => $half, least => $least, most => $most, n => scalar @x };
}

# A number of six decimals may differ in the last one: a sum in another order rounds otherwise.
sub near {
    my ($where, $got, $want, $by) = @_;
    return same($where, $got, $want) unless defined $want && length $want;
    wrong("$where says '" . (defined $got ? $got : 'nothing') . "', and should say '$want'")
        unless defined $got && $got =~ /^-?[0-9.]+$/ && abs($got - $want) <= (defined $by ? $by : 1.5e-6) * (1 + abs($want) * 1e-6);
}
1;
