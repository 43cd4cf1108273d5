#!/bin/sh
# guest.sh - do the guests of gem5/guest run on real hardware, where the calls of lard.h do nothing,
# and does the interposer stand before each function that lard_pthread.wrap names?
. "${top_srcdir:-.}/tests/cli/head.sh"
guest=$top/gem5/guest
cc=${CC:-cc}
flags="-std=gnu11 -O2 -g -Wall -Wextra -Werror -static -pthread"

echo 'int main(void) { return 0; }' >empty.c
# shellcheck disable=SC2086  # words
$cc $flags empty.c -o empty 2>/dev/null && [ "$(uname -m)" = x86_64 ] || {
    echo "guest.sh: no static C library for x86-64 here; guests are not tried"
    exit 77
}
for program in counter figure1 objects series sor; do
    # shellcheck disable=SC2086
    $cc $flags "$guest/$program.c" "$guest/lard_pthread.c" "@$guest/lard_pthread.wrap" -lm -o $program ||
        fail "$program.c does not compile with the interposer"
done
run() { # PROGRAM ARG...: ends well, and soon
    name=$1
    shift
    timeout 20 "./$name" "$@" >out 2>&1 || fail "$name ends with $? on real hardware: $(cat out)"
}
run counter racy 100 4
run counter locked 1000 4
run counter atomic 1000 4
run objects 3 4
run series 4 3
run sor 10 2 3
for which in concurrent_mark_race collection_hides_race reuse_without_clear move_without_copy; do
    run figure1 $which
done
timeout 20 ./figure1 nothing 2>/dev/null && fail "figure1 takes a program that it does not have"

# The sidecar of a packet trace (docs/foreign-formats.md): a section for each thread, from out or start
# to end; who is in may say events, who is out says nothing; what is released was acquired.
# shellcheck disable=SC2086
$cc $flags "$guest/objects.c" "$guest/lard_pthread.c" "$guest/lard_sync.c" "@$guest/lard_pthread.wrap" -o objects ||
    fail "lard_sync.c does not compile"
LARD_SYNC=side run objects 2 3
awk 'NR == 1 {if ($0 != "lardsim-gem5-sync 1") print "begins with " $0; next}
    $1 == "thread" {if (n++ && !over) print thread " does not end"
        thread = $2; seen[$2]++; inside = $2 > 0; over = 0; next}
    over {print thread " goes on after its end"}
    $1 == "out" {if (first[thread]++ && !inside) print thread " is out, and goes out"; inside = 0}
    $1 == "in" {if (!inside && $2 == "start") print thread " starts again"; inside = 1}
    $2 == "acq" {held[thread]++} $2 == "rel" && !held[thread]-- {print thread " releases what it has not"}
    $2 == "fork" {made[$3]++} $2 == "join" {joined[$3]++} $2 == "end" {over = 1}
    END {for (i = 0; i < 5; i++) if (seen[i] != 1 || (i && (made[i] != 1 || joined[i] != 1)))
        print "thread " i ": " seen[i] " sections, " made[i] " forks, " joined[i] " joins"}' side >wrong
[ -s wrong ] && fail "the sidecar of objects: $(head -3 wrong)"

# What the linker is told to wrap is what is wrapped.
sed -n 's/^-Wl,--wrap=//p' "$guest/lard_pthread.wrap" | sort >named
# shellcheck disable=SC2086
$cc -std=gnu11 -O2 -c "$guest/lard_pthread.c" -o interposer.o
nm interposer.o | sed -n 's/.* T __wrap_//p' | sort >there
cmp -s named there || fail "lard_pthread.wrap and lard_pthread.c differ: $(diff named there)"

# lard.h is C++, too, and C without extensions.
printf '#include "lard.h"\nint main() { lard_acquire(0); lard_name("", "x"); return (int)lard_readvc(1); }\n' >plus.cc
${CXX:-c++} -Wall -Wextra -Werror "-I$guest" plus.cc -o plus && run plus ||
    fail "lard.h is no C++"
cp plus.cc plain.c
$cc -std=c11 -pedantic -Wall -Wextra -Werror "-I$guest" plain.c -o plain && run plain ||
    fail "lard.h is no C11"
exit $bad
