"""quern bench: what it measures is right, what it writes can be read, and what is wrong does not pass. The figures are those of
small products on the interpreter: whether they are good is for others to look at."""
import json
import os
import pty
import re
import select
import subprocess
import unittest
import xml.etree.ElementTree as tree

from support import DIFFERENT, QUERN, RUN_FAILED, SOURCES, USAGE, ToolTest

RUNGS = sorted(path.name for path in (SOURCES / "kernels" / "matmul").glob("[0-9][0-9]_*.cl"))
ROW = {"section": "matmul", "device": "cpu", "by": "quern", "unit": "FLOP/s", "is_time": False, "samples": 3}


def earlier(what, value):
    return dict(ROW, what=what, value=value, low=value * 0.9, high=value * 1.1, note="of a later version")


class Bench(ToolTest):
    def setUp(self):
        super().setUp()
        self.env.update(QUERN_CC="none", QUERN_CPU_THREADS="1")

    def test_ladder(self):
        size = "40x24x17 f32, rung "
        before = [earlier(size + "1: one element a work-item", 1e30), earlier(size + "2: work-groups of 256", 1e-3),
                  earlier(size + "99: magic", 1)]
        self.write("old.json", json.dumps({"quern": "0.1", "machine": "another", "results": before}))
        shown = self.quern("bench", "matmul", "--ladder", "--device", "cpu", "--size", "40x24x17", "--seconds", "0.001", "--json",
                           "new.json", "--svg", "ladder.svg", "--compare", "old.json", status=DIFFERENT)
        results = json.loads(self.read("new.json"))["results"]
        self.assertEqual(len(results), len(RUNGS))
        for number, row in enumerate(results, 1):
            units = "units" in RUNGS[number - 1]  # of matrices take A and B of bf16
            self.assertTrue(row["what"].startswith("%s%d: " % (size.replace("f32", "bf16") if units else size, number)), row)
            self.assertGreater(row["low"], 0)
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["value"], row["high"])
            self.assertGreaterEqual(row["samples"], 3)
            self.assertRegex(shown, r"(?m)^ +%d  %s +[0-9.]+ +[0-9.]+ %%" % (number, row["what"].split(": ")[1]))
        self.picture(len(RUNGS))
        self.assertRegex(shown, r"x slower: matmul on cpu, 40x24x17 f32, rung 1: .*, was 1e\+30\n")
        self.assertRegex(shown, r"x faster: matmul on cpu, 40x24x17 f32, rung 2: .*, was 0.001\n")
        self.assertIn("only then: matmul on cpu, 40x24x17 f32, rung 99: magic, by quern\n", shown)
        self.assertIn("only now: matmul on cpu, 40x24x17 f32, rung 3: ", shown)
        self.assertIn("2 of 2 figures differ beyond their spread, 1 for the worse\n", shown)

    def picture(self, rungs):
        root = tree.fromstring(self.read("ladder.svg"))
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len([r for r in root.iter(space + "rect") if r.get("class") == "bar"]), rungs)
        self.assertEqual(len(list(root.iter(space + "circle"))), rungs)
        width, height = (float(root.get(side)) for side in ("width", "height"))
        for circle in root.iter(space + "circle"):
            self.assertTrue(0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height)
        numbers = [(float(t.get("x")), float(t.get("y"))) for t in root.iter(space + "text") if t.get("class") == "number"]
        self.assertEqual(len(numbers), rungs)
        for i, (x, y) in enumerate(numbers):  # none covers another
            self.assertEqual([at for at in numbers[:i] if at[0] == x and abs(at[1] - y) < 10], [])

    def test_bars(self):
        """Any section can be drawn: a bar a figure, or one for each library beside it, by their ratio."""
        self.write("old.json", json.dumps({"results": [dict(earlier("20x7x33 f32", 1), description="a Cray-1")]}))
        shown = self.quern("bench", "matmul", "start", "--device", "cpu", "--size", "20x7x33,9", "--against", "openblas,blis", "--seconds", "0.001",
                           "--json", "b.json", "--svg", "ladder.svg", "--compare", "old.json")
        self.assertRegex(shown, r"(?m)^  cpu is another device: .* now, a Cray-1 then$")
        rows = json.loads(self.read("b.json"))["results"]
        own = [row for row in rows if row["by"] == "quern"]
        root = tree.fromstring(self.read("ladder.svg"))
        space = "{http://www.w3.org/2000/svg}"
        texts = [t.text for t in root.iter(space + "text")]
        self.assertEqual([t for t in texts if t in {row["what"] for row in own}], [row["what"] for row in own])
        peers = [row for row in rows if row["by"] != "quern"]
        bars = [r for r in root.iter(space + "rect") if r.get("class") in ("bar", "slower")]
        alone = [row for row in own if row["section"] == "start" or not peers]
        self.assertEqual(len(bars), len(peers) + len(alone))
        for row, bar in zip(peers, bars):
            mine = [r for r in own if r["what"] == row["what"]][0]
            ratio = mine["value"] / row["value"]
            self.assertEqual(bar.get("class"), "bar" if ratio >= 1 else "slower")
            self.assertTrue([t for t in texts if t.endswith(", %.2f of %s" % (ratio, row["by"]))], texts)

    def test_a_wrong_result_is_no_figure(self):
        """The null device computes nothing."""
        self.quern("bench", "matmul", "--ladder", "--device", "null", "--seconds", "0.001", "--json", "null.json",
                   status=DIFFERENT, error="quern: bench: null: the loop of multiply-adds gives")
        self.assertEqual(json.loads(self.read("null.json"))["results"], [])

    def test_matmul(self):
        for type, against in (("f32", "all"), ("bf16", "openblas,blis"), ("i8", "all")):
            shown = self.quern("bench", "matmul", "--device", "cpu", "--size", "20x7x33", "--type", type, "--against", against,
                               "--seconds", "0.001", "--json", "m.json")
            results = json.loads(self.read("m.json"))["results"]
            self.assertEqual({row["what"] for row in results}, {"20x7x33 " + type})
            # Each library is measured or named as absent; those of f32 alone are not asked for anything else.
            measured = [row["by"] for row in results]
            self.assertIn("quern", measured)
            for peer in ("openblas", "blis", "mkl", "onednn") if against == "all" else ("openblas", "blis"):
                absent = "%s is absent: " % peer in shown
                self.assertEqual(peer in measured, (type == "f32" or (type, peer) == ("i8", "onednn")) and not absent, shown)
                self.assertEqual("of the speed of %s" % peer in shown, peer in measured, shown)
        self.quern("bench", "matmul", "--device", "null", "--size", "20x7x33", "--type", "f16", "--seconds", "0.001", status=DIFFERENT,
                   error="20x7x33 f16: the product of 20 x 7 x 33 is wrong, by inf times")

    def test_matmul_by_each_way(self):
        """A line for each variant, number of parts, shape and type; a way that does not take the operands has no figure."""
        shown = self.quern("bench", "matmul", "--device", "cpu", "--size", "20x7x33,9", "--type", "i8,tf32", "--variant",
                           "tile 32x32,strip", "--splits", "1,3", "--seconds", "0.001", "--json", "w.json")
        wanted = {"%s %s, %s" % (size, type, way) for size in ("20x7x33", "9x9x9") for type in ("i8", "tf32")
                  for way in ("tile 32x32, 1 part", "tile 32x32, 3 parts", "strip, 1 part")}
        self.assertEqual({row["what"] for row in json.loads(self.read("w.json"))["results"]}, wanted)
        for name in wanted:
            self.assertRegex(shown, r"(?m)^  %s +[0-9.]+ +[0-9.]+ %% +[0-9.]+$" % name)
        self.assertRegex(shown, r"(?m)^  9x9x9 tf32, strip, 3 parts +cannot$")
        self.quern("bench", "matmul", "--device", "null", "--size", "9", "--variant", "tile 32x32,strip", "--seconds", "0.001",
                   "--json", "w.json", status=DIFFERENT, error="9x9x9 f32, strip: the product of 9 x 9 x 9 is wrong")
        self.assertEqual(json.loads(self.read("w.json"))["results"], [])

    def test_shapes_by_chance(self):
        """A seed has its shapes; those of fewer are the first of them."""
        for given, wanted in (("random:893:2", {"97x98x332", "128x624x38"}), ("random:893:1", {"97x98x332"}),
                              ("random:375:1", {"163x160x96"})):
            self.quern("bench", "matmul", "--device", "cpu", "--size", given, "--seconds", "0.001", "--json", "r.json")
            self.assertEqual({row["what"] for row in json.loads(self.read("r.json"))["results"]}, {size + " f32" for size in wanted})

    def test_every_type(self):
        """Operands and results of each type are written and read as the library has them."""
        self.quern("bench", "matmul", "--device", "cpu", "--size", "17x5x9", "--type", "f32,bf16,f16,tf32,e4m3,e5m2,i8,f64",
                   "--variant", "tile 32x32", "--seconds", "0.001", "--json", "t.json")
        self.assertEqual(len(json.loads(self.read("t.json"))["results"]), 8)

    def test_kernels(self):
        self.quern("bench", "kernels", "--device", "cpu", "--elements", "3001", "--seconds", "0.001", "--json", "k.json")
        units = {row["what"]: row["unit"] for row in json.loads(self.read("k.json"))["results"]}
        for name in ("copy f32", "copy f32 to bf16", "transpose f32", "fill f32", "square f32", "add f32", "histogram f32, 256 bins",
                     "compact f32 by a mask", "unique f32", "blur f32, 5 taps", "max pool 3x3 f32", "transpose bf16", "copy bf16, odd rows to even ones", "add a row f32",
                     "layer norm f32", "layer norm backward f32", "gather rows of f32", "sparse matrix by vector f32", "random normal f32", "sum f32", "sums of rows f32", "sums of columns f32", "scan f32",
                     "scans of columns f32", "top 64 f32", "top 64 of rows f32", "softmax f32", "log-softmax f32", "softmax backward f32", "argmin f32",
                     "argmax of rows f32", "scatter rows of f32", "scatter and add rows of f32", "permute f32",
                     "rms norm f32", "random f32"):
            self.assertEqual(units.pop(name + ", 3001 elements"), "B/s")
        rates = ["convolve 3x3 f32", "convolve 3x3 f32, NHWC", "convolve 3x3 f16, NHWC", "convolve 3x3 f32, gradient by images", "convolve 3x3 f32, gradient by weights", "attention bf16, causal",
                 "attention backward bf16, causal"]
        self.assertEqual(units, {"sort f32, 3001 elements": "keys/s", **{name + ", 3001 elements": "FLOP/s" for name in rates}})
        self.quern("bench", "kernels", "--device", "cpu", "--elements", "24000", "--only", "attention,softmax,scatter,permute,arg,conv",
                   "--seconds", "0.001", "--json", "k.json")
        self.assertIn("softmax f32, rows of 4096, 24000 elements", [row["what"] for row in json.loads(self.read("k.json"))["results"]])
        self.quern("bench", "kernels", "--device", "cpu", "--elements", "1", "--only", "sort,conv", "--seconds", "0.001", "--json", "k.json")
        self.assertEqual([row["what"] for row in json.loads(self.read("k.json"))["results"]],
                         ["sort f32, 1 elements"] + ["convolve 3x3 f32%s, 1 elements" % of for of in ("", ", NHWC", ", gradient by images", ", gradient by weights")])
        self.quern("bench", "kernels", "--elements", "0", status=USAGE, error="--elements is a number above 0, not '0'")

    def test_tensor(self):
        """Figures of tensors, whose results are checked, and lines that a peer in Python prints."""
        args = ("bench", "tensor", "--device", "cpu", "--elements", "20000", "--only", "softmax,chain 2,op at,replay", "--seconds", "0.001")
        self.write("python", "#!/bin/sh\ncase $1 in -c) echo 2.0;; *) echo hello; printf 'softmax\\ttorch graph\\t1000\\t4096\\n';; esac\n")
        os.chmod(os.path.join(self.dir, "python"), 0o755)
        env = {"QUERN_PYTHON": os.path.join(self.dir, "python")}
        shown = self.quern(*args, "--against", "torch", "--json", "t.json", env=env)
        self.assertIn("torch: hello", shown)
        rows = {(row["what"], row["by"]): row for row in json.loads(self.read("t.json"))["results"]}
        for name in ("softmax, 16384 elements", "chain 2, 16384 elements", "chain 20, 16384 elements"):
            self.assertEqual(rows.pop((name, "quern"))["unit"], "B/s")
        self.assertAlmostEqual(rows.pop(("softmax, 16384 elements", "torch graph"))["value"], 16384 * 8 / 1e-6, delta=1e6)
        self.assertEqual({name for name, by in rows}, {"op at once, on the host, 64 elements", "replay of a step, on the host, 64 elements"})
        shown = self.quern(*args[:-3], "op at", "--seconds", "0.001", "--against", "torch", env={"QUERN_PYTHON": "false"})
        self.assertIn("torch is absent: false has no torch for this device", shown)

    def test_code(self):
        """Each kernel is checked, by quern, in other ways and by PoCL where it is; what computes nothing has no figure."""
        names = ["transpose", "row_product", "around"]
        args = ("bench", "code", "--elements", "1", "--seconds", "0.001", "--only", ",".join(names), "--json", "c.json")
        shown = self.quern(*args, "--device", "cpu", "--against", "pocl", "--tune", "no-looks:no-looks,loose-fma")
        rows = json.loads(self.read("c.json"))["results"]
        for by in ("quern", "tuned: no-looks", "tuned: no-looks,loose-fma") + (() if "pocl is absent" in shown else ("pocl",)):
            self.assertEqual({row["what"].split(",")[0] for row in rows if row["by"] == by}, set(names), by)
            # What a launch takes beside its work is no measure of code.
            means = [line for line in shown.splitlines() if line.startswith("  geometric mean: ") and " of %s;" % by in line]
            self.assertEqual(len(means), by != "quern")
            self.assertFalse([line for line in means if line.endswith(" around")])
        self.quern(*args, "--device", "null", status=DIFFERENT, error="null: transpose by quern gives a wrong result: error")
        self.assertEqual(json.loads(self.read("c.json"))["results"], [])
        self.quern(*args, "--device", "cpu", "--tune", "magic", status=RUN_FAILED, error="magic")

    def test_twins_in_wgsl(self):
        """They compute the same on the processor and on the other devices that are here; what has none is left out."""
        twins = {"saxpy", "sum", "matmul_naive", "matmul_tiled", "nbody", "mandelbrot", "histogram", "scan", "spmv", "transpose"}
        devices = ["cpu"] + [name for name in ("vulkan:0", "webgpu:0") if re.search(name + ".*software", self.quern("devices"))]
        for device in devices:
            self.quern("bench", "code", "--device", device, "--elements", "1", "--only", ",".join(twins | {"bitonic"}), "--seconds", "0.001",
                       "--against", "wgsl,wgsl-checked", "--json", "w.json")
            rows = json.loads(self.read("w.json"))["results"]
            for peer in ("wgsl",) if device == "webgpu:0" else ("wgsl", "wgsl-checked"):
                self.assertEqual({row["what"].split(",")[0] for row in rows if row["by"] == peer}, twins, device)

    def test_safe_code(self):
        args = ("bench", "code", "--safe", "--device", "cpu", "--elements", "1", "--seconds", "0.001", "--only", "transpose,row_product")
        shown = self.quern(*args, "--json", "s.json")
        rows = json.loads(self.read("s.json"))["results"]
        self.assertEqual([row["by"] for row in rows], ["quern", "safe"] * 2)
        self.assertRegex(shown, r"(?m)^  safe programs: geometric mean: [0-9.]+ of the time; most: [0-9.]+, (transpose|row_product)$")

    def test_peers_of_drivers(self):
        """Beside software drivers, where they are: their own compilers, and their bare launches, count and compute the same."""
        present = self.quern("devices")
        for device, compiler in (("vulkan:0", "glslang"), ("opencl:0", "driver")):
            if " %s " % device not in present or "software" not in present.split(device)[1].split("\n")[0]:
                continue
            shown = self.quern("bench", "code", "launch", "--device", device, "--against", "all", "--elements", "1", "--only", "saxpy,transpose",
                               "--seconds", "0.001", "--json", "d.json")
            rows = json.loads(self.read("d.json"))["results"]
            for section, peer, wanted in (("code", compiler, {"saxpy, 1M", "transpose, 128x192"}), ("launch", "driver", {"a launch, on the host"})):
                found = {row["what"] for row in rows if row["section"] == section and row["by"] == peer}
                self.assertEqual(wanted <= found, "%s is absent" % peer not in shown, shown)

    def test_small_sections(self):
        shown = self.quern("bench", "start", "launch", "memory", "transfer", "compile", "--device", "cpu", "--seconds", "0.001", "--json",
                           "s.json")
        rows = json.loads(self.read("s.json"))["results"]
        sections = {name: [row for row in rows if row["section"] == name] for name in ("start", "launch", "memory", "transfer", "compile")}
        self.assertEqual(len(rows), sum(map(len, sections.values())))
        self.assertEqual(len(sections["memory"]), 24)
        self.assertRegex(shown, r"(?m)^  of the large pairs the slowest has [01]\.[0-9]+ of the quickest$")
        for name, wanted, unit in (("start", "a kernel's text to its first result", "ns"), ("start", "this device in it", "ns"),
                                   ("launch", "qn_kernels_matmul of 16x16x16", "ns"), ("launch", "while traced", "ns"),
                                   ("launch", "on the null device", "ns"), ("memory", "pair 24 of 24, 1024 KiB each", "B/s"),
                                   ("transfer", "65536 KiB to the device, pinned", "B/s"),
                                   ("transfer", "4 KiB within, and from the device by mapping", "B/s"),
                                   ("compile", "lines300.cl, packed as text, to a kernel", "ns"), ("compile", "scan.cl to spirv", "ns")):
            self.assertTrue([row for row in sections[name] if wanted in row["what"]], name)
            for row in sections[name]:
                self.assertEqual((row["unit"], row["is_time"], row["by"]), (unit, unit == "ns", "quern"))
                self.assertTrue(0 < row["low"] <= row["value"] <= row["high"], row)
                self.assertRegex(shown, r"(?m)^  %s +[0-9.]+ " % row["what"])
        shown = self.quern("bench", "rings", "--device", "cpu", "--seconds", "0.01", "--json", "r.json")
        rows = json.loads(self.read("r.json"))["results"]
        bare = [row for row in rows if row["by"] == "a bare loop"]
        rows = [row for row in rows if row["by"] == "quern"]
        self.assertEqual([row["what"] for row in bare], [row["what"] for row in rows[:6]])
        self.assertEqual(len(re.findall(r"by a bare loop .*% +[0-9.]+ of quern's", shown)), 6, shown)
        self.assertEqual([row["what"] for row in rows if "p" not in row["what"].split()[-1]],
                         ["messages of 64 bytes, in batches", "messages of 64 bytes, by four threads", "a hop from ring to ring",
                          "a message of 100 us of work, in a stream", "a message of 1 us of work, in a stream", "a kernel beside an idle ring",
                          "a kernel beside a ring that looks all the time"])
        self.assertEqual(len(rows), 13, shown)
        self.assertRegex(shown, r"an idle ring's part of a core, adaptive +[0-9.]+ %")
        self.assertRegex(self.quern("bench", "rings", "--device", "cpu", "--soak", "0.5"),
                         r"soak: \d+ messages in 0.5 s, each once and in order")
        self.assertIn("null answers no messages", self.quern("bench", "rings", "--device", "null"))
        self.quern("bench", "start", "--device", "null", "--seconds", "0.001", status=DIFFERENT, error="the first result is wrong")
        self.quern("bench", "launch", "--device", "null", "--seconds", "0.001", status=DIFFERENT,
                   error="work-item 0 has counted 0")

    def test_progress(self):
        """On a terminal there is a bar, which fills and goes away; test_small_sections sees that there is none elsewhere."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([QUERN, "bench", "start", "transfer", "--device", "cpu", "--seconds", "0.001"], env=self.env, stdout=subprocess.DEVNULL, stderr=theirs) as running:
            os.close(theirs)
            shown = b""
            while running.poll() is None or select.select([ours], [], [], 0)[0]:
                try:
                    shown += os.read(ours, 4096)
                except OSError:  # the other end is closed
                    break
        os.close(ours)
        lines = shown.decode().split("\r\x1b[K")
        self.assertEqual(lines[-1], "")
        for wanted in ("[%s] 0 of 21  cpu: 4 KiB to the device, pinned ..." % ("." * 24), "[%s%s] 20 of 21  cpu: " % ("#" * 22, "..")):
            self.assertTrue([line for line in lines if line.startswith(wanted)], (wanted, lines))

    def test_usage(self):
        self.quern("bench", "flops", status=USAGE, error="there is no bench 'flops'")
        self.quern("bench", "--size", "0", status=USAGE, error="--size is MxNxK or one number for all three, or up to 64 of them with commas, or random:SEED:N, not '0'")
        self.quern("bench", "--size", "4x4", status=USAGE, error="not '4x4'")
        self.quern("bench", "--size", "4x4x4x4", status=USAGE, error="not '4x4x4x4'")
        self.quern("bench", "--type", "f31", status=USAGE, error="not 'f31'")
        self.quern("bench", "--type", "f32,f31", status=USAGE, error="not 'f32,f31'")
        self.quern("bench", "--variant", "tile 3x3", status=USAGE, error="names of qn_matmul_variant with commas, not 'tile 3x3'")
        self.quern("bench", "--splits", "2,0", status=USAGE, error="--splits is a number from 1 to 65535, or up to 16 of them")
        for wrong in ("random", "random:1", "random:1:0", "random:x:2", "random:1:65", "random:1:2,4"):
            self.quern("bench", "--size", wrong, status=USAGE, error="or random:SEED:N, not '%s'" % wrong)
        self.quern("bench", "--ladder", "--size", "4,5", status=USAGE, error="--ladder takes one --size")
        self.quern("bench", "--against", "blis,atlas", status=USAGE, error="not 'blis,atlas'")
        for only in ("nosuch", "copy,nosuch", ""):
            self.quern("bench", "--only", only, status=USAGE, error="--only is beginnings of names of rows of kernels, code and tensor, with commas, not '%s'" % only)
        self.quern("bench", "--json", "x", "--svg", "x", status=USAGE, error="--json and --svg would both write x")
        shown = self.quern("bench", "matmul", "--device", "cpu", "--against", "cublas,pocl,openblas", "--size", "4", "--seconds", "0.001")
        self.assertTrue(shown.startswith("cublas has nothing to compare with on cpu\npocl has nothing to compare with on cpu\n"), shown)
        self.quern("bench", "--seconds", "-1", status=USAGE, error="not '-1'")
        self.quern("bench", "--seconds", status=USAGE, error="--seconds needs a value")
        self.quern("bench", "--device", "cuda:99", "--ladder", status=RUN_FAILED, error="cuda")

    def test_what_fails_ends_nothing_else(self):
        shown = self.quern("bench", "start", "launch", "--device", "cuda:99,null,cpu", "--seconds", "0.001", "--json", "f.json", status=RUN_FAILED,
                           error="the first result is wrong")
        devices = {(row["section"], row["device"]) for row in json.loads(self.read("f.json"))["results"]}
        self.assertLessEqual({("start", "cpu"), ("launch", "cpu")}, devices, shown)

    def test_files(self):
        for option in ("--json", "--svg"):  # before anything is measured
            self.quern("bench", option, "none/x", status=RUN_FAILED, error="none/x: No such file")
        self.quern("bench", "--compare", "missing.json", "--json", "missing.json", status=RUN_FAILED, error="missing.json: No such file")
        for text in ("", "[]", '{"quern": "0.2"}', '{"results": [{"section": 3}]}', '{"results": [{"value": "x"}]}', '{"results": ['):
            self.write("not.json", text)
            self.quern("bench", "--compare", "not.json", status=RUN_FAILED, error="not.json is no report of quern bench --json")


if __name__ == "__main__":
    unittest.main()
