from __future__ import annotations

import re

import pytest

from inference import catalogue
from inference.weights.errors import UnknownModel, WeightsError


@pytest.mark.parametrize(
    ("alias", "repository", "architecture"),
    [
        ("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B", "qwen2"),
        ("qwen2.5-0.5b-instruct", "Qwen/Qwen2.5-0.5B-Instruct", "qwen2"),
        ("qwen3-0.6b", "Qwen/Qwen3-0.6B", "qwen3"),
        ("smollm2-135m", "HuggingFaceTB/SmolLM2-135M-Instruct", "llama"),
    ],
)
def test_an_alias_names_one_repository(alias, repository, architecture):
    model = catalogue.find(alias)
    assert (model.alias, model.repository) == (alias, repository)
    assert model.architecture == architecture


@pytest.mark.parametrize("alias", ["gpt-4", "", "Qwen2.5-0.5B", "smollm2-135m "])
def test_an_unknown_alias_is_refused_with_the_list_of_aliases(alias):
    with pytest.raises(UnknownModel) as refusal:
        catalogue.find(alias)
    assert isinstance(refusal.value, WeightsError)
    assert repr(alias) in str(refusal.value)
    for model in catalogue.MODELS:
        assert model.alias in str(refusal.value)


def test_every_revision_is_a_commit_and_no_alias_is_given_twice():
    assert all(re.fullmatch("[0-9a-f]{40}", model.revision) for model in catalogue.MODELS)
    assert len({model.alias for model in catalogue.MODELS}) == len(catalogue.MODELS)


def test_what_is_embedded_is_pinned_by_digest():
    wheel = catalogue.EMBEDDED.wheel
    assert wheel is not None
    assert re.fullmatch("[0-9a-f]{64}", wheel.wheel_sha256)
    assert re.fullmatch("[0-9a-f]{64}", wheel.gguf_sha256)
    assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", wheel.requirement)


def test_tools_and_reasoning_need_a_chat_template():
    for model in catalogue.MODELS:
        assert model.chat_template or not (model.tool_parser or model.reasoning_parser)


def test_the_first_model_of_an_architecture_stands_for_it():
    assert catalogue.first_of("qwen2").alias == "qwen2.5-0.5b"
    assert catalogue.first_of("qwen3").alias == "qwen3-0.6b"
    assert catalogue.first_of("llama").alias == "smollm2-135m"
