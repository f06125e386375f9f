"""Choosing, ordering and rearranging elements beside NumPy: indices, sorts, masks, cumulative functions, einsum. Usage: test_choice.py RUNNER [--seed N]
[--count N]: below 100 fewer types and shapes, for devices whose drivers take their time over each kernel."""
import argparse
import sys

from programs import Batch, TYPES, np

TESTED = list(TYPES)


def make(random, type_name, shape, low=-50, high=50):
    dtype = np.dtype(TYPES[type_name])
    if dtype.kind == "f":
        return np.asarray(random.uniform(low, high, shape)).astype(dtype)
    top = 1 if dtype.kind == "b" else high
    return np.asarray(random.integers(low if dtype.kind == "i" else 0, top + 1, shape)).astype(dtype)


def test_take(batch, random):
    for i, type_name in enumerate(TESTED):
        shapes = [((7,), 0, (5,)), ((6, 5), 0, (2, 3)), ((6, 5), 1, ()), ((3, 4, 5), -2, (6,)), ((3, 4), 0, (0,)), ((300, 20), 0, (70, 2))]
        for shape, axis, chosen in shapes if i == 0 and len(TESTED) > 3 else [shapes[i % 6], shapes[(i + 3) % 6]]:
            x = make(random, type_name, shape)
            indices = make(random, ["i32", "i64", "u8", "u32", "i16"][i % 5], chosen, 0, shape[axis] - 1)
            p = batch.program(f"take {type_name} {shape} {axis} {chosen}")
            v, at = p.data(x), p.data(indices)
            p.read(p.new("take", v, at, axis), np.take(x, indices, axis))
            values = make(random, type_name, np.take(x, indices, axis).shape, -5, 5)
            moved, slices = np.moveaxis(x, axis, 0).copy(), np.moveaxis(values, range(axis % x.ndim, axis % x.ndim + indices.ndim), range(indices.ndim))
            written = moved.copy()
            for k in np.ndindex(indices.shape):
                written[indices[k]] = slices[k]
            p.read(p.new("scatter", v, at, p.data(values), axis), np.moveaxis(written, 0, axis))
            if type_name == "bool":
                p.read(p.new("scatter_add", v, at, p.data(values), axis), "cannot be added to")
                continue
            added = moved.astype(np.float64) if x.dtype.kind == "f" else moved
            np.add.at(added, indices, slices.astype(added.dtype))
            p.read(p.new("scatter_add", v, at, p.data(values), axis), np.moveaxis(added, 0, axis).astype(x.dtype), {"f16": 2e-3}.get(type_name, 2e-6), 200)


def test_along(batch, random):
    for i, (shape, axis, chosen) in enumerate([((7,), 0, (5,)), ((6, 5), 0, (3, 5)), ((6, 5), 1, (6, 9)), ((3, 4, 5), -2, (3, 2, 5)), ((3, 4, 5), 2, (1, 4, 2)), ((1, 6), 1, (4, 3))]):
        for type_name in [t for t in ("f32", ["i8", "f16", "u32"][i % 3]) if t in TESTED]:
            x, indices = make(random, type_name, shape), make(random, "i64", chosen, 0, shape[axis] - 1)
            p = batch.program(f"take_along_axis {type_name} {shape} {axis} {chosen}")
            v, at = p.data(x), p.data(indices)
            p.read(p.new("take_along_axis", v, at, axis), np.take_along_axis(x, indices, axis))
            whole = tuple(chosen[d] if d == axis % x.ndim else s for d, s in enumerate(shape))
            if shape[0] == 1:
                continue
            values, added = make(random, type_name, whole, -3, 3), x.copy()
            for k in np.ndindex(whole):
                place = list(k)
                place[axis] = np.broadcast_to(indices, whole)[k]
                added[tuple(place)] += values[k]
            p.read(p.new("scatter_add_along_axis", v, at, p.data(values), axis), added, 2e-3 if type_name == "f16" else 2e-6, 100)


