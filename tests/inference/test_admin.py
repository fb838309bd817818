"""The administrator's page for the one row of limits."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

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
