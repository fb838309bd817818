"""`manage.py trace` on a model of a few kilobytes, and what `serve` answers to."""

from __future__ import annotations

import io
import json
import math
import socket

import pytest
from django.core.management import CommandError, call_command

from tests.commands import manage
from tests.inference.weights.tiny import write_folder
from traceapp.management.commands.serve import _names_of
from traceapp.wire.traces import TraceAnswer


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("tiny"), architecture="llama")


@pytest.fixture
def trace(settings, folder):
    """Run `trace` with these arguments; what it printed."""
    settings.TRACEAPP = settings.TRACEAPP.model_copy(
        update={"model": None, "model_path": folder, "threads": 1}
    )

    def run(*arguments):
        printed = io.StringIO()
        call_command("trace", *arguments, stdout=printed)
        return printed.getvalue()

    return run


def test_a_trace_is_a_table_with_bars(trace):
    lines = trace("The moon is", "--max-new-tokens", "3", "--top-k", "2").splitlines()
    steps = [line for line in lines if line.startswith("step ")]
    assert [line.split(":")[0] for line in steps] == ["step 0", "step 1", "step 2"]
    assert all("rank 0" in line and "bits" in line and " ms" in line for line in steps)
    drawn = [line for line in lines if line.startswith(" > ")]
    assert len(drawn) == 3
    assert all("%" in line for line in drawn)
    assert sum("other tokens" in line for line in lines) == 3
    assert lines[-1].startswith("ended by length after ")


def test_json_is_the_answer_of_the_api_with_its_analysis(trace):
    text = trace("The moon is", "--json")
    answer = TraceAnswer.model_validate_json(text, strict=True)
    assert answer.prompt == "The moon is"
    assert len(answer.steps) <= 16
    for step in answer.steps:
        assert step.analysis is not None
        listed = [step.selected_probability, *(each.probability for each in step.alternatives)]
        assert math.fsum([*listed, step.analysis.remainder.mass]) == pytest.approx(1)


def test_every_field_is_an_option(trace):
    answer = json.loads(
        trace(
            "x",
            "--json",
            *("--max-new-tokens", "2", "--top-k", "3", "--seed", str(2**63 - 1)),
            *("--temperature", "1.5", "--top-p", "0.9"),
        )
    )
    assert answer["decoding"] == {
        "method": "sample",
        "temperature": 1.5,
        "top_p": 0.9,
        "seed": 2**63 - 1,
        "probability_basis": "raw_softmax_logits",
    }
    assert len(answer["steps"]) <= 2
    assert {len(step["alternatives"]) for step in answer["steps"]} == {3}


def test_a_dash_reads_standard_input(trace, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("typed\n"))
    assert json.loads(trace("-", "--json"))["prompt"] == "typed\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "prompt: "),
        (["x" * 1001], "prompt: "),
        (["\ud800"], "prompt: "),
        (["z" * 300], "the prompt has 300 tokens; the limit is 256"),
        (
            ["x", "--max-new-tokens", "33"],
            "max_new_tokens: Input should be less than or equal to 32",
        ),
        (["x", "--top-k", "0"], "top_k: "),
        (["x", "--temperature", "nan"], "temperature: "),
        (["x", "--top-p", "0"], "top_p: "),
        (["x", "--seed", "-1"], "seed: "),
        (["x", "--model", "gpt-4"], "gpt-4"),
        (["x", "--model", "qwen2.5-0.5b"], "holds a llama model"),
        (["x", "--seed", "one"], "invalid int value"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(trace, arguments, said):
    with pytest.raises(CommandError) as refused:
        trace(*arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_error_is_a_status_and_one_line_for_the_shell(tmp_path):
    run = manage("trace", "x", "--top-k", "11", TRACEAPP_DATA_DIR=str(tmp_path))
    assert run.returncode == 1
    assert run.stdout == ""
    (line,) = run.stderr.strip().splitlines()
    assert line == "CommandError: top_k: Input should be less than or equal to 10"


def test_a_server_answers_to_the_address_that_it_listens_on():
    assert _names_of("192.0.2.7") == ["192.0.2.7"]
    assert _names_of("traces.example") == ["traces.example"]
    assert _names_of("::1") == ["[::1]"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_that_listens_everywhere_answers_to_the_names_of_this_machine(host):
    names = _names_of(host)
    assert {socket.gethostname(), f"{socket.gethostname()}.local"} <= set(names)
    assert all(":" not in name or name.startswith("[") for name in names)
    assert host not in names
