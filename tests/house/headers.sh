#!/bin/sh
# headers.sh - every header compiles alone; the installed one also as C++.
cd "${top_srcdir:-.}" || exit 99
bad=0
for h in $(find . -name "*.h" ! -path "./build*" | sed "s|^\./||" | sort); do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -fsyntax-only -x c "$h" || { echo "$h: does not compile alone"; bad=1; }
done
if command -v "${CXX:-c++}" >/dev/null 2>&1; then
    ${CXX:-c++} -Wall -Wextra -pedantic -fsyntax-only -x c++ sim/lardsim.h || bad=1
fi
exit $bad
