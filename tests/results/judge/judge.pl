# judge.pl - is each text, number, bar, line, label and link of a report's page as the results say?
#
#     perl judge.pl [--figures DIR] [--why N] [--unexplained DIR=TEXT] --program LARDSIM --scripts DIR PAGE RESULT...
#     perl judge.pl --diff [--threshold PERCENT] ... PAGE RESULT RESULT
#
# The page is made once more, from the results' files alone and by what docs/report.md says of it, with nothing of the
# product's; --scripts is where page.js and page.css are, which the page has in it as they are. Then both are walked
# element by element. The first that differs, or that nothing here expects, is told: where it is, what it says, and
# what it should say. Exits with 1 then.
use strict;
use warnings;

my ($here) = $0 =~ m,^(.*)/,;
require "$here/$_.pl" for qw(read study figure words page drawing difference);
our ($program, $version, $styles, $races_explained, $unexplained);

my %option = (threshold => 1);
while (@ARGV && $ARGV[0] =~ /^--(\w+)$/) {
    shift;
    my $name = $1;
    if ($name eq 'diff') {
        $option{diff} = 1;
    } elsif ($name eq 'unexplained') {
        my ($dir, $text) = split /=/, shift @ARGV, 2;
        $unexplained->{$dir} = $text;
    } else {
        $option{$name} = shift @ARGV;
    }
}
my ($page, @results) = @ARGV;
$races_explained = $option{why} if defined $option{why};
$program = $option{program};
my $judged;

sub wrong {
    my ($where, $says, $should) = @_;
    s/\s+/ /g for $says, $should;
    my ($same) = ($says ^ $should) =~ /^(\0*)/;    # of two long texts, from a little before they differ
    for ($says, $should) { $_ = '... ' . substr($_, length($same) - 60) if length $same > 200 }
    print "$page: $where: says \"", substr($says, 0, 300), '", and should say "', substr($should, 0, 300), "\"\n";
    exit 1;
}

# ---- elements ------------------------------------------------------------------------------------------------

# Tags and texts, one after the other; what is between them for the eye alone is left out.
sub pieces {
    my ($html) = @_;
    my @all;
    while ($html =~ /\G(?:<(style|script)([^>]*)>(.*?)<\/\1>|(<[^>]*>)|([^<]+))/gcs) {
        if (defined $1) {
            push @all, "<$1$2>", $3, "</$1>";
        } else {
            (my $text = defined $4 ? $4 : $5) =~ s/^\s+|\s+$//g;
            push @all, $text if $text ne '';
        }
    }
    die "$page: byte " . pos($html) . " is no part of an element\n" if or_zero(pos $html) != length $html;
    return @all;
}

# "section study-0, figure figure-2, svg, rect", and the text before it.
sub place_of {
    my ($all, $to) = @_;
    my (@open, $before);
    for (@$all[0 .. $to - 1]) {
        if (m,^</,) {
            pop @open;
        } elsif (/^<(\w+)/) {
            my $name = $1;
            $name .= " $1" if /\bid="([^"]*)"/ || /\bclass="([^"]*)"/;
            push @open, $name unless m,/>$, || $name =~ /^(?:meta|br|input)\b/;
        } else {
            $before = $_;
        }
    }
    return join(', ', grep { !/^(?:html|body|main)$/ } @open) . (defined $before ? ', after "' . substr($before, 0, 80) . '"' : '');
}

# Numbers that a mean's half interval takes from a table of four digits may differ in the last one.
sub as_well {
    my ($says, $should) = @_;
    return 1 if $says eq $should;
    my $link = qr{^(<a download="[^"]*" href="data:[^,]*,)([-\w.,:;()/=*\$!%]*)">$};
    my ($head, $text) = $says =~ $link;
    if (defined $text && $should =~ $link) {
        my ($head_meant, $meant) = ($1, $2);
        s/%([0-9A-F]{2})/chr hex $1/ge for $text, $meant;
        return $head eq $head_meant && $text eq $meant;
    }
    my ($near) = $should =~ /^~(.*)/ or return 0;
    return $says =~ /^\d+\.\d$/ && abs($says - $near) <= 0.0501 + 5e-5 * $near;
}

