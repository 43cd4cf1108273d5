# drawing.pl - pictures of what other verbs know: the threads and edges of a race, and the machine. The verbs say it as
# JSON; here it is drawn from that again. What a machine's boxes say is held against its configuration, too.
use strict;
use warnings;
our $program;

sub said_by_program {
    my (@command) = @_;
    my $line = join ' ', map { shell_word($_) } $program, @command;
    my $text = `$line 2>judge.err`;
    return $? ? undef : json_text($text);
}

# What a file says, and should say, line by line.
sub held {
    my ($file, $says, $should) = @_;
    my @says = split /\n/, $says;
    my @should = split /\n/, $should;
    for my $i (0 .. most($#says, $#should)) {
        my ($x, $y) = map { defined $_->[$i] ? $_->[$i] : 'nothing' } \(@says, @should);
        next if $x eq $y;
        print "$file, line ", $i + 1, ": says \"$x\", and should say \"$y\"\n";
        exit 1;
    }
}

# ---- why ----------------------------------------------------------------------------------------------------

our ($races_explained, $unexplained) = (3, {});    # so many of each study; those that can't be, by their folder

sub explained {
    my ($s, $r, $number) = @_;
    return '' if $number >= $races_explained;
    my $not = $unexplained->{$r->{dir}};
    $not = "$r->{dir}: there is no DONE, so it is not whole: the run stopped, or still runs, or this is no results folder"
        unless $r->{whole};
    return '<p class="count">Not explained here: ' . markup($not) . '</p>' if defined $not;
    my ($event, $id) = map { member($r->{line}, $_) } qw(event race);
    my $why = said_by_program('why', $r->{dir}, defined $event ? $event : $id, '-p', $r->{policies}[0], '--json')
        or return '<p>judge: lardsim why can not say it</p>';
    my @said = items(member($why, 'says'));
    my $earlier = member($r->{line}, 'earlier.event');
    die "judge: why says of event $event: $said[0]\n"
        if defined $event && defined $earlier && $said[0] !~ /\b$event\b.*\b$earlier\b/;
    return join '', map({ element('p', $_) } @said), picture_element(why_picture(member($why, 'why'), $said[0]), 'threads and edges');
}

# Threads side by side, in the order in which they are met; a row for each event, in the order of the trace.
sub why_picture {
    my ($why, $title) = @_;
    my $verdict = member($why, 'verdict');
    my ($earlier, $later) = map { member($why, "$_.access") } qw(earlier later);
    my $missing = $verdict =~ /^(?:races|unchecked)$/ ? member($why, 'missing_from') : undef;
    my @edges = $verdict eq 'ordered' ? items(member($why, 'chain')) : map { member($_, 'by') } items(member($why, 'reached'));
    my (@threads, %rows);
    my $thread = sub { my ($t) = @_; push @threads, $t unless grep { $_ == $t } @threads };
    my $row = sub { my ($line, $t) = @_; $rows{member($line, 'event') . " $t"} ||= {line => $line, thread => $t} };
    for my $line (grep { defined } $earlier, $later) {
        $thread->(member($line, 'thread')) if $line != $later;
        $row->($line, member($line, 'thread'))->{access} = 1;
    }
    if ($missing) {
        $thread->(member($missing, 'thread'));
        $row->($missing, member($missing, 'thread'));
    }
    for my $e (@edges) {
        next if keys(%rows) + 4 > 40 || @threads + 2 > 8;
        $thread->(member($e, 'to_thread'));
        if (defined member($e, 'from_thread')) {
            $thread->(member($e, 'from_thread'));
            $row->(member($e, 'from'), member($e, 'from_thread'));
        }
        $row->(member($e, 'to'), member($e, 'to_thread'));
    }
    $thread->(member($later, 'thread'));
    my $key = sub { member($_[0], 'event') . " $_[1]" };
    for my $e (@edges, $missing ? ['object', ['from', $missing], ['from_thread', member($missing, 'thread')], ['to', $later],
            ['to_thread', member($later, 'thread')], ['missing', 1]] : ()) {
        my $to = $rows{$key->(member($e, 'to'), member($e, 'to_thread'))};
        next unless $to && defined member($e, 'from_thread');
        $to->{from} = $rows{$key->(member($e, 'from'), member($e, 'from_thread'))};
        $to->{missing} = member($e, 'missing');
    }
    my @rows = sort { member($a->{line}, 'event') <=> member($b->{line}, 'event') || $a->{thread} <=> $b->{thread} } values %rows;
    my %x = map { $threads[$_] => 90 + 190 * $_ } 0 .. $#threads;
    $rows[$_]{y} = 87 + 34 * $_ for 0 .. $#rows;
    my %name = map { member($_, 'thread') => member($_, 'thread_name') }
        grep { ref && $_->[0] eq 'object' && defined member($_, 'thread_name') } every_object($why);
    return picture(90 + 190 * $#threads + 190, 90 + 34 * @rows, $title, svg_text(10, 24, 'text title', $title), map({
        (svg_line($x{$_}, 64, $x{$_}, 70 + 34 * @rows, 'grid'),
            svg_text($x{$_}, 56, 'text bold middle', "thread $_" . (defined $name{$_} ? " ($name{$_})" : '')))
    } @threads), map { why_row($_, \%x) } @rows);
}

