"""What visitors chose to keep: traces that they shared. Nothing here says who did."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import models

from traceapp.sharing.addresses import page_path

ID_BYTES = 16  # 128 bits: 22 characters of base64url


def new_id() -> str:
    return secrets.token_urlsafe(ID_BYTES)


class SharedTrace(models.Model):
    """One trace under an address that nobody can guess. `sharing.store` reads and writes it."""

    id = models.CharField(primary_key=True, max_length=22, default=new_id, editable=False)
    # Bytes, for PostgreSQL's own text and JSON refuse a NUL, which a prompt may have.
    document = models.BinaryField()
    prompt = models.TextField(help_text="For the search of administrators; a NUL is shown as ␀.")
    model_alias = models.CharField(max_length=100)
    model_repository = models.CharField(max_length=200)
    model_revision = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    delete_token_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        # Without the prompt: the admin site writes this into its own history.
        return f"Shared trace {self.id}"

    def get_absolute_url(self) -> str:
        return page_path(self.id)

    def is_over(self, now: datetime) -> bool:
        return self.expires_at <= now


class RemovedTrace(models.Model):
    """That a trace's author removed it, so that to do it twice is no error; forgotten in time."""

    id = models.CharField(primary_key=True, max_length=22, editable=False)
    delete_token_hash = models.CharField(max_length=64)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"Removed trace {self.id}"