def test_index(batch, random):
    x = make(random, "f32", (4, 5, 6))
    rows, columns = make(random, "i32", (3, 1), 0, 3), make(random, "i64", (2,), 0, 4)
    p = batch.program("index")
    v, r, c = p.data(x), p.data(rows), p.data(columns)
    p.read(p.new("index", v, r, c), x[rows, columns])
    p.read(p.new("index", v, r), x[rows])
    p.read(p.new("index", v, r, c, c), x[rows, columns, columns])
    p.read(p.new("index", v, r, c, c, c), "4 tensors of indices for f32 4x5x6")
    p = batch.program("indices that name nothing")
    v, at = p.data(x), p.data(np.array([-1, 2, 4, 1 << 40]))
    wanted = np.zeros((4, 5, 6), np.float32)
    wanted[1] = x[2]
    p.read(p.new("take", v, at, 0), wanted)
    p.read(p.new("index", v, at), wanted)
    p.read(p.new("index", v, at, p.data(np.array([-1, 0, 2, 3]))), np.where(np.arange(4)[:, None] == 1, x[2, 0], np.float32(0)))
    p.read(p.new("take_along_axis", p.data(x[:, 0, 0]), at, 0), np.array([0, x[2, 0, 0], 0, 0], np.float32))
    added = x.copy()
    added[2] += 1
    p.read(p.new("scatter_add", v, at, p.data(np.ones((4, 1, 1), np.float32)), 0), added)
    p = batch.program("refusals of indices")
    v = p.data(x)
    p.read(p.new("take", v, v, 0), "qn_take: the indices are f32 4x5x6: of no integer type")
    p.read(p.new("take", v, p.data(rows), 3), "f32 4x5x6 has no axis 3")
    p.read(p.new("take", p.data(np.zeros((1,) * 8, np.float32)), p.data(rows), 3), "make more than 8 dimensions")
    p.read(p.new("scatter", v, p.data(rows), p.data(np.zeros(7, np.float32)), 0), "the values f32 7 do not fit 3x1x5x6, what is chosen")
    p.read(p.new("take_along_axis", v, p.data(rows), 0), "do not fit f32 4x5x6")
    for type_name in ["f32", "i64", "u8"]:
        p = batch.program(f"one_hot {type_name}")
        p.read(p.new("one_hot", p.data(columns), 5, type_name), np.eye(5)[columns].astype(TYPES[type_name]))


