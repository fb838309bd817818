"""Log lines never hold what a visitor typed."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
from django.conf import settings
from django.test import AsyncClient
from structlog.contextvars import bound_contextvars

from tests.fakes import scripted_engine
from traceapp.logs import DiscreetFormatter
from traceapp.request_ids import request_id_of

PROMPT = "my grandmother's name is"


@pytest.fixture
def logged():
    """A logger that writes as ours do, and what it wrote."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(DiscreetFormatter("{levelname} {name}: {message}", style="{"))
    # On its own: of one that it finds, pytest keeps what was logged, as text for other processes.
    logger = logging.Logger("test_logs")
    logger.addHandler(handler)
    yield logger, written
    logger.removeHandler(handler)


def fail(prompt):
    try:
        raise KeyError(prompt)
    except KeyError as error:
        raise ValueError(f"cannot read {prompt!r}") from error


def test_a_traceback_says_where_and_which_class_but_not_what(logged):
    logger, written = logged
    try:
        fail(PROMPT)
    except ValueError:
        logger.exception("it failed")
    text = written.getvalue()
    assert text.startswith("ERROR test_logs: it failed\\n")
    assert text.count("\n") == 1
    assert "in fail" in text
    assert text.rstrip().endswith("ValueError")
    assert PROMPT not in text


def test_a_line_without_an_exception_is_one_line(logged):
    logger, written = logged
    logger.warning("as it is", exc_info=(None, None, None))
    assert written.getvalue() == "WARNING test_logs: as it is\n"


def test_every_handler_of_ours_writes_so():
    logging_settings: dict[str, Any] = settings.LOGGING
    handlers = logging_settings["handlers"].values()
    assert handlers
    for handler in handlers:
        formatter = logging_settings["formatters"][handler["formatter"]]
        assert formatter["()"] == "traceapp.logs.DiscreetFormatter"


def test_django_has_no_handlers_of_its_own_beside_them():
    for name in ("django", "django.request", "django.security", "inference", "traceapp", "daphne"):
        logger = logging.getLogger(name)
        assert logger.handlers == []
        assert logger.propagate


def test_what_another_formatter_kept_of_an_exception_is_not_written(logged):
    logger, written = logged
    careless = logging.StreamHandler(io.StringIO())
    logger.handlers.insert(0, careless)
    try:
        fail(PROMPT)
    except ValueError:
        logger.exception("it failed")
    logger.removeHandler(careless)
    assert PROMPT in careless.stream.getvalue()
    assert PROMPT not in written.getvalue()


INJECTED = "a\nERROR forged: b\r\x1b[31m\x00\u2028\x85 \ud800 ü"


@pytest.mark.parametrize("as_json", [False, True])
def test_whatever_is_logged_a_record_is_one_line(logged, as_json):
    logger, written = logged
    logger.handlers[0].setFormatter(DiscreetFormatter(as_json=as_json))
    with bound_contextvars(request_id="r1"):
        logger.error("%s", INJECTED)
    (line,) = written.getvalue().splitlines()
    assert line.isprintable()
    assert "r1" in line
    if as_json:
        assert json.loads(line)["message"] == INJECTED
    else:
        assert "ü" in line


def test_a_record_as_json_has_its_fields_and_a_discreet_exception(logged):
    logger, written = logged
    logger.handlers[0].setFormatter(DiscreetFormatter(as_json=True))
    try:
        fail(PROMPT)
    except ValueError:
        logger.exception("it failed")
    record = json.loads(written.getvalue())
    assert record.keys() == {"time", "level", "logger", "message", "exception"}
    assert (record["level"], record["message"]) == ("ERROR", "it failed")
    assert record["exception"].endswith("ValueError")
    assert PROMPT not in written.getvalue()


# The id of a request


@pytest.mark.parametrize("sent", ["a", "A.b_c-9", "x" * 64])
def test_a_harmless_id_is_taken_from_the_caller(sent):
    assert request_id_of(sent) == sent


@pytest.mark.parametrize("sent", [None, "", "x" * 65, "a b", "a\nb", "<b>", "ü", "a;b", "a\n"])
def test_any_other_is_replaced_by_a_fresh_one(sent):
    first, second = request_id_of(sent), request_id_of(sent)
    assert first != second
    assert sent != first
    assert len(first) == 32


@pytest.mark.parametrize("path", ["/health", "/v1/nothing", "/", "/v1/models"])
async def test_every_answer_has_an_id_and_a_line_without_the_path(unlimited, path, caplog):
    caplog.set_level("INFO")
    answer = await AsyncClient().get(f"{path}?q={PROMPT}", headers={"X-Request-ID": "r-1"})
    assert answer["X-Request-ID"] == "r-1"
    (line,) = [each.getMessage() for each in caplog.records if each.name == "traceapp.access"]
    method, route, status, _, _ = line.split()
    assert (method, status) == ("GET", str(answer.status_code))
    assert route == ("-" if "nothing" in path else path)
    assert "grandmother" not in line


async def test_a_route_is_logged_as_its_pattern(unlimited, install, caplog):
    install("ab")
    caplog.set_level("INFO")
    await AsyncClient().get("/v1/models/my-secret-name")
    assert "/v1/models/<model_id> 404" in caplog.text
    assert "my-secret-name" not in caplog.text


async def test_a_stream_is_logged_once_it_has_ended(api, install, caplog):
    install("ab")
    caplog.set_level("INFO")
    answer = await AsyncClient().post(
        "/v1/completions",
        json.dumps({"prompt": "a", "max_tokens": 2, "stream": True}),
        "application/json",
    )
    assert "traceapp.access" not in {record.name for record in caplog.records}
    stream: Any = answer
    assert [part async for part in stream][-1] == b"data: [DONE]\n\n"
    assert "POST /v1/completions 200" in caplog.text


async def test_what_the_models_thread_logs_of_a_request_has_its_id(unlimited, install):
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(DiscreetFormatter("{message}", style="{"))
    logging.getLogger("inference.turns").addHandler(handler)
    install(scripted_engine(lambda place: RuntimeError(PROMPT)))
    answer = await AsyncClient().post(
        "/v1/traces",
        json.dumps({"prompt": "a"}),
        "application/json",
        headers={"X-Request-ID": "r7"},
    )
    logging.getLogger("inference.turns").removeHandler(handler)
    assert answer.status_code == 500
    assert written.getvalue() == "a request failed in the model: RuntimeError request_id=r7\n"
