"""The example prompts of the first page: each shows one behaviour, and says where to look."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    slug: str
    prompt: str
    look_for: str
    settings: dict[str, str] = field(default_factory=dict)  # those that are not the defaults

    @property
    def typed(self) -> dict[str, str]:
        return {"prompt": self.prompt, **self.settings}


EXAMPLES = (
    Example(
        slug="open",
        prompt="The moon is",
        look_for="Many ways to go on: look at how small even the longest bar of step 1 is.",
    ),
    Example(
        slug="pattern",
        prompt="1, 2, 3, 4, 5, 6,",
        look_for="Only one way to go on: look for tokens that take nearly all of the 100%.",
    ),
    Example(
        slug="truth",
        prompt="The capital of Australia is",
        look_for="Probable is not true: look at which cities are listed, and in what order.",
    ),
    Example(
        slug="chance",
        prompt="Once upon a time, there was a",
        look_for="Chance: look for the steps where the drawn token is not the most probable one.",
        settings={"temperature": "1", "seed": "7"},
    ),
    Example(
        slug="nucleus",
        prompt="My favourite food is",
        look_for="A cut-off: look at how many tokens top-p leaves in each draw.",
        settings={"temperature": "1.2", "top_p": "0.5", "seed": "3"},
    ),
    Example(
        slug="loop",
        prompt="I like tea. I like tea. I",
        look_for="Repetition: look at how the same token gains each time that it comes round.",
        settings={"max_new_tokens": "32"},
    ),
    Example(
        slug="bytes",
        prompt="नमस्ते 👩‍🚀 こんにちは",
        look_for="Pieces of characters: look at the tokens of the prompt, many only bytes.",
        settings={"max_new_tokens": "8"},
    ),
)
BY_SLUG = {example.slug: example for example in EXAMPLES}
