# moved.awk - which statistics and races of which runs moved. Input: two files of lines RUN NAME,VALUE
# or RUN {a race}. Output: at most 20 lines a run, nothing if nothing moved.

{
    comma = / \{/ ? length($0) + 1 : index($0, ",") # a race is its whole line
    name = substr($0, 1, comma - 1)
    value = substr($0, comma + 1)
}
FILENAME == ARGV[1] { was[name] = value; old[$1]; next }
{ new[$1] }
!($1 in old) { next }
!(name in was) { say($1, name " is new" (value == "" ? "" : ": " value)); next }
was[name] != value { say($1, name " was " was[name] ", is " value) }
{ delete was[name] }
END {
    for (run in new)
        if (!(run in old))
            print run " is a new run"
    for (run in old)
        if (!(run in new))
            print run " is run no more"
    for (name in was) {
        split(name, word, " ")
        if (word[1] in new)
            say(word[1], name " is gone")
    }
    for (run in moved)
        if (moved[run] > 20)
            print run ": " moved[run] - 20 " more moved"
}

function say(run, text)
{
    if (++moved[run] <= 20)
        print text
}
