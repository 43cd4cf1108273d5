#!/bin/sh
# litmus.sh - the programs in workloads/litmus have the verdicts that their first lines state:
#   # expect: VIEW[/NAME=VALUE] EVENTS [on LOCATIONS]; ...
#   # expect: breaks RULE at EVENT
# EVENTS: the numbers of the racy accesses, `none`, or `refused` (docs/litmus.md).
lardsim=${LARDSIM:?}
cd "${top_srcdir:-.}" || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
n=0

# check FILE HOW EXPECTED LOCATIONS
check() {
    file=$1 view=${2%%/*} option=${2#*/}
    case $option in
    "$view") option=policy.vc.view=$view ;;
    granularity=*) ;;
    *) option=policy.vc.$option ;;
    esac
    rm -rf "$dir/out"
    "$lardsim" run --quiet --set "policy.vc.view=$view" --set "$option" -o "$dir/out" "$file" >/dev/null 2>"$dir/err"
    code=$?
    n=$((n + 1))
    if [ "$3" = refused ]; then
        [ $code = 3 ] || { echo "$file: $2: exit $code, expected to be refused"; bad=1; }
        return
    fi
    [ $code = 0 ] || { echo "$file: $2: exit $code: $(cat "$dir/err")"; bad=1; return; }
    got=$(sed 's/"earlier".*//; s/.*"event": \([0-9]*\).*/\1/' "$dir/out/races.jsonl" |
        tr '\n' ' ' | sed 's/ $//')
    [ "${got:-none}" = "$3" ] || { echo "$file: $2: races ${got:-none}, expected $3"; bad=1; }
    locations=$(sed -n '/^policy.vc.races.locations /s/^[^ ]* *\([0-9]*\).*/\1/p' "$dir/out/stats.txt")
    [ -z "$4" ] || [ "$locations" = "$4" ] || { echo "$file: $2: $locations locations, expected $4"; bad=1; }
}

# broken FILE RULE EVENT
broken() {
    "$lardsim" trace verify "$1" >/dev/null 2>"$dir/err"
    code=$?
    n=$((n + 1))
    [ $code = 4 ] || { echo "$1: trace verify: exit $code, expected 4"; bad=1; }
    grep -q "event $3 .*: $2: " "$dir/err" || { echo "$1: does not say that event $3 breaks $2: $(cat "$dir/err")"; bad=1; }
}

for file in workloads/litmus/*.trace; do
    breaks=$(sed -n '1s/^# expect: breaks //p' "$file")
    if [ -n "$breaks" ]; then
        broken "$file" "${breaks% at *}" "${breaks##* at }"
        continue
    fi
    "$lardsim" trace verify "$file" >"$dir/verify" 2>&1 || { cat "$dir/verify"; bad=1; }
    sed -n '1s/^# expect: //p' "$file" | tr ';' '\n' | sed 's/^ *//' >"$dir/expect"
    [ -s "$dir/expect" ] || { echo "$file: no verdict in its first line"; bad=1; }
    while read -r how rest; do
        case $rest in
        *" on "*) check "$file" "$how" "${rest% on *}" "${rest##* on }" ;;
        *) check "$file" "$how" "$rest" "" ;;
        esac
    done <"$dir/expect"
done
echo "$n verdicts"
[ "$n" -ge 60 ] || bad=1
exit $bad
