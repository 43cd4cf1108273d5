# help.awk - cli/help/NAME.txt as rows of C, for cli/verbs.c and cli/tables.c.
#
# awk -v form=verbs|concepts|heads -f help.awk FILE: a row for each "== NAME: WORDS": its first paragraph, the others,
# and what is set in, each as a text whose lines are the paragraphs. Lines that begin with # are comments.

# A text of C.
function quoted(text) {
    gsub(/\\/, "\\\\&", text)
    gsub(/"/, "\\\"", text)
    gsub(/\n/, "\\n", text)
    return "\"" text "\""
}
function or_null(text) { return text == "" ? "NULL" : quoted(text) }

function end_paragraph() {
    if (paragraph == "") return
    if (first == "") first = paragraph
    else more = more (more == "" ? "" : "\n") paragraph
    paragraph = ""
}

function end_row(    id) {
    end_paragraph()
    if (name == "") return
    if (first == "") { print FILENAME ": " name " says nothing" | "cat >&2"; exit 1 }
    id = name
    gsub(/ /, "_", id)
    if (form == "verbs")
        printf "[HELP_%s] = {%s, %s, %s, %s, %s},\n", id, quoted(name), quoted(words), quoted(first), or_null(more), or_null(examples)
    else if (form == "concepts") printf "CONCEPT(%s, %s, %s)\n", quoted(name), quoted(first), quoted(more)
    else printf "HEAD(%s, %s, %s)\n", quoted(name), quoted(words), quoted(first)
    name = words = first = more = examples = ""
}

/^#/ { next }
/^== / {
    end_row()
    name = substr($0, 4)
    if (match(name, /: .*|:$/)) {
        words = substr(name, RSTART + 2)
        name = substr(name, 1, RSTART - 1)
    }
    next
}
/^    / { examples = examples (examples == "" ? "" : "\n") substr($0, 5); next }
/^$/ { end_paragraph(); next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
END { end_row() }
