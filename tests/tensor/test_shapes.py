"""Each op beside NumPy over random shapes of up to eight dimensions, empty ones among them, of random views: permuted, flipped, with steps, broadcast, padded. Then ops
of six to eight dimensions one by one. Usage: test_shapes.py RUNNER [--seed N] [--count N] [--only PART]: below 100 a part of the programs."""
import argparse
import sys

from functions import FLOATS, INTEGERS, ONE, TWO, make, room_of
from programs import Batch, np, shape_text


def random_shape(random, most_rank=8, most=400):
    rank = int(random.integers(0, most_rank + 1))
    shape = [int(s) for s in random.integers(1, 6, rank)]
    while np.prod(shape) > most:
        shape[int(np.argmax(shape))] -= 1
    if rank and random.integers(8) == 0:
        shape[random.integers(rank)] = 0
    return tuple(shape)


class Views:
    """Arrays of a shape whose elements lie anyhow: contiguous data under a few views that are taken back from the shape on."""

    def __init__(self, random):
        self.random = random

    def lay(self, p, array):
        """A variable of the array's values; the last of the views is made first."""
        if array.ndim == 0:
            return p.data(array)
        kind, axis = self.random.integers(6), int(self.random.integers(array.ndim))
        if kind == 0:
            return p.data(array)
        if kind == 1:
            order = [int(d) for d in self.random.permutation(array.ndim)]
            return p.new("permute", self.lay(p, array.transpose(np.argsort(order))), ",".join(map(str, order)))
        if kind == 2:
            return p.new("flip", self.lay(p, np.flip(array, axis)), axis)
        if kind == 3:
            step, begin = int(self.random.integers(1, 4)), int(self.random.integers(0, 3))
            wide = np.full(array.shape[:axis] + (begin + step * array.shape[axis],) + array.shape[axis + 1:], 1, array.dtype)
            wide[(slice(None),) * axis + (slice(begin, None, step),)] = array
            return p.new("slice", self.lay(p, wide), axis, begin, "end", step)
        if kind == 4 and array.ndim < 8:
            return p.new("squeeze", self.lay(p, np.expand_dims(array, axis)), axis)
        return p.new("reshape", self.lay(p, array.reshape(-1)), shape_text(array.shape))


def broadcasting(random, shape):
    """A shape that broadcasts to `shape`: without some of the first dimensions, others of size 1."""
    part = shape[random.integers(0, len(shape) + 1):] if random.integers(2) else shape
    return tuple(1 if random.integers(3) == 0 else s for s in part)


def pair(random, most=400):
    whole = random_shape(random, 8, most)
    left, right = whole, broadcasting(random, whole)
    return (left, right) if random.integers(2) else (right, left)


def test_maps(batch, random):
    views = Views(random)
    for name, (reference, low, high, types) in ONE.items():
        for _ in range(3):
            type_name = types[random.integers(len(types))]
            x = make(random, type_name, random_shape(random), low, high)
            p, wanted = batch.program(f"{name} {type_name} {x.shape}"), np.asarray(reference(x))
            p.read(p.new(name, views.lay(p, x)), wanted, room_of(wanted) if x.dtype.kind == "f" else 4e-6)
    for name, (reference, low, high, types) in TWO.items():
        for _ in range(3):
            type_name, (left, right) = types[random.integers(len(types))], pair(random)
            x, y = make(random, type_name, left, low, high), make(random, type_name, right, low, high)
            if name in ("remainder", "fmod"):
                y = np.where(y == 0, y.dtype.type(3), y)
            p, wanted = batch.program(f"{name} {type_name} {left} {right}"), np.asarray(reference(x, y))
            p.read(p.new(name, views.lay(p, x), views.lay(p, y)), wanted, room_of(wanted))
    for _ in range(6):
        (left, right), third = pair(random), np.float32(random.uniform(-1, 1))
        x, y = make(random, "f32", left, -2, 2), make(random, "f32", right, -2, 2)
        p = batch.program(f"three operands {left} {right}")
        v, w = views.lay(p, x), views.lay(p, y)
        p.read(p.new("where", p.new("less", v, w), v, w), np.where(x < y, x, y))
        p.read(p.new("multiply_add", v, w, f"#{third:f}"), x * y + third, 1e-5)
        p.read(p.new("clip", v, "#-0.5", "#1.25"), np.clip(x, -0.5, 1.25).astype(np.float32))
        p.read(p.new("lerp", v, w, "#0.25"), (x + 0.25 * (y - x)).astype(np.float32), 1e-5)


