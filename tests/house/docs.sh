#!/bin/sh
# docs.sh - the pages are true. The commands of every fenced block marked sh run (not of one marked sh skip,
# which is for the reader's own machine). What a block marked output shows, and the percentages of a picture,
# are what the commands of the page print; " ..." stands for the rest of a line. Links and paths lead somewhere.
# Each policy has a page. The guide leads to each page. The pages have no more words than they had.
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
build=$(cd "$(dirname "${LARDSIM:?}")" && pwd)
PATH=$build:$build/capture:$PATH
LARDSIM_NATIVE=$build/capture/liblardsim-native.a
LARDSIM_PROGRAMS=$top/workloads/programs/recipes
XDG_CACHE_HOME=$dir/cache
export PATH LARDSIM_NATIVE LARDSIM_PROGRAMS XDG_CACHE_HOME
bad=0
for page in "$top"/README.md "$top"/CONTRIBUTING.md "$top"/docs/*.md "$top"/docs/policies/*.md; do
    work=$dir/${page#"$top"/}
    mkdir -p "$work" && cd "$work" || exit 99
    ln -s "$top/workloads" workloads
    ln -s "$top/tests" tests
    awk '/^```sh$/ {on = 1; next} /^```/ {on = 0} on' "$page" >"$dir/commands"
    [ -s "$dir/commands" ] || continue
    if [ ! -f "$LARDSIM_NATIVE" ] && grep -q 'lardsim-cc\|program:' "$dir/commands"; then
        echo "${page#"$top"/}: its commands are not run, as captures are for x86-64"
        continue
    fi
    if ! sh -eu "$dir/commands" >"$dir/out" 2>&1 </dev/null; then
        echo "${page#"$top"/}: a command failed:"
        tail -5 "$dir/out"
        bad=1
    fi
    sed 's/[[:space:]]*$//' "$dir/out" >"$dir/printed"
    awk '/^```output$/ {on = 1; next} /^```/ {on = 0} on && NF' "$page" >"$dir/shown"
    for picture in $(grep -oE '\]\([a-z-]+\.svg' "$page" | sed 's/](//'); do
        grep -oE '>[0-9.]+ %<' "${page%/*}/$picture" | tr -d '<>' |
            while read -r number; do grep -qF " $number " "$dir/printed" || echo "$picture: $number"; done
    done >"$dir/gone"
    awk 'NR == FNR {whole[$0]; text = text "\n" $0; next}
        {part = $0}
        sub(/ *\.\.\.$/, "", part) ? !index(text "\n", "\n" part) : !($0 in whole)' \
        "$dir/printed" "$dir/shown" >>"$dir/gone"
    if [ -s "$dir/gone" ]; then
        echo "${page#"$top"/}: shows what its commands do not print:"
        cat "$dir/gone"
        bad=1
    fi
done
# Each policy is in the table of policies, once, and has a page.
for policy in $("$LARDSIM" list policies | awk '{print $1}'); do
    n=$(grep '^| ' "$top/docs/policies.md" | cut -d'|' -f2 | grep -oF "\`$policy\`" | wc -l)
    [ "$n" = 1 ] || { echo "docs/policies.md: $policy is $n times in the table"; bad=1; }
    [ -f "$top/docs/policies/$policy.md" ] || { echo "docs/policies/$policy.md: there is none"; bad=1; }
done
# Links lead somewhere, and so do the pages that the source names.
cd "$top" || exit 99
for page in README.md CONTRIBUTING.md docs/*.md docs/policies/*.md; do
    for link in $(grep -oE '\]\([^)#:]+' "$page" | sed 's/](//'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: links to $link, which does not exist"; bad=1; }
    done
done
# The guide leads to each page; policies.md to those of policies.
for page in docs/*.md; do
    [ "$page" = docs/guide.md ] || grep -qF "](${page#docs/}" docs/guide.md ||
        { echo "docs/guide.md: does not lead to $page"; bad=1; }
done
# Typed words: what the program prints is not typed, so its tables do not count; bars and rules of tables are no words.
most=85000
# shellcheck disable=SC2046  # a list of files
words=$(awk '/^<!-- lardsim list / {printed = 1} /^<!-- end -->/ {printed = 0}
    !printed {for (i = 1; i <= NF; i++) n += $i ~ /[A-Za-z0-9]/} END {print n}' \
    README.md $(find . -path './build*' -prune -o -name '*.md' -print | grep '^\./[a-z0-9_]*/'))
[ "$words" -le $most ] || { echo "the pages have $words typed words, more than $most: say it shorter, or let the program print it"; bad=1; }
# Each option of each verb stands on a page: a line of help does not say what it is good for.
"$LARDSIM" list verbs | cut -c 1-18 | while read -r verb; do
    # shellcheck disable=SC2086  # a verb may have two words
    for option in $("$LARDSIM" $verb --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        [ "$option" = --usage ] || grep -qrF -e "$option" README.md docs results/README.md || echo "lardsim $verb: no page names $option"
    done
done >"$dir/unnamed"
[ ! -s "$dir/unnamed" ] || { cat "$dir/unnamed"; bad=1; }
# Paths in backticks exist, from the top folder or from that of the page. One with capitals (NAME.txt) or a
# file x is for the reader to fill in.
for page in README.md CONTRIBUTING.md ./*/README.md docs/*.md docs/policies/*.md; do
    for path in $(grep -oE '`[a-z][a-z0-9_./*-]*/([a-z0-9_*-]+\.(c|cc|h|def|md|sh|mk|edits|trace|csv|txt))?`' "$page" |
        tr -d '`' | grep -vE '[_/]x\.'); do
        # shellcheck disable=SC2086  # a * in it is meant
        ls -d $path >/dev/null 2>&1 || (cd "$(dirname "$page")" && ls -d $path >/dev/null 2>&1) ||
            { echo "$page: names $path, which does not exist"; bad=1; }
    done
    # So do goals of make, and rooms whose tests are run. What is in capitals is for the reader to fill in.
    for goal in $(grep -oE '`make [a-z][a-z0-9-]+' "$page" | sed 's/.* //' | sort -u); do
        case $goal in
        check- | check-long) ;;
        check-*) grep -qE "/${goal#check-}/" tests/tests.mk || { echo "$page: names make $goal, and tests/ has no such room"; bad=1; } ;;
        all | check | install | uninstall | dist | distcheck | clean | html) ;;
        *) grep -qE "^([a-z -]+ )?$goal( [a-z -]+)?:" Makefile.am */*.mk || { echo "$page: names make $goal, which there is not"; bad=1; } ;;
        esac
    done
done
for page in $(grep -ohE 'docs/[a-z0-9/-]+\.md' ./*/*.[ch] ./*/*.def ./*/*.sh Makefile.am | sort -u); do
    [ -f "$page" ] || { echo "$page is named in the source and does not exist"; bad=1; }
done
exit $bad
