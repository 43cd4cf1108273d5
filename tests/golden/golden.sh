#!/bin/sh
# golden.sh - did anything move? Fixed runs against what is kept of each in this folder: what a reviewer reads (headline.awk)
# and digests of all statistics and all races. So a failure names the runs that moved, and moved.sh says in which statistics.
# --renew writes the texts anew (`make golden`; the diff is the review). --keep DIR leaves each run's folder there, as
# NAME.results, and judges nothing.
lardsim=${LARDSIM:?}
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
golden=$top/tests/golden
dir=$(mktemp -d) || exit 99
keep=
[ "${1:-}" != --keep ] || keep=${2:?}
trap 'rm -rf "$dir"' EXIT
cd "$top" || exit 99
mkdir "$dir/text" || exit 99
bad=0

# golden NAME ARGS...: runs it, as NAME, in the text TEXT or NAME.
golden() {
    name=$1
    shift
    if ! "$lardsim" run --quiet -o "$dir/$name" "$@" >/dev/null 2>"$dir/err"; then
        echo "$name: $(cat "$dir/err")"
        bad=1
        return
    fi
    [ -z "$keep" ] || cp -r "$dir/$name" "$keep/$name.results"
    sed "1d; s/,[^,]*\$//" "$dir/$name/stats.csv" | cat - "$dir/$name/races.jsonl" >"$dir/run"
    file=$dir/text/${text:-$name}.txt
    {
        [ ! -f "$file" ] || echo
        echo "# $name: lardsim run $*"
        digest=$(sed -n 's/.*"digest": "\(.*\)".*/\1/p' "$dir/$name/provenance.json")
        echo "digest: $digest of the statistics, $(cksum <"$dir/$name/races.jsonl" | cut -d " " -f 1) of the races"
        awk -f "$golden/headline.awk" "$dir/run"
    } >>"$file"
}

text=litmus
for trace in workloads/litmus/*.trace; do
    golden "$(basename "$trace" .trace)" --policy vc --policy naive=vc --set policy.naive.view=naive "$trace"
done
text=captures
golden capture.moved --policy vc --policy naive=vc --set policy.naive.view=naive --policy unmoved=vc \
    --set policy.unmoved.view=no-copy tests/data/captures/moved.lard.zst
golden capture.moved.radish8 -c radish8 --policy fasttrack --set core.bytecode=150 tests/data/captures/moved.lard.zst
golden capture.condition --policy vc --policy goldilocks tests/data/captures/condition.lard
golden capture.realloc -c radish8 --policy vc tests/data/captures/realloc.lard
text=
golden synth.none --policy none synth:seed=1,events=5000
golden synth.vc --policy vc synth:seed=1,events=5000
golden synth.vc.all --policy vc --set policy.vc.history=all synth:seed=1,events=5000
golden synth.vc.field --policy vc --set granularity=field synth:seed=2,events=5000
golden workload.slimstate --policy slimstate workload:crypt,n=100
golden synth.slimstate --policy slimstate synth:seed=1,events=5000,fields=20
golden synth.eraser --policy eraser synth:seed=1,events=5000
golden synth.after-race --policy variable=vc --policy array=vc --set policy.variable.after-race=disable-variable \
    --set policy.array.after-race=disable-array synth:seed=1,events=5000
golden synth.lard-table3 --preset lard-table3 synth:seed=3,events=5000
golden synth.radish8 -c radish8 synth:seed=1,events=5000
golden synth.radish8.recorded -c radish8 --set order=recorded synth:seed=1,events=5000
golden synth.small.ddr -c radish8 --set memory.type=ddr --set l1.size=2Ki --set l2.size=8Ki --set l3.size=64Ki \
    --set network.topology=mesh --set core.store-buffer=8 --set core.misses=4 synth:seed=2,events=5000
golden synth.round-robin -c radish8 --set cores=2 --set schedule.threads=round-robin --set l2.inclusion=exclusive \
    --set l3.inclusion=non-inclusive synth:seed=3,events=5000
golden synth.lard-runtime -c radish8 --policy lard-runtime synth:seed=1,events=5000
for policy in fasttrack slimstate vc eraser; do
    golden synth.$policy.radish8 -c radish8 --policy $policy --set granularity=4 \
        synth:seed=1,events=5000,granularity=4,unaligned=0
done
golden synth.lardish -c radish8 --policy lardish --set granularity=4 --set l3.size=64Ki --set l2.size=8Ki --set l1.size=2Ki \
    synth:seed=1,events=5000,granularity=4,unaligned=0
golden synth.lardish.moves -c radish8 --policy lardish --set granularity=4 --set policy.lardish.move-history=on \
    --set policy.lardish.in-cache-copy=on --set policy.lardish.clock-bits=5 \
    synth:seed=4,events=5000,granularity=4,unaligned=0,heap_share=150,gc_share=300
golden synth.lardish.ddr -c radish8 --policy lardish --set granularity=4 --set l3.size=64Ki --set l2.size=8Ki --set l1.size=2Ki \
    --set memory.type=ddr --set core.store-buffer=8 --set core.misses=4 synth:seed=3,events=5000,granularity=4,unaligned=0
golden synth.radish -c radish8 --policy radish --set policy.radish.checks=queued --set policy.radish.clock-bits=6 \
    synth:seed=2,events=3000
golden synth.cvm --policy cvm --policy small=cvm --set policy.small.page=64 --set policy.small.intervals=50 \
    synth:seed=1,events=5000
golden synth.clean -c radish8 --policy clean synth:seed=1,events=5000
golden synth.tsan -c radish8 --policy tsan synth:seed=1,events=5000
golden synth.goldilocks --policy goldilocks --policy all=goldilocks --policy flow=goldilocks --set policy.all.transactions=all \
    --set policy.flow.transactions=write-to-read --set policy.flow.list-limit=20 synth:seed=1,events=5000
golden synth.goldilocks.radish8 -c radish8 --policy goldilocks --set policy.goldilocks.list-limit=200 synth:seed=1,events=5000
golden synth.fastrcd -c radish8 --policy fastrcd synth:seed=1,events=5000
golden synth.valor -c radish8 --policy valor --policy late=valor-e --set policy.late.period=50 \
    --set policy.late.regions=sync-free synth:seed=1,events=5000

[ -z "$keep" ] || exit $bad
if [ "${1:-}" = --renew ]; then
    [ "$bad" = 0 ] || exit 1
    rm -f "$golden"/*.txt
    cp "$dir"/text/*.txt "$golden"
    exit
fi
mkdir "$dir/was"
cp "$golden"/*.txt "$dir/was"
if ! (cd "$dir" && diff -r -U 1 was text) >"$dir/diff"; then
    echo "these golden runs moved: $(sed -n 's/^[-+ ]# \([^:]*\): .*/\1/p' "$dir/diff" | sort -u | tr '\n' ' ')"
    head -n 60 "$dir/diff"
    echo "make moved in the build folder says which statistics and races these are"
    bad=1
fi
exit $bad
