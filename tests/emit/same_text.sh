#!/bin/sh
# What quern makes of a kernel does not depend on the C compiler that quern was built with: compares the text of every target
# for all of tests/cl. Usage: same_text.sh QUERN OTHER_QUERN SOURCE_DIR
set -eu
one=$1 other=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 compared=0
for file in "$source"/tests/cl/*.cl; do
    for target in c ptx clc spirv ir; do
        # what cannot be translated so (options in the test's head, say) is refused by both
        "$one" compile "$file" --target $target -o "$work/one" 2> "$work/one.log" && is_made=1 || is_made=0
        "$other" compile "$file" --target $target -o "$work/other" 2> "$work/other.log" && is_made_too=1 || is_made_too=0
        if [ $is_made != $is_made_too ] || { [ $is_made = 1 ] && ! cmp -s "$work/one" "$work/other"; }; then
            echo "$file: $target differs"
            failed=1
        fi
        compared=$((compared + is_made))
    done
done
echo "$compared texts compared"
[ $failed = 0 ] && [ $compared -gt 100 ]
