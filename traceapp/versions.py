"""Which versions of the software run: what is needed to repeat a trace."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = {"token_trace": "token-trace", "torch": "torch", "transformers": "transformers"}
PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


@cache
def versions() -> dict[str, str]:
    """The version of each package that a trace depends on."""
    return {name: _version(package) for name, package in PACKAGES.items()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # our own, in a checkout that was never installed
        return f"{_source_version(PROJECT)}, not installed"


def _source_version(project: Path) -> str:
    """What the source says of itself; "of no version" where there is no pyproject.toml."""
    try:
        return str(tomllib.loads(project.read_text())["project"]["version"])
    except OSError:
        return "of no version"
