# tables_trace.pl - judges what `trace info`, `trace cat --numbers`, `trace strip`, `workload describe` and `why` say of
# events (docs/events.md, docs/workloads.md), from the events themselves as `trace cat` prints them.
use strict;
use warnings;
no warnings 'portable'; # addresses have 64 bits
our ($place, $line_number, @page);

our %class = (
    (map { $_ => 'access' } qw(read write rmw)),
    (map { $_ => 'heap' } qw(alloc clear copy gc-begin gc-end)),
    (map { $_ => 'sync' } qw(acq rel acq-shared rel-shared fork join wait-enter wait-exit notify vread vwrite arrive depart
        class-init class-use txn-begin txn-commit start end)));
our %gives = map { $_ => 1 } qw(rel rel-shared fork wait-enter vwrite arrive class-init txn-commit end);

# An event's operands, its gap, and its attributes.
sub event_parts {
    my ($ev) = @_;
    my %is = (%$ev, gap => 0, operands => []);
    for (split ' ', $ev->{rest}) {
        if (/^\+(\d+)$/) { $is{gap} = $1 }
        elsif (/^@/) { $is{site} = $_ }
        elsif (/^0x/) { push @{ $is{operands} }, hex }
        elsif (/^[TK]?(\d+)$/) { push @{ $is{operands} }, $1 }
        else { $is{$_} = 1 }
    }
    return \%is;
}

# ---- trace info ----------------------------------------------------------------------------------------------

