#!/bin/sh
# prose.sh - do the product's comments say what they speak of? A comment whose first word is one of `words` is a
# sentence without a subject: "What is next.", "Of a thread.", "Where it lies." Its reader must guess. Write "Returns
# the next record", "A thread's end of the ring", "The place of ...".
#
# The rule: a comment is a /* */, or // lines that follow each other; headings ("---- ...") are none. It counts if its
# first word is one of `words`, with a capital. (One that begins small stands behind the declaration that it is about.)
# A room may have `allowed` such comments in a thousand, or its own number in `rooms`: lower that, never raise it.
# `prose.sh --list` prints all of them.
set -u
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
words='What Who Whom Of Where Whose Which Else Such Both Likewise Those Whoever Whatever'
allowed=10
rooms=''

# comments FILE...: "all ROOM" for each comment, "ROOM FILE:LINE: TEXT" for each that counts.
comments() {
    awk -v words=" $words " '
        function room(file) {
            sub(/^\.\//, "", file)
            return substr(file, 1, index(file, "/") - 1)
        }
        function ended(  first) {
            gsub(/[ \t]+/, " ", text)
            gsub(/^[ *]+|[ *]+$/, "", text)
            if (at && text != "" && text !~ /^----/) {
                first = text
                sub(/[^A-Za-z].*/, "", first)
                print "all", room(from)
                if (first != "" && index(words, " " first " ")) print room(from), from ":" at ": " text
            }
            at = 0
        }
        function begun(more) { at = FNR; from = FILENAME; text = more }
        FNR == 1 { ended(); inside = lines = 0 }
        inside {
            end = index($0, "*/")
            line = end ? substr($0, 1, end - 1) : $0
            sub(/^[ \t]*\*?/, "", line)
            text = text " " line
            if (!end) next
            inside = 0
            ended()
            $0 = substr($0, end + 2)
        }
        {
            # Quoted text becomes as many blanks, so that places stay.
            code = $0
            gsub(/\\./, "__", code)
            while (match(code, /"[^"]*"/)) {
                blank = substr(code, RSTART, RLENGTH)
                gsub(/./, " ", blank)
                code = substr(code, 1, RSTART - 1) blank substr(code, RSTART + RLENGTH)
            }
            slash = index(code, "//")
            star = index(code, "/*")
            if (slash && (!star || slash < star)) {
                line = substr($0, slash + 2)
                if (at && lines == FNR - 1 && substr(code, 1, slash - 1) ~ /^[ \t]*$/) text = text " " line
                else { ended(); begun(line) }
                lines = FNR
                next
            }
            ended()
            if (!star) next
            begun(substr($0, star + 2))
            end = index(text, "*/")
            inside = !end
            if (end) { text = substr(text, 1, end - 1); ended() }
        }
        END { ended() }' "$@"
}

# ---- it notices ------------------------------------------------------------------------------------------

mkdir "$dir/room" && cd "$dir" || exit 99
cat >room/sample.c <<'END'
/* sample.c - what it is. */
/* ---- what is next ---- */
/* What is next. */
int a; /* of a thread */
    /* Of a thread, whatever
     * comes. */
const char *text = "/* What is no comment */ // Who";
// Whose it is,
// Who has it.
int b; // Where it lies.
/** Those that go. */
/* Whatsoever is a subject; Ofen, too. */
/* The next: What it is. */
END
cat >want <<'END'
room room/sample.c:3: What is next.
room room/sample.c:5: Of a thread, whatever comes.
room room/sample.c:8: Whose it is, Who has it.
room room/sample.c:10: Where it lies.
room room/sample.c:11: Those that go.
END
comments room/sample.c >got
if ! grep -v '^all' got | cmp -s want - || [ "$(grep -c '^all room$' got)" != 9 ]; then
    echo "prose.sh: of a sample it finds $(grep -c '^all' got) comments, which should be 9, and:"
    grep -v '^all' got | diff want -
    bad=1
fi

# ---- the product -----------------------------------------------------------------------------------------

cd "$top" || exit 99
find ./*/ -type f \( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.hh' -o -name '*.def' -o -name '*.java' \) \
    ! -path './build*' ! -path './tests/*' ! -path './bench/*' ! -path './docs/*' | sed 's/^..//' | sort >"$dir/files"
[ "$(wc -l <"$dir/files")" -ge 500 ] || { echo "prose.sh: there are only $(wc -l <"$dir/files") files"; exit 1; }
# shellcheck disable=SC2046  # a list
comments $(cat "$dir/files") >"$dir/said" || exit 99
if [ "${1:-}" = --list ]; then
    sed -n '/^all /!s/^[^ ]* //p' "$dir/said"
    exit 0
fi
awk -v rooms="$rooms" -v allowed="$allowed" '
    BEGIN {
        n = split(rooms, pair, " ")
        for (i = 1; i <= n; i++) { split(pair[i], p, ":"); may[p[1]] = p[2] }
    }
    $1 == "all" { all[$2]++; next }
    { found[$1]++ }
    END {
        for (r in all) {
            most = r in may ? may[r] : allowed
            if (found[r] * 1000 > all[r] * most) print r, found[r], all[r], most
        }
    }' "$dir/said" >"$dir/over"
while read -r room found all most; do
    echo "prose.sh: in $room/ $found of $all comments do not say what they speak of; $most in a thousand are allowed:"
    sed -n "s/^$room //p" "$dir/said"
    bad=1
done <"$dir/over"
exit $bad
