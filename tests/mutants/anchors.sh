#!/bin/sh
# anchors.sh - what the mutants look for stands in the source once (tests/mutants/), and tests/mutants/mutate
# says so if it does not.
mutate=${top_builddir:-.}/tests/mutants/mutate
cd "${top_srcdir:-.}" || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
"$mutate" . tests/mutants/*.edits >/dev/null || bad=1
"$mutate" -n 0 . tests/mutants/equivalent || bad=1

# expect SENTENCE: of mutate, for the edits that come, of a file of three lines.
mkdir -p "$dir/copy/tests/mutants" "$dir/copy/base" "$dir/base"
echo >"$dir/base/err.c"
printf 'one\ntwo\ntwo\n' >"$dir/f.c"
expect() {
    { echo 'test t_some 1 2 says FAILED'; cat; } >"$dir/some.edits"
    "$mutate" -o "$dir/copy" "$dir" "$dir/some.edits" >"$dir/said" 2>&1
    grep -qF "$1" "$dir/said" || { echo "expected: $1"; cat "$dir/said"; bad=1; }
}
expect 'some.edits:3: mutant A looks for this in f.c and finds it 0 times' <<'E'
mutant A Three.
edit f.c
-three
+MUTANT(A)
E
expect 'finds it 2 times, not once; say more' <<'E'
mutant A Two.
edit f.c
-two
+MUTANT(A)
E
expect 'some.edits:6: overlaps the edit of f.c' <<'E'
mutant A Both.
edit f.c
-one
+MUTANT(A)
edit f.c
 one
+MUTANT(A)
E
expect 'there is no mutant B' <<'E'
mutant A Another.
edit f.c
-one
+MUTANT(A) MUTANT(B)
E
expect 'no edit names the mutant B' <<'E'
mutant A Some.
mutant B None.
edit f.c
-one
+MUTANT(A)
E
expect 't_some 1 2' <<'E'
mutant A Before the first, and after it.
edit f.c
+MUTANT(A)
 one
-two
+2
E
printf '#include "tests/mutants/switch.c"\nMUTANT(A)\none\n2\ntwo\n' | cmp - "$dir/copy/f.c" || bad=1

# Small changes: of these four one is excused, and rooms are the product's, or those asked for.
mkdir -p "$dir/policy"
printf 'int f(int a);\nint f(int a) /* < 2 */\n{\n    return a < 1;\n}\n' >"$dir/policy/f.c"
cat >"$dir/excused" <<'E'
edit policy/f.c
-    return a < 1;
+    return a <= 1;
E
mkdir -p "$dir/tests" "$dir/policy/g"
cp "$dir/policy/f.c" "$dir/tests"
cp "$dir/policy/f.c" "$dir/policy/g"
draw() { "$mutate" -n 9 "$@" "$dir" "$dir/excused" | sed 's/^R[0-9]*/R/' | cut -f 1,2,4 | sort >"$dir/said"; }
draw -r policy/f.c
printf '%s\tpolicy/f.c:4\t    return a %s;\n' R '< 0' R '< 2' R '>= 1' equivalent '<= 1' | cmp - "$dir/said" || { cat "$dir/said"; bad=1; }
rooms=$("$mutate" -n 1 "$dir" "$dir/excused" | sed -n "s/^R[0-9]*	//p" | cut -f 1 | xargs)
[ "$rooms" = "policy/f.c:4 policy/g/f.c:4" ] || { echo "one in each room of the product, not in $rooms"; bad=1; }
sed -i 's/a < 1/a == 1/' "$dir/policy/f.c"
"$mutate" -n 9 "$dir" "$dir/excused" 2>&1 | grep -qF 'policy/f.c has no such line' || { echo "excused what is not there"; bad=1; }
exit $bad