sub why_row {
    my ($r, $at) = @_;
    my ($x, $y) = ($at->{$r->{thread}}, $r->{y});
    my $text = member($r->{line}, 'text');
    my ($short) = $text =~ /^(\S+(?: (?:0x[0-9a-f]+|T?\d+)\b)?)/;
    my @out = svg_text(10, $y + 4, 'text faint', member($r->{line}, 'event'));
    if (my $from = $r->{from}) {
        my ($x1, $look) = ($at->{$from->{thread}}, $r->{missing} ? 'edge missing' : 'edge');
        push @out, svg_line($x1, $from->{y}, $x1, $y, $look);
        if ($x1 != $x) {    # down along its thread, then across, to a tip before the circle
            my $towards = $x1 < $x ? 1 : -1;
            my ($tip, $back) = ($x - 5 * $towards, $x - 13 * $towards);
            push @out, svg_line($x1, $y, $tip, $y, $look), map { svg_line($back, $y + $_, $tip, $y, 'edge') } -4, 4;
        }
    }
    return (@out, svg_circle($x, $y, 5, $r->{access} ? 'accused' : 'full', $text), svg_text($x + 10, $y - 5, 'text', $short));
}

# ---- the machine --------------------------------------------------------------------------------------------

sub machine_picture {
    my ($config) = @_;
    my $drawn = said_by_program('machine', '--config', $config, '--json') or return 'judge: lardsim machine can not say it';
    my ($box, $metadata) = map { member($drawn, $_) } qw(machine metadata);
    my %set = map { $_->[0] => $_->[1] } config_of($config);
    (my $title = member($box, 'title')) =~ s/^config\.yaml:/$set{machine}:/;
    ($_->[0] eq 'title') && ($_->[1] = $title) for grep { ref } @$box;
    hold_machine($box, \%set);
    my ($height) = box_size($box, 612);
    return picture(640, 40 + $height + 14, $title, svg_rect(14, 14, 24, 9, 'data'), svg_text(50, 23, 'text', 'data of the program'),
        defined $metadata ? (svg_rect(213, 14, 24, 9, 'metadata'), svg_text(249, 23, 'text', "what is kept for $metadata")) : (),
        box_drawn($box, 14, 40, 612));
}

sub wrapped {
    my ($text, $columns) = @_;
    my @lines;
    for my $word (split / /, $text) {
        if (@lines && length("$lines[-1] $word") <= $columns) {
            $lines[-1] .= " $word";
        } else {
            push @lines, $word;
        }
    }
    return @lines;
}

# Its height, how far the others of its kind stand out behind it, and its lines. A letter is 7 wide, a line 17 high.
sub box_size {
    my ($box, $width) = @_;
    my $behind = member($box, 'times') > 1 ? 8 : 0;
    my $inner = $width - $behind - 24;
    my @lines = map { wrapped($_, int($inner / 7)) } items(member($box, 'says'));
    my @inside = items(member($box, 'inside'));
    my $height = $behind + 22 + 17 * @lines + 6 + (defined member($box, 'data') ? 15 : 0);
    $height += (box_size($_, $inner))[0] for @inside;
    return ($height + (@inside ? 12 * @inside : 0), $behind, $inner, \@lines);
}

sub box_drawn {
    my ($box, $x, $y, $width) = @_;
    my ($height, $behind, $inner, $lines) = box_size($box, $width);
    my ($w, $h) = ($width - $behind, $height - $behind);
    my ($times, $takes, $holds) = map { member($box, $_) } qw(times takes data);
    $y += $behind;
    my @out = map({ svg_rect($x + $_, $y - $_, $w, $h, 'box') } grep { $_ <= $behind } 8, 4);
    push @out, svg_rect($x, $y, $w, $h, defined $holds ? 'box cache' : 'box'),
        svg_text($x + 12, $y + 15, 'text bold', ($times > 1 ? "$times \xc3\x97 " : '') . member($box, 'title'));
    push @out, svg_text($x + $w - 12, $y + 15, 'text bold end', $takes) if defined $takes;
    $y += 22;
    if (defined $holds) {    # halves, where there are metadata
        my $half = member($box, 'metadata') eq 'true' ? int($inner / 2) : $inner;
        push @out, svg_rect($x + 12, $y, $half, 9, 'data');
        push @out, svg_rect($x + 12 + $half, $y, $inner - $half, 9, 'metadata') if $half < $inner;
        $y += 15;
    }
    for (@$lines) {
        push @out, svg_text($x + 12, $y + 12, 'text', $_);
        $y += 17;
    }
    $y += 6;
    my @inside = items(member($box, 'inside'));
    for my $i (0 .. $#inside) {
        my $below = $y + (box_size($inside[$i], $inner))[0];
        push @out, box_drawn($inside[$i], $x + 12, $y, $inner);
        # The way of an access leads to the next box; none to what stands aside of it.
        push @out, svg_line($x + int($w / 2), $below, $x + int($w / 2), $below + 12 + (box_size($inside[$i + 1], $inner))[1], 'way')
            if $i < $#inside && member($inside[$i + 1], 'title') !~ /^(?:detectors|what .* adds to an event)$/;
        $y = $below + 12;
    }
    return @out;
}

