"""One trace as it was measured, and medians of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

TOP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one way took for one trace, and the probabilities that it gave."""

    first_ms: float  # until the first step: the prompt is read, the token drawn
    whole_ms: float  # until the last
    token_ids: tuple[int, ...]  # the new ones
    top: tuple[dict[int, float], ...]  # of each step: probability by token id

    @property
    def token_ms(self) -> float:
        """Milliseconds for each token after the first."""
        return (self.whole_ms - self.first_ms) / max(1, len(self.token_ids) - 1)


def median_of(traces: Iterable[Trace], figure: Callable[[Trace], float]) -> float:
    return median(figure(trace) for trace in traces)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share of the values does not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; every column but the first to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
