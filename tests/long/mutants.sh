#!/bin/sh
# mutants.sh - every rule broken on purpose (base/mutants.def) is noticed by the test whose rule it
# is. Runs in a build configured with --enable-mutants.
top=${top_srcdir:?}
missed=
n=0
for mutant in $(sed -n 's/^MUTANT_ROW(\([A-Z0-9_]*\),.*/\1/p' "$top/base/mutants.def"); do
    n=$((n + 1))
    case $mutant in # the test, and what it says where it notices
    ORDER_*) set -- t_order FAILED --mutant "$mutant" ;;
    LINE_*) set -- t_lines FAILED --mutant "$mutant" ;;
    RADISH_MOVE_*) set -- t_radish_heap FAILED --mutant "$mutant" ;;
    RADISH_REST_*) set -- t_radish_rest FAILED --mutant "$mutant" ;;
    SLIM_*) set -- t_slimstate FAILED --mutant "$mutant" 1 100 ;;
    RADISH_CLEAR_* | RADISH_COPY_* | RADISH_ONE_HANDLER) set -- t_radish_region FAILED --mutant "$mutant" ;;
    RADISH_LINE_WIDE | RADISH_ROLL_OVER_RUNS_ON | RADISH_FREE_METADATA | RADISH_COMING_GONE)
        set -- t_radish FAILED --mutant "$mutant" ;;
    RADISH_*) set -- t_radish_random FAILED --mutant "$mutant" ;;
    STOP_*) set -- t_stop FAILED --mutant "$mutant" ;;
    GOLD_COLLECTS_ALL) set -- t_goldilocks Assertion --mutant "$mutant" ;;
    GOLD_*) set -- t_goldilocks FAILED --mutant "$mutant" ;;
    FILTER_*) set -- t_filter FAILED --mutant "$mutant" 1 60 ;;
    REGION_JOINED_GOES_ON | FASTRCD_*) set -- t_fastrcd FAILED --mutant "$mutant" ;;
    REGION_*) set -- t_region_verdict 'seed [0-9]*' --mutant "$mutant" 1 300 ;;
    VALOR_*) set -- t_valor FAILED --mutant "$mutant" ;;
    COH_*) set -- t_coherence_random 'seed [0-9]*' --mutant "$mutant" 1 40 ;;
    *) set -- t_verdict 'seed [0-9]*' --mutant "$mutant" 1 400 ;;
    esac
    program=$1 sign=$2
    shift 2
    if "$(find ./tests -type f -name "$program")" "$@" >mutant.log 2>&1; then
        missed="$missed $mutant"
        echo "$mutant: not noticed"
    elif ! grep -q "$sign" mutant.log; then
        missed="$missed $mutant"
        echo "$mutant: failed for another reason: $(tail -n 1 mutant.log)"
    else
        echo "$mutant: noticed by $program, $(grep -o "$sign" mutant.log | head -n 1)"
    fi
done
echo "$n mutants,$(echo "$missed" | wc -w) not noticed:$missed"
[ "$n" -gt 90 ] && [ -z "$missed" ]
