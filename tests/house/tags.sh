#!/bin/sh
# tags.sh - a struct tag means one thing in the whole product: who has read one definition of it knows
# all its uses.
cd "${top_srcdir:-.}" || exit 99
folders="base trace memory cache coherence isa swmanager runtime policy sim results cli workloads"
bad=0
# shellcheck disable=SC2086  # lists of words
for tag in $(grep -rhoE --include='*.[ch]' '^struct [a-z_0-9]+ \{' $folders | sort | uniq -d | cut -d' ' -f2); do
    echo "struct $tag has several definitions:"
    grep -rlE --include='*.[ch]' "^struct $tag \{" $folders
    bad=1
done
exit $bad
