#!/bin/sh
# validate.sh - is a machine described as its kernel and the probe tell it? Does the file have its schema?
# Is bad input told what to do? (How good predictions are no test can ask: that is the host's matter.)
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
TMPDIR=$dir/tmp
export TMPDIR
mkdir tmp

cache() { # folder, level, type, size, ways, line, who shares it
    mkdir -p "$1"
    echo "$2" >"$1/level"; echo "$3" >"$1/type"; echo "$4" >"$1/size"
    echo "$5" >"$1/ways_of_associativity"; echo "$6" >"$1/coherency_line_size"; echo "$7" >"$1/shared_cpu_list"
}
host() { # a machine of six processors: 48 KiB of 12 ways, 1 MiB, 20 MiB of 16 ways that four share
    rm -rf sys
    cache sys/cpu0/cache/index0 1 Data 48K 12 64 0
    cache sys/cpu0/cache/index1 1 Instruction 32K 8 64 0
    cache sys/cpu0/cache/index2 2 Unified 1024K 16 64 0-1
    cache sys/cpu0/cache/index3 3 Unified 20M 16 64 0-3
    echo 0-3,6-7 >sys/online
}
# 2 GHz: half a nanosecond a cycle. Least counts for latencies, the median for widths.
values() {
    for v in 'cycle 0.6 0.5 9' 'width 3.7 1 4' 'l1 3 2.0 9' 'l2 8 7.0 9' 'l3 24 20.0 29' 'memory 95 90 99' \
        'misses 12 3 14' 'window 224 96 256' 'atomic 12 10 20' 'transfer 70 60 99' 'mispredict 11 9 30' \
        'translations 96 96 96' 'second-translations 1800 1536 2048' 'second-translation 4 3.5 5' 'walk 22 20 30' 'page 4096 4096 4096'; do echo "$v"; done
}
describes() { lardsim_out=$("$lardsim" validate --describe --sysfs sys --probe probe.txt "$@" 2>err) || fail "no description: $(cat err)"; }
has() { printf '%s\n' "$lardsim_out" | grep -q "^$1: $2  *#" || fail "$1 is not $2: $(printf '%s\n' "$lardsim_out" | grep "^$1:")"; }

host
values >probe.txt
describes
has cores 6
has frequency 2000
has l1.size 49152
has l1.ways 12
has l1.latency 4
has l2.size 1048576
has l2.latency 14
has l3.latency 40
has memory.fixed.latency 180
has coherence.remote 38 # 120 there, less L1 and L3, for an upgrade and a load
has core.width 3
has core.width-hundredths 70
has core.predictor tage
has core.mispredict 18
has tlb.entries 96
has tlb.second-entries 1800
has tlb.second-latency 7
has tlb.walk 40
has tlb.page 4096
has pages.size 4096
has core.window 224
has core.misses 12
has core.atomic 16
# 20 MiB in 16 ways has no power of two of sets: 16384 sets of 20 ways are as large.
has l3.size 20971520
has l3.ways 20
printf '%s\n' "$lardsim_out" >host.yaml
"$lardsim" run -q --config host.yaml -p tsan -o out synth:events=500,threads=3 >/dev/null 2>err ||
    fail "the described machine does not run: $(cat err)"
describes --threads 3
has cores 3

# A kernel whose pages are larger has larger ones in memory, too: each takes one translation.
sed 's/^page .*/page 65536 65536 65536/' probe.txt >large.txt && mv probe.txt new.txt && mv large.txt probe.txt
describes
has tlb.page 65536
has pages.size 65536
printf '%s\n' "$lardsim_out" >large.yaml
"$lardsim" run -q --config large.yaml -p tsan -o out --overwrite synth:events=500,threads=6 >/dev/null 2>err ||
    fail "a machine with large pages does not run: $(cat err)"
mv new.txt probe.txt

# A file from before branches and translations were measured: all are guessed, and at hand.
grep -v 'mispredict\|translation\|walk\|page' probe.txt >old.txt && mv probe.txt new.txt && mv old.txt probe.txt
describes
printf '%s\n' "$lardsim_out" | grep '^core.predictor\|^tlb' && fail "what was not measured is described"
mv new.txt probe.txt

# No L2, no L3: a machine all the same.
rm -rf sys/cpu0/cache/index2 sys/cpu0/cache/index3
grep -v '^l[23] ' probe.txt >small.txt && mv small.txt probe.txt
describes
has l2.size 0
printf '%s\n' "$lardsim_out" >host.yaml
"$lardsim" run -q --config host.yaml -p tsan -o out --overwrite synth:events=500,threads=3 >/dev/null 2>err ||
    fail "a machine with an L1 alone does not run: $(cat err)"

