#!/bin/sh
# corpus.sh - what broke something once, under a name that says what it was, and seeds.tar.gz, which
# covers most in few bytes, through each fuzz target (tests/fuzz/fuzz.h).
top=${top_srcdir:-.}
build=${top_builddir:-.}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
for target in binary text std gem5 yaml events verdict; do
    mkdir "$dir/$target" || exit 99
    cp "$top/tests/corpus/$target"/* "$dir/$target" || exit 99
    gzip -dc "$dir/$target/seeds.tar.gz" | tar -x -f - -C "$dir/$target" || exit 99
    rm "$dir/$target/seeds.tar.gz"
    set -- "$dir/$target"/*
    case $target in
    text) set -- "$@" "$top"/workloads/litmus/*.trace ;;
    gem5) set -- "$@" "$top"/tests/data/gem5/*.gz ;;
    std) set -- "$@" "$top"/tests/data/foreign/* ;;
    esac
    "$build/tests/fuzz/fuzz_$target" "$@" >"$dir/log" 2>&1 || { # the file it broke at stands last
        echo "fuzz_$target:"
        tail -n 5 "$dir/log"
        bad=1
    }
done
exit $bad
