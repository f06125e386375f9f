"""Tensors of bf16, e4m3 and e5m2 beside NumPy, which knows them by tests/tensor/narrow.py: functions of elements, comparisons, reductions, casts;
and the table of types that two types make. Of the 8-bit types all values and all pairs of them are tried. Usage: test_narrow.py RUNNER [--seed N]
[--count N] [--only PART]: below 100 a part of the programs, for devices whose drivers take their time over each kernel."""
import argparse
import sys

import narrow
from functions import ONE, TWO
from programs import Batch, Narrow, TYPES, np

NARROW = ["bf16", "e4m3", "e5m2"]
# What is exact in f32 or rounded to it first, as NumPy does in f32.
EXACT = {"negate", "abs", "sign", "square", "relu", "floor", "ceil", "round", "trunc", "add", "subtract", "multiply", "maximum", "minimum", "copy_sign"}


def numbers(random, name, low, high):
    """All values of an 8-bit type from low to high, or a part of those of bf16."""
    values = narrow.TABLES[name]
    with np.errstate(invalid="ignore"):
        values = values[(values >= low) & (values <= high)]
    if name == "bf16":
        values = values[(np.abs(values) > 1e-30) | (values == 0)]
        values = random.choice(values, 300)
    return values


def computed(reference, name, *values):
    """In f32, as quern does, where f32 rounds as it does; else in f64."""
    with np.errstate(all="ignore"):
        if name in EXACT:
            return reference(*[v.astype(np.float32) for v in values]).astype(np.float64)
        return reference(*[v.astype(np.float64) for v in values])


def wanted_of(name, type_name, result):
    if result.dtype.kind == "b":
        return result
    return Narrow(type_name, result, 0, 0) if name in EXACT else Narrow(type_name, result, 5e-6, 4e-7)


def test_maps(batch, random):
    for type_name in NARROW:
        for name, (reference, low, high, types) in ONE.items():
            if "f16" not in types:
                continue
            x = numbers(random, type_name, low, high)
            if name in EXACT or name.startswith("is_"):
                x = np.concatenate([x, [np.nan, -0.0] + [np.inf, -np.inf] * (type_name != "e4m3")])
            p = batch.program(f"{name} {type_name}")
            p.read(p.new(name, p.data(Narrow(type_name, x))), wanted_of(name, type_name, computed(reference, name, x)))
        for name, (reference, low, high, types) in TWO.items():
            if "f16" not in types:
                continue
            all_pairs = name in EXACT or name == "divide" or "equal" in name or "less" in name or "greater" in name
            x, y = (numbers(random, type_name, *((-np.inf, np.inf) if all_pairs and type_name != "bf16" else (low, high))) for _ in range(2))
            if not all_pairs:
                x, y = random.choice(x, 40), random.choice(y, 40)
            p = batch.program(f"{name} {type_name}")
            wanted = computed(reference, name, x[:, None], y)
            p.read(p.new(name, p.data(Narrow(type_name, x[:, None])), p.data(Narrow(type_name, y))), wanted_of(name, type_name, wanted))


def test_numbers(batch, random):
    """Numbers in place of tensors take the tensor's type and are not rounded to it before f32."""
    for type_name in NARROW:
        x = numbers(random, type_name, -4, 4)
        for number in ["#3", "#0.1"]:
            p, second = batch.program(f"{type_name} + {number}"), np.float32(number[1:])
            p.read(p.new("add", p.data(Narrow(type_name, x)), number), Narrow(type_name, x.astype(np.float32) + second, 1e-7))
        chosen = p.new("where", p.new("greater", p.data(Narrow(type_name, x)), "#0.5"), p.data(Narrow(type_name, x)), "#1.0")
        p.read(chosen, Narrow(type_name, np.where(x > 0.5, x, 1)))
        p.read(p.new("full", type_name, "2x3", "#0.3"), Narrow(type_name, np.full((2, 3), 0.3)))
        p.read(p.new("arange", type_name, 0, 6, 0.5), Narrow(type_name, np.arange(0, 6, 0.5)))


