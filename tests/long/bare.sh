#!/bin/sh
# bare.sh [DEBS] - does lardsim work on a Debian machine that has nothing but Debian's smallest system? A root of that kind
# is made, the sources are unpacked in it as a stranger unpacks an archive, and bare_user.sh is its user. DEBS keeps packages
# for the next time. Prints a line `bare: PASS QUESTION` for each question; 77: no root can be made here.
# shellcheck source=tests/long/root.sh
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
. "$top/tests/long/root.sh"
why=$(root_refused) && { echo "no bare root: $why"; exit 77; }
[ -z "${1:-}" ] || find "$1" -maxdepth 1 -name '*.deb' -mtime +30 -delete 2>/dev/null

here=$(mktemp -d "${TMPDIR:-/var/tmp}/lardsim-bare.XXXXXX") || exit 99
trap 'root_remove "$here"' EXIT
trap 'exit 99' HUP INT TERM
began=$(date +%s)
root_make "$here/root" "${1:-}" >"$here/log" 2>&1 || { tail -n 5 "$here/log"; echo "bare: FAIL the root can't be made"; exit 1; }
echo "bare: the root took $(($(date +%s) - began)) s"
root_unpack "$top" "$here/root" || exit 99
root_run "$here/root" /bin/sh /src/tests/long/bare_user.sh
