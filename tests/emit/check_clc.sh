#!/bin/sh
# clang accepts the OpenCL C that is emitted for every other kernel test, as OpenCL C 1.2: half of them optimised, the rest not. Kernels that
# the target refuses with a sentence are counted; a crash or an internal error is a failure. Sub-groups, which a
# device with an extension may have, are declared for OpenCL C 2.0 only.
# Usage: check_clc.sh QUERN SOURCE_DIR [FILE.cl ...]     these files, both optimised and not
#        check_clc.sh QUERN SOURCE_DIR all              every one of them
set -eu
quern=$1 source=$2
shift 2
if ! command -v clang > /dev/null; then
    echo "skipped: clang is not installed"
    exit 77
fi
both=$# here=no
[ $# -gt 0 ] && [ "$1" != all ] || set -- "$source"/tests/cl/*.cl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
extensions=+cl_khr_fp64,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+cl_khr_subgroups
for name in shuffle ballot extended_types non_uniform_arithmetic; do
    extensions=$extensions,+cl_khr_subgroup_$name
done
status=0 count=0 refused=0 optimised=no
cd "$source/tests/cl"
for file in "$@"; do
    options=$(sed -n 's|^// options: *||p' "$file")
    case $file in
        *error_* | *warn_*) continue ;;
    esac
    if [ $here = yes ]; then here=no; else here=yes; fi
    [ $here = yes ] || [ "$both" != 0 ] || continue
    if [ $optimised = yes ]; then optimised=no; else optimised=yes; fi
    for level in "--opt 0" "--opt 2 --debug"; do
        case $optimised$level in
            yes*0 | no*debug) [ "$both" != 0 ] || continue ;;
        esac
        code=0
        # shellcheck disable=SC2086
        "$quern" compile "$file" --target clc $level $options -o "$work/kernel.cl" 2> "$work/errors" || code=$?
        if [ "$code" != 0 ]; then
            if [ "$code" -gt 3 ] || grep -q "internal" "$work/errors"; then
                echo "emit: $file, $level: exit status $code" >&2
                head -5 "$work/errors" >&2
                status=1
            fi
            refused=$((refused + 1))
            continue
        fi
        standard=CL1.2
        if grep -q sub_group "$work/kernel.cl"; then standard=CL2.0; fi
        if ! clang -x cl -cl-std=$standard -target spir64 -Xclang -finclude-default-header \
            -Xclang -cl-ext="$extensions" -fsyntax-only "$work/kernel.cl" 2> "$work/errors"; then
            echo "emit: clang on the OpenCL C of $file with $level:" >&2
            grep -m 5 error "$work/errors" >&2
            status=1
        fi
        count=$((count + 1))
    done
done
echo "$count texts checked, $refused kernels refused"
[ "$count" -gt 0 ] || exit 1
exit $status
