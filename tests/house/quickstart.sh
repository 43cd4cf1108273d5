#!/bin/sh
# quickstart.sh - does quickstart say in one line what is to be installed, to a user who can't install it, with a JDK on the
# machine and without? Does it end with 1 then, and change nothing? Does a command that fails in silence get a sentence?
# Its machine is played: a folder of programs, in which nothing is installed.
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
bad=0
fail() { echo "quickstart.sh: $*"; bad=1; }

mkdir "$dir/bin" "$dir/source" || exit 99
cp "$top/quickstart" "$dir/source"
for tool in sh dirname grep find nproc mkdir rm; do
    ln -s "$(command -v $tool)" "$dir/bin/$tool"
done
plays() { # PROGRAM LINE: a program of the machine
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
    chmod +x "$dir/bin/$1"
}
plays dpkg-query 'exit 1'
plays id 'echo 1000'
asks() { # CODE VERB
    (cd "$dir/source" && PATH=$dir/bin && ./quickstart "$2") >"$dir/out" 2>&1
    code=$?
    [ $code = "$1" ] || fail "$2 ends with $code, not $1: $(cat "$dir/out")"
}
names() { grep -q "^ *sudo apt-get update && sudo apt-get install .* $1\( \|\$\)" "$dir/out"; }

for verb in run check; do
    asks 1 $verb
    [ "$(grep -c 'apt-get install' "$dir/out")" = 1 ] || fail "$verb does not say in one line what to install: $(cat "$dir/out")"
    names libcmocka-dev || fail "$verb does not ask for what the build needs: $(cat "$dir/out")"
    [ "$(ls -A "$dir/source")" = quickstart ] || fail "$verb has changed its folder: $(ls -A "$dir/source")"
done
names g++ || fail "check does not ask for what tests need: $(cat "$dir/out")"
names libasm-java && fail "check asks for ASM where no JDK is"
plays javac 'exit 0'
asks 1 check
names libasm-java || fail "check does not ask for ASM where a JDK is: $(cat "$dir/out")"

# All is installed, and make can do nothing and says nothing.
plays dpkg-query 'echo install ok installed'
plays autoreconf 'exit 3'
asks 3 run
grep -q 'failed with exit code 3 while building' "$dir/out" || fail "a build that fails in silence passes in silence: $(cat "$dir/out")"
exit $bad
