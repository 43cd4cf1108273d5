#!/bin/sh
# outside.sh - is results/ a program of a user's? Each of its files compiles against the header that `make install`
# installs, base/ and results/ alone: sim/lardsim.h is the installed one, and there is no other file of sim/, trace/,
# policy/ or workloads/. Files that the build makes (*.inc) are those of its folder.
#
# A line below is a file of results/, and a header that it includes all the same. It may only go.
still='
results/experiment/spec.c workloads/programs/programs.h
results/papers/captured.c workloads/programs/programs.h
results/papers/lard.c workloads/programs/programs.h
results/validate/validate.h workloads/programs/programs.h
'
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
build=$(cd "${top_builddir:?}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "outside.sh: $*"; bad=1; }
cd "$top" || exit 99

echo "$still" | grep . | sort >"$dir/still"
grep -o '^#include "[^"]*/[^"]*"' results/*.h results/*/*.[ch] | sed 's/:#include "/ /; s/"$//' |
    grep -v ' base/\| results/\| sim/lardsim.h$' | sort >"$dir/includes"
comm -13 "$dir/still" "$dir/includes" >"$dir/new"
comm -23 "$dir/still" "$dir/includes" >"$dir/gone"
while read -r file header; do
    fail "$file includes $header, which is not installed: sim/lardsim.h and headers of base/ are for results/"
done <"$dir/new"
while read -r file header; do
    fail "$file does not include $header any more; take its line out of this test"
done <"$dir/gone"

make -s -C "$build" DESTDIR="$dir/root" install-includeHEADERS >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
mkdir -p "$dir/user/sim"
find "$dir/root" -name '*.h' -exec mv {} "$dir/user/sim" \;
ln -s "$top/base" "$top/results" "$build"/*.inc "$dir/user"
for header in $(sed 's/.* //' "$dir/still" | sort -u); do
    for f in $header $(echo "#include \"$header\"" | ${CC:-cc} -I. -D_GNU_SOURCE -MM -x c - | grep -o '[a-z][a-z0-9_]*/[a-z0-9_/.]*'); do
        case $f in base/* | sim/lardsim.h) continue ;; esac
        mkdir -p "$dir/user/${f%/*}" && ln -sf "$top/$f" "$dir/user/$f"
    done
done
cd "$dir/user" || exit 99
for f in results/*/*.c; do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -DLARDSIM_PKGLIBDIR='""' -DLARDSIM_PKGDATADIR='""' -I. \
        -Werror=implicit-function-declaration -fsyntax-only "$f" 2>"$dir/err" && continue
    fail "$f does not compile as a user's program: $(grep -m1 error "$dir/err")"
done
exit $bad
