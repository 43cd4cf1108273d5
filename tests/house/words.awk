# words.awk - the command words of shell scripts: for each FILE:LINE a line "command FILE LINE WORD", "function FILE LINE
# NAME" or "source FILE LINE PATH". A word that is made of variables is no word here, and neither is a path. It knows the
# shell's quotes, comments, here-documents, case patterns, redirections, and commands inside of words; not what eval runs.
BEGIN {
    split("! { if then else elif do while until time", list, " ")
    for (i in list)
        opens[list[i]] = 1 # another command follows
    split("} fi done", list, " ")
    for (i in list)
        closes[list[i]] = 1
    # Their operand is a command: behind options, assignments and numbers.
    split("command exec env nice nohup timeout xargs runuser setsid unshare", list, " ")
    for (i in list)
        runs[list[i]] = 1
    BLANK = "[ \t]"
    for (i = 1; i < ARGC; i++)
        scan(ARGV[i])
    exit bad
}

function scan(name,    one, lines) {
    file = name
    text = ""
    lines = 0
    while ((one = getline < name) > 0) {
        text = text $0 "\n"
        begins[++lines] = length(text) + 1 # of the line after it
    }
    if (one < 0) {
        print name ": can't be read" >"/dev/stderr"
        bad = 1
    }
    close(name)
    pos = line = 1
    heres = 0
    commands("")
    if (pos <= length(text))
        lost("a closing sign of nothing", pos)
}

# What would leave the rest of a script unread.
function lost(why, at,    l) {
    for (l = 1; begins[l] <= at;)
        l++
    print file ":" l ": " why ": the words behind it can't be told" >"/dev/stderr"
    bad = 1
    pos = length(text) + 1
}

# The line on which pos is; it only grows.
function here() {
    while (line in begins && begins[line] <= pos)
        line++
    return line
}

function tell(what, word) {
    print what, file, here(), word
}

# Commands up to END, which is left behind: "" (the end of the text), ")", "`", or ";;". Returns the sign, or esac.
function commands(end,    c, two, begun, start, next_is, word, before) {
    next_is = "command"
    begun = pos
    while (pos <= length(text)) {
        c = substr(text, pos, 1)
        two = substr(text, pos, 2)
        if (c == " " || c == "\t") {
            pos++
        } else if (two == "\\\n") {
            pos += 2
        } else if (c == "#") {
            pos += index(substr(text, pos, 2000), "\n") - 1
        } else if (c == "\n") {
            pos++
            bodies()
            next_is = "command"
        } else if (c == end && (c == ")" || c == "`")) {
            pos++
            return c
        } else if (c == ")") {
            return c # of nobody
        } else if (two == ";;") {
            pos += 2
            if (end == two)
                return two
        } else if (c == ";" || c == "|" || c == "&") {
            pos++
            next_is = "command"
        } else if (c == "<" || c == ">") {
            redirection()
        } else if (c == "(") {
            pos++
            commands(")")
            next_is = "nothing"
        } else {
            start = pos
            word = read_word()
            if (pos == start) { # no sign that is known
                pos++
                continue
            }
            if (word ~ /^[0-9]+$/ && substr(text, pos, 1) ~ /[<>]/)
                continue
            if (next_is == "command" && plain && match(substr(text, pos, 40), /^[ \t]*\([ \t]*\)/)) {
                pos += RLENGTH
                tell("function", word)
            } else if (next_is == "command" && plain && word == "esac" && end == ";;") {
                return word
            } else if (next_is == "command" && plain && word == "case") {
                arms()
                next_is = "nothing"
            } else if (next_is == "command" && plain && word == "for") {
                next_is = "nothing"
            } else if (next_is == "command" && plain && word in opens) {
                # next_is stays
            } else if (next_is == "command" && plain && word in closes) {
                next_is = "nothing"
            } else if (next_is == "command" && (word ~ /^[A-Za-z_][A-Za-z_0-9]*=/)) {
                # so it does behind an assignment
            } else if (next_is == "command") {
                if (known)
                    tell("command", word)
                before = word
                next_is = known && plain ? word == "." ? "source" : word in runs ? "operand" : "nothing" : "nothing"
            } else if (next_is == "operand") {
                if (before == "command" && word ~ /^-[vV]$/)
                    next_is = "nothing"
                else if (before == "xargs" && word ~ /^-[nPIsLd]$/ || (before == "nice" || before == "timeout") && word ~ /^-[nks]$/ || before == "runuser" && word ~ /^-u$/)
                    read_operand()
                else if (before == "timeout" && (!known || word ~ /^[0-9.]+[smhd]?$/))
                    before = "" # how long
                else if (word !~ /^-/ && word !~ /^[A-Za-z_][A-Za-z_0-9]*=/) {
                    if (known)
                        tell("command", word)
                    next_is = word in runs ? "operand" : "nothing"
                    before = word
                }
            } else if (next_is == "source") {
                tell("source", raw)
                next_is = "nothing"
            }
        }
    }
    if (end != "")
        lost("no " end " for this", begun - 1)
    return ""
}

