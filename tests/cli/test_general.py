"""The command line itself: help, versions, unknown words, devices."""
import json
import pathlib
import re
import unittest

from support import COMPILE_ERROR, OK, RUN_FAILED, SAXPY, SOURCES, USAGE, ToolTest


class General(ToolTest):
    def test_help_of_the_tool(self):
        text = self.quern("--help")
        for word in ("devices", "compile", "run", "example:"):
            self.assertIn(word, text)
        self.assertEqual(text, self.quern("help"))

    def test_help_of_each_command_has_an_example(self):
        for command in ("devices", "compile", "run"):
            text = self.quern(command, "--help")
            self.assertTrue(text.startswith("usage: quern %s" % command), text)
            self.assertIn("example: quern %s" % command, text)
            self.assertEqual(text, self.quern("help", command))
            self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_examples_of_the_help_work(self):
        self.write("saxpy.cl", SAXPY)
        for command in ("devices", "compile", "run"):
            line = [l for l in self.quern(command, "--help").splitlines() if l.startswith("example: quern ")][0]
            self.quern(*line[len("example: quern "):].split())

    def test_version(self):
        self.assertRegex(self.quern("--version"), r"^quern \d+\.\d+\.\d+\n$")

    def test_no_or_unknown_command(self):
        self.quern(status=USAGE, error="usage:")
        self.quern("brew", status=USAGE, error="no command 'brew'")
        self.quern("help", "brew", status=USAGE, error="no command 'brew'")

    def test_statuses(self):
        self.write("good.cl", "kernel void k(global int *x) { x[0] = 1; }")
        self.write("bad.cl", "kernel void k(global int *x) { x[0] = y; }")
        self.quern("run", "good.cl", "--global", 1, "buf:int:1", status=OK)
        self.quern("run", "bad.cl", "--global", 1, "buf:int:1", status=COMPILE_ERROR, error="bad.cl:1:39: error: ")
        self.quern("run", "good.cl", "buf:int:1", status=USAGE, error="--global")
        self.quern("run", "gone.cl", "--global", 1, status=RUN_FAILED, error="gone.cl")


class Devices(ToolTest):
    def test_list(self):
        text = self.quern("devices")
        self.assertRegex(text, r"(?m)^\* ")
        self.assertRegex(text, r"(?m)^[* ] cpu  ")

    def test_json(self):
        found = json.loads(self.quern("devices", "--json"))
        cpu = [d for d in found["devices"] if d["name"] == "cpu"][0]
        self.assertEqual(cpu["kind"], "cpu")
        self.assertGreater(cpu["memory"], 0)
        self.assertGreater(cpu["compute_units"], 0)
        self.assertEqual(len(cpu["max_local_size"]), 3)
        self.assertEqual(sum(d["default"] for d in found["devices"]), 1)
        self.assertIsInstance(found["missing"], list)

    def test_every_kind_is_listed(self):
        """Each kind of device is there or missing for a reason."""
        found = json.loads(self.quern("devices", "--json"))
        kinds = {d["kind"] for d in found["devices"]} | {m["kind"] for m in found["missing"]}
        table = (pathlib.Path(__file__).parents[2] / "src/runtime/backends.def").read_text()
        listed = set(re.findall(r"(?m)^BACKEND\((\w+)", table))
        by_name_only = {"null", "check"}
        self.assertLessEqual({"cpu"} | by_name_only, listed)
        self.assertEqual(kinds | by_name_only, listed)
        for missing in found["missing"]:
            self.assertGreater(len(missing["reason"]), 10, missing)
        text = self.quern("devices")
        for device in found["devices"]:
            self.assertRegex(text, r"(?m)^[* ] %s  " % device["name"])
            self.assertRegex(device["uuid"], r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        for missing in found["missing"]:
            self.assertIn("  %s: none: %s\n" % (missing["kind"], missing["reason"]), text)

    def test_software_is_never_the_default(self):
        found = json.loads(self.quern("devices", "--json"))["devices"]
        for device in found:
            if "emulated" in device["capabilities"]:
                self.assertFalse(device["default"], device)
        names = [d["name"] for d in found if "emulated" not in d["capabilities"] and d["kind"] != "webgpu"]
        self.assertEqual(names[-1], "cpu", "software devices come behind the processor")

    def test_one_gpu_has_one_number(self):
        found = json.loads(self.quern("devices", "--json"))["devices"]
        for device in found:
            for other in found:
                same = device["uuid"] == other["uuid"] != "00000000-0000-0000-0000-000000000000"
                self.assertEqual(device["gpu"] == other["gpu"], same or device is other)

    def test_webgpu_is_another_way_in(self):
        """To the Vulkan device of its vendor and model."""
        for library in sorted((SOURCES / "build" / "webgpu").glob("*.so")):
            env = {"QUERN_WEBGPU_LIB": str(library), "XDG_RUNTIME_DIR": self.dir}
            found = {d["name"]: d for d in json.loads(self.quern("devices", "--json", env=env))["devices"]}
            if "webgpu:0" not in found or found.get("vulkan:0", {}).get("description") != found["webgpu:0"]["description"]:
                continue
            self.assertFalse(found["webgpu:0"]["default"])
            self.assertEqual((found["webgpu:0"]["gpu"], found["webgpu:0"]["uuid"]), (found["vulkan:0"]["gpu"], found["vulkan:0"]["uuid"]))
            self.assertRegex(self.quern("devices", env=env), r"(?m)^one GPU, [2-4] ways in:$")

    def test_limits_of_loops(self):
        found = {d["name"]: d["loop_limit"] for d in json.loads(self.quern("devices", "--json"))["devices"]}
        self.assertEqual(found["cpu"], 0)
        told = re.findall(r"loops after (\d+) iterations", self.quern("devices"))
        self.assertEqual(sorted(told), sorted(str(n) for n in found.values() if n))

    def test_registers(self):
        found = {d["name"]: d["vector_bytes"] for d in json.loads(self.quern("devices", "--json"))["devices"]}
        self.assertIn(found.pop("cpu"), (0, 16, 32, 64))
        self.assertEqual(set(found.values()) - {0}, set())

    def test_wrong_use(self):
        self.quern("devices", "--xml", status=USAGE, error="--xml")

    def test_unknown_default(self):
        self.quern("devices", status=RUN_FAILED, error="toaster", env={"QUERN_DEVICE": "toaster"})


if __name__ == "__main__":
    unittest.main()
