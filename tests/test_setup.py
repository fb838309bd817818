"""What a newcomer's first two commands rest on: make, the pins, and a tree fit for any machine."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

CLIENTS = ROOT / "tests" / "clients"


def pins_in(file: Path) -> dict[str, Version]:
    found = re.findall(r"^([\w.-]+)==(\S+)$", file.read_text(), re.M)
    return {canonicalize_name(name): Version(version) for name, version in found}


PINS = pins_in(ROOT / "constraints.txt")
CLIENT_PINS = pins_in(CLIENTS / "constraints.txt")

REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
]

# Folders that only one machine or one account has.
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|root|Users|work|opt|mnt)/\w[\w.-]*")


def committed_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name]


def text_of(file: Path) -> str:
    content = file.read_bytes()
    return "" if b"\0" in content else content.decode(errors="replace")


def test_every_make_target_is_listed_with_a_description():
    phony = {
        name for line in re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.M) for name in line.split()
    }
    described = set(re.findall(r"^([a-z-]+):.*? ## \S", MAKEFILE, re.M))
    assert phony == described
    assert {"serve", "test"} <= described


def test_make_alone_lists_the_targets():
    listing = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for target in re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.M):
        assert re.search(rf"^  make {target} +\S", listing, re.M)


@pytest.mark.parametrize("line", REQUIREMENTS)
def test_the_pin_satisfies_what_the_project_asks_for(line):
    requirement = Requirement(line)
    if requirement.name == PROJECT["name"]:  # an extra that contains others
        assert requirement.extras <= PROJECT["optional-dependencies"].keys()
    else:
        assert PINS[canonicalize_name(requirement.name)] in requirement.specifier


def test_no_pin_names_one_machines_build():
    pins = [*PINS.items(), *CLIENT_PINS.items()]
    assert [name for name, version in pins if version.local] == []


def test_every_client_that_is_wanted_has_a_pin():
    lines = (CLIENTS / "requirements.txt").read_text().splitlines()
    wanted = [line.partition("#")[0].strip() for line in lines]
    names = {canonicalize_name(Requirement(line).name) for line in wanted if line}
    assert len(names) > 5
    assert names <= CLIENT_PINS.keys()


def test_the_engine_is_one_version_to_server_and_clients():
    """Or their probabilities could differ for a reason that is not ours."""
    for name in ("torch", "transformers", "tokenizers"):
        assert CLIENT_PINS[canonicalize_name(name)] == PINS[canonicalize_name(name)]


def test_no_committed_file_names_a_path_of_one_machine():
    found = {
        str(file.relative_to(ROOT)): paths
        for file in committed_files()
        if file != Path(__file__) and (paths := MACHINE_PATH.findall(text_of(file)))
    }
    assert found == {}


@pytest.mark.parametrize("path", ["/home/ada/token-trace", "/mnt/disk/x", "see /Users/ada/x.py"])
def test_a_path_of_one_machine_is_seen(path):
    assert MACHINE_PATH.search(path)


@pytest.mark.parametrize("path", ["https://host.example/home/page", "templates/home/a", "~/mnt/x"])
def test_an_address_or_a_relative_path_is_not(path):
    assert not MACHINE_PATH.search(path)
