#!/bin/sh
# stamp.sh SOURCE            - the commit of the source, "+" behind it if files were changed since;
#                              nothing if it is not known
# stamp.sh SOURCE FLAG...    - the same and the compiler's flags, as C for base/stamp.c
top=$1
shift
commit=
if [ -e "$top/.git" ]; then
    commit=$(git -C "$top" describe --always --dirty=+ --abbrev=40 --exclude='*' 2>/dev/null)
elif [ -f "$top/build-aux/commit" ]; then # `make dist` wrote it
    read -r commit <"$top/build-aux/commit"
fi
if [ $# = 0 ]; then
    [ -z "$commit" ] || echo "$commit"
    exit 0
fi
flags=
for flag in "$@"; do
    case $flag in
    -W[!l]*) ;; # warnings change no code
    *) flags="$flags${flags:+ }$flag" ;;
    esac
done
quote() { printf '%s' "$1" | sed 's/[\\"]/\\&/g'; }
echo "#define BUILD_COMMIT \"$(quote "$commit")\""
echo "#define BUILD_FLAGS \"$(quote "$flags")\""