refuses() { # exit code, text, arguments
    code=$1 text=$2
    shift 2
    "$lardsim" validate "$@" >out.txt 2>err
    is=$?
    [ "$is" = "$code" ] || fail "validate $*: exit code $is, not $code: $(cat err)"
    grep -q "$text" err || fail "validate $*: says nothing of '$text': $(cat err)"
}
host
values >probe.txt
refuses 3 'sys-none/online does not say' --describe --sysfs sys-none --probe probe.txt
echo 'a lot' >sys/cpu0/cache/index0/size
refuses 3 'index0/size: "a lot" is no size' --describe --sysfs sys --probe probe.txt
host
echo 63 >sys/cpu0/cache/index0/coherency_line_size
refuses 3 'no size of a line' --describe --sysfs sys --probe probe.txt
rm -rf sys/cpu0
refuses 3 'no data cache of level 1' --describe --sysfs sys --probe probe.txt
host
refuses 2 'nothing.txt can.t be read' --describe --sysfs sys --probe nothing.txt
echo 'cycle fast' >bad.txt
refuses 3 'bad.txt: "cycle fast" is no name' --describe --sysfs sys --probe bad.txt
echo 'cycle 1 2 3' >bad.txt # the median is not between
refuses 3 'bad.txt: "cycle 1 2 3" is no name' --describe --sysfs sys --probe bad.txt
echo 'speed 1 1 1' >bad.txt
refuses 3 '"speed" is nothing that is measured' --describe --sysfs sys --probe bad.txt
grep -v memory probe.txt >bad.txt
refuses 3 'no line of memory' --describe --sysfs sys --probe bad.txt
refuses 2 'did you mean "sor"?' --programs sorr --probe probe.txt
refuses 2 'threads is 1 to 64' --threads 65 --probe probe.txt
refuses 2 'repeats is 1 to 1000' --repeats 0 --probe probe.txt
refuses 2 './no-cc can.t be started: .*; install gcc' --cc ./no-cc --probe probe.txt
LARDSIM_VALIDATE=/nowhere refuses 2 'LARDSIM_VALIDATE' --quick --programs sor
: >there.json
refuses 7 'there.json' -o there.json
# A compiler without the sanitizer.
printf '#!/bin/sh\ncase " $* " in *sanitize*) echo "cannot find libtsan" >&2; exit 1 ;; esac\nexec %s "$@"\n' "${CC:-cc}" >no-tsan
chmod +x no-tsan
refuses 2 'does not build .*sor.c with -fsanitize=thread: cannot find libtsan; .*libtsan' --cc ./no-tsan --quick --programs sor --probe probe.txt
# All of it once, where compilers have what it takes: the file has its schema, and nothing is asked of its numbers.
echo 'int main(void) { return 0; }' >empty.c
if [ ! -f "$top_builddir/capture/lardsim-cc" ]; then
    echo "built without what records, which is for x86-64: nothing was measured"
elif gcc -fsanitize=thread -o empty empty.c 2>err && ./empty 2>err; then
    # In a root of files alone, the kernel's description of the caches is not there: the one above stands for it.
    host
    [ -d /sys/devices/system/cpu/cpu0 ] && set -- || set -- --sysfs sys
    "$lardsim" validate "$@" -q --quick --cc gcc --repeats 1 --threads 1 --programs series --probe probe.txt -o v.json >page 2>err ||
        fail "validate fails: $(cat err)"
    grep -q '^series  *1 ' page || fail "the page has no row of series: $(cat page)"
    for key in '"schema": "lardsim-validate-1"' '"runtime": "v' '"processors": [1-9]' '"shared_by": ' '"transfer": ' '"set": "core.width=3"' \
        '"program": "series"' '"threads": 1' '"nanoseconds": ' '"measured": ' '"predicted": [0-9]' '"error": ' '"wide": ' '"events": [1-9]' \
        '"rank_correlation": null' '"within_30_percent": [01]'; do
        grep -q "$key" v.json || fail "the file lacks $key"
    done
    python3 -c 'import json, sys; json.load(open("v.json"))' 2>/dev/null || ! command -v python3 >/dev/null || fail "the file is no JSON"
else
    echo "gcc has no ThreadSanitizer that runs here: nothing was measured ($(tail -n 1 err))"
fi
left=$(ls tmp)
[ -z "$left" ] || fail "working folders are left: $left"
exit $bad
