#!/bin/sh
# hygiene.sh - the library prints nothing, ends nothing, has no mutable globals, exports only its own
# names; one file each knows a foreign library; nothing promises more than it does; lists of make are whole.
cd "${top_srcdir:-.}" || exit 99
build=${top_builddir:-.}
bad=0
say() { echo "$*"; bad=1; }

lib=$(find base trace memory cache coherence isa swmanager runtime policy sim workloads -name '*.c' ! -path 'base/program/*' ! -path 'workloads/native/*')
# die() in err.c is the one way out, host.c the one reader of clocks.
# shellcheck disable=SC2086  # a list of files
hits=$(grep -nE '(^|[^a-z_>])(printf|puts|exit|abort|rand|random|time|getenv|localtime|setlocale)\(' $lib)
[ -z "$hits" ] || say "the library calls what it must not:
$hits"
# shellcheck disable=SC2086
hits=$(grep -nE 'clock_gettime|gettimeofday|getrusage' $lib | grep -v '^sim/session/host.c')
[ -z "$hits" ] || say "a clock outside host.c:
$hits"
for pair in memory_system.h:memory/dramsim3/glue.cc yaml.h:base/yaml.c zstd.h:trace/binary/codec.c zlib.h:trace/binary/codec.c xxhash.h:base/digest.c; do
    # shellcheck disable=SC2046,SC2086
    for f in $(grep -lE "#include <${pair%%:*}>" $lib $(find cli results tests -name '*.c')); do
        [ "$f" = "${pair#*:}" ] || say "$f: includes <${pair%%:*}>, which belongs to ${pair#*:}"
    done
done
archive=$build/.libs/libcore.a
if [ -f "$archive" ] && [ -z "${LARDSIM_INSTRUMENTED:-}" ]; then
    size -A "$archive" | awk '$1 ~ /^\.t?(data|bss)(\.[a-z_]+)?$/ && $1 !~ /rel\.ro/ {s += $2} END {exit s != 0}' ||
        say "mutable globals: $(size -A "$archive" | awk '/:$/ {f = $1} /^[a-z_]+\.o/ {f = $1} $1 ~ /^\.t?(data|bss)(\.[a-z_]+)?$/ && $1 !~ /rel\.ro/ && $2 {print f, $1, $2}')"
fi
so=$build/.libs/liblardsim.so
if [ -f "$so" ] && [ -z "${LARDSIM_INSTRUMENTED:-}" ]; then
    hits=$(nm -D --defined-only "$so" | awk '$2 != "A" && $3 !~ /^lardsim_/ {print $3}')
    [ -z "$hits" ] || say "exported without the prefix: $hits"
fi
# A list that begins inside another, or goes on into nothing: make takes it, and builds or packs something else.
hits=$(awk 'FNR == 1 {on = 0}
    on && (/^[A-Za-z_]+ *[+:]?=/ || /^$/ || /^#/) {print FILENAME ":" FNR ": the list above goes on here"}
    {on = /\\$/}' Makefile.am ./*/*.mk)
[ -z "$hits" ] || say "lists of make: $hits"
# shellcheck disable=SC2046  # a list of files
hits=$(grep -nIE 'TODO|FIXME|\bXXX\b|not implemented|unimplemented' $(find . \( -name "*.[ch]" -o -name "*.def" \) ! -path "./build*") | head -5)
[ -z "$hits" ] || say "words that promise more than they do: $hits"
exit $bad
