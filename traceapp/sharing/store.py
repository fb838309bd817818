"""
Shared traces in the database: kept, read, removed.

What is read is as it was shared, to the last character. Expired traces are not there, whether or
not the command that removes them has run.
"""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel

from inference.errors import NotFound, WrongDeleteToken
from inference.storage import answered
from traceapp.models import RemovedTrace as Removed
from traceapp.models import SharedTrace, new_id
from traceapp.wire.sharing import TRACE_ID, Provenance
from traceapp.wire.traces import TraceSoFar


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A shared trace, as it is read."""

    id: str
    created_at: datetime
    expires_at: datetime
    trace: TraceSoFar
    provenance: Provenance


class _Document(BaseModel):
    trace: TraceSoFar
    provenance: Provenance


async def keep(trace: TraceSoFar, provenance: Provenance, *, days: int) -> tuple[Stored, str]:
    """Store a trace for so many days; what was stored, and the token that removes it."""
    token = secrets.token_urlsafe(16)
    now = timezone.now()
    document = _Document(trace=trace, provenance=provenance)
    query = SharedTrace.objects.acreate(
        id=new_id(),
        document=zlib.compress(document.model_dump_json().encode()),
        prompt=trace.prompt.replace("\0", "␀"),
        model_alias=trace.model.alias,
        model_repository=trace.model.repository,
        model_revision=trace.model.revision,
        created_at=now,
        expires_at=now + timedelta(days=days),
        delete_token_hash=_hash(token),
    )
    row = await answered(query)
    return _stored(row, document), token


async def find(trace_id: str) -> Stored:
    """A shared trace. Raises NotFound where there is none, or none any more."""
    row = None
    if TRACE_ID.fullmatch(trace_id):
        row = await answered(SharedTrace.objects.filter(pk=trace_id).afirst())
    if row is not None and row.is_over(timezone.now()):
        await answered(row.adelete())
        row = None
    if row is None:
        raise _missing()
    return _stored(row, _Document.model_validate_json(zlib.decompress(bytes(row.document))))


async def remove(trace_id: str, token: str) -> None:
    """Remove a trace; once more is no error.

    Raises NotFound where there never was one, or its time is over, and WrongDeleteToken where the
    token is another's.
    """
    await answered(sync_to_async(_remove)(trace_id, token))


def remove_expired(*, now: datetime | None = None) -> int:
    """Remove every trace whose time is over; how many there were."""
    over = {"expires_at__lte": now or timezone.now()}
    removed, _ = SharedTrace.objects.filter(**over).delete()
    Removed.objects.filter(**over).delete()
    return removed


@transaction.atomic
def _remove(trace_id: str, token: str) -> None:
    if not TRACE_ID.fullmatch(trace_id):
        raise _missing()
    now = timezone.now()
    row = SharedTrace.objects.select_for_update().filter(pk=trace_id, expires_at__gt=now).first()
    gone = Removed.objects.filter(pk=trace_id, expires_at__gt=now).first()
    if (found := row or gone) is None:
        raise _missing()
    if not secrets.compare_digest(found.delete_token_hash, _hash(token)):
        raise WrongDeleteToken("this token does not remove this trace", param="X-Delete-Token")
    if row is not None:
        Removed.objects.create(
            pk=row.pk, delete_token_hash=row.delete_token_hash, expires_at=row.expires_at
        )
        row.delete()


def _missing() -> NotFound:
    return NotFound("no shared trace has this address; it may have expired or been removed")


def _stored(row: SharedTrace, document: _Document) -> Stored:
    return Stored(
        id=row.pk,
        created_at=row.created_at,
        expires_at=row.expires_at,
        trace=document.trace,
        provenance=document.provenance,
    )


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
