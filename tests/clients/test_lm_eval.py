"""lm-eval: what it measures through the API is what it measures on the weights themselves."""

from __future__ import annotations

import pytest
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from tests.commands import ROOT

NATS = 1e-3
TASKS = ROOT / "tests" / "clients" / "tasks"


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)  # where the paths of the tasks begin


@pytest.fixture(scope="module")
def manager():
    return TaskManager(include_path=str(TASKS), include_defaults=False)


@pytest.fixture(scope="module")
def weights(weights_folder):
    """The harness's own way to run a model."""
    return HFLM(pretrained=str(weights_folder), dtype="float32", device="cpu")


def evaluate(manager, task, model, arguments=None, **options):
    """The task's figures, and what each of its requests was answered, in their order."""
    found = simple_evaluate(
        model=model, model_args=arguments, tasks=[task], task_manager=manager, **options
    )
    samples = sorted(found["samples"][task], key=lambda sample: sample["doc_id"])
    return found["results"][task], [sample["filtered_resps"] for sample in samples]


def api(server, path, **arguments):
    return {
        "model": "smollm2-135m",
        "base_url": f"{server.url}{path}",
        "num_concurrent": 1,
        "max_retries": 1,
        **arguments,
    }


@pytest.mark.parametrize("sends", ["ids", "text"])
def test_accuracy_and_loglikelihoods_are_those_of_the_weights(
    manager, embedded, weights, weights_folder, sends
):
    """As ids, the harness asks our server for them; as text, it needs the tokenizer itself."""
    own = {"tokenizer_backend": "huggingface", "tokenizer": str(weights_folder)}
    tokenizer = {} if sends == "ids" else own | {"tokenized_requests": False}
    arguments = api(embedded, "/v1/completions", **tokenizer)
    expected, theirs = evaluate(manager, "capitals", weights)
    figures, ours = evaluate(manager, "capitals", "local-completions", arguments, batch_size=4)
    for name in ("acc,none", "acc_norm,none"):
        assert figures[name] == expected[name]
    assert 0 < figures["acc,none"] < 1
    assert len(ours) == 6
    for our, their in zip(ours, theirs, strict=True):
        assert [greedy for _, greedy in our] == [greedy for _, greedy in their]
        logprobs = [[value for value, _ in each] for each in (our, their)]
        assert logprobs[0] == pytest.approx(logprobs[1], abs=NATS, rel=0)


def test_the_likelihood_of_a_whole_text_is_that_of_the_weights(manager, embedded, weights):
    _, theirs = evaluate(manager, "capitals_rolled", weights)
    arguments = api(embedded, "/v1/completions")
    _, ours = evaluate(manager, "capitals_rolled", "local-completions", arguments)
    assert len(ours) == 6
    logprobs = [[value for (value,) in each] for each in (ours, theirs)]
    assert logprobs[0] == pytest.approx(logprobs[1], abs=NATS, rel=0)


def test_greedy_completions_are_those_of_the_weights(manager, embedded, weights):
    _, theirs = evaluate(manager, "capitals_said", weights)
    arguments = api(embedded, "/v1/completions")
    _, ours = evaluate(manager, "capitals_said", "local-completions", arguments)
    assert ours == theirs
    assert len({text for (text,) in ours}) > 3


def test_greedy_chats_are_those_of_the_weights(manager, embedded, weights):
    """The harness renders the model's chat template for one, the server for the other."""
    templated = {"apply_chat_template": True}
    _, theirs = evaluate(manager, "capitals_said", weights, **templated)
    arguments = api(embedded, "/v1/chat/completions")
    model = "local-chat-completions"
    _, ours = evaluate(manager, "capitals_said", model, arguments, **templated)
    assert ours == theirs
    assert any("Paris" in text for (text,) in ours)
