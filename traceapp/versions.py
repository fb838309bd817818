"""Which versions of the software run: what is needed to repeat a trace."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = {"token_trace": "token-trace", "torch": "torch", "transformers": "transformers"}


@cache
def versions() -> dict[str, str]:
    """The version of each package that a trace depends on; "unknown" where it is not installed."""
    return {name: _version(package) for name, package in PACKAGES.items()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # our own, in a checkout that was never installed
        return "unknown"
