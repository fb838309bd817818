"""The settings that the environment gives, in processes of their own: they are read only once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.commands import manage
from traceapp.env import Environment

WRONG = {
    "TRACEAPP_THREADS": ["0", "-1", "two", "1.5"],
    "TRACEAPP_PROXIES": ["-1", "one", "0.5"],
    "TRACEAPP_RATE_PER_MINUTE": ["-1", "many", "1.5"],
    "TRACEAPP_MAX_WAITING": ["-1", "many"],
    "TRACEAPP_DEADLINE_SECONDS": ["0", "-1", "3601", "nan", "inf", "soon"],
    "TRACEAPP_LOG_FORMAT": ["JSON ", "text"],
    "TRACEAPP_STOP_SECONDS": ["-1", "3601", "soon"],
    "TRACEAPP_ALLOWED_ORIGINS": ["blog.example", "https://a.example,https://b.example/page", "*"],
    "TRACEAPP_EMBED_SITES": ["*", "https://*", "https://*.com", "https://a.example/page"],
    "SECRET_KEY": ["too-short"],
    "TRACEAPP_HTTPS": ["maybe", "2"],
    "DEBUG": ["maybe", "2"],
}


@pytest.fixture
def given(monkeypatch):
    """The settings under an environment that holds these variables and none of ours besides."""

    def read(**variables: str) -> Environment:
        for name in (*WRONG, "TRACEAPP_DATA_DIR", "TRACEAPP_WEIGHTS_DIR", "DATABASE_URL"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Environment()

    return read


def test_with_nothing_set_everything_has_its_default(given):
    env = given()
    assert (env.model, env.model_path, env.database_url, env.redis_url) == (None,) * 4
    assert (env.rate_per_minute, env.max_waiting, env.deadline_seconds) == (60, 32, 30.0)
    assert (env.proxies, env.debug, env.allowed_origins, env.embed_sites) == (0, False, (), ())
    assert env.allowed_hosts == ("localhost", "127.0.0.1", "[::1]")
    assert env.threads >= 1
    assert env.weights_dir == env.data_dir / "weights"


def test_what_is_empty_counts_as_not_set(given):
    assert given(TRACEAPP_MODEL="", TRACEAPP_THREADS="", DEBUG="") == given()


def test_values_are_parsed_as_what_they_are(given):
    env = given(
        TRACEAPP_MODEL="qwen3-0.6b",
        TRACEAPP_MODEL_PATH="models/mine.gguf",
        TRACEAPP_DATA_DIR="/tmp/traces",
        TRACEAPP_THREADS="2",
        TRACEAPP_RATE_PER_MINUTE="0",
        TRACEAPP_DEADLINE_SECONDS="2.5",
        TRACEAPP_ALLOWED_ORIGINS="https://a.example, https://b.example,",
        DEBUG="yes",
    )
    assert (env.model, env.model_path) == ("qwen3-0.6b", Path("models/mine.gguf"))
    assert env.weights_dir == Path("/tmp/traces/weights")
    assert (env.threads, env.rate_per_minute, env.deadline_seconds) == (2, 0, 2.5)
    assert env.allowed_origins == ("https://a.example", "https://b.example")
    assert env.debug is True


def test_https_without_a_proxy_would_send_everybody_in_circles(given):
    assert given(TRACEAPP_HTTPS="true", TRACEAPP_PROXIES="1").https
    with pytest.raises(ValidationError, match="TRACEAPP_HTTPS needs TRACEAPP_PROXIES"):
        given(TRACEAPP_HTTPS="true")


def test_a_fault_of_two_variables_together_stops_every_command_too(tmp_path):
    ended = manage("check", TRACEAPP_HTTPS="true", TRACEAPP_DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert "ImproperlyConfigured: Value error, TRACEAPP_HTTPS needs" in ended.stderr


def test_weights_may_lie_apart(given):
    env = given(TRACEAPP_DATA_DIR="/tmp/traces", TRACEAPP_WEIGHTS_DIR="/tmp/weights")
    assert env.weights_dir == Path("/tmp/weights")


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_refused_under_the_name_of_its_variable(given, name, value):
    with pytest.raises(ValidationError) as refused:
        given(**{name: value})
    (error,) = refused.value.errors()
    assert Environment.variable(str(error["loc"][0])) == name


def test_every_setting_has_a_variable_of_its_own_and_says_what_it_is_for():
    variables = {Environment.variable(name) for name in Environment.model_fields}
    assert len(variables) == len(Environment.model_fields)
    assert variables >= set(WRONG)
    assert all(field.description for field in Environment.model_fields.values())


def test_a_wrong_value_stops_every_command_with_all_their_names_and_no_traceback_of_ours(tmp_path):
    run = manage(
        "check",
        TRACEAPP_DATA_DIR=str(tmp_path),
        TRACEAPP_THREADS="two",
        TRACEAPP_RATE_PER_MINUTE="-1",
        SECRET_KEY="too-short",
    )
    assert run.returncode != 0
    (last,) = run.stderr.strip().splitlines()[-1:]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured: ")
    for said in ("TRACEAPP_THREADS: ", "TRACEAPP_RATE_PER_MINUTE: ", "SECRET_KEY: "):
        assert said in last
    assert "too-short" not in run.stderr
