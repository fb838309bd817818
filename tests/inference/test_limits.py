"""The one check of what a caller asks for."""

from __future__ import annotations

import pytest

from inference.errors import InvalidRequest, PromptTooLong
from inference.limits import Limits
from inference.traces import TraceRequest

LOWER = Limits(max_prompt_characters=5, max_prompt_tokens=3, max_new_tokens=4, max_alternatives=2)


def test_the_defaults_are_the_contracts_bounds():
    limits = Limits()
    assert limits.max_prompt_characters == 1000
    assert limits.max_prompt_tokens == 256
    assert limits.max_new_tokens == 32
    assert limits.max_alternatives == 10
    assert limits.rate_per_minute == 60
    assert limits.max_waiting == 32
    assert limits.deadline_seconds == 30


def test_what_reaches_its_bound_passes():
    LOWER.check_trace(TraceRequest(prompt="x" * 5, max_new_tokens=4, top_k=2))
    LOWER.check_prompt_tokens(3)


@pytest.mark.parametrize(
    ("param", "value", "bound"),
    [("prompt", "x" * 6, "5"), ("max_new_tokens", 5, "4"), ("top_k", 3, "2")],
)
def test_what_crosses_its_bound_is_refused_with_field_value_and_bound(param, value, bound):
    asked = {"prompt": "x", "max_new_tokens": 1, "top_k": 1} | {param: value}
    with pytest.raises(InvalidRequest) as refused:
        LOWER.check_trace(TraceRequest(**asked))
    assert refused.value.param == param
    size = len(value) if isinstance(value, str) else value
    assert param in refused.value.message
    assert f"{size} is over the limit of {bound}" in refused.value.message


def test_a_prompt_of_too_many_tokens_is_refused_with_both_numbers():
    with pytest.raises(PromptTooLong) as refused:
        LOWER.check_prompt_tokens(4)
    assert refused.value.param == "prompt"
    assert "4 tokens" in refused.value.message
    assert "3" in refused.value.message
