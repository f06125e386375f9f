"""Files of arrays against those who know them: NumPy, zipfile, and the packages safetensors and gguf where they are there. What
they write is read alike, what quern writes they read alike. Usage: check_archive.py DRIVER (tests/tensor/archive.c)."""
import gzip, io, json, os, random, struct, subprocess, sys, tempfile, zipfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not here")
    sys.exit(77)

rng = np.random.default_rng(1)
random.seed(1)
skipped = []


class Driver:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, *command):
        self.process.stdin.write(" ".join(command) + "\n")
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline().rstrip("\n")
            if not line:
                sys.exit(f"the driver ended at {command}")
            if line == "ok" or line.startswith("failed"):
                return lines, line
            lines.append(line)

    def dump(self, path, how="dump"):
        """({name: (encoding, sizes, bytes)}, {key: text of its value})"""
        lines, end = self.run(how, path, self.path("out"))
        assert end == "ok", end
        with open(self.path("out"), "rb") as file:
            data = file.read()
        arrays, metadata, at = {}, {}, 0
        for line in lines:
            words = line.split(" ")
            if words[0] == "array":
                size = int(words[3])
                arrays[words[1]] = (words[2], tuple(map(int, words[4:])), data[at:at + size])
                at += size
            else:
                metadata[words[1]] = words[2]
        assert at == len(data)
        return arrays, metadata

    def copy(self, path, to, how="copy"):
        _, end = self.run(how, path, to)
        assert end == "ok", end


def quoted(text):
    return '"' + text.encode().hex() + '"'


TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
         "u32": "u4", "u64": "u8", "bool": "b1", "c64": "c8", "c128": "c16"}


def random_array(dtype, shape):
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 256, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, dtype=np.uint8)
    if dtype.kind == "b":
        raw &= 1
    return raw.view(dtype).reshape(shape)


def random_shape():
    return tuple(random.choice([0, 1, 1, 2, 3, 5, 17]) for _ in range(random.randrange(9)))


def same(got, wanted, encoding):
    little = np.ascontiguousarray(wanted.astype(wanted.dtype.newbyteorder("<")))
    assert got[0] == encoding, (got[0], encoding)
    assert got[1] == wanted.shape, (got[1], wanted.shape)
    assert got[2] == little.tobytes(), (got[2][:40], little.tobytes()[:40])


def check_npy(driver):
    for i in range(50):
        encoding, name = random.choice(list(TYPES.items()))
        array = random_array(name, random_shape())
        if random.randrange(2):
            array = array.astype(array.dtype.newbyteorder(random.choice("<>")))
        if random.randrange(2):
            array = np.asfortranarray(array).reshape(array.shape, order="A") if array.ndim else array
        path = driver.path("a.npy")
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, version=random.choice([(1, 0), (2, 0), (3, 0)]))
        arrays, _ = driver.dump(path)
        same(arrays["data"], array, encoding)
        for how in "copy", "pieces":
            if how == "pieces" and array.flags.f_contiguous and not array.flags.c_contiguous:
                continue  # elements in order are asked for there
            driver.copy(path, driver.path("b.npy"), how)
            back = np.load(driver.path("b.npy"))
            assert back.dtype == array.dtype.newbyteorder("<") and back.shape == array.shape
            same((encoding, back.shape, back.tobytes()), array, encoding)


