"""quern run: arguments of every kind, files in and out, options, messages."""
import json
import os
import re
import struct
import subprocess
import unittest

from support import COMPILE_ERROR, OK, QUERN, RUN_FAILED, SAXPY, USAGE, DIFFERENT, ToolTest, npy, png, png_size, read_npy

COPY = "kernel void copy(global const T *in, global T *out) { out[get_global_id(0)] = in[get_global_id(0)]; }"


def is_sanitized():
    with open(QUERN, "rb") as file:
        return b"__asan_init" in file.read()


class Values(ToolTest):
    def test_saxpy(self):
        self.assertEqual(self.run_kernel(SAXPY, "--global", 4, "int:4", "float:2", "buf:float:4=1,2,3,4", "buf:float:4=1@-"),
                         "y = 3, 5, 7, 9\n")

    def test_scalars_of_every_type(self):
        for kind, given, shown in (("char", "-128", "-128"), ("uchar", "0xff", "255"), ("short", "-2", "-2"),
                                   ("ushort", "65535", "65535"), ("int", "-0x10", "-16"), ("uint", "4294967295", "4294967295"),
                                   ("long", "-9223372036854775808", "-9223372036854775808"),
                                   ("ulong", "18446744073709551615", "18446744073709551615"),
                                   ("float", "0.1", "0.100000001"), ("float", "nan", "nan"), ("float", "-inf", "-inf"),
                                   ("float", "1e-45", "1.40129846e-45"), ("double", "0.1", "0.10000000000000001"),
                                   ("float", "2.5f", "2.5"), ("half", "65504", "65504"), ("half", "5.9604645e-8", "5.96046448e-08")):
            source = "kernel void k(%s v, global %s *out) { out[0] = v; }" % (kind, kind)
            self.assertEqual(self.run_kernel(source, "--global", 1, "%s:%s" % (kind, given), "buf:%s:1@-" % kind),
                             "out = %s\n" % shown, kind)

    def test_size_t(self):
        self.assertEqual(self.run_kernel("kernel void k(global size_t *out) { out[0] = sizeof(size_t); }", "--global", 1,
                                         "buf:size_t:1@-"), "out = 8\n")

    def test_vectors(self):
        source = "kernel void k(float4 v, global float4 *out) { out[0] = v.wzyx; }"
        self.assertEqual(self.run_kernel(source, "--global", 1, "float4:1,2,3,4", "buf:float4:1@-"), "out = 4, 3, 2, 1\n")
        self.assertEqual(self.run_kernel(source, "--global", 1, "float4:7", "buf:float4:1@-"), "out = 7, 7, 7, 7\n")
        for lanes in (2, 3, 8, 16):
            source = "kernel void k(int%d v, global int%d *out) { out[0] = v + 1; }" % (lanes, lanes)
            given, shown = (", ".join(str(i + d) for i in range(lanes)) for d in (0, 1))
            self.assertEqual(self.run_kernel(source, "--global", 1, "int%d:%s" % (lanes, given.replace(" ", "")),
                                             "buf:int%d:1@-" % lanes), "out = %s\n" % shown)

    def test_three_vectors_take_four_places(self):
        source = """kernel void k(global const float3 *in, global float3 *out, global int *size) {
            int i = get_global_id(0); out[i] = in[i] * 2; if (i == 0) size[0] = sizeof(float3); }"""
        self.assertEqual(self.run_kernel(source, "--global", 2, "buf:float3:2=1,2,3,4,5,6", "buf:float3:2@-", "buf:int:1@-"),
                         "out = 2, 4, 6, 8, 10, 12\nsize = 16\n")

    def test_values_repeat(self):
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 5, "buf:int:5=1,2", "buf:int:5@-"), "out = 1, 2, 1, 2, 1\n")
        self.assertEqual(self.run_kernel(COPY, "-DT=int2", "--global", 3, "buf:int2:3=1,2,3", "buf:int2:3@-"),
                         "out = 1, 2, 3, 1, 2, 3\n")

    def test_structs_are_raw_bytes(self):
        source = """typedef struct { int a; uchar b; } s;
            kernel void k(s v, global int *out) { out[0] = v.a + v.b; }"""
        raw = struct.pack("<iBxxx", 1000, 7).hex()
        self.assertEqual(self.run_kernel(source, "--global", 1, "raw:" + raw, "buf:int:1@-"), "out = 1007\n")
        self.run_kernel(source, "--global", 1, "raw:00", "buf:int:1@-", status=USAGE, error="'s v'")
        self.run_kernel(source, "--global", 1, "int:5", "buf:int:1@-", status=USAGE, error="raw:HEX")

    def test_buffers_of_structs(self):
        self.write("params.wgsl", """struct Params { rows: u32, scale: f32, at: vec2<i32> }
            @group(0) @binding(0) var<uniform> p: Params;
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(1) fn k() { out[0] = f32(p.rows) * p.scale + f32(p.at.x * p.at.y); }""")
        run = lambda values, **how: self.quern("run", "params.wgsl", "--global", 1, "buf:uint:4=" + values, "buf:float:1@-", **how)
        self.assertEqual(run("64,float:0.5,int:-1,int:2"), "out = 30\n")
        for values in ("64,double:0.5", "64,float2:0.5", "64,cat:1", "64,float:", "64,int:x", "64,:1"):
            run(values, status=USAGE, error="a value is not a number of that type")
        self.run_kernel("kernel void k(float v, global int *out) {}", "--global", 1, "float:uint:5", "buf:int:1", status=USAGE,
                        error="a value is not a number of that type")

    def test_local_and_null(self):
        source = """kernel void k(local int *tmp, global int *maybe, global int *out) {
            int i = get_local_id(0); tmp[i] = i; barrier(CLK_LOCAL_MEM_FENCE);
            out[i] = maybe ? -1 : tmp[3 - i]; }"""
        self.assertEqual(self.run_kernel(source, "--global", 4, "--local", 4, "local:16", "null", "buf:int:4@-"), "out = 3, 2, 1, 0\n")

    def test_null_that_is_followed(self):
        """Refused where that is sure; else the launch ends with a sentence, interpreted or compiled."""
        source = """kernel void sure(global int *x, global int *y) { x[get_global_id(0)] = y[get_global_id(0)]; }
            kernel void led(global int *x, global int *y) { if (x[get_global_id(0)] == 0) y[0] = 1; }"""
        args = ("--global", 4, "--device", "cpu", "buf:int:4", "null")
        self.run_kernel(source, "--kernel", "sure", *args, status=USAGE,
                        error="parameter 2 of sure, 'int* y': it is null, and the kernel accesses it")
        self.run_kernel(source, "--kernel", "led", *args, status=RUN_FAILED, env={"QUERN_CC": "none"},
                        error="kernel.cl:2: work-item 0 writes 4 bytes through 'y', which is null")
        if is_sanitized():
            self.skipTest("the sanitizer tells of the fault itself")
        self.run_kernel(source, "--kernel", "led", *args, "--time", 1, status=RUN_FAILED,
                        error="quern: run: kernel.cl: kernel led: an access by way of a null pointer")

    def test_access_of_a_driver_on_the_processor(self):
        """It ends the process, with a sentence."""
        if "software" not in self.quern("devices").split("vulkan:0")[-1].split("\n")[0]:
            self.skipTest("no software Vulkan device")
        source = "kernel void far(global int *x, global int *y) { y[x[get_global_id(0)] + 2000000000] = 1; }"
        self.run_kernel(source, "--global", 4, "--device", "vulkan:0", "buf:int:4", "buf:int:4", status=RUN_FAILED,
                        error="quern: run: kernel.cl: the process accesses what is no memory")

    def test_wrong_values(self):
        source = "kernel void k(uchar v, global int *out) { out[0] = v; }"
        for arg in ("uchar:256", "uchar:x", "uchar:", "uchar:1.5", "uchar:1,2", "int:5", "float:1", "byte:1", "5", "uchar4:1",
                    "local:4", "buf:int:1", "raw:zz", "raw:123", "raw:", "float:1e39", "half:70000",
                    "double:1e400"):
            self.run_kernel(source, "--global", 1, arg, "buf:int:1", status=USAGE, error="'%s'" % arg)
        for arg in ("buf:int:0", "buf:int", "buf:int:-1", "buf:cat:1", "buf:int:1=", "buf:int:1=1,2", "buf:int:1=x", "buf:int:99999999999999999999",
                    "buf+rw:int:1", "buf+ro+wo:int:1", "buf+uninit:int:1=3", "buf:int:1@", "file:x@", "buf:float:1=1e39", "local:0", "local:x", "int:1"):
            self.run_kernel(source, "--global", 1, "uchar:1", arg, status=USAGE, error="'%s'" % arg)
        self.run_kernel(source, "--global", 1, "uchar:1", status=USAGE, error="takes 2 arguments, 1")
        self.run_kernel(source, "--global", 1, "uchar:1", "buf:int:1", "int:1", status=USAGE, error="takes 2 arguments, 3")

    def test_small_floats(self):
        for kind, given, shown in (("bf16", "1.5,-0x1p-133,3.389e38,inf,nan,257", "1.5, -9.18354962e-41, 3.38953139e+38, inf, nan, 256"),
                                   ("e4m3", "1.5,-0x1p-9,448,464,nan,17", "1.5, -0.001953125, 448, 448, nan, 16"),
                                   ("e5m2", "1.5,-0x1p-16,57344,inf,nan,5.1", "1.5, -1.52587891e-05, 57344, inf, nan, 5"),
                                   ("bf16x3", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18", ", ".join(map(str, range(1, 19)))),
                                   ("qn_e4m3x2", "1,2,3,4,5,6,7,8,9,10,11,12", ", ".join(map(str, range(1, 13))))):
            self.assertEqual(self.run_kernel(COPY, "-DT=qn_" + kind.replace("qn_", ""), "--global", 6, "buf:%s:6=%s" % (kind, given), "buf:%s:6@-" % kind),
                             "out = %s\n" % shown)
        for arg in ("buf:bf16:6=1e39", "buf:e4m3:6=480", "buf:e4m3:6=1e9", "buf:e5m2:6=61440", "buf:bf162:6", "buf:bf16x:6", "buf:bf16x5:6", "buf:e4m34:6"):
            self.run_kernel(COPY, "-DT=qn_bf16", "--global", 6, arg, "buf:bf16:6", status=USAGE, error="'%s'" % arg)
        self.run_kernel(COPY, "-DT=half", "--global", 2, "buf:half:2", "buf:bf16:2@-", error="its elements are of type bf16")

    def test_flags(self):
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 2, "buf+ro:int:2=5", "buf+wo:int:2@-"), "out = 5, 5\n")
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 2, "buf+ro:int:2=5", "buf+wo+uninit:int:2@-"), "out = 5, 5\n")


