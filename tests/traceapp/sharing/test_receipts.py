"""Receipts: what a browser does to a trace leaves them valid, and everything else does not."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from inference.errors import InvalidReceipt
from inference.limits import Limits
from inference.services import run_trace
from inference.traces import TraceRequest
from traceapp.sharing.receipts import read_receipt, receipt_for
from traceapp.wire.traces import TraceSoFar

# A NUL, markup, quotes, bidi overrides, an emoji that is cut into tokens, a line separator.
HOSTILE = "\0</script>'\"\u202e\u2066🦊\u2028=1+1"


@pytest.fixture
def traced(install):
    """Make a trace: its value, and how it is told."""

    async def make(**fields):
        asked: dict[str, Any] = {"prompt": HOSTILE, "max_new_tokens": 3} | fields
        trace = await run_trace(
            TraceRequest(**asked),
            runtime=install("fine"),
            limits=Limits(),
            arrived_at=time.monotonic(),
        )
        return trace, TraceSoFar.of(trace, with_analysis=True)

    return make


def through_a_browser(told):
    """What JSON.parse and JSON.stringify make of a trace: every number is a double."""

    def as_double(value):
        match value:
            case dict():
                return {name: as_double(each) for name, each in value.items()}
            case list():
                return [as_double(each) for each in value]
            case bool() | None | str():
                return value
            case _:
                number = float(value)
                return int(number) if number.is_integer() else number

    return TraceSoFar.model_validate(as_double(told.model_dump(mode="json")))


@pytest.mark.parametrize("seed", [None, 0, 7, 2**53 + 1, 2**63 - 1])
async def test_a_trace_that_went_through_a_browser_is_known_again_to_the_last_digit(traced, seed):
    trace, told = await traced(temperature=-0.0 if seed is None else 1.0, seed=seed)
    read, provenance = read_receipt(receipt_for(trace, told), through_a_browser(told))
    assert read == told
    assert read.decoding.seed == provenance.seed == seed
    assert read.prompt == HOSTILE


def changed(told, **fields):
    return told.model_copy(update=fields)


async def test_any_other_number_or_text_is_refused(traced):
    trace, told = await traced(temperature=1.0, seed=7)
    receipt = receipt_for(trace, told)
    first = told.steps[0]
    nearer = math.nextafter(first.selected_probability, 0)
    for forged in (
        changed(told, prompt="other"),
        changed(told, generated_text=""),
        changed(told, steps=told.steps[:-1]),
        changed(told, steps=[changed(first, selected_probability=nearer), *told.steps[1:]]),
        changed(told, steps=[changed(first, analysis=None), *told.steps[1:]]),
        changed(told, decoding=changed(told.decoding, seed=8)),
        changed(told, decoding=changed(told.decoding, seed=None)),
        changed(told, model=changed(told.model, alias="gpt")),
    ):
        with pytest.raises(InvalidReceipt):
            read_receipt(receipt, forged)


async def test_a_receipt_that_was_altered_or_made_up_is_refused(traced, settings):
    trace, told = await traced()
    receipt = receipt_for(trace, told)
    payload, _, signature = receipt.partition(".")
    for forged in ("", ".", "x.y", payload, f"{payload}A.{signature}", f"{receipt}A", "\0" * 9):
        with pytest.raises(InvalidReceipt):
            read_receipt(forged, told)
    settings.SECRET_KEY = "another server's key" * 5
    with pytest.raises(InvalidReceipt):
        read_receipt(receipt, told)


async def test_the_receipt_says_what_the_trace_does_not(traced):
    trace, told = await traced(top_k=2)
    _, provenance = read_receipt(receipt_for(trace, told), told)
    assert (provenance.max_new_tokens, provenance.top_k) == (3, 2)
    assert provenance.sha256 == trace.model.sha256
    assert provenance.versions.keys() == {"token_trace", "torch", "transformers"}
    assert provenance.vocabulary == len(trace.vocabulary.tokens)
    broken = [token for token in told.prompt_tokens if "\ufffd" in token.token]
    assert broken
    assert len(provenance.prompt_bytes) == len(broken)
    assert bytes.fromhex("".join(provenance.prompt_bytes)).decode() in HOSTILE


async def test_a_receipt_of_the_longest_prompt_fits_a_header(traced):
    trace, told = await traced(prompt="\U0001f98a" * 60)
    assert len(receipt_for(trace, told)) < 4096
