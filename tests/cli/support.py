"""What the tests of the command line share: a scratch folder, running the tool, and .npy and .png files made by hand.

usage of a test: python3 tests/cli/test_X.py PATH_OF_QUERN [unittest's arguments]
"""
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

QUERN = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "quern"
OK, COMPILE_ERROR, USAGE, RUN_FAILED, DIFFERENT = range(5)

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SAXPY = (SOURCES / "kernels" / "saxpy.cl").read_text()


def npy(dtype, shape, data, order=False, version=1):
    """The bytes of a .npy file."""
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        dtype, order, "".join("%d, " % n for n in shape))
    start = 10 if version == 1 else 12
    head += " " * (-(start + len(head) + 1) % 64) + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(head))
    return b"\x93NUMPY" + bytes([version, 0]) + size + head.encode() + data


def read_npy(raw):
    """(dtype, shape, data) of a .npy file of version 1."""
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    (size,) = struct.unpack("<H", raw[8:10])
    assert (10 + size) % 64 == 0
    head = eval(raw[10:10 + size].decode(), {})  # a literal of our own writing
    return head["descr"], head["shape"], raw[10 + size:], head["fortran_order"]


def png(width, height, pixels):
    """The bytes of a PNG of RGBA pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + pixels[y * width * 4:(y + 1) * width * 4] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def png_size(raw):
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">IIBB", raw[16:26])


class ToolTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="quern-cli-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, QUERN_CACHE_DIR=os.path.join(self.dir, "cache"))
        self.env.pop("QUERN_DEVICE", None)

    def write(self, name, data):
        with open(os.path.join(self.dir, name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return name

    def read(self, name):
        with open(os.path.join(self.dir, name), "rb") as file:
            return file.read()

    def quern(self, *args, status=OK, error=None, env=None, stack=None, stdin=None):
        """Runs the tool in the scratch folder. Checks its status; `error` must be a part of what it complains.
        `stack` limits the process's stack, in bytes; `stdin` is a text for its standard input."""
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        done = subprocess.run([QUERN, *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=900, input=stdin,
                              env=dict(self.env, **(env or {})), preexec_fn=limit if stack else None)
        told = "quern %s\nstdout: %s\nstderr: %s" % (" ".join(map(str, args)), done.stdout, done.stderr)
        self.assertEqual(done.returncode, status, told)
        if error is not None:
            self.assertIn(error, done.stderr, told)
        if status == OK and error is None:
            self.assertEqual(done.stderr, "", told)
        return done.stdout

    def quern_and_log(self, *args, env):
        """What a run that goes well prints, and the lines of its standard error."""
        done = subprocess.run([QUERN, *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=900,
                              env=dict(self.env, **env))
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout, done.stderr.splitlines()

    def run_kernel(self, source, *args, **more):
        """quern run on a source given as text."""
        return self.quern("run", self.write("kernel.cl", source), *args, **more)
