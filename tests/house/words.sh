#!/bin/sh
# words.sh - is every command word of the project's scripts a command? A word of the shell, a function of the script or of
# what it sources, or a program that stands below: else a test's assertion may never run, and the test passes. And does
# the driver fail a test whose shell did not find a command?
set -u
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "words.sh: $*"; bad=1; }

# Programs, by Debian's package. A root of debootstrap has the first ones; quickstart installs the next; the others are
# optional: who calls them asks `command -v` first, or a test is skipped without them.
programs='
coreutils: base64 basename cat chgrp chmod chown cksum comm cp csplit cut date dd df dirname du echo env expr false
coreutils: fmt fold groups head hostid id join ln ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt
coreutils: od paste printenv printf pwd readlink realpath rm rmdir seq sha1sum sha256sum shuf sleep sort split stat
coreutils: stdbuf stty sync tac tail tee test timeout touch tr true truncate tty uname uniq wc yes
debianutils: which
diffutils: cmp diff
findutils: find xargs
grep: grep
hostname: hostname
gzip: gzip
libc-bin: getent ldconfig ldd locale
mawk: awk
mount: mount umount
perl-base: perl
sed: sed
tar: tar
util-linux: flock getopt ionice nsenter prlimit runuser setarch setpriv setsid su taskset unshare
passwd: useradd
perl-base: perl
apt: apt-cache apt-config apt-get
dpkg: dpkg dpkg-query
bash: bash
dash: sh

autoconf: autoreconf
binutils: ar as nm readelf size
gcc: cc gcc
make: make
pkg-config: pkg-config
shellcheck: shellcheck
sqlite3: sqlite3

bsdutils: script
clang: clang
clang-format: clang-format
debootstrap: debootstrap
g++: c++
git: git
gnuplot-nox: gnuplot
groff: groff
npm: npm
openjdk-17-jdk-headless: java javac jar
procps: pgrep
python3: python3
slurm-wlm: sbatch scontrol sinfo slurmctld slurmd squeue
munge: munged
valgrind: valgrind
zstd: zstd
'
shell='. : [ break cd command continue echo eval exec exit export false getopts hash kill local printf read readonly return
set shift test times trap true type ulimit umask unset wait'

# unresolved FILE...: "FILE:LINE: WORD", of each command word that nobody defines. Paths are relative to the folder.
unresolved() {
    awk -f "$top/tests/house/words.awk" "$@" >"$dir/words" || return
    { echo "$shell"; echo "$programs" | sed 's/^[^:]*://'; } | tr ' ' '\n' >"$dir/known"
    awk '
        NR == FNR { known[$1] = 1; next }
        $1 == "function" { has[$2, $4] = 1 }
        $1 == "source" {
            path = $4
            gsub(/"/, "", path)
            sub(/^\$(\{[^}]*\}|[A-Za-z_0-9]*)\//, "", path)
            if (path ~ /\$/) print $2 ":" $3 ": what is sourced can not be told: " $4
            sources[$2] = sources[$2] " " path
        }
        $1 == "command" && !($4 in known) && $4 !~ /\// { n++; file[n] = $2; line[n] = $3; word[n] = $4 }
        END {
            for (i = 1; i <= n; i++) {
                found = (file[i], word[i]) in has
                m = split(sources[file[i]], from, " ")
                for (j = 1; j <= m && !found; j++)
                    found = (from[j], word[i]) in has
                if (!found) print file[i] ":" line[i] ": " word[i]
            }
        }' "$dir/known" "$dir/words"
}

# ---- it notices ------------------------------------------------------------------------------------------

# Each word that begins with "no-" is a command that nobody has; one that begins with "is-" is none.
cd "$dir" || exit 99
cat >lib.sh <<'END'
lent() { :; }
END
cat >sample.sh <<'END'
# is-comment
. "${top:-.}/lib.sh"
no-first is-argument # is-comment
lent && no-and || no-or
if ! no-if; then no-then is-argument; elif no-elif; then :; else no-else; fi
x=$(no-inside "$(no-deeper)") y=is-value no-assigned
echo "is-text `no-quoted` ${x:-$(no-default)} \$(is-escaped) $((1 + is_number))" | no-piped >is-file 2>&1
case $x in
is-pattern | "is-pattern") no-arm ;;
(is-other) no-braced;;
*) { no-group; } ;;
esac
mine() { no-body; }
mine is-argument
for is_name in is-word is-word; do
    no-loop
