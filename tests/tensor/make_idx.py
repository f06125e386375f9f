"""Small files in MNIST's format out of scikit-learn's digits, for a quick run of quern_mnist: images of 28 x 28, each pixel nine.
Usage: make_idx.py digits.csv.gz FOLDER TRAIN TEST"""
import gzip, os, struct, sys

source, folder, train, test = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rows = [[int(float(v)) for v in line.split(",")] for line in gzip.open(source, "rt")][: train + test]
os.makedirs(folder, exist_ok=True)


def image(row):
    lines = []
    for y in range(8):
        line = bytes(2) + b"".join(bytes([min(255, 16 * row[8 * y + x])] * 3) for x in range(8)) + bytes(2)
        lines += [line] * 3
    return bytes(56) + b"".join(lines) + bytes(56)


for part, first, count in (("train", 0, train), ("t10k", train, test)):
    some = rows[first : first + count]
    # The images packed, the labels not: both are read.
    with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz", "wb") as f:
        f.write(struct.pack(">IIII", 0x803, count, 28, 28) + b"".join(image(r) for r in some))
    with open(f"{folder}/{part}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">II", 0x801, count) + bytes(r[64] for r in some))
