# headline.awk - what a reviewer reads of a run. Input: its statistics as NAME,VALUE, then its races as
# lines of races.jsonl. Output: the statistics by group, without those that are 0, and the first
# races, both sides of each.

/^\{/ {
    if (++races <= 5)
        race[races] = of("policy") ": " side(1) " of " of("size") " bytes at " of("address") \
            ", after the " side(index($0, "\"earlier\": "))
    next
}
{
    comma = index($0, ",")
    name = substr($0, 1, comma - 1)
    value = substr($0, comma + 1)
    match(name, /[^.]*$/)
    group = substr(name, 1, RSTART - 2)
    leaf = substr(name, RSTART)
    if (read(group, leaf) &&
        (value != 0 || leaf ~ /^(accesses|sites|locations|pairs)$/ && group ~ /\.races$/))
        add(group, leaf " " value)
}
END {
    for (i = 1; i <= groups; i++)
        print line[i]
    for (i = 1; i <= races && i <= 5; i++)
        print race[i]
    if (races > 5)
        print "and " races - 5 " races more"
}

# Of a policy all is read but its steps and histograms; of the machine, what is named here.
function read(group, leaf)
{
    if (group ~ /^policy\./)
        return group ~ /^policy\.[^.]*(\.[^.]*)?$/ || group ~ /\.manager\.cycles$/
    if (group ~ /^l[123]$/)
        return leaf == "accesses" || leaf == "misses"
    if (group == "events" || group == "network.messages")
        return leaf == "total"
    return group ~ /^(events\.kind|coherence|network\.bytes.*)$/ ||
        group ~ /^(machine|machine\.spent|memory|memory\.bytes-.*)$/
}

# A group's first leaf opens its line; one that is full goes on in the next.
function add(group, text)
{
    if (group != last)
        line[++groups] = group ": " text
    else if (length(line[groups]) + length(text) > 97) {
        line[groups] = line[groups] ","
        line[++groups] = "    " text
    } else
        line[groups] = line[groups] ", " text
    last = group
}

function side(from)
{
    return of("op", from) " by thread " of("thread", from) \
        " (event " of("event", from) ", " of("site", from) ")"
}

# The value of a key in what the line has from there on.
function of(key, from,    rest)
{
    rest = substr($0, from + 0)
    match(rest, "\"" key "\": ")
    rest = substr(rest, RSTART + RLENGTH)
    match(rest, /^("[^"]*"|[^,}]*)/)
    rest = substr(rest, 1, RLENGTH)
    gsub(/"/, "", rest)
    return rest
}
