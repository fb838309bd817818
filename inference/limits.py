"""
What callers may ask for: the policy in force, and the one check against it.

The defaults are the contract's bounds, which are ceilings: an administrator may lower them
(the row in `models.py`), never raise them.
"""

from __future__ import annotations

from dataclasses import dataclass

from inference.errors import InvalidRequest, PromptTooLong
from inference.line import share_of
from inference.traces import TraceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one moment. `docs/settings.md` says where each is set."""

    max_prompt_characters: int = 1000
    max_prompt_tokens: int = 256
    max_new_tokens: int = 32
    max_alternatives: int = 10
    max_completion_tokens: int = 256  # of each choice on the OpenAI endpoints
    max_choices: int = 8  # `n` on the OpenAI endpoints
    rate_per_minute: int = 60  # requests to the model, for each client; 0 turns the rate off
    max_waiting: int = 32  # requests that may wait for the model
    deadline_seconds: float = 30.0  # from arrival, waiting included
    allowed_origins: tuple[str, ...] = ()  # sites, beside our own, whose pages may call
    embed_sites: tuple[str, ...] = ()  # sites that may show our pages in a frame
    key_required: bool = False  # whether the APIs answer only those who show an API key
    sharing: bool = True  # whether visitors may store a trace and send its link
    sharing_days: int = 90  # after which a shared trace is removed
    booth_free_text: bool = False  # whether a booth's visitors may type prompts of their own

    @property
    def waiting_share(self) -> int:
        """How many of the places to wait one client keeps, whoever else needs one."""
        return share_of(self.max_waiting)

    def check_trace(self, request: TraceRequest) -> None:
        """Raise InvalidRequest naming the field, the value and the bound that it crosses."""
        _at_most(
            self.max_prompt_characters, len(request.prompt), "prompt", "characters in the prompt"
        )
        _at_most(self.max_new_tokens, request.max_new_tokens, "max_new_tokens")
        _at_most(self.max_alternatives, request.top_k, "top_k")
        # The new tokens that the request itself asks for are the bound here.
        _at_most(request.max_new_tokens, len(request.forced_ids), "forced", "tokens in forced")

    def check_prompt_tokens(self, prompt_tokens: int) -> None:
        """Raise PromptTooLong where the prompt has more tokens than are allowed."""
        if prompt_tokens > self.max_prompt_tokens:
            raise PromptTooLong(
                f"the prompt has {prompt_tokens} tokens; the limit is {self.max_prompt_tokens}",
                param="prompt",
            )


def _at_most(bound: int, value: int, param: str, what: str = "") -> None:
    if value > bound:
        raise InvalidRequest(f"{what or param}: {value} is over the limit of {bound}", param=param)