sub walk {
    my ($says, $should) = @_;
    for my $i (0 .. most($#$says, $#$should)) {
        my ($x, $y) = ($says->[$i], $should->[$i]);
        next if defined $x && defined $y && as_well($x, $y);
        wrong(place_of($says, $i < @$says ? $i : scalar @$says), defined $x ? $x : 'nothing more', defined $y ? $y : 'nothing more: not judged');
    }
    $judged = @$says;
}

# ---- styles, data and scripts --------------------------------------------------------------------------------

sub same_tree {
    my ($where, $says, $should) = @_;
    if (ref $says && ref $should && $says->[0] eq $should->[0]) {
        wrong($where, "$#$says of them", "$#$should of them") if @$says != @$should;
        for my $i (1 .. $#$says) {
            my ($x, $y) = ($says->[$i], $should->[$i]);
            if ($says->[0] eq 'object') {
                wrong($where, $x->[0], $y->[0]) if $x->[0] ne $y->[0];
                same_tree("$where.$y->[0]", $x->[1], $y->[1]);
            } else {
                same_tree("$where, $i", $x, $y);
            }
        }
        return;
    }
    my ($x, $y) = map { defined ? $_ : 'null' } $says, $should;
    wrong($where, $x, $y) if ref $x || ref $y || $x ne $y;
}

# Each picture has the same rules; the page has them once more for each theme, behind page.css.
sub judge_styles {
    my ($head, $html) = @_;
    my @pictures = distinct($html =~ /<style>\n(.*?)<\/style>/gs);
    wrong('the styles of the pictures', $pictures[1], $pictures[0]) if @pictures > 1;
    my $css = file_bytes("$option{scripts}/page.css");
    wrong('the style of the page', $head, $css) if index $head, "\n$css";
    my $themes = substr $head, 1 + length $css;
    $styles = @pictures ? $pictures[0] : '';
    return unless @pictures;
    my ($light, $dark) = $styles =~ /^((?:\.[\w-]+\{[^{}]*\}\n)*)\@media \(prefers-color-scheme:dark\)\{\n((?:\.[\w-]+\{[^{}]*\}\n)*)\}\n$/;
    wrong('the styles of the pictures', $styles, 'rules for light pages, and those that are others on dark ones') unless defined $dark;
    my $should = join '', map { my ($theme, $rules) = @$_; map { ":root[data-theme=$theme] svg $_\n" } split /\n/, $rules }
        ['light', $light], ['dark', $dark];
    wrong('the themes', $themes, $should) if $themes ne $should;
    for my $rule (split /\n/, $dark) {
        my ($class) = $rule =~ /^\.([\w-]+)/;
        wrong('the styles of dark pages', $rule, 'something that light pages have too') unless $light =~ /^\.$class\{/m;
    }
    for my $class (distinct(map { split / / } join(' ', $html =~ /<svg.*?<\/svg>/gs) =~ /\bclass="([^"]*)"/g)) {
        wrong('the styles of the pictures', "no .$class", "how .$class looks") unless $light =~ /^\.$class\{/m;
    }
    my @colours = $light =~ /^\.s\d\{fill:(#[0-9a-f]+)\}$/mg;
    wrong('the styles of the pictures', "@colours", 'ten colours') if distinct(@colours) != 10;
}

sub judge_data {
    my ($data, $should) = @_;
    wrong('the data', $data, 'no <, > or &') if $data =~ /[<>&]/;
    same_tree('the data', json_text($data), $should);
}

# uPlot, where the build has it, and something is there for it to draw.
sub has_lines {
    my ($studies, $figures) = @_;
    return (grep { $_->{kind} eq 'columns' } @$figures) || grep { $_->{numbers} && @{$_->{values}} >= 8 } map { @{$_->{axes} || []} } @$studies;
}

# Each link in the page leads to an element, and no two elements have one name.
sub judge_links {
    my ($html) = @_;
    my %ids;
    $ids{$_}++ for $html =~ /<[^>]*\bid="([^"]*)"/g;
    for (keys %ids) { wrong('the names of elements', "$_ $ids{$_} times", "$_ once") if $ids{$_} > 1 }
    for my $to ($html =~ /\bhref="([^"]*)"/g) {
        wrong('a link', $to, 'an element of the page, or data') unless $to =~ /^data:/ || $to =~ /^#(.*)/ && $ids{$1};
    }
}

