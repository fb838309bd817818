"""POST /v1/traces to the letter of the contract, on tiny and on scripted models."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from contextlib import aclosing

import pytest
import torch
from django.test import AsyncClient

from inference import runtime
from inference.engine.types import GenerationRequest, SamplingParams
from inference.models import LimitsRow
from inference.runtime import Runtime
from tests.fakes import CARD, scripted_engine, tiny_engine
from tests.gates import Gate
from tests.traceapp.conftest import TRACES, error_of
from traceapp.wire.traces import TraceAnswer

ANSWER = {
    *("schema_version", "model", "prompt", "prompt_tokens", "generated_text", "steps"),
    *("decoding", "timing", "finish_reason"),
}
STEP = {
    *("step", "selected_token", "selected_token_id", "selected_probability", "alternatives"),
    *("step_ms", "elapsed_ms"),
}
ANALYSIS = {
    *("selected_rank", "selected_bytes", "alternative_bytes", "surprisal_bits", "entropy_bits"),
    *("sampling_probability", "nucleus_size", "remainder", "special"),
    *("forced", "draw"),
}
MAX_SEED = 2**63 - 1


@pytest.fixture
def tiny(install):
    """A tiny random model: real tokens, real probabilities."""
    return install(tiny_engine("qwen2"))


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def held(install, gate):
    """A model whose every pass waits for a permit."""
    yield install(scripted_engine("held still", gate=gate))
    gate.open()


async def traced(post, body, *, query=""):
    """The answer to a body that is to be traced, strictly read."""
    response = await post(body, query=query)
    assert response.status_code == 200, response.content
    return json.loads(response.content, parse_constant=pytest.fail)


def without_times(answer):
    steps = [
        {name: value for name, value in step.items() if name not in {"step_ms", "elapsed_ms"}}
        for step in answer["steps"]
    ]
    return {name: value for name, value in answer.items() if name != "timing"} | {"steps": steps}


# The shape of an answer


async def test_the_answer_is_the_contract_and_nothing_more(post, tiny):
    answer = await traced(post, {"prompt": "The moon is"})
    assert answer.keys() == ANSWER
    assert answer["schema_version"] == "1.0"
    assert answer["model"] == {
        "alias": CARD.alias,
        "repository": CARD.repository,
        "revision": CARD.revision,
    }
    assert answer["decoding"] == {
        "method": "greedy",
        "temperature": 0,
        "top_p": 1,
        "seed": None,
        "probability_basis": "raw_softmax_logits",
    }
    timing = {"prompt_tokenisation_ms", "first_step_ms", "total_trace_ms"}
    assert answer["timing"].keys() == timing
    assert all(token.keys() == {"token_id", "token"} for token in answer["prompt_tokens"])
    for step in answer["steps"]:
        assert step.keys() == STEP
        for alternative in step["alternatives"]:
            assert alternative.keys() == {"token_id", "token", "probability"}


async def test_the_analysis_is_added_to_each_step_when_it_is_asked_for(post, tiny):
    body = {"prompt": "The moon is", "temperature": 1.2, "seed": 5}
    plain = await traced(post, body)
    answer = await traced(post, body, query="?include=analysis")
    for step in answer["steps"]:
        analysis = step.pop("analysis")
        assert analysis.keys() == ANALYSIS
        assert analysis["remainder"].keys() == {"mass", "tokens"}
        assert analysis["draw"].keys() == {"u", "lower", "upper"}
    assert without_times(answer) == without_times(plain)


async def test_the_answer_validates_against_its_own_schema(post, tiny):
    for query in ("", "?include=analysis"):
        response = await post({"prompt": "x", "temperature": 1, "seed": 0}, query=query)
        TraceAnswer.model_validate_json(response.content, strict=True)


async def test_the_defaults_are_the_contracts(post, install):
    install("a text that goes on and on and on")
    answer = await traced(post, {"prompt": "x"})
    assert len(answer["steps"]) == 16
    assert {len(step["alternatives"]) for step in answer["steps"]} == {5}
    assert answer["finish_reason"] == "length"


async def test_steps_are_numbered_and_timed_from_zero(post, tiny):
    answer = await traced(post, {"prompt": "x", "max_new_tokens": 6})
    steps, timing = answer["steps"], answer["timing"]
    assert [step["step"] for step in steps] == list(range(len(steps)))
    elapsed = [step["elapsed_ms"] for step in steps]
    assert elapsed == sorted(elapsed)
    assert timing["first_step_ms"] == elapsed[0]
    assert timing["total_trace_ms"] >= elapsed[-1]
    assert all(0 < step["step_ms"] <= step["elapsed_ms"] for step in steps)


async def test_the_token_that_ends_the_text_is_a_step_and_no_part_of_the_text(post, install):
    install(" is")
    answer = await traced(post, {"prompt": "x"}, query="?include=analysis")
    assert [step["selected_token"] for step in answer["steps"]] == [" is", "<|endoftext|>"]
    assert [step["analysis"]["special"] for step in answer["steps"]] == [False, True]
    assert answer["generated_text"] == " is"
    assert answer["finish_reason"] == "eos"


async def test_prompt_tokens_are_ids_with_their_text(post, install):
    install("x")
    answer = await traced(post, {"prompt": "a the moon", "max_new_tokens": 1})
    assert [token["token"] for token in answer["prompt_tokens"]] == ["a", " the", " moon"]
    assert answer["prompt_tokens"][0]["token_id"] == ord("a")
    assert answer["prompt"] == "a the moon"


# Probabilities


@pytest.mark.parametrize("top_k", [1, 5, 10])
@pytest.mark.parametrize("sampling", [{}, {"temperature": 2, "seed": 3}])
async def test_alternatives_are_the_most_probable_others_sorted(post, tiny, top_k, sampling):
    answer = await traced(
        post, {"prompt": "x", "top_k": top_k} | sampling, query="?include=analysis"
    )
    for step in answer["steps"]:
        probabilities = [other["probability"] for other in step["alternatives"]]
        assert len(probabilities) == top_k
        assert probabilities == sorted(probabilities, reverse=True)
        assert step["selected_token_id"] not in {a["token_id"] for a in step["alternatives"]}
        ahead = sum(p > step["selected_probability"] for p in probabilities)
        assert ahead == min(step["analysis"]["selected_rank"], top_k)


async def test_what_is_listed_and_the_remainder_are_the_whole_vocabulary(post, tiny):
    answer = await traced(
        post, {"prompt": "x", "temperature": 1.5, "seed": 1}, query="?include=analysis"
    )
    rows = tiny.engine.vocabulary.rows
    for step in answer["steps"]:
        listed = [step["selected_probability"], *(a["probability"] for a in step["alternatives"])]
        remainder = step["analysis"]["remainder"]
        assert math.fsum([*listed, remainder["mass"]]) == pytest.approx(1, abs=1e-9)
        assert len(listed) + remainder["tokens"] == rows
        surprisal = -math.log2(step["selected_probability"])
        assert step["analysis"]["surprisal_bits"] == pytest.approx(surprisal)


async def test_bytes_stand_in_the_order_of_the_tokens(post, tiny):
    answer = await traced(post, {"prompt": "x"}, query="?include=analysis")
    tokens = tiny.engine.vocabulary.tokens
    for step in answer["steps"]:
        analysis = step["analysis"]
        assert bytes(analysis["selected_bytes"]) == tokens[step["selected_token_id"]]
        listed = [bytes(each) for each in analysis["alternative_bytes"]]
        assert listed == [tokens[a["token_id"]] for a in step["alternatives"]]


async def test_a_draw_lies_in_the_interval_of_the_selected_token(post, tiny):
    answer = await traced(
        post, {"prompt": "x", "temperature": 1, "seed": 8}, query="?include=analysis"
    )
    for step in answer["steps"]:
        analysis, draw = step["analysis"], step["analysis"]["draw"]
        assert draw["lower"] <= draw["u"] < draw["upper"]
        width = draw["upper"] - draw["lower"]
        assert analysis["sampling_probability"] == pytest.approx(width)


async def test_greedy_draws_nothing_and_takes_the_most_probable(post, tiny):
    answer = await traced(post, {"prompt": "x", "temperature": 0}, query="?include=analysis")
    for step in answer["steps"]:
        assert step["selected_probability"] >= step["alternatives"][0]["probability"]
        analysis = step["analysis"]
        assert (analysis["draw"], analysis["selected_rank"]) == (None, 0)
        assert (analysis["sampling_probability"], analysis["nucleus_size"]) == (1, 1)


async def test_raw_probabilities_are_the_same_whatever_the_settings(post, tiny):
    listed = []
    for settings in (
        {"temperature": 0},
        {"temperature": 2, "seed": 1},
        {"temperature": 0.3, "top_p": 0.4, "seed": 2},
    ):
        answer = await traced(post, {"prompt": "x", "max_new_tokens": 1} | settings)
        (step,) = answer["steps"]
        listed.append(
            {a["token_id"]: a["probability"] for a in step["alternatives"]}
            | {step["selected_token_id"]: step["selected_probability"]}
        )
    first, *others = listed
    for other in others:
        shared = first.keys() & other.keys()
        assert len(shared) >= 5
        assert all(first[i] == pytest.approx(other[i], abs=1e-6) for i in shared)


# Seeds


async def test_one_seed_repeats_everything_but_the_times(post, tiny):
    body = {"prompt": "x", "temperature": 1.3, "seed": 0}
    once = await traced(post, body, query="?include=analysis")
    again = await traced(post, body, query="?include=analysis")
    assert without_times(once) == without_times(again)
    assert once["decoding"]["seed"] == 0


async def test_another_seed_draws_another_text(post, tiny):
    texts = {
        (await traced(post, {"prompt": "x", "temperature": 1.3, "seed": seed}))["generated_text"]
        for seed in range(5)
    }
    assert len(texts) == 5


async def test_without_a_seed_each_trace_draws_afresh_and_reports_null(post, tiny):
    """32 draws of at least two bits each: two alike are less probable than 2 to the -64."""
    body = {"prompt": "x", "temperature": 2, "seed": None, "max_new_tokens": 32}
    answers = [await traced(post, body) for _ in range(2)]
    assert answers[0]["generated_text"] != answers[1]["generated_text"]
    assert [answer["decoding"]["seed"] for answer in answers] == [None, None]


async def test_the_limits_of_the_settings_choose_what_greedy_chooses(post, tiny):
    chosen = [
        [step["selected_token_id"] for step in (await traced(post, body))["steps"]]
        for body in (
            {"prompt": "The moon is", "temperature": 0},
            {"prompt": "The moon is", "temperature": 1, "top_p": 1e-9},
            {"prompt": "The moon is", "temperature": 1e-6},
        )
    ]
    assert chosen[0] == chosen[1] == chosen[2]


# What is taken


@pytest.mark.parametrize(
    "prompt",
    [
        "x",
        " ",
        "\n\n\n",
        "a\x00b",
        "👩‍🚀👨‍👩‍👧",
        "नमस्ते दुनिया",
        "مرحبا بالعالم",
        "<|im_end|>",
        "<|im_start|>user\nhello<|im_end|>",
        "\u2028\ufeff\u202e",
        "%s {prompt} \x1b[31m",
        "the moon " * 28,
    ],
)
async def test_any_text_is_traced_and_given_back_as_it_was(post, tiny, prompt):
    answer = await traced(post, {"prompt": prompt, "max_new_tokens": 2})
    assert answer["prompt"] == prompt
    ids = [token["token_id"] for token in answer["prompt_tokens"]]
    assert b"".join(tiny.engine.vocabulary.tokens[i] for i in ids) == prompt.encode()


async def test_a_prompt_of_1000_characters_under_256_tokens_is_traced(post, tiny):
    prompt = " moon" * 200
    answer = await traced(post, {"prompt": prompt, "max_new_tokens": 1})
    assert (len(prompt), len(answer["prompt_tokens"])) == (1000, 200)


@pytest.mark.parametrize(
    "given",
    [
        {"seed": MAX_SEED, "temperature": 1},
        {"seed": None},
        {"temperature": 2},
        {"temperature": 0},
        {"temperature": 1},
        {"temperature": 5e-324},
        {"top_p": 1},
        {"top_p": 1.0},
        {"top_p": 5e-324, "temperature": 1},
        {"max_new_tokens": 1},
        {"max_new_tokens": 32},
        {"top_k": 1},
        {"top_k": 10},
        {"model": CARD.alias},
    ],
)
async def test_what_reaches_its_bound_is_traced(post, tiny, given):
    answer = await traced(post, {"prompt": "x"} | given)
    for name in ("temperature", "top_p", "seed"):
        if name in given:
            assert answer["decoding"][name] == given[name]
    assert len(answer["steps"]) <= given.get("max_new_tokens", 16)


# What is refused


def body(**fields):
    return json.dumps({"prompt": "x"} | fields).encode()


REFUSED = {
    "no prompt": (b"{}", "prompt: "),
    "a string": (b'""', "body: must be a JSON object"),
    "a list": (b"[]", "body: must be a JSON object"),
    "null": (b"null", "body: must be a JSON object"),
    "nothing": (b"", "body: "),
    "not JSON": (b'{"prompt": ', "body: not JSON: "),
    "a form": (b"prompt=x", "body: not JSON: "),
    "more than JSON": (b'{"prompt":"x"} x', "body: not JSON: Extra data"),
    "not UTF-8": (b'{"prompt": "\xff"}', "body: not UTF-8 at byte 12"),
    "UTF-16": (b'{"prompt":"x"}'.decode().encode("utf-16"), "body: not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf" + body(), "BOM"),
    "a lone surrogate": (b'{"prompt":"\\ud800"}', "prompt: holds half of a surrogate pair"),
    "a lone surrogate for a name": (b'{"prompt":"x","\\ud800":1}', "half of a surrogate pair"),
    "NaN": (b'{"prompt":"x","temperature":NaN}', "NaN is not a number in JSON"),
    "Infinity": (b'{"prompt":"x","top_p":Infinity}', "Infinity is not a number in JSON"),
    "-Infinity": (b'{"prompt":"x","top_p":-Infinity}', "-Infinity is not a number in JSON"),
    "1e999": (b'{"prompt":"x","temperature":1e999}', "temperature: Input should be a finite"),
    "1e999 for top_p": (b'{"prompt":"x","top_p":1e999}', "top_p: Input should be a finite"),
    "1e999 for a seed": (b'{"prompt":"x","seed":1e999}', "seed: Input should be a valid integer"),
    "a key twice": (b'{"prompt":"x","prompt":"x"}', "body: a key stands twice in one object"),
    "2,000 brackets": (b"[" * 2000 + b"]" * 2000, "body: "),
    "2,000 brackets for a prompt": (b'{"prompt":' + b"[" * 2000 + b"]" * 2000 + b"}", ""),
    "5,000 digits": (b'{"prompt":"x","seed":' + b"9" * 5000 + b"}", "body: a number has too many"),
    "an unknown field": (body(stream=True), "stream: "),
    "an empty prompt": (body(prompt=""), "prompt: String should have at least 1 character"),
    "1,001 characters": (body(prompt="x" * 1001), "prompt: String should have at most 1000"),
    "a null prompt": (body(prompt=None), "prompt: "),
    "a list of prompts": (body(prompt=["x"]), "prompt: "),
    "no new tokens": (body(max_new_tokens=0), "max_new_tokens: Input should be greater than or"),
    "33 new tokens": (body(max_new_tokens=33), "max_new_tokens: Input should be less than or"),
    '"2" new tokens': (body(max_new_tokens="2"), "max_new_tokens: "),
    "1.5 new tokens": (body(max_new_tokens=1.5), "max_new_tokens: "),
    "1.0 new tokens": (body(max_new_tokens=1.0), "max_new_tokens: "),
    "true new tokens": (body(max_new_tokens=True), "max_new_tokens: "),
    "null new tokens": (body(max_new_tokens=None), "max_new_tokens: "),
    "no alternatives": (body(top_k=0), "top_k: Input should be greater than or equal to 1"),
    "11 alternatives": (body(top_k=11), "top_k: Input should be less than or equal to 10"),
    "null alternatives": (body(top_k=None), "top_k: "),
    "temperature below 0": (body(temperature=-0.01), "temperature: Input should be greater than"),
    "temperature over 2": (body(temperature=2.01), "temperature: Input should be less than or"),
    '"0" for a temperature': (body(temperature="0"), "temperature: "),
    "true for a temperature": (body(temperature=True), "temperature: "),
    "null for a temperature": (body(temperature=None), "temperature: "),
    "top_p 0": (body(top_p=0), "top_p: Input should be greater than 0"),
    "top_p over 1": (body(top_p=1.0001), "top_p: Input should be less than or equal to 1"),
    "a seed below 0": (body(seed=-1), "seed: Input should be greater than or equal to 0"),
    "a seed of 64 bits": (body(seed=2**63), f"less than or equal to {MAX_SEED}"),
    "a seed of 1.5": (body(seed=1.5), "seed: "),
    '"1" for a seed': (body(seed="1"), "seed: "),
    "true for a seed": (body(seed=True), "seed: "),
    "another model": (body(model="gpt-4"), f"model: this server serves {CARD.alias}"),
    "no model by name": (body(model=""), "model: "),
    "a null model": (body(model=None), "model: "),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_no_request_is_422_and_says_what_is_wrong(post, install, case):
    install("never said")
    sent, said = REFUSED[case]
    response = await post(sent)
    assert response.status_code == 422
    error = error_of(response)
    assert error["code"] == "invalid_request"
    assert said in error["message"]
    assert runtime.current().in_flight() == (0, 0)


async def test_every_problem_is_named_but_no_more_than_ten_and_names_are_cut(post, install):
    install("never said")
    error = error_of(await post({"temperature": 3, "top_k": 0}))
    assert [part.split(":")[0] for part in error["message"].split("; ")] == [
        "prompt",
        "top_k",
        "temperature",
    ]
    error = error_of(await post({"prompt": "x"} | {f"{n:0100}": 1 for n in range(50)}))
    assert error["message"].endswith("; and 40 more")
    assert len(error["message"]) < 1200


@pytest.mark.parametrize("query", ["?include=other", "?include=", "?include=Analysis"])
async def test_an_include_that_nobody_defined_is_422(post, install, query):
    install("never said")
    response = await post({"prompt": "x"}, query=query)
    assert response.status_code == 422
    assert error_of(response)["message"].startswith("include: ")


async def test_a_prompt_of_too_many_tokens_is_422_with_both_numbers(post, install):
    install("never said")
    response = await post({"prompt": "z" * 300})
    assert response.status_code == 422
    error = error_of(response)
    assert error["code"] == "prompt_too_long"
    assert "300" in error["message"]
    assert "256" in error["message"]


async def test_limits_that_an_administrator_lowered_hold_for_the_next_request(post, install):
    install("fine")
    assert (await post({"prompt": "x", "max_new_tokens": 5})).status_code == 200
    await LimitsRow.objects.acreate(pk=1, max_new_tokens=4, rate_per_minute=0)
    response = await post({"prompt": "x", "max_new_tokens": 5})
    assert response.status_code == 422
    assert error_of(response)["message"] == "max_new_tokens: 5 is over the limit of 4"
    await LimitsRow.objects.filter(pk=1).aupdate(max_new_tokens=5)
    assert (await post({"prompt": "x", "max_new_tokens": 5})).status_code == 200


# What cannot be served now


async def test_without_a_place_to_wait_it_is_429_busy_with_retry_after(post, held):
    await LimitsRow.objects.acreate(pk=1, max_waiting=0, rate_per_minute=0)
    one = GenerationRequest(
        prompt_ids=(1,), max_tokens=1, num_candidates=1, sampling=SamplingParams()
    )
    async with aclosing(held.submit(one, max_waiting=0, deadline=time.monotonic() + 60)):
        response = await post({"prompt": "x"})
    assert response.status_code == 429
    assert error_of(response)["code"] == "busy"
    assert int(response["Retry-After"]) >= 1


async def test_past_the_rate_it_is_429_rate_limited_with_retry_after(post, install, environment):
    install("fine")
    environment(rate_per_minute=2, proxies=1)
    client = {"X-Forwarded-For": "192.0.2.61"}  # which no other test is
    statuses = [(await post(b"{}", **client)).status_code for _ in range(3)]
    assert statuses == [422] * 3  # what is no request takes no turn
    answers = [await post({"prompt": "x", "max_new_tokens": 1}, **client) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert error_of(answers[2])["code"] == "rate_limited"
    assert 1 <= int(answers[2]["Retry-After"]) <= 60


async def test_a_model_that_fails_is_500_and_the_next_request_is_served(post, install, caplog):
    rows = scripted_engine("").vocabulary.rows
    failures = [RuntimeError("it said: secret"), torch.full((rows,), float("nan"))]
    install(scripted_engine(lambda n: failures.pop() if failures else torch.zeros(rows)))
    for _ in range(2):
        response = await post({"prompt": "secret"})
        assert response.status_code == 500
        error = error_of(response)
        assert error["code"] == "inference_failed"
        assert "secret" not in error["message"]
    assert (await post({"prompt": "secret"})).status_code == 200
    assert "secret" not in caplog.text


async def test_a_process_without_a_model_is_503(post):
    response = await post({"prompt": "x"})
    assert response.status_code == 503
    assert error_of(response)["code"] == "not_ready"


async def test_while_the_model_loads_it_is_503(post):
    loads = threading.Event()

    def load():
        loads.wait(60)
        return scripted_engine("fine")

    serving = Runtime(CARD, load, on_failure=pytest.fail)
    runtime.install(serving)
    response = await post({"prompt": "x"})
    health = await AsyncClient().get("/health")
    loads.set()
    serving.wait_until_loaded()
    now_ready = await AsyncClient().get("/health")
    runtime.install(None)
    serving.close()
    assert response.status_code == health.status_code == 503
    assert error_of(response)["code"] == "not_ready"
    assert health.json() == {"status": "not_ready", "ready": False}
    assert (now_ready.status_code, now_ready.json()) == (200, {"status": "ready", "ready": True})


async def test_past_the_deadline_it_is_504(post, held):
    await LimitsRow.objects.acreate(pk=1, deadline_seconds=0.1, rate_per_minute=0)
    response = await post({"prompt": "x"})
    assert response.status_code == 504
    assert error_of(response)["code"] == "timeout"


async def test_a_caller_that_leaves_is_499_in_the_log_and_frees_the_model(post, held, gate, caplog):
    caplog.set_level("INFO")
    leaving = asyncio.create_task(post({"prompt": "secret"}))
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.open()
    assert (await post({"prompt": "x"})).status_code == 200
    assert "499 client_disconnected" in caplog.text
    assert "secret" not in caplog.text


# What is no such address or method


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "head", "options"])
async def test_another_method_is_405_and_says_which_are_allowed(unlimited, method):
    response = await getattr(AsyncClient(), method)(TRACES)
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    if method != "head":
        assert error_of(response)["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/traces/", "/v1/models/gpt-4"])
async def test_an_address_that_is_none_is_a_404_in_json(install, unlimited, path):
    install("fine")
    response = await AsyncClient().get(path)
    assert response.status_code == 404
    assert error_of(response)["code"] == "not_found"


async def test_a_body_over_a_megabyte_is_413_even_where_no_server_refused_it(post, install):
    install("never said")
    response = await post(b"x" * (1024 * 1024 + 1))
    assert response.status_code == 413
    assert error_of(response)["code"] == "payload_too_large"


async def test_a_default_that_is_over_a_lowered_limit_gives_way_to_it(tiny, post):
    await LimitsRow.objects.acreate(pk=1, max_new_tokens=3, max_alternatives=2)
    answer = await traced(post, {"prompt": "x"})
    assert len(answer["steps"]) == 3
    assert {len(step["alternatives"]) for step in answer["steps"]} == {2}
    refused = await post({"prompt": "x", "max_new_tokens": 4})
    assert refused.status_code == 422
    assert error_of(refused)["message"] == "max_new_tokens: 4 is over the limit of 3"
