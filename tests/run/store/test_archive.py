"""The file a session travels in: it is whole, or it is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from stateward.errors import CheckpointError, CodecError
from stateward.run.store.archive import read_archive, write_archive

LINES = [{"line": "checkpoint", "id": "ä"}, {"line": "row", "table": "t"}]


def again(path: Path, **other: object) -> None:
    """Write the file once more with another manifest."""
    with zipfile.ZipFile(path) as archive:
        said, data = json.loads(archive.read("manifest.json")), archive.read("session.jsonl")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(said | other))
        archive.writestr("session.jsonl", data)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A whole file."""
    write_archive(tmp_path / "s.zip", LINES, session="s", layout=2)
    return tmp_path / "s.zip"


def test_what_was_written_is_read(file: Path) -> None:
    """With what the file says about itself."""
    manifest, lines = read_archive(file, layout=2)
    assert (lines, manifest.session, manifest.checkpoints, len(manifest.digest)) == (LINES, "s", 1, 64)


def test_text_travels_whatever_it_is(tmp_path: Path) -> None:
    """Also what ends a line elsewhere, and half of a pair."""
    lines = [{"line": "row", "values": {"note": "a\u2028b\x85c\x1cd\ud800e"}}]
    write_archive(tmp_path / "s.zip", lines, session="s", layout=2)
    assert read_archive(tmp_path / "s.zip", layout=2)[1] == lines


def test_a_file_is_not_overwritten(file: Path) -> None:
    """And stays as it was."""
    with pytest.raises(CheckpointError, match="File exists"):
        write_archive(file, [], session="s", layout=2)
    assert read_archive(file, layout=2)[1] == LINES


def test_a_file_that_was_changed_is_refused(file: Path) -> None:
    """The digest tells."""
    again(file, digest="0" * 64)
    with pytest.raises(CheckpointError, match="do not fit the digest"):
        read_archive(file, layout=2)


@pytest.mark.parametrize("cut", [0, 10, -20])
def test_a_file_that_was_cut_short_is_refused(file: Path, cut: int) -> None:
    """So is one that is empty."""
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(CheckpointError, match="damaged"):
        read_archive(file, layout=2)


@pytest.mark.parametrize("bit", range(8))
def test_a_file_with_a_flipped_bit_is_read_as_it_was_or_refused(file: Path, bit: int) -> None:
    """Wherever it is: in the manifest, the lines, or what the zip says of them."""
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(bytes([*whole[:place], whole[place] ^ 1 << bit, *whole[place + 1 :]]))
        try:
            assert read_archive(file, layout=2)[1] == LINES
        except CheckpointError:
            continue


ODD: list[dict[str, object]] = [
    {"format": "x"}, {"odd": 1}, {"layout": "abc"}, {"layout": None}, {"session": 5}, {"digest": []},
    {"checkpoints": "many"}, {"checkpoints": True},
]  # fmt: skip


@pytest.mark.parametrize("other", ODD)
def test_another_file_is_refused(file: Path, other: dict[str, object]) -> None:
    """A zip of something else, or a manifest that somebody wrote."""
    again(file, **other)
    with pytest.raises(CheckpointError, match="no archive"):
        read_archive(file, layout=2)


@pytest.mark.parametrize("other", [{"version": 99}, {"layout": 3}, {"version": "x"}])
def test_a_newer_file_is_refused(file: Path, other: dict[str, object]) -> None:
    """Of a later version, or with tables of a later layout."""
    again(file, **other)
    with pytest.raises(CodecError, match="this release reads up to"):
        read_archive(file, layout=2)


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]\n", b"5\n", b'{"line": 5}\n', b"{}\n"])
def test_lines_that_are_none_are_refused(file: Path, data: bytes) -> None:
    """Though the digest fits them."""
    with zipfile.ZipFile(file) as archive:
        said = json.loads(archive.read("manifest.json"))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", json.dumps(said | {"digest": hashlib.sha256(data).hexdigest()}))
        archive.writestr("session.jsonl", data)
    with pytest.raises(CheckpointError, match="no archive"):
        read_archive(file, layout=2)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_archive(tmp_path / "none.zip", layout=2)
