"""The administrator's overview, and the way in to it."""

from __future__ import annotations

import logging
import re

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model

from inference.recent import Minute
from traceapp.overview import HEIGHT, charts_of

pytestmark = pytest.mark.django_db(transaction=True)

OVERVIEW = "/admin/overview/"
LOGIN = "/admin/login/"
PASSWORD = "a long and right password"


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada", password=PASSWORD)


def test_a_visitor_is_sent_to_log_in(client):
    assert client.get(OVERVIEW).status_code == 302


def test_an_administrator_sees_what_is_served_and_three_charts(client, ada, install):
    client.force_login(ada)
    assert OVERVIEW in client.get("/admin/").content.decode()
    empty = client.get(OVERVIEW).content.decode()
    assert "none in this process" in empty
    install("ab")
    page = client.get(OVERVIEW).content.decode()
    assert "smollm2-135m" in page
    assert page.count("by the minute, over the last hour") == 3
    assert not re.search(
        r"<script|style=", page.partition('id="content"')[2].partition("</div>")[0]
    )


def test_a_bar_is_as_high_as_its_share_of_the_tallest():
    minutes = [
        Minute(0),
        Minute(1, ended=2, failed=1, seconds=[1.5]),
        Minute(2, ended=4, refused=3),
    ]
    requests, refusals, times = charts_of(minutes)
    assert [(bar.x, bar.y, bar.height) for bar in requests.bars] == [
        (5, HEIGHT / 2, HEIGHT / 2),
        (10, 0, HEIGHT),
    ]
    assert requests.summary == "6 ended in the last hour, 1 of them failed."
    assert [bar.said for bar in requests.bars] == ["1 min ago: 2 ended", "0 min ago: 4 ended"]
    assert refusals.summary.startswith("3 refused")
    assert "1.5 s" in times.summary


def test_an_hour_without_requests_is_drawn_empty():
    charts = charts_of([Minute(n) for n in range(60)])
    assert all(chart.bars == () for chart in charts)


# The way in


def log_in(client, password, name="ada", **headers):
    return client.post(LOGIN, {"username": name, "password": password}, headers=headers)


def test_five_wrong_passwords_are_followed_by_a_rest(client, ada, caplog):
    caplog.set_level(logging.DEBUG)
    for attempt in range(5):
        assert log_in(client, f"wrong-{attempt}-secret").status_code in {200, 429}
    assert log_in(client, PASSWORD).status_code == 429
    kept = str(list(apps.get_model("axes", "AccessAttempt")._default_manager.values()))
    assert "failures_since_start" in kept
    assert "secret" not in kept
    assert "secret" not in caplog.text
    assert PASSWORD not in kept


def test_another_address_is_not_kept_out_and_the_proxy_tells_which_it_is(client, ada, environment):
    environment(proxies=1)
    for _ in range(6):
        log_in(client, "wrong", x_forwarded_for="198.51.100.1")
    assert log_in(client, PASSWORD, x_forwarded_for="198.51.100.1").status_code == 429
    assert log_in(client, PASSWORD, x_forwarded_for="made up, 198.51.100.2").status_code == 302
    assert log_in(client, PASSWORD, x_forwarded_for="no address").status_code == 302


def test_a_right_password_starts_the_count_anew(client, ada):
    for _ in range(2):
        for _ in range(4):
            log_in(client, "wrong")
        assert log_in(client, PASSWORD).status_code == 302