def check_npz(driver):
    for i in range(12):
        wanted = {}
        for n in range(random.randrange(6)):
            encoding, name = random.choice(list(TYPES.items()))
            wanted[f"käse/{n}"] = (encoding, random_array(name, random_shape()))
        text = np.frombuffer(b"some text that repeats, repeats, repeats " * random.randrange(3000), np.uint8)
        wanted["text"] = ("u8", text.reshape(-1, 1))
        path = driver.path("a.npz")
        if random.randrange(2):
            random.choice([np.savez, np.savez_compressed])(path, **{k: v[1] for k, v in wanted.items()})
        else:
            with zipfile.ZipFile(path, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
                                 compresslevel=random.randrange(1, 10)) as file:
                for key, (_, array) in wanted.items():
                    with file.open(key + ".npy", "w", force_zip64=bool(random.randrange(2))) as entry:
                        np.lib.format.write_array(entry, array)
                file.comment = b"PK\5\6" * random.randrange(20)
        arrays, _ = driver.dump(path)
        assert list(arrays) == list(wanted)
        for key, (encoding, array) in wanted.items():
            same(arrays[key], array, encoding)
        driver.copy(path, driver.path("b.npz"))
        with np.load(driver.path("b.npz")) as back:
            assert list(back) == list(wanted)
            for key, (encoding, array) in wanted.items():
                same((encoding, back[key].shape, back[key].tobytes()), array, encoding)
        with zipfile.ZipFile(driver.path("b.npz")) as file:
            assert file.testzip() is None
        arrays, _ = driver.dump(driver.path("b.npz"))
        for key, (encoding, array) in wanted.items():
            same(arrays[key], array, encoding)
    many = range(66000)  # more than 16 bits count
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(1, np.int32))
    head = buffer.getvalue()[:-4]
    with zipfile.ZipFile(driver.path("a.npz"), "w") as file:
        for i in many:
            file.writestr(f"a{i}.npy", head + struct.pack("<i", i))
        file.writestr("note.txt", "hello")
    driver.copy(driver.path("a.npz"), driver.path("b.npz"))
    arrays, _ = driver.dump(driver.path("b.npz"))
    assert len(arrays) == 66001 and arrays["note.txt"][2] == b"hello"
    assert all(arrays[f"a{i}"][2] == struct.pack("<i", i) for i in many)
    with zipfile.ZipFile(driver.path("b.npz")) as file:
        assert len(file.namelist()) == 66001


# safetensors' types: its name, ours, bits.
SAFE = [("BOOL", "bool", 8), ("F4", "e2m1", 4), ("F6_E2M3", "e2m3", 6), ("F6_E3M2", "e3m2", 6), ("U8", "u8", 8), ("I8", "i8", 8),
        ("F8_E5M2", "e5m2", 8), ("F8_E4M3", "e4m3", 8), ("F8_E8M0", "e8m0", 8), ("F8_E4M3FNUZ", "e4m3fnuz", 8),
        ("F8_E5M2FNUZ", "e5m2fnuz", 8), ("I16", "i16", 16), ("U16", "u16", 16), ("F16", "f16", 16), ("BF16", "bf16", 16),
        ("I32", "i32", 32), ("U32", "u32", 32), ("F32", "f32", 32), ("C64", "c64", 64), ("F64", "f64", 64), ("I64", "i64", 64),
        ("U64", "u64", 64)]


