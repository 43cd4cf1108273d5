#!/bin/sh
# bare_user.sh - in a bare root (bare.sh), with the sources in /src: what their user does first. Each question is a line,
# `bare: PASS` or `bare: FAIL`; of what fails the last lines are printed.
log=/tmp/bare.log
bad=0

# ask QUESTION COMMAND...
ask() {
    question=$1
    shift
    if "$@" >$log 2>&1; then
        echo "bare: PASS $question"
    else
        echo "bare: FAIL $question"
        tail -n 25 $log
        bad=1
    fi
}
wants() { # TEXT: the log has it
    grep -qF -e "$1" $log || { echo "does not say: $1"; return 1; }
}
processor_seconds() { # into $seconds: of all that this shell has waited for; a subshell would have its own
    times >/tmp/times
    seconds=$(awk 'NR == 2 {for (i = 1; i <= 2; i++) {split($i, t, /[ms]/); s += 60 * t[1] + t[2]} print int(s)}' /tmp/times)
}

# ---- a user without root rights, before anything is installed ---------------------------------------

state() { # all that a user could change
    find / -xdev -newer /tmp/before ! -path '/tmp/*' ! -path '/proc/*' ! -path '/dev/*' ! -path '/sys/*' ! -type d | sort
}
refused() { # VERB: one line that installs, exit code 1, and nothing is another
    touch /tmp/before
    su stranger -c "/src/quickstart $1" >/tmp/said 2>&1
    code=$?
    cat /tmp/said
    [ $code = 1 ] || { echo "exit code $code, not 1"; return 1; }
    [ "$(grep -c 'apt-get install' /tmp/said)" = 1 ] || { echo "not one line that installs"; return 1; }
    changed=$(state)
    [ -z "$changed" ] || { echo "changed: $changed"; return 1; }
    # The line is whole: root installs with it, and nothing else is asked for.
    sed -n 's/.*sudo \(apt-get install .*\)/\1/p' /tmp/said >"/tmp/install-$1"
    [ -s "/tmp/install-$1" ] || { echo "the line is no command"; return 1; }
}
useradd -m stranger || exit 99
ask "without root rights run says what to install, and changes nothing" refused run
ask "without root rights check says what to install, and changes nothing" refused check

# ---- the two commands of the README -------------------------------------------------------------------

cd /src || exit 99
first() {
    ./quickstart run && wants 'racy accesses' && wants 'lardish'
}
ask "./quickstart run" first
as_said() { # what the stranger was told to install is what root's run has installed
    sh -c "$(sed 's/apt-get install/& -s -y/' /tmp/install-run)" | grep '^Inst ' && { echo "not all of it was installed"; return 1; }
    return 0
}
ask "what a user is told to install is what root's run installs" as_said
processor_seconds
before=$seconds
./quickstart check >/tmp/check.log 2>&1
code=$?
processor_seconds
seconds=$((seconds - before))
# Automake's totals are the caller's to count; what is skipped here he runs where it is not.
grep -E '^# (PASS|XFAIL|FAIL|XPASS|ERROR):|^(FAIL|SKIP|ERROR):' /tmp/check.log
[ $code = 0 ] || tail -n 60 /tmp/check.log
ask "./quickstart check ($seconds s of processor time)" test $code = 0
for name in $(sed -n 's/^SKIP: //p' /tmp/check.log); do
    reason=$(grep -v '^SKIP ' "build-check/${name%.sh}.log" | tail -n 1)
    echo "bare: skipped there: $name: $reason"
    case $reason in *gem5*|*DRAMSim3*|*JDK*|*[Jj]ava*) ;; *) ask "$name is skipped for want of gem5, DRAMSim3 or a JVM alone" false ;; esac
done

# ---- installed, and used from another folder -----------------------------------------------------------

list() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /src -o -path /root \) -prune -o -print | sort; }
installed() {
    list >/tmp/without
    make -s -C build install DESTDIR=/tmp/stage && list | diff /tmp/without - || { echo "DESTDIR is left"; return 1; }
    cp -a /tmp/stage/. / && rm -rf /tmp/stage && ldconfig
}
ask "make install DESTDIR writes there alone" installed
elsewhere() { # COMMAND...: in a folder of a user's, who has no sources
    (cd /home/stranger && su stranger -c "cd && PATH=/usr/local/bin:/usr/bin:/bin; $*")
}
mv /src /hidden
ask "the installed program runs" elsewhere 'lardsim run synth:seed=7,events=10000 -o results && lardsim verify results && lardsim report results -o page.html'
ask "the installed program reproduces a table" elsewhere 'lardsim reproduce lard-table3'
ask "the installed program has its recipes" elsewhere 'lardsim programs list | grep "^xalan "'
ask "the installed program has gem5's folder" elsewhere 'test -f /usr/local/share/lardsim/gem5/SConscript -a -f /usr/local/share/lardsim/gem5/guest/lard.h'
ask "the installed program captures what its wrapper has built" elsewhere \
    'echo "int x; int main(void) { return x; }" >x.c && lardsim-cc -o x x.c && lardsim capture native -q -o x.lard -- ./x && lardsim run x.lard'
ask "the documented example in C builds and runs" elsewhere \
    'cp "$(pkg-config --variable=docdir lardsim)"/examples/host.* . && cc -o host host.c $(pkg-config --cflags --libs lardsim) && ./host'
ask "the documented example in C++ builds and runs" elsewhere \
    'rm -rf host-results host.lard; c++ -o host_cc host.cc $(pkg-config --cflags --libs lardsim) && ./host_cc'
mv /hidden /src
# Folders that others may use, too, stay where they have become empty.
kept() { grep -v '^/home/stranger' "$1" | while read -r name; do [ -d "$name" ] && case $name in *lardsim*) false ;; esac || echo "$name"; done; }
gone() {
    rm -rf /home/stranger/*
    make -s -C build uninstall && ldconfig && list >/tmp/after
    kept /tmp/without >/tmp/without.files && kept /tmp/after | diff /tmp/without.files -
}
ask "make uninstall leaves nothing" gone

# ---- packed, and built from what was packed --------------------------------------------------------------

packed() {
    make -s -C build dist && tar -xf build/lardsim-*.tar.xz -C /home/stranger && chown -R stranger: /home/stranger
}
ask "make dist packs" packed
ask "what was packed builds for a user without root rights, and shows its results" \
    su stranger -c 'cd && cd lardsim-* && ./quickstart run'
exit $bad
