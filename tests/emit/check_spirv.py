#!/usr/bin/env python3
"""spirv-val accepts the module of every kernel test, for Vulkan 1.2, optimised and not. Kernels that the target refuses
with a sentence are counted; a crash or an internal error is a failure.
Usage: check_spirv.py QUERN SOURCE_DIR [FILE.cl ...]"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile


def options_of(path):
    with open(path, encoding="utf-8") as file:
        found = re.search(r"^// options: *(.*)$", file.read(), re.MULTILINE)
    return ["--cl-options", found.group(1)] if found else []


def check(quern, level, path, folder):
    """A failure as text, "refused", or None."""
    out = os.path.join(folder, f"{os.path.basename(path)}.{level}.spv")
    command = [quern, "compile", path, "--target", "spirv", "--opt", level, "-o", out, *options_of(path)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        crashed = made.returncode not in (1, 3) or "internal" in made.stderr
        return f"{path}: exit status {made.returncode}\n{made.stderr}" if crashed else "refused"
    done = subprocess.run(["spirv-val", "--target-env", "vulkan1.2", out], capture_output=True, text=True)
    os.remove(out)
    return f"{path}, level {level}:\n{done.stdout}{done.stderr}" if done.returncode else None


def main():
    quern, source, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not shutil.which("spirv-val"):
        print("skipped: spirv-val is not installed")
        return 77
    if not files:
        for pattern in ("tests/cl/*.cl", "kernels/*.cl", "tools/quern/texts/*.cl"):
            files += sorted(glob.glob(os.path.join(source, pattern)))
    files = [f for f in files if not re.match(r"error_|warning_as_error|pp_error", os.path.basename(f))]
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(quern, level, path, folder) for level in "02" for path in files]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(*job), jobs))
    failures = [r for r in results if r and r != "refused"]
    for failure in failures[:20]:
        print(failure)
    refused = results.count("refused")
    print(f"{len(jobs)} modules: {len(failures)} failed, {refused} refused")
    return 1 if failures or refused > len(jobs) // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
