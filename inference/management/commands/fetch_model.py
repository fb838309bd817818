from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from inference import catalogue
from inference.weights import hub, wheel
from inference.weights.errors import WeightsError
from inference.weights.fetch import fetch
from inference.weights.resolve import Checkpoint, chosen, resolve


class Command(BaseCommand):
    help = (
        "Bring a model's weights to this machine and check them. Without an alias: those of the "
        "model that would be served."
    )
    # Nothing here touches the database, and weights are fetched before anything is set up.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("alias", nargs="?", help="a model of the catalogue; see --list")
        parser.add_argument(
            "--list", action="store_true", help="list the approved models and which are here"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self.list_models()
            return
        started = time.monotonic()
        try:
            checkpoint = self.bring(options["alias"])
        except WeightsError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{checkpoint.model.alias} is ready ({checkpoint.source}, {checkpoint.dtype}, "
            f"{time.monotonic() - started:.1f} s)\nsha256 {checkpoint.sha256}"
        )

    def bring(self, alias: str | None) -> Checkpoint:
        given = settings.TRACEAPP
        # A path in the settings stands for the served model; an alias here asks for the real one.
        model_path = given.model_path if alias is None else None
        alias = alias or given.model
        if model_path is None:
            model, reason = chosen(alias)
            if alias is None:
                self.report(reason)
            alias = model.alias
            fetch(model, weights_dir=given.weights_dir, report=self.report)
        return resolve(
            alias, model_path=model_path, weights_dir=given.weights_dir, report=self.report
        )

    def list_models(self) -> None:
        for model in catalogue.MODELS:
            if model.wheel is None:
                here = hub.find_snapshot(model) is not None
                origin = f"{model.repository} at {model.revision[:7]}"
            else:
                here = wheel.gguf_path(model.wheel, settings.TRACEAPP.weights_dir).exists()
                origin = f"{model.wheel.member.rpartition('/')[2]} in {model.wheel.requirement}"
            state = "here" if here else "not here"
            self.stdout.write(f"{model.alias:22} {state:9} {model.licence:11} {origin}")

    def report(self, what: str) -> None:
        self.stdout.write(what)
        self.stdout.flush()  # pip and the hub draw their bars on the same terminal
