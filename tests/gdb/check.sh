#!/bin/sh
# A debugger stops at a line of a .cl file and knows the kernel's variables by name. Ends with status 77 (skipped)
# where there is no gdb, or it may not trace, or no C compiler makes the kernel.
# Usage: check.sh QUERN SOURCE_DIR
set -eu
quern=$1 source=$2
command -v gdb > /dev/null || { echo "skipped: gdb is not there"; exit 77; }
if ! gdb -nx -batch -ex run --args true > /dev/null 2>&1; then echo "skipped: gdb cannot run a program"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUERN_CACHE_DIR="$work/cache" QUERN_CPU_THREADS=1

cat > "$work/script" <<'GDB'
set pagination off
set confirm off
set debuginfod enabled off
set breakpoint pending on
break brighten.cl:8
run
echo where:\n
info source
print i
print gain
print before
print after
print history[1]
continue
print i
delete
continue
GDB
cd "$source/tests/gdb"
gdb -nx -batch -x "$work/script" --args "$quern" run --debug brighten.cl --global 4 --local 4 \
    buf:float:4=1,2,3,4 buf:float:4@- float:2 int:4 > "$work/out" 2>&1 || true

status=0
wants() {
    if ! grep -qE "$1" "$work/out"; then
        echo "gdb: no line like '$1'" >&2
        status=1
    fi
}
wants 'Breakpoint 1, .*brighten\.cl:8'
wants '^8[[:space:]]+out\[i\] = history\[1\];'
wants '^\$1 = 0$'
wants '^\$2 = 2$'
wants '^\$3 = 1$'
wants '^\$4 = 2\.5$'
wants '^\$5 = 2\.5$'
wants '^\$6 = 1$'
wants '^out = 2\.5, 4\.5, 6\.5, 8\.5$'
[ $status = 0 ] || cat "$work/out" >&2
exit $status
