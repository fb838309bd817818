"""What the served model needs to chat, built once when it is loaded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.catalogue import MODELS, CatalogueModel
from inference.chat.template import ChatTemplate
from inference.engine.vocabulary import Vocabulary

if TYPE_CHECKING:  # it compiles kernels
    from inference.chat.constraints import Grammars


def _one_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="grammars")


@dataclass(frozen=True, slots=True)
class ChatModel:
    model: CatalogueModel
    template: ChatTemplate
    grammars: Grammars
    # Where grammars are compiled: whoever waits for one holds no thread that others need.
    compiling: ThreadPoolExecutor = field(default_factory=_one_thread)


def chat_model_of(alias: str, vocabulary: Vocabulary) -> ChatModel | None:
    """None where the catalogue says that the model does not chat, or no template came with it.

    Raises ValueError where its template is none.
    """
    from inference.chat.constraints import Grammars

    model = next((model for model in MODELS if model.alias == alias), None)
    source = vocabulary.source
    if model is None or not model.chat_template or source is None or source.chat_template is None:
        return None
    splits_thoughts = model.reasoning_parser is not None
    template = ChatTemplate(source, splits_thoughts=splits_thoughts)
    return ChatModel(model, template, Grammars(vocabulary))
