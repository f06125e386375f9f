#!/bin/sh
# Installs quern under a temporary prefix and uses it as a stranger would: the program of README.md is built by
# pkg-config and by find_package(quern), shared and static, and must print what README.md says.
# Usage: check.sh BUILD_DIR SOURCE_DIR LIBDIR CC
set -eu
build=$1 source=$2 libdir=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export QUERN_CACHE_DIR="$work/cache"

fail() {
    echo "install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" > "$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install failed"; }
for file in bin/quern include/quern/quern.h "$libdir/libquern.a" "$libdir/libquern.so" "$libdir/libquern.so.0" \
    "$libdir/libquern_kernels.a" "$libdir/libquern_kernels.so.0" include/quern/kernels.h \
    "$libdir/libquern_tensor.a" "$libdir/libquern_tensor.so.0" include/quern/tensor.h include/quern/files.h include/quern/dlpack.h "$libdir/pkgconfig/quern_tensor.pc" \
    "$libdir/libquern_ring.a" "$libdir/libquern_ring.so.0" include/quern/ring.h include/quern/ring_message.h "$libdir/pkgconfig/quern_ring.pc" \
    "$libdir/pkgconfig/quern.pc" "$libdir/pkgconfig/quern_kernels.pc" "$libdir/cmake/quern/quernConfig.cmake" \
    "$libdir/cmake/quern/quernConfigVersion.cmake" share/man/man1/quern.1 share/quern/kernels/sum.cl share/quern/kernels/element.h \
    share/doc/quern/README.md share/doc/quern/docs/language.md share/doc/quern/examples/saxpy.c; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done

cp "$source/examples/saxpy.c" "$work/saxpy.c" # README.md shows it; scripts/docs sees to that
wanted=$(sed -n 's/^It prints `\(.*\)`\.$/\1/p' "$source/README.md")
[ -n "$wanted" ] || fail "README.md does not say what its program prints"

runs() { # name, program
    got=$("$2" 2>&1) || fail "$1: exit status $?: $got"
    [ "$got" = "$wanted " ] || fail "$1: printed '$got', wanted '$wanted'"
    echo "$1: $got"
}

# The moved tree must still work: nothing in it may know the prefix.
mv "$prefix" "$work/moved"
prefix=$work/moved
export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror"
# shellcheck disable=SC2046,SC2086
$cc $flags $(pkg-config --cflags quern) "$work/saxpy.c" -o "$work/pc_shared" $(pkg-config --libs quern) \
    -Wl,-rpath,"$prefix/$libdir"
runs "pkg-config, shared" "$work/pc_shared"
# shellcheck disable=SC2046,SC2086
$cc $flags $(pkg-config --cflags quern) "$work/saxpy.c" -o "$work/pc_static" "$prefix/$libdir/libquern.a" \
    $(pkg-config --static --libs-only-l quern | sed 's/-lquern//')
# A program of the libraries above it.
sed 's/^#include <quern.quern.h>/#include <quern\/tensor.h>/
s/return status;/return status || qn_element_size(QN_F16) != 2 || qn_tensor_count(NULL) != 0;/' "$work/saxpy.c" > "$work/above.c"
# shellcheck disable=SC2046,SC2086
$cc $flags $(pkg-config --cflags quern_tensor) "$work/above.c" -o "$work/pc_tensor" \
    $(pkg-config --libs quern_tensor quern_kernels) -Wl,-rpath,"$prefix/$libdir"
runs "pkg-config, tensor" "$work/pc_tensor"
sed 's/^#include <quern.quern.h>/#include <quern\/ring.h>/
s/return status;/return status || qn_ring_close(NULL, 0);/' "$work/saxpy.c" > "$work/ring.c"
# shellcheck disable=SC2046,SC2086
$cc $flags $(pkg-config --cflags quern_ring) "$work/ring.c" -o "$work/pc_ring" $(pkg-config --libs quern_ring quern) \
    -Wl,-rpath,"$prefix/$libdir"
runs "pkg-config, ring" "$work/pc_ring"
rm "$prefix/$libdir/libquern.so"*.0 # so that nothing shared can be found by accident
runs "pkg-config, static" "$work/pc_static"

cmake --install "$build" --prefix "$prefix" > /dev/null
mkdir "$work/project"
cp "$work/saxpy.c" "$work/above.c" "$work/ring.c" "$work/project"
cat > "$work/project/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(quern 0.1 REQUIRED)
add_executable(saxpy saxpy.c)
target_link_libraries(saxpy PRIVATE quern::quern)
add_executable(above above.c)
target_link_libraries(above PRIVATE quern::tensor)
add_executable(ring ring.c)
target_link_libraries(ring PRIVATE quern::ring)
LISTS
for static in OFF ON; do
    cmake -S "$work/project" -B "$work/build$static" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
        -DQUERN_USE_STATIC=$static > "$work/log" 2>&1 || { cat "$work/log"; fail "find_package failed"; }
    cmake --build "$work/build$static" > "$work/log" 2>&1 || { cat "$work/log"; fail "the project does not build"; }
    runs "find_package, static $static" "$work/build$static/saxpy"
    runs "find_package, tensor, static $static" "$work/build$static/above"
    runs "find_package, ring, static $static" "$work/build$static/ring"