# The operand of an option.
function read_operand() {
    while (substr(text, pos, 1) ~ /[ \t]/)
        pos++
    read_word()
}

function redirection(    dash, word) {
    if (substr(text, pos, 2) == "<<") {
        dash = substr(text, pos + 2, 1) == "-"
        pos += 2 + dash
        while (substr(text, pos, 1) ~ BLANK)
            pos++
        word = read_word()
        heres++
        here_end[heres] = word
        here_plain[heres] = plain
        here_dash[heres] = dash
        return
    }
    match(substr(text, pos, 3), /^[<>]+[&|]?/)
    pos += RLENGTH
    while (substr(text, pos, 1) ~ BLANK)
        pos++
    read_word()
}

# The here-documents that were announced, behind the end of a line. Commands run in those whose end isn't quoted.
function bodies(    i, n, body, one, end, was) {
    n = heres
    heres = 0
    for (i = 1; i <= n; i++) {
        body = pos
        for (;;) {
            end = index(substr(text, pos), "\n")
            if (!end)
                break
            one = substr(text, pos, end - 1)
            if (here_dash[i])
                sub(/^\t+/, "", one)
            was = pos
            pos += end
            if (one == here_end[i])
                break
        }
        if (here_plain[i]) {
            end = pos
            pos = body
            while (pos < was)
                expansion()
            pos = end
        }
    }
}

# case WORD in, and its arms.
function arms(    word, c, reached) {
    read_operand() # its subject
    read_operand() # in
    for (;;) {
        c = substr(text, pos, 1)
        if (c == "")
            return
        if (c ~ /[ \t\n|(]/) {
            pos++
        } else if (c == "#") {
            pos += index(substr(text, pos), "\n") - 1
        } else if (c == ")") {
            pos++
            if (commands(";;") != ";;")
                return
        } else {
            reached = pos
            word = read_word()
            if (word == "esac" && plain)
                return
            if (pos == reached)
                pos++
        }
    }
}

# A word, without its quotes. plain: it had none; known: it has no expansion; raw: as it stands.
function read_word(    c, word, start, quote, is_plain, is_known) {
    start = pos
    is_plain = is_known = 1
    word = ""
    for (;;) {
        if (match(substr(text, pos, 80), /^[A-Za-z0-9_.,:=+*?\/@%^~!\[\]{}-]+/)) {
            word = word substr(text, pos, RLENGTH)
            if (index(substr(text, pos, RLENGTH), "@"))
                is_known = 0 # configure fills it
            pos += RLENGTH
            continue
        }
        c = substr(text, pos, 1)
        if (c == "" || c ~ /[ \t\n;&|<>()]/) {
            break
        } else if (c == "'") {
            is_plain = 0
            c = index(substr(text, pos + 1), "'")
            if (!c) {
                lost("a lone quote", pos)
                break
            }
            word = word substr(text, pos + 1, c - 1)
            pos += c + 1
        } else if (c == "\"") {
            is_plain = 0
            quote = pos++
            while (pos <= length(text) && (c = substr(text, pos, 1)) != "\"") {
                if (c == "$" || c == "`")
                    is_known = 0
                if (c == "\\")
                    c = substr(text, pos, 2)
                if (!expansion())
                    word = word c
            }
            if (pos > length(text))
                lost("a lone quote", quote)
            pos++
        } else if (c == "$") {
            is_known = 0
            expansion()
        } else if (c == "`") {
            if (in_backquotes)
                break
            is_known = 0
            expansion()
        } else if (c == "\\") {
            is_plain = 0
            word = word substr(text, pos + 1, 1)
            pos += 2
        } else if (c == "#" && pos == start) {
            break
        } else {
            word = word c
            pos++
        }
    }
    plain = is_plain && is_known
    known = is_known
    raw = substr(text, start, pos - start)
    return word
}

# One character, or all of an expansion that begins with it; true if it was one.
function expansion(    c, two, saved, depth, quote) {
    c = substr(text, pos, 1)
    two = substr(text, pos, 2)
    if (c == "\\") {
        pos += 2
    } else if (substr(text, pos, 3) == "$((") {
        pos += 3
        depth = 2
        while (depth && pos <= length(text)) {
            c = substr(text, pos, 1)
            if (c == "$") {
                expansion()
                continue
            }
            depth += (c == "(") - (c == ")")
            pos++
        }
        return 1
    } else if (two == "$(") {
        pos += 2
        saved = in_backquotes
        in_backquotes = 0
        commands(")")
        in_backquotes = saved
        return 1
    } else if (two == "${") {
        pos += 2
        quote = 0
        while (pos <= length(text) && ((c = substr(text, pos, 1)) != "}" || quote)) {
            if (c == "\"")
                quote = !quote
            expansion()
        }
        pos++
        return 1
    } else if (c == "`" && !in_backquotes) {
        pos++
        in_backquotes = 1
        commands("`")
        in_backquotes = 0
        return 1
    } else if (two ~ /^\$[A-Za-z_0-9@*#?!$-]/) {
        pos += 2
        return 1
    } else {
        pos++
    }
    return 0
}
