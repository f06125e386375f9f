"""Tensors beside NumPy: each op over types, shapes and broadcasts; views; reductions; then random programs of up to thirty ops.
Usage: test_numpy.py RUNNER [--seed N] [--count N]"""
import argparse
import sys

from functions import FLOATS, INTEGERS, ONE, TWO, make, room_of
from programs import Batch, TYPES, np, shape_text

def test_maps(batch, random):
    for name, (reference, low, high, types) in ONE.items():
        for type_name in types:
            p, x = batch.program(f"{name} {type_name}"), make(random, type_name, (5, 7), low, high)
            if type_name in FLOATS and name.startswith("is_"):
                x.flat[:4] = [np.nan, np.inf, -np.inf, 0]
            wanted = reference(x)
            p.read(p.new(name, p.data(x)), wanted, room_of(wanted) if x.dtype.kind == "f" else 4e-6)
    shapes = [((5, 7), (5, 7)), ((5, 7), (7,)), ((5, 1), (1, 7)), ((2, 1, 4), (3, 1)), ((), (3, 4)), ((0, 3), (1, 3))]
    for name, (reference, low, high, types) in TWO.items():
        for i, type_name in enumerate(types):
            left, right = shapes[i % len(shapes)]
            p = batch.program(f"{name} {type_name} {left} {right}")
            x, y = make(random, type_name, left, low, high), make(random, type_name, right, low, high)
            if name in ("remainder", "fmod"):
                y = np.where(y == 0, y.dtype.type(3), y)
            wanted = np.asarray(reference(x, y))
            p.read(p.new(name, p.data(x), p.data(y)), wanted, room_of(wanted))


def test_promotion(batch):
    pairs = [("i8", "i16", "i16"), ("u8", "i8", "i16"), ("u16", "i8", "i32"), ("u32", "i32", "i64"), ("u8", "u32", "u32"),
             ("f16", "i64", "f16"), ("f32", "i64", "f32"), ("f16", "f32", "f32"), ("f64", "f16", "f64"), ("bool", "u8", "u8"),
             ("bool", "bool", "bool"), ("bool", "f16", "f16")]
    for a, b, wanted in pairs:
        for left, right in ((a, b), (b, a)):
            p = batch.program(f"{left} + {right}")
            x, y = np.ones(3, TYPES[left]), np.asarray([0, 1, 1], TYPES[right])
            p.read(p.new("add", p.data(x), p.data(y)), (x.astype(TYPES[wanted]) + y.astype(TYPES[wanted])))
    for a, number, wanted in [("i8", "#3", "i8"), ("i8", "#0.5", "f32"), ("f16", "#3", "f16"), ("u8", "#200", "u8"),
                              ("bool", "#2", "i64"), ("f64", "#0.1", "f64"), ("i64", "#-7", "i64")]:
        p, x = batch.program(f"{a} + {number}"), np.ones(4, TYPES[a])
        p.read(p.new("add", p.data(x), number), x.astype(TYPES[wanted]) + np.dtype(TYPES[wanted]).type(float(number[1:])))
    for a, number in [("u8", "#256"), ("u8", "#-1"), ("i8", "#128")]:
        p = batch.program(f"{a} + {number}")
        p.read(p.new("add", p.data(np.ones(2, TYPES[a])), number), "does not have the number")
    for a, b in [("u64", "i8"), ("i64", "u64")]:
        p = batch.program(f"{a} + {b}")
        p.read(p.new("add", p.data(np.ones(2, TYPES[a])), p.data(np.ones(2, TYPES[b]))), "no common type")


def test_casts(batch, random):
    for a in TYPES:
        for b in TYPES:
            p, x = batch.program(f"cast {a} {b}"), make(random, a, (9,), -100, 100)
            if b == "bool" or x.dtype.kind == "b":
                wanted = x.astype(TYPES[b])
            elif x.dtype.kind == "f" and np.dtype(TYPES[b]).kind in "iu":
                limits = np.iinfo(TYPES[b])
                wanted = np.clip(np.trunc(x), limits.min, limits.max).astype(TYPES[b])
            else:
                wanted = x.astype(TYPES[b])
            p.read(p.new("cast", p.data(x), b), wanted, 0)


