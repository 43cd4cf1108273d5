#!/bin/sh
# machines.sh - a paper's machine is what its page says: each preset of a machine has a table of what
# it is made of, the preset sets just that, and who says so is said of each row. RADISH's histories
# are refused where caches are shared or there are several nodes.
lardsim=${LARDSIM:?}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0
fail() { echo "machines.sh: $*"; bad=1; }

printf '%s\n' 'lardsim-text 1' 'T0 fork T1' 'T0 write 0x1000 8' 'T1 write 0x1008 8' 'T0 join T1' >t.txt
"$lardsim" list --json machines >rows || fail "no table of machines"
presets=$(sed -n 's/.*"name": "\([^".]*\)\..*/\1/p' rows | sort -u)
for wanted in radish8 radish8-large opteron64 xeon32 pentium4-4 pentium4 macpro12 piledriver64 alpha-cvm; do
    echo "$presets" | grep -qx -e "$wanted" || fail "no table says what $wanted is made of"
done

# set_to KEY: its value in config.yaml, which has a section a line or a block.
set_to() {
    awk -v key="$1" '
        { line = $0; sub(/ *#.*/, "", line); depth = match(line, /[^ ]/) - 1 }
        line ~ /^ *[^ ]+:/ {
            name = line; sub(/^ */, "", name); sub(/:.*/, "", name)
            part[depth / 2] = name; full = part[0]
            for (i = 1; i <= depth / 2; i++) full = full "." part[i]
            value = line; sub(/^[^:]*: */, "", value)
            if (full == key) print value
        }' results/config.yaml
}
number() { # 6Mi as 6291456
    case $1 in
    *Ki) echo $((${1%Ki} * 1024)) ;;
    *Mi) echo $((${1%Mi} * 1048576)) ;;
    *) echo "$1" ;;
    esac
}

for preset in $presets; do
    "$lardsim" run -q --preset "$preset" -o results --overwrite t.txt || fail "$preset does not run"
    "$lardsim" list machines "$preset" | sed "s/^${preset}[.]//" >table
    while read -r key value basis _; do
        is=$(set_to "$key")
        [ "$(number "$is")" = "$(number "$value")" ] ||
            fail "$preset: the table says $key = $value, and the run has \"$is\""
        case $basis in
        printed | published | recalled | assumed) ;;
        *) fail "$preset: $key: nobody can say \"$basis\"" ;;
        esac
    done <table
    [ -s table ] || fail "$preset: an empty table"
    "$lardsim" explain "$preset" >told || fail "explain does not know $preset"
    grep -q 'cores = [0-9]*, \(printed\|published\): ' told || fail "explain $preset: no sources"
done

# refused WHY PRESET POLICY
refused() {
    "$lardsim" run -q --preset "$2" -p "$3" t.txt 2>err
    [ $? = 3 ] || fail "$3 on $2 is not refused"
    grep -q "$1.*radish8" err || fail "$3 on $2: $(cat err)"
}
refused l2.shared-by opteron64 lardish
refused numa.nodes xeon32 radish
exit $bad
