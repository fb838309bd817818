"""--generate-config: known keys, strict values, and a sentence for anything else."""

from __future__ import annotations

import pytest

from inference.generate_config import BadGenerateConfig, GenerateConfig, parse


def test_nothing_given_is_the_default():
    assert parse("{}") == GenerateConfig()


def test_every_key_is_taken():
    config = parse(
        '{"max_new_tokens": 9, "temperature": 0, "top_p": 0.5, "top_k": 7, "min_p": 0.1,'
        ' "repetition_penalty": 1.1, "presence_penalty": 1, "frequency_penalty": -1, "seed": 3,'
        ' "stop": ["a", "b"], "stream": true, "ignore_eos": true, "min_tokens": 2}'
    )
    assert (config.max_tokens, config.stop, config.stream) == (9, ("a", "b"), True)
    assert (config.ignore_eos, config.min_tokens) == (True, 2)
    sampling = config.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.0, 0.5, 7)
    assert (sampling.min_p, sampling.repetition_penalty, sampling.seed) == (0.1, 1.1, 3)
    assert (sampling.presence_penalty, sampling.frequency_penalty) == (1.0, -1.0)


def test_null_turns_off_what_can_be_off():
    assert parse('{"top_k": null, "seed": null, "stop": null}') == GenerateConfig()


@pytest.mark.parametrize(
    ("text", "names"),
    [("", "JSON"), ("[1]", "object"), ("{", "JSON"), ('{"top_q": 1}', "top_q"),
     ('{"max_new_tokens": 0}', "max_new_tokens"), ('{"max_new_tokens": true}', "max_new_tokens"),
     ('{"max_new_tokens": 1.5}', "max_new_tokens"), ('{"max_new_tokens": null}', "max_new_tokens"),
     ('{"temperature": -1}', "temperature"), ('{"temperature": "0"}', "temperature"),
     ('{"temperature": NaN}', "temperature"), ('{"top_p": 0}', "top_p"), ('{"top_k": -1}', "top_k"),
     ('{"seed": -1}', "seed"), ('{"stop": "a"}', "stop"), ('{"stop": [""]}', "stop"),
     ('{"stream": 1}', "stream"), ('{"ignore_eos": null}', "ignore_eos")],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text, names):
    with pytest.raises(BadGenerateConfig, match=names):
        parse(text)
