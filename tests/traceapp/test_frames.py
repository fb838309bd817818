"""The specimens of the live socket's frames: complete, valid, and as the code makes them now."""

from __future__ import annotations

import json
import math
import re
import typing
from pathlib import Path

import pytest

from tests.frames import specimens
from traceapp.wire import live

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "frames"


def stored():
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def as_close(value):
    """A frame to compare with: floats as far as another processor repeats them."""
    if isinstance(value, dict):
        return {name: as_close(each) for name, each in value.items() if name != "tail"} | (
            {"tail": mass(value["tail"])} if "tail" in value else {}
        )
    if isinstance(value, list):
        return [as_close(each) for each in value]
    return pytest.approx(value, rel=1e-4, abs=1e-6) if isinstance(value, float) else value


def mass(tail):
    """What a rounding may move from bin to bin leaves the whole as it is."""
    return (
        sum(count for count, _ in tail),
        pytest.approx(sum(count * math.exp(logprob) for count, logprob in tail), rel=1e-3),
    )


def without_tails(value):
    """The other side of the comparison: tails as a number of tokens and a mass."""
    if isinstance(value, dict):
        return {
            name: (sum(c for c, _ in each), sum(c * math.exp(x) for c, x in each))
            if name == "tail"
            else without_tails(each)
            for name, each in value.items()
        }
    return [without_tails(each) for each in value] if isinstance(value, list) else value


def kind(frame):
    """The `type` that a class of frames has."""
    return typing.get_args(frame.model_fields["type"].annotation)[0]


def documented(heading):
    """The types and fields of a table in docs/live.md."""
    section = (ROOT / "docs/live.md").read_text().partition(f"\n## {heading}\n")[2]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section.partition("\n## ")[0], re.M)
    return {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows}


@pytest.mark.parametrize(
    ("heading", "union"),
    [
        ("What a client sends", live.ClientFrame),
        ("What the server sends", live.ServerFrame),
    ],
)
def test_the_frames_are_documented_with_their_fields(heading, union):
    frames = {kind(frame): set(frame.model_fields) - {"type"} for frame in union.__args__}
    assert documented(heading) == frames


async def test_the_specimens_are_what_the_code_makes_now():
    made = await specimens()
    assert made.keys() == stored().keys()
    for name, frame in stored().items():
        assert without_tails(made[name]) == as_close(frame), name


def test_every_frame_of_either_side_has_a_specimen():
    for side, union in (("client", live.ClientFrame), ("server", live.ServerFrame)):
        expected = {kind(frame) for frame in union.__args__}
        shown = {frame["type"] for name, frame in stored().items() if name.startswith(side)}
        assert shown == expected


def test_every_specimen_is_a_valid_frame():
    servers = {kind(frame): frame for frame in live.ServerFrame.__args__}
    for name, value in stored().items():
        frames = value if isinstance(value, list) else [value]
        for frame in frames:
            if name.startswith("client"):
                live.CLIENT_FRAME.validate_python(frame)
            else:
                servers[frame["type"]].model_validate(frame)


def test_a_run_is_its_frames_in_order():
    runs = {name: value for name, value in stored().items() if name.startswith("run_")}
    assert len(runs) == 3
    for frames in runs.values():
        types = [frame["type"] for frame in frames if frame["type"] != "prompt_scores"]
        assert types == ["started", *["step"] * (len(types) - 2), "finished"]
        assert [f["step"] for f in frames if f["type"] == "step"] == frames[-1]["trace"]["steps"]
