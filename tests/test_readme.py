"""The README: its tree is the project's, and its examples answer as it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serving import serving

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
ADDRESS = "http://localhost:8000/"


def block(language: str, *, after: str) -> str:
    """The first block of that language after these words."""
    found = re.search(rf"^```{language}\n(.*?)^```", README.partition(after)[2], re.M | re.S)
    assert found
    return found[1]


def tree() -> list[str]:
    """The paths of the README's tree, from the top."""
    paths, folder = [], ""
    for line in block("text", after="## What is where").splitlines():
        entry = re.fullmatch(r"(  )?(\S+)  +\S.*", line)
        assert entry, f"no path with a gloss: {line}"
        indented, name = entry.groups()
        paths.append(folder + name if indented else name)
        folder = folder if indented else name
    return paths


def test_every_path_of_the_tree_exists_and_is_there_once():
    assert [path for path in tree() if not (ROOT / path).exists()] == []
    assert len(tree()) == len(set(tree()))


@pytest.mark.parametrize("package", ["inference", "traceapp"])
def test_the_tree_has_every_module_and_folder_of_a_package(package):
    listing = subprocess.run(
        ["git", "ls-files", package], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    below = {Path(name).relative_to(package).parts for name in listing}
    entries = {f"{package}/{first}{'/' if rest else ''}" for first, *rest in below}
    assert entries - {f"{package}/__init__.py"} <= set(tree())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `manage.py serve`, once its embedded model is loaded."""
    with serving(tmp_path_factory.mktemp("data"), "--model", "smollm2-135m") as started:
        yield f"{started.url}/"


@pytest.mark.real_model
def test_the_curl_example_is_answered_as_shown(server):
    words = shlex.split(block("sh", after="## Use it from a program").replace("\\\n", " "))
    options = dict(zip(words[2::2], words[3::2], strict=True))
    name, _, value = options["-H"].partition(": ")
    answer = httpx.post(
        words[1].replace(ADDRESS, server), content=options["-d"], headers={name: value}, timeout=30
    )
    shown = json.loads(block("json", after="## Use it from a program"))
    assert words[0] == "curl"
    assert dict(leaves(answer.json())) == by_path(shown)


def by_path(value: Any) -> dict[str, Any]:
    """Everything that is in a JSON value, floats as far as another processor repeats them."""
    return {
        path: pytest.approx(leaf, abs=1e-4) if isinstance(leaf, float) else leaf
        for path, leaf in leaves(value)
    }


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that is in a JSON value but the times, which no two runs share."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(0 if name.endswith("_ms") else inner, f"{path}.{name}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{place}]")
    else:
        yield path, value


@pytest.mark.real_model
def test_the_python_example_prints_what_is_shown(server):
    code = block("python", after="## Use it from a program")
    assert ADDRESS in code
    run = subprocess.run(
        [sys.executable, "-c", code.replace(ADDRESS, server)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == block("text", after="## Use it from a program")
