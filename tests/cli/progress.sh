#!/bin/sh
# progress.sh - does a user see how far a command is? On a terminal of any width, in a log, with --quiet, of every verb
# that may take long; and -h and -q. When a line is due and what it says is tested in t_progress.c. Here the clock is
# quick (quick_clock.c), so that nothing depends on the host's speed.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
TERM=xterm
export TERM

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

# ---- lines -----------------------------------------------------------------------------------------

clock=$top_builddir/tests/cli/.libs/quick_clock.so
if [ ! -f "$clock" ] || [ -n "${LARDSIM_INSTRUMENTED:-}" ]; then
    echo "progress.sh: lines: skipped, a sanitizer or a static build takes no quick clock"
    exit $bad
fi
quick="env CLOCK_STEP=1000 LD_PRELOAD=$clock $lardsim"
mkfifo pipe

# What is not a terminal gets no codes of one: a log has lines, one each 30 seconds.
cat whole.txt >pipe &
env CLOCK_STEP=31000 LD_PRELOAD="$clock" "$lardsim" run pipe >out 2>err || fail "run of a pipe: $(cat err)"
wait
[ -s err ] || fail "a log of more than a minute has no lines"
grep -v '^lardsim: .* events, .*/s, ' err && fail "a log has other lines: $(cat err)"

if ! command -v script >/dev/null 2>&1 || ! script -qec true /dev/null >/dev/null 2>&1; then
    echo "progress.sh: on a terminal: skipped, there is no script (Debian: bsdutils)"
    exit $bad
fi

# terminal COLUMNS COMMAND...: its standard error on a terminal so wide, lines by carriage returns, in `seen`.
terminal() {
    wide=$1
    shift
    script -qec "stty cols $wide; $*" typescript >/dev/null 2>&1 </dev/null || fail "$*: exit code $?"
    sed '/^Script /d' typescript | tr '\r' '\n' | sed 's/\x1b\[K//' >seen
}

cat whole.txt >pipe &
terminal 200 "$quick run pipe >out"
wait
[ "$(grep -c '/s, .* MiB' seen)" -ge 2 ] || fail "on a terminal a slow run shows too little: $(cat seen)"
grep -q '%' seen && fail "the length of a pipe is known"
grep -q 'left' seen && fail "the end of a pipe is known"
tail -c 200 typescript | grep -q "$(printf '\r\033\\[K')" || fail "the line is not taken away"
says out "events"

cat whole.txt >pipe &
terminal 200 "TERM=dumb $quick run pipe >out"
wait
grep -q "$(printf '\033')" typescript && fail "a dumb terminal gets codes"

for command in "trace verify" "compare --policies vc,fasttrack"; do
    cat whole.txt >pipe &
    terminal 200 "$quick $command pipe >out"
    wait
    grep -q ' events, .*/s, .* MiB' seen || fail "$command shows no progress: $(cat seen)"
done

# A sweep of many points says how far planning is, before anything runs.
cat >points.yaml <<'END'
base: {inherit: radish8, memory.fixed.latency: 300}
axes: {l1.latency: {from: 1, to: 20}, l2.latency: {from: 91, to: 100}, l3.latency: {from: 191, to: 200}}
policies: [none]
sources: [synth:events=100]
END
terminal 200 "$quick sweep points.yaml -o points --dry-run >out"
grep -q 'planning: point [0-9]* of at most 2000, .* left' seen || fail "planning shows no progress: $(cat seen)"

# Of a file and of the generator the length is known, and how often it is read: what is done grows, and ends with all.
for command in "trace convert --to text whole.lard -" "trace merge --to text - whole.lard whole.lard" "trace verify whole.lard" \
    "trace cut --to text whole.lard -" "trace strip --to text whole.lard -" "trace synth --to text - seed=1 events=12k"; do
    terminal 200 "$quick $command >out"
    grep -q ' %, .* events, .*/s, .* MiB, .* left' seen || fail "$command shows no progress: $(cat seen)"
    grep -o '[0-9]* %' seen | tr -d ' %' >parts
    sort -n -u parts | cmp -s - parts && [ "$(tail -n 1 parts)" = 100 ] || fail "$command does so many percent in turn: $(tr '\n' ' ' <parts)"
done
terminal 200 "$quick workload record --to text sor - >out"
grep -q ' events, .*/s, .* MiB' seen || fail "workload record shows no progress: $(cat seen)"
terminal 200 "$quick trace convert -q --to text whole.lard - >out"
grep -q ' events, ' seen && fail "trace convert -q shows progress"

# Verbs that compute, on terminals of any width: a line never wraps, and what is cut off is its end.
for wide in 200 80 24; do
    terminal $wide "$quick compare -c radish8 --policies vc,fasttrack workload:xalan@lard,accesses=20k >out"
    cut -c 1-"$((wide - 1))" seen | cmp -s - seen || fail "on $wide columns a line of compare wraps"
    grep -qE '^[a-z]+, [123] of 3, [0-9]+ %' seen || fail "compare on a machine shows no progress on $wide columns: $(cat seen)"
    [ $wide = 24 ] || grep -qE '^[a-z]+, [123] of 3, [0-9]+ %, .* left' seen || fail "compare shows no end on $wide columns: $(cat seen)"
done
terminal 80 "$quick reproduce --json lard-table3 >out"
cut -c 1-79 seen | cmp -s - seen || fail "a line of reproduce wraps"
grep -qE 'gc=[a-z]+, [0-9]+ of 28, [0-9]+ %, ' seen || fail "reproduce shows no progress: $(cat seen)"

exit $bad
