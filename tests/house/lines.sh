#!/bin/sh
# lines.sh - how much is the product? Prints its lines of code by folder: C, C++, Java and tables (.def), without blank
# lines and lines that are comment alone. More than the budget is a failure, so that whoever adds code sees what it adds.
set -u
budget=109430 # whoever takes code away lowers it; whoever must raise it says in the commit what the lines are for
cd "${top_srcdir:-.}" || exit 99
bad=0
fail() { echo "lines.sh: $*"; bad=1; }

# code FILE...: "LINES FOLDER" of each top folder. A sign of a comment within a text is none.
code() {
    awk '
        FNR == 1 { within = 0 }
        !within && !/\/[*\/]/ { if (/[^ \t]/) count(); next }
        {
            rest = $0
            kept = ""
            while (rest != "") {
                if (within) {
                    if (!(end = index(rest, "*/"))) break
                    rest = substr(rest, end + 2)
                    within = 0
                } else if (match(rest, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/[*\/]/)) {
                    found = substr(rest, RSTART, RLENGTH)
                    kept = kept substr(rest, 1, RSTART - 1)
                    rest = substr(rest, RSTART + RLENGTH)
                    if (found == "//") break
                    if (found == "/*") within = 1
                    else kept = kept found
                } else {
                    kept = kept rest
                    break
                }
            }
            if (kept ~ /[^ \t]/) count()
        }
        function count(    folder) {
            folder = FILENAME
            sub(/\/.*/, "", folder)
            lines[folder]++
        }
        END { for (folder in lines) print lines[folder], folder }' "$@"
}

# The counter counts right: 7 lines here are code.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cat >"$dir/sample.c" <<'END_OF_SAMPLE'
/* A comment,
 * int in_it;
 */

int one; /* behind code */
// alone
/* before code */ int two;
const char *three = "/* no comment", four = '"'; // it isn't one
int five; /* it begins behind code
int in_it; and ends */ int six;
    /* one */ /* and another */
char quote = '\''; /* and
ends */
const char *seven = "\"/*";
END_OF_SAMPLE
counted=$(cd "$dir" && code sample.c)
[ "${counted% *}" = 7 ] || fail "of a sample with 7 lines of code it counts: $counted"

# A folder of the product has a fragment of the makefile.
for fragment in */*.mk; do
    folder=${fragment%%/*}
    case $folder in
    tests | bench) ;;
    *) find "$folder" -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' -o -name '*.java' -o -name '*.def' ;;
    esac
done >"$dir/files"
# shellcheck disable=SC2046  # a list
code $(cat "$dir/files") | sort -rn >"$dir/lines"
awk '{printf "%7d %s\n", $1, $2}' "$dir/lines"
sum=$(awk '{n += $1} END {print n + 0}' "$dir/lines")
printf '%7d in all; the budget is %d\n' "$sum" "$budget"
[ "$(wc -l <"$dir/lines")" -ge 10 ] || fail "it finds code in $(wc -l <"$dir/lines") folders only"
[ "$sum" -le "$budget" ] || fail "the product has $((sum - budget)) lines of code more than its budget; take as many away, or
    raise the budget in tests/house/lines.sh and say in the commit what they are for"
exit $bad
