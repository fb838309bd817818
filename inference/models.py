"""The app's tables: the limits in force, one row that an administrator edits, and the API keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from inference.errors import StorageUnavailable
from inference.keys import ApiKey as ApiKey  # Django looks for tables here
from inference.limits import Limits
from inference.origins import NotAnOrigin, embedding_site, origin
from inference.storage import answered

# The contract's bounds: an administrator may lower them.
CEILING = Limits()


def _at_most(bound: int) -> list[Any]:
    return [MinValueValidator(1), MaxValueValidator(bound)]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check_origins(text: str) -> None:
    """Raise ValidationError with a sentence for each line that is no origin."""
    _checked_lines(text, origin)


def check_embedding_sites(text: str) -> None:
    """Raise ValidationError with a sentence for each line that is no site."""
    _checked_lines(text, embedding_site)


def _checked_lines(text: str, check: Callable[[str], str]) -> str:
    """The lines as they are to be kept. Raises ValidationError."""
    kept: list[str] = []
    problems: list[str] = []
    for line in _lines(text):
        try:
            kept.append(check(line))
        except NotAnOrigin as error:
            problems.append(f"{error}.")
    if problems:
        raise ValidationError(problems)
    return "\n".join(dict.fromkeys(kept))


class LimitsRow(models.Model):
    """What an administrator has set; without a row the environment's values hold."""

    max_prompt_characters = models.PositiveIntegerField(
        default=CEILING.max_prompt_characters,
        validators=_at_most(CEILING.max_prompt_characters),
        help_text=f"Longest prompt in characters, 1 to {CEILING.max_prompt_characters}.",
    )
    max_prompt_tokens = models.PositiveIntegerField(
        default=CEILING.max_prompt_tokens,
        validators=_at_most(CEILING.max_prompt_tokens),
        help_text=f"Longest prompt in tokens, 1 to {CEILING.max_prompt_tokens}.",
    )
    max_new_tokens = models.PositiveIntegerField(
        default=CEILING.max_new_tokens,
        validators=_at_most(CEILING.max_new_tokens),
        help_text=f"Tokens that one trace may ask for, 1 to {CEILING.max_new_tokens}.",
    )
    max_alternatives = models.PositiveIntegerField(
        default=CEILING.max_alternatives,
        validators=_at_most(CEILING.max_alternatives),
        help_text=f"Alternatives shown at each step (`top_k`), 1 to {CEILING.max_alternatives}.",
    )
    max_completion_tokens = models.PositiveIntegerField(
        default=CEILING.max_completion_tokens,
        validators=_at_most(CEILING.max_completion_tokens),
        help_text="Tokens of one completion on the OpenAI endpoints; more are not drawn.",
    )
    max_choices = models.PositiveIntegerField(
        default=CEILING.max_choices,
        validators=_at_most(CEILING.max_choices),
        help_text="Completions of one prompt (`n`) on the OpenAI endpoints.",
    )
    rate_per_minute = models.PositiveIntegerField(
        default=CEILING.rate_per_minute,
        validators=[MaxValueValidator(1_000_000)],
        help_text="Requests to the model per client and minute; 0 turns the rate off. A class "
        "behind one address is one client. An API key has a rate of its own.",
    )
    max_waiting = models.PositiveIntegerField(
        default=CEILING.max_waiting,
        validators=[MaxValueValidator(10_000)],
        help_text="Requests that may wait for the model; more are refused as busy.",
    )
    deadline_seconds = models.FloatField(
        default=CEILING.deadline_seconds,
        validators=[MinValueValidator(0.1), MaxValueValidator(3600)],
        help_text="Time for one request in seconds, waiting included.",
    )
    allowed_origins = models.TextField(
        blank=True,
        validators=[check_origins],
        help_text="Sites whose pages may call the API: one origin a line, such as "
        "https://blog.example.",
    )
    embed_sites = models.TextField(
        blank=True,
        validators=[check_embedding_sites],
        help_text="Sites that may show our pages in a frame: one a line, such as "
        "https://moodle.school.example or https://*.school.example.",
    )
    key_required = models.BooleanField(
        default=CEILING.key_required,
        help_text="The APIs answer only who shows an API key. The site's own pages still work.",
    )
    sharing = models.BooleanField(
        default=CEILING.sharing, help_text="Visitors may store a trace and send its link."
    )
    sharing_days = models.PositiveIntegerField(
        default=CEILING.sharing_days,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="Days after which a shared trace is removed.",
    )
    booth_free_text = models.BooleanField(
        default=CEILING.booth_free_text,
        help_text="A booth's visitors may type prompts of their own.",
    )

    class Meta:
        verbose_name = "limits"
        verbose_name_plural = "limits"
        constraints = (models.CheckConstraint(condition=models.Q(pk=1), name="limits_are_one_row"),)

    def __str__(self) -> str:
        return "Limits in force"

    def clean(self) -> None:
        """Keep the sites as browsers send them, each once."""
        with suppress(ValidationError):  # which the field's own validator tells
            self.allowed_origins = _checked_lines(self.allowed_origins, origin)
        with suppress(ValidationError):
            self.embed_sites = _checked_lines(self.embed_sites, embedding_site)

    def limits(self) -> Limits:
        values = {field.name: getattr(self, field.name) for field in fields(Limits)}
        lists = {name: _lines(values[name]) for name in ("allowed_origins", "embed_sites")}
        return Limits(**values | lists)


def limits_of_environment() -> Limits:
    env = settings.TRACEAPP
    return Limits(
        rate_per_minute=env.rate_per_minute,
        max_waiting=env.max_waiting,
        deadline_seconds=env.deadline_seconds,
        allowed_origins=env.allowed_origins,
        embed_sites=env.embed_sites,
    )


_last_known: Limits | None = None


async def current_limits() -> Limits:
    """The row's limits, or the environment's where nobody has saved any; read afresh each time.

    While the database is away, those of before: a lesson goes on, and what an administrator has
    closed stays closed. Raises StorageUnavailable where it has been away from the beginning.
    """
    global _last_known
    try:
        row = await answered(LimitsRow.objects.filter(pk=1).afirst())
    except StorageUnavailable:
        if _last_known is None:
            raise
        return _last_known
    _last_known = row.limits() if row else limits_of_environment()
    return _last_known


def last_known_limits() -> Limits:
    """What `current_limits` gave last in this process, for where the database cannot be asked."""
    return _last_known or limits_of_environment()
