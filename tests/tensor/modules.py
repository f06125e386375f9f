"""Modules and losses beside PyTorch: writes a file of parameters, inputs, results and gradients for tests/unit/nn_modules.c, whose table has the same cases.
Usage: modules.py --write FILE [--seed N]       needs PyTorch
       modules.py RUNNER                        writes one of another seed and has RUNNER, unit_nn_modules, compare
tests/tensor/modules.safetensors was written by it; it has what is compared where PyTorch is missing."""
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    print("skipped: Python has no torch; unit.nn_modules compares with what it gave")
    sys.exit(77)

arrays = {}


def put(name, x):
    x = x.detach().contiguous().numpy()
    arrays[name] = x.astype(np.float32) if x.dtype.kind == "f" else x.copy()


def as_floats(x):
    """With values that f32 has, of the double that PyTorch computes in: the differences are those of quern alone."""
    if x.is_floating_point():
        x.data = x.data.float().double()
    return x


def case(name, parameters, inputs, function):
    """function(inputs) gives tensors; gradients are those of the sum of their products with numbers that are written, too."""
    for i, x in enumerate(inputs):
        if as_floats(x).is_floating_point():
            x.requires_grad_(True)
        put(f"{name}/in/{i}", x)
    state = parameters.state_dict() if isinstance(parameters, nn.Module) else parameters
    for key, x in state.items():
        if as_floats(x).is_floating_point():  # not how many batches there were
            put(f"{name}/p/{key}", x)
    leaves = dict(parameters.named_parameters()) if isinstance(parameters, nn.Module) else parameters
    for x in leaves.values():
        x.requires_grad_(True)
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    loss = 0
    for i, y in enumerate(results):
        weights = as_floats(torch.randn(y.shape))
        put(f"{name}/out/{i}", y)
        put(f"{name}/w/{i}", weights)
        loss = loss + (y * weights).sum()
    loss.backward()
    for key, x in leaves.items():
        put(f"{name}/gp/{key}", x.grad)
    for i, x in enumerate(inputs):
        if x.requires_grad:
            put(f"{name}/gi/{i}", x.grad if x.grad is not None else torch.zeros_like(x))
    if isinstance(parameters, nn.Module):
        for key, x in parameters.named_buffers():
            if x.is_floating_point():
                put(f"{name}/b/{key}", x)


def shuffled(module):
    """With parameters that differ, ones and zeros of norms and biases included."""
    for x in module.parameters():
        x.data += 0.3 * torch.randn(x.shape)
    return module


def attend(q, k, v, mask=None):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return torch.softmax(scores if mask is None else scores + mask, -1) @ v


def turn(x, positions, base, neighbours):
    size = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, size, 2) / size)
    a, b = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :size // 2], x[..., size // 2:])
    a, b = a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()
    return torch.stack([a, b], -1).flatten(-2) if neighbours else torch.cat([a, b], -1)


def embeddings():
    e = nn.Embedding(7, 4, padding_idx=2)
    e.weight.data[2] = torch.randn(4)
    case("embedding", e, [torch.tensor([[1, 2, 6], [1, 0, 2]])], e)
    places = torch.arange(5)[:, None] / 10000 ** (torch.arange(0, 6, 2) / 6)
    sines = torch.stack([places.sin(), places.cos()], -1).flatten(-2)
    case("sines", {}, [torch.randn(2, 5, 6)], lambda x: x + sines)
    learned = {"weight": torch.randn(8, 6)}
    case("learned_positions", learned, [torch.randn(2, 5, 6)], lambda x: x + learned["weight"][:5])
    case("rotary", {}, [torch.randn(2, 3, 5, 6)], lambda x: turn(x, torch.arange(5), 10000.0, False))
    case("rotary_neighbours", {}, [torch.randn(2, 3, 6)], lambda x: turn(x, torch.tensor([4, 7, 9]), 100.0, True))


