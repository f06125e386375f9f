#!/bin/sh
# What is in packaging/: one version everywhere, a formula and a port that their languages take, all files of an
# installation in some Debian package. With `build` the Debian packages are built, and lintian looks at them.
# Usage: check.sh BUILD_DIR SOURCE_DIR [build]
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "packages: $*" >&2
    exit 1
}
cd "$source"

# The same bytes twice; no build, no repository in it.
export QUERN_DIST_DIR="$work/dist"
tarball=$(scripts/dist https://example.org/quern.tar.gz)
cp "$tarball" "$work/first.tar.gz"
sleep 1
scripts/dist https://example.org/quern.tar.gz > /dev/null
cmp -s "$tarball" "$work/first.tar.gz" || fail "make dist is not reproducible"
version=$(basename "$tarball" .tar.gz)
version=${version#quern-}
tar -tzf "$tarball" > "$work/names"
for name in CMakeLists.txt README.md LICENSE src/runtime/launch.c include/quern/quern.h packaging/debian/control; do
    grep -qx "quern-$version/$name" "$work/names" || fail "the release lacks $name"
done
if grep -E '^quern-[0-9.]*/(build|\.git|\.ci)/' "$work/names"; then fail "the release has what is no source"; fi

# The header has the same version.
for part in MAJOR MINOR PATCH; do sed -n "s/^#define QN_VERSION_$part //p" include/quern/quern.h; done | paste -sd . > "$work/header"
[ "$(cat "$work/header")" = "$version" ] || fail "quern.h is of version $(cat "$work/header"), CMakeLists.txt of $version"

# The port: its manifest is JSON with what vcpkg asks for, and the portfile names the tarball as it is.
port=$QUERN_DIST_DIR/vcpkg/quern
if command -v python3 > /dev/null; then
    python3 - "$port/vcpkg.json" "$version" <<'PYTHON' || fail "vcpkg.json"
import json, re, sys
port = json.load(open(sys.argv[1]))
assert port["name"] == "quern" and port["version"] == sys.argv[2] and port["license"] == "MIT", port
assert set(port) <= {"name", "version", "description", "license", "supports", "dependencies", "features"}, set(port)
for entry in port["dependencies"] + [d for f in port["features"].values() for d in f["dependencies"]]:
    name = entry if isinstance(entry, str) else entry["name"]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name
PYTHON
fi
sum=$(sha512sum "$tarball" | cut -d ' ' -f 1)
grep -q "SHA512 $sum" "$port/portfile.cmake" || fail "the port has not the tarball's checksum"
if grep -n '@[A-Z0-9]*@' "$port"/* "$QUERN_DIST_DIR/quern.rb"; then fail "something is not filled in"; fi
# vcpkg's own functions do nothing here; what CMake makes of the rest counts.
{
    echo "cmake_minimum_required(VERSION 3.25)"
    for name in download_distfile extract_source_archive check_features cmake_configure cmake_install cmake_config_fixup \
        fixup_pkgconfig copy_tools install_copyright; do echo "function(vcpkg_$name)
endfunction()"; done
    echo "set(CURRENT_PACKAGES_DIR \"$work/port\")
include(\"$port/portfile.cmake\")"
} > "$work/port.cmake"
cmake -P "$work/port.cmake" || fail "the portfile"

if command -v ruby > /dev/null; then ruby -c "$QUERN_DIST_DIR/quern.rb" > /dev/null || fail "the formula"; fi
grep -q "sha256 \"$(sha256sum "$tarball" | cut -d ' ' -f 1)\"" "$QUERN_DIST_DIR/quern.rb" ||
    fail "the formula has not the tarball's checksum"

# Each file of an installation is in one of the Debian packages, and they name none that is not there.
cmake --install "$build" --prefix "$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install failed"; }
soname=$(readelf -d "$work"/usr/lib*/libquern.so 2> /dev/null | sed -n 's/.*SONAME.*libquern\.so\.\([0-9]*\).*/\1/p')
[ -z "$soname" ] || grep -q "^Package: libquern$soname\$" packaging/debian/control ||
    fail "the library is libquern.so.$soname, packaging/debian has another package"
sed -e 's|^usr/lib/\*/|lib/|; s|^usr/||; s|share/doc/libquern-dev|share/doc/quern|' packaging/debian/*.install > "$work/patterns"
(cd "$work/usr" && find . -type f -o -type l) | sed -e 's|^\./||; s|^lib64/|lib/|; s|^lib/[a-z0-9_]*-linux-gnu[a-z0-9]*/|lib/|' > "$work/files"
while read -r file; do
    in=0
    while read -r pattern; do
        # shellcheck disable=SC2254
        case $file in $pattern | $pattern/*) in=1 ;; esac
    done < "$work/patterns"
    [ $in = 1 ] || fail "no Debian package has $file"
done < "$work/files"

if [ "${3:-}" = build ]; then
    command -v dh > /dev/null || { echo "skipped: no debhelper"; exit 77; }
    unset QUERN_DIST_DIR
    scripts/deb || fail "make deb"
fi
