"""
The body and the answer of /v1/traces: names and bounds of the contract, and nothing else.

Strict: a number in quotes, a boolean for a number or 1.0 for an integer is an error; so is a
field that nobody defined. Fields stand in the contract's order.
"""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from inference.engine.types import Step
from inference.errors import InvalidRequest
from inference.limits import Limits
from inference.traces import Trace, TraceBasis, TraceRequest, bits

MAX_SEED = 2**63 - 1


class TraceBody(BaseModel):
    """The body of POST /v1/traces. The bounds are ceilings: the limits in force may be lower."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: str = Field(min_length=1, max_length=1000, description="The text to continue.")
    # "" stands for a field that was left out; sent, it is as wrong as any other alias.
    model: str = Field(default_factory=str, description="Alias of the served model, if given.")
    max_new_tokens: int = Field(16, ge=1, le=32, description="Tokens to generate.")
    top_k: int = Field(5, ge=1, le=10, description="Alternatives listed at each step.")
    temperature: float = Field(
        0.0, ge=0, le=2, allow_inf_nan=False, description="0 is greedy; 1 the model's own spread."
    )
    top_p: float = Field(
        1.0, gt=0, le=1, allow_inf_nan=False, description="Nucleus: the mass kept for the draw."
    )
    seed: int | None = Field(
        None, ge=0, le=MAX_SEED, description="Makes the draws repeatable; null draws fresh ones."
    )

    def require_model(self, alias: str) -> None:
        """Raise InvalidRequest where the caller named another model than the served one."""
        if "model" in self.model_fields_set and self.model != alias:
            raise InvalidRequest(
                f"model: this server serves {alias} and nothing else", param="model"
            )

    def to_request(self, limits: Limits) -> TraceRequest:
        """What is asked for; a default that is over a limit in force gives way to it."""
        fields = self.model_dump(exclude={"model"})
        for name, bound in (
            ("max_new_tokens", limits.max_new_tokens),
            ("top_k", limits.max_alternatives),
        ):
            if name not in self.model_fields_set:
                fields[name] = min(fields[name], bound)
        return TraceRequest(**fields)


class ModelName(BaseModel):
    alias: str
    repository: str
    revision: str


class PromptToken(BaseModel):
    token_id: int
    token: str


class Remainder(BaseModel):
    """What is neither selected nor listed."""

    mass: float = Field(description="Probability, 0 to 1.")
    tokens: int


class DrawInterval(BaseModel):
    """Where the random number fell: lower <= u < upper on the axis of the sampling distribution."""

    u: float
    lower: float
    upper: float


class Analysis(BaseModel):
    selected_rank: int = Field(description="0 is the most probable token.")
    selected_bytes: list[int]
    alternative_bytes: list[list[int]] = Field(description="In the order of `alternatives`.")
    surprisal_bits: float
    entropy_bits: float = Field(description="Of the model's distribution, whole vocabulary.")
    sampling_probability: float = Field(description="Of the selected token, after the settings.")
    nucleus_size: int = Field(description="Tokens that the settings left in the draw.")
    remainder: Remainder
    special: bool = Field(description="Whether the selected token is a control token.")
    forced: bool = Field(description="Whether the token was given, on the live socket, not drawn.")
    draw: DrawInterval | None = Field(
        description="null for a greedy or a given token: neither was drawn by chance."
    )


class Alternative(BaseModel):
    token_id: int
    token: str
    probability: float


class TraceStep(BaseModel):
    step: int
    selected_token: str
    selected_token_id: int
    selected_probability: float
    alternatives: list[Alternative]
    step_ms: float
    elapsed_ms: float
    analysis: Analysis | None = Field(None, description="Only with ?include=analysis.")

    @classmethod
    def of(cls, step: Step, trace: TraceBasis, *, with_analysis: bool) -> TraceStep:
        text = trace.vocabulary.text
        return cls(
            step=step.index,
            selected_token=text(step.token_id),
            selected_token_id=step.token_id,
            selected_probability=math.exp(step.logprob),
            alternatives=[
                Alternative(
                    token_id=c.token_id, token=text(c.token_id), probability=math.exp(c.logprob)
                )
                for c in trace.alternatives(step)
            ],
            step_ms=trace.step_ms(step),
            elapsed_ms=trace.elapsed_ms(step),
            analysis=_analysis(trace, step) if with_analysis else None,
        )


class Decoding(BaseModel):
    method: Literal["greedy", "sample"]
    temperature: float
    top_p: float
    seed: int | None
    probability_basis: Literal["raw_softmax_logits"] = "raw_softmax_logits"


class Timing(BaseModel):
    prompt_tokenisation_ms: float
    first_step_ms: float
    total_trace_ms: float


class TraceSoFar(BaseModel):
    """A trace that may have been stopped. Without `include=analysis` no step has an `analysis`."""

    schema_version: Literal["1.0"] = "1.0"
    model: ModelName
    prompt: str
    prompt_tokens: list[PromptToken]
    generated_text: str
    steps: list[TraceStep]
    decoding: Decoding
    timing: Timing
    finish_reason: Literal["eos", "length", "stopped"]

    @classmethod
    def of(cls, trace: Trace, *, with_analysis: bool) -> Self:
        request, card, text = trace.request, trace.model, trace.vocabulary.text
        return cls(
            model=ModelName(alias=card.alias, repository=card.repository, revision=card.revision),
            prompt=request.prompt,
            prompt_tokens=[PromptToken(token_id=i, token=text(i)) for i in trace.prompt_ids],
            generated_text=trace.generated_text,
            steps=[TraceStep.of(step, trace, with_analysis=with_analysis) for step in trace.steps],
            decoding=Decoding(
                method="greedy" if request.temperature == 0 else "sample",
                temperature=request.temperature,
                top_p=request.top_p,
                seed=request.seed,
            ),
            timing=Timing(
                prompt_tokenisation_ms=trace.prompt_tokenisation_ms,
                first_step_ms=trace.elapsed_ms(trace.steps[0]),
                total_trace_ms=trace.total_trace_ms,
            ),
            finish_reason=trace.finish_reason.value,
        )

    def to_json(self) -> str:
        """The contract's body: `analysis` is left out, not null, where it was not asked for."""
        without = {"steps": {"__all__": {"analysis"}}} if self.steps[0].analysis is None else None
        return self.model_dump_json(exclude=without)


class TraceAnswer(TraceSoFar):
    """The answer of POST /v1/traces, which is always whole."""

    finish_reason: Literal["eos", "length"]


def _analysis(trace: TraceBasis, step: Step) -> Analysis:
    vocabulary, draw = trace.vocabulary, step.draw
    remainder = trace.remainder(step)
    return Analysis(
        selected_rank=step.rank,
        selected_bytes=list(vocabulary.tokens[step.token_id]),
        alternative_bytes=[list(vocabulary.tokens[c.token_id]) for c in trace.alternatives(step)],
        surprisal_bits=bits(-step.logprob),
        entropy_bits=bits(step.entropy),
        sampling_probability=draw.probability,
        nucleus_size=draw.kept,
        remainder=Remainder(mass=remainder.mass, tokens=remainder.tokens),
        special=vocabulary.is_special(step.token_id),
        forced=step.forced,
        draw=None if draw.u is None else DrawInterval(u=draw.u, lower=draw.lower, upper=draw.upper),
    )
