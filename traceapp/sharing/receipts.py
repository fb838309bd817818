"""
Receipts: by which the server knows a trace again that it made itself.

A visitor shares a trace by sending it back, and nobody may store invented numbers. So the server
signs what it answers, together with what the trace does not say of itself. It keeps nothing: the
receipt travels with the trace.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

from django.core.signing import BadSignature, Signer

from inference.errors import InvalidReceipt
from inference.traces import Trace
from traceapp.versions import versions
from traceapp.wire.sharing import Provenance
from traceapp.wire.traces import TraceSoFar

SEPARATOR = "."


def receipt_for(trace: Trace, told: TraceSoFar) -> str:
    """The receipt of a trace as it is told to its client, who can read it and not forge it."""
    provenance = Provenance.of(
        trace, made_at=datetime.now(UTC).replace(microsecond=0), versions=versions()
    )
    payload = urlsafe_b64encode(provenance.model_dump_json().encode()).decode()
    return f"{payload}{SEPARATOR}{_signer().signature(_signed_text(payload, told))}"


def read_receipt(receipt: str, told: TraceSoFar) -> tuple[TraceSoFar, Provenance]:
    """The trace to the last digit, and its provenance.

    Raises InvalidReceipt where this server did not make exactly this trace.
    """
    payload, _, signature = receipt.partition(SEPARATOR)
    try:
        _signer().unsign(f"{_signed_text(payload, told)}{SEPARATOR}{signature}")
    except BadSignature:
        raise InvalidReceipt(
            "receipt: this server did not make exactly this trace", param="receipt"
        ) from None
    provenance = Provenance.model_validate_json(urlsafe_b64decode(payload))
    seed = provenance.seed
    # A browser gives back the seed as the nearest number that it has.
    if told.decoding.seed != seed and not _is_nearest(told.decoding.seed, seed):
        raise InvalidReceipt("receipt: the trace has another seed", param="receipt")
    decoding = told.decoding.model_copy(update={"seed": seed})
    return told.model_copy(update={"decoding": decoding}), provenance


def _signer() -> Signer:
    return Signer(salt="traceapp.sharing.receipts", sep=SEPARATOR)


def _signed_text(payload: str, told: TraceSoFar) -> str:
    """Provenance and trace as one text, the same before and after a browser has read them."""
    value = told.model_dump(mode="json", exclude={"decoding": {"seed"}})
    trace = json.dumps(_without_minus(value), sort_keys=True, separators=(",", ":"))
    return f"{payload}{SEPARATOR}{trace}"


def _without_minus(value: Any) -> Any:
    """With 0 for -0, which a browser writes so."""
    match value:
        case dict():
            return {name: _without_minus(each) for name, each in value.items()}
        case list():
            return [_without_minus(each) for each in value]
        case float():
            return value + 0.0
        case _:
            return value


def _is_nearest(given: int | None, seed: int | None) -> bool:
    return given is not None and seed is not None and float(given) == float(seed)
