"""Which versions a trace says that it was made with."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError

import pytest

from traceapp import versions as module


def test_each_package_has_its_version():
    assert module.versions().keys() == {"token_trace", "torch", "transformers"}
    assert all(re.match(r"\d+\.\d+", version) for version in module.versions().values())


@pytest.fixture
def never_installed(monkeypatch):
    def version(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(module, "version", version)


def test_a_checkout_that_was_never_installed_has_the_version_of_its_source(never_installed):
    assert re.fullmatch(r"\d+\.\d+\.\d+, not installed", module._version("token-trace"))


def test_a_copy_without_its_project_file_says_so(never_installed, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "PROJECT", tmp_path / "pyproject.toml")
    assert module._version("token-trace") == "of no version, not installed"
