"""
What is read off one row of logits, (V,) float32, in as few passes over it as that takes.

Exponentials and sums are float64. A sum has one order for a given processor, that of the
vectors it is made in; no result here goes back into the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import float64, int64, njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

BLOCK = 32  # logits whose largest is noted

# Bins of distances from the largest logit: even ones of NEAR_WIDTH up to NEAR, then each wider than
# the one before by the same ratio. A cell is as wide as the narrowest bin, so it meets two at most.
NEAR = 0.9
NEAR_WIDTH = 0.0075
EVEN = 120  # bins up to NEAR
CELLS = 65_536  # up to a distance of 491; what lies further is in the last bin
_BINS = EVEN + int(np.log(CELLS * NEAR_WIDTH / NEAR) * EVEN) + 1
_ENDS = np.concatenate(  # where each bin ends
    [NEAR_WIDTH * np.arange(1, EVEN + 1), NEAR * np.exp(np.arange(1, _BINS - EVEN + 1) / EVEN)]
)
_BIN_OF_CELL = np.searchsorted(_ENDS, NEAR_WIDTH * np.arange(CELLS), side="right").astype(np.int16)


@intrinsic
def _power_of_two(typing_context: Any, shifted: Any) -> Any:
    """2^n of the float64 n + 1.5 * 2^52, whose last bits are n."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(64))
        exponent = builder.add(bits, ir.Constant(ir.IntType(64), 1023))
        shifted = builder.shl(exponent, ir.Constant(ir.IntType(64), 52))
        return builder.bitcast(shifted, ir.DoubleType())

    return types.float64(types.float64), codegen


@njit(error_model="numpy")
def exp64(x):
    """e^x for x up to 0, within 4 units in the last place; it vectorises.

    The square of e^(x / 2), which has an exponent of its own for any x whose e^x is not 0; that
    by x / 2 = n ln 2 + r with |r| <= ln(2) / 2, and the Taylor series of e^r.
    """
    half = max(x, -1400.0) * 0.5
    shifted = half * 1.4426950408889634 + 6755399441055744.0  # + 1.5 * 2^52: rounds to n
    n = shifted - 6755399441055744.0
    r = half - n * 0.6931471803691238 - n * 1.9082149292705877e-10  # ln 2 in two parts
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = (p * r + 1.0) * _power_of_two(shifted)
    return p * p


@njit(error_model="numpy", nogil=True, cache=True, fastmath={"nnan", "nsz"})
def largest_of_blocks(row, largest):
    """The largest logit of each BLOCK, (ceil(V / BLOCK),); no logit may be NaN."""
    whole = row.size // BLOCK
    for b in range(whole):
        most = row[b * BLOCK]
        for i in range(1, BLOCK):  # always as many, so that it is a few vectors
            most = max(most, row[b * BLOCK + i])
        largest[b] = most
    if whole < largest.size:
        most = row[whole * BLOCK]
        for i in range(whole * BLOCK, row.size):
            most = max(most, row[i])
        largest[whole] = most


@njit(error_model="numpy", nogil=True, cache=True)
def not_finite(row):
    """How many logits are not a finite number."""
    count = 0
    for i in range(row.size):
        count += not (abs(row[i]) < np.inf)
    return count


@njit(error_model="numpy", nogil=True, cache=True, fastmath={"reassoc"})
def moments(row, largest):
    """The sums of e^d and of d e^d, d = logit - largest."""
    total, weighted = 0.0, 0.0
    for i in range(row.size):
        d = float64(row[i]) - largest
        weight = exp64(d)
        total += weight
        weighted += d * weight
    return total, weighted


@njit(error_model="numpy", nogil=True, cache=True, fastmath={"reassoc"})
def mass(row, largest, temperature):
    """The sum of what `weigh` gives, and how many of those are not 0."""
    total, count = 0.0, 0.0
    for i in range(row.size):
        weight = exp64((float64(row[i]) - largest) / temperature)
        total += weight
        count += float64(weight > 0.0)
    return total, int64(count)


@njit(error_model="numpy", nogil=True, cache=True)
def weigh(row, largest, temperature, weights):
    """weights[i] = e^((logit - largest) / temperature), (V,) float64."""
    for i in range(row.size):
        weights[i] = exp64((float64(row[i]) - largest) / temperature)


@njit(error_model="numpy", nogil=True, cache=True)
def rank_of(row, token_id):
    """How many come before a token: higher logits, and equal ones of lower id."""
    logit, before = row[token_id], 0
    for i in range(row.size):
        before += row[i] > logit
    for i in range(token_id):
        before += row[i] == logit
    return before


@njit(error_model="numpy", nogil=True, cache=True)
def _gather(row, largest, least, count, ids):
    """Ids of all logits above `least`, then of so many equal ones that there are `count`."""
    found = 0
    for b in range(largest.size):
        if largest[b] > least:
            for i in range(b * BLOCK, min(row.size, (b + 1) * BLOCK)):
                if row[i] > least:
                    ids[found] = i
                    found += 1
    for b in range(largest.size):
        if found >= count:
            break
        if largest[b] >= least:
            for i in range(b * BLOCK, min(row.size, (b + 1) * BLOCK)):
                if row[i] == least and found < count:
                    ids[found] = i
                    found += 1
    return found


@njit(error_model="numpy", nogil=True, cache=True)
def histogram(row, largest, least, last_id, counts, sums):
    """Counts and sums of the logits in each bin, but for those of at least `least`.

    Of the logits equal to `least`, only those up to `last_id` are left out.
    """
    for i in range(row.size):
        logit = row[i]
        if logit > least or (logit == least and i <= last_id):
            continue
        distance = largest - float64(logit)
        cell = int64(min(distance * (1.0 / NEAR_WIDTH), CELLS - 1.0))
        place = int64(_BIN_OF_CELL[cell])
        place += distance >= _ENDS[place] and place < _BINS - 1
        counts[place] += 1
        sums[place] += logit


def most_probable(row: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The ids of the `count` largest logits, largest first, equal ones by id.

    As many blocks have a logit of at least the count-th largest of the blocks' largest, so what
    is sorted is no more than lies above that.
    """
    largest = np.empty(-(-row.size // BLOCK), np.float32)
    largest_of_blocks(row, largest)
    if count == 1:
        block = int(largest.argmax())
        return np.array([block * BLOCK + int(row[block * BLOCK :][:BLOCK].argmax())])
    count = min(count, row.size)
    least = np.partition(largest if count <= largest.size else row, -count)[-count]
    ids = np.empty(row.size, np.int64)
    found = ids[: _gather(row, largest, least, count, ids)]
    return found[np.argsort(-row[found], kind="stable")][:count]


def bins_below(row: NDArray[np.float32], head: NDArray[np.int64]) -> list[tuple[int, float]]:
    """How many logits lie in each bin that is not empty, and their mean, but for the head's."""
    counts, sums = np.zeros(_BINS, np.int64), np.zeros(_BINS, np.float64)
    histogram(row, float(row[head[0]]), row[head[-1]], int(head[-1]), counts, sums)
    filled = counts > 0
    means = sums[filled] / counts[filled]
    return list(zip(counts[filled].tolist(), means.tolist(), strict=True))


def warm_up() -> None:
    """Compile every kernel of this module, or find it compiled, before a request needs it."""
    row = np.zeros(2 * BLOCK, np.float32)
    not_finite(row)
    moments(row, 0.0)
    mass(row, 0.0, 1.0)
    weigh(row, 0.0, 1.0, np.empty(row.size))
    rank_of(row, 0)
    bins_below(row, most_probable(row, 2))
