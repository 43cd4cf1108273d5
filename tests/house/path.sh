#!/bin/sh
# path.sh [PROGRAM] - the way of one event, as docs/architecture.md tells it: each function that the
# numbered list names is defined where it says. With a PROGRAM that was built with
# -finstrument-functions and without inlining (tests/long/long.sh): they are called in this order,
# before the second event.
top=${top_srcdir:-.}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
sed -n 's/^[0-9]*\. `\([a-z0-9_]*\)` (`\([a-z0-9_/.]*\)`).*/\1 \2/p' "$top/docs/architecture.md" >"$dir/path"
[ "$(wc -l <"$dir/path")" -ge 20 ] || { echo "docs/architecture.md: the list of functions is gone"; exit 1; }
bad=0
while read -r name file; do
    grep -qE "^[a-z_].*[ *]$name\(" "$top/$file" || { echo "docs/architecture.md: no $name() in $file"; bad=1; }
done <"$dir/path"
[ $# = 1 ] && [ $bad = 0 ] || exit $bad

${CC:-cc} -shared -fPIC "$top/tests/house/called.c" -o "$dir/called.so" || exit 99
printf 'lardsim-text 1\nT0 write 0x1000 4\nT0 read 0x2000 4\n' >"$dir/trace"
CALLED=$dir/called LD_PRELOAD=$dir/called.so "$1" run --quiet -c radish8 --policy fasttrack "$dir/trace" || exit 1
nm "$1" | awk -v path="$dir/path" '
    BEGIN { while ((getline line < path) > 0) { split(line, f, " "); want[++n] = f[1] } at = 1 }
    FILENAME == "-" { if ($2 ~ /[tT]/) name[$1] = $3; next }
    name[$1] == "execute" && ++events > 1 { exit }
    at <= n && name[$1] == want[at] { at++ }
    END { if (at <= n) { print "docs/architecture.md: " want[at] "() is not called after " want[at - 1] "()"; exit 1 } }
' - "$dir/called"
