# figure.pl - what each figure of a study shows, from the numbers of its cells; and where each rectangle, line and
# label of its picture must stand: at the value's place on a scale whose ticks are 1, 2 or 5 times a power of ten.
use strict;
use warnings;
our (@measures, @parts);

# ---- the values ----------------------------------------------------------------------------------------------

# kind: bars beside each other, a stack, columns over time, or a heat map. {rows => [[name, values...]], series}
sub figure {
    my ($all, $kind, $name, $title, $unit, $series, @rows) = @_;
    my @kept = grep { my $i = $_; grep { defined $_->[$i + 1] && abs $_->[$i + 1] > 1e-9 } @rows } 0 .. $#$series;
    my @shown = grep { my $r = $_; grep { defined $r->[$_ + 1] } @kept } @rows;
    return unless @kept && @shown;
    my ($whole, $n) = ($name, 1);
    $whole = "$name-" . ++$n while grep { $_->{name} eq $whole } @$all;
    push @$all, {kind => $kind, name => $whole, title => $title, unit => $unit, across => 'cycles', looks => \@kept,
        series => [@$series[@kept]], rows => [map { [@$_[0, map { $_ + 1 } @kept]] } @shown]};
}

# All figures of a study, each with the study's prefix.
sub figures_of {
    my ($all, $s, $prefix) = @_;
    my $add = sub { my ($kind, $name, @rest) = @_; figure($all, $kind, "$prefix$name", @rest) };
    if ($s->{kind} eq 'table') {
        my @columns = distinct(map { $_->{column} } @{$s->{rows}});
        my $n = 0;
        for my $column (@columns[0 .. least($#columns, 11)]) {
            $add->('bars', "$s->{name}-" . $n++, "$s->{name}: $column", 'as in the paper', ['the paper', 'ours'],
                map { [@$_{qw(program paper ours)}] } grep { $_->{column} eq $column } @{$s->{rows}});
        }
        return;
    }
    figure_of_parts($add, $s);
    figures_by_axis($add, $s);
    figures_of_metadata($add, $s);
    my @keys = qw(races false missed);
    $add->('bars', 'races', 'Races by policy', 'accesses, the mean of all runs', ['racy accesses', 'false', 'missed'],
        map { my $p = $_; [$p, map { $p eq 'none' ? undef : mean_of($s, $p, $_) } @keys] } policies($s));
    if ($s->{kind} eq 'runs') { figure_of_cores($add, $_) for @{$s->{runs}} }
    figures_over_time($add, $_) for grep { $_->{time} } @{$s->{runs}};
}

sub mean_of { my ($s, $policy, $key) = @_; return mean_known(map { measure($_, $key) } of_policy($s, $policy)) }

# "lardish, l1.size=4Ki, sor,n=20"
sub cell_name {
    my ($s, $c) = @_;
    my @parts = $c->{label};
    for my $i (0 .. $#{$s->{axes}}) {
        my ($a, $value) = ($s->{axes}[$i], $c->{point}[$i]);
        next if @{$a->{values}} < 2 || $a->{name} eq 'policy' || $value eq '';
        $value =~ s/^workload://;
        push @parts, $a->{numbers} || $a->{name} =~ /^policy\./ ? "$a->{name}=$value" : $value;
    }
    return join ', ', @parts;
}

sub figure_of_parts {
    my ($add, $s) = @_;
    my @timed = grep { defined measure($_, 'cycles') } @{$s->{cells}} or return;
    my @over = grep { $_->{label} ne 'none' && defined $_->{overhead} } @timed;
    my @shown = @over ? @over : @timed;
    my $each = @shown <= 12;
    my $parts = sub { my ($c) = @_; map { part_percent($s, $c, $_) } 0 .. $#parts };
    my @rows = $each ? map { [cell_name($s, $_), $parts->($_)] } @shown : map {
        my $p = $_;
        my @of = map { [$parts->($_)] } grep { $_->{label} eq $p } @shown;
        [$p, map { my $i = $_; @of ? sum_known(0, map { $_->[$i] } @of) / @of : undef } 0 .. $#parts]
    } policies($s);
    $add->('stack', @over ? 'overhead' : 'time',
        !@over ? 'Where the time of the cores went' : 'Overhead, by where it goes' . ($each ? '' : ': the mean of each policy'),
        !@over ? "percent of the cores' time"
            : $s->{has_region} ? "percent of the region's time without a detector" : 'percent of the time without a detector',
        [map { $_->[0] } @parts], @rows);
}

# Of sweeps of more than 12 cells: the four axes that moved overheads most, if something happened otherwise on them.
sub figures_by_axis {
    my ($add, $s) = @_;
    return if @{$s->{cells}} <= 12;
    my @judged = grep {
        my $a = $s->{axes}[$_];
        my $n = @{$a->{values}};
        $n >= 2 && $n <= 16 && $a->{name} ne 'policy' && $a->{same} != $a->{groups} && defined $a->{points}
    } 0 .. $#{$s->{axes}};
    @judged = sort { $s->{axes}[$b]{points} <=> $s->{axes}[$a]{points} || $a <=> $b } @judged;
    for my $i (@judged[0 .. least($#judged, 3)]) {
        my $a = $s->{axes}[$i];
        my $at = sub {
            my ($place, $p) = @_;
            return $p eq 'none' ? undef : mean_known(map { 100 * $_->{overhead} }
                    grep { $_->{place}[$i] == $place && defined $_->{overhead} } of_policy($s, $p));
        };
        $add->('bars', "by-$i", "Overhead by $a->{name}", 'percent, the mean of all else', [policies($s)],
            map { my $v = $_; [$a->{values}[$v], map { $at->($v, $_) } policies($s)] } 0 .. $#{$a->{values}});
    }
}

sub figures_of_metadata {
    my ($add, $s) = @_;
    my $share = sub {
        my ($name, $title, $of, @levels) = @_;
        $add->('bars', $name, $title, 'percent of all, the mean of each policy', [map { $_->[0] } @levels], map {
            my $p = $_;
            [$p, map {
                my ($all, $metadata) = $p eq 'none' ? () : $of->($p, @$_);
                $all ? 100 * or_zero($metadata) / $all : undef
            } @levels]
        } policies($s));
    };
    $share->('metadata-traffic', "How much of each level's traffic is metadata", sub {
        my ($p, undef, $key) = @_;
        my ($data, $metadata) = map { mean_of($s, $p, sprintf $key, $_) } qw(data metadata);
        return defined $data && defined $metadata ? ($data + $metadata, $metadata) : ();
    }, ['L1 accesses', 'l1-%s'], (map { ["L$_ misses", "l$_-%s-misses"] } 1 .. 3), ['network bytes', 'network-%s'],
        ['memory bytes', 'memory-%s']);
    $share->('metadata-lines', 'How much of each cache holds metadata, at the end', sub {
        my ($p, undef, $key) = @_;
        my ($all, $metadata) = map { mean_of($s, $p, $_) } $key, "$key-metadata";
        return defined $metadata ? ($all, $metadata) : ();
    }, map { ["L$_ lines", "l$_-resident"] } 1 .. 3);
}

# Of the whole run in any case: which core spent what of the run's cycles.
sub figure_of_cores {
    my ($add, $run) = @_;
    my %stat = map { $_->[0] => $_->[1] } @{$run->{stats}};
    my $cores = $stat{'machine.cores'};
    return unless $cores && $cores <= 64;
    my @reasons = distinct(map { /^cores\.([^.]+)\.\d+$/ } map { $_->[0] } @{$run->{stats}});
    $add->('stack', "cores-$run->{name}", "Each core's time: $run->{name}", "percent of the run's cycles",
        [map { $_->[0] } @parts], map {
            my $core = $_;
            ["core $core", map {
                my $of = $_->[1];
                my $cycles = sum_known(map { $stat{"cores.$_.$core"} } grep { $_ =~ $of } @reasons);
                defined $cycles ? 100 * $cycles / $stat{'machine.cycles'} : undef
            } @parts]
        } 0 .. $cores - 1);
}

sub figures_over_time {
    my ($add, $run) = @_;
    my ($columns, $rows) = @{$run->{time}}{qw(columns rows)};
    my $start = sub { sprintf '%.0f', $_[0][0] };
    my $sum = sub { my ($row, $of) = @_; sum_known(map { $row->[$_] } grep { $columns->[$_] =~ $of } 0 .. $#$columns) };
    my @spent = map { my $of = $_->[1]; my %is = map { ("machine.spent.$_" => 1) } grep { $_ =~ $of }
            map { /^machine\.spent\.(.*)/ } @$columns; [grep { $is{$columns->[$_]} } 0 .. $#$columns] } @parts;
    $add->('columns', "timeline-$run->{name}", "Over time, where the time of the cores goes: $run->{name}", 'percent',
        [map { $_->[0] } @parts], map {
            my $row = $_;
            my @of = map { sum_known(@$row[@$_]) } @spent;
            my $all = sum_known(@of);
            [$start->($row), map { defined && $all ? $_ * (100 / $all) : $_ } @of]
        } @$rows);
    figure_of_waiting($add, $run, $start, $sum);
    my @marks = (['phase', 'phases'], ['gc-begin', 'collections begin'], ['gc-end', 'collections end'],
        ['roi-begin', 'regions of interest begin'], ['roi-end', 'regions of interest end']);
    $add->('columns', "marks-$run->{name}", "Over time, phases and collections: $run->{name}", 'how many',
        [map { $_->[1] } @marks],
        map { my $row = $_; [$start->($row), map { $sum->($row, qr/^events\.kind\.\Q$_->[0]\E$/) } @marks] } @$rows);
}

# Waiting counts where it ends: what is more than a row's length was in the rows before it.
sub figure_of_waiting {
    my ($add, $run, $start, $sum) = @_;
    my ($columns, $rows) = @{$run->{time}}{qw(columns rows)};
    my $last = most(grep { $_ < 64 } map { /^cores\.(?:wait-[^.]*|stopped)\.(\d+)$/ } @$columns);
    return unless defined $last;
    my @percent;
    for my $core (0 .. $last) {
        my $carried = 0;
        for my $r (reverse 0 .. $#$rows) {
            my $length = $rows->[$r][1] - $rows->[$r][0];
            my $waits = or_zero($sum->($rows->[$r], qr/^cores\.(?:wait-[^.]*|stopped)\.$core$/)) + $carried;
            my $here = least($waits, $length);
            $carried = $waits - $here;
            $percent[$r][$core] = $length ? 100 * $here / $length : 0;
        }
    }
    $add->('heat', "waiting-$run->{name}", "Over time, how long each core waits or is stopped: $run->{name}", 'percent',
        [map { "core $_" } 0 .. $last], map { [$start->($rows->[$_]), @{$percent[$_]}] } 0 .. $#$rows);
}

# ---- markup --------------------------------------------------------------------------------------------------

# Characters that can't be seen are written out.
sub visible {
    my ($text) = @_;
    return $text if $text !~ /[^ -~]/;
    utf8::decode($text) or return join '', map { /[ -~]/ ? $_ : sprintf '\x%02x', ord } split //, $text;
    $text =~ s/([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/sprintf '\u{%x}', ord $1/ge;
    utf8::encode($text);
    return $text;
}

my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');

sub markup {
    my $text = visible(or_empty($_[0]));
    $text =~ s/([&<>"])/$entity{$1}/g;
    return $text;
}

# To two decimals; from a million on to three digits.
sub short_number {
    my ($x) = @_;
    return sprintf '%.3g', $x if abs $x >= 1e6;
    my $near = whole($x * 100) / 100;
    return sprintf '%.6g', $near == 0 ? 0 : $near;
}

# ---- the picture: 760 wide, its plot from 200 to 680 ---------------------------------------------------------

our $styles;    # what each picture has before its first element: the page's pictures agree on it

sub picture {
    my ($width, $height, $title, @inside) = @_;
    return qq(<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$height" viewBox="0 0 $width $height" )
        . qq(role="img" font-family="sans-serif" font-size="12">\n<title>) . markup($title) . "</title>\n<style>\n$styles"
        . qq(</style>\n<rect class="back" width="$width" height="$height"/>\n) . join('', @inside) . "</svg>\n";
}

sub svg_text { my ($x, $y, $look, $text) = @_; return qq(<text x="$x" y="$y" class="$look">) . markup($text) . "</text>\n" }
sub svg_line { my ($x1, $y1, $x2, $y2, $look) = @_; return qq(<line x1="$x1" y1="$y1" x2="$x2" y2="$y2" class="$look"/>\n) }

sub svg_rect {
    my ($x, $y, $width, $height, $look, $tip, $full) = @_;
    my $head = qq(<rect x="$x" y="$y" width="$width" height="$height" class="$look")
        . (defined $full && $full < 100 ? qq( fill-opacity="$full%") : '');
    return defined $tip ? "$head><title>" . markup($tip) . "</title></rect>\n" : "$head/>\n";
}

sub svg_circle {
    my ($x, $y, $r, $look, $tip) = @_;
    my $head = qq(<circle cx="$x" cy="$y" r="$r" class="$look");
    return defined $tip ? "$head><title>" . markup($tip) . "</title></circle>\n" : "$head/>\n";
}

# From the least to the greatest that is drawn, 0 among them; upwards to a whole step, of which six would be enough
# for all. {low, high, step, ticks}
sub scale_of {
    my ($f) = @_;
    my @ends = map {
        my @known = grep { defined } @$_[1 .. $#$_];
        $f->{kind} eq 'bars' ? @known : (sum_known(0, grep { $_ > 0 } @known), sum_known(0, grep { $_ < 0 } @known))
    } @{$f->{rows}};
    my ($low, $high) = (least(0, @ends), most(0, @ends));
    $high = $low + 1 if $high <= $low;
    my ($step) = grep { 6 * $_ >= ($high - $low) * (1 - 1e-12) }
        map { my $power = $_; map { "${_}e$power" + 0 } 1, 2, 5 } -12 .. 20;
    my ($first, $last) = (upwards($low / $step - 1e-9), upwards($high / $step - 1e-9));
    return {low => $low, high => $last * $step, step => $step, ticks => [map { $_ * $step } $first .. $last]};
}

sub along { my ($scale, $x, $length) = @_; return whole($length * ($x - $scale->{low}) / ($scale->{high} - $scale->{low})) }

sub look { my ($f, $series) = @_; return 's' . $f->{looks}[$series] % 10 }

# [x, y, width] of each entry of the legend; of one series, or of a heat map, there is none.
sub legend_of {
    my ($f) = @_;
    return () if $f->{kind} eq 'heat' || @{$f->{series}} < 2;
    my ($x, $y) = (10, 40);
    return map {
        my $width = 24 + 8 * length;
        ($x, $y) = (10, $y + 18) if $x > 10 && $x + $width > 760;
        my $at = [$x, $y];
        $x += $width;
        $at;
    } @{$f->{series}};
}

# A label has 24 characters at most, without "workload:".
sub short_label {
    (my $text = visible($_[0])) =~ s/^workload://;
    utf8::decode($text);
    $text = substr($text, 0, 24) . '...' if length $text > 24;
    utf8::encode($text);
    return $text;
}

sub figure_svg {
    my ($f) = @_;
    my @legend = legend_of($f);
    my $top = 40 + (@legend ? $legend[-1][1] - 40 + 18 : 0) + ($f->{kind} eq 'columns' ? 9 : 0);
    my ($n, $series) = (scalar @{$f->{rows}}, scalar @{$f->{series}});
    my $each = 8 + ($f->{kind} eq 'stack' ? 18 : 12 * $series);
    my $inside = {bars => $n * $each, stack => $n * $each, columns => 200, heat => 18 * $series}->{$f->{kind}};
    my @body = map {
        (svg_rect($legend[$_][0], $legend[$_][1] - 9, 10, 10, look($f, $_)),
            svg_text($legend[$_][0] + 14, $legend[$_][1], 'text', $f->{series}[$_]))
    } 0 .. $#legend;
    push @body, $f->{kind} eq 'columns' ? columns_inside($f, $top) : $f->{kind} eq 'heat' ? heat_inside($f, $top, $inside)
        : rows_inside($f, $top, $inside, $each);
    return picture(760, $top + $inside + 40, $f->{title}, svg_text(10, 20, 'text title', $f->{title}), @body);
}

sub rows_inside {
    my ($f, $top, $inside, $each) = @_;
    my $scale = scale_of($f);
    my $x = sub { 200 + along($scale, $_[0], 480) };
    my $bottom = $top + $inside;
    my @out = svg_rect(200, $top, 480, $inside, 'panel');
    push @out, svg_line($x->($_), $top, $x->($_), $bottom, 'grid'),
        svg_text($x->($_), $bottom + 14, 'faint small middle', short_number($_)) for @{$scale->{ticks}};
    push @out, svg_text(440, $bottom + 30, 'faint small middle', $f->{unit});
    my $y = $top + 4;
    for my $row (@{$f->{rows}}) {
        my ($name, @values) = @$row;
        push @out, svg_text(192, $y + int($each / 2), 'text end', short_label($name));
        my ($up, $down) = (0, 0);
        for my $i (grep { defined $values[$_] } 0 .. $#values) {
            my $v = $values[$i];
            my ($from, $to) = $f->{kind} eq 'bars' ? (0, $v) : $v < 0 ? ($down, $down + $v) : ($up, $up + $v);
            my ($a, $b) = sort { $a <=> $b } $x->($from), $x->($to);
            my $tip = $name . (@values > 1 ? ", $f->{series}[$i]" : '') . ': ' . short_number($v);
            if ($f->{kind} eq 'bars') {
                push @out, svg_rect($a, $y + 12 * $i, $b - $a, 11, look($f, $i), $tip),
                    svg_text($x->(most(0, $v)) + 4, $y + 12 * $i + 9, 'faint small', short_number($v));
            } else {
                push @out, svg_rect($a, $y, $b - $a, 16, look($f, $i), $tip);
                ($v < 0 ? $down : $up) = $to;
            }
        }
        push @out, svg_text($x->($up) + 4, $y + 13, 'faint small', short_number(sum_known(0, @values)))
            if $f->{kind} eq 'stack';
        $y += $each;
    }
    return (@out, svg_line($x->(0), $top, $x->(0), $bottom, 'axis'));
}

sub column_x { my ($f, $row) = @_; return 200 + int(480 * $row / @{$f->{rows}}) }

# Five labels: the first row, the last, and what is a quarter of the way.
sub across {
    my ($f, $bottom) = @_;
    my $last = $#{$f->{rows}};
    return ((map { my $r = int($last * $_ / 4); svg_text(column_x($f, $r), $bottom + 14, 'faint small middle', $f->{rows}[$r][0]) }
            0 .. 4), svg_text(440, $bottom + 30, 'faint small middle', $f->{across}));
}

sub columns_inside {
    my ($f, $top) = @_;
    my $scale = scale_of($f);
    my $bottom = $top + 200;
    my $y = sub { $bottom - along($scale, $_[0], 200) };
    my @out = svg_rect(200, $top, 480, 200, 'panel');
    push @out, svg_line(200, $y->($_), 680, $y->($_), 'grid'),
        svg_text(194, $y->($_) + 4, 'faint small end', short_number($_)) for @{$scale->{ticks}};
    push @out, svg_text(194, $top - 6, 'faint small end', $f->{unit});
    for my $r (0 .. $#{$f->{rows}}) {
        my ($name, @values) = @{$f->{rows}[$r]};
        my $sum = 0;
        for my $i (grep { defined $values[$_] && $values[$_] > 0 } 0 .. $#values) {
            my ($above, $below) = ($y->($sum + $values[$i]), $y->($sum));
            push @out, svg_rect(column_x($f, $r), $above, column_x($f, $r + 1) - column_x($f, $r), $below - $above, look($f, $i),
                sprintf '%s %s, %s: %.1f', $f->{across}, $name, $f->{series}[$i], $values[$i]);
            $sum += $values[$i];
        }
    }
    return (@out, across($f, $bottom));
}

# How full a field is, is its percentage.
sub heat_inside {
    my ($f, $top, $inside) = @_;
    my @out = svg_rect(200, $top, 480, $inside, 'panel');
    for my $i (0 .. $#{$f->{series}}) {
        push @out, svg_text(194, $top + 18 * $i + 13, 'text end', $f->{series}[$i]);
        for my $r (0 .. $#{$f->{rows}}) {
            my $v = $f->{rows}[$r][$i + 1];
            next unless defined $v && $v >= 0.5;
            push @out, svg_rect(column_x($f, $r), $top + 18 * $i + 1, column_x($f, $r + 1) - column_x($f, $r), 16, 's0',
                sprintf('%s, %s %s: %.0f %s', $f->{series}[$i], $f->{across}, $f->{rows}[$r][0], $v, $f->{unit}),
                int(least(100, $v)));
        }
    }
    return (@out, across($f, $top + $inside));
}

# ---- the same as files ---------------------------------------------------------------------------------------

# What a spreadsheet would take for a formula begins with a quote.
sub csv_field {
    my $text = visible($_[0]);
    $text = "'$text" if $text =~ /^[-=+@]/;
    return $text unless $text =~ /[",\r\n]/;
    $text =~ s/"/""/g;
    return qq("$text");
}

sub figure_csv {
    my ($f) = @_;
    return join '', map { "$_\n" } join(',', 'row', map { csv_field($_) } @{$f->{series}}),
        map { my ($name, @v) = @$_; join ',', csv_field($name), map { defined ? sprintf '%.10g', $_ : '' } @v } @{$f->{rows}};
}

sub gnuplot_text { (my $text = visible($_[0])) =~ s/['"`\\]/ /g; return $text }

sub figure_gnuplot {
    my ($f) = @_;
    my $heat = $f->{kind} eq 'heat';
    my ($n, @series) = (scalar @{$f->{rows}}, map { gnuplot_text($_) } @{$f->{series}});
    my @out = ('# gnuplot -p FILE', '$data << END', map({
        my ($name, @v) = @$_;
        ($heat ? '' : '"' . gnuplot_text($name) . '"') . join '', map { defined ? sprintf ' %.10g', $_ : ' NaN' } @v
    } @{$f->{rows}}), 'END', "set title '" . gnuplot_text($f->{title}) . "' noenhanced");
    my $colour = sub { my $look = look($f, $_[0]); $styles =~ /^\.$look\{fill:([^;}]*)/m ? $1 : '?' };
    if ($heat) {
        push @out, "set xlabel 'stretches of time'", "set cblabel '$f->{unit}'", 'set cbrange [0:100]',
            "set palette defined (0 '#ffffff', 100 '" . $colour->(0) . "')",
            'set ytics (' . join(', ', map { "'$series[$_]' $_" } 0 .. $#series) . ')',
            'plot $data matrix using 2:1:3 with image notitle';
    } else {
        my $columns = $f->{kind} eq 'columns';
        push @out, "set ylabel '" . gnuplot_text($f->{unit}) . "' noenhanced", 'set grid ytics',
            'set key outside right noenhanced', 'set style data histograms',
            'set style histogram ' . ($f->{kind} eq 'bars' ? 'clustered' : 'rowstacked'), 'set style fill solid 1 noborder',
            'set boxwidth ' . ($columns ? 1 : 0.8), 'set xtics rotate by -45 noenhanced';
        push @out, "set xlabel '$f->{across}'" if $columns;
        push @out, 'plot \\', join ", \\\n", map {
            my $label = $columns ? '(int($0) % ' . (int($n / 8) + 1) . " == 0 ? strcol(1) : '')" : '(1)';
            '  $data using ' . ($_ + 2) . ":xtic$label linecolor rgb '" . $colour->($_) . "' title '$series[$_]'"
        } 0 .. $#series;
    }
    return join '', map { "$_\n" } @out;
}
1;
