"""Linear algebra of small matrices beside NumPy: batches, shapes, types, broadcasts, empty ones. Factors that have signs of their own are
multiplied. Usage: test_linear.py RUNNER [--seed N] [--count N]: below 100 fewer shapes."""
import argparse
import sys

from programs import Batch, np

ROOM = {"f32": 2e-5, "f64": 1e-12}


def shapes_of(count):
    return [(1, 1), (2, 2), (3, 3), (2, 5, 5)] if count < 100 else [(1, 1), (2, 2), (3, 3), (2, 5, 5), (2, 1, 8, 8), (17, 17), (3, 0, 0), (0, 4, 4)]


def well(random, shape):
    """Matrices far from singular."""
    return random.uniform(-1, 1, shape) + np.eye(shape[-2], shape[-1]) * 2


def test_square(batch, random, count):
    for i, shape in enumerate(shapes_of(count)):
        for type_name in ("f32", "f64") if i in (1, 3) else ("f32",):
            kind, room = np.dtype(type_name.replace("f", "float")).type, ROOM[type_name]
            a = well(random, shape).astype(kind)
            wide = a.astype(np.float64)
            positive = (wide @ wide.swapaxes(-1, -2) + np.eye(shape[-1])).astype(kind)
            p = batch.program(f"square {type_name} {shape}")
            v, w = p.data(a), p.data(positive)
            p.read(p.new("inverse", v), np.linalg.inv(wide).astype(kind), room, 4)
            p.read(p.new("determinant", v), np.asarray(np.linalg.det(wide)).astype(kind), room * 4)
            sign, size = np.linalg.slogdet(wide)
            p.read(p.new("log_determinant", v, 0), np.asarray(size).astype(kind), room * 4)
            p.read(p.new("log_determinant", v, 1), np.asarray(sign).astype(kind), 0)
            p.read(p.new("cholesky", w), np.linalg.cholesky(positive.astype(np.float64)).astype(kind), room, 4)
            p.read(p.new("eigen", w, 0), np.linalg.eigvalsh(positive.astype(np.float64)).astype(kind), room * 4, 4)
            vectors = p.new("eigen", w, 1)
            scaled = p.new("multiply", vectors, p.new("unsqueeze", p.new("eigen", w, 0), -2))
            if shape[-1]:
                p.read(p.new("matmul", scaled, p.new("transpose", vectors, -1, -2)), positive, room * 4, 4)


def test_systems(batch, random, count):
    pairs = [((3, 3), (3, 2)), ((2, 4, 4), (4, 3)), ((4, 4), (4,)), ((3, 3), (2, 3, 1)), ((2, 1, 3, 3), (4, 3, 2)), ((3, 3), (3, 0))]
    for i, (left, right) in enumerate(pairs[:3] if count < 100 else pairs):
        for type_name in ("f32", "f64")[:2 - i % 2]:
            kind, room = np.dtype(type_name.replace("f", "float")).type, ROOM[type_name]
            a, b = well(random, left).astype(kind), random.uniform(-2, 2, right).astype(kind)
            columns = b[:, None] if b.ndim == 1 else b
            p = batch.program(f"systems {type_name} {left} {right}")
            v, w = p.data(a), p.data(b)
            for upper, unit in [(0, 0), (1, 0), (0, 1), (1, 1)]:
                triangle = (np.triu(a) if upper else np.tril(a)).astype(np.float64)
                if unit:
                    triangle = triangle * (1 - np.eye(a.shape[-1])) + np.eye(a.shape[-1])
                wanted = np.linalg.solve(triangle, columns.astype(np.float64)).astype(kind)
                p.read(p.new("solve_triangular", v, w, upper, unit), wanted[:, 0] if b.ndim == 1 else wanted, room * 4, np.abs(wanted).max(initial=1))
            wanted = np.linalg.solve(a.astype(np.float64), columns.astype(np.float64)).astype(kind)
            p.read(p.new("solve", v, w), wanted[:, 0] if b.ndim == 1 else wanted, room * 2, np.abs(wanted).max(initial=1))


def test_factors(batch, random, count):
    shapes = [(3, 3), (5, 3), (3, 5), (2, 4, 2), (1, 1), (2, 2, 3, 7), (9, 9), (6, 1), (1, 6)]
    for i, shape in enumerate(shapes[:4] if count < 100 else shapes):
        for type_name in ("f32", "f64")[:1 + (i == 1)]:
            kind, room = np.dtype(type_name.replace("f", "float")).type, ROOM[type_name]
            a = random.uniform(-2, 2, shape).astype(kind)
            p = batch.program(f"factors {type_name} {shape}")
            v = p.data(a)
            for complete, mode in ((0, "reduced"), (1, "complete")):
                q, r = np.linalg.qr(a.astype(np.float64), mode)
                p.read(p.new("qr", v, 0, complete), q.astype(kind), room, 4)
                p.read(p.new("qr", v, 1, complete), r.astype(kind), room, 4)
            p.read(p.new("svd", v, 0), np.linalg.svd(a.astype(np.float64), compute_uv=False).astype(kind), room, 4)
            u, w = p.new("svd", v, 1), p.new("svd", v, 2)
            again = p.new("matmul", p.new("multiply", u, p.new("unsqueeze", p.new("svd", v, 0), -2)), p.new("transpose", w, -1, -2))
            p.read(again, a, room, 4)
            least = min(shape[-2:])
            one = np.broadcast_to(np.eye(least, dtype=kind), shape[:-2] + (least, least))
            p.read(p.new("matmul", p.new("transpose", u, -1, -2), u), one, room)
            p.read(p.new("matmul", p.new("transpose", w, -1, -2), w), one, room)


