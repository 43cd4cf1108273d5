#!/bin/sh
# clocks.sh - is a whole machine the same, to the cycle, with the memory `ddr` and with DRAMSim3 itself, where
# the edges of the processor's clock and of the memory's meet and where they do not? Every statistic that both have
# must be the same. Skipped where lardsim is built without DRAMSim3.
in_memory=1
. "${top_srcdir:-.}/tests/cli/head.sh"

machine() { # MEMORY FILE MHZ SETTING...: a run of $of, into MEMORY
    memory=$1 file=$2 mhz=$3
    shift 3
    for setting; do
        shift
        set -- "$@" --set "$setting"
    done
    rm -rf "$memory"
    "$lardsim" run --quiet -c radish8 -p fasttrack --set l1.size=2Ki --set l2.size=8Ki --set l3.size=64Ki \
        --set "memory.type=$memory" --set "memory.$memory.config=$top/tests/data/$file.ini" --set frequency="$mhz" \
        "$@" -o "$memory" "$of" 2>err
}

of=workload:sor,n=16,steps=2
machine dramsim3 ddr4_small 4000
code=$?
grep -q 'built without DRAMSim3' err && {
    echo "clocks.sh: this lardsim was built without DRAMSim3 (configure --with-dramsim3=DIR)"
    exit 77
}
[ $code = 0 ] || {
    fail "the run with dramsim3 ends with $code: $(cat err)"
    exit 1
}

# A memory cycle is so many of the processor's: 1 / 1, 2 / 1, 1 / 2, 3 / 2, 3 / 5, 3 / 1, 15 / 4, 833 / 250, 333 / 1000.
compared=0
while read -r file mhz settings; do
    for of in workload:sor,n=16,steps=2 synth:events=4k,threads=8,seed=3,variables=40000; do
        for memory in dramsim3 ddr; do
            # shellcheck disable=SC2086  # words
            machine $memory "$file" "$mhz" $settings || fail "$of on $file at $mhz MHz with $memory: $(cat err)"
            grep -v '^roi\.memory\.\|^memory\.stalls,' "$memory/stats.csv" | sort >"$memory.rows"
        done
        [ "$(grep -c '^memory\.' dramsim3.rows)" -gt 10 ] || fail "dramsim3 has no statistics of memory"
        comm -23 dramsim3.rows ddr.rows >apart
        [ -s apart ] && fail "$of on $file at $mhz MHz $settings: not the same with ddr:" "$(head -3 apart)"
        cmp -s dramsim3/races.jsonl ddr/races.jsonl || fail "$of on $file at $mhz MHz: other races"
        compared=$((compared + 1))
    done
done <<'END_OF_MACHINES'
ddr/stack 1000
ddr/stack 2000 core.store-buffer=4 core.misses=4
ddr/stack 500 core.store-buffer=4 core.misses=4
ddr/stack 1500
ddr/stack 600 core.misses=8 core.prefetch.streams=4
ddr/wide 3200 core.store-buffer=4 core.misses=4
ddr/wide 4000
ddr4_small 4000 core.store-buffer=4 core.misses=4
ddr/stack 333
END_OF_MACHINES
[ $compared = 18 ] || fail "$compared runs were compared, not 18"
exit $bad
