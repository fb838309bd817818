"""The one row of limits, and which limits are in force."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from inference.limits import Limits
from inference.models import LimitsRow, current_limits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment(settings):
    def give(**values):
        settings.TRACEAPP = settings.TRACEAPP.model_copy(update=values)

    return give


async def test_without_a_row_the_environments_values_hold(environment):
    environment(
        rate_per_minute=7,
        max_waiting=3,
        deadline_seconds=4.5,
        allowed_origins=("https://school.example",),
        embed_sites=("https://lms.example",),
    )
    assert await current_limits() == Limits(
        rate_per_minute=7,
        max_waiting=3,
        deadline_seconds=4.5,
        allowed_origins=("https://school.example",),
        embed_sites=("https://lms.example",),
    )


async def test_the_row_once_saved_wins_over_the_environment_and_is_read_afresh(environment):
    environment(rate_per_minute=7, allowed_origins=("https://school.example",))
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=9, max_new_tokens=4)
    assert await current_limits() == Limits(rate_per_minute=9, max_new_tokens=4)
    await LimitsRow.objects.filter(pk=1).aupdate(rate_per_minute=10)
    assert (await current_limits()).rate_per_minute == 10
    await LimitsRow.objects.all().adelete()
    assert (await current_limits()).rate_per_minute == 7


def test_a_new_row_holds_the_contracts_bounds():
    assert LimitsRow(pk=1).limits() == Limits()


def test_a_list_is_one_entry_a_line():
    row = LimitsRow(pk=1, allowed_origins=" https://a.example \r\n\nhttps://b.example\n")
    assert row.limits().allowed_origins == ("https://a.example", "https://b.example")


def test_there_is_only_one_row():
    LimitsRow.objects.create(pk=1)
    with pytest.raises(IntegrityError):
        LimitsRow.objects.create(pk=2)


def test_the_row_has_every_limit_and_no_other_field():
    columns = {field.name for field in LimitsRow._meta.get_fields()} - {"id"}
    assert columns == {field.name for field in fields(Limits)}


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("max_prompt_characters", 1, 1000),
        ("max_prompt_tokens", 1, 256),
        ("max_new_tokens", 1, 32),
        ("max_alternatives", 1, 10),
        ("max_waiting", 0, 10_000),
        ("deadline_seconds", 0.1, 3600),
    ],
)
def test_a_bound_may_be_lowered_to_its_least_and_never_raised_over_its_ceiling(name, least, most):
    for allowed in (least, most):
        LimitsRow(pk=1, **{name: allowed}).full_clean()
    for refused, said in ((most + 1, most), (least - 1, least)):
        with pytest.raises(ValidationError) as error:
            LimitsRow(pk=1, **{name: refused}).full_clean()
        (message,) = error.value.message_dict[name]
        assert message.endswith(f" equal to {said}.")


def test_a_rate_of_zero_is_allowed_and_turns_it_off():
    LimitsRow(pk=1, rate_per_minute=0).full_clean()


def test_every_number_of_the_row_has_bounds():
    for name, value in asdict(Limits()).items():
        if isinstance(value, int | float):
            with pytest.raises(ValidationError):
                LimitsRow(pk=1, **{name: -1}).full_clean()
