#!/usr/bin/env python3
"""Each operation with each type and number of lanes, a kernel of its own (tests/op_source.c), makes text that the tool
of each target accepts: spirv-val, ptxas, the C compiler, clang as an OpenCL C compiler. Each file goes to every other target; where both levels
are looked at, half of the files are optimised and the rest is not. With targets named, all go to each of those, at both levels. A tool that is not installed is left out. Every kernel has to
compile: nothing may be refused.
Usage: check_operations.py OP_KERNELS QUERN [FAMILIES [TARGET ...]]"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from check_ptx import find_ptxas

BATCH = "128"
C_FLAGS = "-x c -std=gnu11 -Wall -Werror -fsyntax-only -ffp-contract=off".split()
CL_FLAGS = """-x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header
              -Xclang -cl-ext=+cl_khr_fp64 -fsyntax-only""".split()
# Target: the tool, its arguments, levels, arguments of quern. PTX is assembled without optimisation, which takes longest.
TARGETS = {
    "spirv": (shutil.which("spirv-val"), ["--target-env", "vulkan1.2"], "02", []),
    "c": (shutil.which("cc"), C_FLAGS, "02", []),
    "ptx": (find_ptxas(), ["-O0", "-arch=sm_90", "-o", os.devnull], "2", ["--arch", "sm_90"]),
    "clc": (shutil.which("clang"), CL_FLAGS, "2", []),
}


def check(quern, target, level, path):
    """What is wrong, or None."""
    tool, arguments, _, options = TARGETS[target]
    out = f"{path}.{level}.{target}"
    command = [quern, "compile", path, "--target", target, "--opt", level, "-o", out, *options]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        return f"{os.path.basename(path)}, {target}, level {level}: not compiled:\n{made.stderr[:2000]}"
    done = subprocess.run([tool, *arguments, out], capture_output=True, text=True)
    os.remove(out)
    if done.returncode:
        return f"{os.path.basename(path)}, {target}, level {level}:\n{(done.stdout + done.stderr)[:2000]}"
    return None


def levels(target, number, every):
    """Of the file with this number."""
    all_of_them = TARGETS[target][2]
    if every:
        return all_of_them
    return all_of_them[number // 2 % len(all_of_them)] if (number + list(TARGETS).index(target)) % 2 else ""


def main():
    kernels, quern = sys.argv[1:3]
    families = sys.argv[3] if len(sys.argv) > 3 else "arithmetic,conversions,memory"
    targets = [t for t in sys.argv[4:] or TARGETS if TARGETS[t][0]]
    if not targets:
        print("skipped: no tool is installed that checks a target's text")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        command = [kernels, "--batch", BATCH, "--family", families, "--write", folder]
        written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        jobs = [(quern, target, level, path) for number, path in enumerate(sorted(glob.glob(f"{folder}/*.cl")))
                for target in targets for level in levels(target, number, len(sys.argv) > 4)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(*job), jobs))
    failures = [r for r in results if r]
    for failure in failures[:10]:
        print(failure)
    print(f"{written.strip()}; {len(jobs)} texts for {', '.join(targets)}: {len(failures)} failed")
    return 1 if failures or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
