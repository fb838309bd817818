"""/tokenize, /detokenize and /tokenizer_info: the served tokenizer, as tools ask for it."""

from __future__ import annotations

import json

import pytest
from django.test import AsyncClient

from tests.fakes import CARD, END, scripted_engine, tiny_tokenizer
from tests.traceapp.openai_api import refused
from tests.traceapp.test_chat import HELLO, TEMPLATE


@pytest.fixture
def serving(install):
    return install(scripted_engine("ab", chat_template=TEMPLATE))


@pytest.fixture
def ask(api):
    async def send(path, **body):
        response = await api.send(path, body)
        assert response.status_code == 200, response.content
        return json.loads(response.content)

    return send


async def test_a_prompt_becomes_its_tokens(ask, serving):
    ids = tiny_tokenizer().encode("The moon 🌔")
    for more in ({}, {"add_special_tokens": False}, {"add_special_tokens": True}):
        assert await ask("/tokenize", prompt="The moon 🌔", **more) == {
            "count": len(ids),
            "max_model_len": CARD.max_model_len,
            "tokens": ids,
            "token_strs": None,
        }


async def test_tokens_are_shown_as_the_logprobs_name_them(ask, serving):
    answer = await ask("/tokenize", prompt="é moon", return_token_strs=True)
    assert answer["token_strs"] == ["bytes:\\xc3", "bytes:\\xa9", " moon"]


async def test_an_empty_prompt_has_no_tokens(ask, serving):
    assert (await ask("/tokenize", prompt=""))["count"] == 0


async def test_a_conversation_becomes_what_chat_would_read(ask, serving, api):
    count = (await ask("/tokenize", messages=HELLO))["count"]
    answer = await api.ask("/v1/chat/completions", messages=HELLO)
    assert answer["usage"]["prompt_tokens"] == count


@pytest.mark.parametrize("text", ["The moon 🌔", "", f"a{END}b"])
async def test_what_was_tokenised_comes_back(ask, serving, text):
    tokens = (await ask("/tokenize", prompt=text))["tokens"]
    assert await ask("/detokenize", tokens=tokens) == {"prompt": text}


async def test_the_tokenizers_configuration_is_told(serving, unlimited):
    response = await AsyncClient().get("/tokenizer_info")
    info = json.loads(response.content)
    assert info["eos_token"] == END
    assert info["chat_template"] == TEMPLATE
    assert info["model_max_length"] == CARD.max_model_len


@pytest.mark.parametrize(
    ("path", "body", "status", "param"),
    [
        ("/tokenize", {}, 400, "prompt"),
        ("/tokenize", {"prompt": "a", "messages": HELLO}, 400, "prompt"),
        ("/tokenize", {"messages": []}, 400, "messages"),
        ("/tokenize", {"messages": HELLO, "add_generation_prompt": False}, 400, "add_gen"),
        ("/tokenize", {"prompt": 5}, 422, "prompt"),
        ("/detokenize", {}, 422, "tokens"),
        ("/detokenize", {"tokens": "a"}, 422, "tokens"),
        ("/detokenize", {"tokens": [-1]}, 400, "tokens"),
        ("/detokenize", {"tokens": [999_999]}, 400, "tokens"),
    ],
)
async def test_what_cannot_be_is_refused_by_name(api, serving, path, body, status, param):
    assert refused(await api.send(path, body), status)["param"].startswith(param)


async def test_without_a_model_they_answer_503(api):
    assert refused(await api.send("/tokenize", {"prompt": "a"}), 503)["code"] == "not_ready"
    assert refused(await AsyncClient().get("/tokenizer_info"), 503)["code"] == "not_ready"


async def test_an_address_of_theirs_takes_no_other_method(api):
    response = await AsyncClient().get("/tokenize")
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    assert json.loads(response.content)["error"]["code"] == "method_not_allowed"
