"""quern compile -o NAME.qnb and quern embed: programs to ship."""
import json
import os
import shutil
import subprocess
import unittest

from support import COMPILE_ERROR, RUN_FAILED, SAXPY, USAGE, ToolTest

RUN = ("--device", "cpu", "--global", "4", "int:4", "float:2", "buf:float:4=1,2,3,4", "buf:float:4=1@-")
RESULT = "y = 3, 5, 7, 9\n"


class Ship(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("saxpy.cl", SAXPY)

    def pack(self, *options):
        self.assertEqual(self.quern("compile", "saxpy.cl", "-o", "saxpy.qnb", *options), "")
        return json.loads(self.quern("compile", "saxpy.qnb", "--reflect"))

    def test_all_targets(self):
        shown = self.pack()
        self.assertEqual([k["name"] for k in shown["kernels"]], ["saxpy"])
        self.assertEqual([p["type"] for p in shown["kernels"][0]["params"]], ["uint", "float", "float*", "float*"])
        targets = [e["target"] for e in shown["entries"]]
        self.assertEqual(sorted(set(targets)), ["c", "clc", "ir", "ptx", "spirv"])
        self.assertTrue(all((e["binary_size"] > 0) == (e["machine"] != "") for e in shown["entries"]))
        self.assertTrue(any(e["machine"] for e in shown["entries"]))

    def test_wgsl_for_all_devices(self):
        """No WebGPU device promises what drivers may rewrite of floats: the text must not need it."""
        self.write("sums.cl", "kernel void k(global float *x, float c) {\n    float v = x[0];\n"
                              "    x[0] = (v < c ? c : v) / (v + 0x1.8p23f - 0x1.8p23f);\n}\n")
        self.quern("compile", "sums.cl", "-o", "sums.qnb", "--target", "wgsl")
        shown = json.loads(self.quern("compile", "sums.qnb", "--reflect"))
        needs = " ".join(e["needs"] for e in shown["entries"]).split()
        self.assertFalse({"exact_sums", "exact_choices", "division", "f32_denormals"} & set(needs), needs)

    def test_runs_without_a_compiler(self):
        for targets in ("c", "ir", "ptx,c"):
            self.pack("--target", targets)
            self.assertEqual(self.quern("run", "saxpy.qnb", *RUN, env={"QUERN_CC": "none"}), RESULT)
            self.assertEqual(self.quern("run", "saxpy.qnb", *RUN), RESULT)

    def test_architectures(self):
        shown = self.pack("--target=ptx,c", "--arch=sm_70,sm_90,native")
        self.assertEqual([e["needs"].split()[0] for e in shown["entries"] if e["target"] == "ptx"][-1][:6], "arch>=")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--arch", "z80", status=USAGE, error="no processor 'z80'")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--arch", "sm_1", status=USAGE, error="'sm_1'")

    def test_devices(self):
        shown = self.pack("--device", "cpu")
        self.assertEqual([e["target"] for e in shown["entries"]], ["c", "c"])
        self.assertEqual(self.quern("run", "saxpy.qnb", *RUN, env={"QUERN_CC": "none"}), RESULT)
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--device", "moon", status=RUN_FAILED, error="moon")
        self.quern("compile", "saxpy.cl", "--target", "c", "--device", "cpu", status=USAGE, error="-o NAME.qnb")

    def test_options_go_into_it(self):
        self.write("n.cl", "kernel void k(global int *x) { x[0] = N; }\n")
        self.quern("compile", "n.cl", "-o", "n.qnb", "--target", "ir", "-D", "N=7")
        run = ("run", "n.qnb", "--device", "cpu", "--global", "1", "buf:int:1@-")
        self.assertEqual(self.quern(*run), "x = 7\n")
        self.quern(*run, "-D", "N=8", status=USAGE, error="options with a packed program")

    def test_nothing_fits(self):
        self.pack("--target", "ptx,clc")
        self.quern("run", "saxpy.qnb", *RUN, status=RUN_FAILED,
                   error="saxpy.qnb has nothing for cpu, which takes c; it has ptx, clc")

    def test_damage(self):
        self.pack("--target", "ir")
        raw = bytearray(self.read("saxpy.qnb"))
        raw[len(raw) // 2] ^= 1
        self.write("saxpy.qnb", bytes(raw))
        self.quern("run", "saxpy.qnb", *RUN, status=RUN_FAILED, error="saxpy.qnb is damaged")

    def test_usage(self):
        self.quern("compile", "saxpy.cl", "--target", "ptx,c", status=USAGE, error="-o NAME.qnb is needed")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--reflect", status=USAGE, error="--reflect")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--target", "moon", status=USAGE, error="'moon'")
        self.quern("embed", "saxpy.cl", status=USAGE, error="-o NAME.c")
        self.quern("embed", "saxpy.cl", "-o", ".c", status=USAGE, error="-o NAME.c")
        self.quern("embed", "saxpy.cl", "-o", "x.c", "--name", "1x", status=USAGE, error="no name in C")
        self.quern("embed", "none.cl", "-o", "x.c", status=RUN_FAILED, error="none.cl")
        self.write("bad.cl", "kernel void k() { x; }\n")
        self.quern("embed", "bad.cl", "--target", "ir", "-o", "x.c", status=COMPILE_ERROR, error="bad.cl:1:19")

    def built(self, c_file, symbol):
        """The bytes that the array holds in a C99 and in a C++ program."""
        header = c_file[:-1] + "h"
        main = "#include <stdio.h>\n#include \"%s\"\nint main(void) { return !fwrite(%s, sizeof %s, 1, stdout); }\n"
        flags = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
        found = []
        for compiler, standard, name in (("cc", "c99", "main.c"), ("g++", "c++17", "main.cpp")):
            if not shutil.which(compiler):
                continue
            self.write(name, main % (header, symbol, symbol))
            language = ["-x", "c++"] if compiler == "g++" else []
            subprocess.run([compiler, "-std=" + standard, *flags, *language, name, c_file, "-o", "main"], check=True,
                           cwd=self.dir)
            found.append(subprocess.run([os.path.join(self.dir, "main")], capture_output=True, check=True).stdout)
        self.assertTrue(found)
        return found

    def test_embeds_a_packed_program(self):
        self.pack("--target", "ptx,ir")
        self.assertEqual(self.quern("embed", "saxpy.qnb", "-o", "kernels-1.c"), "")
        for got in self.built("kernels-1.c", "kernels_1"):
            self.assertEqual(got, self.read("saxpy.qnb"))

    def test_embeds_a_source(self):
        self.write("text.cl", SAXPY + "// \u00e4\n")
        self.quern("embed", "text.cl", "-o", "text.c", "--name", "my_text")
        for got in self.built("text.c", "my_text"):
            self.assertEqual(got, self.read("text.cl") + b"\0")

    def test_embeds_the_standard_input(self):
        self.assertEqual(self.quern("embed", "-", "-o", "in.c", stdin=SAXPY), "")
        for got in self.built("in.c", "in"):
            self.assertEqual(got, SAXPY.encode() + b"\0")
        self.quern("embed", "-", "-o", "packed.c", "--target", "ir", stdin=SAXPY)
        self.quern("embed", "-", "-o", "in.c", stdin="", status=RUN_FAILED, error="quern: embed: <stdin>: standard input: it is empty")

    def test_names_that_no_program_can_use(self):
        for name, why in (("int", "a keyword of C or C++"), ("class", "a keyword of C or C++"), ("_Bool", "reserved"),
                          ("__text", "reserved"), ("_text", "reserved"), ("main", "reserved")):
            self.quern("embed", "saxpy.cl", "-o", "x.c", "--name", name, status=USAGE, error="'%s' is %s" % (name, why))
        self.quern("embed", "saxpy.cl", "-o", "double.c", status=USAGE, error="'double' is a keyword of C or C++: give --name")
        self.quern("embed", "saxpy.cl", "-o", "double.c", "--name", "double_kernels")

    def test_no_compiler(self):
        """Machine code of the processor is made by a C compiler."""
        for args in ((), ("--target", "c,ir")):
            self.quern("compile", "saxpy.cl", "-o", "x.qnb", *args, status=RUN_FAILED, env={"QUERN_CC": "none"},
                       error="there is no C compiler for it: install one, or name the other targets: ptx,spirv,clc,ir")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--target", "ptx,spirv,clc,ir", env={"QUERN_CC": "none"})

    def test_architectures_of_other_targets(self):
        self.quern("compile", "saxpy.cl", "--target", "c", "--arch", "sm_80", status=USAGE,
                   error="'sm_80' is an architecture of ptx; the target is c")
        self.quern("compile", "saxpy.cl", "--dump-ir", "--arch", "sm_80", status=USAGE, error="the target is c")
        self.quern("compile", "saxpy.cl", "--reflect", "--arch", "sm_80", status=USAGE, error="'sm_80'")
        self.quern("compile", "saxpy.cl", "--target", "ptx", "--arch", "sm_80")
        self.quern("compile", "saxpy.cl", "--target", "ptx", "--dump-ir", "--arch", "sm_80")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--target", "c,ir", "--arch", "sm_80", status=USAGE,
                   error="'sm_80' is an architecture of ptx, which is not among the targets: c,ir")
        self.quern("compile", "saxpy.cl", "-o", "x.qnb", "--target", "ptx,ir", "--arch", "sm_80,native", status=USAGE,
                   error="'native' is a processor, and c is not among the targets: ptx,ir")

    def test_packs_and_embeds(self):
        self.pack("--target", "spirv,ir")
        self.quern("embed", "saxpy.cl", "--target", "spirv,ir", "-o", "k.c")
        for got in self.built("k.c", "k"):
            self.assertEqual(got, self.read("saxpy.qnb"))


if __name__ == "__main__":
    unittest.main()
