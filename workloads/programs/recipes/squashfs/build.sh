#!/bin/sh
# CC is the compiler; the source lies here. Of compressors it has zlib alone, which is the system's.
set -eu
cd squashfs-tools-*/squashfs-tools
make -s mksquashfs CC="$CC --gaps" EXTRA_CFLAGS='-O1 -Wno-error' XATTR_SUPPORT=0 XATTR_DEFAULT=0
cp mksquashfs ../../program
cd ../..
for size in small:20 medium:400; do
    mkdir -p "tree-${size%:*}"
    i=0
    while [ $i -lt "${size#*:}" ]; do
        awk -v seed=$i 'BEGIN { for (k = 0; k < 1000; k++) print "file", seed, k, k * (seed + 7919) % 10007 }' >"tree-${size%:*}/$i"
        i=$((i + 1))
    done
done
