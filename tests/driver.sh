#!/bin/sh
# driver.sh SHELL DRIVER --test-name NAME --log-file LOG --trs-file TRS ... -- COMMAND... - a test that is a script: runs
# automake's DRIVER, and fails a test that passed or was skipped although its shell did not find a command. Then an
# assertion never ran. Only the shell's own words about a script count: "SCRIPT: LINE: WORD: not found", as dash says it,
# "SCRIPT: line LINE: WORD: command not found", as bash does.
set -u
said=$("$@")
code=$?
name='' log='' trs=''
while [ $# -gt 1 ] && [ "$1" != -- ]; do
    case $1 in
    --test-name) name=$2 ;;
    --log-file) log=$2 ;;
    --trs-file) trs=$2 ;;
    esac
    shift
done
if grep -q '^:test-result: \(PASS\|SKIP\)' "$trs" &&
    wrong=$(grep '^[^ ]*\.sh: \(line \)\{0,1\}[0-9]\{1,\}: .\{1,\}: \(command \)\{0,1\}not found$' "$log"); then
    printf '%s\n' "FAIL $name: its shell did not find a command, so what it should have checked was not:" "$wrong" >>"$log"
    sed 's/^:test-result: .*/:test-result: FAIL/; s/^:global-test-result: .*/:global-test-result: FAIL/
        s/^:recheck: .*/:recheck: yes/; s/^:copy-in-global-log: .*/:copy-in-global-log: yes/' "$trs" >"$trs.new" && mv "$trs.new" "$trs"
    said="FAIL: $name (a command was not found)"
fi
[ -z "$said" ] || printf '%s\n' "$said"
exit $code