def test_reductions(batch, random):
    functions = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "product": np.prod, "any": np.any, "all": np.all}
    shapes = [((40,), (0,)), ((6, 7), (0,)), ((3, 4, 5), (0, 2)), ((2, 300), (1,)), ((5000,), None), ((), None)]
    for type_name in NARROW:
        for i, (shape, axes) in enumerate(shapes):
            text = "all" if axes is None else ",".join(map(str, axes))
            for name, reference in functions.items():
                low, high = (0.9, 1.12) if name == "product" else (-1, 2)
                x = random.choice(numbers(random, type_name, low, high), shape)
                p = batch.program(f"{name} {type_name} {shape} {axes}")
                wanted = np.asarray(reference(x, axis=axes))
                room = Narrow(type_name, wanted, 3e-5, 1e-6 * np.sqrt(max(x.size, 1))) if wanted.dtype.kind == "f" else wanted
                p.read(p.new(name, p.data(Narrow(type_name, x)), text, 0), room)
        x = random.choice(numbers(random, type_name, -4, 4), (5, 60))
        for name, wanted in [("argmax", np.argmax(x, 1)), ("argmin", np.argmin(x, 1))]:
            p = batch.program(f"{name} {type_name}")
            p.read(p.new(name, p.data(Narrow(type_name, x)), 1, 0), wanted)
        p, e = batch.program(f"rows of {type_name}"), np.exp(x - x.max(1, keepdims=True))
        v = p.data(Narrow(type_name, x))
        p.read(p.new("softmax", v, 1), Narrow(type_name, e / e.sum(1, keepdims=True), 2e-5, 1e-8))
        p.read(p.new("variance", v, 1, 0, 0), Narrow(type_name, x.var(1), 2e-5, 1e-6))
        p.read(p.new("sort", v, 1, 0), Narrow(type_name, np.sort(x, 1)))
        p.read(p.new("cumulative_max", v, 1), Narrow(type_name, np.maximum.accumulate(x, 1)))


def near_ties(random, name):
    """Values between two of a type's, a little beside the middle: what is rounded to f32 first loses the little."""
    steps = narrow.TABLES[name]
    at = random.integers(8, 100 if name != "bf16" else 20000, 60)
    middle = (steps[at] + steps[at + 1]) / 2
    return np.concatenate([middle * (1 + s * 2.0**-k) for s in (1, -1) for k in (30, 40, 50)] + [middle])


def test_casts(batch, random):
    for a in NARROW:
        everything = narrow.TABLES[a] if a != "bf16" else random.choice(narrow.TABLES[a], 1000)
        for b in list(TYPES) + NARROW:
            p = batch.program(f"cast {a} {b}")
            finite = everything[np.isfinite(everything)]
            if b in NARROW:
                p.read(p.new("cast", p.data(Narrow(a, everything)), b), Narrow(b, everything))
            elif b == "bool":
                p.read(p.new("cast", p.data(Narrow(a, finite)), b), finite != 0)
            elif np.dtype(TYPES[b]).kind == "f":
                with np.errstate(over="ignore"):
                    p.read(p.new("cast", p.data(Narrow(a, everything)), b), everything.astype(TYPES[b]), 0)
            else:
                limits = np.iinfo(TYPES[b])
                # The largest f64 that is not above the limit becomes the limit: by comparison, as it does not hold 2^63 - 1.
                whole = np.trunc(finite)
                inside = np.where((whole > -2.0**63) & (whole < 2.0**63), whole, 0).astype(np.int64).astype(object)
                inside = np.where((whole >= 2.0**63) & (whole < 2.0**64), [int(w) for w in whole], inside)
                wanted = np.where(whole >= float(limits.max), limits.max, np.where(whole <= float(limits.min), limits.min, inside))
                p.read(p.new("cast", p.data(Narrow(a, finite)), b), wanted.astype(TYPES[b]))
            if b in NARROW:
                continue
            p = batch.program(f"cast {b} {a}")
            dtype = np.dtype(TYPES[b])
            if dtype.kind == "f":
                x = np.concatenate([near_ties(random, a), [0, -0.0, 448, 463, 464, 465, 480, 57344, 61439, 61440, 61441, 1e6, np.inf, -np.inf, np.nan]])
                with np.errstate(over="ignore"):
                    x = np.concatenate([x, -x]).astype(dtype)
            elif dtype.kind == "b":
                x = np.array([False, True])
            else:
                limits = np.iinfo(dtype)
                x = np.concatenate([random.integers(limits.min, limits.max, 200, dtype, True), (random.integers(-600, 600, 200) % 120).astype(dtype),
                                    np.array([limits.min, limits.max, limits.max - 1], dtype)])
            p.read(p.new("cast", p.data(x), a), Narrow(a, exactly(x)))


