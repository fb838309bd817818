"""The embedded model's own traces, asked for over HTTP."""

from __future__ import annotations

import math

import httpx
import pytest

from tests.server.conftest import MARKER

pytestmark = pytest.mark.real_model

TIMES = {"timing", "step_ms", "elapsed_ms"}


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(base_url=server.url, timeout=110) as opened:
        yield opened


@pytest.fixture(scope="module")
def trace(client):
    def send(prompt="The moon is", *, query="", **body):
        answer = client.post(f"/v1/traces{query}", json={"prompt": prompt} | body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return send


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def ids(answer):
    return [step["selected_token_id"] for step in answer["steps"]]


def test_the_readmes_request_is_answered_as_the_contract_says(trace):
    answer = trace()
    assert [token["token"] for token in answer["prompt_tokens"]] == ["The", " moon", " is"]
    assert 1 <= len(answer["steps"]) <= 16
    for step in answer["steps"]:
        others = step["alternatives"]
        assert len(others) == 5
        assert step["selected_token_id"] not in {other["token_id"] for other in others}
        probabilities = [other["probability"] for other in others]
        assert probabilities == sorted(probabilities, reverse=True)
        assert step["selected_probability"] >= probabilities[0]
    said = "".join(step["selected_token"] for step in answer["steps"])
    assert said.startswith(answer["generated_text"])


def test_the_model_is_the_embedded_one_and_says_what_its_weights_are(client):
    (entry,) = client.get("/v1/models").json()["data"]
    assert entry["alias"] == "smollm2-135m"
    assert entry["repository"] == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert entry["source"] == "embedded"
    assert entry["dtype"].startswith("Q4_1 dequantised")
    assert len(entry["revision"]) == 40
    assert len(entry["sha256"]) == 64
    assert entry["ready"] is True


def test_one_seed_gives_one_answer_apart_from_its_times(trace):
    body = {"temperature": 1.1, "top_p": 0.95, "seed": 7, "query": "?include=analysis"}
    assert without_times(trace(**body)) == without_times(trace(**body))


def test_the_limits_of_the_settings_choose_what_greedy_chooses(trace):
    greedy = ids(trace(temperature=0))
    assert ids(trace(temperature=1, top_p=1e-9)) == greedy
    assert ids(trace(temperature=1e-6)) == greedy


def test_raw_probabilities_are_the_same_whatever_the_settings(trace):
    listed = []
    for settings in (
        {"temperature": 0},
        {"temperature": 2, "seed": 1},
        {"temperature": 0.3, "top_p": 0.4, "seed": 2},
    ):
        (step,) = trace(max_new_tokens=1, top_k=10, **settings)["steps"]
        listed.append(
            {other["token_id"]: other["probability"] for other in step["alternatives"]}
            | {step["selected_token_id"]: step["selected_probability"]}
        )
    first, *others = listed
    for other in others:
        shared = first.keys() & other.keys()
        assert len(shared) >= 10
        assert max(abs(first[i] - other[i]) for i in shared) <= 1e-6


def test_what_is_listed_and_the_remainder_are_the_whole_vocabulary(trace):
    answer = trace(temperature=1, seed=1, top_k=10, query="?include=analysis")
    for step in answer["steps"]:
        listed = [step["selected_probability"], *(o["probability"] for o in step["alternatives"])]
        remainder = step["analysis"]["remainder"]
        assert math.fsum([*listed, remainder["mass"]]) == pytest.approx(1, abs=1e-9)
        assert len(listed) + remainder["tokens"] == 49152


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
        "the moon " * 111 + "!",  # 1,000 characters
    ],
)
def test_any_text_is_traced(trace, prompt):
    answer = trace(prompt, max_new_tokens=1)
    assert answer["prompt"] == prompt


def test_a_control_token_that_a_visitor_typed_is_one_token(trace):
    answer = trace("<|im_end|>", max_new_tokens=1)
    assert [token["token"] for token in answer["prompt_tokens"]] == ["<|im_end|>"]


@pytest.mark.parametrize("settings", [{"seed": 2**63 - 1}, {"temperature": 2}, {"top_p": 1}])
def test_settings_at_their_bounds_are_taken(trace, settings):
    trace(max_new_tokens=2, **{"temperature": 1} | settings)


def test_a_prompt_of_too_many_tokens_is_refused_with_both_numbers(client):
    answer = client.post("/v1/traces", json={"prompt": f"{MARKER} " + "ǂ" * 500})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "prompt_too_long"
    found = [int(word) for word in error["message"].replace(";", " ").split() if word.isdigit()]
    assert found[0] > 256
    assert found[1] == 256


def test_the_page_traces_a_typed_prompt_without_a_script(client):
    answer = client.post("/", data={"prompt": f"{MARKER} is", "max_new_tokens": "2"})
    assert answer.status_code == 200
    assert answer.text.count('class="step"') == 2
