# page.pl - the page as it must be, from top to bottom.
use strict;
use warnings;
our (@measures, @parts, $program, $races_explained, $unexplained);

our $version;    # of the program that made the page

sub element { my ($name, $text) = @_; return "<$name>" . markup($text) . "</$name>" }
sub number_cell { my ($form, $x) = @_; return '<td class="n">' . (defined $x ? sprintf $form, $x : '-') . '</td>' }

# ---- top and bottom ------------------------------------------------------------------------------------------

sub page_top {
    my ($title) = @_;
    return <<END . element('title', $title) . "\n<style></style>\n</head>\n<body>\n<header>\n" . element('h1', $title) . <<END;
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:">
<meta name="color-scheme" content="light dark">
END
<button type="button" id="theme" hidden>Colours: as the system</button>
</header>
<main>
END
}

sub faults_said {
    my (@faults) = @_;
    return '' unless @faults;
    return qq(<section class="faults" id="faults">\n<h2>What is not whole</h2>\n<ul>\n)
        . join('', map { element('li', $_) . "\n" } @faults) . "</ul>\n</section>\n";
}

sub page_bottom {
    return "</main>\n<footer>Made by lardsim $version. This page is whole: it asks no other for anything.</footer>\n"
        . qq(<script type="application/json" id="data"></script>\n<script></script>\n</body>\n</html>\n);
}

