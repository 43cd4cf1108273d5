# tables_why.pl - judges each sentence of `why`, its two sides, its drawing and its windows: they are made once more from
# what its --json says of accesses, locks, clocks, edges and moves, by docs/why.md.
use strict;
use warnings;
no warnings 'portable'; # addresses have 64 bits

sub yes { return defined $_[0] && $_[0] eq 'true' }

our $place;
my $view; # whose answer is being said

# Who acts: a thread, or in a view that knows no threads the kernel thread on which it runs.
sub actor {
    my ($thread, $line) = @_;
    return $view =~ /no-thread/ && defined $line->{kernel_thread} ? "kernel thread $line->{kernel_thread}" : "thread $thread";
}
sub actor_of { return actor($_[0]{thread}, $_[0]) }
sub event_said { return "event $_[0]{event} ($_[0]{text})" }

sub locks_said {
    my ($side) = @_;
    return join(', ', map {
        $_->{address} . (defined $_->{name} ? " ($_->{name})" : '') . (yes($_->{shared}) ? ' shared' : '')
            . (yes($_->{system}) ? " (the system's)" : '') . " since event $_->{since}"
    } @{ $side->{locks} }) || 'no lock';
}

sub both_locks {
    my ($w) = @_;
    return sprintf 'At event %s thread %s holds %s; at event %s thread %s holds %s.',
        map { ($_->{access}{event}, $_->{access}{thread}, locks_said($_)) } @$w{qw(earlier later)};
}

