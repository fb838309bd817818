"""`manage.py trace "The moon is"`: the trace of a prompt, in a terminal."""

from __future__ import annotations

import asyncio
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from inference.errors import TraceError
from inference.limits import Limits
from inference.services import run_trace
from inference.traces import Trace
from inference.weights.errors import WeightsError
from traceapp.api.errors import problems_in_words
from traceapp.loading import loaded_model
from traceapp.terminal import lines_of
from traceapp.wire.traces import TraceAnswer, TraceBody

FIELDS = ("max_new_tokens", "top_k", "temperature", "top_p", "seed")


class Command(BaseCommand):
    help = "Trace a prompt: at each step the token, its probability, and what else could follow."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prompt", help="the text to continue; - reads standard input")
        parser.add_argument("--model", default=settings.TRACEAPP.model, help="alias to load")
        for name, kind in TraceBody.model_fields.items():
            if name in FIELDS:
                parser.add_argument(
                    "--" + name.replace("_", "-"),
                    type=float if kind.annotation is float else int,
                    default=kind.default,
                    help=f"{kind.description} (default: {kind.default})",
                )
        parser.add_argument("--json", action="store_true", help="print the API's answer")

    def handle(self, *args: Any, **options: Any) -> None:
        prompt = sys.stdin.read() if options["prompt"] == "-" else options["prompt"]
        try:
            body = TraceBody(prompt=prompt, **{name: options[name] for name in FIELDS})
            trace = asyncio.run(_trace(body, options["model"]))
        except ValidationError as error:
            raise CommandError(problems_in_words(error.errors())) from None
        except (TraceError, WeightsError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(TraceAnswer.of(trace, with_analysis=True).to_json())
        else:
            for line in lines_of(trace):
                self.stdout.write(line)


async def _trace(body: TraceBody, alias: str | None) -> Trace:
    # The operator's own command: the administrator's limits are for visitors.
    limits = Limits(deadline_seconds=settings.TRACEAPP.deadline_seconds)
    async with loaded_model(alias) as serving:
        return await run_trace(
            body.to_request(limits), runtime=serving, limits=limits, arrived_at=time.monotonic()
        )
