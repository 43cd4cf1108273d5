#!/bin/sh
# mutants.sh - every rule broken on purpose (base/mutants.def) is noticed by the property test or by
# the litmus programs. Runs in a build configured with --enable-mutants.
top=${top_srcdir:?}
missed=
n=0
for mutant in $(sed -n 's/^MUTANT_ROW(\([A-Z_]*\),.*/\1/p' "$top/base/mutants.def"); do
    n=$((n + 1))
    if ./tests/t_verdict --mutant "$mutant" 1 400 >mutant.log 2>&1; then
        missed="$missed $mutant"
        echo "$mutant: not noticed"
    elif ! grep -q 'seed' mutant.log; then
        missed="$missed $mutant"
        echo "$mutant: failed for another reason: $(tail -n 1 mutant.log)"
    else
        echo "$mutant: noticed at $(grep -o 'seed [0-9]*' mutant.log | head -n 1)"
    fi
done
echo "$n mutants,$(echo "$missed" | wc -w) not noticed:$missed"
[ "$n" -gt 40 ] && [ -z "$missed" ]
