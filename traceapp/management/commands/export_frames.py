"""`manage.py export_frames`: specimens of the live socket's frames, for the tests of both sides."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

FOLDER = Path("tests/data/frames")


class Command(BaseCommand):
    help = "Write a specimen of each frame of the live socket, from a tiny model."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--folder", default=str(FOLDER), help="where to, from the top folder")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # The tiny model is the tests' own, and needs what they need.
            from tests.frames import specimens, written
        except ImportError as error:
            raise CommandError(f"this needs a checkout made for development: {error}") from None
        folder = settings.BASE_DIR / options["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        made = asyncio.run(specimens())
        for name, frame in made.items():
            (folder / f"{name}.json").write_text(written(frame))
        self.stdout.write(f"{len(made)} frames are in {folder}")
