#!/bin/sh
# manual.sh - is the HTML manual whole? Every page of docs/ is in it, every parameter and statistic in an index;
# every link and anchor leads somewhere; nothing is fetched from a network; what a page says is text, whatever it
# looks like; a link to nowhere is noticed.
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "manual.sh: $*"; bad=1; }
LC_ALL=C
export LC_ALL

"$lardsim" list manual run >"$dir/lardsim-run.1"
sh "$top/docs/manual/build.sh" "$top" "$dir/html" "${top_builddir:-.}"/*.3 2>"$dir/err" ||
    { fail "not made: $(cat "$dir/err")"; exit 1; }
[ ! -s "$dir/err" ] || fail "$(cat "$dir/err")"
cd "$dir/html" || exit 99

# ---- pages
for f in "$top"/docs/*.md "$top"/docs/policies/*.md; do
    page=${f#"$top"/docs/} page=${page%.md}.html
    [ -f "$page" ] || { fail "${f#"$top"/} is not in the manual; add it to docs/manual/contents"; continue; }
    grep -qF "href=\"$page\"" index.html || fail "the front page does not lead to $page"
done
for verb in $("$lardsim" list verbs | sed 's/ .*//' | sort -u); do
    [ -f "man/lardsim-$verb.1.html" ] || fail "no manual page of $verb"
done
grep -q '<tr><td>granule</td>' glossary.html || fail "the glossary lacks its words"

# ---- indexes
for table in parameters statistics; do
    "$lardsim" list $table --json | sed -n 's/^ *{*"name": "\([^"]*\)".*/\1/p' | sort >"$dir/named"
    [ "$(wc -l <"$dir/named")" -gt 100 ] || fail "too few $table are listed"
    sed -n 's/^<tr id="\([^"]*\)">.*/\1/p' $table.html | sort >"$dir/indexed"
    comm -23 "$dir/named" "$dir/indexed" >"$dir/gone"
    [ ! -s "$dir/gone" ] || fail "$table.html lacks $(head -3 "$dir/gone")"
done
grep '^<tr id="l2.shared-by">' parameters.html | grep -qF 'href="machine.html#cores-that-share-an-l2"' ||
    fail "l2.shared-by does not lead to where it is explained"
grep -q '<a class="name" href="parameters.html#l2.shared-by">' machine.html || fail "a page does not lead to the index"
grep -q '<a class="name" href="../parameters.html#' policies/cvm.html || fail "a policy's page does not lead to the index"

# ---- links: FILE TARGET; targets and anchors that there are
find . -name '*.html' | sed 's|^\./||' | sort >"$dir/pages"
# shellcheck disable=SC2046  # a list of files
awk '
    function resolved(page, link) {
        if (link ~ /^#/)
            return page link
        if (page ~ /\//) {
            sub(/\/[^\/]*$/, "", page)
            while (sub(/^\.\.\//, "", link))
                page = ""
            return page == "" ? link : page "/" link
        }
        return link
    }
    {
        line = $0
        while (match(line, / (href|src)="[^"]*"/)) {
            link = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            loads = link ~ /^ src/ || $0 ~ /<link /
            sub(/^ (href|src)="/, "", link)
            sub(/"$/, "", link)
            if (link ~ /^https?:\/\// && !loads)
                continue
            if (link ~ /:/)
                print FILENAME " LOADS " link
            else
                print FILENAME " " resolved(FILENAME, link)
        }
        line = $0
        while (match(line, / id="[^"]*"/)) {
            print "HAS " FILENAME "#" substr(line, RSTART + 5, RLENGTH - 6)
            line = substr(line, RSTART + RLENGTH)
        }
    }' $(cat "$dir/pages") >"$dir/links"
grep ' LOADS ' "$dir/links" && fail "something comes from elsewhere"
{
    sed -n 's/^HAS //p' "$dir/links"
    find . -type f | sed 's|^\./||'
} | sort -u >"$dir/there"
grep -v '^HAS ' "$dir/links" | awk '!seen[$2]++ {print $2, $1}' | sort >"$dir/asked"
[ "$(wc -l <"$dir/asked")" -gt 300 ] || fail "too few links are looked at"
join -v 1 "$dir/asked" "$dir/there" >"$dir/gone"
[ ! -s "$dir/gone" ] || fail "links lead nowhere (link, page): $(head -5 "$dir/gone")"
grep -E 'url\(|@import' style.css && fail "the style fetches something"
# shellcheck disable=SC2046  # a list of files
grep -l '<script' $(cat "$dir/pages") && fail "a page has a program"

# ---- pictures of machines are the program's, as it is now
"$lardsim" machine -c radish8 -p fasttrack -o - | cmp -s - pictures/machine-fasttrack.svg ||
    fail "the guide's picture is not what the program draws"

# ---- text is text
html() { awk -f "$top/docs/manual/html.awk" -f "$top/docs/manual/markdown.awk" -v source=docs/x.md -v names= "$1" "$1"; }
cat >"$dir/odd.md" <<'END'
# A <b>head</b> & `<i>`
<script>alert(1)</script> and <img src=x onerror=alert(1)> "quoted"
[<b>](events.md"onclick=x) ![<b>"](a"b.svg)

- <u>item</u>

| <td> | `a\|<b>` |
| --- | --- |
| <tr> | ``<code>`` |

    <pre>

```sh
</code></pre><script>
```
END
html "$dir/odd.md" >"$dir/odd.html" 2>/dev/null
grep -oE '<[^>]*>' "$dir/odd.html" | sed -E 's/^<\/?([a-z0-9]+).*/\1/' | sort -u | tr '\n' ' ' >"$dir/tags"
[ "$(cat "$dir/tags")" = "a code div h1 img li p pre table tbody td th thead tr ul " ] || fail "tags of an odd page: $(cat "$dir/tags")"
grep -oE '<(script|b|u|i)[ >]|<img src=x|"onclick' "$dir/odd.html" && fail "text has become markup"
for link in 'javascript:alert(1)' ../nowhere.c 'data:text/html,x'; do
    echo "[x]($link)" >"$dir/bad.md"
    html "$dir/bad.md" >/dev/null 2>"$dir/err" && fail "a link to $link is taken"
    grep -q "docs/x.md: links to" "$dir/err" || fail "$link: $(cat "$dir/err")"
done
exit $bad
