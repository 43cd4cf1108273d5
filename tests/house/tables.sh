#!/bin/sh
# tables.sh [--renew] - a table in docs/ that the program prints is not typed. Its page has it between
#   <!-- lardsim list TABLE [SECTION] -->
#   <!-- end -->
# as that command prints it with --markdown. Nor is a picture of a machine drawn: it stands below
#   <!-- lardsim machine ... -->
# Without --renew, which `make docs-tables` gives, one that has become another is an error.
lardsim=${LARDSIM:?}
cd "${top_srcdir:-.}" || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0

# Reads a page; writes it with its tables anew.
renewed() {
    within=
    while IFS= read -r line; do
        case $line in
        '<!-- lardsim list '*' -->')
            command=${line#<!-- lardsim } within=yes
            printf '%s\n\n' "$line"
            # shellcheck disable=SC2086  # words
            "$lardsim" ${command% -->} --markdown || return 1
            echo
            ;;
        '<!-- end -->') within= ;;
        esac
        [ "$within" ] || printf '%s\n' "$line"
    done
    [ ! "$within" ] # no end
}

for page in docs/*.md docs/policies/*.md; do
    grep -q '^<!-- lardsim list ' "$page" || continue
    if ! renewed <"$page" >"$dir/page"; then
        echo "$page: a table can't be made, or has no end"
        bad=1
    elif [ "${1:-}" = --renew ]; then
        cmp -s "$dir/page" "$page" || cp "$dir/page" "$page" || exit 1
    elif ! diff -U 0 "$page" "$dir/page" >"$dir/diff"; then
        echo "$page: a table is not what the program prints; \`make docs-tables\` writes it anew:"
        cat "$dir/diff"
        bad=1
    fi
done

# The line above a picture, and its file. Its style sheet has the looks of all pictures, and is no part of what is
# drawn.
drawn() { sed '/^<style>/,/^<\/style>/d' "$1"; }
sed -n '/^<!-- lardsim machine /{N;s/^<!-- lardsim \(.*\) -->\n!\[.*\](\(.*\))$/\2 \1/p;}' docs/*.md docs/policies/*.md |
    sort -u >"$dir/pictures"
[ "$(wc -l <"$dir/pictures")" = "$(cat docs/*.md docs/policies/*.md | grep -c '^<!-- lardsim machine ')" ] ||
    { echo "a line <!-- lardsim machine ... --> has no picture of its own below it"; bad=1; }
while read -r picture command; do
    # shellcheck disable=SC2086  # words
    if ! "$lardsim" $command -o - >"$dir/picture"; then
        echo "docs/$picture: can't be drawn"
        bad=1
    elif [ "${1:-}" = --renew ]; then
        mkdir -p "docs/${picture%/*}"
        cp "$dir/picture" "docs/$picture" || exit 1
    elif [ "$(drawn "$dir/picture")" != "$(drawn "docs/$picture")" ]; then
        echo "docs/$picture: is not what the program draws; \`make docs-tables\` draws it anew"
        bad=1
    fi
done <"$dir/pictures"

# What a policy charges for is on its page.
for policy in $("$lardsim" list steps | sed 's/\..*//' | sort -u); do
    page=docs/policies/$policy.md
    [ "$policy" != swmanager ] || page=docs/lardish.md
    grep -q "^<!-- lardsim list steps $policy -->" "$page" ||
        { echo "$page: no table of what it charges for: <!-- lardsim list steps $policy -->"; bad=1; }
done

for policy in $("$lardsim" list policies | sed 's/ .*//'); do
    grep -q '^## Costs$' "docs/policies/$policy.md" ||
        { echo "docs/policies/$policy.md: no heading Costs"; bad=1; }
done

# What is said to be somebody's is in the table of papers.
"$lardsim" list papers >"$dir/papers"
{
    "$lardsim" list policies --json
    "$lardsim" list workloads --json
} | sed -n 's/^ *{"name": "\([^"]*\)".*"source": "\([^"]*\)".*/\1 \2/p' >"$dir/sources"
[ "$(wc -l <"$dir/sources")" -gt 20 ] || { echo "no sources are told"; bad=1; }
"$lardsim" list policies --json | grep '"name"' | grep -v '"source"' && { echo "a policy does not say whose it is"; bad=1; }
while read -r name value; do
    grep -q "^$value " "$dir/papers" ||
        { echo "$name: its source, \"$value\", is not in the table of papers; add PAPER(\"$value\", ...) to base/papers.def"; bad=1; }
done <"$dir/sources"
exit $bad
