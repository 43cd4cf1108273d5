#!/bin/sh
# format.sh [--check] - lays out the lines of C and C++ that are changed as .clang-format says; with --check says which are
# not so, exit code 1. Changed means since BASE: without it, since HEAD if files are changed, else since HEAD^. ALL=yes takes
# all lines of all files. Files in tests/data are as somebody else wrote them.
set -u
cd "${top_srcdir:-.}" || exit 99
if ! command -v clang-format >/dev/null 2>&1; then
    echo "format.sh: clang-format is not installed (apt-get install clang-format)"
    exit 1
fi
if ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "format.sh: this is no clone of the repository, so which lines are changed is not known"
    exit 1
fi
do=-i
[ "${1:-}" != --check ] || do='--dry-run -Werror'
base=${BASE:-}
if [ -z "$base" ]; then
    base=HEAD^
    git diff --quiet HEAD || base=HEAD
fi
set -- '*.c' '*.h' '*.cc' '*.hh' ':!tests/data'
if [ -n "${ALL:-}" ]; then
    git ls-files -- "$@"
else
    # A file, and the lines that each of its hunks adds.
    git diff -U0 --no-color --no-ext-diff --no-prefix --diff-filter=d "$base" -- "$@" | awk '
        /^\+\+\+ / { file = $2; next }
        /^@@ / {
            split(substr($3, 2), at, ",")
            count = $3 ~ /,/ ? at[2] : 1
            if (!count) next
            if (file != last) printf "%s%s", last == "" ? "" : "\n", file
            printf " --lines=%d:%d", at[1], at[1] + count - 1
            last = file
        }
        END { if (last != "") print "" }'
    git ls-files --others --exclude-standard -- "$@"
fi | {
    bad=0
    while read -r file lines; do
        # shellcheck disable=SC2086  # lists of words
        clang-format $do $lines "$file" || bad=1
    done
    exit $bad
}
