"""
A model's own repository on the hub, at the pinned revision, in the shared Hugging Face cache.

Looking is done in local files alone. The cache names each blob by its digest (a SHA-256 for
weights, git's SHA-1 for small files), which is what the blobs are checked against.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from inference.catalogue import CatalogueModel
from inference.weights.errors import WeightsError
from inference.weights.files import (
    Report,
    git_blob_sha1_of,
    remove,
    require_free_space,
    sha256_of,
    silently,
)
from inference.weights.folder import ModelFolder, check_folder, combined_sha256, weight_files

# No pickles, no other formats, nothing from a subfolder (such as onnx/).
WANTED = ["*.safetensors", "*.json", "merges.txt", "*.jinja", "LICENSE*"]
UNWANTED = ["*/*"]

SHA256_NAME = re.compile("[0-9a-f]{64}")
SHA1_NAME = re.compile("[0-9a-f]{40}")


def find_snapshot(model: CatalogueModel, cache: Path | None = None) -> Path | None:
    """The folder of the pinned snapshot, if all of it lies on this machine.

    `cache` is by default the one that HF_HUB_CACHE or HF_HOME names.
    """
    try:
        found = snapshot_download(
            model.repository,
            revision=model.revision,
            cache_dir=_cache(cache),
            allow_patterns=WANTED,
            ignore_patterns=UNWANTED,
            local_files_only=True,
        )
    except LocalEntryNotFoundError:  # absent, or known to be incomplete
        return None
    folder = Path(found)
    # A cache that another version of the client filled keeps no list of what belongs to it.
    if not all((folder / name).exists() for name in ("config.json", "tokenizer.json")):
        return None
    try:
        weight_files(folder)
    except WeightsError:
        return None
    return folder


def check_snapshot(folder: Path) -> tuple[ModelFolder, str]:
    """What the snapshot holds, and the SHA-256 of its weights; raises WeightsError."""
    contents = check_folder(folder)
    digests = {}
    for path in _files(folder):
        expected, actual = _digests(path)
        if expected is not None and actual != expected:
            raise WeightsError(f"{path} is damaged or altered: its digest is not the hub's.")
        if path in contents.weight_files:
            digests[path.name] = actual
    return contents, combined_sha256(digests)


def fetch(
    model: CatalogueModel,
    cache: Path | None = None,
    *,
    endpoint: str | None = None,
    report: Report = silently,
) -> Path:
    """Bring the pinned snapshot, or what is missing or damaged of it; raises WeightsError.

    `endpoint` is by default the hub, or what HF_ENDPOINT names.
    """
    folder = find_snapshot(model, cache)
    if folder is not None and _is_sound(folder):
        return folder
    _remove_damaged(_snapshot(model, cache))
    report(f"downloading {model.repository} at {model.revision[:7]} from the hub")
    try:
        needed_bytes = _missing_bytes(model, cache, endpoint)
        require_free_space(_cache(cache), needed_bytes, f"Fetching {model.alias}")
        snapshot_download(
            model.repository,
            revision=model.revision,
            cache_dir=_cache(cache),
            allow_patterns=WANTED,
            ignore_patterns=UNWANTED,
            endpoint=endpoint,
            max_workers=2,
        )
    except WeightsError:
        raise
    except Exception as error:  # the client raises out of half a dozen unrelated trees
        reason = next((line for line in str(error).splitlines() if line.strip()), repr(error))
        source = endpoint or constants.ENDPOINT
        raise WeightsError(
            f"{model.repository} could not be fetched from {source}: {reason}"
        ) from error
    report("checking what was downloaded")
    folder = find_snapshot(model, cache)
    if folder is None:
        raise WeightsError(f"{model.repository} has no complete model at {model.revision}.")
    check_snapshot(folder)
    return folder


def _cache(cache: Path | None) -> Path:
    return Path(constants.HF_HUB_CACHE) if cache is None else cache


def _snapshot(model: CatalogueModel, cache: Path | None) -> Path:
    """Where the cache keeps the snapshot, be it there or not."""
    repository = "--".join(["models", *model.repository.split("/")])
    return _cache(cache) / repository / "snapshots" / model.revision


def _missing_bytes(model: CatalogueModel, cache: Path | None, endpoint: str | None) -> int:
    """How much is to be downloaded, as the hub says.

    This is also the one request that is not tried again and again, so a hub out of reach
    is known at once.
    """
    listing = HfApi(endpoint=endpoint).model_info(
        model.repository, revision=model.revision, files_metadata=True, timeout=15
    )
    sizes = {file.rfilename: file.size or 0 for file in listing.siblings or ()}
    here = _snapshot(model, cache)
    return sum(
        size for name, size in sizes.items() if _is_wanted(name) and not (here / name).exists()
    )


def _is_wanted(name: str) -> bool:
    return "/" not in name and any(fnmatchcase(name, pattern) for pattern in WANTED)


def _files(folder: Path) -> list[Path]:
    """The files that we use, the smallest first, so that most damage is found at once."""
    paths = (path for path in folder.iterdir() if path.is_file() and _is_wanted(path.name))
    return sorted(paths, key=_size)


def _size(path: Path) -> int:
    return path.stat().st_size


def _digests(path: Path) -> tuple[str | None, str]:
    """What the digest should be, where the cache says it, and what it is."""
    name = path.resolve().name
    if SHA1_NAME.fullmatch(name):
        return name, git_blob_sha1_of(path)
    return name if SHA256_NAME.fullmatch(name) else None, sha256_of(path)


def _is_sound(folder: Path) -> bool:
    try:
        check_snapshot(folder)
    except WeightsError:
        return False
    return True


def _remove_damaged(snapshot: Path) -> None:
    """Remove the blobs that are not what their names say: the client would keep them."""
    if not snapshot.is_dir():
        return
    for path in _files(snapshot):
        expected, actual = _digests(path)
        if expected is not None and actual != expected:
            remove(path.resolve())
            remove(path)
