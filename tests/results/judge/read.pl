# read.pl - the judge's own readers: JSON, YAML as config.yaml has it, CSV, and what a run's folder says.
# Numbers stay the texts that they are, so that nothing is lost; null is undef.
use strict;
use warnings;

sub file_bytes {
    my ($path) = @_;
    open my $in, '<:raw', $path or return undef;
    local $/;
    return scalar <$in>;
}

# ---- JSON: an object is [object => [key, value]...], an array [array => value...] ----------------------------

my %escaped = (n => "\n", t => "\t", r => "\r", b => "\b", f => "\f");

sub json_string {
    my ($in) = @_;
    $$in =~ /\G"((?:[^"\\]|\\.)*)"\s*/gcs or die "no JSON string at byte " . pos($$in) . "\n";
    my $text = $1;
    $text =~ s/\\(?:u([0-9a-fA-F]{4})|(.))/defined $1 ? utf8_bytes(hex $1) : $escaped{$2} || $2/ges;
    return $text;
}

sub utf8_bytes {
    my $c = chr $_[0];
    utf8::encode($c);
    return $c;
}

sub json_value {
    my ($in) = @_;
    if ($$in =~ /\G\{\s*/gc) {
        my @all = 'object';
        until ($$in =~ /\G\}\s*/gc) {
            my $key = json_string($in);
            $$in =~ /\G:\s*/gc or die "no : after \"$key\"\n";
            push @all, [$key, json_value($in)];
            $$in =~ /\G,\s*/gc;
        }
        return \@all;
    }
    if ($$in =~ /\G\[\s*/gc) {
        my @all = 'array';
        until ($$in =~ /\G\]\s*/gc) {
            push @all, json_value($in);
            $$in =~ /\G,\s*/gc;
        }
        return \@all;
    }
    return json_string($in) if $$in =~ /\G(?=")/;
    $$in =~ /\G([-+.\w]+)\s*/gc or die "no JSON at byte " . pos($$in) . "\n";
    return $1 eq 'null' ? undef : $1;
}

sub json_text {
    my ($text) = @_;
    pos($text) = 0;
    $text =~ /\G\s*/gc;
    return json_value(\$text);
}

sub json_file {
    my $text = file_bytes($_[0]);
    return defined $text ? json_text($text) : undef;
}

# The member of that name; of a path, "clock.since", the one in the other.
sub member {
    my ($object, $path) = @_;
    for my $key (split /\./, $path) {
        return undef unless ref $object && $object->[0] eq 'object';
        my ($found) = grep { ref && $_->[0] eq $key } @$object;
        $object = $found ? $found->[1] : undef;
    }
    return $object;
}

sub items {
    my ($array) = @_;
    return ref $array ? @$array[1 .. $#$array] : ();
}

# [dotted name, value] of each value that has none in it.
sub flat {
    my ($value, $name) = @_;
    return [$name, $value] unless ref $value;
    return map { flat($_, $name) } items($value) if $value->[0] eq 'array';
    return map { flat($_->[1], $name eq '' ? $_->[0] : "$name.$_->[0]") } items($value);
}

# ---- CSV and YAML --------------------------------------------------------------------------------------------

sub csv_rows {
    my ($text) = @_;
    my @rows;
    while ($text =~ /\G(?=.)/gcs) {
        my @row;
        do {
            if ($text =~ /\G"((?:[^"]|"")*)"/gc) {
                (my $field = $1) =~ s/""/"/g;
                push @row, $field;
            } else {
                $text =~ /\G([^,\n]*)/gc;
                push @row, $1;
            }
        } while $text =~ /\G,/gc;
        $text =~ /\G\r?\n/gc;
        push @rows, \@row;
    }
    return @rows;
}

sub yaml_scalar {
    my ($text) = @_;
    if ($text =~ /^"((?:[^"\\]|\\.)*)"/) {
        $text = $1;
        $text =~ s/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))/
            defined $1 ? chr hex $1 : defined $2 ? utf8_bytes(hex $2) : $escaped{$3} || $3/gex;
        return $text;
    }
    if ($text =~ /^'((?:[^']|'')*)'/) {
        ($text = $1) =~ s/''/'/g;
        return $text;
    }
    $text =~ s/\s+#.*//;
    return $text;
}

# [name, value] of each parameter; of a list, its values with commas between.
sub config_of {
    my ($path) = @_;
    my (@above, @all);
    for (split /\n/, file_bytes($path)) {
        next if /^\s*(?:#|$)/;
        /^( *)([\w.-]+):\s*(.*)$/ or die "$path: not understood: $_\n";
        my ($depth, $name, $rest) = (length($1) / 2, $2, $3);
        @above = (@above[0 .. $depth - 1], $name);
        next if $rest eq '';
        if ($rest =~ /^\[(.*?)\](?:\s+#.*)?$/) {
            my ($inside, @values) = $1;
            push @values, yaml_scalar($1) while $inside =~ /\G\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]+)\s*,?/gc;
            $rest = join ',', @values;
        } else {
            $rest = yaml_scalar($rest);
        }
        push @all, [join('.', @above), $rest];
    }
    return @all;
}

