"""What a request may tell a template, by model."""

from __future__ import annotations

import pytest

from inference.catalogue import find
from inference.chat.controls import template_kwargs
from inference.errors import Rejected

THINKS = find("qwen3-0.6b")
DOES_NOT = find("qwen2.5-0.5b-instruct")


@pytest.mark.parametrize(
    ("model", "effort", "given", "kwargs"),
    [
        (DOES_NOT, None, None, {}),
        (DOES_NOT, None, {}, {}),
        (DOES_NOT, "none", None, {}),
        (THINKS, None, None, {}),
        (THINKS, "none", None, {"enable_thinking": False}),
        (THINKS, "minimal", None, {"enable_thinking": True}),
        (THINKS, "max", {}, {"enable_thinking": True}),
        (THINKS, None, {"enable_thinking": False}, {"enable_thinking": False}),
        (THINKS, "high", {"enable_thinking": False}, {"enable_thinking": False}),
        (THINKS, "none", {"enable_thinking": True}, {"enable_thinking": True}),
    ],
)
def test_effort_turns_thinking_on_and_the_callers_own_word_wins(model, effort, given, kwargs):
    assert template_kwargs(model, reasoning_effort=effort, given=given) == kwargs


@pytest.mark.parametrize(
    ("model", "effort", "given", "param"),
    [
        (DOES_NOT, "low", None, "reasoning_effort"),
        (DOES_NOT, None, {"enable_thinking": True}, "chat_template_kwargs"),
        (THINKS, None, {"enable_thinking": "no"}, "chat_template_kwargs"),
        (THINKS, None, {"tools": []}, "chat_template_kwargs"),
        (THINKS, None, {"add_generation_prompt": False}, "chat_template_kwargs"),
        (THINKS, None, {"messages": []}, "chat_template_kwargs"),
    ],
)
def test_what_the_model_does_not_know_is_rejected_by_name(model, effort, given, param):
    with pytest.raises(Rejected) as raised:
        template_kwargs(model, reasoning_effort=effort, given=given)
    assert raised.value.param == param
    assert len(raised.value.message) < 200