REDUCE = {"sum": np.sum, "product": np.prod, "mean": np.mean, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
          "count_nonzero": np.count_nonzero, "norm": lambda x, axis, keepdims: np.sqrt(np.square(x).sum(axis=axis, keepdims=keepdims)),
          "log_sum_exp": lambda x, axis, keepdims: np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))}


def reduced(name, x, axes, keep):
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    with np.errstate(all="ignore"):
        wanted = np.asarray(REDUCE[name](wide, axis=axes, keepdims=keep))
    if name in ("any", "all"):
        return wanted.astype(np.bool_)
    if name == "count_nonzero":
        return wanted.astype(np.int64)
    if x.dtype.kind == "f" or name in ("max", "min"):
        return wanted.astype(x.dtype)
    return wanted.astype(np.float32 if name == "mean" else np.uint64 if x.dtype.kind == "u" else np.int64)


def test_reductions(batch, random):
    views = Views(random)
    for name in REDUCE:
        for _ in range(8):
            type_name = (FLOATS if name in ("norm", "log_sum_exp") else FLOATS + INTEGERS)[random.integers(3 if name in ("norm", "log_sum_exp") else 10)]
            shape = random_shape(random)
            if name in ("max", "min", "mean", "log_sum_exp") and 0 in shape:  # refused, or NaN
                shape = tuple(max(s, 1) for s in shape)
            low, high = (0.9, 1.1) if name == "product" else (-3, 3)
            x, keep = make(random, type_name, shape, low, high), bool(random.integers(2))
            axes = tuple(int(a) for a in random.permutation(len(shape))[: random.integers(1, len(shape) + 1)]) if shape else None
            p, wanted = batch.program(f"{name} {type_name} {shape} {axes}"), reduced(name, x, axes, keep)
            text = "all" if axes is None else ",".join(map(str, axes))
            p.read(p.new(name, views.lay(p, x), text, int(keep)), wanted, room_of(wanted) if wanted.dtype.kind == "f" else 0, np.sqrt(x.size + 1) * 3)


