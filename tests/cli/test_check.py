"""quern check: findings as text, JSON and SARIF, exit statuses, what is allowed."""
import json
import re
import subprocess
import unittest

from support import COMPILE_ERROR, OK, QUERN, RUN_FAILED, USAGE, ToolTest

FINDINGS = 4
PAST_END = "kernel void f(global int *x) {\n    x[get_global_id(0)] = 1;%s\n}\n"
RACE = "kernel void f(global int *x) {\n    x[0] = get_global_id(0);\n    x[1] = x[0];\n}\n"


class Check(ToolTest):
    def tool(self, *args, env=None):
        return subprocess.run([QUERN, *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=900,
                              env=dict(self.env, **(env or {})))

    def test_text(self):
        result = self.tool("check", self.write("k.cl", PAST_END % ""), "--global", 5, "buf:int:4@-")
        self.assertEqual(result.returncode, FINDINGS)
        self.assertEqual(result.stdout, "x = 1, 1, 1, 1\n")
        self.assertIn("k.cl:2:25: out of bounds: kernel 'f': work-item 4 writes 4 bytes at byte 16 of 'x', a buffer of 16 bytes\n"
                      "    x[get_global_id(0)] = 1;\n"
                      "                        ^\n"
                      "  by work-item 4 of work-group 0\n"
                      "k.cl:1:27: 'x' is declared here; it lies in the buffer 'x' of 16 bytes, number 1 of the device\n"
                      "kernel void f(global int *x) {\n"
                      "                          ^\n", result.stderr)
        self.assertIn("1 finding\n", result.stderr)

    def test_nothing(self):
        result = self.tool("check", self.write("k.cl", PAST_END % ""), "--global", 4, "buf:int:4")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (OK, "", ""))

    def test_timeout(self):
        kernel = self.write("k.cl", "kernel void spin(global int *x) {\n    x[get_global_id(0) + 4] = 0;\n    while (x[0] == 0) x[0] &= 1;\n}\n")
        result = self.tool("check", kernel, "--global", 1, "--timeout", "0.3", "buf:int:4")
        self.assertEqual(result.returncode, RUN_FAILED)
        self.assertIn("not done in 300 ms; unfinished: kernel spin", result.stderr)
        self.assertIn("k.cl:2:29: out of bounds", result.stderr)
        self.assertIn("1 finding\n", result.stderr)

    def test_run_checks_when_asked(self):
        for more, environment in ((["--check"], {}), ([], {"QUERN_CHECK": "1"})):
            result = self.tool("run", *more, self.write("k.cl", PAST_END % ""), "--global", 5, "buf:int:4", env=environment)
            self.assertEqual(result.returncode, FINDINGS)
            self.assertEqual(result.stderr.count("out of bounds"), 1, result.stderr)
        self.assertEqual(self.tool("run", self.write("k.cl", PAST_END % ""), "--global", 4, "buf:int:4").returncode, OK)

    def test_json(self):
        result = self.tool("check", "--json", self.write("k.cl", RACE), "--global", 4, "buf:int:4")
        self.assertEqual(result.returncode, FINDINGS)
        told = json.loads(result.stdout)
        findings = told["findings"]
        self.assertIsNone(told["error"])
        self.assertEqual({f["kind"] for f in findings}, {"race"})
        self.assertEqual(findings[0]["object"], "x")
        self.assertEqual(findings[0]["place"]["line"], 2)
        self.assertEqual(findings[0]["other"]["line"], 2)
        self.assertEqual(findings[0]["declared"], {"line": 1, "column": 27, "file": "k.cl"})
        self.assertEqual((findings[0]["buffer"], findings[0]["buffer_size"], findings[0]["buffer_number"]), ("x", 16, 1))
        self.assertEqual(json.loads(self.tool("check", "--json", self.write("k.cl", RACE), "--global", 1, "buf:int:4").stdout),
                         {"findings": [], "error": None})

    def test_json_is_all_of_the_output(self):
        source = "kernel void f(global int *x) {\n    x[get_global_id(0)] = 1;\n    printf(\"hello\\n\");\n}\n"
        for form in ("--json", "--sarif"):
            result = self.tool("check", form, self.write("k.cl", source), "--global", 2, "buf:int:2@-")
            self.assertEqual(result.returncode, OK)
            json.loads(result.stdout)
            self.assertIn("hello\n", result.stderr)
            self.assertIn("x = 1, 1\n", result.stderr)

    def test_what_does_not_compile_is_told(self):
        broken = self.write("k.cl", "kernel void f(global int *x) { x[0] = y; }\n")
        result = self.tool("check", "--json", broken, "--global", 1, "buf:int:1")
        self.assertEqual(result.returncode, COMPILE_ERROR)
        told = json.loads(result.stdout)
        self.assertEqual(told["findings"], [])
        self.assertIn("'y'", told["error"])
        invocation = json.loads(self.tool("check", "--sarif", broken, "--global", 1, "buf:int:1").stdout)["runs"][0]["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertIn("'y'", invocation["toolExecutionNotifications"][0]["message"]["text"])

    def test_device(self):
        kernel = self.write("k.cl", PAST_END % "")
        self.assertEqual(self.tool("check", kernel, "--device", "check", "--global", 4, "buf:int:4").returncode, OK)
        result = self.tool("check", kernel, "--device", "cpu", "--global", 4, "buf:int:4")
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("--device cpu: kernels are checked on the device 'check'", result.stderr)

    def test_sarif(self):
        result = self.tool("check", "--sarif", self.write("k.cl", RACE), "--global", 4, "buf:int:4")
        self.assertEqual(result.returncode, FINDINGS)
        log = json.loads(result.stdout)
        self.assertEqual(log["version"], "2.1.0")
        first = log["runs"][0]["results"][0]
        self.assertEqual(first["ruleId"], "race")
        self.assertEqual(first["locations"][0]["physicalLocation"]["region"]["startLine"], 2)
        self.assertEqual([(place["message"]["text"], place["physicalLocation"]["region"]["startLine"])
                          for place in first["relatedLocations"]], [("the access before", 2), ("declared here", 1)])

    def test_max(self):
        result = self.tool("check", "--max", 1, self.write("k.cl", RACE), "--global", 4, "buf:int:4")
        self.assertEqual(result.stderr.count("data race"), 1)
        count = int(re.search("([2-9]) findings\n", result.stderr).group(1))
        self.assertIn("%d of them not shown (--max)\n" % (count - 1), result.stderr)
        self.assertEqual(self.tool("check", "--max", "x", "k.cl", "--global", 4).returncode, USAGE)

    def test_schedules(self):
        source = "kernel void f(global int *x) {\n    int old = atomic_inc(x);\n    if (old == 0) x[1] = get_global_id(0);\n}\n"
        result = self.tool("check", "--explore", 5, self.write("k.cl", source), "--global", 64, "--local", 8, "buf:int:2@-")
        self.assertEqual(result.returncode, FINDINGS)
        seed = re.search(r"with the schedule of --seed ([0-9]+) 'x' differs: number 1 is ([0-9]+), not 0", result.stderr)
        self.assertTrue(seed, result.stderr)
        again = self.tool("check", "--seed", seed.group(1), "k.cl", "--global", 64, "--local", 8, "buf:int:2@-")
        self.assertEqual((again.returncode, again.stdout), (OK, "x = 64, %s\n" % seed.group(2)))
        source = source.replace("x[1] = get_global_id(0)", "x[1] = 1")
        self.assertEqual(self.tool("check", "--explore", 5, self.write("k.cl", source), "--global", 64, "--local", 8,
                                   "buf:int:2").returncode, OK)

    def test_some_groups(self):
        result = self.tool("check", "--groups", 3, "--summary", self.write("k.cl", PAST_END % ""), "--global", 64, "--local", 4,
                           "buf:int:64")
        self.assertEqual(result.returncode, OK)
        self.assertIn("3 of 16 work-groups were checked\n", result.stderr)
        self.assertRegex(result.stderr, "launches: 1; work-groups: 3; buffers: 256 bytes at most; shadow memory: [0-9]+ bytes")

    def test_more_when_asked(self):
        source = "kernel void f(global int *x) { x[0] = x[0] << x[1]; }"
        for also, expected in (([], OK), (["--also", "nans,shifts"], FINDINGS), (["--also", "nans"], OK), (["--also", "nan"], USAGE)):
            result = self.tool("check", *also, self.write("k.cl", source), "--global", 1, "buf:int:2=40")
            self.assertEqual(result.returncode, expected, also)

    def test_runaway(self):
        source = "kernel void f(global int *x) {\n    while (x[0] == 0)\n        x[1]++;\n}\n"
        result = self.tool("check", "--budget", 1000, self.write("k.cl", source), "--global", 1, "buf:int:2")
        self.assertEqual(result.returncode, FINDINGS)
        self.assertIn("k.cl:2:5: runaway kernel: kernel 'f': a work-group was stopped in this loop after 1000 steps", result.stderr)

    def test_comments_that_allow_nothing(self):
        for comment, unknown in ((" // quern-check: allow out-of", "out-of"), (" // quern-check: allow race, bounds", "bounds"),
                                 (" // quern-check: allow race by design", None), (" // quern-check: allow race", None)):
            result = self.tool("check", self.write("k.cl", PAST_END % comment), "--global", 5, "buf:int:4")
            self.assertEqual("is no kind of finding" in result.stderr, unknown is not None, comment)
            if unknown:
                self.assertIn("the comment there allows '%s', which is no kind of finding\n" % unknown, result.stderr)

    def test_comments_allow(self):
        for comment, expected in ((" // quern-check: allow out-of-bounds", OK), (" // quern-check: allow race, out-of-bounds", OK),
                                  (" // quern-check: allow race", FINDINGS), (" // quern-check: allow out-of", FINDINGS)):
            result = self.tool("check", self.write("k.cl", PAST_END % comment), "--global", 5, "buf:int:4")
            self.assertEqual(result.returncode, expected, comment)

    def test_profile(self):
        source = "kernel void f(global float *x) {\n    int i = get_global_id(0);\n    x[i] = x[i] * x[i] + 1;\n}\n"
        args = ("check", "--summary", self.write("k.cl", source), "--global", 64, "--local", 16, "buf:float:64")
        result = self.tool(*args)
        self.assertEqual(result.returncode, OK)
        self.assertIn("kernel 'f': launches: 1; work-items: 64\n  operations: f32 128, ", result.stderr)
        self.assertIn("  global memory: 512 bytes read, 256 written\n  arithmetic intensity: 0.167 float operations a byte", result.stderr)
        told = json.loads(self.tool(*args, "--json").stdout)
        self.assertEqual(told["findings"], [])
        self.assertEqual((told["kernels"][0]["f32"], told["kernels"][0]["global_read"]), (128, 512))
        run = json.loads(self.tool(*args, "--sarif").stdout)["runs"][0]
        self.assertEqual((run["results"], run["properties"]["kernels"]), ([], told["kernels"]))

    def test_performance_is_advice(self):
        source = "kernel void f(global float *x) {\n    x[8 * get_global_id(0)] = 1;\n}\n"
        args = ("check", self.write("k.cl", source), "--global", 64, "--local", 64, "buf:float:512")
        self.assertEqual(self.tool(*args).stderr, "")
        result = self.tool(*args, "--performance")
        self.assertEqual(result.returncode, OK)
        self.assertIn("k.cl:2:29: uncoalesced access: kernel 'f': neighbours in a sub-group write 4 bytes 32 bytes apart in 'x': "
                      "32.0 sectors of 32 bytes on average, where 4.0 would hold them\n", result.stderr)
        self.assertIn("1 remark about speed\n", result.stderr)
        run = json.loads(self.tool(*args, "--performance", "--sarif").stdout)["runs"][0]
        self.assertEqual([r["level"] for r in run["results"]], ["note"])
        self.assertEqual(self.tool(*args, "--arch", "sm_90").stderr.count("low occupancy"), 0)
        self.assertIn("low occupancy: kernel 'f': work-groups of 4 work-items",
                      self.tool("check", "k.cl", "--global", 64, "--local", 4, "buf:float:512", "--arch", "sm_90").stderr)
        self.assertIn("'sm_1' is not known; these are: sm_70", self.tool(*args, "--arch", "sm_1").stderr)

    def test_suppressions(self):
        self.write("k.cl", PAST_END % "")
        for line, expected in (("out-of-bounds k.cl", OK), ("* *.cl:2 kernel=f object=x", OK), ("race k.cl", FINDINGS),
                               ("out-of-bounds k.cl:3", FINDINGS), ("out-of-bounds k.cl kernel=g*", FINDINGS)):
            self.write("known", "# what is known\n\n%s  # and why\n" % line)
            result = self.tool("check", "--suppress", "known", "--unused", "k.cl", "--global", 5, "buf:int:4")
            self.assertEqual(result.returncode, expected, line)
            self.assertEqual("known:3: keeps nothing from being told: %s\n" % line in result.stderr, expected != OK, result.stderr)
        result = self.tool("check", "k.cl", "--global", 5, "buf:int:4", env={"QUERN_CHECK_SUPPRESS": "known"})
        self.assertEqual(result.returncode, FINDINGS)
        self.write("known", "out-of-bounds k.cl")
        result = self.tool("check", "k.cl", "--global", 5, "buf:int:4", env={"QUERN_CHECK_SUPPRESS": "known"})
        self.assertEqual(result.returncode, OK)
        self.assertNotIn("out of bounds", result.stderr)

    def test_wrong_suppressions(self):
        self.write("k.cl", PAST_END % "")
        for line, message in (("rase k.cl", "'rase' is no kind of finding"), ("race", "'race' lacks a file"),
                              ("race k.cl:0", "'k.cl:0' has line 0"), ("race k.cl line=3", "'line=3' is neither kernel=NAME nor object=NAME"),
                              ("race k.cl kernel=", "'kernel=' names nothing"), ("race k.cl object=x object=y", "says a second time"),
                              ("race k.cl:99999999999", "too large")):
            self.write("known", "race good.cl\n%s\n" % line)
            result = self.tool("check", "--suppress", "known", "k.cl", "--global", 4, "buf:int:4")
            self.assertNotEqual(result.returncode, OK)
            self.assertIn("known:2: ", result.stderr)
            self.assertIn(message, result.stderr)
            result = self.tool("check", "k.cl", "--global", 4, "buf:int:4", env={"QUERN_CHECK_SUPPRESS": "known"})
            self.assertNotEqual(result.returncode, OK)
            self.assertIn(message, result.stderr)
        self.assertEqual(self.tool("check", "--suppress", "none", "k.cl", "--global", 4, "buf:int:4").returncode, USAGE)
        result = self.tool("check", "k.cl", "--global", 4, "buf:int:4", env={"QUERN_CHECK_SUPPRESS": "none"})
        self.assertIn("QUERN_CHECK_SUPPRESS: 'none' cannot be read: ", result.stderr)


if __name__ == "__main__":
    unittest.main()
