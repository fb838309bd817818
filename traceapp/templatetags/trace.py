"""
How numbers and tokens are written. Nothing else of the web side turns either into text.

The browser has a twin of this module; both must agree on `tests/data/format_cases.json`.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# The smallest edge that is written out; nearer to 0 or 1 only the side is said.
SMALLEST = 0.00001
# Decimals of u at least, and at most: past these, u and its interval are one number.
PLACES = range(4, 13)


@register.filter
def percent(probability: float) -> str:
    """A probability from 0 to 1 as a percentage: three figures, more near 100%.

    Only exactly 0 is written "0%", and only exactly 1 "100%".
    """
    if probability in (0, 1):
        return f"{probability:.0%}"
    if probability < SMALLEST:
        return "<0.001%"
    if probability > 1 - SMALLEST:
        return ">99.999%"
    edge = min(probability, 1 - probability)
    places = 1 if edge >= 0.1 else 2 if edge >= 0.01 else 3 if edge >= 0.001 else 4
    return f"{fixed(100 * probability, places)}%"


@register.filter
def bits(value: float) -> str:
    """An amount of information, given in bits; only exactly 0 is written "0 bits"."""
    if value == 0:
        return "0 bits"
    return "<0.01 bits" if value < 0.01 else f"{fixed(value, 2)} bits"


@register.filter
def milliseconds(value: float) -> str:
    """A duration given in milliseconds; a second and more is written in seconds."""
    if value == 0:
        return "0 ms"
    if value < 0.01:
        return "<0.01 ms"
    if value >= 999.5:
        return f"{fixed(value / 1000, 2)} s"
    return f"{fixed(value, 2 if value < 1 else 1 if value < 10 else 0)} ms"


@register.filter
def count(value: float) -> str:
    """A number of things, thousands apart; under 10 a part of one is written too."""
    whole = value >= 10 or value == int(value)
    return f"{Decimal(fixed(value, 0 if whole else 1)):,}"


@register.filter
def plain(value: float) -> str:
    """A setting as a person would type it: 1, 0.7, 0.000001."""
    return f"{Decimal(repr(value)).normalize():f}"


@register.filter
def bar_length(probability: float) -> str:
    """The length of a bar on the axis from 0 to 100%, for an attribute of an SVG shape."""
    return f"{fixed(100 * probability, 3)}%"


class Interval(NamedTuple):
    u: str
    lower: str
    upper: str


@register.simple_tag
def interval(u: float, lower: float, upper: float) -> Interval:
    """u and the interval that holds it, with as many decimals as show that it does."""
    for places in PLACES:
        written = Interval(fixed(u, places), fixed(lower, places), fixed(upper, places))
        if written.lower <= written.u < written.upper:
            break
    return written


def fixed(value: float, places: int) -> str:
    """A number with that many decimals; a tie goes up, as in JavaScript's toFixed."""
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"


@register.filter
def without_controls(text: str) -> str:
    """Text whose control characters show as pictures; HTML could not hold a NUL."""
    return text.translate(PICTURES)


class Part(NamedTuple):
    """A stretch of a token as it is shown; `name` is said of what stands for something else."""

    text: str
    name: str | None


NAMED = {
    " ": Part("␣", "space"),
    "\n": Part("↵", "newline"),
    "\t": Part("⇥", "tab"),
    "\r": Part("␍", "carriage return"),
    "\x7f": Part("␡", "control character U+007F"),
}
# White space keeps its effect.
PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
# Blank, though Unicode calls them letters, marks or symbols: fillers, selectors, blank braille.
BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def token_parts(piece: bytes) -> list[Part]:
    """A token cut where it stops being ordinary text.

    White space, control, format and bidi characters become visible, bytes that are only part
    of a character are written as ⟨E2 80⟩, and a mark that combines gets a circle to sit on.
    """
    if not piece:
        return [Part("⟨⟩", "empty")]
    # Each byte outside valid UTF-8 becomes one of U+DC80 to U+DCFF, and no other does.
    text = piece.decode("utf-8", "surrogateescape")
    if unicodedata.category(text[0]).startswith("M") and not BLANK.match(text):
        text = "◌" + text
    parts: list[Part] = []
    for stretch in re.findall("[\udc80-\udcff]+|[^\udc80-\udcff]", text):
        part = _part(stretch)
        if part.name is None and parts and parts[-1].name is None:
            part = Part(parts.pop().text + part.text, None)
        parts.append(part)
    return parts


def _part(stretch: str) -> Part:
    if "\udc80" <= stretch[0] <= "\udcff":
        written = stretch.encode("utf-8", "surrogateescape").hex(" ").upper()
        return Part(f"⟨{written}⟩", f"bytes {written}")
    if stretch in NAMED:
        return NAMED[stretch]
    point = f"U+{ord(stretch):04X}"
    if stretch < " ":
        return Part(chr(0x2400 + ord(stretch)), f"control character {point}")
    unseen = unicodedata.category(stretch) in {"Cc", "Cf", "Co", "Zs", "Zl", "Zp"}
    if unseen or BLANK.match(stretch) or stretch == "\ufffd":
        return Part(f"⟨{point}⟩", f"character {point}")
    return Part(stretch, None)


@register.filter
def token_label(piece: bytes) -> str:
    """A token with nothing left invisible: b" the" is shown as "␣the"."""
    return "".join(part.text for part in token_parts(piece))


@register.filter
def token_spoken(piece: bytes) -> str:
    """A token for the ear: b" the" is "space the"."""
    return " ".join(part.name or part.text for part in token_parts(piece))


SPECIAL = mark_safe(' <span class="tag">special</span>')


# A page shows few tokens many times; writing each anew took a third of its time.
@register.simple_tag
@lru_cache(maxsize=4096)
def token(piece: bytes, special: bool = False) -> SafeString:
    """A token as HTML: one isolated run of text.

    One with stand-ins is named as a whole: names of its own parts would run into the text beside
    them, "space" and "the" into "spacethe".
    """
    parts = token_parts(piece)
    named = any(name for _, name in parts)
    return format_html(
        '<bdi class="token{}"{}>{}</bdi>{}',
        " special" if special else "",
        format_html(' role="img" aria-label="{}"', token_spoken(piece)) if named else "",
        format_html_join("", "{}", ((_shown(part),) for part in parts)),
        SPECIAL if special else "",
    )


def _shown(part: Part) -> str:
    return format_html('<span class="stand-in">{}</span>', part.text) if part.name else part.text