def exactly(x):
    """Integers as f64 that round to fewer bits as they do: what f64 loses of them is kept as a last bit that is set."""
    if x.dtype.kind in "fb" or x.dtype.itemsize < 8:
        return x.astype(np.float64)
    wide = [int(v) for v in x]
    size = [abs(v) for v in wide]
    kept = [s if s < 2**53 else (s >> 12 << 12) | ((s & 4095) > 0) << 12 for s in size]
    return np.array([float(k) if v >= 0 else -float(k) for k, v in zip(kept, wide)])


# What two types make: of integers as NumPy 2, of a float and an integer, and of two floats, as PyTorch 2, which has no rule for two 8-bit floats.
NAMES = ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "e4m3", "e5m2", "f16", "bf16", "f32", "f64"]
TABLE = """
bool bool
u8   u8   u8
u16  u16  u16  u16
u32  u32  u32  u32  u32
u64  u64  u64  u64  u64  u64
i8   i8   i16  i32  i64  -    i8
i16  i16  i16  i32  i64  -    i16  i16
i32  i32  i32  i32  i64  -    i32  i32  i32
i64  i64  i64  i64  i64  -    i64  i64  i64  i64
e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3
e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 f16  e5m2
f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16
bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16
f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
"""


def array_of(name, values):
    return Narrow(name, values) if name in NARROW else np.asarray(values).astype(TYPES[name])


def test_promotion(batch):
    rows = {line.split()[0]: line.split()[1:] for line in TABLE.split("\n") if line}
    for i, a in enumerate(NAMES):
        for j, b in enumerate(NAMES[: i + 1]):
            common = rows[a][j]
            # The table's integers are NumPy's.
            if a in TYPES and b in TYPES and i < 9 and common != "-":
                assert np.promote_types(TYPES[a], TYPES[b]) == TYPES[common], (a, b)
            for left, right in ((a, b), (b, a))[: 1 + (a != b)]:
                p = batch.program(f"{left} and {right}")
                x, y = p.data(array_of(left, [0, 1, 1])), p.data(array_of(right, [0, 0, 1]))
                if common == "-":
                    p.read(p.new("add", x, y), "no common type")
                    continue
                p.read(p.new("add", x, y), array_of(common, [0, 1, 1] if common == "bool" else [0, 1, 2]))
                p.read(p.new("maximum", x, y), array_of(common, [0, 1, 1]))
                p.read(p.new("equal", x, y), np.array([True, False, True]))
    # f32 keeps what neither has: 1 + 2^-10 is not a bf16, 1 + 2^-7 and 2^40 are no f16.
    p = batch.program("f16 and bf16, values")
    x, y = np.array([1 + 2.0**-10, 3], np.float16), Narrow("bf16", [1 + 2.0**-7, 2.0**40])
    p.read(p.new("add", p.data(x), p.data(y)), np.array([2 + 2.0**-7 + 2.0**-10, 2.0**40], np.float32), 0)
    p = batch.program("e4m3 and e5m2, values")
    p.read(p.new("add", p.data(Narrow("e4m3", [1.125, 448])), p.data(Narrow("e5m2", [2.0**-8, 57344]))),
           np.array([1.125 + 2.0**-8, 57792], np.float16), 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only")
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    parts = {"maps": lambda: test_maps(batch, random), "numbers": lambda: test_numbers(batch, random),
             "reductions": lambda: test_reductions(batch, random), "casts": lambda: test_casts(batch, random),
             "promotion": lambda: test_promotion(batch)}
    for name, part in parts.items():
        if args.only in (None, name):
            part()
    if args.count < 100:
        batch.programs = batch.programs[::200 // args.count + 1]
    sys.exit(1 if batch.run() else 0)


main()
