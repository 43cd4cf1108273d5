# roff.awk - the manual pages, in the few requests that they use, as HTML. Any awk runs it.
#
#   awk -f html.awk -f roff.awk PAGE

# Fonts, and the characters that roff would take for its own.
function inline(text, open) {
    gsub(/\\&/, "", text)
    gsub(/\\-/, "-", text)
    gsub(/\\\(aq/, "'", text)
    gsub(/\\\(dq/, "\"", text)
    gsub(/\\e/, "\002", text)
    text = escape(text)
    open = ""
    while (match(text, /\\f[BIRP]/)) {
        mark = substr(text, RSTART + 2, 1)
        tag = mark == "B" ? "b" : mark == "I" ? "i" : ""
        text = substr(text, 1, RSTART - 1) (open == "" ? "" : "</" open ">") (tag == "" ? "" : "<" tag ">") \
            substr(text, RSTART + 3)
        open = tag
    }
    if (open != "")
        text = text "</" open ">"
    gsub(/\002/, "\\\\", text)
    return text
}

function words(line, n) {
    sub(/^\.[A-Z]+ */, "", line)
    gsub(/^"|"$/, "", line)
    return line
}

function close_text() {
    if (paragraph)
        print "</p>"
    paragraph = 0
}

function close_item() {
    close_text()
    if (listed)
        print "</dd></dl>"
    listed = 0
}

/^\.\\"/ { next }
/^\.TH / {
    print "<h1>" escape(tolower($2)) "(" escape($3) ")</h1>"
    next
}
/^\.SH/ {
    close_item()
    print "<h2>" inline(words($0)) "</h2>"
    next
}
/^\.SS/ {
    close_item()
    print "<h3>" inline(words($0)) "</h3>"
    next
}
/^\.PP/ || /^\.P$/ {
    close_item()
    next
}
/^\.TP/ {
    close_text()
    print listed ? "</dd>" : "<dl>"
    listed = 1
    tag_comes = 1
    next
}
/^\.nf/ {
    close_text()
    print "<pre><code>"
    literal = 1
    next
}
/^\.fi/ {
    print "</code></pre>"
    literal = 0
    next
}
/^\.BR? / {
    text = words($0)
    # lardsim-run (1),
    if (/^\.BR/ && match(text, / \([0-9]\)/)) {
        name = substr(text, 1, RSTART - 1)
        section = substr(text, RSTART + 2, 1)
        tail = substr(text, RSTART + 4)
        gsub(/\\-/, "-", name)
        $0 = "\003" name "\004" section "\005" tail
    } else {
        $0 = "\\fB" text "\\fR"
    }
}
/^\.I / { $0 = "\\fI" words($0) "\\fR" }
/^\.br/ { $0 = "\006" }
/^\.[A-Za-z]/ {
    print "roff.awk: " FILENAME ":" FNR ": a request that it does not know: " $0 > "/dev/stderr"
    broken = 1
    next
}
{
    html = inline($0)
    sub(/\006/, "<br>", html)
    if (match(html, /\003[^\004]*\004.\005/)) {
        name = substr(html, RSTART + 1, index(html, "\004") - RSTART - 1)
        section = substr(html, index(html, "\004") + 1, 1)
        html = substr(html, 1, RSTART - 1) "<a href=\"" name "." section ".html\"><b>" name "</b>(" section ")</a>" \
            substr(html, RSTART + RLENGTH)
    }
    if (literal) {
        print html
    } else if (tag_comes) {
        print "<dt>" html "</dt><dd>"
        tag_comes = 0
    } else {
        if (!paragraph && !listed)
            print "<p>"
        if (!listed)
            paragraph = 1
        print html
    }
}
END {
    close_item()
    exit broken
}
