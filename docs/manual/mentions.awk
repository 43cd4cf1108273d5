# mentions.awk - where pages speak of names: "NAME<tab>FILE<tab>ANCHOR<tab>TITLE". A name is in backquotes. It has a
# dot, or a value; a word alone is one on the two pages that are about nothing else. "l1.*" is a group; <label> and the like stand for any policy: "policy.*.view".
# Tables that the program prints do not count, as they explain no more than the index.

FNR == 1 {
    title = mark = ""
    code = listed = 0
}
/^```/ {
    code = !code
    next
}
/^<!-- lardsim list / { listed = 1 }
/^<!-- end -->/ { listed = 0 }
code || listed { next }
/^# / {
    title = substr($0, 3)
    gsub(/`/, "", title)
}
/^##+ / {
    mark = $0
    sub(/^#+ /, "", mark)
    mark = slug(mark)
}
{
    n = split($0, part, "`")
    for (i = 2; i <= n; i += 2) {
        name = part[i]
        sure = sub(/ ?[=:].*/, "", name) || FILENAME ~ /^docs\/(machine|configuration)\.md$/
        gsub(/<[a-z]*>|LABEL/, "*", name)
        sub(/^policy\.X\./, "policy.*.", name)
        if (name ~ /^[a-z0-9_*-]+(\.[a-z0-9_*-]+)*$/ && (sure || name ~ /\./) && !((name, FILENAME) in told)) {
            told[name, FILENAME] = 1
            print name "\t" FILENAME "\t" mark "\t" title
        }
    }
}
