#!/bin/sh
# pages.sh - do the pages that are made of the program's tables have all that is in them, and nothing else: a verb's help,
# its manual page and its completion the same options, lists the same rows in each form, a workload's page its JSON?
# shellcheck disable=SC1003,SC2015,SC2094 # backslashes of troff; a sentence; the file of verbs is only read
in_memory=1
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

# same WHAT FILE FILE: they are what was expected, and what there is
same() { cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3" | head -n 4)"; }

# ---- help, manual, completion --------------------------------------------------------------------

"$lardsim" list completion >completion.bash
if command -v bash >bash.path 2>&1; then
    # For each line of words what they complete to, a line.
    cat >complete.bash <<'END'
. ../completion.bash
compopt() { :; }
while read -r -a COMP_WORDS; do
    [[ ${COMP_WORDS[-1]} == END ]] && COMP_WORDS[-1]=''
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _lardsim
    echo "${COMPREPLY[*]}"
done
END
    mkdir nothing
    completed() { (cd nothing && bash ../complete.bash); }
else
    completed() { cat; }
fi
"$lardsim" list --json verbs | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' >verbs
[ -s verbs ] || fail "there are no verbs"
cut -d ' ' -f 1 verbs | sort -u | while read -r page; do
    "$lardsim" list manual "$page" >"page.$page"
