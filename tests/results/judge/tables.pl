# tables.pl WHAT ARGUMENT... - judges what lardsim prints and writes as tables: each line and number is computed once more
# from statistics and races, by its definition in docs/. It says in one sentence where what stands there is not what
# should, also of a line or key that it does not know, and ends with 1.
use strict;
use warnings;

my $here = $0 =~ s{[^/]*\z}{}r;
require "$here$_" for qw(tables_read.pl tables_run.pl tables_compare.pl tables_costs.pl tables_sweep.pl tables_trace.pl tables_why.pl tables_papers.pl tables_lard.pl);

my %judge = (statistics => \&judge_statistics, run => \&judge_run, 'run-json' => \&judge_run_json,
    compare => \&judge_compare, "compare-json" => \&judge_compare_json, costs => \&judge_costs,
    status => \&judge_status, collect => \&judge_collect,
    info => \&judge_info, cat => \&judge_cat, strip => \&judge_strip, describe => \&judge_describe, why => \&judge_why, reasons => \&judge_reasons, located => \&judge_located, paper => \&judge_paper,
    lard => \&judge_lard, "lard-run" => \&judge_lard_run);
my ($what, @arguments) = @ARGV;
die "tables.pl: there is no judge of '" . ($what // '') . "'\n" unless defined $what && $judge{$what};
$judge{$what}->(@arguments);
