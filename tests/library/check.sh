#!/bin/sh
# The shared library: exports what the header declares and nothing else, needs the C library only, is small; and
# the header compiles as C11 and C++17 without a warning.
# Usage: check.sh LIBRARY SOURCE_DIR CC LIMIT      (LIMIT: bytes of the stripped library; 0: not checked)
set -eu
library=$1 source=$2 cc=$3 limit=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() {
    echo "library: $*" >&2
    status=1
}

nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort -u > "$work/exported"
foreign=$(grep -vE '^qn_[a-z]' "$work/exported" | grep -vE '^(_init|_fini)$' || true)
[ -z "$foreign" ] || fail "exports names that are not the API's: $foreign"
# Functions of the header: QN_API type name(
tr '\n' ' ' < "$source/include/quern/quern.h" | grep -oE 'QN_API [a-z0-9_ *]*qn_[a-z0-9_]*\(' |
    sed -E 's/.*[ *](qn_[a-z0-9_]+)\($/\1/' | sort -u > "$work/declared"
[ "$(wc -l < "$work/declared")" -gt 50 ] || fail "the header's functions were not found"
missing=$(comm -23 "$work/declared" "$work/exported")
[ -z "$missing" ] || fail "does not export what the header declares: $missing"
extra=$(comm -13 "$work/declared" "$work/exported" | grep -E '^qn_[a-z]' || true)
[ -z "$extra" ] || fail "exports what the header does not declare: $extra"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
for name in $needed; do
    case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | ld-linux*) ;;
    libasan.so.* | libubsan.so.* | libtsan.so.*) ;; # sanitizer builds
    *) fail "needs $name" ;;
    esac
done

if [ "$limit" -gt 0 ]; then
    strip -o "$work/stripped" "$library"
    size=$(stat -c %s "$work/stripped")
    echo "stripped: $size bytes"
    [ "$size" -le "$limit" ] || fail "is $size bytes when stripped; the limit is $limit"
fi

printf '#include <quern/quern.h>\nint main(void) { return qn_version() == 0; }\n' > "$work/header.c"
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I $source/include"
# shellcheck disable=SC2086
$cc -std=c11 $flags "$work/header.c" || fail "the header does not compile as C11"
checked=0
for cxx in "g++ -x c++" "clang++ -x c++" "clang -x c++"; do
    command -v "${cxx%% *}" > /dev/null || continue
    # A driver without its C++ compiler proper is of no use.
    echo 'int x;' | $cxx -fsyntax-only - 2> /dev/null || continue
    # shellcheck disable=SC2086
    $cxx -std=c++17 $flags "$work/header.c" || fail "the header does not compile as C++17 ($cxx)"
    checked=1
done
[ "$checked" = 1 ] || echo "no C++ compiler: the header was not checked as C++17"
exit $status
