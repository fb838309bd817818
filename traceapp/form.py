"""
The form of the first page: what a person typed, and what is wrong with it.

A form gives strings. They become numbers here and are then judged by `TraceBody`, the same
shape that judges the JSON body of `/v1/traces`, so that both take and refuse the same values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from inference.limits import Limits
from inference.traces import TraceRequest
from traceapp.wire.traces import TraceBody

INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
NUMBER = re.compile(r"[+-]?([0-9]{1,20}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field as typed. `must` completes the sentence "… must be …"."""

    name: str
    label: str
    help: str
    must: str
    typed: str
    kind: str  # "prompt", "integer" or "number"
    minimum: int | None = None
    maximum: int | None = None
    error: str = ""

    def value(self) -> object:
        """What was typed, as the type that it looks like; TraceBody refuses the wrong ones."""
        if self.kind == "prompt":
            return self.typed
        text = self.typed.strip()
        if not text and self.name == "seed":
            return None
        if INTEGER.fullmatch(text):
            return int(text)
        return float(text) if NUMBER.fullmatch(text) else text

    def refusal(self) -> str:
        """Why TraceBody did not take this field, for the person who typed it."""
        return f"{self.label} must be {self.must}; this is {self._seen()}."

    def _seen(self) -> str:
        if not self.typed:
            return "empty"
        if self.kind == "prompt":
            return f"{len(self.typed):,} characters long"
        return f"“{self.typed[:40]}”"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceForm:
    prompt: Field
    settings: tuple[Field, ...]

    @classmethod
    def of(cls, typed: Mapping[str, str], limits: Limits) -> TraceForm:
        """The form with what was typed; a field that is absent has its default."""
        prompt, *settings = (
            replace(field, typed=typed.get(field.name, field.typed)) for field in _blank(limits)
        )
        # A browser sends each newline of a text area as CR LF.
        prompt = replace(prompt, typed=prompt.typed.replace("\r\n", "\n"))
        return cls(prompt=prompt, settings=tuple(settings))

    @property
    def fields(self) -> tuple[Field, ...]:
        return (self.prompt, *self.settings)

    @property
    def faults(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.error)

    def to_request(self, limits: Limits) -> TraceRequest:
        """The trace that is asked for. Raises pydantic's ValidationError."""
        values = {field.name: field.value() for field in self.fields}
        return TraceBody.model_validate(values).to_request(limits)

    def refused(self, error: ValidationError) -> TraceForm:
        """The form with a sentence at every field that TraceBody did not take."""
        names = {problem["loc"][0] for problem in error.errors() if problem["loc"]}
        return self._with_errors(
            {field.name: field.refusal() for field in self.fields if field.name in names}
        )

    def at_fault(self, name: str | None, message: str) -> TraceForm:
        """The form with a message at one field; as it is where no field is named."""
        return self._with_errors({name: message} if name else {})

    def _with_errors(self, errors: Mapping[str, str]) -> TraceForm:
        prompt, *settings = (
            replace(field, error=errors.get(field.name, field.error)) for field in self.fields
        )
        return TraceForm(prompt=prompt, settings=tuple(settings))


def _blank(limits: Limits) -> tuple[Field, ...]:
    defaults = TraceRequest(prompt="")
    return (
        Field(
            name="prompt",
            label="Prompt",
            help="The beginning of a text: the model goes on from its last character.",
            must=f"1 to {limits.max_prompt_characters:,} characters long",
            typed="",
            kind="prompt",
        ),
        Field(
            name="max_new_tokens",
            label="Tokens to draw",
            help="How many tokens to add at most; the model may end the text sooner.",
            must=f"a whole number from 1 to {limits.max_new_tokens}",
            typed=str(min(defaults.max_new_tokens, limits.max_new_tokens)),
            kind="integer",
            minimum=1,
            maximum=limits.max_new_tokens,
        ),
        Field(
            name="top_k",
            label="Alternatives shown",
            help="How many other tokens each step lists; this never changes which is drawn.",
            must=f"a whole number from 1 to {limits.max_alternatives}",
            typed=str(min(defaults.top_k, limits.max_alternatives)),
            kind="integer",
            minimum=1,
            maximum=limits.max_alternatives,
        ),
        Field(
            name="temperature",
            label="Temperature",
            help="0 always takes the most probable token; above 0 tokens are drawn at random, "
            "and the higher it is, the better the chances of improbable ones.",
            must="a number from 0 to 2",
            typed="0",
            kind="number",
            minimum=0,
            maximum=2,
        ),
        Field(
            name="top_p",
            label="Top-p",
            help="Draws only among the most probable tokens that together reach this share; "
            "1 keeps all of them, and at temperature 0 it has no effect.",
            must="a number above 0 and at most 1",
            typed="1",
            kind="number",
            minimum=0,
            maximum=1,
        ),
        Field(
            name="seed",
            label="Seed",
            help="The same seed repeats the same draws; empty, every trace draws afresh, and at "
            "temperature 0 it has no effect.",
            must=f"empty or a whole number from 0 to {2**63 - 1}",
            typed="",
            kind="integer",
        ),
    )