class Files(ToolTest):
    def test_npy_types(self):
        for kind, dtype, form in (("char", "|i1", "b"), ("uchar", "|u1", "B"), ("short", "<i2", "h"), ("ushort", "<u2", "H"),
                                  ("int", "<i4", "i"), ("uint", "<u4", "I"), ("long", "<i8", "q"), ("ulong", "<u8", "Q"),
                                  ("half", "<f2", "e"), ("float", "<f4", "f"), ("double", "<f8", "d")):
            data = struct.pack("<6" + form, 1, 2, 3, 4, 5, 100)
            self.write("in.npy", npy(dtype, (2, 3), data))
            self.assertEqual(self.run_kernel(COPY, "-DT=" + kind, "--global", 6, "file:in.npy@same.npy", "buf:%s:6@out.npy" % kind), "")
            self.assertEqual(read_npy(self.read("out.npy")), (dtype, (6,), data, False))
            self.assertEqual(read_npy(self.read("same.npy")), (dtype, (2, 3), data, False))

    def test_npy_of_small_floats(self):
        for kind, dtype, form in (("bf16", "<V2", "H"), ("e4m3", "|V1", "B"), ("e5m2", "|V1", "B")):
            data = struct.pack("<6" + form, 1, 2, 3, 4, 5, 100)
            self.write("in.npy", npy(dtype, (2, 3), data))
            self.assertEqual(self.run_kernel(COPY, "-DT=qn_" + kind, "--global", 6, "file:in.npy@same.npy", "buf:%s:6@out.npy" % kind), "")
            self.assertEqual(read_npy(self.read("out.npy")), (dtype, (6,), data, False))
            self.assertEqual(read_npy(self.read("same.npy")), (dtype, (2, 3), data, False))

    def test_npy_in_place_keeps_the_shape(self):
        source = "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
        for shape in ((), (6,), (2, 3), (3, 1, 2)):
            count = 1 if shape == () else 6
            self.write("in.npy", npy("<f4", shape, struct.pack("<%df" % count, *range(count)), order=len(shape) == 2))
            self.run_kernel(source, "--global", count, "file:in.npy@out.npy")
            found = read_npy(self.read("out.npy"))
            self.assertEqual(found[1], shape)
            self.assertEqual(found[3], len(shape) == 2)
            self.assertEqual(struct.unpack("<%df" % count, found[2]), tuple(2.0 * i for i in range(count)))

    def test_npy_of_vectors(self):
        self.run_kernel(COPY, "-DT=float4", "--global", 2, "buf:float4:2=1,2,3,4", "buf:float4:2@out.npy")
        self.assertEqual(read_npy(self.read("out.npy"))[1], (2, 4))

    def test_npy_versions_and_byte_order(self):
        for version in (1, 2):
            self.write("in.npy", npy(">i4", (3,), struct.pack(">3i", 1, -2, 70000), version=version))
            self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 3, "file:in.npy", "buf:int:3@-"), "out = 1, -2, 70000\n")

    def test_broken_npy(self):
        good = npy("<f4", (4,), bytes(16))
        for raw in (b"", b"\x93NUMPY", good[:20], good[:-1], good.replace(b"<f4", b"<x4"), good.replace(b"(4, )", b"(9, )"),
                    good.replace(b"(4, )", b"4    "), good.replace(b"'<f4'", b"[   ]"), good[:8] + b"\x0a\0{'descr':'", good.replace(b"shape", b"shope")):
            self.write("in.npy", raw)
            self.run_kernel(COPY, "-DT=float", "--global", 1, "file:in.npy", "buf:float:1", status=RUN_FAILED, error="in.npy")

    def test_png(self):
        pixels = bytes(range(4 * 3 * 2 * 1))
        self.write("in.png", png(3, 2, pixels))
        source = """kernel void swap(global const uchar4 *in, global uchar4 *out) {
            int i = get_global_id(1) * get_global_size(0) + get_global_id(0); out[i] = in[i].zyxw; }"""
        self.run_kernel(source, "--global", "3,2", "file:in.png@copy.png", "buf:uchar4:6@out.png")
        self.assertEqual(png_size(self.read("out.png")), (3, 2, 8, 6))
        shown = self.run_kernel(COPY, "-DT=uchar4", "--global", 6, "file:out.png", "buf:uchar4:6@-")
        swapped = b"".join(bytes((pixels[i + 2], pixels[i + 1], pixels[i], pixels[i + 3])) for i in range(0, 24, 4))
        self.assertEqual(shown, "out = %s\n" % ", ".join(map(str, swapped)))
        self.assertEqual(png_size(self.read("copy.png")), (3, 2, 8, 6))

    def test_grey_png(self):
        self.run_kernel("kernel void k(global uchar *out) { out[get_global_id(1) * 5 + get_global_id(0)] = 40 * get_global_id(1); }",
                        "--global", "5,4", "buf:uchar:20@out.png")
        self.assertEqual(png_size(self.read("out.png")), (5, 4, 8, 0))

    def test_pictures_that_are_none(self):
        self.write("in.png", b"nothing of the kind")
        self.run_kernel(COPY, "-DT=uchar4", "--global", 1, "file:in.png", "buf:uchar4:1", status=RUN_FAILED, error="in.png")
        self.run_kernel(COPY, "-DT=float", "--global", 1, "buf:float:1", "buf:float:1@out.png", status=RUN_FAILED, error="out.png")
        self.run_kernel(COPY, "-DT=uchar4", "--global", 1, "buf:uchar4:7", "buf:uchar4:7@out.png", status=RUN_FAILED, error="out.png")

    def test_raw_bytes(self):
        data = struct.pack("<3i", 5, 6, 7)
        self.write("in.bin", data)
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 3, "file:in.bin@-", "buf:int:3@out.bin"), "in = 5, 6, 7\n")
        self.assertEqual(self.read("out.bin"), data)

    def test_names_with_an_at_sign(self):
        self.write("a@2x.bin", struct.pack("<2i", 5, 6))
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 2, "file:a@2x.bin", "buf:int:2@-"), "out = 5, 6\n")
        self.assertEqual(self.run_kernel(COPY, "-DT=int", "--global", 2, "file:a@2x.bin@-", "buf:int:2"), "in = 5, 6\n")

    def test_output_that_is_lost(self):
        self.write("kernel.cl", COPY)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([QUERN, "run", "kernel.cl", "-DT=int", "--global", "1", "buf:int:1", "buf:int:1@-"],
                                  cwd=self.dir, stdout=full, stderr=subprocess.PIPE, env=self.env)
        self.assertEqual(done.returncode, RUN_FAILED)
        self.assertIn(b"standard output", done.stderr)

    def test_files_that_are_not_there(self):
        self.run_kernel(COPY, "-DT=int", "--global", 1, "file:gone.npy", "buf:int:1", status=RUN_FAILED, error="gone.npy")
        self.run_kernel(COPY, "-DT=int", "--global", 1, "buf:int:1", "buf:int:1@no/such/place.npy", status=RUN_FAILED,
                        error="no/such/place.npy")
        self.write("empty.bin", b"")
        self.run_kernel(COPY, "-DT=int", "--global", 1, "file:empty.bin", "buf:int:1", status=RUN_FAILED, error="empty.bin")