sub bytes_said {
    my ($n) = @_;
    return "$n bytes" if $n < 1024 || $n % 1024;
    my @unit = qw(KiB MiB GiB TiB);
    $n /= 1024;
    while (@unit > 1 && $n % 1024 == 0) { $n /= 1024; shift @unit }
    return "$n $unit[0]";
}

sub cycles_said { return "$_[0] cycle" . plural($_[0]) }

# What a box must say, of one memory and cores in order: other machines are tests/cli/machine.sh's.
sub hold_machine {
    my ($box, $set, $name) = @_;
    return 0 unless $set->{machine} eq 'multicore' && $set->{'core.type'} eq 'simple' && $set->{'coherence.composition'} eq 'absolute'
        && $set->{'l2.size'} && $set->{'l2.shared-by'} == 1 && $set->{'memory.type'} eq 'fixed' && $set->{'numa.nodes'} == 1;
    my $n = $set->{cores};
    my $level = sub { my ($k) = @_; bytes_said($set->{"$k.size"}) . ', ' . ($set->{"$k.ways"} == 1 ? 'direct-mapped'
                : $set->{"$k.ways"} . " ways, " . $set->{"$k.replacement"}) };
    my $banks = $set->{'l3.banks'} || $n;
    my $port = $set->{'l3.port'};
    my $remote = $set->{'coherence.remote'} + ($set->{'coherence.remote-cost'} eq 'added' ? $set->{'l3.latency'} : 0);
    my %must = (
        core => [$n, undef, 'in order, an instruction a cycle', $set->{'core.memory-instruction'} eq 'latency'
                ? 'a memory instruction takes its access' : 'a memory instruction takes a cycle and its access',
            $set->{'core.store-buffer'} ? "store buffer of $set->{'core.store-buffer'}" : (),
            $set->{'core.misses'} ? "$set->{'core.misses'} loads beyond the L1 at a time" : ()],
        'L1 data' => [1, cycles_said($set->{'l1.latency'}), $level->('l1')],
        L2 => [1, cycles_said($set->{'l2.latency'}), $level->('l2'), $set->{'l2.inclusion'} eq 'exclusive'
            ? 'exclusive: what the L1 threw out' : 'inclusive of the L1'],
        $set->{'network.topology'} => [1, undef, 'links of ' . bytes_said($set->{'network.link-bytes'}),
            $set->{'network.topology'} eq 'crossbar' ? () : 'a hop takes ' . cycles_said($set->{'network.router'})
                . " in the router, $set->{'network.wire'} on the wire"],
        'L3 and directory' => [1, cycles_said($set->{'l3.latency'}), $level->('l3'), "$banks bank" . plural($banks)
            . ($port == 1 ? ', each a request a cycle' : ", each a request every $port cycles"), $set->{'l3.inclusion'} eq 'inclusive'
            ? 'inclusive: its victims are recalled from cores' : 'non-inclusive: what cores threw out; the directory covers '
                . ($set->{'l3.directory-size'} ? "$set->{'l3.directory-size'} lines" : 'twice the private caches')
                . ", $set->{'l3.directory-ways'} ways", "another core's copy: $remote cycles", 'a store to a line held shared: '
            . ($set->{'coherence.upgrade-cost'} eq 'home' ? "as long as another core's copy" : 'its level and the way to the others')],
        memory => [1, cycles_said($set->{'memory.fixed.latency'}), 'of fixed latency', $set->{'memory.fixed.interval'}
            ? "a line every $set->{'memory.fixed.interval'} cycles" : (),
            $set->{'network.controllers'} > 1 ? "$set->{'network.controllers'} controllers" : (), 'pages of '
            . bytes_said($set->{'pages.size'}) . ', frames ' . ($set->{'pages.mapping'} eq 'identity' ? 'where addresses say' : 'at first touch')]);
    my $mhz = $set->{frequency};
    my $hertz = $mhz < 1000 ? "$mhz MHz" : sprintf '%d.%02d GHz', $mhz / 1000, $mhz % 1000 / 10;
    must_say('its title', member($box, 'title'), ($name // $set->{machine}) . ": $n core" . plural($n) . " of $hertz");
    my @boxes = grep { defined member($_, 'title') } every_object($box);
    for my $title (keys %must) {
        my ($b) = grep { member($_, 'title') eq $title } @boxes or must_say($title, 'nothing', 'something');
        my ($times, $takes, @lines) = @{$must{$title}};
        must_say("$title, how many", member($b, 'times'), $times);
        must_say("$title, what it takes", or_empty(member($b, 'takes')), or_empty($takes));
        must_say($title, join('; ', items(member($b, 'says'))), join '; ', @lines);
    }
    return 1;
}

sub must_say {
    my ($what, $says, $should) = @_;
    die "the machine, $what: says \"$says\", and should say \"$should\"\n" if $says ne $should;
}
1;
