"""The pages against the code: every table complete, every name real."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from platformdirs import user_data_path
from pydantic import BaseModel

from inference.catalogue import MODELS
from inference.errors import TraceError
from inference.limits import Limits
from traceapp.api.errors import STATUS
from traceapp.env import Environment
from traceapp.wire.models import ModelEntry
from traceapp.wire.openai.chat import ChatBody
from traceapp.wire.openai.completions import CompletionBody
from traceapp.wire.openai.generation import IGNORED, GenerationBody
from traceapp.wire.traces import Analysis, TraceAnswer, TraceBody, TraceStep

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
MAKEFILE = (ROOT / "Makefile").read_text()
SOURCES = "\n".join(
    file.read_text() for name in ("inference", "traceapp") for file in (ROOT / name).rglob("*.py")
)

# What these variables are set to where nobody sets them depends on the machine.
IN_WORDS = {"TRACEAPP_DATA_DIR": "the user data folder", "TRACEAPP_THREADS": "one a processor"}

Row = list[str]


def page(name: str) -> str:
    return (ROOT / name).read_text()


def table(text: str, first_heading: str, *, after: str = "") -> list[Row]:
    """The rows below the head of the first table whose first column is headed so."""
    lines = text.partition(after)[2].splitlines() if after else text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(cell: str) -> list[str]:
    """What a cell has in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def column(rows: list[Row], *places: int) -> list[Row]:
    return [[row[place].strip("`") for place in places] for row in rows]


def as_text(default: object) -> str:
    """A default as the tables write it."""
    if default is None:
        return "unset"
    if isinstance(default, tuple):
        return ",".join(default) or "empty"
    return str(default).lower().removesuffix(".0")


def default_of(name: str, default: object) -> str:
    return IN_WORDS.get(name) or as_text(default)


def variable(name: str) -> str:
    alias = Environment.model_fields[name].validation_alias
    return str(alias or f"TRACEAPP_{name.upper()}")


# --- Tables --------------------------------------------------------------------------------------


def test_the_settings_are_those_of_the_environment_in_its_order():
    expected = [
        [variable(name), default_of(variable(name), field.default)]
        for name, field in Environment.model_fields.items()
    ]
    assert column(table(page("docs/settings.md"), "variable"), 0, 1) == expected


def test_the_defaults_that_are_written_in_words_are_what_the_words_say():
    assert Environment.model_fields["data_dir"].default == user_data_path("token-trace")
    assert Environment.model_fields["threads"].default == os.cpu_count()


def test_the_admins_row_is_listed_with_the_variables_that_it_replaces():
    expected = [
        [
            field.name,
            as_text(field.default),
            variable(field.name) if field.name in Environment.model_fields else "none",
        ]
        for field in fields(Limits)
    ]
    assert column(table(page("docs/settings.md"), "field"), 0, 1, 2) == expected


def test_the_variables_of_make_are_listed():
    expected = [
        [name, default or "unset"]
        for name, default in re.findall(r"^([A-Z]+) *\?= *(\S*)$", MAKEFILE, re.M)
    ]
    rows = table(page("docs/settings.md"), "variable", after="## Variables of make")
    assert sorted(column(rows, 0, 1)) == sorted(expected)


def concrete_errors(base: type[TraceError] = TraceError) -> Iterator[type[TraceError]]:
    for error in base.__subclasses__():
        if hasattr(error, "code"):
            yield error
        yield from concrete_errors(error)


def test_every_error_has_a_row_with_its_status():
    errors = set(concrete_errors())  # one has two bases
    expected = [[error.code, str(STATUS[error])] for error in errors]
    assert sorted(column(table(page("docs/errors.md"), "code"), 0, 1)) == sorted(expected)


def test_the_catalogue_is_listed():
    expected = [[model.alias, model.repository, model.licence] for model in MODELS]
    assert column(table(page("docs/models.md"), "alias"), 0, 1, 2) == expected


def test_the_embedded_models_package_and_file_are_named():
    wheels = [model.wheel for model in MODELS if model.wheel]
    assert wheels
    for wheel in wheels:
        assert {wheel.requirement, Path(wheel.member).name} <= set(names(page("docs/models.md")))


def test_the_fields_of_a_trace_request_are_listed_with_their_defaults():
    written = {"required": None, "the served model": ""}
    rows = column(table(page("docs/api.md"), "field", after="### Request"), 0, 3)
    expected = [
        [
            name,
            None if field.is_required() else as_text(field.get_default(call_default_factory=True)),
        ]
        for name, field in TraceBody.model_fields.items()
    ]
    as_code = [[name, written.get(text, text.replace("null", "unset"))] for name, text in rows]
    assert as_code == expected