def attentions():
    m = shuffled(nn.MultiheadAttention(6, 3, batch_first=True))
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    case("multi_head_causal", m, [torch.randn(2, 5, 6)], lambda x: m(x, x, x, attn_mask=hidden)[0])
    m = shuffled(nn.MultiheadAttention(6, 2, batch_first=True, bias=False, kdim=3, vdim=5))
    padding = torch.tensor([[False, False, True], [False, True, True]])
    case("multi_head_cross", m, [torch.randn(2, 4, 6), torch.randn(2, 3, 3), torch.randn(2, 3, 5)],
         lambda q, k, v: m(q, k, v, key_padding_mask=padding)[0])
    m = shuffled(nn.MultiheadAttention(6, 2, batch_first=True))
    case("multi_head_memory", m, [torch.randn(2, 4, 6), torch.randn(2, 3, 6), torch.randn(4, 3)], lambda q, k, mask: m(q, k, k, attn_mask=mask)[0])
    # With weights of deviation 1 scores are of 20 and more, of which f32 leaves PyTorch's own gradients as wrong.
    p = {"in_proj_weight": 0.4 * torch.randn(8 + 8, 8), "in_proj_bias": torch.randn(16), "out_proj.weight": 0.4 * torch.randn(8, 8), "out_proj.bias": torch.randn(8)}

    def grouped(x):
        y = F.linear(x, p["in_proj_weight"], p["in_proj_bias"])
        q, k, v = (z.unflatten(-1, (-1, 2)).transpose(1, 2) for z in y.split([8, 4, 4], -1))
        q, k = (turn(z, torch.arange(5), 50.0, False) for z in (q, k))
        y = attend(q, k, v, torch.full((5, 5), float("-inf")).triu(1))
        return F.linear(y.transpose(1, 2).flatten(2), p["out_proj.weight"], p["out_proj.bias"])
    case("multi_head_grouped", p, [torch.randn(2, 5, 8)], grouped)


def transformers():
    p = {"linear1.weight": torch.randn(5, 4), "linear1.bias": torch.randn(5), "gate.weight": torch.randn(5, 4), "gate.bias": torch.randn(5),
         "linear2.weight": torch.randn(4, 5), "linear2.bias": torch.randn(4)}
    case("feed_forward_gated", p, [torch.randn(2, 3, 4)],
         lambda x: F.linear(F.silu(F.linear(x, p["gate.weight"], p["gate.bias"])) * F.linear(x, p["linear1.weight"], p["linear1.bias"]), p["linear2.weight"], p["linear2.bias"]))
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1)
    for first in (False, True):
        kind, word = ("gelu", "pre") if first else ("relu", "post")
        m = shuffled(nn.TransformerEncoderLayer(4, 2, 6, 0.0, kind, batch_first=True, norm_first=first))
        case(f"encoder_{word}", m, [torch.randn(2, 4, 4)], lambda x: m(x, src_mask=hidden))
        m = shuffled(nn.TransformerDecoderLayer(4, 2, 6, 0.0, kind, batch_first=True, norm_first=first))
        case(f"decoder_{word}", m, [torch.randn(2, 4, 4), torch.randn(2, 3, 4)], lambda x, y: m(x, y, tgt_mask=hidden))


def recurrents():
    kinds = {"rnn_tanh": lambda *a, **k: nn.RNN(*a, **k), "rnn_relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k), "gru": nn.GRU, "lstm": nn.LSTM}
    for word, make in kinds.items():
        m = make(3, 4, num_layers=2, bidirectional=True, batch_first=True)
        inputs = [torch.randn(2, 5, 3), torch.randn(4, 2, 4), torch.randn(4, 2, 4)]
        if word == "lstm":
            def run(x, h, c):
                y, (h, c) = m(x, (h, c))
                return y, h, c
        else:
            inputs = inputs[:2]
            run = m
        case(word, m, inputs, run)
    for word in ("gru", "lstm"):
        m = kinds[word](3, 4, bidirectional=True, batch_first=True)

        def packed(x):
            y, last = m(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 2, 3]), True, False))
            return (nn.utils.rnn.pad_packed_sequence(y, True)[0],) + (last if isinstance(last, tuple) else (last,))
        case(f"{word}_lengths", m, [torch.randn(3, 5, 3)], packed)
    m = nn.RNNCell(3, 4)
    case("rnn_cell", m, [torch.randn(2, 3), torch.randn(2, 4)], m)
    m = nn.GRUCell(3, 4, bias=False)
    case("gru_cell", m, [torch.randn(2, 3), torch.randn(2, 4)], m)
    m = nn.LSTMCell(3, 4)
    case("lstm_cell", m, [torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)], lambda x, h, c: m(x, (h, c)))


