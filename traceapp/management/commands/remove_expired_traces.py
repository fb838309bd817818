"""`manage.py remove_expired_traces`: takes shared traces out of the database in time."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from traceapp.models import SharedTrace
from traceapp.sharing.store import remove_expired


class Command(BaseCommand):
    help = "Remove the shared traces whose time is over; nobody can read them already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count them, and remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"]:
            number = SharedTrace.objects.filter(expires_at__lte=timezone.now()).count()
            self.stdout.write(f"{number} expired traces would be removed")
        else:
            self.stdout.write(f"{remove_expired()} expired traces were removed")
