#!/bin/sh
# report.sh - does a report work in a browser? Chromium opens pages of a run, a comparison, a sweep of 10,000
# cells, of hostile names, and of what differs; report_page.js uses them as a reader would. No error on the
# console, no request, filters change what is drawn, the keyboard reaches everything, both themes, and the first
# paint within 2 seconds. Without Chromium it is skipped (77).
set -u

top=$(cd "${top_srcdir:?}" && pwd) || exit 99
lardsim=${LARDSIM:?the path of the program}
chromium=$(command -v chromium || command -v chromium-browser) || {
    echo "report.sh: skipped: there is no chromium (Debian: apt-get install chromium)"
    exit 77
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/lardsim-report.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
cd "$dir" || exit 99
bad=0
fail() {
    echo "report.sh: $*"
    bad=1
}

# opened PAGE: what report_page.js found; in `paint` the time of the first paint, in ms.
opened() {
    { cat "$1"; echo '<script>'; cat "$top/tests/long/report_page.js"; echo '</script>'; } >tried.html
    # Chromium's script reads more of the environment than it should.
    timeout 120 env -i PATH="$PATH" HOME="$dir" "$chromium" --headless --no-sandbox --disable-gpu --no-first-run \
        --disable-background-networking --disable-component-update --enable-logging=stderr \
        --virtual-time-budget=10000 --dump-dom "file://$dir/tried.html" >dom.html 2>log.txt
    grep -E ':CONSOLE' log.txt >console.txt && fail "$1: the console has $(head -n 2 console.txt)"
    result=$(grep -o '<html [^>]*>' dom.html | sed -n 's/.*data-result="\([^"]*\)".*/\1/p')
    [ "$result" = 'nothing is wrong' ] || fail "$1: ${result:-nothing came of it}"
    paint=$(grep -o '<html [^>]*>' dom.html | sed -n 's/.*data-paint="\([^"]*\)".*/\1/p')
    echo "$1: $(wc -c <"$1") bytes, first paint after $paint ms"
}

"$lardsim" run -q -c radish8 -p lardish --set stats.rows=64 -o machine workload:hedc,racy=on >out || fail run
"$lardsim" run -q -c radish8 -p lardish --set l1.size=4Ki -o smaller workload:hedc,racy=on >out || fail run
"$lardsim" compare -q -c radish8 -p fasttrack -p lardish -o costs workload:sor,n=20,steps=2 >out || fail compare
cat >sweep.yaml <<END
base: {inherit: radish8}
axes: {l2.size: [64Ki, 256Ki, 1Mi], l1.size: [8Ki, 32Ki]}
policies: [fasttrack, lardish]
sources: ["workload:sor,n=20,steps=2", "synth:events=2000,threads=4"]
END
"$lardsim" sweep sweep.yaml -o sweep -q >out || fail sweep
# 10,000 rows of these cells, told apart by one more axis.
awk -F, 'NR == 1 {print $0 ",x"; next} {row[++n] = $0}
    END {for (i = 0; i < 10000; i++) print row[i % n + 1] "," int(i / n)}' sweep/plan.csv >plan && cp plan sweep/plan.csv && rm sweep/plan.seal
evil='<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>'
cat >evil.trace <<END
lardsim-text 1
name thread 1 "$evil"
name object 0x1000 "$evil"
T0 fork T1
T0 write 0x1000 4 @"$evil"
T1 write 0x1000 4 @"'\"><b onclick=alert(1)>"
END
"$lardsim" run -q -o evil evil.trace >out || fail "the evil run"
for x in machine costs sweep evil; do
    "$lardsim" report -q $x -o $x.html || fail "report $x"
    opened $x.html
done
"$lardsim" report -q --diff machine smaller -o diff.html || fail "report --diff"
opened diff.html

# Broken on purpose: who tries it notices.
sed 's/addEventListener(.change., function () { tick/addEventListener("never", function () { tick/' costs.html >broken.html
bad_so_far=$bad
opened broken.html >said
grep -q 'a filter does not change' said || { cat said; bad_so_far=1; echo "report.sh: a filter that does nothing is not noticed"; }
bad=$bad_so_far
exit $bad
