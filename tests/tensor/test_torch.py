"""Values and gradients beside PyTorch's, of functions that NumPy does not have, and of those whose gradients are made of several ops.
Usage: test_torch.py RUNNER [--seed N] [--count N]: below 100 fewer cases."""
import argparse
import sys

from programs import Batch, np

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: Python has no torch (apt install python3-torch, or pip install torch)")
    sys.exit(77)


class Case:
    """A function of arrays: what it is in a program, and in PyTorch. Both give one tensor; gradients are those of its sum with different weights."""

    def __init__(self, batch, random, name, ours, theirs, *shapes, room=2e-5, low=-1, high=1):
        arrays = [np.asarray(random.uniform(low, high, s)).astype(np.float32) for s in shapes]
        tensors = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays]
        p = batch.program(name)
        variables = [p.new("require", p.data(a)) for a in arrays]
        result, wanted = ours(p, *variables), theirs(*tensors)
        p.read(result, wanted.detach().numpy().astype(np.float32), room, self.scale(wanted))
        weights = np.asarray(random.uniform(0.5, 1.5, wanted.shape)).astype(np.float32)
        (wanted * torch.tensor(weights, dtype=torch.float64)).sum().backward()
        loss = p.new("multiply", result, p.data(weights))
        for v, t in zip(variables, tensors):
            p.read(p.new("gradient", loss, v), t.grad.numpy().astype(np.float32), room * 4, self.scale(t.grad))

    @staticmethod
    def scale(t):
        return max(1.0, float(t.detach().abs().max())) if t.numel() else 1.0


def images(check, few):
    for sizes, to in [((5,), (8,)), ((7,), (3,)), ((4, 5), (9, 7)), ((6, 8), (3, 16)), ((3, 4, 5), (5, 8, 3))][::2 if few else 1]:
        shape = (2, 3) + sizes
        text = "x".join(map(str, to))
        check(f"nearest {sizes} {to}", lambda p, x: p.new("interpolate", x, text, 0, 0), lambda x: F.interpolate(x, to), shape)
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(to)]
        for how, mode in [(1, linear)] + [(2, "bicubic")] * (len(to) == 2):
            for corners in (0, 1):
                check(f"{mode} {sizes} {to} {corners}", lambda p, x: p.new("interpolate", x, text, how, corners),
                      lambda x: F.interpolate(x, to, mode=mode, align_corners=bool(corners)), shape)
    for window, stride, padding, dilation in [((2, 3), (1, 1), (0, 0), (1, 1)), ((3, 2), (2, 3), (1, 1), (1, 2))]:
        words = ["x".join(map(str, w)) for w in (window, stride, padding, dilation)]
        columns = F.unfold(torch.zeros(2, 3, 7, 8), window, dilation, padding, stride).shape
        check(f"unfold {window}", lambda p, x: p.new("unfold", x, *words), lambda x: F.unfold(x, window, dilation, padding, stride), (2, 3, 7, 8))
        check(f"fold {window}", lambda p, x: p.new("fold", x, *words, 7, 8), lambda x: F.fold(x, (7, 8), window, dilation, padding, stride), tuple(columns))
    check("pixel_shuffle", lambda p, x: p.new("pixel_shuffle", x, 3), lambda x: F.pixel_shuffle(x, 3), (2, 18, 2, 4))
    check("pixel_unshuffle", lambda p, x: p.new("pixel_unshuffle", x, 2), lambda x: F.pixel_unshuffle(x, 2), (2, 3, 4, 6))
    for n, stride, padding, dilation, groups, further in [(1, (2,), (1,), (2,), 2, (1,)), (2, (2, 1), (1, 0), (1, 2), 1, (1, 0)), (2, (1, 1), (1, 1), (1, 1), 4, (0, 0)),
                                                          (3, (2, 1, 3), (1, 0, 1), (1, 2, 1), 2, (1, 0, 2)), (3, (1, 2, 1), (0, 1, 1), (2, 1, 1), 1, (0, 0, 0))][1::2 if few else 1]:
        words = ["x".join(map(str, w)) for w in (stride, padding, dilation)] + [groups, "x".join(map(str, further))]
        sizes, taps = (5, 4, 6)[:n], (3, 2, 2)[:n]
        plain, back = {1: (F.conv1d, F.conv_transpose1d), 2: (F.conv2d, F.conv_transpose2d), 3: (F.conv3d, F.conv_transpose3d)}[n]
        check(f"convolution {n} {groups}", lambda p, x, w: p.new("convolution", x, w, *words[:-1], "scalar"),
              lambda x, w: plain(x, w, None, stride, padding, dilation, groups), (2, 4) + sizes, (6 if groups < 4 else 4, 4 // groups) + taps)
        check(f"transposed convolution {n} {groups}", lambda p, x, w: p.new("transposed_convolution", x, w, *words),
              lambda x, w: back(x, w, None, stride, padding, further, groups, dilation), (2, 4) + sizes, (4, 3) + taps)
    check("max_pool", lambda p, x: p.new("max_pool", x, "3x2", "2x1", "1x0"), lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0)), (2, 3, 7, 6))
    check("average_pool", lambda p, x: p.new("average_pool", x, "3x2", "2x1", "1x0"), lambda x: F.avg_pool2d(x, (3, 2), (2, 1), (1, 0)), (2, 3, 7, 6))