sub race_said {
    my ($w) = @_;
    my ($from, $to) = map { $_->{access} } @$w{qw(earlier later)};
    my ($e, $l) = map { $_->{event} } $from, $to;
    my ($first, $last) = @$w{qw(first_given last_given)};
    my @out = both_locks($w);
    if (!$last) {
        push @out, "After event $e " . actor_of($from) . " releases, forks or publishes nothing before event $l, so nobody can know of it.";
    } else {
        # How often it gives is counted nowhere else.
        push @out, "After event $e " . actor_of($from) . ' gives its clock '
            . ($first->{event} == $last->{event} ? 'once: at ' . event_said($last)
                : '<more> times: first at ' . event_said($first) . ', last at ' . event_said($last)) . '.';
        my @reached = @{ $w->{reached} };
        for my $r (@reached[0 .. ($#reached < 7 ? $#reached : 7)]) {
            my $by = $r->{by};
            push @out, ucfirst(actor($r->{thread}, $by->{to})) . ' learns of it at ' . event_said($by->{to})
                . ($by->{from} ? ", from event $by->{from}{event} ($by->{from}{text}, " . actor($by->{from_thread}, $by->{from}) . ')' : '')
                . ($r->{last_given} ? '; what it gives last is ' . event_said($r->{last_given}) : '; it gives nothing after that') . '.';
        }
        push @out, "No other thread takes that before event $l." unless @reached;
        push @out, 'So do ' . (@reached - 8) . ' more threads.' if @reached > 8;
    }
    my $clock = $w->{clock};
    my $who = ucfirst actor_of($to);
    push @out, $w->{last_taken} ? "$who takes last at " . event_said($w->{last_taken}) . ', where nobody who knew had given.'
        : "$who has acquired or read nothing that could tell it.";
    push @out, $clock->{had} ? "$who knows " . actor_of($from) . "'s time up to $clock->{had}, since " . event_said($clock->{since})
            . "; event $e was at time $clock->{needed}."
        : "$who knows nothing of " . actor_of($from) . "; to be ordered it would have to know its time up to $clock->{needed}.";
    my $missing = $w->{missing_from};
    push @out, "Missing: an edge from event $missing->{event} "
        . ($missing->{event} == $e && $missing->{thread} == $from->{thread}
            ? "to event $l. " . ucfirst(actor_of($from)) . ' would have to release or publish something after the one, and ' . actor_of($to)
                . ' take it before the other.'
            : "($missing->{text}, " . actor_of($missing) . ") to event $l. $who would have to take what was given there.");
    return @out;
}

sub order_said {
    my ($w) = @_;
    return (map({ $_->{from} ? sprintf 'Event %s (%s, %s) happens before event %s (%s, %s).', map({ my $x = $_;
            ($x->[0]{event}, $x->[0]{text}, actor($x->[1], $x->[0])) } [$_->{from}, $_->{from_thread}], [$_->{to}, $_->{to_thread}])
            : ucfirst(actor($_->{to_thread}, $_->{to})) . ' learns of it at ' . event_said($_->{to}) . '.' } @{ $w->{chain} }), both_locks($w));
}

# Moves between the two.
sub moves_between {
    my ($w) = @_;
    return grep {
        my $at = $_->{line}{event};
        $at < $w->{later}{access}{event} && ($w->{verdict} eq 'alone' || !$w->{earlier} || $at > $w->{earlier}{access}{event})
    } @{ $w->{moves} };
}

sub move_said { my ($m, $note) = @_; return "Event $m->{line}{event} ($m->{line}{text}) $note." }

sub unchecked_said {
    my ($w, $in) = @_;
    return map { "The view $in does not check event $_->{access}{event}." } grep { $_ && !yes($_->{checked}) } @$w{qw(later earlier)};
}

# All that is said before the policy's own words.
sub why_said {
    my ($json) = @_;
    my ($w, $t) = @$json{qw(why truth)};
    $view = $w->{view};
    my ($l, $e) = ($w->{later}{access}{event}, $w->{earlier} ? $w->{earlier}{access}{event} : undef);
    my $verdict = $w->{verdict};
    my @out = $verdict eq 'races' ? "Event $l races with event $e: nothing orders the two."
        : $verdict eq 'unchecked' ? "Nothing orders event $e and event $l, but the view $view does not check both."
        : $verdict eq 'ordered' ? "Event $e happens before event $l: they do not race."
        : $verdict eq 'alone' ? "Event $l does not race: no other thread has made a conflicting access to this memory since its life began."
        : "Event $l does not race with event " . ($t && $t->{earlier} ? $t->{earlier}{access}{event} : '<named>')
            . ': they conflict nowhere, or belong to different lives of the memory.';
    push @out, "That is so in the view $view." if $view ne 'tracked' && $verdict ne 'unchecked';
    push @out, "In that run, in $json->{order} order, event $e ran before event $l; numbers are those of the recording."
        if defined $e && $e > $l;
    push @out, $verdict =~ /^(?:races|unchecked)$/ ? race_said($w) : $verdict eq 'ordered' ? order_said($w) : ();
    push @out, map { move_said($_, $_->{line}{kind} eq 'copy' ? 'moved the memory there, with its history'
                : 'ended the life of what lay there before') } grep { !yes($_->{ignored}) } moves_between($w);
    push @out, unchecked_said($w, $view) if $verdict eq 'unchecked';
    return @out unless $t && ($verdict eq 'races') != ($t->{verdict} eq 'races');
    if ($verdict eq 'races') {
        push @out, "In the view tracked this is no race: the view $view makes it one.", unchecked_said($t, 'tracked');
        my $so = ': that makes the race';
        for (grep { yes($_->{ignored}) } moves_between($w)) {
            push @out, move_said($_, ($_->{line}{kind} eq 'copy' ? 'moved another object there' : 'ended the life of what lay there')
                    . ", which the view $view ignores$so");
            $so = '';
        }
        push @out, 'In the view tracked the two are ordered:', order_said($t) if $t->{verdict} eq 'ordered';
    } else {
        push @out, "In the view tracked event $t->{later}{access}{event} races with event $t->{earlier}{access}{event}; the view $view hides that.",
            unchecked_said($w, $view);
        push @out, $verdict eq 'ordered' ? ("In the view $view the two are ordered:", order_said($w)) : map {
            move_said($_, 'moved the memory; this view ignores that, and so has no record of the earlier access at the new place')
        } grep { $_->{line}{kind} eq 'copy' && $view =~ /no-copy|naive/ } moves_between($t);
    }
    return @out;
}

# ---- the drawing ---------------------------------------------------------------------------------------------

sub why_drawing {
    my ($w) = @_;
    my $ordered = $w->{verdict} eq 'ordered';
    my ($earlier, $later, $missing) = ($w->{earlier} ? $w->{earlier}{access} : undef, $w->{later}{access}, $w->{missing_from});
    $earlier = undef if $w->{verdict} =~ /^(?:alone|apart)$/;
    my @edges = !$earlier ? () : $ordered ? @{ $w->{chain} } : map { $_->{by} } @{ $w->{reached} || [] };
    my (@threads, %row, $left_out);
    my $thread = sub { my ($t) = @_; push @threads, $t unless grep { $_ == $t } @threads };
    my $row = sub { my ($line, $t) = @_; return $row{"$line->{event} $t"} ||= { line => $line, thread => $t } };
    $thread->($earlier->{thread}) if $earlier;
    $row->($_, $_->{thread})->{access} = 1 for grep { $_ } $earlier, $later;
    if ($missing) {
        $thread->($missing->{thread});
        $row->($missing, $missing->{thread});
    }
    for my $e (@edges) {
        if (keys(%row) + 4 > 40 || @threads + 2 > 8) { $left_out++; next }
        $thread->($e->{to_thread});
        if ($e->{from}) {
            $thread->($e->{from_thread});
            $row->($e->{from}, $e->{from_thread});
        }
        $row->($e->{to}, $e->{to_thread});
    }
    $thread->($later->{thread});
    for my $e (@edges, $missing ? { from => $missing, from_thread => $missing->{thread}, to => $later, to_thread => $later->{thread}, dots => 1 } : ()) {
        my $to = $row{"$e->{to}{event} $e->{to_thread}"} or next;
        $e->{from} or next;
        @$to{qw(from dots)} = ($row{"$e->{from}{event} $e->{from_thread}"}, $e->{dots});
    }
    my %at = map { $threads[$_] => 26 * $_ } 0 .. $#threads;
    my @out = sprintf '%10s  %s', 'event', join '', map { sprintf '%-26s', "thread $_" } @threads;
    for my $r (sort { $a->{line}{event} <=> $b->{line}{event} || $a->{thread} <=> $b->{thread} } values %row) {
        my ($text) = $r->{line}{text} =~ /^(\S+(?: (?:0x[0-9a-f]+|T?\d+)\b)?)/;
        $text = "copy $1" if $r->{line}{kind} eq 'copy' && $r->{line}{text} =~ / to (0x[0-9a-f]+)/;
        $text = substr $text, 0, 23;
        my $line = ' ' x 300;
        substr($line, $_, 1) = '|' for values %at;
        my $x = $at{ $r->{thread} };
        if (my $from = $r->{from}) {
            my ($y, $dash) = ($at{ $from->{thread} }, $r->{dots} ? '.' : '-');
            if ($y < $x) {
                substr($line, $y, $x - $y - 1) = "'" . $dash x ($x - $y - 3) . '>';
            } elsif ($y > $x) {
                my $begin = $x + length($text) + 1;
                substr($line, $begin, $y - $begin + 1) = '<' . $dash x ($y - $begin - 1) . "'";
            }
        }
        substr($line, $x, length $text) = $text;
        push @out, sprintf '%10s%s %s', $r->{line}{event}, $r->{access} ? '*' : ' ', $line;
    }
    push @out, (' ' x 10) . "  ($left_out edges more)" if $left_out;
    return @out;
}

sub side_said {
    my ($key, $s) = @_;
    my $a = $s->{access};
    my ($object) = $a->{text} =~ /^\S+ \S+ (\(.*\))$/;
    return sprintf '%-13sevent %s%s, thread %s%s, %s %s %s%s%s', $key, $a->{event}, yes($s->{in_transaction}) ? ' (its commit)' : '', $a->{thread},
        defined $a->{thread_name} ? " ($a->{thread_name})" : '', $a->{kind}, $s->{address}, $s->{size}, defined $object ? " $object" : '',
        defined $a->{site} ? ", at $a->{site}" : '';
}

# ---- the whole -----------------------------------------------------------------------------------------------

# A page and its JSON: events are numbered in the order in which they ran.
sub judge_reasons {
    my ($page, $file) = @_;
    $place = $file;
    my $json = json_file($file);
    my @all = @{ $json->{says} };
    # A write between the two is known to nobody else: only that it is one of the others is seen.
    my @said = grep { !/^Event (\d+) has written there in between: / || $1 == $json->{why}{later}{access}{event} } @all;
    my @want = why_said($json);
    for my $i (0 .. $#want) {
        my $got = defined $said[$i] ? $said[$i] : 'nothing';
        $got =~ s/gives its clock ([2-9]|\d\d+) times/gives its clock <more> times/;
        $got =~ s/(does not race with event )\d+/$1<named>/ if $want[$i] =~ /<named>/;
        same('sentence ' . ($i + 1), $got, $want[$i]);
    }
    for (@said[@want .. $#said]) {
        wrong("the sentence \"$_\" is not judged") unless /^Policy \Q$json->{policy}\E (?:reports a race|names no race) at event \d+/
            || /^(?:Event \d+ races with another access, too|Why the two differ: |It reports this location|At event \d+, the first race|It promises: )/
            || /^(?:The region of event \d+ is still going on|\Q$json->{policy}\E is about regions) /;
    }
    my @named = map { /^Policy \Q$json->{policy}\E (reports a|names no) race at event (\d+)/ ? [$1, $2] : () } @said;
    wrong('what the policy itself says stands there ' . @named . ' times') if @named > 1 || $view ne 'tracked' && !@named;
    $place = $page;
    my $w = $json->{why};
    my @lines = split /\n/, file_text($page);
    my $text = '';
    while (@lines && $lines[0] ne '') {
        wrong("a line of more than 80 columns: $lines[0]") if length $lines[0] > 80 && $lines[0] =~ / /;
        $text .= ' ' . shift @lines;
    }
    same('its sentences', $text, join '', map { " $_" } @all);
    my @marked = map { $_->{access}{event} } grep { $_ } @$w{qw(earlier later)};
    my @windows = ('', 'the trace around the two:');
    my $next;
    for my $line (@{ $w->{trace} }) {
        push @windows, '        ...' if defined $next && $line->{event} > $next;
        $next = $line->{event} + 1;
        push @windows, sprintf '%10s%s T%s %s%s', $line->{event}, (grep { $_ == $line->{event} } @marked) ? '*' : ' ', $line->{thread}, $line->{text},
            defined $line->{site} ? ", at $line->{site}" : '';
    }
    @want = ('', $w->{earlier} ? side_said('earlier', $w->{earlier}) : (), side_said('later', $w->{later}), '', why_drawing($w), @windows);
    for (@lines) { wrong("a line ends with blanks: $_") if / $/ }
    s/ +$// for @want;
    for my $i (0 .. ($#want > $#lines ? $#want : $#lines)) { same('line ' . ($i + 1) . ' below its sentences', $lines[$i], $want[$i]) }
}

# Where a policy that does not judge each access reports the location: FOLDER's races say it. In recorded order it is the
# nearest report that is not after the access; in another the events' numbers do not say which is, and it is one of them.
sub judge_located {
    my ($file, $folder, $policy) = @_;
    $place = $file;
    my $json = json_file($file);
    my $granule = config_file("$folder/config.yaml")->{granularity} // 8;
    my $later = $json->{why}{later};
    my ($first, $end) = (hex $later->{address}, hex($later->{address}) + $later->{size});
    $first -= $first % $granule if $granule =~ /^\d+$/;
    my @at = grep { $_->{policy} eq $policy && hex $_->{address} < $end && $first < hex($_->{address}) + $_->{size} } json_lines("$folder/races.jsonl");
    my %in_words = map { defined $_->{event} ? ($_->{event} => " at event $_->{event}") : ($_->{region} => ", in a region that begins with event $_->{region}") } @at;
    my ($said) = map { /^It reports this location(.*), and does not judge each access\.$/ ? $1 : () } @{ $json->{says} };
    my @near = sort { $b <=> $a } grep { $json->{order} ne 'recorded' || $_ <= $later->{access}{event} } keys %in_words;
    if ($json->{why}{verdict} ne 'races' || !grep { /^Policy \Q$policy\E names no race/ } @{ $json->{says} }) { same('where it reports this location', $said, undef) }
    elsif ($json->{order} eq 'recorded') { same('where it reports this location', $said, @near ? $in_words{ $near[0] } : undef) }
    else { wrong("it reports this location$said: its races do not say so") if defined $said && !grep { $_ eq $said } values %in_words }
    print "located\n" if defined $said;
}
1;
