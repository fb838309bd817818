"""The signing key that an installation makes for itself."""

from __future__ import annotations

import stat
import subprocess
import sys

from tests.commands import ROOT
from traceapp.secret_key import kept_secret_key


def test_the_key_is_made_once_and_kept(tmp_path):
    key = kept_secret_key(tmp_path / "data")
    assert len(key) >= 50
    assert kept_secret_key(tmp_path / "data") == key


def test_two_installations_have_two_keys(tmp_path):
    assert kept_secret_key(tmp_path / "a") != kept_secret_key(tmp_path / "b")


def test_only_its_owner_can_read_it(tmp_path):
    kept_secret_key(tmp_path)
    (kept,) = tmp_path.iterdir()
    assert kept.name == "secret-key"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_processes_that_start_at_once_agree(tmp_path):
    """Each waits for its standard input to close, so that all begin in the same moment."""
    script = (
        "import sys, pathlib; from traceapp.secret_key import kept_secret_key as key; "
        "sys.stdin.read(); print(key(pathlib.Path(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    keys = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert len(keys) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"secret-key"}
