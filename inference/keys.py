"""
API keys: made once, shown once, kept as a hash, and looked up at every request.

A key is 256 random bits. Nobody can try enough of those, however fast the hash is, so SHA-256 is
enough. A password's hash is slow because people choose from few passwords; here it would only
cost every request its time, and give strangers a way to make the server work.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.core.validators import MaxValueValidator
from django.db import DatabaseError, models
from django.db.models import Q
from django.utils import timezone

from inference.errors import InvalidApiKey, StorageUnavailable
from inference.storage import answered

logger = logging.getLogger(__name__)

PREFIX = "tt_"
FORM = re.compile(r"tt_[A-Za-z0-9_-]{43}")
SHOWN = len(PREFIX) + 4  # characters by which an administrator tells keys apart

LAST_USED_EVERY = timedelta(minutes=1)  # so that a busy key is not a write a request


class ApiKey(models.Model):
    """A key that an administrator made; the key itself is nowhere."""

    name = models.CharField(max_length=100, help_text="Whose key it is, or what it is for.")
    rate_per_minute = models.PositiveIntegerField(
        default=60,
        validators=[MaxValueValidator(1_000_000)],
        help_text="Requests to the model in a minute with this key; 0 turns the rate off.",
    )
    beginning = models.CharField(max_length=SHOWN, editable=False, help_text="How it begins.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField("created", auto_now_add=True)
    last_used_at = models.DateTimeField(
        "last used", null=True, editable=False, help_text="To the minute."
    )
    revoked_at = models.DateTimeField("revoked", null=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}…)"

    def make_secret(self) -> str:
        """Give this row a new key, to be saved, and return it: it cannot be had again."""
        secret = PREFIX + secrets.token_urlsafe(32)
        self.beginning = secret[:SHOWN]
        self.digest = digest_of(secret)
        return secret

    def revoke(self) -> None:
        """Let nobody in with this key from now on; once more changes nothing."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])


@dataclass(frozen=True, slots=True)
class Key:
    """A key that holds, as much of it as a request needs."""

    pk: int
    rate_per_minute: int


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def admit(bearer: str | None, *, key_required: bool) -> Key | None:
    """The key behind a bearer token; None for a caller who shows none and needs none.

    A key of ours must hold, needed or not: who shows it expects its rate. Any other token is
    passed over where none is needed, for many clients cannot do without. Raises InvalidApiKey.
    """
    if bearer is not None and FORM.fullmatch(bearer):
        return await _key_of(bearer)
    if not key_required:
        return None
    if bearer is None:
        raise InvalidApiKey("an API key is needed: send it as `Authorization: Bearer KEY`")
    raise InvalidApiKey("this is no API key of this server")


async def _key_of(secret: str) -> Key:
    now = timezone.now()
    query = ApiKey.objects.filter(digest=digest_of(secret), revoked_at=None)
    row = await answered(query.afirst())
    if row is None:
        raise InvalidApiKey("this API key is unknown or revoked")
    before = now - LAST_USED_EVERY
    if row.last_used_at is None or row.last_used_at <= before:
        stale = Q(last_used_at=None) | Q(last_used_at__lte=before)  # or another process was first
        try:
            await answered(ApiKey.objects.filter(stale, pk=row.pk).aupdate(last_used_at=now))
        except (DatabaseError, StorageUnavailable) as error:  # the request itself needs no write
            logger.warning("a key's last use was not noted: %s", type(error).__name__)
    return Key(row.pk, row.rate_per_minute)
