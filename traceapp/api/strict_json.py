"""
JSON in and out to the letter: what the standard leaves to the reader is refused.

Duplicate keys, NaN and Infinity, nesting beyond the parser's depth, half of a surrogate pair and
bytes that are not UTF-8 are errors on the way in; on the way out, a number that is not finite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser
from ninja.renderers import JSONRenderer

ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class StrictParser(Parser):
    def parse_body(self, request: HttpRequest) -> Any:
        return loads(request.body)


class StrictRenderer(JSONRenderer):
    json_dumps_params: Mapping[str, Any] = {"allow_nan": False, "ensure_ascii": False}


class NotStrictJson(ValueError):
    """A body that is not JSON to the letter; the message quotes none of it."""


def loads(body: bytes) -> Any:
    """The value of a JSON text. Raises NotStrictJson."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"not UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        if ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError as error:
        raise NotStrictJson(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except NotStrictJson:
        raise
    except UnicodeEncodeError:
        raise NotStrictJson("half of a surrogate pair stands alone") from None
    except ValueError:  # Python's own bound on the digits of an integer
        raise NotStrictJson("a number has too many digits") from None
    except RecursionError:
        raise NotStrictJson("nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not a number in JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotStrictJson("a key stands twice in one object")
    return found
