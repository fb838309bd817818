"""Who may import whom. The rules are the tables; what a name stands for is in docs/."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A folder or file, and what nothing in it may import: these names and all that lies below them.
FORBIDDEN = {
    "inference/errors.py": {
        *("django", "ninja", "channels", "pydantic", "torch", "transformers"),
        *("inference", "traceapp"),
    },
    "inference/catalogue.py": {"django", "torch", "transformers", "traceapp"},
    "inference/engine": {
        *("django", "ninja", "channels", "pydantic", "asyncio", "concurrent", "traceapp"),
        *("inference.limits", "inference.models", "inference.runtime", "inference.services"),
        "inference.weights",
    },
    "inference/weights": {
        *("ninja", "channels", "traceapp"),
        *("inference.limits", "inference.models", "inference.runtime", "inference.services"),
    },
    "inference": {"ninja", "channels", "daphne", "pydantic", "traceapp"},
    "traceapp": {"torch", "transformers"},
    "traceapp/wire": {
        *("django", "ninja", "channels", "traceapp.api"),
        *("inference.models", "inference.runtime", "inference.services", "inference.weights"),
    },
}

# Everything that may touch transformers, and what each takes from it.
TRANSFORMERS = {
    "inference/engine/loading.py": {
        *("AutoModelForCausalLM", "AutoTokenizer", "DynamicCache", "GenerationConfig"),
    },
    "inference/weights/conversion.py": {"AutoConfig", "AutoModelForCausalLM", "AutoTokenizer"},
}


# Everything that may touch torch, which takes 200 MB and a second: a server whose model the kernels
# run needs none of these.
TORCH = {
    "inference/engine/loading.py",
    "inference/engine/transformers_decoder.py",
    "inference/profiling.py",
    "inference/weights/conversion.py",
}


def imports(source: str) -> set[str]:
    """The full names that a module's source imports, at its top or inside a function."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names |= {f"{module}.{alias.name}" for alias in node.names}
            case ast.Call(func=ast.Name("import_module") | ast.Attribute(attr="import_module")):
                names |= {
                    str(argument.value)
                    for argument in node.args[:1]
                    if isinstance(argument, ast.Constant)
                }
    return names


def below(name: str, parents: set[str]) -> bool:
    return any(f"{name}.".startswith(f"{parent}.") for parent in parents)


def modules(place: str) -> list[Path]:
    path = ROOT / place
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("place", FORBIDDEN)
def test_imports_keep_to_their_side(place):
    assert modules(place)
    broken = {
        f"{file.relative_to(ROOT)} imports {name}"
        for file in modules(place)
        for name in imports(file.read_text())
        if below(name, FORBIDDEN[place])
    }
    assert broken == set()


def test_transformers_is_imported_only_where_models_are_read():
    found = {
        str(file.relative_to(ROOT)): {name.removeprefix("transformers.") for name in names}
        for place in ("inference", "traceapp")
        for file in modules(place)
        if (names := {n for n in imports(file.read_text()) if below(n, {"transformers"})})
    }
    assert found == TRANSFORMERS


def test_torch_is_imported_only_where_it_is_what_runs():
    found = {
        str(file.relative_to(ROOT))
        for file in modules("inference")
        if any(below(name, {"torch"}) for name in imports(file.read_text()))
    }
    assert found == TORCH


@pytest.mark.parametrize("place", ["inference", "traceapp"])
def test_every_module_with_code_postpones_its_annotations(place):
    careless = [
        str(file.relative_to(ROOT))
        for file in modules(place)
        if "migrations" not in file.parts and file.read_text().strip()
        if "__future__.annotations" not in imports(file.read_text())
    ]
    assert careless == []


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "import torch.nn.functional as F",
        "from torch import Tensor",
        "from torch.nn import Module",
        "def load():\n    import torch",
        "import importlib\nimportlib.import_module('torch.nn')",
    ],
)
def test_an_import_is_seen_however_it_is_written(source):
    assert any(below(name, {"torch"}) for name in imports(source))


def test_a_name_that_only_begins_alike_is_another_name():
    assert not below("torchvision.ops", {"torch"})


def test_a_command_that_does_not_serve_loads_neither_torch_nor_a_model():
    source = """
import django, sys
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
sys.exit("torch" in sys.modules or "transformers" in sys.modules or "traceapp.asgi" in sys.modules)
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "traceapp.settings"}
    ended = subprocess.run([sys.executable, "-c", source], cwd=ROOT, env=environment)
    assert ended.returncode == 0


# Imports each module of a list by itself, after the settings are read; prints what goes wrong.
IMPORT_EACH = """
import importlib, os, sys, django
django.setup()
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(name, type(error).__name__, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_module_of_the_site_can_be_the_first_that_is_imported():
    """Django imports them in the order of the settings, and each server in its own."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((ROOT / "traceapp").rglob("*.py"))
        if not {"migrations", "management"} & set(path.parts) and path.name != "asgi.py"
    ]
    assert "traceapp.middleware.direct" in names
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_EACH, *names],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "traceapp.settings"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout == ""
