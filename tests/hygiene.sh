#!/bin/sh
# hygiene.sh - the library prints nothing, ends nothing, has no mutable globals, exports only its own
# names; one file each knows a foreign library; nothing promises more than it does.
cd "${top_srcdir:-.}" || exit 99
build=${top_builddir:-.}
bad=0
say() { echo "$*"; bad=1; }

lib=$(ls base/*.c trace/*.c memory/*.c cache/*.c coherence/*.c isa/*/*.c swmanager/*.c runtime/*.c policy/*.c sim/*.c workloads/*.c 2>/dev/null)
# die() in err.c is the one way out, host.c the one reader of clocks.
# shellcheck disable=SC2086  # a list of files
hits=$(grep -nE '(^|[^a-z_])(printf|puts|exit|abort|rand|random|time|getenv|localtime|setlocale)\(' $lib)
[ -z "$hits" ] || say "the library calls what it must not:
$hits"
# shellcheck disable=SC2086
hits=$(grep -nE 'clock_gettime|gettimeofday|getrusage' $lib | grep -v '^sim/host.c')
[ -z "$hits" ] || say "a clock outside host.c:
$hits"
for pair in dramsim3.h:memory/dramsim3_glue.cc yaml.h:base/yaml.c zstd.h:trace/codec.c zlib.h:trace/codec.c xxhash.h:base/digest.c; do
    # shellcheck disable=SC2086
    for f in $(grep -lE "#include <${pair%%:*}>" $lib cli/*.c tests/*.c 2>/dev/null); do
        [ "$f" = "${pair#*:}" ] || say "$f: includes <${pair%%:*}>, which belongs to ${pair#*:}"
    done
done
names=$(for f in */*.[ch] */*/*.[ch]; do echo "${f##*/}"; done | sort | uniq -d)
[ -z "$names" ] || say "file names that stand twice: $names"

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
hits=$(grep -nIE 'TODO|FIXME|\bXXX\b|not implemented|unimplemented' ./*/*.[ch] ./*/*/*.[ch] ./*/*.def | head -5)
[ -z "$hits" ] || say "words that promise more than they do: $hits"
exit $bad
