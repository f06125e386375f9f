"""quern rings: the rings of other processes."""
import os
import subprocess
import time
import unittest

from support import QUERN, RUN_FAILED, USAGE, ToolTest


class Rings(ToolTest):
    def test_of_another_process(self):
        folder = os.path.join(self.dir, "rings")
        env = dict(self.env, QUERN_RINGS=folder)
        other = subprocess.Popen([QUERN, "bench", "rings", "--device", "cpu", "--soak", "600"], env=env,
                                 stdout=subprocess.DEVNULL)
        try:
            shown = ""
            for _ in range(3000):
                time.sleep(0.1)
                if os.path.isdir(folder):
                    shown = self.quern("rings", "--once", folder)
                    if " active " in shown and "  0          0 " not in shown:
                        break
            head, row = shown.splitlines()
            self.assertRegex(head, "process +ring +device +state +handled +a second +wait +p50 +p99 +longest +lost +errors")
            self.assertRegex(row, r"^ *%d +check +cpu +active +\d+ +\d+ +\d+( +[0-9.]+ [num]s){3} +0 +0$" % other.pid)
        finally:
            other.kill()
            other.wait()
        # What a process leaves that was killed is nobody's.
        self.assertEqual(len(os.listdir(folder)), 1)
        self.assertEqual(len(self.quern("rings", "--once", folder).splitlines()), 1)

    def test_wrong_use(self):
        self.quern("rings", "--once", status=USAGE, error="give the folder")
        self.quern("rings", "--twice", status=USAGE, error="unknown option '--twice'")
        self.quern("rings", "--once", "nowhere", status=RUN_FAILED, error="nowhere cannot be read")


if __name__ == "__main__":
    unittest.main()
