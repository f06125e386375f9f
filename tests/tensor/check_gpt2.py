"""quern_gpt2 with a tiny random model in GPT-2's files, beside the same model in NumPy: tokens of a text, and what follows it.
Usage: check_gpt2.py PROGRAM, or words in front of it"""
import json, math, os, struct, subprocess, sys, tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing")
    sys.exit(77)

SIZE, LAYERS, LENGTH, NEW = 64, 2, 96, 5
TEXT = "It's the  theme\n42 hens: \u00fc!"
random = np.random.default_rng(3)


def letters():
    shown = [b for b in range(256) if 33 <= b <= 126 or b >= 161 and b != 173]
    others = [b for b in range(256) if b not in shown]
    return {**{b: chr(b) for b in shown}, **{b: chr(256 + i) for i, b in enumerate(others)}}


LETTERS = letters()
MERGES = [("t", "h"), ("th", "e"), ("\u0120", "the"), ("h", "e"), ("e", "n"), ("he", "n"), ("'", "s"), ("\u0120", "4"), ("o", "f"), ("s", "e")]
PIECES = [LETTERS[b] for b in range(256)] + [a + b for a, b in MERGES]
NUMBERS = {p: i for i, p in enumerate(PIECES)}
# What GPT-2's expression makes of TEXT, by hand.
WORDS = ["It", "'s", " the", " ", " theme", "\n", "42", " hens", ":", " \u00fc", "!"]
assert "".join(WORDS) == TEXT


def tokens(word):
    parts = [LETTERS[b] for b in word.encode()]
    while True:
        ranks = [(MERGES.index(pair), i) for i, pair in enumerate(zip(parts, parts[1:])) if pair in MERGES]
        if not ranks:
            return [NUMBERS[p] for p in parts]
        _, i = min(ranks)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def weights():
    w = {"wte.weight": (len(PIECES), SIZE), "wpe.weight": (LENGTH, SIZE), "ln_f.weight": (SIZE,), "ln_f.bias": (SIZE,)}
    for i in range(LAYERS):
        for name, shape in (("ln_1", SIZE), ("ln_2", SIZE)):
            w[f"h.{i}.{name}.weight"] = w[f"h.{i}.{name}.bias"] = (shape,)
        for name, rows, columns in (("attn.c_attn", SIZE, 3 * SIZE), ("attn.c_proj", SIZE, SIZE), ("mlp.c_fc", SIZE, 4 * SIZE), ("mlp.c_proj", 4 * SIZE, SIZE)):
            w[f"h.{i}.{name}.weight"], w[f"h.{i}.{name}.bias"] = (rows, columns), (columns,)
        w[f"h.{i}.attn.bias"] = (1, 1, LENGTH, LENGTH)
    return {name: random.normal(0, 0.2, shape).astype(np.float32) for name, shape in w.items()}


def norm(x, w, name):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def scores(w, ids):
    x = w["wte.weight"][ids] + w["wpe.weight"][: len(ids)]
    for i in range(LAYERS):
        linear = lambda y, name: y @ w[f"h.{i}.{name}.weight"] + w[f"h.{i}.{name}.bias"]
        q, k, v = np.split(linear(norm(x, w, f"h.{i}.ln_1"), "attn.c_attn"), 3, -1)
        s = np.where(np.tri(len(ids)) > 0, q @ k.T / math.sqrt(SIZE), -np.inf)
        s = np.exp(s - s.max(-1, keepdims=True))
        x = x + linear(s / s.sum(-1, keepdims=True) @ v, "attn.c_proj")
        y = linear(norm(x, w, f"h.{i}.ln_2"), "mlp.c_fc")
        y = y / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
        x = x + linear(y, "mlp.c_proj")
    return norm(x, w, "ln_f")[-1] @ w["wte.weight"].T


def write_files(folder, w):
    header, data = {}, b""
    for name, a in w.items():
        header[name] = {"dtype": "F32", "shape": a.shape, "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    json.dump(NUMBERS, open(folder + "/vocab.json", "w"))
    with open(folder + "/merges.txt", "w", encoding="utf-8") as f:
        f.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in MERGES))


def main():
    w = weights()
    ids = [t for word in WORDS for t in tokens(word)]
    exact = {name: a.astype(np.float64) for name, a in w.items()}
    for _ in range(min(NEW, LENGTH - len(ids))):
        ids.append(int(np.argmax(scores(exact, ids))))
    of_letter = {c: b for b, c in LETTERS.items()}
    wanted = bytes(of_letter[c] for t in ids for c in PIECES[t])
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, w)
        done = subprocess.run([*sys.argv[1:], folder, "--quick", "--text", TEXT], capture_output=True)
    got = done.stdout.split(b"----\n")[1][:-1] if done.returncode == 0 else done.stdout + done.stderr
    if got != wanted:
        print(f"wanted {wanted!r}\ngot    {got!r}")
        return 1
    print(f"the same {len(ids)} tokens")
    return 0


sys.exit(main())
