"""bf16, e4m3 and e5m2 in NumPy, which has none of them: their codes, the values of these, and rounding to the nearest value, to even codes
where two are as near. e4m3 is OCP's: up to 448, no infinities, one NaN."""
import numpy as np

# name: bits of the exponent, of the mantissa, the code of the largest finite value, and what lies beyond it
FORMATS = {"bf16": (8, 7, 0x7F7F, 0x7F80), "e4m3": (4, 3, 0x7E, 0x7F), "e5m2": (5, 2, 0x7B, 0x7C), "f16": (5, 10, 0x7BFF, 0x7C00)}


def code_type(name):
    return np.uint8 if name in ("e4m3", "e5m2") else np.uint16


def table(name):
    """The value of each code, as f64."""
    exponent_bits, mantissa_bits, largest, beyond = FORMATS[name]
    bits = exponent_bits + mantissa_bits
    codes = np.arange(1 << (bits + 1))
    size, mantissa = codes & ((1 << bits) - 1), codes & ((1 << mantissa_bits) - 1)
    exponent, bias = size >> mantissa_bits, (1 << (exponent_bits - 1)) - 1
    values = np.ldexp((mantissa + np.where(exponent > 0, 1 << mantissa_bits, 0)).astype(np.float64), np.maximum(exponent, 1) - bias - mantissa_bits)
    values = np.where(size <= largest, values, np.where((size == beyond) & (name != "e4m3"), np.inf, np.nan))
    return np.where(codes >> bits, -values, values)


TABLES = {name: table(name) for name in FORMATS}


def values_of(name, codes):
    return TABLES[name][codes]


def codes_of(name, values):
    """Codes of the nearest values; what is beyond the largest by half a step or more becomes what lies beyond."""
    mantissa_bits, largest, beyond = FORMATS[name][1:]
    bits = sum(FORMATS[name][:2])
    values = np.asarray(values, np.float64)
    size = np.abs(values)
    steps = TABLES[name][: largest + 1]
    step_behind = steps[-1] - steps[-2]
    with np.errstate(invalid="ignore"):
        at = np.clip(np.searchsorted(steps, size, "right") - 1, 0, largest)
        low, high = steps[at], np.where(at < largest, steps[np.minimum(at + 1, largest)], steps[-1] + step_behind)
        up = (size - low > high - size) | ((size - low == high - size) & (at % 2 == 1))
    code = at + up
    code = np.where(code > largest, beyond, code)
    code = np.where(np.isnan(values), beyond | 1 << (mantissa_bits - 1), code)
    return (code | (np.signbit(values).astype(np.int64) << bits)).astype(code_type(name))


def rounded(name, values):
    return values_of(name, codes_of(name, values))
