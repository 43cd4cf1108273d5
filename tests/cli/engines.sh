#!/bin/sh
# engines.sh - does a sweep beyond this machine give what it gives here, and does nothing unchecked reach a
# shell? The commands of --engine shell are run by sh. Slurm is played by scripts that note their arguments
# and run the tasks at once, or lose them, or do not answer; tests/long/slurm.sh has a real one.
set -u

# shellcheck source=tests/cli/head.sh
. "${top_srcdir:-.}/tests/cli/head.sh"

says() { grep -qF -e "$2" "$1" || fail "$3: $1 does not say \"$2\", but: $(head -n 5 "$1")"; }
# same DIR: its cells are those of the local sweep, to the byte, but for host.json.
same() {
    diff -rq -x host.json local/cells "$1/cells" >differences || fail "$1: $(head -n 5 differences)"
}

cat >spec.yaml <<'END'
base:
  machine: none
policies: [vc, fasttrack]
sources: ["synth:events=5k", "synth:events=5k,threads=4"]
seeds: [1, 2, 3]
END
run 0 sweep spec.yaml -o local
says out "12 cells: 12 done" "the local sweep"

# ---- --engine shell ------------------------------------------------------------------------------

# What a shell might take for something else, and what a line of commands has to keep together.
evil='it'\''s "x" $(touch EVIL) `touch EVIL`; touch EVIL & * \'
run 0 sweep spec.yaml -o "$evil" --engine shell --task-seconds 0
[ "$(wc -l <out)" = 12 ] || fail "--task-seconds 0: $(wc -l <out) commands for 12 cells"
says err "12 commands for 12 cells" "the note"
cp out commands
# Half of them, some twice; in another folder, since the paths are whole.
(mkdir elsewhere && cd elsewhere && head -n 6 ../commands | sh && head -n 2 ../commands | sh) >out 2>err || fail "commands: $(cat err)"
run 0 sweep status "$evil"
says out "missing  6" "after six commands"
tail -n 6 commands | xargs -P 3 -d '\n' -n 1 sh -c >out 2>err || fail "commands side by side: $(cat err)"
same "$evil"
run 0 sweep spec.yaml -o "$evil"
says out "12 cells: 12 done, of which 12 were there" "the sweep afterwards"
[ -z "$(find . -name EVIL)" ] || fail "a name was run as a command"
ls -d "$evil"/flight-* >/dev/null 2>&1 && fail "tasks leave what was in flight"
run 0 sweep spec.yaml -o "$evil" --engine shell
[ -s out ] && fail "there are commands where nothing is missing: $(cat out)"
run 0 sweep spec.yaml -o big --engine shell
[ "$(wc -l <out)" = 1 ] || fail "cells that take no time are not put together: $(wc -l <out) commands"

# A task that is killed loses its cells in flight; run again it does the rest.
sed 's/5k/2M/g; s/, 2, 3//' spec.yaml >slow.yaml
run 0 sweep slow.yaml -o killed --engine shell
cp out commands
sh -c "exec $(cat commands)" >out 2>err &
task=$!
n=0
while ! ls -d killed/flight-* >/dev/null 2>&1 && [ $n -lt 100 ]; do
    sleep 0.1
    n=$((n + 1))
done
kill -9 $task
wait $task 2>/dev/null
sh commands >out 2>err || fail "a task after one that was killed: $(cat err)"
run 0 sweep status killed
says out "done     4" "after a kill"
run 0 sweep clean killed
ls -d killed/flight-* >/dev/null 2>&1 && fail "sweep clean leaves what was in flight"

run 2 sweep spec.yaml -o "$(printf 'two\nlines')" --engine shell
says err "control character" "a path of two lines"
[ -s out ] && fail "commands with a path of two lines"
run 2 sweep spec.yaml -o new --engine shell --partition main
says err "--engine slurm" "--partition for a shell"
run 2 sweep task local 1 x
run 2 sweep task big 1 1
says err "from 0 on" "a task that is not there"
run 2 sweep spec.yaml -o new --engine pbs
says err "none of local, slurm, shell" "an unknown engine"

# ---- a Slurm that is played ----------------------------------------------------------------------

mkdir bin
mode() { echo "$1" >"$dir/mode"; }
cat >bin/sbatch <<END
#!/bin/sh
# Runs the tasks at once, unless the mode is another.
mode=\$(cat "$dir/mode")
echo "sbatch" >>"$dir/called"
case \$mode in
down*) echo "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
refuse) printf 'sbatch: error: invalid partition specified: \\033[1mx\\n' >&2; exit 1 ;;
lose | keep) echo 7; exit 0 ;;
esac
for a; do
    echo "\$a"
    case \$a in
    --array=0-*) last=\${a#--array=0-} ;;
    *) script=\$a ;;
    esac
done >"$dir/arguments"
for a; do
    case \$a in
    --array=0-*) last=\${a#--array=0-} ;;
    *) script=\$a ;;
    esac
done
i=0
while [ \$i -le "\$last" ]; do
    SLURM_ARRAY_TASK_ID=\$i sh "\$script" || exit 1
    i=\$((i + 1))
