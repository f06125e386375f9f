"""quern tune: what it writes is read, and what is wrong loses nothing. Which choices are good is for others to look at."""
import json
import unittest

from support import DIFFERENT, RUN_FAILED, USAGE, ToolTest

OTHER = "device cuda | Imagined 9000 | 1.0\nmatmul f32 f32 f32 nn 4096x4096x4096: variant tile 64x64, parts 2\n"


class Tune(ToolTest):
    def setUp(self):
        super().setUp()
        self.env.update(QUERN_CC="none", QUERN_CPU_THREADS="1")

    def test_tune(self):
        """On the interpreter strips, which work-items do alone, are slow: there is something to find."""
        args = ("tune", "matmul", "--device", "cpu", "--size", "20x36x64,9", "--type", "f32", "--seconds", "60", "--out", "out.tuning")
        self.write("out.tuning", "quern tuning 2\n" + OTHER)
        for _ in range(2):  # what it says of this device is made anew
            shown = self.quern(*args)
            self.assertIn("2 of 2 products in the time that there was", shown)
            lines = self.read("out.tuning").decode().splitlines()
            self.assertEqual(lines[:3], ["quern tuning 2"] + OTHER.splitlines())
            self.assertRegex(lines[3], r"^device cpu \| .* \| interpreter$")
            found = lines[4:]
            self.assertGreater(len(found), 0)
            for line in found:
                self.assertRegex(line, r"^matmul f32 f32 f32 nn (20x36x64|9x9x9): variant [a-z]+[a-z0-9 ]*, parts [0-9]+$")
            self.assertEqual(len({line.split(":")[0] for line in found}), len(found))
        self.quern("bench", "matmul", "--device", "cpu", "--size", "20x36x64", "--type", "f32", "--tuning", "out.tuning", "--seconds",
                   "0.001", "--json", "t.json")
        self.assertEqual([row["by"] for row in json.loads(self.read("t.json"))["results"]], ["tuned", "quern"])

    def test_printed(self):
        shown = self.quern("tune", "matmul", "--device", "cpu", "--size", "4", "--seconds", "0.001")
        self.assertRegex(shown, r"(?s)of 1 products in the time that there was\n\nquern tuning 2\ndevice cpu \| ")

    def test_other_calls(self):
        """The calls that a row of quern bench kernels makes, and nothing for those that have no choice."""
        args = ("--device", "cpu", "--elements", "5000", "--only", "sum f32,softmax f32,fill f32")
        shown = self.quern("tune", "kernels", *args, "--seconds", "60", "--out", "k.tuning")
        self.assertIn("4 of 4 other calls in the time that there was", shown)
        self.assertNotIn("sum", shown)  # a processor's has no choice
        self.assertRegex(shown, r"(?m)^  rows softmax f32 70x70 +[0-9.]+ .*\([0-9]+ tried\)$")
        # What was chosen is measured beside the library's own choice.
        head = self.read("k.tuning").decode().splitlines()[:2]
        self.write("k.tuning", "\n".join(head + ["rows softmax f32 70x70: items 8"]) + "\n")
        shown = self.quern("bench", "kernels", *args, "--tuning", "k.tuning", "--seconds", "0.001", "--json", "k.json")
        rows = [(row["what"].split(",")[0], row["by"]) for row in json.loads(self.read("k.json"))["results"]]
        self.assertEqual([by for what, by in rows if what == "softmax f32"], 2 * ["quern", "tuned"])  # square, and rows of 4096
        self.assertIn("the library's choice has", shown)

    def test_wrong_results(self):
        """The null device computes nothing: nothing is kept of it."""
        self.quern("tune", "matmul", "--device", "null", "--size", "4", "--seconds", "0.1", "--out", "null.tuning", status=DIFFERENT,
                   error="the product of 4 x 4 x 4 is wrong")
        self.assertRegex(self.read("null.tuning").decode(), r"^quern tuning 2\ndevice null [^\n]*\n$")

    def test_wrong_files(self):
        wrong = "quern tuning 2\n" + OTHER + "matmul f32\n"
        self.write("wrong.tuning", wrong)
        for command in (("tune", "matmul", "--size", "4", "--out", "wrong.tuning"), ("bench", "matmul", "--size", "4", "--tuning", "wrong.tuning")):
            self.quern(*command, "--device", "cpu", "--seconds", "0.001", status=RUN_FAILED, error="tuning, line 4: '' is no OPERAND")
        self.assertEqual(self.read("wrong.tuning").decode(), wrong)
        self.quern("bench", "matmul", "--tuning", "none.tuning", status=RUN_FAILED, error="none.tuning: No such file")
        self.quern("tune", "matmul", "--device", "cpu", "--size", "4", "--seconds", "0.001", "--out", "none/out", status=RUN_FAILED, error="none/out")

    def test_usage(self):
        self.quern("tune", "sort", status=USAGE, error="'sort' has nothing to tune")
        self.quern("tune", "--ladder", status=USAGE, error="unknown option '--ladder'")
        self.quern("tune", "--out", status=USAGE, error="--out needs a value")
        self.quern("tune", "--type", "f31", status=USAGE, error="not 'f31'")


if __name__ == "__main__":
    unittest.main()
