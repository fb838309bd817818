"""
Writes a random model of a few kilobytes that chats and calls tools: `python -m tests.chat_folder`.

It passes for qwen2.5-0.5b-instruct: the same architecture, a template that does the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fakes import tiny_model
from tests.inference.chat.templates import QWEN25, tokenizer


def write_chat_folder(folder: Path) -> None:
    made = tokenizer(QWEN25)
    made.save_pretrained(folder)
    tiny_model("qwen2", made).save_pretrained(folder)


if __name__ == "__main__":
    write_chat_folder(Path(sys.argv[1]))
