#!/bin/sh
# outputs.sh DIR - everything that a reader sees of fixed runs, in the folder DIR, which must be new: statistics,
# races, pages, tables, CSV and figures, and whatever is printed from tables of names. Two builds that should say the same
# are compared with `diff -r` of their folders. Times of the clock, the host and the build are left out.
lardsim=${LARDSIM:?}
top=$(cd "${top_srcdir:-.}" && pwd) || exit 99
case ${1:?usage: outputs.sh DIR} in
/*) to=$1 ;;
*) to=$(pwd)/$1 ;;
esac
mkdir "$to" || exit 99
cd "$top" || exit 99

# say NAME ARGS...: what lardsim prints, and its exit code.
say() {
    name=$1
    shift
    "$lardsim" "$@" >"$to/$name.out" 2>"$to/$name.err" </dev/null
    echo "exit $?: $*" | sed "s|$to/||g" >>"$to/$name.out"
}
# shown NAME ARGS...: a result in a folder, and the page and the figures of it.
shown() {
    name=$1
    say "$@" -o "$to/$name.results" --quiet
    say "$name.page" report -o "$to/$name.html" --figures "$to/$name.figures" --quiet "$to/$name.results"
}

# ---- golden runs ----
# Figures are named after their folders: those are named from inside.
LARDSIM=$lardsim top_srcdir=$top sh "$top/tests/golden/golden.sh" --keep "$to" || exit 1
for results in "$to"/*.results; do
    name=$(basename "$results" .results)
    say "$name.page" report -o "$to/$name.html" --figures "$to/$name.figures" --quiet "$results"
done

# ---- a run, as it is printed ----
trace=workloads/litmus/gc_move_race.trace
say run.text run "$trace"
say run.json run --json "$trace"
say run.machine run -c radish8 -p lardish workload:hedc,racy=on
say run.machine.json run --json -c radish8 -p lardish workload:hedc,racy=on
shown run.region run -c radish8 -p fasttrack --set stats.interval=10k workload:lufact,n=24

# ---- comparisons: verdicts, reasons, costs, seeds, two results ----
views='-p vc -p naive=vc --set policy.naive.view=naive'
# shellcheck disable=SC2086 # words
shown verdicts compare $views "$trace"
# shellcheck disable=SC2086
say verdicts.list compare --list $views "$trace"
# shellcheck disable=SC2086
say verdicts.json compare --json $views "$trace"
say table3 compare -p tsan -p goldilocks -p vc --list synth:seed=1,events=4000
costs='-c radish8 --policies fasttrack,radish,lardish workload:sor,n=20,steps=2'
# shellcheck disable=SC2086
shown costs compare $costs
# shellcheck disable=SC2086
say costs.text compare --csv "$to/costs.csv" --plot "$to/costs.svg" $costs
# shellcheck disable=SC2086
say costs.json compare --json $costs
say seeds compare -c radish8 -p fasttrack --seeds 3 workload:sor,n=20,steps=2
say converge compare -c radish8 -p fasttrack --converge workload:sor,n=20,steps=2
say difference compare --results "$to/synth.radish8.results" "$to/synth.radish8.recorded.results"
say difference.page report --diff -o "$to/difference.html" --quiet "$to/synth.radish8.results" "$to/synth.radish8.recorded.results"

# ---- sweeps ----
cat >"$to/sweep.yaml" <<END
base: {inherit: radish8}
axes:
  l3.size: [1Mi, 8Mi]
  l1.size: [4Ki, 32Ki]
policies: [fasttrack, lardish]
seeds: 2
sources: ["workload:sor,n=20,steps=2", "workload:hedc,racy=on"]
END
say sweep.dry sweep --dry-run "$to/sweep.yaml" -o "$to/sweep.none"
shown sweep sweep "$to/sweep.yaml"
say sweep.status sweep status "$to/sweep.results"
say sweep.means sweep collect "$to/sweep.results"
sqlite3 "$to/sweep.results/index.sqlite" .dump >"$to/sweep.index" 2>/dev/null

# ---- tables of papers ----
for table in $("$lardsim" reproduce none 2>&1 | sed 's/.*there are all, //; s/,//g'); do
    # LARD's own tables are judged at their length alone.
    case $table in lard-table*) quick= ;; *) quick=--quick ;; esac
    # shellcheck disable=SC2086 # nothing, where it is not quick
    say "paper.$table" reproduce $quick --quiet --json "$table"
    mv "$to/paper.$table.out" "$to/paper.$table.json"
    # shellcheck disable=SC2086
    "$lardsim" reproduce $quick --quiet --cells "$to/cells" -o "$to/paper.$table.csv" --plot "$to/paper.$table.svg" \
        --gnuplot "$to/paper.$table.gp" "$table" >"$to/paper.$table.txt" 2>"$to/paper.$table.err"
    sed '$d' "$to/paper.$table.json" >"$to/table.json"
    say "paper.$table.page" report -o "$to/paper.$table.html" --figures "$to/paper.$table.figures" --quiet "$to/table.json"
done
rm -rf "$to/cells" "$to/table.json"

# ---- traces, programs, machines, reasons ----
say trace.info trace info "$trace"
say trace.cat trace cat --count 40 synth:seed=1,events=5000
say trace.used trace info --usage workload:hedc,racy=on
say trace.verify trace verify "$trace"
say trace.json trace info --json "$trace"
for of in hedc sor xalan; do
    say "workload.$of" workload describe "$of"
done
say workload.list workload list
say workload.traits workload describe --numbers hedc
for of in radish8 opteron64 alpha-cvm pentium4-4; do
    say "machine.$of" machine -c "$of"
    say "machine.$of.svg" machine -c "$of" -o "$to/machine.$of.svg"
done
say why why "$to/gc_move_race.results"
say why.page why "$to/gc_move_race.results" -o "$to/why.html"
say why.trace why "$trace"
say programs programs list
for of in fop xalan pbzip2; do
    say "programs.$of" programs describe "$of"
done

# ---- tables of names, help, manual ----
for of in $("$lardsim" list | awk '$1 != "manual" && $1 != "completion" {print $1}'); do
    say "list.$of" list "$of"
    say "list.$of.json" list --json "$of"
done
say list.completion list completion
for verb in '' $("$lardsim" list verbs | awk '{print $1}' | sort -u); do
    # shellcheck disable=SC2086 # none for lardsim itself
    say "manual.$verb" list manual $verb
done

# ---- what no two runs have in common ----
find "$to" -name host.json -delete
find "$to" -name index.sqlite -delete
find "$to" -type f | while IFS= read -r file; do
    sed -i "s|$to|DIR|g; s|/tmp/tmp\\.[A-Za-z0-9]*|DIR|g
        s/\"\(started\|working\|seconds\|commit\|built\|host\|compiler\|build\|id\)\": *\(\"[^\"]*\"\|[0-9.]*\)/\"\1\": -/g
        s|<tr><th>\(build\|commit\|compiler\|started\|seconds\|host\|working\)</th>.*|<tr><th>\1</th></tr>|" "$file"
done
