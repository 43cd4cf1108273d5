#!/bin/sh
# faults.sh - disks that fill up, as the command line meets them: each verb that writes files, with
# room for fewer and fewer blocks, ends with exit code 7 and leaves nothing that looks whole.
# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

"$lardsim" trace synth a.lard events=3000 names=off || exit 99
"$lardsim" trace synth b.lard seed=2 events=3000 names=off fork=roots ends=off || exit 99

# full BLOCKS ARGS...: the exit code. OUT is out; what is said goes through a pipe, which has no limit.
full() {
    blocks=$1
    shift
    {
        (
            trap '' XFSZ
            ulimit -f "$blocks"
            "$lardsim" "$@" >/dev/null
            echo $?
        ) 2>&1
    } | cat >said
    tail -n 1 said
}

# verb MIN ARGS...: with a block less each time; room for MIN blocks is never enough.
verb() {
    min=$1
    shift
    blocks=100
    seen=
    while [ $blocks -ge 0 ]; do
        rm -rf out
        code=$(full $blocks "$@")
        case $code in
        0) [ $blocks -gt "$min" ] || fail "$1 $2: fits into $blocks blocks" ;;
        7)
            seen=1
            grep -q '^lardsim' said || fail "$1 $2, $blocks blocks: no message"
            [ -d out ] || { [ -e out ] && fail "$1 $2, $blocks blocks: out was left behind"; }
            [ -e out/DONE ] && fail "$1 $2, $blocks blocks: DONE was left behind"
            for f in out/.[!.]* .out*; do
                [ -e "$f" ] && fail "$1 $2, $blocks blocks: $f was left behind"
            done
            ;;
        *) fail "$1 $2, $blocks blocks: exit code $code: $(cat said)" ;;
        esac
        blocks=$((blocks > 8 ? blocks - 23 : blocks - 1))
    done
    [ $seen ] || fail "$1 $2: never full"
}
verb 8 trace synth out events=5000
verb 2 trace convert a.lard out
verb 8 trace convert --to text a.lard out
verb 8 trace convert --to std --lossy a.lard out
verb 1 trace cut --count 2000 a.lard out
verb 2 trace merge out a.lard b.lard
verb 1 trace strip a.lard out
verb 4 run --quiet -o out a.lard
verb 4 compare --quiet -o out a.lard
exit $bad
