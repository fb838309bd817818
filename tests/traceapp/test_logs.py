"""Log lines never hold what a visitor typed."""

from __future__ import annotations

import io
import logging

import pytest
from django.conf import settings

from traceapp.logs import DiscreetFormatter

PROMPT = "my grandmother's name is"


@pytest.fixture
def logged():
    """A logger that writes as ours do, and what it wrote."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(DiscreetFormatter("{levelname} {name}: {message}", style="{"))
    logger = logging.getLogger("test_logs")
    logger.propagate = False
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
    assert text.startswith("ERROR test_logs: it failed\n")
    assert "in fail" in text
    assert text.rstrip().endswith("ValueError")
    assert PROMPT not in text


def test_a_line_without_an_exception_is_one_line(logged):
    logger, written = logged
    logger.warning("as it is", exc_info=(None, None, None))
    assert written.getvalue() == "WARNING test_logs: as it is\n"


def test_every_handler_of_ours_writes_so():
    handlers = settings.LOGGING["handlers"].values()
    formatters = settings.LOGGING["formatters"]
    assert handlers
    for handler in handlers:
        assert formatters[handler["formatter"]]["()"] == "traceapp.logs.DiscreetFormatter"


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
