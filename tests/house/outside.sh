#!/bin/sh
# outside.sh - is results/ a program of a user's? Each of its files compiles against the header that `make install`
# installs, base/ and results/ alone: sim/lardsim.h is the installed one, and there is no other file of sim/, trace/,
# policy/ or workloads/. Files that the build makes (*.inc) are those of its folder.
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
build=$(cd "${top_builddir:?}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "outside.sh: $*"; bad=1; }
cd "$top" || exit 99

grep -o '^#include "[^"]*/[^"]*"' results/*.h results/*/*.[ch] | sed 's/:#include "/ /; s/"$//' |
    grep -v ' base/\| results/\| sim/lardsim.h$' >"$dir/includes"
while read -r file header; do
    fail "$file includes $header, which is not installed: sim/lardsim.h and headers of base/ are for results/"
done <"$dir/includes"

make -s -C "$build" DESTDIR="$dir/root" install-includeHEADERS >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
mkdir -p "$dir/user/sim"
find "$dir/root" -name '*.h' -exec mv {} "$dir/user/sim" \;
ln -s "$top/base" "$top/results" "$build"/*.inc "$dir/user"
cd "$dir/user" || exit 99
for f in results/*/*.c; do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -DLARDSIM_PKGLIBDIR='""' -DLARDSIM_PKGDATADIR='""' -I. \
        -Werror=implicit-function-declaration -fsyntax-only "$f" 2>"$dir/err" && continue
    fail "$f does not compile as a user's program: $(grep -m1 error "$dir/err")"
done
exit $bad
