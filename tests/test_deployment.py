"""What docs/deployment.md hands out: against the code, and by the tools that read it."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from inference.limits import Limits
from tests.commands import manage
from tests.test_docs import ROOT, column, page, table
from traceapp.body_limits import DEFAULT_LIMIT, LIMITS
from traceapp.env import Environment

FOLDER = ROOT / "docs/deployment"
NGINX = (FOLDER / "nginx.conf").read_text()
CADDY = (FOLDER / "Caddyfile").read_text()
UNIT = (FOLDER / "token-trace.service").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
MIB = 1024 * 1024
NAMES = ("nginx.conf", "Caddyfile", "token-trace.service", "token-trace-expired.timer")


def unit(name: str) -> dict[str, str]:
    """What a unit's service is set to; of what is set twice, the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string((FOLDER / name).read_text())
    return dict(parser["Service"])


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_the_settings_for_production_leave_nothing_to_warn_of(tmp_path):
    rows = column(table(page("docs/deployment.md"), "variable"), 0, 1)
    given = dict(rows) | {
        "SECRET_KEY": "Xk29" * 5 + "mQ7+z!w4Rt" * 4,
        "TRACEAPP_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "postgres://trace:secret@db.internal/trace",
        "REDIS_URL": "redis://:secret@redis.internal:6379/0",
    }
    ended = manage("check", "--deploy", "--fail-level", "WARNING", **given)
    assert ended.returncode == 0, ended.stderr
    assert "no issues" in ended.stdout + ended.stderr


def test_the_proxy_lets_through_what_the_server_takes_and_little_more():
    largest = max(DEFAULT_LIMIT, *LIMITS.values())
    assert largest <= MIB
    for text in (NGINX, CADDY):
        (megabytes,) = re.findall(r"(?:client_max_body_size|max_size) (\d)(?:m|MB)", text)
        assert largest < int(megabytes) * MIB
    assert "large_client_header_buffers 4 8k" in NGINX
    assert "max_header_size 32KB" in CADDY


def test_the_proxy_waits_as_long_as_a_request_may_take_and_a_socket_may_be_silent():
    (reading,) = re.findall(r"^    proxy_read_timeout +(\w+);", NGINX, re.M)
    assert seconds(reading) > Limits().deadline_seconds
    (of_sockets,) = re.findall(r"^        proxy_read_timeout (\w+);", NGINX, re.M)
    (of_caddy,) = re.findall(r"\bread_timeout (\w+)", CADDY)
    ping, pong = 20, 30  # of daphne
    assert min(seconds(of_sockets), seconds(of_caddy)) > ping + pong


def test_no_location_of_nginx_loses_the_headers_that_the_server_needs():
    locations = re.findall(r"^    location [^{]*\{[^}]*\}", NGINX, re.M)
    assert len(locations) == 4
    assert "proxy_set_header" not in "".join(locations)
    for header in ("Host", "X-Forwarded-For", "X-Forwarded-Proto", "Upgrade", "Connection"):
        assert re.search(rf"proxy_set_header {header} ", NGINX)


def test_no_log_of_nginx_has_a_path():
    (written,) = re.findall(r"log_format token_trace '([^']*)'", NGINX)
    assert not {"$request", "$request_uri", "$uri", "$args"} & set(written.split())
    servers = NGINX.count("\nserver {")
    assert NGINX.count("access_log /var/log/nginx/token-trace.log token_trace;") == servers
    assert len(re.findall(r"error_log +\S+ crit;", NGINX)) == servers


@pytest.mark.parametrize("text", [UNIT, DOCKERFILE], ids=["systemd", "Docker"])
def test_what_starts_the_server_migrates_and_says_sigterm(text):
    assert text.index("manage.py migrate") < text.index("manage.py serve")
    assert re.search(r"(KillSignal=|STOPSIGNAL )SIGTERM", text)


def test_the_unit_is_hardened_and_stops_well():
    service = unit("token-trace.service")
    assert int(service["TimeoutStopSec"]) > Environment.model_fields["stop_seconds"].default
    assert service["DynamicUser"] == service["NoNewPrivileges"] == "yes"
    assert (service["StateDirectory"], service["StateDirectoryMode"]) == ("token-trace", "0700")
    assert f"TRACEAPP_DATA_DIR=/var/lib/{service['StateDirectory']}" in service["Environment"]
    expired = unit("token-trace-expired.service")
    assert expired["ExecStart"].endswith("manage.py remove_expired_traces")
    shared = ("User", "StateDirectory", "EnvironmentFile", "WorkingDirectory", "Environment")
    assert [expired[name] for name in shared] == [service[name] for name in shared]


def test_the_image_has_no_compiler_no_root_and_a_health_check():
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "apt-get" not in DOCKERFILE
    assert "pip install" not in final
    assert re.search(r"^USER 10001$", final, re.M)
    assert "/health" in final.partition("HEALTHCHECK")[2]


def test_the_image_gets_what_is_copied_and_nothing_else():
    copied = set()
    for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.M):
        copied |= set(line.split())
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_the_page_links_what_it_hands_out():
    linked = set(re.findall(r"\]\(deployment/([^)]+)\)", page("docs/deployment.md")))
    assert linked == set(NAMES)


@pytest.mark.parametrize("check", ["nginx", "caddy"])
def test_the_tool_itself_takes_the_file_where_it_is_installed(check, tmp_path):
    """Without the tool this holds of the braces alone, which both languages have."""
    text = {"nginx": NGINX, "caddy": CADDY}[check]
    without_comments = re.sub(r"#.*", "", text)
    assert without_comments.count("{") == without_comments.count("}")
    if shutil.which(check):
        command = {"nginx": _nginx, "caddy": _caddy}[check](tmp_path)
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def _nginx(folder: Path) -> list[str]:
    """The file within a whole configuration, with a certificate that is made for it."""
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=traces.school.example", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    site = NGINX.replace("/etc/ssl/token-trace", str(folder)).replace("/var/log/nginx", str(folder))
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ include {folder}/site.conf; }}\n"
    )
    return ["nginx", "-t", "-q", "-c", str(folder / "nginx.conf")]


def _caddy(folder: Path) -> list[str]:
    return ["caddy", "adapt", "--adapter", "caddyfile", "--config", str(FOLDER / "Caddyfile")]
