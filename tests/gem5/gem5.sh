#!/bin/sh
# gem5.sh - with a real gem5: GEM5=PATH names its binary, built with EXTRAS=.../gem5 (docs/gem5.md).
# Are the verdicts of a live run those of its replay; does the detector leave gem5's time alone where
# it only counts, and do the cores wait for exactly what lardsim says where they wait; do threads come
# and go; do bad guests end with lardsim's message?
. "${top_srcdir:-.}/tests/cli/head.sh"
[ -x "${GEM5:-}" ] || {
    echo "gem5.sh: no gem5 here; GEM5=PATH names one that was built with this tree's gem5/ as EXTRAS"
    exit 77
}
guest=$top/gem5/guest
for program in counter figure1 objects series sor; do
    gcc -std=gnu11 -O2 -g -static -pthread "$guest/$program.c" "$guest/lard_pthread.c" \
        "@$guest/lard_pthread.wrap" -lm -o $program || exit 99
done

live() { # FOLDER OPTION... -- PROGRAM ARG...: a run in gem5
    out=$1
    shift
    timeout 600 "$GEM5" -q -d "$out" "$top/gem5/run.py" "$@" >"$out.txt" 2>&1
}
why() { grep -hE 'fatal|panic|Error' "$1.txt" || tail -3 "$1.txt"; } # FOLDER
stat() { # FOLDER NAME: of lardsim
    python3 -c 'import json, sys
v = json.load(open(sys.argv[1] + "/lardsim/stats.json"))
for part in sys.argv[2].split("/"): v = v[part]
print(v)' "$1" "$2"
}
ticks() { sed -n 's/^finalTick *\([0-9]*\).*/\1/p' "$1/stats.txt" | tail -1; }
sum() { # FOLDER NAME: of gem5's statistics, over all whose name ends so
    awk -v n="$2" '$1 ~ n "$" {s += $2} END {printf "%d\n", s}' "$1/stats.txt"
}
is() { # WHAT VALUE WANTED
    [ "$2" = "$3" ] || fail "$1 is $2, not $3"
}
races() { stat "$1" "policy/$2/races/accesses"; }

# A racy and a repaired counter, on 4 Timing and 4 Atomic cores; the replay says the same.
for cpu in timing atomic; do
    for how in racy locked atomic; do
        d=$cpu-$how
        live $d --policy vc,lardish --preset radish8 --cpu $cpu --record r.trace -- counter $how 20 4 ||
            fail "counter $how on $cpu: $(why "$d")"
        n=$(races $d vc)
        [ $how = racy ] && [ "$n" = 0 ] && fail "$cpu: the racy counter has no race"
        [ $how != racy ] && is "$cpu, counter $how: racy accesses" "$n" 0
        "$lardsim" run -q -c radish8 -p vc -p lardish --set cores=4 --set order=recorded -o $d.again $d/r.trace ||
            fail "$d: the replay fails"
        mkdir -p $d.replay && mv $d.again $d.replay/lardsim
        for p in vc lardish; do
            is "$d, $p: racy accesses of the replay" "$(races $d.replay $p)" "$(races $d $p)"
        done
    done
done
grep -q 'counter.c:.*by thread' timing-racy.txt || fail "the report of a race names no line: $(cat timing-racy.txt)"

# gem5's time: the same with lardsim as without, and longer by what the cores waited.
live plain --plain -- counter racy 20 4
is "final tick where lardsim only counts" "$(ticks timing-racy)" "$(ticks plain)"
live waits --policy lardish --preset radish8 --feedback -- counter locked 20 4
[ "$(ticks waits)" -gt "$(ticks timing-locked)" ] || fail "with --feedback nothing takes longer"
is "cycles that cores waited, or had no access any more to wait at" \
    "$(($(sum waits waitedCycles::total) + $(sum waits owedCycles::total)))" "$(sum waits addedCycles::total)"
is "cycles that lardsim counts" "$(sum waits addedCycles::total)" "$(stat waits host/added)"
is "ticks that answers were held" "$(sum waits '[.]delayTicks')" "$(($(sum waits waitedCycles::total) * 1000))"

# Threads come and go, and every kind of synchronisation orders.
for cpu in timing atomic; do
    live objects-$cpu --policy vc --cpu $cpu -- objects 3 4 || fail "objects on $cpu: $(why "objects-$cpu")"
    is "objects on $cpu: racy accesses" "$(races objects-$cpu vc)" 0
done

# LARD's Figure 1: racy accesses in the views of the litmus programs.
for case in concurrent_mark_race:0:0:0:0 collection_hides_race:2:0:2:2 reuse_without_clear:0:0:1:0 \
    move_without_copy:2:2:2:0; do
    which=${case%%:*}
    live $which --policy t=vc,s=vc,l=vc,c=vc,m=vc --set policy.t.view=tracked --set policy.s.view=all-sync \
        --set policy.l.view=no-clear --set policy.c.view=no-copy --set policy.m.view=all-memory \
        --tracked marked -- figure1 $which || fail "figure1 $which: $(why "$which")"
    is "$which, racy accesses as tracked:all-sync:no-clear:no-copy" \
        "$which:$(races $which t):$(races $which s):$(races $which l):$(races $which c)" "$case"
done
grep -q '"policy": "m".*"object": "o.n"' concurrent_mark_race/lardsim/races.jsonl ||
    fail "who looks at all memory does not report the marker's read of o.n"

