# box.pl JSON CONFIG NAME - judges what the boxes of `lardsim machine --json` say, by the configuration of a run on that
# machine; NAME is what its title calls it. Exits with 1 at the first that says something else.
use strict;
use warnings;

my ($here) = $0 =~ m,^(.*)/,;
require "$here/$_.pl" for qw(read study figure drawing);

my ($json, $config, $name) = @ARGV;
my %set = map { $_->[0] => $_->[1] } config_of($config);
my $judged = eval { hold_machine(member(json_file($json), 'machine'), \%set, $name) };
print $@ || "box.pl does not know machines of that kind\n" unless $judged;
exit !$judged;
