#!/bin/sh
# named.sh LIST - every rule broken on purpose is noticed by the test whose rule it is. LIST is what
# tests/mutants/mutate.c says of them; this runs in a build of the copy of the source that it has edited.
list=$1
tab=$(printf '\t')

# Every second mutant of the list, on one core: those with an odd number, or with an even one.
try() {
    awk "NR % 2 == $1" "$list" | while IFS=$tab read -r name test sign; do
        # shellcheck disable=SC2086 # a program and its arguments
        set -- $test
        program=$1
        shift
        if "$(find ./tests -type f -name "$program")" --mutant "$name" "$@" >"mutant-$name.log" 2>&1 </dev/null; then
            echo "$name: not noticed"
        elif ! grep -q "$sign" "mutant-$name.log"; then
            echo "$name: failed for another reason: $(tail -n 1 "mutant-$name.log")"
        else
            echo "$name: noticed by $program, $(grep -o "$sign" "mutant-$name.log" | head -n 1)"
        fi
        rm -f "mutant-$name.log"
    done
}

try 1 >mutants.odd &
try 0 >mutants.even
wait
cat mutants.odd mutants.even
n=$(wc -l <"$list")
noticed=$(cat mutants.odd mutants.even | grep -c ': noticed by ')
echo "$n mutants, $noticed noticed"
[ "$n" -gt 90 ] && [ "$n" = "$noticed" ]
