#!/bin/sh
# A program that runs one kernel is linked with libquern alone: nothing of the shipped kernels, tensors or rings is in its memory; and with
# libquern_kernels linked, too, but not called, it has hardly more resident.
# Usage: alone.sh LIBRARY KERNELS_LIBRARY SOURCE_DIR CC
set -eu
library=$1 kernels=$2 source=$3 cc=$4
skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "library: $*" >&2
    exit 1
}
[ -r /proc/self/maps ] || skip "there is no /proc/self/maps"
! readelf -d "$library" | grep -qE 'lib(a|ub|t)san' || skip "built with a sanitizer"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$(dirname "$library")
export QUERN_DEVICE=cpu QUERN_CC=none QUERN_CACHE_DIR="$work" LD_LIBRARY_PATH="$folder"
make() { # NAME LIBRARIES...
    program=$1
    shift
    "$cc" -std=c11 -D_GNU_SOURCE -I "$source/include" "$source/tests/library/alone.c" -o "$work/$program" -Wl,--no-as-needed "$@"
    "$work/$program" > "$work/$program.txt" || fail "$program does not run: $(cat "$work/$program.txt")"
}
resident() { sed -n 's/VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "$work/$1.txt"; }

make alone "$library"
grep -q '^12 24 36 48 60 72 84 96 $' "$work/alone.txt" || fail "the kernel gives $(head -1 "$work/alone.txt")"
grep -q '^libquern\.so' "$work/alone.txt" || fail "libquern was not found among what is mapped"
! grep '^libquern_' "$work/alone.txt" || fail "more than libquern is mapped"
make both "$library" "$kernels"
grep -q '^libquern_kernels\.so' "$work/both.txt" || fail "libquern_kernels is not mapped where it is linked"
echo "resident: $(resident alone) kB, with libquern_kernels $(resident both) kB"
size=$(stat -Lc %s "$kernels")
[ $(($(resident both) - $(resident alone))) -lt $((size / 1024)) ] || fail "libquern_kernels takes more than it is long, though nothing of it is called"
