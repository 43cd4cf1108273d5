#!/bin/sh
# random.sh LIST - whether the tests notice the small changes that tests/mutants/mutate.c has drawn: the unit
# tests, and the scripts that run the program and know what it should say; no golden results. LIST is
# what mutate says of the changes; this runs in a build of the copy of the source that has them. First
# each test runs with nothing broken, and says which changes it comes by. Then each mutant is given to
# the tests that do, the quickest first, until one fails or does not end.
list=$1
build=$(pwd)
work=$build/random
LC_ALL=C
LARDSIM=$build/lardsim
top_builddir=$build
export LC_ALL LARDSIM top_builddir
# Not those that take longest: progress, reproduce, twins, workload.
scripts="cli/cli cli/compare cli/machine cli/output cli/radish workloads/litmus/litmus"

# in_a_folder TEST: with one of its own to work in, as two mutants may be tried with one test.
in_a_folder() {
    dir=$(mktemp -d "$work/XXXXXX") && cd "$dir" || exit 99
    run=$build/$1
    case $1 in
    *.sh) run="${SHELL:-sh} ${top_srcdir:?}/$1" ;;
    esac
    # Who allocates without end shall fail soon.
    # shellcheck disable=SC2086 # a script has two words
    { prlimit --core=0 --as=6000000000 timeout "${seconds:-300}" $run; } >/dev/null 2>&1 </dev/null
    code=$?
    cd "$build" && rm -rf "$dir"
    return $code
}

case ${2:-} in
reach) # TEST: leaves NUMBER MILLISECONDS TEST for all mutants that it comes by
    began=$(date +%s%N)
    reached=$work/${3##*/}
    LARDSIM_REACHED=$reached.bytes in_a_folder "$3"
    case $? in
    0) ;;
    77) exit 0 ;; # there is nothing for it to do here
    *)
        echo "$3 fails with nothing broken"
        exit 255 ;; # which ends xargs
    esac
    took=$((($(date +%s%N) - began) / 1000000))
    [ ! -f "$reached.bytes" ] ||
        od -An -v -tu1 -w1 "$reached.bytes" | awk -v t=$took -v p="$3" '$1 {print NR - 1, t, p}' >"$reached.reach"
    exit ;;
try) # NUMBER: says who notices
    row=$(sed -n "$3p" "$list")
    sort -n -k2 "$work"/*.reach | awk -v n="$3" '$1 == n {print $2, $3}' >"$work/$3.tests"
    while read -r took program; do
        seconds=$((5 + took / 100))
        LARDSIM_MUTANT=$3 in_a_folder "$program" && continue
        [ $? = 124 ] && how="does not end" || how=fails
        echo "noticed: $(echo "$row" | cut -f 1,2): ${program##*/} $how"
        exit 0
    done <"$work/$3.tests"
    [ -s "$work/$3.tests" ] && why="no test notices" || why="no test comes by"
    echo "$row" | awk -F '\t' -v why="$why" '{print "survives: " $1 " " $2 ": " why; print "-" $3; print "+" $4}'
    exit 0 ;;
esac

rm -rf "$work"
mkdir -p "$work" || exit 99
cores=$(nproc 2>/dev/null || echo 1)
{
    find tests -name 't_*' -type f -perm -100 | sort
    for script in $scripts; do echo "tests/$script.sh"; done
} |
    xargs -P "$cores" -n 1 "${SHELL:-sh}" "$0" "$list" reach || exit 1
n=$(wc -l <"$list")
seq "$n" | xargs -P "$cores" -n 1 "${SHELL:-sh}" "$0" "$list" try | tee "$work/result"
noticed=$(grep -c '^noticed: ' "$work/result")
echo "$n small changes, $noticed noticed"
# The suite is to notice 60 in 100. A few that are drawn can say only that it surely does not: that so few
# would be noticed, if it did, less than once in a thousand draws (the binomial distribution's lower tail).
awk -v n="$n" -v k="$noticed" -v p=0.6 'BEGIN {
    for (i = 0; i <= k; i++) {
        term = i ? term * (n - i + 1) / i * p / (1 - p) : (1 - p) ^ n
        tail += term
    }
    exit !(n > 0 && tail >= 0.001)
}'
