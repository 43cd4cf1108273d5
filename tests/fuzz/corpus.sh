#!/bin/sh
# corpus.sh - seeds, and whatever broke something once, through the fuzz targets (tests/fuzz/fuzz.h).
top=${top_srcdir:-.}
build=${top_builddir:-.}
log=$(mktemp) || exit 99
trap 'rm -f "$log"' EXIT
bad=0
for target in binary text std yaml events verdict; do
    set -- "$top/tests/corpus/$target"/*
    case $target in
    text) set -- "$@" "$top"/workloads/litmus/*.trace ;;
    std) set -- "$@" "$top"/tests/data/foreign/* ;;
    esac
    "$build/tests/fuzz/fuzz_$target" "$@" >"$log" 2>&1 || { # the file it broke at stands last
        echo "fuzz_$target:"
        tail -n 5 "$log"
        bad=1
    }
done
exit $bad
