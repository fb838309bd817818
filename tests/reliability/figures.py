"""What the suite measures beside what it should be, and the table of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

# The numbers at full size; what a test run can afford otherwise.
FULL = os.environ.get("RELIABILITY") == "full"


def size(full: int, short: int) -> int:
    return full if FULL else short


@dataclass(frozen=True, slots=True)
class Figure:
    row: str
    target: str
    measured: str
    holds: bool


FIGURES: list[Figure] = []


class Row:
    """One row of the table; each figure of it is a line."""

    def __init__(self, name: str) -> None:
        self._name = name

    def holds(self, target: str, measured: str, holds: bool) -> None:
        """A figure that must hold, at whatever size and speed."""
        FIGURES.append(Figure(self._name, target, measured, holds))
        assert holds, f"{self._name}: {target}, but {measured}"

    def measures(self, target: str, measured: str, holds: bool) -> None:
        """A figure of time or memory: it decides only at full size."""
        FIGURES.append(Figure(self._name, target, measured, holds))
        assert holds or not FULL, f"{self._name}: {target}, but {measured}"


def table(figures: Sequence[Figure]) -> str:
    lines = ["| test | figure | measured | |", "|---|---|---|---|"]
    lines += [
        f"| {f.row} | {f.target} | {f.measured} | {'holds' if f.holds else 'DOES NOT HOLD'} |"
        for f in figures
    ]
    return "\n".join(lines)


def p99(values: Sequence[float]) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(0.99 * len(ranked)))]
