#!/usr/bin/env python3
"""The source of src/lib/poly.cl: polynomials of the maths library, as near to minimax as matters.

usage: scripts/minimax.py > src/lib/poly.cl        (needs mpmath)

Each row gives a smooth function, an interval, and the degrees for float and double. The polynomial interpolates
the function at the Chebyshev nodes (within a small factor of the minimax error; Trefethen, Approximation Theory
and Approximation Practice, ch. 8 and 15), computed with 60 digits; coefficients are rounded to the type and
printed as hexadecimal floats. The relative errors go to standard error.
"""
import struct
import sys
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 60


def quotient(f, terms, power, argument=lambda z: z):
    """(f(x) - its first Taylor terms) / x^power, with x = argument(z)."""
    def g(z):
        x = argument(z)
        with mp.workdps(120):
            if abs(x) < mp.mpf("1e-20"):
                x = mp.mpf("1e-20")
            return (f(x) - terms(x)) / x**power
    return g


def lgamma_middle(t):
    """lgamma(x) / ((x - 1) (x - 2)) with x = t + 3 / 2."""
    x = t + mp.mpf(3) / 2
    with mp.workdps(120):
        if abs(x - 1) < mp.mpf("1e-25") or abs(x - 2) < mp.mpf("1e-25"):
            x += mp.mpf("1e-25")
        return mp.loggamma(x).real / ((x - 1) * (x - 2))


def erfc_scaled(t):
    """(1 + 2 x) exp(x^2) erfc(x) with x = 4 (1 + t) / (1 - t): Shepherd and Laframboise, Math. Comp. 36 (1981)."""
    if t > mp.mpf("0.9999999"):
        return 2 / mp.sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    if x > 40:
        total, term = mp.mpf(1), mp.mpf(1)
        for k in range(1, 40):
            term *= -(2 * k - 1) / (2 * x * x)
            total += term
        return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def stirling(w):
    """x (lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) with x = 1 / sqrt(w)."""
    if w < mp.mpf("1e-10"):
        return mp.mpf(1) / 12 - w / 360 + w * w / 1260
    x = 1 / mp.sqrt(w)
    with mp.workdps(100):
        return x * (mp.loggamma(x).real - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


LN2 = mp.log(2)
QUARTER = (mp.pi / 4 * mp.mpf("1.02")) ** 2
ROOT = mp.sqrt

# name, function, from, to, degree for float, degree for double
TABLE = [
    ("exp", quotient(mp.exp, lambda x: 1 + x, 2), -LN2 / 2 * mp.mpf("1.01"), LN2 / 2 * mp.mpf("1.01"), 4, 10),
    ("log", quotient(lambda x: mp.log(1 + x), lambda x: x - x * x / 2, 3), ROOT(mp.mpf(1) / 2) - 1, ROOT(2) - 1, 8, None),
    ("atanh", quotient(mp.atanh, lambda x: x, 3, ROOT), 0, mp.mpf("0.02944"), 3, 9),
    ("sin", quotient(mp.sin, lambda x: x, 3, ROOT), 0, QUARTER, 3, 6),
    ("cos", quotient(mp.cos, lambda x: 1 - x * x / 2, 4, ROOT), 0, QUARTER, 3, 6),
    ("asin", quotient(mp.asin, lambda x: x, 3, ROOT), 0, mp.mpf("0.25"), 5, 13),
    ("atan", quotient(mp.atan, lambda x: x, 3, ROOT), 0, mp.mpf("0.1716"), 4, 11),
    ("sinh", quotient(mp.sinh, lambda x: x, 3, ROOT), 0, 1, 3, 7),
    ("erf", quotient(mp.erf, lambda x: 0, 1, ROOT), 0, 1, 7, 15),
    ("erfc", erfc_scaled, -1, 1, 12, 27),
    ("lgamma", lgamma_middle, mp.mpf("-0.8"), 1, 12, 32),
    ("stirling", stirling, 0, mp.mpf(1) / 36, 3, None),
    ("stirling", stirling, 0, mp.mpf(1) / 144, None, 8),
    ("cbrt", lambda x: mp.cbrt(x), 1, 8, 4, 4),
]


def interpolate(f, a, b, degree):
    """Coefficients, from the constant up, of the polynomial through f at the Chebyshev nodes."""
    n = degree + 1
    nodes = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    table = [f(x) for x in nodes]
    for level in range(1, n):
        for k in range(n - 1, level - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (nodes[k] - nodes[k - level])
    coefficients = [mp.mpf(0)]
    for k in range(n - 1, -1, -1):
        shifted = [mp.mpf(0)] + coefficients
        for i, c in enumerate(coefficients):
            shifted[i] -= c * nodes[k]
        shifted[0] += table[k]
        coefficients = shifted
    return coefficients[:n]


def rounded(value, is_double):
    number = float(value)
    if is_double:
        return number
    return struct.unpack("f", struct.pack("f", number))[0]


def spell(number, is_double):
    text = number.hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{exponent}" + ("" if is_double else "f")


def main():
    print("/* Polynomials of the maths library: written by scripts/minimax.py, which tells what they stand for. */")
    for name, f, a, b, *degrees in TABLE:
        for degree, is_double in zip(degrees, (False, True)):
            if degree is None:
                continue
            kind, suffix = ("double", "f64") if is_double else ("float", "f32")
            numbers = [rounded(c, is_double) for c in interpolate(f, mp.mpf(a), mp.mpf(b), degree)]
            print(f"\n{kind} poly_{name}_{suffix}({kind} x) {{")
            print(f"    {kind} p = {spell(numbers[-1], is_double)};")
            for number in numbers[-2::-1]:
                print(f"    p = fma(p, x, {spell(number, is_double)});")
            print("    return p;\n}")
            worst = max(abs(sum(mp.mpf(c) * x**i for i, c in enumerate(numbers)) - f(x)) / max(abs(f(x)), mp.mpf(10)**-30)
                        for x in (mp.mpf(a) + (mp.mpf(b) - mp.mpf(a)) * k / 97 for k in range(98)))
            print(f"{name} {kind} degree {degree}: relative error 2^{float(mp.log(worst, 2)):.1f}", file=sys.stderr)


main()
