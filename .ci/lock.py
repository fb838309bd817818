"""Prints exact versions of everything that pyproject.toml asks for: `make lock` runs it.

pip resolves without installing, so the versions come from the registry and not from whatever
this environment happens to hold.
"""

from __future__ import annotations

import json
import subprocess
import sys

HEADER = """\
# Exact versions of everything in pyproject.toml, development tools included, as tested together
# on Python 3.11 with the CPU build of torch. `make` installs by them; so does
#     pip install -c constraints.txt -e .
# Refresh with `make lock`, then `make test`, and commit the two together with the reason.
"""

# What a CUDA build of torch brings along: torch pins these itself, and a CPU build has none.
CUDA_PREFIXES = ("nvidia-", "cuda-", "triton")

RESOLVE = ("install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-")


def main() -> None:
    """Resolve the project with every extra and print one pin a line, sorted by name."""
    command = [sys.executable, "-m", "pip", *RESOLVE, ".[bench,dev]"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603
    pins = sorted(
        f"{name}=={version}"
        for name, version in map(_release, report["install"])
        if name != "token-trace" and not name.startswith(CUDA_PREFIXES)
    )
    sys.stdout.write(HEADER + "\n".join(pins) + "\n")


def _release(item: dict[str, dict[str, str]]) -> tuple[str, str]:
    metadata = item["metadata"]
    # 2.13.0+cpu is one machine's build; the public version fits every build of it.
    version = metadata["version"].partition("+")[0]
    return metadata["name"].lower().replace("_", "-"), version


if __name__ == "__main__":
    main()