def test_order(batch, random):
    for i, type_name in enumerate(TESTED):
        shapes = [((9,), 0), ((4, 9), -1), ((9, 4), 0), ((3, 8, 5), 1), ((2, 700), 1), ((3, 0), 1), ((1, 1), 0)]
        for shape, axis in shapes if i == 0 and len(TESTED) > 3 else [shapes[i % 7], shapes[(i + 3) % 7]]:
            x = make(random, type_name, shape)
            if i % 2:
                x = np.asarray(np.floor(x / 4) if x.dtype.kind == "f" else x // 4).astype(x.dtype)
            p = batch.program(f"sort {type_name} {shape} {axis}")
            v = p.data(x)
            for descending in (0, 1):
                key = x.astype(np.float64) * (-1 if descending else 1)
                order = np.argsort(key, axis=axis, kind="stable").astype(np.int64)
                p.read(p.new("sort", v, axis, descending), np.take_along_axis(x, order, axis))
                p.read(p.new("argsort", v, axis, descending), order)
                k = min(3, shape[axis])
                few = np.take(order, range(k), axis)
                p.read(p.new("top_k", v, k, axis, 1 - descending), np.take_along_axis(x, few, axis))
                p.read(p.new("top_k_indices", v, k, axis, 1 - descending), few)
            if i == 0:
                p.read(p.new("top_k", v, shape[axis] + 1, axis, 0), f"{shape[axis] + 1} of axis {axis} of")
                p.read(p.new("sort", v, 5, 0), "has no axis 5")
    x = np.array([3, np.nan, -np.inf, 1, np.inf, 0], np.float32)
    p = batch.program("sort with NaN")
    p.read(p.new("sort", p.data(x), 0, 0), np.sort(x))
    p = batch.program("sorted values fuse with what is around, and indices with their values")
    y = make(random, "f32", (5, 6), -2, 2)
    v = p.new("sin", p.data(y))
    p.read(p.new("multiply", p.new("sort", p.new("transpose", v, 0, 1), 1, 0), "#2"), np.sort(np.sin(y).T, 1) * 2)
    p.read(p.new("add", p.new("argsort", v, 0, 0), "#1"), np.argsort(np.sin(y), 0) + 1)


def test_selection(batch, random):
    for i, (type_name, shape) in enumerate([("f32", (9,)), ("i32", (4, 5)), ("bool", (3, 4, 5)), ("f16", (50, 30)), ("u8", (0, 3)), ("i64", (1,)), ("f64", (7000,))]):
        if type_name not in TESTED:
            continue
        x = make(random, type_name, shape, -2, 2)
        if x.dtype.kind == "f":
            x = np.asarray(np.rint(x)).astype(x.dtype)
        p = batch.program(f"nonzero {type_name} {shape}")
        v = p.data(x)
        p.read(p.new("nonzero", v), np.argwhere(x).astype(np.int64))
        mask = np.asarray(random.integers(0, 2, shape[:1 + i % len(shape)])).astype(bool)
        p.read(p.new("masked_select", v, p.data(mask)), x[mask])
        p.read(p.new("masked_select", v, p.data(np.zeros_like(mask))), x[np.zeros_like(mask)])
        p.read(p.new("unique", v), np.unique(x))
    p = batch.program("refusals of selections")
    v = p.data(np.ones((2, 3), np.float32))
    p.read(p.new("masked_select", v, p.data(np.ones(3, bool))), "it has to be bool, of the first sizes of f32 2x3")
    p.read(p.new("nonzero", p.new("full", "f32", "scalar", "#1")), "has no dimensions")


def test_sets(batch, random):
    for i, (type_name, shape) in enumerate([("f32", (40,)), ("i32", (4, 9)), ("u8", (300,)), ("f16", (3, 0)), ("bool", (7,)), ("i64", (1,)), ("f64", (900,))]):
        if type_name not in TESTED:
            continue
        x = make(random, type_name, shape, -9, 9)
        if x.dtype.kind == "f":
            x = np.asarray(np.rint(x) / 2).astype(x.dtype)
        p = batch.program(f"sets {type_name} {shape}")
        v, (values, places, inverse, counts) = p.data(x), np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for part, wanted in enumerate([values, places, inverse.reshape(shape), counts]):
            p.read(p.new("unique_all", v, part), wanted if part == 0 else wanted.astype(np.int64))
        few = np.sort(make(random, type_name, (i * 3,), -9, 9))
        w = p.data(few)
        p.read(p.new("is_in", v, w), np.isin(x, few))
        for side in (0, 1):
            p.read(p.new("search_sorted", w, v, side), np.searchsorted(few, x, "right" if side else "left").astype(np.int64))
    p = batch.program("sets with NaN")
    x = np.array([np.nan, 2, -0.0, 0, np.nan, 1], np.float32)
    v = p.data(x)
    p.read(p.new("unique_all", v, 0), np.array([0, 1, 2, np.nan], np.float32))
    p.read(p.new("unique_all", v, 2), np.array([3, 2, 0, 0, 3, 1]))
    p.read(p.new("unique_all", v, 3), np.array([2, 1, 1, 2]))
    line = np.sort(x)
    for side in (0, 1):
        p.read(p.new("search_sorted", p.data(line), v, side), np.searchsorted(line, x, "right" if side else "left").astype(np.int64))
    p.read(p.new("search_sorted", p.data(np.ones((2, 2), np.float32)), v, 0), "what is searched has one dimension")


def test_differences(batch, random):
    for i, type_name in enumerate(t for t in ("f32", "i16", "bool", "u8") if t in TESTED):
        x = make(random, type_name, (4, 5, 6), -9, 9)
        p = batch.program(f"differences {type_name}")
        v = p.data(x)
        for times, axis in ((1, -1), (2, 0), (0, 1), (7, 2)):
            p.read(p.new("difference", v, times, axis), np.diff(x, times, axis), 1e-5, 50)
        p.read(p.new("unstack", v, 1, 5, 3), x[:, 3])
        others = [p.data(x[::-1].copy()), p.data(np.flip(x, 2).copy())]
        for axis in (0, 1, -1):
            p.read(p.new("stack", axis, v, *others), np.stack([x, x[::-1], np.flip(x, 2)], axis))
        p.read(p.new("count_nonzero", v, "0,2", 0), np.count_nonzero(x, (0, 2)).astype(np.int64))
    p.read(p.new("unstack", v, 1, 4, 0), "qn_unstack: 4 parts of axis 1 of")
    p.read(p.new("stack", 0, v, p.new("reshape", v, "5x4x6")), "differ in more than the size along axis 0")
    p.read(p.new("stack", 4, v, v), "has no axis 4")
    p.read(p.new("difference", v, 1, 3), "has no axis 3")


def test_quantiles(batch, random):
    for shape, axis in (((9,), 0), ((4, 6), -1), ((5, 3, 2), 1), ((1, 4), 0)):
        x = make(random, "f32", shape, -9, 9)
        p = batch.program(f"quantiles {shape} {axis}")
        v = p.data(x)
        for part in (0, 0.5, 0.3, 1):
            p.read(p.new("quantile", v, part, axis, 1), np.quantile(x.astype(np.float64), part, axis, keepdims=True).astype(np.float32), 2e-6, 9)
    x = np.array([[1, np.nan, 3], [4, 5, 9]], np.float32)
    p = batch.program("quantiles with NaN, of integers, that are none")
    p.read(p.new("quantile", p.data(x), 0.5, 1, 0), np.array([np.nan, 5], np.float32))
    p.read(p.new("quantile", p.data(np.array([3, 1, 2, 8])), 0.5, 0, 0), np.float32(2.5))
    p.read(p.new("quantile", p.data(x), 1.5, 1, 0), "part 1.5 of 3 elements along axis 1 of f32 2x3")


def test_cumulative(batch, random):
    for i, type_name in enumerate(TESTED):
        shapes = [((9,), 0), ((4, 9), -1), ((9, 4), 0), ((3, 8, 5), 1), ((2, 3000), 1), ((3, 0), 1)]
        for shape, axis in shapes if i == 0 and len(TESTED) > 3 else [shapes[i % 6], shapes[(i + 3) % 6]]:
            p, x = batch.program(f"cumulative {type_name} {shape} {axis}"), make(random, type_name, shape, -3, 3)
            wide = np.float64 if x.dtype.kind == "f" else np.uint64 if x.dtype.kind == "u" else np.int64
            result = x.dtype if x.dtype.kind == "f" else wide
            room = {"f16": 2e-3, "f32": 2e-5}.get(type_name, 1e-12)
            v, sums = p.data(x), np.cumsum(x.astype(wide), axis)
            p.read(p.new("cumulative_sum", v, axis), sums.astype(result), room, np.abs(sums.astype(np.float64)).max(initial=1))
            factors = np.asarray(1 + x / 30).astype(x.dtype) if x.dtype.kind == "f" else np.minimum(x, 1)
            if shape[-1] < 100:
                p.read(p.new("cumulative_product", p.data(factors), axis), np.cumprod(factors.astype(wide), axis).astype(result), room * 10)
            p.read(p.new("cumulative_max", v, axis), np.maximum.accumulate(x, axis))
            p.read(p.new("cumulative_min", v, axis), np.minimum.accumulate(x, axis))
            logs = np.logaddexp.accumulate(x.astype(np.float64), axis) if x.size else x
            p.read(p.new("cumulative_log_sum_exp", v, axis), logs.astype(x.dtype if x.dtype.kind == "f" else np.float32), max(room, 2e-6 if x.dtype.kind != "f" else 0) * 10, 10)
    p = batch.program("refusals of scans")
    p.read(p.new("cumulative_sum", p.new("full", "f32", "scalar", "#1"), 0), "qn_cumulative_sum: f32 one element has no axis 0")


def test_counts(batch, random):
    for i, type_name in enumerate(t for t in ("i64", "u8", "i32", "u16") if t in TESTED):
        for shape, bins in [((500,), 60), ((30, 7), 5), ((0,), 4), ((3000,), 1)]:
            x = make(random, type_name, shape, -3, 50)
            inside = x[(x >= 0) & (x < bins)].astype(np.int64)
            p = batch.program(f"bincount {type_name} {shape} {bins}")
            p.read(p.new("bincount", p.data(x), bins), np.bincount(inside, minlength=bins).astype(np.int64))
    p = batch.program("histogram")
    x = np.asarray(np.rint(make(random, "f32", (40, 50), -9, 9) * 4) / 4 + 0.125, np.float32)
    v = p.data(x)
    p.read(p.new("histogram", v, 16, -4, 4), np.histogram(x, 16, (-4, 4))[0].astype(np.int64))
    p.read(p.new("histogram", p.new("multiply", v, "#2"), 3, -9, 6), np.histogram(x * 2, 3, (-9, 6))[0].astype(np.int64))
    p.read(p.new("histogram", v, 0, 1, 2), "qn_histogram: 0 bins; from 1 to")
    p.read(p.new("histogram", v, 4, 2, 2), "the range from 2 to 2 is empty")
    p.read(p.new("bincount", v, 4), "qn_bincount: f32 40x50 is of no integer type")


def test_results_again(batch, random):
    """Of a call with several results one is asked for, then others, through views."""
    for shape, axis in [((9, 4), 0), ((3, 8, 5), 1), ((4, 9), 1)]:
        x = make(random, "f32", shape, -1.5, 1.5)
        order = np.argsort(x, axis)
        p = batch.program(f"places of a sort again {shape} {axis}")
        v = p.data(x)
        places = p.new("argsort", p.new("sin", v), axis, 0)
        p.read(p.new("slice", places, axis, 1, 3, 1), order.take([1, 2], axis))
        p.read(p.new("take_along_axis", v, places, axis), np.sort(x, axis))
        p.read(p.new("transpose", places, 0, -1), order.swapaxes(0, -1))
        p.read(places, order)


def test_rearranging(batch, random):
    for i, type_name in enumerate(t for t in ("f32", "i16", "bool", "f16", "u64") if t in TESTED):
        x = make(random, type_name, (3, 4, 5))
        p = batch.program(f"rearranging {type_name}")
        v = p.data(x)
        for shift, axis in [(1, 0), (-1, 1), (7, 2), (0, 0), (-9, -1), (4, 1)]:
            p.read(p.new("roll", v, shift, axis), np.roll(x, shift, axis))
        for axis, to in [(0, 2), (2, 0), (1, 1), (-1, 1), (0, -2)]:
            p.read(p.new("move_axis", v, axis, to), np.moveaxis(x, axis, to))
        for times, axis in [(2, 0), (3, -1), (0, 1), (1, 1)]:
            p.read(p.new("repeat", v, times, axis), np.repeat(x, times, axis))
        for times in [(2,), (2, 1, 3), (2, 3, 1, 1), (0, 1)]:
            p.read(p.new("tile", v, "x".join(map(str, times))), np.tile(x, times))
        p = batch.program(f"diagonals {type_name}")
        v = p.data(x)
        for offset in (-9, -2, -1, 0, 1, 3, 4, 9):
            p.read(p.new("tril", v, offset), np.tril(x, offset))
            p.read(p.new("triu", v, offset), np.triu(x, offset))
            p.read(p.new("diagonal", v, offset, 0, 1), np.diagonal(x, offset, 0, 1))
            p.read(p.new("diagonal", v, offset, -1, 0), np.diagonal(x, offset, -1, 0))
            if type_name in ("f32", "i16"):
                p.read(p.new("trace", v, offset), np.trace(x, offset, -2, -1, np.int64 if i else None), 1e-5, 100)
        p = batch.program(f"split and grid {type_name}")
        v, row = p.data(x), p.data(x[0, 0])
        for part, wanted in enumerate(np.split(x, [0, 1, 4], 2)):
            p.read(p.new("split", v, 2, part, 0, 1, 3, 1), wanted)
        p.read(p.new("split", v, 2, 0, 1, 3), "the sizes do not add up to axis 2 of")
        column = p.data(x[:, 0, 1])
        for part, wanted in enumerate(np.meshgrid(x[0, 0], x[:, 0, 1], indexing="ij")):
            p.read(p.new("meshgrid", part, row, column), wanted)
        p.read(p.new("zeros_like", v), np.zeros_like(x))
        p.read(p.new("ones_like", v), np.ones_like(x))
    p = batch.program("refusals of rearranging")
    v = p.data(np.zeros((2, 3), np.float32))
    p.read(p.new("roll", v, 1, 2), "qn_roll: f32 2x3 has no axis 2")
    p.read(p.new("diagonal", v, 0, 1, -1), "axis 1 is named twice")
    p.read(p.new("tril", p.data(np.zeros(3, np.float32)), 0), "f32 3 is no matrix")
    p.read(p.new("meshgrid", 0, v), "f32 2x3 is of more or less than one dimension")


def test_named(batch, random):
    def operands(types, *shapes):
        return [make(random, types[i % len(types)], shape, -3, 3) for i, shape in enumerate(shapes)]

    for text, shapes in [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("ij,kj->ki", [(3, 4), (5, 4)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
                         ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("ij->", [(3, 4)]), ("ij->ji", [(3, 4)]), ("ba", [(3, 4)]),
                         ("i,j->ij", [(3,), (4,)]), ("i,i->", [(6,), (6,)]), ("i,i->i", [(6,), (6,)]), ("iij,jk->ik", [(3, 3, 4), (4, 2)]), ("ij,j->i", [(3, 4), (4,)]),
                         ("ijk,kl->ijl", [(2, 3, 4), (4, 5)]), ("ijk,lkj->il", [(2, 3, 4), (5, 4, 3)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("ab,cd->acbd", [(2, 3), (4, 5)]),
                         ("Ab, bC -> AC", [(3, 4), (4, 2)]), ("ij,kl->i", [(2, 3), (4, 5)]), (",i->i", [(), (3,)]), ("ijij->ji", [(2, 3, 2, 3)]), ("ij,jk->ik", [(3, 0), (0, 2)])]:
        for types in ([t] for t in ("f32", "i32", "f64") if t in TESTED):
            arrays = operands(types, *shapes)
            p = batch.program(f"einsum {text} {types}")
            wanted = np.asarray(np.einsum(text, *arrays))
            p.read(p.new("einsum", text.replace(" ", ""), *[p.data(a) for a in arrays]), wanted, 4e-6, 100)
    p = batch.program("refusals of einsum")
    v = p.data(np.zeros((2, 3), np.float32))
    for text, count, sentence in [("ij,jk->ik", 2, "dimension j is of size 3 and of size 2"), ("ijk->i", 1, "names 3 dimensions of operand 0, which is f32 2x3"),
                                  ("ij->k", 1, "the result has a dimension that no operand has"), ("ij->ii", 1, "the result names a dimension twice"), ("i1->i", 1, "are letters"),
                                  ("ij", 2, "there are fewer operands than tensors"), ("ij,ij", 1, "there are more operands than tensors"), ("ij->i->j", 1, "something is behind the result"),
                                  ("ab,cd,ef,gh,ij->abcdefghi", 5, "a tensor has more dimensions than there can be"), ("ab,cd,ef,gh,ij", 5, "the result has too many dimensions")]:
        p.read(p.new("einsum", text, *[v] * count), sentence)
    for axes_a, axes_b, shapes in [((1,), (0,), [(3, 4), (4, 5)]), ((0, 2), (1, 0), [(3, 4, 5), (5, 3, 2)]), ((-1,), (-1,), [(3, 4), (2, 4)])]:
        a, b = operands(["f32"], *shapes)
        p = batch.program(f"tensordot {axes_a} {axes_b}")
        p.read(p.new("tensordot", p.data(a), p.data(b), ",".join(map(str, axes_a)), ",".join(map(str, axes_b))), np.tensordot(a, b, (axes_a, axes_b)), 4e-6, 100)
    p.read(p.new("tensordot", p.data(a), p.data(b), "0", "0"), "are not of the same sizes")
    a, b = operands(["f32"], (3, 4), (2, 1, 5))
    p = batch.program("outer and kron")
    v, w = p.data(a), p.data(b)
    p.read(p.new("outer", v, w), np.outer(a, b))
    p.read(p.new("kron", v, w), np.kron(a, b))
    p.read(p.new("tensordot", v, w, "all", "all"), np.tensordot(a, b, 0))
    p.read(p.new("kron", v, p.new("reshape", w, "1x1x2x1x5")), "have more than 4 dimensions")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="below 100: fewer types and shapes; below 20: a part of the functions")
    args = parser.parse_args()
    if args.count < 100:
        TESTED[:] = ["f32", "i64", "u8"]
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    parts = [test_take, test_along, test_index, test_order, test_selection, test_sets, test_differences, test_quantiles, test_cumulative, test_counts, test_results_again,
             test_rearranging, test_named]
    for part in parts[::4] if args.count < 20 else parts:
        part(batch, random)
    sys.exit(1 if batch.run() else 0)


main()
