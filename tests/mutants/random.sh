#!/bin/sh
# random.sh LIST [PATTERN] - whether the tests notice the small changes that tests/mutants/mutate.c has drawn, with a
# figure for each room: the unit tests, and the scripts of make check that run the program and know what it should say; no
# golden results. LIST is what mutate says of the changes; this runs in a build of the copy of the source that has them.
# First each test whose path fits PATTERN runs with nothing broken, and says which changes it comes by. Then each mutant
# is given to the tests that do, the likeliest first, until one fails or does not end.
list=$1
build=$(pwd)
work=$build/random
LC_ALL=C
LARDSIM=$build/lardsim
top_builddir=$build
export LC_ALL LARDSIM top_builddir
enough=60000 # milliseconds of tests that a mutant is given to; the likeliest and the nearest by name come in any case

# in_a_folder TEST: with one of its own to work in, as two mutants may be tried with one test.
in_a_folder() {
    dir=$(mktemp -d "$work/XXXXXX") && cd "$dir" || exit 99
    run=$build/$1
    case $1 in
    *.sh) run="${SHELL:-sh} ${top_srcdir:?}/$1" ;;
    esac
    # Who allocates without end shall fail soon; a JVM reserves more than it takes.
    most=6000000000
    case $1 in
    tests/capture/*.sh) most=unlimited ;;
    esac
    # shellcheck disable=SC2086 # a script has two words
    { prlimit --core=0 --as=$most timeout -k 5 "${seconds:-900}" $run; } >"$dir.log" 2>&1 </dev/null
    code=$?
    cd "$build" && rm -rf "$dir"
    [ $code = 99 ] || rm -f "$dir.log"
    return $code
}

case ${2:-} in
reach) # TEST: leaves NUMBER MILLISECONDS TEST for all mutants that it comes by
    began=$(date +%s%N)
    reached=$work/$(echo "$3" | tr / -)
    LARDSIM_REACHED=$reached.bytes in_a_folder "$3"
    code=$?
    took=$((($(date +%s%N) - began) / 1000000))
    echo "$took $3" >>"$work/took"
    case $code in
    0) ;;
    77) exit 0 ;; # there is nothing for it to do here
    *)
        echo "$3 fails with nothing broken"
        case $3 in
        *.sh) exit 0 ;; # what it asks of the build, this one has not: it judges nobody
        esac
        exit 255 ;; # which ends xargs
    esac
    [ ! -f "$reached.bytes" ] ||
        od -An -v -tu1 -w1 "$reached.bytes" | awk -v t=$took -v p="$3" '$1 {print NR - 1, t, p}' >"$reached.reach"
    exit ;;
# NUMBER: says who notices. A test is eight times as likely to for each folder or word of its name that it has in common
# with the file. The one that has most of them, and lasts longest, is given to each mutant.
try)
    row=$(grep "^R$3	" "$list")
    cat "$work"/*.reach | awk -v n="$3" -v file="$(printf '%s\n' "$row" | cut -f 2)" '$1 == n {
        test = $3
        sub("^tests/", "", test)
        parts = split(test, part, "[/.-]")
        split(file, folder, "[/.]")
        score = $2 + 1
        for (i = 1; i <= parts && part[i] == folder[i]; i++)
            score /= 8
        print score, i, $2, $3
    }' | sort -n >"$work/$3.likely"
    awk -v enough=$enough 'FNR == NR {if ($2 > most || ($2 == most && $2 > 2)) {most = $2; nearest = FNR}; next}
        FNR == nearest || FNR == 1 || sum + $3 <= enough {if (FNR != nearest) sum += $3 + 1; print $3, $4}' \
        "$work/$3.likely" "$work/$3.likely" >"$work/$3.tests"
    while read -r took program; do
        seconds=$((10 + took / 250))
        LARDSIM_MUTANT=$3 in_a_folder "$program" && continue
        case $? in 124 | 137) how="does not end" ;; *) how=fails ;; esac
        echo "noticed: $(printf '%s
' "$row" | cut -f 1,2): ${program#tests/} $how"
        exit 0
    done <"$work/$3.tests"
    [ -s "$work/$3.tests" ] && why="no test notices" || why="no test comes by"
    printf '%s\n' "$row" | awk -F '\t' -v why="$why" '{print "survives: " $1 "\t" $2 ": " why; print "-" $3; print "+" $4}'
    exit 0 ;;
esac

rm -rf "$work"
mkdir -p "$work" || exit 99
cores=$(nproc 2>/dev/null || echo 1)
# Not those that judge the tree, and not the program.
{
    find tests -name 't_*' -type f -perm -100
    sed -n 's/^scripts += //p' "${top_srcdir:?}/tests/tests.mk" | grep -v -e /house/ -e /golden/ -e /mutants/
} | grep -e "${2:-.}" | sort |
    xargs -P "$cores" -n 1 "${SHELL:-sh}" "$0" "$list" reach || exit 1
sed -n 's/^R\([0-9]*\).*/\1/p' "$list" | xargs -P "$cores" -n 1 "${SHELL:-sh}" "$0" "$list" try | tee "$work/result"
# Each room, each folder with several, and all. Of those that are not equivalent nine in ten are to be noticed in rooms
# whose survivors have been looked at, six in ten elsewhere. A few that are
# drawn can say only that surely they are not: that so few would be noticed, if they were, less than once in ten
# thousand draws (the binomial distribution's lower tail): there are some sixty rooms and folders.
{ cat "$work/result"; grep '^equivalent' "$list"; } | awk -F '\t' '
function room_count(room) {
    if (!(room in drawn))
        order[++rooms] = room
    drawn[room]++
    count[$1 ~ /^noticed/ ? "noticed" : $1 ~ /^survives/ ? "survived" : "equivalent", room]++
}
function surely_fewer(n, k, p,    i, term, tail) {
    for (i = 0; i <= k; i++) {
        term = i ? term * (n - i + 1) / i * p / (1 - p) : (1 - p) ^ n
        tail += term
    }
    return tail < 0.0001
}
function goal(room) {
    if (room == "capture/java") # whose collections come when they like
        return 0.6
    return room ~ "^(capture|cli/(capture|run)|coherence/dsm|results/(drawing|page)|trace|workloads/measure)(/|$)" ? 0.9 : 0.6
}
/^(noticed|survives|equivalent)/ {
    room = $2
    sub(":.*", "", room)
    sub("/[^/]*$", "", room)
    for (; ; sub("/[^/]*$", "", room)) {
        room_count(room)
        if (room !~ "/" || room == "capture/java") # less is asked of this one than of its folder
            break
    }
    room_count("all")
}
END {
    form = "%-20s %5s %8s %9s %11s %8s\n"
    printf form, "room", "drawn", "noticed", "survived", "equivalent", "percent"
    for (r = 1; r <= rooms; r++) {
        room = order[r]
        k = count["noticed", room] + 0
        n = k + count["survived", room]
        fewer = surely_fewer(n, k, goal(room))
        bad += fewer
        printf form, room, drawn[room], k, n - k, drawn[room] - n, (n ? sprintf("%.0f", 100 * k / n) : "-") (fewer ? " TOO FEW" : "") | "sort"
    }
    close("sort")
    exit bad || !n
}'
