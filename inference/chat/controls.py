"""What a request may tell a model's chat template, by model: the one switch is thinking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inference.catalogue import CatalogueModel
from inference.errors import Rejected


def template_kwargs(
    model: CatalogueModel, *, reasoning_effort: str | None, given: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The template's variables, from the effort and from the caller's own, which win.

    Raises Rejected for what the model's template does not know.
    """
    thinks = model.reasoning_parser is not None
    for name, value in (given or {}).items():
        if name != "enable_thinking" or not thinks:
            raise Rejected(
                f"{model.alias} takes no chat_template_kwargs.{name[:64]}",
                param="chat_template_kwargs",
            )
        if not isinstance(value, bool):
            raise Rejected(
                "chat_template_kwargs.enable_thinking must be true or false",
                param="chat_template_kwargs",
            )
    if reasoning_effort is None or (reasoning_effort == "none" and not thinks):
        return dict(given or {})
    if not thinks:
        raise Rejected(
            f"{model.alias} does not think: reasoning_effort can only be none",
            param="reasoning_effort",
        )
    return {"enable_thinking": reasoning_effort != "none"} | dict(given or {})
