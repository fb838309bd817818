"""What the served model needs to chat, built once when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from inference.catalogue import MODELS, CatalogueModel
from inference.chat.template import ChatTemplate
from inference.engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class ChatModel:
    model: CatalogueModel
    template: ChatTemplate


def chat_model_of(alias: str, vocabulary: Vocabulary) -> ChatModel | None:
    """None where the catalogue says that the model does not chat, or no template came with it.

    Raises ValueError where its template is none.
    """
    model = next((model for model in MODELS if model.alias == alias), None)
    source = vocabulary.source
    if model is None or not model.chat_template or source is None or source.chat_template is None:
        return None
    splits_thoughts = model.reasoning_parser is not None
    return ChatModel(model, ChatTemplate(source, splits_thoughts=splits_thoughts))