def turned(p, x):
    return p.new("transpose", x, -1, -2)


def matrices(check, few):
    def positive(p, x, n):
        return p.new("add", p.new("matmul", x, turned(p, x)), p.new("eye", "f32", n, n, 0))

    for shape in [(2, 4, 4), (9, 9)][:1 if few else 2]:
        n = shape[-1]
        eye = torch.eye(n, dtype=torch.float64)
        room = 2e-4
        spread = 3 * eye
        check(f"cholesky {shape}", lambda p, x: p.new("cholesky", positive(p, x, n)), lambda x: torch.linalg.cholesky(x @ x.mT + eye), shape, room=room)
        shifted = lambda p, x: p.new("add", x, p.new("multiply", p.new("eye", "f32", n, n, 0), "#3"))
        check(f"inverse {shape}", lambda p, x: p.new("inverse", shifted(p, x)), lambda x: torch.linalg.inv(x + spread), shape, room=room)
        check(f"determinant {shape}", lambda p, x: p.new("determinant", x), torch.linalg.det, shape, room=room)
        check(f"log_determinant {shape}", lambda p, x: p.new("log_determinant", shifted(p, x), 0), lambda x: torch.linalg.slogdet(x + spread)[1], shape, room=room)
        check(f"solve {shape}", lambda p, x, b: p.new("solve", shifted(p, x), b), lambda x, b: torch.linalg.solve(x + spread, b), shape, (n, 3), room=room)
        for upper in (0, 1):
            check(f"solve_triangular {shape}", lambda p, x, b: p.new("solve_triangular", shifted(p, x), b, upper, 0),
                  lambda x, b: torch.linalg.solve_triangular(torch.triu(x + spread) if upper else torch.tril(x + spread), b, upper=bool(upper)), shape, shape[:-1] + (2,), room=room)
        check(f"eigen {shape}", lambda p, x: p.new("eigen", positive(p, x, n), 0), lambda x: torch.linalg.eigvalsh(x @ x.mT + eye), shape, room=room)
        square = lambda v: v * v
        check(f"eigenvectors {shape}", lambda p, x: p.new("square", p.new("eigen", positive(p, x, n), 1)),
              lambda x: square(torch.linalg.eigh(x @ x.mT + eye)[1]), shape, room=5e-3 if n > 4 else 1e-3)
    for shape in [(5, 3), (2, 3, 3), (3, 5)][:2 if few else 3]:
        for part in (0, 1):
            check(f"qr {shape} {part}", lambda p, x: p.new("qr", x, part, 0), lambda x: torch.linalg.qr(x)[part], shape, room=5e-4)
        check(f"svd {shape}", lambda p, x: p.new("svd", x, 0), torch.linalg.svdvals, shape, room=2e-4)
        for part in (1, 2):
            check(f"singular vectors {shape} {part}", lambda p, x: p.new("square", p.new("svd", x, part)),
                  lambda x: (lambda u, s, v: (u if part == 1 else v.mT) ** 2)(*torch.linalg.svd(x, full_matrices=False)), shape, room=2e-3)
        check(f"pseudo_inverse {shape}", lambda p, x: p.new("pseudo_inverse", x, 0), torch.linalg.pinv, shape, room=2e-3)
        check(f"nuclear norm {shape}", lambda p, x: p.new("matrix_norm", x, 1), lambda x: torch.linalg.matrix_norm(x, "nuc"), shape, room=2e-4)
    check("matrix_power", lambda p, x: p.new("matrix_power", x, 3), lambda x: torch.linalg.matrix_power(x, 3), (3, 3))
    check("cross", lambda p, a, b: p.new("cross", a, b, -1), lambda a, b: torch.linalg.cross(a, b), (4, 3), (4, 3))
    check("vector_dot", lambda p, a, b: p.new("vector_dot", a, b, 0), lambda a, b: torch.linalg.vecdot(a, b, dim=0), (4, 3), (4, 3))
    for order in (1, 2, 3, float("inf")):
        check(f"vector_norm {order}", lambda p, x: p.new("vector_norm", x, order, -1, 0), lambda x: torch.linalg.vector_norm(x, order, -1), (4, 5))