# PAGE, FILE: what `trace info` and `trace info --json` print of a source with that format; TEXT: its events.
sub judge_info {
    my ($page, $file, $text, $format, $identity, $bytes) = @_;
    my $t = trace_text($text);
    my @events = @{ $t->{events} };
    $place = $file;
    my $json = json_file($file);
    my (%kinds, %threads);
    $kinds{ $_->{kind} }++, $threads{ $_->{thread} }++ for @events;
    my $blocks = $json->{blocks};
    same('blocks, that there are some', $blocks > 0 ? 1 : 0, $format =~ /^lardsim-trace/ ? 1 : 0);
    same_data('the object', $json, { format => $format, producer => $t->{producer}, events => scalar @events, first => $t->{first},
            granularity => $t->{granularity}, layout => $t->{layout} || 'default', gaps => $t->{gaps} || 'instructions',
            bytes => $bytes, blocks => $blocks, threads => scalar keys %threads, identity => $identity, kinds => \%kinds,
            counts => {}, complete => 'true', damage => undef });
    page_open($page);
    says("format       $format", defined $t->{producer} ? "producer     $t->{producer}" : (), 'events       ' . @events);
    says("numbers      $t->{first} to " . ($t->{first} + $#events)) if @events;
    says('threads      ' . keys %threads);
    says("granularity  $t->{granularity} bytes") if $t->{granularity};
    says("layout       $t->{layout}") if $t->{layout};
    says("gaps         $t->{gaps}") if $t->{gaps};
    says("bytes        $bytes (" . sprintf('%.2f', $bytes / @events) . ' an event)') if $bytes;
    says("blocks       $blocks") if $blocks;
    says("identity     $identity");
    my $before = 'kinds';
    for my $kind (grep { $kinds{$_} } main::kinds()) {
        says(sprintf '%-13s%-12s %12d', $before, $kind, $kinds{$kind});
        $before = '';
    }
    says('state        complete');
    page_end();
}
# As docs/text-format.md and `lardsim list events` have them.
sub kinds {
    return qw(read write rmw acq rel acq-shared rel-shared fork join wait-enter wait-exit notify vread vwrite arrive depart
        class-init class-use txn-begin txn-commit start end alloc clear copy gc-begin gc-end thread readvc writevc roi-begin
        roi-end io phase time waited branches uninstrumented remap);
}

# ---- trace cat -----------------------------------------------------------------------------------------------

# PAGE: `trace cat --numbers` of the same. What a name stands for is known by then; an object is where it was moved to.
sub judge_cat {
    my ($page, $text) = @_;
    my @plain = split /\n/, file_text($text);
    page_open($page);
    my (%name, %object, $number);
    for my $want (@plain) {
        if ($want !~ /^T\d/) {
            says($want);
            my @n = $want =~ /^name (\S+) (\S+) "(.*)"/;
            my $id = @n && $n[1] =~ /^0x/ ? hex $n[1] : $n[1];
            if (@n && $n[0] eq 'object' && $object{$id}) { $object{$id}{name} = $n[2] }
            elsif (@n) { $name{"$n[0] $id"} = $n[2] }
            $number = $1 if $want =~ /^first (\d+)/;
            next;
        }
        my ($thread, $kind, $rest) = $want =~ /^T(\d+) (\S+)\s*(.*)/;
        my $ev = event_parts({ thread => $thread, kind => $kind, rest => $rest });
        my ($address, $second) = @{ $ev->{operands} };
        $number = 0 unless defined $number;
        $object{$address} = { bytes => $second, name => delete $name{"object $address"} } if $kind eq 'alloc';
        my @says = grep { defined } $name{"thread $thread"};
        push @says, $name{"thread $address"} if $kind =~ /^(fork|join)$/ && defined $name{"thread $address"};
        push @says, $name{"phase $address"} if $kind eq 'phase' && defined $name{"phase $address"};
        push @says, grep { defined } object_at(\%object, \%name, $kind eq 'copy' ? $second : $address)
            if $class{$kind} && $kind !~ /^(fork|join|start|end|gc-.*|txn-.*)$/;
        push @says, 'at ' . $name{ 'site ' . hex(substr $ev->{site}, 1) } if $ev->{site} && defined $name{ 'site ' . hex(substr $ev->{site}, 1) };
        says(sprintf('%-56s # %d', $want, $number++) . (@says ? ': ' . join ', ', @says : ''));
        if ($kind eq 'clear') { delete $object{$_} for grep { $_ >= $address && $_ < $address + $second } keys %object }
        if ($kind eq 'copy') {
            my $moved = $object{$second} && { %{ $object{$second} } }; # a clear ends what it was moved from
            delete $object{$_} for grep { $_ >= $address && $_ < $address + $ev->{operands}[2] } keys %object;
            $object{$address} = $moved if $moved;
        }
    }
    page_end();
}
sub object_at {
    my ($objects, $names, $address) = @_;
    for my $start (keys %$objects) {
        my $o = $objects->{$start};
        next unless $start <= $address && $address < $start + $o->{bytes};
        return undef unless defined $o->{name};
        return $o->{name} . ($address > $start ? ' + ' . ($address - $start) : '');
    }
    return $names->{"object $address"};
}

# ---- trace strip ---------------------------------------------------------------------------------------------

# ERRORS: what `trace strip IN OUT` said; the texts of both. What is left out is heap events, and no thread's work.
sub judge_strip {
    my ($errors, $out, $before, $after) = @_;
    my @text = map { [map { event_parts($_) } @{ trace_text($_)->{events} }] } $before, $after;
    my @n = map { my %n = map { $_ => 0 } qw(alloc copy clear); $n{ $_->{kind} }++ for @$_; \%n } @text;
    page_open($errors);
    says("lardsim: $out: kept $n[1]{alloc} of $n[0]{alloc} allocations, $n[1]{copy} of $n[0]{copy} copies; " .
            "$n[1]{clear} clears of $n[0]{clear}");
    page_end();
    my @others = map { [map { join ' ', $_->{thread}, $_->{kind}, @{ $_->{operands} } } grep { $_->{kind} !~ /^(alloc|copy|clear)$/ } @$_] } @text;
    same('the number of events that are not of the heap', scalar @{ $others[1] }, scalar @{ $others[0] });
    same("event $_ of those that are not of the heap", $others[1][$_], $others[0][$_]) for 0 .. $#{ $others[0] };
    my $used = used_lives(@{ $text[0] });
    my @kept = map { my ($a, $b) = @{ $_->{operands} }; "$_->{kind} $a $b" } grep { $_->{kind} =~ /^(alloc|copy)$/ } @{ $text[1] };
    my @want = map { my ($a, $b) = @{ $_->{operands} }; "$_->{kind} $a $b" } @$used;
    same('how many allocations and copies are kept', scalar @kept, scalar @want);
    same("allocation or copy $_", $kept[$_], $want[$_]) for 0 .. $#want;
    # Word by word, a clear ends what is used, and no other.
    my @ended = map { my %n; $n{$_}++ for map { my ($a, $b) = @{ $_->{operands} }; int($a / 8) .. int(($a + $b - 1) / 8) } grep { $_->{kind} eq 'clear' } @$_; \%n } @text;
    for (grep { $_->{kind} eq 'clear' } @{ $text[1] }) { same("the clear at $_->{line}, that it is of whole words", $_->{operands}[1] % 8, 0) }
    for (keys %{ $ended[1] }) { wrong(sprintf 'the word at 0x%x is cleared more often than before', 8 * $_) if $ended[1]{$_} > ($ended[0]{$_} || 0) + $n[0]{copy} }
    for my $i (0 .. 1) {
        my (%touched, @clears);
        for my $ev (@{ $text[$i] }) {
            my ($a, $b) = @{ $ev->{operands} };
            my $class = $class{ $ev->{kind} } || '';
            $touched{$_} = 1 for $class eq 'access' ? int($a / 8) .. int(($a + $b - 1) / 8) : ();
            next unless $ev->{kind} eq 'clear';
            push @clears, grep { delete $touched{$_} } int($a / 8) .. int(($a + $b - 1) / 8);
        }
        $text[$i] = join ' ', @clears;
    }
    same('the words that were accessed, and are cleared', $text[1], $text[0]);
}

# The allocations and copies of lives that something touches, by words.
sub used_lives {
    my (%life, %touched, %used, %with, @of);
    my $words = sub { my ($from, $bytes) = @_; return int($from / 8) .. int(($from + $bytes - 1) / 8) };
    my $join = sub { my ($x, $y) = @_; push @{ $with{$x} }, $y; push @{ $with{$y} }, $x };
    for my $ev (@_) {
        my ($a, $b, $c) = @{ $ev->{operands} };
        my ($kind, $class) = ($ev->{kind}, $class{ $ev->{kind} } || '');
        if ($class eq 'access' || $class eq 'sync' && defined $a && $kind !~ /^(fork|join)$/) {
            for my $w ($words->($a, $class eq 'access' ? $b : 1)) {
                $touched{$w} = 1;
                $used{ $life{$w} } = 1 if $life{$w};
            }
        } elsif ($kind eq 'alloc') {
            push @of, $ev;
            for my $w ($words->($a, $b)) { $life{$w} = @of; $used{ @of + 0 } = 1 if $touched{$w} }
        } elsif ($kind eq 'copy') {
            push @of, $ev;
            my @from = $words->($b, $c);
            my $shift = int($a / 8) - $from[0];
            for my $w (@from) {
                $touched{$w} = 1 unless $life{$w};
                $used{ @of + 0 } = 1 if $touched{$w} || $touched{ $w + $shift };
                $join->($life{$w}, @of + 0) if $life{$w};
            }
            my @was = map { [$life{$_}, $touched{$_}] } @from;
            for my $i (0 .. $#from) {
                my $w = $from[$i] + $shift;
                delete $life{$w}, delete $touched{$w};
                $life{$w} = $was[$i][0] if $was[$i][0];
                $touched{$w} = 1 if $was[$i][1];
            }
        } elsif ($kind eq 'clear') {
            delete $life{$_}, delete $touched{$_} for $words->($a, $b);
        }
    }
    my @new = keys %used;
    while (@new) { my $x = pop @new; for (@{ $with{$x} || [] }) { push @new, $_ unless $used{$_}++ } }
    return [map { $of[$_ - 1] } grep { $used{$_} } 1 .. @of];
}

# ---- workload describe ---------------------------------------------------------------------------------------

# A cache with least recently used lines: true if the line was there.
sub cache_hits {
    my ($cache, $sets, $ways, $line) = @_;
    my $set = $cache->[$line % $sets] ||= [];
    my $had = grep { $_ == $line } @$set;
    @$set = ($line, grep { $_ != $line } @$set);
    pop @$set if @$set > $ways;
    return $had;
}

# What characterises a run, each as its value: from the definitions in docs/workloads.md. undef: there is nothing to divide by.
sub census {
    my ($t) = @_;
    my %n = map { $_ => 0 } qw(threads live most accesses read write rmw system arrays tracked statics syncs locks releases volatiles heap alloc
        bytes clear copy collections work in_bytes in_accesses in_work first last again_read again_write reads writes foreign
        locations elements shared shared_locations newborn young survived);
    my (%life, %region, %at, %object, @first, @last, $marked);
    my $regions = 0;
    my $inside = 1;
    my $grain = $t->{granularity} || 1;
    my $release = sub { $n{releases}++; delete $region{ $_[0] } };
    for my $ev (map { event_parts($_) } @{ $t->{events} }) {
        my ($kind, $thread, $own) = ($ev->{kind}, $ev->{thread}, !$ev->{system});
        my ($address, $second, $third) = @{ $ev->{operands} };
        my $class = $class{$kind} || '';
        my $work = $own ? $ev->{gap} + 1 : 0;
        $n{work} += $work;
        $n{in_work} += $work if $inside;
        if (!$life{$thread} && $own && $kind ne 'thread') {
            $life{$thread} = 'lives';
            $n{threads}++;
            $n{most} = $n{live} if ++$n{live} > $n{most};
        }
        if ($kind =~ /^roi-/) {
            @n{qw(in_bytes in_accesses in_work first last)} = (0) x 5 if $kind eq 'roi-begin' && !$marked++;
            $inside = $kind eq 'roi-begin';
        } elsif ($class eq 'access') {
            $n{accesses}++;
            for my $line (int($address / 64) .. int(($address + $second - 1) / 64)) {
                next if cache_hits($first[$thread] ||= [], 64, 8, $line);
                my $found = cache_hits(\@last, 32768, 16, $line);
                next unless $inside && ($life{$thread} || '') eq 'lives';
                $n{first}++;
                $n{last}++ unless $found;
            }
            if ($own && !grep { $ev->{$_} } qw(stack final volatile)) {
                my $region = $region{$thread} ||= ++$regions;
                my $x = $at{ int($address / $grain) } ||= do { $n{locations}++; $n{elements}++ if $ev->{array}; { n => 0 } };
                if ($x->{n} && $x->{by} != $thread) {
                    $n{foreign}++;
                    if (!$x->{shared}++) { $n{shared_locations}++; $n{shared} += $x->{n} }
                }
                $n{shared}++ if $x->{shared};
                @$x{qw(n by)} = ($x->{n} + 1, $thread);
                $n{tracked}++;
                if ($kind eq 'read') { $n{reads}++; $n{again_read}++ if $x->{read}{$region}++ }
                else { $n{writes}++; $n{again_write}++ if ($x->{wrote} || 0) == $region; $x->{wrote} = $region }
            }
            if (!$own) { $n{system}++; next }
            $n{$kind}++;
            $n{in_accesses}++ if $inside;
            $n{arrays}++ if $ev->{array};
            $n{statics}++ if $ev->{static} && $kind eq 'read';
            $release->($thread) if $ev->{release} || $ev->{'acq-rel'} || $ev->{'seq-cst'} && $kind ne 'read';
        } elsif ($class eq 'sync') {
            $n{syncs}++;
            $n{locks}++ if $own && $kind =~ /^acq/;
            if ($own && $gives{$kind}) { $release->($thread); $n{volatiles}++ if $kind eq 'vwrite' }
            my $ends = $kind eq 'end' ? $thread : $kind eq 'join' ? $address : undef;
            if (defined $ends && ($life{$ends} || '') eq 'lives') { $life{$ends} = 'ended'; $n{live}-- }
        } elsif ($class eq 'heap') {
            $n{heap}++;
            if ($kind eq 'alloc') {
                $n{alloc}++;
                $n{$_} += $second for 'bytes', 'young', $inside ? 'in_bytes' : ();
                $object{$address} = [$second, 0];
            } elsif ($kind eq 'clear') {
                $n{clear}++;
                delete $object{$_} for grep { $_ >= $address && $_ < $address + $second } keys %object;
                delete $at{$_} for grep { exists $at{$_} } int($address / $grain) .. int(($address + $second - 1) / $grain);
            } elsif ($kind eq 'copy') {
                $n{copy}++;
                my $moved = delete $object{$second};
                $object{$address} = $moved if $moved;
                my ($from, $to) = map { int($_ / $grain) } $second, $address;
                my %taken = map { my $x = $at{ $from + $_ }; $x ? ($to + $_ => { %$x, read => { %{ $x->{read} || {} } } }) : () } 0 .. int(($third - 1) / $grain);
                delete $at{ $to + $_ } for 0 .. int(($third - 1) / $grain);
                @at{ keys %taken } = values %taken;
            } elsif ($kind eq 'gc-begin') {
                $n{collections}++;
            } else {
                for my $o (values %object) { $n{survived} += $o->[0] unless $o->[1]++ }
                $n{newborn} += $n{young};
                $n{young} = 0;
            }
        }
    }
    my $program = $n{accesses} - $n{system};
    my $by = sub { my ($x, $y) = @_; return $y ? $x / $y : undef };
    return { threads => $n{threads}, 'threads-live' => $n{most}, events => scalar @{ $t->{events} }, accesses => $n{accesses},
        reads => $n{read}, writes => $n{write}, atomics => $n{rmw}, 'read-write-ratio' => $by->($n{read}, $n{write}),
        'system-accesses' => $by->(100 * $n{system}, $n{accesses}), 'array-accesses' => $by->(100 * $n{arrays}, $program),
        instructions => $by->($n{work}, $n{tracked}), 'checked-accesses' => $n{tracked},
        'no-metadata-update' => $by->(100 * ($n{again_read} + $n{again_write}), $n{tracked}),
        'no-update-reads' => $by->(100 * $n{again_read}, $n{reads}), 'no-update-writes' => $by->(100 * $n{again_write}, $n{writes}),
        locations => $n{locations}, 'array-locations' => $by->(100 * $n{elements}, $n{locations}),
        'shared-locations' => $by->(100 * $n{shared_locations}, $n{locations}), 'shared-accesses' => $by->(100 * $n{shared}, $n{tracked}),
        'foreign-accesses' => $by->(100 * $n{foreign}, $n{tracked}), 'static-reads' => $by->(1000 * $n{statics}, $n{read}),
        'sync-events' => $n{syncs}, 'lock-acquisitions' => $n{locks}, 'locks-in-1000' => $by->(1000 * $n{locks}, $n{tracked}),
        releases => $n{releases}, 'accesses-per-region' => $by->($n{tracked}, $n{releases}),
        'volatile-releases' => $by->(100 * $n{volatiles}, $n{releases}), 'heap-events' => $n{heap}, allocations => $n{alloc},
        allocated => $n{bytes}, 'allocated-in-1000' => $by->(1000 * $n{in_bytes}, $n{in_accesses}),
        survival => $by->(100 * $n{survived}, $n{newborn}), 'l1-misses' => $by->(1000 * $n{first}, $n{in_work}),
        'llc-misses' => $by->(1000 * $n{last}, $n{in_work}), clears => $n{clear}, copies => $n{copy}, collections => $n{collections} };
}
our %whole = map { $_ => 1 } qw(threads threads-live events accesses reads writes atomics checked-accesses locations sync-events
    lock-acquisitions releases heap-events allocations allocated clears copies collections racy-accesses race-sites race-pairs);

sub trait_text {
    my ($name, $x) = @_;
    return !defined $x ? '-' : $whole{$name} ? $x : sprintf $x && $x < 0.01 ? '%.8f' : '%.2f', $x;
}

# By how much it is off, in percent of the nearest end of the target; undef: nothing was measured.
sub aim_off {
    my ($aim, $x) = @_;
    return undef unless defined $x;
    my ($low, $high) = ($aim->{target}, defined $aim->{'target-most'} ? $aim->{'target-most'} : $aim->{target});
    my $end = $x < $low ? $low : $x > $high ? $high : $x;
    return 100 * ($x - $end) / ($end > 0 ? $end : 1);
}

# A fraction that is printed rounded: the judge's own may round the other way in its last digit.
sub says_near {
    my ($want, $x, $text) = @_;
    my $line = $page[$line_number];
    if (defined $x && $text =~ /\.(\d+)$/ && index($line, $text) < 0) {
        my $digits = length $1;
        for my $other (map { sprintf "%.${digits}f", $x + $_ * 10**-$digits * 1e-6 } -1, 1) { $want =~ s/\Q$text\E/$other/ if index($line, $other) >= 0 }
    }
    return $want;
}

sub says_measured_traits {
    my ($spec, $of) = @_;
    says("measured in a run of workload:$spec:");
    while (page_peek() =~ /^  (\S+)/) {
        my $name = $1;
        wrong("line " . ($line_number + 1) . " is not judged: " . page_peek()) unless exists $of->{$name};
        my $text = trait_text($name, $of->{$name});
        my $want = says_near(sprintf('  %-20s%16s ', $name, $text), $of->{$name}, $text);
        my $line = page_line();
        same("line $line_number, its number", substr($line, 0, length $want), $want);
        substr($line, length $want) =~ /^[a-z%].* [A-Z].*\.$/ or wrong("line $line_number has no unit or no meaning: $line");
        delete $of->{$name};
    }
    wrong('it does not measure ' . join ', ', sort keys %$of) if %$of;
}

# PAGE, FILE: `workload describe SPEC` and with --json; TEXT: the events; DIR: fasttrack and slimstate on them, by fields.
sub judge_describe {
    my ($spec, $page, $file, $text, $dir) = @_;
    my $r = results($dir);
    my $of = census(trace_text($text));
    $of->{"rac$_->[0]"} = count($r, "policy.fasttrack.races.$_->[1]") for ['y-accesses', 'accesses'], ['e-sites', 'sites'], ['e-pairs', 'pairs'];
    my $den = count($r, 'policy.slimstate.arrays.fraction.den');
    $of->{'array-shadow-fraction'} = $den ? count($r, 'policy.slimstate.arrays.fraction.num') / $den : undef;
    $place = $file;
    my $json = json_file($file);
    my @aims = @{ $json->{targets} };
    my $aim = sub {
        my ($a) = @_;
        my $x = $of->{ $a->{trait} };
        my $off = aim_off($a, $x);
        return { (map { $_ => anything() } grep { exists $a->{$_} } qw(trait unit from not-reached target target-most)),
            measured => sub { near($_[0], $_[1], $x) }, met => defined $off ? abs($off) <= 10 ? 'true' : 'false' : undef };
    };
    same('run', $json->{run}, $spec);
    same_data('measured', $json->{measured}, { map { my $x = $of->{$_}; ($_ => $whole{$_} || !defined $x ? $x : sub { near($_[0], $_[1], $x) }) } keys %$of });
    same_data('targets', $json->{targets}, [map { $aim->($_) } @aims]);
    judge_settings($spec, $json);
    page_open($page);
    says_description($json);
    says_measured_traits($spec, { %$of });
    says_targets($of, @aims) if @aims;
    page_end();
}

sub says_targets {
    my ($of, @aims) = @_;
    says('', 'targets (met: within 10 percent):');
    my @ends = heads('target', 'measured', 'difference');
    for my $a (@aims) {
        my $x = $of->{ $a->{trait} };
        my $off = aim_off($a, $x);
        my $digits = $a->{target} > 0 && $a->{target} < 0.01 ? 8 : 2;
        my $target = join ' to ', map { sprintf "%.${digits}f", $_ } grep { defined } @$a{qw(target target-most)};
        my $met = !defined $off ? 'not measured' : abs($off) <= 10 ? 'met' : 'not met';
        my $number = trait_text($a->{trait}, $x);
        my $by = defined $off ? fixed($off, 1, 1) : undef;
        my $want = sprintf '  %-20s%16s%16s', $a->{trait}, $target, $number;
        $want .= (defined $by ? sprintf '%11s %%', $by : sprintf '%13s', '-') . sprintf '  %-11s', $met;
        $want = says_near($want, $off, $by) if defined $by;
        says(says_near($want, $x, $number) . "  $a->{unit}; $a->{from}");
        says(' ' x 22 . "not reached: $a->{'not-reached'}") if defined $a->{'not-reached'} && $met ne 'met';
    }
}

# Given ones are as given; a size sets those of its line; others have their default.
sub judge_settings {
    my ($spec, $json) = @_;
    my %given = $spec =~ /([a-z_]+)=([^,]*)/g;
    my ($size) = grep { $_->{name} eq 'size' } @{ $json->{parameters} };
    my $line = $json->{sizes}{ $given{size} || $size->{default} } || '';
    my %sized = $line =~ /([a-z_]+)=([^,]*)/g;
    my $plain = sub { my $n = spec_number($_[0]); return defined $n ? $n : $_[0] };
    for my $p (@{ $json->{parameters} }) {
        my ($want) = grep { defined } $given{ $p->{name} }, $sized{ $p->{name} }, $p->{default};
        same("the setting $p->{name}", $plain->($json->{settings}{ $p->{name} }), $plain->($want));
    }
    same('the number of settings', scalar keys_in($json->{settings}), scalar @{ $json->{parameters} });
}

sub says_description {
    my ($json) = @_;
    says("$json->{name}: $json->{summary}");
    says("source    $json->{source} (docs/papers.md)") if defined $json->{source};
    says('races     ' . ($json->{racy} eq 'true' ? 'it has some, unless its parameters say otherwise' : 'none but those that are planted'));
    page_line() =~ /^accesses  (1 byte|[248] bytes) or more$/ or wrong("line $line_number is not judged");
    says(sprintf 'size      %-8s%s', $_, length $json->{sizes}{$_} ? $json->{sizes}{$_} : '(the defaults)') for keys_in($json->{sizes});
    says('', 'parameters, as in the run measured below, and their ranges (a size sets those of its line that are not given):');
    for my $p (@{ $json->{parameters} }) {
        my $value = $json->{settings}{ $p->{name} };
        says(sprintf('  %-16s%-14s%s%s', $p->{name}, defined $value && length $value ? $value : '(empty)', defined $p->{range} ? $p->{range} : '',
                length $p->{unit} ? " $p->{unit}" : ''), ' ' x 18 . $p->{help});
    }
    says('', 'sites:', map { "  $_" } @{ $json->{sites} }) if @{ $json->{sites} };
    says('', 'planted races (an input of the workload; what policies find is counted by policies):',
        map { "  $_->{site} and $_->{other}: $_->{text}" } @{ $json->{'planted-inputs'} }) if @{ $json->{'planted-inputs'} };
    my $base = $json->{'base-program'};
    my %gap = map { $_ => sprintf '%.2f', $base->{"gap-$_"} } qw(low mid high);
    says('', 'base program:', "  gap                 low $gap{low}, mid $gap{mid}, high $gap{high} instructions between accesses",
        "  source              $base->{from}");
    my ($low, $mid, $high) = page_line() =~ /^  interpreter         low ([\d.]+), mid ([\d.]+), high ([\d.]+) instructions for one of compiled code$/;
    same("line $line_number, its middle", $mid, sprintf '%.2f', $base->{interpreter});
    same("line $line_number, its order", $low <= $mid && $mid <= $high ? 1 : 0, 1);
    page_line() =~ /^  source              \S/ or wrong("line $line_number is not judged");
    says(sprintf('  outside of it       %.2f %% of the time, interpreted', $base->{outside}) .
            ($base->{'outside-printed'} eq 'true' ? ' (goldilocks, Table 1)' : ': not known'), '');
}

# ---- why -----------------------------------------------------------------------------------------------------

# Each event that `why` names, with what happens there, stands in the trace so; FILE is its --json.
sub judge_why {
    my ($page, $file, $text) = @_;
    my $t = trace_text($text);
    my %at = map { $_->{number} => event_parts($_) } @{ $t->{events} };
    page_open($page);
    my $all = join "\n", @page;
    my $said = 0;
    while ($all =~ /event\s+(\d+)\s+\((\S+)(?:\s+of\s+(\d+)\s+bytes\s+from\s+(0x[0-9a-f]+)\s+to)?(?:\s+(0x[0-9a-f]+|T\d+))?/gi) {
        my ($number, $kind, $bytes, $from, $address) = ($1, $2, $3, $4, $5);
        my $ev = $at{$number} or wrong("it names event $number, which the trace has not");
        same("what happens at event $number", $kind =~ s/[),]+$//r, $ev->{kind});
        same("the address of event $number", $address =~ /^T(\d+)/ ? $1 : hex $address, $ev->{operands}[0]) if defined $address;
        same("the copy at event $number", hex($from) . " $bytes", "$ev->{operands}[1] $ev->{operands}[2]") if defined $bytes;
        $said++;
    }
    while ($all =~ /^ +(\d+)[* ] T(\d+) (\S+)(?: (0x[0-9a-f]+|T\d+))?/gm) {
        my ($number, $thread, $kind, $address) = ($1, $2, $3, $4);
        my $ev = $at{$number} or wrong("it shows event $number, which the trace has not");
        same("event $number", "T$thread $kind", "T$ev->{thread} $ev->{kind}");
        same("the address of event $number", $address =~ /^T(\d+)/ ? $1 : hex $address, $ev->{operands}[0]) if defined $address && @{ $ev->{operands} };
        $said++;
    }
    while ($all =~ /At event\s+(\d+)\s+thread\s+(\d+)\s+holds\s+(0x[0-9a-f]+)[^;.]*?\s+since\s+event\s+(\d+)/g) {
        my ($number, $thread, $lock, $since) = ($1, $2, $3, $4);
        same("who acts at event $number", $thread, $at{$number}{thread});
        same("the lock since event $since", "$at{$since}{kind} $at{$since}{thread} $at{$since}{operands}[0]", "acq $thread " . hex $lock);
        wrong("thread $thread has given $lock back by event $number") if grep {
            $_->{kind} eq 'rel' && $_->{thread} == $thread && $_->{operands}[0] == hex $lock && $_->{number} > $since && $_->{number} < $number
        } values %at;
    }
    wrong('it names no event') unless $said;
    $place = $file;
    my $json = json_file($file);
    my @left = ($json);
    while (my $x = pop @left) {
        push @left, grep { ref } ref $x eq 'HASH' ? map { $x->{$_} } keys_in($x) : @$x;
        next unless ref $x eq 'HASH' && defined $x->{event} && defined $x->{kind};
        my $ev = $at{ $x->{event} } or wrong("it has event $x->{event}, which the trace has not");
        same("event $x->{event}", "T$x->{thread} $x->{kind}", "T$ev->{thread} $ev->{kind}");
        wrong("the text of event $x->{event} is not of its kind: $x->{text}") unless $x->{text} =~ /^$ev->{kind}\b/;
    }
    for my $side (map { $json->{why}{$_} } qw(earlier later)) {
        for my $lock (@{ $side->{locks} }) {
            my $ev = $at{ $lock->{since} };
            same("the lock since event $lock->{since}", "$lock->{address} $side->{access}{thread}", sprintf '0x%x %d', $ev->{operands}[0], $ev->{thread});
        }
    }
}
1;
