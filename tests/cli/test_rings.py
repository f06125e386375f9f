"""quern rings: the rings of other processes."""
import os
import pty
import select
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

    def test_on_a_terminal(self):
        """The table is drawn anew each second, in place."""
        folder = os.path.join(self.dir, "rings")
        os.mkdir(folder)
        row = '{"ring": "%s", "device": "cpu", "state": "active", "handled": %d, "per_second": 5, "latency": {"p50_ns": 900}}'
        path = os.path.join(folder, "%d-1.json" % os.getpid())
        with open(path, "w") as file:
            file.write(row % ("first", 41))
        ours, theirs = pty.openpty()
        running = subprocess.Popen([QUERN, "rings", folder], env=self.env, stdout=theirs)
        os.close(theirs)
        try:
            shown = self.read_until(ours, b"", lambda shown: b" 41 " in shown)
            self.assertTrue(shown.startswith(b"\x1b[H\x1b[J process"), shown)
            with open(path, "w") as file:
                file.write(row % ("second", 42))
            shown = self.read_until(ours, shown, lambda shown: b" 42 " in shown)
            tables = shown.split(b"\x1b[H\x1b[J")[1:]
            self.assertGreaterEqual(len(tables), 2)
            self.assertRegex(tables[0], rb"process +ring .*\r\n +%d  first +cpu +active +41 " % os.getpid())
            self.assertRegex(tables[-1], rb" second +cpu +active +42 +5 +0 +900 ns ")
        finally:
            running.kill()
            running.wait()
            os.close(ours)

    def read_until(self, terminal, shown, is_enough):
        for _ in range(600):
            if is_enough(shown):
                return shown
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 4096)
        self.fail("not shown in a minute: %r" % shown)

    def test_wrong_use(self):
        self.quern("rings", "--once", status=USAGE, error="give the folder")
        self.quern("rings", "--twice", status=USAGE, error="unknown option '--twice'")
        self.quern("rings", "--once", "nowhere", status=RUN_FAILED, error="nowhere cannot be read")


if __name__ == "__main__":
    unittest.main()
