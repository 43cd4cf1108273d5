# tables.awk - results/papers/tables/NAME.yaml as rows of C, for tables.c; its form is in results/README.md.
#
# awk -f tables.awk FILE...: the rows on standard output. A mistake ends it with the file, the line and the rule.

function wrong(file, n, rule) {
    printf "%s:%d: %s\n", file, n, rule | "cat >&2"
    close("cat >&2")
    failed = 1
    exit 1
}

# A text of C: what is quoted stands as it is.
function quoted(text) { return text ~ /^"/ ? text : "\"" text "\"" }

# Reads a file; what it inherits is read where that stands, which is at its head, so that the file's own keys hold.
function read(file, folder,   line, n, key, value, names, i, k) {
    while ((i = getline line <file) > 0) {
        n++
        if (line ~ /^ *#/ || line ~ /^ *$/) continue
        if (match(line, /^[a-z]+:/)) {
            key = substr(line, 1, RLENGTH - 1)
            value = substr(line, RLENGTH + 1)
            sub(/^ */, "", value)
            if (key != "inherit" && !(key in kind)) wrong(file, n, "no key " key "; there are" keys)
            if (value == "" && kind[key] ~ /one|number|flag|flow/) wrong(file, n, key " has a value on its line")
            if (key == "inherit") {
                gsub(/[][,]/, " ", value)
                i = split(value, names, " ")
                for (k = 1; k <= i; k++) read(folder "/" names[k] ".yaml", folder)
                continue
            }
            is[key] = kind[key] == "flow" ? substr(value, 2, length(value) - 2) : value
        } else if (line ~ /^  / && key != "" && kind[key] !~ /one|number|flag|flow/) {
            if (kind[key] != "block" && line !~ /^  - ".*"$/) wrong(file, n, "a line of " key " is   - \"TEXT\"")
            value = substr(line, 6, length(line) - 6)
            gsub(/\\./, "", value)
            if (kind[key] != "block" && value ~ /"/) wrong(file, n, "a \" in a text is \\\"")
            is[key] = is[key] (is[key] == "" ? "" : "\n") (kind[key] == "block" ? line : substr(line, 6, length(line) - 6))
        } else {
            wrong(file, n, "neither KEY: VALUE nor a line of a key's list")
        }
    }
    if (i < 0) wrong(file, 0, "can't be read")
    close(file)
}

# The lines of a list, each with as many texts as the C's row has members.
function rows(key,   text, line, field, count, i, k, n) {
    text = ""
    count = split(is[key], line, "\n")
    for (i = 1; i <= count; i++) {
        n = split(line[i], field, " [|] ")
        if (n > members[key]) wrong(name, 0, key ": more than " members[key] " texts in: " line[i])
        text = text "{"
        for (k = 1; k <= members[key]; k++)
            text = text (k <= n && field[k] != "" ? "\"" field[k] "\"" : k == 5 ? "\"\"" : "NULL") ", "
        text = text "}, "
    }
    return "(const struct table_" type[key] "[]){" text "{." first[key] " = NULL}}"
}

function lines(text) { gsub(/\n/, "\\n", text); return "\"" text "\"" }

function write(   key, value, i) {
    printf "{.name = \"%s\", ", name
    for (i = 1; i <= count; i++) {
        key = order[i]
        value = is[key]
        if (value == "" && key !~ /^(paper|number|section|programs)$/) continue
        if (kind[key] == "rows") value = rows(key)
        else if (kind[key] == "block" && key == "base") value = lines(value "\n")
        else if (kind[key] == "block") { sub(/^ */, "", value); value = lines(value) }
        else if (kind[key] == "lines") value = lines(value)
        else if (kind[key] == "flag") value = value == "on" ? "true" : "false"
        else if (kind[key] != "number") value = quoted(value)
        printf "\n .%s = %s, ", member[key], value
    }
    print "},"
}

# key, its kind, the member of struct reproduction; of rows the type, how many members, and which ends them
function add(text,   f) {
    split(text, f, " ")
    kind[f[1]] = f[2]
    member[f[1]] = f[3]
    type[f[1]] = f[4]
    members[f[1]] = f[5]
    first[f[1]] = f[6]
    order[++count] = f[1]
    keys = keys " " f[1]
}

BEGIN {
    add("paper one paper"); add("number one number"); add("section one section"); add("title one title")
    add("machine one machine"); add("base block settings"); add("axes block axis"); add("policies flow policies")
    add("programs rows program program 5 name"); add("size one size"); add("quick one quick")
    add("seeds number seeds"); add("pairs flag names_pairs"); add("asked flag asked")
    add("columns rows column column 3 head"); add("summary rows summary line 2 text")
    add("parts rows part line 2 text"); add("of rows of line 2 text"); add("reasons rows reason line 2 text")
    add("inputs lines inputs"); add("frozen lines frozen"); add("cannot lines cannot")
    for (at = 1; at < ARGC; at++) {
        split("", is)
        name = folder = ARGV[at]
        sub(/\/[^\/]*$/, "/shared", folder)
        read(ARGV[at], folder)
        sub(/.*\//, "", name)
        sub(/[.]yaml$/, "", name)
        if (is["title"] == "" || is["policies"] == "" || is["seeds"] == "") wrong(ARGV[at], 0, "title, policies and seeds are missing")
        write()
    }
    exit failed
}
