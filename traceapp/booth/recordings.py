"""
The recorded traces: made on the real model, written as files, and found again for a booth.

A folder of recordings has a folder for each alias, with a file `SLUG.json` for each prompt. Those
of the embedded model come with the product; an operator's own are in the data folder.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from inference.catalogue import EMBEDDED
from inference.engine.types import ModelCard
from inference.limits import Limits
from inference.runtime import Runtime
from inference.services import run_trace
from traceapp.booth.prompts import CURATED, BoothPrompt
from traceapp.versions import versions
from traceapp.wire.recordings import Recording
from traceapp.wire.sharing import Provenance
from traceapp.wire.traces import TraceAnswer

logger = logging.getLogger(__name__)

SHIPPED = Path(__file__).resolve().parent.parent / "recorded"
# Both are many times what the command writes: a folder of something else is not to stall a page.
MAX_FILES = 64
MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Prepared:
    """The recordings that a booth may show."""

    recordings: tuple[Recording, ...]
    of_served_model: bool  # else of the embedded model, which must then be said


def own_folder(data_dir: Path) -> Path:
    """Where an operator's own recordings are."""
    return data_dir / "recorded"


async def record(prompt: BoothPrompt, *, runtime: Runtime, limits: Limits) -> Recording:
    """Trace a prompt on the loaded model. Raises what `run_trace` raises."""
    trace = await run_trace(
        prompt.body().to_request(limits),
        runtime=runtime,
        limits=limits,
        arrived_at=time.monotonic(),
    )
    now = datetime.now(UTC).replace(microsecond=0)
    return Recording(
        slug=prompt.slug,
        trace=TraceAnswer.of(trace, with_analysis=True),
        provenance=Provenance.of(trace, made_at=now, versions=versions()),
    )


def write(recording: Recording, folder: Path) -> Path:
    """Keep a recording in a folder of recordings, in the place of one of the same prompt."""
    path = folder / recording.trace.model.alias / f"{recording.slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")  # so that a booth never reads half a file
    beside.write_text(recording.model_dump_json() + "\n", encoding="utf-8")
    beside.replace(path)
    return path


def read(folder: Path, alias: str) -> tuple[Recording, ...]:
    """The recordings of one model in a folder, by name. A file that is none is left out, logged."""
    found = []
    for path in sorted((folder / alias).glob("*.json"))[:MAX_FILES]:
        try:
            found.append(_read(path))
        except (OSError, ValueError) as error:
            # Not its text, which a person may have typed.
            logger.warning("%s is no recording: %s", path.name, _reason(error))
    return tuple(found)


def prepared_for(card: ModelCard | None, *, data_dir: Path) -> Prepared:
    """What a booth shows where this model is served; of two of the same prompt, the operator's.

    A model without recordings gets those of the embedded one.
    """
    if card is not None:
        folders = (SHIPPED, own_folder(data_dir))
        recordings = [each for folder in folders for each in read(folder, card.alias)]
        of_card = {each.slug: each for each in recordings if is_of(each, card)}
        if of_card:
            return Prepared(_ordered(of_card), of_served_model=True)
    shipped = {each.slug: each for each in read(SHIPPED, EMBEDDED.alias)}
    return Prepared(_ordered(shipped), of_served_model=False)


def is_of(recording: Recording, card: ModelCard) -> bool:
    """Whether a recording is of exactly these weights."""
    model, weights = recording.trace.model, recording.provenance.sha256
    return (model.alias, model.revision, weights) == (card.alias, card.revision, card.sha256)


def prompts_with(prepared: Prepared) -> tuple[BoothPrompt, ...]:
    """The prompts that a booth offers: an operator's own, then the curated ones."""
    curated = {prompt.slug for prompt in CURATED}
    own = [_prompt_of(each) for each in prepared.recordings if each.slug not in curated]
    return (*own, *CURATED)


def _ordered(by_slug: dict[str, Recording]) -> tuple[Recording, ...]:
    """In the order of the buttons."""
    curated = [prompt.slug for prompt in CURATED]
    own = [slug for slug in by_slug if slug not in curated]
    return tuple(by_slug[slug] for slug in (*own, *curated) if slug in by_slug)


def _prompt_of(recording: Recording) -> BoothPrompt:
    asked, decoding = recording.provenance, recording.trace.decoding
    return BoothPrompt(
        slug=recording.slug,
        prompt=recording.trace.prompt,
        max_new_tokens=asked.max_new_tokens,
        top_k=asked.top_k,
        temperature=decoding.temperature,
        top_p=decoding.top_p,
        seed=decoding.seed,
    )


def _read(path: Path) -> Recording:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES} bytes")
    recording = Recording.model_validate_json(path.read_bytes())
    if (recording.trace.model.alias, recording.slug) != (path.parent.name, path.stem):
        raise ValueError("it is of another model or prompt than its name says")
    return recording


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error)
