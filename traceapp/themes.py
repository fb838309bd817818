"""Light or dark: what an embedding page wants, without a script."""

from __future__ import annotations

from django.http import HttpRequest

THEMES = ("auto", "light", "dark")


def theme_of(request: HttpRequest) -> str:
    """The theme that `?theme=` names; "auto", the visitor's own, where it names none."""
    asked = request.GET.get("theme", "")
    return asked if asked in THEMES else THEMES[0]