done <is-input
while no-while; do no-do & done
( no-subshell )
cat <<is-end | no-behind
is-document $(no-document)
is-end
cat <<'is-end' <<-other
is-document $(is-quoted)
is-end
	is-document
	other
trap 'is-trap' EXIT
timeout -k 1 5 no-timed; command no-command; command -v is-asked; env A=b no-env; exec no-exec
awk '{ is-awk }' is-file \
    is-continued
"no-quotes"; n\o-escape; $x is-dynamic; ./is-path
z=$(case $x in is-pattern) no-case ;; esac)
# (an apostrophe's comment
[ -n "$x" ] && no-last
END
unresolved lib.sh sample.sh | sed 's/.*: //' | sort >got
# shellcheck disable=SC2016  # words as they are
grep -o 'no-[a-z]*' sample.sh | sort >want
echo no-escape >>want && sort -o want want
printf 'no-one\nx="a\nno-two\n' >open.sh
unresolved open.sh 2>&1 | grep -q '^open.sh:2: a lone quote' || fail "a script that ends in a quote is read to its end"
cmp -s got want || fail "of a sample it does not resolve: $(diff want got | sed -n 's/^[<>]/&/p' | tr '\n' ' ')"
unresolved sample.sh | grep -qx 'sample.sh:4: lent' || fail "what a script does not source is found"
last=$(grep -n no-last sample.sh)
unresolved sample.sh | grep -qx "sample.sh:${last%%:*}: no-last" || fail "a line is told wrong: $(unresolved sample.sh | tail -n 1)"

# ---- the driver notices, too ----------------------------------------------------------------------------

# result SHELL NAME: of NAME.sh, as make check would have it; what is printed of it is in `said`.
result() {
    "$1" "$top/tests/driver.sh" "$1" "$top/build-aux/test-driver" --test-name "$2.sh" --log-file log --trs-file trs -- \
        "$1" "./$2.sh" >said || fail "the driver ends with $?"
    sed -n 's/^:test-result: //p' trs
}
echo 'no-such a || x=1; exit 0' >lacking.sh
printf 'no-such 2>/dev/null\necho "a file was not found"\necho "sh: 1: no-such: not found"\n' >whole.sh
echo 'no-such; exit 77' >skipped.sh
echo 'no-such; exit 1' >failing.sh
for shell_of in sh bash; do
    command -v $shell_of >/dev/null 2>&1 || continue
    [ "$(result $shell_of lacking)" = FAIL ] || fail "$shell_of: a test that lacks a command is $(cat trs)"
    [ "$(cat said)" = 'FAIL: lacking.sh (a command was not found)' ] || fail "$shell_of: of such a test is said: $(cat said)"
    grep -q '^:recheck: yes' trs && grep -q '^:global-test-result: FAIL' trs || fail "$shell_of: such a test is not told: $(cat trs)"
    tail -n 1 log | grep -q 'no-such: .*not found' || fail "$shell_of: the log does not end with the reason: $(cat log)"
    [ "$(result $shell_of skipped)" = FAIL ] || fail "$shell_of: a skipped test that lacks a command is $(cat trs)"
    [ "$(result $shell_of failing)" = FAIL ] || fail "$shell_of: a failing test that lacks a command is $(cat trs)"
    [ "$(cat said)" = 'FAIL: failing.sh' ] || fail "$shell_of: of a test that fails by itself is said: $(cat said)"
    [ "$(result $shell_of whole)" = PASS ] || fail "$shell_of: a test that speaks of what is not found is $(cat trs log)"
done

# ---- the scripts -----------------------------------------------------------------------------------------

cd "$top" || exit 99
{
    find . -name '*.sh' ! -path './build*' ! -path './long/*'
    ls quickstart capture/lardsim-as.in capture/lardsim-cc.in
    [ ! -f .ci/run ] || echo .ci/run
} | sed 's|^\./||' | sort >"$dir/scripts"
[ "$(wc -l <"$dir/scripts")" -ge 60 ] || fail "there are only $(wc -l <"$dir/scripts") scripts"
# shellcheck disable=SC2046  # a list
unresolved $(cat "$dir/scripts") >"$dir/wrong" 2>&1 || fail "the scripts can't be read: $(cat "$dir/wrong")"
while read -r wrong; do
    fail "$wrong: is no function of the script or of what it sources, and no program that tests/house/words.sh lists"
done <"$dir/wrong"

exit $bad