def test_creation(batch):
    for lines, wanted in [
            (("full", "i64", "2x3", "#9007199254740993"), np.full((2, 3), 9007199254740993)),
            (("full", "f32", "scalar", "#0.1"), np.float32(0.1)), (("full", "bool", "2", "#3"), np.ones(2, bool)),
            (("arange", "i32", 3, 20, 4), np.arange(3, 20, 4, dtype=np.int32)), (("arange", "f32", 0, 1, 0.1), np.arange(0, 1, 0.1).astype(np.float32)),
            (("arange", "i64", 5, -5, -3), np.arange(5, -5, -3)), (("arange", "f32", 3, 3, 1), np.zeros(0, np.float32)),
            (("linspace", "f32", -1, 2, 7), np.linspace(-1, 2, 7, dtype=np.float32)), (("linspace", "f64", 1, 1, 1), np.ones(1)),
            (("eye", "f32", 3, 5, 1), np.eye(3, 5, 1, dtype=np.float32)), (("eye", "i8", 4, 4, -2), np.eye(4, 4, -2, dtype=np.int8))]:
        p = batch.program(" ".join(str(w) for w in lines))
        p.read(p.new(*lines), wanted, 1e-7)


REDUCE = {"sum": np.sum, "product": np.prod, "mean": np.mean, "max": np.max, "min": np.min, "any": np.any, "all": np.all}


def reduced_type(name, dtype):
    if name in ("max", "min"):
        return dtype
    if name in ("any", "all"):
        return np.dtype(np.bool_)
    if dtype.kind == "f":
        return dtype
    return np.dtype(np.float32) if name == "mean" else np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


def test_reductions(batch, random):
    shapes = [((6,), (0,)), ((4, 5), (1,)), ((4, 5), (0,)), ((3, 4, 5), (0, 2)), ((3, 4, 5), (1,)), ((2, 70), (1,)), ((70, 40), (0,)),
              ((3, 300), (1,)), ((2, 3, 4, 5), None), ((1, 5, 1), (0, 2)), ((2, 5000), (1,)), ((100, 33, 2), (0,)), ((3, 0), (1,)), ((), None)]
    for name, reference in REDUCE.items():
        for i, (shape, axes) in enumerate(shapes):
            if name in ("max", "min") and 0 in shape:
                continue
            for k, type_name in enumerate(["f32", ["i8", "u16", "f16", "bool", "i64", "f64", "u32"][i % 7]]):
                p, keep = batch.program(f"{name} {type_name} {shape} {axes}"), (i + k) % 2
                x = make(random, type_name, shape, 0.9 if name == "product" else -20, 1.1 if name == "product" else 20)
                wide = x.astype(np.float64) if x.dtype.kind == "f" else x.astype(np.int64) if x.dtype.kind == "b" and name in ("sum", "product", "mean") else x
                with np.errstate(all="ignore"):
                    wanted = np.asarray(reference(wide, axis=axes, keepdims=bool(keep)) if x.size or name != "mean" else np.full(np.sum(x, axis=axes, keepdims=bool(keep)).shape, np.nan))
                wanted = wanted.astype(reduced_type(name, x.dtype))
                text = "all" if axes is None else ",".join(str(a) for a in axes)
                p.read(p.new(name, p.data(x), text, keep), wanted, room_of(wanted), np.sqrt(x.size + 1) * 20)
    for shape, axis in [((7,), 0), ((4, 9), 1), ((4, 9), 0), ((2, 300), -1)]:
        x = make(random, "f32", shape, -9, 9)
        for name, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
            p = batch.program(f"{name} {shape} {axis}")
            p.read(p.new(name, p.data(x), axis, 0), np.asarray(f(x, axis=axis)))
        x.flat[3] = np.nan
        for name, f in [("argmax", np.argmax), ("max", np.max), ("min", np.min)]:
            p = batch.program(f"{name} with NaN {shape}")
            v = p.new(name, p.data(x), axis, 0)
            p.read(v, np.asarray(f(x, axis=axis)))


