#!/usr/bin/env python3
"""Holds src/backend/vulkan/vk.h against the system's Vulkan header: sizes, the offsets of members that both name,
and the values of all constants. Exits with 77 where there is no such header.
Usage: tests/vulkan_layout.py [CC]"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = os.path.join(ROOT, "src/backend/vulkan/vk.h")
THEIRS = "/usr/include/vulkan/vulkan_core.h"
OWN_STRUCTS = {"VkBaseStructure", "VkFlagsCreateInfo"}


def members(text, name):
    body = re.search(r"typedef struct " + name + r" \{(.*?)\n\} " + name + ";", text, re.S)
    return set(re.findall(r"(\w+)(?:\[[^\]]*\])*\s*[,;]", body.group(1))) if body else None


def program(header, structs, constants):
    lines = ["#include <stddef.h>", "#include <stdio.h>", f'#include "{header}"', "int main(void) {"]
    for name, common in structs:
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{m} %zu\\n", offsetof({name}, {m}));' for m in common]
    lines += [f'printf("{c} %d\\n", (int){c});' for c in constants]
    return "\n".join(lines + ["}", ""])


def run(cc, folder, name, text):
    source, binary = os.path.join(folder, name + ".c"), os.path.join(folder, name)
    with open(source, "w") as file:
        file.write(text)
    subprocess.run([cc, "-w", "-o", binary, source], check=True)
    return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    if not os.path.exists(THEIRS):
        print("skipped: no Vulkan header (package libvulkan-dev)")
        return 77
    ours, theirs = open(OURS).read(), open(THEIRS).read()
    structs, absent = [], []  # an older header does not know the latest extensions
    for name in re.findall(r"typedef struct (Vk\w+) \{", ours):
        if name in OWN_STRUCTS:
            continue
        other = members(theirs, name)
        if other is None:
            absent.append(name)
            continue
        structs.append((name, sorted(members(ours, name) & other)))
    constants = re.findall(r"^\s+(VK_\w+) = ", ours, re.M)
    absent += [c for c in constants if not re.search(rf"\b{c}\b", theirs)]
    constants = [c for c in constants if c not in absent]
    cc = sys.argv[1] if len(sys.argv) > 1 else "cc"
    with tempfile.TemporaryDirectory() as folder:
        a = run(cc, folder, "ours", program(OURS, structs, constants))
        b = run(cc, folder, "theirs", program(THEIRS.replace("vulkan_core.h", "vulkan.h"), structs, constants))
    wrong = [f"{x}, the header has {y}" for x, y in zip(a, b) if x != y]
    if absent:
        print(f"not in {THEIRS}: " + ", ".join(absent))
    print("\n".join(wrong) if wrong else f"{len(a)} sizes, offsets and values agree")
    return 1 if wrong or len(a) != len(b) else 0


sys.exit(main())
