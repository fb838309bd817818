#!/usr/bin/env python
"""Runs the project's commands: serve, trace, fetch_model and Django's own."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
