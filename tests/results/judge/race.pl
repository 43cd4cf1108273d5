# race.pl JSON SVG - judges the picture that `lardsim why --svg` draws of a race: threads, events and edges are drawn once
# more from what its --json says of them. Exits with 1 at the first line that is another.
use strict;
use warnings;

my ($here) = $0 =~ m,^(.*)/,;
require "$here/$_.pl" for qw(read study figure drawing);
our $styles;

my ($json, $svg) = @ARGV;
my $said = json_file($json);
my $picture = file_bytes($svg);
($styles) = $picture =~ /<style>\n(.*?)<\/style>/s;
held($svg, $picture, why_picture(member($said, 'why'), (items(member($said, 'says')))[0]));
