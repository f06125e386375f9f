"""Tensors shared with NumPy, and with PyTorch where it is there, by DLPack: in both directions, in both forms, without a copy.
Usage: check_dlpack.py LIBQUERN LIBQUERN_KERNELS LIBQUERN_TENSOR [DEVICE]"""
import ctypes as c
import gc
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not here")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None
    print("without the package torch: not shared with it")

core, _, lib = [c.CDLL(path, mode=c.RTLD_GLOBAL) for path in sys.argv[1:4]]
device_name = sys.argv[4] if len(sys.argv) > 4 else "cpu"
HEADER_VERSION = 2
TYPES = ["f4", "f8", "f2", None, None, None, "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]  # qn_element's order


class Shape(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("sizes", c.c_uint64 * 8)]


core.qn_error_message.restype = c.c_char_p
lib.qn_from_data.restype = c.c_void_p
lib.qn_from_data.argtypes = [c.c_void_p, c.c_int, Shape, c.c_void_p]
lib.qn_transpose.restype = c.c_void_p
lib.qn_transpose.argtypes = [c.c_void_p, c.c_int32, c.c_int32]
lib.qn_slice.restype = c.c_void_p
lib.qn_slice.argtypes = [c.c_void_p, c.c_int32, c.c_int64, c.c_int64, c.c_int64]
lib.qn_tensor_read.argtypes = [c.c_void_p, c.c_void_p, c.c_uint64]
lib.qn_tensor_status.argtypes = [c.c_void_p]
lib.qn_tensor_type.argtypes = [c.c_void_p]
lib.qn_tensor_shape.argtypes = [c.c_void_p]
lib.qn_tensor_shape.restype = Shape
for name in "qn_tensor_to_dlpack", "qn_tensor_to_dlpack_unversioned":
    getattr(lib, name).argtypes = [c.c_void_p, c.POINTER(c.c_void_p)]
for name in "qn_from_dlpack", "qn_from_dlpack_unversioned":
    getattr(lib, name).argtypes = [c.c_void_p, c.c_void_p]
    getattr(lib, name).restype = c.c_void_p
api = c.pythonapi
api.PyCapsule_New.restype = c.py_object
api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
api.PyCapsule_GetPointer.restype = c.c_void_p
api.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]

context, device, tensors = c.c_void_p(), c.c_void_p(), c.c_void_p()


def good(status):
    assert status == 0, core.qn_error_message(context).decode()


good(core.qn_context_create_for(HEADER_VERSION, None, c.byref(context)))
good(core.qn_device_get(context, device_name.encode(), c.byref(device)))
good(lib.qn_tensors_create_for(HEADER_VERSION, device, None, c.byref(tensors)))
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}  # capsules keep the pointers
ignored = []
sys.unraisablehook = lambda what: ignored.append(str(what.exc_value))


class Tensor:
    """A tensor as the array API's exchange protocol has it."""

    def __init__(self, handle, versioned):
        self.handle, self.versioned = handle, versioned
        good(lib.qn_tensor_status(handle))

    def __dlpack_device__(self):
        return (1, 0) if device_name == "cpu" else (2, 0)

    def __dlpack__(self, **options):
        shared = c.c_void_p()
        give = lib.qn_tensor_to_dlpack if self.versioned else lib.qn_tensor_to_dlpack_unversioned
        good(give(self.handle, c.byref(shared)))
        return api.PyCapsule_New(shared, NAMES[self.versioned], None)


def make(array):
    shape = Shape(array.ndim, tuple(array.shape))
    return lib.qn_from_data(tensors, TYPES.index(array.dtype.str[1:]), shape, np.ascontiguousarray(array).ctypes.data)


def read(handle):
    good(lib.qn_tensor_status(handle))
    shape = lib.qn_tensor_shape(handle)
    array = np.empty(list(shape.sizes[:shape.rank]), TYPES[lib.qn_tensor_type(handle)])
    good(lib.qn_tensor_read(handle, array.ctypes.data, array.nbytes))
    return array


def take(capsule):
    """A tensor of a capsule, which is used up as the protocol says."""
    versioned = "dltensor_versioned" in repr(capsule)
    shared = api.PyCapsule_GetPointer(capsule, NAMES[versioned])
    handle = (lib.qn_from_dlpack if versioned else lib.qn_from_dlpack_unversioned)(tensors, shared)
    good(lib.qn_tensor_status(handle))
    api.PyCapsule_SetName(capsule, USED[versioned])
    return handle


def check_given(array, from_dlpack):
    for versioned in False, True:
        whole, turned = make(array), lib.qn_transpose(make(array), 0, 1)
        for handle, wanted in (whole, array), (turned, array.T), (lib.qn_slice(whole, 0, 1, 3, 1), array[1:3]):
            first, second = from_dlpack(Tensor(handle, versioned)), from_dlpack(Tensor(handle, versioned))
            for x in first, second:
                got = x if isinstance(x, np.ndarray) else x.cpu().numpy()
                assert got.dtype == wanted.dtype and np.array_equal(got, wanted), (got, wanted)
            if isinstance(first, np.ndarray):
                assert np.shares_memory(first, second)
                assert not (versioned and first.flags.writeable)
            else:
                assert first.data_ptr() == second.data_ptr()


def check_taken(array, exported):
    for view in exported, exported.T, exported[1:], exported[:, ::2]:
        wanted = view if isinstance(view, np.ndarray) else view.cpu().numpy()
        assert np.array_equal(read(take(view.__dlpack__())), wanted)
        if isinstance(view, np.ndarray):
            try:
                capsule = view.__dlpack__(max_version=(1, 0))
            except TypeError:
                continue
            assert "dltensor_versioned" in repr(capsule)
            assert np.array_equal(read(take(capsule)), wanted)


for kind in filter(None, TYPES):
    array = (np.arange(15) * 7 % 5).astype(kind).reshape(5, 3)
    if device_name == "cpu":
        check_given(array, np.from_dlpack)
        check_taken(array, array)
    if torch and kind not in ("u2", "u4", "u8"):
        check_given(array, torch.from_dlpack)
        check_taken(array, torch.from_numpy(array).to("cpu" if device_name == "cpu" else "cuda"))
if device_name == "cpu":  # what is taken is the same memory, and goes back
    array = np.arange(6, dtype=np.float32)
    count = sys.getrefcount(array)
    handle = take(array.__dlpack__())
    array[:] = 5
    assert (read(handle) == 5).all()
    assert sys.getrefcount(array) > count
    lib.qn_tensors_destroy(tensors)
    gc.collect()
    assert sys.getrefcount(array) == count
else:
    lib.qn_tensors_destroy(tensors)
core.qn_context_destroy(context)
assert not ignored, ignored
