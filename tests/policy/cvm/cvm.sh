#!/bin/sh
# cvm.sh - are the races that CVM's paper found found here, at the locations where vc finds them, and
# are the repaired programs silent? Is bad input told what to do?
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
say() { echo "$*"; bad=1; }

for program in water spatial barnes water,version=dsm spatial,version=dsm barnes,version=dsm; do
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

# The second run names what the sites at once name, in objects that move, too; and it is not what a
# run says that knows intervals alone.
for source in workload:water,racy=paper,threads=4 synth:events=4k,threads=4,gc_share=200,seed=3 \
    synth:events=4k,threads=5,gc_share=200,txn_share=40,seed=4; do
    rm -rf first again once
    "$lardsim" run -q -p cvm -o first "$source"
    "$lardsim" run -q -p cvm -o again --set policy.cvm.sites=rerun --set policy.cvm.first-run=first/races.jsonl "$source"
    "$lardsim" run -q -p cvm -o once --set policy.cvm.sites=at-once "$source"
    [ -s once/races.jsonl ] || say "$source: it has no race"
    cmp -s again/races.jsonl once/races.jsonl || say "$source: the second run names other accesses"
    cmp -s first/races.jsonl once/races.jsonl && say "$source: the first run names accesses"
    grep -q '"interval": *[1-9].*"earlier".*"interval": *[1-9]' first/races.jsonl ||
        say "$source: the first run does not tell both intervals"
    "$lardsim" run -p cvm "$source" | grep -q 'interval [1-9]' || say "$source: the page tells no interval"
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
refuses 'first-run=DIR/races.jsonl' -p cvm --set policy.cvm.sites=rerun synth:events=100
refuses 'name a file that can be read' -p cvm --set policy.cvm.sites=rerun --set policy.cvm.first-run=nowhere synth:events=100
echo 'no race' >bad.jsonl
refuses 'bad.jsonl:1: no race' -p cvm --set policy.cvm.sites=rerun --set policy.cvm.first-run=bad.jsonl synth:events=100
head -c 100000 /dev/zero | tr '\0' x >long.jsonl
refuses 'long.jsonl:1: no race' -p cvm --set policy.cvm.sites=rerun --set policy.cvm.first-run=long.jsonl synth:events=100
refuses 'private' -p cvm workload:crypt,private=on
exit $bad