def test_measures(batch, random, count):
    kinds = [("fro", 0), ("nuc", 1), (2, 2), (-2, 3), (1, 4), (-1, 5), (np.inf, 6), (-np.inf, 7)]
    for shape in [(3, 5), (2, 4, 3), (4, 4)][:1 if count < 100 else 3]:
        a = random.uniform(-2, 2, shape).astype(np.float32)
        wide = a.astype(np.float64)
        p = batch.program(f"measures {shape}")
        v = p.data(a)
        for name, kind in kinds:
            p.read(p.new("matrix_norm", v, kind), np.asarray(np.linalg.norm(wide, name, (-2, -1))).astype(np.float32), 1e-5, 4)
        p.read(p.new("pseudo_inverse", v, 0), np.linalg.pinv(wide).astype(np.float32), 5e-5, 4)
        p.read(p.new("matrix_rank", v, 0), np.asarray(np.linalg.matrix_rank(wide)).astype(np.int64))
        low = np.concatenate([a, a], -1)
        p.read(p.new("matrix_rank", p.data(low), 0), np.asarray(np.linalg.matrix_rank(wide)).astype(np.int64))
        p.read(p.new("pseudo_inverse", p.data(low), "1e-4"), np.linalg.pinv(low.astype(np.float64), 1e-4).astype(np.float32), 5e-5, 4)
        for order in (0, 1, 2, 3, 0.5, np.inf, -np.inf):
            wanted = np.linalg.norm(wide, order, -1).astype(np.float32)
            p.read(p.new("vector_norm", v, order, -1, 0), wanted, 1e-5, np.abs(wanted).max())
    square = random.uniform(-1, 1, (2, 3, 3)).astype(np.float32) + np.eye(3, dtype=np.float32)
    p = batch.program("powers of matrices")
    v = p.data(square)
    for power in (0, 1, 2, 5, -1, -3):
        wanted = np.linalg.matrix_power(square.astype(np.float64), power).astype(np.float32)
        p.read(p.new("matrix_power", v, power), wanted, 2e-4, np.abs(wanted).max())
    whole = np.array([[1, 1], [1, 0]], np.int64)
    p.read(p.new("matrix_power", p.data(whole), 20), np.linalg.matrix_power(whole, 20))
    p.read(p.new("matrix_power", p.data(whole[:1]), 2), "i64 1x2 is no square matrix")
    p.read(p.new("matrix_norm", v, 8), "8 is no kind of norm")


def test_vectors(batch, random, count):
    for types in [("f32", np.float32), ("i32", np.int32), ("f16", np.float16)][:1 if count < 100 else 3]:
        a, b = (random.uniform(-4, 4, shape).astype(types[1]) for shape in ((4, 1, 3), (5, 3)))
        p = batch.program(f"vectors {types[0]}")
        v, w = p.data(a), p.data(b)
        room = 4e-3 if types[0] == "f16" else 4e-6
        p.read(p.new("vector_dot", v, w, -1), (a.astype(np.float64) * b).sum(-1).astype(types[1]), room, 30)
        p.read(p.new("cross", v, w, -1), np.cross(a.astype(np.float64), b.astype(np.float64)).astype(types[1]), room, 30)
    p.read(p.new("vector_dot", v, w, 3), "have no axis 3")
    p.read(p.new("cross", v, w, 1), "does not have 3 elements along axis -2")


def test_types(batch, random):
    whole = np.array([[2, 1], [1, 3]], np.int32)
    p = batch.program("matrices of integers and narrow floats")
    v, h = p.data(whole), p.data(whole.astype(np.float16))
    p.read(p.new("inverse", v), np.linalg.inv(whole).astype(np.float32), 1e-6)
    p.read(p.new("determinant", h), np.float16(5), 1e-3)
    p.read(p.new("solve", h, v), np.eye(2, dtype=np.float16), 1e-3)
    p.read(p.new("qr", h, 1, 0), np.linalg.qr(whole.astype(np.float64))[1].astype(np.float16), 2e-3)
    p = batch.program("matrices of views, with maps around")
    x = random.uniform(-1, 1, (3, 4)).astype(np.float32)
    v = p.data(x)
    square = p.new("matmul", v, p.new("transpose", v, 0, 1))
    moved = p.new("flip", p.new("add", square, p.new("eye", "f32", 3, 3, 0)), "0,1")
    wanted = (x.astype(np.float64) @ x.T + np.eye(3))[::-1, ::-1]
    p.read(p.new("square", p.new("cholesky", moved)), np.linalg.cholesky(wanted).astype(np.float32) ** 2, 1e-5)
    p.read(p.new("transpose", p.new("inverse", p.new("transpose", moved, 0, 1)), 0, 1), np.linalg.inv(wanted).astype(np.float32), 1e-5, 4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)
    for part in (test_square, test_systems, test_factors, test_measures, test_vectors):
        part(batch, random, args.count)
    test_types(batch, random)
    sys.exit(1 if batch.run() else 0)


main()