# The same computation live and as a workload: so many checked accesses, and so many arrivals.
same() { # WORKLOAD PROGRAM ARGS
    # shellcheck disable=SC2086  # words
    "$lardsim" run -q -p vc -o "$2-workload/lardsim" "$1" || fail "$1 does not run"
    live "$2-live" --policy vc --tracked marked -- "$2" $3 || fail "$2: $(why "$2-live")"
    for what in roi/policy/vc/checked roi/events/kind/arrive roi/events/kind/fork roi/events/kind/join \
        policy/vc/races/accesses; do
        is "$2, $what" "$(stat "$2-live" $what)" "$(stat "$2-workload" $what)"
    done
}
mkdir -p sor-workload series-workload
same workload:sor,n=10,steps=2,threads=3 sor "10 2 3"
same workload:series,n=4,threads=2 series "4 2"

# A guest that says what can't be ends gem5 with lardsim's message, and results are kept.
bad() { # NAME MESSAGE CALL
    printf '#include "lard.h"\nint main(void) { static int x; (void)x; %s; return 0; }\n' "$3" >"$1.c"
    gcc -static -O2 "-I$guest" "$1.c" -o "$1" || exit 99
    live "bad-$1" --policy vc --cores 1 -- "$1" && fail "gem5 runs $1 to its end"
    grep -q "fatal: lardsim: .*$2" "bad-$1.txt" || fail "$1: no message that says \"$2\": $(why "bad-$1")"
    [ -f "bad-$1/lardsim/stats.json" ] && [ ! -f "bad-$1/lardsim/DONE" ] || fail "$1: no partial results"
}
bad magic 'which no call of lard.h' '__asm__ volatile(".byte 0x0f, 4, 0x70, 0" : : "D"(1ul) : "rax", "memory")'
bad number 'has the number 9999' 'LARD_SAY1(9999, 0)'
bad unmapped 'has no memory' 'lard_clear((void *)0x700000000000, 64)'
bad release 'release-held' 'lard_release(&x)'
bad thread 'is no thread' 'lard_fork(1ul << 40)'
live bad-set --policy vc --set no.such=1 -- counter && fail "a parameter that does not exist is taken"
grep -q 'fatal: lardsim: .*no.such' bad-set.txt || fail "a wrong parameter is not named: $(why "bad-set")"

# gem5's own marks of a region of interest, and the reset of its statistics; a runtime that keeps clocks.
cat >regions.c <<'END'
#include "lard.h"
#define M5(op) do { uint64_t r; __asm__ volatile(".byte 0x0f, 4, " op ", 0" : "=a"(r) : "D"(1ul), "S"(0ul) : "memory"); } while (0)
static void store(int n) { static volatile uint32_t x; while (n--) lard_store_u32(&x, 1); }
int main(void) { M5("0x5a"); store(7); M5("0x5b"); M5("0x40"); store(5); M5("0x5a"); store(11); M5("0x5b"); return 0; }
END
cat >raw.c <<'END'
#include "lard.h"
int main(void)
{
    lard_raw();
    lard_thread(0);
    for (uint64_t i = 2; i < 20; i++) { if (lard_readvc(0) != i - 1) LARD_SAY1(9999, 0); lard_writevc(0, i); }
    return 0;
}
END
for program in regions raw; do
    gcc -static -O2 "-I$guest" $program.c -o $program || exit 99
    live live-$program --policy vc --tracked marked --cores 1 -- $program || fail "$program (raw: readvc has to answer what writevc wrote): $(why live-$program)"
done
is "accesses in regions of interest since the reset" "$(stat live-regions roi/policy/vc/checked)" 11
is "accesses in all" "$(stat live-regions policy/vc/checked)" 23
is "clocks that a raw runtime has written" "$(stat live-raw events/kind/writevc)" 18

# gem5's own packet traces, with the sidecar that the guest writes.
gcc -std=gnu11 -O2 -g -static -pthread "$guest/counter.c" "$guest/lard_pthread.c" "$guest/lard_sync.c" \
    "@$guest/lard_pthread.wrap" -o counter-sync || exit 99
for how in racy locked atomic; do
    d=packets-$how
    live $d --plain --packets -- counter-sync $how 20 4 || fail "$d: $(why "$d")"
    "$lardsim" run -q -p vc -o $d/lardsim "gem5:sync=$d/sync.txt:$d/dcache*.ptrc.gz" || fail "$d can't be read"
    n=$(races $d vc)
    [ $how = racy ] && [ "$n" = 0 ] && fail "the packets of the racy counter have no race"
    [ $how != racy ] && is "$d: racy accesses" "$n" 0
done

# An O3 and a Minor CPU count only, and say so.
for cpu in o3 minor; do
    live $cpu --cpu $cpu --policy vc -- counter racy 5 2 || fail "$cpu: $(why $cpu)"
    grep -q 'warn: lardsim: .*nothing is detected' $cpu.txt || fail "$cpu: gem5 does not warn"
    grep -q '^lardsim: .*nothing was detected' $cpu.txt || fail "$cpu: the report does not say it"
    grep -q '"caveat": ".*nothing was detected' $cpu/lardsim/provenance.json || fail "$cpu: the results do not say it"
    is "$cpu: racy accesses" "$(races $cpu vc)" 0
    [ "$(sum $cpu '[.]unheard')" -gt 100 ] || fail "$cpu: nothing is counted"
done
exit $bad
