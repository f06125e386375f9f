"""Programs of tensor ops for the runner (run.c), and their references in NumPy. A Batch collects many small programs, runs them in
one process and compares what comes out."""
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: Python has no numpy (apt install python3-numpy, or a virtual environment)")
    sys.exit(77)
import narrow

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
         "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}
NAMES = {np.dtype(t): name for name, t in TYPES.items()}


class Narrow:
    """Values of a float type that NumPy has not. As wanted ones they are f64, and `room` is how much of its size a value may be wrong by before
    it is rounded to the type, beside `least`."""

    def __init__(self, name, values, room=0, least=0):
        self.name, self.values = name, np.asarray(values, np.float64)
        self.shape, self.room, self.least = self.values.shape, room, least

    def differs(self, codes):
        got, wanted = narrow.values_of(self.name, codes), self.values
        with np.errstate(all="ignore"):
            room = np.where(np.isfinite(wanted), np.abs(wanted) * self.room + self.least, 0)
            low, high = narrow.rounded(self.name, wanted - room), narrow.rounded(self.name, wanted + room)
        return got, ~(((low <= got) & (got <= high)) | (np.isnan(got) & (np.isnan(low) | np.isnan(high))))


def shape_text(shape):
    return "x".join(str(s) for s in shape) if len(shape) else "scalar"


class Program:
    """Lines, and the values that NumPy has for the variables that are read."""

    def __init__(self, batch, name):
        self.batch, self.name, self.lines, self.wanted, self.count = batch, name, [], [], 0

    def new(self, *words):
        variable = f"v{self.count}"
        self.count += 1
        self.lines.append(" ".join([variable, "="] + [str(w) for w in words]))
        return variable

    def data(self, array):
        if isinstance(array, Narrow):
            codes = narrow.codes_of(array.name, array.values)
            return self.new("data", array.name, shape_text(array.shape), self.batch.store(codes))
        array = np.asarray(array)
        return self.new("data", NAMES[array.dtype], shape_text(array.shape), self.batch.store(array))

    def read(self, variable, wanted, tolerance=2e-6, scale=None):
        """wanted: an array, or a piece of the sentence of a failure."""
        self.lines.append(f"read {variable}")
        self.wanted.append((wanted, tolerance, scale))

    def launches(self, most):
        self.lines.append("launches")
        self.wanted.append((most, None, None))


class Batch:
    def __init__(self, runner):
        self.runner, self.programs, self.input, self.size = runner, [], [], 0

    def program(self, name):
        self.programs.append(Program(self, name))
        return self.programs[-1]

    def store(self, array):
        data = np.ascontiguousarray(array).tobytes()
        at = self.size
        padded = data + bytes(-len(data) % 16)
        self.input.append(padded)
        self.size += len(padded)
        return at

    def answers(self, *options):
        """What the runner says to each value that is read, what it wrote, and how it ended."""
        lines = []
        for p in self.programs:
            lines += ["begin"] + p.lines + ["end"]
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/in", "wb") as f:
                f.write(b"".join(self.input))
            done = subprocess.run([self.runner, f"{folder}/in", f"{folder}/out", *options], input="\n".join(lines) + "\n",
                                  capture_output=True, text=True)
            if done.returncode == 77:
                print(done.stdout)
                sys.exit(77)
            with open(f"{folder}/out", "rb") as f:
                return done.stdout.splitlines(), f.read(), done

    def run(self):
        """Runs all; gives the number of failures, after printing them."""
        answers, output, done = self.answers()
        expected = [(p, *w) for p in self.programs for w in p.wanted]
        failures = 0
        if done.returncode:
            print(f"run: exit status {done.returncode}, {len(answers)} of {len(expected)} answers; {done.stderr}")
            for line in expected[len(answers)][0].lines if len(answers) < len(expected) else []:
                print("    " + line)
            return 1
        for (program, wanted, tolerance, scale), answer in zip(expected, answers):
            wrong = compare(answer, wanted, tolerance, scale, output)
            if wrong:
                failures += 1
                if failures <= 10:
                    print(f"{program.name}: {wrong}\n    " + "\n    ".join(program.lines))
        if len(answers) != len(expected):
            print(f"run: {len(answers)} of {len(expected)} answers; {done.stderr}")
            failures += 1
        print(f"{len(self.programs)} programs, {len(expected)} values, {failures} failures")
        return failures


def compare(answer, wanted, tolerance, scale, output):
    words = answer.split()
    if words[0] == "launches":
        return None if int(words[1]) <= wanted else f"{words[1]} launches, at most {wanted} wanted"
    if isinstance(wanted, str):
        return None if words[0] == "failed" and wanted in answer else f"'{wanted}' wanted: {answer}"
    if words[0] != "ok":
        return answer
    wanted = wanted if isinstance(wanted, Narrow) else np.asarray(wanted)
    name, kind = (wanted.name, np.dtype(narrow.code_type(wanted.name))) if isinstance(wanted, Narrow) else (NAMES[wanted.dtype], wanted.dtype)
    shape = () if words[2] == "scalar" else tuple(int(s) for s in words[2].split("x"))
    if words[1] != name or shape != wanted.shape:
        return f"{words[1]} {shape} instead of {name} {wanted.shape}"
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    got = np.frombuffer(output[int(words[3]):int(words[3]) + size], kind).reshape(shape)
    if isinstance(wanted, Narrow):
        got, bad = wanted.differs(got)
        wanted = wanted.values
    elif wanted.dtype.kind != "f":
        bad = got != wanted
    else:
        with np.errstate(all="ignore"):
            a, b = got.astype(np.float64), wanted.astype(np.float64)
            room = tolerance * (1 + np.abs(b if scale is None else scale))
            bad = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= room))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, first at {at}: {got[at]} instead of {wanted[at]}"


