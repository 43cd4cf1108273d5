# page.awk - what is around the text of a page: its head, the pages of the manual, its neighbours.
#
#   awk -F '\t' -f html.awk -f page.awk -v html=policies/vc.html -v up=../ -v title=vc PAGES TEXT
#
# PAGES: lines "SOURCE<tab>HTML<tab>TITLE"; a line without a tab begins a chapter.

FNR == NR && NF < 2 {
    list = list (chapters++ ? "</ul>" : "") "<h2>" escape($0) "</h2><ul>\n"
    next
}
FNR == NR {
    if (here)
        following = link_to(up $2, $3)
    here = $2 == html
    if (here)
        previous = before
    before = link_to(up $2, $3)
    list = list "<li" (here ? " aria-current=\"page\"" : "") ">" before "</li>\n"
    next
}
FNR == 1 {
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    print "<meta name=\"color-scheme\" content=\"light dark\">"
    print "<title>" escape(title) " - lardsim</title>"
    print "<link rel=\"stylesheet\" href=\"" up "style.css\">\n</head>\n<body>"
    print "<a class=\"skip\" href=\"#text\">To the text</a>"
    print "<nav class=\"pages\" aria-label=\"Pages\">\n" list "</ul></nav>\n<main id=\"text\">"
}
{ print }
END {
    print "<nav class=\"near\" aria-label=\"Neighbours\"><span>" previous "</span><span>" following "</span></nav>"
    print "</main>\n</body>\n</html>"
}
