"""Programs of several files: `quern run A.cl B.cl ...` and its like."""
import json
import os
import unittest

from support import COMPILE_ERROR, RUN_FAILED, USAGE, ToolTest

MAIN = """#include "shared.h"
#define N 2
float scaled(float x, struct scale by);
kernel void apply(global float *x) {
    struct scale by = {N, 1};
    x[get_global_id(0)] = scaled(x[get_global_id(0)], by);
}
"""
HELPER = """#include "shared.h"
#ifndef N
#define N 100
#endif
static __global int calls = N;
float scaled(float x, struct scale by) { return x * by.factor + by.add + calls; }
kernel void helped(global float *x) { x[0] = N; }
"""
SHARED = "#pragma once\nstruct scale { float factor, add; };\n"
ARGS = ("--device", "cpu", "--kernel", "apply", "--global", "2", "buf:float:2=1,2@-")
RESULT = "x = 103, 105\n"


class Files(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("main.cl", MAIN)
        os.mkdir(os.path.join(self.dir, "lib"))
        self.write("lib/helper.cl", HELPER)
        self.write("shared.h", SHARED)
        self.write("lib/shared.h", SHARED)

    def test_run(self):
        for _ in range(2):  # compiled, and from the cache
            self.assertEqual(self.quern("run", "main.cl", "lib/helper.cl", *ARGS), RESULT)
        self.assertEqual(self.quern("run", *ARGS[:-1], "lib/helper.cl", "main.cl", ARGS[-1]), RESULT)
        self.assertEqual(self.quern("run", "main.cl", "lib/helper.cl", "-D", "N=2", *ARGS), "x = 5, 7\n")
        self.write("lib/helper.cl", HELPER.replace("100", "200"))
        self.assertEqual(self.quern("run", "main.cl", "lib/helper.cl", *ARGS), "x = 203, 205\n")

    def test_standard_input(self):
        self.assertEqual(self.quern("run", "-", "lib/helper.cl", *ARGS, stdin=MAIN), RESULT)
        self.assertEqual(self.quern("run", "main.cl", "-", *ARGS, stdin=HELPER), RESULT)
        self.quern("run", "-", "main.cl", "-", *ARGS, stdin=HELPER, status=USAGE, error="'-' is given twice")

    def test_messages(self):
        self.write("wrong.cl", "\nint wrong(int x) { return y; }\n")
        self.quern("run", "main.cl", "lib/helper.cl", "wrong.cl", *ARGS, status=COMPILE_ERROR,
                   error="wrong.cl:2:27: error: use of undeclared identifier 'y'\nint wrong(")
        self.quern("run", "main.cl", *ARGS, status=COMPILE_ERROR,
                   error="main.cl:6:27: error: function 'scaled' is called but never defined")
        self.write("twice.cl", "kernel void apply(global float *x) {}\n")
        self.quern("compile", "main.cl", "lib/helper.cl", "twice.cl", "--target", "c", status=COMPILE_ERROR,
                   error="twice.cl:1:13: error: redefinition of 'apply'\nkernel void apply(global float *x) {}\n"
                   "            ^\nmain.cl:4:13: note: previous definition is here")
        self.quern("run", "main.cl", "missing.cl", *ARGS, status=RUN_FAILED,
                   error="quern: run: main.cl, missing.cl: cannot read 'missing.cl'")
        self.quern("run", "main.cl", "main.cl", *ARGS, status=USAGE, error="'main.cl' is given twice")
        self.quern("run", "main.cl", "helper.txt", *ARGS, status=USAGE, error="helper.txt")

    def test_what_runs_names_its_file(self):
        self.write("k.cl", "int put(global int *, int);\nkernel void k(global int *x) { put(x, x[0]); }\n")
        self.write("put.cl", "\n\nint put(global int *x, int i) { x[i] = 1; return i; }\n")
        run = ("run", "k.cl", "put.cl", "--device", "cpu", "--global", "1")
        self.quern(*run, "buf:int:1=1000", env={"QUERN_CC": "none"}, status=RUN_FAILED,
                   error="quern: run: k.cl, put.cl: kernel k: put.cl:3: work-item 0 writes")
        _, lines = self.quern_and_log(*run, "buf:int:1", env={"QUERN_LOG": "debug"})
        self.assertEqual(len([line for line in lines if "cpu: k.cl and 1 more: cache" in line]), 1, lines)

    def test_data_may_be_called_cl(self):
        self.write("data.cl", b"\x01\0\0\0\x02\0\0\0")
        self.write("k.cl", "kernel void k(global int *x, global int *y) { y[0] = x[1]; }\n")
        self.assertEqual(self.quern("run", "k.cl", "--device", "cpu", "--global", "1", "file:data.cl", "buf:int:1@-"),
                         "y = 2\n")

    def test_compile(self):
        text = self.quern("compile", "main.cl", "lib/helper.cl", "--target", "c", "--debug")
        self.assertIn('#line 6 "main.cl"', text)
        self.assertIn('#line 6 "lib/helper.cl"', text)
        shown = json.loads(self.quern("compile", "main.cl", "lib/helper.cl", "--reflect"))
        self.assertEqual([k["name"] for k in shown["kernels"]], ["apply", "helped"])
        self.assertEqual(shown["state_size"], 4)
        self.quern("compile", "main.cl", "lib/helper.cl", "--target", "c", "-o", "lib/helper.cl", status=USAGE,
                   error="would overwrite the source")

    def test_pack(self):
        self.quern("compile", "main.cl", "lib/helper.cl", "-o", "both.qnb", "--target", "ir,ptx")
        self.assertEqual(self.quern("run", "both.qnb", *ARGS), RESULT)
        self.quern("run", "main.cl", "both.qnb", *ARGS, status=USAGE, error="both.qnb")
        self.quern("compile", "main.cl", "both.qnb", "--reflect", status=USAGE,
                   error="'both.qnb' is a packed program, which is no file of another")

    def test_embed(self):
        self.quern("embed", "main.cl", "lib/helper.cl", "-o", "k.c", status=USAGE, error="several files are embedded packed")
        self.quern("embed", "main.cl", "lib/helper.cl", "-o", "k.c", "--target", "ir")
        self.assertIn("qn_program_desc.binary", self.read("k.h").decode())
        self.quern("embed", "main.cl", "k.c", "--target", "ir", "-o", "k.c", status=USAGE, error="would overwrite")

    def test_chain(self):
        self.write("two.qnc", "buffer data buf:float:2=1,2@-\n"
                   "run main.cl lib/helper.cl --kernel apply --global 2 data\n"
                   "run main.cl lib/helper.cl --kernel helped --global 1 data\n")
        self.assertEqual(self.quern("run", "two.qnc", "--device", "cpu"), "data = 100, 105\n")
        self.quern("run", "two.qnc", "main.cl", status=USAGE, error="a chain names its files itself")

    def test_compare(self):
        shown = self.quern("run", "main.cl", "lib/helper.cl", *ARGS[2:], "--device", "cpu,cpu", "--compare")
        self.assertIn("cpu", shown)


if __name__ == "__main__":
    unittest.main()
