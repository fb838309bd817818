"""The administrator's pages for shared traces."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.utils import timezone

from traceapp.models import SharedTrace

pytestmark = pytest.mark.django_db

LIST = "/admin/traceapp/sharedtrace/"


@pytest.fixture
def admin(client):
    client.force_login(get_user_model().objects.create_superuser("ada"))
    return client


@pytest.fixture
def rows():
    now = timezone.now()
    return [
        SharedTrace.objects.create(
            id=letter * 22,
            document=b"secret bytes",
            prompt=prompt,
            model_alias=alias,
            model_repository=f"some/{alias}",
            created_at=now,
            expires_at=now + timedelta(days=1),
            delete_token_hash="f" * 64,
        )
        for letter, prompt, alias in (
            ("A", "The moon <b>is</b> " + "long " * 30, "smollm2-135m"),
            ("B", "A cat", "qwen2.5-0.5b"),
        )
    ]


def test_a_visitor_is_sent_to_log_in(client):
    assert client.get(LIST).status_code == 302


def test_the_list_shows_each_with_a_link_to_its_page(admin, rows):
    page = admin.get(LIST).content.decode()
    assert f'href="/t/{rows[0].pk}"' in page
    assert "The moon &lt;b&gt;" in page
    assert "<b>is</b>" not in page
    assert "long " * 20 not in page


@pytest.mark.parametrize(
    ("words", "found"),
    [("A" * 22, ["A"]), ("moon", ["A"]), ("cat", ["B"]), ("qwen", ["B"]), ("AAAA", [])],
)
def test_traces_are_found_by_id_model_and_prompt(admin, rows, words, found):
    page = admin.get(LIST, {"q": words})
    assert [row.pk[0] for row in page.context["cl"].result_list] == found
    assert "what the prompt says" in page.content.decode()


def test_one_can_be_looked_at_and_not_edited(admin, rows):
    page = admin.get(f"{LIST}{rows[0].pk}/change/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "Save" not in text
    assert "secret bytes" not in text
    assert "f" * 64 not in text
    assert admin.post(f"{LIST}{rows[0].pk}/change/", {"prompt": "x"}).status_code == 403
    assert admin.get(f"{LIST}add/").status_code == 403


def test_removing_leaves_no_word_of_the_prompt_in_the_history(admin, rows):
    assert admin.post(f"{LIST}{rows[0].pk}/delete/", {"post": "yes"}).status_code == 302
    action = {"action": "delete_selected", "_selected_action": rows[1].pk, "post": "yes"}
    assert admin.post(LIST, action).status_code == 302
    assert not SharedTrace.objects.exists()
    entries = [str(entry.__dict__) for entry in LogEntry.objects.all()]
    assert len(entries) == 2
    assert not any("moon" in entry or "cat" in entry for entry in entries)
