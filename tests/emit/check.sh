#!/bin/sh
# The C that is emitted for every kernel file of the library compiles without a warning, optimised or for debugging.
# Usage: check.sh QUERN SOURCE_DIR
set -eu
quern=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0 count=0
compilers=""
for cc in gcc clang; do
    if command -v $cc > /dev/null; then compilers="$compilers $cc"; fi
done
for file in "$source"/kernels/*.cl "$source"/tests/emit/*.cl; do
    [ -e "$file" ] || continue
    if grep -q "By -D" "$file"; then continue; fi # compiled with what a call decides: unit.kernels_*
    for level in "--opt 0" "--opt 2" --debug; do
        # shellcheck disable=SC2086
        if ! "$quern" compile "$file" --target c $level -o "$work/kernel.c"; then
            echo "emit: $file does not compile with $level" >&2
            status=1
            continue
        fi
        for cc in $compilers; do
            if ! $cc -std=gnu11 -Wall -Werror -fsyntax-only -ffp-contract=off "$work/kernel.c" 2> "$work/errors"; then
                echo "emit: $cc on the C of $file with $level:" >&2
                head -20 "$work/errors" >&2
                status=1
            fi
        done
        count=$((count + 1))
    done
done
echo "$count translations, checked by$compilers"
[ "$count" -gt 0 ] || exit 1
exit $status
