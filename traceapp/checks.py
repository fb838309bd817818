"""
What would keep a server from serving well, found before it serves.

Django's `check`, and every command that checks, runs those that ask nobody else. `serve` runs
all of them, prints each with its hint, and does not begin where one is an error.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register, run_checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from traceapp.counting import redis_storage

SECRET_LENGTH = 50  # characters
# Names under which anybody may have a site: a pattern below one of them lets strangers in.
SHARED_NAMES = frozenset(
    {
        *("blogspot.com", "github.io", "gitlab.io", "herokuapp.com", "netlify.app", "pages.dev"),
        *("vercel.app", "web.app", "wordpress.com", "co.uk", "ac.uk", "com.au", "edu.au", "co.jp"),
    }
)


@register("traceapp")
def check_folders(**kwargs: Any) -> list[CheckMessage]:
    """Whether what is kept can be kept. Weights may lie in a folder that is only read."""
    env = settings.TRACEAPP
    found: list[CheckMessage] = []
    keeps_data = env.database_url is None or env.secret_key is None
    if keeps_data and not _is_writable(env.data_dir):
        hint = "Give this user the right to write there, or name another in TRACEAPP_DATA_DIR."
        found.append(Error(f"{env.data_dir} cannot be written", hint=hint, id="traceapp.E001"))
    if not _is_writable(env.weights_dir):
        hint = "Weights and kernels can be read there, but not fetched, converted or compiled."
        found.append(Warning(f"{env.weights_dir} cannot be written", hint=hint, id="traceapp.W002"))
    return found


@register("traceapp")
def check_debug(**kwargs: Any) -> list[CheckMessage]:
    """Debug pages show settings and code: they are for this machine alone."""
    others = [host for host in settings.ALLOWED_HOSTS if not is_loopback(host)]
    if not settings.DEBUG or not others:
        return []
    hint = "Unset DEBUG, or name no other host in TRACEAPP_ALLOWED_HOSTS and --host."
    return [
        Error(f"debug pages would be open to {', '.join(others)}", hint=hint, id="traceapp.E002")
    ]


@register("traceapp")
def check_secret_key(**kwargs: Any) -> list[CheckMessage]:
    """One in the data folder may have been cut short; SECRET_KEY itself is checked when read."""
    if len(settings.SECRET_KEY) >= SECRET_LENGTH:
        return []
    hint = "Remove `secret-key` in the data folder: a new one is made, and everybody logs in again."
    message = f"the signing key has fewer than {SECRET_LENGTH} characters"
    return [Error(message, hint=hint, id="traceapp.E003")]


@register("traceapp")
def check_embed_sites(**kwargs: Any) -> list[CheckMessage]:
    """A pattern below a shared name lets anybody's page show ours in a frame."""
    wide = [
        site
        for site in settings.TRACEAPP.embed_sites
        if site.partition("//*.")[2].partition(":")[0] in SHARED_NAMES
    ]
    return [
        Warning(
            f"TRACEAPP_EMBED_SITES: anybody can have a site of {site}",
            hint="Name the one site that is to show our pages.",
            id="traceapp.W001",
        )
        for site in wide
    ]


def check_database() -> list[CheckMessage]:
    """Whether it answers, and has the tables of this version."""
    try:
        executor = MigrationExecutor(connection)
        behind = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        hint = "Start it, or mend DATABASE_URL; unset, SQLite is used."
        message = f"the database does not answer: {type(error).__name__}"
        return [Error(message, hint=hint, id="traceapp.E004")]
    if not behind:
        return []
    hint = "Run `python manage.py migrate` first."
    return [Error("the database is not up to date", hint=hint, id="traceapp.E005")]


def check_static_files() -> list[CheckMessage]:
    """Whether pages would find their styles and scripts."""
    if settings.DEBUG or (Path(settings.STATIC_ROOT) / "staticfiles.json").exists():
        return []
    hint = "Run `python manage.py collectstatic --no-input`."
    return [Error("the static files are not collected", hint=hint, id="traceapp.E006")]


def check_redis() -> list[CheckMessage]:
    """Whether clients' rates can be counted where they are to be."""
    if settings.TRACEAPP.redis_url is None:
        return []
    hint = "Start it, or mend REDIS_URL; unset, rates are counted in this process."
    try:
        answers = redis_storage(settings.TRACEAPP.redis_url).check()
    except Exception as error:  # what a client of Redis raises is its own affair
        message = f"Redis cannot be used: {type(error).__name__}"
        return [Error(message, hint=hint, id="traceapp.E007")]
    return [] if answers else [Error("Redis does not answer", hint=hint, id="traceapp.E007")]


def before_serving() -> list[CheckMessage]:
    """All that was found, the errors last."""
    found = [*run_checks(), *check_database(), *check_static_files(), *check_redis()]
    return sorted(found, key=lambda message: message.level)


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_writable(folder: Path) -> bool:
    """Whether files can be made there; of a folder that is not there yet, whether it can."""
    nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
