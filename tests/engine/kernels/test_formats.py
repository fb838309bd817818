"""What a weight is stored as, against the float32 value it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from gguf import GGMLQuantizationType, dequantize, quantize
from numba import njit

from inference.engine.kernels import linear
from inference.engine.kernels.formats import (
    BF16,
    FLOAT32,
    Q4,
    Q8,
    Matrix,
    dense,
    from_q4_1,
    from_q8_0,
)
from inference.engine.kernels.pointwise import exp

ROWS, COLUMNS = 39, 160


@njit
def unpack(format, address, row_bytes, rows, columns, y):
    for n in range(rows):
        linear.unpack_row(format, address + n * row_bytes, columns, y + n * columns * 4)


@njit
def multiply(format, w, rows, columns, x, vectors, y, scratch):
    linear.multiply(format, w, rows, columns, x, columns * 4, vectors, y, rows * 4, scratch)


@njit
def exponentials(x):
    return np.array([exp(number) for number in x])


def numbers(*size: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(size).astype(np.float32)


def matrices() -> list[tuple[Matrix, np.ndarray]]:
    """Each format, with the values that an independent reader gives."""
    values = numbers(ROWS, COLUMNS)
    bf16 = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    q8 = quantize(values, GGMLQuantizationType.Q8_0)
    q4 = quantize(values, GGMLQuantizationType.Q4_1)
    return [
        (dense(values), values),
        (dense(bf16), bf16),
        (from_q8_0(q8, ROWS, COLUMNS), dequantize(q8, GGMLQuantizationType.Q8_0)),
        (from_q4_1(q4, ROWS, COLUMNS), dequantize(q4, GGMLQuantizationType.Q4_1)),
    ]


def test_each_format_is_the_one_meant():
    assert [matrix.format for matrix, _ in matrices()] == [FLOAT32, BF16, Q8, Q4]


@pytest.mark.parametrize("format", [FLOAT32, BF16, Q8, Q4])
def test_every_weight_is_widened_to_exactly_its_float32_value(format):
    matrix, values = matrices()[format]
    widened = np.zeros((ROWS, COLUMNS), np.float32)
    row_bytes = matrix.content.nbytes // ROWS
    unpack(format, matrix.address, row_bytes, ROWS, COLUMNS, widened.ctypes.data)
    assert np.array_equal(widened, values)
    assert np.array_equal(matrix.values(slice(3, 17)), values[3:17])


@pytest.mark.parametrize("format", [FLOAT32, BF16, Q8, Q4])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4, 7, 8, 11, 12, 30])
def test_a_product_is_that_of_the_values_and_each_vector_has_its_own_bits(format, vectors):
    matrix, values = matrices()[format]
    x = numbers(vectors, COLUMNS)
    scratch = np.zeros((ROWS, COLUMNS), np.float32)

    def product(some: np.ndarray) -> np.ndarray:
        y = np.zeros((len(some), ROWS), np.float32)
        multiply(
            format, matrix.address, ROWS, COLUMNS, some.ctypes.data, len(some),
            y.ctypes.data, scratch.ctypes.data,
        )  # fmt: skip
        return y

    y = product(x)
    exact = x.astype(np.float64) @ values.T.astype(np.float64)
    assert np.abs(y - exact).max() < 1e-5 * np.abs(exact).max()
    assert np.array_equal(y, np.concatenate([product(x[v : v + 1]) for v in range(vectors)]))


def test_float32_values_that_do_not_fit_bf16_are_kept():
    values = np.ones((4, 8), np.float32)
    assert dense(values).format == BF16
    values[3, 7] = np.nextafter(np.float32(1), np.float32(2))
    assert dense(values).format == FLOAT32


def test_a_matrix_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="whole number of blocks"):
        dense(np.ones((4, 12), np.float32))
    with pytest.raises(ValueError, match="size of the matrix"):
        Matrix(np.ones(7, np.float32), FLOAT32, 1, 8)


def test_the_exponential_is_within_two_units_in_the_last_place():
    x = np.linspace(-87, 88, 200_001).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    error = np.abs(exponentials(x) - exact) / np.spacing(exact.astype(np.float32))
    assert error.max() <= 2
    assert exponentials(np.zeros(1, np.float32))[0] == 1
    assert exponentials(np.full(1, -1000, np.float32))[0] < 1e-37
