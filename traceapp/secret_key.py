"""The signing key of an installation that was given none: made once, then kept."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.management.utils import get_random_secret_key


def kept_secret_key(data_dir: Path) -> str:
    """The key in the data folder, made on first use, readable by its owner alone.

    Two processes that start at once agree: the first to create the file wins.
    """
    path = data_dir / "secret-key"
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        draft = data_dir / f"secret-key.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(get_random_secret_key())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
