"""Random programs fused beside the same with each op computed at once (the descriptor's `eager`): integers are equal bit by bit, floats as near as what may be
contracted, and sums in another order, leave them. Usage: test_fused.py RUNNER [--seed N] [--count N]"""
import argparse
import sys

from programs import Batch, NAMES, TYPES, np
from test_numpy import Random
from test_shapes import Views, broadcasting, random_shape

BOUND = 1e-5  # of the largest size of a value
OF_NAMES = {name: np.dtype(kind) for kind, name in ((k, n) for k, n in NAMES.items())}


class Integers:
    """A random program of integers and comparisons."""

    def __init__(self, batch, random, number):
        self.p, self.random = batch.program(f"integers {number}"), random
        shape, self.values = random_shape(random, 5, 200), []
        for _ in range(3):
            name = ["i8", "i16", "i32", "i64", "u8", "u16", "u32"][random.integers(7)]
            own = broadcasting(random, shape)
            self.values.append(Views(random).lay(self.p, random.integers(0, 100, own).astype(TYPES[name])))

    def run(self):
        for _ in range(self.random.integers(3, 25)):
            x, y = (self.values[i] for i in self.random.integers(max(0, len(self.values) - 6), len(self.values), 2))
            kind = self.random.integers(10)
            if kind < 5:
                self.values.append(self.p.new(["add", "multiply", "maximum", "bit_xor", "subtract"][kind], x, y))
            elif kind == 5:
                self.values.append(self.p.new("where", self.p.new("less", x, y), x, y))
            elif kind == 6:
                self.values.append(self.p.new("cast", x, ["i8", "i16", "i32", "i64", "u8", "u16"][self.random.integers(6)]))
            else:
                self.values.append(self.p.new(["sum", "max", "min"][kind - 7], x, "all", 1) if self.random.integers(3) == 0 else self.p.new("bit_not", x))
        for v in self.values[-3:]:
            self.p.read(v, None)


def array(answer, output):
    words = answer.split()
    if words[0] != "ok":
        return answer
    shape = () if words[2] == "scalar" else tuple(int(s) for s in words[2].split("x"))
    kind = OF_NAMES[words[1]]
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(output, kind, count, int(words[3])).reshape(shape)


def differ(fused, eager):
    """What is wrong, if it is, and how far the values are apart."""
    if isinstance(fused, str) or isinstance(eager, str):
        # Only the op's number may differ.
        return (None if str(fused).split(" (op")[0] == str(eager).split(" (op")[0] else f"{fused} instead of {eager}"), 0
    if fused.dtype != eager.dtype or fused.shape != eager.shape:
        return f"{fused.dtype} {fused.shape} instead of {eager.dtype} {eager.shape}", 0
    if fused.dtype.kind != "f":
        return (None if np.array_equal(fused, eager) else "values differ"), 0
    apart = float(np.abs(fused - eager).max(initial=0) / max(1.0, float(np.abs(eager).max(initial=0))))
    return (None if apart <= BOUND else f"{apart:.2g} apart"), apart


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    for i in range(args.count):
        (Random if i % 2 else Integers)(batch, random, i).run()
    fused, eager = batch.answers(), batch.answers("--eager")
    expected = [p for p in batch.programs for _ in p.wanted]
    failures, most = 0, 0.0
    for p, ours, theirs in zip(expected, fused[0], eager[0]):
        wrong, apart = differ(array(ours, fused[1]), array(theirs, eager[1]))
        most = max(most, apart)
        if wrong:
            failures += 1
            print(f"{p.name}: {wrong}\n    " + "\n    ".join(p.lines))
    for answers, _, done in (fused, eager):
        if done.returncode or len(answers) != len(expected):
            print(f"run: exit status {done.returncode}, {len(answers)} of {len(expected)} answers; {done.stderr}")
            failures += 1
    print(f"{len(batch.programs)} programs, {len(expected)} values, at most {most:.2g} apart, {failures} failures")
    sys.exit(1 if failures else 0)


main()
