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

debug() { # commands for gdb on standard input; arguments of quern run
    # A thread that ends would be told of within a line that the kernel's program prints.
    { printf 'set pagination off\nset confirm off\nset breakpoint pending on\nset print thread-events off\n'; cat; } > "$work/script"
    gdb -nx -batch -x "$work/script" --args "$quern" run --debug "$@" > "$work/out" 2>&1 || true
}

status=0
wants() {
    grep -qE "$1" "$work/out" && return
    echo "gdb: no line like '$1' in" >&2
    cat "$work/out" >&2
    status=1
}

cd "$source/tests/gdb"
debug brighten.cl --global 4 --local 4 buf:float:4=1,2,3,4 buf:float:4@- float:2 int:4 <<'GDB'
break brighten.cl:8
run
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
wants 'Breakpoint 1, .*brighten\.cl:8'
wants '^8[[:space:]]+out\[i\] = history\[1\];'
wants '^\$1 = 0$'
wants '^\$2 = 2$'
wants '^\$3 = 1$'
wants '^\$4 = 2\.5$'
wants '^\$5 = 2\.5$'
wants '^\$6 = 1$'
wants '^out = 2\.5, 4\.5, 6\.5, 8\.5$'

debug reverse.cl --global 4 --local 4 buf:int:4@- local:16 <<'GDB'
break reverse.cl:4 if twice == 4
break reverse.cl:12 if *lid == 1
run
print twice
continue
print other
print *last_
delete
continue
GDB
wants '^4[[:space:]]+return twice;'
wants '^\$1 = 4$'
wants '^12[[:space:]]+out\[lid\] = other;'
wants '^\$2 = 4$'
wants '^\$3 = 3$'
wants '^out = 6, 4, 2, 0$'
exit $status
