"""The prompts of the booth: large buttons, each traced live or, at need, shown as recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inference.limits import Limits
from traceapp.wire.traces import TraceBody


@dataclass(frozen=True, slots=True, kw_only=True)
class BoothPrompt:
    slug: str  # names its recording, too
    prompt: str
    look_for: str = ""
    max_new_tokens: int = 20  # at the booth's pace, less than a minute
    top_k: int = 5
    temperature: float = 0.0
    top_p: float = 1.0
    # The same draws each time: what visitors see is what the staff has seen.
    seed: int | None = None

    def body(self) -> TraceBody:
        """What is asked of the model. Raises pydantic's ValidationError where it may not be."""
        return TraceBody(
            prompt=self.prompt,
            max_new_tokens=self.max_new_tokens,
            top_k=self.top_k,
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
        )

    def settings(self, limits: Limits) -> dict[str, Any]:
        """The same within the limits in force, for frontend/src/booth/page.ts."""
        return {
            "max_new_tokens": min(self.max_new_tokens, limits.max_new_tokens),
            "top_k": min(self.top_k, limits.max_alternatives),
            "temperature": self.temperature,
            "top_p": self.top_p,
            # Digits: a JavaScript number holds 53 bits.
            "seed": None if self.seed is None else str(self.seed),
        }


CURATED = (
    BoothPrompt(
        slug="moon",
        prompt="The moon is",
        look_for="Many ways to go on: every bar is short.",
    ),
    BoothPrompt(
        slug="counting",
        prompt="1, 2, 3, 4, 5, 6,",
        look_for="One way to go on: one bar takes it all.",
        max_new_tokens=18,
    ),
    BoothPrompt(
        slug="capital",
        prompt="The capital of Australia is",
        look_for="Probable is not true: it is Canberra.",
        max_new_tokens=16,
    ),
    BoothPrompt(
        slug="story",
        prompt="Once upon a time, there was a",
        look_for="Chance: it is not always the longest bar.",
        temperature=1.0,
        seed=3,
    ),
    BoothPrompt(
        slug="robot",
        prompt="The robot opened its eyes and said",
        look_for="A machine writes about a machine.",
    ),
    BoothPrompt(
        slug="future",
        prompt="In the year 2050, people will",
        look_for="It sounds sure. Does it know?",
    ),
    BoothPrompt(
        slug="name",
        prompt="Hello, my name is",
        look_for="It has no name: it takes a frequent one.",
    ),
    BoothPrompt(
        slug="tea",
        prompt="I like tea. I like tea. I",
        look_for="What was said gets more probable.",
        max_new_tokens=24,
    ),
)
