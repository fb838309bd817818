"""The tokenizer as it is kept from one start to the next."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer as Backend
from transformers import AutoModelForCausalLM, AutoTokenizer

from inference.engine import loading
from inference.engine.kernels.cache import folder_of
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


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: "[" * 200_000,
        lambda text: text.replace("[3, 5]", "[3, 6]"),
        lambda text: text.replace("<e>", "<f>"),
        lambda text: text.partition("\n")[0],
        lambda text: f"{text.partition(chr(10))[0]}\nnull",
    ],
)
def test_it_is_read_anew_where_what_was_kept_is_damaged(folder, tmp_path, damage):
    read = Reader()
    read_once(folder, read, kept_dir=tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_text()
    assert damage(whole) != whole
    kept.write_text(damage(whole))
    assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read.calls == 2


def test_other_things_in_the_folder_keep_it_from_nothing(folder, tmp_path):
    (folder / "notes.txt").symlink_to(tmp_path / "gone")
    (folder / "eval.json").mkdir()
    read = Reader()
    for _ in range(2):
        assert read_once(folder, read, kept_dir=tmp_path / "kept") == FILES
    assert read.calls == 1


def test_a_template_that_moves_is_another(folder, tmp_path):
    read = Reader()
    template = folder / "chat_template.jinja"
    template.write_text("{{ messages }}")
    read_once(folder, read, kept_dir=tmp_path / "kept")
    (folder / "additional_chat_templates").mkdir()
    template.rename(folder / "additional_chat_templates" / template.name)
    read_once(folder, read, kept_dir=tmp_path / "kept")
    assert read.calls == 2


def test_a_full_disk_leaves_no_file_behind(folder, tmp_path, monkeypatch):
    def fail(path, _text):
        path.touch()
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(Path, "write_text", fail)
    assert read_once(folder, Reader(), kept_dir=tmp_path / "kept") == FILES
    assert list((tmp_path / "kept").iterdir()) == []


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


def test_a_control_token_that_is_spelt_out_is_one_whatever_a_file_says():
    made = tiny_tokenizer()
    made.split_special_tokens = True
    made.encode("a")  # which is when transformers tells its backend
    source = TokenizerSource(
        json=made.backend_tokenizer.to_str(), chat_template=None, special_tokens={}
    )
    assert len(Tokenizer(source).encode(SPECIALS[1])) == 1


@pytest.mark.parametrize("said", [None, 2, 5, [2, 5]])
def test_what_ends_a_text_is_what_transformers_has_where_the_configuration_alone_says_it(
    said, tmp_path
):
    folder = write_folder(tmp_path / "model", architecture="llama")
    (folder / "generation_config.json").unlink(missing_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config.pop("eos_token_id", None)
    (folder / "config.json").write_text(
        json.dumps(config | ({"eos_token_id": said} if said else {}))
    )
    theirs = AutoModelForCausalLM.from_pretrained(folder).generation_config.eos_token_id
    expected = set(theirs if isinstance(theirs, list) else [theirs])
    expected.add(AutoTokenizer.from_pretrained(folder).eos_token_id)
    assert loading._tokenizer_of(folder).eos_ids == expected - {None}


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
    compiled = folder_of(KEPT)  # which takes ten seconds and more to make
    compiled.mkdir(parents=True, exist_ok=True)
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / compiled.name).symlink_to(compiled)

    def load():
        command = [sys.executable, "-c", LOAD, str(folder), str(kernels)]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    (first, expected), (second, shown) = load(), load()
    assert first == ["torch", "transformers"]
    assert second == []
    assert shown == expected
