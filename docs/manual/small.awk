# small.awk - what build.sh asks in between. -v ask=place -v path=FILE: where a file lies in the manual. ask=names:
# lines "NAME<tab>PAGE#ANCHOR" of a table of Markdown, for its index. ask=text: the lines as text; `code` in it stays code.

BEGIN {
    if (ask == "place") {
        print place(path)
        exit
    }
}
ask == "names" && NR > 2 {
    split_row($0, cell)
    print cell[1] "\t" table ".html#" cell[1]
}
ask == "text" { print escape_code($0) }
