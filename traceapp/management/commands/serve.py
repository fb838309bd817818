"""`manage.py serve`: the server, ready for visitors."""

from __future__ import annotations

import logging
import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.management.base import BaseCommand, CommandError

from inference import runtime
from inference.generate_config import BadGenerateConfig, GenerateConfig, parse
from inference.models import current_limits
from traceapp.checks import before_serving

logger = logging.getLogger(__name__)

QUERY_SECONDS = 5.0  # as long as SQLite waits for a lock
IDLE_SECONDS = 45.0  # that a connection may be silent while no request of its own is answered
LAST_TURN_SECONDS = 2.0  # for the worker, once nobody hears it any more
WILDCARDS = {"0.0.0.0", "::"}  # noqa: S104 - compared with, not bound


class Command(BaseCommand):
    help = "Serve the pages and the APIs, with the model in this process."
    requires_system_checks = ()  # it runs them itself, with the rest of `traceapp.checks`

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
        parser.add_argument("--model", default=settings.TRACEAPP.model, help="alias to serve")
        parser.add_argument(
            "--served-model-name", help="name that the OpenAI endpoints show (default: the alias)"
        )
        parser.add_argument(
            "--generate-config",
            metavar="JSON",
            help='defaults of the OpenAI endpoints, such as {"temperature": 0}',
        )
        parser.add_argument(
            "--profile", action="store_true", help="offer /start_profile and /stop_profile"
        )
        parser.add_argument(
            "--profile-output",
            type=Path,
            metavar="FOLDER",
            help="where profiles go (default: profiles in the data folder)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        settings.TRACEAPP = settings.TRACEAPP.model_copy(update={"model": options["model"]})
        settings.ALLOWED_HOSTS += _names_of(options["host"])
        settings.QUERY_SECONDS = QUERY_SECONDS
        settings.SERVED_MODEL_NAME = _served_name(options["served_model_name"])
        settings.GENERATE_CONFIG = _generate_config(options["generate_config"])
        settings.PROFILE_OUTPUT = _profile_output(options["profile"], options["profile_output"])
        self._require_health()  # with all that was asked for in the settings: it loads the routes

        # Known from now on, whatever becomes of the database.
        async_to_sync(current_limits)()

        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import Server, reactor

        # Last, for it starts the model.
        from traceapp.asgi import application

        server: Any = Server(
            application,
            endpoints=build_endpoint_description_strings(
                host=options["host"], port=options["port"]
            ),
            # Not before the reactor runs: until then a signal ends the process unheard.
            ready_callable=lambda: reactor.callWhenRunning(self._announce, options["host"], server),
            server_name="",
            signal_handlers=False,  # ours, which let what runs end
        )
        server.run()
        listened = bool(server.listening_addresses)
        if not listened:  # daphne logs why, and ends as if it had served
            self.stderr.write(f"cannot listen on {options['host']}, port {options['port']}")
        _end(0 if listened else 1)

    def _require_health(self) -> None:
        """Say what is not as it should be; raises CommandError where that keeps from serving."""
        found = before_serving()
        for message in found:
            if not message.is_serious():
                self.stderr.write(_said(message))
        if serious := [_said(message) for message in found if message.is_serious()]:
            raise CommandError("\n".join(serious))

    def _announce(self, host: str, server: Any) -> None:
        from traceapp.stopping import Stopping

        Stopping(server, seconds=settings.TRACEAPP.stop_seconds).listen_to_signals()
        server.http_factory.timeOut = IDLE_SECONDS
        port = server.listening_addresses[0][1]
        shown = "localhost" if host in WILDCARDS | {"127.0.0.1"} else host
        self.stdout.write(f"Token Trace is at http://{shown}:{port}/ (stop it with Ctrl-C)")
        self.stdout.flush()


def _end(status: int) -> NoReturn:
    """End the process, also where the worker loads or hangs, for neither can be interrupted."""
    serving = runtime.current()
    serving.begin_closing()
    if not serving.has_ended(within_seconds=LAST_TURN_SECONDS):
        sys.stdout.flush()
        logging.shutdown()
        os._exit(status)
    sys.exit(status)


def _said(message: CheckMessage) -> str:
    return f"{message.id}: {message.msg}. {message.hint}"


def _served_name(name: str | None) -> str | None:
    if name is not None and not (name.strip() and name.isprintable() and len(name) <= 200):
        raise CommandError("--served-model-name must be 1 to 200 printable characters")
    return name


def _generate_config(text: str | None) -> GenerateConfig:
    try:
        return GenerateConfig() if text is None else parse(text)
    except BadGenerateConfig as error:
        raise CommandError(f"--generate-config: {error}") from None


def _profile_output(wanted: bool, folder: Path | None) -> Path | None:
    if folder is not None and not wanted:
        raise CommandError("--profile-output is of use with --profile only")
    return folder or settings.TRACEAPP.data_dir / "profiles" if wanted else None


def _names_of(host: str) -> list[str]:
    """The names by which visitors reach this machine when it listens on `host`."""
    if host not in WILDCARDS:
        return [f"[{host}]" if ":" in host else host]
    name = socket.gethostname()
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(name, None)}
    except OSError:
        found = set()
    # The address that a route out would use; nothing is sent.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(probe.getsockname()[0])
        except OSError:
            pass
    return [name, f"{name}.local", *(f"[{a}]" if ":" in str(a) else str(a) for a in found)]
