from __future__ import annotations

import hashlib
import subprocess

import pytest

from inference.weights.errors import WeightsError
from inference.weights.files import (
    git_blob_sha1_of,
    only_writer,
    partial_folder,
    publish,
    require_free_space,
    sha256_of,
)


def test_digests_are_those_of_the_usual_tools(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"weights\n")
    assert sha256_of(path) == hashlib.sha256(b"weights\n").hexdigest()
    by_git = subprocess.run(
        ["git", "hash-object", path], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert git_blob_sha1_of(path) == by_git


def test_too_little_room_is_said_with_both_numbers(tmp_path):
    with pytest.raises(WeightsError, match=r"Fetching tiny needs 1,000,000,000 MB .* are free"):
        require_free_space(tmp_path / "not" / "yet", 10**15, "Fetching tiny")


def test_enough_room_is_no_error(tmp_path):
    require_free_space(tmp_path, 1, "Fetching tiny")


def test_what_was_not_published_is_gone(tmp_path):
    with partial_folder(tmp_path) as partial:
        (partial / "file").write_text("half")
    assert list(tmp_path.iterdir()) == []


def test_publishing_replaces_a_folder_whole(tmp_path):
    final = tmp_path / "final"
    final.mkdir()
    (final / "old").write_text("old")
    with partial_folder(tmp_path) as partial:
        (partial / "new").write_text("new")
        publish(partial, final)
    assert [path.name for path in tmp_path.rglob("*")] == ["final", "new"]


def test_a_writer_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / "abc.partial").mkdir()
    (tmp_path / "abc.partial" / "half").write_text("half")
    (tmp_path / "def.partial").write_text("half")
    (tmp_path / "whole").write_text("whole")
    with only_writer(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "whole"]