def check_safetensors(driver):
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        safetensors = None
        skipped.append("the package safetensors")
    for i in range(25):
        header, data, wanted = {}, b"", {}
        types = SAFE if i < 2 else random.sample(SAFE, random.randrange(len(SAFE)))
        metadata = {"format": "pt \"\\ \u00e9\U0001f600\n"} if random.randrange(2) else {}
        if metadata:
            header["__metadata__"] = metadata
        for n, (theirs, ours, bits) in enumerate(random.sample(types, len(types))):
            shape = random_shape()
            shape += ((4,) if len(shape) < 8 else ()) if bits < 8 else ()
            size = int(np.prod(shape, dtype=np.int64)) * bits
            if size % 8 or (bits == 6 and size % 24):
                continue
            begin = len(data)
            data += rng.bytes(size // 8) if theirs != "BOOL" else bytes(random.randrange(2) for _ in range(size // 8))
            name = f"layers.{n}.\"\u00fc\u4e2d\""
            header[name] = {"dtype": theirs, "shape": shape, "data_offsets": [begin, len(data)]}
            wanted[name] = (ours, shape, data[begin:])
        text = json.dumps(header, ensure_ascii=bool(random.randrange(2)), indent=random.choice([None, 2])).encode()
        path, to = driver.path("a.safetensors"), driver.path("b.safetensors")
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
        arrays, found = driver.dump(path)
        assert arrays == wanted
        assert found == {key: quoted(value) for key, value in metadata.items()}
        driver.copy(path, to, random.choice(["copy", "pieces"]))
        with open(to, "rb") as file:
            written = file.read()
        arrays, found = driver.dump(to)
        assert arrays == wanted and found == {key: quoted(value) for key, value in metadata.items()}
        if not safetensors:
            continue
        back = {name: (dict((t[0], t[1]) for t in SAFE)[a["dtype"]], tuple(a["shape"]), bytes(a["data"]))
                for name, a in safetensors.deserialize(written)}
        assert back == wanted
    if not safetensors:
        return
    for i in range(8):  # the same bytes as theirs
        arrays = {f"a{n}": random_array(TYPES[e], random_shape())
                  for n, e in enumerate(random.choices([e for e in TYPES if e[0] != "c"], k=9))}
        safetensors.numpy.save_file(arrays, driver.path("a.safetensors"), {"by": "them"} if i % 2 else None)
        driver.copy(driver.path("a.safetensors"), driver.path("b.safetensors"))
        with open(driver.path("a.safetensors"), "rb") as a, open(driver.path("b.safetensors"), "rb") as b:
            assert a.read() == b.read()


def check_gguf(driver):
    try:
        import gguf
    except ImportError:
        skipped.append("the package gguf")
        return
    path = driver.path("a.gguf")
    writer = gguf.GGUFWriter(path, "quern")
    values = {"u8": ("uint8", 200, "200"), "i8": ("int8", -100, "-100"), "u16": ("uint16", 65535, "65535"),
              "i16": ("int16", -32768, "-32768"), "u32": ("uint32", 2**32 - 1, str(2**32 - 1)),
              "i32": ("int32", -2**31, str(-2**31)), "u64": ("uint64", 2**64 - 1, str(2**64 - 1)),
              "i64": ("int64", -2**63, str(-2**63)), "f32": ("float32", 0.1, "%.17g" % np.float32(0.1)),
              "f64": ("float64", 0.1, "%.17g" % 0.1), "bool": ("bool", True, "true"), "text": ("string", "hé", quoted("hé"))}
    for key, (kind, value, _) in values.items():
        getattr(writer, "add_" + kind)("a." + key, value)
    tokens = ["<s>", "", "ünï", "x" * 1000] + [str(i) for i in range(5000)]
    writer.add_array("tokens", tokens)
    writer.add_array("scores", [0.5 * i for i in range(1000)])
    writer.add_array("signed", [-1, 2, -3])
    writer.add_array("lists", [[1, 2], [3]])
    quantised = {"Q4_0": 32, "Q4_1": 32, "Q5_0": 32, "Q5_1": 32, "Q8_0": 32, "Q2_K": 256, "Q3_K": 256, "Q4_K": 256, "Q5_K": 256,
                 "Q6_K": 256, "TQ1_0": 256, "TQ2_0": 256, "IQ4_NL": 32, "IQ4_XS": 256, "IQ1_S": 256, "IQ1_M": 256,
                 "IQ2_XXS": 256, "IQ2_XS": 256, "IQ2_S": 256, "IQ3_XXS": 256, "IQ3_S": 256, "MXFP4": 32, "Q8_K": 256, "Q8_1": 32}
    wanted = {}
    for name, block in quantised.items():
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        assert elements == block
        shape = (3, 2, size * random.randrange(1, 4))
        raw = rng.integers(0, 256, shape, dtype=np.uint8)
        writer.add_tensor("blk." + name, raw, raw_dtype=kind)
        wanted["blk." + name] = (name.lower(), (3, 2, shape[2] // size * block), raw.tobytes())
    for encoding in "f32", "f64", "f16", "i8", "i16", "i32", "i64":
        array = random_array(TYPES[encoding], (4, 3, 5))
        writer.add_tensor(encoding, array)
        wanted[encoding] = (encoding, array.shape, array.tobytes())
    raw = rng.integers(0, 256, (7, 6), dtype=np.uint8)
    writer.add_tensor("bf16", raw, raw_dtype=gguf.GGMLQuantizationType.BF16)
    wanted["bf16"] = ("bf16", (7, 3), raw.tobytes())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    arrays, metadata = driver.dump(path)
    assert arrays == wanted
    for key, (_, _, text) in values.items():
        assert metadata["a." + key] == text, key
    assert metadata["general.architecture"] == quoted("quern")
    assert metadata["tokens"] == "[" + ",".join(map(quoted, tokens)) + "]"
    assert metadata["scores"] == "[" + ",".join("%.17g" % (0.5 * i) for i in range(1000)) + "]"
    assert metadata["signed"] == "[-1,2,-3]" and metadata["lists"] == "[[1,2],[3]]"


def check_blocks(driver):
    """What the device makes of blocks is what the package gguf makes of them."""
    try:
        import gguf
        from gguf import quants
    except ImportError:
        return
    path = driver.path("a.gguf")
    writer = gguf.GGUFWriter(path, "quern")
    wanted = {}
    scales = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}
    for name in "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4".split():
        kind = gguf.GGMLQuantizationType[name]
        raw = rng.integers(0, 256, (7, 3, gguf.GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
        if name == "MXFP4":
            raw[..., 0] = 100 + raw[..., 0] % 50
        for at in scales.get(name, (0,)) if name != "MXFP4" else ():  # halves of moderate size
            raw[..., at + 1] = raw[..., at + 1] & 0x83 | 0x30
        raw = raw.reshape(7, -1)
        writer.add_tensor(name, raw, raw_dtype=kind)
        wanted[name] = quants.dequantize(raw, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    arrays, _ = driver.dump(path, "decode")
    assert list(arrays) == list(wanted)
    for name, numbers in wanted.items():
        np.testing.assert_allclose(np.frombuffer(arrays[name][2], np.float32), numbers.ravel(), rtol=1e-5, atol=1e-5, err_msg=name)


def check_idx(driver):
    codes = {"u8": 8, "i8": 9, "i16": 11, "i32": 12, "f32": 13, "f64": 14}
    for i in range(25):
        encoding = random.choice(list(codes))
        array = random_array(TYPES[encoding], random_shape())
        text = bytes([0, 0, codes[encoding], array.ndim]) + b"".join(struct.pack(">I", n) for n in array.shape)
        text += array.astype(array.dtype.newbyteorder(">")).tobytes()
        path = driver.path("train-images-idx-ubyte" + random.choice(["", ".gz"]))
        if path.endswith(".gz"):
            half = random.randrange(len(text) + 1)
            text = gzip.compress(text[:half], random.randrange(10)) + gzip.compress(text[half:], random.randrange(10))
        with open(path, "wb") as file:
            file.write(text)
        arrays, _ = driver.dump(path)
        same(arrays["data"], array, encoding)


def csv_number():
    kind = random.randrange(6)
    if kind == 0:
        return random.choice(["", "NA", "nan", "NaN", "null", "None", "n/a"]), float("nan")
    if kind == 1:
        text = str(random.randrange(-10**random.randrange(1, 25), 10**random.randrange(1, 25)))
    elif kind == 2:
        text = repr(random.uniform(-1, 1) * 10.0**random.randrange(-320, 309))
    elif kind == 3:
        text = random.choice(["-", "+", ""]) + "%d.%06d" % (random.randrange(1000), random.randrange(10**6))
    elif kind == 4:
        text = random.choice([".5", "5.", "1e400", "-1E-400", "+inf", "-Infinity", "-0", "1e5", "00012", "9007199254740993"])
    else:
        text = "".join(random.choices("0123456789", k=random.randrange(1, 60))) + "e%d" % random.randrange(-60, 20)
    return text, float(text)


def check_csv(driver):
    for i in range(25):
        columns, rows = random.randrange(1, 7), random.randrange(0, 30)
        delimiter, end = random.choice([",", ";", "\t"]), random.choice(["\n", "\r\n", "\r"])
        names = [random.choice(['a "b"', "x", "long, with comma", "two\nlines", "ü"]) for _ in range(columns)]
        text = "\ufeff" if random.randrange(2) else ""
        text += delimiter.join('"' + name.replace('"', '""') + '"' for name in names) + end
        values = []
        for _ in range(rows):
            fields = []
            for column in range(columns):
                field, value = csv_number()
                if columns == 1 and not field:
                    field = '""'
                elif random.randrange(4) == 0:
                    field = f' "{field}" '
                fields.append(field)
                values.append(value)
            text += delimiter.join(fields) + end + random.choice(["", "", end])
        with open(driver.path("a.csv"), "w", newline="") as file:
            file.write(text)
        arrays, metadata = driver.dump(driver.path("a.csv"))
        encoding, shape, data = arrays["data"]
        assert encoding == "f64" and shape == (rows, columns), (shape, rows, columns)
        got, wanted = np.frombuffer(data), np.array(values, dtype=np.float64)
        assert (np.isnan(got) == np.isnan(wanted)).all()
        got, wanted = got[~np.isnan(got)], wanted[~np.isnan(wanted)]
        assert got.tobytes() == wanted.tobytes(), [(a, b) for a, b in zip(got, wanted) if a != b]
        assert metadata["columns"] == "[" + ",".join(map(quoted, names)) + "]"


def main():
    driver = Driver(sys.argv[1])
    for check in check_npy, check_npz, check_safetensors, check_gguf, check_blocks, check_idx, check_csv:
        check(driver)
    for what in skipped:
        print(f"without {what}: not compared with it")


main()
