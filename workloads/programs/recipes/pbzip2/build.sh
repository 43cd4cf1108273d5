#!/bin/sh
# Both from source, as the library does the work. CC and CXX are the compilers; the sources lie here.
set -eu
cd bzip2-*/
bzip2=$(pwd)
make -s libbz2.a CC="$CC --gaps" CFLAGS='-O1 -D_FILE_OFFSET_BITS=64'
cd ../pbzip2-*/
# shellcheck disable=SC2086 # its makefile's list of words
"$CXX" --gaps -O1 -DUSE_STACKSIZE_CUSTOMIZATION -D_LARGEFILE_SOURCE -D_FILE_OFFSET_BITS=64 -I"$bzip2" \
    -o ../program pbzip2.cpp BZ2StreamScanner.cpp ErrorContext.cpp "$bzip2/libbz2.a" -lpthread
cd ..
# Blocks of 100 KB, as many as it has threads or more. Small: runs of one letter, of which bzip2 sorts little.
awk 'BEGIN { for (i = 0; i < 4000; i++) { line = sprintf("%d %100s%c%99s", i * 7919 % 10007, "", 97 + i % 26, ""); print line } }' >small.txt
awk 'BEGIN { for (i = 0; i < 40000; i++) print "line", i, i * 7919 % 100003 }' >medium.txt
