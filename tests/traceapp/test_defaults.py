"""Whose value counts: the request's, the server's, or the endpoint's own."""

from __future__ import annotations

import pytest

from inference.engine.types import SamplingParams
from inference.generate_config import GenerateConfig
from tests.fakes import scripted_engine
from tests.traceapp.openai_api import CHAT, COMPLETIONS
from tests.traceapp.test_chat import HELLO, TEMPLATE
from traceapp.wire.openai.chat import ChatBody
from traceapp.wire.openai.completions import CompletionBody

SERVERS = SamplingParams(
    temperature=0.5,
    top_k=7,
    top_p=0.9,
    min_p=0.1,
    repetition_penalty=1.1,
    presence_penalty=0.2,
    frequency_penalty=0.3,
    seed=11,
)
CONFIG = GenerateConfig(max_tokens=5, sampling=SERVERS, stop=("x",), ignore_eos=True, min_tokens=2)
PLAIN = GenerateConfig()


def settings_of(config, **body):
    """What both endpoints make of the same fields."""
    completion = CompletionBody.model_validate(body).settings(config)
    chat = ChatBody.model_validate({"messages": HELLO} | body).to_request(config).settings
    assert completion.sampling == chat.sampling
    assert completion.stop == chat.stop
    return completion, chat


def test_without_a_config_the_defaults_are_openais_and_ours():
    completion, chat = settings_of(PLAIN)
    assert completion.sampling == SamplingParams(temperature=1.0, top_p=1.0)
    assert (completion.max_tokens, chat.max_tokens) == (16, 256)
    assert (completion.ignore_eos, chat.ignore_eos) == (True, False)
    assert completion.stop == ()


def test_what_a_request_leaves_out_the_server_fills_in():
    completion, chat = settings_of(CONFIG)
    assert completion.sampling == SERVERS
    assert completion.max_tokens == chat.max_tokens == 5
    assert completion.stop == ("x",)
    assert chat.ignore_eos
    assert chat.min_tokens == 2


@pytest.mark.parametrize(
    "field",
    [
        *("temperature", "top_p", "min_p", "repetition_penalty", "presence_penalty"),
        *("frequency_penalty", "seed", "max_tokens"),
    ],
)
def test_null_is_as_good_as_left_out(field):
    assert settings_of(CONFIG, **{field: None}) == settings_of(CONFIG)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", 0.0),
        ("top_p", 1.0),
        ("min_p", 0.0),
        ("repetition_penalty", 1.0),
        ("presence_penalty", 0.0),
        ("frequency_penalty", 0.0),
        ("seed", 0),
    ],
)
def test_a_value_that_looks_empty_counts(field, value):
    completion, _ = settings_of(CONFIG, **{field: value})
    assert getattr(completion.sampling, field) == value


@pytest.mark.parametrize("off", [None, 0, -1])
def test_top_k_can_be_turned_off(off):
    completion, _ = settings_of(CONFIG, top_k=off)
    assert completion.sampling.top_k == 0


@pytest.mark.parametrize("none", [None, []])
def test_the_servers_stop_strings_can_be_cleared(none):
    completion, _ = settings_of(CONFIG, stop=none)
    assert completion.stop == ()


def test_stop_may_be_one_string():
    completion, _ = settings_of(CONFIG, stop="ab")
    assert completion.stop == ("ab",)


def test_chat_can_take_back_what_the_server_sets():
    _, chat = settings_of(CONFIG, ignore_eos=False, min_tokens=0)
    assert not chat.ignore_eos
    assert chat.min_tokens == 0


def test_completions_never_heed_the_end_of_a_sequence():
    assert CompletionBody.model_validate({"ignore_eos": False}).settings(PLAIN).ignore_eos


@pytest.mark.parametrize("path", [COMPLETIONS, CHAT])
async def test_a_server_may_stream_by_default(api, install, settings, path):
    install(scripted_engine("ab", chat_template=TEMPLATE))
    settings.GENERATE_CONFIG = GenerateConfig(stream=True)
    body = {"messages": HELLO, "prompt": "a"}
    for sent, kind in (
        (body, "text/event-stream"),
        (body | {"stream": None}, "text/event-stream"),
        (body | {"stream": False}, "application/json"),
    ):
        response = await api.send(path, sent)
        assert response["Content-Type"] == kind
        if kind == "text/event-stream":
            assert [part async for part in response.streaming_content][-1] == b"data: [DONE]\n\n"
