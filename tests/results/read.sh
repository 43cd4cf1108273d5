#!/bin/sh
# read.sh - does a result that is not as it was written, or can't be read, ever become a number? A byte of
# each file of a cell changes, files are cut off and go, and each read of a disk fails in turn: every verb
# that reads results says which file, and leaves it out or stops; a sweep makes the cell again. Of reads
# each 7th fails, or each STEP-th: the argument.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
step=${1:-7}
bad_read=$top_builddir/tests/results/.libs/bad_read.so

cat >spec.yaml <<'END'
base: {inherit: radish8, stats.interval: 20000}
axes: {l2.size: [64Ki]}
policies: [none, fasttrack]
sources: ["synth:events=1500,threads=4,racy=200"]
END
"$lardsim" sweep spec.yaml -o good -q >out 2>err || { fail "the sweep: $(cat err)"; exit 1; }
run 0 sweep collect good
cell=$(sed -n 's/^\([0-9a-f]*\),.*,fasttrack,.*/\1/p' good/plan.csv)
base=$(sed -n 's/^\([0-9a-f]*\),.*,none,.*/\1/p' good/plan.csv)
files=$(ls "good/cells/$cell")
[ "$(echo "$files" | wc -l)" = 9 ] || fail "a cell has other files than this test thinks: $files"

# whole DIR WHEN: all cells are as they were, but for the host's file.
whole() {
    diff -r -x host.json good/cells "$1/cells" >diff.out || fail "$2: cells differ: $(head -n 3 diff.out)"
    "$lardsim" verify "$1/cells/$cell" >out 2>&1 || fail "$2: $(cat out)"
}
# damaged FILE HOW: the cell counts as damaged for all who look, is in no table, and is made again.
damaged() {
    run 6 sweep status hurt
    says out "damaged  1"
    says err "hurt/cells/$cell"
    says err "$1"
    says err "lardsim sweep retry hurt"
    rm -f hurt/cells.csv
    run 6 sweep collect hurt
    says err "$1"
    grep -q "^$cell" hurt/cells.csv && fail "$2 of $1: the cell is in cells.csv"
    grep -q "^$base" hurt/cells.csv || fail "$2 of $1: the other cell is not in cells.csv"
    grep -q "$cell" hurt/cells.jsonl && fail "$2 of $1: the cell is in cells.jsonl"
    run 6 verify "hurt/cells/$cell"
    [ "$2" = cut ] || return 0
    run 6 report hurt -o page.html --overwrite
    says err "$1"
    run 6 compare --results good hurt
}
flip() { # FILE POSITION: that byte is another
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059  # the format is the byte
    printf "\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
for f in $files; do
    n=$(wc -c <"good/cells/$cell/$f")
    named=$f
    [ "$f" = DONE ] && named=hurt/cells/$cell # which of its lines is told
    for change in $((n / 3)) cut gone; do
        rm -rf hurt && cp -r good hurt
        case $change in
        cut) truncate -s $((n / 2)) "hurt/cells/$cell/$f" ;;
        gone) rm "hurt/cells/$cell/$f" ;;
        *) flip "hurt/cells/$cell/$f" "$change" ;;
        esac
        damaged "$named" "$change"
    done
    # once a file: the sweep goes on
    run 0 sweep spec.yaml -o hurt -q
    says err "$named"
    whole hurt "$f was gone"
    run 0 sweep collect hurt
    cmp -s hurt/cells.csv good/cells.csv || fail "the table of a cell that was made again is another ($f)"
done

# The damage is named: both digests, and what to do.
rm -rf hurt && cp -r good hurt
sed -i 's/^machine.cycles,\([0-9]*\),/machine.cycles,1\1,/' "hurt/cells/$cell/stats.csv"
run 6 sweep status hurt
was=$(sed -n 's/  stats.csv$//p' "good/cells/$cell/DONE")
grep -q "stats.csv: has changed: its digest is [0-9a-f]\{16\}, and DONE has $was; restore it from a copy, or make" err ||
    fail "the damage is not named: $(cat err)"
"$lardsim" sweep spec.yaml -o hurt --dry-run >out 2>err || fail "a dry run: $(cat err)"
grep -q "^$cell  damaged" out || fail "a dry run has no damaged cell"
run 0 sweep retry hurt -q
whole hurt "retry"
run 6 verify --json "$(rm -rf one && cp -r "good/cells/$cell" one && echo >>one/stats.txt && echo one)"
says out '"sealed": "'

# The list of cells: a value of an axis that is another is no value; with the spec it is written again.
rm -rf hurt && cp -r good hurt
sed -i 's/64Ki/65Ki/' hurt/plan.csv
for verb in status collect; do
    run 6 sweep $verb hurt
    says err "hurt/plan.csv: has changed"
done
run 6 report hurt -o page.html --overwrite
run 0 sweep spec.yaml -o hurt -q
run 0 sweep collect hurt
cmp -s hurt/cells.csv good/cells.csv || fail "a list that was written again gives another table"
sed 's/64Ki/[64Ki, 128Ki]/; s/\[\[/[/; s/\]\]/]/' spec.yaml >more.yaml
run 0 sweep more.yaml -o hurt -q
run 0 sweep status hurt
says out "done     4"
rm hurt/plan.seal # as an older version left it
run 0 sweep status hurt

