#!/bin/sh
# library.sh - can a program of a user's be built against the installed library, as docs/library.md says? Its
# examples, through pkg-config, in the three ways of its table: each prints what the page shows. The pages of the
# manual are those of the header's functions.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
# What the library was built with, this test's own programs have to be linked with.
[ -z "${LARDSIM_INSTRUMENTED:-}" ] || { echo "instrumented: not linked"; exit 77; }
command -v pkg-config >/dev/null || { echo "pkg-config is missing"; exit 77; }

make -s -C "$top_builddir" DESTDIR="$dir/root" install-libLTLIBRARIES install-nodist_staticDATA install-includeHEADERS \
    install-pkgconfigDATA install-man install-data-local >install.log 2>&1 || { cat install.log; exit 1; }
pc=$(find root -name lardsim.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
root=$dir/root$prefix
sed -i "s|^prefix=.*|prefix=$root|" "$pc"
PKG_CONFIG_PATH=$dir/${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lardsim 2>/dev/null || echo "$root/lib")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lardsim)
page=$(pkg-config --variable=docdir lardsim)/library.md
[ -f "$page" ] || fail "docs/library.md is not installed where lardsim.pc says: $page"

# The n-th block of text on the page.
shown() { # N
    awk -v want="$1" '/^```text$/ {on = ++n == want; next} /^```/ {on = 0} on' "$page"
}
# In a folder of its own; what it prints is what the page shows.
try() { # HOW PROGRAM N
    mkdir "run-$2" && (cd "run-$2" && "../$2") >"$2.out" 2>&1 || fail "$1: $2 ends with an error: $(cat "$2.out")"
    shown "$3" | diff - "$2.out" || fail "$1: $2 does not print what docs/library.md shows"
}
examples=$(pkg-config --variable=docdir lardsim)/examples
# shellcheck disable=SC2046,SC2086  # words
{
    ${CC:-cc} -Wall -Wextra -Werror -std=c11 -o shared "$examples/host.c" $(pkg-config --cflags --libs lardsim) || fail "host.c is not built"
    ${CC:-cc} -Wall -Wextra -Werror -std=c11 -o script "$examples/runs.c" $(pkg-config --cflags --libs lardsim) ||
        fail "runs.c is not built"
    ${CXX:-c++} -Wall -Wextra -Werror -std=c++11 -o shared_cc "$examples/host.cc" $(pkg-config --cflags --libs lardsim) ||
        fail "host.cc is not built"
    ${CC:-cc} -o inside "$examples/host.c" $(pkg-config --cflags lardsim) $(pkg-config --variable=static lardsim) ||
        fail "host.c is not built with the library inside"
    ${CXX:-c++} -std=c++11 -o inside_cc "$examples/host.cc" $(pkg-config --cflags lardsim) \
        $(pkg-config --variable=static lardsim) || fail "host.cc is not built with the library inside"
    [ $bad = 0 ] || exit 1
    try shared shared 1
    try shared shared_cc 2
    try shared script 3
    (
        unset LD_LIBRARY_PATH
        bad=0
        try inside inside 1
        try inside inside_cc 2
        exit $bad
    ) || bad=1
    # Where the others have static libraries, too.
    if echo 'int main(void) { return 0; }' >none.c &&
        ${CC:-cc} -static -o none none.c $(pkg-config --static --libs-only-l libzstd zlib libxxhash yaml-0.1) 2>/dev/null; then
        ${CC:-cc} -static -o all "$examples/host.c" $(pkg-config --static --cflags --libs lardsim) 2>static.log ||
            fail "host.c is not linked statically: $(cat static.log)"
        try static all 1
    fi
}
# The trace that it recorded says what it said.
"$lardsim" run run-shared/host.lard >replay || fail "the recorded trace does not run"
found=$(grep -c '^race:' shared.out)
said=$(awk '$1 == "vc" {print $2}' replay)
[ "$found" = "$said" ] || fail "the example has found $found races, the replay $said"
[ -f run-shared/host-results/DONE ] || fail "the example has left no results"

# Names of the inside stay inside, in both forms.
nm -g --defined-only "$root"/lib*/liblardsim.a 2>/dev/null | awk 'NF == 3 && $3 !~ /^lardsim_/' >names
nm -gD --defined-only "$LD_LIBRARY_PATH/liblardsim.so" | awk 'NF == 3 && $3 !~ /^lardsim_/' >>names
[ ! -s names ] || fail "global names that are not lardsim_...: $(head -3 names)"

# Each function has a page, and no page is of nothing.
sed -n 's/^LARDSIM_API .*[ *]\(lardsim_[a-z_]*\)(.*/\1/p' "$top/sim/lardsim.h" | sort >functions
(cd "$(find root -type d -name man3)" && ls lardsim_*.3) | sed 's/[.]3$//' | sort | diff functions - ||
    fail "functions and pages of section 3 differ (nodist_man_MANS in Makefile.am)"
for f in $(cat functions) lardsim; do
    [ -s "$(find root -name "$f.3")" ] || fail "$f.3 is empty"
    grep -q '^[.]SH SYNOPSIS' "$(find root -name "$f.3")" || fail "$f.3 has no synopsis"
done
exit $bad
