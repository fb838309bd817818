"""
The small functions between the matrices: RMSNorm, rotary position, SwiGLU.

Each takes the addresses of one row of float32 and how many numbers it has. Sums of squares go
through `lanes.dots`, so they too have one order; the rest works element by element, and its loops
may be vectorised without changing a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import float32, int32, njit, types
from numba.extending import intrinsic

from inference.engine.kernels import lanes
from inference.engine.kernels.formats import FLOAT32
from inference.engine.kernels.memory import floats

_dot = lanes.dots(FLOAT32, 1, 1)


@intrinsic
def _as_float(typing_context: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@njit(error_model="numpy")
def exp(x):
    """e^x within 2 units in the last place; below -87 it stays at e^-87, which is 2e-38.

    x = n ln 2 + r with |r| <= ln(2) / 2, and e^r by the polynomial of Cephes' expf.
    """
    x = min(max(x, float32(-87.0)), float32(88.0))
    n = np.floor(x * float32(1.44269504088896341) + float32(0.5))
    r = x - n * float32(0.693359375)  # ln 2 in two parts: n times the first is exact
    r = r - n * float32(-2.12194440e-4)
    p = float32(1.9875691500e-4)
    p = p * r + float32(1.3981999507e-3)
    p = p * r + float32(8.3334519073e-3)
    p = p * r + float32(4.1665795894e-2)
    p = p * r + float32(1.6666665459e-1)
    p = p * r + float32(5.0000001201e-1)
    p = p * r * r + r + float32(1.0)
    return p * _as_float((int32(n) + int32(127)) << int32(23))


@njit(error_model="numpy")
def rms_norm(x, weight, size, epsilon, scratch, y):
    """y = weight x / sqrt(mean(x^2) + epsilon); Zhang and Sennrich 2019."""
    _dot(x, 0, x, 0, size, scratch, 0)
    squares = floats(scratch, 1)[0]
    scale = float32(1.0) / np.sqrt(squares / float32(size) + epsilon)
    row, weights, out = floats(x, size), floats(weight, size), floats(y, size)
    for i in range(size):
        out[i] = weights[i] * (row[i] * scale)


@njit(error_model="numpy")
def rotate(x, cos, sin, half):
    """Turn the pairs (i, i + half) of one head by the angles of its position, in place.

    Su et al. 2021, with the halves of a head paired as in GPT-NeoX.
    """
    first, second = floats(x, half), floats(x + half * 4, half)
    cosines, sines = floats(cos, half), floats(sin, half)
    for i in range(half):
        a, b = first[i], second[i]
        first[i] = a * cosines[i] - b * sines[i]
        second[i] = b * cosines[i] + a * sines[i]


@njit(error_model="numpy")
def swiglu(gate, up, size):
    """gate = gate sigmoid(gate) up, in place; Shazeer 2020."""
    gates, ups = floats(gate, size), floats(up, size)
    for i in range(size):
        g = gates[i]
        gates[i] = g / (float32(1.0) + exp(-g)) * ups[i]


@njit(error_model="numpy")
def add(x, y, size):
    """y += x."""
    terms, sums = floats(x, size), floats(y, size)
    for i in range(size):
        sums[i] += terms[i]


@njit(error_model="numpy")
def copy(x, y, size):
    """y = x."""
    source, target = floats(x, size), floats(y, size)
    for i in range(size):
        target[i] = source[i]
