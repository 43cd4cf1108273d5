# plot.pl TABLE CSV SVG - judges the plot of LARD's Table 2 or 3 (`lardsim reproduce --plot`): each label, line and dot must
# stand where the counts in the CSV say, on a scale of log10(count + 1) that all panels share. Exits with 1 at the first
# that does not.
use strict;
use warnings;

my ($here) = $0 =~ m,^(.*)/,;
require "$here/$_.pl" for qw(read study figure drawing);
our $styles;

my ($table, $csv, $svg) = @ARGV;
my @panels = $table == 2 ? (['lard', 'races'], ['naive', 'races'])
    : (['lard', 'races'], ['all-memory', 'false'], ['all-sync', 'missed'], ['no-clear', 'false'], ['no-copy', 'missed'], ['naive', 'false'], ['naive', 'missed']);
my $title = $table == 2 ? 'LARD, Table 2: races found, each program and collector'
    : 'LARD, Table 3: false and missed races with single extensions left out';

# Rows in the order of the CSV, each with its counts: the paper's and ours.
my (@rows, %row);
for (split /\n/, file_bytes($csv)) {
    my (undef, $program, $variant, $collector, $detector, $measure, $ours, $paper) = split /,/, $_, -1;
    next if $program eq 'program';
    my $mark = $variant eq 'planted-races' ? ' (planted)' : $variant eq 'racy' ? ' racy' : '';
    my $r = $row{"$program $variant $collector"} ||= { label => "$program$mark, " . ($collector eq 'semispace' ? 'SS' : 'MS'), fresh => 1 };
    push @rows, $r if delete $r->{fresh};
    $r->{"$detector $measure"} = [$paper, $ours];
}
sub counts { my ($r, $p) = @_; return @{ $r->{"$p->[0] $p->[1].accesses"} } }
sub log_of { return log($_[0] + 1) / log(10) }

my ($decades, $n) = (1, 0);
for my $r (@rows) {
    for my $count (grep { $_ ne '' } map { counts($r, $_) } @panels) {
        $decades++ while log_of($count) > $decades + 0.002;
    }
}

# A line of the file, and for one whose x is on the scale, where that is: logarithms are good to a quarter of a pixel.
my @x;
sub on_scale { my ($panel, $log) = @_; push @x, 190 + 188 * $panel + 8 + $log * 154 / $decades; return 'X' . $#x . 'X' }
my $bottom = 70 + 20 * @rows;
my @inside = (svg_text(10, 22, 'text title', $title), svg_circle(16, 40, 5, 'hollow'), svg_text(26, 44, 'text', 'paper'),
    svg_circle(86, 40, 3, 'full'), svg_text(96, 44, 'text', 'ours (racy accesses, log scale; MS: marksweep, SS: semispace)'));
for my $i (0 .. $#panels) {
    my $left = 190 + 188 * $i;
    push @inside, svg_text($left, 60, 'text bold', join ': ', @{ $panels[$i] }), svg_rect($left, 70, 170, 20 * @rows, 'panel');
    for my $d (0 .. $decades) {
        my $x = on_scale($i, $d);
        push @inside, svg_line($x, 70, $x, $bottom, 'grid');
        # Of more than four decades every second one has a label, and the last.
        push @inside, svg_text($x, $bottom + 14, 'text small middle', $d ? "10^$d" : '0') if $d % 2 == 0 || $d == $decades || $decades <= 4;
    }
}
for my $i (0 .. $#rows) {
    my $y = 80 + 20 * $i;
    push @inside, svg_text(182, $y + 4, 'text end', $rows[$i]{label});
    for my $p (0 .. $#panels) {
        my @count = counts($rows[$i], $panels[$p]);
        for my $k (grep { $count[$_] ne '' } 0, 1) {
            push @inside, svg_circle(on_scale($p, log_of($count[$k])), $y, $k ? 3 : 5, $k ? 'full' : 'hollow', $count[$k]);
        }
    }
}

my $picture = file_bytes($svg);
($styles) = $picture =~ /<style>\n(.*?)<\/style>/s;
my @says = split /\n/, $picture;
my @should = split /\n/, picture(190 + 188 * @panels, $bottom + 34, $title, @inside);
for my $i (0 .. $#should) {
    my ($place) = $should[$i] =~ /X(\d+)X/ or next;
    my ($is) = ($says[$i] // '') =~ /(?:cx|x1|x)="(\d+)"/;
    my $exact = $x[$place];
    $is = int $exact unless defined $is && $is >= int($exact - 0.25) && $is <= int($exact + 0.25);
    $should[$i] =~ s/X\d+X/$is/g;
}
held($svg, join("\n", @says), join "\n", @should);
