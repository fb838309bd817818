"""
Which code runs a model: the project's own kernels where they know it, else transformers.

Decided from config.json and the types of the weights before anything is loaded, so that
`/v1/models` can say it from the start. Imports neither torch nor transformers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from inference.engine.kernels.safetensors_file import SafetensorsFolder
from inference.engine.kernels.shape import Unsupported, shape_of

Implementation = Literal["kernels", "transformers"]


def implementation_for(folder: Path, *, gguf: Path | None) -> tuple[Implementation, str]:
    """Who runs the model of a folder, and why: one sentence, for the log."""
    try:
        shape = shape_of(json.loads((folder / "config.json").read_text()))
        if gguf is None:
            SafetensorsFolder(folder)
    except Unsupported as error:
        return "transformers", f"{error}."
    return "kernels", f"They know {shape.family} models."