# A folder that is not there is told from one in which nothing has got that far.
mkdir empty
for verb in "sweep status" "sweep collect" "sweep retry" "run --again"; do
    # shellcheck disable=SC2086 # words
    run 3 $verb nosuch
    says err "nosuch: there is no such folder; give "
    # shellcheck disable=SC2086
    run 3 $verb empty
    grep -q "empty: .*there is no \|empty: .* has no " err || fail "$verb of a folder that has nothing: $(cat err)"
done

# A run of its own, and a comparison: what asks them stops, and says so.
trace=$top/workloads/litmus/gc_move_race.trace
run 0 run -q -p vc -o one.run "$trace"
run 0 compare -q -c radish8 -p vc -o costs synth:events=500
event=$(sed -n 's/.*"event": \([0-9]*\).*/\1/p' one.run/races.jsonl | head -n 1)
asks() { # DIR FILE VERBS...: of these each stops with 6 and names the file
    for verb in $3; do
        case $verb in
        why) run 6 why "$1" "${event:-0}" ;;
        again) run 6 run -q --again "$1" ;;
        report) run 6 report "$1" -o page.html --overwrite ;;
        diff) run 6 report --diff one.run "$1" -o page.html --overwrite ;;
        compare) run 6 compare --results one.run "$1" ;;
        esac
        says err "$2"
    done
}
for f in config.yaml provenance.json races.jsonl host.json stats.json; do
    rm -rf hurt.run && cp -r one.run hurt.run
    flip "hurt.run/$f" $(($(wc -c <hurt.run/$f) / 2))
    case $f in
    races.jsonl) verbs="why report diff compare" ;;
    stats.json) verbs="report diff compare" ;;
    *) verbs="why again report diff compare" ;;
    esac
    asks hurt.run "hurt.run/$f" "$verbs"
done
rm -rf hurt.run && cp -r one.run hurt.run && rm hurt.run/DONE
asks hurt.run "there is no DONE" "why again"
for f in compare.json vc/stats.json; do
    rm -rf hurt.run && cp -r costs hurt.run
    flip "hurt.run/$f" $(($(wc -c <hurt.run/$f) / 2))
    asks hurt.run "hurt.run/$f" report
done
rm -rf hurt.run && cp -r one.run hurt.run
flip hurt.run/races.jsonl 20
run 6 run -q -p cvm --set policy.cvm.sites=rerun --set policy.cvm.first-run=hurt.run/races.jsonl "$trace"
says err "hurt.run/races.jsonl: has changed"

# Each read fails in turn.
[ -f "$bad_read" ] && [ -z "${LARDSIM_INSTRUMENTED:-}" ] || exit $bad
# each PATTERN ARGS...: one read of such a file fails, the first, then another; `after` judges.
each() {
    pattern=$1
    shift
    at=1
    while :; do
        rm -f hit
        before
        BAD_READ=$pattern BAD_READ_AT=$at BAD_READ_HIT=$dir/hit LD_PRELOAD=$bad_read "$lardsim" "$@" >out 2>err </dev/null
        code=$?
        [ -e hit ] || break
        after $at "$*"
        at=$((at + step))
    done
    [ $at -gt 1 ] || fail "$*: no read of $pattern"
    [ $code = 0 ] || fail "$* without a fault: exit code $code: $(cat err)"
}
before() { rm -f page.html; }
after() {
    case $code in
    3 | 6) ;;
    0) grep -q "Input/output error" page.html || fail "$2, read $1: exit code 0, and the page does not say why" ;;
    *) fail "$2, read $1: exit code $code: $(head -n 2 err)" ;;
    esac
    [ $code = 0 ] || grep -q "Input/output error" out err || fail "$2, read $1: nobody says why: $(head -n 2 err)"
}
each good/ sweep status good
each costs/ report costs -o page.html --overwrite
each one.run/ report one.run -o page.html --overwrite
each one.run/ report --diff one.run one.run -o page.html --overwrite
each one.run/ compare --results one.run one.run
each good/ report good -o page.html --overwrite
each one.run/ why one.run "${event:-0}"
each one.run/ run -q --again one.run
each one.run/ verify one.run
# Of a table: no row that was not there.
before() { rm -f good/cells.csv; }
after() {
    case $code in
    3 | 6) ;;
    *) fail "$2, read $1: exit code $code: $(head -n 2 err)" ;;
    esac
    says err "Input/output error"
    [ -e good/cells.csv ] || return
    # without its baseline a cell has no overhead, and none over the whole run
    awk -F, 'NR == FNR { row[$1] = $0; next }
        { n = split(row[$1], was, ","); without = 0
          for (i = 1; i <= n; i++) if (was[i] != $i) { without++; if ($i != "") bad = 1 }
          if (n != NF || without > 2) bad = 1 }
        END { exit bad }' table good/cells.csv || fail "$2, read $1: a row that is none: $(cat good/cells.csv)"
}
cp good/cells.csv table
each good/ sweep collect good
cp table good/cells.csv
# Who goes on: whatever could not be read is made again, or nothing is.
before() { rm -rf going && cp -r good going; }
after() {
    case $code in
    0) whole going "$2, read $1" ;;
    3 | 7) says err "going" ;;
    *) fail "$2, read $1: exit code $code: $(head -n 2 err)" ;;
    esac
}
each going/ sweep spec.yaml -o going -q
each going/ sweep retry going -q
exit $bad
