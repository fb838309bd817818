"""Our commands as a person runs them: in a process of their own, away from the user's data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The project's own, where a test runs by another: the clients have an environment of their own.
PYTHON = os.environ.get("SERVER_PYTHON", sys.executable)
OURS = ("TRACEAPP_", "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DEBUG", "DJANGO_")


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, with these variables and no others that we read.

    The weights alone are shared, so that nobody converts them twice.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    weights = {"TRACEAPP_WEIGHTS_DIR": os.environ["TRACEAPP_WEIGHTS_DIR"]}
    return kept | weights | {"PYTHONUNBUFFERED": "1"} | variables


def command(*arguments: str) -> list[str]:
    return [PYTHON, str(ROOT / "manage.py"), *arguments]


def manage(
    *arguments: str, typed: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*arguments),
        input=typed,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=110,
    )
