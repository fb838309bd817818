"""`manage.py record_traces`: traces of the served model, for a booth to show without it."""

from __future__ import annotations

import asyncio
import hashlib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from inference.errors import TraceError
from inference.limits import Limits
from inference.weights.errors import WeightsError
from traceapp.api.errors import problems_in_words
from traceapp.booth.prompts import CURATED, BoothPrompt
from traceapp.booth.recordings import MAX_FILES, own_folder, record, write
from traceapp.loading import loaded_model


class Command(BaseCommand):
    help = "Record traces of a model, for /booth to show while the model cannot be asked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "prompts", nargs="*", metavar="PROMPT", help="your own; the curated ones if none"
        )
        parser.add_argument("--model", default=settings.TRACEAPP.model, help="alias to load")
        parser.add_argument(
            "--folder",
            type=Path,
            help="where to (default: recorded in the data folder, where the booth looks)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        prompts = [_own(text) for text in options["prompts"]] or list(CURATED)
        folder = options["folder"] or own_folder(settings.TRACEAPP.data_dir)
        try:
            for prompt in prompts:  # before the model is loaded
                prompt.body()
            asyncio.run(self._record(prompts, options["model"], folder))
        except ValidationError as error:
            raise CommandError(problems_in_words(error.errors())) from None
        except (TraceError, WeightsError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error.strerror}") from None

    async def _record(self, prompts: list[BoothPrompt], alias: str | None, folder: Path) -> None:
        # The operator's own command: the administrator's limits are for visitors.
        limits = Limits(deadline_seconds=settings.TRACEAPP.deadline_seconds)
        async with loaded_model(alias) as serving:
            for prompt in prompts:
                path = write(await record(prompt, runtime=serving, limits=limits), folder)
                self.stdout.write(str(path))
            if len(list(path.parent.glob("*.json"))) > MAX_FILES:
                self.stderr.write(f"a booth reads {MAX_FILES} of these files; remove some")


def _own(text: str) -> BoothPrompt:
    """A prompt of the operator's, greedy; the same text is the same file."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return BoothPrompt(slug=f"own-{digest[:12]}", prompt=text)
