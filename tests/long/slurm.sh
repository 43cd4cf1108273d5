#!/bin/sh
# slurm.sh - does a sweep on Slurm give what it gives here, when machines, controllers and the sweep itself
# go down in the middle? Starts a real Slurm of its own, two nodes on this machine: 50 cells, one node is
# taken down, the controller is restarted, the sweep is killed and started again; then hostile names. About
# 90 seconds on two idle cores. Needs root, Debian's slurm-wlm and munge: without them it is skipped (77).
set -u

lardsim=${LARDSIM:?the path of the program}
for tool in slurmctld slurmd munged sbatch squeue scontrol runuser; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null 2>&1 || {
        echo "slurm.sh: skipped: there is no $tool (Debian: apt-get install slurm-wlm munge)"
        exit 77
    }
done
[ "$(id -u)" = 0 ] || { echo "slurm.sh: skipped: slurmd must run as root"; exit 77; }
PATH=$PATH:/usr/sbin
dir=$(mktemp -d "${TMPDIR:-/tmp}/lardsim-slurm.XXXXXX") || exit 99
began=$(date +%s)
pids=
sweep=
stop() {
    # shellcheck disable=SC2086  # a list
    for file in "$dir"/*.pid; do [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null; done
    for p in $sweep $pids; do kill "$p" 2>/dev/null; done
    sleep 1
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 99' HUP INT TERM
cd "$dir" || exit 99
chmod 755 . # munged is another user

bad=0
fail() { echo "slurm.sh: $*"; bad=1; }
give_up() { fail "$*"; exit 1; }
# until SECONDS COMMAND...: runs it each half second until it is true.
until_true() {
    n=$(($1 * 2))
    shift
    while [ $n -gt 0 ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.5
        n=$((n - 1))
    done
    return 1
}

# ---- a Slurm of two nodes ------------------------------------------------------------------------

host=$(hostname)
ports=$((20000 + $$ % 20000))
mkdir munge state log spool spool/n1 spool/n2
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chown -R munge munge
chmod 700 munge
chmod 600 munge/key
mkdir socket && chown munge socket && chmod 755 socket
runuser -u munge -- munged --socket="$dir/socket/munge" --key-file="$dir/munge/key" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" >munged.out 2>&1 || give_up "no munged: $(cat munged.out)"
ln -s munge/pid munged.pid
cat >slurm.conf <<END
ClusterName=lardsim$$
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$ports
AuthType=auth/munge
AuthInfo=socket=$dir/socket/munge,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,bf_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=10
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((ports + 1))-$((ports + 2))] CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"
slurmctld >>daemons.out 2>&1 || give_up "no slurmctld: $(cat daemons.out)"
for n in n1 n2; do
    slurmd -N $n >>daemons.out 2>&1 || give_up "no slurmd $n: $(cat daemons.out)"
done
two_idle() { [ "$(sinfo -h -N -o '%N %t' | grep -c ' idle$')" = 2 ]; }
until_true 60 two_idle || give_up "Slurm has no two idle nodes: $(sinfo 2>&1; tail -n 5 log/*.log)"
echo "slurm.sh: two nodes are there after $(($(date +%s) - began)) s"

# ---- fifty cells ---------------------------------------------------------------------------------

cat >spec.yaml <<'END'
base:
  machine: none
policies: [vc, fasttrack]
sources: ["synth:events=1500k,threads=6"]
seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]
END
"$lardsim" sweep -q spec.yaml -o local >out 2>&1 || give_up "the local sweep: $(cat out)"
cells() { find "$1/cells" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
[ "$(cells local)" = 50 ] || give_up "the local sweep has $(cells local) cells, not 50"

# same A B: the same cells, and each file of theirs but host.json is the same.
same() {
    diff -rq -x host.json "$1/cells" "$2/cells" >differences || fail "$2 is not what $1 is: $(head -n 5 differences)"
    for c in "$1"/cells/*; do
        grep -h digest "$c/DONE" >one; grep -h digest "$2/cells/${c##*/}/DONE" >other
        cmp -s one other || fail "${c##*/} has another digest in $2"
    done
    [ "$(cells "$2")" = "$(cells "$1")" ] || fail "$2 has $(cells "$2") cells"
}
follow() { # follow DIR OPTIONS...: in the background
    folder=$1
    shift
    "$lardsim" sweep spec.yaml -o "$folder" --engine slurm --partition main --time 10 --task-seconds 1 "$@" >"out.$folder" 2>"err.$folder" &
    sweep=$!
}
more_than() { [ "$(cells "$1")" -gt "$2" ]; }