def rows(check, few):
    for axis in (0, -1):
        check("softmax", lambda p, x: p.new("softmax", x, axis), lambda x: torch.softmax(x, axis), (4, 5))
        check("log_softmax", lambda p, x: p.new("log_softmax", x, axis), lambda x: torch.log_softmax(x, axis), (4, 5))
        check("log_sum_exp", lambda p, x: p.new("log_sum_exp", x, axis, 0), lambda x: torch.logsumexp(x, axis), (4, 5))
        check("cumulative_sum", lambda p, x: p.new("cumulative_sum", x, axis), lambda x: torch.cumsum(x, axis), (4, 5))
        check("cumulative_product", lambda p, x: p.new("cumulative_product", x, axis), lambda x: torch.cumprod(x, axis), (4, 5))
        check("cumulative_log_sum_exp", lambda p, x: p.new("cumulative_log_sum_exp", x, axis), lambda x: torch.logcumsumexp(x, axis), (4, 5), low=-30, high=30)
        check("cumulative_max", lambda p, x: p.new("cumulative_max", x, axis), lambda x: torch.cummax(x, axis)[0], (4, 5))
        check("variance", lambda p, x: p.new("variance", x, axis, 1, 0), lambda x: torch.var(x, axis), (4, 5))
        check("norm", lambda p, x: p.new("norm", x, axis, 0), lambda x: torch.linalg.norm(x, dim=axis), (4, 5))
        check("sort", lambda p, x: p.new("sort", x, axis, 0), lambda x: torch.sort(x, axis)[0], (4, 5))
        check("max", lambda p, x: p.new("max", x, axis, 0), lambda x: torch.amax(x, axis), (4, 5))
        check("product", lambda p, x: p.new("product", x, axis, 0), lambda x: torch.prod(x, axis), (4, 5))
        check("difference", lambda p, x: p.new("difference", x, 2, axis), lambda x: torch.diff(x, 2, axis), (4, 5))
    for name, theirs in [("gelu", F.gelu), ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")), ("silu", F.silu), ("mish", F.mish), ("softplus", F.softplus),
                         ("sigmoid", torch.sigmoid), ("erf", torch.erf), ("tanh", torch.tanh), ("relu", torch.relu), ("expm1", torch.expm1), ("atanh", torch.atanh)]:
        check(name, lambda p, x: p.new(name, x), theirs, (3, 4), low=-0.9, high=0.9)
    check("lerp", lambda p, a, b, w: p.new("lerp", a, b, w), torch.lerp, (3, 4), (3, 4), (3, 4))
    check("einsum", lambda p, a, b: p.new("einsum", "bij,bkj->bik", a, b), lambda a, b: torch.einsum("bij,bkj->bik", a, b), (2, 3, 4), (2, 5, 4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    random, batch = np.random.default_rng(args.seed), Batch(args.runner)

    def check(*parts, **options):
        Case(batch, random, *parts, **options)

    for part in (images, matrices, rows):
        part(check, args.count < 100)
    sys.exit(1 if batch.run() else 0)


main()
