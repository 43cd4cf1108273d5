#!/bin/sh
# build.sh SOURCE OUT [MAN...] - the manual as HTML: the pages that `contents` lists, manual pages (MAN: those in
# roff that the build has made), and indexes of parameters and statistics, which the program named by LARDSIM
# prints. A picture that a page has below a line <!-- lardsim machine ... --> is drawn anew. OUT appears when all
# of it is made. Nothing but awk makes the pages, and they need no network.
set -eu
out=$2
lardsim=$(command -v "${LARDSIM:?the path of the program}")
lardsim=$(cd "$(dirname "$lardsim")" && pwd)/${lardsim##*/}
mkdir -p "$out.new"
made=$(cd "$out.new" && pwd)
trap 'rm -rf "$made" "$made.parts"' EXIT
parts=$made.parts
mkdir -p "$made/policies" "$made/rooms" "$made/man" "$made/examples" "$parts/man"
for f in "$@"; do
    case $f in *.[1-9]) cp "$f" "$parts/man" ;; esac
done
cd "$1"
tools=docs/manual
LC_ALL=C
export LC_ALL
tab=$(printf '\t')
fail() {
    echo "build.sh: $*" >&2
    exit 1
}

# ---- the pages: "SOURCE<tab>HTML<tab>TITLE"; a line without a tab begins a chapter

small() { # WHAT [-v VARIABLE=VALUE]... [FILE]
    ask=$1
    shift
    awk -f $tools/html.awk -f $tools/small.awk -v ask="$ask" "$@"
}
while IFS= read -r line; do
    case $line in
    *.md | NEWS | LICENSE)
        # shellcheck disable=SC2086  # a pattern
        for f in $line; do
            [ -f "$f" ] || fail "$tools/contents: there is no $f"
            title=$(sed -n '/^# /{s/^# //;s/`//g;p;q;}' "$f")
            printf '%s\t%s\t%s\n' "$f" "$(small place -v path="$f")" "${title:-$f}"
        done
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <$tools/contents >"$parts/pages"
printf 'Reference\n-\tparameters.html\tParameters\n-\tstatistics.html\tStatistics\n' >>"$parts/pages"
printf -- '-\tman/index.html\tManual pages\n' >>"$parts/pages"

up_of() {
    case $1 in */*) echo ../ ;; esac
}
# page HTML TITLE: its text is in $parts/text
page() {
    awk -F '\t' -f $tools/html.awk -f $tools/page.awk -v html="$1" -v up="$(up_of "$1")" -v title="$2" \
        "$parts/pages" "$parts/text" >"$made/$1"
}

# ---- what has a name

for table in parameters statistics; do
    "$lardsim" list $table --markdown >"$parts/$table"
    small names -v table=$table "$parts/$table"
done >"$parts/names"
cut -f1 "$parts/pages" | grep '^docs/.*\.md$' >"$parts/files"
# shellcheck disable=SC2046  # a list of files
awk -f $tools/html.awk -f $tools/mentions.awk $(cat "$parts/files") >"$parts/mentions"
for table in parameters statistics; do
    {
        printf '<h1>%s</h1>\n<p>\n' "$(echo $table | sed 's/^./\U&/')"
        "$lardsim" list | sed -n "s/^$table  *//p" | small text
        echo '</p>'
        awk -F '\t' -f $tools/html.awk -f $tools/index.awk "$parts/mentions" "$parts/$table"
    } >"$parts/text"
    page $table.html $table
done

# ---- pages, and their pictures

# Draws what the page says above a picture; else the picture is the file's.
pictures() {
    awk '/^<!-- lardsim machine .* -->$/ {command = $0; next}
        match($0, /^!\[[^]]*\]\([^)]*\.svg\)$/) {
            file = $0
            sub(/.*\(/, "", file)
            sub(/\)$/, "", file)
            sub(/^<!-- lardsim /, "", command)
            sub(/ -->$/, "", command)
            print file "\t" command
        }
        NF {command = ""}' "$1"
}
while IFS=$tab read -r file html title; do
    case $file in
    *.md)
        awk -f $tools/html.awk -f $tools/markdown.awk -v source="$file" -v up="$(up_of "$html")" \
            -v names="$parts/names" "$file" "$file" >"$parts/text" || fail "$file: not made"
        pictures "$file" | while IFS=$tab read -r picture command; do
            to=$made/$(dirname "$html")/$picture
            mkdir -p "$(dirname "$to")"
            # shellcheck disable=SC2086  # words
            if [ "$command" ]; then
                "$lardsim" $command -o - >"$to"
            else
                cp "$(dirname "$file")/$picture" "$to"
            fi
        done
        ;;
    NEWS | LICENSE)
        {
            printf '<h1>%s</h1>\n<pre class="plain">' "$file"
            small text "$file"
            echo '</pre>'
        } >"$parts/text"
        ;;
    *) continue ;;
    esac
    page "$html" "$title"
done <"$parts/pages"
cp docs/examples/* "$made/examples"
cp $tools/style.css "$made"

# ---- manual pages

"$lardsim" list manual >"$parts/man/lardsim.1"
"$lardsim" list verbs | sed 's/ .*//' | sort -u | while read -r verb; do
    "$lardsim" list manual "$verb" >"$parts/man/lardsim-$verb.1"
done
for f in "$parts"/man/*; do
    name=${f##*/}
    awk -f $tools/html.awk -f $tools/roff.awk "$f" >"$parts/text" || fail "$name: not made"
    page "man/$name.html" "${name%.*}(${name##*.})"
done
{
    printf '<h1>Manual pages</h1>\n<ul>\n'
    for f in "$parts"/man/*; do
        name=${f##*/}
        summary=$(sed -n '/^\.SH NAME/{n;s/.* \\- //;s/\\&//g;s/\\-/-/g;s/\\(aq/'"'"'/g;s/\\f.//g;p;q;}' "$f" |
            sed 's/&/\&amp;/g;s/</\&lt;/g')
        printf '<li><a href="%s.html">%s(%s)</a> - %s</li>\n' "$name" "${name%.*}" "${name##*.}" "$summary"
    done
    echo '</ul>'
} >"$parts/text"
page man/index.html "Manual pages"

cd - >/dev/null
rm -rf "$out"
mv "$made" "$out"
