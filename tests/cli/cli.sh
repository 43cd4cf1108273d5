#!/bin/sh
# cli.sh - the command line as a user meets it: every verb, its output, its errors and exit codes.
# Needs LARDSIM, the program. What the numbers mean is tested elsewhere.
set -u

lardsim=${LARDSIM:?the path of the program}
dir=$(mktemp -d "${TMPDIR:-/tmp}/lardsim-cli.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
cd "$dir" || exit 99
LC_ALL=C
export LC_ALL

tests=0
failures=0
what=

# what follows is about...
about() {
    what=$1
}

fail() {
    failures=$((failures + 1))
    echo "FAIL: $what: $1"
    printf '  command: lardsim %.200s\n' "$command"
    sed 's/^/  stdout: /' out | head -n 8 | cut -c 1-300
    sed 's/^/  stderr: /' err | head -n 8 | cut -c 1-300
}

# run CODE ARGS...: the exit code is CODE, and errors go with a message that begins as it should.
run() {
    want=$1
    shift
    command=$*
    tests=$((tests + 1))
    "$lardsim" "$@" >out 2>err </dev/null
    code=$?
    if [ "$code" -ne "$want" ]; then
        fail "exit code $code, not $want"
    elif [ "$want" -ne 0 ] && ! grep -q '^lardsim' err; then
        fail "no message"
    fi
}

# says FILE TEXT...: each text stands in out or err.
says() {
    file=$1
    shift
    for text; do
        tests=$((tests + 1))
        grep -qF -e "$text" "$file" || fail "$file does not say: $text"
    done
}

silent() {
    tests=$((tests + 1))
    [ ! -s "$1" ] || fail "$1 is not empty"
}

# same A B: the files are equal.
same() {
    tests=$((tests + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

absent() {
    tests=$((tests + 1))
    [ ! -e "$1" ] || fail "$1 exists"
}

present() {
    for name; do
        tests=$((tests + 1))
        [ -e "$name" ] || fail "$name is missing"
    done
}

cat >race.txt <<'END'
lardsim-text 1
T0 fork T1
T0 write 0x1000 8 @"A.java:1"
T1 write 0x1000 8 @"B.java:2"
T1 write 0x1000 8 @"B.java:2"
T0 join T1
T0 read 0x1000 8 @"A.java:9"
END
cat >clean.txt <<'END'
lardsim-text 1
T0 write 0x1000 8
T0 fork T1
T1 write 0x1000 8
T0 join T1
END
cat >broken.txt <<'END'
lardsim-text 1
T0 acq 0x10
T1 rel 0x10
END

# ---- the program itself --------------------------------------------------------------------------

about "no verb is a usage error"
run 2
says err "a verb is missing"
about "help and version"
run 0 --help
says out "trace convert" "explain"
awk '/^  run / { table = 1 } !NF { table = 0 } length > 79 || (table && !/^  /) { exit 1 }' out ||
    fail "the table of verbs has lines that are too long, or not in their column"
run 0 --version
says out "lardsim "
run 0 --usage
about "an unknown verb gets a hint"
run 2 rum
says err 'no verb "rum"' 'did you mean "run"?'
run 2 trace convrt
says err 'did you mean "convert"?'
run 2 trace
run 2 xyzzy
about "so does an unknown policy"
run 3 run -p fasttrak race.txt
says err "no policy 'fasttrak'; did you mean 'fasttrack'? \`lardsim list policies\`"
about "an unknown option"
run 2 run --nosuch race.txt
run 2 --nosuch
about "every verb has help, with usage and version"
for verb in run "trace info" "trace cat" "trace verify" "trace convert" "trace cut" \
    "trace merge" "trace strip" "trace synth" sweep reproduce report machine why list explain trace; do
    # shellcheck disable=SC2086 # words of the verb
    run 0 $verb --help
    says out "Usage: lardsim $verb"
    tests=$((tests + 1))
    ! awk 'length > 79 { exit 1 }' out && fail "a line of the help is too long"
    # shellcheck disable=SC2086
    run 0 $verb --version
done

about "help is an option, and a word before the verb"
run 0 trace cut --help
cp out asked
run 0 help trace cut
same out asked
run 0 --help
cp out asked
run 0 help
same out asked
run 0 help trace
says out "Usage: lardsim trace" "convert"
run 2 help nosuch
says err 'no verb "nosuch"'
run 2 hepl
says err 'did you mean "help"?'
about "nothing is no operand and no value"
run 2 run ''
says err "an operand is empty" "SOURCE"
run 2 run -o '' race.txt
says err "--output is empty"
run 2 explain ''
run 2 trace convert race.txt ''
about "an argument that is far too long leaves what is wrong, and what to do"
long=$(printf '%0100000d' 0)
run 2 list "$long"
says err 'list: there is no table "000' ' ... 000' '`lardsim list` lists them'
run 4 run "$long"
says err "File name too long"
run 3 run --set "a.$long=1" race.txt
says err 'lardsim: --set: ' "write section.name=value"
about "control characters in names do nothing to a terminal"
odd=$(printf 'odd\033[31m\302\233\007\303\244')
run 4 run "$odd"
says err "$(printf 'odd\\u{1b}[31m\\u{9b}\\u{7}\303\244: ')"
run 2 run race.txt "$odd"
says err "$(printf 'odd\\u{1b}[31m\\u{9b}\\u{7}\303\244')"
run 2 run "--$odd" race.txt
says err "$(printf -- '--odd\\u{1b}[31m\\u{9b}\\u{7}\303\244')"
run 2 "$odd"
cp race.txt "$odd"
run 0 run -o "r$odd" "$odd"
says out "$(printf 'odd\\u{1b}[31m\\u{9b}\\u{7}\303\244: 6 events')" "$(printf 'rodd\\u{1b}[31m\\u{9b}\\u{7}\303\244/stats.txt')"
run 0 trace verify "$odd"
says out "$(printf 'odd\\u{1b}[31m\\u{9b}\\u{7}\303\244: 6 events')"

about "names that hide what they are, or turn the text around, are written out for people"
cat >bidi.txt <<'EOF'
lardsim-text 1
name thread 1 "teller\u{202e}2\u{200b}"
name object 0x10 "\u{feff}account\u{fe0f}"
T0 fork T1
T0 write 0x10 4 @"A\u{2066}.java:1"
T1 write 0x10 4 @"A\u{e0041}.java:2"
EOF
hidden() { # a byte that begins a character that may be hidden here, or a control
    LC_ALL=C grep -q "$(printf '[\302\342\357\363\033]')" "$1"
}
for args in "run" "run --json" "compare --list" "compare --json" "trace cat" "trace info" \
    "trace verify"; do
    run 0 $args bidi.txt
    hidden out && fail "shows hidden characters as they are"
done
run 0 run bidi.txt
says out 'teller\u{202e}2\u{200b}' 'A\u{2066}.java:1' 'A\u{e0041}.java:2'
run 0 run -o bidi.out bidi.txt
hidden bidi.out/races.jsonl && fail "races.jsonl has hidden characters as they are"
says bidi.out/races.jsonl 'A\u2066.java:1' 'A\udb40\udc41.java:2'
run 0 trace convert bidi.txt bidi.lard
run 0 trace cat bidi.lard
cp out bidi.again.txt
run 0 trace cat bidi.again.txt
same out bidi.again.txt
printf 'lardsim-text 1\nT0 acq "\342\200\256"\nT0 acq "\377"\n' >raw.txt
run 4 trace cat raw.txt
says out 'name object 0x10000000000 "\u{202e}"'
says err "is not UTF-8"

about "standard output that can't be written"
if [ -c /dev/full ]; then
    for args in "--help" "list parameters" "run race.txt" "trace cat race.txt" "explain races" \
        "trace convert race.txt -" "list manual" "list completion" "trace info race.txt" \
        "trace convert --overwrite race.txt /dev/full"; do
        command=$args
        tests=$((tests + 1))
        # shellcheck disable=SC2086
        "$lardsim" $args >/dev/full 2>err
        code=$?
        : >out
        [ "$code" -eq 7 ] || fail "exit code $code, not 7, with full output"
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line of error"
    done
    command="list rules >&-"
    "$lardsim" list rules >&- 2>err
    [ $? -eq 7 ] || fail "closed output is no error"
fi
about "a limit on the size of files is an error of writing, and leaves no file"
limited() {
    command="$* within a limit"
    tests=$((tests + 1))
    (ulimit -f 1 && exec "$lardsim" "$@") 2>&1 | cat >all # by a pipe, which has no limit
    : >out
    cp all err
}
limited trace synth limited.lard events=100k
says err "limited.lard: " "File too large"
absent limited.lard
limited trace synth limited.txt events=10k
says err "limited.txt: " "File too large; make room"
absent limited.txt
limited run -o limited synth:events=20k,racy=500,discipline=0
says err "limited/" "File too large" "the results were not written"
tests=$((tests + 1))
! grep -q '^results' err || fail "it says where results are"
command="trace synth within a limit"
tests=$((tests + 1))
sh -c 'ulimit -f 1 && exec "$0" "$@"' "$lardsim" trace synth limited.lard events=100k 2>err
code=$?
[ "$code" -eq 7 ] || fail "exit code $code, not 7"
about "a process that is killed leaves no file that looks whole"
command="trace synth, killed"
tests=$((tests + 1))
"$lardsim" trace synth killed.lard events=1G 2>err &
child=$!
sleep 0.2
kill -9 "$child"
wait "$child" 2>err
absent killed.lard
about "a reader that goes away is no error message"
command="trace cat | head"
"$lardsim" trace cat synth:events=50k,marks=off 2>err | head -n 1 >out
silent err

# ---- run -----------------------------------------------------------------------------------------

about "run finds a race and says both sides"
run 0 run race.txt
says out "race.txt: 6 events" "racy accesses" "by thread 1, event 2, at B.java:2" \
    "after the write by thread 0, event 1, at A.java:1" "digest" "next"
silent err
about "repeated racy accesses are one group"
run 0 run --json race.txt
says out '"schema": "lardsim-run-1"' '"site": "B.java:2"' '"exit": 0'
about "run without races"
run 0 run --error-on-race clean.txt
says out "clean.txt: 4 events" "digest"
about "--error-on-race"
run 66 run --error-on-race race.txt
says out "B.java:2"
run 66 run --error-on-race --quiet race.txt
silent out
about "--quiet prints nothing"
run 0 run --quiet race.txt
silent out
silent err
about "the digest is the same again, and for standard input"
run 0 run race.txt
cp out first
run 0 run race.txt
same out first
command="run -"
"$lardsim" run - <race.txt >out 2>err
sed 's/^-:/race.txt:/' out >renamed
same renamed first
about "several policies with labels"
run 0 run -p vc --policy naive=vc --set policy.naive.view=naive race.txt
says out "naive" "vc 1, naive 1"
run 3 run -p nosuch race.txt
says err "nosuch" "list policies"
run 3 run -p vc -p vc race.txt
run 0 run --preset lard-table3 race.txt
says out "no-clear" "all-sync"
about "settings: order, errors, without effect"
printf 'policy.vc.history: all\n' >all.yaml
printf 'policy.vc.history: last\n' >last.yaml
run 0 run -o d1 --config all.yaml --config last.yaml race.txt
says d1/config.yaml "history: last"
run 0 run -o d2 --config last.yaml --config all.yaml race.txt
says d2/config.yaml "history: all"
run 0 run -o d3 --config all.yaml --set policy.vc.history=last race.txt
run 0 run -o d4 --set policy.vc.history=last --config all.yaml race.txt
says d3/config.yaml "history: last"
says d4/config.yaml "history: all"
run 3 run --set policy.vc.histry=all race.txt
says err "histry" "policy.vc.history"
run 3 run --set policy.vc.history=some race.txt
run 3 run --set nonsense race.txt
run 3 run --config nosuch.yaml race.txt
says err "nosuch.yaml"
run 3 run --preset nosuch race.txt
run 0 run --set policy.none.view=naive race.txt
says err "warning: policy.none.view" "had no effect"
about "operands"
run 2 run
says err "SOURCE"
run 2 run race.txt clean.txt
run 4 run nosuch.txt
says err "nosuch.txt"
run 4 run broken.txt
says err "broken.txt" "release-held"
run 4 run all.yaml
says err "all.yaml"
about "results in a folder, complete, and not overwritten by chance"
run 0 run -o results race.txt
says out "results/stats.txt" "results/races.jsonl"
present results/DONE results/config.yaml results/stats.json results/stats.txt results/stats.csv \
    results/races.jsonl results/host.json results/provenance.json
run 7 run -o results race.txt
says err "results" "--overwrite"
run 0 run -o results --overwrite race.txt
run 2 run --overwrite race.txt
run 7 run -o nosuch/results race.txt
about "a resolved configuration repeats the run"
run 0 run --set policy.vc.history=all -o once race.txt
run 0 run --config once/config.yaml -o twice race.txt
same once/stats.json twice/stats.json
same once/races.jsonl twice/races.jsonl
about "a limit ends with 5 and shows what there is"
run 5 run --set limits.events=3 race.txt
says out "race.txt: 3 events" "incomplete"
says err "race.txt" "limits.events"
run 5 run --json --set limits.events=3 race.txt
says out '"exit": 5' '"events": 3'
about "the generator as a source"
run 0 run synth:events=500,threads=3,seed=2
says out "synth"
run 3 run synth:nosuch=1

# ---- trace ---------------------------------------------------------------------------------------

about "synth writes what it says, the same each time"
run 0 trace synth one.lard seed=5 events=3000 threads=3
silent out
run 0 trace synth --set seed=5 --set events=3000 two.lard threads=3
same one.lard two.lard
run 7 trace synth one.lard
says err "one.lard" "--overwrite"
run 0 trace synth --overwrite one.lard seed=5 events=3000 threads=3
same one.lard two.lard
run 2 trace synth events=5
says err "OUT"
run 3 trace synth three.lard evnts=5
says err "evnts" "events"
absent three.lard

about "verify"
run 0 trace verify one.lard
says out "one.lard: " "all rules hold"
run 0 trace verify --json race.txt
says out '"events": 6' '"holds": true'
says out '"notes": {' '"root-thread": 0'
printf '%s\n' 'lardsim-text 1' 'name thread 1 "helper"' 'name object 0x1000 "queue"' \
    'T0 fork T2' 'T0 alloc 0x2000 8' 'T1 acq 0x1000' 'T1 write 0x3000 4 @7' >notes.txt
run 0 trace verify notes.txt
says out "notes.txt: 4 events, all rules hold" "  root-thread: 1" "event 2, thread 1 (helper)" \
    "idle-thread: 1" "at the end, thread 2" "at the end, 0x1000 (queue)" \
    "unallocated-access: 1" "event 3, thread 1 (helper), 0x3000"
run 0 trace verify --json notes.txt
says out '"never-released": 1' '"no-site": 0'
run 4 trace verify broken.txt
says err "broken.txt" "event 1" "release-held" '`lardsim explain release-held` tells the rule'
run 4 trace verify nosuch.lard

about "info"
run 0 trace info one.lard
says out "lardsim-trace" "lardsim synth" "identity" "complete" "an event"
run 0 trace info --json one.lard
says out '"complete": true' '"identity"'
run 0 trace info race.txt
says out "lardsim-text" "events       6" "threads      2"

about "convert there and back keeps everything"
run 0 trace convert one.lard one.txt
says one.txt "lardsim-text 2"
run 0 trace convert one.txt back.lard
same one.lard back.lard
run 0 trace convert --to text one.lard -
same out one.txt
for codec in raw zlib zstd; do
    run 0 trace convert --codec "$codec" one.txt "$codec.lard"
    run 0 trace convert --to text "$codec.lard" -
    same out one.txt
done
run 0 trace convert --level 9 one.txt nine.lard
command="convert - -"
"$lardsim" trace convert - - <one.txt >piped.lard 2>err
run 0 trace cat piped.lard
about "convert refuses"
run 2 trace convert --to nothing one.lard x.lard
says err "binary, text"
run 2 trace convert --codec nothing one.lard x.lard
run 2 trace convert --codec zlib --level 99 one.lard x.lard
run 2 trace convert --codec raw --level 1 one.lard x.lard
says err "the codec raw has no levels"
run 2 trace convert --level many one.lard x.lard
run 2 trace convert --codec raw one.lard x.txt
run 2 trace convert one.lard
run 7 trace convert one.lard one.txt
run 7 trace convert one.lard nosuch/x.lard
run 4 trace convert nosuch.lard x.lard
run 4 trace convert all.yaml x.lard
absent x.lard
absent x.txt

about "cat shows a part, with its number and names"
run 0 trace cat race.txt
says out "lardsim-text 2" "T0 fork T1" "B.java:2"
run 0 trace cat --first 2 --count 1 race.txt
says out "first 2" "T1 write 0x1000 8" "B.java:2"
tests=$((tests + 1))
! grep -q 'A.java' out || fail "a name that is not needed is shown"
[ "$(grep -c '^T' out)" -eq 1 ] || fail "not one event"
run 0 trace cat --thread 1 race.txt
[ "$(grep -c '^T1' out)" -eq 2 ] || fail "not both events of thread 1"
run 0 trace cat --thread 0 race.txt
says out "# event 4"
run 0 trace cat --count 0 race.txt
run 2 trace cat --first -1 race.txt
run 2 trace cat --first 99999999999999999999 race.txt
run 2 trace cat --count 20000000000G race.txt
run 2 trace cat --thread 65536 race.txt
about "names of STD, also through the binary form"
printf '%s\n' 'main|fork(T1)|3' 'T1|w(account.log)|25' 'main|r(account.log)|30' >names.std
run 0 trace convert names.std names.lard
for form in names.std names.lard; do
    run 0 run -o "results.$form" "$form"
    says out "at 0x100000000 (account.log) by thread 0 (main), event 2, at site 30" \
        "after the write by thread 1 (T1), event 1, at site 25"
    cp "results.$form/races.jsonl" out
    says out '"site": "30"' '"object": "account.log", "offset": 0'
done
run 0 run --json names.lard
says out '"object": "account.log"'

about "cat --numbers"
printf '%s\n' 'lardsim-text 1' 'name thread 1 "teller"' 'name object 0x1000 "account"' \
    'T1 alloc 0x1000 16' 'T1 write 0x1008 4 @"Account:5"' 'T1 copy 0x2000 0x1000 16' \
    'T1 clear 0x1000 16' 'T2 read 0x2008 4 @"Account:9"' 'T2 join T1' 'T2 io' >moved.txt
run 0 trace cat --numbers moved.txt
says out "# 1: teller, account + 8, at Account:5" "# 2: teller, account" \
    "# 4: account + 8, at Account:9" "# 5: teller" "# 6"
cp out numbered.txt
run 0 trace cat numbered.txt
cp out again.txt
run 0 trace cat moved.txt
tests=$((tests + 1))
cmp -s out again.txt || fail "what has numbers does not read back as the same trace"
run 0 trace cat --numbers --first 4 --thread 2 moved.txt
says out "first 4" "# 4: account + 8, at Account:9" "# 6"
run 0 trace cat --numbers --count 0 moved.txt
says out "lardsim-text 2"

about "cat's output is a trace"
run 0 trace cat one.lard
cp out cat.txt
run 0 trace info cat.txt
grep '^identity' out >identity
run 0 trace info one.lard
grep '^identity' out >out2
same identity out2

about "cut keeps the numbers"
run 0 trace cut --first 0x10 --count 1k one.lard cut.lard
run 0 trace info cut.lard
says out "numbers      16 to 1015"
run 0 trace cat --first 500 --count 3 one.lard
cp out whole.txt
run 0 trace cat --first 500 --count 3 cut.lard
same out whole.txt
run 4 trace cut --first 1M one.lard x.lard
says err "one.lard" "1000000"
absent x.lard
run 7 trace cut one.lard cut.lard
run 2 trace cut --count 0 one.lard x.lard
says err "--count 0"
absent x.lard
about "cut of a region of interest"
cat >roi.txt <<'END'
lardsim-text 1
T0 write 0x10 1
T0 roi-begin
T0 write 0x20 1
T0 roi-end
T0 write 0x30 1
T0 roi-begin
T0 write 0x40 1
T0 roi-end
END
run 0 trace cut --roi roi.txt roi1.txt
says roi1.txt "first 1" "0x20"
run 0 trace cut --roi --first 4 roi.txt roi2.txt
says roi2.txt "first 5" "0x40"
run 4 trace cut --roi race.txt x.txt
says err "region of interest"
about "a damaged trace is named, and salvaged"
run 0 trace synth long.lard events=70k threads=2 marks=off
size=$(wc -c <long.lard)
head -c $((size - size / 20)) long.lard >damaged.lard
run 4 trace info damaged.lard
says out "state        damaged" "by the headers of the blocks"
says err "damaged.lard: " "\`lardsim trace cut --salvage damaged.lard OUT\` keeps what can be read"
command="trace info -"
"$lardsim" trace info - <damaged.lard >out 2>err
[ $? -eq 4 ] || fail "not exit code 4"
says err "standard input: " "save it to a file"
run 4 trace verify damaged.lard
run 4 trace convert damaged.lard x.lard
absent x.lard
run 0 trace cut --salvage damaged.lard saved.lard
says err "damaged.lard" "kept the events 0 to"
run 0 trace info saved.lard
says out "complete"
run 4 run damaged.lard
says out "incomplete"
run 0 trace cut --salvage one.lard sound.lard
silent err
about "of damage inside a block, info does not promise what is before the end"
cp damaged.lard inside.lard
printf 'x' | dd of=inside.lard bs=1 seek=5000 conv=notrunc 2>dd.log
run 4 trace info inside.lard
says err "keeps what can be read before that"
run 4 trace cut --salvage inside.lard x.lard
says err "inside.lard: " "checksum" "there is no event at or after number 0 to take"
absent x.lard
run 4 trace cut --salvage --first 1G damaged.lard x.lard
says err "truncated" "at or after number 1000000000"
about "damaged text is salvaged, too"
printf 'lardsim-text 1\nT0 write 16 8\nT1 io\nT0 wirte 16 8\nT0 io\n' >damaged.txt
run 4 trace cut damaged.txt x.txt
absent x.txt
run 0 trace cut --salvage damaged.txt saved.txt
says err 'damaged.txt: line 4: "wirte" is no kind' "kept the events 0 to 1"
run 0 trace verify saved.txt
says out "2 events"
printf 'lardsim-text 1\nT0 wirte 16 8\n' >damaged.txt
run 4 trace cut --salvage damaged.txt x.txt
says err 'damaged.txt:2: "wirte"'

about "merge keeps programs apart"
run 0 trace merge --to text --run 1 - race.txt race.txt
says out "T2 fork T3" "0x1000000001000"
run 0 trace merge both.lard one.lard race.txt
run 0 trace verify both.lard
run 0 trace merge --shared --to text - race.txt clean.txt
says out "T3 write 0x1000 8"
about "merge finds in the whole what is in the parts"
run 0 run --json race.txt
cp out alone
run 0 trace merge twice.txt race.txt race.txt
run 0 run twice.txt
says out "twice.txt: 12 events"
run 2 trace merge x.lard
run 2 trace merge x.lard - race.txt
mkfifo fifo && run 2 trace merge x.lard fifo race.txt
run 2 trace merge --run 0 x.lard race.txt
run 4 trace merge x.lard race.txt nosuch.txt
run 7 trace merge both.lard race.txt
printf 'lardsim-text 1\nT0 write 0x1000000000000 8\n' >high.txt
run 4 trace merge x.lard race.txt high.txt
says err "high.txt: event 0" "--shared"
absent x.lard
run 0 trace merge --shared x.lard race.txt high.txt
about "a region of interest is where any input is in one; collections are not torn"
cat >gc.txt <<'END'
lardsim-text 1
T0 roi-begin
T0 gc-begin
T0 write 0x20 1 system
T0 gc-end
T0 roi-end
END
run 0 trace merge --run 1 merged.txt gc.txt gc.txt gc.txt
run 0 trace verify merged.txt
[ "$(grep -c roi-begin merged.txt)" -eq 1 ] || fail "regions of interest are not one"

# ---- list, explain -------------------------------------------------------------------------------

about "every table is listed, as text and as JSON"
run 0 list
awk '{ print $1 }' out | grep -v -e manual -e completion >tables
[ "$(wc -l <tables)" -ge 11 ] || fail "tables are missing"
while read -r table; do
    run 0 list "$table"
    [ -s out ] || fail "the table $table is empty"
    names=$(wc -l <out)
    run 0 list --json "$table"
    [ "$(grep -c '"name":' out)" -eq "$names" ] || fail "the JSON of $table has other rows"
done <tables
about "everything that is listed is explained"
run 0 list parameters
cp out parameters
while read -r name rest; do
    run 0 explain "$name"
    says out "$name: a parameter."
done <parameters
: "${rest:-}"
run 0 explain vc write release-held naive 66 races lard-table3 "trace cut" policies
says out "a policy" "an event" "a rule" "a view" "an exit code" "a concept" "a preset" "a verb"
run 0 explain history
says out "policy.vc.history: a parameter"
about "the table of policies is aligned"
run 0 list policies
[ "$(awk 'match($0, /no checking:|the lockset|conflicts with ongoing regions, by/) { print RSTART }' out | sort -u | wc -l)" = 1 ] ||
    fail "$(head -n 12 out)"
about "what many policies have is told once"
run 0 explain view
[ "$(grep -c ': a parameter' out)" = 1 ] || fail "told $(grep -c ': a parameter' out) times"
says out "policy.none.view: a parameter" "likewise " "policy.valor-o.view"
! awk 'length > 80 { exit 1 }' out && fail "a line of the explanation is too long"
run 0 explain overhead upgrades lardish
! awk 'length > 80 { exit 1 }' out && fail "a line of the explanation is too long"
about "an instruction has operands, bytes and a page rule"
run 0 explain clearhistory
says out "clearhistory: an instruction." "addr, size" "0F 0C 03 /r" "the region"
run 0 list instructions
says out "tracked" "movehistory"
about "a section's name explains what is in it"
run 0 explain limits
says out "limits.memory: a parameter" "limits.events: a parameter"
tests=$((tests + 1))
! grep -q 'races.max' out || fail "another section is explained"
run 0 explain views
says out "views: a table." "lardsim list views"
run 2 explain limit
says err 'did you mean "limits"?'
about "explain as JSON"
run 0 explain --json limits vc 66
says out '{"table": "parameters", "name": "limits.memory"' '{"table": "policies", "name": "vc"' \
    '{"table": "exits", "name": "66"'
tests=$((tests + 1))
[ "$(grep -c '^ *{' out)" -eq 4 ] || fail "not four objects"
run 2 explain --json nosuchname
says err "nosuchname"
run 2 explain
run 2 explain policy.vc.histry
says err "policy.vc.history"
run 2 list nosuch
run 2 list polices
says err 'did you mean "policies"?'
run 2 list policies views
says err 'no name in policies is below "views"'
run 2 list completion views
run 0 list steps vc
says out "vc.call "
[ "$(grep -cv '^vc[.]' out)" = 0 ] || fail "a section of a table has more than it"
run 0 list --markdown steps vc
says out "| step | instructions | what it is |"
says out "| call | 2 | The check of an access: call, return. |"
run 2 list --markdown completion
says err "--markdown is for tables"
run 2 list --json manual
says err "--json is for tables"
run 2 list --json completion

about "manual pages are made for every verb, and clean"
for page in "" run compare why trace workload capture programs validate verify sweep reproduce report machine list explain; do
    # shellcheck disable=SC2086
    run 0 list manual $page
    says out ".TH LARDSIM" ".SH NAME" ".SH SYNOPSIS" ".SH EXIT STATUS" ".SH SEE ALSO"
    if command -v groff >/dev/null 2>&1; then
        groff -man -ww -Tascii out >page 2>err || fail "groff"
        silent err
    fi
done
run 0 list manual run
says out '\-\-error\-on\-race' 'policy.vc.history'
run 0 list manual trace
says out '\-\-salvage'
run 2 list manual nosuch
about "a manual page names all the others, and has a line for each of its verbs"
run 0 list --json verbs
sed -n 's/.*"name": "\([^"]*\)".*/\1/p' out >all_verbs
cut -d ' ' -f 1 all_verbs | sort -u >pages
for page in "" $(cat pages); do
    # shellcheck disable=SC2086
    run 0 list manual $page
    sed '1,/^\.SH SEE ALSO/d' out | sed -n 's/^\.BR lardsim\\-\([a-z]*\) (1).*/\1/p' >others
    sort others | cmp -s - "$(grep -vx "$page" pages >wanted; echo wanted)" || fail "page $page: it names $(tr '\n' ' ' <others)"
    [ -z "$page" ] || [ "$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' out | grep -cx '\.br')" = $(($(grep -cw "^$page" all_verbs) - 1)) ] ||
        fail "page $page: not a line for each of its verbs: $(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' out)"
done
about "the completion is a script that completes"
run 0 list completion
if command -v bash >/dev/null 2>&1; then
    cp out completion.bash
    cat >complete.bash <<'END'
. ./completion.bash
compopt() { :; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_lardsim
echo "${COMPREPLY[*]}"
END
    completes() {
        want=$1
        shift
        command="completion of $*"
        tests=$((tests + 1))
        bash complete.bash lardsim "$@" >out 2>err
        [ "$(cat out)" = "$want" ] || fail "not $want"
    }
    completes "run reproduce report" r
    completes "cat convert cut" trace c
    completes "--policy= --preset=" run --p
    completes "vc valor valor-e valor-o" run --policy = v
    completes "policy.vc.history=" run --set policy.vc.h
    completes "last all" run --set policy.vc.history =
    completes "binary text std" trace convert --to ""
    completes "race.txt" run rac
    completes "parameters" list par
    completes "seed=" trace synth x.lard see
    completes "run compare why trace workload capture programs validate verify sweep reproduce report machine list explain" list manual ""
    completes "list" workload l
    completes "sor sor@slimstate" workload describe so
    completes "xalan@valor" workload describe xalan@v
    completes "valor" workload describe xalan @ v
    completes "valor lard slimstate" workload describe xalan @
    completes "valor lard slimstate" workload describe avrora @
    completes "--policy= --policies= --preset= --plot=" compare --p
    completes "run reproduce report" help r
    completes "naive" run --set policy.none.view = na
    completes "naive" run --set policy.label.view = na
    completes "off" run --set trace.rules = of
    completes "vc valor valor-e valor-o" run --set policies = v
    completes "policy.vc.history=last" run --set policy.vc.history=l
    completes "--set=policy.vc.history=last" run --set=policy.vc.history=l
    completes "--policy=vc --policy=valor --policy=valor-e --policy=valor-o" run --policy=v
fi

echo "$tests checks, $failures failures"
[ "$failures" -eq 0 ]
