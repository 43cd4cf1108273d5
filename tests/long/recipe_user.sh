#!/bin/sh
# recipe_user.sh NAME - in a bare root in which lardsim was built from /src (recipes.sh): a user wants to run program:NAME,
# does what lardsim tells him, once, and has it. The last line that it prints is what he was told to install.
name=$1
lardsim=/src/build/lardsim
give_up() { echo "$name: $*"; exit 1; }
run() { # CODE ARGUMENT...: into out and err
    want=$1
    shift
    $lardsim "$@" >/tmp/out 2>/tmp/err
    code=$?
    [ $code = "$want" ] || { tail -n 15 /tmp/out /tmp/err; give_up "lardsim $*: exit code $code, not $want"; }
}

run 0 programs list
grep "^$name .*; missing: " /tmp/out || give_up "programs list says of nothing that it is missing: $(grep "^$name " /tmp/out)"
run 2 run program:"$name"
cat /tmp/err
[ "$(wc -l </tmp/err)" = 1 ] && [ "$(grep -o 'apt-get install' /tmp/err | wc -l)" = 1 ] || give_up "what is missing is not said in one line that installs"
install=$(sed -n 's/.*`\(apt-get install [^`]*\)`.*/\1/p' /tmp/err)
again=$(sed -n 's/.*build it again: `\([^`]*\)`.*/\1/p' /tmp/err)
if grep -q 'an entry of type deb-src' /tmp/err; then
    sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
    apt-get update -qq || give_up "apt knows no sources"
fi
DEBIAN_FRONTEND=noninteractive sh -c "$(echo "$install" | sed 's/install/install -y -qq/')" || give_up "that is not installed: $install"
[ -z "$again" ] || sh -c "$again" || give_up "lardsim is not built again by: $again"

# Nothing else is asked for.
run 0 run program:"$name"
run 0 programs list
grep "^$name .*; missing: " /tmp/out && give_up "what is missing is listed, but it runs"
run 0 programs capture "$name"
trace=$(cat /tmp/out)
run 0 trace verify -q "$trace"
run 0 trace info "$trace"
echo "$(sed -n 's/^events  *//p' /tmp/out | head -n 1) events with ${install#*--no-install-recommends }"
