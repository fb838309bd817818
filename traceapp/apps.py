"""The app that speaks HTTP and HTML."""

from __future__ import annotations

from django.apps import AppConfig


class TraceappConfig(AppConfig):
    name = "traceapp"
    verbose_name = "Token Trace's web side"

    def ready(self) -> None:
        from traceapp import checks  # noqa: F401 - importing registers them