# ---- numbers: undef is "not known" ---------------------------------------------------------------------------

sub sum_known {
    my $sum;
    for (grep { defined } @_) { $sum = ($sum || 0) + $_ }
    return $sum;
}
sub least { my $x; for (grep { defined } @_) { $x = $_ if !defined $x || $_ < $x } return $x }
sub most  { my $x; for (grep { defined } @_) { $x = $_ if !defined $x || $_ > $x } return $x }
sub mean_known { my @x = grep { defined } @_; return @x ? sum_known(@x) / @x : undef }
sub or_zero { return defined $_[0] ? $_[0] : 0 }
sub whole { my ($x) = @_; return $x < 0 ? -int(-$x + 0.5) : int($x + 0.5) }    # the nearest
sub upwards { my ($x) = @_; my $n = int $x; return $n < $x ? $n + 1 : $n }
sub plural { return $_[0] == 1 ? '' : 's' }

# 64Ki: 65536; undef: no number.
sub amount {
    my ($text) = @_;
    return undef unless defined $text && $text =~ /^(0[xX][0-9a-fA-F]+|[0-9]+)(k|M|G|Ki|Mi|Gi)?$/;
    my ($n, $unit) = ($1, $2 || '');
    my %times = (k => 1e3, M => 1e6, G => 1e9, Ki => 1024, Mi => 1024**2, Gi => 1024**3);
    return ($n =~ /^0x/i ? hex $n : $n) * ($unit ? $times{$unit} : 1);
}

# ---- what a cell's statistics say ----------------------------------------------------------------------------

# What is known of a cell: key, unit, text of the page, and which statistics are summed. P stands for the policy.
our @measures = (
    ['cycles',       'cycles',       'How long the machine ran.', qr/^machine\.cycles$/],
    ['events',       'events',       'Events.',                   qr/^events\.total$/],
    ['instructions', 'instructions', 'Instructions.',             qr/^machine\.instructions$/],
    ['cores',        'cores',        'Cores of the machine.',     qr/^machine\.cores$/],
    ['cores-used',   'cores',        'Cores that had a thread.',  qr/^machine\.cores-used$/],
    ['races',        'accesses', 'Racy accesses that the policy reports.', qr/^policy\.P\.races\.accesses$/],
    ['sites',        'sites',    'Distinct sites of racy accesses.',       qr/^policy\.P\.races\.sites$/],
    ['locations', 'locations', 'Locations that had a race.', qr/^policy\.P\.races\.locations$/],
    ['pairs', 'pairs', 'Pairs of sites.', qr/^policy\.P\.races\.pairs$/],
    ['false', 'accesses', 'Racy accesses that the truth does not report.', qr/^compare\.P\.false\.accesses$/],
    ['missed', 'accesses', 'Racy accesses of the truth that the policy does not report.',
        qr/^compare\.P\.missed\.accesses$/],
    accesses_of('data', 'program'), accesses_of('metadata', 'policy'),
    misses_of(1), misses_of(2), misses_of(3), lines_of(1), lines_of(2), lines_of(3),
    ['network-data', 'bytes', "Bytes of the program's messages.", qr/^network\.bytes\.data\./],
    ['network-metadata', 'bytes', "Bytes of the policy's messages.", qr/^network\.bytes\.metadata\./],
    ['memory-data', 'bytes', 'Bytes of the program to and from memory.', qr/^memory\.bytes-(?:read|written)\.data$/],
    ['memory-metadata', 'bytes', 'Bytes of the policy to and from memory.',
        qr/^memory\.bytes-(?:read|written)\.metadata$/],
    ['remote', 'transactions', "Misses that another core's cache answered.", qr/^coherence\.from-remote$/],
    ['metadata-peak', 'bytes', 'The most bytes of metadata, but for history lines on chip.',
        qr/^policy\.P\.(?:metadata\.peak|manager\.bytes-peak)$/]);

sub accesses_of {
    my ($class, $whose) = @_;
    return ["l1-$class", 'accesses', "Accesses of the $whose to the L1.", qr/^l1\.$class\./];
}
sub misses_of {
    my ($level) = @_;
    return map {
        my ($class, $whose) = @$_;
        ["l$level-$class-misses", 'accesses', "Misses of the $whose in the L$level.", qr/^l$level\.$class\..*-misses$/]
    } ['data', 'program'], ['metadata', 'policy'];
}
sub lines_of {
    my ($level) = @_;
    return (["l$level-resident", 'lines', "Lines in the L$level at the end.", qr/^l$level\.resident$/],
        ["l$level-resident-metadata", 'lines', "Lines of metadata in the L$level at the end.",
            qr/^l$level\.resident-metadata$/]);
}

