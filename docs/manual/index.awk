# index.awk - a table of names that the program prints, as an index: what each is, and where it is explained.
#
#   awk -f html.awk -f index.awk MENTIONS TABLE
#
# MENTIONS: of mentions.awk; TABLE: of `lardsim list TABLE --markdown`.

# At most so many links of a name.
BEGIN { most = 3 }

function add(target, text) {
    if (links < most && !(target in shown)) {
        shown[target] = 1
        found = found (links++ ? ", " : "") link_to(target, text)
    }
}

function add_mentions(key, i) {
    for (i = 1; i <= mentions[key]; i++)
        add(target[key, i], title[key, i])
}

# Pages that speak of the name itself, or of it in any policy; else of its group, from the nearest on; of a
# policy also its own page.
function places_of(name, any, policy) {
    found = ""
    links = 0
    split("", shown)
    add_mentions(name)
    any = name
    if (sub(/^policy\.[^.]*\./, "policy.*.", any) || sub(/^compare\.[^.]*\./, "compare.*.", any))
        add_mentions(any)
    while (!links && sub(/\.[^.]*$/, "", any)) {
        add_mentions(any ".*")
        add_mentions(any)
    }
    if (name ~ /^policy\./) {
        split(name, part, ".")
        policy = part[2]
        add("policies/" policy ".html", policy)
    }
    return found
}

FNR == NR {
    n = ++mentions[$1]
    target[$1, n] = place($2) ($3 == "" ? "" : "#" $3)
    title[$1, n] = $4
    next
}
FNR == 1 {
    columns = split_row($0, cell)
    printf "<div class=\"wide\"><table class=\"index\"><thead><tr>"
    for (i = 1; i <= columns; i++)
        printf "<th>%s</th>", escape(cell[i])
    print "<th>explained in</th></tr></thead><tbody>"
    next
}
FNR == 2 { next }
{
    split_row($0, cell)
    printf "<tr id=\"%s\"><td><code>%s</code></td>", escape(cell[1]), escape(cell[1])
    for (i = 2; i <= columns; i++)
        printf "<td>%s</td>", escape_code(cell[i])
    print "<td>" places_of(cell[1]) "</td></tr>"
}
END { print "</tbody></table></div>" }
