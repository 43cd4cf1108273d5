#!/bin/sh
# place.sh - does lardsim, run from where it was built, find what belongs to it, without a variable and without being
# installed? Does a variable still win? Is a note that a stranger may have written not believed?
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
unset LARDSIM_PROGRAMS LARDSIM_VALIDATE LARDSIM_NATIVE LARDSIM_JAVA
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
says() { grep -qF -e "$2" "$1" || fail "$3: $(head -c 300 "$1")"; }

# ---- where it was built --------------------------------------------------------------------------

"$lardsim" programs list >out 2>err || fail "recipes are not found where lardsim was built: $(cat err)"
says out 'xalan ' "xalan is no recipe"
mkdir -p mine/own
echo 'small: "%t"' >mine/own/recipe.yaml
LARDSIM_PROGRAMS=$dir/mine "$lardsim" programs list >out 2>err || fail "LARDSIM_PROGRAMS is not heeded: $(cat err)"
grep -q '^xalan ' out && fail "LARDSIM_PROGRAMS does not win over the folder of the sources"
echo 'int main(void) { return 0; }' >empty.c
if [ -f "$top_builddir/capture/liblardsim-native.a" ] && cc -fsanitize=thread -c -o empty.o empty.c 2>err; then
    "$top_builddir/capture/lardsim-cc" -o empty empty.c 2>err && ./empty || fail "lardsim-cc does not find its runtime beside it: $(cat err)"
    LARDSIM_NATIVE=$dir/nowhere.a "$top_builddir/capture/lardsim-cc" -o empty empty.c 2>err && fail "LARDSIM_NATIVE is not heeded"
    "$lardsim" capture native -q -o empty.lard -- ./empty 2>err || fail "what was built so is not captured: $(cat err)"
    LARDSIM_VALIDATE=$dir/nowhere "$lardsim" validate --quick --programs sor 2>err && fail "LARDSIM_VALIDATE is not heeded"
fi
if [ -f "$top_builddir/capture/lardsim-agent.jar" ] && java -version 2>&1 | grep -q '"17'; then
    "$lardsim" capture java -q -o java.lard -- java -version >out 2>&1 || fail "the agents are not found: $(cat out)"
    LARDSIM_JAVA=$dir/nowhere "$lardsim" capture java -q -o no.lard -- java -version >out 2>&1 && fail "LARDSIM_JAVA is not heeded"
fi

# ---- a program that lies where strangers write ---------------------------------------------------

# A recipe is a script that lardsim runs: whose note leads to it must be able to change lardsim anyway.
mkdir -p tool strange/workloads/programs/recipes/evil
cp "$lardsim" tool/lardsim
echo 'small: "%t"' >strange/workloads/programs/recipes/evil/recipe.yaml
# The group of the files here is its user's login group, and has nobody else.
own_group_is_own() {
    group=$(stat -c %g strange/workloads/programs/recipes) user=$(id -un)
    [ "$(getent passwd | awk -F: -v g="$group" '$4 == g {print $1}')" = "$user" ] &&
        [ -z "$(getent group "$group" | awk -F: -v u="$user" '{n = split($4, m, ","); for (i = 1; i <= n; i++) if (m[i] != u) print m[i]}')" ]
}
finds() { tool/lardsim programs list 2>err | grep -q '^evil'; }
finds && fail "recipes are found without a note"
echo "$dir/strange" >tool/built-from
chmod 755 tool/lardsim strange/workloads/programs/recipes
chmod 644 tool/built-from
finds || fail "the test is wrong: a note of the owner's is not believed: $(cat err)"
chmod 666 tool/built-from
finds && fail "a note is believed that everybody can write"
says err 'LARDSIM_PROGRAMS' "that recipes are not found is not said with a remedy"
chmod 644 tool/built-from
chmod 777 strange/workloads/programs/recipes
finds && fail "recipes are taken from a folder that everybody can write"
chmod 755 strange/workloads/programs/recipes
echo strange >tool/built-from
finds && fail "a note that is no whole path is believed"
echo "$dir/strange" >tool/built-from
# Archives are unpacked so that the owner's own group may write: that group has no stranger in it.
chmod 775 strange/workloads/programs/recipes
chmod 664 tool/built-from
if own_group_is_own; then
    finds || fail "recipes are not found in sources that their owner's own group may write: $(cat err)"
else
    finds && fail "recipes are taken from a folder that a group of several can write"
fi
chmod 755 strange/workloads/programs/recipes
chmod 644 tool/built-from
if [ "$(id -u)" = 0 ]; then
    chgrp 65534 strange/workloads/programs/recipes
    chmod 775 strange/workloads/programs/recipes
    finds && fail "recipes are taken from a folder that a stranger's group can write"
    chgrp 0 strange/workloads/programs/recipes
    chmod 755 strange/workloads/programs/recipes
    chown 65534 tool/built-from
    finds && fail "a stranger's note is believed"
    chown 0 tool/built-from
    chown 65534 strange/workloads/programs/recipes
    finds && fail "a stranger's recipes are taken"
    chown 0 strange/workloads/programs/recipes
fi
# What the compiler's wrapper links is found beside it on the same terms.
[ -f "$top_builddir/capture/lardsim-cc" ] || exit $bad
cp "$top_builddir/capture/lardsim-cc" tool/lardsim-cc
: >tool/liblardsim-native.a
chmod 666 tool/liblardsim-native.a
tool/lardsim-cc -o empty empty.c 2>err && fail "a runtime is linked that everybody can write"
grep -q "$dir/tool/liblardsim-native.a" err && fail "a runtime is taken that everybody can write"
exit $bad