done
if command -v readelf > /dev/null; then
    readelf -d "$work/buildOFF/saxpy" | grep -q libquern || fail "quern::quern is not the shared library"
    if readelf -d "$work/buildON/saxpy" | grep -q libquern; then fail "QUERN_USE_STATIC links the shared library"; fi
fi

# The same program with quern's sources in its own build: of the tree, and of a release, without git or a network. Only the
# library is built, without -Werror; what the project itself sets is left alone.
tarball=$(cd "$source" && QUERN_DIST_DIR="$work/dist" scripts/dist)
project() { # name, line that adds quern
    mkdir "$work/$1"
    cp "$work/saxpy.c" "$work/$1"
    cat > "$work/$1/CMakeLists.txt" <<LISTS
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C)
$2
add_executable(saxpy saxpy.c)
target_link_libraries(saxpy PRIVATE quern::quern)
get_directory_property(tests DIRECTORY \${quern_SOURCE_DIR} TESTS)
if(tests OR TARGET quern OR TARGET quern_tour OR CMAKE_BUILD_TYPE)
    message(FATAL_ERROR "tests '\${tests}', build type '\${CMAKE_BUILD_TYPE}', or a program is there")
endif()
LISTS
}
project parent "add_subdirectory($source quern)"
cmake -S "$work/parent" -B "$work/parent/build" -DCMAKE_C_COMPILER="$cc" > "$work/log" 2>&1 ||
    { cat "$work/log"; fail "add_subdirectory failed"; }

mkdir "$work/bin"
for program in git curl wget; do
    printf '#!/bin/sh\necho "%s $*" >> %s/called\nexit 1\n' "$program" "$work" > "$work/bin/$program"
    chmod +x "$work/bin/$program"
done
offline=
if unshare -rn true 2> /dev/null; then offline="unshare -rn"; fi
alone() { PATH="$work/bin:$PATH" $offline "$@"; }
project fetcher "include(FetchContent)
FetchContent_Declare(quern URL $tarball)
FetchContent_MakeAvailable(quern)"
alone cmake -S "$work/fetcher" -B "$work/sub" -DCMAKE_C_COMPILER="$cc" > "$work/log" 2>&1 ||
    { cat "$work/log"; fail "FetchContent failed"; }
if grep -rq -e -Werror "$work/sub/_deps/quern-build/CMakeFiles/quern_util.dir/flags.make"; then
    fail "a subproject has -Werror"
fi
alone cmake --build "$work/sub" -j 2 --target saxpy > "$work/log" 2>&1 ||
    { tail -40 "$work/log"; fail "the subproject does not build"; }
runs "FetchContent, offline" "$work/sub/saxpy"
cmake --install "$work/sub" --prefix "$work/nothing" > "$work/log" 2>&1 || { cat "$work/log"; fail "install failed"; }
[ ! -e "$work/nothing/include" ] || fail "a subproject is installed with its parent"

# Asked for, it is installed, and where one kind of library is wanted only that.
cmake -S "$work/fetcher" -B "$work/sub" -DQUERN_INSTALL=ON -DBUILD_SHARED_LIBS=OFF > "$work/log" 2>&1 &&
    cmake --build "$work/sub" -j 2 >> "$work/log" 2>&1 &&
    cmake --install "$work/sub" --prefix "$work/static" >> "$work/log" 2>&1 || { cat "$work/log"; fail "install failed"; }
[ -e "$work/static/$libdir/libquern.a" ] || fail "BUILD_SHARED_LIBS=OFF installs no static library"
[ ! -e "$work/static/$libdir/libquern.so" ] || fail "BUILD_SHARED_LIBS=OFF installs the shared library"
export PKG_CONFIG_PATH="$work/static/$libdir/pkgconfig"
# shellcheck disable=SC2046,SC2086
$cc $flags $(pkg-config --cflags quern) "$work/saxpy.c" -o "$work/pc_only" $(pkg-config --libs quern)
runs "pkg-config, only static" "$work/pc_only"
cmake -S "$work/project" -B "$work/buildONLY" -DCMAKE_PREFIX_PATH="$work/static" -DCMAKE_C_COMPILER="$cc" > "$work/log" 2>&1 &&
    cmake --build "$work/buildONLY" > "$work/log" 2>&1 || { cat "$work/log"; fail "find_package, only static"; }
runs "find_package, only static" "$work/buildONLY/saxpy"

# The release by itself, with a test.
tar -xzf "$tarball" -C "$work"
alone cmake -S "$work/$(basename "$tarball" .tar.gz)" -B "$work/release" -DCMAKE_C_COMPILER="$cc" -DQUERN_EXAMPLES=OFF \
    > "$work/log" 2>&1 || { cat "$work/log"; fail "the release does not configure"; }
alone cmake --build "$work/release" -j 2 --target unit_util_arena > "$work/log" 2>&1 ||
    { tail -40 "$work/log"; fail "the release does not build"; }
alone ctest --test-dir "$work/release" -R '^unit.util_arena$' --no-tests=error > "$work/log" 2>&1 ||
    { cat "$work/log"; fail "the release fails its test"; }
[ ! -e "$work/called" ] || fail "building the release asks: $(cat "$work/called")"
