# root.sh - a bare Debian root: sourced by scripts that try what a new machine does. Needs root rights, debootstrap and a
# Debian host, whose mirror, proxies and keyring it takes.
#   root_refused                     says why no root can be made here, and is true then
#   root_make ROOT [DEBS]            debootstrap's minbase, with updates and security; DEBS keeps packages for the next time
#   root_copy FROM TO                another root like FROM
#   root_run ROOT COMMAND...         in the root, with a clean environment; root_debs=DEBS lends it packages, and keeps new ones
#   root_sources ROOT                source packages, too, can be had in it
#   root_unpack TOP ROOT             lardsim's sources, in its /src
#   root_remove ROOT
# A command has name spaces of its own for mounts and processes: /proc, /sys, /dev/pts and /dev/shm are mounted for it alone,
# and with it they and all its processes go, whichever signal ends it. So no mount is ever left behind.
# shellcheck shell=sh
root_suite=bookworm
root_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

root_refused() {
    if [ "$(id -u)" != 0 ]; then
        echo "a root needs root rights"
    elif ! command -v debootstrap >/dev/null 2>&1 && [ ! -x /usr/sbin/debootstrap ]; then
        echo "there is no debootstrap (Debian: apt-get install debootstrap)"
    elif [ ! -f $root_keyring ]; then
        echo "there is no $root_keyring (Debian: apt-get install debian-archive-keyring)"
    elif ! unshare --mount --pid --fork --propagation=private mount -t tmpfs none /mnt >/dev/null 2>&1; then
        echo "nothing can be mounted here: no rights for that, or no unshare (Debian: util-linux)"
    else
        return 1
    fi
}

# root_mirror SUITE OTHERWISE: where the host has it from.
root_mirror() {
    # One a line, and paragraphs.
    found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n "s/^deb \{1,\}\(\[[^]]*\] *\)\{0,1\}\([a-z]*:[^ ]*\) \{1,\}$1 .*\bmain\b.*/\2/p" | head -n 1)
    [ -n "$found" ] || found=$(for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] && awk -v suite="$1" '
            function close_paragraph() { if (has && uri) print uri; has = 0; uri = "" }
            /^#/ { next }
            /^[ \t]*$/ { close_paragraph() }
            tolower($1) == "uris:" { uri = $2 }
            tolower($1) == "suites:" { for (i = 2; i <= NF; i++) has = has || $i == suite }
            END { close_paragraph() }' "$file"
    done | head -n 1)
    echo "${found:-$2}"
}

# The host's way to the mirror, in its environment or in apt's configuration.
root_environment() {
    env | grep -i '^\(http\|https\|ftp\|no\)_proxy=' | grep -v '[[:space:]]'
}

root_make() {
    root=$1 root_debs=${2:-}
    mirror=$(root_mirror $root_suite http://deb.debian.org/debian)
    security=$(root_mirror $root_suite-security http://deb.debian.org/debian-security)
    set -- --variant=minbase --keyring=$root_keyring
    case $mirror$security in *https:*) set -- "$@" --include=ca-certificates ;; esac
    if [ -n "$root_debs" ]; then
        mkdir -p "$root_debs" && root_debs=$(cd "$root_debs" && pwd) || return 1
        set -- "$@" --cache-dir="$root_debs"
    fi
    proxy=$(apt-config dump 2>/dev/null | sed -n 's/^Acquire::http::Proxy "\([^"]*\)";$/\1/p')
    mkdir -p "$root" &&
        env ${proxy:+http_proxy="$proxy"} PATH="$PATH:/usr/sbin:/sbin" debootstrap "$@" $root_suite "$root" "$mirror" || return 1
    cat >"$root/etc/apt/sources.list" <<END
deb $mirror $root_suite main
deb $mirror $root_suite-updates main
deb $security $root_suite-security main
END
    # A host with a snapshot of old lists, or behind a proxy, says so here.
    apt-config dump 2>/dev/null | grep -i '^Acquire::\(http\|https\|ftp\|Check-Valid-Until\|Retries\)[: ].*"..*"' >"$root/etc/apt/apt.conf.d/90host"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no daemon starts
    chmod 755 "$root/usr/sbin/policy-rc.d"
    root_run "$root" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get upgrade -y -qq >/dev/null'
}

root_copy() {
    [ ! -e "$2" ] || { echo "$2 is there" >&2; return 1; }
    cp -a --reflink=auto "$1" "$2"
}

root_sources() {
    sed 's/^deb /deb-src /' "$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/sources.list" &&
        root_run "$1" apt-get update -qq
}

root_run() {
    root=$1
    shift
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
    archives=$root/var/cache/apt/archives
    [ -z "${root_debs:-}" ] || { mkdir -p "$root_debs" && find "$root_debs" -maxdepth 1 -name '*.deb' -exec cp -n --reflink=auto -t "$archives" {} +; }
    # The first process takes in orphans, so it isn't the command itself.
    # shellcheck disable=SC2016,SC2046  # it expands there; a list of words
    unshare --mount --pid --fork --kill-child --propagation=private /bin/sh -c '
        root=$1
        shift
        mount -t proc proc "$root/proc" && { mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"; } &&
            mkdir -p "$root/dev/pts" "$root/dev/shm" && mount -t tmpfs -o mode=1777 shm "$root/dev/shm" &&
            mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts" || exit 125
        [ -e "$root/dev/ptmx" ] || ln -s pts/ptmx "$root/dev/ptmx"
        chroot "$root" "$@"
        exit $?' sh "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        $(root_environment) "$@"
    code=$?
    # By another name first: another root may read them meanwhile.
    [ -z "${root_debs:-}" ] || for deb in "$archives"/*.deb; do
        [ ! -f "$deb" ] || [ -e "$root_debs/${deb##*/}" ] || { cp "$deb" "$root_debs/.new.$$" && mv "$root_debs/.new.$$" "$root_debs/${deb##*/}"; }
    done
    return $code
}

# As git has them, which is how an archive has them; what is no checkout is a copy of what was packed.
root_unpack() {
    mkdir "$2/src" || return 1
    if git -C "$1" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$1" archive HEAD
    else
        tar -c -C "$1" --exclude ./build --exclude ./build-check .
    fi | tar -x -C "$2/src"
}

root_remove() {
    # A mount of somebody else's must not be emptied.
    if grep -q " $(cd "$1" 2>/dev/null && pwd -P)/" /proc/self/mountinfo; then
        echo "something is mounted below $1: not removed" >&2
        return 1
    fi
    rm -rf --one-file-system "$1"
}
