#!/bin/sh
# headers.sh - every header compiles alone; the installed one also as C++; the policy on the page that
# tells how to add one compiles, too.
cd "${top_srcdir:-.}" || exit 99
bad=0
for h in $(find . -name "*.h" ! -path "./build*" | sed "s|^\./||" | sort); do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Werror=implicit-function-declaration \
        -fsyntax-only -x c "$h" || { echo "$h: does not compile alone"; bad=1; }
done
# What a page shows of a policy is one.
awk '/^```c$/ {on = 1; next} /^```/ {on = 0} on' docs/adding-a-policy.md |
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -fsyntax-only -x c - ||
    { echo "docs/adding-a-policy.md: its policy does not compile"; bad=1; }

if command -v "${CXX:-c++}" >/dev/null 2>&1; then
    ${CXX:-c++} -Wall -Wextra -pedantic -fsyntax-only -x c++ sim/lardsim.h || bad=1
fi
exit $bad
