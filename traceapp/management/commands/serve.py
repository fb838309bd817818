"""`manage.py serve`: the server, ready for visitors."""

from __future__ import annotations

import logging
import socket
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from inference import runtime

logger = logging.getLogger(__name__)

WILDCARDS = {"0.0.0.0", "::"}  # noqa: S104 - compared with, not bound


class Command(BaseCommand):
    help = "Serve the pages and the APIs, with the model in this process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
        parser.add_argument("--model", default=settings.TRACEAPP.model, help="alias to serve")

    def handle(self, *args: Any, **options: Any) -> None:
        _require_migrations()
        settings.TRACEAPP = settings.TRACEAPP.model_copy(update={"model": options["model"]})
        settings.ALLOWED_HOSTS += _names_of(options["host"])

        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import Server

        # Last, for it starts the model.
        from traceapp.asgi import application

        server: Any = Server(
            application,
            endpoints=build_endpoint_description_strings(
                host=options["host"], port=options["port"]
            ),
            ready_callable=lambda: self._announce(options["host"], server),
            server_name="",
        )
        # Twisted would stop at once; requests that run may end first.
        server.run()
        runtime.current().close()
        if not server.listening_addresses:  # daphne logs why, and ends as if it had served
            raise CommandError(f"cannot listen on {options['host']}, port {options['port']}")

    def _announce(self, host: str, server: Any) -> None:
        port = server.listening_addresses[0][1]
        shown = "localhost" if host in WILDCARDS | {"127.0.0.1"} else host
        self.stdout.write(f"Token Trace is at http://{shown}:{port}/ (stop it with Ctrl-C)")
        self.stdout.flush()


def _require_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError("the database is not up to date: run `python manage.py migrate` first")


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
