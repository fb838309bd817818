"""A specimen of every frame of the live socket, as a tiny model makes them.

`manage.py export_frames` writes them to tests/data/frames/, where the tests of the front end read
them; a test here holds the files to what the code makes now.
"""

from __future__ import annotations

import json
import time
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel

from inference.engine.types import Step
from inference.errors import Busy, InvalidRequest
from inference.limits import Limits
from inference.running import RunningTrace
from inference.runtime import Runtime
from inference.services import count_tokens, find_tokens, start_trace
from tests.fakes import CARD, tiny_engine
from traceapp.live_run import finished_frame, frame_of
from traceapp.wire.live import (
    CLIENT_FRAME,
    Count,
    CountFrame,
    ErrorFrame,
    Find,
    FoundFrame,
    Hello,
    QueuedFrame,
    Start,
    Stop,
    StoppedFrame,
    tokens_of,
)
from traceapp.wire.models import LimitsAnswer, ModelEntry

LIMITS = Limits()
VERSIONS = {"token_trace": "0.1.0", "torch": "2.13.0", "transformers": "5.24.0"}
# Of another server's key and time, as every receipt is.
RECEIPT = "eyJtYWRlX2F0IjoiMjAyNi0wMS0wMVQwMDowMDowMFoifQ==.signature"
PROMPT = {"prompt": "The moon is é"}
STARTS: dict[str, dict[str, Any]] = {
    "greedy": {"trace": PROMPT | {"max_new_tokens": 3}, "lab": True, "score_prompt": True},
    "sampled": {
        "trace": PROMPT
        | {"max_new_tokens": 6, "top_k": 4, "temperature": 1.2, "top_p": 0.9, "seed": 7}
    },
    "branch": {
        "trace": PROMPT | {"max_new_tokens": 4, "temperature": 1, "seed": 2**53 + 1},
        "forced": [260, 195],
        "lab": True,
    },
}


async def specimens() -> dict[str, Any]:
    """Each frame by the name of its file, and three whole runs as lists of frames."""
    serving = Runtime(CARD, lambda: tiny_engine("llama"), on_failure=_unexpected)
    try:
        await serving.loaded()
        runs = {name: await _run(serving, name) for name in STARTS}
        server = {
            "hello_loading": _hello(serving, ready=False),
            "hello": _hello(serving, ready=True),
            "queued": QueuedFrame(id="greedy", position=2),
            **{name: _first(runs["greedy"], name) for name in ("started", "prompt_scores")},
            "step_greedy": _first(runs["greedy"], "step"),
            "step_sampled": _first(runs["sampled"], "step"),
            "step_forced": _first(runs["branch"], "step"),
            "finished": runs["sampled"][-1],
            "finished_stopped": await _stopped(serving),
            "stopped": StoppedFrame(id="greedy"),
            **_errors(),
            **_answers(serving),
        }
    finally:
        serving.close()
    made = {
        **{f"client_{name}": frame for name, frame in _from_client().items()},
        **{f"server_{name}": frame for name, frame in server.items()},
        **{f"run_{name}": frames for name, frames in runs.items()},
    }
    return {name: plain(frame) for name, frame in made.items()}


def plain(value: Any) -> Any:
    """As JSON has it, with times that do not change and no digits past what machines share."""
    match value:
        case BaseModel():
            return plain(value.model_dump(mode="json"))
        case dict():
            return {name: plain(each) for name, each in value.items()} | _fixed_in(value)
        case list():
            return [plain(each) for each in value]
        case float():
            return float(f"{value:.7g}")
        case _:
            return value


def written(frame: Any) -> str:
    return json.dumps(frame, indent=1, ensure_ascii=False) + "\n"


def _fixed_in(value: dict[str, Any]) -> dict[str, Any]:
    """Fixed times, in milliseconds, and a fixed receipt in place of those that a frame has."""
    fixed: dict[str, Any] = {
        "receipt": RECEIPT,
        "prompt_tokenisation_ms": 0.5,
        "first_step_ms": 12.0,
        "total_trace_ms": 100.0,
        "step_ms": 10.0,
    }
    if "elapsed_ms" in value:
        fixed["elapsed_ms"] = 12.0 + 10.0 * value["step"]
    return {name: fixed[name] for name in value if name.endswith("_ms") or name == "receipt"}


def _start(name: str) -> Start:
    return Start.model_validate({"type": "start", "id": name} | STARTS[name])


def _running(serving: Runtime, name: str) -> RunningTrace:
    return start_trace(
        _start(name).to_request(LIMITS),
        runtime=serving,
        limits=LIMITS,
        arrived_at=time.monotonic(),
    )


async def _run(serving: Runtime, name: str) -> list[BaseModel]:
    async with aclosing(_running(serving, name)) as running:
        frames: list[BaseModel] = [
            frame_of(event, running.basis, id=name) async for event in running
        ]
    return [*frames, finished_frame(running.trace(), id=name)]


async def _stopped(serving: Runtime) -> BaseModel:
    """A run that was stopped after its second step; what came after that is left out."""
    async with aclosing(_running(serving, "sampled")) as running:
        async for event in running:
            if isinstance(event, Step) and event.index == 1:
                break
        running.stop()
    return finished_frame(running.trace(), id="sampled")


def _first(frames: list[BaseModel], kind: str) -> BaseModel:
    return next(frame for frame in frames if frame.model_dump()["type"] == kind)


def _hello(serving: Runtime, *, ready: bool) -> Hello:
    return Hello(
        model=ModelEntry.of(CARD, ready=ready),
        limits=LimitsAnswer.of(LIMITS),
        vocabulary=len(serving.engine.vocabulary.tokens) if ready else 0,
        ready=ready,
        versions=VERSIONS,
    )


def _errors() -> dict[str, BaseModel]:
    invalid = InvalidRequest("top_k: 11 is over the limit of 10", param="top_k")
    busy = Busy("all 32 places to wait are taken; try again soon", retry_after_seconds=7)
    return {
        "error": ErrorFrame.of(invalid, id="greedy"),
        "error_busy": ErrorFrame.of(busy, id="greedy"),
        "error_frame": ErrorFrame.of(InvalidRequest("id: Field required", param="id"), id=None),
    }


def _answers(serving: Runtime) -> dict[str, BaseModel]:
    found = find_tokens(" m", runtime=serving, at_most=20)
    tokens = count_tokens("The moon", runtime=serving)
    return {
        "count": CountFrame(id="c1", tokens=tokens, limit=LIMITS.max_prompt_tokens),
        "found": FoundFrame(id="f1", tokens=tokens_of(found, serving.engine.vocabulary)),
    }


def _from_client() -> dict[str, Any]:
    questions = (
        Stop(type="stop", id="greedy"),
        Count(type="count", id="c1", prompt="The moon"),
        Find(type="find", id="f1", text=" m"),
    )
    starts = {
        f"start_{name}": {"type": "start", "id": name} | fields for name, fields in STARTS.items()
    }
    for sent in starts.values():
        CLIENT_FRAME.validate_python(sent)
    return {question.type: question for question in questions} | starts


def _unexpected(error: Exception) -> None:
    raise error