@pytest.mark.parametrize(
    ("shape", "heading", "elsewhere"),
    [
        (ModelEntry, "## GET /v1/models", set()),
        (TraceAnswer, "### Answer", set()),
        (TraceStep, "Each step:", {"analysis"}),
        (Analysis, "### Analysis", set()),
    ],
)
def test_the_fields_of_an_answer_are_listed(
    shape: type[BaseModel], heading: str, elsewhere: set[str]
):
    rows = table(page("docs/api.md"), "field", after=f"\n{heading}\n")
    listed = [name for row in rows for name in names(row[0])]
    assert sorted(listed) == sorted(shape.model_fields.keys() - elsewhere)


@pytest.mark.parametrize(
    ("heading", "fields", "refused", "ignored"),
    [
        ("Fields of both", GenerationBody.model_fields.keys(), set(), set(IGNORED)),
        *(
            (
                f"Fields of {path}",
                body.model_fields.keys() - GenerationBody.model_fields.keys(),
                body.REFUSED.keys(),
                set(),
            )
            for path, body in (
                ("/v1/completions", CompletionBody),
                ("/v1/chat/completions", ChatBody),
            )
        ),
    ],
)
def test_every_field_of_the_openai_endpoints_has_its_standing(heading, fields, refused, ignored):
    rows = table(page("docs/api.md"), "field", after=f"\n### {heading}\n")
    standings = {name: row[1] for row in rows for name in names(row[0])}
    expected = dict.fromkeys(fields, "honoured")
    expected |= dict.fromkeys(refused, "refused") | dict.fromkeys(ignored, "ignored")
    assert standings == expected


def test_an_ignored_field_is_read_by_nobody():
    assert not set(IGNORED) & (CompletionBody.model_fields.keys() | ChatBody.model_fields.keys())


# --- Commands and targets ------------------------------------------------------------------------

OWN_COMMANDS = sorted(
    name for name, app in get_commands().items() if app in {"inference", "traceapp"}
)


@pytest.mark.parametrize("name", OWN_COMMANDS)
def test_every_command_is_documented_with_its_options_and_defaults(name):
    section = re.split(r"^## ", page("docs/commands.md").partition(f"\n## {name}\n")[2], flags=re.M)
    rows = column(table(section[0], "option"), 0, 1)
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    options = {
        action.option_strings[0]: action.default
        for action in parser._actions
        if action.option_strings and not set(action.option_strings) & DjangoHelpFormatter.show_last
        if action.dest != "help"
    }
    written = {"off": False, "TRACEAPP_MODEL": Environment().model, "unset": None}
    assert [option for option, _ in rows] == list(options)
    for option, text in rows:
        assert written.get(text, text) in {options[option], str(options[option])}


def test_the_commands_are_found():
    assert {"serve", "trace", "fetch_model"} <= set(OWN_COMMANDS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_and_target_that_a_page_names_exists(path):
    text = path.read_text()
    commands = set(re.findall(r"manage\.py ([a-z]\w*)", text))
    assert commands <= get_commands().keys()
    targets = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M))
    assert targets <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))


def test_the_readme_names_the_two_commands():
    assert {"serve", "test"} <= set(re.findall(r"^make (\w+)", page("README.md"), re.M))


# --- Links, paths and names ----------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_relative_link_leads_to_a_file(path):
    links = re.findall(r"\]\(([^)#]+)\)", path.read_text())
    missing = [link for link in links if "://" not in link and not (path.parent / link).is_file()]
    assert missing == []


def test_the_index_lists_every_page():
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", page("docs/index.md")))
    assert linked == {path.name for path in DOCS} - {"index.md"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_path_of_the_project_that_a_page_names_exists(path):
    tops = "inference|traceapp|tests|templates|static|docs"
    named = re.findall(rf"`((?:{tops})/[\w./-]*)`", path.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_how_it_works_names_only_what_the_code_has():
    named = re.findall(r"`([A-Za-z_]\w*(?:\.\w+)?)(?:\(\))?`", page("docs/how-it-works.md"))
    parts = {part for name in named for part in name.split(".")}
    assert len(parts) > 30
    assert [part for part in sorted(parts) if not re.search(rf"\b{part}\b", SOURCES)] == []


# --- Security ------------------------------------------------------------------------------------


def test_every_test_that_the_page_on_security_names_exists():
    tests = {
        f"{file.stem}::{name}"
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    named = re.findall(r"`(test_\w+::\w+)`", page("docs/security.md"))
    assert set(named) <= tests, set(named) - tests


def test_every_threat_has_a_test():
    rows = table(page("docs/security.md"), "kind") + table(page("docs/security.md"), "threat")
    assert [row[0] for row in rows if not names(row[-1])] == []


def test_every_kind_of_advisory_has_its_row():
    numbers = [row[0].partition(".")[0] for row in table(page("docs/security.md"), "kind")]
    assert numbers == [str(number) for number in range(1, 35)]


def test_the_linter_looks_for_holes_everywhere_but_in_tests():
    lint = tomllib.loads(page("pyproject.toml"))["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert not any(rule.startswith("S1") for rule in lint["ignore"])
    quiet = {path for path, rules in lint["per-file-ignores"].items() if "S" in rules}
    assert all(path.startswith("tests/") for path in quiet)
