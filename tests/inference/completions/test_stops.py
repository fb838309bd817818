"""Stop strings in text that comes in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.completions.stops import StopScanner

FEW_LETTERS = st.text(alphabet="ab\N{CAT FACE}", max_size=12)


def cut(text: str, stops: list[str]) -> tuple[str, bool]:
    """The plain way: read by the character, and stop as soon as the text ends with a stop."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))], True
    return text, False


def scan(pieces: list[str], stops: list[str]) -> tuple[list[str], bool]:
    scanner = StopScanner(stops)
    shown = [scanner.push(piece) for piece in pieces]
    if scanner.matched is None:
        shown.append(scanner.end())
    return shown, scanner.matched is not None


@given(st.lists(FEW_LETTERS, max_size=6), st.lists(FEW_LETTERS.filter(bool), max_size=3))
def test_where_the_pieces_end_changes_nothing(pieces, stops):
    shown, matched = scan(pieces, stops)
    assert ("".join(shown), matched) == cut("".join(pieces), stops)


@given(st.lists(FEW_LETTERS, max_size=6), FEW_LETTERS.filter(bool))
def test_no_beginning_of_a_stop_string_that_comes_true_is_shown(pieces, stop):
    shown, matched = scan(pieces, [stop])
    whole = "".join(pieces)
    for end in range(len(shown)):
        so_far = "".join(shown[: end + 1])
        assert whole.startswith(so_far)
        if matched:
            assert len(so_far) <= whole.index(stop)


@pytest.mark.parametrize(
    ("pieces", "stops", "shown"),
    [
        (["ab", "c"], ["bc"], ["a", ""]),
        (["ab", "d"], ["bc"], ["a", "bd"]),
        (["ab"], ["bc"], ["a", "b"]),
        (["abcd"], ["abcd", "bc"], ["a"]),  # "bc" is complete first
        (["abc"], ["c", "abc"], [""]),  # both are complete at once: the longer one
        (["aab", "b"], ["abb"], ["a", ""]),
    ],
)
def test_what_may_become_a_stop_string_waits(pieces, stops, shown):
    got, _ = scan(pieces, stops)
    assert [piece for piece in got if piece] == [piece for piece in shown if piece]


def test_nothing_is_shown_after_a_match():
    scanner = StopScanner(["x"])
    assert [scanner.push("axb"), scanner.push("c"), scanner.end()] == ["a", "", ""]
    assert scanner.matched == "x"
