"""JSON to the letter, in and out."""

from __future__ import annotations

import json

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from traceapp.api.strict_json import NotStrictJson, StrictRenderer, loads

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_what_is_json_is_read_as_it_was_written(value):
    assert loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )) == value  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"[1,]", "not JSON"),
        (b"01", "not JSON"),
        (b"+1", "not JSON"),
        (b".5", "not JSON"),
        (b'"\n"', "not JSON"),
        (b"// a comment\n1", "not JSON"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b'"\xed\xa0\x80"', "not UTF-8 at byte 1"),  # a surrogate, encoded
        (b"\xef\xbb\xbf1", "BOM"),
        (b"NaN", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b'{"a":1,"a":1}', "a key stands twice"),
        (b'{"b":{"a":1,"\\u0061":2}}', "a key stands twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 5000, "too many digits"),
    ],
)
def test_what_the_standard_leaves_to_the_reader_is_refused(text, said):
    with pytest.raises(NotStrictJson, match=said):
        loads(text)


def test_a_refusal_quotes_nothing_of_what_was_sent():
    for text in (b'{"secret":1,"secret":2}', b'"secret', b'{"a": secret}', b'"secret\xff"'):
        with pytest.raises(NotStrictJson) as refused:
            loads(text)
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_never_written(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        render({"probability": value})


def test_text_is_written_as_itself():
    assert render({"token": "é👩‍🚀"}) == '{"token": "é👩‍🚀"}'


def render(value):
    return StrictRenderer().render(RequestFactory().get("/"), value, response_status=200)
