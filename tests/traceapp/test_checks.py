"""What is found before a server serves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import OperationalError

from tests.commands import manage
from traceapp import checks
from traceapp.checks import before_serving, is_loopback

pytestmark = pytest.mark.django_db


def ids():
    return [message.id for message in before_serving()]


@pytest.fixture(autouse=True)
def well(environment, settings, tmp_path):
    """A server with nothing to find."""
    environment(data_dir=tmp_path, weights_dir_override=None, embed_sites=(), redis_url=None)
    settings.STATIC_ROOT = tmp_path
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    (tmp_path / "staticfiles.json").touch()


def test_where_all_is_well_nothing_is_found():
    assert ids() == []


def test_a_folder_that_cannot_be_written_is_found(environment, tmp_path):
    file = tmp_path / "file"
    file.touch()
    environment(weights_dir_override=file / "weights")
    assert ids() == ["traceapp.W002"]
    environment(weights_dir_override=tmp_path / "not" / "yet" / "there")
    assert ids() == []
    environment(data_dir=file / "data")
    assert ids() == ["traceapp.E001"]
    environment(database_url="postgres://a", secret_key="x" * 50)  # nothing is kept there
    assert ids() == []


@pytest.mark.parametrize("host", ["example.org", "0.0.0.0", "192.0.2.1", "[2001:db8::1]", "*"])
def test_debug_pages_are_for_this_machine_alone(settings, host):
    settings.ALLOWED_HOSTS = ["localhost", host]
    assert ids() == []
    settings.DEBUG = True
    (found,) = before_serving()
    assert (found.id, found.msg) == ("traceapp.E002", f"debug pages would be open to {host}")


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_this_machine_has_many_names(host):
    assert is_loopback(host)


def test_a_short_signing_key_is_found(settings):
    settings.SECRET_KEY = "x" * 49
    assert ids() == ["traceapp.E003"]


def test_a_pattern_of_a_shared_name_is_warned_of(environment):
    environment(embed_sites=("https://*.github.io:8443", "https://*.school.example"))
    (found,) = before_serving()
    assert found.id == "traceapp.W001"
    assert not found.is_serious()


def test_a_database_that_does_not_answer_is_found_without_what_its_url_holds(monkeypatch):
    def fails(connection):
        raise OperationalError("password=secret")

    monkeypatch.setattr(checks, "MigrationExecutor", fails)
    (found,) = before_serving()
    assert found.id == "traceapp.E004"
    assert "secret" not in f"{found.msg} {found.hint}"


def test_static_files_that_are_not_collected_are_found(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "elsewhere"
    assert ids() == ["traceapp.E006"]


def test_a_redis_that_does_not_answer_is_found(environment):
    environment(redis_url="redis://127.0.0.1:1/0")
    assert ids() == ["traceapp.E007"]


def test_a_server_does_not_begin_where_an_error_is_found(tmp_path):
    run = manage(
        "serve", TRACEAPP_DATA_DIR=str(tmp_path), DEBUG="1", TRACEAPP_ALLOWED_HOSTS="a.example"
    )
    assert run.returncode == 1
    assert re.search(r"traceapp\.E002: debug pages would be open to a\.example\. Unset", run.stderr)
    assert "traceapp.E005" in run.stderr
    assert "Traceback" not in run.stderr


def test_every_check_has_a_row_in_the_docs():
    named = set(re.findall(r"traceapp\.[EW]\d{3}", Path(checks.__file__).read_text()))
    docs = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
    assert set(re.findall(r"^\| `(traceapp\.[EW]\d{3})` \|", docs, re.M)) == named