def softmax(x, axis):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def test_ranks(batch, random):
    views = Views(random)
    for shape in [(2, 3, 1, 2, 4, 3), (3, 1, 2, 2, 2, 1, 5), (2, 2, 3, 1, 2, 2, 3, 2), (2, 1, 2, 3, 2, 1, 2, 4)]:
        rank, x = len(shape), make(random, "f32", shape, -2, 2)
        p = batch.program(f"rank {rank}: rows")
        v, axis = views.lay(p, x), int(random.integers(rank))
        p.read(p.new("softmax", v, axis), softmax(x, axis).astype(np.float32), 1e-5)
        p.read(p.new("variance", v, f"{axis},{(axis + 2) % rank}", 0, 1), x.astype(np.float64).var((axis, (axis + 2) % rank), keepdims=True).astype(np.float32), 1e-5)
        p.read(p.new("argmax", v, axis, 0), np.asarray(np.argmax(x, axis)))
        p.read(p.new("sort", v, axis, 0), np.sort(x, axis))
        p.read(p.new("cumulative_sum", v, axis), np.cumsum(x.astype(np.float64), axis).astype(np.float32), 1e-5)
        p = batch.program(f"rank {rank}: views")
        v, order = views.lay(p, x), [int(d) for d in random.permutation(rank)]
        turned = p.new("permute", v, ",".join(map(str, order)))
        p.read(turned, x.transpose(order))
        p.read(p.new("add", p.new("multiply", turned, "#2.0"), p.new("flip", turned, "0,-1")), (2 * x.transpose(order) + np.flip(x.transpose(order), (0, -1))).astype(np.float32))
        p.read(p.new("pad", turned, 3, 1, 2, "#0.5"), np.pad(x.transpose(order), [(1, 2) if d == 3 else (0, 0) for d in range(rank)], constant_values=0.5))
        p.read(p.new("flatten", turned, 1, -2), x.transpose(order).reshape(x.shape[order[0]], -1, x.shape[order[-1]]))
        p.read(p.new("concat", 2, v, v), np.concatenate([x, x], 2))
        p.read(p.new("roll", v, 1, -1), np.roll(x, 1, -1))
        p.read(p.new("repeat", v, 3, 1), np.repeat(x, 3, 1))
        p.read(p.new("tile", v, shape_text((2,) + (1,) * (rank - 2) + (2,))), np.tile(x, (2,) + (1,) * (rank - 2) + (2,)))
        p = batch.program(f"rank {rank}: broadcasts")
        small = make(random, "f32", tuple(s if d % 2 else 1 for d, s in enumerate(shape))[1:], -2, 2)
        v, w = views.lay(p, x), views.lay(p, small)
        p.read(p.new("subtract", w, v), small - x)
        p.read(p.new("sum", p.new("multiply", v, w), "0,-1", 0), (x.astype(np.float64) * small).sum((0, -1)).astype(np.float32), 1e-5)
        p.read(p.new("broadcast_to", w, shape_text(shape)), np.broadcast_to(small, shape))
        p = batch.program(f"rank {rank}: products")
        y = make(random, "f32", shape[2:-2] + (shape[-1], 3), -1, 1)
        p.read(p.new("matmul", views.lay(p, x), views.lay(p, y)), (x.astype(np.float64) @ y).astype(np.float32), 1e-5)
        a, b = make(random, "i16", shape, -9, 9), make(random, "i16", (shape[-1], 3), -9, 9)
        p.read(p.new("matmul", views.lay(p, a), views.lay(p, b)), a @ b)
        p.read(p.new("matmul", p.data(np.zeros(shape[:-1] + (0,), np.float32)), p.data(np.zeros((0, 2), np.float32))), np.zeros(shape[:-1] + (2,), np.float32))
        p = batch.program(f"rank {rank}: gradients")
        v = p.new("require", p.data(x))
        loss = p.new("square", p.new("slice", v, 4, 0, "end", 2))
        gradient = np.zeros_like(x)
        gradient[:, :, :, :, ::2] = 2 * x[:, :, :, :, ::2]
        p.read(p.new("gradient", loss, v), gradient)
        for words in (("tile", v, shape_text((1, 2) + (1,) * (rank - 2))), ("repeat", v, 2, -1)):
            p.read(p.new("gradient", p.new("square", p.new(*words)), v), 4 * x)
        p = batch.program(f"rank {rank}: indices")
        v = views.lay(p, x)
        at = random.integers(0, shape[-1], (2,))
        p.read(p.new("take", v, p.data(at), -1), np.take(x, at, -1))
        chosen = [random.integers(0, s, (2, 1) if d % 2 else (3,)) for d, s in enumerate(shape[: rank - 1])]
        p.read(p.new("index", v, *[p.data(c) for c in chosen]), x[tuple(chosen)])
        along = random.integers(0, shape[-1], shape[:-1] + (2,))
        p.read(p.new("take_along_axis", v, p.data(along), -1), np.take_along_axis(x, along, -1))
        written = x.copy()
        written[:, :, at[:1] % shape[2]] = 7
        p.read(p.new("scatter", v, p.data(at[:1] % shape[2]), p.new("full", "f32", shape_text(shape[:2] + (1,) + shape[3:]), "#7.0"), 2), written)
    p = batch.program("nine dimensions")
    p.read(p.new("unsqueeze", p.data(np.ones((1, 2, 1, 1, 1, 1, 1, 2), np.float32)), 0), "as many dimensions as there can be")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only")
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    for name, part in {"maps": test_maps, "reductions": test_reductions, "ranks": test_ranks}.items():
        if args.only not in (None, name):
            continue
        for _ in range(args.count // 100 or 1 if name != "ranks" else 1):
            part(batch, random)
    if args.count < 100:
        batch.programs = batch.programs[:: 200 // args.count + 1]
    sys.exit(1 if batch.run() else 0)


if __name__ == "__main__":
    main()
