"""
JSON text as every reader has it: no NaN, no number beyond a float, no endless nesting, and no
half of a surrogate pair, which UTF-8 cannot carry.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def read(text: str) -> Any:
    """The value of a JSON text. Raises ValueError where it has none."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in text:
            write(value).encode()  # fails, with a ValueError, on half of a pair
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def read_object(text: str) -> dict[str, Any]:
    """The object that a JSON text stands for. Raises ValueError for anything else."""
    value = read(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number
