#!/bin/sh
# cvm.sh - are the races that CVM's paper found found here, at the locations where vc finds them, and
# are the repaired programs silent? Is bad input told what to do?
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
say() { echo "$*"; bad=1; }

for program in water spatial barnes; do
    for racy in off paper; do
        "$lardsim" run -p cvm -p vc --set policy.vc.history=all "workload:$program,threads=8,racy=$racy" |
            awk '($1 == "cvm" || $1 == "vc") && !seen[$1]++ {print $1, $4}' >locations
        cvm=$(awk '$1 == "cvm" {print $2}' locations) vc=$(awk '$1 == "vc" {print $2}' locations)
        [ "$cvm" = "$vc" ] || say "$program, racy=$racy: cvm finds $cvm racy locations, vc $vc"
        case $racy in
        off) [ "$cvm" = 0 ] || say "$program: it is repaired, and cvm finds $cvm racy locations" ;;
        paper) [ "${cvm:-0}" -gt 0 ] || say "$program, racy=paper: cvm finds nothing" ;;
        esac
    done
done

refuses() { # text, arguments
    text=$1
    shift
    "$lardsim" run "$@" >out 2>&1
    code=$?
    [ "$code" = 3 ] || say "lardsim run $*: exit code $code"
    grep -q "$text" out || { say "lardsim run $*: says nothing of '$text':"; cat out; }
}
refuses 'power of two' -p cvm --set policy.cvm.page=5000 synth:events=100
refuses 'raise processes' -p cvm --set policy.cvm.processes=2 synth:events=500,threads=6
refuses 'full=consolidate' -p cvm --set policy.cvm.intervals=2 --set policy.cvm.full=stop workload:water
refuses 'set both to the same' --preset alpha-cvm -p cvm --set policy.cvm.page=4096 workload:water,threads=8
refuses 'private' -p cvm workload:crypt,private=on
exit $bad
