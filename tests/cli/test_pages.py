"""What the pages show: one saxpy everywhere, and the README's first command as it is typed."""
import re
import unittest

from support import SAXPY, SOURCES, ToolTest

KERNEL = SAXPY[SAXPY.index("kernel void"):].strip()
EXAMPLE = "saxpy.cl --global 4 int:4 float:2 buf:float:4=1,2,3,4 buf:float:4=1@-"


def lines(text):
    """Without indentation, which is the surroundings' own."""
    return [line.strip() for line in text.strip().splitlines()]


class Pages(ToolTest):
    def page(self, name):
        return (SOURCES / name).read_text()

    def test_one_kernel(self):
        self.assertEqual(lines(self.page("tests/cl/algo_saxpy.cl"))[-len(lines(KERNEL)):], lines(KERNEL))
        cpp = re.search(r'R"\((.*?)\)"', self.page("examples/saxpy.cpp"), re.S).group(1)
        self.assertEqual(lines(cpp), lines(KERNEL))
        for name in ("examples/saxpy.c", "README.md"):
            literal = re.search(r"source\[\] =(.*?);\n\n", self.page(name), re.S).group(1)
            c = "".join(re.findall(r'"(.*?)"\n?', literal)).replace("\\n", "\n")
            self.assertEqual(lines(c), lines(KERNEL), name)

    def test_one_launch(self):
        """Its arguments in the order of the parameters: n, 2, x, y."""
        self.assertIn("QN_ARGS(n, 2.0f, x, y)", self.page("include/quern/quern.h"))
        self.assertIn("quern::range(n), n, 2.0f, x, y)", self.page("include/quern/quern.hpp"))
        self.assertIn("QN_ARGS(8, 2.0f, xs, ys)", self.page("examples/saxpy.c"))
        self.assertIn("quern::range(xs.size()), xs.size(), 2.0f, x, y)", self.page("examples/saxpy.cpp"))

    def test_one_command(self):
        self.assertIn("quern run " + EXAMPLE, self.quern("--help"))
        self.assertIn("quern run " + EXAMPLE, self.quern("run", "--help"))
        self.assertIn("quern run " + EXAMPLE, self.page("docs/quern.1").replace("\\-", "-"))
        self.assertIn("kernels/" + EXAMPLE, self.page("README.md"))

    def test_options_of_programs(self):
        """Those that the front end knows, and no others, are in the list and in the manual page."""
        known = set(re.findall(r'"(-[A-Za-z][^"=]*)=?"', self.page("src/front/options.c"))) | {"-D", "-I"}
        language = re.search(r"## Options\n\n(.*?)\n\n", self.page("docs/language.md"), re.S).group(1)
        self.assertEqual(set(re.findall(r"`(-[A-Za-z][A-Za-z0-9-]*)", language)), known)
        manual = self.page("docs/quern.1").replace("\\-", "-")
        manual = re.search(r"\.SH OPTIONS OF PROGRAMS(.*?)\n\.SH", manual, re.S).group(1)
        listed = [line for line in manual.splitlines() if re.match(r"\.(B|BR|BI) -[A-Za-z]", line)]
        self.assertEqual(set(re.findall(r"(?<![-\w])-[A-Za-z][A-Za-z0-9-]*", " ".join(listed))), known - {"-D", "-I"})

    def test_options_of_commands(self):
        """What --help tells of is in the manual page, and the other way round."""
        text = self.quern("--help")
        for command in re.findall(r"^  (\w+) ", text, re.M):
            text += self.quern(command, "--help")
        options = r"(?<![-\w])--[a-z][a-z0-9-]*"
        manual = re.sub(r"\\f[A-Z]", "", self.page("docs/quern.1").replace("\\-", "-"))
        self.assertEqual(set(re.findall(options, text)), set(re.findall(options, manual)))

    def test_the_first_command_of_the_readme(self):
        block = re.search(r"```\n(.*?)```", self.page("README.md"), re.S).group(1).splitlines()
        self.assertEqual(block[0], "$ make")
        self.assertTrue(block[1].startswith("$ build/release/quern run kernels/"), block[1])
        words = block[1][len("$ build/release/quern "):].split()
        words[1] = str(SOURCES / words[1])
        self.assertEqual(self.quern(*words), "\n".join(block[2:]) + "\n")


if __name__ == "__main__":
    unittest.main()
