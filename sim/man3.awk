# man3.awk - manual pages of section 3, made of lardsim.h: awk -v page=lardsim_set -v version=V -f
# man3.awk lardsim.h. Page "lardsim" has the types and what the header says of itself. With
# page=list: the names of all pages.
#
# A function's page has its declaration and the comment above it, which may be shared: a comment is
# of all that follows up to an empty line, or the next comment.
function roff(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    gsub(/'/, "\\(aq", s)
    return s ~ /^[.]/ ? "\\&" s : s
}
function prose(s) { # the text of a comment: paragraphs, and code that is indented
    sub(/^ *\/\* ?/, "", s)
    sub(/ *\*\/ *$/, "", s)
    sub(/^ ?\* ?/, "", s)
    sub(/ *-+$/, "", s)
    return s
}
function describe(text, n, i, line, code) {
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        if ((line[i] ~ /^    /) != code) {
            code = !code
            print code ? ".nf" : ".fi"
        }
        print line[i] == "" ? ".PP" : roff(line[i])
    }
    if (code)
        print ".fi"
}
function title(name, what) {
    print ".\\\" Made of lardsim.h."
    printf ".TH %s 3 \"\" \"lardsim %s\" \"Library Functions\"\n.SH NAME\n", toupper(name), version
    print roff(name) " \\- " roff(what)
}
function name_of(declaration, s) {
    s = declaration
    if (s ~ /\(/)
        sub(/\(.*/, "", s)
    sub(/.*[ *]/, "", s)
    return s
}
/^\/\* *-----*.*/ { comment = "" }
/^\/\*/ { comment = ""; sep = ""; inside = 1 }
inside {
    comment = comment sep prose($0)
    sep = "\n"
    if (/\*\//) {
        inside = 0
        if (!top)
            top = comment
    }
    next
}
/^(struct|enum|typedef) .*lardsim.*[{;]/ { type = 1 }
type {
    kept = kept $0 "\n"
    if (/^}/ || /^(struct|enum|typedef).*;/) {
        type = 0
        kept = kept "\n"
    }
    next
}
/^LARDSIM_API/ {
    declaration = $0
    while (declaration !~ /;/) {
        getline more
        sub(/^ +/, " ", more)
        declaration = declaration more
    }
    if (match(declaration, / *\/\*.*\*\//)) { # beside it
        beside = prose(substr(declaration, RSTART, RLENGTH))
        declaration = substr(declaration, 1, RSTART - 1)
    } else {
        beside = ""
    }
    sub(/^LARDSIM_API /, "", declaration)
    gsub(/  +/, " ", declaration)
    n++
    names[n] = name_of(declaration)
    declared[names[n]] = declaration
    said[names[n]] = beside == "" ? comment : comment (comment == "" ? "" : "\n\n") beside
    next
}
/^$/ { comment = "" }
END {
    if (page == "list") {
        print "lardsim"
        for (i = 1; i <= n; i++)
            print names[i]
        exit
    }
    if (page == "lardsim") {
        split(top, first, " - ")
        title(page, "the library of the simulator of machines that detect data races")
        print ".SH SYNOPSIS\n.nf\n#include <lardsim.h>\n"
        for (i = 1; i <= n; i++)
            print roff(declared[names[i]])
        print ".fi\n.PP\ncc $(pkg\\-config \\-\\-cflags lardsim) ... $(pkg\\-config \\-\\-libs lardsim)"
        print ".SH DESCRIPTION"
        describe(substr(top, index(top, " - ") + 3))
        print ".SH TYPES\n.nf"
        m = split(kept, line, "\n")
        for (i = 1; i < m; i++)
            print roff(line[i])
        print ".fi\n.SH SEE ALSO\n.BR lardsim (1),"
        for (i = 1; i <= n; i++)
            print ".BR " names[i] " (3)" (i < n ? "," : "")
        exit
    }
    if (!(page in declared)) {
        print "man3.awk: lardsim.h has no " page >"/dev/stderr"
        exit 1
    }
    what = said[page] == "" ? "a call of the library lardsim" : said[page]
    gsub(/\n/, " ", what)
    if (match(what, /[.:;] /))
        what = substr(what, 1, RSTART - 1)
    sub(/[.]$/, "", what)
    title(page, what)
    print ".SH SYNOPSIS\n.nf\n#include <lardsim.h>\n\n" roff(declared[page]) "\n.fi"
    if (said[page] != "") {
        print ".SH DESCRIPTION"
        describe(said[page])
    }
    if (declared[page] ~ /^int /)
        print ".SH RETURN VALUE\nUnless it is said otherwise, 0; or \\-1 after an error, which lardsim_error tells."
    print ".SH SEE ALSO\n.BR lardsim (3)"
}