done
while read -r verb; do
    # shellcheck disable=SC2086 # two words
    "$lardsim" $verb --help >help
    # Options as help has them: "-q, --quiet", "--to=binary|text".
    perl -ne 'if (/^ {2,6}(-.*?)(?:  |$)/ || /^ {30,}(--[\w-]+=\S+)$/) {my $o = $1; print "$1$2\n" while $o =~ /(?:^|, )(--?[\w?-]+)(=?)/g}' help | sort >proposed
    sed 's/=$//' proposed | sort >options
    [ -s options ] || fail "$verb has no options in its help"
    # The verb's part of the manual page: the options are the same, each with its whole sentence, and so are the examples.
    page=page.${verb%% *}
    if [ "$(grep -c "^${verb%% *}\( \|\$\)" verbs)" = 1 ]; then
        cp "$page" part
    else
        sed -n "/^\.SS lardsim $verb\$/,/^\.S[SH] /p" "$page" >part
        # What all verbs have is not said of each.
        sort options | grep -vx -e '-h' -e '-?' -e '--help' -e '--usage' -e '-V' -e '--version' >own && mv own options
    fi
    sed -n '/^\.TP/{n;s/^\\fB\\-/-/p}' part | sed 's/=.*//; s/\\f[BR]//g; s/\\-/-/g' | tr -d ' ' | tr ',' '\n' | sort >have
    same "the manual's options of $verb" options have
    tr -s ' \n' ' ' <help >flat
    sed -n '/^\\fB\\-/{n;p}' part | grep -v '^The same as' | sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g; s/\\f[BR]/`/g' | while read -r sentence; do
        grep -qF -e "$(echo "$sentence" | tr -d '`')" flat || grep -qF -e "$sentence" flat || echo "$sentence"
    done >strange
    [ ! -s strange ] || fail "help of $verb does not say of an option: $(head -n 1 strange)"
    sed -n '/^Examples:/,$s/^  //p' help | awk 1 >want
    sed -n '/^\.nf/,/^\.fi/{/^\./!p}' part | sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g; s/\\f[BR]/`/g; s/^\\&//' >have
    same "the manual's examples of $verb" want have
    echo "lardsim $verb -" >>ask
    grep -vx -e '-?' proposed | sort | tr '\n' ' ' >>answer
    echo >>answer
    # Words for a value, where help lists them.
    sed -n 's/^ \{2,6\}[-a-zA-Z, ]*\(--[a-z-]*\)=\([a-z0-9.-]*|[a-z0-9.|-]*\).*/\1 \2/p' help | while read -r option words; do
        echo "lardsim $verb $option = END" >>ask
        echo "$words " | tr '|' ' ' >>answer
    done
done <verbs
# For each choice of a parameter its words, and for none else.
"$lardsim" list --json parameters >rows
sed -n 's/.*"name": "\([^"]*\)".*"range": "\([^"]*|[^"]*\)".*/\1 \2/p' rows | while read -r name words; do
    echo "lardsim run --set $name = END" >>ask
    echo "$words " | tr -d '|' | tr -s ' ' >>answer
done
[ "$(wc -l <ask)" -gt 100 ] && [ "$(wc -l <ask)" = "$(wc -l <answer)" ] || fail "the test asks too little: $(wc -l <ask answer)"
if [ -s bash.path ]; then
    completed <ask | while read -r words; do
        case $words in -*) echo "$words" | tr ' ' '\n' | sort | tr '\n' ' ' ;; *) printf '%s ' "$words" ;; esac
        echo
    done >have
    paste -d '#' ask answer | sed 's/ *$//' >want
    paste -d '#' ask have | sed 's/ *$//' >got
    same "what is completed" want got
    # Names: of tables, pages, policies, presets, workloads, keys of the generator.
    names() { "$lardsim" list --json "$1" | sed -n 's/.*"name": "\([^" ]*\)".*/\1/p' | sort; }
    for pair in 'policies:run -p' 'presets:machine --preset' 'workloads:workload describe' 'policies:why --policy =' 'parameters:run --set' 'synth:trace synth x.lard'; do
        echo "lardsim ${pair#*:} END" | completed | tr ' ' '\n' | sed 's/=$//; /^$/d' | sort >have
        names "${pair%%:*}" >want
        same "${pair#*:} completes to" want have
    done
    echo 'lardsim list END' | completed | tr ' ' '\n' | sort >have
    "$lardsim" list | awk '{print $1}' | sort >want
    same "list completes to" want have
fi
# The manual has each parameter, with its default, range and help.
for pair in parameters:run synth:trace; do
    "$lardsim" list --json "${pair%%:*}" | sed -n 's/.*"name": "\([^"]*\)", "help": "\([^"]*\)", "default": "\([^"]*\)", "range": "\([^"]*\)".*/\1 (default \3, range \4#\2/p' >want
    sed -n '/^\.SH PARAMETERS/,/^\.SH EXIT/p' "page.${pair#*:}" | sed 's/\\f[BR]//g; s/\\-/-/g; s/\\(aq/'"'"'/g; s/\\&//g' |
        awk '/^\.TP/ {getline head; getline help; sub(/, unit [^,)]*/, "", head); sub(/, type [^)]*\)$/, "", head); print head "#" help}' >have
    sed -i 's/`//g' want have
    grep -v '\\' want >plain && same "the manual's ${pair%%:*}" plain have
done
# Each exit code with its sentence is on each page.
"$lardsim" list --json exits | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort >want
for page in page.*; do
    sed -n '/^\.SH EXIT STATUS/,/^\.SH SEE/s/^\.B //p' "$page" | sort >have
    same "exit codes in the manual, ${page#page.}" want have
done

# ---- lists ---------------------------------------------------------------------------------------

# Text and Markdown have the rows of the JSON, in its order; a section has those whose names begin with it.
for table in $("$lardsim" list | awk '$1 != "manual" && $1 != "completion" {print $1}'); do
    run 0 list --json "$table"
    sed -n 's/^ *{"name": "\(\([^"\\]\|\\.\)*\)".*/\1/p' out | sed 's/\\\(.\)/\1/g' >want
    run 0 list "$table"
    [ "$(wc -l <want)" = "$(wc -l <out)" ] || fail "list $table has $(wc -l <out) lines, and $(wc -l <want) rows"
    awk 'NR == FNR {row[NR] = $0; next} index($0, row[FNR]) != 1 {print "not " row[FNR] ": " $0}' want out >wrong
    [ ! -s wrong ] || fail "list $table: $(head -n 1 wrong)"
    run 0 list --markdown "$table"
    [ "$(grep -c '^|' out)" = $(($(wc -l <want) + 2)) ] || fail "list --markdown $table has $(grep -c '^|' out) lines for $(wc -l <want) rows"
    # Heads are the keys of the JSON; the columns of each line are as many.
    sed 's/\\|/;/g' out | awk -F'|' '/^\|/ {n[NF]++} END {for (k in n) kinds++; exit kinds != 1}' || fail "list --markdown $table: lines have more columns than others: $(head -n 3 out)"
    head -n 1 out | grep -q '| what it is |$' || fail "list --markdown $table: the last head is $(head -n 1 out)"