done
echo 7
END
cat >bin/squeue <<END
#!/bin/sh
mode=\$(cat "$dir/mode")
echo "squeue \$*" >>"$dir/called"
case \$mode in
down*)
    # The controller comes back after it was asked twice.
    [ \$mode = down1 ] && echo down2 >"$dir/mode" || echo run >"$dir/mode"
    echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
    ;;
keep)
    for a; do case \$a in --name=*) name=\${a#--name=} ;; esac; done
    echo "\$name 0"
    ;;
esac
exit 0
END
cat >bin/scontrol <<END
#!/bin/sh
mode=\$(cat "$dir/mode")
if [ "\$1" = ping ]; then
    case \$mode in
    down*) echo "Slurmctld(primary) at x is DOWN"; exit 1 ;;
    esac
    echo "Slurmctld(primary) at x is UP"
else
    echo "MaxArraySize            = 5"
fi
END
chmod +x bin/*
PATH=$dir/bin:$PATH

mode run
run 0 sweep spec.yaml -o "$evil/slurm" --engine slurm --task-seconds 0 --partition a,b-c --account p_1 --time 1-02:30:00 --memory 4G -j 2
says out "12 cells: 12 done, of which 0 were there" "a sweep on Slurm"
same "$evil/slurm"
[ "$(grep -c sbatch called)" = 3 ] || fail "12 tasks in arrays of at most 4 make $(grep -c sbatch called) arrays"
sed 's/^--job-name=lardsim-[0-9a-f]*-3$/--job-name=NAME/' arguments >seen
cat >expected <<END
--parsable
--requeue
--chdir=/
--output=/dev/null
--ntasks=1
--job-name=NAME
--array=0-3
--cpus-per-task=2
--partition=a,b-c
--account=p_1
--time=1-02:30:00
--mem=4G
$dir/$evil/slurm/tasks/3.sh
END
cmp -s seen expected || fail "sbatch gets other arguments: $(diff expected seen)"
[ -e "$evil/slurm/tasks" ] && fail "tasks are left behind where all is done"
[ -z "$(find . / -maxdepth 2 -name EVIL 2>/dev/null)" ] || fail "a name was run as a command"

for option in partition account time memory; do
    for value in 'a b' 'a;touch EVIL' '$(touch EVIL)' '-x' "a'b" '%A' "$(printf 'a\nb')"; do
        run 2 sweep spec.yaml -o none --engine slurm --$option "$value"
        says err "nothing that Slurm takes" "--$option $value"
    done
done
run 2 sweep spec.yaml -o "$(printf 'two\nlines')" --engine slurm
says err "control character" "a path of two lines"

# A controller that is away is waited for; a refusal is told.
mode down1
run 0 sweep spec.yaml -o waits --engine slurm
same waits
says err "Slurm does not answer" "a controller that is away"
mode refuse
run 3 sweep spec.yaml -o refused --engine slurm
says err "sbatch refuses the jobs: sbatch: error: invalid partition specified: " "a refusal"
grep -q "$(printf '\033')" err && fail "what sbatch says reaches the terminal raw"
(env PATH="$dir/nothing" "$lardsim" sweep spec.yaml -o none --engine slurm >out 2>err)
[ $? = 2 ] || fail "without Slurm's programs: exit code $?"
says err "are not found" "without Slurm's programs"
env PATH="$dir/nothing" "$lardsim" sweep spec.yaml -o waits --engine slurm >out 2>err || fail "a sweep that is done needs Slurm: $(cat err)"

# What Slurm loses twice has failed, and says so; it can be retried.
head -n 3 spec.yaml >one.yaml
echo 'sources: ["synth:events=5k,seed=1"]' >>one.yaml
mode lose
run 1 sweep one.yaml -o lost --engine slurm
says err "2 of 2 cells failed" "lost tasks"
run 0 sweep status lost
says out "ended without results, twice" "the log of a lost task"
mode run
run 0 sweep retry lost --engine slurm
says out "2 cells: 2 done" "a retry"

# Stopped, the jobs stay; started again it finds them, and waits for them.
mode keep
"$lardsim" sweep one.yaml -o stopped --engine slurm >out 2>err </dev/null &
sweep=$!
n=0
: >called
while ! grep -q '^squeue' called && [ $n -lt 300 ]; do
    sleep 0.1
    n=$((n + 1))
done
kill -TERM $sweep
wait $sweep
[ $? = 143 ] || fail "stopped by SIGTERM: exit code $?"
says err "scancel" "a sweep that was stopped"
: >called
"$lardsim" sweep one.yaml -o stopped --engine slurm >out 2>err </dev/null &
sweep=$!
n=0
while [ "$(grep -c '^squeue' called)" -lt 3 ] && [ $n -lt 300 ]; do
    sleep 0.1
    n=$((n + 1))
done
grep -q sbatch called && fail "jobs that Slurm still has are submitted again"
mode run
wait $sweep || fail "a sweep that goes on: exit code $?: $(cat err)"
says out "2 cells: 2 done" "a sweep that goes on"

exit $bad