# ---- figures as files ----------------------------------------------------------------------------------------

sub judge_files {
    my ($dir, @figures) = @_;
    my %files;
    for my $f (@figures) {
        (my $name = $f->{name}) =~ s/[^-\w.]/-/g;
        %files = (%files, "$name.svg" => figure_svg($f), "$name.csv" => figure_csv($f), "$name.gnuplot" => figure_gnuplot($f));
    }
    opendir my $in, $dir or die "judge: $dir: $!\n";
    for (grep { !/^\./ } readdir $in) { wrong("$dir/$_", 'is there', 'nothing: it is no figure') unless defined $files{$_} }
    for my $name (sort keys %files) {
        my @says = split /\n/, or_empty(file_bytes("$dir/$name"));
        my @should = split /\n/, $files{$name};
        for my $i (0 .. most($#says, $#should)) {
            my ($x, $y) = map { defined $_->[$i] ? $_->[$i] : 'nothing' } \(@says, @should);
            wrong("$dir/$name, line " . ($i + 1), $x, $y) if $x ne $y;
        }
    }
}

# ---- what differs, as `compare --results` says it ------------------------------------------------------------

sub judge_compared {
    my ($d) = @_;
    my $line = join ' ', map { shell_word($_) } $program, 'compare', '--results', '--threshold', $option{threshold}, @results;
    my @says = split /\n/, `$line 2>judge.err`;
    my @should = difference_lines($d);
    for my $i (0 .. most($#says, $#should)) {
        my ($x, $y) = map { defined $_->[$i] ? $_->[$i] : 'nothing' } \(@says, @should);
        wrong('compare --results, line ' . ($i + 1), $x, $y) if $x ne $y;
    }
    my $json = `$line --json 2>judge.err`;
    wrong('compare --results --json', $json, 'a table: a line for each run, parameter and race') if $json !~ /\n\}\n\z/;
    same_tree('compare --results --json', json_text($json), difference_tree($d));
}

# ---- the whole -----------------------------------------------------------------------------------------------

my $html = file_bytes($page) or die "judge: $page: $!\n";
($version) = `$program --version` =~ /^lardsim (\S+)/;
my ($studies, $faults) = ([], []);
if ($option{diff}) {
    for (@results) {
        my ($s, $f) = studies_of($_);
        push @$studies, @$s;
        push @$faults, @$f;
    }
} else {
    ($studies, $faults) = studies_of(@results);
}
$html =~ s/<style>(.*?)<\/style>/<style><\/style>/s;
my $head = $1;
$html =~ s/(<script type="application\/json" id="data">)(.*?)(<\/script>)/$1$3/s or wrong('the page', 'no data', 'data for its script');
my $data = $2;
my $plotted = $html =~ s/<style>\n[^<]*<\/style>\n<script>\n\/\* uPlot: Copyright.*?<\/script>\n//s;
$html =~ s/<script>\n(.*?)<\/script>/<script><\/script>/s or wrong('the page', 'no script', 'page.js');
my $js = file_bytes("$option{scripts}/page.js");
wrong('the script', $1, $js) if $1 ne $js;
judge_styles($head, $html);
judge_links($html);
my (@figures, @first, $should, $data_meant);
if ($option{diff}) {
    my $d = difference_of(@$studies, $option{threshold});
    judge_compared($d);
    $should = difference_page($d, @$faults);
    $data_meant = ['object', ['studies', ['array']], ['lines', ['array']]];
} else {
    for my $i (0 .. $#$studies) {
        push @first, scalar @figures;
        figures_of(\@figures, $studies->[$i], @$studies > 1 ? $i + 1 . '-' : '');
    }
    $should = page_of($studies, $faults, \@figures, [@first, scalar @figures]);
    $data_meant = data_of($studies, \@figures);
}

wrong('uPlot', 'is there', 'nothing: there is nothing for it to draw') if $plotted && !has_lines($studies, \@figures);
walk([pieces($html)], [pieces($should)]);
judge_data($data, $data_meant);
judge_files($option{figures}, @figures) if $option{figures};
print "$page: $judged elements and texts, ", scalar(@figures), " figures\n";
