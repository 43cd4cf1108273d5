# markdown.awk - the Markdown of docs/ as HTML: headings, paragraphs, lists, tables, code, links, pictures.
# No other HTML goes through: what looks like a tag is text. Any awk runs it.
#
#   awk -f html.awk -f markdown.awk -v source=docs/machine.md -v up= -v names=NAMES PAGE PAGE
#
# source: the page's path from the top folder; up: "../" where its HTML lies in a folder; names: a file with
# lines "NAME<tab>PAGE#ANCHOR": `NAME` in the text leads there. The page is read twice, for its headings come
# first. A link that leads to no page is an error.

BEGIN {
    while (names != "" && (getline row < names) > 0) {
        split(row, part, "\t")
        known[part[1]] = part[2]
    }
    folder = source
    if (!sub(/\/[^\/]*$/, "", folder))
        folder = ""
}

function anchor(text, id, n) {
    id = slug(text)
    n = used[id]++
    return n ? id "-" n : id
}

# docs/policies + ../machine.md = docs/machine.md
function joined(base, path) {
    while (path ~ /^\.\.?\//) {
        if (path ~ /^\.\.\// && !sub(/\/[^\/]*$/, "", base))
            base = ""
        sub(/^\.\.?\//, "", path)
    }
    return base == "" ? path : base "/" path
}

function target(link, path, at, mark) {
    if (link ~ /^(https?:|mailto:|#)/)
        return escape(link)
    at = index(link, "#")
    if (at) {
        mark = substr(link, at)
        link = substr(link, 1, at - 1)
    }
    path = place(joined(folder, link))
    if (path == "" || link ~ /:/) {
        print source ": links to " link ", which is in no page of the manual" > "/dev/stderr"
        broken = 1
    }
    return escape(up path mark)
}

# A name that the index has, alone or with a value: `l2.size`, `core.type: pipelined`, `l2.size=0`.
function code(text, name, bare) {
    name = text
    bare = !sub(/ ?[=:].*/, "", name)
    if (name in known && (!bare || name ~ /\./))
        return "<a class=\"name\" href=\"" escape(up known[name]) "\"><code>" escape(text) "</code></a>"
    return "<code>" escape(text) "</code>"
}

function inline(text, out, c, n, end, rest, label, link) {
    out = ""
    while (text != "") {
        n = match(text, /[`*\[!\\]/)
        if (!n)
            return out escape(text)
        out = out escape(substr(text, 1, n - 1))
        text = substr(text, n)
        c = substr(text, 1, 1)
        rest = substr(text, 2)
        if (c == "\\" && rest ~ /^[!-\/:-@\[-`{-~]/) {
            out = out escape(substr(rest, 1, 1))
            text = substr(rest, 2)
        } else if (c == "`" && (end = index(rest, "`"))) {
            out = out code(substr(rest, 1, end - 1))
            text = substr(rest, end + 1)
        } else if (text ~ /^\*\*[^ *]/ && (end = index(substr(rest, 2), "**"))) {
            out = out "<strong>" inline(substr(rest, 2, end - 1)) "</strong>"
            text = substr(rest, end + 3)
        } else if (c == "*" && rest ~ /^[^ *]/ && (end = index(rest, "*")) && substr(rest, end - 1, 1) != " ") {
            out = out "<em>" inline(substr(rest, 1, end - 1)) "</em>"
            text = substr(rest, end + 1)
        } else if (match(text, /^!?\[[^]]*\]\([^ )]*\)/)) {
            link = substr(text, 1, RLENGTH)
            text = substr(text, RLENGTH + 1)
            n = index(link, "](")
            label = substr(link, index(link, "[") + 1, n - index(link, "[") - 1)
            link = target(substr(link, n + 2, length(link) - n - 2))
            if (c == "!")
                out = out "<img src=\"" link "\" alt=\"" escape(label) "\">"
            else
                out = out "<a href=\"" link "\">" inline(label) "</a>"
        } else {
            out = out escape(c)
            text = rest
        }
    }
    return out
}

# ---- blocks: what is open is closed by what does not belong to it

function close_text() {
    if (text != "")
        print (item ? "" : "<p>") inline(text) (item ? "" : "</p>")
    text = ""
}

function close_list() {
    close_text()
    if (item)
        print "</li>\n</" list ">"
    item = 0
    list = ""
}

function close_table(i) {
    if (rows)
        print "</tbody></table></div>"
    rows = 0
}

function close_all() {
    close_list()
    close_table()
    if (indented)
        print "</code></pre>"
    indented = 0
}

function open_item(kind) {
    close_table()
    close_text()
    if (item && list != kind)
        close_list()
    if (item)
        print "</li>"
    else
        print "<" kind ">"
    print "<li>"
    item = 1
    list = kind
    text = $0
    sub(/^(-|[0-9]+\.) +/, "", text)
}

function row_of(line, tag, cell, n, i, html) {
    n = split_row(line, cell)
    html = "<tr>"
    for (i = 1; i <= n; i++)
        html = html "<" tag ">" inline(cell[i]) "</" tag ">"
    return html "</tr>"
}

FNR == NR {
    if (/^```/)
        skipped = !skipped
    if (!skipped && /^## /) {
        heading = $0
        sub(/^## /, "", heading)
        contents[++headings] = heading
    }
    next
}

FNR == 1 { skipped = fenced = 0 }

fenced && /^```$/ {
    print "</code></pre>"
    fenced = 0
    next
}
fenced {
    print escape($0)
    next
}
/^```/ {
    close_all()
    fenced = 1
    kind = $0
    sub(/^```/, "", kind)
    printf "<pre%s><code>", kind ~ /^output/ ? " class=\"output\"" : ""
    next
}
/^<!-- .* -->$/ {
    close_all()
    next
}
/^$/ {
    if (indented)
        blank++
    else if (!item)
        close_text()
    close_table()
    was_blank = 1
    next
}
indented && /^    / {
    while (blank > 0) {
        print ""
        blank--
    }
    print escape(substr($0, 5))
    next
}
indented {
    print "</code></pre>"
    indented = blank = 0
}
/^    / && text == "" && !item {
    close_table()
    indented = 1
    blank = 0
    print "<pre><code>" escape(substr($0, 5))
    next
}
/^#+ / {
    close_all()
    level = index($0, " ") - 1
    heading = substr($0, level + 2)
    id = anchor(heading)
    print "<h" level " id=\"" id "\">" inline(heading) "</h" level ">"
    if (level == 1 && headings > 2) {
        print "<nav class=\"contents\" aria-label=\"On this page\"><ul>"
        for (i = 1; i <= headings; i++)
            print "<li><a href=\"#" slug(contents[i]) "\">" inline(contents[i]) "</a></li>"
        print "</ul></nav>"
    }
    was_blank = 0
    next
}
/^(-|[0-9]+\.) / {
    open_item(/^-/ ? "ul" : "ol")
    was_blank = 0
    next
}
/^[|]/ {
    rows++
    if (rows == 1) {
        close_list()
        print "<div class=\"wide\"><table><thead>" row_of($0, "th") "</thead><tbody>"
    } else if (rows > 2) { # the second is the line below the head
        print row_of($0, "td")
    }
    was_blank = 0
    next
}
{
    close_table()
    # A line that is not indented goes on with the item, unless a blank line is between them.
    if (item && was_blank && $0 !~ /^ /)
        close_list()
    was_blank = 0
    line = $0
    sub(/^ +/, "", line)
    text = text == "" ? line : text "\n" line
}

END {
    close_all()
    if (fenced)
        print "</code></pre>"
    exit broken
}
