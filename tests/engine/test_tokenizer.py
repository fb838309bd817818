"""The tokenizer as it is kept from one start to the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer as Backend
from transformers import AutoTokenizer

from inference.engine.tokenizer import Tokenizer, TokenizerFiles, read_once
from inference.engine.vocabulary import TokenizerSource
from tests.fakes import SPECIALS, tiny_tokenizer
from tests.inference.weights.tiny import write_folder

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".pytest_cache" / "kernels"
FILES = TokenizerFiles(
    TokenizerSource(json="{}", chat_template="{{ é }}", special_tokens={"eos_token": "<e>"}),
    frozenset({3, 5}),
)


class Reader:
    """Stands for transformers: counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path) -> TokenizerFiles:
        self.calls += 1
        return FILES


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    made.mkdir()
    (made / "tokenizer.json").write_text("{}")
    (made / "model.safetensors").write_text("weights")
    return made


def test_it_is_read_once_and_then_kept(folder, tmp_path):
    read = Reader()
    for _ in range(3):
        assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read.calls == 1
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "generation_config.json", "chat_template.jinja", "merges.txt"]
)
def test_it_is_read_anew_where_a_file_has_changed_or_come(folder, tmp_path, name):
    read = Reader()
    read_once(folder, read, kept_dir=tmp_path / "kept")
    (folder / name).write_text('{"other": 1}')
    read_once(folder, read, kept_dir=tmp_path / "kept")
    assert read.calls == 2
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"digest": 1}'])
def test_it_is_read_anew_where_what_was_kept_is_damaged(folder, tmp_path, content):
    read = Reader()
    read_once(folder, read, kept_dir=tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_text(content)
    assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read.calls == 2


def test_it_is_read_even_where_nothing_can_be_kept(folder, tmp_path):
    (tmp_path / "kept").write_text("a file, where the folder should be")
    assert read_once(folder, Reader(), kept_dir=tmp_path / "kept") == FILES


@pytest.mark.parametrize("text", ["", "the moon", " is é 👩‍🚀\n", f"a{SPECIALS[1]}b", "x" * 500])
def test_it_encodes_as_transformers_does(text):
    made = tiny_tokenizer()
    source = TokenizerSource(
        json=made.backend_tokenizer.to_str(), chat_template=None, special_tokens={}
    )
    assert Tokenizer(source).encode(text) == made.encode(text)


def test_what_a_file_says_of_cutting_and_padding_is_not_done(tmp_path):
    """As transformers has it, which pads and cuts only when it is asked to."""
    folder = write_folder(tmp_path / "model", architecture="llama")
    backend = Backend.from_file(str(folder / "tokenizer.json"))
    backend.enable_truncation(4)
    backend.enable_padding(length=8)
    backend.save(str(folder / "tokenizer.json"))
    expected = AutoTokenizer.from_pretrained(folder).encode("the moon is the cat")
    source = TokenizerSource(json=backend.to_str(), chat_template=None, special_tokens={})
    assert Tokenizer(source).encode("the moon is the cat") == expected
    assert len(expected) > 4


LOAD = """
import json, sys
from pathlib import Path
from inference.engine.loading import load_engine

folder, kernels = map(Path, sys.argv[1:])
engine = load_engine(
    folder, implementation="kernels", gguf=None, kernels_dir=kernels, context_length=64, threads=1
)
loaded = sorted({"torch", "transformers"} & set(sys.modules))
vocabulary = engine.vocabulary
shown = [[token.hex() for token in vocabulary.tokens], sorted(vocabulary.special_ids),
    sorted(vocabulary.eos_ids), vocabulary.rows, vocabulary.source.json, engine.encode("the moon")]
print(json.dumps([loaded, shown]))
"""


def test_a_later_start_with_the_kernels_loads_neither_torch_nor_transformers(tmp_path):
    folder = write_folder(tmp_path / "model", architecture="llama")
    KEPT.mkdir(parents=True, exist_ok=True)

    def load():
        command = [sys.executable, "-c", LOAD, str(folder), str(KEPT)]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    (first, expected), (second, shown) = load(), load()
    assert first == ["torch", "transformers"]
    assert second == []
    assert shown == expected