# A node goes down in the middle: Slurm takes its tasks back and runs them on the other.
follow far
until_true 120 more_than far 10 || give_up "no cells come: $(cat err.far; squeue 2>&1 | head -n 5; tail -n 3 far/tasks/*.log log/*.log)"
squeue -h -t R -o '%N' | sort | uniq -c >nodes
[ "$(wc -l <nodes)" = 2 ] || echo "slurm.sh: note: at that moment not both nodes had tasks: $(cat nodes)"
scontrol update nodename=n2 state=down reason=test || fail "n2 does not go down"
echo "slurm.sh: n2 went down with $(cells far) of 50 cells done, tasks by node: $(tr '\n' ' ' <nodes)"
wait $sweep || fail "the sweep ends with $?: $(cat err.far)"
sweep=
grep -q '^50 cells: 50 done, of which 0 were there; 0 failed' out.far || fail "it says: $(cat out.far err.far)"
same local far
for d in local far; do "$lardsim" sweep collect $d >out 2>&1 || fail "collect of $d: $(cat out)"; done
cmp -s local/cells.csv far/cells.csv || fail "collect of far is not that of local: $(diff local/cells.csv far/cells.csv | head -n 3)"
[ -e far/tasks ] && fail "tasks are left behind"
ls -d far/flight-* >/dev/null 2>&1 && fail "flights are left behind"
scontrol update nodename=n2 state=resume >/dev/null 2>&1
until_true 30 two_idle || echo "slurm.sh: note: n2 does not come back: $(sinfo -h -N -o '%N %t' | tr '\n' ' ')"

# The controller is restarted in the middle; then the sweep is killed and started again.
follow again
until_true 120 more_than again 5 || give_up "no cells come: $(cat err.again)"
kill "$(cat slurmctld.pid)"
until_true 20 test ! -f slurmctld.pid
sleep 3
kill -0 $sweep 2>/dev/null || fail "without a controller the sweep has ended: $(cat err.again)"
slurmctld >>daemons.out 2>&1 || give_up "slurmctld does not start again: $(cat daemons.out)"
before=$(cells again)
until_true 60 more_than again $((before < 30 ? before : 30))
kill -9 $sweep
wait $sweep 2>/dev/null
jobs_before=$(squeue -h -o '%A %j' | awk '{print $2}' | sort -u | wc -l)
follow again
wait $sweep || fail "the second time the sweep ends with $?: $(cat err.again)"
sweep=
grep -q '^50 cells: 50 done, of which [1-9][0-9]* were there; 0 failed' out.again || fail "the second time it says: $(cat out.again err.again)"
[ "$jobs_before" -gt 1 ] && fail "there were $jobs_before arrays where one is enough"
same local again

# What Slurm refuses is told, and what a shell might take for something else does nothing.
"$lardsim" sweep spec.yaml -o none --engine slurm --partition nosuch >out 2>err
[ $? = 3 ] && grep -q 'sbatch refuses' err || fail "an unknown partition: $(cat err)"
for evil in 'a b' 'x;touch EVIL' '$(touch EVIL)' '-p' ''; do
    "$lardsim" sweep spec.yaml -o none --engine slurm --partition "$evil" >out 2>err && fail "the partition '$evil' is taken"
    [ $? = 2 ] || grep -q 'nothing that Slurm takes\|is empty' err || fail "the partition '$evil': $(cat err)"
done
sed 's/events=1500k/events=20k/; s/3, 4, 5.*/3]/' spec.yaml >small.yaml
"$lardsim" sweep -q small.yaml -o small >out 2>&1 || fail "a small sweep: $(cat out)"
evil='it'\''s "50 %A" $(touch EVIL) `touch EVIL`; touch EVIL \ & *'
"$lardsim" sweep small.yaml -o "$evil" --engine slurm >out 2>err || fail "a folder with a hostile name: $(cat err)"
same small "$evil"
[ -n "$(find . / -maxdepth 3 -name EVIL 2>/dev/null)" ] && fail "a name was run as a command"
"$lardsim" sweep small.yaml -o 'two
lines' --engine slurm >out 2>err && fail "a path of two lines is taken"
grep -q 'control character' err || fail "a path of two lines: $(cat err)"

echo "slurm.sh: $(($(date +%s) - began)) s"
exit $bad
