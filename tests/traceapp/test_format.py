"""The cases that this side and the browser's must both meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traceapp.templatetags import trace

CASES = json.loads((Path(__file__).parent.parent / "data" / "format_cases.json").read_text("utf-8"))
NUMBERS = [
    (name, value, written)
    for name in ("percent", "bits", "milliseconds", "count", "plain", "bar_length")
    for value, written in CASES[name]
]


@pytest.mark.parametrize(("name", "value", "written"), NUMBERS)
def test_a_number_is_written_as_the_shared_cases_say(name, value, written):
    assert getattr(trace, name)(value) == written


@pytest.mark.parametrize("case", CASES["interval"])
def test_an_interval_has_the_decimals_that_show_u_inside_it(case):
    assert list(trace.interval(case["u"], case["lower"], case["upper"])) == case["shown"]


@pytest.mark.parametrize("case", CASES["token"])
def test_a_token_is_written_and_spoken_as_the_shared_cases_say(case):
    piece = bytes.fromhex(case["bytes"])
    assert trace.token_label(piece) == case["label"]
    assert trace.token_spoken(piece) == case["spoken"]


def test_only_certainty_is_written_as_certainty():
    nearly = [10.0**-n for n in range(1, 300)] + [1 - 2.0**-n for n in range(1, 54)]
    assert not {trace.percent(p) for p in nearly} & {"0%", "100%"}


def test_every_single_byte_has_a_label_that_can_be_seen():
    for byte in range(256):
        label = trace.token_label(bytes([byte]))
        assert label.isprintable(), byte
        assert label.strip(), byte


def test_a_token_is_markup_only_where_we_wrote_it():
    assert trace.token(b"<b>&") == '<bdi class="token">&lt;b&gt;&amp;</bdi>'


def test_a_token_with_stand_ins_is_named_as_a_whole_in_words():
    assert trace.token(b' "<b>') == (
        '<bdi class="token" role="img" aria-label="space &quot;&lt;b&gt;">'
        '<span class="stand-in">␣</span>&quot;&lt;b&gt;</bdi>'
    )


def test_a_special_token_says_that_it_is_one():
    assert "special</span>" in trace.token(b"<|im_end|>", special=True)
