"""Keeps the tests off the user's own data: a pytest plugin, loaded before Django reads settings.

A conftest.py would come too late: pytest-django has imported the settings by then, and the
settings make the data folder. The weights alone are shared, so that nobody fetches them twice.
"""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from traceapp.env import Environment

WEIGHTS_DIR = str(Environment().weights_dir)

for name in [name for name in os.environ if name.startswith("TRACEAPP_")]:
    del os.environ[name]

# Removed when the process, or the xdist worker, ends.
DATA_DIR = TemporaryDirectory(prefix="token-trace-tests-", ignore_cleanup_errors=True)
os.environ["TRACEAPP_DATA_DIR"] = DATA_DIR.name
os.environ["TRACEAPP_WEIGHTS_DIR"] = WEIGHTS_DIR
