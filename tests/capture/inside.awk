# inside.awk - of a trace as text: does each access, but for those of statics that are given by name alone, begin in
# an object that lives? Objects begin at multiples of 8: the last one that begins at or below an address is looked for
# 8 bytes at a time, up to the largest object.
BEGIN { CONVFMT = "%.0f" } # subscripts beyond 31 bits
function hex(s,   i, n) {
    n = 0
    for (i = 3; i <= length(s); i++)
        n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
    return n
}
function live(at, bytes) { size[at] = bytes; if (bytes > most) most = bytes }
function inside(addr,   at) {
    for (at = addr - addr % 8; at >= 0 && at > addr - most - 8; at -= 8)
        if (at in size)
            return addr < at + size[at]
    return 0
}
$2 == "alloc" { live(hex($3), $4) }
$2 == "copy" { live(hex($3), $5) ; delete size[hex($4)] }
$2 == "clear" { from = hex($3); for (at = from; at < from + $4; at += 8) delete size[at] }
($2 == "read" || $2 == "write") && seen++ % 50 == 0 { tried++; if (!inside(hex($3))) { outside++; print NR ": " $0 > "/dev/stderr" } }
END { exit tried < 100 || outside > 0 }
