#!/bin/sh
# wrong-native.sh [NAME...] - would a wrong recorder of native programs be noticed? Each is the runtime with one rule
# broken, built here; stress.sh has to fail with it, and to pass with the runtime as it is.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
KEPT=$dir
export KEPT
command -v gcc >/dev/null || { echo "no gcc here"; exit 77; }
asked=" $* "

# wrong NAME FILE SED-COMMAND...: the runtime with that file of capture/native changed, or wrong.h included in it.
wrong() {
    name=$1 file=$2
    shift 2
    case "$asked" in
    "  " | *" $name "*) ;;
    *) return ;;
    esac
    mkdir "$name"
    cp -r "$top/capture" "$name"
    [ ! -f wrong.h ] || mv wrong.h "$name/capture"
    sed -i "$@" "$name/capture/native/$file.c"
    [ "$name" = none ] || ! cmp -s "$top/capture/native/$file.c" "$name/capture/native/$file.c" || fail "$name: nothing was changed"
    for c in "$name"/capture/native/*.c; do
        gcc -std=gnu11 -O2 -fPIC -fno-builtin -D_GNU_SOURCE -I"$name" -I"$top" -c -o "${c%.c}.o" "$c" || fail "$name: does not build"
    done
    ar rcs "$name/native.a" "$name"/capture/native/*.o
    LARDSIM_NATIVE=$dir/$name/native.a sh "$top/tests/capture/stress.sh" "${seconds:-30}" 0 native >"$name/said" 2>&1
    code=$?
    [ "$name" = none ] && [ $code != 0 ] && fail "the right one is refused: $(head -n 1 "$name/said")"
    [ "$name" != none ] && [ $code != 1 ] && fail "$name: the stress notices nothing: $(cat "$name/said")"
    echo "$name: $(head -n 1 "$name/said" | cut -c 1-170)"
}
# From here on accesses are recorded by what wrong.h has instead.
instead='s|^#include "capture/native/record.h"|&\n#include "capture/wrong.h"\n#define record_access record_wrong|'
one_in_100000='static _Atomic unsigned n;
#define NOW (atomic_fetch_add(&n, 1) % 100000 == 99999)
static void record_wrong(uint8_t kind, uint64_t addr, uint32_t size, uint64_t site)'

seconds=1
wrong none access -e ''
seconds=30

cat >wrong.h <<END
$one_in_100000
{
    if (!NOW)
        record_access(kind, addr, size, site);
}
END
wrong lost access -e "$instead"
cat >wrong.h <<END
$one_in_100000
{
    if (NOW)
        record_access(kind, addr, size, site);
    record_access(kind, addr, size, site);
}
END
wrong twice access -e "$instead"
# One waits for the next one of its thread.
cat >wrong.h <<END
$one_in_100000
{
    static _Thread_local struct { uint64_t addr, site; uint32_t size; uint8_t kind; } late;
    if (!late.kind && NOW) {
        late.addr = addr, late.site = site, late.size = size, late.kind = kind;
        return;
    }
    record_access(kind, addr, size, site);
    if (late.kind)
        record_access(late.kind, late.addr, late.size, late.site);
    late.kind = 0;
}
END
wrong swapped access -e "$instead"
rm -f wrong.h

# What happens between a call and its record is rare: now and then there is time for it.
pause='{ static _Atomic unsigned n; if (atomic_fetch_add(\&n, 1) % 16 == 0) sched_yield(); }'
include='s|^#include <dlfcn.h>|#include <sched.h>\n&|'
wrong release-late sync -e "$include" -e "/^#define GIVES/,/^ *}/{s/record_sync(kind, ADDR(lock), SITE()); */const int got = real(lock); $pause/;s/return real(lock);/record_sync(kind, ADDR(lock), SITE()); return got;/}"
wrong acquire-early sync -e "/^#define TAKES/,/^ *}/{s/const int got = real arguments;/record_sync(kind, ADDR(lock), SITE()); const int got = real arguments;/;s/if (got == 0 || got == EOWNERDEAD)/if (0)/}"
wrong post-late sync -e "$include" -e "/^int sem_post/,/^}/{s/record_sync(.*/const int got = real(s); $pause/;s/return real(s);/record_sync(REC_VOLATILE_WRITE, ADDR(s), SITE()); return got;/}"
wrong depart-early sync -e '/^int pthread_barrier_wait/,/^}/s/^    int got = real(b);/    int got;/;/^int pthread_barrier_wait/,/^}/s/return got;/got = real(b); return got;/'
wrong fork-late sync -e 's/^    record_sync(REC_FORK, number, SITE());//' -e 's/^    if (got == 0) {/    record_sync(REC_FORK, number, SITE());\n&/'
wrong join-early sync -e "/^#define JOINS/,/^ *}/{s/const int got = real arguments;/joined(t, at, SITE()); &/;s/if (got == 0)/if (0)/}"
wrong atomic-apart access -e "s|^#define SEQ .*|&\n#include <sched.h>|" -e "/^#define UPDATE/,/^ *}/{s/atomic_done(/unlock(l); l = NULL; $pause &/}"
wrong alloc-late heap -e '/^static void \*given/,/^}/{s/^{/{ static _Thread_local struct { uint64_t at, n, site; } late; if (late.at) record_more(REC_ALLOC, late.at, late.n, 0, late.site);/;s/record_more(REC_ALLOC.*/late.at = ADDR(p), late.n = malloc_usable_size(p), late.site = site;/;s/if (p)$/late.at = 0; &/}'
wrong free-late heap -e '/^static void taken/,/^}/{s/^{/{ static _Thread_local struct { uint64_t at, n, site; } late; if (late.at) record_more(REC_CLEAR, late.at, late.n, 0, late.site);/;s/record_more(REC_CLEAR.*/late.at = ADDR(p), late.n = malloc_usable_size(p), late.site = site;/;s/if (p)$/late.at = 0; &/}'
exit $bad
