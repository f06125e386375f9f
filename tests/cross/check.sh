#!/bin/sh
# Builds quern for another machine or C library, and runs a part of the tests there: kernels on the CPU device, compiled
# and interpreted, and unit tests.
# Usage: check.sh KIND BUILD_DIR SOURCE_DIR [all]
#   aarch64   by Debian's cross compiler, run by qemu-user
#   musl      by musl-gcc; kernels by that and by the system's compiler
#   windows   by mingw-w64, run by Wine; kernels are interpreted
#   all       every kernel test, more of the unit tests, and generators built for this machine by the cross build itself
set -eu
kind=$1 native=$2 source=$3 all=${4:-}
build=$native/cross/$kind
mkdir -p "$build"
jobs=${JOBS:-2}

skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "cross: $*" >&2
    exit 1
}

exe=
# What the kind needs, how it is configured, what runs its programs.
case $kind in
aarch64)
    command -v aarch64-linux-gnu-gcc > /dev/null || skip "no cross compiler (gcc-aarch64-linux-gnu)"
    command -v qemu-aarch64 > /dev/null || skip "no qemu-aarch64 (qemu-user)"
    set -- --toolchain "$source/cmake/toolchains/aarch64-linux-gnu.cmake"
    emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    # The C compiler of that machine, which knows its own processor.
    mkdir -p "$build/bin"
    cat > "$build/bin/cc" <<'CC'
#!/bin/sh
for arg; do
    shift
    [ "$arg" != -march=native ] || arg=-march=armv8-a
    set -- "$@" "$arg"
done
exec aarch64-linux-gnu-gcc "$@"
CC
    chmod +x "$build/bin/cc"
    PATH="$build/bin:$PATH"
    export PATH
    ;;
musl)
    command -v musl-gcc > /dev/null || skip "no musl-gcc (musl-tools)"
    set -- -DCMAKE_C_COMPILER=musl-gcc -DQUERN_OWN_CMOCKA=ON
    emulator=""
    ;;
windows)
    command -v x86_64-w64-mingw32-gcc-posix > /dev/null || skip "no cross compiler (gcc-mingw-w64-x86-64-posix)"
    emulator=$(PATH="$PATH:/usr/lib/wine" command -v wine64) || skip "no wine64"
    set -- --toolchain "$source/cmake/toolchains/x86_64-w64-mingw32.cmake"
    export WINEPREFIX="$build/wine" WINEDEBUG=-all
    unset DISPLAY
    exe=.exe
    ;;
*) fail "there is no kind '$kind'" ;;
esac

tools=$native
units="api_buffer api_launch backend_cpu_background emit_c ir_text pass_text util_pool util_process vm_ops"
shard=0/64
if [ "$all" = all ]; then
    units="$units api_context api_handles api_lifetime api_random api_state api_stream api_threads compile_language
        compile_ops compile_passes front_lex front_lower front_parse front_pp vm_control vm_groups vm_memory"
    shard=0/1
    tools=
fi
# Products by panels in the registers of Arm's vectors.
[ "$kind" != aarch64 ] || units="$units kernels_matmul"
# It runs itself, which only qemu can where it is no program of this machine.
[ "$kind" = aarch64 ] || units="$units util_system"
# The tool has with it all that stands above the core.
targets=cl_runner
[ "$all" != all ] || targets="quern cl_runner"
# What takes longest is to build it. Where all is run, optimising pays.
optimise=-O0
[ "$all" != all ] || optimise=-O1
# The kernel tests' runner is POSIX's own.
if [ "$kind" = windows ]; then
    units="front_lower front_pp ir_text pass_text util_arena util_system"
    targets="quern quern_shared"
fi
for unit in $units; do targets="$targets unit_$unit"; done

cmake -S "$source" -B "$build" "$@" -DQUERN_HOST_TOOLS="$tools" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=$optimise \
    -DQUERN_WERROR=OFF -DQUERN_TESTS=ON -DQUERN_EXAMPLES=OFF > "$build.log" 2>&1 || { cat "$build.log"; fail "cmake refuses"; }
# shellcheck disable=SC2086
cmake --build "$build" -j "$jobs" --target $targets > "$build.log" 2>&1 ||
    { grep -E 'error|undefined' -A 4 "$build.log" || tail -20 "$build.log"; fail "it does not build"; }

export QUERN_CACHE_DIR="$build/cache"
cd "$source"
status=0
run() {
    # shellcheck disable=SC2086
    $emulator "$@" > "$build.log" 2>&1 || { grep -vE '^(ok|\[ +OK)' "$build.log" | tail -40; status=1; echo "failed: $*"; }
}
for unit in $units; do
    case $unit in
    kernels_matmul) run "$build/unit_$unit$exe" packed ;;
    *) run "$build/unit_$unit$exe" ;;
    esac
done
if [ "$kind" = windows ]; then
    . "$source/tests/cross/windows.sh"
else
    run "$build/cl_runner" --shard "$shard" -j "$jobs" --cache "$build/cl-cache" tests/cl
    grep -E 'passed' "$build.log" || true
fi
if [ "$kind" = musl ]; then
    QUERN_CC=musl-gcc run "$build/cl_runner" --shard "$shard" -j "$jobs" --cache "$build/cl-cache-musl" tests/cl
fi
exit $status