def softmax(x, axis):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def test_rows(batch, random):
    for shape, axis in [((4, 9), -1), ((3, 500), 1), ((2, 6000), 1), ((50, 6), 0), ((5, 4, 40), 1), ((300, 20), 1)]:
        x = make(random, "f32", shape, -5, 5)
        size = ",".join([str(axis)])
        for name, wanted in [("softmax", softmax(x, axis)), ("log_softmax", np.log(softmax(x, axis)))]:
            p = batch.program(f"{name} {shape} {axis}")
            p.launches(10**9)
            p.read(p.new(name, p.data(x), axis), wanted.astype(np.float32), 1e-5)
            p.launches(1)
        p = batch.program(f"layer norm {shape}")
        v = p.data(x)
        p.launches(10**9)
        centred = p.new("subtract", v, p.new("mean", v, size, 1))
        scale = p.new("rsqrt", p.new("add", p.new("variance", v, size, 0, 1), "#0.00001"))
        wide = x.astype(np.float64)
        wanted = (wide - wide.mean(axis, keepdims=True)) / np.sqrt(wide.var(axis, keepdims=True) + 1e-5)
        p.read(p.new("multiply", centred, scale), wanted.astype(np.float32), 2e-5)
        p.launches(1)
        p = batch.program(f"log_sum_exp {shape}")
        p.read(p.new("log_sum_exp", p.data(x), size, 0), np.log(np.exp(wide).sum(axis)).astype(np.float32), 1e-5)


def test_products(batch, random):
    for left, right in [((4, 5), (5, 6)), ((5,), (5, 6)), ((4, 5), (5,)), ((5,), (5,)), ((3, 4, 5), (5, 6)), ((2, 1, 4, 5), (3, 5, 2)),
                        ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((1, 1), (1, 1)), ((70, 33), (33, 65))]:
        for type_name in ["f32", "f64", "f16", "i32", "u8"]:
            x, y = make(random, type_name, left, -3, 3), make(random, type_name, right, -3, 3)
            wide = np.float64 if x.dtype.kind == "f" else x.dtype
            wanted = np.asarray(x.astype(wide) @ y.astype(wide)).astype(x.dtype)
            p = batch.program(f"matmul {type_name} {left} {right}")
            p.read(p.new("matmul", p.data(x), p.data(y)), wanted, room_of(wanted), 10)
    x, w = make(random, "f32", (6, 8), -1, 1), make(random, "f32", (10, 8), -1, 1)
    p = batch.program("matmul of views, with what is before and behind")
    v, t = p.data(x), p.new("transpose", p.data(w), 0, 1)
    sliced = p.new("slice", p.new("flip", t, 1), 1, 1, "end", 2)
    out = p.new("relu", p.new("matmul", p.new("sin", v), sliced))
    p.read(p.new("softmax", out, -1), softmax(np.maximum(np.sin(x) @ w.T[:, ::-1][:, 1::2], 0), -1).astype(np.float32), 1e-5)
    p.read(p.new("matmul", p.new("broadcast_to", p.new("full", "f32", "scalar", "#0.5"), "3x6"), v), np.full((3, 6), 0.5, np.float32) @ x, 1e-5)
    p.read(p.new("matmul", p.data(np.ones((2, 3), np.float32)), v), "do not go together")


