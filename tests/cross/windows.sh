# Read by check.sh for Windows: the tool runs kernels as here, and a program uses the DLL, which exports the API alone.

# The first run of a kernel test as arguments of `quern run`, which prints each buffer.
arguments() {
    tr -d '\r' < "$1" | awk '
        /^\/\/ kernel: / { if (n++) exit; printf " --kernel %s", $3 }
        n && /^\/\/ (global|local|offset): / { key = $2; sub(/:/, "", key); sub(/^[^:]*: /, ""); gsub(/ /, ""); printf " --%s %s", key, $0 }
        n && /^\/\/ arg: / { sub(/^[^:]*: /, ""); gsub(/ /, ""); printf " %s%s", $0, /^buf:/ ? "@-" : "" }'
}

every=6
[ "$all" != all ] || every=1
runs=0
for file in $(find tests/cl -name '*.cl' | LC_ALL=C sort | awk "NR % $every == 0"); do
    # Those with options, several lines an argument, or a failure to come are the runner's.
    if grep -qE '^// (options|error|warning|fails|needs|skip|prints):|^// arg: .*,$|^// arg: (file|raw)' "$file"; then continue; fi
    grep -q '^// kernel: ' "$file" || continue
    # shellcheck disable=SC2046
    QUERN_CC=none "$native/quern" run --device cpu "$file" $(arguments "$file") > "$build/here" 2> /dev/null || continue
    # shellcheck disable=SC2046
    $emulator "$build/quern.exe" run --device cpu "$file" $(arguments "$file") 2> "$build.log" | tr -d '\r' > "$build/there"
    cmp -s "$build/here" "$build/there" || { echo "differs: $file"; diff "$build/here" "$build/there" | head -5; head -5 "$build.log"; status=1; }
    runs=$((runs + 1))
    [ "$all" = all ] || [ "$runs" -lt 12 ] || break
done
[ "$runs" -ge 10 ] || { echo "only $runs kernels were compared"; status=1; }
echo "$runs kernels give what they give here"

dll=$(find "$build/" -maxdepth 1 -name 'libquern*.dll')
foreign=$(x86_64-w64-mingw32-objdump -p "$dll" | awk '/\[Ordinal\/Name Pointer\] Table/ { on = 1; next } on && NF == 0 { exit } on { print $NF }' |
    grep -v '^qn_[a-z]' || true)
[ -z "$foreign" ] || { echo "the DLL exports $foreign"; status=1; }
x86_64-w64-mingw32-gcc-posix -std=c11 -Wall -Wextra -Werror -I include examples/saxpy.c "$dll" -o "$build/saxpy.exe" &&
    $emulator "$build/saxpy.exe" 2> "$build.log" | grep -q '^12 24 36 48 60 72 84 96' || { echo "saxpy.exe"; status=1; }