def losses():
    x, y = torch.randn(3, 4) * 2, torch.randn(3, 4)
    case("mse", {}, [x.clone(), y.clone()], F.mse_loss)
    case("l1", {}, [x.clone(), y.clone()], lambda a, b: F.l1_loss(a, b, reduction="sum"))
    case("huber", {}, [x.clone(), y.clone()], lambda a, b: F.huber_loss(a, b, delta=0.7))
    case("bce", {}, [torch.rand(3, 4) * 0.9 + 0.05, torch.rand(3, 4)], lambda a, b: F.binary_cross_entropy(a, b.detach()))
    case("bce_logits", {}, [x.clone(), torch.rand(3, 4)], lambda a, b: F.binary_cross_entropy_with_logits(a, b.detach(), reduction="none"))
    case("kl", {}, [torch.log_softmax(x, 1), torch.softmax(y, 1)], lambda a, b: F.kl_div(a, b.detach(), reduction="mean"))
    classes, weights = torch.randint(0, 5, (3, 6)), torch.rand(5) + 0.5
    classes[0, 1] = 3
    case("cross_entropy", {}, [torch.randn(3, 5, 6), classes, weights],
         lambda a, b, w: F.cross_entropy(a, b, weight=w.detach(), ignore_index=3, label_smoothing=0.2))
    case("cross_entropy_soft", {}, [torch.randn(4, 5), torch.softmax(torch.randn(4, 5), 1)], lambda a, b: F.cross_entropy(a, b.detach(), label_smoothing=0.1))
    case("nll", {}, [torch.log_softmax(torch.randn(3, 5), 1), classes[:, 0]], F.nll_loss)
    targets = torch.tensor([[1, 1, 2, 4], [3, 2, 1, 0], [2, 0, 0, 0], [4, 4, 4, 4]])
    lengths, room = torch.tensor([9, 7, 4, 5]), torch.tensor([4, 3, 1, 4])
    # The last one is impossible: equal neighbours want blanks between.
    for word, reduction in (("ctc", "mean"), ("ctc_each", "none")):
        case(word, {}, [torch.randn(9, 4, 5), targets.clone(), lengths.clone(), room.clone()],
             lambda a, b, n, m: F.ctc_loss(torch.log_softmax(a, 2), b, n, m, 0, reduction, True))
    case("ctc_blank", {}, [torch.randn(6, 2, 4), torch.tensor([[0, 1], [2, 2]])],
         lambda a, b: F.ctc_loss(torch.log_softmax(a, 2), b, [6, 6], [2, 2], 3, "sum"))


def images():
    for d, make in enumerate((nn.Conv1d, nn.Conv2d, nn.Conv3d), 1):
        m = make(4, 6, 3, stride=2, padding=1, groups=2)
        case(f"convolution_{d}d", m, [torch.randn(2, 4, *(5, 4, 3)[:d])], m)
    for d, make in enumerate((nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), 1):
        m = make(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        case(f"transposed_{d}d", m, [torch.randn(2, 4, *(4, 3, 2)[:d])], m)
    case("max_pool", {}, [torch.randn(2, 3, 5, 6)], lambda x: F.max_pool2d(x, (2, 3), (2, 1), (1, 0)))
    case("average_pool", {}, [torch.randn(2, 3, 7)], lambda x: F.avg_pool1d(x, 3, 2, 1))
    for word, m in (("layer_norm", nn.LayerNorm(6)), ("group_norm", nn.GroupNorm(2, 4)), ("batch_norm", nn.BatchNorm2d(4))):
        shuffled(m)
        case(word, m, [torch.randn(2, 4, 3, 6)], m)


def write(path, seed):
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    for part in (embeddings, attentions, transformers, recurrents, losses, images):
        part()
    header, data = {}, b""
    for name, x in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        header[name] = {"dtype": {"f": "F32", "i": "I64"}[x.dtype.kind], "shape": list(x.shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + data)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--write":
        write(sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 1)
        return
    seed = int(time.time()) % 100000
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/modules.safetensors"
        write(path, seed)
        done = subprocess.run([sys.argv[1]], env={**os.environ, "QUERN_MODULES": path})
    if done.returncode:
        print(f"with seed {seed}")
    sys.exit(done.returncode)


main()
