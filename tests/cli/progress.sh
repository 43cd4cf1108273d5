#!/bin/sh
# progress.sh - does a user see how far a command is? On a terminal, in a log, with --quiet, of every verb
# that may take long; and -h and -q. When a line is due and what it says is tested in t_progress.c; here a
# pipe is slow, so that nothing depends on the host's speed.
set -u

lardsim=${LARDSIM:?the path of the program}
dir=$(mktemp -d "${TMPDIR:-/tmp}/lardsim-progress.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
cd "$dir" || exit 99
LC_ALL=C
TERM=xterm
export LC_ALL TERM

bad=0
fail() {
    echo "progress.sh: $*"
    bad=1
}
says() { # says FILE TEXT
    grep -qF -e "$2" "$1" || fail "$1 does not say: $2"
}

# ---- -h and -q -----------------------------------------------------------------------------------

verbs=$("$lardsim" -h | sed -n 's/^  \([a-z]\{1,\}\( [a-z]\{1,\}\)\{0,1\}\)  .*/\1/p')
echo "$verbs" | grep -qx 'trace convert' || fail "the verbs are not found in: $verbs"
echo "$verbs" >verbs
while read -r verb; do
    # shellcheck disable=SC2086  # two words
    "$lardsim" $verb -h >short 2>err || fail "$verb -h: exit code $?"
    # shellcheck disable=SC2086
    "$lardsim" $verb --help >long 2>err || fail "$verb --help: exit code $?"
    cmp -s short long || fail "$verb: -h is not --help"
    says long "-h, -?, --help"
    grep -q -e --quiet long && { grep -q -e '-q, --quiet' long || fail "$verb: -q is not --quiet"; }
    # Neither may mean anything else.
    grep -E '^ +-h, ' long | grep -qv -e '--help' && fail "$verb: -h is more than --help"
    grep -E '^ +-q, ' long | grep -qv -e '--quiet' && fail "$verb: -q is more than --quiet"
    "$lardsim" list manual "${verb%% *}" >page
    # shellcheck disable=SC1003  # backslashes of troff
    grep -qF 'fB\-q\fR, \fB\-\-quiet' page || ! grep -q -e --quiet long || fail "the manual of ${verb%% *} has no -q"
done <verbs
"$lardsim" list manual lardsim | grep -qF 'fB\-h\fR, \fB\-?\fR, \fB\-\-help' || fail "the manual has no -h"
"$lardsim" list completion | grep -F '"trace verify") words=' | grep -F -e ' -q --quiet' | grep -qF -e ' -h --help' ||
    fail "-h and -q do not complete"
"$lardsim" trace -h >out || fail "a group has no -h"
"$lardsim" -V | grep -q '^lardsim ' || fail "no -V"

"$lardsim" trace synth whole.lard -q seed=1 events=12k >out 2>&1 || fail "trace synth -q fails"
for command in "run -q whole.lard" "trace verify -q whole.lard" "trace convert -q whole.lard whole.txt" \
    "trace cut -q --count 9 whole.lard part.lard" "trace merge -q two.lard whole.lard whole.lard" \
    "trace strip -q whole.lard used.lard" \
    "compare -q --policies vc,fasttrack part.lard" "workload record -q sor sor.lard"; do
    # shellcheck disable=SC2086  # words
    "$lardsim" $command >out 2>&1 || fail "$command: exit code $?: $(cat out)"
    [ -s out ] && fail "$command prints: $(head -n 1 out)"
done

# ---- a slow pipe ---------------------------------------------------------------------------------

# A text trace by pieces: two seconds in all and more on a host that is busy, so that two lines are due.
head -n 2000 whole.txt >first.txt
mkfifo pipe
feed() {
    {
        cat first.txt
        for i in 1 2 3 4; do
            sleep 0.4
            sed -n "$((i * 2000 + 1)),$((i * 2000 + 2000))p" whole.txt
        done
        sleep 0.4
        sed '1,10000d' whole.txt
    } >pipe &
}

# What is not a terminal gets no codes of one: a log has lines, and only after 30 seconds.
feed
"$lardsim" run pipe >out 2>err || fail "run of a pipe: $(cat err)"
wait
grep -v '^lardsim: .* events, .*/s, ' err && fail "a log has other lines: $(cat err)"

if ! command -v script >/dev/null 2>&1 || ! script -qec true /dev/null >/dev/null 2>&1; then
    echo "progress.sh: on a terminal: skipped, there is no script (Debian: bsdutils)"
    exit $bad
fi

# terminal COMMAND...: its standard error on a terminal, lines by carriage returns, in `seen`.
terminal() {
    script -qec "$*" typescript >/dev/null 2>&1 </dev/null || fail "$*: exit code $?"
    tr '\r' '\n' <typescript >seen
}

feed
terminal "$lardsim run pipe >out"
wait
[ "$(grep -c '/s, .* MiB' seen)" -ge 2 ] || fail "on a terminal a slow run shows too little: $(cat seen)"
grep -q '%' seen && fail "the length of a pipe is known"
grep -q 'left' seen && fail "the end of a pipe is known"
tail -c 200 typescript | grep -q "$(printf '\r\033\\[K')" || fail "the line is not taken away"
says out "events"

feed
terminal "TERM=dumb $lardsim run pipe >out"
wait
grep -q "$(printf '\033')" typescript && fail "a dumb terminal gets codes"

for command in "trace verify" "compare --policies vc,fasttrack"; do
    feed
    terminal "$lardsim $command pipe >out"
    wait
    grep -q ' events, .*/s, .* MiB' seen || fail "$command shows no progress: $(cat seen)"
done

# A sweep of very many points says how far planning is, before anything runs.
cat >points.yaml <<'END'
base: {inherit: radish8, memory.fixed.latency: 300}
axes: {l1.latency: {from: 1, to: 90}, l2.latency: {from: 91, to: 190}, l3.latency: {from: 191, to: 290}}
policies: [none]
sources: [synth:events=100]
END
terminal "timeout --foreground 3 $lardsim sweep points.yaml -o points --dry-run || true"
grep -q 'planning: point [0-9]* of at most 900000, .* left' seen || fail "planning shows no progress: $(cat seen)"

# Verbs that have to wait for who reads their output; of a file and of the generator the length is known.
slow="(sleep 1.3; cat >/dev/null)"
for command in "trace convert --to text whole.lard -" "trace merge --to text - whole.lard whole.lard" \
    "trace synth --to text - seed=1 events=12k"; do
    terminal "$lardsim $command | $slow"
    grep -q ' %, .* events, .*/s, .* MiB, .* left' seen || fail "$command shows no progress: $(cat seen)"
done
terminal "$lardsim workload record --to text sor - | $slow"
grep -q ' events, .*/s, .* MiB' seen || fail "workload record shows no progress: $(cat seen)"
terminal "$lardsim trace convert -q --to text whole.lard - | $slow"
grep -q ' events, ' seen && fail "trace convert -q shows progress"

# Verbs that compute for seconds: stopped for one, so that a line is due, however fast the host.
stopped() { # stopped COMMAND...
    cat >stop.sh <<END
"$lardsim" $* >out &
sleep 0.3
kill -STOP \$!
sleep 1.2
kill -CONT \$!
wait \$!
END
    terminal "sh stop.sh"
}
stopped compare -c radish8 --policies vc,fasttrack workload:xalan@lard,accesses=500k
grep -qE '^[a-z]+, [123] of 3, [0-9]+ %, .* left' seen || fail "compare on a machine shows no progress: $(cat seen)"
stopped reproduce --json lard-table3
grep -qE 'gc=[a-z]+, [0-9]+ of 28, [0-9]+ %, .* left' seen || fail "reproduce shows no progress: $(cat seen)"

exit $bad
