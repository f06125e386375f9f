"""QUERN_TRACE: the file is JSON that tells what ran, on which stream, and when, on each kind of device that there is."""
import json
import os
import signal
import subprocess
import time
import unittest

from support import QUERN, SAXPY, ToolTest

RUN = ("--global", "4", "int:4", "float:2", "buf:float:4=1,2,3,4", "buf:float:4=1@-")


class Trace(ToolTest):
    def events(self, name="trace.json"):
        return json.loads(self.read(name))

    def trace(self, device):
        self.write("saxpy.cl", SAXPY)
        self.quern("run", "--device", device, "saxpy.cl", "--time", 5, *RUN, env={"QUERN_TRACE": "trace.json"})
        return self.events()

    def check(self, device):
        before = time.monotonic_ns() / 1000
        events = self.trace(device)
        after = time.monotonic_ns() / 1000
        spans = [e for e in events if e["ph"] == "X"]
        for e in spans:
            self.assertGreaterEqual(e["ts"], before)
            self.assertLessEqual(e["ts"] + e["dur"], after)
        launches = [e for e in spans if e["cat"] == "launch"]
        self.assertGreaterEqual(len(launches), 6)
        self.assertEqual({e["name"] for e in launches}, {"saxpy"})
        self.assertRegex(launches[0]["args"]["range"], "^global 4, local [124]$")
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual({tracks[e["tid"]] for e in launches}, {"%s stream 1 (default)" % device})
        for one, next_one in zip(launches, launches[1:]):
            self.assertLessEqual(one["ts"] + one["dur"], next_one["ts"] + 0.01)
            self.assertGreaterEqual(next_one["ts"] + 0.01, next_one["args"]["submitted"])
        compiles = [e for e in spans if e["cat"] == "compile"]
        self.assertTrue({"cache miss", "compile", "load code"} <= {e["name"] for e in compiles}, compiles)
        self.assertTrue(all(tracks[e["tid"]].startswith("host thread") for e in compiles))
        self.assertLess(compiles[0]["ts"], launches[0]["ts"])
        return events

    def check_if_there(self, kind):
        present = json.loads(self.quern("devices", "--json"))["devices"]
        names = [d["name"] for d in present if d["name"].startswith(kind)]
        if not names:
            self.skipTest("no %s device" % kind)
        self.check(names[0])

    def test_cpu(self):
        events = self.check("cpu")
        self.assertEqual(len([e for e in events if e["name"] == "C compiler"]), 1)

    def test_null(self):
        events = self.check("null")
        self.assertEqual({e["args"]["bytes"] for e in events if e.get("cat") == "copy"}, {16})

    def test_vulkan(self):
        self.check_if_there("vulkan")

    def test_opencl(self):
        self.check_if_there("opencl")

    def test_a_process_that_is_killed(self):
        self.write("saxpy.cl", SAXPY)
        command = [QUERN, "run", "--device", "null", "saxpy.cl", "--time", "1000000", *RUN]
        run = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL,
                               env=dict(self.env, QUERN_TRACE="trace.json"))
        try:
            path = os.path.join(self.dir, "trace.json")
            for _ in range(6000):
                if os.path.exists(path) and os.path.getsize(path) > 50000:
                    break
                time.sleep(0.05)
        finally:
            run.send_signal(signal.SIGSTOP)  # no write is cut in the middle
            time.sleep(0.05)
            run.kill()
            run.wait()
        self.assertGreater(len([e for e in self.events() if e.get("cat") == "launch"]), 100)

    def test_a_new_run_begins_anew(self):
        self.assertEqual(len(self.trace("null")), len(self.trace("null")))


if __name__ == "__main__":
    unittest.main()
