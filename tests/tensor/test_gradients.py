"""Gradients beside NumPy's central differences in double: of each function of elements and each reduction over random shapes, views and broadcasts, and of random programs
of up to twenty ops. Usage: test_gradients.py RUNNER [--seed N] [--count N] [--only PART]: below 100 a part of the programs."""
import argparse
import sys

from functions import ONE, TWO, make
from programs import Batch, np, shape_text
from test_shapes import REDUCE, Views, pair, random_shape

STEP = 1e-6
ROOM = {"f32": 3e-4, "f64": 1e-6}
# Functions that are flat, or whose values are no floats, have none; those with edges are tried beside these.
WITHOUT = {"is_nan", "is_inf", "is_finite", "sign_bit", "logical_not", "bit_not", "floor_divide", "next_after", "equal", "not_equal", "less", "less_equal",
           "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}


def differences(function, arrays, weights):
    """The derivative of the weighted sum of a function of elements by each of its arguments' elements."""
    gradients = []
    for i, x in enumerate(arrays):
        up, down = ([np.asarray(a, np.float64) for a in arrays] for _ in range(2))
        up[i], down[i] = np.asarray(up[i] + STEP), np.asarray(down[i] - STEP)
        with np.errstate(all="ignore"):
            whole = np.asarray(weights * (np.asarray(function(*up)) - np.asarray(function(*down))) / (2 * STEP))
        extra = whole.ndim - x.ndim
        axes = tuple(range(extra)) + tuple(extra + d for d, s in enumerate(x.shape) if s == 1 and whole.shape[extra + d] != 1)
        gradients.append(whole.sum(axes, keepdims=True).reshape(x.shape))
    return gradients


def ask(p, result, variables, weights, wanted, type_name):
    loss = p.new("multiply", result, p.data(weights))
    for v, g in zip(variables, wanted):
        g = np.asarray(g).astype(weights.dtype)
        p.read(p.new("gradient", loss, v), g, ROOM[type_name], max(1.0, float(np.abs(g).max(initial=0))))


def test_maps(batch, random):
    views = Views(random)
    for name, (reference, low, high, types) in list(ONE.items()) + list(TWO.items()):
        if name in WITHOUT or "f32" not in types:
            continue
        for type_name in ("f32", "f64"):
            shapes = [random_shape(random, 8, 60)] if name in ONE else pair(random, 60)
            arrays = [make(random, type_name, s, low, high) for s in shapes]
            if name in ("remainder", "fmod"):
                arrays[1] = np.where(np.abs(arrays[1]) < 1, arrays[1].dtype.type(3), arrays[1])
            if name in ("power", "sqrt"):
                arrays[0] = arrays[0] + arrays[0].dtype.type(0.25)
            if name in ("asin", "acos"):
                arrays[0] = arrays[0] * arrays[0].dtype.type(0.95)
            if name == "acosh":
                arrays[0] = arrays[0] + arrays[0].dtype.type(0.1)
            p = batch.program(f"gradient of {name} {type_name} {[a.shape for a in arrays]}")
            parameters = [p.new("require", views.lay(p, a)) for a in arrays]
            wide = [np.asarray(a, np.float64) for a in arrays]
            weights = make(random, type_name, np.broadcast_shapes(*shapes), 0.5, 1.5)
            ask(p, p.new(name, *parameters), parameters, weights, differences(reference, wide, weights.astype(np.float64)), type_name)


def along(function, arrays, weights, directions):
    """How the weighted sum changes as all arguments move along the directions."""
    def value(step):
        return float((weights * function(*[a + step * d for a, d in zip(arrays, directions)])).sum())
    return (value(STEP) - value(-STEP)) / (2 * STEP)


def ask_along(p, random, result, variables, arrays, function, weights, count=3):
    """A gradient is right if it is in enough directions: these are random, of all arguments at once."""
    loss = p.new("multiply", result, p.data(weights))
    gradients = [p.new("gradient", loss, v) for v in variables]
    for _ in range(count):
        directions = [random.uniform(-1, 1, a.shape) for a in arrays]
        total = None
        for g, d in zip(gradients, directions):
            part = p.new("sum", p.new("multiply", g, p.data(d)), "all", 0)
            total = part if total is None else p.new("add", total, part)
        wanted = along(function, arrays, weights, directions)
        p.read(total, np.float64(wanted), 1e-5, max(1.0, abs(wanted), float(np.sqrt(sum(a.size for a in arrays)))))


def test_reductions(batch, random):
    views = Views(random)
    for name in ("sum", "product", "mean", "max", "min", "norm", "log_sum_exp"):
        for _ in range(4):
            shape = tuple(max(s, 1) for s in random_shape(random, 8, 100))
            axes = tuple(int(a) for a in random.permutation(len(shape))[: random.integers(1, len(shape) + 1)]) if shape else None
            x, keep = make(random, "f64", shape, 0.5, 1.5), bool(random.integers(2))
            p = batch.program(f"gradient of {name} {shape} {axes}")
            v = p.new("require", views.lay(p, x))
            text = "all" if axes is None else ",".join(map(str, axes))

            def function(x, name=name, axes=axes, keep=keep):
                return np.asarray(REDUCE[name](x, axis=axes, keepdims=keep))
            weights = np.asarray(random.uniform(0.5, 1.5, function(x).shape))
            ask_along(p, random, p.new(name, v, text, int(keep)), [v], [x], function, weights)


class Program:
    """A random program: each value is a variable and how NumPy makes it of the parameters. What is near an edge of a function is left to others."""

    def __init__(self, batch, random, number):
        self.p, self.random = batch.program(f"gradients of program {number}"), random
        self.arrays = [random.uniform(-1, 1, tuple(random.integers(1, 5, random.integers(1, 4)))) for _ in range(random.integers(1, 4))]
        self.parameters = [self.p.new("require", Views(random).lay(self.p, a)) for a in self.arrays]
        self.values = [(v, lambda *given, i=i: given[i], a) for i, (v, a) in enumerate(zip(self.parameters, self.arrays))]

    def pick(self):
        return self.values[self.random.integers(max(0, len(self.values) - 5), len(self.values))]

    def keep(self, variable, function, *operands):
        made = [o[1] for o in operands]
        value = np.asarray(function(*[o[2] for o in operands]))
        if 0 < value.size <= 2000 and np.abs(value).max() < 50:
            self.values.append((variable, lambda *given: np.asarray(function(*[m(*given) for m in made])), value))

    def unary(self):
        name, f = [("sin", np.sin), ("tanh", np.tanh), ("exp", np.exp), ("square", np.square), ("atan", np.arctan), ("negate", np.negative),
                   ("softplus", lambda x: np.logaddexp(x, 0))][self.random.integers(7)]
        x = self.pick()
        self.keep(self.p.new(name, x[0]), f, x)

    def binary(self):
        name, f = [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("hypot", lambda a, b: np.sqrt(a * a + b * b)),
                   ("log_add_exp", np.logaddexp)][self.random.integers(5)]
        x, y = self.pick(), self.pick()
        if name == "hypot" and (np.abs(x[2]).min() < 0.01 or x is y):
            return
        try:
            np.broadcast_shapes(x[2].shape, y[2].shape)
        except ValueError:
            return
        self.keep(self.p.new(name, x[0], y[0]), f, x, y)

    def reduce(self):
        x = self.pick()
        if not x[2].ndim:
            return
        name, f = [("mean", np.mean), ("sum", np.sum)][self.random.integers(2)]
        axes = tuple(int(a) for a in self.random.permutation(x[2].ndim)[: self.random.integers(1, x[2].ndim + 1)])
        keep = bool(self.random.integers(2))
        self.keep(self.p.new(name, x[0], ",".join(map(str, axes)), int(keep)), lambda a: f(a, axis=axes, keepdims=keep), x)

    def view(self):
        x = self.pick()
        rank = x[2].ndim
        if not rank:
            return
        axis, kind = int(self.random.integers(rank)), self.random.integers(8)
        begin, step = int(self.random.integers(x[2].shape[axis])), int(self.random.integers(1, 4))
        cut = (slice(None),) * axis + (slice(begin, None, step),)
        order = [int(d) for d in self.random.permutation(rank)]
        around = [(1, 2) if d == axis else (0, 0) for d in range(rank)]
        words, f = [(("permute", x[0], ",".join(map(str, order))), lambda a: a.transpose(order)),
                    (("flip", x[0], axis), lambda a: np.flip(a, axis)),
                    (("slice", x[0], axis, begin, "end", step), lambda a: a[cut]),
                    (("pad", x[0], axis, 1, 2, "#0.5"), lambda a: np.pad(a, around, constant_values=0.5)),
                    (("concat", axis, x[0], x[0]), lambda a: np.concatenate([a, a], axis)),
                    (("reshape", x[0], str(x[2].size)), lambda a: a.reshape(-1)),
                    (("roll", x[0], begin + 1, axis), lambda a: np.roll(a, begin + 1, axis)),
                    (("repeat", x[0], 2, axis), lambda a: np.repeat(a, 2, axis))][kind]
        self.keep(self.p.new(*words), f, x)

    def row(self):
        x = self.pick()
        if not x[2].ndim:
            return
        axis, kind = int(self.random.integers(x[2].ndim)), self.random.integers(4)

        def soft(a):
            e = np.exp(a - a.max(axis, keepdims=True))
            return e / e.sum(axis, keepdims=True)
        at = self.random.integers(0, x[2].shape[axis], 3)
        words, f = [(("softmax", x[0], axis), soft), (("log_softmax", x[0], axis), lambda a: np.log(soft(a))),
                    (("cumulative_sum", x[0], axis), lambda a: np.cumsum(a, axis)),
                    (("take", x[0], self.p.data(at), axis), lambda a: np.take(a, at, axis))][kind]
        self.keep(self.p.new(*words), f, x)

    def product(self):
        x = self.pick()
        if x[2].ndim >= 2:
            turned = self.p.new("transpose", x[0], -1, -2)
            self.keep(self.p.new("matmul", x[0], turned), lambda a: a @ a.swapaxes(-1, -2), x)

    def choose(self):
        x, y = self.pick(), self.pick()
        if x[2].shape != y[2].shape or (x is not y and np.abs(x[2] - y[2]).min() < 1e-3):
            return
        name, f = [("maximum", np.maximum), ("minimum", np.minimum)][self.random.integers(2)]
        if x is not y:
            self.keep(self.p.new(name, x[0], y[0]), f, x, y)

    def run(self):
        steps = [self.unary] * 3 + [self.binary] * 4 + [self.reduce] + [self.view] * 4 + [self.row] * 2 + [self.product, self.choose]
        for _ in range(self.random.integers(2, 21)):
            steps[self.random.integers(len(steps))]()
        variable, function, value = self.values[-1]
        weights = self.random.uniform(0.5, 1.5, value.shape)
        ask_along(self.p, self.random, variable, self.parameters, self.arrays, function, weights)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only")
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    parts = {"maps": lambda: test_maps(batch, random), "reductions": lambda: test_reductions(batch, random),
             "programs": lambda: [Program(batch, random, i).run() for i in range(max(args.count, 100))]}
    for name, part in parts.items():
        if args.only in (None, name):
            part()
    if args.count < 100:
        batch.programs = batch.programs[:: 200 // args.count + 1]
    sys.exit(1 if batch.run() else 0)


main()