done
for section in policy.vc l1 trace; do
    run 0 list parameters $section
    awk '{print $1}' out >have
    names parameters | grep "^$section\\." | sort >want
    sort have | cmp -s want - || fail "list parameters $section: $(sort have | diff want - | head -n 3)"
    run 0 list --markdown parameters $section
    grep -q "^| *\`\{0,1\}$section\\." out && fail "in its section a name is whole: $(grep "$section\\." out | head -n 1)"
done

# ---- explain -------------------------------------------------------------------------------------

# What is told of a name is what its row has: its table's word, its help, each field with its key; and of a parameter how it
# is set, of a verb where its options are, of nothing else either.
cat >explain.pl <<'END'
# explain.pl JSON PAGE: a line for each thing that the page should say, and does not
use strict;
use warnings;
my ($json, $page) = map { local $/; open my $f, '<', $_ or die "$_\n"; <$f> } @ARGV;
sub flat { my $t = join ' ', split ' ', $_[0]; $t }
my $all = flat($page);
my ($at, %n) = (0);
for my $row ($json =~ /^ *(\{"table".*\}),?$/mg) {
    my @pair = map { s/\\n/\n/g; s/\\(.)/$1/g; $_ } $row =~ /"((?:[^"\\]|\\.)*)"/g;
    my %is = @pair;
    my $begin = index($all, "$is{name}: ", $at);
    print "$is{name} of $is{table} is not told\n" if $begin < 0;
    $at = $begin < 0 ? $at : $begin;
    for (my $i = 4; $i < @pair; $i += 2) {
        my ($key, $text) = @pair[$i, $i + 1];
        next if $text eq '';
        my $want = flat($key eq 'help' || $key eq 'more' ? $text : "$key $text");
        print "$is{name}: not told: $want\n" if index($all, $want, $at) < 0;
    }
    $n{$is{table}}++;
    print "$is{name}: how to set it is not told\n" if $is{table} eq 'parameters' && index($all, "set by lardsim run --set $is{name}=VALUE SOURCE", $at) < 0;
    print "$is{name}: its options are not told\n" if $is{table} eq 'verbs' && index($all, "options lardsim $is{name} --help", $at) < 0;
}
my $set = () = $page =~ /^  set by  /mg;
print "$set things can be set, and @{[$n{parameters} // 0]} are parameters\n" if $set != ($n{parameters} // 0);
my $options = () = $page =~ /^  options     lardsim /mg;
print "$options things have options, and @{[$n{verbs} // 0]} are verbs\n" if $options != ($n{verbs} // 0);
END
for table in verbs parameters policies events exits notes layouts synth; do
    "$lardsim" list --json $table | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' >want
    [ -s want ] || fail "list --json $table names nothing"
    # Names that stand in one table are found whole.
    while read -r name; do
        set -- "$@" "$name"
    done <want
    run 0 explain --json "$@"
    mv out json
    run 0 explain "$@"
    perl explain.pl json out >differ 2>&1
    [ ! -s differ ] || fail "explain $table: $(head -n 3 differ)"
    set --
done

# ---- what a workload is --------------------------------------------------------------------------

cat >describe.pl <<'END'
# describe.pl JSON PAGE: a line for each thing that the page should say, and does not
use strict;
use warnings;
my ($json, $page) = map { local $/; open my $f, '<', $_ or die "$_\n"; <$f> } @ARGV;
sub value {
    if ($json =~ /\G\s*\{/gc) {
        my %h;
        until ($json =~ /\G\s*\}/gc) {
            $json =~ /\G[\s,]*"((?:[^"\\]|\\.)*)"\s*:/gc or die 'no key';
            my $key = $1;
            push @{$h{' keys'}}, $key;
            $h{$key} = value();
        }
        return \%h;
    }
    if ($json =~ /\G\s*\[/gc) {
        my @a;
        until ($json =~ /\G[\s,]*\]/gc) { push @a, value(); $json =~ /\G\s*,/gc }
        return \@a;
    }
    return $1 =~ s/\\(.)/$1/gr if $json =~ /\G\s*"((?:[^"\\]|\\.)*)"/gc;
    $json =~ /\G\s*([^\s,\]}]+)/gc or die 'no value';
    return $1 eq 'null' ? undef : $1;
}
my $w = value();
my @line = split /\n/, $page;
sub flat { join ' ', split ' ', $_[0] }
my %flat = map { flat($_) => 1 } @line;
sub expect { print "no line: $_[0]\n" unless $flat{flat($_[0])} }
sub silent { print "$_[1]: $_\n" for grep { /$_[0]/ } @line }
sub section { # what stands below a head
    my ($at) = grep { $line[$_] =~ /$_[0]/ } 0 .. $#line;
    my @in;
    if (defined $at) { for my $l (@line[$at + 1 .. $#line]) { last if $l eq ''; push @in, flat($l) } }
    return @in;
}
sub list { my ($head, $is, @want) = @_; print "$head: '@$is', not '@want'\n" if join("\n", @$is) ne join("\n", @want); }

expect("$w->{name}: $w->{summary}");
$w->{source} ? expect("source $w->{source} (docs/papers.md)") : silent('^source', 'no source, and yet');
expect('races ' . ($w->{racy} eq 'true' ? 'it has some, unless its parameters say otherwise' : 'none but those that are planted'));
expect("size $_ " . ($w->{sizes}{$_} || '(the defaults)')) for @{$w->{sizes}{' keys'}};
list('sites', [section('^sites:')], @{$w->{sites}});
list('planted races', [section('^planted races')], map { "$_->{site} and $_->{other}: $_->{text}" } @{$w->{'planted-inputs'}});
my @setting = section('^parameters');
my @names = @{$w->{settings}{' keys'}};
print 'parameters: ' . @setting . " lines\n" if @setting != 2 * @names;
for my $i (0 .. $#names) {
    my $v = $w->{settings}{$names[$i]};
    $v = '(empty)' if !defined $v || $v eq '';
    print "setting: $setting[2 * $i]\n" if index($setting[2 * $i] // '', "$names[$i] $v") != 0;
}
my $b = $w->{'base-program'};
my @base = section('^base program');
list('gap', [$base[0]], sprintf 'gap low %.2f, mid %.2f, high %.2f instructions between accesses', @$b{qw(gap-low gap-mid gap-high)});
list('gap, source', [$base[1]], flat("source $b->{from}"));
print "interpreter: $base[2]\n" if $base[2] !~ sprintf ', mid %.2f,', $b->{interpreter};
my $known = $b->{'outside-printed'} eq 'true' ? ' (goldilocks, Table 1)' : ': not known';
list('outside', [$base[4]], sprintf('outside of it %.2f %% of the time, interpreted', $b->{outside}) . $known);
print "measured: of another run\n" if !grep { $_ eq "measured in a run of workload:$w->{run}:" } @line;
# A number that is part of something has two digits, one that is very small eight.
sub shown { my $v = $_[0]; return '-' if !defined $v; return $v if $v !~ /\./; sprintf '%.*f', $v != 0 && $v < 0.01 ? 8 : 2, $v }
my @measured = section('^measured in');
my @traits = @{$w->{measured}{' keys'}};
print 'measured: ' . @measured . " lines\n" if @measured != @traits;
for my $i (0 .. $#traits) {
    my $want = shown($w->{measured}{$traits[$i]});
    my ($name, $is) = split ' ', $measured[$i] // '- -';
    next if $want =~ /\.0{0,4}\d{6,}$/ && abs($is - $w->{measured}{$traits[$i]}) < 1e-6;
    print "measured: $name $is, not $traits[$i] $want\n" if $name ne $traits[$i] || $is ne $want && abs($is - $want) > 0.0051;
}
# Met is within 10 percent of the target, or of the nearer end of its range.
my @aim = section('^targets');
shift @aim if @aim;
for my $t (@{$w->{targets}}) {
    my $line = shift @aim // '';
    my $is = $t->{measured};
    my $want = sprintf('%s %.2f%s %s', $t->{trait}, $t->{target}, defined $t->{'target-most'} ? sprintf(' to %.2f', $t->{'target-most'}) : '', shown($is));
    if (defined $is) {
        my $to = $t->{target};
        $to = $is < $t->{'target-most'} ? $is : $t->{'target-most'} if defined $t->{'target-most'} && $is >= $to;
        my $off = 100 * ($is - $to) / ($to > 0 ? $to : 1);
        my $met = $off <= 10 && $off >= -10;
        print "target $t->{trait}: met is $t->{met}, $off percent off\n" if ($met ? 'true' : 'false') ne $t->{met} && abs(abs($off) - 10) > 0.01;
        my ($said) = $line =~ / (-?[\d.]+) % (?:not )?met /;
        print "target $t->{trait}: $line, not $off percent\n" if !defined $said || abs($said - $off) > 0.06 || $said eq '-0.0';
        print "target $t->{trait}: $line, and met is $t->{met}\n" if ($line =~ / % not met /) == $met && abs(abs($off) - 10) > 0.01;
        print "target: $line, not $want\n" if $t->{target} >= 0.01 && index($line, "$want ") != 0;
    } else {
        print "target: $line is measured\n" if $line !~ / - - not measured /;
    }
    print "target: $line, not of $t->{unit}; $t->{from}\n" if substr($line, -length "$t->{unit}; $t->{from}") ne flat("$t->{unit}; $t->{from}");
    my $why = !defined $t->{met} || $t->{met} ne 'true' ? $t->{'not-reached'} : undef;
    if (defined $why) { my $next = shift @aim // ''; print "target: '$next', not the reason $why\n" if $next ne flat("not reached: $why") }
}
print "targets: one more: $aim[0]\n" if @aim;
END
for spec in pmd@lard,accesses=2000 sor,n=10 xalan@valor,accesses=2k montecarlo tsp barnes multiset,ops=20 eclipse@slimstate,accesses=2k; do
    "$lardsim" workload list | grep -q "^${spec%%,*} " || continue
    run 0 workload describe --json "$spec"
    mv out json
    run 0 workload describe "$spec"
    perl describe.pl json out >differ 2>&1
    [ ! -s differ ] || fail "workload describe $spec: $(head -n 3 differ)"
done
# The list: a line each, summaries in one column, a twin's parameters as those above.
"$lardsim" workload list --json | sed -n 's/^ *{\{0,1\} *"name": "\([^"]*\)", "summary.*/\1/p; s/^    "name": "\([^"]*\)",\{0,1\}$/\1/p' >want
run 0 workload list
sed '/^$/,$d' out >lines
awk '{print $1}' lines >have
same "workload list" want have
longest=$(awk 'length > n {n = length} END {print n}' want)
awk -v n="$longest" 'substr($0, n + 1, 2) != "  " || substr($0, n + 3, 1) == " "' lines >wrong
[ ! -s wrong ] || fail "workload list: a summary is not in its column: $(head -n 1 wrong)"
[ "$(grep -c ' (as above)$' lines)" -gt 10 ] || fail "workload list: twins repeat their parameters"
exit $bad
