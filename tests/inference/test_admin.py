"""The administrator's page for the one row of limits."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session

from inference.keys import FORM, ApiKey, digest_of
from inference.limits import Limits
from inference.models import LimitsRow

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/inference/limitsrow/"
ADD = f"{LIST}add/"
CHANGE = f"{LIST}1/change/"

TYPED = {
    "max_prompt_characters": "500",
    "max_prompt_tokens": "100",
    "max_new_tokens": "8",
    "max_alternatives": "3",
    "max_completion_tokens": "64",
    "max_choices": "2",
    "rate_per_minute": "20",
    "max_waiting": "4",
    "deadline_seconds": "12.5",
    "allowed_origins": "https://a.example\r\nhttps://b.example",
    "embed_sites": "",
    "key_required": "on",
    "sharing_days": "30",
    "booth_free_text": "on",
}
SAVED = Limits(
    max_prompt_characters=500,
    max_prompt_tokens=100,
    max_new_tokens=8,
    max_alternatives=3,
    max_completion_tokens=64,
    max_choices=2,
    rate_per_minute=20,
    max_waiting=4,
    deadline_seconds=12.5,
    allowed_origins=("https://a.example", "https://b.example"),
    key_required=True,
    sharing=False,
    sharing_days=30,
    booth_free_text=True,
)


@pytest.fixture
def admin(client):
    client.force_login(get_user_model().objects.create_superuser("ada"))
    return client


def test_a_visitor_is_sent_to_log_in(client):
    assert client.get(LIST).status_code == 302
    assert client.post(ADD, TYPED).status_code == 302
    assert not LimitsRow.objects.exists()


def test_the_form_of_a_new_row_begins_with_the_values_in_force(admin, settings):
    settings.TRACEAPP = settings.TRACEAPP.model_copy(
        update={"rate_per_minute": 7, "allowed_origins": ("https://a.example", "https://b.example")}
    )
    initial = admin.get(ADD).context["adminform"].form.initial
    assert initial["rate_per_minute"] == 7
    assert initial["allowed_origins"] == "https://a.example\nhttps://b.example"
    assert initial["max_new_tokens"] == 32


def test_what_is_saved_is_in_force(admin):
    assert admin.post(ADD, TYPED).status_code == 302
    assert LimitsRow.objects.get().limits() == SAVED
    assert admin.post(CHANGE, TYPED | {"max_new_tokens": "4"}).status_code == 302
    assert LimitsRow.objects.get().limits().max_new_tokens == 4


def test_there_is_no_second_row_and_the_one_cannot_be_deleted(admin):
    admin.post(ADD, TYPED)
    assert admin.get(ADD).status_code == 403
    assert admin.post(ADD, TYPED).status_code == 403
    assert admin.post(f"{LIST}1/delete/", {"post": "yes"}).status_code == 403
    assert LimitsRow.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("max_new_tokens", "33", "less than or equal to 32"),
        ("max_new_tokens", "0", "greater than or equal to 1"),
        ("max_prompt_characters", "1001", "less than or equal to 1000"),
        ("max_prompt_tokens", "257", "less than or equal to 256"),
        ("max_alternatives", "11", "less than or equal to 10"),
        ("max_waiting", "-1", "greater than or equal to 0"),
        ("rate_per_minute", "-1", "greater than or equal to 0"),
        ("deadline_seconds", "0", "greater than or equal to 0.1"),
        ("deadline_seconds", "many", "Enter a number"),
        ("max_new_tokens", "", "required"),
        ("allowed_origins", "https://a.example\r\nb.example", "b.example: begin with http"),
        ("allowed_origins", "https://*.a.example", "name is not valid"),
        ("allowed_origins", "https://a.example/page", "leave out the path"),
        ("embed_sites", "https://*.com", "before a name"),
        ("embed_sites", "*", "begin with http"),
    ],
)
def test_a_value_over_its_ceiling_is_refused_at_its_field(admin, field, typed, said):
    page = admin.post(ADD, TYPED | {field: typed})
    assert page.status_code == 200
    errors = page.context["adminform"].form.errors
    assert list(errors) == [field]
    assert said in errors[field][0]
    assert not LimitsRow.objects.exists()


def test_sites_are_kept_as_browsers_send_them(admin):
    sites = "HTTPS://A.example/\r\n\r\nhttps://a.example"
    typed = {"allowed_origins": sites, "embed_sites": "https://*.School.example:443"}
    assert admin.post(ADD, TYPED | typed).status_code == 302
    row = LimitsRow.objects.get()
    assert row.allowed_origins == "https://a.example"
    assert row.embed_sites == "https://*.school.example"


def test_every_field_says_what_it_is_for(admin):
    form = admin.get(ADD).context["adminform"].form
    assert [name for name, field in form.fields.items() if not field.help_text] == []


def history(model):
    return [str(entry) for entry in LogEntry.objects.filter(content_type__model=model)]


def test_the_history_names_who_changed_which_value_from_what_to_what(admin):
    admin.post(ADD, TYPED)
    admin.post(CHANGE, TYPED | {"max_new_tokens": "4", "allowed_origins": "https://b.example"})
    admin.post(CHANGE, TYPED | {"max_new_tokens": "4", "allowed_origins": "https://b.example"})
    entries = LogEntry.objects.order_by("pk")
    assert set(entries.values_list("user__username", flat=True)) == {"ada"}
    added, changed, same = (entry.get_change_message() for entry in entries)
    assert "rate_per_minute (60 → 20)" in added
    assert "key_required (False → True)" in added
    assert "embed_sites" not in added
    assert "max_new_tokens (8 → 4)" in changed
    assert "(https://a.example, https://b.example → https://b.example)" in changed
    assert changed.count("→") == 2
    assert "→" not in same


# API keys

KEYS = "/admin/inference/apikey/"


def make_key(admin, name="Class 9b"):
    """Make a key in the admin: the page that shows it, and the key."""
    page = admin.post(f"{KEYS}add/", {"name": name, "rate_per_minute": "7"})
    found = set(FORM.findall(page.content.decode()))
    assert len(found) == 1
    return page, found.pop()


def test_a_new_key_is_shown_once_and_kept_nowhere(admin):
    page, secret = make_key(admin)
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    row = ApiKey.objects.get()
    assert (row.name, row.rate_per_minute, row.digest) == ("Class 9b", 7, digest_of(secret))
    for path in (KEYS, f"{KEYS}{row.pk}/change/", f"{KEYS}{row.pk}/history/", "/admin/"):
        assert secret not in admin.get(path).content.decode()
    kept = [*LogEntry.objects.values(), *Session.objects.values()]
    assert secret not in str(kept)
    assert all(secret not in morsel.value for morsel in admin.cookies.values())


def test_a_key_is_revoked_on_its_page_or_in_the_list_and_stays_so(admin):
    for name in ("one", "two", "three"):
        make_key(admin, name)
    one, two, three = ApiKey.objects.order_by("pk")

    def revoked():
        return [row.revoked_at for row in ApiKey.objects.order_by("pk")]

    typed = {"name": "one", "rate_per_minute": "7"}
    admin.post(f"{KEYS}{one.pk}/change/", typed)
    assert revoked() == [None, None, None]
    admin.post(f"{KEYS}{one.pk}/change/", typed | {"revoke": "on"})
    first = revoked()[0]
    assert first is not None
    admin.post(KEYS, {"action": "revoke_selected", "_selected_action": [one.pk, two.pk]})
    assert revoked()[0] == first
    assert [moment is None for moment in revoked()] == [False, False, True]
    asked = 'name="revoke"'
    assert asked not in admin.get(f"{KEYS}{one.pk}/change/").content.decode()
    assert asked in admin.get(f"{KEYS}{three.pk}/change/").content.decode()
    assert sum("revoke" in entry.lower() for entry in history("apikey")) == 2


def test_whoever_may_only_look_can_neither_make_nor_revoke(client):
    user = get_user_model().objects.create_user("eve", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    client.force_login(user)
    row = ApiKey(name="a")
    row.make_secret()
    row.save()
    assert client.post(f"{KEYS}add/", {"name": "b", "rate_per_minute": "7"}).status_code == 403
    client.post(KEYS, {"action": "revoke_selected", "_selected_action": [row.pk]})
    assert ApiKey.objects.get().revoked_at is None
