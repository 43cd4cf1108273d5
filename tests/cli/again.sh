#!/bin/sh
# again.sh - can a result be had again from what it says of itself? config.yaml repeats the run alone,
# provenance.json says what made it, and `run --again` says whether the digest is the same.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
has() { grep -q -e "$2" "$1" || fail "$1 has no $2"; }
# value FILE KEY
value() { sed -n "s/^ *\"$2\": \"*\([^\",]*\)\"*,*\$/\1/p" "$1" | head -n 1; }

# The source is a key: of a file, of a generator, of a comparison with a machine and without.
cp "$top/workloads/litmus/gc_move_race.trace" here.trace
run 0 run -o file here.trace
run 0 run -c radish8 -p lardish -o machine synth:seed=3,events=2000,threads=4
run 0 compare -o compared synth:seed=3,events=2000
for of in file machine compared; do
    verb=run
    [ $of = compared ] && verb=compare
    run 0 $verb --config $of/config.yaml -o $of.2
    [ "$(value $of/provenance.json digest)" = "$(value $of.2/provenance.json digest)" ] ||
        fail "$of: config.yaml alone gives another digest"
    cmp -s $of/stats.json $of.2/stats.json || fail "$of: config.yaml alone gives other statistics"
    [ "$(value $of/provenance.json configuration)" = "$(value $of.2/provenance.json configuration)" ] ||
        fail "$of: the same configuration has another hash"
    run 0 run --again $of
    has out "the same as $of"
    run 0 run --again $of --json
    has out '"same_again": true'
done
run 0 compare --quiet -c radish8 -p vc -p naive=lardish --set policy.naive.view=naive -o costs synth:events=1000
run 0 compare --quiet --config costs/config.yaml -o costs.2
grep -v '"output"' costs/compare.json >a
grep -v '"output"' costs.2/compare.json >b
cmp -s a b || fail "config.yaml of a comparison of costs gives other costs"
for of in compared costs; do
    has $of/compare.json '"limits.events": "0"'
    has $of/compare.json '"source": "synth:'
done
has costs/compare.json '"policy.naive.view": "naive"'

# The command line wins over the key; without either there is nothing to run.
run 0 run --config file/config.yaml -o other synth:events=10
[ "$(value other/provenance.json source)" = synth:events=10 ] || fail "a SOURCE does not win over the configuration's"
has other/config.yaml '^source: "synth:events=10" # the command line'
run 2 run
has err "SOURCE"
run 2 compare -p vc
run 3 run --config nosuch.yaml

# What made the result: the same command gives the same file; the working folder is the host's.
has machine/provenance.json "\"id\": \"$("$lardsim" --version | sed -n 's/^build //p')\""
for key in version commit compiler flags xxhash yaml zlib zstd configuration identity digest; do
    [ "$(value machine/provenance.json $key)" ] || fail "provenance.json has no $key"
done
tr -d '\n ' <machine/provenance.json >flat
has flat '"command":\["lardsim","run","-c","radish8","-p","lardish","-o","machine","synth:seed=3,events=2000,threads=4"\]'
has flat '"seeds":{"source":3,"coherence.seed":1,"pages.seed":1,"perturb.seed":0}'
has machine/host.json "\"working_folder\": \"$PWD\""
has machine/host.json '"started": "20[0-9-]*T[0-9:]*Z"'
[ "$(value machine/host.json seconds)" ] || fail "host.json has no duration"
cp machine/provenance.json kept.json
run 0 run -c radish8 -p lardish -o machine --overwrite synth:seed=3,events=2000,threads=4
grep -l "$PWD" ./*/*.json ./*/*.yaml | grep -v host.json && fail "a folder of this host is in a file other than host.json"

# The hash is of the configuration: not of where results go, nor of the path of the trace.
cp here.trace there.trace
run 0 run -o moved there.trace
[ "$(value moved/provenance.json configuration)" = "$(value file/provenance.json configuration)" ] ||
    fail "another path has another configuration"
[ "$(value moved/provenance.json identity)" = "$(value file/provenance.json identity)" ] ||
    fail "another path has other events"
run 0 run --set policy.vc.history=all -o all here.trace
[ "$(value all/provenance.json configuration)" = "$(value file/provenance.json configuration)" ] &&
    fail "another history has the same configuration"

# From elsewhere the paths lead on from where the run was.
mkdir below
cd below || exit 99
run 0 run --again ../file -o twice
[ -e twice/DONE ] || fail "--again writes its own results somewhere else"
cd .. || exit 99

# Another result is told, with the reason: other events, another configuration, another build.
run 0 run -o changed there.trace
sed '$d' there.trace >t && mv t there.trace
run 6 run --again changed
has err "the source has other events"
cp -r file edited
sed 's/history: last/history: all/' file/config.yaml >edited/config.yaml
sed 's/"digest": "..../"digest": "xxxx/' file/provenance.json >edited/provenance.json
reseal edited
run 6 run --again edited
has err "config.yaml is not the configuration"
sed 's/"id": "[^"]*"/"id": "elsewhere"/' edited/provenance.json >t && mv t edited/provenance.json
reseal edited
run 6 run --again edited
has err "another build"

# What can't be repeated, or held against anything.
run 5 run --set limits.events=5 -o stopped here.trace
run 2 run --again stopped
has err "stopped before its end"
run 2 run --again file here.trace
run 2 run --again file -p vc
has err "file/config.yaml"
run 3 run --again below
run 0 run -c radish8 --set stats.interval=1k -o intervals synth:events=500
run 0 run --again intervals
# Bytes that are no text can't stand in a configuration.
name=$(printf 'caf\351.trace')
cp here.trace "$name"
run 0 run -o odd "$name"
has odd/config.yaml '^source: ""'
exit $bad
