#!/bin/sh
# A shared library: exports what its header declares and nothing else, needs the C library and libquern only, is small; and
# the header compiles as C11, and as C++17 with all that it has; quern.hpp is C++20.
# Usage: check.sh LIBRARY SOURCE_DIR CC LIMIT [BELOW]      (LIMIT: bytes of the stripped library; 0: not checked)
# With BELOW the library is one that stands above those: libquern_NAME.so, with the header NAME.h (tensor: and files.h, dlpack.h, nn.h, data.h). BELOW: libquern.so, and, with a
# blank between, others that it needs.
set -eu
library=$1 source=$2 cc=$3 limit=$4 core=${5:-}
name=quern
[ -z "$core" ] || name=$(basename "$library" | sed 's/^libquern_//; s/\.so.*//')
headers=$source/include/quern/$name.h
[ -n "$core" ] || headers="$headers $source/include/quern/interop.h $source/include/quern/memory.h $source/include/quern/check.h $source/include/quern/history.h"
[ "$name" != tensor ] || headers="$headers $source/include/quern/files.h $source/include/quern/dlpack.h $source/include/quern/nn.h $source/include/quern/data.h"
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
# shellcheck disable=SC2086
cat $headers | tr '\n' ' ' | grep -oE 'QN_API [a-z0-9_ *]*qn_[a-z0-9_]*\(' |
    sed -E 's/.*[ *](qn_[a-z0-9_]+)\($/\1/' > "$work/functions"
[ -n "$core" ] || echo qn_context_create >> "$work/functions" # src/runtime/before.c: for programs of header 1
sort -u "$work/functions" > "$work/declared"
[ "$(wc -l < "$work/declared")" -gt 5 ] || fail "the header's functions were not found"
missing=$(comm -23 "$work/declared" "$work/exported")
[ -z "$missing" ] || fail "does not export what the header declares: $missing"
extra=$(comm -13 "$work/declared" "$work/exported" | grep -E '^qn_[a-z]' || true)
[ -z "$extra" ] || fail "exports what the header does not declare: $extra"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
for needs in $needed; do
    case $needs in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | ld-linux*) ;;
    libasan.so.* | libubsan.so.* | libtsan.so.*) ;; # sanitizer builds
    libquern*.so.0)
        case " $core" in
        *"/${needs%.0}"*) ;;
        *) fail "needs $needs" ;;
        esac
        ;;
    *) fail "needs $needs" ;;
    esac
done

if [ "$limit" -gt 0 ]; then
    strip -o "$work/stripped" "$library"
    size=$(stat -c %s "$work/stripped")
    echo "stripped: $size bytes"
    [ "$size" -le "$limit" ] || fail "is $size bytes when stripped; the limit is $limit"
fi

(echo "$headers" | tr " " "\n" | sed "s|.*/\(.*\)|#include <quern/\1>|"; echo "int main(void) { return qn_version() == 0; }") > "$work/header.c"
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I $source/include"
# shellcheck disable=SC2086
$cc -std=c11 $flags "$work/header.c" || fail "the header does not compile as C11"

# FILE STANDARD: a C++ program with the shared library, compiled without a warning and run.
cxx_program() {
    for cxx in g++ clang++; do
        command -v "$cxx" > /dev/null || continue
        # A driver without its C++ library is of no use.
        echo '#include <vector>' | $cxx -x c++ -std="$2" -fsyntax-only - 2> /dev/null || continue
        checked=yes
        $cxx -std="$2" -Wall -Wextra -Wpedantic -Werror -I "$source/include" "$source/$1" "$library" $core \
            -Wl,-rpath,"$(dirname "$library")" -o "$work/program" || { fail "$1 does not compile ($cxx)"; continue; }
        "$work/program" > "$work/out" 2>&1 || fail "$1 failed ($cxx): $(cat "$work/out")"
    done
}
checked=no
export QUERN_CACHE_DIR="$work/cache"
if [ -n "$core" ]; then
    cxx_program "tests/library/$name.cpp" c++17
    [ "$checked" = yes ] || echo "no C++ compiler: the header was not checked as C++"
    exit $status
fi

# Each struct of the header that has fields has a row in the table of sizes, or is none that a program hands over.
sed -nE 's/^typedef struct (qn_[a-z_]+) \{.*/\1/p' "$source"/include/quern/quern.h "$source"/include/quern/interop.h "$source"/include/quern/memory.h "$source"/include/quern/check.h "$source"/include/quern/history.h |
    sort > "$work/structs"
[ "$(wc -l < "$work/structs")" -gt 10 ] || fail "the header's structs were not found"
sed -nE 's/^(STRUCT|STRUCT_SINCE_[0-9]+|FROZEN)\((qn_[a-z_]+)[,)].*/\2/p' "$source/src/runtime/structs.def" |
    sort > "$work/rows"
missing=$(comm -3 "$work/structs" "$work/rows")
[ -z "$missing" ] || fail "quern.h and src/runtime/structs.def differ in: $missing (see docs/adding.md)"

# A program of an older header runs with this library.
old=$source/tests/library/old
# shellcheck disable=SC2086
$cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$old" "$old/program.c" "$library" \
    -Wl,-rpath,"$(dirname "$library")" -o "$work/old" || fail "tests/library/old/program.c does not compile"
nm "$work/old" | grep -qE ' U qn_context_create(@|$)' || fail "tests/library/old/program.c has not its own header"
"$work/old" > "$work/out" 2>&1 || fail "a program of header 1: $(cat "$work/out")"

cxx_program tests/library/words.cpp c++17
cxx_program tests/library/objects.cpp c++20
cxx_program examples/saxpy.cpp c++20
[ "$checked" = yes ] || echo "no C++ compiler: the headers were not checked as C++"
exit $status
