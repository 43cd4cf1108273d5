# head.sh - how tests of the command line begin: they source it. $lardsim is the program, $top the source folder,
# $top_builddir that of the build. The test stands in $dir, a folder of its own, in memory if it says in_memory=1;
# `fail SENTENCE` makes bad 1, and ends the test of a mutant, which one failure is enough for. `run CODE ARGUMENT...` runs
# the program, into out and err; `says FILE TEXT`.
# `reseal DIR`: what was changed in results is as if a run had written it so.
# shellcheck shell=sh disable=SC2034  # whoever sources it uses them
lardsim=${LARDSIM:?the path of the program}
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
top_builddir=$(cd "${top_builddir:-.}" && pwd) || exit 99
if [ -n "${in_memory:-}" ] && [ -w /dev/shm ]; then
    dir=$(mktemp -d -p /dev/shm) || exit 99
else
    dir=$(mktemp -d) || exit 99
fi
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
cd "$dir" || exit 99
dir=$(pwd -P)
LC_ALL=C
export LC_ALL
bad=0
fail() {
    echo "${0##*/}: $*"
    bad=1
    [ -z "${LARDSIM_MUTANT:-}" ] || exit 1
}
says() { grep -qF -e "$2" "$1" || fail "$1 does not say: $2: $(head -c 300 "$1")"; }
run() {
    want=$1
    shift
    "$lardsim" "$@" >out 2>err </dev/null
    code=$?
    [ $code = "$want" ] || fail "$*: exit code $code, not $want: $(tail -n 2 err)"
}
reseal() {
    "$lardsim" verify "$1" 2>verify.err |
        sed -n 's/.* its digest is \([0-9a-f]*\), and .* has \([0-9a-f]*\)$/s,\2,\1,/p' >reseal.sed
    sed -i -f reseal.sed "$1/DONE" "$1/host.json"
}