class Options(ToolTest):
    IDS = """kernel void ids(global int *out) {
        int i = get_global_id(0) - get_global_offset(0) + (get_global_id(1) - get_global_offset(1)) * get_global_size(0);
        out[i] = get_global_id(0) * 100 + get_global_id(1) * 10 + get_local_size(0); }"""

    def test_sizes(self):
        self.assertEqual(self.run_kernel(self.IDS, "--global", "4,2", "--local", "2,1", "--offset", "1,3", "buf:int:8@-"),
                         "out = 132, 232, 332, 432, 142, 242, 342, 442\n")
        self.assertEqual(self.run_kernel(self.IDS, "--global=0x3", "--local=2", "buf:int:3@-"), "out = 2, 102, 201\n")

    def test_wrong_sizes(self):
        for option in ("--global", "--local", "--offset"):
            for value in ("x", "1,", "1,2,3,4", "-1", "1.5", "", "99999999999999999999"):
                args = ["--global", "1"] if option != "--global" else []
                self.run_kernel(self.IDS, *args, option, value, "buf:int:1", status=USAGE, error=option)
        self.run_kernel(self.IDS, "--global", 1, "--local", 1 << 20, "buf:int:1", status=RUN_FAILED, error="local size")
        self.run_kernel(self.IDS, "buf:int:1", status=USAGE, error="--global X[,Y[,Z]] is needed")

    def test_nothing_to_do(self):
        self.assertEqual(self.run_kernel(self.IDS, "--global", 0, "buf:int:1@-"), "out = 0\n")

    def test_kernels_by_name(self):
        source = "kernel void one(global int *x) { x[0] = 1; } kernel void two(global int *x) { x[0] = 2; }"
        self.assertEqual(self.run_kernel(source, "--kernel", "two", "--global", 1, "buf:int:1@-"), "x = 2\n")
        self.run_kernel(source, "--global", 1, "buf:int:1@-", status=USAGE, error="one")
        self.run_kernel(source, "--kernel", "three", "--global", 1, "buf:int:1@-", status=USAGE, error="two")
        self.run_kernel("int f(void) { return 1; }", "--global", 1, status=USAGE, error="no kernel")

    def test_macros_includes_and_options(self):
        os.mkdir(os.path.join(self.dir, "headers"))
        self.write("headers/add.h", "#define ADD(x) ((x) + N)\n")
        source = '#include "add.h"\nkernel void k(global float *out) { out[0] = ADD(sizeof(1.0)); }'
        for more in ([], ["--opt", "0"], ["--opt=1"], ["--debug"]):
            self.assertEqual(self.run_kernel(source, "--global", 1, "-D", "N=10", "-I", "headers", *more, "buf:float:1@-"), "out = 18\n")
        self.assertEqual(self.run_kernel(source, "--global", 1, "-DN=10", "-Iheaders", "--cl-options",
                                         "-cl-single-precision-constant", "buf:float:1@-"), "out = 14\n")

    def test_includes_beside_the_file(self):
        os.mkdir(os.path.join(self.dir, "sub"))
        self.write("sub/value.h", "#define VALUE 3\n")
        self.write("sub/k.cl", '#include "value.h"\nkernel void k(global int *x) { x[0] = VALUE; }')
        self.assertEqual(self.quern("run", "sub/k.cl", "--global", 1, "buf:int:1@-"), "x = 3\n")

    def test_devices(self):
        self.assertEqual(self.run_kernel(SAXPY, "--device", "cpu", "--global", 1, "int:1", "float:2", "buf:float:1=3", "buf:float:1@-"), "y = 6\n")
        self.run_kernel(SAXPY, "--device", "toaster", "--global", 1, "int:1", "float:2", "buf:float:1", "buf:float:1", status=USAGE,
                        error="toaster")

    def test_without_a_compiler(self):
        args = ["--global", 4, "int:4", "float:2", "buf:float:4=1,2,3,4", "buf:float:4=1@-"]
        self.assertEqual(self.run_kernel(SAXPY, *args, env={"QUERN_CC": "none"}), "y = 3, 5, 7, 9\n")

    def test_private_memory(self):
        """Arrays that no thread's stack would hold, under a small limit of it; and more than the machine has."""
        source = ("kernel void big(global int *x, int n) {\n    int a[%d], s = 0, me = get_local_id(0);\n"
                  "    for (int i = 0; i < n; i++) a[i * 7919 %% %d] = i + me;\n%s"
                  "    for (int i = 0; i < n; i++) s += a[i * 7919 %% %d];\n    x[get_global_id(0)] = s;\n}\n")
        barrier, size = "    barrier(CLK_LOCAL_MEM_FENCE);\n", 1 << 22
        args = ["--device", "cpu", "--global", 2, "--local", 2, "buf:int:2@-", "int:100"]
        huge = ("kernel void huge(global int *x, int n) {\n" + "".join("    int a%d[%d];\n    a%d[n] = n;\n" % (i, size, i) for i in range(32)) +
                barrier + "".join("    x[get_global_id(0)] += a%d[x[%d]];\n" % (i, i) for i in range(32)) + "}\n")
        for env in ({"QUERN_CC": "cc"}, {"QUERN_CC": "none"}):
            for between in ("", barrier):
                out = self.run_kernel(source % (size, size, between, size), *args, env=env, stack=1 << 20)
                self.assertEqual(out, "x = 4950, 5050\n")
            self.run_kernel(huge, "--global", 4096, "--local", 4096, "buf:int:4096", "int:1", env=env, status=RUN_FAILED,
                            error="kernel huge: the private variables of a work-group of 4096 take")

    def test_time(self):
        out = self.run_kernel(SAXPY, "--global", 4, "--time", 3, "int:4", "float:1", "buf:float:4=1", "buf:float:4@-")
        lines = out.splitlines()
        self.assertEqual(lines[0], "y = 1, 1, 1, 1")  # what is shown comes from the first run
        self.assertRegex(lines[1], r"^compile: [0-9.]+ ms by quern, [0-9.]+ ms by the device's driver or compiler$")
        self.assertRegex(lines[2], r"^transfer: [0-9.]+ us to the device \(32 bytes\), [0-9.]+ us back \(16 bytes\)$")
        self.assertRegex(lines[3], r"^kernel: median of 3: [0-9.]+ us, [0-9.]+ GB/s over the buffers' 32 bytes$")
        self.assertEqual(len(lines), 4)
        out = self.run_kernel(SAXPY, "--global", 4, "--time", 3, "int:4", "float:1", "buf:float:4=1", "buf:float:4")
        self.assertRegex(out, r"^compile: [0-9.]+ ms and [0-9.]+ ms to load it, from the cache\n")
        out = self.run_kernel("kernel void k(int x) { }", "--global", 4, "--time=2", "int:1")
        self.assertRegex(out, r"\nkernel: median of 2: [0-9.]+ us\n$")
        for value in ("0", "x", "-1", "1.5"):
            self.run_kernel(SAXPY, "--global", 1, "--time", value, status=USAGE, error="--time")

    def test_timeout(self):
        endless = "kernel void endless(volatile global int *x) { while (x[0] == 0) x[1]++; }"
        self.run_kernel(endless, "--global", 1, "--timeout", "0.3", "buf:int:2", status=RUN_FAILED, error="in 300 ms; unfinished: kernel endless")
        self.run_kernel(endless, "--global", 1, "--timeout", "1.25", "buf:int:2", status=RUN_FAILED, error="in 1250 ms; ")
        self.run_kernel(endless, "--global", 1, "--timeout", "60", "buf:int:2=1")
        for value in ("0", "x", "-1", "nan", "1e9"):
            self.run_kernel(SAXPY, "--global", 1, "--timeout", value, status=USAGE, error="--timeout")

    def test_standard_input(self):
        self.assertEqual(self.quern("run", "-", "--global", 2, "buf:int:2@-", stdin="kernel void k(global int *x) { x[get_global_id(0)] = 3; }"),
                         "x = 3, 3\n")
        self.quern("run", "-", "--global", 2, stdin="kernel void k() { y; }", status=COMPILE_ERROR, error="<stdin>:1:19: error: ")
        self.quern("run", "-", "--global", 2, stdin="", status=RUN_FAILED, error="standard input")
        self.assertIn(".entry k", self.quern("compile", "-", "--target", "ptx", stdin="kernel void k() { }"))

    def test_elements_of_another_type_are_warned_of(self):
        source = "typedef struct { int a; } s; kernel void k(global %s *x) { }"
        for parameter, given in (("float", "int"), ("int", "float"), ("int", "long"), ("double", "float"), ("half4", "short")):
            self.run_kernel(source % parameter, "--global", 1, "buf:%s:4" % given,
                            error="warning: run: kernel.cl: argument 'buf:%s:4' for parameter '%s* x': its elements are of type %s" % (given, parameter, given))
        for parameter, given in (("float4", "float"), ("uint", "int"), ("float", "float2"), ("s", "int"), ("void", "char")):
            self.run_kernel(source % parameter, "--global", 1, "buf:%s:4" % given)

    def test_buffers_that_are_too_small_are_warned_of(self):
        """Where it is certain: with the range, the guard and the arguments as they are."""
        args = ["--global", 8, "int:8", "float:2", "buf:float:8", "buf:float:5"]
        self.run_kernel(SAXPY, *args, env={"QUERN_CC": "none"}, status=RUN_FAILED,
                        error="warning: run: kernel.cl: argument 'buf:float:5' for parameter 'float* y' is too small: the kernel accesses 8 elements, it has 5")
        self.run_kernel(SAXPY, "--global", 8, "int:5", "float:2", "buf:float:8", "buf:float:5")
        self.write("x.bin", bytes(4 * 7))
        self.run_kernel(SAXPY, "--global", 8, "int:8", "float:2", "file:x.bin", "buf:float:8", env={"QUERN_CC": "none"}, status=RUN_FAILED,
                        error="warning: run: kernel.cl: argument 'file:x.bin' for parameter 'float* x' is too small: the kernel accesses 8 elements, it has 7")
        tile = "kernel void k(global int *x, int w) { x[get_global_id(1) * w + get_global_id(0)] = 1; }"
        self.run_kernel(tile, "--global", "4,4", "buf:int:16", "int:4")
        self.run_kernel(tile, "--global", "4,4", "buf:int:16", "int:5", env={"QUERN_CC": "none"}, status=RUN_FAILED,
                        error="the kernel accesses 19 elements, it has 16")

    def test_devices_are_compared(self):
        """The null device computes nothing: its results are what was there before."""
        source = "kernel void k(global float *o, global const int *in, global int *n) { int i = get_global_id(0); o[i] = in[i] * 0.5f; n[i] = 7; }"
        args = ["--global", 3, "buf:float:3=8", "buf:int:3=2,4,6", "buf:int:3=7"]
        out = self.run_kernel(source, "--device", "cpu,cpu", "--compare", *args)
        self.assertRegex(out, r"^device +kernel +o +n\ncpu +[0-9.]+ us +reference +reference\ncpu +[0-9.]+ us +0 +0\n$")
        out = self.run_kernel(source, "--device", "cpu,null", "--compare", *args, status=DIFFERENT,
                              error="run: kernel.cl: 'o' of null differs from that of cpu: number 0 is 8, not 1")
        self.assertRegex(out, r"\nnull +[0-9.]+ us +7 +0\n$")
        self.run_kernel(source, "--device", "cpu,null", "--compare", "--tolerance", 7, *args)
        self.run_kernel(source, "--device", "cpu,null", "--compare", "--tolerance", 5, *args, status=DIFFERENT, error="number 0 is 8, not 1")
        out = self.run_kernel(source, "--device", "cpu,null", "--compare", "--global", 3, "buf:float:3=8", "buf:int:3=2,4,6", "buf:int:3=7@-")
        self.assertRegex(out, r"^n = 7, 7, 7\ndevice +kernel +n\n")
        everywhere = [d["name"] for d in json.loads(self.quern("devices", "--json"))["devices"]]
        out = self.run_kernel(source, "--device", ",".join(everywhere + ["cpu"]), "--compare", *args)
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["device"] + everywhere + ["cpu"])
        self.run_kernel(source, "--device", "cpu,", "--compare", *args, status=USAGE, error="no device ''")
        self.run_kernel(source, "--device", "cpu,null", *args, status=USAGE, error="several devices ('cpu,null') need --compare")
        self.run_kernel(source, "--device", "cpu", "--compare", *args, status=USAGE, error="--compare needs several devices")
        for value in ("x", "-1", ""):
            self.run_kernel(source, "--device", "cpu,null", "--compare", "--tolerance", value, *args, status=USAGE, error="--tolerance")

    def chain(self, text, *args, **more):
        """A chain of two kernels, `add` and `twice`, in a file each."""
        self.write("add.cl", "kernel void add(global int *x, global const int *y, int n) { x[get_global_id(0)] += y[get_global_id(0)] * N * n; }")
        self.write("twice.cl", "kernel void other(void) {} kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }")
        return self.quern("run", self.write("k.qnc", text), *args, **more)

    def test_chains(self):
        text = """# two buffers, of which one is shown
            buffer x buf:int:3=1,2,3@-
            buffer y buf:int:3=10
            run add.cl -D N=1 --global 3 x y int:1
            repeat 3
              run twice.cl --kernel twice --global 2 x   # but for the last
            end
            run add.cl -D N=100 --global 3 x y int:1
            run add.cl -D N=1 --global 3 x y int:1\n"""
        for env in ({}, {"QUERN_CC": "none"}):
            self.assertEqual(self.chain(text, env=env), "x = 1098, 1106, 1023\n")
        self.write("in.npy", npy("<i4", (2,), struct.pack("<2i", 5, 6)))
        self.chain("buffer x file:in.npy@out.npy\nrun twice.cl --kernel twice --global 2 x\n", "--device", "cpu")
        self.assertEqual(read_npy(self.read("out.npy"))[2], struct.pack("<2i", 10, 12))
        self.assertEqual(self.chain("buffer x buf:int:1=7@-"), "x = 7\n")
        self.assertEqual(self.chain(""), "")

    def test_wrong_chains(self):
        buffers = "buffer x buf:int:3\n"
        for line, error in (("jump", "line 2: a line begins with buffer, run, repeat or its end, not 'jump'"), ("buffer x buf:int:3", "a buffer already of the name 'x'"),
                            ("buffer z int:3", "line 2: a buffer is buf: or file:, not 'int:3'"), ("buffer z", "line 2: a buffer is: buffer NAME ARG"),
                            ("repeat x", "line 2: a repeat is: repeat N"), ("repeat 2\nrepeat 2", "line 3: a repeat does not stand in another"),
                            ("repeat 2", "the repeat has no end"), ("end", "not 'end'"), ("run k.qnc", "line 2: a launch in a chain is of a FILE.cl"),
                            ("run twice.cl --kernel twice --global 1 z", "twice.cl: argument 'z'"),
                            ("run twice.cl --kernel twice --global 1 buf:int:1@-", "line 2: what is written stands in a line `buffer`, not in 'buf:int:1@-'"),
                            ("run twice.cl --kernel no --global 1 x", "twice.cl: no kernel 'no'"), ("run twice.cl x", "--global X[,Y[,Z]] is needed")):
            self.chain(buffers + line, status=USAGE, error=error)
        self.chain(buffers + "run add.cl -D N=1 --global 3 x int:1 int:1", status=USAGE, error="argument 'int:1' for parameter 'int* y'")
        self.chain(buffers + "run add.cl --global 3 x x int:1", status=COMPILE_ERROR, error="add.cl:1:")
        self.chain(buffers + "run gone.cl --global 1", status=RUN_FAILED, error="in line 2 of k.qnc")
        self.chain(buffers + "run twice.cl --kernel twice --global 4 x", status=RUN_FAILED, env={"QUERN_CC": "none"}, error="work-item 3")
        self.chain(buffers + "run twice.cl --kernel twice --global 4 x", status=RUN_FAILED, env={"QUERN_CC": "none"}, error="is too small: the kernel accesses 4 elements, it has 3")
        self.chain(buffers, "--global", 3, status=USAGE, error="of a chain's launches nothing is said here")
        self.quern("run", "gone.qnc", status=RUN_FAILED, error="gone.qnc: ")

    def test_structs_by_field(self):
        source = """typedef struct { char on; float at[2]; } step;
            typedef struct { float scale; int shift; uchar4 color; step steps[2]; union { int bits; float value; }; short m[2][2]; int b : 3; float3 v; } params;
            kernel void k(global float *o, params p) {
                o[0] = p.scale; o[1] = p.shift; o[2] = p.color.x; o[3] = p.color.w; o[4] = p.steps[0].on; o[5] = p.steps[1].at[1];
                o[6] = p.value; o[7] = p.m[1][0]; o[8] = p.v.z; o[9] = p.steps[0].at[0]; }"""
        def shows(text, values):
            self.assertEqual(self.run_kernel(source, "--global", 1, "buf:float:10@-", "struct:{%s}" % text), "o = %s\n" % values)
        shows("scale=2,shift=-1", "2, -1, 0, 0, 0, 0, 0, 0, 0, 0")
        shows("color=1,2,3,4,steps[1].at[1]=5,steps[0]={on=7,at=8}", "0, 0, 1, 4, 7, 5, 0, 0, 0, 8")
        shows("color=9,value=1.5,m=1,2,3,4,v=1,2,6", "0, 0, 9, 9, 0, 0, 1.5, 3, 6, 0")
        shows("", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0")
        small = "typedef struct { qn_bf16 a; qn_e4m3x2 b[2]; } s; kernel void k(global float *o, s p) { o[0] = p.a; o[1] = p.b[1].y; }"
        self.assertEqual(self.run_kernel(small, "--global", 1, "buf:float:2@-", "struct:{a=2.5,b[1]=1,448}"), "o = 2.5, 448\n")
        for text, error in (("scala=1", "it has no field 'scala'\n  its fields: scale shift color steps[0].on steps[0].at"), ("scale=x", "no number of its type: 'x'"),
                            ("scale=1,2", "more values than places in 'scale'"), ("scale", "a field is NAME=VALUE, not 'scale'"),
                            ("steps[2].on=1", "no field 'steps[2].on'"), ("color[4]=1", "no field"), ("steps={on=1}", "no field 'steps.on'")):
            self.run_kernel(source, "--global", 1, "buf:float:10", "struct:{%s}" % text, status=USAGE, error=error)
        self.run_kernel(source, "--global", 1, "buf:float:10", "struct:scale=1", status=USAGE, error="a struct is struct:{FIELD=VALUE,...}")
        self.run_kernel(SAXPY, "--global", 1, "int:1", "struct:{x=1}", "buf:float:1", "buf:float:1", status=USAGE, error="no struct with fields")
        self.write("k.cl", source)
        fields = json.loads(self.quern("compile", "k.cl", "--reflect"))["kernels"][0]["params"][1]["fields"]
        self.assertEqual(fields[2], {"name": "color", "offset": 8, "kind": "uint", "bits": 8, "lanes": 4, "count": 1})
        self.assertEqual([f["name"] for f in fields], ["scale", "shift", "color", "steps[0].on", "steps[0].at", "steps[1].on", "steps[1].at",
                                                       "bits", "value", "m", "v"])

    def test_printf(self):
        out = self.run_kernel('kernel void k(void) { printf("%d %s %.2f\\n", 42, "text", 1.5f); }', "--global", 1)
        self.assertEqual(out, "42 text 1.50\n")

    def test_messages_name_the_command_and_the_file(self):
        """And never a function of the library, of which who types a command knows nothing."""
        self.write("k.cl", SAXPY)
        args = ["int:1", "float:1", "buf:float:1", "buf:float:1"]
        wrong = [(["run", "gone.cl", "--global", 1], "quern: run: gone.cl: cannot read 'gone.cl'"),
                 (["compile", "gone.cl", "--target", "c"], "quern: compile: gone.cl: cannot read 'gone.cl'"),
                 (["compile", "k.cl", "--target", "zz"], "quern: compile: k.cl: there is no target 'zz'"),
                 (["compile", "k.cl", "--target", "c", "-o", "no/x"], "quern: compile: k.cl: no/x: "),
                 (["run", "k.cl", "--global", 1, "--local", 99999, *args], "quern: run: k.cl: local size 99999 in dimension 0"),
                 (["run", "k.cl", "--global", 10 ** 17, *args], "quern: run: k.cl: global size 1"),
                 (["run", "k.cl", "--global", 1, "raw:01", *args[1:]], "quern: run: k.cl: parameter 1 of saxpy, 'uint n': 1 bytes"),
                 (["run", "k.cl", "--global", 1, "int:x", *args[1:]], "quern: run: k.cl: argument 'int:x': "),
                 (["run", "k.cl", "--global", 1, "int:1"], "quern: run: k.cl: saxpy takes 4 arguments"),
                 (["run", "k.cl", "--global", "x", *args], "quern: run: k.cl: --global is X"),
                 (["run", "k.cl", "--global", 1, "--kernel", "no", *args], "quern: run: k.cl: no kernel 'no'"),
                 (["run", "k.cl", "--global", 1, "--device", "moon", *args], "quern: run: k.cl: no device 'moon'"),
                 (["run", "k.cl", "--global", 1, "--cl-options", "-zzz", *args], "quern: run: k.cl: unknown compile option"),
                 (["devices", "--xml"], "quern: devices: unknown option '--xml'")]
        for command, begin in wrong:
            done = subprocess.run([QUERN, *map(str, command)], cwd=self.dir, capture_output=True, text=True, env=self.env)
            self.assertTrue(done.stderr.startswith(begin), done.stderr)
            self.assertNotIn("qn_", done.stderr)
            self.assertNotEqual(done.returncode, OK)

    def test_loop_budget(self):
        source = "kernel void k(int n, global int *x) {\n    while (n) x[0] += n;\n}\n"
        args = ("--global", 1, "int:1", "buf:int:1=0@-")
        self.run_kernel(source, "--loop-budget", 9, *args, status=RUN_FAILED, error="k' has a loop that goes on when")
        self.run_kernel(source, "--loop-budget=0", *args, status=USAGE, error="--loop-budget is from 1 to 4294967295, not '0'")

    def test_unknown_options(self):
        self.run_kernel(SAXPY, "--golbal", 4, status=USAGE, error="--golbal")
        for option in ("--global", "--local", "--kernel", "--device", "--time", "--timeout", "--offset", "--opt", "--cl-options", "-D", "-I"):
            self.run_kernel(SAXPY, option, status=USAGE, error="%s needs a value" % option)

    def test_messages_point_at_the_place(self):
        told = self.write("bad.cl", "kernel void k(global float *x) {\n    x[0] = sqroot(2.0f);\n}\n")
        self.quern("run", told, "--global", 1, "buf:float:1", status=COMPILE_ERROR, error="bad.cl:2:12: error: ")
        self.quern("run", told, "--global", 1, "buf:float:1", status=COMPILE_ERROR, error="    x[0] = sqroot(2.0f);\n           ^")


if __name__ == "__main__":
    unittest.main()
