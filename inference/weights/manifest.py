"""
The list of what a conversion wrote, kept beside the files and checked before each load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of

MANIFEST = "manifest.json"


def write_manifest(folder: Path, *, gguf_sha256: str, versions: Mapping[str, str]) -> None:
    """List every file of the folder, what it was made from, and by which libraries."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in sorted(folder.iterdir())
    }
    content = {"gguf_sha256": gguf_sha256, "versions": dict(versions), "files": files}
    (folder / MANIFEST).write_text(json.dumps(content, indent=2) + "\n")


def check_manifest(folder: Path, *, gguf_sha256: str) -> None:
    """Raise WeightsError unless the folder holds exactly what was written, unaltered."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
        made_from = content["gguf_sha256"]
        listed = {
            str(name): (int(entry["bytes"]), str(entry["sha256"]))
            for name, entry in content["files"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise WeightsError(f"{folder / MANIFEST} is missing or unreadable.") from error
    if made_from != gguf_sha256:
        raise WeightsError(f"{folder} was converted from another file than the one at hand.")
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    if present != listed.keys():
        odd = ", ".join(sorted(present ^ listed.keys()))
        raise WeightsError(f"{folder} does not hold the files that its manifest lists: {odd}.")
    # All sizes before the first digest: a file cut short is then known at once.
    for name, (size, _) in listed.items():
        if (folder / name).stat().st_size != size:
            raise WeightsError(f"{folder / name} is cut short or altered: its size is wrong.")
    for name, (_, digest) in listed.items():
        if sha256_of(folder / name) != digest:
            raise WeightsError(f"{folder / name} is altered: its SHA-256 is not the manifest's.")