# Where the time of cores goes: the part, and the reasons in machine.spent that it sums.
our @parts = (
    ['detector', qr/^handler$/], ['instructions', qr/^executing$/], ['caches', qr/^l[123]$/], ['remote', qr/^remote$/],
    ['memory', qr/^memory$/], ['buffers', qr/^(?:store-buffer|misses|atomic)$/], ['waiting', qr/^wait-/],
    ['stopped', qr/^(?:stopped|switch)$/], ['pages', qr/^(?:page-fault|service)$/], ['idle', qr/^idle$/]);

my %belongs;    # of a statistic, [index of a measure] and [index of a part]: they are the same for each run

sub belongs_to {
    my ($name) = @_;
    return $belongs{$name} ||= do {
        my @m = grep { $name =~ $measures[$_][3] } 0 .. $#measures;
        my @p = $name =~ /^machine\.spent\.(.*)/ ? do { my $why = $1; grep { $why =~ $parts[$_][1] } 0 .. $#parts } : ();
        [\@m, \@p];
    };
}

# {policy or '' => {run or region => {of => [measures], part => [parts]}}}, and the policies in their order.
sub numbers_of {
    my ($run) = @_;
    my (%in, @labels);
    for (@{$run->{all}}) {
        my ($name, $text) = @$_;
        next unless defined $text;
        my $where = $name =~ s/^roi\.// ? 'region' : 'run';
        my $label = $name =~ s/^(policy|compare)\.([^.]*)/$1.P/ ? $2 : '';
        my ($m, $p) = @{belongs_to($name)};
        next unless @$m || @$p;
        push @labels, $label unless $label eq '' || $in{$label};
        my $to = $in{$label}{$where} ||= {};
        $to->{of}[$_] = ($to->{of}[$_] || 0) + $text for @$m;
        $to->{part}[$_] = ($to->{part}[$_] || 0) + $text for @$p;
    }
    return (\%in, @labels);
}

# A folder that `run` wrote, or a part of what `compare` or `sweep` wrote. undef: nothing is there.
sub run_of {
    my ($dir, $name, $kept) = @_;
    my $stats = json_file("$dir/stats.json") or return undef;
    my $past = json_file("$dir/provenance.json");
    my $host = json_file("$dir/host.json");
    my %run = (dir => $dir, name => $name, done => -e "$dir/DONE", behaviour => member($stats, 'behaviour'));
    $run{$_} = member($past, $_)
        for qw(version verb configuration source caveat identity digest error events command seeds);
    $run{$_} = member($past, "build.$_") for qw(id commit compiler);
    $run{$_} = member($host, $_) for qw(host working_folder started seconds);
    $run{command} = join '', map { ' ' . shell_word($_) } items($run{command});
    $run{command} =~ s/^ //;
    $run{all} = [grep { $_->[0] !~ /^(?:schema|behaviour|findings\..*)$/ } flat($stats, '')];
    my %whole = map { $_->[0] => $_->[1] } grep { $_->[0] =~ /^(?:roi\.)?machine\.cycles$/ } @{$run{all}};
    @run{qw(cycles roi)} = @whole{qw(machine.cycles roi.machine.cycles)};
    $run{findings} = [map {
        my ($f) = $_;
        {key => member($f, 'key'), sentence => member($f, 'sentence'),
            knobs => join ' ', map { "$_->[0]:$_->[1]" } items(member($f, 'parameters'))}
    } items(member($stats, 'findings'))];
    @run{qw(config stats)} = ([], []);
    return \%run unless $kept;
    $run{config} = [config_of("$dir/config.yaml")];
    $run{stats} = [grep { $_->[0] !~ /\.buckets/ } @{$run{all}}];
    my $time = file_bytes("$dir/intervals.csv");
    $run{time} = intervals_of($time) if defined $time;
    return \%run;
}

# {columns, rows}, at most 256 rows: where there are more than 512, and once at the end where there are more than
# 256, two become one. The first column is where a row starts, the second where it ends.
sub intervals_of {
    my ($text) = @_;
    my ($head, @lines) = csv_rows($text);
    my @rows;
    my $halve = sub {
        my @half;
        while (my ($a, $b) = splice @rows, 0, 2) {
            push @half, $b ? [$a->[0], $b->[1], map { $a->[$_] + $b->[$_] } 2 .. $#$a] : $a;
        }
        @rows = @half;
    };
    for (@lines) {
        $halve->() if @rows == 512;
        push @rows, $_;
    }
    $halve->() if @rows > 256;
    return @rows ? {columns => $head, rows => \@rows} : undef;
}

sub shell_word {
    my ($word) = @_;
    return $word if $word =~ m{^[-\w=+.,:/@%]+$};
    $word =~ s/'/'\\''/g;
    return "'$word'";
}
1;