class Random:
    """A random program: variables with their NumPy values, all f32 and within bounds, so that errors do not grow."""

    def __init__(self, batch, random, number):
        self.p, self.random, self.values = batch.program(f"random {number}"), random, []
        self.uses = {}
        for _ in range(random.integers(1, 4)):
            shape = tuple(int(s) for s in random.integers(1, 7, random.integers(0, 4)))
            array = make(random, "f32", shape, -2, 2)
            self.values.append((self.p.data(array), array))

    def pick(self):
        return self.values[self.random.integers(max(0, len(self.values) - 6), len(self.values))]

    def keep(self, variable, array):
        array = np.asarray(array, np.float32)
        if 0 < array.size <= 20000 and np.isfinite(array).all() and np.abs(array).max(initial=0) < 1e3:
            self.values.append((variable, array))

    def unary(self):
        name, f = [("sin", np.sin), ("tanh", np.tanh), ("sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("abs", np.abs), ("negate", np.negative),
                   ("relu", lambda x: np.maximum(x, 0)), ("square", np.square)][self.random.integers(7)]
        v, a = self.pick()
        self.keep(self.p.new(name, v), f(a))

    def binary(self):
        name, f = [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum)][self.random.integers(4)]
        (v, a), (w, b) = self.pick(), self.pick()
        try:
            result = f(a, b)
        except ValueError:
            number = round(float(self.random.uniform(-2, 2)), 2)
            self.keep(self.p.new(name, v, f"#{number:f}"), f(a, np.float32(number)))
            return
        self.keep(self.p.new(name, v, w), result)

    def reduce(self):
        v, a = self.pick()
        if not a.ndim:
            return
        axes = tuple(int(x) for x in self.random.permutation(a.ndim)[:self.random.integers(1, a.ndim + 1)])
        name, f = [("mean", np.mean), ("max", np.max), ("min", np.min)][self.random.integers(3)]
        keep = int(self.random.integers(2))
        self.keep(self.p.new(name, v, ",".join(map(str, axes)), keep), f(a, axis=axes, keepdims=bool(keep)))

    def view(self):
        v, a = self.pick()
        kind = self.random.integers(7)
        if kind == 0 or not a.ndim:
            sizes = factors(self.random, a.size)
            self.keep(self.p.new("reshape", v, shape_text(sizes)), a.reshape(sizes))
            return
        axis = int(self.random.integers(a.ndim))
        if kind == 1:
            order = [int(x) for x in self.random.permutation(a.ndim)]
            self.keep(self.p.new("permute", v, ",".join(map(str, order))), a.transpose(order))
        elif kind == 2:
            self.keep(self.p.new("flip", v, axis), np.flip(a, axis))
        elif kind == 3:
            begin, step = int(self.random.integers(a.shape[axis])), int(self.random.integers(1, 3))
            cut = [slice(None)] * a.ndim
            cut[axis] = slice(begin, None, step)
            self.keep(self.p.new("slice", v, axis, begin, "end", step), a[tuple(cut)])
        elif kind == 4:
            before, after = (int(x) for x in self.random.integers(0, 3, 2))
            around = [(0, 0)] * a.ndim
            around[axis] = (before, after)
            self.keep(self.p.new("pad", v, axis, before, after, "#1.5"), np.pad(a, around, constant_values=1.5))
        elif kind == 5:
            self.keep(self.p.new("concat", axis, v, v), np.concatenate([a, a], axis))
        else:
            self.keep(self.p.new("unsqueeze", v, axis), np.expand_dims(a, axis))

    def product(self):
        (v, a), (w, b) = self.pick(), self.pick()
        if a.ndim == 2 and b.ndim == 2 and a.shape[1] == b.shape[1]:
            self.keep(self.p.new("matmul", v, self.p.new("transpose", w, 0, 1)), a @ b.T)
        elif a.ndim == 2:
            self.keep(self.p.new("matmul", self.p.new("transpose", v, 0, 1), v), a.T @ a)

    def row(self):
        v, a = self.pick()
        if a.ndim:
            axis = int(self.random.integers(a.ndim))
            self.keep(self.p.new("softmax", v, axis), softmax(a, axis))

    def order(self):
        v, a = self.pick()
        if not a.ndim:
            return
        axis, kind = int(self.random.integers(a.ndim)), self.random.integers(5)
        if kind == 0:
            self.keep(self.p.new("sort", v, axis, 1), -np.sort(-a, axis))
        elif kind == 1:
            self.keep(self.p.new("cumulative_sum", v, axis), np.cumsum(a.astype(np.float64), axis))
        elif kind == 2:
            self.keep(self.p.new("cumulative_max", v, axis), np.maximum.accumulate(a, axis))
        elif kind == 3:
            k = int(self.random.integers(1, a.shape[axis] + 1))
            self.keep(self.p.new("top_k", v, k, axis, 1), np.sort(a, axis).take(range(k), axis))
        else:
            indices = self.random.integers(-1, a.shape[axis] + 1, self.random.integers(1, 5))
            with_zeros = np.concatenate([a, np.zeros_like(a.take([0], axis))], axis)
            taken = np.take(with_zeros, np.where(indices < 0, a.shape[axis], indices), axis)
            self.keep(self.p.new("take", v, self.p.data(indices.astype(np.int64)), axis), taken)

    def rearrange(self):
        v, a = self.pick()
        if not a.ndim:
            return
        axis, kind = int(self.random.integers(a.ndim)), self.random.integers(6)
        if kind == 0:
            shift = int(self.random.integers(-7, 8))
            self.keep(self.p.new("roll", v, shift, axis), np.roll(a, shift, axis))
        elif kind == 1:
            self.keep(self.p.new("repeat", v, 2, axis), np.repeat(a, 2, axis))
        elif kind == 2:
            times = tuple(int(x) for x in self.random.integers(1, 3, a.ndim))
            self.keep(self.p.new("tile", v, shape_text(times)), np.tile(a, times))
        elif kind == 3 and a.shape[axis]:
            self.keep(self.p.new("difference", v, 1, axis), np.diff(a, 1, axis))
        elif kind == 4 and a.ndim > 1:
            offset = int(self.random.integers(-2, 3))
            self.keep(self.p.new("tril", v, offset), np.tril(a, offset))
        elif a.ndim > 1:
            self.keep(self.p.new("diagonal", v, 0, 0, -1), np.diagonal(a, 0, 0, -1))

    def choose(self):
        (v, a), (w, b) = self.pick(), self.pick()
        try:
            np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            self.keep(self.p.new("clip", v, "#-0.5", "#0.75"), np.clip(a, np.float32(-0.5), np.float32(0.75)))
            return
        self.keep(self.p.new("where", self.p.new("greater", v, w), v, w), np.where(a > b, a, b))

    def matrix(self):
        v, a = self.pick()
        if a.ndim < 2 or a.size > 2000 or not a.size:
            return
        n = a.shape[-2]
        small = self.p.new("tanh", v)
        square = self.p.new("matmul", small, self.p.new("transpose", small, -1, -2))
        square = self.p.new("add", square, self.p.new("multiply", self.p.new("eye", "f32", n, n, 0), f"#{n}.0"))
        wide = np.tanh(a.astype(np.float64))
        wide = wide @ wide.swapaxes(-1, -2) + n * np.eye(n)
        kind = self.random.integers(3)
        if kind == 0:
            self.keep(self.p.new("inverse", square), np.linalg.inv(wide))
        elif kind == 1:
            self.keep(self.p.new("cholesky", square), np.linalg.cholesky(wide))
        else:
            self.keep(self.p.new("svd", square, 0), np.linalg.svd(wide, compute_uv=False))

    def run(self):
        steps = [self.unary] * 3 + [self.binary] * 4 + [self.reduce] * 2 + [self.view] * 4 + [self.row, self.product, self.order, self.rearrange, self.choose, self.matrix]
        for _ in range(self.random.integers(3, 31)):
            steps[self.random.integers(len(steps))]()
        for _ in range(2):
            v, a = self.pick()
            self.p.read(v, a, 2e-4, np.abs(a).max(initial=1))


def factors(random, size):
    sizes = []
    while size > 1 and len(sizes) < 4:
        divisors = [d for d in range(1, min(size, 60) + 1) if size % d == 0]
        sizes.append(int(divisors[random.integers(len(divisors))]))
        size //= sizes[-1]
    return tuple(sizes + [size])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only")
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    parts = {"maps": lambda: test_maps(batch, random), "promotion": lambda: test_promotion(batch), "casts": lambda: test_casts(batch, random),
             "creation": lambda: test_creation(batch), "reductions": lambda: test_reductions(batch, random), "rows": lambda: test_rows(batch, random),
             "products": lambda: test_products(batch, random),
             "random": lambda: [Random(batch, random, i).run() for i in range(args.count)]}
    for name, part in parts.items():
        if args.only in (None, name):
            part()
    sys.exit(1 if batch.run() else 0)


if __name__ == "__main__":
    main()
