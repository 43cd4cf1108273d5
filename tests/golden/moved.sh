#!/bin/sh
# moved.sh - what does this build say otherwise than another? That one is BASE: a commit, which is built once in moved/
# below the build folder, or a program. Without BASE it is the commit before the change at hand: HEAD if files of the tree
# are changed, else HEAD^. Both make the golden runs; each statistic and race that differs is printed, as "-RUN NAME,VALUE"
# and "+RUN NAME,VALUE", at most 20 lines a run. With ALL=yes it is all that a reader sees (outputs.sh): five minutes,
# and then the differences of files. Exit code 1: something moved.
set -u
lardsim=${LARDSIM:?}
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
moved=$(pwd)/moved
base=${BASE:-}
fail() { echo "moved.sh: $*" >&2; exit 2; }

# built COMMIT: sets $other to its program.
built() {
    commit=$(git -C "$top" rev-parse --verify --quiet "$1^{commit}") ||
        fail "git knows no commit $1 here; BASE=COMMIT or BASE=PROGRAM says what to compare with"
    made=$moved/$commit
    other=$made/build/lardsim
    [ ! -x "$other" ] || return 0
    echo "moved.sh: builds $1, once, in $made"
    rm -rf "$made"
    mkdir -p "$made/source" "$made/build" && git -C "$top" archive "$commit" | tar -xf - -C "$made/source" || exit 2
    (cd "$made/source" && autoreconf -fi && cd ../build && ../source/configure -q CFLAGS=-O1 &&
        make -s -j"$(nproc)" lardsim built-from) >"$made/log" 2>&1 || fail "$1 can't be built: $made/log says why"
}

# said PROGRAM FOLDER: what it says, in the folder, which must be new.
said() {
    if [ -n "${ALL:-}" ]; then
        LARDSIM=$1 top_srcdir=$top sh "$top/tests/golden/outputs.sh" "$2"
        return
    fi
    mkdir "$2" || return
    LARDSIM=$1 top_srcdir=$top sh "$top/tests/golden/golden.sh" --keep "$2"
    for results in "$2"/*.results; do
        name=${results##*/}
        name=${name%.results}
        sed '1d; s/,[^,]*$//' "$results/stats.csv" | cat - "$results/races.jsonl" | sed "s/^/$name /"
    done >"$2.lines"
}

if [ -z "$base" ]; then
    base=HEAD^
    git -C "$top" diff --quiet HEAD || base=HEAD
fi
if [ -f "$base" ] && [ -x "$base" ]; then
    other=$(cd "$(dirname "$base")" && pwd)/${base##*/}
else
    built "$base"
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
said "$other" "$dir/was" >"$dir/was.log" 2>&1 &
said "$lardsim" "$dir/is" >"$dir/is.log" 2>&1 || fail "this build: $(cat "$dir/is.log")"
wait $! || echo "moved.sh: $base has not all of the runs: $(cat "$dir/was.log")"
if [ -n "${ALL:-}" ]; then
    diff -r "$dir/was" "$dir/is"
else
    diff -U 0 "$dir/was.lines" "$dir/is.lines" | awk '
        /^(---|\+\+\+|@@) / { next }
        { run = substr($1, 2) }
        ++lines[run] <= 20
        END { for (run in lines) if (lines[run] > 20) print run ": " lines[run] - 20 " lines more" }'
    cmp -s "$dir/was.lines" "$dir/is.lines"
fi && echo "nothing moved since $base"
