"""API keys: what is kept of one, and whom it lets in."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from inference.errors import InvalidApiKey
from inference.keys import FORM, ApiKey, Key, admit, digest_of
from tests.keys import new_key

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_key_itself_is_in_no_column():
    row, secret = await new_key()
    assert FORM.fullmatch(secret)
    kept = await ApiKey.objects.values().aget()
    assert kept["digest"] == digest_of(secret) != secret
    assert len(kept["beginning"]) == 7
    assert secret not in map(str, kept.values())
    assert secret not in str(row)


async def test_no_two_keys_are_alike():
    secrets = {ApiKey().make_secret() for _ in range(100)}
    assert len(secrets) == 100


async def test_a_key_lets_in_with_its_own_rate_whether_one_is_needed_or_not():
    row, secret = await new_key(rate_per_minute=7)
    for key_required in (False, True):
        assert await admit(secret, key_required=key_required) == Key(row.pk, 7)


@pytest.mark.parametrize("key_required", [False, True])
async def test_a_key_that_is_revoked_or_unknown_lets_nobody_in(key_required):
    row, secret = await new_key()
    row.revoked_at = timezone.now()
    await row.asave()
    for wrong in (secret, "tt_" + 43 * "A"):
        with pytest.raises(InvalidApiKey, match="unknown or revoked") as refused:
            await admit(wrong, key_required=key_required)
        assert wrong not in str(refused.value)


async def test_where_no_key_is_needed_any_other_token_passes():
    for token in (None, "EMPTY", "sk-proj-abc", "tt_short"):
        assert await admit(token, key_required=False) is None


async def test_where_a_key_is_needed_nothing_else_passes():
    with pytest.raises(InvalidApiKey, match="is needed"):
        await admit(None, key_required=True)
    for token in ("EMPTY", "tt_short", "tt_" + 44 * "A"):
        with pytest.raises(InvalidApiKey, match="no API key of this server"):
            await admit(token, key_required=True)


async def test_the_last_use_is_written_once_a_minute_at_most():
    row, secret = await new_key()
    await admit(secret, key_required=True)
    await row.arefresh_from_db()
    first = row.last_used_at
    assert first is not None
    await admit(secret, key_required=True)
    await row.arefresh_from_db()
    assert row.last_used_at == first
    await ApiKey.objects.aupdate(last_used_at=first - timedelta(minutes=2))
    await admit(secret, key_required=True)
    await row.arefresh_from_db()
    assert row.last_used_at is not None
    assert row.last_used_at >= first


async def test_a_last_use_that_cannot_be_written_keeps_nobody_out(monkeypatch, caplog):
    row, secret = await new_key()

    async def fails(*args, **kwargs):
        raise DatabaseError(secret)

    monkeypatch.setattr("django.db.models.query.QuerySet.aupdate", fails)
    with caplog.at_level(logging.WARNING):
        assert await admit(secret, key_required=True) == Key(row.pk, row.rate_per_minute)
    assert "DatabaseError" in caplog.text
    assert secret not in caplog.text
