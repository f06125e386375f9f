"""QUERN_LOG: what the library tells on the standard error."""
import re
import unittest

from support import SAXPY, ToolTest

RUN = ("int:4", "float:2", "buf:float:4=1,2,3,4", "buf:float:4=1@-")


class Log(ToolTest):
    def log(self, level, *args):
        self.write("saxpy.cl", SAXPY)
        args = args or ("run", "--device", "cpu", "saxpy.cl", "--global", "4", "--local", "2", *RUN)
        out, lines = self.quern_and_log(*args, env={"QUERN_LOG": level})
        self.assertIn("y = 3, 5, 7, 9", out)
        for line in lines:
            self.assertRegex(line, "^quern: (error|warning|info|debug): .")
        return lines

    def line(self, lines, pattern):
        found = [line for line in lines if re.search(pattern, line)]
        self.assertEqual(len(found), 1, "%s in %s" % (pattern, lines))
        return found[0]

    def test_debug_tells_of_devices_compiles_buffers_and_launches(self):
        lines = self.log("debug")
        self.line(lines, r"debug: cpu opened in [\d.]+ ms: ")
        self.line(lines, r"debug: cpu: saxpy.cl: cache miss, compiled in [\d.]+ ms, code loaded in [\d.]+ ms$")
        self.line(lines, r"debug: cpu: launch saxpy, global 4, local 2$")
        self.assertEqual(len([l for l in lines if "cpu: a buffer of 16 bytes" in l]), 2)

    def test_debug_tells_of_the_c_compiler_and_the_cache(self):
        self.write("saxpy.cl", SAXPY)
        run = ("run", "--device", "cpu", "saxpy.cl", "--global", "4", "--time", "2", *RUN[:3], "buf:float:4=1@-")
        _, lines = self.quern_and_log(*run, env={"QUERN_LOG": "debug"})  # --time waits for the compiler
        self.line(lines, r"debug: cpu: kernel saxpy compiled by \S+ in \d+ ms$")
        _, lines = self.quern_and_log(*run, env={"QUERN_LOG": "debug"})
        self.line(lines, r"debug: cpu: saxpy.cl: cache hit, read in [\d.]+ ms, code loaded in [\d.]+ ms$")

    def test_levels(self):
        self.assertEqual(self.log("error"), [])
        self.assertEqual(self.log("warning"), [])
        self.assertEqual([l for l in self.log("info") if "debug" in l], [])
        self.assertEqual(self.log(""), [])

    def test_unknown_level(self):
        lines = self.log("loud")
        self.assertEqual(lines, ["quern: warning: QUERN_LOG is 'loud'; it can be error, warning, info or debug"])


if __name__ == "__main__":
    unittest.main()
