# machine.pl JSON TEXT SVG - judges how `lardsim machine` draws a machine, in ASCII and as a picture, by what its --json
# says of boxes: each line of the text, each element of the picture. Exits with 1 at the first that is another.
use strict;
use warnings;

my ($here) = $0 =~ m,^(.*)/,;
require "$here/$_.pl" for qw(read study figure drawing);
our $styles;

# A box as lines, 4 narrower than what is around it. metadata: whose, for those that have any.
sub box_lines {
    my ($box, $width, $metadata) = @_;
    my ($times, $takes) = map { member($box, $_) } qw(times takes);
    my $head = '+- ' . ($times > 1 ? "$times x " : '') . member($box, 'title') . ' ';
    my $tail = defined $takes ? " $takes -+" : '+';
    my $dashes = $width - length($head) - length $tail;
    my @said = items(member($box, 'says'));
    push @said, "has data, and what is kept for: $metadata" if or_empty(member($box, 'metadata')) eq 'true';
    my @inside = (map({ wrapped($_, $width - 4) } @said), map { box_lines($_, $width - 4, $metadata) } items(member($box, 'inside')));
    return ($head . '-' x ($dashes > 0 ? $dashes : 0) . $tail, map({ '| ' . $_ . ' ' x ($width - 4 - length) . ' |' } @inside),
        '+' . '-' x ($width - 2) . '+');
}

# What every cache and memory has.
sub holds {
    my ($box, $metadata) = @_;
    my $title = member($box, 'title');
    my $cache = $title =~ /^(?:L1 data|L2|L3 and directory|memory|memory of its own)$/;
    my ($data, $kept) = map { or_empty(member($box, $_)) } qw(data metadata);
    held("the box $title", "data $data, metadata $kept", $cache ? 'data true, metadata ' . (defined $metadata ? 'true' : 'false')
            : 'data , metadata ');
    holds($_, $metadata) for items(member($box, 'inside'));
}

my ($json, $text, $svg) = @ARGV;
my $drawn = json_file($json);
my ($box, $metadata) = map { member($drawn, $_) } qw(machine metadata);
holds($box, $metadata);
held($text, file_bytes($text), join '', map { "$_\n" } box_lines($box, 100, $metadata));
my $picture = file_bytes($svg);
($styles) = $picture =~ /<style>\n(.*?)<\/style>/s;
my ($height) = box_size($box, 612);
held($svg, $picture, picture(640, 40 + $height + 14, member($box, 'title'), svg_rect(14, 14, 24, 9, 'data'),
    svg_text(50, 23, 'text', 'data of the program'),
    defined $metadata ? (svg_rect(213, 14, 24, 9, 'metadata'), svg_text(249, 23, 'text', "what is kept for $metadata")) : (),
    box_drawn($box, 14, 40, 612)));
