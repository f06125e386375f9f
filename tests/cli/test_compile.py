"""quern compile: targets, dumps of the IR, reflection, options."""
import json
import os
import re
import unittest

from support import COMPILE_ERROR, RUN_FAILED, SAXPY, SOURCES, USAGE, ToolTest


class Compile(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("saxpy.cl", SAXPY)

    def test_c(self):
        text = self.quern("compile", "saxpy.cl", "--target", "c")
        self.assertIn("void qn_kernel_saxpy(", text)
        self.assertEqual(self.quern("compile", "saxpy.cl", "--target=c", "-o", "saxpy.c"), "")
        self.assertEqual(self.read("saxpy.c").decode(), text)
        self.assertEqual(self.quern("compile", "saxpy.cl", "--target", "c", "-o", "-"), text)

    def test_a_source_is_not_overwritten(self):
        self.write("one.c", SAXPY)
        os.link(os.path.join(self.dir, "one.c"), os.path.join(self.dir, "two.c"))
        self.quern("compile", "saxpy.cl", "--target", "c", "-o", "./saxpy.cl", status=USAGE,
                   error="would overwrite the source")
        self.quern("embed", "one.c", "-o", "two.c", status=USAGE, error="would overwrite the file itself")
        self.assertEqual(self.read("saxpy.cl").decode(), SAXPY)
        self.assertEqual(self.read("one.c").decode(), SAXPY)

    def test_few_kernels_are_not_for_webgpu(self):
        """Below 3 %, each with a reason; tests named webgpu run the others."""
        kernels = list((SOURCES / "tests" / "cl").glob("*.cl"))
        reasons = [re.findall(r"(?m)^// skip: webgpu(.*)$", path.read_text()) for path in kernels]
        left_out = [found for found in reasons if found]
        self.assertLess(len(left_out), 0.03 * len(kernels))
        for found in left_out:
            self.assertGreater(len(found[0]), 10)

    def test_ptx(self):
        text = self.quern("compile", "saxpy.cl", "--target", "ptx")
        self.assertRegex(text, r"(?m)^\.version \d\.\d$")
        self.assertRegex(text, r"(?m)^\.target sm_60$")
        self.assertIn(".entry saxpy(", text)
        self.assertIn("fma.rn.f32", text)
        self.assertEqual(self.quern("compile", "saxpy.cl", "--target=ptx", "-o", "saxpy.ptx"), "")
        self.assertEqual(self.read("saxpy.ptx").decode(), text)

    def test_private_memory(self):
        source = ("kernel void big(global int *x, int n) {\n    int a[%d];\n    for (int i = 0; i < n; i++) a[i * 7 %% n] = i;\n"
                  "    x[0] = a[n / 2];\n}\n")
        self.write("fits.cl", source % 65536)
        self.write("big.cl", source % 65537)
        for target in ("ptx", "spirv", "clc"):
            self.quern("compile", "fits.cl", "--target", target, "-o", "out")
            self.quern("compile", "big.cl", "--target", target, status=RUN_FAILED, error="the private variables of kernel 'big' take "
                       "262148 bytes; a work-item on this device has 262144 (big.cl:2)")
        self.quern("compile", "big.cl", "--target", "c", "-o", "out")

    def test_architectures(self):
        text = self.quern("compile", "saxpy.cl", "--target", "ptx", "--arch", "sm_90")
        self.assertRegex(text, r"(?m)^\.target sm_(60|90)$")
        for arch in ("sm_20", "90", "sm_9x", "gfx90a", ""):
            self.quern("compile", "saxpy.cl", "--target", "ptx", "--arch", arch, status=USAGE,
                       error="no architecture '%s'; there are sm_60 to sm_121" % arch)

    def test_spirv(self):
        self.quern("compile", "saxpy.cl", "--target", "spirv", "-o", "saxpy.spv")
        raw = self.read("saxpy.spv")
        self.assertEqual(raw[:4], b"\x03\x02\x23\x07")
        self.assertEqual(len(raw) % 4, 0)
        self.assertIn(b"saxpy\0", raw)

    def test_clc(self):
        text = self.quern("compile", "saxpy.cl", "--target", "clc")
        self.assertIn("__kernel void", text)
        self.assertIn("fma(", text)

    def test_wgsl(self):
        text = self.quern("compile", "saxpy.cl", "--target", "wgsl")
        self.assertIn("@compute @workgroup_size(local_x, local_y, local_z)", text)
        self.assertRegex(text, r"var<storage, read> x_of_\w*saxpy: array<f32>;")
        self.assertRegex(text, r"var<storage, read_write> y_of_\w*saxpy: array<f32>;")
        self.assertRegex(text, r"// params_of_\w*saxpy, in bytes: 0 uint n, 4 float a, \d+ limit_x,")
        self.assertIn("let global_x = global_id.x + group_id.y * ", text)  # long grids come in rows
        self.write("flat.cl", "kernel void k(global int *x) { x[get_global_id(0)] = get_global_id(1); }\n")
        self.assertNotIn("global_x", self.quern("compile", "flat.cl", "--target", "wgsl"))
        self.write("rounds.cl", "kernel void k(global int *x) {\n    for (int i = 0; i < x[0]; i++) barrier(CLK_GLOBAL_MEM_FENCE);\n}\n")
        self.assertIn("workgroupUniformLoad", self.quern("compile", "rounds.cl", "--target", "wgsl"))
        self.write("once.cl", "kernel void k(global int *x, local int *l) {\n    l[0] = x[0];\n"
                              "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n    x[1] = l[0];\n}\n")
        once = self.quern("compile", "once.cl", "--target", "wgsl")
        self.assertIn("workgroupBarrier", once)
        self.assertNotIn("storageBarrier", once)  # nothing has been written
        self.write("turns.cl", "kernel void k(global int *x, int n) {\n    for (int i = 0; i < n; i++) {\n"
                               "        barrier(CLK_GLOBAL_MEM_FENCE);\n        x[i + get_local_id(0)] += x[i];\n    }\n}\n")
        self.assertIn("storageBarrier", self.quern("compile", "turns.cl", "--target", "wgsl"))
        self.write("fours.cl", "kernel void k(global float4 *x, local float4 *l) {\n    size_t i = get_local_id(0);\n"
                               "    l[i + 1] = x[i];\n    barrier(CLK_LOCAL_MEM_FENCE);\n    x[i] = l[i];\n}\n")
        fours = self.quern("compile", "fours.cl", "--target", "wgsl")
        self.assertRegex(fours, r"let x_\d+ = .* >> 4u;")  # pointers count vectors
        self.assertRegex(fours, r"x_of_qn_kernel_k\[v\d+\] = ")
        self.assertRegex(fours, r"let l_\d+ = 0u;")  # the first __local parameter's place is known
        self.write("joined.cl", "kernel void k(global int *x) {\n    int i = get_local_id(0);\n    x[i] = sub_group_reduce_add(x[i]);\n}\n")
        self.assertNotIn("enable", self.quern("compile", "joined.cl", "--target", "wgsl"))  # through local memory
        joined = self.quern("compile", "joined.cl", "--target", "wgsl", "--arch", "subgroups")
        self.assertTrue(joined.startswith("enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n"))
        self.assertRegex(joined, r"let v\d+ = subgroupAdd\(v\d+\);")
        self.assertIn("@workgroup_size(local_x * local_y * local_z)", joined)
        self.assertNotIn("enable", self.quern("compile", "saxpy.cl", "--target", "wgsl", "--arch", "subgroups"))
        self.write("parted.cl", "kernel void k(global int *x) {\n    int i = get_local_id(0);\n"
                                "    if (x[i]) x[i] = sub_group_non_uniform_reduce_add(x[i]);\n}\n")
        self.assertIn("subgroupAdd", self.quern("compile", "parted.cl", "--target", "wgsl", "--arch", "subgroups"))
        self.quern("compile", "parted.cl", "--target", "wgsl", status=RUN_FAILED, error="(parted.cl:3)")
        self.write("meets.cl", "kernel void k(global int *x) {\n    x[0] += sub_group_reduce_add(1);\n    if (get_local_id(0) < 9)\n"
                               "        sub_group_barrier(CLK_GLOBAL_MEM_FENCE);\n}\n")
        self.quern("compile", "meets.cl", "--target", "wgsl", "--arch", "subgroups", status=RUN_FAILED,
                   error="(meets.cl:4)")
        self.write("sized.cl", "__attribute__((intel_reqd_sub_group_size(16)))\nkernel void k(global int *x) { x[0] = sub_group_reduce_add(1); }\n")
        self.assertIn("var<workgroup>", self.quern("compile", "sized.cl", "--target", "wgsl", "--arch", "subgroups"))
        self.quern("compile", "joined.cl", "--target", "wgsl", "--arch", "sm_80", status=USAGE, error="there are f16 and subgroups")
        self.halves()
        self.write("locals.cl", "kernel void k(global int *x, local int *a, local long *b, local char *c) {\n"
                                "    a[0] = x[0];\n    b[0] = x[1];\n    c[0] = 1;\n    x[2] = a[0] + b[0] + c[0];\n}\n")
        self.quern("compile", "locals.cl", "--target", "wgsl", "-o", "locals.qnb")
        self.assertIn('"name": "k"', self.quern("compile", "locals.qnb", "--reflect"))  # one length for three
        self.write("chased.cl", "kernel void k(global long *x) {\n    *(global int *)x[0] = 1;\n}\n")
        self.write("wide.cl", "kernel void k(global double *x) { x[0] = 1; }\n")
        self.quern("compile", "wide.cl", "--target", "wgsl", status=COMPILE_ERROR, error="wide.cl:1:")
        self.quern("compile", "chased.cl", "--target", "wgsl", status=RUN_FAILED, error="WGSL has no addresses")

    def halves(self):
        """f16 by WGSL's extension, where all that a buffer holds is taken for it; else its bits."""
        self.write("halves.cl", "kernel void k(global const half *x, global half *y) {\n    size_t i = get_global_id(0);\n"
                                "    y[i] = x[i] * 2.0h;\n}\n")
        self.write("bits.cl", "kernel void k(global half *x) {\n    size_t i = get_global_id(0);\n    x[i] = fabs(x[i]) * 2.0h;\n}\n")
        self.assertNotIn("f16", self.quern("compile", "halves.cl", "--target", "wgsl"))
        text = self.quern("compile", "halves.cl", "--target", "wgsl", "--arch", "subgroups,f16")
        self.assertTrue(text.startswith("enable f16;\noverride"))
        self.assertRegex(text, r"var<storage, read_write> y_of_\w*: array<f16>;")
        self.assertRegex(text, r"let v\d+ = f16\(v\d+\);")
        self.assertNotIn("atomic", text)
        bits = self.quern("compile", "bits.cl", "--target", "wgsl", "--arch", "f16")
        self.assertIn("unpack2x16float", bits)
        self.assertIn("array<atomic<u32>>", bits)
        for arch in ("f16,", "f16,f64", "", ","):
            self.quern("compile", "halves.cl", "--target", "wgsl", "--arch", arch, status=USAGE, error="there are f16 and subgroups")

    def hidden(self, body):
        """How many numbers are hidden from a driver that rewrites sums, in WGSL."""
        self.write("sums.cl", "kernel void k(global const float *x, global const float4 *p, global float *out, int n) {\n    " + body + "\n}\n")
        text = self.quern("compile", "sums.cl", "--target", "wgsl", "--cl-options", "-qn-tune=hidden-sums")
        return len(re.findall(r"\(nothing\)|\| nothing", text))

    def test_wgsl_hides_few_sums(self):
        self.assertEqual(self.hidden(  # n-body
            "float4 me = p[n], sum = 0.0f;\n    for (int i = 0; i < n; i++) {\n        float4 d = p[i] - me;\n"
            "        float f = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + x[0]), g = p[i].w * f * f * f;\n"
            "        sum.x += d.x * g; sum.y += d.y * g; sum.z += d.z * g;\n    }\n    out[0] = sum.x + sum.y * sum.z;"), 0)
        self.assertEqual(self.hidden("out[0] = x[0] * x[1] * x[0] + x[2] * x[3] - x[4];"), 0)
        kahan = ("float s = 0.0f, c = 0.0f;\n    for (int i = 0; i < n; i++) {\n        float y = x[i] - c, t = s + y;\n"
                 "        c = (t - s) - y;\n        s = t;\n    }\n    out[0] = s;")
        for body in (kahan, "out[0] = (x[0] + 12582912.0f) - 12582912.0f;", "float a = x[0], b = x[1], s = a + b; out[0] = s - a;",
                     "float2 s = p[0].xy + p[1].zw; out[0] = s.y - p[1].w;",
                     "float s = x[n] + out[n]; out[n] = s; out[n + 1] = s - x[n];",  # one load to a driver that knows the bindings
                     "\n#pragma OPENCL FP_CONTRACT OFF\n    float b = x[1]; out[0] = x[0] * b + x[2] * b;",
                     "out[0] = x[0] * 0x1p100f * x[1];", "out[0] = x[0] - floor(x[0]);", "float r = sqrt(x[0]); out[0] = r * r;",
                     "out[0] = fma(x[0], 3.0f, 0.0f);", "out[0] = x[n] / x[n];", "float s = x[1]; out[0] = (x[0] * s) / (s * x[0]);",
                     "float r = x[n]; out[0] = fma(r * 0.5f, x[1], x[2] * r);"):
            self.assertGreater(self.hidden(body), 0, body)

    def test_wgsl_hides_choices(self):
        for body in ("float a = x[0]; out[0] = a < 1.0f ? 1.0f : a;",  # 1 of NaN, were it a maximum
                     "float4 a = p[0]; *(global float4 *)out = a < p[1] ? p[1] : a;",
                     "out[0] = -fma(x[0], x[1], x[2]);", "out[0] = -(x[0] + x[1]);",
                     "*(global float4 *)out = -(float4)(x[0], x[1], p[0].x + p[0].y, x[3]);",
                     "*(global float4 *)out = fma((float4)(x[0], -x[1], x[2], x[3]), p[0], p[1] + p[2]);"):
            self.assertGreater(self.hidden(body), 0, body)
        self.assertEqual(self.hidden("out[0] = x[0] < 1.0f ? x[1] : x[2];"), 0)
        self.assertEqual(self.hidden("out[0] = -x[0] * x[1];"), 0)
        self.write("rest.cl", "kernel void k(global int *x) { x[0] = x[1] % x[2]; }\n")
        self.assertIn("x - x / y * y", self.quern("compile", "rest.cl", "--target", "wgsl"))

    def test_unknown_targets(self):
        self.quern("compile", "saxpy.cl", "--target", "cobol", status=USAGE, error="no target 'cobol'")

    def test_errors_come_before_targets(self):
        self.write("bad.cl", "kernel void k(global int *x) { x[0] = alpha; }")
        for target in ("c", "ptx", "spirv", "clc", "ir"):
            self.quern("compile", "bad.cl", "--target", target, status=COMPILE_ERROR, error="bad.cl:1:39: error: ")

    def test_dump(self):
        last = self.quern("compile", "saxpy.cl", "--dump-ir")
        self.assertIn("kernel @saxpy(", last)
        first = self.quern("compile", "saxpy.cl", "--dump-ir=lower")
        self.assertIn("var ", first)
        self.assertNotIn("var ", last)
        every = self.quern("compile", "saxpy.cl", "--dump-ir=all")
        self.assertIn("; after lower\n", every)
        self.assertIn("; after mem2reg\n", every)
        self.quern("compile", "saxpy.cl", "--dump-ir=magic", status=USAGE, error="magic")

    def test_reflection(self):
        self.write("two.cl", """
            typedef struct { float4 a; int b; } pair;
            kernel __attribute__((reqd_work_group_size(8, 4, 1)))
            void first(global const float4 *restrict x, local int *tmp, pair p, uchar c) { tmp[0] = p.b + c + (int)x[0].x; }
            kernel void second(constant int *table, global double *out) { out[0] = table[0]; }""")
        found = json.loads(self.quern("compile", "two.cl", "--reflect"))
        kernels = {k["name"]: k for k in found["kernels"]}
        self.assertEqual(set(kernels), {"first", "second"})
        params = kernels["first"]["params"]
        self.assertEqual([p["name"] for p in params], ["x", "tmp", "p", "c"])
        self.assertEqual([p["kind"] for p in params], ["buffer", "local", "struct", "value"])
        self.assertEqual(params[2]["size"], 32)
        self.assertEqual(params[3]["size"], 1)
        self.assertEqual(kernels["first"]["required_local_size"], [8, 4, 1])

    def test_errors_are_all_shown(self):
        self.write("bad.cl", "kernel void k(global int *x) {\n    x[0] = alpha;\n    x[1] = beta;\n}\n")
        done = self.quern("compile", "bad.cl", "--target", "c", status=COMPILE_ERROR, error="bad.cl:2:12: error: ")
        self.assertEqual(done, "")
        self.quern("compile", "bad.cl", "--target", "c", status=COMPILE_ERROR, error="bad.cl:3:12: error: ")

    def test_warnings_do_not_stop(self):
        self.write("warn.cl", "kernel void k(global int *x) {\n    x[0] + 1;\n}\n")
        self.quern("compile", "warn.cl", "--target", "c", error="warn.cl:2:")
        self.quern("compile", "warn.cl", "--target", "c", "--cl-options", "-w")
        self.quern("compile", "warn.cl", "--target", "c", "--cl-options=-Werror", status=COMPILE_ERROR, error="warn.cl:2:")

    def test_options(self):
        os.mkdir(os.path.join(self.dir, "in c"))
        self.write("in c/value.h", "#define VALUE 42\n")
        self.write("macro.cl", "#include <value.h>\nkernel void k(global int *x) { x[0] = VALUE + MORE + ONE; }")
        for forms in (["-D", "MORE=7", "-D", "ONE", "-I", "in c"], ["-DMORE=7", "-DONE=1", "-Iin c"]):
            self.assertIn("i32 50", self.quern("compile", "macro.cl", "--dump-ir", *forms))
        self.quern("compile", "macro.cl", "--dump-ir", status=COMPILE_ERROR, error="value.h")
        self.quern("compile", "saxpy.cl", "--dump-ir", "--cl-options", "-cl-nonsense", error="-cl-nonsense", status=USAGE)

    def test_levels(self):
        self.assertIn("var ", self.quern("compile", "saxpy.cl", "--dump-ir", "--opt", "0"))
        self.assertNotIn("var ", self.quern("compile", "saxpy.cl", "--dump-ir", "--opt=1"))
        self.assertIn("#line 3 ", self.quern("compile", "saxpy.cl", "--target", "c", "--debug"))
        self.quern("compile", "saxpy.cl", "--dump-ir", "--opt", "3", status=USAGE, error="--opt is 0, 1 or 2")

    def test_wrong_use(self):
        for args, error in ((["saxpy.cl"], "--target"), (["--target", "c"], "no file"), (["saxpy.cl", "--traget", "c"], "--traget"),
                            (["saxpy.cl", "saxpy.cl", "--target", "c"], "given twice"), (["saxpy.cl", "--target"], "--target needs"),
                            (["saxpy.cl", "--target", "c", "-o"], "-o needs"), (["saxpy.cl", "-D"], "-D needs")):
            self.quern("compile", *args, status=USAGE, error=error)
        self.quern("compile", "gone.cl", "--target", "c", status=RUN_FAILED, error="gone.cl")
        self.quern("compile", ".", "--target", "c", status=RUN_FAILED, error=".")
        self.quern("compile", "saxpy.cl", "--target", "c", "-o", "no/such/place.c", status=RUN_FAILED, error="no/such/place.c")

    def test_hint_where_the_address_space_is_not_known(self):
        """It names the question that is checked, not the cast that promises."""
        source = "kernel void k(global int *x, local int *y, int n) { int *p = n ? x : y; global int *g = p; *g = 1; }\n"
        self.quern("compile", self.write("k.cl", source), "--cl-options", "-cl-std=CL3.0", "--reflect", status=COMPILE_ERROR,
                   error="hint: to_global(p) asks whether it points there")

    def test_required_sizes(self):
        source = "kernel void k(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] = 1; }"
        kernel = json.loads(self.quern("compile", self.write("k.cl", source), "--reflect"))["kernels"][0]
        self.assertEqual(kernel["params"][0]["required_sizes"], ["(get_global_id(0) << 2) + 4 if get_global_id(0) < n"])
        self.assertNotIn("required_sizes", kernel["params"][1])
        source = "kernel void k(global int *x, global int *y) { x[y[get_global_id(0)]] = 1; }"
        kernel = json.loads(self.quern("compile", self.write("k.cl", source), "--reflect"))["kernels"][0]
        self.assertEqual(kernel["params"][0]["required_sizes"], ["0 + 4"])


if __name__ == "__main__":
    unittest.main()
