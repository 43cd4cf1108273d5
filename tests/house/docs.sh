#!/bin/sh
# docs.sh - the commands in the documentation run: every fenced block marked sh in README.md and docs/.
# A block marked `sh skip` is for the reader's own machine (installing packages, say).
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
PATH=$(cd "$(dirname "${LARDSIM:?}")" && pwd):$PATH
export PATH
bad=0
for page in "$top"/README.md "$top"/docs/*.md "$top"/docs/policies/*.md; do
    work=$dir/${page#"$top"/}
    mkdir -p "$work" && cd "$work" || exit 99
    ln -s "$top/workloads" workloads
    ln -s "$top/tests" tests
    awk '/^```sh$/ {on = 1; next} /^```/ {on = 0} on' "$page" >"$dir/commands"
    [ -s "$dir/commands" ] || continue
    if ! sh -eu "$dir/commands" >"$dir/out" 2>&1 </dev/null; then
        echo "${page#"$top"/}: a command failed:"
        tail -5 "$dir/out"
        bad=1
    fi
done
# Each policy is in the table of policies, once, and has a page.
for policy in $(lardsim list policies | awk '{print $1}'); do
    n=$(grep '^| ' "$top/docs/policies.md" | cut -d'|' -f2 | grep -oF "\`$policy\`" | wc -l)
    [ "$n" = 1 ] || { echo "docs/policies.md: $policy is $n times in the table"; bad=1; }
    [ -f "$top/docs/policies/$policy.md" ] || { echo "docs/policies/$policy.md: there is none"; bad=1; }
done
# Links lead somewhere, and so do the pages that the source names.
cd "$top" || exit 99
for page in README.md docs/*.md docs/policies/*.md; do
    for link in $(grep -oE '\]\([^)#:]+' "$page" | sed 's/](//'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: links to $link, which does not exist"; bad=1; }
    done
done
for page in $(grep -ohE 'docs/[a-z0-9/-]+\.md' ./*/*.[ch] ./*/*.def ./*/*.sh Makefile.am | sort -u); do
    [ -f "$page" ] || { echo "$page is named in the source and does not exist"; bad=1; }
done
exit $bad
