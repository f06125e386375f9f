"""Functions of elements, and what NumPy says of them: name, reference, the numbers they are tried with, and types."""
from math import erf as erf_of_one, erfc as erfc_of_one

from programs import TYPES, np

erf = np.vectorize(erf_of_one, otypes=[np.float64])
erfc = np.vectorize(erfc_of_one, otypes=[np.float64])
FLOATS, INTEGERS = ["f32", "f64", "f16"], ["i8", "i16", "i32", "i64", "u8", "u16", "u32"]


def real(f):
    """A function that integers become f32 for, computed in f64 and rounded."""
    def of(*arrays):
        kinds = [a.dtype for a in arrays if isinstance(a, np.ndarray)]
        result = kinds[0] if kinds[0].kind == "f" else np.dtype(np.float32)
        with np.errstate(all="ignore"):
            return f(*[np.asarray(a, np.float64) for a in arrays]).astype(result)
    return of


def any_type(f):
    def of(*arrays):
        with np.errstate(all="ignore"):
            if arrays[0].dtype.kind == "f":
                return f(*[a.astype(np.float64) for a in arrays]).astype(arrays[0].dtype)
            return f(*arrays).astype(arrays[0].dtype)
    return of


def sigmoid(x): return 1 / (1 + np.exp(-x))
def softplus(x): return np.logaddexp(x, 0)


# name: (reference, low, high, types)
ONE = {
    "negate": (any_type(np.negative), -5, 5, FLOATS + INTEGERS[:4]),
    "abs": (any_type(np.abs), -5, 5, FLOATS + INTEGERS),
    "sign": (any_type(np.sign), -3, 3, FLOATS + INTEGERS),
    "square": (any_type(np.square), -5, 5, FLOATS + INTEGERS),
    "relu": (any_type(lambda x: np.maximum(x, 0)), -5, 5, FLOATS + INTEGERS),
    "floor": (any_type(np.floor), -5, 5, FLOATS + ["i32"]), "ceil": (any_type(np.ceil), -5, 5, FLOATS + ["i32"]),
    "round": (any_type(np.rint), -5, 5, FLOATS + ["i32"]), "trunc": (any_type(np.trunc), -5, 5, FLOATS + ["i32"]),
    "is_nan": (np.isnan, -5, 5, FLOATS), "is_inf": (np.isinf, -5, 5, FLOATS), "is_finite": (np.isfinite, -5, 5, FLOATS),
    "sign_bit": (np.signbit, -5, 5, FLOATS), "logical_not": (np.logical_not, -2, 2, FLOATS + INTEGERS + ["bool"]),
    "bit_not": (np.invert, -100, 100, INTEGERS + ["bool"]),
}
for name, f, low, high in [
        ("reciprocal", np.reciprocal, 0.5, 5), ("sqrt", np.sqrt, 0, 9), ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 9),
        ("cbrt", np.cbrt, -9, 9), ("exp", np.exp, -5, 5), ("exp2", np.exp2, -5, 5), ("expm1", np.expm1, -3, 3),
        ("log", np.log, 0.01, 50), ("log2", np.log2, 0.01, 50), ("log10", np.log10, 0.01, 50), ("log1p", np.log1p, -0.9, 9),
        ("sin", np.sin, -9, 9), ("cos", np.cos, -9, 9), ("tan", np.tan, -1.2, 1.2), ("asin", np.arcsin, -1, 1),
        ("acos", np.arccos, -1, 1), ("atan", np.arctan, -9, 9), ("sinh", np.sinh, -4, 4), ("cosh", np.cosh, -4, 4),
        ("tanh", np.tanh, -4, 4), ("asinh", np.arcsinh, -9, 9), ("acosh", np.arccosh, 1, 9), ("atanh", np.arctanh, -0.9, 0.9),
        ("erf", erf, -3, 3), ("erfc", erfc, -3, 3), ("sigmoid", sigmoid, -9, 9), ("silu", lambda x: x * sigmoid(x), -9, 9),
        ("softplus", softplus, -9, 30), ("mish", lambda x: x * np.tanh(softplus(x)), -9, 9),
        ("gelu", lambda x: x * (1 + erf(x / np.sqrt(2))) / 2, -4, 4),
        ("gelu_tanh", lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), -4, 4)]:
    ONE[name] = (real(f), low, high, FLOATS + ["i32"])

TWO = {
    "add": (any_type(np.add), -50, 50, FLOATS + INTEGERS), "subtract": (any_type(np.subtract), -50, 50, FLOATS + INTEGERS),
    "multiply": (any_type(np.multiply), -50, 50, FLOATS + INTEGERS), "divide": (real(np.divide), 1, 50, FLOATS + ["i32"]),
    "floor_divide": (any_type(np.floor_divide), 1, 50, ["i8", "i32", "i64", "u8", "u32"]),
    "remainder": (any_type(np.remainder), -50, 50, ["f32", "i8", "i32", "i64"]),
    "fmod": (any_type(np.fmod), -50, 50, ["f32", "i8", "i32", "i64"]), "power": (any_type(np.power), 0, 4, FLOATS + ["i32", "u8", "i64"]),
    "maximum": (np.maximum, -50, 50, FLOATS + INTEGERS), "minimum": (np.minimum, -50, 50, FLOATS + INTEGERS),
    "atan2": (real(np.arctan2), -5, 5, FLOATS), "hypot": (real(np.hypot), -5, 5, FLOATS),
    "copy_sign": (real(np.copysign), -5, 5, FLOATS), "next_after": (np.nextafter, -5, 5, ["f32", "f64"]), "log_add_exp": (real(np.logaddexp), -9, 9, FLOATS),
    "bit_and": (np.bitwise_and, -100, 100, INTEGERS + ["bool"]), "bit_or": (np.bitwise_or, -100, 100, INTEGERS + ["bool"]),
    "bit_xor": (np.bitwise_xor, -100, 100, INTEGERS + ["bool"]), "shift_left": (np.left_shift, 0, 7, INTEGERS),
    "shift_right": (np.right_shift, 0, 7, INTEGERS),
    "logical_and": (np.logical_and, -2, 2, FLOATS + INTEGERS + ["bool"]), "logical_or": (np.logical_or, -2, 2, FLOATS + INTEGERS),
    "logical_xor": (np.logical_xor, -2, 2, FLOATS + INTEGERS),
}
for name, f in [("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal),
                ("greater", np.greater), ("greater_equal", np.greater_equal)]:
    TWO[name] = (f, -3, 3, FLOATS + INTEGERS)
ROOM = {"f16": 1e-3, "f32": 4e-6, "f64": 1e-13}


def make(random, type_name, shape, low, high):
    dtype = np.dtype(TYPES[type_name])
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "u":
        low = max(low, 0)
    values = random.uniform(low, high, shape) if dtype.kind == "f" else random.integers(int(low), int(high) + 1, shape)
    return np.asarray(values).astype(dtype)


def room_of(a):
    return {2: 1e-3, 4: 4e-6, 8: 1e-13}.get(a.dtype.itemsize, 0) if a.dtype.kind == "f" else 4e-6
