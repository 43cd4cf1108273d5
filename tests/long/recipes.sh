#!/bin/sh
# recipes.sh [DEBS [NAME...]] - does each recipe of `lardsim programs`, or the named ones, run with just what lardsim says
# that it lacks? Each from a fresh copy of a bare Debian root in which lardsim was built: recipe_user.sh does there what
# is said. DEBS keeps packages for the next time. Some 15 minutes on two idle cores; 77: no root can be made here.
# shellcheck source=tests/long/root.sh
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
. "$top/tests/long/root.sh"
why=$(root_refused) && { echo "no bare root: $why"; exit 77; }
here=$(mktemp -d "${TMPDIR:-/var/tmp}/lardsim-recipes.XXXXXX") || exit 99
trap 'root_remove "$here"' EXIT
trap 'exit 99' HUP INT TERM

{
    root_make "$here/built" "${1:-}" && root_unpack "$top" "$here/built" &&
        root_run "$here/built" /src/quickstart run
} >"$here/log" 2>&1 || { tail -n 15 "$here/log"; echo "recipes: FAIL lardsim can't be built in a bare root"; exit 1; }
[ $# -lt 1 ] || shift
# shellcheck disable=SC2046  # names, of letters and digits
[ $# -gt 0 ] || set -- $(cd "$top/workloads/programs/recipes" && ls -d ./*/ | tr -d ./)
bad=0
for name; do
    root_copy "$here/built" "$here/$name" || exit 99
    if root_run "$here/$name" /bin/sh /src/tests/long/recipe_user.sh "$name" >"$here/log" 2>&1; then
        echo "recipes: PASS $name: $(tail -n 1 "$here/log")"
    else
        echo "recipes: FAIL $name"
        tail -n 25 "$here/log"
        bad=1
    fi
    root_remove "$here/$name"
done
exit $bad
