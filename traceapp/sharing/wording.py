"""How a shared trace is named, described and cited: one line each, safe wherever it is put."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from traceapp.drawing import TraceFacts
from traceapp.templatetags.trace import plain

TITLE_CHARACTERS = 60
# Joiners hold an emoji or a word together; the other format characters turn text around.
JOINERS = "\u200c\u200d"
TEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "{}$&#%_"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def one_line(text: str, *, at_most: int = TITLE_CHARACTERS) -> str:
    """The beginning of a text, without what could break or turn around the text about it."""
    visible = "".join(
        character
        for character in re.sub(r"\s+", " ", text)
        if character in JOINERS or unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs"}
    ).strip()
    return visible if len(visible) <= at_most else f"{visible[: at_most - 1].rstrip()}…"


def title_of(trace: TraceFacts) -> str:
    return f"“{one_line(trace.request.prompt)}” and what {trace.model.alias} made of it"


def description_of(trace: TraceFacts, *, tokens: int) -> str:
    """For previews of a link: what the model said, and what there is to see."""
    count = "1 token" if tokens == 1 else f"{tokens} tokens"
    return (
        f"{trace.model.alias} went on with “{one_line(trace.generated_text, at_most=100)}”: "
        f"{count}, each with its probability and what could have come in its place."
    )


def settings_of(trace: TraceFacts) -> str:
    request = trace.request
    if request.temperature == 0:
        return "greedy"
    seed = "no seed" if request.seed is None else f"seed {request.seed}"
    return f"temperature {plain(request.temperature)}, top-p {plain(request.top_p)}, {seed}"


def citation_of(trace: TraceFacts, *, made_at: datetime, url: str) -> str:
    model = trace.model
    return (
        f"Token Trace: “{one_line(trace.request.prompt)}”, continued by {model.repository} "
        f"(revision {model.revision[:12]}, {settings_of(trace)}) on {_day(made_at)}. {url}"
    )


def bibtex_of(trace: TraceFacts, *, made_at: datetime, url: str, trace_id: str) -> str:
    """An entry for BibTeX; what TeX would read as a command is written out."""
    model = trace.model
    key = re.sub("[^A-Za-z0-9]", "", trace_id)[:10]
    note = f"{model.repository}, revision {model.revision}, {settings_of(trace)}"
    return (
        f"@misc{{tokentrace-{key},\n"
        f"  title = {{``{_tex(one_line(trace.request.prompt))}'' continued by "
        f"{_tex(model.alias)}}},\n"
        f"  author = {{{{Token Trace}}}},\n"
        f"  year = {{{made_at.year}}},\n"
        f"  month = {{{made_at.month}}},\n"
        f"  note = {{{_tex(note)}}},\n"
        f"  url = {{{url}}}\n"
        f"}}"
    )


def _tex(text: str) -> str:
    return text.translate(TEX)


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
