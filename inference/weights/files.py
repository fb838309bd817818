"""
Files that are written whole or not at all.

Whatever takes time is written under a name that ends in `.partial`, flushed to the disk,
and renamed. A killed process leaves a `.partial` behind, which the next one removes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from inference.weights.errors import WeightsError

PARTIAL = ".partial"
MEGABYTE = 1_000_000

Report = Callable[[str], None]  # is told, in a few words, what is being done now


def silently(_: str) -> None:
    """The Report of a caller that shows nothing."""


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_sha1_of(path: Path) -> str:
    """The name that git, and so the hub's cache, gives a small file's content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    digest.update(path.read_bytes())
    return digest.hexdigest()


def require_free_space(folder: Path, needed_bytes: int, purpose: str) -> None:
    """Raise WeightsError unless the disk that holds `folder` has that much room."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < needed_bytes:
        raise WeightsError(
            f"{purpose} needs {needed_bytes // MEGABYTE:,} MB of disk in {folder}, "
            f"and {free_bytes // MEGABYTE:,} MB are free."
        )


@contextmanager
def only_writer(folder: Path, report: Report = silently) -> Iterator[None]:
    """Hold the folder against every other process that writes weights there.

    The system frees the lock of a process that dies. What such a process left half
    written is removed here, where nobody else can be writing it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report(f"waiting for another process that writes to {folder}")
        lock.acquire()
    try:
        for leftover in folder.glob(f"*{PARTIAL}"):
            remove(leftover)
        yield
    finally:
        lock.release()


@contextmanager
def partial_folder(parent: Path) -> Iterator[Path]:
    """A new folder to fill and then `publish`; it is removed if it was not published."""
    folder = Path(tempfile.mkdtemp(dir=parent, suffix=PARTIAL))
    folder.chmod(0o755)  # mkdtemp's 0700 would hide the weights from a service's own user
    try:
        yield folder
    finally:
        remove(folder)


def publish(partial: Path, final: Path) -> None:
    """Give a finished file or folder its name, once all of it is on the disk.

    What had the name before is replaced.
    """
    for path in (partial, *partial.rglob("*")):
        _flush(path)
    if final.is_dir():
        final.rename(final.with_name(final.name + PARTIAL))
    partial.replace(final)
    _flush(final.parent)
    remove(final.with_name(final.name + PARTIAL))


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
