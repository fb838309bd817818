"""What browsers are told of every answer: where scripts come from, and who may frame it."""

from __future__ import annotations

import re
import subprocess

import pytest
from django.contrib.auth import get_user_model
from django.templatetags.static import static
from django.test import AsyncClient
from django.urls import URLPattern, URLResolver, get_resolver

from inference.models import LimitsRow
from tests.commands import manage
from traceapp.framing import is_for_frames

pytestmark = pytest.mark.django_db(transaction=True)

ID = "A" * 22
SITE = "https://moodle.school.example"


def policy_of(response):
    """The directives of the one policy, each with its sources."""
    parts = response["Content-Security-Policy"].split("; ")
    policy = {name: sources for name, *sources in (part.split() for part in parts)}
    assert len(policy) == len(parts)
    return policy


def routes(resolver=None, prefix=""):
    """Every path that the table of paths knows, with something in place of its parameters."""
    for each in (resolver or get_resolver()).url_patterns:
        path = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each, path)
        elif isinstance(each, URLPattern):
            yield plain(path)


def plain(path):
    path = re.sub(r"\(\?P<trace_id>[^)]*\)", ID, path)
    path = re.sub(r"<[^>]*>", "1", path)
    path = path.replace("\\Z", "").replace("^", "").replace("$", "").replace("\\", "")
    return "/" + re.sub(r"\(\?P.*", "1", path)


ROUTES = sorted(set(routes()))


def test_the_routes_are_found():
    assert {"/", "/embed", f"/t/{ID}", f"/embed/t/{ID}", f"/t/{ID}/delete"} <= set(ROUTES)
    assert {"/v1/docs", "/v1/traces", "/health", "/oembed", "/admin/login/"} <= set(ROUTES)
    assert len(ROUTES) > 50


def check(response, path):
    policy = policy_of(response)
    assert policy["default-src"] == ["'none'"]
    for name in ("script-src", "style-src", "connect-src", "form-action", "font-src"):
        assert policy[name] == ["'self'"]
    assert policy["base-uri"] == ["'none'"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert "http" not in policy["img-src"]
    assert response["Referrer-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "camera=()" in response["Permissions-Policy"]
    if is_for_frames(path):
        assert policy["frame-ancestors"] == ["'self'"]
        assert "X-Frame-Options" not in response
    else:
        assert policy["frame-ancestors"] == ["'none'"]
        assert response["X-Frame-Options"] == "DENY"


def test_every_answer_to_everybody_and_to_an_administrator_has_the_headers(client):
    client.force_login(get_user_model().objects.create_superuser("ada"))
    for path in ROUTES:
        for answered in (client.get(path), client.post(path, headers={"Origin": "null"})):
            check(answered, path)


@pytest.mark.parametrize("path", ["/nothing", "/v1/nothing", "/t/short", "/admin/nothing/"])
async def test_what_is_not_there_has_them_too(path):
    response = await AsyncClient().get(path)
    assert response.status_code in {302, 404}
    check(response, path)


async def test_a_static_file_has_them_too():
    response = await AsyncClient().get(static("build/explorer.js"))
    assert response.status_code == 200
    check(response, "/static")


async def ancestors(path="/embed"):
    return policy_of(await AsyncClient().get(path))["frame-ancestors"]


async def test_listed_sites_may_frame_the_pages_for_frames_and_no_other(environment):
    environment(embed_sites=(SITE, "https://*.canvas.example"))
    listed = ["'self'", SITE, "https://*.canvas.example"]
    assert await ancestors() == listed
    assert await ancestors(f"/embed/t/{ID}") == listed  # so that its 404 can be read
    for path in ("/", f"/t/{ID}", "/admin/login/", "/embedded"):
        assert await ancestors(path) == ["'none'"]


async def test_the_administrators_list_holds_for_the_next_request():
    await LimitsRow.objects.acreate(pk=1, embed_sites=SITE)
    assert await ancestors() == ["'self'", SITE]
    await LimitsRow.objects.aupdate(embed_sites="")
    assert await ancestors() == ["'self'"]


@pytest.mark.parametrize(
    "entry",
    [
        "*",
        "https:",
        "'unsafe-inline'",
        "https://a.example; script-src *",
        "https://a.example https://b.example",
        "https://a.example,https://b.example",
        "javascript:alert(1)",
        "data:",
        "https://*",
        "https://*.com",
        "https://a.example/path",
        "https://a.example\thttps://b.example",
        "https://bücher.example",
    ],
)
async def test_an_entry_that_is_no_site_never_reaches_the_header(entry):
    await LimitsRow.objects.acreate(pk=1, embed_sites=f"{entry}\n{SITE}")  # past the form's check
    response = await AsyncClient().get("/embed")
    assert policy_of(response)["frame-ancestors"] == ["'self'", SITE]
    assert policy_of(response)["script-src"] == ["'self'"]


async def test_a_sandboxed_page_is_told_why_it_may_not_call():
    api = await AsyncClient().post("/v1/traces", headers={"Origin": "null"})
    assert api.status_code == 403
    assert "allow-same-origin" in api.json()["error"]["message"]
    page = await AsyncClient().post("/embed", {"prompt": "x"}, headers={"Origin": "null"})
    assert page.status_code == 403
    assert b"allow-same-origin" in page.content
    assert page["Content-Type"].startswith("text/html")


def test_the_documented_production_settings_leave_nothing_to_warn_of(tmp_path):
    given = {
        "TRACEAPP_DATA_DIR": str(tmp_path),
        "TRACEAPP_ALLOWED_HOSTS": "traces.school.example",
        "TRACEAPP_PROXIES": "1",
        "TRACEAPP_HTTPS": "true",
        "SECRET_KEY": "Xk29" * 5 + "mQ7+z!w4Rt" * 4,
    }
    ended: subprocess.CompletedProcess[str] = manage(
        "check", "--deploy", "--fail-level", "WARNING", **given
    )
    assert ended.returncode == 0, ended.stderr
    assert "no issues" in ended.stdout + ended.stderr


async def test_behind_https_other_requests_are_sent_there_and_probes_are_not(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = [r"^health$", r"^metrics(/json)?$"]
    home = await AsyncClient().get("/")
    assert (home.status_code, home["Location"]) == (301, "https://testserver/")
    assert (await AsyncClient().get("/health")).status_code == 503
