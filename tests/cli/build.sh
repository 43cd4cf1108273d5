#!/bin/sh
# build.sh - does the program know which build it is? By the commit of its source; where that has
# changes, or no commit is known, by the linker's hash of the program, which no other build has.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"
stamp=$top/base/stamp.sh
hex40='[0-9a-f]\{40\}'

# What the program says of itself, wherever it lies.
id=$("$lardsim" --version | sed -n 's/^build //p')
expr "$id" : "$hex40\$" >/dev/null || expr "$id" : "binary-$hex40\$" >/dev/null ||
    fail "--version names no build: $id"
cp "$lardsim" elsewhere && [ "$(./elsewhere --version | sed -n 's/^build //p')" = "$id" ] ||
    fail "a copy of the program says it is another build"
if command -v readelf >/dev/null; then
    hash=$(readelf -n "$lardsim" 2>/dev/null | sed -n 's/.*Build ID: //p')
    case $id in
    binary-*) [ "$id" = "binary-$hash" ] || fail "the binary's hash is $hash, and it says $id" ;;
    esac
fi

# What is found of a source: nothing, what `make dist` packed, a commit, a commit and changes.
mkdir -p tree/build-aux
[ -z "$(sh "$stamp" tree)" ] || fail "a source without a commit has one"
sh "$stamp" tree -O2 | grep -q '^#define BUILD_COMMIT ""$' || fail "a source without a commit has one, in C"
echo 0123456789012345678901234567890123456789 >tree/build-aux/commit
[ "$(sh "$stamp" tree)" = 0123456789012345678901234567890123456789 ] || fail "a tarball does not carry its commit"
if command -v git >/dev/null; then
    (
        cd tree && git init -q . && echo one >file && git add file &&
            git -c user.name=a -c user.email=a@b commit -q -m one
    ) || exit 99
    commit=$(git -C tree rev-parse HEAD)
    [ "$(sh "$stamp" tree)" = "$commit" ] || fail "a clean tree is not its commit: $(sh "$stamp" tree)"
    echo two >tree/file
    [ "$(sh "$stamp" tree)" = "$commit+" ] || fail "a changed tree passes for its commit"
fi
[ "$(sh "$stamp" tree -O2 -Wall -Wl,-x '-DA="b"' | sed -n 's/#define BUILD_FLAGS //p')" = '"-O2 -Wl,-x -DA=\"b\""' ] ||
    fail "the flags are not those given, without warnings"
exit $bad