sub page_of {
    my ($studies, $faults, $figures, $first) = @_;
    my @names = map { $_->{name} } @$studies[0 .. least($#$studies, 2)];
    my @out = (page_top('lardsim: ' . join ', ', @names), faults_said(@$faults));
    push @out, qq(<nav aria-label="contents"><ul>\n), map({
        qq(<li><a href="#study-$_">) . markup(title_of($studies->[$_])) . "</a></li>\n"
    } 0 .. $#$studies), "</ul></nav>\n" if @$studies > 1;
    push @out, study_section($studies->[$_], $_, $figures, $first->[$_], $first->[$_ + 1] - 1) for 0 .. $#$studies;
    return join '', @out, page_bottom();
}

sub title_of { my ($s) = @_; return defined $s->{title} ? $s->{title} : $s->{name} }

sub study_section {
    my ($s, $number, $figures, $from, $to) = @_;
    my @out = (qq(<section class="study" id="study-$number">\n), element('h2', title_of($s)),
        '<p class="question">', question($s), '</p><div class="answer">', answer($s), '</div>');
    push @out, claims_table($s) if $s->{kind} eq 'table';
    push @out, figure_element($figures->[$_], $_) for $from .. $to;
    push @out, untimed($s), machine_element($s), qq(<div class="explore" data-study="$number"></div>\n), axes_table($s),
        seeds_table($s), findings_table($s), races_list($s, $number), cells_table($s), provenance($s) if $s->{kind} ne 'table';
    return join '', @out, "</section>\n";
}

# ---- figures -------------------------------------------------------------------------------------------------

sub figure_element {
    my ($f, $number) = @_;
    my $title = markup($f->{title});
    my $link = sub { my ($kind, $type, $text) = @_;
        return '<a download="' . markup($f->{name}) . qq(.$kind" href="data:$type;charset=utf-8,$text">$kind</a> ) };
    return qq(<figure id="figure-$number" data-name=") . markup($f->{name})
        . qq(">\n<div class="picture" tabindex="0" role="group" aria-label="$title">\n) . figure_svg($f)
        . '</div><figcaption>Figure ' . ($number + 1) . qq(. $title. <span class="files">)
        . $link->('svg', 'image/svg+xml', percented(figure_svg($f))) . $link->('csv', 'text/csv', percented(figure_csv($f)))
        . $link->('gnuplot', 'text/plain', percented(figure_gnuplot($f))) . "</span></figcaption>\n</figure>\n";
}

# What a link has in it: all but what may stand there for itself is written as %XX, which the reader takes back.
sub percented { (my $text = $_[0]) =~ s/([^-\w.,:;()\/=*\$!])/sprintf '%%%02X', ord $1/ge; return $text }

sub picture_element {
    my ($svg, $label) = @_;
    return qq(<div class="picture" tabindex="0" role="group" aria-label="$label">\n$svg</div>\n);
}

sub untimed {
    my ($s) = @_;
    return '' if $s->{kind} ne 'runs' || grep { $_->{time} } @{$s->{runs}} or !defined measure($s->{cells}[0], 'cycles');
    return '<p class="count">There is no time line: no run was made with <code>--set stats.rows=256</code>.</p>';
}

sub machine_element {
    my ($s) = @_;
    return '' unless $s->{config} && defined measure($s->{cells}[0], 'cycles');
    return '<details class="machine"><summary>The machine' . ($s->{kind} eq 'sweep' || @{$s->{axes}} > 1 ? ' of the first run' : '')
        . "</summary>\n" . picture_element(machine_picture($s->{config}), 'the machine') . "</details>\n";
}

# ---- tables --------------------------------------------------------------------------------------------------

sub claims_table {
    my ($s) = @_;
    my @claims = @{$s->{claims}};
    my $numbers = grep { defined $_->{ours} } @claims;
    my $seeds = grep { defined $_->{'interval-low'} } @claims;
    my @out = "<h3>Claims</h3>\n<table><thead><tr><th>claim</th><th>verdict</th>";
    push @out, '<th class="n">ours</th>', $seeds ? '<th class="n">&plusmn;</th>' : '',
        '<th class="n">the paper</th><th class="n">band</th><th>unit</th>' if $numbers;
    push @out, "</tr></thead><tbody>\n";
    my $holds = sub { or_empty($_[0]{verdict}) eq 'holds' };
    for my $c ((grep { !$holds->($_) } @claims), grep { $holds->($_) } @claims) {
        push @out, '<tr>', element('td', $c->{text}), element('td', $c->{verdict});
        my ($low, $high) = @$c{qw(interval-low interval-high)};
        push @out, number_cell('%.1f', $c->{ours}),
            $seeds ? number_cell('%.1f', defined $low && defined $high ? ($high - $low) / 2 : undef) : '',
            number_cell('%.1f', $c->{paper}), '<td class="n">', defined $c->{low} ? sprintf 'from %.6g', $c->{low} : '',
            defined $c->{high} ? sprintf ' to %.6g', $c->{high} : '', '</td>', element('td', $c->{unit}) if $numbers;
        push @out, "</tr>\n";
    }
    return join '', @out, "</tbody></table>\n";
}

sub axes_table {
    my ($s) = @_;
    my @moved = grep { @{$_->{values}} > 1 } @{$s->{axes}};
    return '' unless grep { $_->{name} ne 'policy' } @moved;
    return join '', '<h3>Which axes mattered</h3><table class="axes"><thead><tr><th>axis</th><th>values</th><th>what it did</th></tr>'
        . '</thead><tbody>', map({
        my @v = @{$_->{values}};
        '<tr>' . element('th', $_->{name}) . '<td>' . join(', ', map { markup($_) } @v[0 .. least($#v, 7)])
            . (@v > 8 ? ', ... (' . @v . ')' : '') . '</td><td>' . axis_said($_) . '</td></tr>'
    } @moved), '</tbody></table>';
}

# Student's t for 95 percent, by how many degrees of freedom: from printed tables.
my @student = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262);

# The mean, and half of its interval.
sub mean_cells {
    my @x = grep { defined } @_;
    return number_cell('%.1f', undef) x 2 unless @x;
    my $mean = mean_known(@x);
    return number_cell('%.1f', $mean) . number_cell('%.1f', undef) if @x == 1;
    my $variance = sum_known(map { ($_ - $mean)**2 } @x) / (@x - 1);
    return number_cell('%.1f', $mean) . '<td class="n">~' . $student[@x - 2] * sqrt($variance / @x) . '</td>';
}

sub seeds_table {
    my ($s) = @_;
    my $seed = axis_named($s, 'seed');
    return '' unless defined $seed && @{$s->{axes}[$seed]{values}} > 1;
    my @others = grep { $_ != $seed } 0 .. $#{$s->{axes}};
    my @groups = alike_but($s, $seed, @{$s->{cells}});
    return join '', '<h3>Over the seeds</h3><p>The mean of each point over its seeds, and half of its 95 percent interval, by '
        . q(Student's t.</p><div class="wide" tabindex="0"><table class="seeds"><thead><tr>),
        map({ element('th', $s->{axes}[$_]{name}) } @others),
        '<th>seeds</th><th>overhead, %</th><th>&plusmn;</th><th>cycles</th><th>&plusmn;</th></tr></thead><tbody>',
        map({
        my $g = $_;
        '<tr>' . join('', map { element('td', $g->[0]{point}[$_]) } @others) . '<td class="n">' . @$g . '</td>'
            . mean_cells(map { defined $_->{overhead} ? 100 * $_->{overhead} : undef } @$g) . mean_cells(map { measure($_, 'cycles') } @$g)
            . '</tr>'
    } @groups[0 .. least($#groups, 199)]), '</tbody></table></div>',
        @groups > 200 ? '<p>The first 200 of ' . @groups . '; means.csv has all.</p>' : '';
}

sub findings_table {
    my ($s) = @_;
    my @all = map { @{$_->{findings}} } @{$s->{runs}};
    my (%of, @order);
    for my $f (@all) {
        push @order, $f unless $of{$f->{key}}++;
    }
    return '' unless @order;
    return join '', '<h3>What could not matter</h3><p>Each run says which of its parameters could not have mattered. The change is '
        . 'the one that would have changed nothing.</p><table><thead><tr><th>why</th><th>parameters</th><th>runs</th></tr></thead><tbody>',
        map({ '<tr>' . element('td', $_->{sentence}) . element('td', $_->{knobs} eq '' ? '-' : $_->{knobs})
            . qq(<td class="n">$of{$_->{key}} of ) . @{$s->{runs}} . '</td></tr>' } @order[0 .. least($#order, 39)]), '</tbody></table>';
}

sub cells_table {
    my ($s) = @_;
    my @cells = @{$s->{cells}};
    my @known = known_measures($s);
    my $n = @cells;
    return join '', '<details' . ($n <= 12 ? ' open' : '') . "><summary>All numbers: $n cell" . plural($n)
        . '</summary><div class="wide" tabindex="0"><table class="cells"><thead><tr>', map({ element('th', $_->{name}) } @{$s->{axes}}),
        '<th>overhead, %</th><th>overhead-whole, %</th><th>measured</th>', map({ element('th', $measures[$_][0]) } @known),
        '</tr></thead><tbody>', map({
        my $c = $_;
        my $run = $c->{run};
        '<tr>' . join('', map({ element('td', $_) } @{$c->{point}}),
            map({ number_cell('%.1f', defined $c->{$_} ? 100 * $c->{$_} : undef) } qw(overhead whole)),
            element('td', !defined $run->{cycles} ? '' : defined $run->{roi} ? 'region' : 'run'),
            map({ number_cell('%.10g', $c->{of}[$_]) } @known)) . '</tr>'
    } @cells[0 .. least($n - 1, 199)]), '</tbody></table></div>',
        $n > 200 ? '<p>The first 200. The choices above show what is wanted of all of them.</p>' : '', '</details>';
}

sub known_measures {
    my ($s) = @_;
    return grep { my $k = $_; grep { defined $_->{of}[$k] } @{$s->{cells}} } 0 .. $#measures;
}

# ---- races ---------------------------------------------------------------------------------------------------

sub side {
    my ($race, $before) = @_;
    my %s = map { $_ => member($race, "$before$_") } qw(thread op site event);
    return 'an access that the policy does not know' unless defined $s{op} || defined $s{event} || defined $s{site};
    return join '', markup(defined $s{op} ? $s{op} : 'access'), defined $s{thread} ? ' by thread ' . markup($s{thread}) : '',
        defined $s{event} ? ', event ' . markup($s{event}) : '', defined $s{site} ? ', at ' . element('code', $s{site}) : '';
}

sub both_sides { my ($race) = @_; return side($race, '') . '<br>after the ' . side($race, 'earlier.') }

sub races_list {
    my ($s, $number) = @_;
    my @races = @{$s->{races}};
    my $n = @races or return '';
    return join '', "<h3>Races, by pair of sites</h3><p>$n pair" . plural($n) . '. Of each the first racy access and the earlier one.'
        . ($s->{kind} eq 'sweep' ? ' Of a sweep: of the first cell of each source and policy.' : '') . '</p><div class="races">',
        map({ race_element($s, $races[$_], $number, $_) } 0 .. least($n - 1, 499)), '</div>',
        $n > 500 ? '<p>The first 500 are shown; races.jsonl has all.</p>' : '';
}

sub counts_said { my ($r) = @_; return join ', ', map { markup($_) . " $r->{count}{$_}" } @{$r->{policies}} }

sub race_element {
    my ($s, $r, $study, $number) = @_;
    my $race = $r->{line};
    my ($address, $object, $offset, $at, $id) = map { member($race, $_) } qw(address object offset allocated_at race);
    my $where = element('code', defined $address ? $address : '?')
        . (defined $object ? ' (' . markup($object) . ($offset ? ' + ' . markup($offset) : '') . ')'
            : defined $at ? ', allocated at ' . element('code', $at) : '');
    return join '', qq(<details class="race" id="race-$study-$number") . ($number ? '' : ' open') . '><summary>', both_sides($race),
        "</summary><dl><dt>where</dt><dd>$where</dd><dt>racy accesses</dt><dd>" . counts_said($r) . '</dd>',
        map({ element('dt', $_->[0]) . element('dd', $_->[1]) } @{$r->{verdicts}}), '<dt>race</dt><dd>', element('code', $id),
        '</dd><dt>why</dt><dd>', element('code', 'lardsim why ' . shell_word($r->{dir}) . ' ' . shell_word($id)), '</dd></dl>',
        explained($s, $r, $number), '</details>';
}

# ---- what made it --------------------------------------------------------------------------------------------

sub row_of { my ($head, $text) = @_; return defined $text ? '<tr>' . element('th', $head) . element('td', $text) . '</tr>' : '' }

sub provenance {
    my ($s) = @_;
    my @runs = @{$s->{runs}};
    my @out = '<h3>What made it</h3>';
    if ($s->{dir}) {
        push @out, '<p>The sweep is made again by ', element('code', 'lardsim sweep ' . shell_word("$s->{dir}/sweep.yaml") . ' -o again'),
            '; its sources must lie where they lay. It has ' . @{$s->{cells}} . ' cells.</p><details><summary>The spec</summary>',
            "<pre>", join("\n", map { markup($_) } split /\n/, file_bytes("$s->{dir}/sweep.yaml")), "</pre></details>";
    }
    push @out, run_element($_) for @runs[0 .. least($#runs, 49)];
    push @out, '<p>... and ' . (@runs - 50) . ' more runs, each in its folder.</p>' if @runs > 50;
    return join '', @out;
}

sub run_element {
    my ($run) = @_;
    my $dir = $run->{dir};
    (my $above = $dir) =~ s,/[^/]*$,,;
    my $again = or_empty($run->{verb}) eq 'compare'
        ? 'lardsim compare --config ' . shell_word(($run->{name} eq $dir ? $dir : $above) . '/config.yaml')
        : 'lardsim run --again ' . shell_word($dir);
    my $state = $run->{done} ? 'whole' : 'not whole' . (defined $run->{error} ? ": $run->{error}" : '');
    my @config = @{$run->{config}};
    return join '', '<details class="run">', element('summary', $run->{name}), '<table><tbody>', row_of('made again by', $again),
        row_of('was made by', $run->{command}), row_of('folder', $dir), row_of('state', $state), map({ row_of($_->[0], $run->{$_->[1]}) }
            ['source', 'source'], ['caveat', 'caveat'], ['identity of the events', 'identity'], ['configuration', 'configuration'],
            ['version', 'version'], ['build', 'id'], ['commit', 'commit'], ['compiler', 'compiler'], ['digest', 'digest'],
            ['behaviour', 'behaviour'], ['on', 'host'], ['in', 'working_folder'], ['started', 'started'], ['seconds', 'seconds']),
        '</tbody></table>', @config ? ('<details><summary>' . @config . ' parameters</summary><table><tbody>',
        map({ row_of(@$_) } @config), '</tbody></table></details>') : '', '</details>';
}

# ---- what the script reads -----------------------------------------------------------------------------------

# As [object => ...]: numbers as they are printed.
sub data_of {
    my ($studies, $figures) = @_;
    my $list = sub { ['array', @_] };
    my $ten = sub { defined $_[0] ? sprintf '%.10g', $_[0] : undef };
    my $study = sub {
        my ($s) = @_;
        my @known = $s->{kind} eq 'table' ? () : known_measures($s);
        return ['object', ['name', visible($s->{name})],
            ['axes', $list->(map { ['object', ['name', visible($_->{name})], ['numbers', $_->{numbers} ? 'true' : 'false'],
                ['values', $list->(map { visible($_) } @{$_->{values}})]] } @{$s->{axes} || []})],
            ['overheads', $list->('overhead', 'overhead-whole')],
            ['measures', $list->(map { ['object', ['key', $_->[0]], ['unit', $_->[1]], ['text', $_->[2]]] } @measures[@known])],
            ['parts', $list->(map { $_->[0] } @parts)],
            ['cells', $list->(map {
                my $c = $_;
                $list->(@{$c->{place}}, map({ $ten->(defined $c->{$_} ? 100 * $c->{$_} : undef) } qw(overhead whole)),
                    map({ $ten->($c->{of}[$_]) } @known), map({
                    my $x = part_percent($s, $c, $_);
                    defined $x ? sprintf '%.10g', whole(100 * $x) / 100 : undef } 0 .. $#parts))
            } @{$s->{cells} || []})]];
    };
    my @lines = map {
        my $f = $_;
        ['object', map({ [$_, $f->{$_}] } qw(kind name title unit across)), ['series', $list->(@{$f->{series}})],
            ['looks', $list->(@{$f->{looks}})], ['rows', $list->(map {
            my ($name, @v) = @$_;
            $list->($name, map { defined ? sprintf '%.6g', $_ : undef } @v) } @{$f->{rows}})]]
    } grep { $_->{kind} eq 'columns' } @$figures;
    return ['object', ['studies', $list->(map { $study->($_) } @$studies)], ['lines', $list->(@lines)]];
}
1;
