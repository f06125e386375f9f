#!/usr/bin/env python3
"""ptxas accepts the PTX of kernel tests: of every third one for the newest architecture that it is asked about, of another third
for the oldest, of every sixteenth for those between. Kernels that the target refuses with a sentence are counted; a crash or an
internal error is a failure, and so is a module that asks for a newer architecture than it was written for. The largest
kernel parameters that are translated stay within what an indexed read of the constant bank reaches.
Usage: check_ptx.py QUERN SOURCE_DIR [FILE.cl ...]       these files for all architectures
       check_ptx.py QUERN SOURCE_DIR all                every one of them for all"""
import concurrent.futures
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]
EMPTY = ".version 6.3\n.target sm_60\n.address_size 64\n"
LARGE = """typedef struct { int a[N]; } block;
kernel void large(global int *out, block b) { int i = get_global_id(0); out[i] = b.a[N - 1 - i]; }
"""
REACH = 0x8000  # of a displacement in the constant bank, bytes


def find_ptxas():
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def assemble(ptxas, arch, path):
    """arch: 90, or "90a" for what later architectures do not have."""
    return subprocess.run([ptxas, "-O0", f"-arch=sm_{arch}", path, "-o", os.devnull], capture_output=True, text=True)


def options_of(path):
    with open(path, encoding="utf-8") as file:
        found = re.search(r"^// options: *(.*)$", file.read(), re.MULTILINE)
    return ["--cl-options", found.group(1)] if found else []


def check(quern, ptxas, arch, path, folder):
    """A failure as text, "refused", or None."""
    out = os.path.join(folder, f"{os.path.basename(path)}.{arch}.ptx")
    command = [quern, "compile", path, "--target", "ptx", "--arch", f"sm_{arch}", "-o", out, *options_of(path)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        crashed = made.returncode not in (1, 3) or "internal" in made.stderr
        return f"{path}: exit status {made.returncode}\n{made.stderr}" if crashed else "refused"
    with open(out, encoding="utf-8") as file:
        target, variant = re.search(r"^\.target sm_(\d+)(a?)", file.read(), re.MULTILINE).groups()
    if int(target) > arch:
        return f"{path}: asks for sm_{target} where sm_{arch} was given"
    done = assemble(ptxas, f"{arch}{variant}", out)
    os.remove(out)
    return f"{path}, sm_{arch}:\n{done.stdout}{done.stderr}" if done.returncode else None


def bank_size(cubin, kernel):
    """Bytes of the constant bank 0 of a kernel: what the driver needs, then the parameters."""
    with open(cubin, "rb") as file:
        data = file.read()
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, sections + i * size) for i in range(count)]
    for name, _, _, _, _, length in headers:
        at = headers[names][4] + name
        if data[at : data.index(b"\0", at)] == b".nv.constant0." + kernel.encode():
            return length
    return 0


def check_largest(quern, ptxas, arch, folder):
    """The largest struct by value that is translated, read at an index. What is wrong, or None. From sm_90 on ptxas
    does not see that a displacement has become too large; before, it does."""
    source, out = os.path.join(folder, "large.cl"), os.path.join(folder, "large.ptx")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LARGE)
    fits, too_many = 1, 0x4000
    while too_many - fits > 1:
        count = (fits + too_many) // 2
        command = [quern, "compile", source, "--target", "ptx", "--arch", f"sm_{arch}", "-o", out]
        made = subprocess.run([*command, "--cl-options", f"-D N={count}"], capture_output=True, text=True)
        fits, too_many = (count, too_many) if made.returncode == 0 else (fits, count)
    if fits < 0x1C00:
        return f"sm_{arch}: a struct of {fits + 1} ints is refused"
    subprocess.run([*command, "--cl-options", f"-D N={fits}"], check=True)
    cubin = os.path.join(folder, "large.cubin")
    subprocess.run([ptxas, f"-arch=sm_{arch}", out, "-o", cubin], check=True)
    size = bank_size(cubin, "large")
    if size <= fits * 4 or (arch >= 90 and size > REACH):
        return f"sm_{arch}: {size} bytes of constants for the parameters of a struct of {fits} ints"
    return None


def main():
    quern, source, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: ptxas is not installed")
        return 77
    everything = bool(files)
    if not files or files == ["all"]:
        files = []
        for pattern in ("tests/cl/*.cl", "tests/wgsl/*.wgsl", "kernels/*.cl", "tools/quern/texts/*.cl"):
            files += sorted(glob.glob(os.path.join(source, pattern)))
    files = [f for f in files if not re.match(r"error_|warning_as_error|pp_error", os.path.basename(f))]
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.ptx")
        with open(empty, "w", encoding="utf-8") as file:
            file.write(EMPTY)
        known = [a for a in ARCHITECTURES if assemble(ptxas, a, empty).returncode == 0]
        jobs = []
        for number, arch in enumerate(known):
            ends = arch in (known[0], known[-1])
            step = 1 if everything else 3 if ends else 16
            first = (arch == known[0] if ends else number) % step
            jobs += [(quern, ptxas, arch, path, folder) for path in files[first::step]]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(*job), jobs))
        results += [check_largest(quern, ptxas, arch, folder) for arch in known]
    failures = [r for r in results if r and r != "refused"]
    for failure in failures[:20]:
        print(failure)
    refused = results.count("refused")
    print(f"{len(jobs)} translations for sm_{', sm_'.join(map(str, known))}: {len(failures)} failed, {refused} refused")
    return 1 if failures or not known or refused > len(jobs) // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
