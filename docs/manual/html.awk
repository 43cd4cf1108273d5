# html.awk - what all of these share. awk -f html.awk -f markdown.awk ...

function escape(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/"/, "\\&quot;", text)
    return text
}

# What stands in backquotes is code.
function escape_code(text, part, n, i, html) {
    n = split(text, part, "`")
    html = escape(part[1])
    for (i = 2; i <= n; i++)
        html = html (i % 2 ? "</code>" : "<code>") escape(part[i])
    return html (n && n % 2 == 0 ? "</code>" : "")
}

# Of a heading: as GitHub makes them.
function slug(text) {
    gsub(/`/, "", text)
    gsub(/\]\([^)]*\)/, "", text)
    text = tolower(text)
    gsub(/[^a-z0-9 _\200-\377-]/, "", text)
    gsub(/ /, "-", text)
    return text
}

function link_to(to, text) {
    return "<a href=\"" escape(to) "\">" escape(text) "</a>"
}

# Where a file of the source lies in the manual; "": nowhere.
function place(path) {
    if (path == "README.md")
        return "index.html"
    if (path ~ /^[a-z0-9]+(\/[a-z0-9]+)?\/README\.md$/) {
        sub(/\/README\.md$/, "", path)
        sub(/\//, "-", path)
        return "rooms/" path ".html"
    }
    if (path == "CONTRIBUTING.md")
        return "contributing.html"
    if (path == "NEWS" || path == "LICENSE")
        return path ".html"
    if (!sub(/^docs\//, "", path))
        return ""
    sub(/\.md$/, ".html", path)
    return path
}

# Cells of a row of a table: cell[1] to cell[n]. \| is no end of a cell.
function split_row(line, cell, n, i) {
    gsub(/\\[|]/, "\001", line)
    sub(/^[|] */, "", line)
    sub(/ *[|] *$/, "", line)
    n = split(line, cell, / *[|] */)
    for (i = 1; i <= n; i++)
        gsub(/\001/, "|", cell[i])
    return n
}
