"""
Real clients, each from its own package, against real servers that run by the project's own Python.

Three servers: the embedded model; a tiny random one that may call tools; and a parrot, which says
what a test's own words tell it to. Nothing here asks any other host.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before any client is imported: each reads some of these at once.
OWN = tempfile.TemporaryDirectory(prefix="token-trace-clients-", ignore_cleanup_errors=True)
os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "HF_HOME": f"{OWN.name}/hf",
    "LLM_USER_PATH": f"{OWN.name}/llm",
    "LANGSMITH_TRACING": "false",
    "OPENAI_API_KEY": "any",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
}

from tests.commands import PYTHON, ROOT  # noqa: E402
from tests.serving import Server, serving  # noqa: E402

WHERE = """
import json
from inference.weights.resolve import resolve
from traceapp.env import Environment
weights = Environment().weights_dir
folder = resolve("smollm2-135m", model_path=None, weights_dir=weights).folder
print(json.dumps([str(weights), str(folder)]))
"""


def ask_project(*arguments: str) -> str:
    """What the project's own Python prints."""
    return subprocess.run(
        [PYTHON, *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="session", autouse=True)
def weights_folder() -> Path:
    """The embedded model, as transformers reads it. The servers find its weights there too."""
    weights, folder = json.loads(ask_project("-c", WHERE))
    os.environ["TRACEAPP_WEIGHTS_DIR"] = weights
    return Path(folder)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("embedded"), "--model", "smollm2-135m") as server:
        yield server


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Random weights: what is well-formed here is so because it was forced."""
    folder = tmp_path_factory.mktemp("weights")
    ask_project("-m", "tests.chat_folder", str(folder))
    path = {"TRACEAPP_MODEL_PATH": str(folder)}
    data_dir = tmp_path_factory.mktemp("tiny")
    with serving(data_dir, "--model", "qwen2.5-0.5b-instruct", **path) as server:
        yield server


@pytest.fixture(scope="session")
def parrot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Waits for nobody, and not long, so that a client can be late and the model busy."""
    program = (PYTHON, "-m", "tests.parrot")
    limits = {"TRACEAPP_DEADLINE_SECONDS": "3", "TRACEAPP_MAX_WAITING": "0"}
    settings = {"DJANGO_SETTINGS_MODULE": "traceapp.settings"}
    data_dir = tmp_path_factory.mktemp("parrot")
    with serving(data_dir, program=program, **limits, **settings) as server:
        yield server
